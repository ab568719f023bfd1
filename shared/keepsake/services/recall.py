"""Recall: one question to the index, one reading of the truth, and our own ranking over all of it.

What the index does not know yet takes part: turns that wait for consolidation, and the digest's memories. When the index or the
embedder does not answer, these are what is left, and the answer says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from keepsake.domain.digest import weight
from keepsake.domain.errors import IndexUnavailableError, ModelUnavailableError
from keepsake.domain.knowledge import INSTITUTION
from keepsake.domain.memories.attributes import Attributes
from keepsake.domain.principal import Principal
from keepsake.domain.queries import QueryReading, QueryWords, read_query
from keepsake.domain.ranking import Ranked, RankingQuery, RankingWeights, rank
from keepsake.domain.recall import RecallHit
from keepsake.domain.sanitizing import for_embedding
from keepsake.domain.search import Candidate, DocumentKind, FieldStatistics, Found, IndexQuery
from keepsake.domain.text import is_question
from keepsake.domain.turns import Role
from keepsake.domain.vectors import Vector
from keepsake.ports.embedding import Embedder, Purpose
from keepsake.ports.item_store import Item, ItemStore, Key, Page, PageQuery, Table
from keepsake.ports.recall import Recalled, RecallRequest, RecallScene
from keepsake.ports.search_index import PhysicalIndex
from keepsake.ports.surroundings import Clock
from keepsake.repositories.records import read, whole
from keepsake.repositories.session_records import turn_of
from keepsake.services.drafts import DraftMaker
from keepsake.services.freshness import Fresh, fresh_memories, fresh_turns, with_fresh
from keepsake.services.hydration import Reading, Truth, truth_key
from keepsake.services.indexing import CurrentIndex

PER_ARM = 50
# Of what stands in the log the newest sessions are read, so many turns of each.
MAX_PENDING_SESSIONS = 24
MAX_PENDING_TURNS = 150
_FEW_TERMS = 2
_NARROW_TERMS = 3
_MANY_FRESH = 60
_NOTHING = Found((), FieldStatistics(), FieldStatistics())
# What readers hear otherwise than others has a document for each of them.
_OF_EACH_READER = frozenset({DocumentKind.MEMORY, DocumentKind.SUMMARY})
SEARCHED = "searched"
NO_INDEX = "no_index"


@dataclass(frozen=True, slots=True)
class SearchSide:
    """What a search needs: the index, and the embedder whose vectors it holds."""

    current: CurrentIndex
    embedder: Embedder


@dataclass(frozen=True, slots=True)
class _Searched:
    """What the index found, why that is less than it could be, and the scale of its cosines."""

    found: Found
    reason: str = SEARCHED
    weak_below: float = 0.0
    strong_above: float = 1.0

    @property
    def degraded(self) -> bool:
        return self.reason != SEARCHED


@dataclass(frozen=True, slots=True)
class Recalling:
    """Recall over index, log and digest."""

    store: ItemStore
    search: SearchSide | None
    attributes: Attributes
    vocabulary: QueryWords
    weights: RankingWeights
    drafts: DraftMaker
    clock: Clock

    def recall(self, principal: Principal, request: RecallRequest, scene: RecallScene) -> Recalled:
        """As the port says."""
        reading = self._read(request.text, request)
        if not request.about_me or DocumentKind.MEMORY not in request.kinds or request.as_of_ms is not None:
            return self._searched_for(principal, request, scene, reading)
        known = self._known_of(principal, request, scene, reading)
        if len(reading.terms) < _NARROW_TERMS:
            said = self._just_said(principal, request, scene, reading)
            room = max(request.limit // 3, request.limit - len(known))
            said = said[:room]
            return Recalled(ran=True, reason=SEARCHED, hits=(*known[: request.limit - len(said)], *said))
        # A narrower question than that. What is known comes first all the same, and what is found has some room.
        found = self._searched_for(principal, request, scene, reading)
        known = known[: request.limit - request.limit // 3]
        told = {(hit.kind, hit.id) for hit in known}
        others = [hit for hit in found.hits if (hit.kind, hit.id) not in told]
        return replace(found, hits=(*known, *others)[: request.limit])

    def _searched_for(self, principal: Principal, request: RecallRequest, scene: RecallScene, asked: QueryReading) -> Recalled:
        request, reading = self._with_before(request, asked)
        searched = self._searched(principal, request, reading)
        fresh = self._fresh_memories(principal, request, scene, reading)
        ranked = self._ranked(searched, request, reading, fresh)
        items, pages = self._fetched(principal, scene, request, _shortlist(ranked, request))
        turns = self._fresh_turns(principal, request, scene, reading, pages)
        if turns:
            fresh += turns
            ranked = self._ranked(searched, request, reading, fresh)
        truth = Truth(items, self.attributes, self._reader(principal, request, scene))
        shown = [one for one in ranked if one.candidate.document_id not in scene.shown]
        hits = self._hits(truth, shown, {one.candidate.document_id: one for one in fresh}, asked, request.limit)
        cut = _is_cut(scene, request, pages)
        return Recalled(ran=True, reason=searched.reason, degraded=searched.degraded or cut, hits=hits)

    def _read(self, text: str, request: RecallRequest) -> QueryReading:
        return read_query(text, request.at_ms, self.vocabulary)

    def _with_before(self, request: RecallRequest, reading: QueryReading) -> tuple[RecallRequest, QueryReading]:
        """The request and what it says; one that says next to nothing is read with what was said before it."""
        if not request.before or len(reading.terms) >= _FEW_TERMS:
            return request, reading
        text = f"{request.text}\n{request.before}"
        return replace(request, text=text), self._read(text, request)

    # ---- The index

    def _searched(self, principal: Principal, request: RecallRequest, reading: QueryReading) -> _Searched:
        if self.search is None:
            return _Searched(_NOTHING, NO_INDEX)
        model = self.search.embedder.model
        scale = (model.weak_below, model.strong_above)
        query = IndexQuery(
            owners=(principal.user_id, INSTITUTION),
            clearance=principal.clearance,
            kinds=request.kinds,
            terms=reading.terms,
            vector=None,
            since_ms=request.since_ms,
            until_ms=request.until_ms,
            per_arm=PER_ARM,
        )
        try:
            return self._found(self.search, query, request.text, scale)
        except IndexUnavailableError as error:
            return _Searched(_NOTHING, error.code, *scale)

    def _found(self, search: SearchSide, query: IndexQuery, text: str, scale: tuple[float, float]) -> _Searched:
        """What the index finds; asked once more where a reindex has put another in its place meanwhile."""
        physical = search.current.for_reading()
        if physical is None:
            return _Searched(_NOTHING, SEARCHED, *scale)
        vector, reason = self._vector(search, physical, text)
        try:
            found = search.current.index.search(replace(query, vector=vector, index=physical.name))
        except IndexUnavailableError:
            search.current.forget()
            moved = search.current.for_reading()
            if moved is None or moved.name == physical.name:
                raise
            vector, reason = self._vector(search, moved, text)
            found = search.current.index.search(replace(query, vector=vector, index=moved.name))
        return _Searched(found, reason, *scale)

    def _vector(self, search: SearchSide, physical: PhysicalIndex, text: str) -> tuple[Vector | None, str]:
        """The query's vector, if the index holds vectors of the same model; and why there is none, if there is none."""
        if not search.current.matches(physical):
            return None, "reindex_needed"
        try:
            return search.embedder.embed([for_embedding(text)], Purpose.QUERY)[0], SEARCHED
        except ModelUnavailableError as error:
            return None, error.code

    # ---- What the index does not know

    def _fresh_memories(
        self, principal: Principal, request: RecallRequest, scene: RecallScene, reading: QueryReading
    ) -> list[Fresh]:
        if DocumentKind.MEMORY not in request.kinds:
            return []
        drafts = self.drafts.of(principal.user_id)
        entries = scene.digest.visible(principal.clearance).entries
        in_time = [memory for memory in entries if _in_time(memory.last_said_ms, request)]
        return [one for one in fresh_memories(drafts, in_time, reading.terms) if one.candidate.matches]

    def _fresh_turns(
        self, principal: Principal, request: RecallRequest, scene: RecallScene, reading: QueryReading, pages: Sequence[Page]
    ) -> list[Fresh]:
        drafts = self.drafts.of(principal.user_id)
        now_ms = self.clock.now_ms()
        found: list[Fresh] = []
        for session_id, page in zip(_pending(scene, request), pages, strict=True):
            alive = [
                item for item in page.items if whole(item, "hidden_after") > now_ms and whole(item, "epoch", 0) >= scene.epoch
            ]
            turns = [read(turn_of, item) for item in reversed(alive)]
            found += fresh_turns(drafts, session_id, turns, principal.clearance, reading.terms)
        in_time = [one for one in found if _in_time(one.candidate.occurred_at_ms, request)]
        if len(in_time) <= _MANY_FRESH:
            return in_time
        # Ranking takes time for each; of many, those count that hold, or stand beside, what is asked for.
        return [one for one in in_time if one.candidate.window_matches]

    # ---- One reading of the truth

    def _fetched(
        self, principal: Principal, scene: RecallScene, request: RecallRequest, keys: list[Key]
    ) -> tuple[dict[Key, Item], tuple[Page, ...]]:
        log = self.drafts.of(principal.user_id).keys
        pages = [
            PageQuery(Table.TURNS, log.session_log(session_id), MAX_PENDING_TURNS, until=_LATEST, descending=True)
            for session_id in _pending(scene, request)
        ]
        if not keys and not pages:
            return {}, ()
        items, found = self.store.fetch(keys, pages)
        since = scene.pending.since_ms
        return dict(items), tuple(
            Page(
                tuple(item for item in page.items if int(item.key.sort) >= since[session_id]),
                page.next if page.next is not None and int(page.next) > since[session_id] else None,
            )
            for session_id, page in zip(_pending(scene, request), found, strict=True)
        )

    def _ranked(
        self, searched: _Searched, request: RecallRequest, reading: QueryReading, fresh: Sequence[Fresh]
    ) -> tuple[Ranked, ...]:
        """All candidates in order. What is fresh takes the place of what the index has of the same."""
        own = {one.candidate.document_id for one in fresh}
        known: dict[str, Candidate] = {one.document_id: one for one in searched.found.candidates}
        candidates = [candidate for candidate in known.values() if candidate.document_id not in own]
        for one in fresh:
            indexed = known.get(one.candidate.document_id)
            candidates.append(replace(one.candidate, cosine=indexed.cosine) if indexed else one.candidate)
        new = [one for one in fresh if one.candidate.document_id not in known]
        turn = with_fresh(searched.found.turn, (one.terms for one in new), reading.terms)
        window = with_fresh(searched.found.window, (one.window_terms for one in new), reading.terms)
        query = RankingQuery(reading, request.at_ms, searched.weak_below, searched.strong_above)
        return rank(query, candidates, turn, window, self.weights)

    def _reader(self, principal: Principal, request: RecallRequest, scene: RecallScene) -> Reading:
        now_ms = self.clock.now_ms()
        as_of_ms = request.as_of_ms
        return Reading(
            principal.clearance, scene.epoch, now_ms, now_ms if as_of_ms is None else as_of_ms, past_only=as_of_ms is not None
        )

    def _hits(
        self,
        truth: Truth,
        ranked: Sequence[Ranked],
        fresh: dict[str, Fresh],
        asked: QueryReading,
        limit: int,
    ) -> tuple[RecallHit, ...]:
        hits: list[RecallHit] = []
        told: set[tuple[DocumentKind, str]] = set()
        for one in ranked:
            hit = _of_fresh(truth, one, fresh.get(one.candidate.document_id)) or truth.hit(one)
            if hit is None or (hit.kind, hit.id) in told or self._only_asks(hit, asked):
                continue
            hits.append(hit)
            if hit.kind in _OF_EACH_READER:
                told.add((hit.kind, hit.id))
            if len(hits) == limit:
                break
        return tuple(hits)

    def _known_of(
        self, principal: Principal, request: RecallRequest, scene: RecallScene, reading: QueryReading
    ) -> tuple[RecallHit, ...]:
        """What is known of the user: what has to do with the question's words, and then what matters most."""
        truth = Truth({}, self.attributes, self._reader(principal, request, scene))
        drafts = self.drafts.of(principal.user_id)
        hits = []
        for memory in scene.digest.visible(principal.clearance).entries:
            for one in fresh_memories(drafts, [memory], reading.terms):
                score = round(weight(memory), 4)
                hit = truth.memory(memory, Ranked(one.candidate, score, {"importance": score}))
                if hit and _in_time(memory.last_said_ms, request):
                    hits.append((not one.candidate.matches, hit))
        return tuple(hit for _, hit in sorted(hits, key=itemgetter(0)))[: request.limit]

    def _only_asks(self, hit: RecallHit, asked: QueryReading) -> bool:
        """Whether it is a turn that asked no other thing before: it answers nothing."""
        if hit.kind is not DocumentKind.TURN or not is_question(hit.text):
            return False
        return set(read_query(hit.text, hit.occurred_at_ms, self.vocabulary).terms) <= set(asked.terms)

    def _just_said(
        self, principal: Principal, request: RecallRequest, scene: RecallScene, reading: QueryReading
    ) -> tuple[RecallHit, ...]:
        """What the user told in the turns that wait for consolidation, the newest first; questions and greetings tell nothing."""
        _, pages = self._fetched(principal, scene, request, [])
        truth = Truth({}, self.attributes, self._reader(principal, request, scene))
        hits = []
        for one in self._fresh_turns(principal, request, scene, reading, pages):
            turn = one.turn
            telling = turn is not None and turn.role is Role.USER and len(one.terms) >= _TELLING_TERMS
            if turn and telling and not is_question(turn.text) and one.candidate.document_id not in scene.shown:
                hit = truth.turn(turn, Ranked(one.candidate, 0.0, {}))
                hits += [(not one.candidate.matches, -hit.occurred_at_ms, hit.id, hit)] if hit else []
        return tuple(hit for *_, hit in sorted(hits, key=itemgetter(0, 1, 2)))


