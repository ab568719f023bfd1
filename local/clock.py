"""A clock that can be put forward, so that expiry and schedules can be tried without waiting.

The shift survives a restart, and time never goes back: what was written under it would stand in the future.
"""

import json
import re
import threading
import time
from pathlib import Path

from local.folder import LocalError, write_whole

UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}
LONGEST_S = 3650 * 86400  # ten years: far enough to see everything expire, near enough for every date to have four digits


def parse_duration(text: str) -> int:
    """Whole seconds of `46m`, `2h`, `7d`, `90s` or `1h30m`. Raises LocalError for anything else."""
    if not re.fullmatch(r"(?:\d{1,9}d)?(?:\d{1,9}h)?(?:\d{1,9}m)?(?:\d{1,9}s)?", text, re.ASCII) or not text:
        raise LocalError("a duration is written like 46m, 2h, 7d, 90s or 1h30m")
    seconds = sum(int(number) * UNITS[unit] for number, unit in re.findall(r"(\d+)([dhms])", text))
    if not 0 < seconds <= LONGEST_S:
        raise LocalError("a duration is longer than nothing and at most ten years")
    return seconds


class ShiftedClock:
    """The real time plus a shift that is kept in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._shift_ms = self._read()

    @property
    def shift_s(self) -> int:
        """Whole seconds ahead of the real time."""
        return self._shift_ms // 1000

    def now_ms(self) -> int:
        """Milliseconds since the epoch, shifted."""
        return time.time_ns() // 1_000_000 + self._shift_ms

    def sleep(self, seconds: float) -> None:
        """Wait, in real time."""
        time.sleep(seconds)

    def advance(self, seconds: int) -> None:
        """Go `seconds` (1 or more) ahead, and keep it. Raises LocalError beyond ten years in all."""
        with self._lock:
            shift_ms = self._shift_ms + seconds * 1000
            if seconds < 1 or shift_ms > LONGEST_S * 1000:
                raise LocalError("the clock goes forward, and at most ten years")
            write_whole(self._path, json.dumps({"shift_ms": shift_ms}).encode())
            self._shift_ms = shift_ms

    def _read(self) -> int:
        try:
            shift_ms = json.loads(self._path.read_bytes())["shift_ms"]
        except FileNotFoundError:
            return 0
        except (ValueError, KeyError, TypeError):
            raise LocalError(f"{self._path} does not read as a clock's shift: remove it") from None
        if not isinstance(shift_ms, int) or not 0 <= shift_ms <= LONGEST_S * 1000:
            raise LocalError(f"{self._path} does not read as a clock's shift: remove it")
        return shift_ms
