import pytest

from keepsake.adapters.data_files import load_summary_wordings, load_topics
from keepsake.domain.clearance import OPEN, Clearance
from keepsake.domain.errors import CorruptItemError
from keepsake.domain.summary import (
    MAX_BYTES,
    MAX_DECISIONS,
    MAX_LINE_BYTES,
    MAX_LINE_CHARACTERS,
    MAX_LINES,
    MAX_QUESTIONS,
    MAX_TOPICS,
    SessionSummary,
    Summarizer,
)
from keepsake.domain.turns import Role, Turn
from tests.conversations import Said, said

SUMMARIZER = Summarizer(len, load_topics(), load_summary_wordings())
USER, ASSISTANT, TOOL = Role.USER, Role.ASSISTANT, Role.TOOL


def summary_of(*turns: Turn) -> SessionSummary:
    return SessionSummary().extended(turns, SUMMARIZER)


def talk(*spoken: Said | str) -> SessionSummary:
    return summary_of(*said(*spoken))


def lines(summary: SessionSummary) -> list[str]:
    return [line.text for line in summary.lines]


def decisions(summary: SessionSummary) -> list[str]:
    return [one.text for one in summary.decisions]


def questions(summary: SessionSummary) -> list[str]:
    return [one.text for one in summary.questions]


def test_a_line_is_the_first_sentence_that_says_something() -> None:
    assert lines(talk(Said("Hi! I moved from Oslo to Rome. It was hard.", name="Ada"))) == ["Ada: I moved from Oslo to Rome."]
    assert lines(talk("你好！我上个月从奥斯陆搬到了罗马。很累。")) == ["User: 我上个月从奥斯陆搬到了罗马。"]


def test_a_line_is_counted_as_it_stands_in_a_window_and_knows_its_turn() -> None:
    line = talk("ok", "I moved from Oslo to Rome.").lines[1]
    assert (line.block, line.tokens, line.weight, line.at_ms) == ("- User: I moved from Oslo to Rome.\n", 35, 5, 2)


def test_a_line_is_one_line_whatever_its_turn_calls_a_line_break() -> None:
    summary = talk(Said("One thing\u2028another thing\x0bthe third thing\r## Working Memory", name="A\u2028B"))
    assert lines(summary) == ["A B: One thing another thing the third thing ## Working Memory"]


def test_results_of_tools_are_counted_and_not_quoted() -> None:
    summary = talk(Said("rows: 1, 2, 3 about diabetes?", TOOL))
    assert (summary.turns, summary.is_empty, summary.covered_ms) == (1, True, 1)


def test_a_call_that_is_nothing_but_notes_of_its_parts_is_not_quoted() -> None:
    summary = talk(Said("[tool_use]", ASSISTANT), "[image]\n[tool_use]", "[sic] he said [image]")
    assert lines(summary) == ["User: [sic] he said [image]"]


def test_what_says_least_goes_first() -> None:
    summary = talk("ok", *(f"Appointment number {number} with the cardiologist in Hamburg" for number in range(MAX_LINES)))
    assert len(summary.lines) == MAX_LINES
    assert all("Hamburg" in line.text for line in summary.lines)


@pytest.mark.parametrize("text", ["word " * 1000, "ผ" * 5000, "漢" * 5000, "🙂" * 5000, "x" * 60_000, "？" * 5000, "a? " * 9000])
def test_every_part_is_bounded_in_every_script(text: str) -> None:
    summary = talk(*(Said(f"{number} {text} let's go with {text}? We decided on {text}", name="n" * 128) for number in range(40)))
    assert len(summary.lines) <= MAX_LINES
    assert len(summary.decisions) <= MAX_DECISIONS
    assert len(summary.questions) <= MAX_QUESTIONS
    assert len(summary.topics) <= MAX_TOPICS
    texts = [*lines(summary), *decisions(summary), *questions(summary)]
    longest = max(texts, key=len)
    assert len(longest) <= MAX_LINE_CHARACTERS + 60
    assert max(len(one.encode()) for one in texts) <= MAX_LINE_BYTES + 60
    named = [one.name for one in (*summary.mentions, *summary.words)]
    assert sum(len(one.encode()) for one in (*texts, *named)) <= MAX_BYTES


