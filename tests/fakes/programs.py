"""Stand-ins for the vendors' programs: they note how they were called and say what is written."""

from pathlib import Path

NOTES = "calls.txt"

MPS = """#!/bin/sh
# Lives while its pipe folder holds `alive`; a client that asks a dead daemon fails.
pipe="$CUDA_MPS_PIPE_DIRECTORY"
if [ "$1" = "-d" ]; then
    [ -e "$FAKES/mps_refuses" ] && { echo "already running" >&2; exit 1; }
    [ -n "$CUDA_VISIBLE_DEVICES" ] || exit 3
    : > "$pipe/alive"
    echo "daemon -d $CUDA_VISIBLE_DEVICES" >> "$FAKES/calls.txt"
    exit 0
fi
[ -e "$pipe/alive" ] || { echo "Cannot find MPS control daemon process" >&2; exit 1; }
while read -r line; do
    echo "mps $line" >> "$FAKES/calls.txt"
    [ "$line" = quit ] && rm "$pipe/alive"
    [ "$line" = get_default_active_thread_percentage ] && echo 100.0
done
exit 0
"""

SMI = """#!/bin/sh
echo "smi $*" >> "$FAKES/calls.txt"
[ -e "$FAKES/smi_refuses" ] && { cat "$FAKES/smi_refuses" >&2; exit 9; }
exit 0
"""


def put(folder: Path, name: str, body: str) -> Path:
    """One program on the search path."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(body)
    path.chmod(0o755)
    return path


def says(folder: Path, name: str, answers: dict[str, str | tuple[int, str]]) -> Path:
    """A program that prints the text of the first key that is the beginning of its arguments.

    A pair is an exit code and the words on the standard error. `hang` never ends by itself.
    """
    lines = ["#!/bin/sh", f'echo "{name} $*" >> "{folder}/{NOTES}"', 'case "$*" in']
    for number, (start, said) in enumerate(answers.items()):
        text = folder / f"{name}.{number}.txt"
        folder.mkdir(exist_ok=True)
        code, words = (0, said) if isinstance(said, str) else said
        text.write_text(words)
        into = ">&2" if code else ""
        act = "exec sleep 600" if said == "hang" else f"cat '{text}' {into}; exit {code}"
        lines.append(f"  '{start}'*) {act};;")
    lines += ["  *) echo unknown >&2; exit 64;;", "esac"]
    return put(folder, name, "\n".join(lines) + "\n")


def calls(folder: Path) -> list[str]:
    """How the programs were called, in order."""
    path = folder / NOTES
    return path.read_text().splitlines() if path.exists() else []
