"""The embedder of a machine without Bedrock: the model where it can run, else the one that needs nothing."""

from pathlib import Path

from keepsake.adapters.embedding_e5 import E5_FOLDER, E5Embedder
from keepsake.adapters.embedding_hashing import HashingEmbedder
from keepsake.ports.embedding import Embedder


def local_embedder(models: Path) -> tuple[Embedder, str | None]:
    """The best embedder that runs here, and one line to say where it is not the model of the folder `models`."""
    if missing := _missing_runtime():
        return HashingEmbedder(), f"{missing} cannot be imported: a simpler embedder stands in, and recall finds less."
    if not (models / E5_FOLDER).is_dir():
        return HashingEmbedder(), f"{models / E5_FOLDER} is missing: a simpler embedder stands in, and recall finds less."
    return E5Embedder(models / E5_FOLDER), None


def _missing_runtime() -> str | None:
    for name in ("numpy", "onnxruntime", "tokenizers"):
        try:
            __import__(name)
        except ImportError:  # not installed, or no build for this machine
            return name
    return None
