"""Jobs: the form, the list, the page of one, stopping it."""

import pytest

from pool.models import LogChunk, Workload


def form(world, **changed):
    return {
        "project": "vision",
        "template": world.version.template.slug,
        "how": "template",
        "time_value": "10 min",
        "name": "训练 one",
        "command": "python3 train.py --text 'two words'",
        "retries": "2",
    } | changed


def test_a_job_is_submitted_with_its_words_file_and_environment(visit, world):
    given = form(world, env="A=1\n\nB=x=y", file_name="train.py", file_text="print(1)\r\n")
    answer = visit("member").send("/workloads/new/", given)
    made = Workload.objects.order_by("-pk").first()
    assert answer["Location"] == f"/workloads/{made.uid}/"
    assert made.command == ["python3", "train.py", "--text", "two words"]
    assert made.env == {"A": "1", "B": "x=y"}
    assert made.files == {"train.py": "print(1)\n"}
    assert (made.name, made.runs_left, made.expected_seconds) == ("训练 one", 2, 600)


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "n" * 64}, "name"),
        ({"command": "  "}, "command"),
        ({"command": "echo 'open"}, "command"),
        ({"env": "no equals sign"}, "env"),
        ({"retries": "-1"}, "retries"),
        ({"time_value": "0"}, "time_value"),
        ({"project": "speech"}, "project"),
        ({"lease": "ls-unknown"}, "lease"),
        ({"file_name": "../../etc/passwd", "file_text": "x"}, "file_text"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field_and_nothing_is_written(
    changed, field, visit, world
):
    before = Workload.objects.count()
    answer = visit("member").send("/workloads/new/", form(world, **changed))
    assert answer.status_code == 422
    assert field in answer.context["form"].errors
    assert Workload.objects.count() == before


def test_another_tenants_lease_cannot_be_used(visit, world):
    answer = visit("member").send("/workloads/new/", form(world, lease=world.other.lease.uid))
    assert "lease" in answer.context["form"].errors


def test_a_lease_fills_the_form_with_its_own_need(visit, world):
    lease = world.own.lease
    lease.need = {"parts": 1, "profile": "3g.40gb"}
    lease.save()
    start = visit("member").open(f"/workloads/new/?lease={lease.uid}").context["form"].initial
    assert (start["how"], start["profile"], start["lease"]) == ("profile", "3g.40gb", lease.uid)


def test_the_owner_stops_waiting_work_at_once_and_a_viewer_never(visit, world):
    path = f"/workloads/{world.own.workload.uid}/stop/"
    assert visit("viewer").send(path, htmx=True).status_code == 403
    assert (
        visit("member").send(path, htmx=True)["HX-Redirect"].endswith(f"{world.own.workload.uid}/")
    )
    world.own.workload.refresh_from_db()
    assert world.own.workload.state == "cancelled"


def test_a_filter_finds_by_state_project_name_and_uid(visit, world):
    member = visit("member")
    world.own.work(name="Alpha 甲", name_folded="alpha 甲")
    for query, there in (
        ("q=ALPHA", True),
        ("q=甲", True),
        ("q=nothing", False),
        ("state=waiting", True),
        ("state=ended", False),
        ("state=odd", True),
        ("project=vision", True),
        ("project=speech", False),
        ("before=1", False),
        ("before=99999999999999999999999", True),
        ("before=x", True),
    ):
        shown = member.part(f"/workloads/?{query}").content.decode()
        assert ("Alpha 甲" in shown) is there, query


def test_a_long_list_comes_page_by_page_and_loses_nothing(visit, world):
    for number in range(65):
        world.own.work(name=f"job-{number:02}", name_folded=f"job-{number:02}")
    member, seen, path = visit("member"), [], "/workloads/"
    while path:
        page = member.part(path).context["page"]
        seen += [row.uid for row in page.rows]
        path = f"/workloads/{page.older}" if page.older else ""
    assert len(seen) == len(set(seen)) == Workload.objects.filter(project__slug="vision").count()


def test_the_page_of_one_shows_state_attempts_and_cost(visit, world):
    done = world.own.placement.attempt.workload
    shown = visit("member").open(f"/workloads/{done.uid}/").content.decode()
    assert 'data-state="succeeded"' in shown
    assert "whole" in shown
    assert "data-cost" in shown
    assert "Run again" in shown


def test_a_log_says_what_it_lost_and_is_never_taken_for_a_page(visit, world):
    attempt = world.own.placement.attempt
    LogChunk.objects.create(attempt=attempt, offset=0, size=3, text="<b>")
    LogChunk.objects.create(attempt=attempt, offset=10, size=9, text="训练<i>")
    uid = attempt.workload.uid
    answer = visit("member").open(f"/workloads/{uid}/log/")
    text = b"".join(answer.streaming_content).decode()
    assert text == "<b>\n[… 7 bytes were not kept …]\n训练<i>"
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    shown = visit("member").open(f"/workloads/{uid}/").content.decode()
    assert "训练&lt;i&gt;" in shown
    assert "Earlier output" in shown


def test_names_with_markup_are_shown_as_text(visit, world):
    world.own.work(name="<img src=x>", name_folded="<img src=x>")
    shown = visit("member").open("/workloads/").content.decode()
    assert "<img src=x>" not in shown
    assert "&lt;img src=x&gt;" in shown
