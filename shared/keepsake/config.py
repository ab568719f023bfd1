"""Settings from the environment: the only module that reads it. A wrong setting fails at the first call, by its name."""

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

    @property
    def idle_ms(self) -> int:
        """Idle time after which a session has expired, in milliseconds."""
        return self.session_idle_minutes * 60_000


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
    )


def _whole(environment: Mapping[str, str], name: str, *, default: int, low: int, high: int) -> int:
    given = environment.get(name) or str(default)
    if not given.isdecimal() or not low <= int(given) <= high:
        raise SettingsError(f"{name} is a whole number from {low} to {high}")
    return int(given)
