"""Asking for cards in a form."""

import json
import re
from html import unescape

import pytest
import yaml

from pool.events import Actor
from pool.models import Card, Request
from pool.services.decisions import request_return


def form(world, **changed):
    return {
        "project": "vision",
        "template": world.version.template.slug,
        "how": "template",
        "time_value": "8 h",
        "copies": "1",
        "title": "Train",
        "purpose": "",
    } | changed


def test_a_request_is_sent_and_opened(visit, world):
    answer = visit("member").send("/requests/new/", form(world))
    made = Request.objects.order_by("-pk").first()
    assert (answer.status_code, answer["Location"]) == (303, f"/requests/{made.uid}/")
    assert (made.state, made.duration_seconds, made.title) == ("submitted", 8 * 3600, "Train")
    assert made.requester == world.own.owner


def test_the_size_that_was_asked_for_replaces_the_templates(visit, world):
    changed = form(world, how="size", memory_gb="40", compute_percent="50", parts="2")
    visit("member").send("/requests/new/", changed)
    need = Request.objects.order_by("-pk").first().need
    assert (need["memory_gb"], need["compute_milli"], need["parts"]) == (40, 500, 2)
    assert not {"encoder_units", "decoder_units"} & set(need)


def test_video_engines_are_asked_for_with_the_size_and_told_with_it(visit, world):
    for card in Card.objects.all():
        card.facts |= {"nvdec": 5}
        card.save()
    page = visit("member").open("/requests/new/").content.decode()
    assert "Video encoders for each part" in page and "nobody else uses" in page
    sized = {"how": "size", "memory_gb": "10", "decoder_units": "1"}
    answer = visit("member").send("/requests/new/", form(world, **sized, encoder_units="0"))
    made = Request.objects.order_by("-pk").first()
    assert (made.need["decoder_units"], made.need.get("encoder_units", 0)) == (1, 0)
    assert "1 video decoder" in visit("member").open(answer["Location"]).content.decode()


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"time_value": "0"}, "time_value"),
        ({"time_value": "-3"}, "time_value"),
        ({"time_value": "90 d"}, "time_value"),
        ({"time_value": ""}, "time_value"),
        ({"time_value": "2 moons"}, "time_value"),
        ({"project": "speech"}, "project"),
        ({"project": "nothing"}, "project"),
        ({"template": "nothing"}, "template"),
        ({"how": "size"}, "memory_gb"),
        ({"how": "size", "memory_gb": "99999"}, "memory_gb"),
        ({"how": "profile"}, "profile"),
        ({"how": "size", "memory_gb": "4", "encoder_units": "65"}, "encoder_units"),
        ({"copies": "0"}, "copies"),
        ({"title": "x" * 121}, "title"),
        ({"purpose": "y" * 4001}, "purpose"),
        ({"partitions": "nowhere"}, "partitions"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field_and_nothing_is_written(
    changed, field, visit, world
):
    before = Request.objects.count()
    given = form(world, **({"title": "我的申请"} | changed))
    answer = visit("member").send("/requests/new/", given)
    assert answer.status_code == 422
    assert field in answer.context["form"].errors
    assert Request.objects.count() == before
    if field != "title":
        assert "我的申请" in answer.content.decode()


def test_what_no_card_could_hold_is_refused_above_the_form(visit, world):
    answer = visit("member").send("/requests/new/", form(world, how="profile", profile="9g.999gb"))
    assert answer.status_code == 422
    assert answer.context["form"].errors


def test_a_viewer_may_not_ask(visit, world):
    before = Request.objects.count()
    answer = visit("viewer").send("/requests/new/", form(world))
    assert answer.status_code == 422
    assert Request.objects.count() == before


def test_the_answer_beside_the_form_says_profile_memory_and_who_decides(visit, world):
    shown = (
        visit("member").send("/requests/judged/", form(world, time_value="9 h")).content.decode()
    )
    assert "20gb" in shown
    assert "MiB usable" in shown
    assert "Nobody: it fits the project" in shown
    big = form(world, how="whole", parts="4")
    shown = visit("member").send("/requests/judged/", big).content.decode()
    assert "the project lead" in shown


def test_the_answer_survives_half_a_form(visit, world):
    for changed in ({"time_value": ""}, {"template": ""}, {"project": "x"}, {"how": "size"}):
        answer = visit("member").send("/requests/judged/", form(world, **changed))
        assert answer.status_code == 200


def test_the_form_is_told_as_text_and_filled_in_from_it_again(visit, world):
    member = visit("member")
    asked = form(world, title="Sweep", purpose="Friday.", copies="2", time_value="90 min")
    asked |= {"how": "size", "memory_gb": "20", "compute_percent": "30"}
    shown = member.send("/requests/judged/", asked).content.decode()
    text = unescape(re.search(r"<pre[^>]*>(.*?)</pre>", shown, re.DOTALL).group(1))
    words = yaml.safe_load(text)
    assert (words["duration_seconds"], words["copies"], words["title"]) == (5400, 2, "Sweep")
    assert world.by("member").post("requests", words).status_code == 201
    for said in (text, json.dumps(words)):
        page = member.send("/requests/load/", {"text": said})
        assert page.status_code == 200
        again = page.content.decode()
        for field in ('value="1 h 30 min"', 'value="Sweep"', 'value="20"', 'value="30"'):
            assert field in again, field


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("project: [", "Line 1 cannot be read."),
        ("- one", "The words of a request are needed"),
        ("project: vision\ntemplate: no-such\nduration_seconds: 60", "none of this name"),
        ("project: vision\ntemplate: x", "duration_seconds: "),
        ("a: &a [1]\nneed: {b: *a}", "Aliases are not read here."),
        ("need: &n {again: *n}", "Aliases are not read here."),
        ("need: !!python/tuple [1]", "Tags are not read here."),
        ("need: " + "[" * 15_000, "nested too deeply"),
        ("purpose: " + "x" * 20_000, "at most 20000 characters"),
        ("project: vision\nwhat: 1\ntemplate: x\nduration_seconds: 60", "what: Unknown field."),
    ],
)
def test_a_text_that_says_no_request_is_told_why_and_kept(visit, world, text, said):
    before = Request.objects.count()
    page = visit("member").send("/requests/load/", {"text": text})
    told = unescape(page.content.decode())
    assert page.status_code == 422
    assert said in told and text in told
    assert Request.objects.count() == before


