"""Universities: people, courses and publications in the shape of the Lehigh benchmark.

The class and property hierarchy and the proportions are those that the LUBM paper
publishes (Guo, Pan, Heflin 2005); the names, the namespace and the program are our own.
A university has 15 to 25 departments and about 6,700 triples in each of them.

Every university draws from its own stream of random numbers: university 3 is the same
whether four are made or four thousand.  Only `Random.random` is used, the one method
whose numbers Python promises never to change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import TypeVar

from livefacts.errors import InputError
from livefacts.generate.university_schema import NAMESPACE, schema

__all__ = ["NAMESPACE", "university"]

KNOWN_UNIVERSITIES = 1000
RESEARCH_TOPICS = 30
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"

# rank, how many in a department, publications of each
PROFESSORS = (
    ("FullProfessor", (7, 10), (15, 20)),
    ("AssociateProfessor", (10, 14), (10, 18)),
    ("AssistantProfessor", (8, 11), (5, 10)),
)
LECTURERS = ("Lecturer", (5, 7), (0, 5))

Thing = TypeVar("Thing")


def university(count: int, seed: int = 0) -> Iterator[bytes]:
    """The schema and then so many universities, a department at a time.

    >>> schema, campus, department, *more = university(1)
    >>> b"subClassOf" in schema, b"University" in campus, b"FullProfessor0" in department
    (True, True, True)
    """
    if count < 0:
        raise InputError(f"there cannot be {count} universities", hint="ask for 0 or more")
    return _pieces(count, seed)


def _pieces(count: int, seed: int) -> Iterator[bytes]:
    yield schema()
    for number in range(count):
        draw = Random(f"university {number} of seed {seed}")
        campus = f"http://university{number}.example"
        yield f"<{campus}> <{TYPE}> <{NAMESPACE}University> .\n".encode()
        for department in range(_between(draw, 15, 25)):
            yield _Department(campus, department, draw).written()


class _Department:
    """One department: its lines so far, and the stream of numbers that decides them."""

    def __init__(self, campus: str, number: int, draw: Random) -> None:
        self.campus = campus
        self.iri = f"{campus}/department{number}"
        self.address = f"department{number}.{campus.removeprefix('http://')}"
        self.draw = draw
        self.lines: list[str] = []

    def written(self) -> bytes:
        """The department as N-Triples."""
        self._organize()
        professors, staff = self._hire()
        courses = self._teach(staff, "Course")
        graduate_courses = self._teach(staff, "GraduateCourse")
        publications = self._publish(staff)
        self._enrol_undergraduates(len(staff), courses, professors)
        graduates = self._enrol_graduates(len(staff), graduate_courses, professors)
        self._coauthor(graduates, publications)
        self._assist(graduates, courses)
        return "".join(self.lines).encode()

    def _organize(self) -> None:
        self._is(self.iri, "Department")
        self._says(self.iri, "name", self.address.partition(".")[0])
        self._links(self.iri, "subOrganizationOf", self.campus)
        for number in range(_between(self.draw, 10, 20)):
            group = f"{self.iri}/ResearchGroup{number}"
            self._is(group, "ResearchGroup")
            self._links(group, "subOrganizationOf", self.iri)

    def _hire(self) -> tuple[list[str], list[tuple[str, int]]]:
        """The professors, and everyone who teaches with their number of publications."""
        staff: list[tuple[str, int]] = []
        professors: list[str] = []
        for rank, people, publications in (*PROFESSORS, LECTURERS):
            for number in range(_between(self.draw, *people)):
                person = self._person(rank, number)
                self._links(person, "worksFor", self.iri)
                for degree in ("undergraduate", "masters", "doctoral"):
                    self._graduated(person, degree)
                staff.append((person, _between(self.draw, *publications)))
                if rank != "Lecturer":
                    topic = int(self.draw.random() * RESEARCH_TOPICS)
                    self._says(person, "researchInterest", f"Research{topic}")
                    professors.append(person)
        self._links(staff[0][0], "headOf", self.iri)
        return professors, staff

    def _teach(self, staff: Sequence[tuple[str, int]], kind: str) -> list[str]:
        """One or two courses of this kind by each member of the staff, all different."""
        courses: list[str] = []
        for person, _ in staff:
            for _ in range(_between(self.draw, 1, 2)):
                course = f"{self.iri}/{kind}{len(courses)}"
                self._is(course, kind)
                self._says(course, "name", f"{kind}{len(courses)}")
                self._links(person, "teacherOf", course)
                courses.append(course)
        return courses

    def _publish(self, staff: Sequence[tuple[str, int]]) -> list[str]:
        publications: list[str] = []
        for author, count in staff:
            for number in range(count):
                publication = f"{author}/Publication{number}"
                self._is(publication, "Publication")
                self._says(publication, "name", f"Publication{number}")
                self._links(publication, "publicationAuthor", author)
                publications.append(publication)
        return publications

    def _enrol_undergraduates(
        self, staff: int, courses: Sequence[str], professors: Sequence[str]
    ) -> None:
        for number in range(int(staff * (8 + 6 * self.draw.random()))):
            student = self._person("UndergraduateStudent", number)
            self._links(student, "memberOf", self.iri)
            for course in _some(self.draw, courses, _between(self.draw, 2, 4)):
                self._links(student, "takesCourse", course)
            if self.draw.random() < 1 / 5:
                self._links(student, "advisor", *_some(self.draw, professors, 1))

    def _enrol_graduates(
        self, staff: int, courses: Sequence[str], professors: Sequence[str]
    ) -> list[str]:
        graduates: list[str] = []
        for number in range(int(staff * (3 + self.draw.random()))):
            student = self._person("GraduateStudent", number)
            self._links(student, "memberOf", self.iri)
            self._graduated(student, "undergraduate")
            self._links(student, "advisor", *_some(self.draw, professors, 1))
            for course in _some(self.draw, courses, _between(self.draw, 1, 3)):
                self._links(student, "takesCourse", course)
            graduates.append(student)
        return graduates

    def _coauthor(self, graduates: Sequence[str], publications: Sequence[str]) -> None:
        for student in graduates:
            for publication in _some(self.draw, publications, _between(self.draw, 0, 5)):
                self._links(publication, "publicationAuthor", student)

    def _assist(self, graduates: Sequence[str], courses: Sequence[str]) -> None:
        """A fifth to a quarter assist teaching, a quarter to a third assist research."""
        teaching = int(len(graduates) * (1 / 5 + self.draw.random() / 20))
        research = int(len(graduates) * (1 / 4 + self.draw.random() / 12))
        assistants = _some(self.draw, graduates, teaching + research)
        subjects = _some(self.draw, courses, teaching)
        for assistant, course in zip(assistants, subjects, strict=False):
            self._is(assistant, "TeachingAssistant")
            self._links(assistant, "teachingAssistantOf", course)
        for assistant in assistants[teaching:]:
            self._is(assistant, "ResearchAssistant")

    def _person(self, kind: str, number: int) -> str:
        name = f"{kind}{number}"
        person = f"{self.iri}/{name}"
        self._is(person, kind)
        self._says(person, "name", name)
        self._says(person, "emailAddress", f"{name}@{self.address}")
        self._says(person, "telephone", f"555-01{int(self.draw.random() * 100):02d}")
        return person

    def _graduated(self, person: str, degree: str) -> None:
        number = int(self.draw.random() * KNOWN_UNIVERSITIES)
        self._links(person, f"{degree}DegreeFrom", f"http://university{number}.example")

    def _is(self, subject: str, kind: str) -> None:
        self.lines.append(f"<{subject}> <{TYPE}> <{NAMESPACE}{kind}> .\n")

    def _links(self, subject: str, name: str, target: str) -> None:
        self.lines.append(f"<{subject}> <{NAMESPACE}{name}> <{target}> .\n")

    def _says(self, subject: str, name: str, text: str) -> None:
        self.lines.append(f'<{subject}> <{NAMESPACE}{name}> "{text}" .\n')


def _between(draw: Random, least: int, most: int) -> int:
    return least + int(draw.random() * (most - least + 1))


def _some(draw: Random, things: Sequence[Thing], count: int) -> list[Thing]:
    """So many of the things, no two at the same place, in random order."""
    places: dict[int, None] = {}
    while len(places) < min(count, len(things)):
        places[int(draw.random() * len(things))] = None
    return [things[place] for place in places]
