"""The `livefacts` command: its jobs, and how it ends.

Data goes to standard output, messages to standard error.  Exit codes: 0 done, 1 error,
2 wrong usage, 3 done but some input was rejected, 4 done but constraints are violated, where
that was asked for.  What a user can cause ends in a message, never in a traceback.  Nothing
heavy is imported before a job needs it.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any, TextIO

import typer
from typer.core import TyperCommand, TyperGroup

from livefacts.commands import (
    bench,
    changes,
    demo,
    doctor,
    dump,
    explain,
    folders,
    generate,
    load,
    query,
    register,
    rules,
    serve,
    verify,
    watch,
)
from livefacts.commands import run as run_commands
from livefacts.commands import spark as spark_commands
from livefacts.commands.console.terminal import ExitCode, say
from livefacts.errors import LivefactsError

JOBS = (
    "demo",
    "load",
    "add",
    "remove",
    "apply",
    "query",
    "watch",
    "run",
    "register",
    "rules",
    "explain",
    "verify",
    "dump",
    "log",
    "undo",
    "backup",
    "restore",
    "serve",
    "token",
    "spark",
    "generate",
    "bench",
    "doctor",
)


class InOrder(TyperGroup):
    """The commands in the order in which they are needed, not by kind or alphabet."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of the commands, first things first."""
        return [name for name in JOBS if name in self.commands]


class Asking(TyperCommand):
    """A command that asks one question of files; who names files as `load` does gets a hint."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The parameters in the arguments."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            message = getattr(error, "message", "")
            if "unexpected extra argument" in message:
                error.message = f"{message}; give each file with --data"  # type: ignore[attr-defined]
            raise


app = typer.Typer(
    name="livefacts",
    cls=InOrder,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command("demo", short_help="A tour of everything.")(demo.demo_command)
app.command("load", short_help="Read files, draw every conclusion, and report.")(load.load_command)
app.command("add", short_help="Add facts, and see what follows.")(changes.add_command)
app.command("remove", short_help="Take facts back, and see what ends.")(changes.remove_command)
app.command("apply", short_help="Change facts by RDF Patch or SPARQL Update.")(
    changes.apply_command
)
app.command("query", cls=Asking, short_help="Ask SPARQL of files and of what follows.")(
    query.query_command
)
app.command("watch", cls=Asking, short_help="Follow the answers of a query.")(watch.watch_command)
app.command("run", short_help="Run rules over timed facts.")(run_commands.run_command)
app.command("register", short_help="Ask continuously, over streams.")(register.register_command)
app.add_typer(rules.app, name="rules", help="Check rules, and see those that come along.")
app.command("explain", cls=Asking, short_help="Why does a fact hold, or not?")(
    explain.explain_command
)
app.command("verify", short_help="Compute everything anew, and compare.")(verify.verify_command)
app.command("dump", short_help="Write everything that is true.")(dump.dump_command)
app.command("log", short_help="What has happened in a folder.")(folders.log_command)
app.command("undo", short_help="Take a change of a folder back.")(folders.undo_command)
app.command("backup", short_help="Copy a folder, and check the copy.")(folders.backup_command)
app.command("restore", short_help="Make a folder of a backup.")(folders.restore_command)
app.command("serve", short_help="Serve a folder over HTTP.")(serve.serve_command)
app.command("token", short_help="Let someone change what is served.")(serve.token_command)
app.add_typer(spark_commands.app, name="spark", short_help="Large knowledge bases, on Spark.")
app.add_typer(generate.app, name="generate", help="Make data to try things on.")
app.command("bench", short_help="How fast is this machine?")(bench.bench_command)
app.command("doctor", short_help="Is everything in place?")(doctor.doctor_command)


def show_version(wanted: bool) -> None:
    """Print the version and leave."""
    if wanted:
        try:
            typer.echo(f"livefacts {version('livefacts')}")
        except PackageNotFoundError:
            typer.echo("livefacts, from a source folder")
        raise typer.Exit()


@app.callback()
def livefacts(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=show_version, is_eager=True, help="Print the version and leave."
        ),
    ] = False,
) -> None:
    """Keeps conclusions true while facts, rules and time change.

    \b
    livefacts demo                                       a tour of everything
    livefacts generate university 1 -o uni.nt.gz         data to try things on
    livefacts load uni.nt.gz --rules rdfs --stats        what follows from it
    livefacts load uni.nt.gz --rules rdfs --dump all.nt  write it down
    livefacts remove uni.nt.gz --rules rdfs --facts gone.nt   what ends with it
    livefacts query 'SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }' --data uni.nt.gz --rules rdfs
    livefacts rules check my.rules                       are my rules in order?
    """


def show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """A warning as a line for people, without the place in our code."""
    say(f"warning: {message}")


def main() -> None:
    """Run the command line and leave with its exit code."""
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has gone; what is still in the buffer must not be written at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run the command line; what it ends with."""
    warnings.showwarning = show_warning
    try:
        app(list(arguments), prog_name="livefacts")
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else ExitCode.DONE
        if code == ExitCode.INTERRUPTED:
            say("interrupted")
        return code
    except LivefactsError as error:
        say(f"error: {error}")
    except OSError as error:
        say(f"error: {error.filename or 'input or output'}: {error.strerror or error}")
    except MemoryError:
        say("error: out of memory\nhint: load less at once, or use a machine with more")
    return ExitCode.ERROR
