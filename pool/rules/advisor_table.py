"""Data of the advisor, no code: what each task is taken to need, what speaks for sharing cards,
and how a pool of some size is best cut. Texts are sentences of the catalogue."""

from typing import Any

from pool.rules.problems import marked as _

TASKS: tuple[dict[str, Any], ...] = (
    {
        "name": "pretraining",
        "label": _("Train a large model from scratch"),
        "classes": ["pretraining", "training"],
        "whole": True,
        "memory_gb": 80,
        "communication": "heavy",
        "load": "full",
        "why": _("It keeps whole cards busy and they talk all the time: sharing would slow all."),
    },
    {
        "name": "training",
        "label": _("Train a model"),
        "classes": ["training", "finetuning"],
        "whole": True,
        "memory_gb": 40,
        "communication": "some",
        "load": "full",
        "why": _("Training fills the card it is given; a whole one loses nothing to neighbours."),
    },
    {
        "name": "finetuning",
        "label": _("Fine-tune a model"),
        "classes": ["finetuning", "training"],
        "whole_from_gb": 40,
        "memory_gb": 20,
        "compute_percent": 30,
        "communication": "none",
        "load": "steady",
        "why": _("Below 40 GB a part of a card is enough; from there a card is used alone."),
    },
    {
        "name": "inference",
        "label": _("Serve a model to others"),
        "classes": ["inference"],
        "memory_gb": 10,
        "isolation": "hardware",
        "communication": "none",
        "load": "bursty",
        "why": _(
            "Answers must not wait for a neighbour: hardware keeps the parts of a card apart."
        ),
    },
    {
        "name": "notebook",
        "label": _("Try things out in a notebook"),
        "classes": ["notebook", "finetuning"],
        "memory_gb": 10,
        "communication": "none",
        "load": "bursty",
        "why": _(
            "Most of the time it waits for you: a small part is enough, given back when idle."
        ),
    },
    {
        "name": "batch_inference",
        "label": _("Run many inputs through a model"),
        "classes": ["batch_inference", "inference"],
        "memory_gb": 10,
        "communication": "none",
        "load": "steady",
        "why": _("It can be interrupted and repeated, so it fills the gaps at a low priority."),
    },
    {
        "name": "transcoding",
        "label": _("Convert video"),
        "classes": ["transcoding"],
        "memory_gb": 4,
        "compute_percent": 10,
        "communication": "none",
        "load": "bursty",
        "why": _("The encoder does the work: many share one card in turn."),
    },
    {
        "name": "desktop",
        "label": _("Render, or work on a remote desktop"),
        "classes": ["desktop"],
        "memory_gb": 8,
        "communication": "none",
        "load": "bursty",
        "why": _("It draws and streams: a part with an encoder, in a virtual machine."),
    },
    {
        "name": "hpc",
        "label": _("Simulate, with MPI or alone on a machine"),
        "classes": ["hpc", "pretraining"],
        "whole": True,
        "memory_gb": 80,
        "communication": "heavy",
        "load": "full",
        "why": _("Ranks wait for the slowest: whole cards on machines with nothing else."),
    },
    {
        "name": "data",
        "label": _("Prepare data"),
        "classes": ["data", "batch_inference"],
        "memory_gb": 4,
        "communication": "none",
        "load": "steady",
        "why": _("Mostly work for processors: a card only where the tools use one."),
    },
)
"""`classes` are the work classes of templates that serve it, best first. `whole_from_gb` is the
memory from which a card is used alone. What the asker says comes before these."""

LOADS: tuple[tuple[str, str], ...] = (
    ("full", _("full all the time")),
    ("steady", _("steady, not full")),
    ("bursty", _("in bursts, often idle")),
)

TALKS: tuple[tuple[str, str], ...] = (
    ("none", _("not at all, or there is only one")),
    ("some", _("now and then")),
    ("heavy", _("all the time")),
)

POINTS: dict[str, dict[str, int]] = {
    "load": {"full": -2, "steady": 1, "bursty": 3},
    "communication": {"none": 1, "some": -1, "heavy": -4},
    "size": {"small": 2, "half": 1, "whole": -2},
    "number": {"one": 0, "several": 1, "many": 2},
}
"""What speaks for sharing cards, and against it. Small is at most a quarter of the card, half at
most a half; several are 2 to 7 at the same time, many are 8 and more."""

VERDICTS: tuple[tuple[int, str, str], ...] = (
    (4, "high", _("High: many small pieces with idle times share cards well.")),
    (1, "medium", _("Medium: a part of a card is enough, and others can use the rest.")),
    (-99, "low", _("Low: it fills whole cards or talks too much; sharing would only slow it.")),
)
"""From so many points on, the verdict and its sentence; the first that applies."""

POOL_SIZES: tuple[dict[str, Any], ...] = (
    {
        "most_cards": 1,
        "text": _("One card: cut it only while nobody needs it whole; share it by time otherwise."),
    },
    {
        "most_cards": 4,
        "text": _(
            "Up to 4 cards: keep all but one whole, and cut that one for small work. Fair share"
            " and borrowing gain little."
        ),
    },
    {
        "most_cards": 16,
        "text": _(
            "5 to 16 cards: cut up to a quarter of them by what is asked most; keep one full"
            " linked set together for training."
        ),
    },
    {
        "most_cards": 64,
        "text": _(
            "17 to 64 cards: give slices and whole cards partitions of their own, and lend what"
            " is entitled and unused."
        ),
    },
    {
        "most_cards": 1_000_000,
        "text": _(
            "More than 64 cards: partitions by kind of work, a reserve for urgent work, and"
            " re-cutting at night by the demand of the last weeks."
        ),
    },
)
"""Advice by the number of cards of one kind in a partition."""
