"""Production refuses to start half-configured, and is clean when configured."""

import os
import subprocess
import sys

import pytest

from tests.architecture.house import ROOT

WHOLE = {
    "DJANGO_SETTINGS_MODULE": "portal.settings.prod",
    "SECRET_KEY": "a-secret-of-the-site-" + "0123456789" * 4,
    "ALLOWED_HOSTS": "pool.example.com",
    "CSRF_TRUSTED_ORIGINS": "https://pool.example.com",
    "DATABASE_URL": "postgresql://gpupool:word@127.0.0.1:1/gpupool",
    "REDIS_URL": "redis://127.0.0.1:1/0",
    "GATEWAY_ORIGIN": "https://apps.example.com",
    "PUBLIC_URL": "https://pool.example.com",
}


def manage(*words: str, **changed: str | None) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if k in {"PATH", "HOME", "LANG"}}
    environment = {**kept, **WHOLE, **changed}
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env={k: v for k, v in environment.items() if v is not None},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_whole_configuration_passes_djangos_own_check_for_deployment():
    said = manage("check", "--deploy", "--fail-level", "WARNING")
    assert said.returncode == 0, said.stderr
    assert "no issues" in said.stdout


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SECRET_KEY", None),
        ("SECRET_KEY", "short"),
        ("ALLOWED_HOSTS", None),
        ("ALLOWED_HOSTS", "*"),
        ("CSRF_TRUSTED_ORIGINS", None),
        ("CSRF_TRUSTED_ORIGINS", "http://pool.example.com"),
        ("DATABASE_URL", None),
        ("DATABASE_URL", "mysql://somewhere/else"),
        ("REDIS_URL", None),
        ("GATEWAY_ORIGIN", "https://pool.example.com"),
        ("GATEWAY_ORIGIN", "http://apps.example.com"),
        ("PUBLIC_URL", None),
        ("PUBLIC_URL", "http://pool.example.com"),
        ("GPUPOOL_FENCE_SECONDS", "soon"),
    ],
)
def test_a_missing_or_impossible_value_is_named_and_nothing_starts(name, value):
    said = manage("check", **{name: value})
    assert said.returncode != 0
    last = said.stderr.strip().splitlines()[-1]
    assert "ImproperlyConfigured" in last
    assert name in last
