"""There is an event for every trigger of the template, and it is what the trigger really sends."""

import json
from pathlib import Path
from typing import Any, cast

import pytest

from functions.audit.app import ROUTES as AUDIT
from functions.documents.app import ROUTES as DOCUMENTS
from functions.health.app import ROUTES as HEALTH
from functions.index_admin.app import ROUTES as INDEX_ADMIN
from functions.memories.app import ROUTES as MEMORIES
from functions.profile.app import ROUTES as PROFILE
from functions.recall.app import ROUTES as RECALL
from functions.sessions.app import ROUTES as SESSIONS
from functions.turn.app import ROUTES as TURN
from keepsake.api.requests import parsed
from keepsake.ports.work_queue import WorkMessage, ref_of
from local.queues import sqs_event
from local.template import Feed, Route, load_template
from tests.fakes import FakeClock
from tests.fakes_queue import FakeWorkQueue

EVENTS = Path(__file__).resolve().parents[2] / "events"
TEMPLATE = load_template()
ANSWERED = {
    "TurnFunction": TURN,
    "SessionsFunction": SESSIONS,
    "ProfileFunction": PROFILE,
    "MemoriesFunction": MEMORIES,
    "RecallFunction": RECALL,
    "DocumentsFunction": DOCUMENTS,
    "IndexAdminFunction": INDEX_ADMIN,
    "AuditFunction": AUDIT,
    "HealthFunction": HEALTH,
}


def loaded(path: Path) -> dict[str, Any]:
    event = json.loads(path.read_text(encoding="utf-8"))
    assert isinstance(event, dict)
    return event


HTTP = {path.stem: event for path in sorted(EVENTS.glob("*.json")) if (event := loaded(path)).get("version") == "2.0"}


def route_of(event: dict[str, Any]) -> Route:
    return next(route for route in TEMPLATE.routes if f"{route.method} {route.path}" == event["routeKey"])


def test_functions_answer_the_routes_that_the_template_sends_them_and_no_others() -> None:
    answered = {(function, route.key, not route.is_open) for function, routes in ANSWERED.items() for route in routes}
    assert answered == {(route.function, f"{route.method} {route.path}", route.authorised) for route in TEMPLATE.routes}


@pytest.mark.parametrize("name", HTTP)
def test_bodies_are_what_the_function_takes(name: str) -> None:
    event = HTTP[name]
    route = next(each for routes in ANSWERED.values() for each in routes if each.key == event["routeKey"])
    assert set(event.get("queryStringParameters", {})) <= set(route.query)
    if "body" in event:
        assert route.body is not None
        parsed(route.body, event["body"].encode())


def test_every_route_has_one_event() -> None:
    assert sorted(event["routeKey"] for event in HTTP.values()) == sorted(
        f"{each.method} {each.path}" for each in TEMPLATE.routes
    )


OTHERS = {path.stem: loaded(path) for path in EVENTS.glob("*.json") if path.stem not in HTTP}


def folder_of(module: str) -> str:
    return module.split(".")[1]


def test_every_schedule_and_every_queue_has_its_event_and_there_are_no_others() -> None:
    schedules = {folder_of(schedule.module): dict(schedule.event) for schedule in TEMPLATE.schedules}
    assert {name: {**OTHERS[name], "id": "local"} for name in schedules} == schedules
    assert all(OTHERS[name]["id"] for name in schedules)
    assert OTHERS.keys() - schedules.keys() == {folder_of(feed.module) for feed in TEMPLATE.feeds}


@pytest.mark.parametrize("feed", TEMPLATE.feeds, ids=lambda feed: feed.function)
def test_an_event_of_a_queue_has_the_parts_that_lambda_sends_and_is_one_that_we_read(feed: Feed) -> None:
    queue = FakeWorkQueue(FakeClock())
    queue.send([WorkMessage(ref="r", group="g", deduplication="d")])
    (ours,) = cast(Any, sqs_event(queue.receive(1), feed.queue)["Records"])
    (record,) = OTHERS[folder_of(feed.module)]["Records"]
    assert list(record) == list(ours)
    assert list(record["attributes"]) == list(ours["attributes"])
    assert {type(value) for value in record["attributes"].values()} == {str}
    assert feed.queue in record["eventSourceARN"]
    assert ref_of(record["body"])


@pytest.mark.parametrize("name", HTTP)
def test_paths_and_methods_agree_within_the_event(name: str) -> None:
    event = HTTP[name]
    context, route = event["requestContext"], route_of(event)
    path = route.path.format(**event.get("pathParameters", {}))
    assert (context["routeKey"], context["http"]["method"]) == (event["routeKey"], route.method)
    assert event["rawPath"] == context["http"]["path"] == path


@pytest.mark.parametrize("name", HTTP)
def test_claims_are_strings_and_only_where_somebody_is_asked_who_calls(name: str) -> None:
    context = HTTP[name]["requestContext"]
    if not route_of(HTTP[name]).authorised:
        assert "authorizer" not in context
        return
    claims = context["authorizer"]["jwt"]["claims"]
    assert claims["sub"]
    assert {type(claim) for claim in claims.values()} == {str}


@pytest.mark.parametrize("name", HTTP)
def test_headers_are_lower_case_and_bodies_are_as_long_as_they_say(name: str) -> None:
    event = HTTP[name]
    headers, body = event["headers"], event.get("body", "")
    assert all(header == header.lower() for header in headers)
    assert int(headers.get("content-length", "0")) == len(body.encode())
    if body:
        assert headers["content-type"] == "application/json"
        assert isinstance(json.loads(body), dict)


def test_only_the_audit_and_the_index_are_called_by_an_admin() -> None:
    admins = {name for name, event in HTTP.items() if "keepsake-admins" in json.dumps(event["requestContext"])}
    assert admins == {"audit_verify", "reindex_start", "reindex_read", "drift_check"}
