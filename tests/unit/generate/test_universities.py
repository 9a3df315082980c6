"""The generated universities: same bytes, published proportions, a schema that bites."""

from __future__ import annotations

import hashlib
from collections import Counter
from functools import cache
from itertools import islice

import pytest
from pyoxigraph import RdfFormat, parse

from livefacts.errors import InputError
from livefacts.generate import NAMESPACE, university
from livefacts.generate.university_schema import CLASSES, PROPERTIES, SIGNATURES, schema

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


@cache
def two() -> tuple[tuple[str, str, str], ...]:
    """Two universities as terms in N-Triples."""
    lines = b"".join(university(2)).decode().splitlines()
    return tuple(tuple(line.removesuffix(" .").split(" ", 2)) for line in lines)  # type: ignore[misc]


@cache
def kinds() -> dict[str, set[str]]:
    """The individuals of each class that are told."""
    found: dict[str, set[str]] = {}
    for s, p, o in two():
        if p == f"<{TYPE}>":
            found.setdefault(o.removeprefix(f"<{NAMESPACE}").removesuffix(">"), set()).add(s)
    return found


def per_department(kind: str) -> Counter[str]:
    """How many individuals of this class each department has."""
    return Counter("/".join(iri.split("/")[:4]) for iri in kinds()[kind])


def links(name: str) -> list[tuple[str, str]]:
    """Subjects and objects of a property."""
    return [(s, o) for s, p, o in two() if p == f"<{NAMESPACE}{name}>"]


def test_the_same_seed_gives_the_same_bytes_on_every_machine() -> None:
    digest = hashlib.sha256(b"".join(islice(university(1), 4))).hexdigest()
    assert digest == "d4f1eda282c5c3b88be47e1ffab257b8aacee2c6905c6207614a97592f2a8faf"


def test_another_seed_gives_other_universities_under_the_same_schema() -> None:
    first, second = list(university(1, seed=1)), list(university(1, seed=2))
    assert first[0] == second[0] == schema()
    assert first[2] != second[2]


def test_a_university_does_not_depend_on_how_many_are_made() -> None:
    alone, together = list(university(1, seed=5)), list(university(2, seed=5))
    assert together[: len(alone)] == alone


@pytest.mark.slow
def test_nothing_is_told_twice() -> None:
    assert len(set(two())) == len(two())


def test_a_university_has_some_hundred_thousand_triples() -> None:
    assert 100_000 <= len(two()) / 2 <= 170_000


def test_every_line_is_an_n_triple() -> None:
    department = b"".join(islice(university(1), 3))
    assert len(list(parse(department, format=RdfFormat.N_TRIPLES))) == department.count(b"\n")


@pytest.mark.parametrize(
    ("kind", "least", "most"),
    [
        ("FullProfessor", 7, 10),
        ("AssociateProfessor", 10, 14),
        ("AssistantProfessor", 8, 11),
        ("Lecturer", 5, 7),
        ("ResearchGroup", 10, 20),
    ],
)
def test_a_department_has_the_published_numbers_of(kind: str, least: int, most: int) -> None:
    numbers = per_department(kind)
    assert len(numbers) == len(kinds()["Department"])
    assert least <= min(numbers.values()) <= max(numbers.values()) <= most


def test_a_university_has_15_to_25_departments() -> None:
    departments = Counter(iri.split("/")[2] for iri in kinds()["Department"])
    assert len(departments) == 2
    assert all(15 <= count <= 25 for count in departments.values())


def test_students_outnumber_the_faculty_as_published() -> None:
    ranks = ("FullProfessor", "AssociateProfessor", "AssistantProfessor", "Lecturer")
    faculty = sum((per_department(rank) for rank in ranks), Counter[str]())
    undergraduates, graduates = (
        per_department("UndergraduateStudent"),
        per_department("GraduateStudent"),
    )
    for department, members in faculty.items():
        assert 8 * members - 1 <= undergraduates[department] <= 14 * members
        assert 3 * members - 1 <= graduates[department] <= 4 * members


def test_every_course_has_one_teacher() -> None:
    courses = [course for _, course in links("teacherOf")]
    assert len(courses) == len(set(courses))
    assert set(courses) == kinds()["Course"] | kinds()["GraduateCourse"]


def test_teaching_assistants_assist_in_different_courses() -> None:
    assisted = links("teachingAssistantOf")
    assert len({course for _, course in assisted}) == len(assisted)
    assert {student for student, _ in assisted} == kinds()["TeachingAssistant"]
    assert not kinds()["TeachingAssistant"] & kinds()["ResearchAssistant"]


def test_every_department_has_one_head_who_works_there() -> None:
    heads = links("headOf")
    assert {department for _, department in heads} == kinds()["Department"]
    assert len(heads) == len(kinds()["Department"])
    assert set(heads) <= set(links("worksFor"))


def test_the_schema_speaks_of_every_property_and_class_that_is_used() -> None:
    below = {name for names in CLASSES.values() for name in names.split()}
    classes = {*CLASSES, *below}
    properties = {name for name, _, _ in SIGNATURES} | set(PROPERTIES)
    properties |= {name for names in PROPERTIES.values() for name in names.split()}
    used = {p.removeprefix(f"<{NAMESPACE}")[:-1] for _, p, _ in two() if NAMESPACE in p}
    schema_terms = {"Class", "Property"}
    assert {kind for kind in kinds() if "/" not in kind} <= classes | schema_terms
    assert used <= properties
    assert {c for _, *ends in SIGNATURES for c in ends if c} <= classes


def test_fewer_than_no_universities_are_refused() -> None:
    with pytest.raises(InputError, match="-1 universities"):
        university(-1)
