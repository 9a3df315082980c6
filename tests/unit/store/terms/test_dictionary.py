"""The dictionary gives every term one id, and every id its term back."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BaseDirection, BlankNode, Literal, NamedNode, Triple

from livefacts.errors import LimitError
from livefacts.model.facts import Symbol, Term
from livefacts.store.terms import dictionary as dictionary_module
from livefacts.store.terms import id_writer, text_table
from livefacts.store.terms.byte_text import copy_bytes, equal_bytes, hash_tag
from livefacts.store.terms.dictionary import (
    BLANK,
    IRI,
    LITERAL,
    SYMBOL,
    TRIPLE,
    Dictionary,
    inline_id,
    inline_value,
    is_inline,
)
from livefacts.store.terms.id_reader import text_of

XSD = "http://www.w3.org/2001/XMLSchema#"
INTEGER = NamedNode(XSD + "integer")
ROOM = NamedNode("http://example.org/rooms/kitchen")
STATEMENT = Triple(ROOM, NamedNode("http://example.org/is#in"), Literal("a\nb", language="en"))


class PlainDictionary:
    """What the dictionary does, with a dict of texts."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[bool, str], int] = {}

    def encode_one(self, term: Term) -> int:
        value = plain_integer(text_of(term)) if isinstance(term, Literal) else None
        if value is not None and -(2**29) <= value < 2**29:
            return value + 2**30 + 2**29
        key = (isinstance(term, Symbol), text_of(term))
        return self.numbers.setdefault(key, len(self.numbers))


def plain_integer(text: str) -> int | None:
    """The value of a canonical xsd:integer literal, or None."""
    tail = f'"^^<{XSD}integer>'
    if not text.startswith('"') or not text.endswith(tail):
        return None
    digits = text[1 : -len(tail)]
    is_number = digits.isascii() and digits.removeprefix("-").isdigit()
    return int(digits) if is_number and str(int(digits)) == digits else None


words = st.text(min_size=0, max_size=12)
characters = st.characters(codec="utf-8", exclude_categories=["Cs"])
names = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,8}", fullmatch=True)
iris = st.builds(
    lambda host, path, mark, name: NamedNode(f"http://{host}/{path}{mark}{name}"),
    names,
    names,
    st.sampled_from("/#?"),
    st.one_of(names, st.just("")),
)
integers = st.integers(-(2**31), 2**31).map(lambda n: Literal(str(n), datatype=INTEGER))
odd_integers = st.from_regex(r"[+-]?[0-9]{0,11}", fullmatch=True).map(
    lambda digits: Literal(digits, datatype=INTEGER)
)
literals = st.one_of(
    st.text(characters, max_size=20).map(Literal),
    st.builds(lambda text: Literal(text, language="en-gb"), words),
    st.builds(lambda text: Literal(text, language="ar", direction=BaseDirection.RTL), words),
    st.builds(lambda text: Literal(text, datatype=NamedNode(XSD + "decimal")), words),
    integers,
    odd_integers,
)
simple_terms = st.one_of(iris, names.map(BlankNode), literals, words.map(Symbol))
triple_terms = st.builds(
    lambda s, p, o: Triple(s, p, o), iris, iris, st.one_of(iris, literals, names.map(BlankNode))
)
terms = st.one_of(simple_terms, triple_terms)


@pytest.mark.slow
@given(st.lists(terms, max_size=60))
@settings(max_examples=150, deadline=None)
def test_ids_are_those_of_a_plain_dict(batch: list[Term]) -> None:
    dictionary, plain = Dictionary(), PlainDictionary()
    expected = [plain.encode_one(term) for term in batch]
    assert dictionary.encode(batch).tolist() == expected
    assert [dictionary.encode_one(term) for term in batch] == expected
    assert [dictionary.find(term) for term in batch] == expected
    assert dictionary.find_all(batch).tolist() == expected
    assert len(dictionary) == len(plain.numbers)


