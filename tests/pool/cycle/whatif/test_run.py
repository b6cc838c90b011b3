"""What-ifs from books and files: taken once, replayed twice, kept; cancelled, lost, late."""

from datetime import timedelta

import pytest

from nodeagent.drivers.simulated.cards import card as simulated
from pool.clock import now
from pool.cycle.snapshot import take
from pool.cycle.whatif import run
from pool.cycle.whatif.run import studies_due
from pool.cycle.whatif.world import patterns, world_now
from pool.errors import IllegalMove, Invalid, NotYours, Stale
from pool.events import SYSTEM
from pool.models import Attempt, Event, Node, Placement, Study, Trace
from pool.rules.whatif.changes import Known
from pool.services.nodes import node_hello
from pool.services.whatif.runs import Left, studies_left, study_take, study_told
from pool.services.whatif.studies import (
    study_cancel,
    study_change,
    study_create,
    study_delete,
)
from pool.services.whatif.traces import trace_delete, trace_of_books, trace_of_file
from tests import rows

pytestmark = [pytest.mark.django_db, pytest.mark.handmade_books]

HOUR = timedelta(hours=1)
FILE = "submit_s,duration_s,gpus,team\n" + "".join(
    f"{at * 60},3600,{1 + at % 4},{'vision' if at % 3 else 'speech'}\n" for at in range(40)
)


def _known(place, **rest):
    return Known(partitions={place.slug}, models={"A100-80GB"}, **rest)


def ran_once(project, place, user, begin, wait, length, **given):
    """A workload that waited and ran."""
    work = rows.workload(into=project, partitions=[place], owner=user, **given)
    type(work).objects.filter(pk=work.pk).update(
        queued_at=begin,
        started_at=begin + wait,
        ended_at=begin + wait + length,
        state="succeeded",
    )
    work.refresh_from_db()
    attempt = Attempt.objects.create(
        workload=work, number=1, node=_node(), state="ended", clean_at=now()
    )
    Placement.objects.create(
        attempt=attempt,
        partition=place,
        state="closed",
        opened_at=begin + wait,
        closed_at=begin + wait + length,
    )
    return work


def _node():

    return Node.objects.order_by("pk").first()


def _file(user, text=FILE):
    return trace_of_file(
        name="march", text=text, shape="csv", user=user, organization=None, actor=SYSTEM
    )


def _ask(trace, place, user, changes=None, **rest):
    changes = changes or {"cards": [{"partition": "main", "model": "A100-80GB", "count": 16}]}
    words = {"name": "more cards", "organization": None, "actor": SYSTEM}
    return study_create(
        trace=trace, changes=changes, known=_known(place), user=user, **words | rest
    )


def test_the_pool_is_taken_whole_and_idle_with_what_could_be_bought(pool):
    world = world_now()
    assert len(world.snapshot.cards) == 8 and len(world.snapshot.nodes) == 2
    assert not world.snapshot.running and not world.snapshot.waiting and not world.snapshot.slices
    assert set(world.names.values()) == {"main"}
    labels = {card.label: card for card in patterns()}
    assert labels["H100-80GB"].geometries and labels["L40S"].memory_mib > 40_000


def test_all_that_a_file_asks_for_is_counted_however_long_it_runs(pool):
    place, _project, user = pool
    text = "submit_s,duration_s,gpus,team\n" + "0,36000,1,vision\n" * 32
    study = _ask(_file(user, text), place, user)
    assert studies_due() == 1
    study.refresh_from_db()
    for side, cards, use in ((study.baseline, 8, 1000), (study.result, 16, 500)):
        assert side["total"]["card_hours"] == side["models"][0]["card_hours"] == 320.0
        assert sum(row[-1] for row in side["spent"]) == pytest.approx(320 * 3600)
        assert (side["models"][0]["cards"], side["models"][0]["use_milli"]) == (cards, use)
    assert study.baseline["picture"]["step_s"] == study.result["picture"]["step_s"]


def test_a_file_replayed_with_more_cards_waits_less_and_says_the_same_twice(pool):
    place, _project, user = pool
    trace = _file(user)
    first, again = _ask(trace, place, user), _ask(trace, place, user)
    assert studies_due() == 2
    for study in (first, again):
        study.refresh_from_db()
        assert (study.state, study.progress_milli) == ("done", 1000)
    assert first.digest == again.digest and first.result == again.result
    before, after = first.baseline["total"], first.result["total"]
    assert before["jobs"] == after["jobs"] == 40
    assert after["p95_wait_s"] < before["p95_wait_s"]
    assert {row["cards"] for row in first.result["models"]} == {16}
    trace.refresh_from_db()
    assert trace.taken_at and trace.jobs == 40 and trace.teams == ["speech", "vision"]


def test_the_pool_of_the_first_replay_is_the_one_that_all_later_ones_stand_on(pool):
    place, _project, user = pool
    trace = _file(user)
    first = _ask(trace, place, user)
    studies_due()
    rows.node(cards=4, name="n3")
    later = _ask(trace, place, user)
    studies_due()
    first.refresh_from_db()
    later.refresh_from_db()
    assert first.baseline == later.baseline


