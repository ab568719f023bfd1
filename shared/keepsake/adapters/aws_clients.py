"""Clients of AWS services, made by the SDK's core.

boto3 would make the very same ones; but what it brings along (resources, transfers of files) every new container would load.
"""

from functools import lru_cache
from typing import Any

import botocore.session
from botocore.config import Config


def make_service_client(service: str, *, region: str | None, endpoint: str | None, config: Config) -> Any:
    """A client of `service`. `region` and `endpoint` default to what the environment says."""
    return _session().create_client(service, region_name=region, endpoint_url=endpoint, config=config)


@lru_cache(maxsize=1)
def _session() -> botocore.session.Session:
    """One for all clients: it keeps the credentials, and the descriptions of services and endpoints that it has read."""
    return botocore.session.get_session()
