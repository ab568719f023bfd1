"""Extraction over Bedrock's wire: whatever a model or the service does, something is learned, or the turns are tried again."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from keepsake.adapters.bedrock_converse import ConverseModel
from keepsake.adapters.learning_files import load_extraction_rules, load_model_table
from keepsake.domain.errors import ModelUnavailableError
from keepsake.domain.memories.values import MadeBy
from keepsake.services.extraction import Extracted, Extraction
from tests.faults.bedrock_server import Bedrock, Reply, always, bedrock, error
from tests.model_answers import answer, item, memory, turn

pytestmark = pytest.mark.sockets

NOVA, HAIKU = "amazon.nova-lite-v1:0", "anthropic.claude-haiku-4-5-20251001-v1:0"
SAID = "I live in Oslo, and you can write to ada@example.org."
HOME = answer(item("facts", "I live in Oslo.", attribute="home", value="Oslo", replaces=[1]))
MAIL = answer(item("facts", "You can write to [EMAIL_1].", attribute="email", value="[EMAIL_1]"))
MADE_UP = answer(item("facts", "I am a plumber.", attribute="occupation", value="plumber"))


def said(answered: Mapping[str, Any] | str, *, model_id: str = HAIKU, reason: str = "end_turn") -> Reply:
    if model_id == NOVA:
        block: Mapping[str, Any] = {"toolUse": {"toolUseId": "t", "name": "memories", "input": answered}}
    else:
        block = {"text": answered if isinstance(answered, str) else json.dumps(answered)}
    usage = {"inputTokens": 900, "outputTokens": 60, "totalTokens": 960}
    message = {"role": "assistant", "content": [block]}
    return always({"output": {"message": message}, "stopReason": reason, "usage": usage, "metrics": {"latencyMs": 1}})


@pytest.fixture
def service() -> Iterator[Bedrock]:
    with bedrock(said(HOME)) as running:
        yield running


def extract(service: Bedrock, model_id: str = HAIKU, *, last_resort: bool = False) -> Extracted:
    model = ConverseModel(service.client(attempts=1), model_id, load_model_table())
    return Extraction(load_extraction_rules(), model).extract([turn(SAID)], (), (memory("Rome"),), last_resort=last_resort)


@pytest.mark.parametrize("model_id", [NOVA, HAIKU])
def test_a_model_is_asked_in_its_way_and_what_it_answers_is_learned(service: Bedrock, model_id: str) -> None:
    service.usual = said(HOME, model_id=model_id, reason="tool_use")
    found = extract(service, model_id)
    [statement] = found.statements
    assert (statement.value, statement.made_by, statement.replaces[0].value) == ("Oslo", MadeBy.MODEL, "Rome")
    assert (found.calls, found.input_tokens, found.output_tokens) == (1, 900, 60)


def test_contact_data_never_leaves_and_comes_back_into_what_is_learned(service: Bedrock) -> None:
    service.usual = said(MAIL)
    [statement] = extract(service).statements
    assert "ada@example.org" not in json.dumps(service.asked[0].body)
    assert (statement.value, statement.text) == ("ada@example.org", "You can write to ada@example.org.")


USELESS: dict[str, Reply] = {
    "a refusal": said("", reason="guardrail_intervened"),
    "prose": said("I would rather not say."),
    "cut": said(json.dumps(HOME)[:-9], reason="max_tokens"),
    "cut without saying so": said(json.dumps(HOME)[:-9]),
    "nothing": said(answer()),
    "absurd": said(MADE_UP),
    "a list": said("[1, 2]"),
    "no words": said("", reason="malformed_model_output"),
}


@pytest.mark.parametrize("useless", USELESS)
def test_a_useless_answer_is_repaired(service: Bedrock, useless: str) -> None:
    service.replies = [USELESS[useless]]
    found = extract(service)
    assert [statement.made_by for statement in found.statements] == [MadeBy.MODEL]
    assert (found.calls, sum(found.problems.values())) == (2, 1)


@pytest.mark.parametrize("useless", USELESS)
def test_where_the_repair_is_useless_too_the_rules_take_over(service: Bedrock, useless: str) -> None:
    service.usual = USELESS[useless]
    found = extract(service)
    assert [(statement.value, statement.made_by) for statement in found.statements] == [("Oslo", MadeBy.RULES)]
    assert len(service.asked) == 2


@pytest.mark.parametrize(
    "down",
    [error("ThrottlingException", 429), error("ServiceUnavailableException", 503), always({}, delay=0.6)],
    ids=["throttled", "down", "slow"],
)
def test_a_model_that_does_not_answer_leaves_the_turns_to_be_tried_again_until_the_last_resort(
    service: Bedrock, down: Reply
) -> None:
    service.usual = down
    with pytest.raises(ModelUnavailableError):
        extract(service)
    found = extract(service, last_resort=True)
    assert [statement.made_by for statement in found.statements] == [MadeBy.RULES]
    assert found.unavailable