@pytest.mark.parametrize(
    ("need", "lost"),
    [
        ("{labels: [H100-80GB]}", "labels"),
        ("{vendors: [nvidia], min_driver: '550'}", "min_driver, vendors"),
        ("{cpu_milli: 8000, ram_mib: 4096, disk_mib: 1024}", "cpu_milli, disk_mib, ram_mib"),
        ("{min_size_gb: 20}", "min_size_gb"),
        ("{memory_mib: 9000}", "memory_mib"),
    ],
)
def test_what_the_form_has_no_field_for_is_refused_by_name(visit, world, need, lost):
    page = visit("member").send("/requests/load/", {"text": bare(world, need)})
    assert page.status_code == 422
    assert f"The form has no field for this: {lost}. Use REST." in unescape(page.content.decode())


def bare(world, need, partitions="[]"):
    """The shortest text of a request with that need."""
    head = f"project: vision\ntemplate: {world.version.template.slug}\nduration_seconds: 3600"
    return f"{head}\nneed: {need}\npartitions: {partitions}"


def test_the_one_way_that_was_chosen_comes_back_with_the_text(visit, world):
    place = world.partition.slug
    member, only = visit("member"), f"{place}:A100-80GB:mig"
    sized = {"how": "size", "memory_gb": "20", "compute_percent": "30"}
    asked = member.send("/requests/judged/", form(world, only=only, **sized))
    words = yaml.safe_load(asked.context["as_yaml"])
    assert words["need"]["labels"] == ["A100-80GB"] and words["partitions"] == [place]
    page = member.send("/requests/load/", {"text": asked.context["as_yaml"]})
    assert page.status_code == 200
    assert page.context["form"].initial["only"] == only


def test_a_text_with_an_unknown_partition_is_refused_as_it_stands(visit, world):
    page = visit("member").send("/requests/load/", {"text": bare(world, "{}", "[nowhere]")})
    assert page.status_code == 422
    assert "No such partition: nowhere." in unescape(page.content.decode())


def test_who_makes_no_requests_fills_in_no_form(visit, world):
    assert visit("viewer").send("/requests/load/", {"text": bare(world, "{}")}).status_code == 403


def test_a_request_is_withdrawn_by_its_owner_and_not_by_a_viewer(visit, world):
    path = f"/requests/{world.own.request.uid}/withdraw/"
    assert visit("viewer").send(path, htmx=True).status_code == 403
    assert visit("member").send(path).status_code == 303
    world.own.request.refresh_from_db()
    assert world.own.request.state == "withdrawn"


def test_a_viewer_reads_and_says_nothing(visit, world):
    request = world.own.request
    shown = visit("viewer").open(f"/requests/{request.uid}/").content.decode()
    assert "comment-text" not in shown
    answer = visit("viewer").send(f"/requests/{request.uid}/comment/", {"text": "hello"})
    assert answer.status_code == 403
    assert request.comments.count() == 0


def test_cards_can_be_reserved_on_the_same_form(visit, world):
    shown = visit("member").open("/requests/new/?kind=reserved").content.decode()
    assert 'value="reserved"' in shown and 'type="datetime-local"' in shown


def test_an_answer_to_a_question_sends_the_request_again(visit, world):
    uid = world.own.request.uid
    lead, member = visit("lead"), visit("member")
    lead.send(f"/approvals/{uid}/return/", {"revision": 1, "reason": "Which data?"})
    lead.send(f"/approvals/{uid}/undo/", {"revision": 1})
    request_return(
        request=world.own.request, user=lead.user, actor=Actor.of(lead.user), text="Which data?"
    )
    shown = member.open(f"/requests/{uid}/").content.decode()
    assert "Which data?" in shown
    member.send(f"/requests/{uid}/comment/", {"text": "The new labels.", "again": "1"})
    world.own.request.refresh_from_db()
    assert world.own.request.state == "submitted"
    assert "The new labels." in member.open(f"/requests/{uid}/").content.decode()
