"""Where the files of a knowledge base are: in a folder of this machine, or on a remote store.

All operations on such files are here: to open, write, list, delete, and to put what nobody else has.

In: an address, and options of its store.
Out: a path, on which every operation is one call.

- `address`: what a text names, a folder or a place on a remote store, or why it is refused
- `file_path`: a folder or a file in a store, and what can be done with it
- `machine_files`: files of this machine
- `remote_objects`: files on S3, HDFS, Azure or Google, through the package that commits there
- `remote_failures`: what stores say when something goes wrong, in a sentence without secrets
- `write_lease`: one writer at a time, where no system gives a lock back

Design: docs/design/0023-stores.md
"""
