"""A stream run: a stream on Spark is followed from the command line, until it ends, fails or is interrupted."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from livefacts.errors import LivefactsError, OptionError
from livefacts.kb.failures import reason_of

if TYPE_CHECKING:
    from livefacts.engine.spark.pipeline import Pipeline
    from livefacts.engine.spark.streaming.batch_figures import StreamFigures

AT_ONCE = "now"
UNITS = {"ms": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours"}
IS_OTHER_SOURCE = re.compile(r"of another source|sources in the checkpoint")
OTHER_SOURCE = "a stream goes on with the source that it began with: another one has another --name"
TIME = re.compile(r"(\d+)\s*(ms|s|m|h)")


def trigger_of(text: str | None) -> Mapping[str, Any] | None:
    """A trigger of Spark from a text.

    >>> trigger_of("2s"), trigger_of("now"), trigger_of(None)
    ({'processingTime': '2 seconds'}, {'availableNow': True}, None)
    """
    if text is None:
        return None
    if text == AT_ONCE:
        return {"availableNow": True}
    found = TIME.fullmatch(text.strip())
    if found is None:
        raise OptionError(
            f"{text} is no time between micro-batches", hint="500ms, 1s, 5m, or `now` to end"
        )
    return {"processingTime": f"{found[1]} {UNITS[found[2]]}"}


def follow_stream(
    pipeline: Pipeline,
    source: str,
    say: Callable[[str], None],
    metrics: int | None,
    **options: Any,
) -> None:
    """Follow a source, say each batch, and stop at Ctrl-C."""
    from livefacts.engine.spark.streaming.batch_figures import StreamMetrics
    from livefacts.engine.spark.streaming.source_address import source_frame

    shown = StreamMetrics() if metrics is not None else None
    if shown is not None and metrics is not None:
        shown.serve(metrics)
        pipeline.session.streams.addListener(shown)
        say(f"figures for Prometheus: http://127.0.0.1:{metrics}/metrics")

    def tell(figures: StreamFigures) -> None:
        say(str(figures))
        if shown is not None:
            shown.take(figures)

    pipeline.on_batch = tell
    query = pipeline.stream(source_frame(pipeline.session, source), **options)
    await_end(query, say)


def await_end(query: Any, say: Callable[[str], None]) -> None:
    """Wait until a query ends, and say plainly why it failed."""
    try:
        query.awaitTermination()
    except KeyboardInterrupt:
        query.stop()
        say("stopped; the same command goes on from here")
    except Exception as error:
        reason = reason_of(error)
        raise LivefactsError(
            reason,
            hint=OTHER_SOURCE
            if IS_OTHER_SOURCE.search(reason)
            else "the same command goes on from the last batch that was committed",
        ) from error
