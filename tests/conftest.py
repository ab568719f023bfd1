"""What holds for every test: no network beyond this machine, none at all for pure ones, and an AWS account that is not there."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

HERE = Path(__file__).parent
WITHOUT_SOCKETS = (HERE / "unit", HERE / "properties")

SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile("ci", max_examples=150, derandomize=True, deadline=None, suppress_health_check=SLOW_IS_FINE)
settings.register_profile("desk", max_examples=60, deadline=None, suppress_health_check=SLOW_IS_FINE)
settings.load_profile("ci" if os.environ.get("CI") else "desk")

for _name in [name for name in os.environ if name.startswith(("AWS_", "TABLE_"))]:
    del os.environ[_name]
os.environ.update(
    AWS_ACCESS_KEY_ID="nobody",
    AWS_SECRET_ACCESS_KEY="nothing",
    AWS_DEFAULT_REGION="eu-west-1",
    AWS_EC2_METADATA_DISABLED="true",
    AWS_CONFIG_FILE=os.devnull,
    AWS_SHARED_CREDENTIALS_FILE=os.devnull,
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Bar the network by folder, so that no test has to remember it."""
    for item in items:
        pure = any(folder in item.path.parents for folder in WITHOUT_SOCKETS)
        item.add_marker(pytest.mark.disable_socket if pure else pytest.mark.allow_hosts(["127.0.0.1", "::1"]))
