"""A notebook shown to its project, and one that goes on in another size, on their pages."""

from datetime import timedelta

import pytest
from django.test import Client

from pool.clock import now
from pool.models import Event, NotebookShare, Workload
from tests import factories as make
from tests import rows

pytestmark = [pytest.mark.django_db, pytest.mark.handmade_books]

HTMX = {"HX-Request": "true"}


class House:
    """One notebook and the people around it."""

    def __init__(self, state="running"):
        world = make.World()
        make.allowance(world.project, world.partition, 2)
        small = make.template("small", {"parts": 1, "memory_gb": 10}, kind="notebook")
        self.larger = make.template("larger", {"parts": 1, "memory_gb": 40}, kind="notebook")
        words = {"kind": "notebook", "command": ["jupyter", "lab"], "state": state}
        self.work = rows.workload(into=world.project, version=small, owner=world.member, **words)
        self.project = world.project
        self.people = {
            "owner": self.work.owner,
            "lead": rows.member(self.project, role="lead"),
            "viewer": rows.member(self.project, role="viewer"),
            "stranger": rows.member(rows.project(slug="elsewhere"), role="lead"),
        }

    def by(self, role):
        client = Client()
        client.force_login(self.people[role])
        return client

    def page(self, name=""):
        return f"/notebooks/{self.work.uid}/{name}"


@pytest.fixture
def house():
    return House()


def soon(**after):
    return f"{now() + timedelta(**after):%Y-%m-%dT%H:%M}"


def test_its_owner_lets_the_project_read_and_ends_it(house):
    owner = house.by("owner")
    assert "Let my project read it" in owner.get(house.page()).content.decode()
    assert owner.get(house.page("share/")).status_code == 200
    wrong = owner.post(house.page("share/"), {"until": soon(days=40)})
    assert (wrong.status_code, "30 days" in wrong.content.decode()) == (422, True)
    assert owner.post(house.page("share/"), {"until": soon(days=3)}).status_code == 303
    assert "may read its files until" in house.by("viewer").get(house.page()).content.decode()
    assert owner.post(house.page("unshare/")).status_code == 303
    assert NotebookShare.objects.get().ended_at is not None
    assert "may read its files until" not in house.by("viewer").get(house.page()).content.decode()


def test_a_lead_ends_what_another_shows_but_shares_nothing_of_theirs(house):
    house.by("owner").post(house.page("share/"), {"until": soon(days=3)})
    lead = house.by("lead")
    assert lead.post(house.page("share/"), {"until": soon(days=5)}).status_code == 403
    assert lead.post(house.page("unshare/")).status_code == 303
    assert NotebookShare.objects.get().ended_at is not None


def test_a_viewer_looks_only_while_it_is_shared_and_a_stranger_never(house, settings):
    settings.GATEWAY_ORIGIN = "http://notebooks.test"
    viewer = house.by("viewer")
    assert "HX-Redirect" not in viewer.post(house.page("look/"), headers=HTMX).headers
    house.by("owner").post(house.page("share/"), {"until": soon(days=3)})
    assert viewer.post(house.page("unshare/")).status_code == 403
    there = viewer.post(house.page("look/"), headers=HTMX).headers["HX-Redirect"]
    assert there.startswith(f"http://notebooks.test/enter/{house.work.uid}?ticket=")
    seen = Event.objects.get(kind="notebook.viewed")
    assert seen.actor_id == house.people["viewer"].uid
    stranger = house.by("stranger")
    for name in ("", "share/", "resize/"):
        assert stranger.get(house.page(name)).status_code == 404
    for name in ("look/", "unshare/", "share/", "resize/", "resize/sized/"):
        assert stranger.post(house.page(name)).status_code == 404


SIZE = {"how": "template", "time_value": "2 h"}


def test_it_goes_on_in_another_size_after_a_look_at_the_price():
    house = House(state="reclaimed")
    owner = house.by("owner")
    assert "Go on in another size" in owner.get(house.page()).content.decode()
    words = SIZE | {"template": house.larger.template.slug}
    form = owner.get(house.page("resize/")).content.decode()
    assert f'value="{house.larger.template.slug}"' in form
    assert 'name="project"' not in form
    judged = owner.post(house.page("resize/sized/"), words, headers=HTMX).content.decode()
    assert "Who decides" in judged
    answer = owner.post(house.page("resize/"), words)
    made = Workload.objects.exclude(pk=house.work.pk).get()
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/notebooks/{made.uid}/")
    assert (made.state, made.need["memory_gb"]) == ("queued", 40)
    assert made.uid in owner.get(house.page()).content.decode()
    assert house.work.uid in owner.get(f"/notebooks/{made.uid}/").content.decode()


def test_wrong_sizes_are_told_beside_their_field_and_nothing_is_queued():
    house = House(state="stopped")
    words = SIZE | {"template": house.larger.template.slug, "how": "size", "memory_gb": "900"}
    answer = house.by("owner").post(house.page("resize/"), words)
    assert answer.status_code == 422
    assert "Nothing in the pool can hold this" in answer.content.decode()
    assert house.by("owner").post(house.page("resize/"), {}).status_code == 422
    assert house.by("lead").get(house.page("resize/")).status_code == 403
    assert Workload.objects.count() == 1
