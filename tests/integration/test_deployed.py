"""Each function as it is deployed: made of the variables that the template gives it, on the tables it may reach."""

from collections.abc import Iterator, Mapping

import boto3
import pytest
from moto import mock_aws

from keepsake import bootstrap
from keepsake.config import settings_from
from local.tables import create_tables
from local.template import load_template, read_template, resources
from tests.world import LambdaContext, handler, load_event

KEY = '{"version": "v1", "key": "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3g="}'
CALLS = {
    "turn": ["turn"],
    "sessions": ["sessions_list", "sessions_read", "sessions_turns", "scratchpad_write", "scratchpad_read", "scratchpad_remove"],
    "profile": ["profile_read", "profile_write", "profile_reset"],
    "audit": ["audit_verify"],
    "health": ["health"],
    "consolidation": ["consolidation"],
}


@pytest.fixture
def names() -> Iterator[Mapping[str, str]]:
    """Names of the tables by the template's own, and of the secret."""
    with mock_aws():
        template = load_template()
        tables = create_tables(boto3.client("dynamodb"), template, prefix="deployed-")
        secret = boto3.client("secretsmanager").create_secret(Name="key", SecretString=KEY)
        yield {definition.logical_name: tables[definition.table] for definition in template.tables} | {"secret": secret["ARN"]}


def environment_of(function: str, names: Mapping[str, str]) -> dict[str, str]:
    """The variables that the template gives a function, its references resolved."""
    functions = dict(resources(read_template(), "AWS::Serverless::Function"))
    variables = functions[f"{function.capitalize()}Function"]["Properties"]["Environment"]["Variables"]
    return {name: _resolved(value, names) for name, value in variables.items()}


def _resolved(value: object, names: Mapping[str, str]) -> str:
    match value:
        case {"Ref": str(name)} if name in names:
            return names[name]
        case {"Ref": str(name)} if "Secret" in name or "Key" in name:
            return names["secret"]
        case str(plain):
            return plain
        case _:
            return ""


def test_every_function_answers_with_only_what_the_template_gives_it(names: Mapping[str, str]) -> None:
    for function, events in CALLS.items():
        bootstrap.use(bootstrap.deployed(settings_from(environment_of(function, names))))
        bootstrap.runtime().prime()
        for event in events:
            answer = handler(function)(load_event(event), LambdaContext())
            assert answer.get("statusCode", 200) in (200, 204), (function, event, answer)
