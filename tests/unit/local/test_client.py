"""Ids in paths, and lines of a conversation file."""

import json
from pathlib import Path

import pytest

from local.client import path_id
from local.folder import LocalError
from local.replay import Refused, Summary, read_lines

LINE = {"user_id": "u", "session_id": "s", "turn_id": "t", "role": "user", "content": "hi"}


@pytest.mark.parametrize(
    ("given", "travels"),
    [
        ("session-1", "session-1"),
        ("a.b_c", "a.b_c"),
        ("a/b", "~YS9i"),
        ("~x", "~fng"),
        ("研究", "~56CU56m2"),
        ("a b", "~YSBi"),
        (".", "~Lg"),
        ("..", "~Li4"),
        ("\u0664", "~2aQ"),
    ],
)
def test_an_id_travels_plain_or_as_base64url(given: str, travels: str) -> None:
    assert path_id(given) == travels


def written(tmp_path: Path, *lines: object) -> Path:
    path = tmp_path / "conversation.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
    return path


def test_lines_are_read_and_blank_ones_passed_over(tmp_path: Path) -> None:
    named = {**LINE, "name": "Ann", "occurred_at": "2023-05-08T13:56:00Z"}
    plain, full = read_lines(written(tmp_path, LINE, "", named, ""))
    assert (plain.number, plain.user_id, plain.session_id) == (1, "u", "s")
    assert plain.turn == {"turn_id": "t", "role": "user", "content": "hi"}
    assert full.number == 3
    assert full.turn == {"turn_id": "t", "role": "user", "content": "hi", "name": "Ann", "occurred_at": "2023-05-08T13:56:00Z"}


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "not a JSON object"),
        ({**LINE, "user_id": " "}, "`user_id`"),
        ({**LINE, "turn_id": 7}, "`turn_id`"),
        ({**LINE, "role": "system"}, "`role`"),
        ({**LINE, "content": None}, "`content`"),
        ({**LINE, "name": 3}, "`name`"),
        ({**LINE, "colour": "blue"}, "1 unknown field"),
    ],
)
def test_a_bad_line_is_named_by_its_number_and_not_by_its_words(tmp_path: Path, line: object, complaint: str) -> None:
    with pytest.raises(LocalError, match=r"line 2: .*" + complaint) as refused:
        read_lines(written(tmp_path, LINE, line))
    assert "blue" not in str(refused.value)


def test_an_empty_or_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LocalError, match="holds no turn"):
        read_lines(written(tmp_path, "", " "))
    with pytest.raises(LocalError, match="cannot be read"):
        read_lines(tmp_path / "missing.jsonl")
    with pytest.raises(LocalError, match="cannot be read"):
        read_lines(tmp_path)


def test_a_summary_names_the_first_refused_lines() -> None:
    refused = tuple(Refused(line, 400, "invalid_request") for line in range(1, 26))
    told = str(Summary(turns=30, users=1, sessions=2, seconds=2.0, repeated=3, refused=refused)).splitlines()
    assert told[0] == "30 turns in 2 sessions of 1 user in 2.0 s (15 a second): 5 answered 2xx, 3 of them known already"
    assert told[1] == "line 1: 400 invalid_request"
    assert told[-1] == "and 5 more"
