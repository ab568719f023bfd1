"""The composition root: settings → adapters → services, once per container. Nothing else chooses an implementation."""

import os
from dataclasses import dataclass
from functools import cached_property

from keepsake.adapters.data_files import load_model_profiles, load_profile_patterns, load_summary_wordings, load_topics
from keepsake.adapters.tokens import load_tokens
from keepsake.config import Settings, settings_from
from keepsake.domain.hashing import KeyedHash
from keepsake.domain.summary import Summarizer
from keepsake.ports.item_store import ItemStore
from keepsake.ports.recall import Recall
from keepsake.ports.surroundings import Chance, Clock, HashKeys, IdFactory
from keepsake.ports.tokens import TokenCounter
from keepsake.repositories.audit import AuditChains
from keepsake.repositories.profiles import Profiles
from keepsake.repositories.sessions import Sessions
from keepsake.services.consolidation import Consolidation
from keepsake.services.context_windows import ContextWindows
from keepsake.services.health import Health
from keepsake.services.profiles import ProfileKeeping
from keepsake.services.recall import NothingRecalled
from keepsake.services.retrying import Retrying
from keepsake.services.sessions import ScratchPads, SessionReading
from keepsake.services.turns import Turns
from keepsake.services.verification import AuditVerification


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
    recall: Recall

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
        return ContextWindows(load_model_profiles(), self.tokens, self.summarizer, self.clock)

    @cached_property
    def turns(self) -> Turns:
        """Taking turns."""
        return Turns(
            sessions=self.sessions,
            windows=self.windows,
            recall=self.recall,
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
    def consolidation(self) -> Consolidation:
        """Consolidation."""
        return Consolidation(
            self.sessions,
            load_topics(self.settings.topics_file),
            load_profile_patterns(),
            self.clock,
            self.retrying,
        )

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
        recall=NothingRecalled(),
    )
