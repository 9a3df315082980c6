"""Continuous queries on Spark: update messages in, changes of answers out, as streaming DataFrames.

In: a DataFrame of update messages, a table or a stream.
Out: a DataFrame of the changes of answers.

- `message_tables`: messages in the order of their times, changes as rows
- `star_states`: stars, followed where their centres are
- `keeper`: every other query, followed in one process from a log that Spark keeps
- `answer_frames`: the door: which of the two, and the DataFrame

Paper: Gergatsoulis and Damigos, section 7.
"""
