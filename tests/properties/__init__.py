"""Property tests: random inputs from a seed, compared with an oracle after every step.

Read `test_changes.py` first: it draws a history (`generate.histories`), takes a reasoner
through it beside the oracle (`compare.histories`), and prints the smallest history that still
differs.  Every other test here has the same three parts.

    generate/   draws inputs from a seed                  knows no engine
    compare/    takes an engine through them, beside an   yields differences, in words
                oracle
    coverage/   the shares of the inputs that have a      held by `test_generator` and `test_time`
                feature, so that no generator goes dull
    test_*.py   which seeds, which ways, how many
    `conftest`  terms are given back early, so that ids mean other terms all the time

A module has the same name in all three packages when it is about the same kind of input:

| input | generate | compare | coverage | tests |
|---|---|---|---|---|
| case: facts and rules only come | `programs`, `cases` | `cases` | `cases` | `test_closure`, `test_regressions` |
| history: facts and rules come and go | `histories` | `histories` | `histories` | `test_changes`, `test_laws`, `test_verify`, `test_patches`, `test_dumps`, `test_regressions` |
| either history, in a folder whose process ends at random | `histories`, `stream_histories` | `reopenings` | | `test_reopenings` |
| history, with a change that fails | `histories` | `fault_injection` | | `test_failed_changes` |
| history, by maintenance programs | `histories` | `maintenance_programs` | | `test_maintenance` |
| stream history: arrivals, and a clock | `stream_histories` | `stream_histories`, `stream_ends` | `stream_histories` | `test_time`, `test_reclaimed_terms`, `test_stream_memory` |
| facts that expire | `programs` | `expiring_facts`, `expiry_programs` | | `test_expiring`, `test_maintenance` |
| registered queries over streams | (drawn while they run) | `registered_queries`, `registered_bodies`, `registered_themes` | | `test_registered`, `test_stream_rows`, `test_arrival_times`, `test_limited_chains`, `test_reclaimed_terms` |
| rules of SHACL, N3, Jena and RDFox | (its own) | | | `test_foreign_rules` |
| shapes of SHACL, and graphs that change | (its own) | (pyshacl) | | `test_shapes` |
| maps from JSON to facts, and messages | (its own) | | | `test_json_maps` |
| continuous queries and messages | `graph_patterns`, `queries` | `graph_patterns` | | `test_patterns`, `test_continuous`, `test_graphs`, `test_watches`, `test_updates` |
| versions of triples, and patterns joined over them | `versions` | (nested loops, in the test) | | `test_pattern_joins` |
| skewed graphs, and cycles in them | (in the test) | (every order of the variables, in the test) | | `test_join_orders` |
| expressions, and columns of odd terms | `expressions` | (pyoxigraph row by row, in the test) | | `test_column_expressions` |
| bags of rows that share variables | `solutions` | (nested loops, in the test) | | `test_solution_joins` |
| groups of which values come and go, in rules, windows, watches and registered queries | `expressions` | (definitions, in the test) | | `test_aggregates` |
| groups and orders of odd terms | `expressions` | (totals of continuous queries, and pyoxigraph, in the test) | | `test_row_groups` |
| queries after every change | `queries` | (pyoxigraph) | | `test_queries` |
| proofs of what holds and what does not | `programs` | `proofs` | | `test_explanations` |
| ontologies as axioms, as triples | `axioms`, `ontologies` | (`tests.oracle.ontologies`, `tests.oracle.owl`) | | `test_axioms`, `test_ontologies`, `test_derived_schemas` |
| equal things that are merged | `equalities` | (a reasoner that follows the rules) | | `test_equalities`, `test_equalities_in_time` |
| constraints found in several orders | (in the test) | (`tests.oracle.mirrors`) | | `test_symmetric_violations` |
| many worlds on Spark | `worlds`, `pipeline_steps` | `spark_worlds`, `spark_pipelines`, `spark_frames`, `spark_tables` | | `test_spark_joins`, `test_spark_pipelines`, `test_spark_driver`, `test_spark_graphs`, `test_spark_queries`, `test_spark_stores`, `test_spark_frames`, `test_spark_streams` |

`test_generator` holds the shares of cases and histories, `test_time` those of stream histories.
"""
