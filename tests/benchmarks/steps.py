"""What a turn consists of: each step alone, on the state and the values of a conversation whose buffer is full."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from keepsake.adapters.learning_files import load_recall_gate
from keepsake.api.requests import TurnBody, parsed
from keepsake.api.responses import turn_taken
from keepsake.domain.audit import Action, Actor, AuditEvent
from keepsake.domain.principal import Principal
from keepsake.domain.recall_intent import KnownNames
from keepsake.domain.session import SessionBuffer
from keepsake.domain.turns import Role, Turn, rendered
from keepsake.ports.item_store import Write
from keepsake.repositories.session_records import buffer_attributes
from keepsake.repositories.sessions import SessionChange, Sessions, SessionSnapshot, turn_marker
from keepsake.services.context_windows import Remembered, WindowWish
from keepsake.services.turns import TakeTurn
from tests.benchmarks.in_process import SESSION, TOKENS, USER, ByHandler, TimedStore
from tests.benchmarks.measuring import Sample, in_turn, table
from tests.fakes import DictItemStore


class _Sink(DictItemStore):
    """Takes every transaction and keeps none."""

    def transact(self, writes: Sequence[Write]) -> None:
        """As if it had."""


@dataclass(frozen=True, slots=True)
class _Moment:
    """One turn, stopped before it is written."""

    body: bytes
    text: str
    turn: Turn
    snapshot: SessionSnapshot
    buffer: SessionBuffer
    change: SessionChange


def steps_of(taker: ByHandler, text: str) -> dict[str, Callable[[], object]]:
    """The steps by their names, each to be called as often as one likes: none writes anything."""
    runtime, moment = taker.runtime, _moment(taker, text)
    sink = Sessions(_Sink(), runtime.keyed)
    gate, earlier = load_recall_gate(), [turn.text for turn in moment.buffer.turns[-5:-1]]
    outcome = runtime.turns.take(Principal(USER), TakeTurn(SESSION, Role.USER, text, WindowWish()))
    return {
        "read the request": lambda: parsed(TurnBody, moment.body).command(SESSION),
        "count the turn's tokens": lambda: TOKENS.count(rendered(Role.USER, None, text)),
        "read the store, unpack": lambda: runtime.sessions.load(
            USER, SESSION, turn_id=moment.turn.turn_id, now_ms=runtime.clock.now_ms()
        ),
        "follow the topics": lambda: moment.snapshot.buffer.value.intents.advance(  # type: ignore[union-attr]
            text, moment.buffer.turn_count, runtime.turns.lexicon
        ),
        "decide whether to recall": lambda: gate.intent(text, earlier, KnownNames()),
        "append to the buffer": lambda: moment.snapshot.buffer.value.appended(  # type: ignore[union-attr]
            moment.turn, moment.buffer.intents, runtime.summarizer
        ),
        "assemble the context": lambda: runtime.windows.assemble(
            Principal(USER),
            WindowWish(),
            buffer=moment.buffer,
            profile=moment.snapshot.profile.value,
            remembered=Remembered(),
            message_tokens=moment.turn.tokens,
            welcome=False,
        ),
        "make the writes": lambda: sink.commit(USER, SESSION, moment.snapshot, moment.change),
        "- of which pack the buffer": lambda: buffer_attributes(moment.buffer),
        "write the answer": lambda: json.dumps(turn_taken(outcome), ensure_ascii=False, separators=(",", ":")),
        "log line and metrics": lambda: _observed(taker.event),
    }


def _observed(event: Mapping[str, Any]) -> None:
    from keepsake.api.observability import observed  # noqa: PLC0415 - logs to where it is first imported

    with observed(event) as call:
        call.answered(200)


def _moment(taker: ByHandler, text: str) -> _Moment:
    runtime = taker.runtime
    now_ms = runtime.clock.now_ms()
    snapshot = runtime.sessions.load(USER, SESSION, turn_id="turn", now_ms=now_ms)
    buffer, header = snapshot.buffer.value, snapshot.header.value
    assert buffer is not None
    assert header is not None
    place, tokens = header.next_place(now_ms), TOKENS.count(rendered(Role.USER, None, text))
    turn = Turn(runtime.ids.new(), Role.USER, text, place, now_ms, tokens)
    after = buffer.touched(now_ms + runtime.settings.idle_ms).appended(turn, buffer.intents, runtime.summarizer)
    refs = {"turn": runtime.keyed.of("audit-turn", turn.turn_id)}
    change = SessionChange(
        at_ms=now_ms,
        header=header.with_turn(place, after.turn_count, after.hidden_after_ms),
        events=(AuditEvent(Action.TURN_WRITTEN, Actor.SELF, now_ms, {"turn": 1}, refs),),
        buffer=after,
        turn=turn,
        turn_marker=turn_marker(
            turn, content=runtime.keyed.of("turn-content", text), write_id=runtime.ids.new(), now_ms=now_ms, opened=False
        ),
    )
    body = json.dumps({"role": "user", "content": text}).encode()
    return _Moment(body, text, turn, replace(snapshot), after, change)


def report(taker: ByHandler, store: TimedStore, text: str, rounds: int) -> str:
    """The steps of a turn; the transaction as it was timed within whole turns."""
    transaction = store.transaction
    samples: dict[str, Sample] = {}
    in_turn(samples, steps_of(taker, text), rounds)
    rows = [[name, len(sample), f"{median(sample.cpu):.3f}", f"{median(sample.wall):.3f}"] for name, sample in samples.items()]
    rows.insert(-2, ["transaction", len(transaction), f"{median(transaction.cpu):.3f}", f"{median(transaction.wall):.3f}"])
    return table("Steps of a turn on SQLite, full buffer (medians, ms)", ["step", "count", "CPU", "wall"], rows)
