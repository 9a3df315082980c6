"""The embedded engine: facts and a plan in one process, kept true by compiled kernels.

In: rows of ids that come and go, a plan, a time.
Out: an `IdDelta`; proofs; the differences that a recheck finds.

- `kernel`: the fixpoint kernel: semi-naive evaluation and support counts, one fact at a time
- `schema`: the single-triple path: what follows from one triple under a closed schema
- `transitive`: which pairs of a transitive rule are lost when edges go
- `change`: one change: stratum by stratum, losses then gains, aggregates kept in step
- `templates`: partial evaluation: rules that read axioms, made for the axioms asserted
- `expiry`: facts that carry the time until which they hold
- `proofs`: why a fact holds, or how near it is to holding, by backward search
- `recheck`: everything derived again set at a time, and what differs

Papers: DynamiTE, sections 2 to 5; Volz et al., sections 3 and 4; Barbieri et al., section 3.
"""
