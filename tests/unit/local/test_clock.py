"""The shifted clock and its durations."""

import time
from pathlib import Path

import pytest

from local.clock import ShiftedClock, parse_duration
from local.folder import LocalError


@pytest.mark.parametrize(
    ("text", "seconds"), [("46m", 2760), ("2h", 7200), ("7d", 604800), ("90s", 90), ("1h30m", 5400), ("1d2h3m4s", 93784)]
)
def test_a_duration_is_read(text: str, seconds: int) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "46", "m", "-5m", "1.5h", "30m1h", "5 m", "٤٦m", "0s", "0h0m", "4000d", "99999999999d", "1h1h"]
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(LocalError, match="duration"):
        parse_duration(text)


def test_the_shift_survives_a_restart(tmp_path: Path) -> None:
    clock = ShiftedClock(tmp_path / "clock.json")
    clock.advance(2760)
    clock.advance(60)
    again = ShiftedClock(tmp_path / "clock.json")
    assert again.shift_s == 2820
    assert abs(again.now_ms() - time.time() * 1000 - 2_820_000) < 5_000


@pytest.mark.parametrize("seconds", [0, -1, 3651 * 86400])
def test_the_clock_never_goes_back_nor_beyond_ten_years(tmp_path: Path, seconds: int) -> None:
    clock = ShiftedClock(tmp_path / "clock.json")
    with pytest.raises(LocalError):
        clock.advance(seconds)
    assert clock.shift_s == 0


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"shift_ms": "1"}', '{"shift_ms": -1}', '{"shift_ms": 1.5}', "\x00"])
def test_a_broken_clock_file_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "clock.json").write_text(content)
    with pytest.raises(LocalError, match=r"clock\.json"):
        ShiftedClock(tmp_path / "clock.json")
