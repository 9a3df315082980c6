"""Generators: random inputs, the same ones for the same seed.

No module here runs an engine.  Names in brackets are the tests and modules that use one.

| module | draws |
|---|---|
| `seeds` | which chunks of seeds are in `make test`, which only in `make thorough` [every test with chunks] |
| `vocabulary` | the terms: few nodes, so that joins match; numbers at the ends of their ranges; odd literals [all of rules] |
| `rules` | safe rules whose atoms share variables [`programs`] |
| `rule_themes` | groups of rules that chance would hardly hit: closures, mutual recursion, RDF Schema [`programs`, `histories`] |
| `programs` | a case: rules that fit together, facts for them, steps [`test_closure`, `test_explanations`, most generators] |
| `cases` | a case as data, its text, and how any failing input is made smaller (`shrink`) [`compare`] |
| `histories` | facts and rules that come and go [`test_changes`, `test_laws`, `test_failed_changes`, …] |
| `change_themes` | groups of rules that only changes put to the test [`histories`] |
| `timed_rules` | safe rules with windows, `sometime`, `always`, `at` [`stream_histories`] |
| `timed_themes` | groups of rules about time that chance would hardly hit [`stream_histories`] |
| `stream_histories` | a program, what arrives, is taken back and told, and the clock [`test_time`, `test_reclaimed_terms`, clingo] |
| `triple_streams` | the same stream history with triples for predicates [`test_time`] |
| `graph_patterns` | graph patterns of every class of the paper, and update messages [`test_patterns`] |
| `queries` | SPARQL queries of every form that is followed, and messages [`test_continuous`, `test_graphs`, `test_watches`] |
| `versions` | triples that come and go, and patterns with rows that are given [`test_pattern_joins`] |
| `expressions` | expressions of SPARQL, and rows of odd terms for them [`test_column_expressions`, `test_row_groups`] |
| `solutions` | bags of rows that share variables, some of them unbound [`test_solution_joins`] |
| `axioms` | OWL axioms of all kinds, as tuples and as Turtle [`test_axioms`] |
| `ontologies` | ontologies as triples, some of which bend the schema itself [`test_ontologies`, owlrl] |
| `equalities` | ontologies in which much is the same [`test_equalities`, `test_equalities_in_time`] |
| `worlds` | many worlds that switch the rules of one program on and off [`test_spark_joins`] |
| `pipeline_steps` | triples of many worlds that share no name [`test_spark_pipelines`, `test_spark_graphs`] |
"""
