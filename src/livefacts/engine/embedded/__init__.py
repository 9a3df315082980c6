"""The embedded engine: facts and a plan in one process, kept true by compiled kernels.

In: a `Change` of rows of ids and rules.  Out: an `IdDelta`.

- `change`: One change of the embedded engine: strata from below, losses then gains, aggregates kept in step
- `expiry`: Facts that expire: each row holds until a time, and its conclusions know until when
- `kernel`: The fixpoint kernel: semi-naive evaluation, one fact at a time, over rows of ids
- `proofs`: Proofs: why a fact holds, and how near another is to holding, by looking backward through rules
- `recheck`: Verification: everything drawn again from what was asserted, set at a time, and what differs
- `schema`: The single-triple path: rules that follow from one triple once the schema is closed
- `templates`: Templates: rules that read axioms are specialised for the axioms that are asserted (partial evaluation)
- `transitive`: Transitive rules under loss: which pairs are still connected after edges have gone
"""
