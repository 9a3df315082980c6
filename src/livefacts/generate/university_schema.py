"""The schema of the generated universities: classes, properties, domains and ranges.

The hierarchy is the published one of the Lehigh benchmark, said in RDFS alone: where
that one defines a class by an intersection, this one says what RDFS can say of it.
"""

from __future__ import annotations

from collections.abc import Iterator

NAMESPACE = "http://livefacts.example/university#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"

# a class, and those directly below it
CLASSES = {
    "Organization": "College Department Institute Program ResearchGroup University",
    "Person": "Director Employee ResearchAssistant Student TeachingAssistant",
    "Employee": "AdministrativeStaff Faculty",
    "AdministrativeStaff": "ClericalStaff SystemsStaff",
    "Faculty": "Lecturer PostDoc Professor",
    "Professor": "AssistantProfessor AssociateProfessor Chair Dean FullProfessor VisitingProfessor",
    "Student": "GraduateStudent UndergraduateStudent",
    "Publication": "Article Book Manual Software Specification UnofficialPublication",
    "Article": "ConferencePaper JournalArticle TechnicalReport",
    "Work": "Course Research",
    "Course": "GraduateCourse",
    "Schedule": "",
}

# a property, and those directly below it
PROPERTIES = {
    "memberOf": "worksFor",
    "worksFor": "headOf",
    "degreeFrom": "doctoralDegreeFrom mastersDegreeFrom undergraduateDegreeFrom",
}

# property, class of the subject, class of the object ("" where nothing is said)
SIGNATURES = (
    ("advisor", "Person", "Professor"),
    ("affiliateOf", "Organization", "Person"),
    ("affiliatedOrganizationOf", "Organization", "Organization"),
    ("age", "Person", ""),
    ("degreeFrom", "Person", "University"),
    ("emailAddress", "Person", ""),
    ("hasAlumnus", "University", "Person"),
    ("headOf", "Chair", "Department"),
    ("listedCourse", "Schedule", "Course"),
    ("member", "Organization", "Person"),
    ("memberOf", "Person", "Organization"),
    ("name", "", ""),
    ("officeNumber", "", ""),
    ("orgPublication", "Organization", "Publication"),
    ("publicationAuthor", "Publication", "Person"),
    ("publicationDate", "Publication", ""),
    ("publicationResearch", "Publication", "Research"),
    ("researchInterest", "Faculty", ""),
    ("researchProject", "ResearchGroup", "Research"),
    ("softwareDocumentation", "Software", "Publication"),
    ("softwareVersion", "Software", ""),
    ("subOrganizationOf", "Organization", "Organization"),
    ("takesCourse", "Student", "Course"),
    ("teacherOf", "Faculty", "Course"),
    ("teachingAssistantOf", "TeachingAssistant", "Course"),
    ("telephone", "Person", ""),
    ("tenured", "Professor", ""),
    ("title", "Person", ""),
    ("worksFor", "Employee", "Organization"),
)


def schema() -> bytes:
    """The schema as N-Triples."""
    statements = (*_classes(), *_properties(), *_signatures())
    return "".join(f"<{s}> <{p}> <{o}> .\n" for s, p, o in statements).encode()


Statement = tuple[str, str, str]


def _classes() -> Iterator[Statement]:
    below = {name: above for above, names in CLASSES.items() for name in names.split()}
    for name in sorted({*CLASSES, *below}):
        yield NAMESPACE + name, RDF + "type", RDFS + "Class"
    for name, above in below.items():
        yield NAMESPACE + name, RDFS + "subClassOf", NAMESPACE + above


def _properties() -> Iterator[Statement]:
    below = {name: above for above, names in PROPERTIES.items() for name in names.split()}
    for name in sorted({*PROPERTIES, *below, *(name for name, _, _ in SIGNATURES)}):
        yield NAMESPACE + name, RDF + "type", RDF + "Property"
    for name, above in below.items():
        yield NAMESPACE + name, RDFS + "subPropertyOf", NAMESPACE + above


def _signatures() -> Iterator[Statement]:
    for name, subject, target in SIGNATURES:
        if subject:
            yield NAMESPACE + name, RDFS + "domain", NAMESPACE + subject
        if target:
            yield NAMESPACE + name, RDFS + "range", NAMESPACE + target
