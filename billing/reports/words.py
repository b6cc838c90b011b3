"""What accounts and other words of a bill are called, in the reader's language."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from billing.rating.accounts import Account

ACCOUNTS: dict[str, str | Promise] = {
    Account.USED: _("Used"),
    Account.HELD_IDLE: _("Held, idle"),
    Account.HELD_UNKNOWN: _("Held, not measured"),
    Account.STRANDED: _("Left unusable for others"),
    Account.PLATFORM_IDLE: _("Free cards, shared"),
    Account.DOWN: _("Cards out of service, shared"),
    Account.HOST: _("Cores and memory"),
    Account.PRICE: _("Price of mode and class"),
    Account.BASIS: _("Charged by use"),
    Account.AGREEMENT: _("Discount by agreement"),
    Account.PREEMPTIBLE: _("Discount for work that gives way"),
    Account.OFF_PEAK: _("Discount off peak"),
    Account.CREDIT: _("Credit for faults of the platform"),
    Account.LICENCE: _("Licence seats"),
    Account.OVERHEAD: _("Overhead"),
    Account.MINIMUM: _("Up to the least charge"),
    Account.CORRECTION: _("Correction"),
    Account.TAX: _("Tax"),
    "rounding": _("Rounding"),
}
"""Plain words for each account that can be on a bill."""

HELP: dict[str, str | Promise] = {
    Account.USED: _("Time in which work ran on the card."),
    Account.HELD_IDLE: _("Held, measured, and nothing ran."),
    Account.HELD_UNKNOWN: _("Held, but there are no readings of that time."),
    Account.STRANDED: _("The rest of a card whose memory or compute alone was used up."),
    Account.PRICE: _("What a mode or class costs more or less than the whole card's price."),
    Account.CREDIT: _("Attempts lost to a neighbour or to the platform are not charged."),
}
"""A sentence for those that need one."""


def account_words(account: str) -> str:
    """The account's name; an unknown one as it is."""
    return str(ACCOUNTS.get(account, account))
