"""What a process stands on, and the services made of it. What only some functions need is loaded when they first ask for it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from keepsake.adapters.data_files import load_model_profiles, load_summary_wordings, load_topics
from keepsake.adapters.tokens import load_tokens
from keepsake.config import Settings, settings_from
from keepsake.domain.hashing import KeyedHash
from keepsake.domain.summary import Summarizer
from keepsake.ports.item_store import ItemStore
from keepsake.ports.surroundings import Chance, Clock, HashKeys, IdFactory
from keepsake.ports.tokens import TokenCounter
from keepsake.repositories.audit import AuditChains
from keepsake.repositories.profiles import Profiles
from keepsake.repositories.sessions import Sessions
from keepsake.services.context_windows import ContextWindows
from keepsake.services.health import Health
from keepsake.services.profiles import ProfileKeeping
from keepsake.services.retrying import Retrying
from keepsake.services.sessions import ScratchPads, SessionReading
from keepsake.services.turns import Turns
from keepsake.services.verification import AuditVerification

if TYPE_CHECKING:
    from keepsake.bootstrap.learning import LearningServices
    from keepsake.ports.embedding import Embedder
    from keepsake.ports.language_model import LanguageModel
    from keepsake.ports.search_index import SearchIndex
    from keepsake.ports.work_queue import WorkQueue
    from keepsake.services.asking import Asking
    from keepsake.services.indexing import CurrentIndex
    from keepsake.services.recall import Recalling


@dataclass(frozen=True, slots=True)
class Backends:
    """Makers of what not every function needs, called when it is first needed. None made: this installation has none.

    Both embedders are of one model.
    """

    queue: Callable[[], WorkQueue]
    index: Callable[[], SearchIndex | None]
    embedder: Callable[[], Embedder | None]
    background_embedder: Callable[[], Embedder | None]
    model: Callable[[], LanguageModel | None]


@dataclass(frozen=True)
class Runtime:
    """What a process stands on, and the services made of it, each when it is first asked for."""

    settings: Settings
    store: ItemStore
    clock: Clock
    ids: IdFactory
    chance: Chance
    hash_keys: HashKeys
    tokens: TokenCounter
    backends: Backends

    @cached_property
    def keyed(self) -> KeyedHash:
        """The keyed hashes. Asks for the key when first used, so never while a snapshot of the function is made."""
        return KeyedHash(*self.hash_keys.current())

    @cached_property
    def sessions(self) -> Sessions:
        """The sessions' repository."""
        return Sessions(self.store, self.keyed)

    @cached_property
    def retrying(self) -> Retrying:
        """How lost races are run again."""
        return Retrying(self.clock, self.chance)

    @cached_property
    def summarizer(self) -> Summarizer:
        """Reads turns for summaries."""
        return Summarizer(self.tokens.count, load_topics(self.settings.topics_file), load_summary_wordings())

    @cached_property
    def windows(self) -> ContextWindows:
        """Assembly of contexts."""
        from keepsake.adapters.learning_files import load_attributes  # noqa: PLC0415 - only turns need windows

        return ContextWindows(load_model_profiles(), self.tokens, self.summarizer, load_attributes(), self.clock)

    @cached_property
    def turns(self) -> Turns:
        """Taking turns."""
        from keepsake.bootstrap.recall import make_turn_recall  # noqa: PLC0415 - see the module

        return Turns(
            sessions=self.sessions,
            windows=self.windows,
            recalling=make_turn_recall(self),
            lexicon=load_topics(self.settings.topics_file),
            tokens=self.tokens,
            summarizer=self.summarizer,
            keyed=self.keyed,
            clock=self.clock,
            ids=self.ids,
            retrying=self.retrying,
            idle_ms=self.settings.idle_ms,
        )

    @cached_property
    def reading(self) -> SessionReading:
        """Reading sessions."""
        return SessionReading(self.sessions, self.clock)

    @cached_property
    def scratch_pads(self) -> ScratchPads:
        """Scratch pads."""
        return ScratchPads(self.sessions, self.tokens, self.clock, self.retrying, self.settings.idle_ms)

    @cached_property
    def profile(self) -> ProfileKeeping:
        """The research profile."""
        return ProfileKeeping(Profiles(self.store, self.keyed), self.clock, self.retrying)

    @cached_property
    def queue(self) -> WorkQueue:
        """The queue of background work."""
        return self.backends.queue()

    @cached_property
    def index(self) -> SearchIndex | None:
        """The search index."""
        return self.backends.index()

    @cached_property
    def embedder(self) -> Embedder | None:
        """The embedder, for those whom somebody waits for."""
        return self.backends.embedder()

    @cached_property
    def background_embedder(self) -> Embedder | None:
        """The same model, asked with more patience."""
        return self.backends.background_embedder()

    @cached_property
    def model(self) -> LanguageModel | None:
        """The language model."""
        return self.backends.model()

    @cached_property
    def current_index(self) -> CurrentIndex | None:
        """Which index is searched and written; None where there is none."""
        from keepsake.services.indexing import CurrentIndex  # noqa: PLC0415 - see the modules of this package

        index, embedder = self.index, self.embedder
        if index is None or embedder is None:
            return None
        return CurrentIndex(index, embedder.model, self.settings.search_alias, self.clock)

    @cached_property
    def recalling(self) -> Recalling:
        """Recall, for turns and for who asks directly."""
        from keepsake.bootstrap.recall import make_recalling  # noqa: PLC0415 - see the module

        return make_recalling(self)

    @cached_property
    def asking(self) -> Asking:
        """Recall as a caller asks for it."""
        from keepsake.bootstrap.recall import make_asking  # noqa: PLC0415 - see the module

        return make_asking(self)

    @cached_property
    def learning(self) -> LearningServices:
        """Planner, worker, memories and documents."""
        from keepsake.bootstrap.learning import LearningServices  # noqa: PLC0415 - see the module

        return LearningServices(self)

    @cached_property
    def verification(self) -> AuditVerification:
        """Verification of audit chains."""
        return AuditVerification(AuditChains(self.store), self.sessions, self.keyed, self.clock)

    @cached_property
    def health(self) -> Health:
        """Health."""
        return Health(self.store, self.settings.store_kind, self.hash_keys, self.tokens)

    def prime(self) -> None:
        """Load what a first call would wait for and what holds no secret. Called before a snapshot of the function is made."""
        self.tokens.count("")
        load_topics(self.settings.topics_file)
        load_summary_wordings()
        load_model_profiles()

    def prime_recall(self) -> None:
        """Load what a first recall would wait for, likewise."""
        from keepsake.bootstrap.recall import prime  # noqa: PLC0415 - see the module

        prime()