_LATEST = 2**53
_TELLING_TERMS = 4


def _is_cut(scene: RecallScene, request: RecallRequest, pages: Sequence[Page]) -> bool:
    """Whether more waits for consolidation than was read."""
    sessions = len(scene.pending.since_ms) > len(pages) and DocumentKind.TURN in request.kinds
    return sessions or any(page.next is not None for page in pages)


def _shortlist(ranked: Sequence[Ranked], request: RecallRequest) -> list[Key]:
    """Where the truth of those stands that can still be among the best."""
    keys: dict[Key, None] = {}
    for one in ranked[: 2 * request.limit + 20]:
        key = truth_key(one.candidate)
        if key:
            keys[key] = None
    return list(keys)


def _pending(scene: RecallScene, request: RecallRequest) -> list[str]:
    """The sessions whose turns in the log take part: those that were the last to begin to wait."""
    if DocumentKind.TURN not in request.kinds:
        return []
    newest = sorted(scene.pending.since_ms, key=lambda session_id: (-scene.pending.since_ms[session_id], session_id))
    return newest[:MAX_PENDING_SESSIONS]


def _in_time(occurred_at_ms: int, request: RecallRequest) -> bool:
    after = request.since_ms is None or occurred_at_ms >= request.since_ms
    return after and (request.until_ms is None or occurred_at_ms <= request.until_ms)


def _of_fresh(truth: Truth, ranked: Ranked, fresh: Fresh | None) -> RecallHit | None:
    if fresh is None:
        return None
    if fresh.turn:
        return truth.turn(fresh.turn, ranked)
    return truth.memory(fresh.memory, ranked) if fresh.memory else None