@pytest.mark.slow
@given(st.lists(terms, min_size=1, max_size=60))
@settings(max_examples=150, deadline=None)
def test_terms_come_back_as_they_were(batch: list[Term]) -> None:
    dictionary = Dictionary()
    ids = dictionary.encode(batch)
    assert dictionary.decode(ids) == batch
    assert [dictionary.decode_one(number) for number in ids.tolist()] == batch
    assert dictionary.texts(ids) == [text_of(term) for term in batch]
    assert list(map(type, dictionary.decode(ids))) == list(map(type, batch))


@given(st.lists(terms, max_size=30))
@settings(max_examples=100, deadline=None)
def test_triples_have_the_ids_of_their_terms(objects: list[Term]) -> None:
    triples = [
        Triple(subject, ROOM, term)
        for term in objects
        for subject in (ROOM, BlankNode("a1"))
        if not isinstance(term, Symbol)
    ]
    plain, together = Dictionary(), Dictionary()
    expected = plain.encode([t for triple in triples for t in triple]).reshape(-1, 3)
    assert together.encode_triples(triples).tolist() == expected.tolist()
    assert together.texts(range(len(together))) == plain.texts(range(len(plain)))


@pytest.mark.slow
@given(st.data())
@settings(max_examples=150, deadline=None)
def test_a_sweep_gives_back_what_only_passed_by_and_nothing_else(data: st.DataObject) -> None:
    dictionary = Dictionary()
    known: dict[Term, int] = {}
    kept: set[Term] = set()
    for _ in range(4):
        came, asked = (
            data.draw(st.lists(terms, max_size=20)),
            data.draw(st.lists(terms, max_size=4)),
        )
        with dictionary.passing:
            known.update(zip(came, dictionary.encode(came).tolist(), strict=True))
        known.update(zip(asked, map(dictionary.encode_one, asked), strict=True))
        kept.update(asked)
        held = (
            data.draw(st.lists(st.sampled_from(sorted(known, key=str)), max_size=5))
            if known
            else []
        )
        lent = (
            data.draw(st.lists(st.sampled_from(sorted(known, key=str)), max_size=3))
            if known
            else []
        )
        loan = dictionary.lend(np.array([known[term] for term in lent], np.int32))
        dictionary.sweep([np.array([known[term] for term in held], np.int32)])
        assert loan is not None
        stays = kept.union(held, lent)
        known = {t: n for t, n in known.items() if t in stays or is_inline(n)}
        assert {t: dictionary.find(t) for t in known} == known
        assert dictionary.decode(list(known.values())) == list(known)
        kept.update(known)
        assert len(dictionary) == sum(not is_inline(number) for number in known.values())


def test_terms_that_pass_by_take_no_more_room_however_many_they_are() -> None:
    dictionary, sizes = Dictionary(), []
    for turn in range(30):
        fresh = [NamedNode(f"http://example.org/{turn}/{n}") for n in range(500)]
        with dictionary.passing:
            ids = dictionary.encode(fresh)
        dictionary.sweep([ids[:50]])
        assert dictionary.decode(ids[:50]) == fresh[:50]
        sizes.append((len(dictionary), dictionary.nbytes))
    assert len(set(sizes[5:])) == 1


@pytest.mark.slow
def test_a_dictionary_that_grows_keeps_what_it_has() -> None:
    dictionary, plain = Dictionary(), PlainDictionary()
    random_source = random.Random(7)
    batch: list[Term] = [
        NamedNode(f"http://example.org/{i % 97}/{random_source.randrange(40_000)}")
        for i in range(60_000)
    ]
    batch += [Literal("x" * random_source.randrange(300)) for _ in range(3_000)]
    expected = [plain.encode_one(term) for term in batch]
    assert dictionary.encode(batch).tolist() == expected
    assert dictionary.decode(expected) == batch


