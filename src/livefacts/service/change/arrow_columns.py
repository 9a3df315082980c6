"""Arrow columns: rows of ids become columns of values, without an object for each of them.

Each different term of a column is looked at once, and text columns keep it once (they are
dictionary-encoded).  A column in which every term is an integer, a number, a boolean, a date or
a dateTime has Arrow's type for it; any other one has the texts that SPARQL's CSV results have:
an IRI without brackets, what a literal says.  Asked for as `terms`, columns are N-Triples, from
which every term can be read back.  Unbound is null.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyoxigraph import RdfFormat, parse

from livefacts.model.namespaces import XSD
from livefacts.service.change.tabular import NO_TERM
from livefacts.store.terms.id_reader import SYMBOL_MARK
from livefacts.store.terms.text_table import INLINE_FIRST, INLINE_ZERO

Ids = NDArray[np.int32]
LITERAL_PARTS = r'(?s)^"(?P<says>.*)"(?:\^\^<(?P<datatype>[^>]*)>|@(?P<language>[A-Za-z0-9-]+))?$'
INTEGERS = frozenset(
    f"{XSD}{sign}{name}"
    for sign in ("", "unsigned")
    for name in ("integer", "int", "long", "short", "byte", "Int", "Long", "Short", "Byte")
) | frozenset(
    f"{XSD}{sign}Integer" for sign in ("negative", "nonNegative", "positive", "nonPositive")
)
DECIMALS = frozenset((XSD + "decimal",))
FLOATS = frozenset((XSD + "double", XSD + "float"))
NUMBERS = INTEGERS | DECIMALS | FLOATS


class PackedTexts(Protocol):
    """Where the texts of ids are read."""

    def packed_texts(self, ids: Ids) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """The texts of ids one after the other, and where each of them ends."""
        ...

    def decode(self, ids: Any) -> Sequence[Any]:
        """The terms of ids."""
        ...


def arrow_table(
    columns: Mapping[str, Ids], terms: PackedTexts, *, as_terms: bool = False
) -> pa.Table:
    """The columns of ids as an Arrow table of values, or of terms."""
    made = [_column(np.ascontiguousarray(ids), terms, as_terms) for ids in columns.values()]
    return pa.table(made, names=list(columns))


def written_out(table: pa.Table) -> pa.Table:
    """The table with its text columns written out."""
    for at, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(at, field.name, table[at].cast(field.type.value_type))
    return table


def _column(ids: Ids, terms: PackedTexts, as_terms: bool) -> pa.Array:
    is_bound = ids != NO_TERM
    if not as_terms and is_bound.any() and (ids[is_bound] >= INLINE_FIRST).all():
        return pa.array(ids.astype(np.int64) - INLINE_ZERO, mask=~is_bound)
    coded = pa.array(ids, mask=~is_bound).dictionary_encode()
    texts = _texts(coded.dictionary.to_numpy(zero_copy_only=False), terms)
    values = texts if as_terms else values_of(texts)
    if pa.types.is_large_string(values.type):
        return pa.DictionaryArray.from_arrays(coded.indices, values)
    return values.take(coded.indices)


def _texts(ids: Ids, terms: PackedTexts) -> pa.Array:
    """The texts of different terms, as the tables keep them."""
    known = ids >= 0
    text, ends = terms.packed_texts(np.where(known, ids, INLINE_ZERO).astype(np.int32))
    starts = np.concatenate([np.zeros(1, np.int64), ends])
    texts = pa.LargeStringArray.from_buffers(len(ids), pa.py_buffer(starts), pa.py_buffer(text))
    if known.all():
        return texts
    # What a query has computed has no text in the tables.
    own = pa.array([str(term) for term in terms.decode(ids[~known])], pa.large_string())
    return pc.replace_with_mask(texts, pa.array(~known), own)


def values_of(texts: pa.Array) -> pa.Array:
    """The values of terms that are written as N-Triples: of one type if all of them have it.

    >>> values_of(pa.array(['"2.5"^^<http://www.w3.org/2001/XMLSchema#decimal>'])).to_pylist()
    [Decimal('2.5')]
    >>> values_of(pa.array(["<ex:a>", '"b"@en', "_:c"])).to_pylist()
    ['ex:a', 'b', '_:c']
    """
    texts = texts.cast(pa.large_string())
    literals = pc.starts_with(texts, '"')
    if not len(texts) or not pc.all(literals).as_py():
        return _plain_texts(texts, literals)
    parts = pc.extract_regex(texts, LITERAL_PARTS)
    says = _unescaped(pc.struct_field(parts, "says"), texts)
    kinds = frozenset(pc.unique(pc.struct_field(parts, "datatype")).to_pylist())
    try:
        return _typed(says, kinds)
    except (pa.ArrowInvalid, ArithmeticError):
        return says


def _plain_texts(texts: pa.Array, literals: pa.Array) -> pa.Array:
    """IRIs without brackets, symbols by their names, and what literals say."""
    bare = pc.replace_substring_regex(texts, r"^<([^<].*)>$", r"\1")
    bare = pc.replace_substring_regex(bare, f"^{SYMBOL_MARK}", "")
    if pc.any(literals).as_py():
        said = texts.filter(literals)
        says = pc.struct_field(pc.extract_regex(said, LITERAL_PARTS), "says")
        bare = pc.replace_with_mask(bare, literals, _unescaped(says, said))
    return bare


def _unescaped(says: pa.Array, texts: pa.Array) -> pa.Array:
    """What literals say; those with escapes are read by the parser of N-Triples."""
    says = says.cast(pa.large_string())
    escaped = pc.match_substring(says, "\\")
    if not pc.any(escaped).as_py():
        return says
    lines = "".join(f"<x:> <x:> {text} .\n" for text in texts.filter(escaped).to_pylist())
    read = [quad.object.value for quad in parse(lines, RdfFormat.N_TRIPLES, lenient=True)]
    return pc.replace_with_mask(says, escaped, pa.array(read, pa.large_string()))


def _typed(says: pa.Array, datatypes: frozenset[str]) -> pa.Array:
    """What literals of these datatypes say, as one type of Arrow if there is one."""
    if datatypes <= INTEGERS:
        return _number(says, pa.int64())
    if datatypes <= DECIMALS:
        return pa.array([Decimal(text) for text in says.to_pylist()])
    if datatypes <= NUMBERS:
        return _number(says, pa.float64())
    if len(datatypes) > 1:
        return says
    (datatype,) = datatypes
    if datatype == XSD + "boolean":
        return pc.is_in(says, pa.array(["true", "1"], pa.large_string()))
    if datatype == XSD + "date":
        return says.cast(pa.date32())
    if datatype == XSD + "dateTime":
        has_zone = pc.match_substring_regex(says, r"(Z|[+-]\d\d:\d\d)$")
        zone = "UTC" if pc.all(has_zone).as_py() else None
        return says.cast(pa.timestamp("us", zone))
    return says


def _number(says: pa.Array, kind: pa.DataType) -> pa.Array:
    return pc.replace_substring_regex(says, r"^\+", "").cast(kind)
