"""An LDAP directory: log-in by a bind, roles by its groups, read at log-in and every night.

The library is an extra (requirements-ldap.txt); without LDAP_URL nothing here is used.
"""

import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import structlog
from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.http import HttpRequest

from pool.errors import PoolError
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.models import Installation
from pool.models.users import User
from pool.rules.tenants import username_problem
from pool.services.people.groups import directory_read, person_groups_read
from pool.services.users import user_create

log = structlog.get_logger(__name__)
SOURCE = "ldap"
OURS = (SOURCE, "file")
"""Whoever loads a file is a platform admin: its names are meant."""

ACTOR = Actor("system", SOURCE, SOURCE)
SECONDS = 10
PAGE = 500


class DirectoryAway(Exception):
    """The directory does not answer, or not to us."""


@dataclass(frozen=True, slots=True)
class Person:
    """One person as the directory knows them."""

    dn: str
    name: str
    display_name: str = ""
    email: str = ""
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Read:
    """What one nightly reading brought about."""

    people: int
    created: int
    given: int
    taken: int


class DirectoryBackend(ModelBackend):
    """A person whom the pool has no password of logs in with the directory's."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **_more: Any,
    ) -> User | None:
        """The person, when the directory takes the password; None otherwise or when it is away.

        An empty password is refused here: a directory takes one as an anonymous bind.
        """
        if not username or not password:
            return None
        known = User.objects.filter(username__iexact=username).first()
        if known is not None and (known.has_usable_password() or not known.is_active):
            return None
        try:
            person = person_bound(username, password)
        except DirectoryAway as away:
            log.warning("directory.away", reason=str(away))
            return None
        return _row_of(person) if person is not None else None


def person_bound(username: str, password: str) -> Person | None:
    """The person with that name and password; None when one of the two is wrong.

    Raises:
        DirectoryAway: the directory does not answer.
    """
    import ldap3

    with _open(settings.LDAP_BIND_DN, settings.LDAP_BIND_PASSWORD) as connection:
        if connection is None:
            raise DirectoryAway("the service account is refused")
        wanted = ldap3.utils.conv.escape_filter_chars(username)
        rule = f"(&{settings.LDAP_USER_FILTER}({settings.LDAP_USER_NAME}={wanted}))"
        found = list(_people(connection, rule))
        if len(found) != 1:
            return None
        groups = _groups(connection)
    person = found[0]
    with _open(person.dn, password) as own:
        if own is None:
            return None
    return _with_groups(person, groups)


def group_people(group: str) -> list[Person]:
    """Who the directory lists in that group (by cn or DN, in any case) at this moment.

    Raises:
        DirectoryAway: the directory does not answer.
    """
    wanted = group.strip().casefold()
    with _open(settings.LDAP_BIND_DN, settings.LDAP_BIND_PASSWORD) as connection:
        if connection is None:
            raise DirectoryAway("the service account is refused")
        named = [one for one in _groups(connection) if wanted in {n.casefold() for n in one[0]}]
        listed = _people(connection, settings.LDAP_USER_FILTER) if named else ()
        return [one for one in (_with_groups(one, named) for one in listed) if one.groups]


def directory_sync() -> Read:
    """Read everybody and their groups; roles that the directory brings become what it says now.

    Somebody with a mapped group gets an account, so that work can be planned for them before they
    first log in. Nobody is deleted: who is listed no more loses the roles of the directory.

    Raises:
        DirectoryAway: the directory does not answer; nothing changes then.
    """
    with _open(settings.LDAP_BIND_DN, settings.LDAP_BIND_PASSWORD) as connection:
        if connection is None:
            raise DirectoryAway("the service account is refused")
        groups = _groups(connection)
        rule = settings.LDAP_USER_FILTER
        people = [_with_groups(one, groups) for one in _people(connection, rule)]
    if not people:
        raise DirectoryAway("it lists nobody")
    names = {one.name.casefold() for one in people}
    before = User.objects.count()
    listed = {}
    for one in people:
        row = _row(one) if one.groups else _known(one)
        if row is not None and row.username.casefold() in names:
            listed[row.username] = one.groups
    moved = directory_read(source=SOURCE, people=listed, actor=ACTOR)
    read = Read(len(people), User.objects.count() - before, moved.given, moved.taken)
    told: dict[str, Any] = {"people": read.people, "given": read.given, "taken": read.taken}
    record(EventKind.DIRECTORY_READ, Installation.objects.get(pk=1), actor=ACTOR, **told)
    return read


def _row_of(person: Person) -> User | None:
    row = _row(person)
    if row is None or not row.is_active:
        return None
    person_groups_read(user=row, source=SOURCE, groups=person.groups, actor=ACTOR)
    return row


def _row(person: Person) -> User | None:
    """The account of a person; made when nobody has the name, without a password of its own.

    An odd display name or address is left out; of an odd user name no account is made. Either is
    told, and nobody else's matter.
    """
    if _odd_name(person) or User.objects.filter(username__iexact=person.name).exists():
        return _known(person)
    for shown, address in ((person.display_name, person.email), ("", "")):
        try:
            return user_create(
                username=person.name,
                display_name=shown,
                email=address,
                source=SOURCE,
                actor=ACTOR,
            )
        except PoolError as odd:
            log.warning("directory.odd_entry", dn=person.dn, reason=str(odd))
    return None


def _known(person: Person) -> User | None:
    """The account that the directory speaks of, if there is one.

    Only one that it made, or that a file of the configuration made for it, and that nobody has
    given a password since: any other name was chosen by whoever made the account, or by the
    person at another provider, and proves nothing.
    """
    if _odd_name(person):
        log.warning("directory.odd_entry", dn=person.dn, reason="user name")
        return None
    known = User.objects.filter(username__iexact=person.name).first()
    if known is not None and (known.source not in OURS or known.has_usable_password()):
        log.warning("directory.passed_over", username=known.username)
        return None
    return known


def _odd_name(person: Person) -> bool:
    """Whether nobody here could have that user name: the database is not even asked for it."""
    return username_problem(person.name) is not None


def _with_groups(person: Person, groups: list[tuple[set[str], set[str]]]) -> Person:
    """The person with every group that lists their DN or their name."""
    marks = {person.dn.casefold(), person.name.casefold()}
    names = [name for named, members in groups if marks & members for name in sorted(named)]
    return Person(person.dn, person.name, person.display_name, person.email, tuple(names))


def _people(connection: Any, rule: str) -> Iterator[Person]:
    attributes = [settings.LDAP_USER_NAME, "cn", "displayName", "mail"]
    for dn, told in _entries(connection, settings.LDAP_USER_BASE, rule, attributes):
        name = _first(told, settings.LDAP_USER_NAME)
        if name:
            shown = (_first(told, "displayName") or _first(told, "cn"))[:120]
            yield Person(dn, name, shown, _first(told, "mail"))


def _groups(connection: Any) -> list[tuple[set[str], set[str]]]:
    """Each group as its names (cn, DN) and its members (DNs, names), all casefolded."""
    if not settings.LDAP_GROUP_BASE:
        return []
    wanted = ["cn", "member", "uniqueMember", "memberUid"]
    found = []
    for dn, told in _entries(
        connection, settings.LDAP_GROUP_BASE, settings.LDAP_GROUP_FILTER, wanted
    ):
        members = [one for name in wanted[1:] for one in told.get(name, [])]
        names = {dn, *told.get("cn", [])}
        found.append((names, {str(one).casefold() for one in members}))
    return found


def _entries(
    connection: Any, base: str, rule: str, attributes: list[str]
) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """Page by page: a directory hands out no more than it likes at once."""
    import ldap3

    known = [one for one in attributes if connection.server.schema is None or one]
    pages = connection.extend.standard.paged_search(
        search_base=base,
        search_filter=rule,
        search_scope=ldap3.SUBTREE,
        attributes=known,
        paged_size=PAGE,
        generator=True,
    )
    try:
        for entry in pages:
            if entry.get("type") == "searchResEntry":
                yield str(entry["dn"]), {k: _texts(v) for k, v in entry["attributes"].items()}
        _answered(connection.result)
    except ldap3.core.exceptions.LDAPException as away:
        raise DirectoryAway(str(away)) from away


def _answered(result: Mapping[str, Any] | None) -> None:
    """Pass when the whole search was answered: the library ends quietly where it was not.

    Raises:
        DirectoryAway: the directory was busy, refused, or told only a part.
    """
    code = (result or {}).get("result", 0)
    if code:
        raise DirectoryAway(str((result or {}).get("description") or code))


@contextmanager
def _open(dn: str, password: str) -> Iterator[Any]:
    """A bound connection, or None where the bind is refused.

    Raises:
        DirectoryAway: no answer, or no proper encryption.
    """
    import ldap3

    tls = connection = None
    if settings.LDAP_STARTTLS or settings.LDAP_URL.startswith("ldaps:"):
        tls = ldap3.Tls(validate=ssl.CERT_REQUIRED, ca_certs_file=settings.LDAP_CA_FILE or None)
    try:
        server = ldap3.Server(
            settings.LDAP_URL, tls=tls, get_info=ldap3.NONE, connect_timeout=SECONDS
        )
        connection = ldap3.Connection(
            server,
            user=dn or None,
            password=password or None,
            receive_timeout=SECONDS,
            check_names=False,
        )
        connection.open()
        if settings.LDAP_STARTTLS and not connection.start_tls():
            raise DirectoryAway("it refuses to encrypt")
        bound = connection.bind()
    except ldap3.core.exceptions.LDAPException as away:
        if connection is not None and connection.socket is not None:
            connection.socket.close()
        raise DirectoryAway(str(away)) from away
    try:
        yield connection if bound else None
    finally:
        connection.unbind()


def _texts(value: Any) -> list[str]:
    many = value if isinstance(value, list) else [value]
    return [one.decode("utf-8", "replace") if isinstance(one, bytes) else str(one) for one in many]


def _first(told: dict[str, list[str]], name: str) -> str:
    return next(iter(told.get(name, [])), "").strip()
