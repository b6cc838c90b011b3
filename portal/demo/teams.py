"""The demo's teams and the work they bring: who, where, how much, how long, how well it runs."""

from dataclasses import dataclass

EXTRA_ORGANIZATIONS = (("meridian", "Meridian Labs", "America/New_York"),)
EXTRA_PROJECTS = (
    ("aurora", "language", "Language models", "AR-300"),
    ("harbor", "recsys", "Recommendations", "HM-310"),
    ("meridian", "robotics", "Robotics", "ML-700"),
    ("meridian", "biology", "Computational biology", "ML-710"),
)
ZONES = {"aurora": "Europe/Berlin", "harbor": "Asia/Shanghai", "meridian": "America/New_York"}

NAMES = {
    "vision": ("Ada Amsel", "Jonas Brandt", "Wei Chen"),
    "speech": ("Ines Duarte", "Tomas Eder"),
    "render": ("Lin Fang", "Hui Gao"),
    "language": ("Marta Holm", "Paul Iversen", "Yuki Jin", "Nora Kraus"),
    "recsys": ("Bo Lin", "Jie Ma", "Qing Niu"),
    "robotics": ("Sam Ortega", "Rose Park"),
    "biology": ("Dana Quinn", "Eli Roth"),
}
"""Members beside those of the first run; the first one of each further project leads it."""

ADMINS = {"harbor": "Hanna Oberlin", "meridian": "Miles Osei"}
"""Who runs the organizations that the first run gives nobody."""

GUARANTEED = {
    "vision": {"a100": 0.35, "graphics": 0.1},
    "speech": {"a100": 0.15, "graphics": 0.1},
    "render": {"graphics": 0.3},
    "language": {"a100": 0.2, "h100": 0.5, "ascend": 0.5},
    "recsys": {"h100": 0.25, "a100": 0.1},
    "robotics": {"graphics": 0.25, "h100": 0.12},
    "biology": {"a100": 0.12, "amd": 0.6},
}
"""Shares of each partition's cards that are guaranteed; beyond them is borrowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One stream of alike work of a team.

    `load` is the share of the partition's cards that it keeps busy on average, `piece` how much of
    a card one part takes; lengths are lognormal, `median_h` hours in the middle. `busy` and `full`
    are per cent of the time of the compute and of the memory that it really uses.
    """

    team: str
    template: str
    partition: str
    load: float
    median_h: float
    spread: float = 0.8
    parts: int = 1
    piece: float = 1.0
    busy: float = 60.0
    full: float = 60.0
    names: tuple[str, ...] = ("train",)
    urgent: float = 0.0


LINES = (
    Line(
        team="vision",
        template="train-whole-card",
        partition="a100",
        load=0.15,
        median_h=16,
        busy=17,
        full=48,
        names=("resnet-sweep", "detector", "labelling-loop"),
    ),
    Line(
        team="vision",
        template="train-four-linked",
        partition="a100",
        load=0.08,
        median_h=16,
        parts=4,
        busy=15,
        full=42,
        names=("video-encoder", "panoptic"),
    ),
    Line(
        team="vision",
        template="notebook",
        partition="a100",
        load=0.006,
        median_h=4,
        piece=0.134,
        busy=9,
        full=35,
        names=("notebook", "explore"),
    ),
    Line(
        team="vision",
        template="batch-inference",
        partition="graphics",
        load=0.006,
        median_h=1.6,
        piece=0.35,
        busy=66,
        full=55,
        names=("score-archive",),
    ),
    Line(
        team="speech",
        template="finetune-20g-30",
        partition="a100",
        load=0.07,
        median_h=14,
        piece=0.36,
        busy=62,
        full=91,
        names=("adapt-accent", "wake-word"),
    ),
    Line(
        team="speech",
        template="train-whole-card",
        partition="a100",
        load=0.08,
        median_h=14,
        busy=74,
        full=66,
        names=("conformer", "vocoder"),
    ),
    Line(
        team="speech",
        template="train-whole-card",
        partition="graphics",
        load=0.1,
        median_h=9,
        busy=70,
        full=58,
        names=("tts-small",),
    ),
    Line(
        team="language",
        template="finetune-heavy",
        partition="a100",
        load=0.12,
        median_h=16,
        busy=83,
        full=78,
        names=("sft", "dpo", "reward-model"),
    ),
    Line(
        team="language",
        template="train-four-linked",
        partition="a100",
        load=0.1,
        median_h=18,
        parts=4,
        busy=86,
        full=80,
        names=("adapter-grid", "distil"),
    ),
    Line(
        team="language",
        template="pretrain-node",
        partition="h100",
        load=0.44,
        median_h=32,
        parts=8,
        busy=91,
        full=84,
        names=("pretrain-7b", "continue-13b"),
        urgent=0.08,
    ),
    Line(
        team="language",
        template="train-whole-card",
        partition="h100",
        load=0.15,
        median_h=11,
        busy=82,
        full=70,
        names=("eval-suite", "tokenizer"),
    ),
    Line(
        team="language",
        template="train-ascend",
        partition="ascend",
        load=0.3,
        median_h=9,
        busy=55,
        full=60,
        names=("port-to-cann",),
    ),
    Line(
        team="recsys",
        template="train-four-linked",
        partition="h100",
        load=0.26,
        median_h=10,
        parts=4,
        busy=84,
        full=72,
        names=("ranker", "two-tower"),
    ),
    Line(
        team="recsys",
        template="inference-mig",
        partition="a100",
        load=0.035,
        median_h=30,
        spread=0.5,
        piece=0.134,
        busy=36,
        full=86,
        names=("serve-ranker",),
    ),
    Line(
        team="recsys",
        template="batch-inference",
        partition="a100",
        load=0.004,
        median_h=2,
        piece=0.134,
        busy=71,
        full=60,
        names=("nightly-scores",),
    ),
    Line(
        team="recsys",
        template="notebook",
        partition="graphics",
        load=0.012,
        median_h=3.5,
        piece=0.4,
        busy=7,
        full=44,
        names=("notebook",),
    ),
    Line(
        team="recsys",
        template="data-cpu",
        partition="a100",
        load=0.001,
        median_h=1.2,
        parts=0,
        piece=0.1,
        names=("join-logs", "features"),
    ),
    Line(
        team="robotics",
        template="train-whole-card",
        partition="graphics",
        load=0.24,
        median_h=12,
        busy=63,
        full=52,
        names=("policy", "sim-to-real"),
    ),
    Line(
        team="robotics",
        template="train-whole-card",
        partition="h100",
        load=0.15,
        median_h=12,
        busy=77,
        full=66,
        names=("world-model",),
    ),
    Line(
        team="biology",
        template="train-four-linked",
        partition="a100",
        load=0.04,
        median_h=12,
        parts=4,
        busy=80,
        full=40,
        names=("dynamics", "docking"),
    ),
    Line(
        team="biology",
        template="train-amd",
        partition="amd",
        load=0.5,
        median_h=10,
        busy=67,
        full=63,
        names=("fold", "fold-large"),
    ),
    Line(
        team="render",
        template="transcode",
        partition="graphics",
        load=0.002,
        median_h=0.7,
        piece=0.13,
        busy=45,
        full=52,
        names=("transcode",),
    ),
    Line(
        team="render",
        template="finetune-20g-30",
        partition="graphics",
        load=0.08,
        median_h=10,
        piece=0.6,
        busy=58,
        full=74,
        names=("style-transfer",),
    ),
)
