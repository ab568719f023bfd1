import time

import pytest

from keepsake.domain.sanitizing import for_embedding, for_extraction

SECRETS = {
    "API_KEY": [
        "sk-proj-abcDEF1234567890abcd",
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "xoxb-1234567890-abcdefghij",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
        "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY9",
    ],
    "CARD": ["4111 1111 1111 1111", "5500-0000-0000-0004", "378282246310005", "٤١١١١١١١١١١١١١١١"],
    "IBAN": ["DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432", "NO9386011117947", "fr14 2004 1010 0505 0001 3m02 606"],
    "SSN": ["078-05-1120", "123 45 6789"],
}
NAMED = {
    "PASSWORD": [
        ("my password is {}", "swordfish"),
        ("the password for the guest wifi is {}", "hunter2!"),
        ("password: {}", "a,b;c"),
        ("pwd={}", "x"),
        ("password {}", "hunter2"),
        ("PIN is {}", "4711"),
        ("API key: {}", "abc"),
        ("passphrase = {}", '"correct horse battery staple"'),
        ("mein Passwort lautet {}", "geheim"),
        ("le mot de passe est {}", "sésame"),
        ("la contraseña es {}", "sésamo"),
        ("a senha é {}", "abelha"),
        ("мой пароль: {}", "тайна"),
        ("şifrem {}", "abc123"),
        ("我的密码是{}", "芝麻开门123"),
        ("パスワードは{}", "himitsu9"),
        ("비밀번호는 {}", "bimil9"),
        ("รหัสผ่านคือ {}", "lap9"),
        ("كلمة المرور هي {}", "سمسم"),
        ("मेरा पासवर्ड है {}", "रहस्य1"),
    ],
    "RECORD": [
        ("MRN {}", "00482913"),
        ("MRN: {}", "A-482913"),
        ("medical record number is {}", "482913"),
        ("case #{}", "24-1187"),
        ("case {}", "2024-CR-00117"),
        ("claim no. {}", "K99123"),
        ("NHS number: {}", "943 476 5919"),
        ("Aktenzeichen {}", "12/345"),
        ("numéro de dossier : {}", "88123"),
        ("número de expediente: {}", "EXP-2024-17"),
        ("номер дела {}", "1-234/2024"),
        ("病历号：{}", "A00123"),
        ("カルテ番号は{}", "001234"),
        ("हमारा केस नंबर {}", "12345"),
    ],
}
CONTACTS = {
    "EMAIL": ["ada.lovelace+x@mail.example.org", "jörg@müller.de"],
    "PHONE": ["+47 22 12 34 56", "+4915112345678", "(212) 555-0187", "020 7946 0958", "212-555-0187"],
    "ADDRESS": ["221B Baker Street", "Hauptstraße 12a", "12, rue de la Paix 3", "calle Mayor 17"],
}
ALL = [(kind, text, value) for kind, values in SECRETS.items() for value in values for text in ["{}"]]
ALL += [(kind, text, value) for kind, pairs in NAMED.items() for text, value in pairs]


@pytest.mark.parametrize(("kind", "text", "value"), ALL)
@pytest.mark.parametrize("place", ["{}", "Ada wrote {} there", "阿达：{} 。\n\nอา"])
def test_an_embedder_sees_no_secret_and_no_record_number(kind: str, text: str, value: str, place: str) -> None:
    masked = for_embedding(place.format(text.format(value))).text
    assert value not in masked
    assert f"[{kind}]" in masked
    assert masked.startswith(place.partition("{}")[0])


@pytest.mark.parametrize("kind", CONTACTS)
def test_an_embedder_sees_contact_data_and_names(kind: str) -> None:
    for value in CONTACTS[kind]:
        text = f"Ada Lovelace, {value}, Oslo"
        assert for_embedding(text).text == text


