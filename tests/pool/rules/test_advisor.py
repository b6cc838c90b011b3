"""The advisor's rule: five answers become a need, a template and a verdict; the table is data."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pool.rules.advisor import Answers, advise, answers_problems, pool_advice
from pool.rules.advisor_table import LOADS, POINTS, TALKS, TASKS, VERDICTS
from pool.rules.needs import from_mapping, merged

OFFERED = [
    ("finetune-20g-30", "finetuning"),
    ("finetune-heavy", "finetuning"),
    ("inference-mig", "inference"),
    ("train-whole-card", "training"),
    ("pretrain-node", "pretraining"),
    ("notebook", "notebook"),
    ("transcode", "transcoding"),
]


def told(task, **words):
    return advise(Answers(task=task, **words), OFFERED, 80)


def test_light_fine_tuning_gets_a_part_of_a_card_and_heavy_a_whole_one():
    light = told("finetuning", memory_gb=20)
    assert (light.template, light.overrides["memory_gb"]) == ("finetune-20g-30", 20)
    heavy = told("finetuning", memory_gb=40)
    assert (heavy.template, heavy.overrides["whole"]) == ("finetune-heavy", True)


def test_serving_is_kept_apart_by_hardware_and_shares_well_when_it_is_bursty():
    served = told("inference", number=8, load="bursty")
    assert served.overrides["isolation"] == "hardware"
    assert (served.copies, served.overrides["parts"]) == (8, 1)
    assert served.verdict == "high"


def test_pieces_that_talk_all_the_time_start_together_on_linked_whole_cards():
    gang = told("training", number=4, communication="heavy")
    assert gang.overrides["parts"] == 4
    assert gang.overrides["topology"] == "linked"
    assert (gang.copies, gang.verdict) == (1, "low")
    assert told("hpc", number=16).overrides["topology"] == "network"


def test_without_a_template_for_the_task_none_is_named():
    assert told("desktop").template == ""


def test_answers_that_cannot_be_right_are_named_by_field():
    wrong = Answers(task="magic", memory_gb=0, number=0, load="odd", communication="odd")
    assert set(answers_problems(wrong)) == {"task", "memory_gb", "number", "load", "communication"}
    assert answers_problems(Answers(task="data")) == {}


ANSWERS = st.builds(
    Answers,
    task=st.sampled_from([one["name"] for one in TASKS]),
    memory_gb=st.none() | st.integers(min_value=1, max_value=1024),
    number=st.integers(min_value=1, max_value=64),
    communication=st.sampled_from(["", *(name for name, _ in TALKS)]),
    load=st.sampled_from(["", *(name for name, _ in LOADS)]),
    apart=st.booleans(),
)


@given(ANSWERS)
def test_every_advice_is_a_need_that_can_be_read(answers):
    advised = advise(answers, OFFERED, 80)
    need = merged(from_mapping({"memory_gb": 10}), advised.overrides)
    assert need.parts * advised.copies == answers.number
    assert advised.verdict in {name for _, name, _ in VERDICTS}


@given(ANSWERS)
def test_more_bursts_never_speak_against_sharing(answers):
    full, bursty = (
        sum(advise(replace(answers, load=load), OFFERED, 80).points.values())
        for load in ("full", "bursty")
    )
    assert bursty > full


@pytest.mark.parametrize("task", TASKS, ids=lambda one: one["name"])
def test_the_table_speaks_only_of_what_the_rule_knows(task):
    assert task["load"] in POINTS["load"]
    assert task["communication"] in POINTS["communication"]
    assert set(task) <= {
        *("name", "label", "classes", "whole", "whole_from_gb", "memory_gb", "compute_percent"),
        *("isolation", "communication", "load", "why"),
    }


def test_every_size_of_a_pool_has_its_advice():
    said = [pool_advice(cards) for cards in (1, 4, 5, 16, 17, 64, 65, 10_000)]
    assert len(set(said)) == 5
