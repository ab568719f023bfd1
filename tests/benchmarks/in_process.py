"""Turns taken inside this process: by the function's handler as Lambda calls it, and by the service below it."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any, Protocol

from keepsake import bootstrap
from keepsake.adapters.surroundings import RandomIds, SystemChance, SystemClock
from keepsake.adapters.tokens import load_tokens
from keepsake.config import Settings
from keepsake.domain.principal import Principal
from keepsake.domain.profile import ProfileEdit
from keepsake.domain.turns import Role
from keepsake.ports.item_store import Index, IndexPage, IndexPosition, Item, ItemStore, Key, Page, PageQuery, Write
from keepsake.ports.surroundings import Clock
from keepsake.services.context_windows import WindowWish
from keepsake.services.turns import TakeTurn
from tests.benchmarks.measuring import Sample
from tests.fakes import FakeHashKeys
from tests.fakes_queue import FakeWorkQueue
from tests.world import LambdaContext, handler, load_event

USER, SESSION = "ada", "session-1"
PROFILE = {
    "interests": ["type 2 diabetes", "drug trials", "survival analysis"],
    "preferences": ["short answers", "just the SQL", "tables"],
    "frequently_used": ["cohort_builder", "person_table"],
}
TOKENS = load_tokens()


class Taker(Protocol):
    """Takes turns of one conversation, by one way."""

    def prepared(self, role: Role, text: str, /) -> Callable[[], object]:
        """A call that takes this turn and raises when it was not taken. What a caller does beforehand is done."""
        ...


class TimedStore:
    """An item store whose reads and transactions are timed."""

    def __init__(self, store: ItemStore) -> None:
        self._store = store
        self.read, self.transaction = Sample(), Sample()

    def get_many(self, keys: Sequence[Key]) -> Mapping[Key, Item]:
        """As the port says."""
        return self.read.timed(lambda: self._store.get_many(keys))

    def query(self, query: PageQuery) -> Page:
        """As the port says."""
        return self._store.query(query)

    def fetch(self, keys: Sequence[Key], pages: Sequence[PageQuery]) -> tuple[Mapping[Key, Item], tuple[Page, ...]]:
        """As the port says."""
        return self._store.fetch(keys, pages)

    def query_index(self, index: Index, partition: str, *, limit: int, after: IndexPosition | None = None) -> IndexPage:
        """As the port says."""
        return self._store.query_index(index, partition, limit=limit, after=after)

    def transact(self, writes: Sequence[Write]) -> None:
        """As the port says."""
        self.transaction.timed(lambda: self._store.transact(writes))

    def forget(self) -> None:
        """Begin to measure anew."""
        self.read, self.transaction = Sample(), Sample()


def no_backends() -> bootstrap.Backends:
    """Neither index nor embedder nor model, and a queue that nobody empties."""
    queue = FakeWorkQueue(SystemClock())
    return bootstrap.Backends(
        queue=lambda: queue,
        index=lambda: None,
        embedder=lambda: None,
        background_embedder=lambda: None,
        model=lambda: None,
    )


def make_runtime(
    store: ItemStore, backends: bootstrap.Backends | None = None, clock: Clock | None = None, *, with_profile: bool = True
) -> bootstrap.Runtime:
    """The product over a store, with real ids and chance, the real clock unless another is given, and a user with a profile."""
    runtime = bootstrap.Runtime(
        settings=Settings(store_kind="benchmark"),
        store=store,
        clock=clock or SystemClock(),
        ids=RandomIds(),
        chance=SystemChance(),
        hash_keys=FakeHashKeys(),
        tokens=TOKENS,
        backends=backends or no_backends(),
    )
    runtime.prime()
    if not with_profile:
        return runtime
    edit = ProfileEdit(PROFILE["interests"], preferences=PROFILE["preferences"], frequently_used=PROFILE["frequently_used"])
    runtime.profile.edit(Principal(USER), edit, expected_version=None)
    return runtime


class ByHandler:
    """The turn function's handler with an HTTP API event, up to the answer's text."""

    def __init__(self, store: ItemStore) -> None:
        self.runtime = make_runtime(store)
        self._handler = handler("turn")
        self.event = load_event("turn")

    def prepared(self, role: Role, text: str) -> Callable[[], object]:
        """See Taker."""
        event = turn_event(self.event, role, text)
        bootstrap.use(self.runtime)
        return lambda: _accepted(self._handler(event, LambdaContext()))


class ByService:
    """The service alone: no event, no JSON, no log line."""

    def __init__(self, store: ItemStore) -> None:
        self.runtime = make_runtime(store)

    def prepared(self, role: Role, text: str) -> Callable[[], object]:
        """See Taker."""
        turns, command = self.runtime.turns, TakeTurn(SESSION, role, text, WindowWish())
        return lambda: turns.take(Principal(USER), command)


@contextmanager
def logs_unread() -> Iterator[None]:
    """Log lines and metrics are written as they are when deployed, to where nobody reads them.

    Begun before a function is loaded: its log goes where output goes then.
    """
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
        yield


def turn_event(template: Mapping[str, Any], role: Role, text: str) -> dict[str, Any]:
    """The event of a turn."""
    context = template["requestContext"]
    authorizer = {"jwt": {"claims": {"sub": USER, "clearance": "1", "compartments": "trial-7"}, "scopes": None}}
    body = json.dumps({"role": role, "content": text})
    return {
        **template,
        "pathParameters": {"session_id": SESSION},
        "body": body,
        "requestContext": {**context, "authorizer": authorizer},
    }


def _accepted(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    if answer["statusCode"] != 200:
        raise AssertionError(f"a turn was refused: {answer}")
    return answer
