"""What a deployed function reaches beside its tables: SQS, OpenSearch and Bedrock, as far as the settings name them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from keepsake.config import Settings, SettingsError

if TYPE_CHECKING:
    from keepsake.ports.embedding import Embedder
    from keepsake.ports.language_model import LanguageModel
    from keepsake.ports.search_index import SearchIndex
    from keepsake.ports.surroundings import Chance, Clock
    from keepsake.ports.work_queue import WorkQueue


def make_queue(settings: Settings, clock: Clock, chance: Chance) -> WorkQueue:
    """The FIFO queue. Raises SettingsError where none is named."""
    from keepsake.adapters.sqs_queue import SqsWorkQueue, make_queue_client  # noqa: PLC0415

    if not settings.queue_url:
        raise SettingsError("QUEUE_URL names the queue of background work")
    return SqsWorkQueue(make_queue_client(), settings.queue_url, clock=clock, chance=chance)


def make_index(settings: Settings, clock: Clock, chance: Chance) -> SearchIndex | None:
    """The OpenSearch domain or collection, None where none is named."""
    if not settings.search_endpoint:
        return None
    from keepsake.adapters.opensearch_index import open_search_index  # noqa: PLC0415

    return open_search_index(
        settings.search_endpoint,
        alias=settings.search_alias,
        service=settings.search_service,
        region=os.environ.get("AWS_REGION"),
        clock=clock,
        chance=chance,
    )


def make_embedder(settings: Settings, *, somebody_waits: bool) -> Embedder | None:
    """Titan through Bedrock, where there is an index to embed for."""
    if not settings.search_endpoint:
        return None
    from keepsake.adapters.bedrock_client import Patience, make_bedrock_client  # noqa: PLC0415
    from keepsake.adapters.bedrock_embedding import TitanEmbedder  # noqa: PLC0415

    client = make_bedrock_client(Patience.TURN if somebody_waits else Patience.EMBEDDING)
    return TitanEmbedder(client, model_id=settings.embedding_model_id, dimensions=settings.embedding_dimensions)


def make_model(settings: Settings) -> LanguageModel | None:
    """The language model through Bedrock, None where none is named: then rules do its work."""
    if not settings.extraction_model_id:
        return None
    from keepsake.adapters.bedrock_client import Patience, make_bedrock_client  # noqa: PLC0415
    from keepsake.adapters.bedrock_converse import ConverseModel  # noqa: PLC0415
    from keepsake.adapters.learning_files import load_model_table  # noqa: PLC0415

    return ConverseModel(make_bedrock_client(Patience.ANSWER), settings.extraction_model_id, load_model_table())
