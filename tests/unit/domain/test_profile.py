import json
from dataclasses import replace

import pytest

from keepsake.adapters.data_files import load_profile_patterns, load_topics
from keepsake.domain.errors import CorruptItemError, InvalidRequestError
from keepsake.domain.profile import (
    DAY_MS,
    Expertise,
    FrequentThing,
    Interest,
    LastTopic,
    MadeBy,
    Preference,
    Profile,
    ProfileEdit,
    decayed,
    edited,
    profile_lines,
    reset,
    welcome_back,
)
from keepsake.domain.profile_learner import (
    InvalidPatternsError,
    ProfileTurn,
    learn_from_conversation,
    parse_patterns,
    things_named,
)
from keepsake.domain.profile_records import from_record, to_record

LEXICON = load_topics()
PATTERNS = load_profile_patterns()
NOW = 20_000 * DAY_MS
EXPERT = "Adjust the hazard ratio by propensity score matching"
BEGINNER = "What is a hazard ratio?"
EMPTY = Profile()


def learn(*texts: str, profile: Profile = EMPTY, at_ms: int = NOW) -> Profile:
    return learn_from_conversation(profile, [ProfileTurn(text, at_ms) for text in texts], LEXICON, PATTERNS)


def line(profile: Profile, now_ms: int = NOW) -> str:
    (only,) = profile_lines(profile, now_ms)
    return only


def level(profile: Profile, area: str = "epidemiology") -> float:
    return next(e.level for e in profile.expertise if e.name == area)


PUBLISHED = Profile(
    interests=(Interest("diabetes", 9.0, NOW), Interest("cardiovascular", 4.0, NOW)),
    expertise=(Expertise("epidemiology", 0.82, 9.0, 10.0, NOW, 12),),
)


def test_interests_and_expertise_are_worded_as_published() -> None:
    assert line(PUBLISHED) == "Research interests: diabetes, cardiovascular; Expertise: epidemiology (82%)"


def test_preferences_and_things_used_are_worded_as_published() -> None:
    profile = replace(
        PUBLISHED,
        preferences=(Preference("terse responses", "length", 1.0, NOW),),
        frequently_used=(FrequentThing("T2DM concept sets", 3, 3.0, NOW), FrequentThing("metformin cohorts", 2, 2.0, NOW)),
    )
    assert line(profile) == (
        "Research interests: diabetes, cardiovascular; Expertise: epidemiology (82%); "
        "Prefers: terse responses; Frequently used: T2DM concept sets, metformin cohorts"
    )


def test_a_few_conversations_teach_what_was_published() -> None:
    profile = learn(
        "Build a T2DM concept set for a cohort study with propensity score matching",
        "just give me the SQL, with IPTW",
        "How does diabetes relate to cardiovascular events? Mind immortal time bias",
        "Load the T2DM concept set and the metformin cohort and fit a marginal structural model",
        "Heart disease and diabetes: competing risks?",
        "Cardiovascular outcomes of the metformin cohort by target trial emulation",
        "E-value and negative control outcomes for diabetes",
        "Is there collider bias in our diabetes data?",
    )
    told = line(profile)
    assert told.startswith("Research interests: diabetes, cardiovascular")
    assert "Expertise: epidemiology (82%)" in told
    assert told.endswith("Prefers: terse responses; Frequently used: T2DM concept sets, metformin cohorts")


def test_nothing_known_is_nothing_said() -> None:
    assert profile_lines(Profile(), NOW) == ()
    assert welcome_back(Profile()) is None


def test_the_welcome_names_the_last_topics() -> None:
    profile = learn("What's the diabetes prevalence on metformin?")
    assert welcome_back(profile) == "Welcome back. Last time the conversation was about: diabetes, metformin."


def test_the_last_topics_are_of_the_last_conversation() -> None:
    profile = learn("asthma", at_ms=NOW - DAY_MS)
    profile = learn("diabetes, COPD, stroke and malaria", profile=profile)
    assert [topic.name for topic in profile.last_topics] == ["COPD", "stroke", "malaria"]
    profile = learn("diabetes", profile=profile, at_ms=NOW + 60_000)
    assert [topic.name for topic in profile.last_topics] == ["stroke", "malaria", "diabetes"]


def test_a_turn_from_an_older_conversation_does_not_change_the_last_topics() -> None:
    profile = learn("asthma", profile=learn("diabetes"), at_ms=NOW - DAY_MS)
    assert profile.last_topics == (LastTopic("diabetes", NOW),)


