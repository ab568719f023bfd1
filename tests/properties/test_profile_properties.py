import copy
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from keepsake.adapters.data_files import load_profile_patterns, load_topics
from keepsake.domain.profile import DAY_MS, Profile, ProfileEdit, edited, profile_lines, welcome_back
from keepsake.domain.profile_learner import ProfileTurn, learn_from_conversation
from keepsake.domain.profile_records import from_record, to_record

LEXICON = load_topics()
PATTERNS = load_profile_patterns()
NOW = 20_000 * DAY_MS
MAX_ITEM_BYTES = 8_000

SAYINGS = st.sampled_from(
    [
        "What is diabetes?",
        "What does prevalence mean?",
        "Adjust the hazard ratio by propensity score matching",
        "What's the diabetes prevalence on metformin?",
        "just give me the SQL for the T2DM concept set",
        "more detail on the metformin cohort, as a table",
        "I'm an epidemiologist and new to asthma",
        "HOMA-IR and C-peptide in obese patients",
        "糖尿病と高血圧",
        "nothing of the kind",
    ]
)
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=80)
WORDY = st.lists(
    st.sampled_from(["cohort", "T2DM", "query", "ÄÖÜ", "x" * 70, "the", ".", "dataset", "犬", "क्षि"]), max_size=12
).map(" ".join)
TURNS = st.lists(st.builds(ProfileTurn, SAYINGS | WORDY | ANY_TEXT, st.integers(NOW - 400 * DAY_MS, NOW)), max_size=25)
NAMES = st.text(min_size=1, max_size=16).filter(lambda name: name.strip().isprintable() and name.strip() != "")


def learn(profile: Profile, turns: list[ProfileTurn]) -> Profile:
    return learn_from_conversation(profile, turns, LEXICON, PATTERNS)


@given(TURNS, TURNS)
def test_learning_never_changes_the_old_profile(first: list[ProfileTurn], second: list[ProfileTurn]) -> None:
    old = learn(Profile(), first)
    before = copy.deepcopy(old)
    turns = list(second)
    learn(old, second)
    assert old == before
    assert second == turns


@given(TURNS, st.data())
def test_batches_teach_what_single_turns_teach_stored_in_between(turns: list[ProfileTurn], data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(turns)), max_size=4)))
    profile = Profile()
    for start, end in zip([0, *cuts], [*cuts, len(turns)], strict=True):
        profile = from_record(json.loads(json.dumps(to_record(learn(profile, turns[start:end])))))
    assert profile == learn(Profile(), turns)


@given(TURNS)
def test_levels_stay_between_0_and_1_and_weights_are_not_negative(turns: list[ProfileTurn]) -> None:
    profile = learn(Profile(), turns)
    assert all(0 <= e.level <= 1 and 0 <= e.evidence <= e.weight + 1e-9 for e in profile.expertise)
    assert all(i.weight >= 0 for i in profile.interests)


@given(TURNS)
def test_no_single_turn_lowers_a_level_that_was_not_doubted_before(turns: list[ProfileTurn]) -> None:
    profile = Profile()
    for turn in turns:
        learned = learn(profile, [turn])
        after = {e.name: e.level for e in learned.expertise}
        assert all(after[e.name] >= e.level for e in profile.expertise if e.name in after and e.doubts < 4)
        profile = learned


@given(st.integers(5, 40), st.sampled_from(["What is a hazard ratio?", "I'm new to survival analysis", "Explain prevalence"]))
def test_one_basic_question_never_downgrades_an_expert(interactions: int, question: str) -> None:
    turns = [ProfileTurn("Adjust the hazard ratio by propensity score matching", NOW)] * interactions
    expert = learn(Profile(), turns)
    asked = learn(expert, [ProfileTurn(question, NOW + DAY_MS)])
    assert asked.expertise[0].level == expert.expertise[0].level
    assert asked.expertise[0].interactions == interactions + 1


@given(
    st.permutations(
        [ProfileTurn(f"{area} and just the SQL", NOW - n * 50 * DAY_MS) for n, area in enumerate(["asthma", "heart", "heart"])]
    )
)
def test_interests_and_preferences_are_the_same_in_any_order(turns: list[ProfileTurn]) -> None:
    weights = {e.name: round(e.weight, 9) for e in learn(Profile(), turns).interests}
    assert weights == {"respiratory": 1.0, "cardiovascular": round(1 + 0.5 ** (50 / 30), 9)}


@given(ANY_TEXT, st.integers(-(10**18), 10**18), st.integers(-(10**18), 10**18))
def test_any_text_at_any_time_is_learned_and_told(text: str, first: int, second: int) -> None:
    profile = learn(Profile(), [ProfileTurn(text, first), ProfileTurn("diabetes " + text, second)])
    assert all("\n" not in line for line in profile_lines(profile, first))
    assert welcome_back(profile) is not None


@settings(max_examples=25)
@given(
    st.lists(NAMES, max_size=12),
    st.lists(st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), min_size=21, max_size=21)),
    TURNS,
)
def test_a_profile_fits_its_item_however_full_it_is(names: list[str], long_names: list[str], turns: list[ProfileTurn]) -> None:
    distinct = tuple(dict.fromkeys(name.casefold().strip() for name in long_names[:6]))
    own = edited(Profile(), ProfileEdit(interests=distinct, preferences=distinct, frequently_used=distinct), at_ms=NOW)
    noise = [ProfileTurn(f"use the {'ж' * 20}{n} ж{n} cohort", NOW + n) for n in range(40)]
    profile = learn(own, turns + noise)
    assert len(json.dumps(to_record(profile), ensure_ascii=False, separators=(",", ":")).encode()) < MAX_ITEM_BYTES


def test_the_fullest_profile_fits_its_item() -> None:
    names = [f"{n:02d}" + "w" * 62 for n in range(16)]
    edit = ProfileEdit(
        interests=names, expertise=dict.fromkeys(names[:12], 1 / 3), preferences=names[:8], frequently_used=names[:12]
    )
    profile = edited(learn(Profile(), [ProfileTurn("diabetes, asthma and stroke", NOW)]), edit, at_ms=NOW)
    assert len(json.dumps(to_record(profile), ensure_ascii=False, separators=(",", ":")).encode()) < MAX_ITEM_BYTES
