"""Ids in paths, and lines of a conversation file."""

import json
from pathlib import Path

import pytest

from local.client import Reply, path_id, service_url
from local.folder import LocalError
from local.replay import Refused, Summary, read_lines
from local.tokens import Grant

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
        ({**LINE, "colour": "blue"}, 'unknown field "colour"; known are'),
        ({**LINE, "\x1b[31mred": "blue", "a": 1}, r'unknown fields "\\u001b\[31mred", "a"'),
        ({**LINE, "in_reply_to": 3}, "`in_reply_to`"),
        ({**LINE, "clearance": "high"}, "`clearance`"),
        ({**LINE, "clearance": True}, "`clearance`"),
        ({**LINE, "clearance": {"level": 1, "compartments": [7]}}, "`clearance`"),
        ({**LINE, "clearance": {"levle": 1}}, "`clearance`"),
        ({**LINE, "clearance": -1}, "a clearance is"),
        ({**LINE, "user_id": "u" * 300}, "the user id"),
    ],
)
def test_a_bad_line_is_named_by_its_number_and_not_by_its_words(tmp_path: Path, line: object, complaint: str) -> None:
    with pytest.raises(LocalError, match=r"line 2: .*" + complaint) as refused:
        read_lines(written(tmp_path, LINE, line))
    assert "blue" not in str(refused.value)


@pytest.mark.parametrize(
    ("clearance", "grant"),
    [
        (None, Grant()),
        (2, Grant(clearance=2)),
        ({"level": 1, "compartments": ["trial"]}, Grant(clearance=1, compartments=("trial",))),
        ({"compartments": None}, Grant()),
    ],
)
def test_a_line_says_what_it_answers_and_what_its_user_must_be_cleared_for(
    tmp_path: Path, clearance: object, grant: Grant
) -> None:
    (line,) = read_lines(written(tmp_path, {**LINE, "in_reply_to": "t0", "clearance": clearance}))
    assert (line.turn["in_reply_to"], line.turn.get("clearance"), line.grant) == ("t0", clearance, grant)


@pytest.mark.parametrize(
    "given",
    ["http://127.0.0.1:3000", " http://127.0.0.1:3000/ ", "http://127.0.0.1:3000/v1", "http://127.0.0.1:3000/v1/"],
)
def test_an_address_may_end_in_a_slash_or_in_the_version(given: str) -> None:
    assert service_url(given) == "http://127.0.0.1:3000"


@pytest.mark.parametrize(
    "given",
    ["", " ", "nonsense", "127.0.0.1:3000", "ftp://a", "http://", "http://a:x", "http://a:99999", "http://a b", "http://a?b"],
)
def test_what_is_no_address_is_refused(given: str) -> None:
    with pytest.raises(LocalError, match="--url"):
        service_url(given)


def test_a_refusal_s_reason_holds_the_detail_and_the_fields() -> None:
    problem = {
        "detail": "does not fit",
        "fields": [{"field": "role", "problem": "is missing"}, {"field": "x", "problem": "is new"}],
    }
    assert Reply(400, {}, json.dumps(problem).encode()).reason == "does not fit; role: is missing; x: is new"
    assert Reply(400, {}, b'{"detail": "does not fit"}').reason == "does not fit"
    assert Reply(502, {}, b"<html>").reason == ""


def test_an_empty_or_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LocalError, match="holds no turn"):
        read_lines(written(tmp_path, "", " "))
    with pytest.raises(LocalError, match="cannot be read"):
        read_lines(tmp_path / "missing.jsonl")
    with pytest.raises(LocalError, match="cannot be read"):
        read_lines(tmp_path)


def test_a_summary_names_the_first_refused_lines() -> None:
    refused = (Refused(1, 400, "invalid_request", "no zone"), *(Refused(line, 400, "invalid_request") for line in range(2, 26)))
    told = str(Summary(turns=30, users=1, sessions=2, seconds=2.0, repeated=3, refused=refused)).splitlines()
    assert told[0] == "30 turns in 2 sessions of 1 user in 2.0 s (15 a second): 5 answered 2xx, 3 of them known already"
    assert told[1:3] == ["line 1: 400 invalid_request: no zone", "line 2: 400 invalid_request"]
    assert told[-1] == "and 5 more"


def test_a_summary_of_one_counts_in_the_singular() -> None:
    told = str(Summary(turns=1, users=1, sessions=1, seconds=1.0, repeated=0, refused=()))
    assert told.startswith("1 turn in 1 session of 1 user in ")
