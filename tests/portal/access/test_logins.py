"""Log-ins: counted in the database, shut after failures, second factors, every step an event."""

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import (
    format_hotp_value,
    hotp_value,
    yield_hotp_counters_from_time,
)
from django.conf import settings as conf
from django.core.cache import cache
from django.test import Client

from pool.models import Event, Membership
from portal.settings import security
from tests import rows

pytestmark = pytest.mark.django_db
WORD = "a fine long word 7"


@pytest.fixture(autouse=True)
def counted_afresh(db):
    cache.clear()


def person(**given):
    row = rows.user(**given)
    row.set_password(WORD)
    row.save()
    return row


def login(browser, name, word=WORD, address="10.0.0.1"):
    given = {"login": name, "password": word}
    return browser.post("/accounts/login/", given, REMOTE_ADDR=address)


def test_passwords_are_argon2_outside_of_tests_and_counters_lie_in_the_database():
    assert security.PASSWORD_HASHERS[0].endswith("Argon2PasswordHasher")
    assert conf.CACHES["default"]["BACKEND"].endswith("DatabaseCache")


def test_an_account_is_shut_after_five_failures_from_anywhere_even_for_the_right_password():
    row = person(username="ada")
    for n in range(5):
        assert login(Client(), "ada", "wrong", f"10.0.0.{n}").status_code == 200
    for n in range(3):
        answer = login(Client(), "Ada", WORD, f"10.0.1.{n}")
        assert answer.status_code in (200, 429)
        assert not answer.wsgi_request.user.is_authenticated
    assert login(Client(), person(username="bob").username).status_code == 302
    assert Event.objects.filter(kind="login.failed", subject=f"user:{row.uid}").count() == 5
    assert Event.objects.filter(kind="login.locked", subject=f"user:{row.uid}").count() == 1
    told = Event.objects.filter(kind__startswith="login.").values_list("data", flat=True)
    assert WORD not in str(list(told))


def test_an_address_is_shut_after_ten_failures_with_whatever_names():
    person(username="ada")
    for n in range(10):
        login(Client(), f"nobody-{n}", "wrong")
    answer = login(Client(), "ada")
    assert not answer.wsgi_request.user.is_authenticated
    assert login(Client(), "ada", address="10.9.9.9").status_code == 302


def test_a_log_in_and_a_log_out_are_events_with_the_address():
    row = person(username="ada")
    browser = Client()
    login(browser, "ada", address="10.1.2.3")
    browser.post("/accounts/logout/")
    kinds = Event.objects.filter(actor_id=row.uid).order_by("id")
    assert [one.kind for one in kinds] == ["login.succeeded", "login.ended"]
    assert kinds[0].data["address"] == "10.1.2.3"


def code(secret):
    """What the app shows now."""
    return format_hotp_value(hotp_value(secret, next(iter(yield_hotp_counters_from_time()))))


def set_up(browser):
    """An authenticator app, as a person does it; its secret."""
    asked = browser.get("/accounts/2fa/totp/activate/")
    assert b"Is it you?" in browser.get(asked["Location"]).content
    browser.post(asked["Location"], {"password": WORD})
    shown = browser.get("/accounts/2fa/totp/activate/")
    secret = shown.context["form"].secret
    assert browser.post("/accounts/2fa/totp/activate/", {"code": code(secret)}).status_code == 302
    return secret


def test_with_a_second_factor_the_password_alone_opens_nothing(
    django_capture_on_commit_callbacks,
):
    row = person(username="ada")
    browser = Client()
    login(browser, "ada")
    with django_capture_on_commit_callbacks(execute=True):
        secret = set_up(browser)
    kept = Authenticator.objects.get(user=row, type="totp")
    assert secret not in str(kept.data)
    codes = browser.get("/accounts/2fa/recovery-codes/").context["unused_codes"]
    assert len(codes) == 10

    other = Client()
    answer = login(other, "ada")
    assert answer["Location"] == "/accounts/2fa/authenticate/"
    assert other.get("/").status_code == 302
    assert b"six digits" in other.get("/accounts/2fa/authenticate/").content
    assert other.post("/accounts/2fa/authenticate/", {"code": "000000"}).status_code == 200
    assert other.get("/").status_code == 302
    assert other.post("/accounts/2fa/authenticate/", {"code": codes[0]}).status_code == 302
    assert other.get("/").status_code == 200
    third = Client()
    login(third, "ada")
    assert third.post("/accounts/2fa/authenticate/", {"code": codes[0]}).status_code == 200
    told = set(Event.objects.filter(kind="mfa.changed").values_list("data__what", flat=True))
    assert "added" in told


def test_a_role_that_wants_a_second_factor_gets_nowhere_without_one(settings):
    settings.MFA_REQUIRED_ROLES = ["platform_admin"]
    root, plain = person(username="root"), person(username="plain")
    Membership.objects.create(user=root, role="platform_admin")
    browser = Client()
    login(browser, "root")
    assert browser.get("/")["Location"] == "/accounts/2fa/totp/activate/"
    refused = browser.get("/api/v1/whoami")
    assert (refused.status_code, refused.json()["code"]) == (403, "second_factor_wanted")
    set_up(browser)
    assert browser.get("/").status_code == 200
    assert browser.get("/api/v1/whoami").status_code == 200
    other = Client()
    login(other, "plain")
    assert other.get("/").status_code == 200
    assert plain.memberships.count() == 0
