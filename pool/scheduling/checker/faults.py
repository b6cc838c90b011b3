"""What the checker answers with."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong; `subject` is the id of the workload, card or node in question."""

    code: str
    subject: int
    detail: str = ""
