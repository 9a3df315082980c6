"""The jobs of the command line, one module each: they read options, call, and print.

- `bench`: `livefacts bench`: how fast this machine reads, concludes and answers
- `changes`: `livefacts add`, `remove` and `apply`: change what files say, and see what follows from it
- `demo`: `livefacts demo`: a tour of a minute through everything, with times
- `doctor`: `livefacts doctor`: is everything in place, and if not, what to do
- `dump`: `livefacts dump`: everything that is true, as a file
- `events`: Events for a command: files and standard input in one order, and what was not taken
- `explain`: `livefacts explain`: why a fact holds, or what is missing for it
- `fact_files`: Loading for a command: a reasoner, the files, and a report of what was rejected
- `generate`: `livefacts generate`: data to try things on, as N-Triples, and streams with times
- `load`: `livefacts load`: read files, draw all conclusions, and say or write what came out
- `options`: Options that several jobs share, said once
- `query`: `livefacts query`: a SPARQL query over files and what follows from them
- `register`: `livefacts register`: C-SPARQL and RSP-QL queries over stream files and live sources
- `rules`: `livefacts rules`: are rules in order, which ones come along, what do they say, how to maintain them
- `run`: `livefacts run`: a program of rules over timed facts, from files or live
- `spark`: `livefacts spark`: a knowledge base in a folder, filled and kept true by Spark
- `terminal`: What people see: messages on standard error, data on standard output, exit codes
- `unknown_names`: Strangers: names in a query that no fact speaks of, which are most often misspelt
- `verify`: `livefacts verify`: are the conclusions that were kept what the rules say?
- `watch`: `livefacts watch`: the answers of a query, and how they change with every update
"""
