"""Following a user's audit chains: is every entry there, unchanged, in its place, up to the heads that other tables keep?"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from keepsake.domain.audit import Action, AuditEntry, Broken, ChainHead, Fault, ended, follow
from keepsake.domain.errors import CorruptItemError
from keepsake.domain.hashing import KeyedHash
from keepsake.ports.surroundings import Clock
from keepsake.repositories.audit import AuditChains
from keepsake.repositories.keys import Keys, session_chain
from keepsake.repositories.sessions import Sessions

_HEADERS = 200


@dataclass(frozen=True, slots=True)
class Verification:
    """The finding: chains and entries followed, the first broken entry, and where to go on when time ran out (else None)."""

    chains: int
    entries: int
    broken: Broken | None
    next: int | None


@dataclass(frozen=True, slots=True)
class _Ledger:
    """What the user's own chain tells of session chains: opened ones in order, and the heads of the closed ones."""

    opened: tuple[str, ...]
    closed: dict[str, ChainHead]


@dataclass(frozen=True, slots=True)
class AuditVerification:
    """Verifies the chains of one user at a time."""

    chains: AuditChains
    sessions: Sessions
    keyed: KeyedHash
    clock: Clock

    def verify(self, user_id: str, *, until_ms: int, skip: int = 0) -> Verification:
        """Follow the user's own chain and then those of all sessions, except the first `skip` of them, until time runs out."""
        keys = Keys(user_id, self.keyed)
        entries: list[AuditEntry] = []
        head, broken = self._checked(keys.user_chain(), lambda: self.sessions.user_chain_head(user_id), entries.append)
        if broken:
            return Verification(1, head.sequence, broken, None)
        ledger = _ledger(entries)
        current = dict(self._current_heads(user_id))
        chains, total = 1, head.sequence
        for number, chain in enumerate(islice(ledger.opened, skip, None), start=skip):
            if self.clock.now_ms() >= until_ms:
                return Verification(chains, total, None, number)
            reached, broken = self._verify_session(user_id, chain, ledger, current)
            chains, total = chains + 1, total + reached.sequence
            if broken:
                return Verification(chains, total, broken, None)
        return Verification(chains, total, None, None)

    def _verify_session(
        self, user_id: str, chain: str, ledger: _Ledger, current: dict[str, str]
    ) -> tuple[ChainHead, Broken | None]:
        def head() -> ChainHead | None:
            if chain in ledger.closed:
                return ledger.closed[chain]
            session_id = current.get(chain)
            return self.sessions.session_chain_head(user_id, session_id, chain) if session_id is not None else None

        return self._checked(chain, head, lambda _: None)

    def _checked(
        self, chain: str, read_head: Callable[[], ChainHead | None], seen: Callable[[AuditEntry], object]
    ) -> tuple[ChainHead, Broken | None]:
        """Follow a chain that may grow meanwhile: beyond the head that was read first only when the head has moved, too.

        A session that is opened anew while we read has no head to compare with; its chain still has to hold together.
        """
        expected, reached = read_head(), ChainHead()
        try:
            for entry in self.chains.entries(chain):
                found = follow(chain, reached, [entry], self.keyed)
                if found.broken:
                    return reached, found.broken
                reached = found.head
                seen(entry)
                if expected and reached.sequence > expected.sequence:
                    expected = read_head()
                    if expected and reached.sequence > expected.sequence:
                        return reached, Broken(chain, reached.sequence, Fault.INSERTED)
        except CorruptItemError:
            return reached, Broken(chain, reached.sequence + 1, Fault.CHANGED)
        if expected is None:
            return reached, None if reached.sequence else Broken(chain, 1, Fault.DROPPED)
        return reached, ended(chain, reached, expected)

    def _current_heads(self, user_id: str) -> Iterator[tuple[str, str]]:
        """Chains of the sessions' current incarnations, with their session ids."""
        position: str | None = None
        while True:
            page = self.sessions.list_headers(user_id, after=position, limit=_HEADERS)
            yield from ((session_chain(header.incarnation), header.session_id) for header in page.headers)
            position = page.next
            if position is None:
                return


def _ledger(entries: list[AuditEntry]) -> _Ledger:
    opened = [entry.event.refs["chain"] for entry in entries if entry.event.action is Action.SESSION_OPENED]
    closed = {
        entry.event.refs["chain"]: ChainHead(entry.event.counts["entry"], entry.event.refs["hash"])
        for entry in entries
        if entry.event.action is Action.SESSION_CLOSED
    }
    return _Ledger(tuple(opened), closed)
