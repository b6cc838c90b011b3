"""The first page: what needs one's word, the menu of new things, what could start now, the bell."""

import pytest
from asgiref.sync import async_to_sync

from pool.models import Membership, Notebook, Notice, Template, TemplateVersion, Workload
from pool.rules.notices import NoticeKind
from pool.services.notices.choices import notice_read
from pool.services.notices.send import notice_send
from portal.live.hub import Hub
from portal.live.relevance import news_of, touches
from portal.pages.advisor import startable
from portal.pages.panels import panel_key, panel_render
from tests import rows


def told(user, key="one", text="Your request was approved."):
    return notice_send(kind=NoticeKind.DECIDED, to=[user], about=user, text=text, key=key)


@pytest.fixture
def notebook_size(world):
    template = Template.objects.create(slug="small-notebook", name="Small notebook", rank=1)
    need = {"parts": 1, "memory_gb": 10}
    return TemplateVersion.objects.create(
        template=template, number=1, kind="notebook", need=need, work_class="notebook"
    )


def test_the_menu_offers_every_kind_of_new_thing_to_those_who_work(visit):
    page = visit("member").open("/").content.decode()
    for path in ("/notebooks/", "/workloads/new/", "/requests/new/", "?kind=reserved"):
        assert path in page
    assert 'data-key="n"' in page
    assert "/home/now/" in page
    page = visit("viewer").open("/").content.decode()
    assert "/requests/new/" not in page
    assert "/home/now/" not in page


def test_what_starts_now_is_one_click_away_and_what_is_beyond_is_asked_for(
    visit, world, notebook_size
):
    world.own.project.quotas.filter(kind="allowance").update(
        limit_value=8_000_000, ceiling=8_000_000
    )
    member = visit("member")
    shown = member.part("/home/now/").content.decode()
    assert "Small notebook" in shown
    assert "has room now" in shown
    assert f"/workloads/new/?template={world.version.template.slug}" in shown
    before = Workload.objects.count()
    words = {"project": world.own.project.slug, "template": "small-notebook"}
    assert member.send("/notebooks/new/", words, htmx=True).status_code < 400
    assert Workload.objects.count() == before + 1


def test_without_an_allowance_one_asks_and_without_a_project_one_is_told_how(visit, world):
    world.own.project.quotas.filter(kind="allowance").delete()
    shown = visit("member").part("/home/now/").content.decode()
    assert "somebody decides" in shown
    assert f"/requests/new/?template={world.version.template.slug}" in shown
    shown = visit("billing_reader").part("/home/now/").content.decode()
    assert "no project yet" in shown


def test_the_same_kind_of_work_is_planned_once_for_all_projects_and_people(
    visit, world, monkeypatch
):
    second = rows.project(organization=world.own.project.organization, slug="second")
    Membership.objects.create(user=visit("member").user, project=second, role="member")
    planned = []

    def plans(**given):
        planned.append(given["need"])
        return "busy"

    monkeypatch.setattr(startable, "waits_now", plans)
    for role in ("member", "lead"):
        visit(role).part("/home/now/")
    once = len(planned)
    assert once
    world.own.work(name="meanwhile")
    visit("member").part("/home/now/?project=second")
    assert len(planned) == once


def waits_asked(monkeypatch):
    """What the queue is planned for anew, one entry a plan."""
    asked = []
    monkeypatch.setattr(startable, "waits_now", lambda **given: "busy")
    monkeypatch.setattr(startable, "effects_for", lambda **given: asked.append(given["owner"]))
    return asked


def test_a_wait_is_planned_once_for_all_people_and_pages_of_a_project(visit, world, monkeypatch):
    asked = waits_asked(monkeypatch)
    member, lead = visit("member"), visit("lead")
    member.part("/home/now/")
    once = len(asked)
    assert once
    for page in (member, lead, member, lead):
        assert page.part("/home/now/").status_code == 200
    assert len(asked) == once
    rows.quota(
        limit=1_000_000,
        label="A100-80GB",
        project=world.own.project,
        user=lead.user,
        partition=world.partition,
    )
    lead.part("/home/now/")
    assert set(asked[once:]) == {lead.user}, "limits of one's own count for oneself"


def test_who_has_wait_after_wait_planned_is_told_no_more_for_a_while(visit, world, monkeypatch):
    asked = waits_asked(monkeypatch)
    member = visit("member")
    for _ in range(2 * startable.TOLD.limit):
        startable.forget()
        assert member.part("/home/now/").status_code == 200
    assert len(asked) == startable.TOLD.limit


def test_another_tenants_project_is_never_chosen(visit, world):
    shown = visit("member").part(f"/home/now/?project={world.other.project.slug}")
    assert world.other.project.name not in shown.content.decode()


@pytest.mark.handmade_books
def test_a_notebook_about_to_be_reclaimed_is_kept_from_the_first_page(visit, world):
    own = world.own
    work = own.work(kind="notebook", name="nb", state="running", command=[])
    rows_of = {"workload": work, "stage": "ready"}
    Notebook.objects.create(**rows_of, warned=10, limit_s=7200, quiet_s=6600, verdict="idle")
    page = visit("member").open("/").content.decode()
    assert f"/notebooks/{work.uid}/keep/" in page


def test_the_bell_shows_what_is_unread_to_its_owner_alone(world):
    member, lead = world.by("member").user, world.by("lead").user
    told(member)
    topic = f"bell:{member.uid}"
    assert panel_key(member, topic) is not None
    assert panel_key(lead, topic) is None
    shown = panel_render(member, topic)
    assert "approved" in shown
    assert "1 not read" in shown
    notice = Notice.objects.get(user=member)
    assert f"/notices/{notice.uid}/" in shown
    notice_read(user=member)
    assert "Nothing new" in panel_render(member, topic)


def test_a_new_notice_and_a_read_one_are_announced_to_their_bell(
    world, monkeypatch, django_capture_on_commit_callbacks
):
    sent = []
    monkeypatch.setattr("pool.announce._send", lambda group, message: sent.append(message))
    member = world.by("member").user
    with django_capture_on_commit_callbacks(execute=True):
        told(member)
        told(member)
    with django_capture_on_commit_callbacks(execute=True):
        notice_read(user=member)
        notice_read(user=member)
    bells = [one for one in sent if one["type"] == "bell"]
    assert bells == [{"type": "bell", "topics": [f"bell:{member.uid}"]}] * 2
    news = news_of(bells)
    assert touches(news, f"bell:{member.uid}", frozenset())
    assert not touches(news, "bell:us-other", frozenset())


def test_the_hub_hears_bells_without_taking_them_for_events():
    async def heard():
        hub = Hub()
        hub._heard({"type": "bell", "topics": ["bell:us-1"]})
        return hub._messages, hub._missed._heard

    messages, numbers = async_to_sync(heard)()
    assert messages
    assert not numbers
