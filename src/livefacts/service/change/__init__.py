"""The parts of a change: what users give to rows of ids, and an engine's delta to a `Delta`.

`knowledge.draft` puts them together.

In: files, texts, objects, patches.
Out: asserted and retracted rows; a `Delta` that is read lazily.

- `arguments`: the many ways to write a fact, as one kind of statement
- `columns`: many predicate facts of one shape, encoded column by column
- `intake`: facts and rules that come, from files, texts and objects
- `import_catalogue`: the files of imported ontologies, and which imports were not followed
- `retraction`: facts that go, looked up and never added to the dictionary
- `patches`: RDF Patch, netted into one change
- `arities`: a predicate has one number of arguments, in rules and in facts
- `assertions`: what a change asserted and retracted, beside what it made true
- `delta`: the `Delta` that users get
- `fact_reader`: rows of ids to triples and predicate facts, in pieces
- `fact_patterns`: which facts a name or an atom with variables means
- `arrow_columns`: rows of ids to columns of Arrow
- `tabular`: what is a table of Arrow, and so a DataFrame
- `records`: rows of tables, as the facts that a map makes of them
- `html_tables`: what notebooks show
- `rdflib_terms`: terms as rdflib has them
- `dump`: everything that is true, to a file

Design: docs/design/0005-derived-is-what-was-not-told.md
"""
