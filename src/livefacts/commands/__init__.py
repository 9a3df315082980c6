"""The commands of the command line, one module each: they read options, call, and print.

In: options and files.
Out: data on standard output, messages on standard error, an exit code.

- `console`: options, files, messages and exit codes that commands have in common
- `load`: read files, draw all conclusions, say or write what came out
- `changes`: `add`, `remove` and `apply`: a change, and its delta as RDF Patch
- `query`: a SPARQL query over files and what follows from them
- `watch`: the answers of a query, and how they change with every update
- `run`: rules over timed facts, from files or live
- `register`: C-SPARQL and RSP-QL queries over stream files and live sources
- `explain`: why a fact holds, or what is missing for it
- `verify`: whether kept conclusions are what the rules say
- `rules`: check, list, print, profile and maintain rules
- `dump`: everything that is true, as a file
- `serve`: `serve` and `token`: a folder over HTTP, and who may change it
- `folders`: `log`, `undo`, `backup` and `restore` of a folder
- `spark`: a knowledge base in a folder, by Spark
- `stream_run`: a stream on Spark, followed until it ends
- `spark_answers`: `spark register` and `spark run`: queries and programs over streams
- `generate`: data and streams to try things on
- `bench`: how fast this machine is
- `demo`: a tour of everything
- `live_demo`: a city of sensors, served while it lives
- `doctor`: whether everything is in place
"""
