"""A wish for a night that a deputy answers for somebody who is away."""

from datetime import timedelta

import pytest

from pool.clock import now
from pool.events import SYSTEM
from pool.models import Delegation, NightKeep, Notice
from portal.access.tokens import token_issue
from tests import rows
from tests.portal.pages.notebooks.test_idle_pages import HTMX, House

pytestmark = pytest.mark.django_db


@pytest.fixture
def house():
    made = House()
    made.people |= {name: rows.user(username=name) for name in ("deputy", "stranger")}
    return made


def away(house, role):
    hours = (now() - timedelta(hours=1), now() + timedelta(hours=9))
    person, deputy = house.people[role], house.people["deputy"]
    Delegation.objects.create(person=person, deputy=deputy, span=hours)


def asked(house):
    until = (now() + timedelta(hours=8)).strftime("%Y-%m-%dT%H:%M")
    path = f"/notebooks/{house.work.uid}/night/"
    answer = house.by("owner").post(path, {"until": until, "reason": "a long run"})
    assert answer.status_code == 303, answer.content
    return path


def test_the_deputy_is_told_finds_the_notebook_and_answers(house):
    away(house, "lead")
    path = asked(house)
    deputy, page = house.by("deputy"), f"/notebooks/{house.work.uid}/"
    assert Notice.objects.filter(user=house.people["deputy"], kind="to_decide").exists()
    shown = deputy.get(page)
    assert shown.status_code == 200 and b"Grant" in shown.content
    assert deputy.post(f"{page}stop/", headers=HTMX).status_code in (403, 404)
    assert deputy.post(f"{path}granted/", {"words": "fine"}, headers=HTMX).status_code == 204
    assert NightKeep.objects.get().answer == "granted"
    assert deputy.get(page).status_code == 404


def test_the_deputy_of_whoever_asks_and_a_stranger_find_nothing(house):
    house.people["lead"].memberships.all().delete()
    house.work.owner.memberships.update(role="lead")
    away(house, "owner")
    path = asked(house)
    for who in (house.by("deputy"), house.by("stranger")):
        assert who.get(f"/notebooks/{house.work.uid}/").status_code == 404
        assert who.post(f"{path}granted/", headers=HTMX).status_code == 404
    assert house.by("owner").post(f"{path}granted/", headers=HTMX).status_code == 403
    assert NightKeep.objects.get().answer == ""


def test_over_rest_the_deputy_answers_too(house, client):
    away(house, "lead")
    asked(house)
    _row, token = token_issue(user=house.people["deputy"], name="t", actor=SYSTEM)
    path = f"/api/v1/workloads/{house.work.uid}/night/answer"
    words = {"answer": "refused", "words": "maintenance"}
    head = {"Authorization": f"Bearer {token}"}
    answer = client.post(path, words, content_type="application/json", headers=head)
    assert answer.status_code == 200, answer.content
    assert NightKeep.objects.get().answer == "refused"
