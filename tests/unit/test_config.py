import pytest

from keepsake.config import Settings, SettingsError, settings_from


def test_an_empty_environment_gives_the_defaults_that_a_test_would_state() -> None:
    assert settings_from({}) == Settings()


def test_every_setting_of_learning_and_recall_is_read() -> None:
    read = settings_from(
        {
            "QUEUE_URL": "https://sqs.eu-west-1.amazonaws.com/1/q.fifo",
            "CONSOLIDATION_IDLE_MINUTES": "3",
            "CONSOLIDATION_TURN_COUNT": "40",
            "SEARCH_ENDPOINT": "https://search.example/",
            "SEARCH_SERVICE": "aoss",
            "SEARCH_ALIAS": "memories",
            "EMBEDDING_MODEL_ID": "some.model",
            "EMBEDDING_DIMENSIONS": "1024",
            "EXTRACTION_MODEL_ID": "other.model",
            "ARCHIVE_DAYS": "0",
        }
    )
    assert read == Settings(
        queue_url="https://sqs.eu-west-1.amazonaws.com/1/q.fifo",
        consolidation_idle_minutes=3,
        consolidation_turn_count=40,
        search_endpoint="https://search.example",
        search_service="aoss",
        search_alias="memories",
        embedding_model_id="some.model",
        embedding_dimensions=1024,
        extraction_model_id="other.model",
        archive_days=0,
    )
    assert read.consolidation_idle_ms == 180_000


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CONSOLIDATION_IDLE_MINUTES", "0"),
        ("CONSOLIDATION_TURN_COUNT", "1"),
        ("CONSOLIDATION_TURN_COUNT", "many"),
        ("SEARCH_ENDPOINT", "search.example"),
        ("SEARCH_ENDPOINT", "https://search.example/path"),
        ("SEARCH_SERVICE", "solr"),
        ("EMBEDDING_DIMENSIONS", "384"),
        ("ARCHIVE_DAYS", "3651"),
        ("ARCHIVE_DAYS", "-1"),
    ],
)
def test_a_wrong_setting_is_named(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=name):
        settings_from({name: value})