def test_what_is_cut_is_cut_at_a_word_unless_that_leaves_little_of_it() -> None:
    cut, whole = lines(talk("Our garden grows " + "well " * 60, "1 " + "漢" * 200))
    assert cut.endswith("well well …")
    assert whole == "User: 1 " + "漢" * 79 + " …"


def test_code_is_neither_quoted_nor_read() -> None:
    summary = talk("Here is it:\n```\nSELECT happy FROM wedding?\nWe decided on wedding.\n```\nThe wedding table is empty today.")
    assert summary.text() == "- User: The wedding table is empty today."


def test_what_is_covered_already_changes_nothing() -> None:
    turns = said("We decided to move to Lisbon.", Said("When do you leave?", ASSISTANT), "My insulin pump comes along.")
    summary = summary_of(*turns)
    assert summary.extended(turns, SUMMARIZER) == summary
    assert summary.extended(turns[1:], SUMMARIZER) == summary


@pytest.mark.parametrize(
    "sentence",
    [
        "Let's go with the two-code definition.",
        "Ok, I'll take the train on Friday.",
        "After a long talk we decided to sell the house.",
        "We agreed on Tuesday at nine.",
        "Wir haben uns für die kleinere Wohnung entschieden, das ist abgemacht.",
        "Gut, wir nehmen den Zug um acht.",
        "C'est décidé, nous partons en juin.",
        "On part sur la deuxième version.",
        "Hemos decidido vender el coche.",
        "Vale, nos quedamos con el piso pequeño.",
        "Abbiamo deciso di restare a Torino.",
        "Alla fine ho scelto il corso serale.",
        "Combinado, jantamos na sexta.",
        "Decidi mudar de emprego.",
        "We hebben besloten om te verhuizen.",
        "Afgesproken, zaterdag om tien uur.",
        "我们决定下周出发。",
        "来月から新しい薬にします。",
        "ตกลงเอาห้องริมทะเล",
        "لقد قررنا السفر في الصيف.",
    ],
)
def test_a_decision_is_quoted_in_every_language(sentence: str) -> None:
    assert decisions(talk(f"{sentence} \nMore later.")) == [f"User: {sentence}"]


@pytest.mark.parametrize(
    "sentence",
    [
        "Shall we go with the two-code definition?",
        "Have we decided on a date?",
        "We haven't decided on a date yet.",
        "If it rains, we'll go with the museum.",
        "Maybe I'll take the train.",
        "I'll think about it.",
        "Wenn es regnet, nehmen wir den Bus.",
        "On n'a pas décidé.",
        "Wir haben noch nicht entschieden.",
        "The table has a column for the agreement.",
        "He drinks a good deal of coffee.",
    ],
)
def test_a_question_a_doubt_and_a_thought_are_no_decisions(sentence: str) -> None:
    assert decisions(talk(sentence)) == []


def test_only_the_user_decides_by_a_plan() -> None:
    assert decisions(talk(Said("I'll run the query now.", ASSISTANT), Said("Agreed then: two codes.", ASSISTANT))) == [
        "Assistant: Agreed then: two codes."
    ]


def test_a_decision_said_again_stands_once_where_it_was_said_last() -> None:
    summary = talk("Let's go with Lisbon.", "Let's use the blue one.", "Let's go with Lisbon.")
    assert decisions(summary) == ["User: Let's use the blue one.", "User: Let's go with Lisbon."]
    assert summary.decisions[-1].at_ms == 3


def test_the_oldest_of_too_many_decisions_goes() -> None:
    summary = talk(*(f"We decided on plan {number}." for number in range(12)))
    assert decisions(summary) == [f"User: We decided on plan {number}." for number in range(4, 12)]


def test_a_question_is_open_until_the_other_side_says_something() -> None:
    asked = "Which hospital leads the trial?"
    assert questions(talk(asked)) == [f"User: {asked}"]
    assert questions(talk(asked, "I need it for the report.")) == [f"User: {asked}"]
    assert questions(talk(asked, Said("The one in Porto.", ASSISTANT))) == []
    assert questions(talk(asked, Said("[tool_use]", ASSISTANT), Said("Porto", TOOL))) == [f"User: {asked}"]


