from tests.world import World

ABOVE = {"clearance": "1"}


def test_what_left_the_buffer_is_told_by_the_summary_to_those_who_may_see_it(world: World) -> None:
    world.turn(content="We decided on Lisbon. Which month suits the team?")
    world.turn(content="We decided on Oslo.", clearance={"level": 1}, claims=ABOVE)
    for number in range(24):
        world.turn(content=f"Row number {number} of the table is read.", turn_id=f"row-{number}")
    seen = world.turn(content="Where were we?").json["context"]["text"]
    assert "Decided: User: We decided on Lisbon.\nOpen: User: Which month suits the team?\n" in seen
    assert "Oslo" not in seen
    above = world.turn(content="Where were we?", claims=ABOVE).json["context"]["text"]
    assert "Decided: User: We decided on Lisbon.\nDecided: User: We decided on Oslo.\n" in above


def test_a_turn_that_finds_no_room_is_told_in_short_at_once(world: World) -> None:
    world.turn(content="We decided on Lisbon. " + "The reasons fill many pages. " * 60)
    text = world.turn(content="Where were we?", budget=200).json["context"]["text"]
    assert "Decided: User: We decided on Lisbon.\n" in text


def test_a_repeated_turns_context_knows_nothing_of_what_came_later(world: World) -> None:
    world.turn(content="We decided on Lisbon.")
    world.turn(content="And on the month?", turn_id="again")
    for number in range(24):
        world.turn(content=f"We decided on row {number}." if number > 19 else f"We read row {number}.")
    repeated = world.turn(content="And on the month?", turn_id="again").json
    assert repeated["turn"]["replayed"]
    assert "Decided: User: We decided on Lisbon.\n" in repeated["context"]["text"]
    assert "row" not in repeated["context"]["text"]
