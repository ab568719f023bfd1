"""Where the keyed hashes' secret is kept: a file of the data folder, or Secrets Manager.

Both keep the same JSON, `{"version": "v1", "key": "<base64 of 32 bytes or more>"}`. Keys never reach a message or a repr.
The AWS SDK is loaded where it is used: a service on embedded stores reads a file, and does without.
"""

from __future__ import annotations

import binascii
import json
import os
import secrets
from base64 import b64decode, b64encode
from threading import Lock
from typing import TYPE_CHECKING

from keepsake.domain.errors import StoreError, StoreUnavailableError

if TYPE_CHECKING:
    from pathlib import Path

    from mypy_boto3_secretsmanager import SecretsManagerClient

_KEY_BYTES = 32
_FIRST_VERSION = "v1"


def make_client(*, region: str | None = None, endpoint: str | None = None) -> SecretsManagerClient:
    """A client whose timeouts and retries are set, not inherited."""
    from botocore.config import Config  # noqa: PLC0415

    from keepsake.adapters.aws_clients import make_service_client  # noqa: PLC0415

    config = Config(connect_timeout=1, read_timeout=2.5, retries={"mode": "standard", "total_max_attempts": 3})
    client: SecretsManagerClient = make_service_client("secretsmanager", region=region, endpoint=endpoint, config=config)
    return client


class FileHashKeys:
    """HashKeys in a file that its owner alone can read; made when it is first needed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: tuple[str, bytes] | None = None

    def current(self) -> tuple[str, bytes]:
        """See HashKeys."""
        if self._known is None:
            try:
                if not self._path.exists():
                    _create_once(self._path)
                self._known = _parsed(self._path.read_bytes())
            except OSError as error:
                raise StoreUnavailableError(f"the hash key's file cannot be used ({type(error).__name__})") from None
        return self._known


class SecretsManagerHashKeys:
    """HashKeys in a secret, fetched when first asked for and then kept in memory."""

    def __init__(self, client: SecretsManagerClient | None, arn: str) -> None:
        self._client = client  # None: made when first needed
        self._arn = arn
        self._fetching = Lock()
        self._known: tuple[str, bytes] | None = None

    @classmethod
    def lazily(cls, arn: str) -> SecretsManagerHashKeys:
        """With a client of its own, made when the key is first asked for."""
        return cls(None, arn)

    def current(self) -> tuple[str, bytes]:
        """See HashKeys."""
        with self._fetching:
            if self._known is None:
                self._known = self._fetched()
        return self._known

    def _fetched(self) -> tuple[str, bytes]:
        from keepsake.adapters.aws_errors import aws_errors_mapped  # noqa: PLC0415

        try:
            with aws_errors_mapped("GetSecretValue"):
                self._client = self._client or make_client()
                answer = self._client.get_secret_value(SecretId=self._arn)
        except StoreError as error:  # whatever it is, nothing can be written until an operator or time has mended it
            raise StoreUnavailableError(error.detail) from None
        return _parsed(answer.get("SecretString", "").encode())


def _create_once(path: Path) -> None:
    """Put a new key at `path` unless one is there: whole or not at all, and of two that try at once one wins."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    key = b64encode(secrets.token_bytes(_KEY_BYTES)).decode()
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump({"version": _FIRST_VERSION, "key": key}, file)
            file.flush()
            os.fsync(file.fileno())
        _link(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def _link(draft: Path, path: Path) -> None:
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        return  # the other's key stands
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # or a loss of power could take the key, and with it every name made by it
    finally:
        os.close(folder)


def _parsed(text: bytes) -> tuple[str, bytes]:
    try:
        stored = json.loads(text)
        version, key = stored["version"], b64decode(stored["key"], validate=True)
    except (ValueError, KeyError, TypeError, binascii.Error):
        raise StoreUnavailableError("the hash key is not as it should be") from None
    if not (isinstance(version, str) and version.isascii() and version.isalnum() and len(key) >= _KEY_BYTES):
        raise StoreUnavailableError("the hash key is not as it should be")
    return version, key
