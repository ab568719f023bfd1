"""Reading sessions, and changing their scratch pads. Only what the principal's clearance covers is ever shown."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from keepsake.domain.audit import Action, Actor, AuditEvent
from keepsake.domain.clearance import OPEN, Clearance, visible
from keepsake.domain.errors import ClearanceExceededError, SessionExpiredError, SessionNotFoundError
from keepsake.domain.header import SessionHeader
from keepsake.domain.ids import checked_id
from keepsake.domain.principal import Principal
from keepsake.domain.scratch_pad import Artifact, ScratchPad
from keepsake.domain.session import SessionBuffer
from keepsake.domain.turns import Turn, visible_exchanges
from keepsake.ports.surroundings import Clock
from keepsake.ports.tokens import TokenCounter
from keepsake.repositories.sessions import HeaderPage, SessionChange, Sessions, SessionSnapshot, TurnPage
from keepsake.services.retrying import Retrying


@dataclass(frozen=True, slots=True)
class SessionView:
    """What a principal may see of a live session."""

    header: SessionHeader
    expires_at_ms: int
    turns: tuple[Turn, ...]
    topics: tuple[str, ...]
    artifacts: tuple[Artifact, ...]


@dataclass(frozen=True, slots=True)
class SessionReading:
    """Reads sessions and their logs."""

    sessions: Sessions
    clock: Clock

    def read(self, principal: Principal, session_id: str) -> SessionView:
        """The live buffer. Raises SessionNotFoundError, or SessionExpiredError when only its log is left."""
        _, header, buffer = live_session(self.sessions, principal, session_id, self.clock.now_ms())
        return SessionView(
            header=header,
            expires_at_ms=buffer.hidden_after_ms,
            turns=visible_exchanges(principal.clearance, buffer.turns),
            topics=buffer.intents.visible_topics(principal.clearance),
            artifacts=visible(principal.clearance, buffer.scratch_pad.artifacts),
        )

    def read_log(self, principal: Principal, session_id: str, *, after: int | None, limit: int) -> TurnPage:
        """A page of the session's log, through all its incarnations, oldest first. Raises SessionNotFoundError."""
        checked_id(session_id, "session id")
        fence, header = self.sessions.load_header(principal.user_id, session_id)
        if header is None:
            raise SessionNotFoundError("there is no such session")
        page = self.sessions.read_log(
            principal.user_id, session_id, after=after, limit=limit, now_ms=self.clock.now_ms(), fence=fence
        )
        return TurnPage(visible(principal.clearance, page.turns), page.next)

    def list_sessions(self, principal: Principal, *, after: str | None, limit: int) -> HeaderPage:
        """A page of the principal's sessions, by their ids."""
        return self.sessions.list_headers(principal.user_id, after=after, limit=limit)


@dataclass(frozen=True, slots=True)
class PutArtifact:
    """An artifact to put under a name, seen by whom `clearance` says; `expected_version` 0 means that the name must be new."""

    session_id: str
    name: str
    kind: str
    content: str
    expected_version: int | None = None
    clearance: Clearance = OPEN


@dataclass(frozen=True, slots=True)
class ScratchPads:
    """Reads and changes the artifacts of live sessions."""

    sessions: Sessions
    tokens: TokenCounter
    clock: Clock
    retrying: Retrying
    idle_ms: int

    def read(self, principal: Principal, session_id: str, name: str) -> Artifact:
        """One artifact. Raises SessionNotFoundError, SessionExpiredError or ArtifactNotFoundError."""
        _, _, buffer = live_session(self.sessions, principal, session_id, self.clock.now_ms())
        return buffer.scratch_pad.get(checked_id(name, "artifact name"), principal.clearance)

    def put(self, principal: Principal, command: PutArtifact) -> Artifact:
        """Put an artifact; the same again makes no new version.

        Raises ClearanceExceededError, SessionNotFoundError, SessionExpiredError, StaleVersionError, ArtifactTooLargeError,
        ScratchPadFullError and LostRaceError.
        """
        checked_id(command.name, "artifact name")
        if not principal.clearance.covers(command.clearance):
            raise ClearanceExceededError("an artifact cannot be put above the caller's own clearance")
        tokens = self.tokens.count(command.content)
        put = Artifact(command.name, command.kind, command.content, 0, self.clock.now_ms(), tokens, command.clearance)

        def change(pad: ScratchPad) -> ScratchPad:
            if pad.find(command.name):
                pad.get(command.name, principal.clearance)
            return pad.put(put, expected_version=command.expected_version)

        pad = self._changed(principal, command.session_id, Action.ARTIFACT_PUT, change)
        return pad.get(command.name, principal.clearance)

    def delete(self, principal: Principal, session_id: str, name: str) -> None:
        """Remove an artifact. Raises SessionNotFoundError, SessionExpiredError, ArtifactNotFoundError or LostRaceError."""
        self.read(principal, session_id, name)
        # From here on "not there" is what was wanted: an earlier attempt may have taken effect without an answer.
        self._changed(principal, session_id, Action.ARTIFACT_DELETED, lambda pad: pad.without(name))

    def _changed(
        self, principal: Principal, session_id: str, action: Action, change: Callable[[ScratchPad], ScratchPad]
    ) -> ScratchPad:
        return self.retrying.call(lambda: self._attempt(principal, session_id, action, change))

    def _attempt(
        self, principal: Principal, session_id: str, action: Action, change: Callable[[ScratchPad], ScratchPad]
    ) -> ScratchPad:
        now_ms = self.clock.now_ms()
        snapshot, header, buffer = live_session(self.sessions, principal, session_id, now_ms)
        pad = change(buffer.scratch_pad)
        expiry = now_ms + self.idle_ms
        event = AuditEvent(action, Actor.SELF, now_ms, {"artifact": 1}, {})
        self.sessions.commit(
            principal.user_id,
            session_id,
            snapshot,
            SessionChange(
                at_ms=now_ms,
                header=replace(header, hidden_after_ms=max(expiry, header.hidden_after_ms)),
                events=(event,),
                buffer=replace(buffer.touched(expiry), scratch_pad=pad),
            ),
        )
        return pad


def live_session(
    sessions: Sessions, principal: Principal, session_id: str, now_ms: int
) -> tuple[SessionSnapshot, SessionHeader, SessionBuffer]:
    """The session while it lives. Raises SessionNotFoundError or SessionExpiredError."""
    checked_id(session_id, "session id")
    snapshot = sessions.load(principal.user_id, session_id, now_ms=now_ms)
    header, buffer = snapshot.header.value, snapshot.buffer.value
    if header is None:
        raise SessionNotFoundError("there is no such session")
    if buffer is None or not buffer.is_live(now_ms):
        raise SessionExpiredError("the session was idle for too long; its turns can be read for seven days")
    return snapshot, header, buffer
