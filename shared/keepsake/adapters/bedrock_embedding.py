"""Titan Text Embeddings V2 through Bedrock: a text a call, so that none can get its neighbour's vector."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from keepsake.adapters.bedrock_client import RequestRefusedError, bedrock_errors_mapped
from keepsake.domain.errors import ModelUnavailableError
from keepsake.domain.text import is_blank
from keepsake.domain.vectors import Vector
from keepsake.ports.embedding import EmbeddingModel, Purpose

if TYPE_CHECKING:
    from mypy_boto3_bedrock_runtime import BedrockRuntimeClient

    from keepsake.domain.sanitizing import SanitizedText

TITAN_V2 = "amazon.titan-embed-text-v2:0"
DIMENSIONS = (256, 512, 1024)
# The model takes 8,192 tokens and 50,000 characters. It has 4.7 characters of English a token; of other scripts fewer.
_LONGEST_TEXT = 50_000
_LONGEST_TOKENS = 8_192
_ASCII_PER_TOKEN = 4
_SURELY_SHORT = 2_000  # characters; a longer text that is refused is tried by halves
# Unrelated texts lie around 0.1, paraphrases around 0.7. An estimate: it scales scores, and ranks nothing on its own.
_WEAK, _STRONG = 0.05, 0.7


class TitanEmbedder:
    """Embedder on a client of Bedrock, for any number of threads. At most `parallel` calls run at once for one list of texts."""

    def __init__(
        self, client: BedrockRuntimeClient, *, model_id: str = TITAN_V2, dimensions: int = 512, parallel: int = 8
    ) -> None:
        if dimensions not in DIMENSIONS:
            raise ValueError(f"the model makes vectors of {DIMENSIONS} dimensions")
        self._client = client
        self._model_id = model_id
        self._parallel = parallel
        self._model = EmbeddingModel(model_id, dimensions, weak_below=_WEAK, strong_above=_STRONG)

    @property
    def model(self) -> EmbeddingModel:
        """The model by its id in Bedrock."""
        return self._model

    def embed(self, texts: Sequence[SanitizedText], purpose: Purpose) -> tuple[Vector, ...]:  # noqa: ARG002 - it tells none apart
        """One vector for each text, in order; a blank text has no direction. Raises ModelUnavailableError; then there is none."""
        if len(texts) <= 1:
            return tuple([self._embedded(text.text) for text in texts])
        with ThreadPoolExecutor(min(self._parallel, len(texts)), thread_name_prefix="embedding") as pool:
            return tuple(pool.map(self._embedded, [text.text for text in texts]))

    def _embedded(self, text: str) -> Vector:
        if is_blank(text):
            return Vector(bytes(self._model.dimensions))
        shortened = _within_limits(text)
        while len(shortened) > _SURELY_SHORT:
            try:
                return self._invoked(shortened)
            except RequestRefusedError:  # more tokens than we thought
                shortened = shortened[: len(shortened) // 2]
        return self._invoked(shortened)

    def _invoked(self, text: str) -> Vector:
        body = {"inputText": text, "dimensions": self._model.dimensions, "normalize": True}
        with bedrock_errors_mapped("embedding a text"):
            answer = self._client.invoke_model(
                modelId=self._model_id,
                body=json.dumps(body),
                contentType="application/json",
                accept="application/json",
            )
            components = [float(component) for component in json.loads(answer["body"].read())["embedding"]]
            vector = Vector.of(components)
        if vector.dimensions != self._model.dimensions or not any(vector.values):
            raise ModelUnavailableError("embedding a text failed (not the vector that was asked for)")
        return vector


def _within_limits(text: str) -> str:
    """As much of the beginning as fits by an estimate: four characters of ASCII a token, of all others one."""
    text = text[:_LONGEST_TEXT]
    if len(text) <= _LONGEST_TOKENS or (text.isascii() and len(text) <= _LONGEST_TOKENS * _ASCII_PER_TOKEN):
        return text
    left = _LONGEST_TOKENS * _ASCII_PER_TOKEN
    for place, character in enumerate(text):
        left -= 1 if character.isascii() else _ASCII_PER_TOKEN
        if left < 0:
            return text[:place]
    return text