def test_a_number_of_cards_needs_seven_days_of_the_books_whoever_asks(pool):
    place, project, user = pool
    until = now() - HOUR
    since = until - 10 * 24 * HOUR
    trace = trace_of_books(since=since, until=until, user=user, organization=None, actor=SYSTEM)
    for day in range(7):
        with pytest.raises(Invalid) as refused:
            _ask(trace, place, user, kind="cards", target_s=600)
        assert refused.value.detail == {"record": [f"Not enough data: {day} of 7 days."]}
        ran_once(project, place, user, since + (day + 1) * 24 * HOUR, HOUR, HOUR)
    assert _ask(trace, place, user, kind="cards", target_s=600).state == "waiting"


def test_books_become_a_what_if(pool):
    place, project, user = pool
    until = now() - HOUR
    since = until - 30 * HOUR
    for number in range(12):
        ran_once(project, place, user, since + number * HOUR, HOUR, 2 * HOUR)
    trace = trace_of_books(since=since, until=until, user=user, organization=None, actor=SYSTEM)
    study = _ask(trace, place, user, {"quotas": [{"team": "vision", "cards": 1}]})
    assert studies_due() == 1
    study.refresh_from_db()
    assert study.state == "done", study.state_reason
    assert study.baseline["teams"]["vision"]["jobs"] == 12
    assert study.result["total"]["mean_wait_s"] >= study.baseline["total"]["mean_wait_s"]
    spent = study.result["spent"][0]
    assert spent[0] == "vision" and spent[2] == "A100-80GB" and spent[4] == "standard"


def test_the_fewest_cards_that_keep_the_wait_short_are_found_with_every_step(pool):
    place, _project, user = pool
    trace = _file(user)
    one = {"cards": [{"partition": "main", "model": "A100-80GB", "count": 8}]}
    study = _ask(trace, place, user, one, kind="cards", target_s=3600)
    studies_due()
    study.refresh_from_db()
    assert study.state == "done", study.state_reason
    needed, counts = study.result["needed"], {row["cards"]: row["met"] for row in study.steps}
    assert counts[needed] and not counts[needed - 1]
    assert study.result["total"]["p95_wait_s"] <= 3600 < study.baseline["total"]["p95_wait_s"]


def test_the_progress_of_a_search_never_goes_back(pool, monkeypatch):
    place, _project, user = pool
    said = []
    monkeypatch.setattr(run, "WORD_EVERY_S", 0.0)
    monkeypatch.setattr(run, "study_told", lambda **told: said.append(told["progress_milli"]))
    one = {"cards": [{"partition": "main", "model": "A100-80GB", "count": 8}]}
    study = _ask(_file(user), place, user, one, kind="cards", target_s=3600)
    studies_due()
    study.refresh_from_db()
    assert study.state == "done" and len(study.steps) > 2
    assert said == sorted(said) and said[-1] < 990


def test_a_record_that_was_deleted_meanwhile_is_not_replayed(pool):
    place, _project, user = pool
    trace = _file(user)
    trace_delete(trace=trace, actor=SYSTEM)
    with pytest.raises(NotYours):
        _ask(trace, place, user)
    assert not Study.objects.exists()


def test_periods_that_nothing_replays_are_kept_in_a_limited_number(pool, monkeypatch):
    place, _project, user = pool
    monkeypatch.setattr("pool.services.whatif.traces.MOST_FILES", 2)
    until = now() - HOUR
    words = {"since": until - HOUR, "until": until, "user": user}
    words |= {"organization": None, "actor": SYSTEM}
    for _ in range(3):
        _ask(trace_of_books(**words), place, user)
    for _ in range(2):
        trace_of_books(**words)
    with pytest.raises(Invalid, match="nothing replays"):
        trace_of_books(**words)


def test_a_cancelled_run_is_left_at_the_next_word(pool, monkeypatch):
    place, _project, user = pool
    study = _ask(_file(user), place, user)
    taken = study_take()
    assert taken.pk == study.pk and study_take() is None
    study_cancel(study=study, actor=SYSTEM)
    study_cancel(study=study, actor=SYSTEM)
    with pytest.raises(Left):
        study_told(study=taken, progress_milli=10)
    assert studies_due() == 0
    study.refresh_from_db()
    assert study.state == "cancelled" and study.result is None


def test_a_run_whose_worker_died_waits_again_and_fails_after_the_third(pool):
    place, _project, user = pool
    study = _ask(_file(user), place, user)
    for number in (1, 2, 3):
        assert study_take().tries == number
        assert studies_left() == 0
        Study.objects.filter(pk=study.pk).update(deadline=now() - HOUR)
        assert studies_left() == 1
    study.refresh_from_db()
    assert (study.state, study.tries) == ("failed", 3) and "lost 3 times" in study.state_reason


