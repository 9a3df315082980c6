import pytest

import livefacts as lf
from livefacts import InputError
from livefacts.errors import UnknownPrefixError


@pytest.fixture
def family() -> lf.Reasoner:
    reasoner = lf.Reasoner()
    reasoner.add("@prefix f: <http://f.example/> . f:ann f:hasParent f:ben .")
    return reasoner


def test_facts_use_prefixes_that_are_known(family: lf.Reasoner):
    assert family.add("f:hal f:hasParent f:ann . f:hal rdfs:label 'Hal' .").counts["asserted"] == 2
    assert "f:hal f:hasParent f:ann" in family
    assert family.remove("f:hal f:hasParent f:ann .").counts["retracted"] == 1
    assert family.add("age(f:ann, 30) .").counts["asserted"] == 1


def test_a_prefix_of_the_text_itself_comes_first(family: lf.Reasoner):
    family.add("f:ann f:likes f:ben . @prefix f: <http://other.example/> . f:ann f:likes f:ben .")
    assert len(family) == 3


def test_mistakes_keep_their_lines(family: lf.Reasoner):
    with pytest.raises(InputError) as caught:
        family.add("f:ann f:likes f:ben .\nf:ann f:likes .")
    assert caught.value.place is not None
    assert caught.value.place.line == 2
    assert "f:ann f:likes ." in str(caught.value)


def test_an_unknown_prefix_has_a_hint(family: lf.Reasoner):
    with pytest.raises(InputError, match="declare it: @prefix g:"):
        family.add("f:ann g:likes f:ben .")
    with pytest.raises(UnknownPrefixError, match="@prefix g:"):
        family.add("age(g:ann, 30) .")


def test_the_name_of_a_file_is_no_text(family: lf.Reasoner):
    with pytest.raises(InputError, match=r"a file\? load\('people.ttl'\)"):
        family.add("people.ttl")


def test_a_text_is_a_fact_to_look_for(family: lf.Reasoner):
    family.add("road(harbour, mill) .")
    assert "road(harbour, mill)" in family
    assert "road(mill, harbour) ." not in family
    assert "<http://f.example/ann> f:hasParent f:ben" in family
    with pytest.raises(InputError, match="2 facts, where one is wanted"):
        assert "f:a f:b f:c . f:d f:e f:f" in family
