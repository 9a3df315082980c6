"""General rules that fit into the driver's memory: the embedded engine over the tables of a knowledge base.

- `change_in_memory`: Changes in the driver, of a state that general rules were closed in there
- `engine_over_tables`: A program live in the driver: the embedded engine over a state that was handed over
- `handover`: Handing over: general rules are followed in the driver's memory where they fit
"""
