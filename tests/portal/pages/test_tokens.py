"""API tokens at a page: made, shown once, revoked."""

from portal.access.tokens import token_find
from portal.models import ApiToken


def test_a_token_is_shown_once_and_works(visit, world):
    member = visit("member")
    answer = member.send("/tokens/", {"name": "nightly", "scope": "read", "days": "30"})
    assert answer.status_code == 201
    plain = answer.context["plain"]
    assert token_find(plain).scopes == ["read"]
    assert plain in answer.content.decode()
    assert plain not in member.open("/tokens/").content.decode()


def test_wrong_words_make_no_token(visit, world):
    before = ApiToken.objects.count()
    for wrong in ({"name": ""}, {"days": "3"}, {"scope": "all"}, {"name": "x" * 64}):
        given = {"name": "a", "scope": "read", "days": "30"} | wrong
        assert visit("member").send("/tokens/", given).status_code == 422, wrong
    assert ApiToken.objects.count() == before


def test_only_the_owner_revokes(visit, world):
    own = ApiToken.objects.get(user=world.own.owner)
    assert visit("lead").send(f"/tokens/{own.uid}/revoke/").status_code == 404
    assert visit("member").send(f"/tokens/{own.uid}/revoke/").status_code == 303
    own.refresh_from_db()
    assert own.revoked_at is not None
