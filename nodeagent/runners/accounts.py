"""Under which Unix account a job runs: the requester's, or a uid of the project's range."""

import grp
import os
import pwd
from dataclasses import dataclass
from pathlib import Path

LOWEST_UID = 1000
"""Accounts below belong to the system; no job ever runs as one of them."""

NOBODY = 65534


class NoAccount(Exception):
    """The job's account does not exist on this node or may not be used."""


@dataclass(frozen=True)
class Account:
    """Numbers for the kernel. `uid` None: the account of the agent itself (not root)."""

    uid: int | None
    gid: int | None
    groups: tuple[int, ...]
    name: str


def resolve(wanted: str, group: int = 0) -> Account:
    """`uid:200123` or `user:name` as numbers; empty means nobody. Without root all jobs share ours.

    `group` is one more group of it, that of its project; 0 is none.

    Raises:
        NoAccount: unknown, malformed, or an account of the system.
    """
    if os.geteuid() != 0:
        return Account(None, None, (), pwd.getpwuid(os.geteuid()).pw_name)
    kind, _, value = wanted.partition(":")
    if wanted == "":
        return Account(NOBODY, NOBODY, (), "nobody")
    if kind == "uid" and value.isdigit():
        return _safe(Account(int(value), int(value), (*_one(group),), f"job{value}"))
    if kind == "user" and value:
        try:
            entry = pwd.getpwnam(value)
        except KeyError:
            raise NoAccount(f"no account {value!r} on this node") from None
        groups = (*os.getgrouplist(value, entry.pw_gid), *_one(group))
        return _safe(Account(entry.pw_uid, entry.pw_gid, groups, value))
    raise NoAccount(f"account {wanted!r} is neither uid:NUMBER nor user:NAME")


def _one(group: int) -> tuple[int, ...]:
    return (group,) if group >= LOWEST_UID else ()


def _safe(account: Account) -> Account:
    if account.uid is None or account.uid < LOWEST_UID:
        raise NoAccount(f"account {account.name!r} belongs to the system")
    forbidden = {entry.gr_gid for entry in grp.getgrall() if entry.gr_gid < LOWEST_UID}
    kept = tuple(gid for gid in account.groups if gid not in forbidden)
    return Account(account.uid, account.gid, kept, account.name)


def blocked_at(folder: Path) -> Path | None:
    """The first folder on the way that other accounts may not pass; None when all may."""
    for step in reversed([folder, *folder.parents]):
        if not step.stat().st_mode & 0o001:
            return step
    return None