@pytest.mark.slow
@given(st.lists(terms, max_size=30), st.lists(terms, max_size=30))
@settings(max_examples=100, deadline=None)
def test_terms_of_one_dictionary_are_found_in_another(some: list[Term], others: list[Term]) -> None:
    dictionary, read = Dictionary(), Dictionary()
    dictionary.encode(some)
    found = dictionary.ids_of(read, read.encode(others)).tolist()
    assert found == dictionary.find_all(others).tolist()
    assert found == [-1 if (n := dictionary.find(term)) is None else n for term in others]


@pytest.mark.slow
@given(st.lists(st.tuples(terms, terms, terms), min_size=1, max_size=30))
@settings(max_examples=100, deadline=None)
def test_the_triples_that_rdf_can_write_are_marked(triples: list[tuple[Term, ...]]) -> None:
    dictionary = Dictionary()
    ids = dictionary.encode(term for triple in triples for term in triple).reshape(-1, 3)
    expected = [
        isinstance(s, NamedNode | BlankNode) and isinstance(p, NamedNode) and type(o) is not Symbol
        for s, p, o in triples
    ]
    marks = np.zeros(len(triples), np.bool_)
    assert dictionary.mark_statements(ids, marks) == all(expected)
    assert marks.tolist() == expected


def test_a_term_that_was_never_added_is_not_found() -> None:
    dictionary = Dictionary()
    dictionary.encode_one(ROOM)
    assert dictionary.find(NamedNode("http://example.org/rooms/kitche")) is None
    assert dictionary.find(Symbol("kitchen")) is None
    assert dictionary.find_all([Symbol("kitchen"), ROOM, BlankNode("b")]).tolist() == [-1, 0, -1]
    assert len(dictionary) == 1


@pytest.mark.parametrize("value", [0, 1, -1, 9, 10, 2**29 - 1, -(2**29)])
def test_a_small_integer_is_its_own_id(value: int) -> None:
    dictionary = Dictionary()
    number = dictionary.encode_one(Literal(str(value), datatype=INTEGER))
    assert number == inline_id(value)
    assert is_inline(number)
    assert inline_value(number) == value
    assert dictionary.decode_one(number) == Literal(str(value), datatype=INTEGER)
    assert dictionary.texts([number]) == [f'"{value}"^^<{XSD}integer>']
    assert len(dictionary) == 0


@pytest.mark.parametrize("value", [2**29, -(2**29) - 1, 10**30])
def test_a_large_integer_is_an_ordinary_term(value: int) -> None:
    dictionary = Dictionary()
    assert inline_id(value) is None
    assert dictionary.encode_one(Literal(str(value), datatype=INTEGER)) == 0


@pytest.mark.parametrize("digits", ["01", "+1", "-0", "", " 1", "1 ", "-", "1.0", "\u0661"])
def test_an_integer_that_is_not_canonical_is_handed_back_as_it_was(digits: str) -> None:
    dictionary = Dictionary()
    odd = Literal(digits, datatype=INTEGER)
    number = dictionary.encode_one(odd)
    assert number == 0
    assert not is_inline(number)
    assert dictionary.decode_one(number).value == digits
    assert dictionary.encode_one(Literal("1", datatype=INTEGER)) == inline_id(1)


def test_kinds_are_told_apart() -> None:
    dictionary = Dictionary()
    batch = [ROOM, BlankNode("b"), Literal("x"), Literal(5), Symbol("x"), STATEMENT]
    kinds = dictionary.kinds(dictionary.encode(batch)).tolist()
    assert kinds == [IRI, BLANK, LITERAL, LITERAL, SYMBOL, TRIPLE]


def test_a_symbol_is_only_equal_to_itself_whatever_its_name() -> None:
    dictionary = Dictionary()
    batch: list[Term] = [
        Symbol("<http://a>"),
        NamedNode("http://a"),
        Symbol('"x"'),
        Literal("x"),
        Symbol("_:b"),
        BlankNode("b"),
        Symbol(""),
        Symbol("'"),
        Symbol("''"),
    ]
    assert len(set(dictionary.encode(batch).tolist())) == len(batch)
    assert dictionary.decode(range(len(batch))) == batch