_runtime: list[Runtime] = []


def runtime() -> Runtime:
    """This process's runtime: the one that was stated, else the deployed one, made of the environment."""
    if not _runtime:
        _runtime.append(deployed(settings_from(os.environ)))
    return _runtime[0]


def use(stated: Runtime) -> None:
    """State the runtime of this process, as a local service or a test does."""
    _runtime[:] = [stated]


def deployed(settings: Settings) -> Runtime:
    """The runtime of a deployed function: DynamoDB, and the hash key from Secrets Manager."""
    # Imported here, since a local service on embedded stores needs none of it.
    from keepsake.adapters.dynamodb_store import DynamoDbItemStore, make_client  # noqa: PLC0415
    from keepsake.adapters.hash_keys import SecretsManagerHashKeys  # noqa: PLC0415
    from keepsake.adapters.surroundings import RandomIds, SystemChance, SystemClock  # noqa: PLC0415

    clock, chance = SystemClock(), SystemChance()
    return Runtime(
        settings=settings,
        store=DynamoDbItemStore(make_client(), settings.tables, clock=clock, chance=chance),
        clock=clock,
        ids=RandomIds(),
        chance=chance,
        hash_keys=SecretsManagerHashKeys.lazily(settings.hash_key_secret_arn),
        tokens=load_tokens(),
        backends=deployed_backends(settings, clock, chance),
    )


def deployed_backends(settings: Settings, clock: Clock, chance: Chance) -> Backends:
    """SQS, OpenSearch and Bedrock, as far as the settings name them."""
    from keepsake.bootstrap import aws  # noqa: PLC0415 - a local service needs none of it

    return Backends(
        queue=lambda: aws.make_queue(settings, clock, chance),
        index=lambda: aws.make_index(settings, clock, chance),
        embedder=lambda: aws.make_embedder(settings, somebody_waits=True),
        background_embedder=lambda: aws.make_embedder(settings, somebody_waits=False),
        model=lambda: aws.make_model(settings),
    )
