"""Where bytes come from, and what is said of those that cannot be read.

- `files`: Files as streams of bytes: plain, gzip or zstd, standard input, or bytes in memory
- `rejects`: Rejects: what could not be read, with its place and the reason
"""