def test_literals_are_one_term_only_if_form_datatype_and_language_agree() -> None:
    dictionary = Dictionary()
    batch = [
        Literal("1", datatype=NamedNode(XSD + "decimal")),
        Literal("1.0", datatype=NamedNode(XSD + "decimal")),
        Literal("1"),
        Literal("1", language="en"),
        Literal("1", language="en", direction=BaseDirection.LTR),
        Literal("1", datatype=INTEGER),
    ]
    assert len(set(dictionary.encode(batch).tolist())) == len(batch)


def test_labels_in_spans_get_the_scope_and_nothing_else_does() -> None:
    dictionary = Dictionary()
    text = b'_:x<http://a/_:x>"_:x"_:x'
    starts, ends = np.array([0, 3, 17, 22]), np.array([3, 17, 22, 25])
    buffer = np.frombuffer(bytearray(text), np.uint8)
    ids = dictionary.encode_spans(buffer, starts, ends, b"f3")
    assert dictionary.texts(ids) == ["_:f3_x", "<http://a/_:x>", '"_:x"', "_:f3_x"]
    assert dictionary.decode_one(int(ids[0])) == BlankNode("f3_x")
    other = dictionary.encode_spans(buffer, starts, ends, b"f4")
    assert dictionary.texts(other)[0] == "_:f4_x"


def test_scopes_and_labels_cannot_be_confused() -> None:
    dictionary = Dictionary()
    buffer = np.frombuffer(bytearray(b"_:1x_:x"), np.uint8)
    first = dictionary.encode_spans(buffer, np.array([0]), np.array([4]), b"f3")
    second = dictionary.encode_spans(buffer, np.array([4]), np.array([7]), b"f31")
    assert first.tolist() != second.tolist()


def test_statements_are_written_as_the_plain_texts_joined() -> None:
    dictionary = Dictionary()
    random_source = random.Random(3)
    pool = [ROOM, BlankNode("b"), Literal('say "hi"\n'), Literal(-42), Literal(0), STATEMENT]
    pool += [Literal(n) for n in (9, 10, -(2**29), 2**29 - 1)]
    ids = dictionary.encode(pool)
    rows = np.array([[random_source.choice(ids) for _ in range(3)] for _ in range(500)], np.int32)
    graphs = np.array([random_source.choice([-1, ids[0]]) for _ in rows], np.int32)
    texts = dict(zip(ids.tolist(), map(text_of, pool), strict=True)) | {-1: ""}
    lines = [" ".join(texts[i] for i in row) + " .\n" for row in rows.tolist()]
    assert dictionary.write_ntriples(rows) == "".join(lines).encode()
    quads = np.column_stack([rows, graphs])
    lines = [" ".join(texts[i] for i in row if i >= 0) + " .\n" for row in quads.tolist()]
    assert dictionary.write_ntriples(quads) == "".join(lines).encode()
    assert dictionary.write_ntriples(rows[:0]) == b""


def test_a_typical_term_takes_at_most_seventy_bytes() -> None:
    dictionary = Dictionary()
    iri = "http://www.Department{}.University{}.edu/GraduateStudent{}/Publication{}"
    dictionary.encode(
        NamedNode(iri.format(d, u, s, p))
        for u in range(4)
        for d in range(10)
        for s in range(150)
        for p in range(12)
    )
    assert dictionary.nbytes <= 70 * len(dictionary)


def test_many_prefixes_do_not_double_the_memory() -> None:
    dictionary = Dictionary()
    batch = [NamedNode(f"http://example.org/things/{i:08d}/x") for i in range(20_000)]
    ids = dictionary.encode(batch)
    assert dictionary.decode(ids) == batch
    assert dictionary.nbytes <= 100 * len(dictionary)


