"""The console: what commands have in common on their way from options to exit codes.

In: options, files and events of a command line.
Out: a reasoner with its files, messages, exit codes.

- `options`: the options that several commands share
- `terminal`: messages, data and exit codes
- `fact_files`: a reasoner, its files, and a report of what was rejected
- `unknown_names`: names in a query that no fact has, and what was perhaps meant
- `events`: timed events of files and standard input in one order
"""
