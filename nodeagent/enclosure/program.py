"""A device program for a control group of version 2, assembled here and loaded by `bpf(2)`.

Instruction and structure layouts are those of the kernel's uapi header linux/bpf.h.
"""

import ctypes
import os
import platform
import struct
from pathlib import Path

CALLS = {"x86_64": 321, "aarch64": 280, "ppc64le": 361, "s390x": 351, "riscv64": 280}
"""The number of bpf(2) by machine, from the kernel's syscall tables."""

PROG_LOAD, PROG_ATTACH = 5, 8
CGROUP_DEVICE = 15
ATTACH_DEVICE = 6
ALLOW_MULTI = 2
CHARACTER = 2
LOG_BYTES = 65536

LOAD_WORD, AND, NOT_EQUAL, SET, EXIT = 0x61, 0x54, 0x55, 0xB7, 0x95
KIND, MAJOR, MINOR = 2, 3, 4

LIBC = ctypes.CDLL(None, use_errno=True)


def attach(folder: Path, allowed: list[tuple[int, int | None]]) -> None:
    """Let processes of that group open only these character devices; minor None is any.

    Raises:
        OSError: no such call on this machine, or the kernel refuses.
    """
    code = assemble(allowed)
    loaded = _load(code)
    group = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _call(PROG_ATTACH, struct.pack("<IIII", group, loaded, ATTACH_DEVICE, ALLOW_MULTI))
    finally:
        os.close(group)
        os.close(loaded)


def assemble(allowed: list[tuple[int, int | None]]) -> bytes:
    """The program: 1 for a device of the list, else 0."""
    code = [
        _op(LOAD_WORD, KIND, 1, 0),
        _op(AND, KIND, 0, 0, 0xFFFF),
        _op(LOAD_WORD, MAJOR, 1, 4),
        _op(LOAD_WORD, MINOR, 1, 8),
    ]
    for major, minor in allowed:
        tests = [(KIND, CHARACTER), (MAJOR, major)] + ([] if minor is None else [(MINOR, minor)])
        for left, (register, value) in zip(range(len(tests), 0, -1), tests, strict=True):
            code.append(_op(NOT_EQUAL, register, 0, left + 1, value))
        code += [_op(SET, 0, 0, 0, 1), _op(EXIT)]
    return b"".join([*code, _op(SET, 0, 0, 0, 0), _op(EXIT)])


def _op(code: int, target: int = 0, source: int = 0, offset: int = 0, value: int = 0) -> bytes:
    return struct.pack("<BBhi", code, (source << 4) | target, offset, value)


def _load(code: bytes) -> int:
    body = ctypes.create_string_buffer(code, len(code))
    licence = ctypes.create_string_buffer(b"GPL")
    log = ctypes.create_string_buffer(LOG_BYTES)
    return _call(
        PROG_LOAD,
        struct.pack(
            "<IIQQIIQII16sII",
            CGROUP_DEVICE,
            len(code) // 8,
            ctypes.addressof(body),
            ctypes.addressof(licence),
            1,
            LOG_BYTES,
            ctypes.addressof(log),
            0,
            0,
            b"",
            0,
            ATTACH_DEVICE,
        ),
    )


def _call(command: int, attributes: bytes) -> int:
    number = CALLS.get(platform.machine())
    if number is None:
        raise OSError(0, f"bpf: unknown on {platform.machine()}")
    body = ctypes.create_string_buffer(attributes, len(attributes))
    given = int(LIBC.syscall(number, command, body, len(attributes)))
    if given < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"bpf: {os.strerror(error)}")
    return given