def test_a_text_of_many_megabytes_is_a_term_like_any_other() -> None:
    dictionary = Dictionary()
    long = Literal("x" * 20_000_000)
    number = dictionary.encode_one(long)
    assert dictionary.find(long) == number
    assert len(dictionary.decode_one(number).value) == 20_000_000


def test_a_dictionary_that_is_full_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dictionary_module, "MOST_TERMS", 3_000)
    dictionary = Dictionary()
    with pytest.raises(LimitError, match="the dictionary is full"):
        dictionary.encode(NamedNode(f"a:{i}") for i in range(4_000))
    assert 1_000 < len(dictionary) <= 3_000
    assert dictionary.decode_one(999) == NamedNode("a:999")


def plain_tag(text: bytes) -> int:
    mask, factor = 2**64 - 1, 0x9E3779B97F4A7C15
    h = 0xCBF29CE484222325 ^ (len(text) * factor & mask)
    whole = len(text) - len(text) % 8
    words = [int.from_bytes(text[i : i + 8], "little") for i in range(0, whole, 8)]
    for word in [*words, *text[whole:]]:
        h = (h ^ word) * factor & mask
        h ^= h >> 29
    return h >> 32


@given(st.binary(max_size=40), st.binary(max_size=40))
@settings(max_examples=200, deadline=None)
def test_bytes_are_hashed_compared_and_copied_as_plain_python_does(a: bytes, b: bytes) -> None:
    left, right = (np.frombuffer(text + b"?", np.uint8) for text in (a, b))
    assert hash_tag(left.ctypes.data, len(a)) == plain_tag(a)
    size = min(len(a), len(b))
    assert equal_bytes(left.ctypes.data, right.ctypes.data, size) == (a[:size] == b[:size])
    target = np.zeros(len(a) + 1, np.uint8)
    copy_bytes(target.ctypes.data, left.ctypes.data, len(a))
    assert target.tobytes() == a + b"\0"


@pytest.mark.slow
@given(st.one_of(terms.map(text_of), words))
@settings(max_examples=300, deadline=None)
def test_texts_are_looked_at_as_plain_python_does(text: str) -> None:
    data = text.encode()
    buffer = np.frombuffer(data + b"?", np.uint8)
    address = buffer.ctypes.data
    value = plain_integer(text)
    is_small = value is not None and -(2**29) <= value < 2**29
    expected = inline_id(value) if value is not None and is_small else text_table.NOT_INLINE
    assert text_table.inline_integer(address, len(data)) == expected
    local = max(data.rfind(b"/"), data.rfind(b"#")) + 1
    assert text_table.prefix_length(address, len(data)) == (local if local > 1 else 0)
    assert text_table.kind_of_text(address, len(data)) == plain_kind(text)


def plain_kind(text: str) -> int:
    if text.startswith("<"):
        return TRIPLE if text.startswith("<<") and len(text) > 2 else IRI
    return {'"': LITERAL, "_": BLANK}.get(text[:1], SYMBOL)


@given(st.lists(st.integers(1, 2**62), unique=True, max_size=30))
@settings(max_examples=50, deadline=None)
def test_slots_that_move_are_found_where_they_belong(entries: list[int]) -> None:
    old, new = np.array(entries, np.int64), np.zeros(64, np.int64)
    text_table.move_slots(old, new)
    assert sorted(new[new != 0].tolist()) == sorted(entries)
    for entry in entries:
        slot = (entry >> 32) & 63
        while new[slot] != entry:
            assert new[slot], "an entry is cut off from its place by an empty slot"
            slot = (slot + 1) & 63


@given(st.integers(0, 2**30))
@settings(deadline=None)
def test_digits_are_counted(value: int) -> None:
    assert id_writer.decimal_digits(value) == len(str(value))
