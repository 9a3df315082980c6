"""`livefacts rules`: are rules in order, which ones come along, what do they say, how to maintain them."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from livefacts.commands.console.terminal import ExitCode, counted, say
from livefacts.errors import InputError, LivefactsError

if TYPE_CHECKING:
    from livefacts.language.program import Program

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, add_completion=False)


class ListFormat(StrEnum):
    """How rules are printed."""

    text = "text"
    json = "json"


class ChangeKind(StrEnum):
    """Which changes a maintenance program follows."""

    dred = "dred"
    stream = "stream"


Form = Annotated[ListFormat, typer.Option("--format", help="How to print.")]
Source = Annotated[str, typer.Argument(metavar="RULES", help="A file of rules, or a ready name.")]
Sources = Annotated[
    list[str], typer.Argument(metavar="RULES", help="Files of rules, or ready names.")
]
AddRules = Annotated[
    str | None, typer.Option(metavar="RULES", help="Rules that come with the change.")
]
RemoveRule = Annotated[
    list[str] | None, typer.Option(metavar="ID", help="A rule that goes; may be repeated.")
]


@app.command("check", short_help="Are these rules in order?")
def check_command(sources: Sources) -> None:
    """Read rules and check them: syntax, prefixes, arities, safety, strata, arithmetic.

    Every file is checked alone, and then all of them together, as `load` would use them.
    Ends with 0 if everything is in order and with 1 if not.

    \b
    livefacts rules check my.rules
    livefacts rules check rdfs mine.rules
    """
    programs = [program for source in sources if (program := _checked(source)) is not None]
    if len(programs) < len(sources):
        raise typer.Exit(ExitCode.ERROR)
    if len(programs) > 1:
        _check(_joined(programs))
        typer.echo("together: in order")


@app.command("list", short_help="The rule sets that come with livefacts.")
def list_command(form: Form = ListFormat.text) -> None:
    """The rule sets that come with livefacts: name, number of rules, and what they are for.

    \b
    livefacts rules list
    """
    from livefacts.syntax.rule_sets import open_rules
    from livefacts.syntax.rulelang.rule_parser import READY, ready_names

    sets = [
        {"name": name, "rules": len(open_rules(name)), "about": _about(READY / f"{name}.rules")}
        for name in ready_names()
    ]
    if form is ListFormat.json:
        typer.echo(json.dumps(sets, indent=2))
        return
    width = max(len(name) for name in ready_names())
    for each in sets:
        typer.echo(f"{each['name']:<{width}} {each['rules']:>3} rules  {each['about']}")
    typer.echo(f"{'dlp:FILE':<{width}}            the rules of an OWL ontology, by rules from-owl")


@app.command("show", short_help="Rules as text, with their ids.")
def show_command(source: Source, form: Form = ListFormat.text) -> None:
    """Rules as text of the rule language, one a line; as JSON also with their ids.

    \b
    livefacts rules show rho-df
    livefacts rules show my.rules --format json
    """
    from livefacts.language.rule_text import write_program, write_rule
    from livefacts.syntax.rule_sets import open_rules

    program = open_rules(source)
    if form is ListFormat.json:
        written = [{"id": rule.id, "rule": write_rule(rule)} for rule in program]
        typer.echo(json.dumps(written, indent=2))
    else:
        typer.echo(write_program(program).rstrip("\n"))


@app.command("maintenance", short_help="The program that maintains what these rules conclude.")
def maintenance_command(
    source: Source,
    kind: Annotated[
        ChangeKind, typer.Option(help="For facts that are added and removed, or that expire.")
    ] = ChangeKind.dred,
    add_rules: AddRules = None,
    remove_rule: RemoveRule = None,
    split: Annotated[
        bool, typer.Option("--split", help="A predicate for each property, not one for triples.")
    ] = False,
) -> None:
    """The maintenance program of some rules, as rules: what a change makes true and what it ends.

    `dred` deletes and rederives; with --add-rules and --remove-rule it follows a change of
    rules. `stream` is for facts with a time until which they hold. The first lines of the
    program say what has to be filled in; p_plus and p_minus are what comes out.

    \b
    livefacts rules maintenance my.rules
    livefacts rules maintenance my.rules --kind stream
    livefacts rules maintenance my.rules --add-rules more.rules --remove-rule r2
    """
    from livefacts.service.reasoner.maintenance import maintenance_program

    made = maintenance_program(
        source, kind, add_rules=add_rules or (), remove_rules=remove_rule or (), split=split
    )
    typer.echo(str(made).rstrip("\n"))


@app.command("from-owl", short_help="The rules of an ontology, and what rules cannot say of it.")
def from_owl_command(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="ONTOLOGY", help="Files in any RDF format, read as one; - is standard input."
        ),
    ],
    same_as: Annotated[
        bool, typer.Option("--same-as", help="With the rules of equality, for owl:sameAs.")
    ] = False,
) -> None:
    """An OWL ontology as rules, on standard output; axioms stand above their rules as comments.

    What rules cannot say goes to standard error, axiom by axiom with the reason; the command
    then ends with 3. Nothing is fetched: give the files of imported ontologies, too.

    \b
    livefacts rules from-owl ontology.owl > ontology.rules
    livefacts rules from-owl wine.owl food.owl --same-as > wine.rules
    livefacts load data.nt --rules dlp:ontology.owl
    """
    from livefacts.service.knowledge.ontology import OFF, RULES, rules_from_owl

    if not all(source.strip() for source in sources):
        raise InputError("the name of an ontology is empty", hint="give the path of an RDF file")
    report = rules_from_owl(sources, same_as=RULES if same_as else OFF)
    typer.echo(report.rules.rstrip("\n"))
    say(report.summary())
    for reason in report.reasons():
        say(f"- {reason}")
    if report.inexpressible:
        raise typer.Exit(ExitCode.SOME_REJECTED)


@app.command("profile", short_help="What each rule looks at, finds and costs.")
def profile_command(
    source: Source,
    data: Annotated[list[str], typer.Option("--data", metavar="FILE", help="What to load.")],
    patch: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="A change to profile alone, as RDF Patch."),
    ] = None,
    add_rules: AddRules = None,
    remove_rule: RemoveRule = None,
    form: Form = ListFormat.text,
) -> None:
    """What each rule looked at, found, newly derived and cost while the data were loaded.

    With a change, of facts or of rules, only what the change costs: rules that have nothing
    to do with it are not in the table.

    \b
    livefacts rules profile my.rules --data kb.nt
    livefacts rules profile my.rules --data kb.nt --patch change.rdfp
    livefacts rules profile my.rules --data kb.nt --add-rules more.rules
    """
    from livefacts.commands.console.fact_files import Inputs, load

    reasoner = load(Inputs(data, [source])).reasoner
    profile = reasoner.profile()
    if patch or add_rules or remove_rule:
        reasoner.apply(
            patch=[Path(each) for each in patch or ()],
            add_rules=add_rules,
            remove_rules=remove_rule or (),
        )
        profile = reasoner.profile().since(profile)
    if form is ListFormat.json:
        typer.echo(json.dumps(profile.to_dicts(), indent=2))
    else:
        typer.echo(str(profile))


def _checked(source: str) -> Program | None:
    """The program, or None after saying what is wrong with it."""
    from livefacts.syntax.rule_sets import open_rules

    try:
        program = open_rules(source)
        _check(program)
        _warn(program)
    except LivefactsError as error:
        say(f"error: {error}")
        return None
    typer.echo(f"{source}: {_summary(program)}: in order")
    return program


def _check(program: Program) -> None:
    from livefacts.language.checks.safety import check

    check(program)


def _warn(program: Program) -> None:
    from livefacts.language.checks.warnings import of_program

    for warning in of_program(program):
        say(f"warning: {warning}")


def _joined(programs: list[Program]) -> Program:
    first, *rest = programs
    for program in rest:
        first = first.joined(program)
    return first


def _summary(program: Program) -> str:
    constraints = sum(rule.is_constraint for rule in program)
    parts = [counted(len(program) - constraints, "rule")]
    if constraints:
        parts.append(counted(constraints, "constraint"))
    if program.facts:
        parts.append(counted(len(program.facts), "fact"))
    return ", ".join(parts)


def _about(path: Path) -> str:
    """The first line of a rule set, which is a comment that says what it is."""
    with path.open(encoding="utf-8") as lines:
        first = lines.readline().lstrip("# ").strip()
    return first.partition(": ")[2] or first
