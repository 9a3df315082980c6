"""Coverage of the generators: the share of random inputs that have a feature or an effect.

A generator can go dull without anyone noticing; so tests hold a least share for each feature.

| module | measures | held by |
|---|---|---|
| `cases` | what random cases contain and derive | `test_generator` |
| `histories` | what the changes of random histories do, by the oracle alone | `test_generator` |
| `stream_histories` | what random stream histories contain, and what their acts do | `test_time` |
"""
