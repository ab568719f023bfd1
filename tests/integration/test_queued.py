"""What a function that a queue feeds answers to it, and tells of it."""

from __future__ import annotations

import json
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest

from keepsake import bootstrap
from keepsake.api.observability import logger
from keepsake.api.queued import WorkItem, queued_handler
from keepsake.domain.errors import LostRaceError, ModelUnavailableError
from tests.fakes import DictItemStore, FakeClock
from tests.world import LambdaContext, World

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from keepsake.bootstrap import Runtime

NOW_MS = FakeClock().now_ms()


class Worker:
    """Does what each reference says: raises `failures[ref]`, or spends `spends[ref]` milliseconds. Remembers its calls."""

    __name__ = "work"

    def __init__(self) -> None:
        self.failures: dict[str, Exception] = {}
        self.spends: dict[str, int] = {}
        self.items: list[WorkItem] = []
        self.until: list[int] = []
        self.context = Context()

    def __call__(self, services: Runtime, item: WorkItem, until_ms: int) -> Mapping[str, int]:
        assert services.settings.store_kind == "test"
        self.items.append(item)
        self.until.append(until_ms)
        self.context.left_ms -= self.spends.get(item.ref, 0)
        if item.ref in self.failures:
            raise self.failures[item.ref]
        return {"memories": 2}

    def handle(self, *records: dict[str, Any]) -> list[str]:
        answer = queued_handler(self)({"Records": list(records)}, self.context)
        assert set(answer) == {"batchItemFailures"}
        assert all(set(each) == {"itemIdentifier"} for each in answer["batchItemFailures"])
        return [each["itemIdentifier"] for each in answer["batchItemFailures"]]

    @property
    def refs(self) -> list[str]:
        return [item.ref for item in self.items]


class Context(LambdaContext):
    left_ms = 300_000

    def get_remaining_time_in_millis(self) -> int:
        return self.left_ms


@pytest.fixture
def worker() -> Worker:
    bootstrap.use(World(DictItemStore(), FakeClock()).runtime)
    return Worker()


@pytest.fixture
def told() -> Iterator[StringIO]:
    """What was logged, a JSON document a line."""
    handler: Any = logger.registered_handler
    lines = StringIO()
    before = handler.setStream(lines)
    yield lines
    handler.setStream(before)


def record(ref: str, group: str = "g", *, body: str | None = None, received: int = 1) -> dict[str, Any]:
    attributes = {"ApproximateReceiveCount": str(received), "SentTimestamp": str(NOW_MS), "MessageGroupId": group}
    return {
        "messageId": f"id-{ref}",
        "body": json.dumps({"version": 1, "ref": ref}) if body is None else body,
        "attributes": attributes,
    }


def test_every_message_is_worked_on_with_its_reference_and_its_deliveries(worker: Worker) -> None:
    assert worker.handle(record("a", "g1"), record("b", "g2", received=3)) == []
    assert worker.items == [WorkItem("a", "g1", 1, NOW_MS), WorkItem("b", "g2", 3, NOW_MS)]
    assert worker.until == [NOW_MS + 290_000] * 2


def test_after_a_failure_the_rest_of_the_group_comes_again_and_other_groups_are_done(worker: Worker) -> None:
    worker.failures["a2"] = LostRaceError()
    assert worker.handle(record("a1", "a"), record("a2", "a"), record("b1", "b"), record("a3", "a")) == ["id-a2", "id-a3"]
    assert worker.refs == ["a1", "a2", "b1"]


@pytest.mark.parametrize(
    "body",
    ["", "{", "null", "[1]", '{"version":2,"ref":"a"}', '{"ref":"a"}', '{"version":1}', '{"version":1,"ref":7}', "[" * 50_000],
)
def test_a_message_that_is_not_ours_fails_and_is_told_by_a_code_alone(worker: Worker, told: StringIO, body: str) -> None:
    assert worker.handle(record("odd", "o", body=f"{body}canary"), record("odd2", "o2", body=body), record("b", "b")) == [
        "id-odd",
        "id-odd2",
    ]
    assert worker.refs == ["b"]
    lines = [json.loads(line) for line in told.getvalue().splitlines()]
    assert [line.get("code") for line in lines] == ["unknown_message", "unknown_message", None, None]
    assert "canary" not in told.getvalue()


def test_no_message_is_begun_when_little_time_is_left_but_the_first_always_is(worker: Worker) -> None:
    worker.spends = {"a": 150_000, "b": 125_000}
    assert worker.handle(record("a", "1"), record("b", "2"), record("c", "3"), record("d", "4")) == ["id-c", "id-d"]
    assert worker.until == [NOW_MS + 290_000, NOW_MS + 140_000]
    worker.context.left_ms = 5_000
    assert worker.handle(record("e")) == []
    assert worker.until[-1] == NOW_MS


def test_failures_are_told_by_their_code_or_their_kind_and_never_by_their_words(
    worker: Worker, told: StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.failures = {"a": ModelUnavailableError("canary"), "b": KeyError("canary")}
    assert worker.handle(record("a", "1"), record("b", "2"), record("c", "3")) == ["id-a", "id-b"]
    first, second, third, batch = [json.loads(line) for line in told.getvalue().splitlines()]
    assert (first["route"], first["status"], first["code"]) == ("queue work", 503, "model_unavailable")
    assert (second["status"], second["crash"].split(" at ")[0]) == (500, "KeyError")
    assert (third["status"], third["memories"], third["received"]) == (200, 2, 1)
    assert (batch["messages"], batch["failed"], batch["postponed"]) == (3, 2, 0)
    assert [line["correlation_id"] for line in (first, second, third)] == ["id-a", "id-b", "id-c"]
    assert "canary" not in told.getvalue() + capsys.readouterr().out


def test_an_event_that_is_no_queues_breaks_loudly(worker: Worker) -> None:
    with pytest.raises(KeyError):
        queued_handler(worker)({"source": "something else"}, worker.context)
