"""Plain entities of RDF/XML are read; whatever could do harm is refused, with the reason."""

from __future__ import annotations

import pytest

from livefacts.errors import InputError
from livefacts.syntax.rdf.documents import read_quads
from livefacts.syntax.rdf.entities import LARGEST_EXPANSION, LONGEST_VALUE, MOST_ENTITIES

BODY = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:ex="&ex;">
  <rdf:Description rdf:about="&ex;kitchen"><ex:near rdf:resource="&ex;hall"/></rdf:Description>
</rdf:RDF>
"""
PLAIN = '<!DOCTYPE rdf:RDF [ <!ENTITY ex "http://example.org/"> ]>'
TRIPLE = "<http://example.org/kitchen> <http://example.org/near> <http://example.org/hall>"


def read(document: str, prefixes: dict[str, str] | None = None) -> list[str]:
    quads = read_quads(document.encode(), format="rdf", prefixes=prefixes)
    return [str(quad.triple) for quad in quads]


@pytest.mark.parametrize(
    "prolog",
    [
        PLAIN,
        "\ufeff" + PLAIN,
        '<?xml version="1.0"?>\n<!-- rooms -->\n' + PLAIN,
        " " * 2043 + PLAIN,
        "<!-- <![CDATA[ -->" + PLAIN,
        "<!DOCTYPE RDF [\n<!-- names -->\n<!ENTITY ex 'http://example.org/' >\n]\n>\n",
        '<!DOCTYPE rdf:RDF [ <!ENTITY ex "http://example.org/"> <!ENTITY ex "other:"> ]>',
        """<!DOCTYPE rdf:RDF [ <!ENTITY q '"'> <!ENTITY ex "http://example.org/"> ]>""",
    ],
)
def test_plain_entities_before_the_root_element_are_read(prolog: str) -> None:
    prefixes: dict[str, str] = {}
    assert read(prolog + BODY, prefixes) == [TRIPLE]
    assert prefixes["ex"] == "http://example.org/"


def test_a_doctype_that_declares_nothing_is_read() -> None:
    assert read("<!DOCTYPE rdf:RDF>" + BODY.replace("&ex;", "http://example.org/")) == [TRIPLE]


def test_the_same_file_without_a_doctype_is_not_understood() -> None:
    with pytest.raises(InputError):
        read(BODY)


@pytest.mark.parametrize(
    ("doctype", "reason"),
    [
        ('<!DOCTYPE rdf:RDF SYSTEM "http://example.org/x.dtd">', "a file elsewhere"),
        ('<!DOCTYPE rdf:RDF PUBLIC "x" "http://example.org/x.dtd">', "a file elsewhere"),
        ('<!DOCTYPE r [<!ENTITY ex SYSTEM "file:///etc/passwd">]>', "not a plain text"),
        ('<!DOCTYPE r [<!ENTITY % ex "x">]>', "a parameter entity"),
        ('<!DOCTYPE r [<!ENTITY ex "x">%ex;]>', "a parameter entity"),
        ("<!DOCTYPE r [<!ELEMENT r ANY>]>", "declares elements"),
        ('<!DOCTYPE r [<!ATTLIST r a CDATA "x">]>', "declares attributes"),
        ('<!DOCTYPE r [<!ENTITY a "x"><!ENTITY ex "&a;&a;">]>', "holds another one"),
        ('<!DOCTYPE r [<!ENTITY ex "<b/>">]>', "holds another one, or markup"),
        ('<!DOCTYPE r [<!ENTITY ex "x">', "does not end properly"),
        (f'<!DOCTYPE r [<!ENTITY ex "{"x" * (LONGEST_VALUE + 1)}">]>', "is longer than"),
        (
            "<!DOCTYPE r ["
            + "".join(f'<!ENTITY e{n} "">' for n in range(MOST_ENTITIES + 1))
            + "]>",
            "more than 1,024 entities",
        ),
    ],
)
def test_a_doctype_that_could_do_harm_is_refused_with_the_reason(doctype: str, reason: str) -> None:
    with pytest.raises(InputError, match="DOCTYPE that is refused") as refused:
        read(doctype + BODY)
    assert reason in str(refused.value)


def test_a_bomb_of_nested_entities_is_refused() -> None:
    levels = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(9))
    with pytest.raises(InputError, match="the entity e1 holds another one"):
        read(f'<!DOCTYPE rdf:RDF [<!ENTITY e0 "boom">{levels}<!ENTITY ex "a:">]>' + BODY)


def test_a_bomb_of_many_references_is_refused_before_it_grows() -> None:
    value = "x" * LONGEST_VALUE
    line = "<rdf:Description><ex:p>" + "&b;" * 1000 + "</ex:p></rdf:Description>\n"
    lines = line * (LARGEST_EXPANSION // (1000 * LONGEST_VALUE) + 1)
    doctype = f'<!DOCTYPE r [<!ENTITY ex "http://example.org/"><!ENTITY b "{value}">]>'
    with pytest.raises(InputError, match="grow to more than 33,554,432 bytes"):
        read(doctype + BODY.replace("</rdf:RDF>", lines + "</rdf:RDF>"))


def test_lines_are_counted_as_they_stand_in_the_file() -> None:
    lines = "<!DOCTYPE r [\n\n<!ENTITY ex 'http://example.org/'>\n]>\n"
    with pytest.raises(InputError) as wrong:
        read(lines + BODY.replace("</rdf:RDF>", "</rdf:Other>"))
    assert wrong.value.place is not None
    assert wrong.value.place.line == 7
