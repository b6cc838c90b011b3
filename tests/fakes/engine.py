"""A container engine's command line for tests: its containers outlive it, as a real daemon's do.

Written as a program into a folder by `install`; everything it was told is kept beside it. A shell
reads it first: the first line of a program cannot name an interpreter below a folder with a space.
"""

import stat
import sys
from pathlib import Path

PROGRAM = """#!/bin/sh
''':'
exec "{python}" "$0" "$@"
'''
import json, os, signal, subprocess, sys, time
ROOT = {root!r}
words = sys.argv[1:]

def at(name):
    return os.path.join(ROOT, name)

def note(**said):
    with open(at("calls"), "a") as calls:
        calls.write(json.dumps(said) + "\\n")

if words[:2] == ["info", "--format"]:
    print(open(at("info")).read())
    sys.exit(0)
if words[:1] == ["info"]:
    sys.exit(0 if os.path.exists(at("running")) else 1)
if words[:2] == ["image", "inspect"]:
    sys.exit(0 if os.path.exists(at("image-" + words[2].replace("/", "_"))) else 1)
if words[:1] == ["pull"]:
    print("Pulling layer 1 of 2", flush=True)
    if words[1].startswith("slow"):
        time.sleep(600)
    if words[1].startswith("unknown"):
        print("manifest unknown", flush=True)
        sys.exit(1)
    open(at("image-" + words[1].replace("/", "_")), "w").close()
    sys.exit(0)
if words[:2] == ["container", "inspect"]:
    sys.exit(0 if os.path.exists(at("container-" + words[2])) else 1)
if words[:2] == ["rm", "--force"]:
    try:
        os.killpg(int(open(at("container-" + words[2])).read()), signal.SIGKILL)
    except (OSError, ValueError):
        pass
    if os.path.exists(at("container-" + words[2])):
        os.unlink(at("container-" + words[2]))
    sys.exit(0)
assert words[0] == "run", words
def value(flag):
    return words[words.index(flag) + 1]
name = value("--name")
env = dict(line.split("=", 1) for line in open(value("--env-file")).read().splitlines())
def known(word):
    return os.path.exists(at("image-" + word.replace("/", "_")))
image = next(i for i, word in enumerate(words) if known(word))
note(argv=words, own=dict(os.environ), env=env)
folder = value("--workdir")
child = subprocess.Popen(words[image + 1:], env=env, cwd=folder, start_new_session=True)
with open(at("container-" + name), "w") as kept:
    kept.write(str(child.pid))
signal.signal(signal.SIGTERM, lambda *_: os.killpg(child.pid, signal.SIGTERM))
code = child.wait()
os.unlink(at("container-" + name))
sys.exit(code if code >= 0 else 128 - code)
"""


def install(folder: Path, *images: str) -> Path:
    """Write the program and the images that it has; returns its path."""
    folder.mkdir(exist_ok=True)
    (folder / "running").touch()
    (folder / "info").write_text('{"CPUSet": true}')
    for image in images:
        (folder / f"image-{image.replace('/', '_')}").touch()
    program = folder / "docker"
    program.write_text(PROGRAM.format(python=sys.executable, root=str(folder)))
    program.chmod(program.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    return program