def test_interests_are_areas_and_a_topic_counts_for_its_area() -> None:
    assert [i.name for i in learn("hypertension and metformin").interests] == ["cardiovascular", "pharmacology"]


def test_words_of_method_are_no_interest() -> None:
    assert learn("prevalence and odds ratios").interests == ()


def test_recent_mentions_outweigh_older_ones() -> None:
    old = learn(*["diabetes"] * 5, at_ms=NOW - 90 * DAY_MS)
    profile = learn(*["asthma"] * 2, profile=old)
    assert line(profile) == "Research interests: respiratory, diabetes"


def test_a_mention_halves_in_thirty_days() -> None:
    (interest,) = learn("diabetes", profile=learn("diabetes"), at_ms=NOW + 30 * DAY_MS).interests
    assert interest.weight == pytest.approx(1.5)
    assert decayed(1.0, 60 * DAY_MS) == pytest.approx(0.25)
    assert decayed(1.0, -5) == 1.0
    assert decayed(1.0, 10**400) == 0.0


def test_a_late_turn_weighs_what_it_weighs_by_then() -> None:
    in_order = learn("diabetes", profile=learn("diabetes", at_ms=NOW - 30 * DAY_MS))
    late = learn("diabetes", profile=learn("diabetes"), at_ms=NOW - 30 * DAY_MS)
    assert late.interests[0].weight == pytest.approx(in_order.interests[0].weight)
    assert late.interests[0].at_ms == NOW
    assert late.updated_at_ms == NOW


def test_an_interest_fades_out_of_the_context() -> None:
    profile = learn("diabetes")
    assert profile_lines(profile, NOW + 59 * DAY_MS) == ("Research interests: diabetes",)
    assert profile_lines(profile, NOW + 61 * DAY_MS) == ()


@pytest.mark.parametrize(
    "text",
    [
        "What is a hazard ratio?",
        "What does prevalence mean?",
        "Explain prevalence to me",
        "I'm new to survival analysis",
        "Was ist Prävalenz?",
    ],
)
def test_a_beginners_wording_shows_little(text: str) -> None:
    assert level(learn(text)) < 0.3


@pytest.mark.parametrize(
    "text", [EXPERT, "What's the diabetes prevalence?", "I'm a senior epidemiologist", "As an epidemiologist, I disagree"]
)
def test_a_professionals_wording_shows_more(text: str) -> None:
    assert level(learn(text)) > 0.4


@pytest.mark.parametrize(
    "text", ["diabetes", "My cardiologist called", "I am seeing an epidemiologist", "as a diabetes patient I am tired"]
)
def test_a_mention_alone_is_no_evidence_of_expertise(text: str) -> None:
    assert learn(text).expertise == ()


def test_expertise_rises_with_evidence() -> None:
    levels = [level(learn(*[EXPERT] * turns)) for turns in range(1, 9)]
    assert levels == sorted(levels)
    assert levels[0] == pytest.approx(0.52, abs=0.01)
    assert levels[-1] == pytest.approx(0.82, abs=0.01)


def test_one_basic_question_does_not_downgrade_an_expert() -> None:
    expert = learn(*[EXPERT] * 8)
    assert level(learn(BEGINNER, profile=expert)) == level(expert)


def test_a_level_falls_at_the_fifth_interaction_that_doubts_it() -> None:
    expert = learn(*[EXPERT] * 8)
    assert level(learn(*[BEGINNER] * 4, profile=expert)) == level(expert)
    assert level(learn(*[BEGINNER] * 5, profile=expert)) < level(expert) - 0.1


def test_evidence_that_confirms_the_level_ends_the_doubts() -> None:
    expert = learn(*[EXPERT] * 8)
    assert level(learn(*[BEGINNER] * 4, EXPERT, *[BEGINNER] * 4, profile=expert)) == level(expert)


def test_doubts_in_one_area_leave_another_alone() -> None:
    profile = learn(*[EXPERT] * 8, *["What is diabetes?"] * 6)
    assert level(profile) == pytest.approx(0.82, abs=0.01)
    assert level(profile, "diabetes") < 0.3


def test_a_level_from_few_interactions_is_not_told() -> None:
    assert profile_lines(learn(EXPERT, EXPERT), NOW) == ()
    assert line(learn(EXPERT, EXPERT, EXPERT)) == "Expertise: epidemiology (69%)"


