"""Ontology files: an OWL file in any RDF format, and the program that says the same.

`rules_of` gives a report: the rules as text, each under a comment with its axiom; the same
as a program; and every axiom, or part of one, that rules cannot say, with the reason.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from textwrap import shorten
from typing import TypeAlias

from pyoxigraph import BlankNode, NamedNode, Triple

from livefacts.errors import InputError
from livefacts.language.axioms import Axiom
from livefacts.language.program import Program
from livefacts.model.namespaces import DECLARED, OWL, RDF_TYPE
from livefacts.syntax.input.files import (
    STANDARD_INPUT,
    Source,
    expand,
    is_rereadable,
    name_of,
    open_source,
)
from livefacts.syntax.owl.axiom_reader import Ontology, ontology_of
from livefacts.syntax.owl.logic_programs import Inexpressible, Translated, translate
from livefacts.syntax.owl.manchester import AxiomWriter
from livefacts.syntax.owl.notation import BEGINNING, ontology_format
from livefacts.syntax.owl.ontology_program import (
    StatementSection,
    gap_text,
    program_of,
    sections_of,
    text_of,
)
from livefacts.syntax.rdf.documents import read_quads

OntologySource: TypeAlias = str | os.PathLike[str] | Sequence["OntologySource"]
"""A path or pattern, the text of an ontology (Turtle or RDF/XML), or several of these."""

OFF, RULES = "off", "rules"
ONTOLOGY, IMPORTS, VERSION = (OWL + name for name in ("Ontology", "imports", "versionIRI"))
PREFIX = re.compile(r"[^\W\d_](?:[\w.-]*[\w-])?|")
SHOWN = 20


@dataclass(frozen=True)
class OntologyReport:
    """An ontology as rules, and what of it rules cannot say."""

    ontology: Ontology
    translated: tuple[Translated, ...]
    prefixes: Mapping[str, str]
    same_as: str = OFF

    @cached_property
    def program(self) -> Program:
        """The rules, constraints and facts as a program, for `Reasoner(rules=...)`."""
        return program_of(self._sections, (*self.axioms, *self.ontology.aside), self.prefixes)

    @cached_property
    def rules(self) -> str:
        """The program as text, with a comment that names the axiom above its rules."""
        return text_of(self._sections, self._writer, self.prefixes)

    @cached_property
    def inexpressible(self) -> tuple[Inexpressible, ...]:
        """The axioms of which something is missing in the rules: which part, and why."""
        return tuple(gap for each in self.translated for gap in each.gaps)

    @property
    def axioms(self) -> tuple[Axiom, ...]:
        """What the ontology says, axiom by axiom."""
        return self.ontology.axioms

    @property
    def imports(self) -> tuple[str, ...]:
        """Ontologies that this one imports and that were not given; nothing is fetched."""
        return self.ontology.imports

    def words(self, axiom: Axiom) -> str:
        """An axiom in the Manchester notation."""
        return self._writer.axiom(axiom)

    def reasons(self) -> Iterator[str]:
        """Each inexpressible axiom on a line, with the part that is missing and the reason."""
        for gap in self.inexpressible:
            line = gap_text(gap, self._writer)
            if gap.part != gap.axiom:
                line += f" (in {shorten(self.words(gap.axiom), 200, placeholder=' …')})"
            yield line

    def summary(self) -> str:
        """How many axioms there are, and what they became."""
        constraints = sum(rule.is_constraint for rule in self.program)
        missing = len({gap.axiom for gap in self.inexpressible})
        parts = [
            f"{_counted(len(self.axioms), 'axiom')}: "
            f"{_counted(len(self.program) - constraints, 'rule')}, "
            f"{_counted(constraints, 'constraint')}, {_counted(len(self.program.facts), 'fact')}; "
            f"not, or not fully, in rules: {_counted(missing, 'axiom')}"
        ]
        if aside := sum(number for _, number in self.ontology.annotations):
            parts.append(f"left aside as annotations: {_counted(aside, 'triple')}")
        if self.imports:
            parts.append(f"imported, and not read: {', '.join(self.imports)}")
        return "\n".join(parts)

    def __str__(self) -> str:
        lines = list(self.reasons())
        more = [f"… and {len(lines) - SHOWN:,} more: .reasons()"] if len(lines) > SHOWN else []
        return "\n".join([self.summary(), *(f"- {line}" for line in lines[:SHOWN]), *more])

    @cached_property
    def _sections(self) -> tuple[StatementSection, ...]:
        equality = self.same_as == RULES
        return tuple(sections_of(self.translated, equality))

    @cached_property
    def _writer(self) -> AxiomWriter:
        return AxiomWriter(DECLARED | dict(self.prefixes))


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def rules_of(source: OntologySource, *, same_as: str = OFF) -> OntologyReport:
    """The rules of an ontology, and what they leave out.

    With `same_as="rules"` the rules of equality come along: what holds of one name holds of
    all names that are the same.
    """
    if same_as not in (OFF, RULES):
        raise ValueError(f'same_as is "{OFF}" or "{RULES}" here, not {same_as!r}')
    prefixes: dict[str, str] = {}
    ontology = read_ontology(source, prefixes)
    return report_on(ontology, prefixes, same_as)


def report_on(
    ontology: Ontology, prefixes: Mapping[str, str], same_as: str = OFF
) -> OntologyReport:
    """The report on axioms that were read before."""
    return OntologyReport(ontology, tuple(translate(ontology.axioms)), prefixes, same_as)


def read_ontology(
    source: OntologySource, prefixes: dict[str, str], known: Iterable[NamedNode] = ()
) -> Ontology:
    """The axioms of an ontology; prefixes that it declares are added to the dictionary."""
    declared: dict[str, str] = {}
    triples: list[Triple] = []
    given: set[str] = set()
    for number, each in enumerate(_sources(source)):
        read = list(_triples(each, number, declared))
        given |= _named_by(read, VERSION) | _named_by(read, ONTOLOGY) - _named_by(read, IMPORTS)
        triples += read
    for name, iri in declared.items():
        if PREFIX.fullmatch(name) and name not in DECLARED:
            prefixes.setdefault(name, iri)
    ontology = ontology_of(triples, known)
    missing = tuple(iri for iri in ontology.imports if iri not in given)
    return replace(ontology, imports=missing)


def _named_by(triples: Iterable[Triple], what: str) -> set[str]:
    """The ontologies that a source is, or has as its version, or imports."""
    if what == ONTOLOGY:
        heads = (t.subject for t in triples if t.predicate == RDF_TYPE and _is_iri(t.object, what))
        return {head.value for head in heads if isinstance(head, NamedNode)}
    ends = (t.object for t in triples if t.predicate.value == what)
    return {end.value for end in ends if isinstance(end, NamedNode)}


def _is_iri(term: object, iri: str) -> bool:
    return isinstance(term, NamedNode) and term.value == iri


def _sources(source: OntologySource) -> Iterator[Source]:
    """Files and texts, one by one; a text is given as bytes."""
    if isinstance(source, str):
        if _is_text(source):
            yield source.encode()
        else:
            yield from [source] if source == STANDARD_INPUT else expand(source)
    elif isinstance(source, os.PathLike):
        yield source
    elif isinstance(source, Iterable) and not isinstance(source, bytes):
        for each in source:
            yield from _sources(each)
    else:
        raise InputError(
            f"an ontology is a path or a text, not {type(source).__name__}",
            hint="give the path of an RDF file, its text, or a list of these",
        )


def _is_text(source: str) -> bool:
    """Whether this is an ontology, and not the name of a file that has one."""
    if "\n" in source or source.lstrip().startswith("<") or not source.strip():
        return True
    return source.rstrip().endswith(".") and " " in source and not Path(source).exists()


def _triples(source: Source, number: int, prefixes: dict[str, str]) -> Iterator[Triple]:
    """The triples of one file; labels of blank nodes are local to it."""
    name = name_of(source)
    source, start = _opened(source)
    format = ontology_format(name, start)
    nodes: dict[BlankNode, BlankNode] = {}

    def local(term: object) -> object:
        if not isinstance(term, BlankNode):
            return term
        return nodes.setdefault(term, BlankNode(f"o{number}n{len(nodes)}"))

    for quad in read_quads(source, format=format, prefixes=prefixes, name=name):
        yield Triple(local(quad.subject), quad.predicate, local(quad.object))  # type: ignore[arg-type]


def _opened(source: Source) -> tuple[Source, bytes]:
    """A source that can be read from its beginning, and how it begins."""
    with open_source(source) as stream:
        content = io.BufferedReader(stream)
        start = content.read(BEGINNING)
        if is_rereadable(source):
            return source, start
        return start + content.read(), start
