import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.adapters.data_files import load_topics
from keepsake.domain.topics import InvalidTopicsError, TopicLexicon, parse

LEXICON = load_topics()


def lexicon(text: str, default: TopicLexicon | None = None) -> TopicLexicon:
    return parse(tomllib.loads(text), default)


def test_there_are_ten_clinical_research_areas() -> None:
    assert LEXICON.areas == (
        "diabetes",
        "cardiovascular",
        "oncology",
        "respiratory",
        "mental health",
        "neurology",
        "infectious disease",
        "renal",
        "pharmacology",
        "epidemiology",
    )


@pytest.mark.parametrize(
    ("text", "topics"),
    [
        ("What's the diabetes prevalence on metformin?", ("diabetes", "metformin")),
        ("metformin for diabetes", ("metformin", "diabetes")),
        ("DIABETES, Diabète & diabético", ("diabetes",)),
        ("our T2DM concept set", ("diabetes",)),
        ("type 2 diabetes mellitus", ("diabetes",)),
        ("Alzheimer’s disease and Parkinsons", ("dementia", "Parkinson's disease")),
        ("COVID-19 or covid 19 or SARS-CoV-2", ("COVID-19",)),
        ("statins, biopsies and seizures", ("statins", "epilepsy")),
        ("high blood pressure", ("hypertension",)),
        ("diabetic nephropathy", ("diabetic nephropathy",)),
        ("Größere Studie zu Bluthochdruck", ("hypertension",)),
        ("糖尿病の患者とmetforminの高血圧", ("diabetes", "metformin", "hypertension")),
        ("insuficiencia cardiaca", ("heart failure",)),
    ],
)
def test_topics_are_found_in_order_of_first_mention(text: str, topics: tuple[str, ...]) -> None:
    assert LEXICON.detect(text) == topics


@pytest.mark.parametrize(
    "text",
    [
        "prediabetologically",
        "a statinless drugstore",
        "strokeless",
        "I have aids for hearing",
        "from the wholeheartedly. Failure is an option",
        "heartfelt thanks",
        "prevalence and incidence",
        "",
        "\ud800\x00",
    ],
)
def test_nothing_is_found_inside_words_or_across_clauses(text: str) -> None:
    assert LEXICON.detect(text) == ()


def test_a_phrase_does_not_reach_across_a_clause_break() -> None:
    assert "heart failure" not in LEXICON.detect("It was the heart. Failure followed.")


def test_a_topic_belongs_to_an_area_and_an_area_to_itself() -> None:
    assert LEXICON.area_of("metformin") == "pharmacology"
    assert LEXICON.area_of("hypertension") == "cardiovascular"
    assert LEXICON.area_of("diabetes") == "diabetes"
    assert LEXICON.area_of("gardening") is None


@pytest.mark.parametrize(
    "text",
    [
        "Now let's look at hypertension",
        "Thanks, now let’s look at hypertension.",
        "OK. Let's switch to asthma",
        "moving on to COPD",
        "Different topic: my knees",
        "Can we change the subject?",
        "Wechseln wir zu Bluthochdruck",
        "Anderes Thema: Asthma",
        "Passons à l'hypertension",
        "Ahora hablemos de la hipertensión",
        "Cambiemos de tema",
        "次は高血圧について",
        "换个话题吧",
    ],
)
def test_an_explicit_change_of_topic_is_heard(text: str) -> None:
    assert LEXICON.explicit_change(text)


@pytest.mark.parametrize(
    "text",
    [
        "What about hypertension?",
        "Now let's look at the age groups",
        "Let's look at metformin in those patients",
        "Asthma patients first, then let's look at the numbers",
        "How many patients switch to insulin?",
        "Before moving on, show diabetes",
        "diabetes",
        "",
    ],
)
def test_what_only_sounds_like_a_change_is_none(text: str) -> None:
    assert not LEXICON.explicit_change(text)


@pytest.mark.parametrize(
    "text",
    [
        "Break it down by age",
        "Great. Can you break that down by sex, please?",
        "and for women?",
        "What about men?",
        "by age?",
        "Why?",
        "How does it differ?",
        "They were older, I think, than the others we had looked at in the spring",
        "...and in winter",
        "… and in winter",
        "Und bei Frauen?",
        "Et pour les femmes ?",
        "¿Y para las mujeres?",
        "那女性呢？",
    ],
)
def test_a_follow_up_is_heard(text: str) -> None:
    assert LEXICON.is_follow_up(text)


