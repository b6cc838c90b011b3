"""API tokens: told once, found by their text, ended for good."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction

from pool.clock import now
from pool.errors import Invalid, TooMany
from pool.events import SYSTEM
from pool.models import Event
from portal.access import tokens
from portal.access.tokens import token_find, token_hash, token_issue, token_list, token_revoke
from portal.models import ApiToken
from tests import rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def user():
    return rows.user(username="ada")


def test_a_token_is_told_once_and_only_its_hash_is_kept(user):
    token, plain = token_issue(user=user, name=" laptop ", actor=SYSTEM)
    assert token_find(plain) == token
    assert (token.name, token.hint, token.token_hash) == ("laptop", plain[-4:], token_hash(plain))
    kept = ApiToken.objects.values().get()
    assert plain not in str(kept)
    event = Event.objects.get(kind="token.issued")
    assert plain not in str(event.data)
    assert token.token_hash not in str(event.data)


def test_two_tokens_are_never_the_same(user):
    assert len({token_issue(user=user, name="x", actor=SYSTEM)[1] for _ in range(20)}) == 20


@pytest.mark.parametrize("text", ["", "gpt_", "x" * 10_000, "\x00", "\ud800", "é"])
def test_any_other_text_is_no_token(user, text):
    token_issue(user=user, name="x", actor=SYSTEM)
    assert token_find(text) is None


def test_an_expired_a_revoked_and_a_disabled_persons_token_open_nothing(user):
    short, short_text = token_issue(
        user=user, name="s", actor=SYSTEM, expires=now() + timedelta(hours=1)
    )
    assert token_find(short_text) is not None
    ApiToken.objects.filter(pk=short.pk).update(expires_at=now())
    assert token_find(short_text) is None
    token, text = token_issue(user=user, name="r", actor=SYSTEM)
    for _ in range(2):
        assert token_revoke(token=token, actor=SYSTEM).revoked_at is not None
    assert token_find(text) is None
    assert Event.objects.filter(kind="token.revoked").count() == 1
    _, third = token_issue(user=user, name="d", actor=SYSTEM)
    user.is_active = False
    user.save()
    assert token_find(third) is None


def test_the_use_is_remembered_once_a_minute(user, django_assert_num_queries):
    _, text = token_issue(user=user, name="x", actor=SYSTEM)
    with django_assert_num_queries(2):
        token_find(text)
    with django_assert_num_queries(1):
        token_find(text)
    ApiToken.objects.update(last_used_at=now() - timedelta(minutes=2))
    with django_assert_num_queries(2):
        token_find(text)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"name": "  "}, "name"),
        ({"name": "n" * 64}, "name"),
        ({"scopes": []}, "scopes"),
        ({"scopes": ["admin"]}, "scopes"),
        ({"expires": now() - timedelta(seconds=1)}, "expires_at"),
    ],
)
def test_a_wrong_wish_is_refused_by_field_and_leaves_no_trace(user, given, field):
    with pytest.raises(Invalid) as refused:
        token_issue(**{"user": user, "name": "x", "actor": SYSTEM} | given)
    assert list(refused.value.detail) == [field]
    assert not ApiToken.objects.exists()
    assert not Event.objects.exists()


def test_a_person_has_fifty_living_tokens_at_most(user, monkeypatch):
    monkeypatch.setattr(tokens, "MOST_TOKENS", 2)
    first, _ = token_issue(user=user, name="1", actor=SYSTEM)
    token_issue(user=user, name="2", actor=SYSTEM)
    with pytest.raises(TooMany):
        token_issue(user=user, name="3", actor=SYSTEM)
    token_revoke(token=first, actor=SYSTEM)
    token_issue(user=user, name="3", actor=SYSTEM)
    assert [t.name for t in token_list(user=user)] == ["3", "2", "1"]


@pytest.mark.parametrize("columns", [{"scopes": []}, {"scopes": ["root"]}, {"name": ""}])
def test_the_database_itself_refuses_what_no_token_can_be(user, columns):
    given = {"user": user, "name": "x", "token_hash": "h", "hint": "abcd", "scopes": ["read"]}
    with pytest.raises(IntegrityError), transaction.atomic():
        ApiToken.objects.create(**given | columns)
