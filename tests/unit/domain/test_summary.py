from keepsake.domain.clearance import Clearance
from keepsake.domain.summary import MAX_LINE_CHARACTERS, MAX_LINES, RunningSummary
from keepsake.domain.turns import Role, Turn


def make_turn(text: str, *, role: Role = Role.USER, name: str | None = None, level: int = 0) -> Turn:
    return Turn("t", role, text, 1, 1, 1, name=name, clearance=Clearance(level))


def test_a_line_is_the_first_sentence_that_says_something() -> None:
    summary = RunningSummary().extended([make_turn("Hi! I moved from Oslo to Rome. It was hard.", name="Ada")], len)
    assert summary.lines[0].text == "Ada: I moved from Oslo to Rome."


def test_a_line_is_counted_as_it_stands_in_a_window() -> None:
    line = RunningSummary().extended([make_turn("I moved from Oslo to Rome.")], len).lines[0]
    assert (line.block, line.tokens, line.weight) == ("- User: I moved from Oslo to Rome.\n", 35, 5)


def test_results_of_tools_are_counted_and_not_quoted() -> None:
    summary = RunningSummary().extended([make_turn("rows: 1, 2, 3", role=Role.TOOL)], len)
    assert (summary.lines, summary.turns) == ((), 1)


def test_a_call_that_is_nothing_but_notes_of_its_parts_is_not_quoted() -> None:
    turns = [make_turn("[tool_use]", role=Role.ASSISTANT), make_turn("[image]\n[tool_use]"), make_turn("[sic] he said [image]")]
    assert [line.text for line in RunningSummary().extended(turns, len).lines] == ["User: [sic] he said [image]"]


def test_a_line_keeps_the_clearance_of_its_turn() -> None:
    assert RunningSummary().extended([make_turn("A secret thing happened", level=3)], len).lines[0].clearance.level == 3


def test_what_says_least_goes_first() -> None:
    telling = [make_turn(f"Appointment number {number} with the cardiologist in Hamburg") for number in range(MAX_LINES)]
    summary = RunningSummary().extended([make_turn("ok"), *telling], len)
    assert len(summary.lines) == MAX_LINES
    assert all("Hamburg" in line.text for line in summary.lines)


def test_a_line_is_bounded_in_every_script() -> None:
    for text in ("word " * 1000, "ผ" * 5000, "漢" * 5000, "🙂" * 5000):
        line = RunningSummary().extended([make_turn(text)], len).lines[0].text
        assert len(line) <= MAX_LINE_CHARACTERS + len("User:  …")


def test_extending_in_steps_or_at_once_is_the_same() -> None:
    turns = [make_turn(f"Sentence number {number} about something {'x' * (number % 7)}") for number in range(60)]
    stepwise = RunningSummary()
    for turn in turns:
        stepwise = stepwise.extended([turn], len)
    assert stepwise.turns == RunningSummary().extended(turns, len).turns == 60
    assert stepwise.lines == RunningSummary().extended(turns, len).lines
