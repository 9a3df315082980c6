"""Continuous queries on Spark: update messages in, changes of answers out, as streaming DataFrames.

- `answer_frames`: Continuous queries on Spark: update messages in, changes of answers out, as DataFrames
- `keeper`: Keepers: a continuous query followed in one place of a cluster, from micro-batch to micro-batch
- `message_tables`: Tables of continuous queries on Spark: messages in the order of their times, changes of rows
- `star_states`: Stars on Spark: messages go to the centres that they name, and each centre keeps one number
"""