@pytest.mark.parametrize(
    "text",
    [
        "What about hypertension?",
        "Break diabetes down by age",
        "In the summer of 1961 we moved to a small house by the sea",
        "What is the weather like?",
        "",
        "!?",
        "...",
    ],
)
def test_a_text_with_a_matter_of_its_own_is_no_follow_up(text: str) -> None:
    assert not LEXICON.is_follow_up(text)


CRIME = """
[areas.burglary]
keywords = ["break-in", "breaking and entering", "窃盗"]
[areas.burglary.topics]
"pattern of life" = ["routine"]
"""


def test_an_operators_file_replaces_the_areas_and_keeps_the_wordings() -> None:
    own = lexicon(CRIME, LEXICON)
    assert own.areas == ("burglary",)
    assert own.detect("Break-ins and routines near the diabetes clinic, 昨日窃盗が") == ("burglary", "pattern of life")
    assert own.explicit_change("Now let's look at burglaries")
    assert own.is_follow_up("break it down by age")


def test_an_operators_file_extends_the_areas() -> None:
    own = lexicon("extends = true\n" + CRIME, LEXICON)
    assert len(own.areas) == 11
    assert own.detect("diabetes and break-ins") == ("diabetes", "burglary")


def test_in_an_extension_the_operators_keyword_wins_and_its_topic_moves() -> None:
    own = lexicon('extends = true\n[areas.trial]\nkeywords = ["T2DM"]\n[areas.trial.topics]\nmetformin = []', LEXICON)
    assert own.detect("T2DM") == ("trial",)
    assert own.detect("diabetes") == ("diabetes",)
    assert own.area_of("metformin") == "trial"
    assert {hit.area for hit in own.mentions.entries.values() if hit.name == "metformin"} == {"trial"}
    assert LEXICON.area_of("metformin") == "pharmacology"


def test_an_extension_adds_its_wordings() -> None:
    own = lexicon('extends = true\n[conversation]\nchanges = ["scene change"]', LEXICON)
    assert own.explicit_change("Scene change!")
    assert own.explicit_change("moving on")


def test_a_replacing_file_may_bring_its_own_wordings() -> None:
    own = lexicon('[areas.garden]\n[conversation]\nchanges = ["scene change"]', LEXICON)
    assert own.explicit_change("Scene change!")
    assert not own.explicit_change("moving on")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "areas"),
        ("areas = 3", "areas"),
        ("[areas]\nx = 3", "areas.x"),
        ("[areas.x]\nkeywords = 'asthma'", "areas.x.keywords"),
        ("[areas.x]\nkeywords = [3]", "areas.x.keywords"),
        ("[areas.x]\nkeywords = ['!!']", "areas.x.keywords"),
        ("[areas.x]\nkeywords = ['a b c d e f g h i']", "areas.x.keywords"),
        ("[areas.x]\nkeyword = []", "areas.x"),
        ("[areas.x]\ntopics = []", "areas.x.topics"),
        ("[areas.' ']", "areas"),
        ("[areas.'two  spaces']", "areas"),
        (f"[areas.{'x' * 65}]", "areas"),
        ("[areas.x]\nkeywords = ['k']\n[areas.y]\nkeywords = ['K']", "areas.y"),
        ("[areas.x]\n[conversation]\nchange = []", "conversation"),
        ("[areas.x]\n[topics]", "the file"),
        ("extends = 'yes'", "extends"),
        ("extends = true\n[areas.x]", "extends"),
        ("\n".join(f"[areas.x{n}]" for n in range(101)), "areas"),
    ],
)
def test_a_wrong_file_is_refused_with_the_place_of_the_mistake(text: str, place: str) -> None:
    with pytest.raises(InvalidTopicsError, match=f"^{place}:"):
        lexicon(text)


def test_the_operators_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "topics.toml"
    path.write_text(CRIME, encoding="utf-8")
    assert load_topics(path).detect("a break-in") == ("burglary",)


@pytest.mark.parametrize("content", [b"areas = ", b"\xff", b"[areas]\nx = 1", None])
def test_an_unreadable_operators_file_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "own.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InvalidTopicsError, match=r"own\.toml"):
        load_topics(path)


@given(st.text(st.characters(exclude_categories=()), max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    reading = LEXICON.read(text)
    assert reading.topics == LEXICON.detect(text)
    assert not (reading.topics and reading.is_follow_up)