def test_the_assistant_too_can_wait_for_an_answer() -> None:
    asked = Said("Gern. Für welches Jahr brauchst du die Zahlen?", ASSISTANT)
    assert questions(talk(asked)) == ["Assistant: Für welches Jahr brauchst du die Zahlen?"]
    assert questions(talk(asked, "2019.")) == []
    assert questions(talk("你住在哪个城市？", Said("上海。", ASSISTANT))) == []
    assert questions(talk("你住在哪个城市？", Said("谢谢！", ASSISTANT))) == ["User: 你住在哪个城市？"]
    assert questions(talk(asked, "Danke!")) == ["Assistant: Für welches Jahr brauchst du die Zahlen?"]


def test_a_question_in_return_is_no_answer_and_both_are_open() -> None:
    talked = ("How many women had a stroke?", Said("In which of the cohorts?", ASSISTANT))
    assert questions(talk(*talked)) == ["User: How many women had a stroke?", "Assistant: In which of the cohorts?"]
    assert questions(talk(*talked, "The one of 2019.", Said("There were 212.", ASSISTANT))) == []


@pytest.mark.parametrize(
    ("asked", "put_off", "other", "answer"),
    [
        (
            "Does the clinic accept my insurance?",
            "I don't know, let me check.",
            "It opens at nine.",
            "Yes, the clinic takes your insurance.",
        ),
        (
            "Zahlt die Krankenkasse den Kurs?",
            "Das weiß ich nicht.",
            "Er dauert acht Wochen.",
            "Die Krankenkasse zahlt den Kurs ganz.",
        ),
        (
            "¿El seguro cubre la operación?",
            "No lo sé todavía.",
            "El hospital está cerca.",
            "El seguro cubre la operación entera.",
        ),
        (
            "Le médecin accepte la mutuelle ?",
            "Aucune idée, je vais vérifier.",
            "Il est ouvert lundi.",
            "Oui, le médecin accepte la mutuelle.",
        ),
        ("保险报销这个手术吗？", "我不知道，我查一下。", "医院八点开门。", "这个手术可以报销，保险付全部。"),
    ],
)
def test_a_question_that_was_put_off_stays_until_its_matter_comes_up(asked: str, put_off: str, other: str, answer: str) -> None:
    talked = (asked, Said(put_off, ASSISTANT), "Ok then.", Said(other, ASSISTANT))
    assert questions(talk(*talked)) == [f"User: {asked}"]
    assert questions(talk(*talked, "Noted.", Said(answer, ASSISTANT))) == []


def test_a_short_question_is_quoted_with_what_it_asks_about() -> None:
    summary = talk("Wir müssen klären, ob die Kasse ein Taxi zahlt. Wissen Sie das?")
    assert questions(summary) == ["User: Wir müssen klären, ob die Kasse ein Taxi zahlt. Wissen Sie das?"]


def test_questions_of_politeness_are_not_open() -> None:
    assert questions(talk(Said("Here it is. Does that help? Is there anything else?", ASSISTANT))) == []
    assert questions(talk("How are you?", Said("Hallo! Wie geht es dir?", ASSISTANT))) == []


@pytest.mark.parametrize(
    "asked",
    ["明天要空腹吗", "明日は何時に行けばいいですか", "พรุ่งนี้ต้องงดอาหารไหมคะ", "كم حبة آخذ كل يوم؟", "¿Cuántas pastillas tomo?"],
)
def test_questions_are_found_with_and_without_their_marks(asked: str) -> None:
    assert questions(talk(asked)) == [f"User: {asked}"]


