"""Words that no person types: refused in their field, never an error of the server."""

import json

import pytest

from pool.models import Membership, Organization, Request, Template
from portal.pages.approving.deciding import moved_since
from portal.pages.quotatree.said import read
from tests.portal.pages.test_scenarios import WORDS


@pytest.mark.parametrize("text", ["1e999999", "1" * 4000, "-1", "nan", "inf", "1e30", "²"])
def test_a_number_that_nobody_means_is_none(text):
    with pytest.raises(ValueError, match="."):
        read(text, "cards_micro")


@pytest.mark.parametrize("by", ["1e999999", "9" * 400, "1e25"])
def test_many_rows_are_not_raised_by_a_number_that_nobody_means(visit, world, by):
    part = world.partition.slug
    path = f"/quotas/tree/bulk/?partition={part}&unit=cards_micro"
    words = {"does": "add", "column": "limit", "by": by, "pick": "o1"}
    assert visit("platform_admin").send(path, words, htmx=True).status_code < 500


@pytest.mark.parametrize("day", ["9999-12-31", "0001-01-01"])
def test_the_last_day_of_all_leaves_the_log_standing(visit, day):
    admin = visit("platform_admin")
    assert admin.open(f"/events/?until={day}&since={day}").status_code == 200


def test_a_reading_nested_without_end_tells_nothing(world):
    assert moved_since("[" * 20_000, world.own.request) == []
    assert moved_since(json.dumps([1]), world.own.request) == []


def test_an_admin_whose_only_organization_is_gone_is_refused(visit, world, monkeypatch):
    monkeypatch.setattr("portal.pages.approving.policy.organization_list", lambda **_: [])
    assert visit("org_admin").open("/approval-policy/").status_code == 403


def test_who_may_only_look_now_no_longer_changes_or_sends_what_they_asked_for(visit, world):
    asked = world.own.asked(state="draft", requester=world.by("member").user)
    member = visit("member")
    assert member.open(f"/requests/{asked.uid}/edit/").status_code == 200
    Membership.objects.filter(user=member.user).update(role="viewer")
    assert member.open(f"/requests/{asked.uid}/edit/").status_code == 403
    assert member.send(f"/requests/{asked.uid}/send/").status_code == 403
    shown = member.open(f"/requests/{asked.uid}/").content.decode()
    assert f"/requests/{asked.uid}/send/" not in shown
    assert Request.objects.get(pk=asked.pk).state == "draft"


def test_a_refused_version_leaves_who_may_use_the_template_as_it_was(visit, world):
    template = world.version.template
    admin = visit("platform_admin")
    words = WORDS | {"projects": [world.own.project.slug], "default_seconds": "999999"}
    assert admin.send(f"/templates/{template.uid}/edit/", words).status_code == 422
    assert not template.projects.exists()
    wrong = WORDS | {"name": "New", "slug": "new-one", "default_seconds": "999999"}
    assert admin.send("/templates/new/", wrong).status_code == 422
    assert not Template.objects.filter(slug="new-one").exists()
    rest = world.by("platform_admin")
    body = {"projects": [world.own.project.slug], "default_seconds": 86_400, "max_seconds": 60}
    assert rest("PATCH", f"templates/{template.uid}", body).status_code == 400
    assert not template.projects.exists()
    assert Organization.objects.exists()


def test_trials_of_the_whole_pool_are_bounded_for_each_person(visit, world):
    words = WORDS | {"template": world.version.template.uid}
    admin = visit("platform_admin")
    for _ in range(20):
        admin.send("/templates/fit/", words, htmx=True)
    assert "Wait a moment" in admin.send("/templates/fit/", words, htmx=True).content.decode()
    rest = world.by("platform_admin")
    assert rest.post("templates/fit", {"need": {"whole": True}}).status_code == 429
    assert world.by("org_admin").post("templates/fit", {"need": {"whole": True}}).status_code == 200
