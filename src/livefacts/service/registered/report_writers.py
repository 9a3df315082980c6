"""Report writers: reports as tables for people, JSON lines, CSV, timed N-Quads and RDF Patch."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass, field

from pyoxigraph import Triple

from livefacts.errors import QueryError
from livefacts.model.durations import Duration
from livefacts.model.namespaces import XSD
from livefacts.model.time_points import moment
from livefacts.service.queries.results import as_json, plain, shown, table
from livefacts.service.registered.reports import Report
from livefacts.service.registered.scheduled_query import Registration
from livefacts.service.registered.stream_rows import stream_triples
from livefacts.syntax.rdf.patch import write_patch


@dataclass(slots=True)
class ReportWriter:
    """Writes the reports of registered queries, one after the other.

    `dates` shows time points as the moments at which they begin.
    """

    format: str
    dates: bool = False
    tick: Duration | None = None
    width: int = 100
    prefixes: dict[str, str] = field(default_factory=dict)
    _headed: set[str] = field(default_factory=set)
    _before: dict[str, list[Triple]] = field(default_factory=dict)

    def write(self, query: Registration, report: Report) -> str:
        """The text of one report; where there is none, tables and JSON lines say why."""
        if report.error is not None and self.format not in ("table", "jsonl"):
            return ""
        return _WRITERS[self.format](self, query, report)

    def check(self, query: Registration) -> None:
        """Refuse a format that a query has nothing for."""
        makes_triples = query.query.form == "CONSTRUCT" or query.query.makes_stream
        if self.format in ("nq", "patch") and not makes_triples:
            raise QueryError(
                f"{self.format} is made of triples, and {query.query.form} makes none",
                place=query.query.place,
                hint="use table, jsonl or csv, or CONSTRUCT, or REGISTER STREAM",
            )

    def _time(self, time: int) -> str:
        if not self.dates:
            return str(time)
        return moment(time, self.tick).isoformat().replace("+00:00", "Z")

    def _literal(self, time: int) -> str:
        kind = "dateTime" if self.dates else "integer"
        return f'"{self._time(time)}"^^<{XSD}{kind}>'

    def _table(self, query: Registration, report: Report) -> str:
        times = self._time(report.time)
        if report.count > 1:
            times += f" to {self._time(report.last)}, {report.count:,} times"
        mark = " (correction)" if report.correction else ""
        head = f"{query.name} at {times}{mark}: "
        if report.error is not None:
            return f"{head}no report, {report.error.message}\n"
        if not report.rows:
            return f"{head}nothing\n"
        cells = [[shown(term, self.prefixes) for term in row] for row in report.rows]
        return f"{head.rstrip()}\n" + table([f"?{n}" for n in report.variables], cells, self.width)

    def _json_line(self, query: Registration, report: Report) -> str:
        when: Callable[[int], object] = self._time if self.dates else int
        entry: dict[str, object] = {
            "query": query.name,
            "time": when(report.time),
            "window": [[when(span.since), when(span.until)] for span in report.windows],
        }
        if report.error is None:
            entry["rows"] = [{n: as_json(t) for n, t in r.as_dict().items()} for r in report.rows]
        else:
            entry["error"] = report.error.message
        if report.count > 1:
            entry |= {"last": when(report.last), "count": report.count}
        if report.correction:
            entry["correction"] = True
        return json.dumps(entry, ensure_ascii=False) + "\n"

    def _csv(self, query: Registration, report: Report) -> str:
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\r\n")
        if query.name not in self._headed:
            self._headed.add(query.name)
            writer.writerow(["query", "time", *report.variables])
        for row in report.rows:
            writer.writerow([query.name, self._time(report.time), *map(plain, row)])
        return out.getvalue()

    def _quads(self, query: Registration, report: Report) -> str:
        stream = f" <{query.name}>" if ":" in query.name else ""
        time = self._literal(report.time)
        made = stream_triples(query.query, report.rows)
        return "".join(f"{triple}{stream} {time} .\n" for triple in made)

    def _patch(self, query: Registration, report: Report) -> str:
        """What has gone and come since the report before."""
        before, now = self._before.get(query.name, []), stream_triples(query.query, report.rows)
        self._before[query.name] = now
        gone = "".join(f"{triple} .\n" for triple in before if triple not in now)
        came = "".join(f"{triple} .\n" for triple in now if triple not in before)
        if not gone and not came:
            return ""
        head = f"H time {self._literal(report.time)} .\n"
        if query.query.makes_stream:
            head += f"H stream <{query.name}> .\n"
        return head + write_patch(report.time, [gone], [came])


_WRITERS: dict[str, Callable[[ReportWriter, Registration, Report], str]] = {
    "table": ReportWriter._table,
    "jsonl": ReportWriter._json_line,
    "csv": ReportWriter._csv,
    "nq": ReportWriter._quads,
    "patch": ReportWriter._patch,
}
FORMATS = tuple(_WRITERS)
