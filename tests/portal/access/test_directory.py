"""An LDAP directory: a real slapd on a socket of this machine, binds, groups, nightly reading."""

import shutil
import socket
import subprocess
import time

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from pool.events import SYSTEM
from pool.models import Event, Membership, User
from pool.services.people.groups import group_role_set
from portal.access.directory import DirectoryAway, DirectoryBackend, directory_sync
from portal.tasks import directory_read
from tests import rows

BASE = "dc=example,dc=org"
ROOT = f"cn=admin,{BASE}"
TREE = f"""
dn: {BASE}
objectClass: dcObject
objectClass: organization
o: Example
dc: example

dn: ou=people,{BASE}
objectClass: organizationalUnit
ou: people

dn: ou=groups,{BASE}
objectClass: organizationalUnit
ou: groups

dn: uid=ada,ou=people,{BASE}
objectClass: inetOrgPerson
uid: ada
cn: Ada Lovelace
sn: Lovelace
displayName: Ada 小明
mail: ada@example.org
userPassword: adas-word

dn: uid=bob,ou=people,{BASE}
objectClass: inetOrgPerson
uid: bob
cn: Bob
sn: B
userPassword: bobs-word

dn: cn=vision,ou=groups,{BASE}
objectClass: groupOfNames
cn: vision
member: uid=ada,ou=people,{BASE}
"""
CONF = """
include {schema}/core.schema
include {schema}/cosine.schema
include {schema}/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile {folder}/slapd.pid
database mdb
maxsize 10485760
suffix "{base}"
rootdn "{root}"
rootpw secret
directory {folder}/db
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact="{root}" write by * none
"""


