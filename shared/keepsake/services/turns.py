"""Taking a turn: one read, pure steps, one transaction. Everything said is written once, or clearly refused."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from keepsake.domain.audit import Action, Actor, AuditEvent
from keepsake.domain.clearance import OPEN, Clearance
from keepsake.domain.context import ContextWindow
from keepsake.domain.digest import Digest
from keepsake.domain.errors import ClearanceExceededError, InvalidRequestError, TurnIdReusedError
from keepsake.domain.hashing import KeyedHash
from keepsake.domain.header import SessionHeader
from keepsake.domain.ids import checked_id
from keepsake.domain.pending import PendingSessions
from keepsake.domain.principal import Principal
from keepsake.domain.session import SessionBuffer
from keepsake.domain.summary import Summarizer
from keepsake.domain.topics import TopicLexicon
from keepsake.domain.turns import Role, Turn, check_turn_size, rendered
from keepsake.ports.recall import REPEATED, Asked, Recalled, RecallWish
from keepsake.ports.surroundings import Clock, IdFactory
from keepsake.ports.tokens import TokenCounter
from keepsake.repositories.keys import session_chain
from keepsake.repositories.session_records import TurnMarker
from keepsake.repositories.sessions import SessionChange, Sessions, SessionSnapshot, turn_marker
from keepsake.services.context_windows import ContextWindows, Remembered, WindowWish
from keepsake.services.retrying import Retrying

if TYPE_CHECKING:  # what decides about recall takes a while to load, and only turns need it
    from keepsake.services.turn_recall import TurnRecall


# How far ahead of ours a caller's clock may be.
MAX_AHEAD_MS = 5 * 60 * 1000


@dataclass(frozen=True, slots=True)
class TakeTurn:
    """One message of a session, and what is wanted with it."""

    session_id: str
    role: Role
    text: str
    window: WindowWish
    turn_id: str | None = None
    name: str | None = None
    in_reply_to: str | None = None
    occurred_at_ms: int | None = None
    clearance: Clearance = OPEN
    recall: RecallWish = RecallWish.AUTO


@dataclass(frozen=True, slots=True)
class TurnOutcome:
    """What became of a turn, and the context for what follows. `place_ms` is its place in the log."""

    session_id: str
    is_new: bool
    previous_expired: bool
    turn_count: int
    expires_at_ms: int
    turn_id: str
    place_ms: int
    replayed: bool
    window: ContextWindow
    recalled: Recalled
    topics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Write:
    """What stays the same through all attempts to write one turn. `id` tells our own write from a rival's."""

    id: str
    turn_id: str
    content: str
    tokens: int


@dataclass(frozen=True, slots=True)
class _Opening:
    """The session that a turn goes into: the one that lives, or a new incarnation."""

    buffer: SessionBuffer
    header: SessionHeader
    is_new: bool
    previous_expired: bool
    user_events: tuple[AuditEvent, ...]


@dataclass(frozen=True, slots=True)
class _Scene:
    """The session as it was read, as the turn finds it, and as the turn leaves it."""

    snapshot: SessionSnapshot
    opening: _Opening
    buffer: SessionBuffer