TONES = {
    "neutral": ["The table has nine columns.", "Wir treffen uns um acht im Büro.", "列出所有患者的数据。"],
    "joyful": [
        "I'm so happy, I got the job!",
        "Ich freue mich so auf morgen!",
        "Je suis ravie, quelle bonne nouvelle !",
        "¡Qué alegría, estoy muy contenta!",
        "Sono felicissima, non vedo l'ora!",
        "Estou muito feliz hoje!",
        "Ik ben zo blij!",
        "今天太好了，我很开心！",
        "合格しました、嬉しいです！",
        "ดีใจมากเลย",
        "أنا سعيدة جدا اليوم",
        "We won 🎉🥳",
    ],
    "grateful": [
        "Thank you so much for your patience.",
        "Vielen Dank für alles.",
        "Merci beaucoup !",
        "¡Muchas gracias por todo!",
        "Grazie mille.",
    ],
    "sad": [
        "I feel so lonely these days.",
        "Ich bin so traurig.",
        "Je suis triste ce soir.",
        "Ho pianto tutta la notte.",
        "Ik voel me eenzaam.",
        "我很难过。",
        "悲しいです。",
        "เศร้าจัง",
        "😢",
    ],
    "grieving": [
        "My grandmother passed away last night.",
        "Morgen ist die Beerdigung meines Vaters.",
        "Mon oncle est décédé hier.",
        "Mi abuela falleció el lunes.",
        "È mancata mia zia.",
        "Minha avó faleceu.",
        "Mijn opa is overleden.",
        "我外婆上周去世了。",
        "祖母が亡くなりました。",
        "جدتي توفيت أمس",
    ],
    "anxious": [
        "I'm worried about the scan.",
        "Ich habe Angst vor der Operation.",
        "J'ai peur de l'examen.",
        "Estoy muy nerviosa por mañana.",
        "Tenho medo do resultado.",
        "Ik ben bang voor morgen.",
        "我很担心明天的检查。",
        "手術が怖いです。",
        "ฉันกังวลมาก",
    ],
    "angry": [
        "I am furious with them.",
        "Ich bin stinksauer.",
        "Je suis en colère.",
        "¡Qué rabia me da!",
        "Sono arrabbiata con lui.",
        "Ik ben woedend.",
        "气死我了！",
        "โกรธมาก",
    ],
    "frustrated": [
        "This is so frustrating, nothing works.",
        "Das nervt, es klappt einfach nicht.",
        "J'en ai marre, rien ne marche.",
        "Estoy frustrada, me rindo.",
        "Non ne posso più.",
        "还是不行，烦死了。",
        "もううんざりです。",
    ],
    "confused": [
        "I don't understand this at all.",
        "Ich bin verwirrt.",
        "Je ne comprends pas.",
        "No entiendo nada.",
        "Non capisco.",
        "Não entendi.",
        "Ik snap het niet.",
        "我看不懂。",
        "よくわかりません。",
        "งงมาก",
    ],
}


@pytest.mark.parametrize(("tone", "text"), [(tone, text) for tone, texts in TONES.items() for text in texts])
def test_the_tone_of_a_turn_is_heard_in_many_languages(tone: str, text: str) -> None:
    assert talk(text).tone == tone


@pytest.mark.parametrize(
    "text",
    [
        "I'm not worried about the scan.",
        "She isn't angry any more.",
        "Ich bin nicht traurig.",
        "Je ne suis pas triste.",
        "No estoy nada nerviosa.",
        "Non sono arrabbiata.",
        "Não estou com medo.",
        "Ik ben niet boos.",
        "我不担心。",
        "我并没有生气。",
        "悲しくないです。",
        "ไม่กลัว",
        "The content of this table, and the patients with anxiety and depression.",
    ],
)
def test_what_is_denied_is_no_tone(text: str) -> None:
    assert talk(text).tone == "neutral"


def test_a_break_ends_what_a_negation_denies() -> None:
    assert talk("No, I'm scared.").tone == "anxious"


def test_the_tone_is_the_users_and_that_which_prevails() -> None:
    assert talk("The scan is on Monday.", Said("I'm so sorry, how sad, how awful.", ASSISTANT)).tone == "neutral"
    assert talk("I'm worried.", "I'm nervous.", "I'm so happy for my sister.", "I'm afraid of Monday.").tone == "anxious"


def test_good_and_bad_of_equal_strength_are_mixed() -> None:
    assert talk("I'm so happy, I got the job!", "And I'm heartbroken to leave my friends.").tone == "mixed"


def test_one_word_of_feeling_in_a_long_working_session_is_no_tone() -> None:
    assert talk("I'm worried it is late.", *(f"Count the rows of table {number}." for number in range(9))).tone == "neutral"


def test_topics_are_those_of_the_lexicon_the_most_frequent_first() -> None:
    summary = talk("Patients with asthma.", "HbA1c under metformin", "Metformin in asthma", "Now metformin alone")
    assert summary.topics == ("metformin", "asthma", "HbA1c")


