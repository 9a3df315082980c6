"""The order of rows: ORDER BY, and the first few of an order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from livefacts.engine.queries.column_expressions import Expressions
from livefacts.engine.queries.solutions import Ids, Rows, Solutions
from livefacts.engine.queries.term_order import TermOrder
from livefacts.language.algebra import OrderKey
from livefacts.store.terms.text_table import INLINE_FIRST


def row_order(
    rows: Solutions, keys: Sequence[OrderKey], expressions: Expressions, most: int | None = None
) -> Rows:
    """The numbers of the rows in their order, or of the first so many; equal ones stay as they are."""
    columns = []
    for key in keys:
        ranks = _ranks(expressions.values(key.value, rows), expressions.term_order)
        columns.append(-ranks if key.descending else ranks)
    chosen = np.arange(rows.count)
    if most is not None and 0 < most < rows.count and columns:
        # Whatever comes first has a first key that is not behind that of the last one.
        last = np.partition(columns[0], most - 1)[most - 1]
        chosen = np.flatnonzero(columns[0] <= last)
    expressions.pause()
    if columns:
        chosen = chosen[np.lexsort([column[chosen] for column in reversed(columns)])]
    return chosen[:most]


def _ranks(ids: Ids, order: TermOrder) -> Rows:
    if len(ids) and ids.min() >= INLINE_FIRST:
        # Small integers are in the order of their ids.
        return ids.astype(np.int64)
    different, places = np.unique(ids, return_inverse=True)
    return order.of(different).ranks[places]
