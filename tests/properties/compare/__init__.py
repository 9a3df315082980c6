"""Comparisons: an engine beside an oracle, step by step.

`differences(...)` yields what differs, in words, and nothing when all is right; `report(...)`
makes a failing input smaller until nothing can be left out, and prints it.

| module | compares | with | used by |
|---|---|---|---|
| `cases` | facts, violations, Delta and answers after every step | the naive oracle | `test_closure`, `test_regressions`, `tests/fuzz.py` |
| `histories` | the same, and flags and counters of every stored row, after every change | the naive oracle | `test_changes`, `test_laws`, `test_regressions` |
| `held_snapshots` | snapshots that are held over several changes | what the oracle found when they were taken | `histories`, `stream_histories`, `test_equalities_in_time` |
| `fault_injection` | everything before and after a change that failed at a chosen moment | itself | `test_failed_changes` |
| `maintenance_programs` | Plus and Minus of a maintenance program | the naive oracle, and the engine's Delta | `test_maintenance` |
| `stream_histories` | what holds at every time point, and every Delta | the oracle of streams | `test_time`, `test_reclaimed_terms` |
| `stream_ends` | verification and lifetimes at the end of a stream history | the oracle of streams | `test_time` |
| `reopenings` | (ends the process of a reasoner in a folder at random points, for histories of both kinds) | | `test_reopenings` |
| `retention` | (for how many time points an arrival can matter, by the definition) | | `stream_histories` |
| `expiring_facts` | until when each fact holds | the model of the facts that still hold then | `test_expiring` |
| `expiry_programs` | the maintenance program for facts that expire | the same | `test_maintenance`, `tests/papers/test_barbieri.py` |
| `registered_queries` | every report of registered queries; draws the history while it runs | the definition: window, closure, matches | `test_registered` |
| `registered_bodies` | the same with any SPARQL body | pyoxigraph over the closed window | `test_registered`, `test_reclaimed_terms` |
| `registered_themes` | the same under rules with a schema, with time, with merged equals | the definition | `test_registered` |
| `graph_patterns` | the sum of the changes of a continuous pattern | pyoxigraph, asked anew | `test_patterns` |
| `proofs` | each step of a proof, its height, and what is missing | brute force over all rule instances | `test_explanations`, `test_equalities` |
| `spark_frames` | (worlds as data frames, and back; a session for tiny tables) | | `spark_worlds`, `tests/unit` |
| `spark_worlds` | facts, counters, violations and deltas of joins on Spark | the naive oracle of each world | `test_spark_joins`, `tests/golden` |
| `spark_pipelines` | facts and deltas of a pipeline | the naive oracle of each world | `test_spark_pipelines` |
| `spark_tables` | (a knowledge base as its tables have it, read without Spark) | | `test_spark_driver`, `test_spark_graphs` |
"""
