"""Conversations with questions about them, read from JSON Lines outside of the project.

FOLDER/*_questions.jsonl beside FOLDER/*.jsonl of the same beginning: a question a line (`user_id`, `question_id`, `category`,
`question`, `evidence`: turn ids), and a turn a line, as `python -m local replay` reads them.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path

from keepsake.adapters.tokens import load_tokens
from keepsake.domain.turns import Role, Turn, rendered

VARIABLE = "KEEPSAKE_BENCH_DATA"
_ASKED = "_questions.jsonl"
_UNANSWERABLE = "adversarial"  # asks for what was never said: there is nothing to find


class NoDataError(Exception):
    """The data is not there. The message says where it was looked for."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question of one user, and the turns that answer it."""

    question_id: str
    user_id: str
    category: str
    text: str
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class DataSet:
    """Users' sessions, by user and session id in their order, and the questions that can be answered from them."""

    name: str
    turns_file: Path
    sessions: Mapping[str, Mapping[str, Sequence[Turn]]]
    questions: Sequence[Question]

    @property
    def users(self) -> tuple[str, ...]:
        """The users: one a conversation."""
        return tuple(self.sessions)

    def turns(self) -> Iterator[Turn]:
        """All turns."""
        for sessions in self.sessions.values():
            for turns in sessions.values():
                yield from turns


def load_data(given: Path | None) -> DataSet:
    """The data set of that folder or turns file, else of the one that KEEPSAKE_BENCH_DATA names. Raises NoDataError."""
    path = given or (Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None)
    if path is None:
        raise NoDataError(f"there is no data: name its folder on the command line or by {VARIABLE}")
    asked = sorted(path.glob(f"*{_ASKED}")) if path.is_dir() else [path.with_name(path.name.removesuffix(".jsonl") + _ASKED)]
    if len(asked) != 1 or not asked[0].is_file():
        raise NoDataError(
            f"{path}: one file *{_ASKED} and its turns are looked for, or the name of a turns file beside its questions"
        )
    turns_file = asked[0].with_name(asked[0].name.removesuffix(_ASKED) + ".jsonl")
    if not turns_file.is_file():
        raise NoDataError(f"{turns_file} is missing")
    return DataSet(turns_file.stem, turns_file, _sessions(turns_file), _questions(asked[0]))


def _sessions(path: Path) -> dict[str, dict[str, list[Turn]]]:
    count = load_tokens().count
    users: dict[str, dict[str, list[Turn]]] = {}
    for number, row in enumerate(_rows(path)):
        role, name = Role(row["role"]), row.get("name")
        at_ms = int(datetime.fromisoformat(row["occurred_at"]).timestamp() * 1000)
        tokens = count(rendered(role, name, row["content"]))
        turn = Turn(row["turn_id"], role, row["content"], number, at_ms, tokens, name)
        users.setdefault(row["user_id"], {}).setdefault(row["session_id"], []).append(turn)
    return users


def _questions(path: Path) -> list[Question]:
    return [
        Question(row["question_id"], row["user_id"], row["category"], row["question"], frozenset(row["evidence"]))
        for row in _rows(path)
        if row["category"] != _UNANSWERABLE and row["evidence"]
    ]


def _rows(path: Path) -> Iterator[dict]:  # type: ignore[type-arg]
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def by_user(questions: Sequence[Question]) -> dict[str, list[Question]]:
    """The questions of each user."""
    ordered = sorted(questions, key=lambda question: question.user_id)
    return {user: list(group) for user, group in groupby(ordered, key=lambda question: question.user_id)}
