"""e5-small-v2 with 8-bit weights, run in this process. The files come from outside and are checked; nothing is ever fetched.

One text a run: activations are scaled per batch, so beside others a text would get a slightly different vector.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from keepsake.domain.vectors import Vector
from keepsake.ports.embedding import EmbeddingModel, Purpose

if TYPE_CHECKING:
    import numpy as np
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

    from keepsake.domain.sanitizing import SanitizedText

E5_SMALL_V2 = EmbeddingModel("e5-small-v2-int8", 384, weak_below=0.72, strong_above=0.90)
E5_FOLDER = "e5-small-v2"  # its place in the folder of models
_WEIGHTS = ("e5-small-v2-q.onnx", "7d9092cb25f2bd1c023b7e8d2aa459044a02030ac880e5a59fdaf27af69f1ded")
_TOKENIZER = ("e5-small-v2-q-tokenizer.json", "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66")
_LONGEST_TOKENS = 512
_LONGEST_TEXT = 16_384  # characters; 512 tokens of prose are some 2,200
_PREFIXES = {Purpose.QUERY: "query: ", Purpose.PASSAGE: "passage: "}  # the model was trained with them


class ModelFilesError(Exception):
    """The model cannot be loaded: a file is missing or not the one we know, or its runtime is not installed."""


@dataclass(frozen=True, slots=True)
class _Loaded:
    session: InferenceSession
    tokenizer: Tokenizer


class E5Embedder:
    """Embedder on the files in `folder`, loaded at the first text or by `load`; any number of threads may share one object.

    `threads` is how many one run may use. English only: other languages get vectors, but poor ones.
    """

    def __init__(self, folder: Path, *, threads: int = 1) -> None:
        self._folder = folder
        self._threads = threads
        self._lock = Lock()
        self._loaded: _Loaded | None = None

    @property
    def model(self) -> EmbeddingModel:
        """e5-small-v2."""
        return E5_SMALL_V2

    def load(self) -> None:
        """Loads the model, if that has not been done. Raises ModelFilesError."""
        self._model()

    def embed(self, texts: Sequence[SanitizedText], purpose: Purpose) -> tuple[Vector, ...]:
        """One vector for each text, in order; of a text the first 512 tokens count. Raises ModelFilesError."""
        if not texts:
            return ()
        loaded, prefix = self._model(), _PREFIXES[purpose]
        return tuple([Vector.of(_mean(loaded, prefix + text.text[:_LONGEST_TEXT]).tolist()) for text in texts])

    def _model(self) -> _Loaded:
        if self._loaded is None:
            with self._lock:
                if self._loaded is None:
                    self._loaded = _load(self._folder, self._threads)
        return self._loaded


def _load(folder: Path, threads: int) -> _Loaded:
    weights, vocabulary = _checked(folder, *_WEIGHTS), _checked(folder, *_TOKENIZER)
    try:
        import onnxruntime  # noqa: PLC0415 - a sixth of a second, only for those who embed
        from tokenizers import Tokenizer  # noqa: PLC0415
    except ImportError as error:
        raise ModelFilesError("the embedding model's runtime is not installed") from error
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    tokenizer = Tokenizer.from_buffer(vocabulary)
    tokenizer.enable_truncation(_LONGEST_TOKENS)
    return _Loaded(onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"]), tokenizer)


def _checked(folder: Path, name: str, sha256: str) -> bytes:
    try:
        content = (folder / name).read_bytes()
    except OSError as error:
        raise ModelFilesError(f"{folder / name} cannot be read") from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise ModelFilesError(f"{folder / name} is not the file that we know")
    return content


def _mean(loaded: _Loaded, text: str) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """The mean over the tokens' last states, of length 1."""
    import numpy as np  # noqa: PLC0415 - the runtime's own

    encoded = loaded.tokenizer.encode(text)
    mask = np.asarray([encoded.attention_mask], dtype=np.int64)
    inputs = {
        "input_ids": np.asarray([encoded.ids], dtype=np.int64),
        "attention_mask": mask,
        "token_type_ids": np.zeros_like(mask),
    }
    states = loaded.session.run(["last_hidden_state"], inputs)[0][0]
    weights = mask[0][:, None].astype(np.float32)
    mean = (states * weights).sum(axis=0) / weights.sum()
    return mean / np.linalg.norm(mean)  # type: ignore[no-any-return]