def test_where_no_topic_is_known_the_words_that_come_up_often_are_topics() -> None:
    summary = talk(
        "My sister plans her wedding in Lisbon.",
        Said("How lovely. When is the wedding?", ASSISTANT),
        "In June. The garden in Lisbon is booked.",
    )
    assert set(summary.topics) == {"lisbon", "wedding"}
    assert set(talk("Meine Schwester plant ihre Präsentation.", "Die Präsentation ist am Freitag.").topics) == {"präsentation"}
    assert "プレゼン" in talk("来週プレゼンがあります", "プレゼンの準備をしました").topics


def test_a_frequent_topic_is_not_pushed_out_by_many_rare_ones() -> None:
    names = list(dict.fromkeys(mention.name for mention in load_topics().mentions.entries.values()))[:40]
    assert talk("asthma", "asthma again", *names, "asthma").topics[0] == "asthma"


def test_a_topic_that_begins_late_finds_its_place() -> None:
    names = list(dict.fromkeys(mention.name for mention in load_topics().mentions.entries.values()))[:40]
    summary = talk(*names, "zebra stripes", "Tuberculosis again", "more about tuberculosis", "tuberculosis")
    assert summary.topics[0] == "tuberculosis"


def test_who_may_not_see_a_turn_sees_nothing_that_comes_of_it() -> None:
    secret = Clearance(3, frozenset({"trial-7"}))
    spoken = "I'm scared. We decided to stop the metformin. Who tells the family about Berlin?"
    open_turns = said("I'm so happy, I got the job!", "Which tram goes to the office?")
    hidden = Turn("h", USER, spoken, 3, 3, 1, clearance=secret)
    summary = summary_of(*open_turns, hidden)
    assert summary.clearance == secret
    assert {"Decided: User: We decided to stop the metformin.", "Tone: mixed"} <= set(summary.text().splitlines())
    assert summary.visible(secret) == summary
    for seen_by in (OPEN, Clearance(3), Clearance(2, frozenset({"trial-7"}))):
        seen = summary.visible(seen_by)
        assert seen.text() == summary_of(*open_turns).text()
        assert seen.clearance == OPEN


def test_an_answer_closes_a_question_only_for_those_who_may_see_the_answer() -> None:
    asked, answer = said("Who leads the trial?", Said("Doctor Silva leads it.", ASSISTANT))
    hidden = Turn("h", ASSISTANT, answer.text, 2, 2, 1, clearance=Clearance(2))
    assert questions(summary_of(asked, hidden)) == ["User: Who leads the trial?"]


def test_the_text_tells_all_in_a_stable_order() -> None:
    summary = talk(
        "I'm worried about my insulin.",
        Said("Let's go with the morning dose. Which pump do you use?", ASSISTANT),
    )
    assert summary.text() == (
        "Topics: insulin\n"
        "Tone: anxious\n"
        "Decided: Assistant: Let's go with the morning dose.\n"
        "Open: Assistant: Which pump do you use?\n"
        "- User: I'm worried about my insulin.\n"
        "- Assistant: Let's go with the morning dose."
    )


def test_nothing_said_is_an_empty_summary() -> None:
    assert SessionSummary().is_empty
    assert (SessionSummary().text(), SessionSummary().tone, SessionSummary().topics) == ("", "neutral", ())


def test_what_comes_before_a_place_leaves_out_all_that_comes_after() -> None:
    summary = talk("We decided on asthma.", "Which clinic is it?", "We decided on metformin.", "What about asthma then?")
    before = summary.before(2)
    assert (lines(before), decisions(before), questions(before)) == (["User: We decided on asthma."],) * 2 + ([],)
    assert before.topics == ()  # asthma came up again
    assert before.covered_ms == summary.covered_ms


def test_a_record_reads_back() -> None:
    summary = talk(
        "I'm worried. We decided on asthma. Who leads?",
        Said("I don't know yet.", ASSISTANT),
        "My garden grows.",
    )
    hidden = Turn("h", USER, "We decided on Berlin. Who pays for Berlin?", 9, 9, 1, clearance=Clearance(2, frozenset({"b", "a"})))
    summary = summary.extended([hidden], SUMMARIZER)
    assert SessionSummary.from_record(summary.to_record()) == summary


@pytest.mark.parametrize(
    "record",
    [None, [], {}, {**SessionSummary().to_record(), "lines": [["x"]]}, {**SessionSummary().to_record(), "covered": "soon"}],
)
def test_a_record_of_something_else_is_corrupt(record: object) -> None:
    with pytest.raises(CorruptItemError):
        SessionSummary.from_record(record)
