"""Long-term memory as its owner sees and rules it: list, read, tell, correct, confirm, deny, forget. Now, and on a past day."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from keepsake.domain.audit import Action, Actor, AuditEvent
from keepsake.domain.clearance import OPEN, Clearance
from keepsake.domain.digest import Digest
from keepsake.domain.errors import ClearanceExceededError, InvalidRequestError, MemoryNotFoundError, QueueUnavailableError
from keepsake.domain.memories.claims import Claim, Claims, Stance, slot_of, value_key
from keepsake.domain.memories.histories import history, readings, value_of
from keepsake.domain.memories.values import USER, MadeBy, Memory, MemoryType, Slot, Source, SourceType
from keepsake.domain.pending import Outbox
from keepsake.domain.principal import Principal
from keepsake.domain.search import DocumentKind
from keepsake.ports.item_store import Write
from keepsake.ports.surroundings import Clock, IdFactory
from keepsake.ports.work_queue import WorkMessage, WorkQueue
from keepsake.repositories.keys import MEMORY_PREFIX, Keys
from keepsake.repositories.memories import Memories
from keepsake.repositories.pending import work_ref
from keepsake.repositories.refs import TruthRef
from keepsake.repositories.stored import Fence
from keepsake.services.learning import Learning
from keepsake.services.retrying import Retrying

_CERTAIN = 0.95
# A page of memories is looked for among so many slots at most.
_SLOTS = 100
_MOST_PAGES = 5
_WITHIN = "+"


@dataclass(frozen=True, slots=True)
class TellMemory:
    """Something the user wants remembered."""

    type: MemoryType
    attribute: str
    value: str
    text: str | None = None
    subject: str = USER
    valid_from_ms: int | None = None
    valid_to_ms: int | None = None
    clearance: Clearance = OPEN
    source: SourceType = SourceType.EXPLICIT


@dataclass(frozen=True, slots=True)
class CorrectMemory:
    """What is right instead. None: as it was."""

    value: str | None = None
    text: str | None = None
    valid_from_ms: int | None = None
    valid_to_ms: int | None = None


@dataclass(frozen=True, slots=True)
class MemoryWish:
    """Which memories to list: those that hold (at `as_of_ms`, else now), or with `past` also those that held before."""

    type: MemoryType | None = None
    subject: str | None = None
    attribute: str | None = None
    as_of_ms: int | None = None
    past: bool = False


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """Memories, slot by slot; `next` continues after them."""

    memories: tuple[Memory, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class _SlotChange:
    """A change of one slot; of one that is not there, from `fresh` on (None: there must be one)."""

    slot_id: str
    fresh: Claims | None
    apply: Callable[[Claims], Claims]


@dataclass(frozen=True, slots=True)
class MemoryKeeping:
    """A user's memories. All methods may raise StoreError."""

    memories: Memories
    learning: Learning
    queue: WorkQueue
    clock: Clock
    ids: IdFactory
    retrying: Retrying

    def page(self, principal: Principal, wish: MemoryWish, *, limit: int, after: str | None = None) -> MemoryPage:
        """A page of the memories that the principal may see. A page may be shorter than `limit`, or empty, and go on.

        `after` is the `next` of the page before: a slot, and where that was cut the last memory given of it.
        """
        fence = self.memories.load(principal.user_id).fence
        found: list[Memory] = []
        if after is not None:
            after, cut, memory_id = after.partition(_WITHIN)
            found = self._rest(principal, wish, after, memory_id, fence) if cut else []
        for _ in range(_MOST_PAGES):
            page = self.memories.page(principal.user_id, fence, limit=_SLOTS, after=after)
            for slot_id, claims in page.slots:
                if len(found) >= limit:
                    return _cut(found, limit, after)
                found += self._wanted(principal, wish, slot_id, claims)
                after = slot_id
            after = page.next
            if after is None or len(found) >= limit:
                break
        return _cut(found, limit, after)

    def _rest(self, principal: Principal, wish: MemoryWish, slot_id: str, memory_id: str, fence: Fence) -> list[Memory]:
        """What was not given yet of the slot in which the page before ended; all of it if that memory is there no more."""
        claims = self.memories.slots(principal.user_id, [slot_id], fence)[slot_id].value
        wanted = self._wanted(principal, wish, slot_id, claims) if claims else []
        given = next((place for place, memory in enumerate(wanted, 1) if memory.memory_id == memory_id), 0)
        return wanted[given:]

    def _wanted(self, principal: Principal, wish: MemoryWish, slot_id: str, claims: Claims) -> list[Memory]:
        now_ms = self.clock.now_ms()
        return [memory for memory in self._history(principal, slot_id, claims) if self._is_wanted(memory, wish, now_ms)]

    def _is_wanted(self, memory: Memory, wish: MemoryWish, now_ms: int) -> bool:
        if wish.type is not None and memory.type is not wish.type:
            return False
        if wish.subject is not None and value_key(memory.subject) != value_key(wish.subject):
            return False
        if wish.attribute is not None and memory.attribute != self._attribute(wish.attribute, memory.type):
            return False
        if wish.past:
            return wish.as_of_ms is None or memory.valid_from_ms <= wish.as_of_ms
        return not memory.denied and memory.holds_at(now_ms if wish.as_of_ms is None else wish.as_of_ms)

    def _attribute(self, given: str, memory_type: MemoryType) -> str:
        """The name under which memories of an attribute are kept."""
        return slot_of(self.learning.attributes, USER, given, "", memory_type).attribute

    def read(self, principal: Principal, memory_id: str) -> Memory:
        """One memory, whether it holds or not. Raises MemoryNotFoundError."""
        return self._one(principal, memory_id)[0]

    def history(self, principal: Principal, memory_id: str) -> tuple[Memory, ...]:
        """All that was ever held of the memory's slot, in order. Raises MemoryNotFoundError."""
        return self._one(principal, memory_id)[1]

    def tell(self, principal: Principal, told: TellMemory) -> Memory:
        """Remember what the user says.

        Raises ClearanceExceededError, InvalidRequestError, LostRaceError and SubjectErasedError.
        """
        change, name = self._telling(principal, told)
        return self._told(principal, [change], name, Action.MEMORY_TOLD)

    def _telling(self, principal: Principal, told: TellMemory) -> tuple[_SlotChange, str]:
        """The change that tells something, and the name of its value."""
        if not principal.clearance.covers(told.clearance):
            raise ClearanceExceededError("a memory cannot be written above the caller's own clearance")
        if not value_key(told.value) or not value_key(told.attribute) or not value_key(told.subject):
            raise InvalidRequestError(
                "subject, attribute and value hold a letter, a digit or a sign", fields=(("value", "says nothing"),)
            )
        if told.valid_from_ms is not None and told.valid_to_ms is not None and told.valid_from_ms > told.valid_to_ms:
            raise InvalidRequestError("a memory ends after it begins", fields=(("valid_to", "before valid_from"),))
        slot = slot_of(self.learning.attributes, told.subject, told.attribute, told.value, told.type)
        slot_id = Keys(principal.user_id, self.memories.keyed).slot_id(slot)
        said_id = self.ids.new()

        def change(claims: Claims) -> Claims:
            claim = self._told_claim(slot, told, said_id, self._after_all(claims))
            return claims.allowing(claim.value_id, claim.clearance).with_claims([claim])

        return _SlotChange(slot_id, Claims(slot, told.type), change), self.learning.value_id(slot, told.value)

    def _after_all(self, claims: Claims) -> int:
        """When something is said now: after all that was said, though another clock may be ahead of ours."""
        return max([self.clock.now_ms(), *(claim.said_at_ms + 1 for claim in claims.claims[-1:])])

    def _told(self, principal: Principal, changes: Sequence[_SlotChange], name: str, action: Action) -> Memory:
        """The memory of a value after changes, the last of which tells it."""
        after = self._change(principal, changes, action)[-1]
        heard = history(changes[-1].slot_id, after, principal.clearance)
        told = [memory for memory in heard if value_of(memory.memory_id)[1] == name]
        return next((memory for memory in reversed(told) if not memory.denied), told[-1])

    def correct(self, principal: Principal, memory_id: str, correction: CorrectMemory) -> Memory:
        """The memory as the user says that it is. What was wrong stays in the history, as denied. Raises MemoryNotFoundError."""
        old, _ = self._one(principal, memory_id)
        told = TellMemory(
            type=old.type,
            attribute=old.attribute,
            value=old.value if correction.value is None else correction.value,
            text=correction.text if correction.text is not None else (old.text if correction.value is None else None),
            subject=old.subject,
            valid_from_ms=old.valid_from_ms if correction.valid_from_ms is None else correction.valid_from_ms,
            valid_to_ms=self._end_of(old) if correction.valid_to_ms is None else correction.valid_to_ms,
            clearance=old.clearance,
        )
        change, name = self._telling(principal, told)
        changes = [change]
        if value_key(told.value) != value_key(old.value):
            changes.insert(0, self._saying(old, Stance.DENIES))
        return self._told(principal, changes, name, Action.MEMORY_CORRECTED)

    def confirm(self, principal: Principal, memory_id: str, *, holds: bool) -> Memory:
        """The user says that it is so, or that it is not. Raises MemoryNotFoundError."""
        memory, _ = self._one(principal, memory_id)
        if holds:
            return self._told(principal, [self._saying(memory, Stance.AFFIRMS)], value_of(memory_id)[1], Action.MEMORY_CONFIRMED)
        self._change(principal, [self._saying(memory, Stance.DENIES)], Action.MEMORY_DENIED)
        return self.read(principal, memory_id)

    def forget(self, principal: Principal, memory_id: str) -> None:
        """Remove a memory as far as the principal may see it, and never learn that again from what was said.

        Raises MemoryNotFoundError.
        """
        self._one(principal, memory_id)
        slot_id, name = value_of(memory_id)
        change = _SlotChange(slot_id, None, lambda claims: claims.without_value(name, principal.clearance))
        self._change(principal, [change], Action.MEMORY_FORGOTTEN)

    # ----

    def _history(self, principal: Principal, slot_id: str, claims: Claims) -> tuple[Memory, ...]:
        now_ms = self.clock.now_ms()
        policy = self.learning.attributes.policy(claims.slot.attribute, claims.type)
        kept = history(slot_id, claims, principal.clearance)
        return tuple(memory for memory in kept if policy.kept_ms is None or memory.last_recorded_ms + policy.kept_ms > now_ms)

    def _one(self, principal: Principal, memory_id: str) -> tuple[Memory, tuple[Memory, ...]]:
        slot_id, _ = value_of(memory_id)
        if not slot_id:
            raise MemoryNotFoundError("there is no such memory")
        state = self.memories.load(principal.user_id)
        claims = self.memories.slots(principal.user_id, [slot_id], state.fence)[slot_id].value
        all_of_it = self._history(principal, slot_id, claims) if claims else ()
        for memory in all_of_it:
            if memory.memory_id == memory_id:
                return memory, all_of_it
        raise MemoryNotFoundError("there is no such memory")

    def _saying(self, memory: Memory, stance: Stance) -> _SlotChange:
        """What the user says of a memory itself."""
        slot_id, name = value_of(memory.memory_id)
        now_ms, said_id = self.clock.now_ms(), self.ids.new()
        # What is over holds again from now on; what was denied, as if it had not been.
        held = memory.denied or memory.holds_at(now_ms)
        claim = Claim(
            claim_id=said_id,
            subject=memory.subject,
            value_id=name,
            value=memory.value,
            text=memory.text,
            stance=stance,
            said_at_ms=now_ms,
            recorded_at_ms=now_ms,
            confidence=_CERTAIN,
            importance=memory.importance,
            made_by=MadeBy.USER,
            source=Source(SourceType.EXPLICIT, now_ms),
            valid_from_ms=memory.valid_from_ms if held and stance is Stance.AFFIRMS else None,
            confirmed=stance is Stance.AFFIRMS,
            clearance=memory.clearance,
            type=memory.type,
        )
        return _SlotChange(slot_id, None, lambda claims: claims.with_claims([replace(claim, said_at_ms=self._after_all(claims))]))

    def _end_of(self, memory: Memory) -> int | None:
        """When a memory ended that is to be corrected; of what was denied the end is not known."""
        return None if memory.denied else memory.valid_to_ms

    def _told_claim(self, slot: Slot, told: TellMemory, said_id: str, said_at_ms: int) -> Claim:
        now_ms = self.clock.now_ms()
        policy = self.learning.attributes.policy(slot.attribute, told.type)
        return Claim(
            claim_id=said_id,
            subject=told.subject,
            value_id=self.learning.value_id(slot, told.value),
            value=told.value,
            text=told.text or f"{told.attribute}: {told.value}",
            stance=Stance.AFFIRMS,
            said_at_ms=said_at_ms,
            recorded_at_ms=now_ms,
            confidence=_CERTAIN,
            importance=max(policy.importance, 0.6),
            made_by=MadeBy.USER,
            source=Source(told.source, now_ms),
            valid_from_ms=told.valid_from_ms,
            valid_to_ms=told.valid_to_ms,
            confirmed=True,
            clearance=told.clearance,
            type=told.type,
        )

    def _change(self, principal: Principal, changes: Sequence[_SlotChange], action: Action) -> list[Claims]:
        """Change slots, with digest, outbox and audit entry, in one transaction; then nudge the worker. The slots afterwards."""
        after = self.retrying.call(lambda: self._attempt(principal.user_id, changes, action))
        nudge(self.memories, self.queue, principal.user_id)
        return after

    def _attempt(self, user_id: str, changes: Sequence[_SlotChange], action: Action) -> list[Claims]:
        state, now_ms = self.memories.load(user_id), self.clock.now_ms()
        found = self.memories.slots(user_id, (change.slot_id for change in changes), state.fence)
        after: dict[str, Claims] = {}
        for change in changes:
            before = after.get(change.slot_id) or found[change.slot_id].value or change.fresh
            if before is None:
                raise MemoryNotFoundError("there is no such memory")
            after[change.slot_id] = change.apply(before)
        memories = {slot_id: readings(slot_id, claims) for slot_id, claims in after.items()}
        digest = (state.digest.value or Digest()).with_slots(memories)
        outbox = (state.outbox.value or Outbox()).with_refs(map(_slot_ref, after), now_ms)
        writes: list[Write] = [
            self.memories.put_slot(user_id, slot_id, claims, found[slot_id], state.fence) for slot_id, claims in after.items()
        ]
        writes.append(self.memories.put_digest(user_id, digest, state.digest, state.fence))
        writes.append(self.memories.put_outbox(user_id, outbox, state.outbox, state.fence))
        event = AuditEvent(action, Actor.SELF, now_ms, {"memory": 1}, {"slot": changes[-1].slot_id})
        self.memories.commit(user_id, state, writes, event)
        return [after[change.slot_id] for change in changes]


def nudge(memories: Memories, queue: WorkQueue, owner: str) -> None:
    """Tell the worker that an outbox holds something. Where the queue fails, the planner finds it at its next run."""
    keys = Keys(owner, memories.keyed)
    outbox = memories.load(owner).outbox
    if outbox.value is None or not outbox.value.refs:
        return
    ref = work_ref(keys, keys.outbox(), keys.outbox_shard(), outbox.value.since_ms)
    try:
        queue.send([WorkMessage(ref, keys.group(), memories.keyed.of("message", ref, str(outbox.version)))])
    except QueueUnavailableError:
        return


def _slot_ref(slot_id: str) -> str:
    return str(TruthRef(DocumentKind.MEMORY, MEMORY_PREFIX + slot_id))


def _cut(found: list[Memory], limit: int, after: str | None) -> MemoryPage:
    """A page of what was found, and where the next goes on: after the last slot, or within it."""
    if len(found) > limit:
        last = found[limit - 1].memory_id
        return MemoryPage(tuple(found[:limit]), f"{value_of(last)[0]}{_WITHIN}{last}")
    return MemoryPage(tuple(found), after)
