"""What numbers and switches of scheduling are called on screen, with their units."""

from django.utils.translation import gettext_lazy as _

LABELS = {
    "backfill": _("Short work may slip in before the next in line"),
    "shortest_first": _("Among those, the shortest first"),
    "heads": _("Planned starts held in each partition"),
    "heavy_gb": _("Heavy work begins at (GB)"),
    "age_full_s": _("Waiting this long counts as one step of priority (seconds)"),
    "length_most_s": _("Long work counts as come later, by at most (seconds)"),
    "slip_age_s": _("Waiting this long halves a forecast when slipping in (seconds)"),
    "unknown_duration_s": _("Work without a declared time is taken to run (seconds)"),
    "placements_per_round": _("Starts in one round at most"),
    "preempt_share_milli": _("Of one project's work at most this share gives way (thousandths)"),
    "headroom_milli": _("Of each kind of card so much stays free for urgent work (thousandths)"),
    "notice_s": _("Notice before work gives way (seconds)"),
    "inference_notice_s": _("The same for work that serves (seconds)"),
    "overrun_s": _("Work past its time may be chosen after (seconds)"),
    "checkpoint_every_s": _("Training saves a checkpoint every (seconds)"),
    "no_show_s": _("Reserved cards that nobody comes for are released after (seconds)"),
    "cut_back": _("Leases that stand unused are cut back"),
    "cut_back_share_milli": _("Unused is a lease of which less than this is used (thousandths)"),
    "cut_back_over_s": _("Looked at over (seconds)"),
    "cut_back_notice_s": _("Notice before a lease is cut back (seconds)"),
    "raw_days": _("Readings of ten seconds are kept (days)"),
    "minute_days": _("Means by the minute are kept (days)"),
    "hour_days": _("Means by the hour are kept (days)"),
    "name": _("Name"),
    "selector": _("Which cards"),
    "modes": _("Ways to share"),
    "policy": _("Placement"),
    "class_policies": _("Placement of single classes"),
    "preemption": _("Work may have to give way"),
    "sharing": _("Cards may be shared without hardware isolation"),
    "lending": _("Idle reserved cards are lent"),
    "foreign_work": _("Cards that people use without the pool"),
    "tolerance_points": _("Compute may fall short by (points of a hundred)"),
    "give_back_seconds": _("Borrowed cards come back within"),
    "ceilings": _("Ceilings of classes"),
    "rank": _("Order in lists"),
    "open_to_all": _("Open to everybody"),
    "organizations": _("Open to"),
    "trust_groups": _("Only these trust groups share cards"),
}
HINTS = {
    "heavy_gb": _("Heavy work goes to strong cards, light work to weak ones."),
    "preempt_share_milli": _("200 is a fifth."),
    "headroom_milli": _("5 is one card of 200, rounded down; only while urgent work is there."),
    "placements_per_round": _("The rest follows in the next round, at once."),
    "no_show_s": _("From the begin of the reservation; what is left of the lease is on demand."),
    "cut_back_share_milli": _("200 is a fifth: of ten copies two at a time, on average."),
    "cut_back_over_s": _("1209600 is 14 days."),
    "cut_back_notice_s": _("259200 is 3 days. Use of the lease meanwhile ends the notice."),
    "raw_days": _("0: by the size of the pool, 7 days up to 500 cards, 1 day above."),
    "minute_days": _("0: by the size of the pool, 60 days up to 500 cards, 14 days above."),
    "hour_days": _("730 is two years."),
    "foreign_work": _(
        "Such work is never ended by the pool. A whole card still starts work only when its memory "
        "is free."
    ),
    "tolerance_points": _("2: a slice of 28.6 % meets a need of 30 %."),
}
FOREIGN = {
    "block": _("are not offered, and an alert tells of them"),
    "alert": _("are offered, and an alert tells of them"),
    "tolerate": _("are offered, and nobody is told"),
}
PLACEMENTS = {
    "fragmentation": _("fewest useless leftovers"),
    "binpack": _("fullest cards first"),
    "spread": _("emptiest cards first"),
}
CLASSES = {
    "pretraining": _("pre-training"),
    "training": _("training"),
    "finetuning": _("fine-tuning"),
    "inference": _("inference"),
    "batch_inference": _("batch inference"),
    "notebook": _("notebooks"),
    "desktop": _("desktops"),
    "transcoding": _("transcoding"),
    "hpc": _("HPC"),
    "data": _("data processing"),
}
SCOPES = {
    "card_sum": _("all work of these classes on one card"),
    "per_workload": _("one workload of these classes"),
    "card_split": _("share of a mixed card"),
}
