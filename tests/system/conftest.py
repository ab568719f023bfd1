"""Services that the system tests share: each test speaks as users of its own."""

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from tests.system.running import Service, moto, running


@pytest.fixture(scope="session")
def sqlite_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service on the embedded stores."""
    with running(tmp_path_factory.mktemp("service") / "data") as service:
        yield service


@pytest.fixture(scope="session")
def dynamodb_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service on DynamoDB, as moto has it."""
    with (
        moto() as endpoint,
        running(tmp_path_factory.mktemp("service") / "data", "--endpoint", endpoint, stores="dynamodb") as service,
    ):
        yield service


@pytest.fixture(params=["sqlite", "dynamodb"])
def service(request: pytest.FixtureRequest) -> Service:
    """A service on each of the stores in turn."""
    return cast("Service", request.getfixturevalue(f"{request.param}_service"))


@pytest.fixture
def user() -> str:
    """A user whom no other test knows."""
    return f"user-{secrets.token_hex(6)}"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder that is not there yet."""
    return tmp_path / "data"
