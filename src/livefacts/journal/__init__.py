"""The journal of a folder: one row for every change, on the disk before anyone is told of it.

A row has what a change asserted and retracted, as texts, and what became true and ended by it.
Files are written in one place, which syncs them; a damaged file is found and named.

In: rows, with facts in the numbers of a dictionary.
Out: the same rows after any end of the process.

- `file_operations`: writing, syncing and renaming, with a place for tests to fail
- `folder_lock`: one writer for a folder; the lock ends with its process
- `log_file`: one file of rows: each has a digest that covers the one before it
- `fact_texts`: facts in ids to texts and back; many of them as a file of their own
- `change_log`: the files of a folder, written and read as one log

Design: docs/design/0018-journal.md
"""