@pytest.mark.parametrize(
    ("text", "preference"),
    [
        ("just give me the SQL", "terse responses"),
        ("Keep it short, please", "terse responses"),
        ("Fass dich kurz", "terse responses"),
        ("walk me through it step by step", "detailed responses"),
        ("show me the code", "code examples"),
        ("as a table", "tables"),
        ("Stichpunkte bitte", "bullet points"),
        ("in plain English", "plain language"),
        ("用表格", "tables"),
    ],
)
def test_preferences_are_heard(text: str, preference: str) -> None:
    assert f"Prefers: {preference}" in line(learn(text))


def test_of_two_opposite_preferences_the_stronger_is_told() -> None:
    assert line(learn("keep it short", "be brief", "in more detail")) == "Prefers: terse responses"


def test_a_recent_preference_outweighs_an_old_one() -> None:
    old = learn("keep it short", "be brief", at_ms=NOW - 400 * DAY_MS)
    assert line(learn("in more detail", profile=old)) == "Prefers: detailed responses"


@pytest.mark.parametrize(
    ("text", "things"),
    [
        ("Build me a T2DM concept set", ("T2DM concept sets",)),
        (
            "Tweak metformin cohorts and our patient's heart failure registry",
            ("metformin cohorts", "patient heart failure registries"),
        ),
        ("Use the T2DM concept sets and the t2dm concept set", ("T2DM concept sets",)),
        ("the cohort, a dataset, my new query", ()),
        ("It was a long day. Dataset", ()),
    ],
)
def test_things_used_are_named_with_their_words(text: str, things: tuple[str, ...]) -> None:
    assert things_named(text, LEXICON, PATTERNS) == things


def test_of_a_long_listing_only_the_first_things_are_learned() -> None:
    listing = ", ".join(f"the x{n} cohort" for n in range(1000))
    assert len(things_named(listing, LEXICON, PATTERNS)) == 20


def test_a_thing_used_once_is_not_used_frequently() -> None:
    assert profile_lines(learn("open the garden recipe"), NOW) == ()
    assert line(learn("open the garden recipe", "change the Garden recipes")) == "Frequently used: garden recipes"


def test_blank_turns_teach_nothing() -> None:
    assert learn("", "\u200b", " \n") == Profile()


def test_every_turn_counts_as_an_interaction_and_a_version() -> None:
    profile = learn("diabetes", "hello")
    assert (profile.interactions, profile.version, profile.updated_at_ms) == (2, 2, NOW)


def test_full_lists_drop_the_weakest_learned_entry() -> None:
    profile = learn(*[f"open the thing{n} cohort" for n in range(12)] * 2)
    profile = learn("open the newest cohort", profile=profile, at_ms=NOW + DAY_MS)
    assert len(profile.frequently_used) == 12
    assert profile.frequently_used[-1].name == "newest cohorts"


def test_entries_of_the_user_are_never_dropped() -> None:
    own = edited(Profile(), ProfileEdit(frequently_used=[f"thing {n}" for n in range(12)]), at_ms=NOW)
    assert learn("open the newest cohort", profile=own).frequently_used == own.frequently_used


def test_an_edit_replaces_the_named_parts_and_marks_them_as_the_users() -> None:
    profile = edited(learn("diabetes"), ProfileEdit(interests=["  rare \n diseases "], expertise={"renal": 1}), at_ms=NOW)
    assert profile.interests == (Interest("rare diseases", 1.0, NOW, MadeBy.USER),)
    assert line(profile, NOW + 1000 * DAY_MS) == "Research interests: rare diseases; Expertise: renal (100%)"
    assert (profile.version, profile.interactions) == (2, 1)


def test_what_is_given_back_unchanged_stays_learned() -> None:
    learned = learn("diabetes", *[EXPERT] * 3, "keep it short")
    edit = ProfileEdit(
        interests=["Diabetes"], expertise={"epidemiology": round(level(learned), 2)}, preferences=["terse responses"]
    )
    assert replace(edited(learned, edit, at_ms=NOW), version=learned.version) == learned


def test_learning_moves_no_level_that_the_user_set_in_either_direction() -> None:
    for own in (0.2, 0.9):
        profile = edited(learn(EXPERT), ProfileEdit(expertise={"Epidemiology": own}), at_ms=NOW)
        assert level(learn(*[EXPERT] * 9, *[BEGINNER] * 9, profile=profile)) == own


