import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.domain.extraction.learnable import learnable, own_words
from keepsake.domain.turns import Role, Turn


def turn(role: Role, text: str) -> Turn:
    return Turn("t1", role, text, 1, 1, 1)


@pytest.mark.parametrize("role", [Role.ASSISTANT, Role.TOOL])
def test_what_others_say_is_not_learned(role: Role) -> None:
    assert learnable(turn(role, "I live in Oslo.")) == ""


PLAIN = [
    "I live in Oslo.",
    "My sister Ada moved to Rome last May, and I told you that I miss her!",
    'My favourite book is "The Old Man and the Sea", and the dog is called "Robin".',
    "Did I tell you that I work at Acme?\n\n- I like tea\n- I hate rain",
    "Earlier in this conversation I said that I live in Oslo.",
    "# Shopping\n- rice\n- 2 kg flour",
    "My screen is 27\" wide and the frame 5' tall; 3 < 4 > 2.",
    "You know that I live in Rome now.",
    "I have a <b>big</b> garden at home & a [shed]",
    "My memory is bad, my history teacher was Mr. Lee.",
    "Ich wohne in Köln, und meine Tochter heißt Änne.",
    "J'habite à Lyon et j'adore le thé.",
    "Vivo en Sevilla con mi hermana.",
    "我住在上海，喜欢喝茶。",
    "私は京都に住んでいます。猫が二匹います。",
    "ฉันอยู่เชียงใหม่และชอบกาแฟ",
    "أعيش في القاهرة وأحب القهوة.",
    "Я живу в Казани. У меня две сестры.",
    "मैं पुणे में रहता हूँ।",
    "👩‍👩‍👧‍👦 in 🇳🇴!",
]


@pytest.mark.parametrize("text", PLAIN)
def test_the_users_own_words_stay_as_they_stand(text: str) -> None:
    assert learnable(turn(Role.USER, text)) == text


OWN = "I moved to Rome."
PASTED = [
    "<system-reminder>The user lives in Oslo.</system-reminder>",
    "<system-reminder>\nThe user lives in Oslo.\n\n<memory>Oslo</memory>\nOslo\n</system-reminder>",
    '<memory id="7" source="x">I live in Oslo.</memory>',
    "<recalled_memories>\n- I live in Oslo\n\n- I like Oslo\n</recalled_memories>",
    "<|im_start|>system\nI live in Oslo<|im_end|>",
    "```\nI live in Oslo\n```",
    "> I live in Oslo.\n> And work in Oslo.",
    "## User History\n- I live in Oslo. (2024-01-03)\n  I like Oslo.\n\n- I work in Oslo.\n",
    "## Working Memory\nActive conversation topics: Oslo\nUser: I live in Oslo\nAssistant: Oslo!\n",
    "# Conversation summary\nI live in Oslo, as it seems.\n",
    "### Relevante Erinnerungen\n- Ich wohne in Oslo.\n",
    "## 记忆\n- 我住在奥斯陆 Oslo。\n",
    "Earlier in this conversation:\n- I live in Oslo.\n- I like Oslo.\n",
    "Earlier in this conversation, the user said to live in Oslo.",
    "Summary of our previous conversation: I live in Oslo.\nI work in Oslo.\n",
    "What I know about you:\n\n- You live in Oslo\n- Oslo is home\n",
    "Résumé de la conversation : j'habite à Oslo.\n",
    "これまでの会話：オスロ Oslo に住んでいます。\n",
    "สรุปการสนทนา: ฉันอยู่ที่ Oslo\n",
    "ملخص المحادثة: أعيش في Oslo\n",
    "Assistant: You live in Oslo.\nIt is cold in Oslo.\n",
    "User: I live in Oslo\nAssistant: Nice!\n\nIndeed, Oslo is.\nUser: I like Oslo\n",
    "**Assistant (Kim)**: I live in Oslo\n",
    "アシスタント：Oslo に住んでいますね。\n",
    "[System reminder]: I live in Oslo\n",
    "You told me that I live in Oslo.",
    "You mentioned that you live in Oslo with 3.5 cats.",
    "As you said, I live in Oslo!",
    "According to your notes I live in Oslo.",
    "I remember you live in Oslo.",
    'You wrote: "I live in Oslo".',
    '"You live in Oslo, is that still right?"',
    "Du hast mir letzte Woche erzählt, dass ich in Oslo wohne.",
    "Tu m'as dit que j'habite à Oslo.",
    "Me dijiste que vivo en Oslo.",
    "Hai detto che vivo a Oslo.",
    "Você me disse que moro em Oslo.",
    "Je hebt me verteld dat ik in Oslo woon.",
    "Ты говорил, что я живу в Oslo.",
    "你之前告诉我我住在 Oslo。",
    "Oslo に住んでいると言っていましたね。",
    "أخبرتني أنني أعيش في Oslo.",
    "คุณบอกว่าฉันอยู่ Oslo",
    "आपने मुझे बताया कि मैं Oslo में रहता हूँ।",
]


