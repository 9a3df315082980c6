"""Table types: how the arrays that kernels read are declared, and the numbers of their fields.

A named tuple of arrays is annotated with the names below, which say the cells and the number of
dimensions of each; the types that kernels are compiled for are read off the annotations.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

Ints = Annotated[NDArray[np.int64], 1]
IntRows = Annotated[NDArray[np.int64], 2]
Ids = Annotated[NDArray[np.int32], 1]
IdRows = Annotated[NDArray[np.int32], 2]
Floats = Annotated[NDArray[np.float64], 1]
Bytes = Annotated[NDArray[np.uint8], 1]
ByteRows = Annotated[NDArray[np.uint8], 2]


class Numbering:
    """Numbers fields in the order in which they are declared; one may take several cells.

    >>> field = Numbering()
    >>> [field(), field(3), field(), field.count]
    [0, 1, 4, 5]
    """

    def __init__(self, first: int = 0) -> None:
        self.count = first

    def __call__(self, cells: int = 1) -> int:
        self.count += cells
        return self.count - cells