@dataclass(frozen=True, slots=True)
class Turns:
    """Takes turns."""

    sessions: Sessions
    windows: ContextWindows
    recalling: TurnRecall
    lexicon: TopicLexicon
    tokens: TokenCounter
    summarizer: Summarizer
    keyed: KeyedHash
    clock: Clock
    ids: IdFactory
    retrying: Retrying
    idle_ms: int

    def take(self, principal: Principal, command: TakeTurn) -> TurnOutcome:
        """Write the turn down and answer with its context.

        Raises InvalidIdError, InvalidRequestError, TurnTooLargeError, ClearanceExceededError, UnknownModelProfileError,
        SafetyMinimumTooLargeError and TurnIdReusedError, all before anything is written; LostRaceError and
        StoreUnavailableError after bounded retries; SubjectErasedError when the user was erased meanwhile.
        """
        self._check(principal, command)
        write = _Write(
            id=self.ids.new(),
            turn_id=command.turn_id or self.ids.new(),
            content=self._content_hash(command),
            tokens=self.tokens.count(rendered(command.role, command.name, command.text)),
        )
        return self.retrying.call(lambda: self._attempt(principal, command, write))

    def _check(self, principal: Principal, command: TakeTurn) -> None:
        checked_id(command.session_id, "session id")
        for chosen, what in ((command.turn_id, "turn id"), (command.in_reply_to, "turn id of in_reply_to")):
            if chosen is not None:
                checked_id(chosen, what)
        check_turn_size(command.text)
        if not principal.clearance.covers(command.clearance):
            raise ClearanceExceededError("a turn cannot be written above the caller's own clearance")
        ahead = (command.occurred_at_ms or 0) - self.clock.now_ms()
        if ahead > MAX_AHEAD_MS:
            raise InvalidRequestError("a turn cannot come from the future", fields=(("occurred_at", "in the future"),))

    def _content_hash(self, command: TakeTurn) -> str:
        return self.keyed.of(
            "turn-content",
            command.role,
            command.name or "",
            command.text,
            command.in_reply_to or "",
            "" if command.occurred_at_ms is None else str(command.occurred_at_ms),
            str(command.clearance.level),
            *sorted(command.clearance.compartments),
        )

    def _attempt(self, principal: Principal, command: TakeTurn, write: _Write) -> TurnOutcome:
        now_ms = self.clock.now_ms()
        snapshot = self.sessions.load(principal.user_id, command.session_id, turn_id=write.turn_id, now_ms=now_ms)
        if snapshot.marker.value:
            return self._repeated(principal, command, write, snapshot, snapshot.marker.value)
        opening = self._opening(command.session_id, snapshot, now_ms)
        turn = _turn(command, write, opening.header.next_place(now_ms), now_ms)
        buffer = self._appended(opening.buffer, turn)
        recalled = self.recalling.recalled(principal, _asked(command, turn), snapshot, opening.buffer)
        outcome = TurnOutcome(
            session_id=command.session_id,
            is_new=opening.is_new,
            previous_expired=opening.previous_expired,
            turn_count=buffer.turn_count,
            expires_at_ms=buffer.hidden_after_ms,
            turn_id=turn.turn_id,
            place_ms=turn.timestamp_ms,
            replayed=False,
            window=self._window(principal, command, write, _Scene(snapshot, opening, buffer), recalled),
            recalled=recalled,
            topics=buffer.intents.visible_topics(principal.clearance),
        )
        change = self._change(opening, buffer, turn, write, now_ms)
        if opening.header.pending_since_ms is None:
            pending = snapshot.pending.value or PendingSessions()
            change = replace(change, pending=pending.with_session(command.session_id, turn.timestamp_ms))
        self.sessions.commit(principal.user_id, command.session_id, snapshot, change)
        return outcome

    def _opening(self, session_id: str, snapshot: SessionSnapshot, now_ms: int) -> _Opening:
        """The live session; or, where it is absent or expired, its next incarnation, announced in the user's own chain."""
        buffer, header = snapshot.buffer.value, snapshot.header.value
        expiry = now_ms + self.idle_ms
        if buffer and header and buffer.is_live(now_ms):
            return _Opening(buffer.touched(expiry), header, is_new=False, previous_expired=False, user_events=())
        incarnation = self.ids.new()
        opened = SessionBuffer(incarnation, started_at_ms=now_ms, hidden_after_ms=expiry)
        events = [_opened(incarnation, now_ms)]
        if header:
            events.insert(0, _closed(header, now_ms))
            header = header.reopened(incarnation, now_ms, expiry)
        else:
            header = SessionHeader(session_id, incarnation, now_ms, now_ms, expiry)
        return _Opening(
            opened, header, is_new=True, previous_expired=snapshot.header.value is not None, user_events=tuple(events)
        )

    def _appended(self, buffer: SessionBuffer, turn: Turn) -> SessionBuffer:
        number = buffer.turn_count + 1
        if turn.role is Role.USER:
            intents = buffer.intents.advance(turn.text, number, self.lexicon, turn.clearance)
        else:
            intents = buffer.intents.expired(number)
        return buffer.appended(turn, intents, self.summarizer)

    def _change(self, opening: _Opening, buffer: SessionBuffer, turn: Turn, write: _Write, now_ms: int) -> SessionChange:
        event = AuditEvent(
            Action.TURN_WRITTEN, Actor.SELF, now_ms, {"turn": 1}, {"turn": self.keyed.of("audit-turn", turn.turn_id)}
        )
        return SessionChange(
            at_ms=now_ms,
            header=opening.header.with_turn(turn.timestamp_ms, buffer.turn_count, buffer.hidden_after_ms),
            events=(event,),
            buffer=buffer,
            turn=turn,
            turn_marker=turn_marker(turn, content=write.content, write_id=write.id, now_ms=now_ms, opened=opening.is_new),
            user_events=opening.user_events,
        )

    def _window(self, principal: Principal, command: TakeTurn, write: _Write, scene: _Scene, recalled: Recalled) -> ContextWindow:
        """The context of the turns before this one, under the topics that this one leaves active."""
        return self.windows.assemble(
            principal,
            command.window,
            buffer=replace(scene.opening.buffer, intents=scene.buffer.intents),
            profile=scene.snapshot.profile.value,
            remembered=Remembered(scene.snapshot.digest.value or Digest(), recalled.hits),
            message_tokens=write.tokens,
            welcome=scene.opening.is_new,
        )

    def _repeated(
        self, principal: Principal, command: TakeTurn, write: _Write, snapshot: SessionSnapshot, marker: TurnMarker
    ) -> TurnOutcome:
        """The answer to a turn id that was seen before: the first answer's ids, and nothing written."""
        if marker.content != write.content:
            raise TurnIdReusedError("the turn id was used before in this session, for other content")
        now_ms = self.clock.now_ms()
        live = snapshot.buffer.value if snapshot.buffer.value and snapshot.buffer.value.is_live(now_ms) else None
        buffer = live or SessionBuffer("", started_at_ms=now_ms, hidden_after_ms=now_ms)
        header = snapshot.header.value
        before = replace(
            buffer,
            turns=tuple(turn for turn in buffer.turns if turn.timestamp_ms < marker.place_ms),
            summary=buffer.summary.before(marker.place_ms),
        )
        ours = marker.write_id == write.id
        opened = ours and marker.opened
        return TurnOutcome(
            session_id=command.session_id,
            is_new=opened,
            previous_expired=opened and header is not None and header.created_at_ms < header.started_at_ms,
            turn_count=buffer.turn_count if live else (header.turn_count if header else 0),
            expires_at_ms=buffer.hidden_after_ms if live or not header else header.hidden_after_ms,
            turn_id=write.turn_id,
            place_ms=marker.place_ms,
            replayed=not ours,
            window=self.windows.assemble(
                principal,
                command.window,
                buffer=before,
                profile=snapshot.profile.value,
                remembered=Remembered(snapshot.digest.value or Digest()),
                message_tokens=write.tokens,
                welcome=opened,
            ),
            recalled=Recalled(ran=False, reason=REPEATED),
            topics=buffer.intents.visible_topics(principal.clearance),
        )


def _asked(command: TakeTurn, turn: Turn) -> Asked:
    return Asked(command.session_id, command.role, command.text, command.recall, turn.occurred_at_ms)


def _turn(command: TakeTurn, write: _Write, place_ms: int, now_ms: int) -> Turn:
    return Turn(
        turn_id=write.turn_id,
        role=command.role,
        text=command.text,
        timestamp_ms=place_ms,
        occurred_at_ms=now_ms if command.occurred_at_ms is None else command.occurred_at_ms,
        tokens=write.tokens,
        name=command.name,
        in_reply_to=command.in_reply_to,
        clearance=command.clearance,
    )


def _opened(incarnation: str, now_ms: int) -> AuditEvent:
    return AuditEvent(Action.SESSION_OPENED, Actor.SELF, now_ms, {"session": 1}, {"chain": session_chain(incarnation)})


def _closed(header: SessionHeader, now_ms: int) -> AuditEvent:
    """The end of an incarnation's chain, so that its last entries cannot be dropped unnoticed."""
    refs = {"chain": session_chain(header.incarnation), "hash": header.chain.hash}
    return AuditEvent(Action.SESSION_CLOSED, Actor.SELF, now_ms, {"entry": header.chain.sequence}, refs)
