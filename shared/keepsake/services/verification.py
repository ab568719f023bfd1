"""Following a user's audit chains: is every entry there, unchanged, in its place, up to the heads that other tables keep?

People go on writing meanwhile: a chain is held to the head that was read before its entries, and what came later to the chain.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from keepsake.domain.audit import EMPTY_CHAIN, Action, AuditEntry, Broken, ChainHead, Fault, follow, has_proof
from keepsake.domain.errors import CorruptItemError
from keepsake.domain.hashing import KeyedHash
from keepsake.domain.paging import all_pages
from keepsake.ports.surroundings import Clock
from keepsake.repositories.audit import AuditChains
from keepsake.repositories.keys import Keys, session_chain
from keepsake.repositories.sessions import Sessions

_HEADERS = 200

ReadHead = Callable[[], ChainHead]


@dataclass(frozen=True, slots=True)
class Verification:
    """The finding: chains and entries followed, the first broken entry, and where to go on when time ran out (else None)."""

    chains: int
    entries: int
    broken: Broken | None
    next: int | None


@dataclass(slots=True)
class _Ledger:
    """What the user's own chain tells of session chains: those opened, in order, and the heads of those closed."""

    opened: dict[str, None] = field(default_factory=dict)
    closed: dict[str, ChainHead] = field(default_factory=dict)
    reached: ChainHead = EMPTY_CHAIN
    broken: Broken | None = None

    def note(self, entry: AuditEntry) -> None:
        event = entry.event
        if event.action is Action.SESSION_OPENED:
            self.opened[event.refs["chain"]] = None
        if event.action is Action.SESSION_CLOSED:
            self.closed[event.refs["chain"]] = ChainHead(event.counts["entry"], event.refs["hash"])

    def accounts_for(self, current: dict[str, str]) -> bool:
        """Whether every current chain was opened here, and every other one closed."""
        return current.keys() <= self.opened.keys() <= current.keys() | self.closed.keys()


@dataclass(frozen=True, slots=True)
class AuditVerification:
    """Verifies the chains of one user at a time."""

    chains: AuditChains
    sessions: Sessions
    keyed: KeyedHash
    clock: Clock

    def verify(self, user_id: str, *, until_ms: int, skip: int = 0) -> Verification:
        """Follow the user's own chain, then those of the sessions but the first `skip`: one at least, more until time is up."""
        first = self._ledger(user_id)
        current = dict(self._current_chains(user_id))
        # Sessions may have been opened or closed between the two readings; what is amiss after a second look is amiss.
        later = first if first.broken or first.accounts_for(current) else self._ledger(user_id)
        broken = first.broken or later.broken or self._unannounced(user_id, later, current)
        chains, entries = 1, later.reached.sequence
        for number, chain in enumerate(islice(first.opened, skip, None), start=skip + 1):
            if broken:
                break
            reached, broken = self._verify_session(user_id, chain, later, current)
            chains, entries = chains + 1, entries + reached.sequence
            if self.clock.now_ms() >= until_ms and number < len(first.opened) and not broken:
                return Verification(chains, entries, None, number)
        return Verification(chains, entries, broken, None)

    def _ledger(self, user_id: str) -> _Ledger:
        ledger = _Ledger()
        chain = Keys(user_id, self.keyed).user_chain()
        ledger.reached, ledger.broken = self._followed(chain, lambda: self.sessions.user_chain_head(user_id), ledger.note)
        return ledger

    def _unannounced(self, user_id: str, ledger: _Ledger, current: dict[str, str]) -> Broken | None:
        """A session whose opening the user's own chain does not tell: that entry was dropped."""
        if current.keys() <= ledger.opened.keys():
            return None
        return Broken(Keys(user_id, self.keyed).user_chain(), ledger.reached.sequence + 1, Fault.DROPPED)

    def _verify_session(
        self, user_id: str, chain: str, ledger: _Ledger, current: dict[str, str]
    ) -> tuple[ChainHead, Broken | None]:
        closed = ledger.closed.get(chain)
        if closed is None and chain in current:
            head = self.sessions.session_chain_head(user_id, current[chain], chain)
            if head is not None:
                return self._followed(
                    chain, lambda: self.sessions.session_chain_head(user_id, current[chain], chain) or head, lambda _: None
                )
            closed = self._ledger(user_id).closed.get(chain)  # it was closed a moment ago
        if closed is None:
            return EMPTY_CHAIN, Broken(chain, 1, Fault.DROPPED)
        end = closed
        return self._followed(chain, lambda: end, lambda _: None, closed=True)

    def _followed(
        self, chain: str, read_head: ReadHead, seen: Callable[[AuditEntry], object], *, closed: bool = False
    ) -> tuple[ChainHead, Broken | None]:
        """How far the chain holds together, and its first fault."""
        expected, reached = read_head(), EMPTY_CHAIN
        if not closed and not has_proof(chain, expected, self.keyed):
            return reached, Broken(chain, max(expected.sequence, 1), Fault.CHANGED)
        try:
            for entry in self.chains.entries(chain):
                found = follow(chain, reached, [entry], self.keyed)
                if found.broken:
                    return reached, found.broken
                reached = found.head
                if reached.sequence == expected.sequence and reached != expected:
                    return reached, Broken(chain, reached.sequence, Fault.CHANGED)
                seen(entry)
        except CorruptItemError:
            return reached, Broken(chain, reached.sequence + 1, Fault.CHANGED)
        return reached, self._ended(chain, reached, expected, read_head)

    def _ended(self, chain: str, reached: ChainHead, expected: ChainHead, read_head: ReadHead) -> Broken | None:
        if reached.sequence < expected.sequence:
            return Broken(chain, reached.sequence + 1, Fault.DROPPED)
        # An entry and its head are written together: the head that is read after an entry is never behind it.
        if reached.sequence > expected.sequence and reached.sequence > read_head().sequence:
            return Broken(chain, expected.sequence + 1, Fault.INSERTED)
        return None

    def _current_chains(self, user_id: str) -> Iterator[tuple[str, str]]:
        """Chains of the sessions' current incarnations, with their session ids."""
        for page in all_pages(lambda after: self.sessions.list_headers(user_id, after=after, limit=_HEADERS)):
            yield from ((session_chain(header.incarnation), header.session_id) for header in page.headers)
