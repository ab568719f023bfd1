from typing import Any

import pytest

from keepsake.adapters.tokens import EstimatedTokens
from keepsake.domain.context import AssemblyRequest, ContextWindow, Reason, Tier, assemble, item_block
from keepsake.domain.errors import SafetyMinimumTooLargeError
from keepsake.domain.summary import SessionSummary
from keepsake.domain.turns import Role, Turn
from tests.contexts import (
    PROFILES,
    SUMMARIZER,
    TOKENS,
    assembled,
    make_artifact,
    make_critical,
    make_item,
    make_line,
    make_turn,
    refs,
)

WORDS = "one two three four five six seven eight nine ten "


def prose(number: int, length: int) -> str:
    """About `length` tokens that no other number shares."""
    return " ".join(f"w{number}x{place}" for place in range(length // 4))


def tokens_of(window: ContextWindow, tier: Tier) -> int:
    return next(use.tokens for use in window.tiers if use.tier is tier)


def test_a_window_reads_as_the_clinical_design_shows_it() -> None:
    window = assembled(
        topics="Active conversation topics: diabetes, metformin",
        profile_lines=("Research interests: diabetes, cardiovascular; Expertise: epidemiology (82%)",),
        items=(
            make_item("item:0", "Type 2 diabetes needs two codes, 30 days apart.", title="Phenotypes"),
            make_item("item:1", "cohort T2DM: 1,204 persons", Tier.LIVE),
        ),
    )
    assert window.text == (
        "## Working Memory\n"
        "Active conversation topics: diabetes, metformin\n"
        "\n"
        "## User History\n"
        "Research interests: diabetes, cardiovascular; Expertise: epidemiology (82%)\n"
        "\n"
        "## Domain Knowledge\n"
        "- [Phenotypes] Type 2 diabetes needs two codes, 30 days apart.\n"
        "\n"
        "## Live Database Context\n"
        "- cohort T2DM: 1,204 persons\n"
    )


def test_every_tier_has_its_heading_and_its_place() -> None:
    window = assembled(items=tuple(make_item(f"item:{number}", f"fact {number}", tier) for number, tier in enumerate(Tier)))
    headings = [line for line in window.text.splitlines() if line.startswith("##")]
    assert headings == [
        "## Working Memory",
        "## Page Context",
        "## User History",
        "## Domain Knowledge",
        "## Live Database Context",
        "## Institutional Knowledge",
    ]


def test_the_working_memory_goes_from_topics_to_the_newest_turn() -> None:
    window = assembled(
        topics="Active conversation topics: diabetes",
        artifacts=(make_artifact("draft", "SELECT 1", kind="sql"),),
        turns=(make_turn(1, "How many have diabetes?"), make_turn(2, "1,204.", role=Role.ASSISTANT, name="Abby")),
        summary=SessionSummary((make_line("User: Good morning to you all."),), 1),
        items=(make_item("item:0", "the cohort is being rebuilt", Tier.WORKING),),
    )
    assert window.text == (
        "## Working Memory\n"
        "Active conversation topics: diabetes\n"
        "- the cohort is being rebuilt\n"
        'Scratch pad "draft" (sql, version 1):\n'
        "SELECT 1\n"
        "Earlier in this conversation:\n"
        "- User: Good morning to you all.\n"
        "User: How many have diabetes?\n"
        "Assistant (Abby): 1,204.\n"
    )
    assert [entry.reason for entry in window.included] == [
        "topics",
        "ranked",
        "scratch_pad",
        "summary",
        "recent_turn",
        "recent_turn",
    ]


def test_a_welcome_follows_the_profile() -> None:
    window = assembled(profile_lines=("Research interests: diabetes",), welcome="Welcome back. Last time: diabetes.")
    assert window.text == "## User History\nResearch interests: diabetes\nWelcome back. Last time: diabetes.\n"
    assert refs(window.included) == ["profile", "welcome"]


def test_nothing_to_say_is_an_empty_window() -> None:
    window = assembled(topics="", welcome=" ")
    assert (window.text, window.tokens, window.included, window.excluded) == ("", 0, (), ())
    assert [use.tier for use in window.tiers] == list(Tier)


def test_system_prompt_reply_and_message_are_taken_off_the_budget() -> None:
    window = assembled(budget=1000, system_prompt_tokens=200, reply_tokens=300, message_tokens=100)
    assert (window.budget, window.available) == (1000, 1000 - 200 - 300 - 110)


def test_the_models_window_is_the_budget_when_the_caller_names_none() -> None:
    window = assembled("medgemma")
    assert (window.budget, window.available) == (4000, 4000)
    assert [use.budget for use in window.tiers] == [1500, 500, 800, 400, 600, 200]


def test_tiers_share_a_smaller_budget_in_the_profiles_proportions() -> None:
    window = assembled("medgemma", budget=400)
    assert [use.budget for use in window.tiers] == [150, 50, 80, 40, 60, 20]


def test_without_room_everything_is_left_out_and_said_so() -> None:
    window = assembled(budget=100, system_prompt_tokens=100, turns=(make_turn(1),), items=(make_item("item:0", "fact"),))
    assert (window.text, window.tokens) == ("", 0)
    assert {entry.ref: entry.reason for entry in window.excluded} == dict.fromkeys(
        ("turn:t1", "summary", "item:0"), "over_budget"
    )


def test_the_newest_turns_are_in_and_the_others_are_summed_up_before_them() -> None:
    turns = tuple(make_turn(number, f"Fact number {number} is worth keeping. {prose(number, 60)}") for number in range(10))
    window = assembled(budget=400, turns=turns)
    included = [ref for ref in refs(window.included) if ref.startswith("turn:")]
    assert included == [f"turn:t{number}" for number in range(10 - len(included), 10)]
    assert 0 < len(included) < 10
    assert refs(window.excluded) == [f"turn:t{number}" for number in range(10 - len(included))]
    newest_summed_up = f"- User: Fact number {9 - len(included)} is worth keeping.\n"
    assert (
        window.text.index("Earlier in this conversation:\n") < window.text.index(newest_summed_up) < window.text.index("\nUser: ")
    )


def test_turns_that_all_fit_need_no_summary() -> None:
    window = assembled(turns=(make_turn(1, "Something worth keeping."),))
    assert window.text == "## Working Memory\nUser: Something worth keeping.\n"


def test_a_tool_result_never_stands_without_its_call() -> None:
    call = make_turn(1, prose(1, 60), role=Role.ASSISTANT)
    results = tuple(make_turn(number, prose(number, 60), role=Role.TOOL) for number in (2, 3))
    newest = make_turn(4, "thanks")
    for budget in range(20, 400, 10):
        window = assembled(budget=budget, turns=(call, *results, newest))
        tools = {ref for ref in refs(window.included) if ref in {"turn:t1", "turn:t2", "turn:t3"}}
        assert tools in (set(), {"turn:t1", "turn:t2", "turn:t3"})


def test_the_newest_exchange_comes_before_any_summary() -> None:
    newest = make_turn(2, prose(2, 80))
    older = make_turn(1, f"Something worth keeping was said. {prose(1, 200)}")
    window = assembled(budget=assembled(turns=(newest,)).tokens, turns=(older, newest))
    assert refs(window.included) == ["turn:t2"]


def test_a_summary_that_does_not_fit_whole_keeps_its_newest_lines_in_order() -> None:
    lines = tuple(make_line(f"User: {prose(number, 16)}") for number in range(6))
    window = assembled(budget=120, summary=SessionSummary(lines, 6))
    shown = [line for line in lines if line.text in window.text]
    assert 1 < len(shown) < 6
    assert window.text == "## Working Memory\nEarlier in this conversation:\n" + "".join(
        f"- {line.text}\n" for line in lines[-len(shown) :]
    )


def summed_up(*turns: Turn) -> SessionSummary:
    return SessionSummary().extended(turns, SUMMARIZER)


TALK = (
    make_turn(1, "I'm worried about my insulin. Who adjusts the dose?"),
    make_turn(2, "I don't know yet, I'll ask the clinic.", role=Role.ASSISTANT),
    make_turn(3, "Then we decided on the morning dose."),
    make_turn(4, "That is noted in the plan for Monday.", role=Role.ASSISTANT),
)


def test_what_was_decided_what_is_open_and_the_tone_stand_below_the_lines() -> None:
    window = assembled(turns=(make_turn(5, "Good morning again."),), summary=summed_up(*TALK))
    assert window.text == (
        "## Working Memory\n"
        "Earlier in this conversation:\n"
        "Topics: insulin\n"
        "- User: I'm worried about my insulin.\n"
        "- Assistant: I don't know yet, I'll ask the clinic.\n"
        "- Assistant: That is noted in the plan for Monday.\n"
        "Decided: User: Then we decided on the morning dose.\n"
        "Open: User: Who adjusts the dose?\n"
        "Tone: anxious\n"
        "User: Good morning again.\n"
    )
    assert refs(window.included) == ["summary", "turn:t5"]


def test_nothing_of_a_turn_that_stands_whole_is_summed_up() -> None:
    assert "Earlier" not in assembled(turns=TALK, summary=summed_up(*TALK)).text
    window = assembled(turns=TALK[2:], summary=summed_up(*TALK))
    assert window.text == (
        "## Working Memory\n"
        "Earlier in this conversation:\n"
        "Topics: insulin\n"
        "- User: I'm worried about my insulin.\n"
        "- Assistant: I don't know yet, I'll ask the clinic.\n"
        "Open: User: Who adjusts the dose?\n"
        "Tone: anxious\n"
        "User: Then we decided on the morning dose.\n"
        "Assistant: That is noted in the plan for Monday.\n"
    )


def test_turns_that_find_no_room_are_summed_up_though_the_summary_does_not_cover_them_yet() -> None:
    long = make_turn(5, f"We agreed on Lisbon in May. {prose(5, 300)}")
    window = assembled(budget=300, turns=(*TALK, long, make_turn(6, "Good morning again.")), summary=summed_up(*TALK))
    assert "Decided: User: We agreed on Lisbon in May.\n" in window.text
    assert refs(window.included) == ["summary", "turn:t6"]


def test_a_question_whose_answer_stands_in_the_window_is_not_open() -> None:
    asked = make_turn(1, "Who adjusts the dose?")
    answer, more = make_turn(2, "The clinic does.", role=Role.ASSISTANT), make_turn(2, "And I also need a new pump.")
    assert "Open: User: Who adjusts the dose?\n" in assembled(turns=(more,), summary=summed_up(asked)).text
    assert "Open:" not in assembled(turns=(answer,), summary=summed_up(asked)).text


def test_decisions_and_questions_come_before_lines_where_not_all_fits() -> None:
    filler = [make_turn(10 + number, prose(number, 20), role=Role.ASSISTANT) for number in range(8)]
    summary = summed_up(*TALK, *filler)
    texts = [assembled(budget=budget, summary=summary).text for budget in range(10, 400, 10)]
    assert all("Decided: " in text for text in texts if "\n- " in text)
    assert any("Decided: " in text and "\n- " not in text for text in texts)
    assert all(text.endswith("Tone: anxious\n") for text in texts if "\n- " in text)


def test_no_budget_is_too_small_to_be_kept() -> None:
    parts: dict[str, Any] = {
        "topics": "Active conversation topics: diabetes",
        "artifacts": (make_artifact("one", prose(1, 40)), make_artifact("two", "..." * 9, updated_at_ms=1)),
        "turns": tuple(make_turn(number, f"Something worth keeping {number}. {prose(number, 16)}") for number in range(5)),
        "profile_lines": ("Research interests: diabetes",),
        "items": tuple(make_item(f"item:{number}", prose(number + 10, 20), tier) for number, tier in enumerate(Tier)),
    }
    for budget in range(assembled(**parts).tokens + 2):
        window = assembled(budget=budget, **parts)
        assert window.tokens == PROFILES.get("default").scaled(TOKENS.count(window.text)) <= budget


def test_an_artifact_is_whole_or_listed() -> None:
    large, small = make_artifact("outline", prose(1, 900)), make_artifact("draft", "SELECT 1", kind="sql")
    window = assembled(budget=600, artifacts=(large, small), items=(make_item("item:0", prose(2, 100)),))
    assert f'Scratch pad "outline" (note, version 1): {large.size} bytes, too long to show here\n' in window.text
    assert 'Scratch pad "draft" (sql, version 1):\nSELECT 1\n' in window.text
    assert [(entry.ref, entry.reason) for entry in window.excluded] == [("artifact:outline", Reason.LISTED)]


def test_a_large_artifact_never_drives_out_the_newest_turns() -> None:
    turns = tuple(make_turn(number, prose(number, 60)) for number in range(3))
    window = assembled(budget=330, artifacts=(make_artifact("outline", prose(9, 280)),), turns=turns)
    assert refs(window.included)[-3:] == ["turn:t0", "turn:t1", "turn:t2"]


def test_the_artifact_changed_last_has_the_first_claim() -> None:
    old, new = (make_artifact(name, prose(at, 120), updated_at_ms=at) for at, name in ((1, "old"), (2, "new")))
    window = assembled(budget=170, artifacts=(old, new))
    assert refs(window.included) == ["artifact:new"]


@pytest.mark.parametrize("content", ["", "\n", "\nSELECT 1", "\n\n  SELECT 1", "  x", "a\n\n", "!?", "ก็\t\n", "x \r\n", "#"])
def test_an_artifacts_count_is_exact_whatever_its_edges(content: str) -> None:
    window = assembled(artifacts=(make_artifact("a", content),), turns=(make_turn(1, "..."),))
    assert window.tokens == PROFILES.get("default").scaled(TOKENS.count(window.text))


def test_what_a_tier_leaves_unused_flows_to_the_next() -> None:
    window = assembled("medgemma", budget=1000, items=(make_item("item:0", prose(1, 180), Tier.PAGE),))
    page = next(use for use in window.tiers if use.tier is Tier.PAGE)
    assert page.tokens > page.budget


def test_what_is_left_at_the_end_flows_once_more_from_the_top() -> None:
    turns = tuple(make_turn(number, prose(number, 100)) for number in range(6))
    window = assembled("medgemma", budget=1000, turns=turns)
    assert tokens_of(window, Tier.WORKING) > 375
    assert not window.excluded


def test_a_full_tier_takes_nothing_from_another_that_is_full() -> None:
    items = tuple(
        make_item(f"{tier}:{number}", prose(len(tier) * 100 + number, 40), tier) for tier in Tier for number in range(40)
    )
    window = assembled("medgemma", budget=2000, items=items)
    for use in window.tiers:
        assert use.budget - 60 < use.tokens < use.budget + 60


def test_items_are_chosen_by_relevance_per_token_and_printed_by_relevance() -> None:
    long = make_item("item:0", prose(1, 200), Tier.INSTITUTIONAL, score=1.0)
    short = make_item("item:1", prose(2, 40), Tier.INSTITUTIONAL, score=0.9)
    window = assembled(budget=assembled(items=(long,)).tokens, items=(long, short))
    assert (refs(window.included), refs(window.excluded)) == (["item:1"], ["item:0"])
    both = assembled(items=(short, long))
    assert refs(both.included) == ["item:0", "item:1"]


def test_items_of_equal_relevance_stand_in_the_order_of_their_numbers() -> None:
    items = tuple(make_item(f"item:{number}", f"fact number{number}") for number in (10, 9, 2, 0))
    assert refs(assembled(items=items).included) == ["item:0", "item:2", "item:9", "item:10"]


def test_a_near_duplicate_is_dropped_and_says_of_what() -> None:
    text = prose(1, 200)
    window = assembled(
        items=(make_item("item:0", text, score=0.5), make_item("item:1", f"{text.upper()}!", Tier.LIVE, score=0.9))
    )
    assert refs(window.included) == ["item:1"]
    assert [(entry.ref, entry.reason, entry.duplicate_of) for entry in window.excluded] == [("item:0", "duplicate", "item:1")]


def test_a_duplicate_is_told_once_though_its_tier_is_filled_twice() -> None:
    twins = (make_item("item:0", "same words here", Tier.EPISODIC), make_item("item:1", "same words here", Tier.EPISODIC))
    window = assembled(budget=300, items=twins, profile_lines=(prose(1, 60), prose(2, 900)))
    assert [(entry.ref, entry.reason) for entry in window.excluded] == [("item:1", "duplicate")]
    left_out = assembled(budget=300, items=twins, profile_lines=(prose(1, 900),))
    assert [(entry.ref, entry.reason) for entry in left_out.excluded] == [("item:1", "duplicate"), ("profile", "over_budget")]


def test_a_text_that_differs_in_more_than_a_tenth_is_no_duplicate() -> None:
    words = [f"word{number}" for number in range(20)]
    others = ["other0", "other1", *words[2:]]
    window = assembled(items=(make_item("item:0", " ".join(words)), make_item("item:1", " ".join(others))))
    assert not window.excluded


def test_texts_without_a_word_are_duplicates_only_of_themselves() -> None:
    window = assembled(items=(make_item("item:0", "!!!"), make_item("item:1", "???"), make_item("item:2", "!!!")))
    assert (refs(window.included), refs(window.excluded)) == (["item:0", "item:1"], ["item:2"])


def test_a_safety_critical_item_is_never_dropped_as_a_duplicate() -> None:
    text = prose(1, 60)
    window = assembled(items=(make_item("item:0", text, score=9.0), make_critical("item:1", text), make_critical("item:2", text)))
    assert refs(window.included) == ["item:1", "item:2"]


def test_safety_critical_text_stands_there_to_the_letter_and_first() -> None:
    text = "  Site 4:\n\n  no lab values  \n"
    window = assembled(items=(make_item("item:0", "fact", score=9.0), make_critical("item:1", text, title="Data quality")))
    assert window.text == f"## Domain Knowledge\n- [safety-critical] [Data quality] {text}\n- fact\n"
    assert window.included[0].reason is Reason.SAFETY_CRITICAL


def test_safety_critical_items_take_from_the_lowest_priority_first_and_leave_minimums() -> None:
    crowd = tuple(
        make_item(f"{tier}:{number}", prose(len(tier) * 100 + number, 16), tier) for tier in Tier for number in range(60)
    )
    critical = make_critical("item:0", prose(5, 400), Tier.PAGE)
    window = assembled("medgemma", budget=2000, items=(*crowd, critical))
    uses = {use.tier: use for use in window.tiers}
    assert "item:0" in refs(window.included)
    assert uses[Tier.INSTITUTIONAL].tokens < uses[Tier.INSTITUTIONAL].budget / 2
    assert uses[Tier.DOMAIN].tokens < uses[Tier.DOMAIN].budget
    assert uses[Tier.WORKING].tokens > uses[Tier.WORKING].budget - 40


def test_safety_wins_over_every_minimum() -> None:
    critical = make_critical("item:0", prose(5, 600), Tier.INSTITUTIONAL)
    exact = assembled(items=(critical,)).tokens
    window = assembled(budget=exact, items=(critical, make_item("item:1", "fact")), turns=(make_turn(1),))
    assert (window.tokens, refs(window.included)) == (exact, ["item:0"])


def test_safety_critical_items_that_do_not_fit_are_an_error_and_never_cut() -> None:
    items = (make_critical("item:0", prose(5, 300)), make_critical("item:1", "!!!", Tier.LIVE))
    exact = assembled(items=items).tokens
    with pytest.raises(SafetyMinimumTooLargeError) as caught:
        assembled(budget=exact - 1, items=items)
    assert "w5x" not in caught.value.detail


def test_safety_critical_items_without_any_room_are_an_error() -> None:
    with pytest.raises(SafetyMinimumTooLargeError):
        assembled(budget=10, system_prompt_tokens=20, items=(make_critical("item:0", "x"),))


def test_profile_lines_that_do_not_fit_are_left_out_one_by_one() -> None:
    window = assembled(budget=40, profile_lines=(prose(1, 200), "Research interests: diabetes"))
    assert window.text == "## User History\nResearch interests: diabetes\n"
    none = assembled(budget=40, profile_lines=(prose(1, 200),))
    assert refs(none.excluded) == ["profile"]


def test_a_summary_without_room_is_left_out_and_said_so() -> None:
    window = assembled(budget=12, summary=SessionSummary((make_line("User: Good morning to you all."),), 1))
    assert (window.text, refs(window.excluded)) == ("", ["summary"])


def test_the_tokens_of_the_tiers_add_up_to_the_windows() -> None:
    items = tuple(make_item(f"item:{number}", f"fact {number}!?", tier) for number, tier in enumerate(Tier))
    window = assembled("claude", items=items, turns=(make_turn(1, "..."),), topics="Active conversation topics: asthma")
    assert sum(use.tokens for use in window.tiers) == window.tokens == PROFILES.get("claude").scaled(TOKENS.count(window.text))
    assert sum(entry.tokens for entry in window.included) <= window.tokens


def test_an_estimating_counter_gives_a_window_that_fits_by_its_own_count() -> None:
    count = EstimatedTokens().count
    text = "ผู้ป่วยเบาหวาน"
    item = make_item("item:0", text).counted(count)
    request = AssemblyRequest(PROFILES.get("default"), budget=200, items=(item,))
    window = assemble(request, count)
    assert window.text == f"## Domain Knowledge\n{item_block(text)}"
    assert window.tokens == PROFILES.get("default").scaled(len(window.text.encode()))


def test_an_estimate_keeps_to_every_budget_though_each_empty_line_costs() -> None:
    count = EstimatedTokens().count
    items = tuple(make_item(f"item:{number}", f"fact {number}", tier).counted(count) for number, tier in enumerate(Tier))
    for budget in range(400):
        window = assemble(AssemblyRequest(PROFILES.get("default"), budget=budget, items=items), count)
        assert window.tokens == PROFILES.get("default").scaled(len(window.text)) <= budget
