"""One change on its way: texts and objects become rows of ids, and an engine's delta becomes a `Delta`.

- `arguments`: Arguments: the many ways to write facts, as one kind of change
- `arities`: Numbers of arguments: a predicate has one, in rules and in facts alike
- `assertions`: Assertions: what a change told and untold, beside what it made true and ended
- `columns`: Columns: many predicate facts of one shape, looked up in the dictionary column by column
- `delta`: Deltas: what a change made true and what it ended
- `dump`: Dumping: everything that is true, written to a file or stream
- `fact_reader`: Reading facts back: rows of ids become triples and predicate facts, in pieces
- `intake`: Intake: files, texts and objects on their way to one change
- `interrupts`: Interrupts at the end of a change: Ctrl-C waits until everything says the same
- `patches`: Patches on their way to a change
- `retraction`: Withdrawals: facts on their way out, as files, texts and objects
"""
