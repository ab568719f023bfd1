"""The API's description (OpenAPI 3.1), made of the route table and the bodies' models: `make openapi` writes it."""

import json
import re
from http import HTTPStatus
from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic.json_schema import models_json_schema

from keepsake.api.http import Route
from keepsake.api.problems import CONTENT_TYPE, STATUSES
from keepsake.api.wire import DEFAULT_PAGE, MAX_PAGE
from keepsake.config import VERSION
from keepsake.domain.memories.values import MemoryType
from local.schemas import ANSWERS, RECORDS

ROOT = Path(__file__).parent.parent
DESCRIPTION = ROOT / "docs" / "openapi.json"
_REF = "#/components/schemas/{model}"

_QUERY: dict[str, dict[str, Any]] = {
    "limit": {
        "description": "Items a page.",
        "schema": {"type": "integer", "minimum": 1, "maximum": MAX_PAGE, "default": DEFAULT_PAGE},
    },
    "next": {"description": "Where the page before ended, as its `next` said.", "schema": {"type": "string"}},
    "type": {
        "description": "Memories of this type only.",
        "schema": {"type": "string", "enum": [str(each) for each in MemoryType]},
    },
    "subject": {"description": "Memories about this one only: `user` or a name.", "schema": {"type": "string"}},
    "attribute": {"description": "Memories of this attribute only, by any of its names.", "schema": {"type": "string"}},
    "as_of": {
        "description": "What was so then: a date, which means its end in UTC, or an RFC 3339 time with a zone.",
        "schema": {"type": "string", "examples": ["2026-02-01", "2026-02-01T12:00:00Z"]},
    },
    "past": {
        "description": "Also what holds no longer, and what never did.",
        "schema": {"type": "string", "enum": ["true", "false"], "default": "false"},
    },
    "deep": {"description": "Ask each dependency, too.", "schema": {"type": "string", "enum": ["true", "false"]}},
}
# Statuses of success beside a route's usual one.
_OTHER_SUCCESSES = {"POST /v1/documents": (200,)}
_PATH_ID = "The id itself where it is of `[A-Za-z0-9._-]`, else `~` and the base64url of its UTF-8."
_PROBLEM: dict[str, Any] = {
    "type": "object",
    "required": ["type", "title", "status", "code", "detail", "correlation_id"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string", "description": "Stable; what programs should look at."},
        "detail": {"type": "string"},
        "correlation_id": {"type": "string"},
        "fields": {
            "type": "array",
            "items": {"type": "object", "properties": {"field": {"type": "string"}, "problem": {"type": "string"}}},
        },
    },
}


def routes() -> list[Route]:
    """Every route of every function."""
    folders = sorted(path.parent.name for path in (ROOT / "functions").glob("*/app.py"))
    modules = [import_module(f"functions.{folder}.app") for folder in folders]
    return [route for module in modules for route in getattr(module, "ROUTES", ())]


def description() -> dict[str, Any]:
    """The whole document."""
    models = [route.body for route in routes() if route.body]
    _, schemas = models_json_schema([(model, "validation") for model in models], ref_template=_REF)
    paths: dict[str, Any] = {}
    for route in sorted(routes(), key=lambda each: each.key.split(" ")[::-1]):
        method, path = route.key.split(" ")
        paths.setdefault(path, {})[method.lower()] = _operation(route, path)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Keepsake", "version": VERSION, "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"}},
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {
            "schemas": {**schemas.get("$defs", {}), **RECORDS, "Problem": _PROBLEM},
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
        },
    }


def _operation(route: Route, path: str) -> dict[str, Any]:
    ids = [
        {"name": name, "in": "path", "required": True, "description": _PATH_ID, "schema": {"type": "string"}}
        for name in re.findall(r"{(\w+)}", path)
    ]
    queries = [{"name": name, "in": "query", "required": False, **_QUERY[name]} for name in route.query]
    operation: dict[str, Any] = {
        "operationId": route.answer.__name__,
        "summary": (route.answer.__doc__ or "").splitlines()[0],
        "parameters": ids + queries,
        "responses": {
            **{str(status): _success(route) for status in (route.status, *_OTHER_SUCCESSES.get(route.key, ()))},
            **_refusals(),
        },
    }
    if route.body:
        schema = {"$ref": _REF.format(model=route.body.__name__)}
        needed = bool(route.body.model_json_schema().get("required"))
        operation["requestBody"] = {"required": needed, "content": {"application/json": {"schema": schema}}}
    if route.is_open:
        operation["security"] = []
    return operation


def _success(route: Route) -> dict[str, Any]:
    if route.status == HTTPStatus.NO_CONTENT:
        return {"description": "Done."}
    return _answer("What was asked for.", "application/json", ANSWERS[route.key])


def _refusals() -> dict[str, Any]:
    """Every status a problem document may come with. Any call may meet each of them: gateways and stores stand before all."""
    statuses = sorted(set(STATUSES.values()))
    return {
        str(status): _answer("A problem document.", CONTENT_TYPE, {"$ref": _REF.format(model="Problem")}) for status in statuses
    }


def _answer(what: str, kind: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": what, "content": {kind: {"schema": schema}}}


def written() -> str:
    """The document as it is committed."""
    return json.dumps(description(), indent=2, ensure_ascii=False, sort_keys=True) + "\n"


if __name__ == "__main__":
    DESCRIPTION.write_text(written())
