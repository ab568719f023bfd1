"""Titan's embeddings through a real client of the SDK, against a server that speaks Bedrock's wire and fails as it is told."""

import time
from collections.abc import Iterator

import pytest

from keepsake.adapters.bedrock_embedding import TitanEmbedder
from keepsake.domain.errors import ModelUnavailableError
from keepsake.domain.sanitizing import for_embedding
from keepsake.domain.vectors import Vector
from keepsake.ports.embedding import Purpose
from tests.faults.bedrock_server import SECRET, Answered, Asked, Bedrock, Reply, always, bedrock, error

pytestmark = pytest.mark.sockets


def components(text: str, dimensions: int = 512) -> list[float]:
    return [((len(text) * 31 + ord(text[0])) % (place + 7)) / 7 - 0.5 for place in range(dimensions)]


def embedded(asked: Asked) -> Answered:
    text = asked.body["inputText"]
    return Answered({"embedding": components(text, asked.body["dimensions"]), "inputTextTokenCount": len(text)})


@pytest.fixture
def service() -> Iterator[Bedrock]:
    with bedrock(embedded) as running:
        yield running


def vectors(service: Bedrock, *texts: str, attempts: int = 2) -> tuple[Vector, ...]:
    embedder = TitanEmbedder(service.client(attempts))
    return embedder.embed([for_embedding(text) for text in texts], Purpose.PASSAGE)


def test_a_text_is_a_call_that_says_model_dimensions_and_that_it_shall_be_of_length_one(service: Bedrock) -> None:
    [vector] = vectors(service, "Ada lives in Oslo")
    assert vector == Vector.of(components("Ada lives in Oslo"))
    assert service.asked == [
        Asked("invoke", "amazon.titan-embed-text-v2:0", {"inputText": "Ada lives in Oslo", "dimensions": 512, "normalize": True})
    ]


def test_the_model_is_named_with_its_dimensions(service: Bedrock) -> None:
    model = TitanEmbedder(service.client(), dimensions=1024).model
    assert (model.name, model.dimensions) == ("amazon.titan-embed-text-v2:0", 1024)
    with pytest.raises(ValueError, match="dimensions"):
        TitanEmbedder(service.client(), dimensions=384)


def test_every_text_gets_its_own_vector_whichever_answer_comes_first(service: Bedrock) -> None:
    def late(asked: Asked) -> Answered:
        answered = embedded(asked)
        return Answered(answered.body, delay=0.2 if asked.body["inputText"] == "a" else 0.0)

    service.usual = late
    texts = ("a", "bb", "ccc", "สวัสดี", "😀😀")
    assert vectors(service, *texts) == tuple(Vector.of(components(text)) for text in texts)


def test_a_blank_text_has_no_direction_and_is_not_sent(service: Bedrock) -> None:
    blank, other = vectors(service, " \n\u200b", "x")
    assert not any(blank.values)
    assert blank.dimensions == other.dimensions == 512
    assert [asked.body["inputText"] for asked in service.asked] == ["x"]


@pytest.mark.parametrize(
    ("text", "most"),
    [("word " * 12_000, 4 * 8_192), ("漢" * 60_000, 8_192), ("สวัสดี word " * 5_000, 20_000), ("x" * 60_000, 4 * 8_192)],
)
def test_a_text_is_cut_at_the_models_limits(service: Bedrock, text: str, most: int) -> None:
    vectors(service, text)
    sent = service.asked[0].body["inputText"]
    assert text.startswith(sent)
    assert most / 2 < len(sent) <= most


def test_a_text_that_still_has_too_many_tokens_is_tried_by_halves(service: Bedrock) -> None:
    service.replies = [error("ValidationException"), error("ValidationException")]
    vectors(service, "漢" * 60_000)
    assert [len(asked.body["inputText"]) for asked in service.asked] == [8_192, 4_096, 2_048]


def test_a_short_text_that_is_refused_is_not_tried_again(service: Bedrock) -> None:
    service.usual = error("ValidationException")
    with pytest.raises(ModelUnavailableError):
        vectors(service, "x")
    assert len(service.asked) == 1


@pytest.mark.parametrize("code", ["ThrottlingException", "ServiceUnavailableException", "ModelNotReadyException"])
def test_what_passes_is_tried_again(service: Bedrock, code: str) -> None:
    service.replies = [error(code, 429 if code == "ThrottlingException" else 503)]
    assert vectors(service, "x") == (Vector.of(components("x")),)
    assert len(service.asked) == 2


FAULTS: dict[str, Reply] = {
    "throttled": error("ThrottlingException", 429),
    "denied": error("AccessDeniedException", 403),
    "a proxy's page": lambda _: Answered(f"<html>{SECRET}</html>".encode(), 502),
    "an unknown error": error(SECRET, 500),
    "no JSON": always(b"no"),
    "no embedding": always({"vector": [1.0]}),
    "no list": always({"embedding": 7}),
    "no numbers": always({"embedding": ["a"] * 512}),
    "too few dimensions": always({"embedding": [0.5] * 256}),
    "too many dimensions": always({"embedding": [0.5] * 1024}),
    "two vectors": always({"embedding": [[0.5] * 512, [0.5] * 512]}),
    "no direction": always({"embedding": [0.0] * 512}),
    "no number": always(b'{"embedding": [NaN' + b", 0.5" * 511 + b"]}"),
    "too late": always({"embedding": [0.5] * 512}, delay=0.6),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_no_sensible_answer_means_that_the_model_is_unavailable_and_nothing_else_is_told(service: Bedrock, fault: str) -> None:
    service.usual = FAULTS[fault]
    with pytest.raises(ModelUnavailableError) as raised:
        vectors(service, "Ada", attempts=1)
    assert SECRET not in str(raised.value)
    assert "Ada" not in str(raised.value)
    assert raised.value.__cause__ is None


def test_one_fault_among_many_texts_gives_no_vectors_at_all(service: Bedrock) -> None:
    service.usual = lambda asked: (
        error("AccessDeniedException", 403)(asked) if asked.body["inputText"] == "c" else embedded(asked)
    )
    with pytest.raises(ModelUnavailableError):
        vectors(service, *"abcdef")


def test_a_mute_server_costs_what_the_timeouts_say(service: Bedrock) -> None:
    service.usual = always({"embedding": [0.5] * 512}, delay=2)
    began = time.monotonic()
    with pytest.raises(ModelUnavailableError):
        vectors(service, "x", attempts=1)
    assert time.monotonic() - began < 1.5
