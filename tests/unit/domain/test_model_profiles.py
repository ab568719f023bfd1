from copy import deepcopy
from fractions import Fraction
from math import ceil
from typing import Any

import pytest

from keepsake.adapters.data_files import load_model_profiles
from keepsake.domain.errors import UnknownModelProfileError
from keepsake.domain.model_profiles import parse_model_profiles

TABLE: dict[str, Any] = {
    "minimum_share": 0.25,
    "scratch_pad_share": 0.5,
    "summary_share": 0.15,
    "profiles": {
        "default": {
            "window": 800,
            "safety_factor": 1.1,
            "tiers": {"working": 300, "page": 100, "live": 160, "episodic": 80, "domain": 120, "institutional": 40},
        },
    },
}


@pytest.mark.parametrize(
    ("name", "window", "tiers", "cloud_filter"),
    [
        ("medgemma", 4_000, [1_500, 500, 800, 400, 600, 200], False),
        ("default", 8_000, [3_000, 1_000, 1_600, 800, 1_200, 400], False),
        ("claude", 128_000, [24_000, 12_000, 24_000, 12_000, 24_000, 8_000], True),
    ],
)
def test_the_profiles_that_come_with_the_package(name: str, window: int, tiers: list[int], cloud_filter: bool) -> None:
    profile = load_model_profiles().get(name)
    assert (profile.name, profile.window, list(profile.tiers.values()), profile.cloud_filter) == (
        name,
        window,
        tiers,
        cloud_filter,
    )


def test_an_unknown_profile_is_an_error_that_does_not_repeat_the_name() -> None:
    with pytest.raises(UnknownModelProfileError) as caught:
        load_model_profiles().get("gpt-nobody")
    assert "gpt-nobody" not in caught.value.detail


def test_a_factor_is_what_is_written_and_rounding_is_upwards() -> None:
    profile = parse_model_profiles(TABLE).get("default")
    assert profile.safety_factor == Fraction(11, 10)
    assert [profile.scaled(counted) for counted in (0, 1, 9, 10, 20)] == [0, 2, 10, 11, 22]


def test_what_is_affordable_is_the_most_that_fits() -> None:
    profile = parse_model_profiles(TABLE).get("default")
    for tokens in range(200):
        counted = profile.affordable(tokens)
        assert profile.scaled(counted) <= tokens < profile.scaled(counted + 1)
        assert profile.scaled(tokens) == ceil(tokens * Fraction(11, 10))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("minimum_share",), 1.0),
        (("summary_share",), "a lot"),
        (("profiles",), {}),
        (("profiles",), None),
        (("profiles", "default"), 7),
        (("profiles", "default", "window"), 799),
        (("profiles", "default", "window"), True),
        (("profiles", "default", "safety_factor"), 0.9),
        (("profiles", "default", "safety_factor"), True),
        (("profiles", "default", "cloud_filter"), "yes"),
        (("profiles", "default", "tiers", "page"), 0),
        (("profiles", "default", "tiers", "attic"), 10),
    ],
)
def test_a_table_that_makes_no_sense_is_refused(path: tuple[str, ...], value: object) -> None:
    table = deepcopy(TABLE)
    place = table
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(ValueError, match="model profiles: "):
        parse_model_profiles(table)
