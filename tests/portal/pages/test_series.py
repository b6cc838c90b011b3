"""Pages of arrays, of work after other work, and of schedules."""

import pytest

from pool.cycle.turns import settle
from pool.events import SYSTEM, Actor
from pool.models import Schedule, Workload
from pool.rules.arrays import Array
from pool.rules.dependencies import Rule
from pool.services.catalogue.secrets import secret_set
from pool.services.series.dependencies import After
from pool.services.workloads import workload_hold, workload_stop, workload_submit
from portal.pages.panels import panel_render
from portal.pages.series.arrays import MOST_CELLS, cells


def submit(world, spec="", **words):
    given = {
        "user": world.own.owner,
        "project": world.own.project,
        "template_version": world.version,
        "command": ["python", "train.py"],
        "expected_seconds": 600,
        "name": "sweep",
        "actor": Actor.of(world.own.owner),
    }
    return workload_submit(**given | words, array=Array(spec, 2) if spec else None)


def form(world, **given):
    return {
        "project": "vision",
        "template": world.version.template.slug,
        "how": "template",
        "name": "sweep",
        "command": "python3 train.py",
        "time_value": "10 min",
        **given,
    }


def test_the_grid_has_a_cell_for_each_piece_and_shows_the_worst_of_several():
    found = cells([(n, "succeeded") for n in range(60)])
    assert len(found) == 60
    assert (found[50].left, found[50].top) == (0, 10)
    many = cells((n, "failed" if n == 4321 else "succeeded") for n in range(10_000))
    assert len(many) == MOST_CELLS
    assert [(one.first, one.last) for one in many if one.kind == "failed"] == [(4320, 4329)]
    assert sum(one.count for one in many) == 10_000


def test_a_list_shows_an_array_once_with_its_counts(world, visit):
    array = submit(world, "0-4")
    page = visit("member").open("/workloads/").content.decode()
    assert page.count(f'id="{array.uid}"') == 1
    assert "sweep[0]" not in page
    assert "0 of 5 running" in page
    assert "5 waiting" in page
    waiting = visit("member").open("/workloads/?state=waiting").content.decode()
    assert array.uid in waiting
    assert array.uid not in visit("member").open("/workloads/?state=running").content.decode()
    piece = Workload.objects.filter(parent=array).first()
    assert piece.uid in visit("member").open(f"/workloads/?q={piece.uid}").content.decode()


def test_the_page_of_an_array_has_a_grid_a_list_and_its_verbs(world, visit):
    array = submit(world, "0-4")
    member = visit("member")
    page = member.open(f"/workloads/{array.uid}/").content.decode()
    assert page.count("gp-grid-waiting") == 5
    for words in ("Cancel all", "Pieces at a time", "Hold", "At most 2 at a time", "sweep"):
        assert words in page
    part = member.part(f"/workloads/{array.uid}/pieces/?pieces=waiting").content.decode()
    assert part.count("data-row") == 5
    assert (
        "No piece is like that"
        in member.part(f"/workloads/{array.uid}/pieces/?pieces=failed").content.decode()
    )
    viewer = visit("viewer").open(f"/workloads/{array.uid}/").content.decode()
    assert "Cancel all" not in viewer
    assert "<rect" in panel_render(world.own.owner, f"workload:{array.uid}")


def test_a_page_of_pieces_leads_to_the_next(world, visit):
    array = submit(world, "0-59")
    member = visit("member")
    first = member.part(f"/workloads/{array.uid}/pieces/").content.decode()
    assert (first.count("data-row"), "after=49" in first) == (50, True)
    rest = member.part(f"/workloads/{array.uid}/pieces/?after=49").content.decode()
    assert (rest.count("data-row"), "Further pieces" in rest) == (10, False)


def test_the_throttle_is_set_held_released_and_cancelled_on_the_page(world, visit):
    array = submit(world, "0-4")
    member = visit("member")
    path = f"/workloads/{array.uid}"
    assert member.send(f"{path}/throttle/", {"throttle": "4"}).status_code == 303
    array.refresh_from_db()
    assert array.array_throttle == 4
    member.send(f"{path}/throttle/", {"throttle": ""})
    array.refresh_from_db()
    assert array.array_throttle is None
    refused = member.send(f"{path}/throttle/", {"throttle": "none"}, htmx=True)
    assert refused.status_code == 400
    member.send(f"{path}/hold/", {"reason": "wait for the data"})
    page = member.open(f"{path}/").content.decode()
    assert "wait for the data" in page
    assert "Release" in page
    member.send(f"{path}/release/")
    member.send(f"{path}/stop/")
    array.refresh_from_db()
    assert array.state == "cancelled"
    for other in ("viewer", "stranger"):
        answer = visit(other).send(f"{path}/hold/")
        assert answer.status_code in (403, 404)


