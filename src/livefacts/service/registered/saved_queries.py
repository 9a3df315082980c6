"""The saved queries: a registered query at one moment, as a value that any dictionary can read.

Its world is found anew; what is kept is where its reports stand, the rows that the next one is
compared with, and reports that may have to be corrected.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from livefacts.engine.flow.bags import UNBOUND
from livefacts.errors import LimitError
from livefacts.journal.fact_texts import number_texts, texts_of
from livefacts.language.registration import StreamOperator
from livefacts.model.facts import Term
from livefacts.service.continuous.findings import Found, found_rows
from livefacts.service.queries.results import Row
from livefacts.service.registered.reports import Report, ReportQueue, TimeSpan
from livefacts.service.registered.scheduled_query import Registration
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.terms.id_reader import key_of

Texts = list[list[str | None]]
"""Rows of texts of terms; None where a variable has no value."""


def saved(query: Registration, dictionary: Dictionary) -> dict[str, Any]:
    """A query as plain data."""
    asked, remembered = query.asked, query.remembered
    return {
        "number": query.number,
        "name": query.name,
        "text": asked.text,
        "prefixes": dict(asked.prefixes),
        "full": asked.full,
        "graphs": list(asked.graphs),
        "position": query.position(),
        "reported": _reported(query, dictionary),
        "reports": _unread(query.reports),
        "remembered": None
        if remembered is None
        else [[time, _plain(found)] for time, found in remembered.items()],
    }


def restore(query: Registration, state: Mapping[str, Any], dictionary: Dictionary) -> None:
    """A query that is new is compared with what was reported, and corrects it."""
    with dictionary.passing:
        _put_back(query.reports, state.get("reports"), dictionary)
        _resume(query, state["reported"], dictionary)
        if state["remembered"] is not None:
            query.remembered = {
                time: _found(plain, dictionary) for time, plain in state["remembered"]
            }


def _unread(reports: ReportQueue) -> dict[str, Any]:
    """The reports that nobody has read yet."""
    return {
        "made": reports.made,
        "read": reports.read,
        "unread": [
            {
                "number": number,
                "time": report.time,
                "windows": [[span.since, span.until] for span in report.windows],
                "last": report.last,
                "count": report.count,
                "correction": report.correction,
                "found": _plain(report.outcome),
            }
            for number, report in list(reports.waiting)
        ],
    }


def _put_back(
    reports: ReportQueue, state: Mapping[str, Any] | None, dictionary: Dictionary
) -> None:
    if state is None:
        return
    reports.made, reports.read = state["made"], state["read"]
    for each in state["unread"]:
        outcome = _found(each["found"], dictionary)
        windows = tuple(TimeSpan(*span) for span in each["windows"])
        last, count, correction = each["last"], each["count"], each["correction"]
        report = Report(each["time"], windows, outcome, last, count, correction)
        reports.waiting.append((each["number"], report))


def _reported(query: Registration, dictionary: Dictionary) -> Texts:
    """The rows that the next report is compared with, where it is."""
    if query.query.relation is StreamOperator.ALL or query.query.form == "ASK":
        return []
    rows = list(query.answers.reported())
    flat = np.array([each for row in rows for each in row], np.int32)
    texts: list[str | None] = list(texts_of(np.maximum(flat, 0), dictionary))
    found = iter([text if id != UNBOUND else None for text, id in zip(texts, flat, strict=True)])
    return [[next(found) for _ in row] for row in rows]


def _resume(query: Registration, rows: Texts, dictionary: Dictionary) -> None:
    if query.query.relation is StreamOperator.ALL or query.query.form == "ASK":
        return
    ids = iter(number_texts([text for row in rows for text in row if text is not None], dictionary))
    query.answers.resume(
        [tuple(UNBOUND if text is None else int(next(ids)) for text in row) for row in rows]
    )


def _plain(found: Found | LimitError) -> dict[str, Any]:
    if isinstance(found, LimitError):
        return {"error": found.message}
    return {"names": list(found.names), "rows": [_texts(row) for row in found.rows()]}


def _found(plain: Mapping[str, Any], dictionary: Dictionary) -> Found | LimitError:
    if "error" in plain:
        return LimitError(plain["error"])
    return found_rows(tuple(plain["names"]), _rows(plain["names"], plain["rows"], dictionary))


def _texts(row: Iterable[Term | None]) -> list[str | None]:
    return [None if term is None else key_of(term).decode() for term in row]


def _rows(names: Sequence[str], rows: Texts, dictionary: Dictionary) -> list[Row]:
    ids = number_texts([text for row in rows for text in row if text is not None], dictionary)
    terms: Any = iter(dictionary.decode(ids))
    return [
        Row.of(tuple(names), [None if text is None else next(terms) for text in row])
        for row in rows
    ]
