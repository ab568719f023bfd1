"""Pages of a session's log, as consolidation reads them: the turns after the watermark, and those just before it."""

from dataclasses import dataclass

from keepsake.domain.turns import Turn
from keepsake.ports.surroundings import Clock
from keepsake.repositories.sessions import Sessions
from keepsake.services.drafts import REACH

PAGE_TURNS = 32


@dataclass(frozen=True, slots=True)
class Page:
    """Turns to deal with at once. `before` are the last ones that were dealt with; `end_ms` is the watermark afterwards."""

    session_id: str
    turns: tuple[Turn, ...]
    before: tuple[Turn, ...]
    end_ms: int
    more: bool

    @property
    def last(self) -> Turn:
        """Its last turn. There is none on a page whose turns have all left the log."""
        return self.turns[-1]


@dataclass(frozen=True, slots=True)
class Pages:
    """Reads pages."""

    sessions: Sessions
    clock: Clock

    def next(self, user_id: str, session_id: str) -> Page | None:
        """The session's next page, None when nothing is pending."""
        now_ms = self.clock.now_ms()
        fence, header = self.sessions.load_header(user_id, session_id)
        if header is None or header.pending_since_ms is None:
            return None
        log = self.sessions.read_log(user_id, session_id, after=header.watermark_ms, limit=PAGE_TURNS, now_ms=now_ms, fence=fence)
        before: tuple[Turn, ...] = ()
        if log.turns and header.watermark_ms:
            until_ms = header.watermark_ms
            before = self.sessions.read_tail(user_id, session_id, until=until_ms, limit=2 * REACH, now_ms=now_ms, fence=fence)
        # Without a further page everything up to the last turn is dealt with, also what has left the log by its age.
        last_ms = max(header.last_turn_ms, log.turns[-1].timestamp_ms if log.turns else 0)
        return Page(session_id, log.turns, before, log.next if log.next is not None else last_ms, log.next is not None)
