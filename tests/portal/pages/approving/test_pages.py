"""The pages round requests: they open for whom they are, and do what they say."""

from datetime import timedelta

import pytest
from django.utils import timezone

from pool.models import ApprovalPolicy, Delegation, Notice, Request
from pool.services.notices.send import notice_send
from tests import rows

PAGES = ("/leases/", "/deputies/", "/notices/", "/notices/ways/", "/requests/advisor/")


@pytest.mark.parametrize("path", PAGES)
def test_every_page_opens_for_those_who_work(path, visit):
    for role in ("member", "lead", "org_admin", "platform_admin"):
        assert visit(role).open(path).status_code == 200


def test_pages_of_administrators_are_theirs(visit):
    assert visit("org_admin").open("/approval-policy/").status_code == 200
    assert visit("platform_admin").open("/approval-policy/").status_code == 200
    assert visit("platform_admin").open("/notices/letters/").status_code == 200
    for path in ("/approval-policy/", "/notices/letters/"):
        assert visit("lead").open(path).status_code == 403


def form(world, **words):
    return {
        "project": "vision",
        "template": world.version.template.slug,
        "time_value": "2 h",
        "copies": "1",
        "kind": "on_demand",
    } | words


def test_a_draft_is_kept_changed_and_sent(visit, world):
    member = visit("member")
    member.send("/requests/new/", form(world, title="Later", draft="1"))
    one = Request.objects.get(title="Later")
    assert one.state == "draft"
    assert b"Later" in member.open(f"/requests/{one.uid}/edit/").content
    changed = form(world, title="Sooner", copies="2", revision=str(one.revision))
    member.send(f"/requests/{one.uid}/edit/", changed | {"draft": "1"})
    one.refresh_from_db()
    assert (one.state, one.title, one.copies) == ("draft", "Sooner", 2)
    member.send(f"/requests/{one.uid}/send/")
    one.refresh_from_db()
    assert one.state == "submitted"
    assert Notice.objects.filter(user=world.own.people["lead"].user, kind="to_decide").exists()


def test_a_request_that_waits_is_changed_only_on_the_reading_of_now(visit, world):
    member = visit("member")
    one = world.own.asked(title="Waits")
    stale = form(world, title="Waits", copies="3", revision=str(one.revision + 1))
    assert member.send(f"/requests/{one.uid}/edit/", stale).status_code == 422
    member.send(f"/requests/{one.uid}/edit/", stale | {"revision": str(one.revision)})
    one.refresh_from_db()
    assert (one.copies, one.revision > 1) == (3, True)
    assert visit("lead").open(f"/requests/{one.uid}/edit/").status_code == 403


def test_the_advisor_answers_and_fills_the_form(visit, world):
    asked = {"project": "vision", "task": "finetuning", "number": "1"}
    asked |= {"time_value": "8 h", "memory_gb": "20"}
    answer = visit("member").send("/requests/advisor/judged/", asked, htmx=True)
    assert answer.status_code == 200
    told = answer.context["told"]
    assert told.answer.best is not None
    assert told.form.startswith("/requests/new/?template=")
    assert visit("member").open(told.form).status_code == 200
    empty = visit("member").send("/requests/advisor/judged/", {}, htmx=True)
    assert empty.context["told"] is None


def test_the_wait_beside_the_form_comes_from_the_plan(visit, world):
    answer = visit("member").send("/requests/wait/", form(world), htmx=True)
    assert answer.context["effects"].copies == 1


def test_more_time_and_another_size_are_asked_from_the_leases_page(visit, world):
    member, lease = visit("member"), world.own.lease
    page = f"/leases/{lease.uid}/"
    assert b"In force until" in member.open(page).content
    member.send(f"{page}extend/", {"time_value": "1 h"})
    assert lease.changes.get().alteration == "extend"
    refused = member.send(f"{page}resize/", {"copies": "2"})
    assert refused.status_code == 422
    assert b"waits for its decision already" in refused.content


def test_only_administrators_recall(visit, world):
    page = f"/leases/{world.own.lease.uid}/"
    soon = (timezone.now() + timedelta(minutes=20)).strftime("%Y-%m-%dT%H:%M")
    said = {"ends_at": soon, "reason": "cards are needed"}
    assert visit("lead").send(f"{page}recall/", said).status_code == 403
    visit("org_admin").send(f"{page}recall/", said)
    lease = type(world.own.lease).objects.get(pk=world.own.lease.pk)
    assert lease.recall_reason == "cards are needed"


