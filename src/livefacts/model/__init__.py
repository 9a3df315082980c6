"""What the world is made of: facts, terms, values, numbers and time, with no input, no output, no rules.

- `durations`: Durations: lengths of time, in time points or by the clock
- `facts`: Facts and terms: what is true or false, and what it speaks of
- `identity`: Identity: one literal for each value, and the narrowest datatype that has the value
- `moments`: Moments and spans: the values of the date, time and duration types of XML Schema
- `namespaces`: The namespaces that everybody uses, and the prefixes that are known without a declaration
- `numbers`: Numbers: the values of xsd:integer, xsd:decimal, xsd:float and xsd:double, computed exactly
- `time_points`: Time points: whole numbers, and the dates that they stand for
- `totals`: Totals: sums, averages, least and greatest of numbers, the same in any order
- `values`: Values: what literals stand for, and how rules compare and compute with them
"""
