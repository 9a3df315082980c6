"""OpenAPI: what is ours of the server's paths, described for programs, at /openapi.json.

The SPARQL and Graph Store Protocols have standards of their own and are only named; what they
take is said all the same.  A test compares the table with the routes.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from typing import Any, NamedTuple

from livefacts.server.admission.tokens import AccessScope
from livefacts.server.problems import PROBLEM
from livefacts.server.standards.negotiation import LIVE, PATCH, RDF, READABLE, ROWS

Schema = dict[str, Any]
JSON, TEXT, LINES = "application/json", "text/plain", "application/x-ndjson"
EVENTS = (LINES, "application/ndjson", "application/n-quads", JSON, PATCH.name)
MAP = "reading(s=$.id, v=$.value) at $.ts"
STRING: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer", "minimum": 0, "maximum": 10**18 - 1}
OBJECT: Schema = {"type": "object"}
FLAG: Schema = {"type": "string", "enum": [""]}
SEQ = {
    "Livefacts-Seq": {
        "description": "The number of the last change that it knows.",
        "schema": NUMBER,
    }
}


class PathMethod(NamedTuple):
    """One method of one path."""

    method: str
    path: str
    says: str
    scope: AccessScope | None = AccessScope.read
    parameters: tuple[Schema, ...] = ()
    takes: tuple[tuple[str, Schema], ...] = ()
    """Media types of the body, with the schema of each."""
    gives: tuple[tuple[str, Schema], ...] = ((JSON, OBJECT),)
    statuses: tuple[int, ...] = (200,)


def _named(name: str, says: str, schema: Schema = STRING, **more: Any) -> Schema:
    return {"name": name, "in": "query", "description": says, "schema": schema, **more}


def _reference(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _texts(*names: str) -> tuple[tuple[str, Schema], ...]:
    known = dict.fromkeys(names, STRING)
    return ((JSON, {"type": "object", "properties": known, "additionalProperties": False}),)


DONE = ((JSON, _reference("Change")),)
LIVELY = tuple((each.name, STRING if each.form != "json" else OBJECT) for each in LIVE)
ANSWERS: tuple[tuple[str, Schema], ...] = tuple(
    (name, {}) for name in dict.fromkeys(each.name for each in (*ROWS, *RDF))
)
GRAPH = tuple((name, STRING) for name in dict.fromkeys(each.name for each in READABLE))
FORM = "application/x-www-form-urlencoded"
QUERY = (
    (FORM, {"type": "object", "properties": {"query": STRING, "update": STRING}}),
    ("application/sparql-query", STRING),
)
UPDATE = (*QUERY, ("application/sparql-update", STRING))
ASKED = _named("query", "A query.")
AT = _named("at", "How things were after this change.", NUMBER)
FORMAT = _named("format", "A format by its short name, instead of Accept.")
SINCE = _named("since", "The events after this number.", NUMBER)
FACT = _named("fact", "A fact, as triples or in the rule language.")
DEFAULT = _named("default", "The default graph.", allowEmptyValue=True)
OF_GRAPH = (_named("graph", "The IRI of a graph."), DEFAULT)
SEQ_OF = _named("seq", "The number of a change.", NUMBER, required=True)
NAME = _named("name", "A registered query.")
KEY: Schema = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "A change with a key is made once, however often it is sent.",
    "schema": {"type": "string", "pattern": "^[!-~]{1,255}$"},
}
PREFER: Schema = {
    "name": "Prefer",
    "in": "header",
    "description": "wait=20 waits so many seconds for the next event.",
    "schema": {"type": "string", "pattern": "^wait=[0-9]{1,4}$"},
}
update, rules, admin = AccessScope.update, AccessScope.rules, AccessScope.admin

OPERATIONS = (
    PathMethod(
        "get",
        "/sparql",
        "A query, or a description of the endpoint",
        parameters=(ASKED, AT, FORMAT),
        gives=ANSWERS,
    ),
    PathMethod("post", "/sparql", "A query, or an update", takes=UPDATE, gives=ANSWERS),
    PathMethod("delete", "/queries/{id}", "Give up a query under way", statuses=(204,)),
    PathMethod("get", "/graphs", "Read a graph", parameters=(*OF_GRAPH, AT, FORMAT), gives=GRAPH),
    PathMethod(
        "put", "/graphs", "Replace a graph", update, (*OF_GRAPH, KEY), GRAPH, DONE, (200, 201)
    ),
    PathMethod(
        "post", "/graphs", "Add to a graph", update, (*OF_GRAPH, KEY), GRAPH, DONE, (200, 201)
    ),
    PathMethod("delete", "/graphs", "Empty a graph", update, (*OF_GRAPH, KEY), (), DONE),
    PathMethod(
        "get",
        "/graphs/{rest}",
        "Read the graph with this address",
        parameters=(AT, FORMAT),
        gives=GRAPH,
    ),
    PathMethod("put", "/graphs/{rest}", "Replace it", update, (KEY,), GRAPH, DONE, (200, 201)),
    PathMethod("post", "/graphs/{rest}", "Add to it", update, (KEY,), GRAPH, DONE, (200, 201)),
    PathMethod("delete", "/graphs/{rest}", "Empty it", update, (KEY,), (), DONE),
    PathMethod(
        "get",
        "/patch",
        "Changes as RDF Patch",
        parameters=(
            SINCE,
            _named("asserted", "What was asserted, not what became true.", allowEmptyValue=True),
        ),
        gives=((PATCH.name, STRING),),
    ),
    PathMethod(
        "post",
        "/patch",
        "A change as RDF Patch",
        update,
        (KEY,),
        ((PATCH.name, STRING), (TEXT, STRING)),
        DONE,
    ),
    PathMethod(
        "post",
        "/apply",
        "Facts and rules that come and go, in one change",
        update,
        (KEY,),
        _texts("add", "remove", "patch", "add_rules", "remove_rules"),
        DONE,
    ),
    PathMethod(
        "post",
        "/preview",
        "What such a change would do",
        update,
        (),
        _texts("add", "remove", "patch", "add_rules", "remove_rules"),
        ((JSON, _reference("Preview")),),
    ),
    PathMethod(
        "post",
        "/undo",
        "Take a change back",
        update,
        (SEQ_OF, _named("preview", "Only say what that would do.", allowEmptyValue=True), KEY),
        (),
        DONE,
    ),
    PathMethod(
        "post",
        "/streams/{name}",
        "Events of a stream, with their times",
        update,
        (
            _named(
                "advance", "Whether time moves on to the last of them.", {"enum": ["true", "false"]}
            ),
            _named("map", "Which facts a message of JSON stands for.", example=MAP),
            _named("arrival-time", "Without a time, it is now.", FLAG, allowEmptyValue=True),
            _named("live", "Take lines as they come, and answer so.", FLAG, allowEmptyValue=True),
            KEY,
        ),
        tuple((kind, STRING) for kind in EVENTS),
        (*DONE, (LINES, STRING)),
    ),
    PathMethod(
        "post",
        "/advance",
        "Move time on",
        update,
        (
            _named("to", "A time point.", NUMBER, required=True),
            _named("far", "However far it is.", FLAG, allowEmptyValue=True),
            KEY,
        ),
        (),
        DONE,
    ),
    PathMethod("get", "/rules", "The rules", gives=((JSON, _reference("Rules")),)),
    PathMethod("post", "/rules", "Add rules", rules, (KEY,), ((TEXT, STRING),), DONE),
    PathMethod(
        "delete",
        "/rules",
        "Remove a rule",
        rules,
        (_named("id", "Its id.", required=True), KEY),
        (),
        DONE,
    ),
    PathMethod("get", "/ontology", "What the rules say of an ontology, and what they cannot say"),
    PathMethod(
        "post",
        "/ontology",
        "Axioms that come and go, or the whole ontology",
        rules,
        (KEY,),
        _texts("add", "remove", "to"),
        DONE,
    ),
    PathMethod(
        "get",
        "/explain",
        "Why a fact holds, or what is missing",
        parameters=(FACT, _named("format", "How it is told.", {"enum": ["json", "text", "dot"]})),
        gives=((JSON, OBJECT), (TEXT, STRING), ("text/vnd.graphviz", STRING)),
    ),
    PathMethod("post", "/explain", "The same for the text of a fact", takes=((TEXT, STRING),)),
    PathMethod("get", "/log", "What has happened", parameters=(SINCE,)),
    PathMethod("post", "/verify", "Compute everything anew, and compare", admin),
    PathMethod(
        "get",
        "/changes",
        "Changes as they happen",
        parameters=(SINCE, FORMAT, PREFER),
        gives=LIVELY,
    ),
    PathMethod(
        "get",
        "/violations",
        "Violations as they come and go",
        parameters=(SINCE, FORMAT, PREFER),
        gives=LIVELY,
    ),
    PathMethod(
        "get",
        "/watch",
        "The answers of a query, and what comes and goes",
        parameters=(ASKED, SINCE, FORMAT, PREFER),
        gives=LIVELY,
    ),
    PathMethod(
        "post",
        "/watch",
        "The same, the query in the body",
        parameters=(SINCE, FORMAT, PREFER),
        takes=QUERY,
        gives=LIVELY,
    ),
    PathMethod(
        "get",
        "/register",
        "The registered queries, or the reports of one",
        parameters=(NAME, SINCE, FORMAT, PREFER),
        gives=LIVELY,
    ),
    PathMethod(
        "post",
        "/register",
        "Register a query, and follow its reports",
        update,
        (SINCE, FORMAT, PREFER),
        (*QUERY, (TEXT, STRING)),
        LIVELY,
    ),
    PathMethod("delete", "/register", "End a registered query", update, (NAME,), statuses=(204,)),
    PathMethod("get", "/health", "The process lives", None),
    PathMethod("get", "/ready", "200, or 503 when it is about to end", None),
    PathMethod("get", "/stats", "Figures for people"),
    PathMethod("get", "/metrics", "Figures for Prometheus", None, gives=((TEXT, STRING),)),
    PathMethod("get", "/openapi.json", "This description", None),
)
LISTS = {"type": "array", "items": STRING}
CHANGE = {
    "seq": NUMBER,
    "now": {"type": ["integer", "null"]},
    "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
    "violations": LISTS,
    "resolved": LISTS,
    "hints": LISTS,
}
FACTS = {"added": LISTS, "removed": LISTS}
RULE = {
    "id": STRING,
    "text": STRING,
    "constraint": {"type": "boolean"},
    "feeds": {"type": "array", "items": STRING},
}


def _object(properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": [*properties]}


SCHEMAS = {
    "Change": _object(CHANGE),
    "Preview": _object(CHANGE | FACTS),
    "Rules": _object({"rules": {"type": "array", "items": _object(RULE)}, "prefixes": OBJECT}),
    "Problem": _object(
        {
            "type": STRING,
            "title": STRING,
            "status": {"type": "integer"},
            "what": STRING,
            "where": {"type": ["object", "null"]},
            "hint": STRING,
            "detail": STRING,
            "request": STRING,
        }
    ),
}


@cache
def document() -> Schema:
    """The whole description."""
    paths: dict[str, Any] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method] = _described(operation)
    return {
        "openapi": "3.1.0",
        "info": {"title": "livefacts", "version": version("livefacts")},
        "paths": paths,
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _described(operation: PathMethod) -> Schema:
    in_path = [
        {"name": part[1:-1], "in": "path", "required": True, "schema": {**STRING, "minLength": 1}}
        for part in operation.path.split("/")
        if part.startswith("{")
    ]
    said: Schema = {
        "summary": operation.says,
        "parameters": [*in_path, *operation.parameters],
        "responses": {
            **{str(status): _answer(operation, status) for status in operation.statuses},
            "default": {
                "description": "A problem",
                "content": {PROBLEM: {"schema": _reference("Problem")}},
            },
        },
    }
    if operation.scope is not None:
        said["description"] = f"Scope: {operation.scope}."
        # Reading is open, unless the server is private.
        is_open = operation.scope is AccessScope.read
        said["security"] = [{}, {"token": []}] if is_open else [{"token": []}]
    if operation.takes:
        content = {kind: {"schema": schema} for kind, schema in operation.takes}
        said["requestBody"] = {"required": True, "content": content}
    return said


def _answer(operation: PathMethod, status: int) -> Schema:
    said: Schema = {"description": operation.says, "headers": SEQ}
    if status != 204:
        said["content"] = {kind: {"schema": schema} for kind, schema in operation.gives}
    return said
