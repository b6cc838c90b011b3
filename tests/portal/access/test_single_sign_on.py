"""Single sign-on against a real OpenID provider: another process, another database, real HTTP."""

import json
import os
import socket
import subprocess
import sys
from urllib.parse import urlsplit, urlunsplit

import httpx
import psycopg
import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings as conf
from django.contrib.sessions.models import Session
from django.test import Client

from pool.events import SYSTEM
from pool.models import Event, Membership, User
from pool.services.people.groups import group_role_set
from portal.access.tokens import token_issue
from tests import rows

WORD = "a fine long word 7"
CALLBACK = "http://testserver/accounts/oidc/sso/login/callback/"
PEOPLE = [
    {"name": "ada", "email": "ada@example.org", "verified": True, "groups": ["vision"]},
    {"name": "eve", "email": "mei@example.org", "verified": False, "groups": ["vision"]},
    {"name": "new", "email": "new@example.org", "verified": True, "groups": ["vision", "x"]},
]


@pytest.fixture(scope="module")
def provider(engines):
    """Its address, while it runs."""
    ours = urlsplit(os.environ["DATABASE_URL"])
    name = f"provider_{os.getpid()}"
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True, dbname="postgres") as admin:
        admin.execute(f'CREATE DATABASE "{name}"')
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    told = {
        "PROVIDER_DATABASE": urlunsplit(ours._replace(path=f"/{name}")),
        "PROVIDER_PORT": str(port),
        "PROVIDER_CALLBACK": CALLBACK,
        "PROVIDER_PEOPLE": json.dumps(PEOPLE),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.portal.access.provider"],
        env=os.environ | told,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "ready"
    yield f"http://127.0.0.1:{port}"
    process.kill()
    process.wait()
    process.stdout.close()
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True, dbname="postgres") as admin:
        admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture
def site(provider, settings, db):
    """The portal as a site that knows the provider."""
    settings.OIDC_SERVER = provider
    app = {
        "provider_id": "sso",
        "name": "Company",
        "client_id": "pool",
        "secret": "pool-secret",
        "settings": {"server_url": provider},
    }
    settings.SOCIALACCOUNT_PROVIDERS = {
        "openid_connect": {**conf.SOCIALACCOUNT_PROVIDERS["openid_connect"], "APPS": [app]}
    }
    project = rows.project(slug="vision")
    group_role_set(source="oidc", group="vision", role="member", project=project, actor=SYSTEM)
    return project


def signed_on(name, password="pass"):
    """A browser that went to the provider, logged in there, and came back."""
    browser = Client()
    assert b"Company" in browser.get("/accounts/login/").content
    away = browser.post("/accounts/oidc/sso/login/")
    assert away.status_code == 302
    with httpx.Client(follow_redirects=True) as there:
        asked = there.get(away["Location"])
        form = {"login": name, "password": password, "next": asked.url.params.get("next", "")}
        target = asked.url
        there.follow_redirects = False
        answer = there.post(target, data=form)
        while answer.has_redirect_location:
            where = str(answer.next_request.url)
            if where.startswith(CALLBACK):
                path = urlsplit(where)
                return browser, browser.get(f"{path.path}?{path.query}")
            answer = there.get(where)
    return browser, None


def test_a_known_person_comes_in_by_a_verified_address_with_the_roles_of_their_groups(site):
    person = rows.user(username="ada.l", email="Ada@Example.org")
    browser, answer = signed_on("ada")
    assert (answer.status_code, answer["Location"]) == (302, "/")
    assert browser.get("/").wsgi_request.user == person
    held = Membership.objects.get(user=person)
    assert (held.project, held.role, held.source) == (site, "member", "oidc")
    assert Event.objects.filter(kind="login.succeeded", actor_label="ada.l").count() == 1
    _again, answer = signed_on("ada")
    assert answer["Location"] == "/"
    assert Membership.objects.filter(user=person).count() == 1


def test_who_wrote_another_s_address_into_an_account_loses_every_way_into_it(site):
    squat = rows.user(username="squat", email="ada@example.org")
    squat.set_password(WORD)
    squat.save()
    rows.user(username="gone", email="ada@example.org", is_active=False)
    other = rows.user(username="other")
    inside, beside = Client(), Client()
    inside.force_login(squat)
    beside.force_login(other)
    token, _plain = token_issue(user=squat, name="kept", actor=SYSTEM)
    Authenticator.objects.create(user=squat, type=Authenticator.Type.TOTP, data={})
    SocialAccount.objects.create(user=squat, provider="sso", uid="somebody else")
    browser, answer = signed_on("ada")
    assert (answer.status_code, answer["Location"]) == (302, "/")
    assert browser.get("/").wsgi_request.user == squat
    squat.refresh_from_db()
    token.refresh_from_db()
    assert not squat.has_usable_password()
    assert token.revoked_at is not None
    assert not Authenticator.objects.filter(user=squat).exists()
    assert SocialAccount.objects.get(user=squat).uid != "somebody else"
    assert not Session.objects.filter(pk=inside.session.session_key).exists()
    assert not inside.get("/accounts/login/").wsgi_request.user.is_authenticated
    assert beside.get("/").wsgi_request.user == other
    told = Event.objects.filter(kind="user.changed", subject=f"user:{squat.uid}").get()
    assert "password" in told.data["changed"]
    mine, _plain = token_issue(user=squat, name="hers", actor=SYSTEM)
    signed_on("ada")
    mine.refresh_from_db()
    assert mine.revoked_at is None


def test_an_address_that_the_pool_has_verified_keeps_its_password(site):
    person = rows.user(username="ada.l", email="ada@example.org")
    person.set_password(WORD)
    person.save()
    EmailAddress.objects.create(user=person, email="ada@example.org", verified=True)
    browser, _answer = signed_on("ada")
    assert browser.get("/").wsgi_request.user == person
    person.refresh_from_db()
    assert person.check_password(WORD)


def test_an_address_that_nobody_verified_opens_no_account(site):
    person = rows.user(username="mei", email="mei@example.org")
    browser, answer = signed_on("eve")
    assert answer["Location"] == "/accounts/login/"
    assert not browser.get("/accounts/login/").wsgi_request.user.is_authenticated
    assert not Membership.objects.filter(user=person).exists()
    assert not User.objects.filter(username="eve").exists()


def test_a_stranger_gets_an_account_only_where_the_site_says_so(site, settings):
    _browser, answer = signed_on("new")
    assert answer["Location"] == "/accounts/login/"
    assert not User.objects.filter(username="new").exists()
    settings.OIDC_CREATES = True
    browser, answer = signed_on("new")
    assert answer["Location"] == "/"
    person = User.objects.get(username="new")
    assert not person.has_usable_password()
    assert browser.get("/").wsgi_request.user == person
    assert Membership.objects.get(user=person).project == site


def test_who_was_let_go_does_not_come_back_through_the_provider(site):
    person = rows.user(username="ada.l", email="ada@example.org")
    signed_on("ada")
    User.objects.filter(pk=person.pk).update(is_active=False)
    browser, answer = signed_on("ada")
    assert not browser.get("/accounts/login/").wsgi_request.user.is_authenticated
    assert answer.status_code in (302, 200)


def test_a_wrong_password_at_the_provider_leads_nowhere(site):
    _browser, answer = signed_on("ada", "wrong")
    assert answer is None


def test_a_callback_without_its_beginning_is_refused(site):
    answer = Client().get("/accounts/oidc/sso/login/callback/?code=x&state=y")
    assert b"Single sign-on did not work" in answer.content
