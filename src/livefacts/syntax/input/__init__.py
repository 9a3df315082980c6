"""Input: where bytes come from, and what is said of those that cannot be read.

In: paths, standard input, bytes.
Out: streams of bytes; rejects with file, line and reason.

- `files`: plain and packed files, standard input and bytes in memory as streams
- `rejects`: what could not be read, counted, kept and written to a file
"""
