"""`livefacts explain`: why a fact holds, or what is missing for it."""

from __future__ import annotations

import json
import os
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from livefacts.commands.console.fact_files import Inputs, leave, load, say_if_empty
from livefacts.commands.console.options import (
    BlankNodes,
    Bnodes,
    Data,
    Graph,
    InputFormat,
    Rejects,
    Rules,
    asked_and_files,
)
from livefacts.commands.console.terminal import ExitCode, say
from livefacts.errors import InputError

if TYPE_CHECKING:
    from livefacts.service.change.delta import Violation
    from livefacts.service.explanations.proof_trees import Explanation
    from livefacts.service.reasoner.facade import Reasoner


class ExplanationFormat(StrEnum):
    """How an explanation is printed."""

    text = "text"
    json = "json"
    dot = "dot"
    html = "html"


def explain_command(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[FILES] FACT",
            help="What to load, as --data; then a triple as in Turtle, a predicate fact, "
            "or the id of a violated constraint.",
        ),
    ],
    data: Data = None,
    rules: Rules = None,
    form: Annotated[
        ExplanationFormat, typer.Option("--format", help="A tree, data, Graphviz, or a page.")
    ] = ExplanationFormat.text,
    which: Annotated[
        int, typer.Option(metavar="N", min=1, help="Of several violations, the Nth.")
    ] = 1,
    graph: Graph = None,
    bnodes: Bnodes = BlankNodes.local,
    input_format: InputFormat = None,
    rejects: Rejects = None,
) -> None:
    """Say why a fact holds: a smallest proof, down to what was asserted.

    For a fact that does not hold, say which premises of which rules are missing, the
    nearest rule first. Prefixes of the files and rules are known. Ends with 0 if the fact
    holds and with 1 if it does not.

    \b
    livefacts explain '<x:tom> a <x:Person>' --data kb.nt --rules rdfs
    livefacts explain 'ex:tom ex:likes ex:fish' --data kb.ttl --rules my.rules
    livefacts explain 'route(harbour, castle)' --data roads.rules --format dot | dot -Tsvg > why.svg
    livefacts explain cat_or_dog --data kb.ttl --rules my.rules      why is this constraint violated?
    livefacts explain cat_or_dog --which 2 --data kb.ttl --rules my.rules      why the second time?
    """
    fact, files = asked_and_files(words, data, _looks_like_fact, "fact", "'route(a, b)'")
    loaded = load(Inputs(files, rules or [], graph, bnodes, input_format, rejects))
    say_if_empty(loaded)
    explanation = loaded.reasoner.explain(_chosen(fact, loaded.reasoner, which))
    typer.echo(_written(explanation, form).rstrip("\n"))
    if not explanation.holds:
        raise typer.Exit(ExitCode.ERROR)
    leave(loaded)


def _looks_like_fact(word: str) -> bool:
    return not os.path.exists(word)


def _chosen(fact: str, reasoner: Reasoner, which: int) -> str | Violation:
    """The fact, or one of the violations of a constraint; how many there are is said."""
    if not any(rule.is_constraint and rule.id == fact for rule in reasoner.rules):
        return fact
    violations = [each for each in reasoner.violations() if each.constraint == fact]
    if not violations:
        return fact
    if which > len(violations):
        raise InputError(
            f"there is no violation {which} of {fact}",
            hint="there is one"
            if len(violations) == 1
            else f"there are {len(violations)}: --which 1 to --which {len(violations)}",
        )
    if len(violations) > 1:
        say(f"violation {which} of {len(violations)} of {fact}; --which N explains another")
    return violations[which - 1]


def _written(explanation: Explanation, form: ExplanationFormat) -> str:
    match form:
        case ExplanationFormat.text:
            return str(explanation)
        case ExplanationFormat.json:
            return json.dumps(explanation.to_dict(), indent=2, ensure_ascii=False)
        case ExplanationFormat.dot:
            return explanation.to_dot()
        case ExplanationFormat.html:
            return explanation.to_html()
