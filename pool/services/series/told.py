"""What the owner of a schedule is told of its runs."""

from pool.lifecycle.schedules import Outcome
from pool.models.schedules import ScheduleRun
from pool.rules.notices import NoticeKind
from pool.rules.problems import marked as _
from pool.services.notices.send import notice_send


def tell_of_refused(*, run: ScheduleRun) -> None:
    """Tell its owner that a run was refused, and why: the first one after runs that started.

    Of those that follow nothing new is to be said until one has started again.
    """
    row = run.schedule
    before = row.history.exclude(pk=run.pk).exclude(outcome__in=[Outcome.MISSED, Outcome.SKIPPED])
    last = before.order_by("-pk").values_list("outcome", flat=True).first()
    if run.outcome != Outcome.REFUSED or last == Outcome.REFUSED:
        return
    notice_send(
        kind=NoticeKind.WORK,
        to=[row.owner],
        about=row,
        text=_("A run of %(name)s was refused: %(why)s"),
        key=f"schedule-refused:{row.uid}:{run.pk}",
        name=row.name,
        why=run.why,
    )
