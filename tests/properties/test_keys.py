"""Keys of different things never meet, and no key is a prefix match of another's, whatever the ids hold."""

from hypothesis import given
from hypothesis import strategies as st

from keepsake.domain.hashing import KeyedHash
from keepsake.ports.item_store import Key
from keepsake.repositories.keys import Keys, escaped, session_id_of, unescaped

KEYED = KeyedHash("v1", b"k" * 32)
ids = st.one_of(
    st.text(alphabet="#/|=&* %~u1", min_size=1, max_size=12),
    st.text(alphabet=st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=40),
)


def all_keys(user: str, session: str) -> set[tuple[str, str, str | int]]:
    keys = Keys(user, KEYED)
    found = [keys.buffer(session), keys.turn(session, 1), keys.header(session), keys.profile(), keys.fence(), keys.chain_head()]
    return {(key.table, key.partition, key.sort) for key in [*found, keys.marker(session, "t")]}


@given(ids, ids, ids, ids)
def test_keys_of_different_sessions_or_users_never_meet(user: str, session: str, other_user: str, other_session: str) -> None:
    if user != other_user:
        assert not all_keys(user, session) & all_keys(other_user, other_session)
    elif session != other_session:
        shared = all_keys(user, session) & all_keys(user, other_session)
        assert shared == {(key.table, key.partition, key.sort) for key in _of_the_user(user)}


def _of_the_user(user: str) -> list[Key]:
    keys = Keys(user, KEYED)
    return [keys.profile(), keys.fence(), keys.chain_head()]


@given(ids, ids)
def test_the_parts_of_a_key_cannot_run_into_each_other(user: str, session: str) -> None:
    assert Keys(user, KEYED).session_log(session).split("#") == [escaped(user), escaped(session)]


@given(ids)
def test_escaping_can_be_undone_and_leaves_no_separator(part: str) -> None:
    assert "#" not in escaped(part)
    assert unescaped(escaped(part)) == part


@given(ids, ids)
def test_a_header_tells_its_session_id(user: str, session: str) -> None:
    assert session_id_of(Keys(user, KEYED).header(session)) == session


@given(st.lists(ids, min_size=1, max_size=4), st.lists(ids, min_size=1, max_size=4))
def test_keyed_hashes_of_different_parts_differ(one: list[str], other: list[str]) -> None:
    if one != other:
        assert KEYED.of("purpose", *one) != KEYED.of("purpose", *other)
    assert KEYED.of("purpose", *one) != KEYED.of("another", *one)
