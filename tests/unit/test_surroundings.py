"""The real clock, ids, chance and hash keys."""

from __future__ import annotations

import base64
import json
import re
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import TYPE_CHECKING

import boto3
import pytest
from moto import mock_aws

from keepsake.adapters.hash_keys import FileHashKeys, SecretsManagerHashKeys
from keepsake.adapters.surroundings import RandomIds, SystemChance, SystemClock
from keepsake.domain.errors import StoreUnavailableError
from tests.fakes import FakeIds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mypy_boto3_secretsmanager import SecretsManagerClient

SHARED = Path(__file__).parents[2] / "shared"
KEY = base64.b64encode(bytes(32)).decode()


def test_the_clock_tells_milliseconds_and_sleeps() -> None:
    clock = SystemClock()
    before = clock.now_ms()
    clock.sleep(0.02)
    assert 15 <= clock.now_ms() - before < 5000
    assert abs(before - time.time() * 1000) < 5000


@pytest.mark.parametrize("ids", [RandomIds(), FakeIds()])
def test_ids_are_22_url_safe_characters_and_never_the_same(ids: RandomIds | FakeIds) -> None:
    made = [ids.new() for _ in range(1000)]
    assert len(set(made)) == 1000
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{22}", one) for one in made)


def test_chance_is_a_fraction_and_spread_out() -> None:
    drawn = [SystemChance().fraction() for _ in range(2000)]
    assert all(0 <= one < 1 for one in drawn)
    assert 0.4 < sum(drawn) / 2000 < 0.6


# ---- the key in a file ------------------------------------------------------------------------------------------------


def test_a_key_file_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "hash_key.json"
    version, key = FileHashKeys(path).current()
    assert (version, len(key)) == ("v1", 32)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert FileHashKeys(path).current() == (version, key)
    assert [file.name for file in path.parent.iterdir()] == ["hash_key.json"]
    assert FileHashKeys(tmp_path / "other.json").current()[1] != key


def test_processes_that_make_the_key_at_once_agree(tmp_path: Path) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(SHARED)!r}); from pathlib import Path;"
        "from keepsake.adapters.hash_keys import FileHashKeys;"
        f"print(FileHashKeys(Path({str(tmp_path / 'key.json')!r})).current()[1].hex())"
    )
    started = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(6)]
    keys = {process.communicate()[0] for process in started}
    assert len(keys) == 1
    assert len(keys.pop().strip()) == 64
    assert [file.name for file in tmp_path.iterdir()] == ["key.json"]


def test_of_many_that_find_no_key_at_the_same_moment_one_makes_it_for_all(tmp_path: Path) -> None:
    together = Barrier(8)

    def ask(path: Path) -> bytes:
        together.wait()
        return FileHashKeys(path).current()[1]

    with ThreadPoolExecutor(8) as pool:
        for attempt in range(20):
            assert len(set(pool.map(ask, [tmp_path / f"{attempt}.json"] * 8))) == 1


SPOILED = [
    "",
    "{}",
    "[]",
    "not json",
    json.dumps({"version": "v1", "key": "short"}),
    json.dumps({"version": "v1", "key": base64.b64encode(bytes(31)).decode()}),
    json.dumps({"version": "", "key": KEY}),
    json.dumps({"version": "v.1", "key": KEY}),
    json.dumps({"version": 1, "key": KEY}),
    json.dumps({"version": "v1", "key": KEY + "!!"}),
]


@pytest.mark.parametrize("text", SPOILED)
def test_a_spoiled_key_file_is_refused_and_not_replaced(tmp_path: Path, text: str) -> None:
    path = tmp_path / "key.json"
    path.write_text(text)
    with pytest.raises(StoreUnavailableError) as raised:
        FileHashKeys(path).current()
    assert KEY not in str(raised.value)
    assert path.read_text() == text


def test_a_key_file_that_cannot_be_had_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreUnavailableError):
        FileHashKeys(tmp_path / "file" / "key.json").current()


def test_a_file_key_needs_no_aws_sdk() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(SHARED)!r}); import keepsake.adapters.hash_keys; print('botocore' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


# ---- the key in Secrets Manager ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def secrets_manager() -> Iterator[SecretsManagerClient]:
    with mock_aws():
        yield boto3.client("secretsmanager")


def secret(client: SecretsManagerClient, text: str, name: str | None = None) -> str:
    return client.create_secret(Name=name or RandomIds().new(), SecretString=text)["ARN"]


def test_the_secret_is_fetched_when_first_asked_for_and_once(secrets_manager: SecretsManagerClient) -> None:
    arn = secret(secrets_manager, json.dumps({"version": "v2", "key": KEY}))
    calls: list[str] = []
    secrets_manager.meta.events.register("before-call.secretsmanager", lambda model, **_: calls.append(model.name))
    keys = SecretsManagerHashKeys(secrets_manager, arn)
    assert calls == []
    assert keys.current() == keys.current() == ("v2", bytes(32))
    assert calls == ["GetSecretValue"]


def test_a_client_is_made_when_none_was_given(secrets_manager: SecretsManagerClient) -> None:
    arn = secret(secrets_manager, json.dumps({"version": "v1", "key": KEY}))
    assert SecretsManagerHashKeys.lazily(arn).current() == ("v1", bytes(32))


@pytest.mark.parametrize("text", SPOILED[1:])  # Secrets Manager keeps no empty secret
def test_a_spoiled_secret_is_unavailable(secrets_manager: SecretsManagerClient, text: str) -> None:
    keys = SecretsManagerHashKeys(secrets_manager, secret(secrets_manager, text))
    with pytest.raises(StoreUnavailableError):
        keys.current()


def test_a_secret_that_cannot_be_had_is_unavailable_and_asked_for_again_the_next_time(
    secrets_manager: SecretsManagerClient,
) -> None:
    keys = SecretsManagerHashKeys(secrets_manager, "late")
    with pytest.raises(StoreUnavailableError, match="ResourceNotFoundException"):
        keys.current()
    secret(secrets_manager, json.dumps({"version": "v1", "key": KEY}), "late")
    assert keys.current() == ("v1", bytes(32))
