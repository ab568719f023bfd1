"""The machine's own endpoints: what they answer, and how they say what went wrong."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from keepsake.api.scheduled import RunFailedError
from keepsake.domain.errors import IndexUnavailableError, LostRaceError, QueueUnavailableError, StoreUnavailableError
from local.answers import Answer
from local.clock import ShiftedClock
from local.control import Control
from local.events import Request
from local.schedules import Schedule, Scheduler
from local.tokens import TokenIssuer

Run = Callable[[Mapping[str, object]], object]


@pytest.fixture
def issuer(tmp_path: Path) -> TokenIssuer:
    return TokenIssuer(tmp_path / "token-key")


def control(issuer: TokenIssuer, tmp_path: Path, run: Run) -> Control:
    clock = ShiftedClock(tmp_path / "clock.json")
    return Control(issuer, clock, Scheduler((Schedule("consolidation", 15, run),), clock))


def called(asked: Control, method: str, path: str, body: object = None) -> tuple[int, Any]:
    headers = (("authorization", f"Bearer {asked.issuer.issue_control()}"),)
    request = Request(method, path, "", headers, "127.0.0.1", "request-1")
    answer: Answer = asked(request, json.dumps(body).encode())
    return answer.status, json.loads(answer.body)


def test_a_tick_answers_what_each_schedule_answered(issuer: TokenIssuer, tmp_path: Path) -> None:
    asked = control(issuer, tmp_path, lambda more: {"sent": 2, **more})
    for wish in ("consolidation", "all"):
        assert called(asked, "POST", "/local/tick", {"run": wish}) == (200, {"consolidation": {"sent": 2, "everything": True}})


@pytest.mark.parametrize("body", [{"run": "nonsense"}, {}, [], "all", {"run": None}])
def test_what_cannot_be_run_is_refused_with_what_can(issuer: TokenIssuer, tmp_path: Path, body: object) -> None:
    status, problem = called(control(issuer, tmp_path, lambda _: {}), "POST", "/local/tick", body)
    assert (status, problem["code"]) == (400, "invalid_request")
    assert "consolidation, all" in problem["detail"]


def test_the_queues_are_told_while_a_tick_is_under_way(issuer: TokenIssuer, tmp_path: Path) -> None:
    seen: list[tuple[int, Any]] = []
    asked: list[Control] = []
    asked.append(control(issuer, tmp_path, lambda _: seen.append(called(asked[0], "GET", "/local/queues"))))
    assert called(asked[0], "POST", "/local/tick", {"run": "all"})[0] == 200
    assert seen == [(200, {})]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (StoreUnavailableError(), "the store does not answer"),
        (IndexUnavailableError(), "the search index does not answer"),
        (QueueUnavailableError(), "the queue does not answer"),
        (LostRaceError(), "others were writing the same"),
    ],
)
def test_what_time_mends_is_a_503_that_says_what_is_left(issuer: TokenIssuer, tmp_path: Path, error: Any, said: str) -> None:
    def failing(_more: Mapping[str, object]) -> object:
        raise RunFailedError(error.code)

    status, problem = called(control(issuer, tmp_path, failing), "POST", "/local/tick", {"run": "all"})
    assert (status, problem["code"]) == (503, error.code)
    assert f"consolidation stopped, since {said}. What it did not do is left" in problem["detail"]


def test_any_other_failure_is_a_500_without_its_words(issuer: TokenIssuer, tmp_path: Path) -> None:
    def broken(_more: Mapping[str, object]) -> object:
        raise ValueError("words of a user")

    status, problem = called(control(issuer, tmp_path, broken), "POST", "/local/tick", {"run": "all"})
    assert (status, problem["code"], problem["detail"]) == (500, "schedule_failed", "consolidation failed: ValueError")