def test_the_old_worker_cannot_end_what_another_has_taken_up(pool):
    place, _project, user = pool
    study = _ask(_file(user), place, user)
    old = study_take()
    Study.objects.filter(pk=study.pk).update(deadline=now() - HOUR)
    studies_left()
    study_take()
    with pytest.raises(Left):
        study_told(study=old, progress_milli=1)


def test_what_takes_too_long_or_breaks_ends_as_failed_with_its_reason(pool, monkeypatch):
    place, _project, user = pool
    trace = _file(user)
    study = _ask(trace, place, user)
    monkeypatch.setattr(run, "MOST_S", -1.0)
    studies_due()
    study.refresh_from_db()
    assert study.state == "failed" and "longer than" in study.state_reason
    monkeypatch.setattr(run, "MOST_S", 60.0)
    monkeypatch.setattr(run, "figures", lambda *given: 1 / 0)
    study = _ask(trace, place, user)
    studies_due()
    study.refresh_from_db()
    assert study.state == "failed" and "error of the portal" in study.state_reason


def test_a_period_without_work_says_so(pool):
    place, _project, user = pool
    until = now() - HOUR
    trace = trace_of_books(
        since=until - 2 * HOUR, until=until, user=user, organization=None, actor=SYSTEM
    )
    study = _ask(trace, place, user)
    studies_due()
    study.refresh_from_db()
    assert study.state == "failed" and "nothing ran" in study.state_reason


def test_what_cannot_be_asked_is_refused(pool):
    place, _project, user = pool
    trace = _file(user)
    for wrong in ({}, {"cards": [{"partition": "x", "model": "A100-80GB", "count": 1}]}):
        with pytest.raises(Invalid):
            study_create(
                name="x",
                trace=trace,
                changes=wrong,
                known=_known(place),
                user=user,
                organization=None,
                actor=SYSTEM,
            )
    with pytest.raises(Invalid, match="target"):
        _ask(trace, place, user, target_s=60)
    with pytest.raises(Invalid, match="partitions and models"):
        _ask(trace, place, user, {"numbers": {"heads": 1}}, kind="cards", target_s=60)
    with pytest.raises(Invalid, match="name"):
        _ask(trace, place, user, name=" ")
    with pytest.raises(Invalid):
        trace_of_books(since=now(), until=now() - HOUR, user=user, organization=None, actor=SYSTEM)
    with pytest.raises(Invalid, match="Line 2"):
        _file(user, "submit_s,duration_s,gpus\nx,1,1\n")
    for _ in range(10):
        _ask(trace, place, user)
    with pytest.raises(Invalid, match="10 of your"):
        _ask(trace, place, user)


def test_renaming_sharing_and_deleting_are_told_in_the_log(pool):
    place, _project, user = pool
    trace = _file(user)
    study = _ask(trace, place, user)
    with pytest.raises(Invalid, match="no organization"):
        study_change(study=study, actor=SYSTEM, share="organization")
    study_change(study=study, actor=SYSTEM, name="eight more", share="platform")
    with pytest.raises(Invalid, match="cancel it first"):
        study_delete(study=study, actor=SYSTEM)
    study_cancel(study=study, actor=SYSTEM)
    with pytest.raises(Stale):
        trace_delete(trace=trace, actor=SYSTEM)
    study_delete(study=study, actor=SYSTEM)
    study_delete(study=study, actor=SYSTEM)
    trace_delete(trace=trace, actor=SYSTEM)
    assert not Study.objects.exists() and not Trace.objects.exists()
    kinds = set(Event.objects.values_list("kind", flat=True))
    assert {"study.created", "study.changed", "study.moved", "study.deleted"} <= kinds
    assert {"trace.created", "trace.deleted"} <= kinds


def test_a_finished_one_is_not_cancelled(pool):
    place, _project, user = pool
    study = _ask(_file(user), place, user)
    studies_due()
    with pytest.raises(IllegalMove):
        study_cancel(study=study, actor=SYSTEM)


def test_a_card_that_is_bought_is_as_one_of_its_model_that_is_there(pool):
    """A purchase is decided on it: what it lacks in the books, work waits for without end."""
    bought = {card.label: card for card in patterns()}
    models = [card.model for card in bought.values()]
    rows.partition(slug="others")
    node = rows.node(cards=0, name="n3")
    cards = [simulated("n3", number, model, None) for number, model in enumerate(models)]
    node_hello(node=node, hello=rows.hello("n3", cards))
    there = {card.label: card for card in take(now()).cards if card.node == node.pk}
    names = ["vendor", "memory_mib", "nominal_gb", "architecture", "compute_capability"]
    names += ["strength", "nvenc", "nvdec", "graphics"]
    assert len(there) == len(bought)
    for label, card in there.items():
        told = {name: getattr(card, name) for name in names}
        assert told == {name: getattr(bought[label], name) for name in names}
    assert bought["L4"].nvdec == 4
