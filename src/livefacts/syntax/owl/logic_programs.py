"""Description logic programs: OWL axioms to rules, as far as rules can say them.

Each axiom becomes the rules, constraints and facts that say the same, as far as rules can
say it; every part that they cannot is a gap with its reason.  Nothing is dropped silently.

The paper's example, Wine SubClassOf PotableLiquid and (hasMaker only Winery), has two rules.
A third one, printed there, that concludes Wine does not follow from the axiom.

Paper: Volz et al., section 2.2.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import chain, combinations, pairwise, permutations, product

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from livefacts.language.axioms import (
    And,
    Axiom,
    ClassAssertion,
    ClassExpression,
    DatatypeDefinition,
    Declaration,
    DifferentIndividuals,
    DisjointClasses,
    DisjointProperties,
    DisjointUnion,
    Domain,
    EntityKind,
    EquivalentClasses,
    EquivalentProperties,
    HasKey,
    HasTrait,
    Individual,
    Inverse,
    InverseProperties,
    Misstated,
    Or,
    Property,
    PropertyAssertion,
    Range,
    SameIndividuals,
    SubClassOf,
    SubPropertyOf,
    Trait,
)
from livefacts.language.checks.safety import bound_variables
from livefacts.language.formula import (
    Atom,
    Comparison,
    PredicateAtom,
    Slot,
    TripleAtom,
    Variable,
    filled,
    variables_of,
)
from livefacts.language.program import Rule
from livefacts.model.facts import Fact, Symbol, Term
from livefacts.model.namespaces import OWL, RDF_TYPE
from livefacts.syntax.owl.annotations import annotation_properties, is_aside, known_properties
from livefacts.syntax.owl.class_expressions import (
    BOTTOM,
    CHOOSES,
    EVERYTHING,
    NAMELESS,
    SAME_AS,
    TOP,
    Body,
    ClassRules,
    Conclusion,
    Gap,
    GapError,
    VariableNames,
    link,
    named,
)
from livefacts.syntax.owl.datatypes import Ranges, is_range
from livefacts.syntax.owl.literal_values import are_one, form_of, has_value, is_looked_up, is_value
from livefacts.syntax.owl.ontology_graph import NOTHING, THING

REMEMBERED = 1 << 14
"""Axioms whose rules are kept in mind: when an ontology changes, most of it stays."""
DIFFERENT_FROM = NamedNode(OWL + "differentFrom")


@dataclass(frozen=True, slots=True)
class Inexpressible:
    """An axiom of which a part, or all, cannot be said in rules."""

    axiom: Axiom
    part: Axiom
    reason: str


@dataclass(frozen=True, slots=True)
class Translated:
    """One axiom, and what it became."""

    axiom: Axiom
    rules: tuple[Rule, ...] = ()
    facts: tuple[Triple | Fact, ...] = ()
    gaps: tuple[Inexpressible, ...] = ()


def translate(axioms: Sequence[Axiom]) -> Iterator[Translated]:
    """What each axiom becomes; what an axiom means may depend on the declarations among them."""
    classes, annotating = class_rules(axioms), annotation_properties(axioms)
    known = known_properties(axioms, annotating)
    return (
        Translated(axiom) if is_aside(axiom, annotating, known) else translate_one(axiom, classes)
        for axiom in axioms
    )


@lru_cache(maxsize=REMEMBERED)
def translate_one(axiom: Axiom, classes: ClassRules) -> Translated:
    """What one axiom becomes under the declarations of its ontology."""
    made = list(_Translator(classes).parts(axiom))
    rules, gaps = [], [each for each in made if isinstance(each, Gap)]
    for conclusion in (each for each in made if isinstance(each, Conclusion)):
        rule = _rule(conclusion)
        if isinstance(rule, Gap):
            gaps.append(rule)
        elif rule is not None and rule not in rules:
            rules.append(rule)
    return Translated(
        axiom,
        tuple(rules),
        tuple(each for each in made if isinstance(each, Triple | Fact)),
        tuple(Inexpressible(axiom, gap.part, gap.reason) for gap in dict.fromkeys(gaps)),
    )


def class_rules(axioms: Iterable[Axiom]) -> ClassRules:
    """What the declarations among the axioms say about properties and datatypes."""
    kinds: dict[EntityKind, set[NamedNode]] = {kind: set() for kind in EntityKind}
    definitions: dict[NamedNode, ClassExpression] = {}
    ranges: list[Range] = []
    for axiom in axioms:
        match axiom:
            case Declaration(name, kind):
                kinds[kind].add(name)
            case DatatypeDefinition(datatype, values):
                before = definitions.get(datatype, values)
                definitions[datatype] = values if before == values else And((before, values))
            case Range():
                ranges.append(axiom)
    datatypes = frozenset(kinds[EntityKind.DATATYPE] | set(definitions))
    for each in ranges:
        property = each.property
        if isinstance(property, Inverse) or property in kinds[EntityKind.ANNOTATION_PROPERTY]:
            continue
        if is_range(each.cls, datatypes):
            kinds[EntityKind.DATA_PROPERTY].add(property)
    data = frozenset(kinds[EntityKind.DATA_PROPERTY] - kinds[EntityKind.OBJECT_PROPERTY])
    return _one_object(ClassRules(data, datatypes, Ranges(tuple(definitions.items()))))


@lru_cache(maxsize=8)
def _one_object(classes: ClassRules) -> ClassRules:
    """Equal declarations as one object, so that it takes no time to see that they are equal."""
    return classes


class _Translator:
    """Axioms to conclusions, facts and gaps."""

    def __init__(self, classes: ClassRules) -> None:
        self._classes = classes

    def parts(self, axiom: Axiom) -> Iterator[Conclusion | Gap | Triple | Fact]:
        try:
            yield from self._parts(axiom)
        except GapError as gap:
            yield Gap(axiom, str(gap))

    def _parts(self, axiom: Axiom) -> Iterable[Conclusion | Gap | Triple | Fact]:
        match axiom:
            case SubClassOf(sub, sup):
                return self._implied(sub, sup)
            case EquivalentClasses(members):
                return self._equivalent(members)
            case DisjointClasses(members):
                return self._disjoint(members, axiom)
            case DisjointUnion(whole, parts):
                return self._made_of(whole, parts, axiom)
            case SubPropertyOf() | EquivalentProperties() | InverseProperties():
                return self._property_inclusions(axiom)
            case DisjointProperties(members):
                return self._disjoint_properties(members, axiom)
            case Domain() | Range():
                return self._ends(axiom)
            case HasTrait(property, trait):
                return self._trait(property, trait, axiom)
            case HasKey(cls, properties):
                return self._key(cls, properties, axiom)
            case DatatypeDefinition() | Declaration():
                return ()
            case Misstated(_, reason):
                return (Gap(axiom, reason),)
            case _:
                return self._assertions(axiom)

    # classes

    def _implied(self, sub: ClassExpression, sup: ClassExpression) -> Iterator[Conclusion | Gap]:
        for each in sub.members if isinstance(sub, Or) else (sub,):
            names = VariableNames()
            x = names.next()
            try:
                bodies = self._classes.bodies(each, x, names)
            except GapError as gap:
                yield Gap(SubClassOf(each, sup), str(gap))
                continue
            wrap = partial(SubClassOf, each)
            for body in bodies:
                yield from self._classes.conclusions(sup, x, body, names, wrap)

    def _equivalent(self, members: Sequence[ClassExpression]) -> Iterator[Conclusion | Gap]:
        for sub, sup in permutations(members, 2):
            yield from self._implied(sub, sup)

    def _disjoint(
        self, members: Sequence[ClassExpression], axiom: Axiom
    ) -> Iterator[Conclusion | Gap]:
        for pair in combinations(members, 2):
            names = VariableNames()
            x = names.next()
            try:
                bodies = self._classes.bodies(And(pair), x, names)
                yield from self._classes.never((), bodies, axiom)
            except GapError as gap:
                yield Gap(DisjointClasses(pair), str(gap))

    def _made_of(
        self, whole: ClassExpression, parts: tuple[ClassExpression, ...], axiom: Axiom
    ) -> Iterator[Conclusion | Gap]:
        for part in parts:
            yield from self._implied(part, whole)
        yield from self._disjoint(parts, axiom)
        if len(parts) > 1:
            yield Gap(SubClassOf(whole, Or(parts)), CHOOSES)
        else:
            yield from self._implied(whole, Or(parts))

    # properties

    def _property_inclusions(
        self, axiom: SubPropertyOf | EquivalentProperties | InverseProperties
    ) -> Iterator[Conclusion | Gap]:
        match axiom:
            case SubPropertyOf(chain, sup):
                yield from self._chain(chain, sup)
            case EquivalentProperties(members):
                for sub, sup in permutations(members, 2):
                    yield from self._chain((sub,), sup)
            case InverseProperties((first, second)):
                yield from self._chain((first,), inverse_of(second))
                yield from self._chain((second,), inverse_of(first))

    def _chain(self, chain: Sequence[Property], sup: Property) -> Iterator[Conclusion | Gap]:
        part = SubPropertyOf(tuple(chain), sup)
        if sup in TOP or any(each in BOTTOM for each in chain):
            return
        names = VariableNames()
        points = [names.next() for _ in range(len(chain) + 1)]
        body = tuple(
            link(each, start, end)
            for each, (start, end) in zip(chain, pairwise(points), strict=True)
        )
        head = None if sup in BOTTOM else link(sup, points[0], points[-1])
        yield Conclusion(head, body, part)

    def _disjoint_properties(
        self, members: Sequence[Property], axiom: Axiom
    ) -> Iterator[Conclusion]:
        names = VariableNames()
        x, y, z = names.next(), names.next(), names.next()
        for first, second in combinations(members, 2):
            yield Conclusion(None, (link(first, x, y), link(second, x, y)), axiom)
            if {first, second} <= self._classes.data_properties:
                both = (link(first, x, y), link(second, x, z), *are_one(y, z))
                yield Conclusion(None, both, axiom)

    def _ends(self, axiom: Domain | Range) -> Iterator[Conclusion | Gap]:
        names = VariableNames()
        x, y = names.next(), names.next()
        body = (link(axiom.property, x, y),)
        at = x if isinstance(axiom, Domain) else y
        kind, property = type(axiom), axiom.property
        yield from self._classes.conclusions(
            axiom.cls, at, body, names, lambda part: kind(property, part)
        )

    def _trait(self, property: Property, trait: Trait, axiom: Axiom) -> Iterator[Conclusion | Gap]:
        names = VariableNames()
        x, y, z = names.next(), names.next(), names.next()
        there, back = link(property, x, y), link(property, y, x)
        match trait:
            case Trait.FUNCTIONAL:
                yield from self._functional(property, axiom)
            case Trait.INVERSE_FUNCTIONAL:
                yield from self._functional(inverse_of(property), axiom)
            case Trait.SYMMETRIC:
                yield Conclusion(back, (there,), axiom)
            case Trait.ASYMMETRIC:
                yield Conclusion(None, (there, back), axiom)
            case Trait.TRANSITIVE:
                body = (there, link(property, y, z))
                yield Conclusion(link(property, x, z), body, axiom)
            case Trait.IRREFLEXIVE:
                yield Conclusion(None, (link(property, x, x),), axiom)
            case Trait.REFLEXIVE:
                yield Gap(axiom, EVERYTHING)

    def _functional(self, property: Property, axiom: Axiom) -> Iterator[Conclusion]:
        names = VariableNames()
        x = names.next()
        return self._classes.at_most_one(property, THING, x, (), names, axiom)

    def _key(
        self, cls: ClassExpression, properties: Sequence[Property], axiom: Axiom
    ) -> Iterator[Conclusion]:
        names = VariableNames()
        x, y = names.next(), names.next()
        agree = [self._agreeing(property, x, y, names.next()) for property in properties]
        members = [self._classes.bodies(cls, each, names) for each in (x, y)]
        for ways in product(*members, *agree):
            body = (*chain.from_iterable(ways), Comparison(x, "!=", y))
            yield Conclusion(TripleAtom(x, SAME_AS, y), body, axiom)
        value = Variable("value")
        for property in properties:
            if isinstance(property, NamedNode) and property in self._classes.data_properties:
                body = (link(property, x, y), form_of(y, value))
                yield Conclusion(has_value(x, property, value), body, axiom)

    def _agreeing(self, property: Property, x: Slot, y: Slot, value: Slot) -> list[Body]:
        """Ways for two to agree in a property: in a term, or in a value however it is written."""
        ways: list[Body] = [(link(property, x, value), link(property, y, value))]
        if isinstance(property, NamedNode) and property in self._classes.data_properties:
            ways.append((has_value(x, property, value), has_value(y, property, value)))
        return ways

    # individuals

    def _assertions(self, axiom: Axiom) -> Iterable[Conclusion | Gap | Triple | Fact]:
        match axiom:
            case ClassAssertion(individual, cls):
                return self._member(individual, cls)
            case PropertyAssertion(denied=True):
                return (self._denied(axiom),)
            case PropertyAssertion(individual, property, value):
                atom = link(property, named(individual), named(value))
                return (Triple(*atom.slots),)  # type: ignore[arg-type]
            case SameIndividuals(members):
                return (Triple(*pair) for pair in _pairs(members, SAME_AS))
            case DifferentIndividuals(members) if len(members) == 2:
                return (Triple(*pair) for pair in _pairs(members, DIFFERENT_FROM))
            case DifferentIndividuals(members):
                return _group(members)
            case _:
                raise AssertionError(f"{type(axiom).__name__} has no translation")

    def _denied(self, axiom: PropertyAssertion) -> Conclusion:
        at, value = named(axiom.individual), named(axiom.value)
        if not isinstance(value, Literal):
            return Conclusion(None, (link(axiom.property, at, value),), axiom)
        x = VariableNames().next()
        return Conclusion(None, (link(axiom.property, at, x), *is_value(x, value)), axiom)

    def _member(
        self, individual: Individual, cls: ClassExpression
    ) -> Iterator[Conclusion | Gap | Triple]:
        at = named(individual)
        if isinstance(cls, NamedNode) and isinstance(at, NamedNode) and cls != NOTHING:
            yield Triple(at, RDF_TYPE, cls)
            return
        for made in self._classes.conclusions(
            cls, at, (), VariableNames(), partial(ClassAssertion, individual)
        ):
            if isinstance(made, Conclusion) and made.head is None and not made.body:
                made = replace(made, body=(Comparison(VariableNames().next(), "=", at),))
            yield made


def inverse_of(property: Property) -> Property:
    """The same property, read the other way."""
    return property.property if isinstance(property, Inverse) else Inverse(property)


def _pairs(
    members: Sequence[Individual], predicate: NamedNode
) -> Iterator[tuple[NamedNode, NamedNode, NamedNode]]:
    for first, second in pairwise(members):
        if isinstance(first, BlankNode) or isinstance(second, BlankNode):
            raise GapError(NAMELESS)
        if isinstance(first, Literal) or isinstance(second, Literal):
            raise GapError("literals are the same or different by themselves")
        yield first, predicate, second


def _group(members: Sequence[Individual]) -> Iterator[Fact]:
    """Individuals that all differ: as many facts as there are, not as many as pairs."""
    text = "\n".join(map(str, members)).encode()
    name = Symbol(f"group_{hashlib.sha256(text).hexdigest()[:8]}")
    return (Fact("_apart", (name, named(member))) for member in members)


def _rule(conclusion: Conclusion) -> Rule | Gap | None:
    """The rule of a conclusion, None if it says nothing, a gap if nothing binds its variables."""
    head, body = _simplified(conclusion.head, conclusion.body)
    if head is not None and head in body:
        return None
    bound = bound_variables(body)
    wanted = {v for part in (head, *body) if part is not None for v in variables_of(part)}
    if not body or not wanted <= bound:
        return Gap(conclusion.part, EVERYTHING)
    return Rule(head, body)


def _simplified(head: Atom | None, body: Body) -> tuple[Atom | None, Body]:
    """Individuals in the place of variables that equal them, and each condition once."""
    if not body and isinstance(head, TripleAtom) and not any(variables_of(head)):
        x = VariableNames().next()
        given = Comparison(x, "=", head.subject)
        return TripleAtom(x, head.predicate, head.object), (given,)
    known = _known(body)
    rest = [
        filled(part, known)
        for part in body
        if not (isinstance(part, Comparison) and known.get(part.left) == part.right)  # type: ignore[arg-type]
    ]
    made = None if head is None else filled(head, known)
    assert made is None or isinstance(made, TripleAtom | PredicateAtom), "an atom stays an atom"
    return made, tuple(dict.fromkeys(rest))


def _known(body: Body) -> dict[Variable, Term]:
    """Variables of atoms that the body equates with an individual, or with one literal alone."""
    atoms = [part for part in body if isinstance(part, TripleAtom)]
    there = {v for atom in atoms for v in variables_of(atom)}
    objects = there - {v for atom in atoms for slot in atom.slots[:2] for v in variables_of(slot)}
    known: dict[Variable, Term] = {}
    for part in body:
        match part:
            case Comparison(Variable() as variable, "=", NamedNode() as term) if variable in there:
                known.setdefault(variable, term)
            case Comparison(Variable() as variable, "=", Literal() as term) if variable in objects:
                if is_looked_up(term):
                    known.setdefault(variable, term)
    return known
