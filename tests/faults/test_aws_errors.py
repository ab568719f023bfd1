"""Every error that a call of the AWS SDK can end in is mapped, and none is quoted."""

from __future__ import annotations

import inspect
from typing import Any

import botocore.exceptions
import botocore.parsers
import pytest
from botocore.exceptions import BotoCoreError

from keepsake.adapters.aws_errors import ERRORS_BY_CODE, aws_errors_mapped
from keepsake.adapters.dynamodb_store import make_client
from keepsake.domain.errors import StoreError, StoreUnavailableError
from tests.faults.dynamodb_wire import SECRET

CANCELLATION = "TransactionCanceledException"


def test_every_error_that_the_service_model_names_for_our_calls_is_mapped_by_name() -> None:
    client = make_client()
    model = client.meta.service_model
    ours = ("BatchGetItem", "Query", "TransactWriteItems")
    modelled = {shape.name for name in ours for shape in model.operation_model(name).error_shapes}
    assert modelled - set(ERRORS_BY_CODE) == {CANCELLATION}


@pytest.mark.parametrize("code", sorted(ERRORS_BY_CODE))
def test_an_error_of_each_code_becomes_what_the_map_says(code: str) -> None:
    response: Any = {"Error": {"Code": code, "Message": SECRET}, "ResponseMetadata": {"HTTPStatusCode": 400}}
    with pytest.raises(StoreError) as raised, aws_errors_mapped("Query"):
        raise botocore.exceptions.ClientError(response, "Query")
    assert type(raised.value) is ERRORS_BY_CODE[code]
    assert SECRET not in str(raised.value)


SDK_ERRORS = [
    kind
    for _, kind in inspect.getmembers(botocore.exceptions, inspect.isclass)
    if issubclass(kind, Exception) and not issubclass(kind, (botocore.exceptions.ClientError, Warning))
]
PASSING = {
    "ConnectTimeoutError",
    "ReadTimeoutError",
    "EndpointConnectionError",
    "ConnectionClosedError",
    "ProxyConnectionError",
    "SSLError",
    "IncompleteReadError",
    "ResponseStreamingError",
    "CredentialRetrievalError",
}


@pytest.mark.parametrize("kind", [*SDK_ERRORS, botocore.parsers.ResponseParserError], ids=lambda kind: kind.__name__)
def test_no_error_of_the_sdk_gets_out(kind: type[Exception]) -> None:
    raised_by_sdk = kind.__new__(kind)  # their constructors want all sorts of parts
    with pytest.raises(StoreError) as raised, aws_errors_mapped("Query"):
        raise raised_by_sdk
    if kind.__name__ in PASSING:
        assert isinstance(raised.value, StoreUnavailableError)
    if kind in {botocore.exceptions.NoCredentialsError, botocore.exceptions.ParamValidationError, BotoCoreError}:
        assert type(raised.value) is StoreError


def test_the_client_waits_and_retries_as_stated() -> None:
    client = make_client()
    config: Any = client.meta.config
    assert (config.connect_timeout, config.read_timeout) == (1, 2.5)
    assert config.retries == {"mode": "standard", "total_max_attempts": 2}
    assert config.tcp_keepalive
    assert make_client(endpoint="http://127.0.0.1:1", region="eu-north-1").meta.endpoint_url == "http://127.0.0.1:1"
