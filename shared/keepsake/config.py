"""Settings from the environment: the only module that reads it. A wrong setting fails at the first call, by its name."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from keepsake.ports.item_store import Table

VERSION = "0.1.0"

_TABLE_VARIABLES: Mapping[str, Table] = {
    "TABLE_SESSION_BUFFERS": Table.BUFFERS,
    "TABLE_SESSION_TURNS": Table.TURNS,
    "TABLE_LONG_TERM_MEMORY": Table.LONG_TERM,
    "TABLE_MEMORY_POINTERS": Table.POINTERS,
    "TABLE_AUDIT_LOG": Table.AUDIT,
    "TABLE_CONTROL": Table.CONTROL,
}
# What a setting may be; the first is meant when it is not set.
_SEARCH_SERVICES = ("es", "aoss")
_DIMENSIONS = ("512", "256", "1024")


class SettingsError(Exception):
    """A setting is missing or is not what it should be. Names the variable."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What an operator decides. Times in minutes; tables by their deployed names, only those that the function uses."""

    tables: Mapping[Table, str] = field(default_factory=dict)
    hash_key_secret_arn: str = ""
    session_idle_minutes: int = 45
    admin_group: str = "keepsake-admins"
    admin_group_claim: str = "cognito:groups"
    topics_file: Path | None = None
    store_kind: str = "dynamodb"
    queue_url: str = ""
    consolidation_idle_minutes: int = 10
    consolidation_turn_count: int = 12
    search_endpoint: str = ""  # empty: no index, and recall makes do with digest and recency
    search_service: str = "es"
    search_alias: str = "keepsake"
    embedding_model_id: str = "amazon.titan-embed-text-v2:0"
    embedding_dimensions: int = 512
    extraction_model_id: str = ""  # empty: memories are made by rules
    archive_days: int = 365  # 0 keeps no archive
    lease_ms: int = 60_000  # of background work that nobody renews
    index_call_ms: int = 25_000  # what one write to the index may take; a lease must outlive it

    @property
    def idle_ms(self) -> int:
        """Idle time after which a session has expired, in milliseconds."""
        return self.session_idle_minutes * 60_000

    @property
    def consolidation_idle_ms(self) -> int:
        """Idle time after which a session is due for consolidation, in milliseconds."""
        return self.consolidation_idle_minutes * 60_000


def in_lambda(environment: Mapping[str, str]) -> bool:
    """Whether this process is a Lambda function, which alone has somebody to send traces to."""
    return "LAMBDA_TASK_ROOT" in environment


def settings_from(environment: Mapping[str, str]) -> Settings:
    """The settings that the environment holds. Raises SettingsError."""
    topics = environment.get("DOMAIN_TOPICS_FILE", "")
    return Settings(
        tables={table: environment[name] for name, table in _TABLE_VARIABLES.items() if environment.get(name)},
        hash_key_secret_arn=environment.get("HASH_KEY_SECRET_ARN", ""),
        session_idle_minutes=_whole(environment, "SESSION_IDLE_MINUTES", default=45, low=30, high=60),
        admin_group=environment.get("ADMIN_GROUP") or "keepsake-admins",
        admin_group_claim=environment.get("ADMIN_GROUP_CLAIM") or "cognito:groups",
        topics_file=Path(topics) if topics else None,
        queue_url=environment.get("QUEUE_URL", ""),
        consolidation_idle_minutes=_whole(environment, "CONSOLIDATION_IDLE_MINUTES", default=10, low=1, high=1440),
        consolidation_turn_count=_whole(environment, "CONSOLIDATION_TURN_COUNT", default=12, low=2, high=500),
        search_endpoint=_address(environment, "SEARCH_ENDPOINT"),
        search_service=_one_of(environment, "SEARCH_SERVICE", _SEARCH_SERVICES),
        search_alias=environment.get("SEARCH_ALIAS") or "keepsake",
        embedding_model_id=environment.get("EMBEDDING_MODEL_ID") or "amazon.titan-embed-text-v2:0",
        embedding_dimensions=int(_one_of(environment, "EMBEDDING_DIMENSIONS", _DIMENSIONS)),
        extraction_model_id=environment.get("EXTRACTION_MODEL_ID", ""),
        archive_days=_whole(environment, "ARCHIVE_DAYS", default=365, low=0, high=3650),
    )


def _whole(environment: Mapping[str, str], name: str, *, default: int, low: int, high: int) -> int:
    given = environment.get(name) or str(default)
    if not given.isdecimal() or not low <= int(given) <= high:
        raise SettingsError(f"{name} is a whole number from {low} to {high}")
    return int(given)


def _one_of(environment: Mapping[str, str], name: str, allowed: tuple[str, ...]) -> str:
    given = environment.get(name) or allowed[0]
    if given not in allowed:
        raise SettingsError(f"{name} is one of {', '.join(allowed)}")
    return given


def _address(environment: Mapping[str, str], name: str) -> str:
    given = environment.get(name, "")
    if given and not re.fullmatch(r"https?://[^\s/?#]+/?", given):
        raise SettingsError(f"{name} is an address like https://host, without a path")
    return given.rstrip("/")