@pytest.mark.parametrize(("kind", "value"), [(kind, value) for kind, values in CONTACTS.items() for value in values])
def test_a_model_sees_marks_for_contact_data_and_the_same_one_for_the_same(kind: str, value: str) -> None:
    prompt = for_extraction("Find facts.", f"Ada Lovelace: {value}", f"again {value} in Oslo")
    assert prompt.data == f"Ada Lovelace: [{kind}_1]\nagain [{kind}_1] in Oslo"
    assert prompt.restored(f"Ada has [{kind}_1]") == f"Ada has {value}"


NOTHING = [
    "I was born on 1984-05-12 and moved on 12.05.2024, at 10:30.",
    "The bill was 1,234.50 kr for 3 people in 2024; case closed in 1999 and in case 3 people come.",
    "My phone is broken. The password manager is good. Our case is strong.",
    "ISBN 978-3-16-148410-0, score 4-6 6-4 7-5, 10 000 000 people, version 1.2.3.4",
    "git commit 3f2504e04f8911d39a0c0305e82c3301a1b2c3d4, id 123e4567-e89b-12d3-a456-426614174000",
    "我有三只猫，住在上海。", "ฉันมีแมว 3 ตัว", "عندي ٣ قطط", "👩‍👩‍👧‍👦 🇳🇴 😀",
    "supercalifragilisticexpialidocious" * 3,
]  # fmt: skip


@pytest.mark.parametrize("text", NOTHING)
def test_what_is_no_secret_stays_as_it_is(text: str) -> None:
    assert for_embedding(text).text == text
    assert for_extraction("", text).data == text


def test_a_private_key_is_masked_whole_also_when_its_end_is_missing() -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nabc=\n"
    assert for_embedding(f"a {key}-----END RSA PRIVATE KEY----- b").text == "a [PRIVATE_KEY] b"
    assert for_embedding(f"a {key}").text == "a [PRIVATE_KEY]"


def test_what_overlaps_is_masked_as_one() -> None:
    assert for_embedding("my password is 4111 1111 1111 1111, yes").text == "my password is [PASSWORD], yes"


def test_two_cards_in_a_row_and_numbers_beside_a_card_are_told_apart() -> None:
    text = "12 4111 1111 1111 1111 5500 0000 0000 0004 99"
    assert for_embedding(text).text == "12 [CARD] [CARD] 99"


def test_credentials_in_an_address_are_masked_and_the_address_is_not() -> None:
    assert for_embedding("https://ada:secret@example.org/x").text == "https://[API_KEY]@example.org/x"


def test_a_mark_that_the_text_holds_already_is_not_confused_with_ours() -> None:
    prompt = for_extraction("", "write [EMAIL_1] to a@b.org and [EMAIL_3] to c@d.org, e@f.org", "[PHONE_1]")
    assert prompt.data == "write [EMAIL_1] to [EMAIL_2] and [EMAIL_3] to [EMAIL_4], [EMAIL_5]\n[PHONE_1]"
    assert prompt.restored("[EMAIL_1] [EMAIL_2] [EMAIL_4]") == "[EMAIL_1] a@b.org c@d.org"


def test_what_a_mark_stands_for_is_not_restored_again() -> None:
    prompt = for_extraction("", 'password: "[EMAIL_1]" and a@b.org')
    assert prompt.restored(prompt.data) == 'password: "[EMAIL_1]" and a@b.org'


PIECES = [
    "password ",
    "password is ",
    "1 ",
    "1",
    "DE89",
    "a@",
    "a.",
    "aA1",
    "sk-",
    "-----BEGIN PRIVATE KEY-----",
    "+1",
    "case ",
    "0-",
    "eyJ.",
    "密码",
    "12 A ",
    "rue ",
    "://a:",
]


@pytest.mark.parametrize("piece", PIECES)
def test_the_work_grows_with_the_length_and_no_faster(piece: str) -> None:
    began = time.process_time()
    for_extraction("", (piece * 60_000)[:60_000])
    assert time.process_time() - began < 2