def test_a_deputy_is_named_and_told_and_has_the_inbox(visit, world):
    lead, member = visit("lead"), visit("member")
    assert member.open("/approvals/").status_code == 403
    said = {
        "deputy": member.user.uid,
        "starts_at": (timezone.now() - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M"),
        "ends_at": (timezone.now() + timedelta(hours=5)).strftime("%Y-%m-%dT%H:%M"),
    }
    assert lead.send("/deputies/", said | {"ends_at": "never"}).status_code == 422
    lead.send("/deputies/", said)
    one = Delegation.objects.get(deputy=member.user)
    answer = member.open("/approvals/")
    assert answer.status_code == 200
    assert b"You decide for" in answer.content
    member.send(f"/deputies/{one.uid}/end/")
    assert member.open("/approvals/").status_code == 403


def test_a_policy_is_written_from_its_page(visit):
    said = {
        "of": "vision-org",
        "answer_hours": "4",
        "remind_hours": "2",
        "escalate_hours": "6",
        "days": ["0", "1"],
        "begins": "8",
        "ends": "16",
        "holidays": "2026-12-25",
        "lead_when": "always",
        "org_admin_when": "above",
        "org_admin_cards": "4",
        "platform_admin_when": "never",
        "reason": "as agreed",
    }
    admin = visit("org_admin")
    assert admin.send("/approval-policy/", said | {"begins": "20"}).status_code == 422
    unsaid = {name: word for name, word in said.items() if name != "org_admin_when"}
    assert admin.send("/approval-policy/", unsaid).status_code == 422
    assert admin.send("/approval-policy/", said).status_code == 303
    row = ApprovalPolicy.objects.get()
    assert row.steps == [{"role": "lead"}, {"role": "org_admin", "above": {"cards": 4.0}}]
    assert row.calendar["holidays"] == ["2026-12-25"]
    assert b"as agreed" in admin.open("/approval-policy/?of=vision-org").content


def test_a_step_by_partition_is_kept_by_the_page_and_a_limit_without_one_refused(visit, world):
    said = {
        "of": "vision-org",
        "answer_hours": "4",
        "remind_hours": "2",
        "escalate_hours": "6",
        "days": ["0"],
        "begins": "8",
        "ends": "16",
        "lead_when": "always",
        "org_admin_when": "above",
        "org_admin_partitions": f"{world.partition.slug}",
        "platform_admin_when": "never",
        "reason": "the new cards are dear",
    }
    admin = visit("org_admin")
    for wrong in ({"org_admin_partitions": ""}, {"org_admin_partitions": "nowhere"}):
        assert admin.send("/approval-policy/", said | wrong).status_code == 422
    assert admin.send("/approval-policy/", said).status_code == 303
    step = {"role": "org_admin", "above": {}, "partitions": [world.partition.slug]}
    assert ApprovalPolicy.objects.get().steps == [{"role": "lead"}, step]
    page = admin.open("/approval-policy/?of=vision-org").content.decode()
    assert f'value="{world.partition.slug}"' in page
    body = {"project": "vision", "template": world.version.template.slug}
    asked = world.by("member").post("requests", {**body, "duration_seconds": 3600})
    assert asked.json()["steps"] == ["lead", "org_admin"]


def test_notices_are_read_and_followed(visit, world):
    member = visit("member")
    notice_send(
        kind="decided", to=[member.user], about=world.own.request, text="It is done.", key="k"
    )
    assert b"It is done." in member.open("/notices/").content
    assert b"1 not read" in member.open("/notices/bell/").content
    notice = Notice.objects.get(user=member.user)
    assert visit("lead").send(f"/notices/{notice.uid}/").status_code == 404
    answer = member.send(f"/notices/{notice.uid}/")
    assert answer["Location"] == f"/requests/{world.own.request.uid}/"
    assert b"0 not read" in member.open("/notices/bell/").content


def test_ways_and_a_receiver_are_chosen(visit):
    member = visit("member")
    member.send("/notices/ways/", {"decided.mail": "off", "decided.hook": "nonsense"})
    assert member.user.notice_choices.get().how == "off"
    assert member.send("/notices/ways/receiver/", {"url": "ftp://x"}).status_code == 422
    shown = member.send("/notices/ways/receiver/", {"url": "https://example.org/in"})
    assert b"It is shown only now" in shown.content


def test_a_decider_sees_effects_and_a_cheaper_way_is_granted_only_when_meant(visit, world):
    lead, one = visit("lead"), world.own.asked()
    effects = lead.part(f"/approvals/{one.uid}/effects/")
    assert effects.status_code == 200
    assert b"Its wait" in effects.content or b"Not known" in effects.content
    said = {"revision": one.revision, "instead": "a100:A100-80GB:mig", "at_hand": "smaller"}
    lead.send(f"/approvals/{one.uid}/approve/", said, htmx=True)
    one.refresh_from_db()
    assert "need" not in one.pending_decision["changes"]
    assert one.pending_decision["reason"].startswith("Please ask for less")


def test_what_moved_since_it_was_read_is_shown(visit, world):
    lead, one = visit("lead"), world.own.asked()
    read = lead.part(f"/approvals/{one.uid}/").context["form"].initial["read"]
    Request.objects.filter(pk=one.pk).update(revision=9, copies=5)
    said = {"revision": one.revision, "read": read}
    answer = lead.send(f"/approvals/{one.uid}/approve/", said, htmx=True)
    assert answer.status_code == 409
    assert ("copies", 1, 5) in answer.context["moved"]
    assert answer.context["form"].initial["revision"] == 9


def stepped(**words):
    """The form of a policy with one step above a limit."""
    return {
        "of": "vision-org",
        "answer_hours": "4",
        "remind_hours": "2",
        "escalate_hours": "6",
        "days": ["0"],
        "begins": "8",
        "ends": "16",
        "lead_when": "always",
        "org_admin_when": "above",
        "platform_admin_when": "never",
        "reason": "so it was agreed",
    } | words


def test_another_organizations_partition_is_no_partition_to_who_writes_a_policy(visit):
    theirs = rows.partition(slug="theirs-alone", open_to_all=False)
    admin, said = visit("org_admin"), stepped(org_admin_partitions="theirs-alone")
    page = admin.send("/approval-policy/", said)
    assert page.status_code == 422
    assert "No such partition: theirs-alone." in page.content.decode()
    assert visit("platform_admin").send("/approval-policy/", said).status_code == 303
    assert admin.send("/approval-policy/", said).status_code == 303, "it stood there before"
    assert ApprovalPolicy.objects.filter(steps__1__partitions=[theirs.slug]).count() == 2


def test_a_step_above_nothing_at_all_is_a_limit(visit):
    assert visit("org_admin").send("/approval-policy/", stepped()).status_code == 422
    said = stepped(org_admin_cost="0")
    assert visit("org_admin").send("/approval-policy/", said).status_code == 303
    assert ApprovalPolicy.objects.get().steps[1] == {"role": "org_admin", "above": {"cost": 0.0}}
