"""Rules are set whole and with a reason; quiet hours let letters rest and nothing else."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from pool.clock import now
from pool.errors import Forbidden, Invalid, NotYours
from pool.events import SYSTEM
from pool.lifecycle.idleness import NightAnswer
from pool.models import Event, Hold, IdleRule, MinuteRollup, Notice, NoticeDelivery
from pool.selectors.memberships import standing
from pool.selectors.notebooks.hogs import _quiet, hog_list
from pool.selectors.notebooks.past import held_and_used
from pool.selectors.notebooks.preview import touched_by
from pool.selectors.notebooks.rules import rule_of
from pool.services.notebooks.keep import NotRunning
from pool.services.notebooks.nights import NothingAsked, night_answer, night_ask
from pool.services.notebooks.nudge import owner_nudged
from pool.services.notebooks.rules import idle_rule_remove, idle_rule_set
from tests import rows
from tests.field.notebooks import Desk

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk():
    made = Desk.laid()
    made.work.owner.email = "mei@example.org"
    made.work.owner.save()
    assert made.turn().state == "running"
    made.judge()
    return made


@pytest.fixture
def lead(desk):
    return rows.member(desk.work.project, role="lead")


def test_the_narrower_rule_holds_and_its_end_brings_the_wider_one_back(desk):
    assert rule_of(workload=desk.work).idle_s == 7200
    wide = idle_rule_set(rule=None, idle_seconds=3600, actor=SYSTEM)
    here = idle_rule_set(rule=None, project=desk.work.project, idle_seconds=1800, actor=SYSTEM)
    assert rule_of(workload=desk.work).idle_s == 1800
    idle_rule_set(rule=here, keeps=0, actor=SYSTEM, reason="too dear")
    assert (rule_of(workload=desk.work).keeps, rule_of(workload=desk.work).idle_s) == (0, 1800)
    idle_rule_remove(rule=here, actor=SYSTEM)
    assert rule_of(workload=desk.work).idle_s == 3600
    told = Event.objects.filter(kind="idle_rule.changed").order_by("id")
    assert [one.data.get("idle_seconds") for one in told] == [3600, 1800, 1800, None]
    assert told[2].data["before"]["keeps"] == 3
    assert wide.uid.startswith("ir-")


def test_one_scope_has_one_rule_and_wrong_words_are_named(desk):
    idle_rule_set(rule=None, idle_seconds=3600, actor=SYSTEM)
    with pytest.raises(Invalid):
        idle_rule_set(rule=None, idle_seconds=1800, actor=SYSTEM)
    with pytest.raises(Invalid) as wrong:
        idle_rule_set(rule=None, project=desk.work.project, idle_seconds=10, actor=SYSTEM)
    assert "idle_seconds" in wrong.value.detail
    assert IdleRule.objects.count() == 1


def test_a_preview_names_who_follows_another_rule(desk, lead):
    seen = standing(user=lead)
    new = IdleRule(project=desk.work.project, idle_seconds=600, warn_minutes=[2])
    (one,) = touched_by(standing=seen, rule=new)
    assert (one.workload, one.before.idle_s, one.after.idle_s) == (desk.work, 7200, 600)
    assert one.due_s <= 600
    elsewhere = IdleRule(project=rows.project(slug="else"), idle_seconds=600, warn_minutes=[2])
    assert touched_by(standing=seen, rule=elsewhere) == []
    assert touched_by(standing=standing(user=rows.user()), rule=new) == []


def test_in_quiet_hours_letters_rest_and_the_reclaim_does_not(desk):
    here = now()
    minute = here.hour * 60 + here.minute
    quiet = {"quiet_from": (minute - 60) % 1440, "quiet_until": (minute + 120) % 1440}
    idle_rule_set(rule=None, idle_seconds=600, warn_minutes=[5], actor=SYSTEM, **quiet)
    desk.judge(moved=400)
    desk.judge(moved=600)
    for _ in range(4):
        desk.judge(after=50)
    assert desk.turn().state == "reclaimed"
    assert Notice.objects.filter(kind="idle").count() == 3
    (letter,) = NoticeDelivery.objects.filter(channel="mail", notice__kind="idle")
    assert "was stopped" in letter.notice.text
    assert letter.due_at > now() + timedelta(minutes=100)


def test_a_granted_night_stops_the_count_until_it_is_over(desk, lead):
    owner, until = desk.work.owner, now() + timedelta(hours=12)
    wish = night_ask(
        workload=desk.work,
        user=owner,
        until=until,
        reason="a long run",
        actor=SYSTEM,
        weights={"cost": 9},
        deciders=[lead, owner],
    )
    assert Notice.objects.filter(user=lead, kind="to_decide").count() == 1
    assert not Notice.objects.filter(user=owner, kind="to_decide").exists()
    with pytest.raises(Forbidden):
        night_answer(night=wish, answer=NightAnswer.GRANTED, user=owner, actor=SYSTEM)
    night_answer(night=wish, answer=NightAnswer.GRANTED, user=lead, actor=SYSTEM)
    for _ in range(3):
        desk.judge(moved=7300)
    assert (desk.turn().state, desk.known.quiet_s, desk.known.warned) == ("running", 0.0, None)
    assert desk.known.verdict == "idle"
    with pytest.raises(NothingAsked):
        night_answer(night=wish, answer=NightAnswer.REFUSED, user=lead, actor=SYSTEM)
    type(desk.known).objects.update(kept_until=now() - timedelta(seconds=1))
    desk.judge(moved=7300)
    assert desk.known.warned == 2
    told = [one.data.get("answer") for one in Event.objects.filter(kind="notebook.night")]
    assert sorted(map(str, told)) == ["None", "granted"]


def test_a_night_is_asked_once_by_the_owner_of_what_runs(desk, lead):
    words = {"until": now() + timedelta(hours=2), "reason": "a run", "actor": SYSTEM}
    with pytest.raises(Forbidden):
        night_ask(workload=desk.work, user=lead, **words)
    wish = night_ask(workload=desk.work, user=desk.work.owner, **words)
    with pytest.raises(Invalid):
        night_ask(workload=desk.work, user=desk.work.owner, **words)
    night_answer(night=wish, answer=NightAnswer.WITHDRAWN, user=desk.work.owner, actor=SYSTEM)
    again = night_ask(workload=desk.work, user=desk.work.owner, **words)
    night_answer(night=again, answer=NightAnswer.REFUSED, user=lead, actor=SYSTEM, words="no")
    assert desk.known.kept_until is None
    other = rows.workload(kind="notebook", into=desk.work.project, owner=desk.work.owner)
    with pytest.raises(NotRunning):
        night_ask(workload=other, user=desk.work.owner, **words)


def test_who_holds_memory_for_nothing_is_listed_whatever_kind_it_is(desk, lead):
    desk.memory = 6000.0
    for _ in range(14):
        desk.read()
    with CaptureQueriesContext(connection) as seen:
        ((work, use),) = hog_list(standing=standing(user=lead), now=now())
    assert work == desk.work
    assert 5000 < use.memory_mib <= 6000
    assert use.share > 0.2
    assert len(seen) <= 5
    assert hog_list(standing=standing(user=rows.user()), now=now()) == []
    desk.sm = 50.0
    for _ in range(14):
        desk.read()
    assert hog_list(standing=standing(user=lead), now=now()) == []


def minutes(desk, percents, busy_first=False):
    """Five minutes of several slices at once; the first may be busy."""
    hold = Hold.objects.get(slice__isnull=False)
    moment = now().replace(second=0, microsecond=0) - timedelta(minutes=6)
    attempt = hold.placement.attempt
    type(hold.placement).objects.filter(pk=hold.placement_id).update(opened_at=moment)
    MinuteRollup.objects.filter(attempt_id=attempt.pk).delete()
    made = [
        MinuteRollup(
            at=moment + timedelta(seconds=60 * number),
            card_id=hold.card_id,
            slice_id=hold.slice_id + one,
            attempt_id=attempt.pk,
            seconds=60.0,
            mean=[None, 90.0 if busy_first and number == 0 else percent],
            peak=[None, percent],
            known=[0.0, 60.0],
        )
        for number in range(5)
        for one, percent in enumerate(percents)
    ]
    MinuteRollup.objects.bulk_create(made)
    return attempt


def test_work_on_several_slices_is_quiet_no_longer_than_on_one(desk, lead):
    attempt = minutes(desk, [0.0, 0.0, 0.0], busy_first=True)
    assert _quiet([attempt.pk], now()) == {attempt.pk: 240.0}
    desk.memory = 6000.0
    for _ in range(14):
        desk.read()
    ((_work, use),) = hog_list(standing=standing(user=lead), now=now())
    assert use.quiet_s == 240.0


def test_minutes_of_several_slices_are_counted_once_as_held_and_used(desk):
    minutes(desk, [90.0, 0.0])
    (run,) = held_and_used(workload=desk.work)
    assert (run.known_s, run.used_s, run.used_milli) == (300.0, 150.0, 500)


def test_only_of_what_is_shown_it_is_asked_how_long_it_is_quiet(desk, lead):
    with CaptureQueriesContext(connection) as seen:
        assert hog_list(standing=standing(user=lead), now=now()) == []
    assert not any("pool_rollup_minute" in one["sql"] for one in seen.captured_queries)


def test_the_owner_is_asked_about_it_once_an_hour(desk):
    words = {"workload": desk.work, "who": "Lena", "words": "Still needed?", "actor": SYSTEM}
    assert owner_nudged(**words)
    assert not owner_nudged(**words)
    assert Notice.objects.filter(user=desk.work.owner, key__startswith="nudge:").count() == 1
    assert Event.objects.filter(kind="workload.owner_nudged").count() == 1
    with pytest.raises(Invalid):
        owner_nudged(**words | {"words": "x" * 301})


def test_what_runs_held_and_used_is_told(desk):
    (run,) = held_and_used(workload=desk.work)
    assert run.number == 1
    assert run.held_s > 0
    assert run.used_milli is None


def test_of_two_who_change_a_rule_at_once_none_loses_a_word():
    rule = idle_rule_set(rule=None, actor=SYSTEM, idle_seconds=3600)
    stale = IdleRule.objects.get(pk=rule.pk)
    idle_rule_set(rule=rule, actor=SYSTEM, keeps=1)
    idle_rule_set(rule=stale, actor=SYSTEM, idle_seconds=5400)
    rule.refresh_from_db()
    assert (rule.keeps, rule.idle_seconds) == (1, 5400)
    idle_rule_remove(rule=rule, actor=SYSTEM)
    with pytest.raises(NotYours):
        idle_rule_set(rule=stale, actor=SYSTEM, keeps=2)