def test_what_a_lead_holds_shows_its_owner_no_release(world, visit):
    work = submit(world)
    workload_hold(workload=work, actor=Actor("user", "x", "lena"), reason="ask me", strict=True)
    page = visit("member").open(f"/workloads/{work.uid}/").content.decode()
    assert "Held by lena" in page
    assert "ask me" in page
    assert "/release/" not in page
    assert "/release/" in visit("lead").open(f"/workloads/{work.uid}/").content.decode()


def test_a_page_says_what_work_waits_for_and_what_waits_for_it(world, visit):
    first = submit(world, name="prepare")
    array = submit(world, "0-4", name="many")
    after = [After(first), After(array, Rule.SHARE, 800)]
    second = submit(world, name="report", after=after)
    page = visit("member").open(f"/workloads/{second.uid}/").content.decode()
    for words in ("Waits for", "prepare", "until it has succeeded", "until 80", "many"):
        assert words in page
    ahead = visit("member").open(f"/workloads/{first.uid}/").content.decode()
    assert "Waits for this" in ahead
    assert "report" in ahead
    workload_stop(workload=first, actor=SYSTEM)
    settle()
    page = visit("member").open(f"/workloads/{second.uid}/").content.decode()
    assert "can never be met" in page


def test_the_form_for_a_job_makes_an_array_that_runs_after_other_work(world, visit):
    first = submit(world)
    data = form(world, pieces="0-3", throttle="2", after_uids=first.uid, after_rule="end")
    answer = visit("member").send("/workloads/new/", data)
    assert answer.status_code == 303, answer.content.decode()
    array = Workload.objects.get(array_size=4)
    assert (array.array_throttle, array.after.get().rule) == (2, "end")
    again = visit("member").open(f"/workloads/new/?like={array.uid}").content.decode()
    assert 'value="0-3"' in again
    piece = Workload.objects.filter(parent=array).first()
    alone = visit("member").open(f"/workloads/new/?like={piece.uid}").content.decode()
    assert "python3 train.py" in alone


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"pieces": "a-b"}, "Numbers and spans"),
        ({"pieces": "0-3", "throttle": "0"}, "greater than or equal to 1"),
        ({"after_uids": "wl-unknown"}, "There is no workload wl-unknown"),
        ({"after_uids": "OWN", "after_rule": "share", "after_share": "50"}, "Only an array"),
    ],
)
def test_what_is_wrong_stands_beside_its_field(world, visit, given, words):
    given = {k: world.own.workload.uid if v == "OWN" else v for k, v in given.items()}
    answer = visit("member").send("/workloads/new/", form(world, **given))
    assert answer.status_code == 422
    assert words in answer.content.decode()


def test_another_tenants_work_is_no_workload_of_the_form(world, visit):
    data = form(world, after_uids=world.other.workload.uid)
    answer = visit("member").send("/workloads/new/", data)
    assert (answer.status_code, "There is no workload" in answer.content.decode()) == (422, True)


def test_a_schedule_is_made_and_steered_on_its_pages(world, visit):
    member = visit("member")
    Schedule.objects.all().delete()
    assert "Nothing is scheduled" in member.open("/schedules/").content.decode()
    assert "New schedule" in member.open("/schedules/new/").content.decode()
    data = form(world, cron="30 2 * * *", overlap="queue", missed="once", pieces="0-3")
    secret, _new = secret_set(name="TOKEN", value="s3cret", user=world.own.owner, actor=SYSTEM)
    data |= {"secret_1": secret.uid, "secret_1_form": "env", "secret_1_name": "HUB_TOKEN"}
    times = member.send("/schedules/times/", data, htmx=True).content.decode()
    assert times.count("<li>") == 5
    answer = member.send("/schedules/new/", data)
    assert answer.status_code == 303, answer.content.decode()
    row = Schedule.objects.get()
    path = f"/schedules/{row.uid}"
    page = member.open(f"{path}/").content.decode()
    known = ("30 2 * * *", "0-3", "let the new run wait", "None of its times has come yet")
    for words in (*known, "HUB_TOKEN"):
        assert words in page
    assert "s3cret" not in page
    member.send(f"{path}/run/")
    assert "started" in member.open(f"{path}/").content.decode()
    member.send(f"{path}/pause/", {"reason": "moving the data"})
    assert "moving the data" in member.open("/schedules/?state=paused").content.decode()
    member.send(f"{path}/resume/")
    row.refresh_from_db()
    assert row.state == "active"
    assert member.send(f"{path}/nonsense/").status_code == 404
    assert visit("viewer").send(f"{path}/pause/").status_code == 403
    assert visit("stranger").open(f"{path}/").status_code == 404
    member.send(f"{path}/end/")
    assert member.open(f"{path}/").status_code == 404


def test_a_line_that_is_no_cron_line_says_so(world, visit):
    data = form(world, cron="every night", overlap="skip", missed="skip")
    answer = visit("member").send("/schedules/new/", data)
    assert answer.status_code == 422
    assert "Five fields are needed" in answer.content.decode()
    part = visit("member").send("/schedules/times/", data, htmx=True).content.decode()
    assert "Five fields are needed" in part