@pytest.fixture(scope="module")
def slapd(tmp_path_factory):
    """The address of a directory with two people and one group, while it runs."""
    folder = tmp_path_factory.mktemp("slapd")
    (folder / "db").mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    conf = folder / "slapd.conf"
    words = {"schema": "/etc/ldap/schema", "folder": folder, "base": BASE, "root": ROOT}
    conf.write_text(CONF.format(**words))
    url = f"ldap://127.0.0.1:{port}"
    binary = shutil.which("slapd") or "/usr/sbin/slapd"
    process = subprocess.Popen(
        [binary, "-d", "0", "-f", str(conf), "-h", url],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    listening(port)
    changed(url, TREE, "ldapadd")
    yield url
    process.terminate()
    process.wait()


def listening(port):
    until = time.monotonic() + 20
    while time.monotonic() < until:
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("slapd does not listen")


def changed(url, text, tool="ldapmodify"):
    asked = [tool, "-x", "-H", url, "-D", ROOT, "-w", "secret"]
    subprocess.run(asked, input=text, text=True, check=True, capture_output=True)


@pytest.fixture
def site(slapd, settings, db):
    settings.LDAP_URL = slapd
    settings.LDAP_BIND_DN = ROOT
    settings.LDAP_BIND_PASSWORD = "secret"
    settings.LDAP_USER_BASE = f"ou=people,{BASE}"
    settings.LDAP_USER_FILTER = "(objectClass=inetOrgPerson)"
    settings.LDAP_GROUP_BASE = f"ou=groups,{BASE}"
    settings.AUTHENTICATION_BACKENDS = [
        "allauth.account.auth_backends.AuthenticationBackend",
        "portal.access.directory.DirectoryBackend",
    ]
    project = rows.project(slug="vision")
    group_role_set(source="ldap", group="Vision", role="member", project=project, actor=SYSTEM)
    return project


@pytest.fixture
def in_group(slapd):
    """Bob is in the group for the length of the test."""
    line = f"dn: cn=vision,ou=groups,{BASE}\nchangetype: modify\n{{}}: member\n"
    line += f"member: uid=bob,ou=people,{BASE}\n"
    changed(slapd, line.format("add"))
    yield lambda: changed(slapd, line.format("delete"))


def test_a_person_logs_in_with_the_directory_s_password_and_has_the_roles_of_the_groups(site):
    browser = Client()
    answer = browser.post("/accounts/login/", {"login": "ada", "password": "adas-word"})
    assert answer.status_code == 302
    person = User.objects.get(username="ada")
    assert (person.display_name, person.email) == ("Ada 小明", "ada@example.org")
    assert not person.has_usable_password()
    held = Membership.objects.get(user=person)
    assert (held.project, held.role, held.source) == (site, "member", "ldap")
    assert browser.get("/").status_code == 200


@pytest.mark.parametrize(
    ("name", "word"),
    [("ada", "wrong"), ("ada", ""), ("*", "adas-word"), ("ada)(uid=*", "x"), ("zoe", "x")],
)
def test_a_wrong_word_an_empty_one_and_names_that_are_filters_open_nothing(site, name, word):
    assert DirectoryBackend().authenticate(None, username=name, password=word) is None
    assert not User.objects.filter(username__in=["ada", "zoe"]).exists()


def test_a_local_password_a_closed_account_and_a_robot_are_never_the_directory_s(site):
    local = rows.user(username="ada")
    local.set_password("a local word 77")
    local.save()
    assert DirectoryBackend().authenticate(None, username="ada", password="adas-word") is None
    local.set_unusable_password()
    local.source = "ldap"
    local.is_active = False
    local.save()
    assert DirectoryBackend().authenticate(None, username="ada", password="adas-word") is None
    User.objects.filter(pk=local.pk).update(is_active=True, service_account=True, source="")
    assert DirectoryBackend().authenticate(None, username="ada", password="adas-word") is None


def test_the_nightly_reading_gives_and_takes_roles_and_makes_accounts_for_members(site, in_group):
    read = directory_sync()
    assert (read.people, read.created, read.given) == (2, 2, 2)
    bob = User.objects.get(username="bob")
    by_hand = rows.member(site, role="viewer", username="kept")
    in_group()
    directory_read()
    assert not Membership.objects.filter(user=bob).exists()
    assert Membership.objects.filter(user=by_hand).count() == 1
    told = Event.objects.filter(kind="directory.read").order_by("id").values_list("data", flat=True)
    assert [one["taken"] for one in told] == [0, 1]
    call_command("directory_sync")


def test_the_nightly_reading_speaks_of_no_local_account_and_of_no_robot(site, in_group):
    local = rows.user(username="Ada")
    local.set_password("a local word 77")
    local.save()
    robot = rows.user(username="bob", password="!", service_account=True)
    rows.member(site, username="kept")
    read = directory_sync()
    assert (read.created, read.given) == (0, 0)
    assert not Membership.objects.filter(user__in=[local, robot]).exists()
    in_group()
    for one in (local, robot):
        Membership.objects.create(user=one, project=site, role="member", source="ldap")
    assert directory_sync().taken == 2
    assert Membership.objects.get().user.username == "kept"


def test_a_directory_that_is_away_or_refuses_us_changes_nothing(site, settings):
    directory_sync()
    held = Membership.objects.count()
    settings.LDAP_BIND_PASSWORD = "wrong"
    with pytest.raises(DirectoryAway):
        directory_sync()
    settings.LDAP_URL = "ldap://127.0.0.1:1"
    with pytest.raises(CommandError):
        call_command("directory_sync")
    directory_read()
    assert DirectoryBackend().authenticate(None, username="ada", password="adas-word") is None
    settings.LDAP_URL = ""
    with pytest.raises(CommandError):
        call_command("directory_sync")
    assert Membership.objects.count() == held


@pytest.mark.parametrize(("source", "meant"), [("ldap", True), ("file", True), ("oidc", False)])
def test_an_account_is_the_directory_s_only_if_it_or_a_file_named_it(site, source, meant):
    person = rows.user(username="ada", source=source)
    person.set_unusable_password()
    person.save()
    found = DirectoryBackend().authenticate(None, username="ada", password="adas-word")
    assert (found == person) is meant
    directory_sync()
    assert Membership.objects.filter(user=person, source="ldap").exists() is meant
