"""Replaying a conversation from a file: log and buffer agree with it, and a second time adds nothing."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from local.tokens import Grant
from tests.system.running import Service, local

pytestmark = pytest.mark.sockets

BUFFER_TURNS = 20


def conversation(user: str) -> list[dict[str, Any]]:
    lines = []
    for number in range(60):
        speaker = number % 2
        lines.append(
            {
                "user_id": f"{user}-{number % 2}",
                "session_id": f"{user}/session {number // 30}",
                "turn_id": f"D{number}",
                "role": "user" if speaker else "assistant",
                "name": ("Zoë", "Ωmega")[speaker],
                "content": f"Turn {number}: what we said on day {number // 10}.\n— «ok» 👍",
                "occurred_at": f"2023-05-{1 + number // 10:02d}T10:{number % 60:02d}:00Z",
            }
        )
    return lines


def written(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return path


def replay(service: Service, path: Path, *, timeout: float = 60) -> "tuple[int, str, str]":
    done = local("replay", str(path), "--data", str(service.data), "--url", service.url, timeout=timeout)
    return done.returncode, done.stdout, done.stderr


def assert_agrees(service: Service, lines: list[dict[str, Any]]) -> None:
    """Log and buffer hold what the file says, in its order."""
    sessions: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for line in lines:
        sessions.setdefault((line["user_id"], line["session_id"]), []).append(line)
    shown = ("turn_id", "role", "name", "content", "occurred_at")
    for (user, session), said in sessions.items():
        client = service.client(user)
        expected = [{name: line.get(name) for name in shown} for line in said]
        logged = [{name: turn[name] for name in shown} for turn in client.all_turns(session, limit=200)]
        assert logged == expected
        live = [{name: turn[name] for name in shown} for turn in client.get_session(session).json["turns"]]
        assert 1 <= len(live) <= BUFFER_TURNS
        assert live == expected[-len(live) :]


def test_a_conversation_is_replayed_and_a_second_time_adds_nothing(service: Service, user: str, tmp_path: Path) -> None:
    lines = conversation(user)
    path = written(tmp_path / "conversation.jsonl", lines)
    code, told, shown = replay(service, path)
    assert (code, told.split(" in ")[0]) == (0, "60 turns")
    assert "60 answered 2xx, 0 of them known already" in told
    assert "60 of 60 turns" in shown
    assert_agrees(service, lines)
    code, told, _ = replay(service, path)
    assert code == 0
    assert "60 answered 2xx, 60 of them known already" in told
    assert_agrees(service, lines)


def test_a_refused_turn_is_listed_and_the_others_are_taken(sqlite_service: Service, user: str, tmp_path: Path) -> None:
    lines = conversation(user)[:6]
    lines[3]["occurred_at"] = "2023-05-01T10:00:00"  # no zone
    code, told, _ = replay(sqlite_service, written(tmp_path / "conversation.jsonl", lines))
    assert code == 1
    (complaint,) = told.splitlines()[1:]
    assert complaint.startswith("line 4: 400 invalid_request: ")
    assert "occurred_at: is not an RFC 3339 time with a zone" in complaint
    assert_agrees(sqlite_service, [line for line in lines if line is not lines[3]])


def test_answers_and_clearances_are_replayed_too(sqlite_service: Service, user: str, tmp_path: Path) -> None:
    usual = {"user_id": user, "session_id": "s"}
    secret = {"level": 2, "compartments": ["trial"]}
    lines: list[dict[str, Any]] = [
        {**usual, "turn_id": "q", "role": "user", "content": "a question", "clearance": 1},
        {**usual, "turn_id": "a", "role": "assistant", "content": "an answer", "in_reply_to": "q", "clearance": secret},
        {**usual, "turn_id": "open", "role": "user", "content": "thanks"},
    ]
    code, told, complaint = replay(sqlite_service, written(tmp_path / "conversation.jsonl", lines))
    assert code == 0, told + complaint
    assert [turn["turn_id"] for turn in sqlite_service.client(user).all_turns("s")] == ["open"]
    cleared = sqlite_service.client(user, Grant(clearance=2, compartments=("trial",))).all_turns("s")
    assert [(turn["turn_id"], turn["in_reply_to"]) for turn in cleared] == [("q", None), ("a", "q"), ("open", None)]


def test_a_bad_file_sends_nothing(sqlite_service: Service, user: str, tmp_path: Path) -> None:
    path = written(tmp_path / "conversation.jsonl", conversation(user)[:2])
    path.write_text(path.read_text() + '{"user_id": "u"}\nnot json\n')
    code, told, complaint = replay(sqlite_service, path)
    assert (code, told) == (1, "")
    assert "line 3: `session_id` is missing" in complaint
    assert "line 4: not JSON" in complaint
    assert sqlite_service.client(f"{user}-0").list_sessions().json["sessions"] == []


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_benchmark_conversations_are_replayed_whole(service: Service) -> None:
    """For data that is not part of the project: KEEPSAKE_BENCH_DATA names the folder."""
    path = Path(os.environ.get("KEEPSAKE_BENCH_DATA", "")) / "locomo_dev.jsonl"
    if not path.is_file():
        pytest.skip("KEEPSAKE_BENCH_DATA names no folder with locomo_dev.jsonl")
    code, told, _ = replay(service, path, timeout=800)
    assert code == 0, told
    assert_agrees(service, [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()])
