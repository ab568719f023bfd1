"""Keyed hashes: how an id that a caller chose is named where the id itself must not stand (audit, control, queues)."""

import hmac
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class KeyedHash:
    """HMAC-SHA-256 under one versioned key. The version leads each hash, so that a new key can stand beside an old one."""

    version: str
    key: bytes = field(repr=False)

    def of(self, purpose: str, *parts: str) -> str:
        """The hash of `parts` for one purpose: 24 bytes, base64url, after the key's version.

        Each part is preceded by its length, so ("ab", "c") and ("a", "bc") differ; equal parts under two purposes differ too.
        """
        return f"{self.version}.{urlsafe_b64encode(self._digest(purpose, *parts)[:24]).decode()}"

    def short(self, purpose: str, *parts: str) -> str:
        """The first 8 bytes of the hash, as 16 hexadecimal digits: enough to tell apart what one user has."""
        return self._digest(purpose, *parts)[:8].hex()

    def number(self, purpose: str, *parts: str) -> int:
        """A number from 0 to 65,535, evenly drawn by the hash of `parts`."""
        return int.from_bytes(self._digest(purpose, *parts)[:2], "big")

    def _digest(self, *parts: str) -> bytes:
        return hmac.digest(self.key, b"".join(map(_framed, parts)), "sha256")


def _framed(part: str) -> bytes:
    raw = part.encode()
    return len(raw).to_bytes(4, "big") + raw