def test_a_preference_of_the_user_decides_its_group() -> None:
    profile = edited(Profile(), ProfileEdit(preferences=["detailed responses"]), at_ms=NOW)
    assert line(learn("keep it short", "just the SQL", profile=profile)) == "Prefers: detailed responses"


def test_interests_of_the_user_come_first_and_in_the_users_order() -> None:
    profile = edited(Profile(), ProfileEdit(interests=["renal", "asthma"]), at_ms=NOW)
    assert line(learn("diabetes", "diabetes", profile=profile)) == "Research interests: renal, asthma, diabetes"


@pytest.mark.parametrize(
    ("edit", "place"),
    [
        (ProfileEdit(interests=["ok", " "]), "interests[1]"),
        (ProfileEdit(interests=["\u200b"]), "interests[0]"),
        (ProfileEdit(interests=["a\x00b"]), "interests[0]"),
        (ProfileEdit(interests=["\ud800"]), "interests[0]"),
        (ProfileEdit(preferences=["x" * 65]), "preferences[0]"),
        (ProfileEdit(preferences=["Terse", "terse"]), "preferences"),
        (ProfileEdit(frequently_used=["x"] * 13), "frequently_used"),
        (ProfileEdit(expertise={"renal": 1.01}), "expertise[0]"),
        (ProfileEdit(expertise={"renal": float("nan")}), "expertise[0]"),
        (ProfileEdit(expertise={"": 0.5}), "expertise[0]"),
    ],
)
def test_an_edit_that_cannot_be_is_refused_with_its_place_and_without_its_words(edit: ProfileEdit, place: str) -> None:
    with pytest.raises(InvalidRequestError) as refusal:
        edited(Profile(), edit, at_ms=NOW)
    assert refusal.value.fields[0][0] == place
    assert "terse" not in str(refusal.value).lower()


def test_a_reset_profile_is_empty_and_one_version_on() -> None:
    assert reset(learn("diabetes", EXPERT), at_ms=NOW + 5) == Profile(version=3, updated_at_ms=NOW + 5, reset_at_ms=NOW + 5)


def test_a_record_reads_back_as_the_same_profile() -> None:
    profile = edited(
        learn("diabetes on metformin", EXPERT, "keep it short", "the garden recipe"), ProfileEdit(interests=["糖尿病"]), at_ms=NOW
    )
    assert from_record(json.loads(json.dumps(to_record(profile)))) == profile


@pytest.mark.parametrize(
    "change",
    [
        {"schema": 2},
        {"schema": None},
        {"version": "1"},
        {"version": -1},
        {"interactions": True},
        {"updated_at_ms": 1.5},
        {"interests": None},
        {"interests": "diabetes"},
        {"interests": ["diabetes"]},
        {"interests": [["diabetes", 1.0, 1]]},
        {"interests": [["diabetes", "1", 1, "learned"]]},
        {"interests": [["diabetes", float("inf"), 1, "learned"]]},
        {"interests": [["diabetes", -1.0, 1, "learned"]]},
        {"interests": [["", 1.0, 1, "learned"]]},
        {"interests": [["diabetes", 1.0, 1, "nobody"]]},
        {"interests": [["diabetes", 1.0, 1, ["learned"]]]},
        {"expertise": [["renal", 1.2, 0.0, 0.0, 1, 1, 0, "user"]]},
        {"preferences": [["terse", None, 1.0, 1, "user"]]},
        {"frequently_used": [["x", -1, 1.0, 1, "user"]]},
        {"last_topics": [["x"]]},
    ],
)
def test_a_broken_record_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(CorruptItemError):
        from_record(to_record(Profile()) | change)


@pytest.mark.parametrize("record", [None, [], "profile", {}])
def test_what_is_no_record_is_refused(record: object) -> None:
    with pytest.raises(CorruptItemError):
        from_record(record)


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ({}, "expertise"),
        ({"expertise": {"basic": "x"}, "things": {}}, "expertise.basic"),
        ({"expertise": {}, "things": 1}, "things"),
    ],
)
def test_wrong_patterns_are_refused_with_the_place_of_the_mistake(content: dict[str, object], place: str) -> None:
    with pytest.raises(InvalidPatternsError, match=f"^{place}"):
        parse_patterns(content)
