"""Rules that follow single triples, on Spark: the schema closed in the driver, buckets followed by tasks.

Paper: DynamiTE, sections 3 to 5.

- `bucket_change`: A change as tasks: which of its triples change anything, what follows, and what that changes
- `closure`: Closing: the conclusions of all told triples, for rules that follow single ones
- `driver_change`: Updating in the driver: told facts come and go, and exactly what changes is written down
- `task_change`: A large change, by tasks: three jobs over all buckets, and one commit
"""
