"""`livefacts generate`: data to try things on, as N-Triples, and streams with times."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated

import typer

from livefacts.commands.console.terminal import counted, output, say

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, add_completion=False)

Output = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write here: .nt, .nt.gz, .nt.zst; - is standard output.",
    ),
]

StreamOutput = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write here: .jsonl, .jsonl.gz, .jsonl.zst; - is standard output.",
    ),
]


class OntologyKind(StrEnum):
    """The kinds of ontology."""

    taxonomy = "taxonomy"
    db = "db"
    dl = "dl"


Seed = Annotated[int, typer.Option(help="Another seed, other data; the same seed, the same bytes.")]


@app.command("university", short_help="Universities with their RDFS schema.")
def university_command(
    count: Annotated[int, typer.Argument(metavar="N", min=0, help="How many universities.")],
    seed: Seed = 0,
    path: Output = "-",
) -> None:
    """People, courses and publications of N universities, with their RDFS schema in front.

    The shape and the proportions are those of the Lehigh University Benchmark; a
    university has 100,000 to 170,000 triples.

    \b
    livefacts generate university 1 -o uni.nt.gz
    livefacts generate university 10 --seed 7 | head
    """
    from livefacts.generate import university

    _write(university(count, seed), path)


@app.command("chain")
def chain_command(
    edges: Annotated[int, typer.Argument(metavar="N", min=0, help="How many edges.")],
    path: Output = "-",
) -> None:
    """A path of N edges: its transitive closure has N(N+1)/2.

    \b
    livefacts generate chain 1000 -o chain.nt
    """
    from livefacts.generate import chain

    _write(chain(edges), path)


@app.command("tree")
def tree_command(
    depth: Annotated[int, typer.Argument(metavar="DEPTH", min=0, help="Edges from root to leaf.")],
    branch: Annotated[int, typer.Argument(metavar="BRANCH", min=1, help="Children of a node.")],
    path: Output = "-",
) -> None:
    """A full tree, edges from parents to children.

    \b
    livefacts generate tree 16 2 -o tree.nt.gz
    """
    from livefacts.generate import tree

    _write(tree(depth, branch), path)


@app.command("random")
def random_command(
    nodes: Annotated[int, typer.Argument(metavar="NODES", min=0, help="How many nodes.")],
    edges: Annotated[int, typer.Argument(metavar="EDGES", min=0, help="How many distinct edges.")],
    seed: Seed = 0,
    path: Output = "-",
) -> None:
    """A random graph without loops from a node to itself.

    \b
    livefacts generate random 1000 2000 --seed 1 -o graph.nt
    """
    from livefacts.generate import random_graph

    _write(random_graph(nodes, edges, seed), path)


@app.command("ontology", short_help="A tree of classes with instances, and its rules.")
def ontology_command(
    kind: Annotated[
        OntologyKind, typer.Option(help="What is said besides which class is below which.")
    ] = (OntologyKind.taxonomy),
    depth: Annotated[int, typer.Option(min=1, help="Levels of classes.")] = 3,
    subclasses: Annotated[int, typer.Option(min=1, help="Classes directly below a class.")] = 5,
    instances: Annotated[int, typer.Option(min=0, help="Individuals of every class.")] = 5,
    properties: Annotated[
        int, typer.Option(min=0, help="Properties of every class; a taxonomy has none.")
    ] = 5,
    seed: Seed = 0,
    rules: Annotated[
        str | None, typer.Option("--rules", metavar="FILE", help="Write the rules here: .rules.")
    ] = None,
    path: Output = "-",
) -> None:
    """Individuals of a tree of classes as N-Triples, and with --rules what is said of the classes.

    A taxonomy says which class is below which; db also whose property is whose; dl also
    that what is linked to a class belongs to another (c_i or some p.c_(i-1) below c).

    \b
    livefacts generate ontology --kind dl --depth 4 --rules dl.rules -o dl.nt
    livefacts load dl.nt --rules dl.rules
    """
    from livefacts.generate import GeneratedOntology

    made = GeneratedOntology(kind.value, depth, subclasses, instances, properties, seed)
    _write(made.facts(), path)
    if rules is not None:
        _write(made.rules(), rules, made.rule_count, "rule")


@app.command("positions", short_help="A stream of people who move, and a map.")
def positions_command(
    seconds: Annotated[int, typer.Argument(metavar="SECONDS", min=0, help="How long it lasts.")],
    people: Annotated[int, typer.Option(min=1, help="How many people there are.")] = 100,
    rate: Annotated[int, typer.Option(min=0, help="How many are seen each second.")] = 20,
    seed: Seed = 0,
    city: Annotated[
        str | None, typer.Option("--map", metavar="FILE", help="Write the map here: .nt.")
    ] = None,
    path: Output = "-",
) -> None:
    """People seen in rooms, second by second, as timed N-Quads: a stream to play with.

    The map says which room is part of which house, quarter and town, and that who is in
    something is a commuter.

    \b
    livefacts generate positions 60 --map city.nt -o positions.nq
    livefacts register commuters.csparql --stream positions.nq --data city.nt --rules rdfs
    """
    from livefacts.generate import city as made
    from livefacts.generate import positions

    _write(positions(seconds, people, rate, seed), path, thing="position")
    if city is not None:
        _write(made(), city)


STREAMS = {
    "diamond": "A stream of atoms that never come again, kept for a window.",
    "box": "A stream of the same atoms at every time point, which hold always.",
    "join": "A stream of random edges, joined in a window.",
    "cooling": "A stream of temperatures, judged by the rules of a cooling system.",
}


def _add_stream(kind: str, about: str) -> None:
    """The command that writes one kind of timed stream."""

    @app.command(kind, short_help=about, help=f"{about}\n\n{_STREAM_HELP.format(kind=kind)}")
    def command(
        points: Annotated[int, typer.Argument(metavar="POINTS", min=0, help="How many points.")],
        rate: Annotated[int, typer.Option(min=0, help="Atoms at every time point.")] = 200,
        window: Annotated[int, typer.Option(min=0, help="The window of the rules.")] = 10,
        seed: Seed = 0,
        rules: Annotated[
            str | None, typer.Option("--rules", metavar="FILE", help="Write the rules here.")
        ] = None,
        path: StreamOutput = "-",
    ) -> None:
        from livefacts.generate import TimedStream

        made = TimedStream(kind, points, rate, window, seed)
        _write(made.lines(), path, thing="time point")
        if rules is not None:
            _write((f"{rule}\n".encode() for rule in made.rules()), rules, thing="rule")


_STREAM_HELP = """JSON lines, one for each time point; Laser was measured with such streams.

\b
livefacts generate {kind} 100 --rate 20 --window 5 --rules {kind}.rules -o {kind}.jsonl
livefacts run {kind}.rules --facts {kind}.jsonl"""

for _kind, _about in STREAMS.items():
    _add_stream(_kind, _about)


def _write(
    pieces: Iterable[bytes], path: str, count: int | None = None, thing: str = "triple"
) -> None:
    lines = 0
    with output(path) as stream:
        for piece in pieces:
            stream.write(piece)
            lines += piece.count(b"\n")
    if path != "-":
        say(f"{path}: {counted(lines if count is None else count, thing)}")