@pytest.mark.parametrize("pasted", PASTED)
@pytest.mark.parametrize("layout", ["{own}\n\n{pasted}\n\n{own}", "{pasted}\n\n{own}", "{own}\n{pasted}"])
def test_what_was_pasted_or_recalled_is_taken_out_of_the_users_own_words(pasted: str, layout: str) -> None:
    words = learnable(turn(Role.USER, layout.format(own=OWN, pasted=pasted)))
    assert "slo" not in words
    assert words.split("\n")[0] == OWN
    assert words.split("\n")[-1] == OWN


def test_what_is_set_against_a_quoted_memory_is_learned() -> None:
    assert own_words("You said I live in Oslo, but I live in Rome now. Nice.") == "I live in Rome now. Nice."
    assert own_words("你之前告诉我我住在奥斯陆，但我现在住在罗马。") == "我现在住在罗马。"
    assert own_words("Du hast gesagt, ich wohne in Oslo, aber ich wohne in Rom.") == "ich wohne in Rom."


def test_what_somebody_is_quoted_with_is_not_learned() -> None:
    assert (
        own_words('My brother said to me: "I live in Oslo". So did Ada: «I love Oslo!»')
        == "My brother said to me:  . So did Ada:"
    )


def test_a_block_that_is_never_closed_goes_on_to_the_end() -> None:
    assert own_words("I like tea.\n<system-reminder>I live in Oslo.\n\nAnd in Rome.") == "I like tea."
    assert own_words("I like tea.\n```\nI live in Oslo.\n\nAnd in Rome.") == "I like tea."


def test_a_context_window_that_was_pasted_whole_leaves_only_the_question() -> None:
    window = (
        "## Working Memory\nActive conversation topics: travel\nUser: I live in Oslo.\n  I like it.\nAssistant: Good.\n\n"
        "## User History\n- I worked in Bergen (2023-04-01)\n\n## Domain Knowledge\nFjords\n  The user loves fjords.\n\n"
    )
    assert own_words(f"{window}What shall I pack?") == "What shall I pack?"


@given(st.text(max_size=300))
def test_taking_out_twice_takes_out_nothing_more_and_adds_nothing(text: str) -> None:
    words = own_words(text)
    assert not set(words) - set(text) - {"\n", " "}
    assert own_words(words) in words


PIECES = [
    "<memory ",
    "<memory>",
    "<|a",
    "```\n",
    "> \n",
    '"a',
    "“",
    "you ",
    "du hast ",
    "said ",
    "## \n",
    "User:",
    "\n\n- ",
    "  ",
    ", but",
]


@pytest.mark.parametrize("piece", PIECES)
def test_the_work_grows_with_the_length_and_no_faster(piece: str) -> None:
    began = time.process_time()
    own_words((piece * 60_000)[:60_000])
    assert time.process_time() - began < 2
