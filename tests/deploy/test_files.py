"""What a site installs names what exists, and explains every variable."""

import configparser
import importlib.util
import re

import pytest
import yaml

from tests.architecture.house import FLOORS, ROOT, files, name

EXAMPLE = (ROOT / "deploy/gpupool.env.example").read_text(encoding="utf-8")
UNITS = sorted((ROOT / "deploy/systemd").glob("*.service"))
READ = re.compile(r'(?:text|required|flag|number|names)\(\s*"([A-Z_]+)"')


def test_every_variable_that_settings_read_is_explained():
    read = {
        variable
        for path in files(FLOORS, ".py")
        for variable in READ.findall(path.read_text(encoding="utf-8"))
    }
    explained = set(re.findall(r"^([A-Z_]+)=", EXAMPLE, re.MULTILINE))
    assert read | {"DJANGO_SETTINGS_MODULE", "FORWARDED_ALLOW_IPS"} == explained


def test_every_variable_has_words_above_it():
    blocks = re.split(r"\n\s*\n", EXAMPLE)
    silent = [block for block in blocks if "=" in block and not block.lstrip().startswith("#")]
    assert silent == []


@pytest.mark.parametrize("path", UNITS, ids=name)
def test_a_unit_starts_something_that_exists(path):
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str
    unit.read(path, encoding="utf-8")
    command = unit["Service"]["ExecStart"].split()
    assert command[:2] == ["/opt/gpupool/.venv/bin/python", "-m"]
    assert command[2] in {"uvicorn", "celery", "nodeagent"}
    if command[2] == "celery":
        assert unit["Service"]["Environment"] == "GPUPOOL_ROLE=worker"
    assert unit["Install"]["WantedBy"] == "multi-user.target"


def test_every_application_that_is_served_can_be_found():
    said = [(ROOT / "deploy/compose.yaml").read_text(encoding="utf-8")]
    said += [path.read_text(encoding="utf-8") for path in UNITS]
    served = {one for text in said for one in re.findall(r"(portal(?:\.\w+)+):\w+", text)}
    assert served
    assert [one for one in served if importlib.util.find_spec(one) is None] == []


def test_stopping_an_agents_unit_leaves_its_workloads():
    text = (ROOT / "deploy/systemd/gpupool-agent.service").read_text(encoding="utf-8")
    assert "KillMode=process" in text
    assert "--stop-workloads" not in text


def test_every_queue_is_served_by_the_units_and_by_the_compose_file():
    from django.conf import settings

    queues = {route["queue"] for route in settings.CELERY_TASK_ROUTES.values()} | {"default"}
    units = " ".join(path.read_text(encoding="utf-8") for path in UNITS)
    compose = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text(encoding="utf-8"))
    commands = [service.get("command", []) for service in compose["services"].values()]
    asked_units = {q for found in re.findall(r"-Q (\S+)", units) for q in found.split(",")}
    asked_compose = {
        queue
        for command in commands
        if "-Q" in command
        for queue in command[command.index("-Q") + 1].split(",")
    }
    assert asked_units == asked_compose == queues


def test_no_client_can_choose_its_own_address():
    """Believed from everybody, X-Forwarded-For would void every limit that counts by address."""
    compose = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text(encoding="utf-8"))
    named = {
        service["environment"]["FORWARDED_ALLOW_IPS"]
        for service in compose["services"].values()
        if "uvicorn" in service.get("command", [])
    }
    assert named == {compose["networks"]["default"]["ipam"]["config"][0]["gateway"]}
    told = [*UNITS, ROOT / "deploy/compose.yaml", ROOT / "deploy/gpupool.env.example"]
    words = re.compile(r"forwarded-allow-ips[= ]\S*\*|FORWARDED_ALLOW_IPS\S*[:=] ?\*(?!p)", re.I)
    assert [name(path) for path in told if words.search(path.read_text(encoding="utf-8"))] == []
