"""Both embedded engines for as long as something is made in them, without the rest of the stack."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from portal.up.folders import DataFolder, socket_folder
from portal.up.refusal import Refused
from portal.up.standing import alone
from portal.up.valkey import Valkey

STARTS_S = 20.0
ENDS_S = 10.0


@contextmanager
def engines(data: Path) -> Iterator[dict[str, str]]:
    """What a program needs as its environment to use them, with the installation's own secrets.

    Raises:
        Refused: the folder is in use, or an engine does not start.
    """
    with alone(data) as url, _broker(data) as broker:
        words = DataFolder(data).words()
        yield os.environ | {
            "DATABASE_URL": url,
            "REDIS_URL": broker,
            "DJANGO_SETTINGS_MODULE": "portal.settings.local",
            "GPUPOOL_DATA_DIR": str(data),
            "SECRET_KEY": words["secret_key"],
            "SECRET_KEYS": words["sealing_key"],
        }


@contextmanager
def _broker(data: Path) -> Iterator[str]:
    """Services tell of what they do; without anybody to tell it to each word would cost seconds."""
    sockets = socket_folder()
    password = DataFolder(data).words()["valkey_password"]
    engine = Valkey.found(folder=data / "valkey", sockets=sockets, password=password)
    engine.create()
    with (data / "log" / "valkey.log").open("ab") as said:
        process = subprocess.Popen(engine.command, stdout=said, stderr=said)  # noqa: S603
    try:
        _wait(engine, process)
        yield engine.url
    finally:
        _end(process)
        shutil.rmtree(sockets, ignore_errors=True)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Ask it to end; what does not within a while is ended."""
    process.terminate()
    try:
        process.wait(timeout=ENDS_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _wait(engine: Valkey, process: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + STARTS_S
    while not engine.answers():
        if process.poll() is not None or time.monotonic() > until:
            raise Refused("The embedded Valkey does not start; log/valkey.log says why.")
        time.sleep(0.05)
