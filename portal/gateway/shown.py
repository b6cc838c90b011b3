"""What one who only looks at a notebook's files is shown: text and pictures, nothing that runs.

Everything comes from a server that its owner may have changed at will: no shape is relied on.
"""

import base64
import binascii
import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
MOST_SIZE = 1 << 63
MOST_ROWS = 2000
"""Of a longer folder or notebook the rest is left out, and that is said."""


def shown(told: Mapping[str, Any], base: str, path: str) -> dict[str, Any]:
    """The words for the page about one folder or file; `base` is the address of the whole."""
    try:
        return _shown(told, base, path)
    except RecursionError:
        return {"base": base, "path": path, "crumbs": crumbs(base, path), "unshown": True}


def _shown(told: Mapping[str, Any], base: str, path: str) -> dict[str, Any]:
    kind, content = told.get("type"), told.get("content")
    found: dict[str, Any] = {"base": base, "path": path, "crumbs": crumbs(base, path)}
    if kind == "directory":
        rows = [one for one in _list(content) if isinstance(one, dict)]
        return found | {"entries": _entries(rows, base, path), "cut": len(rows) > MOST_ROWS}
    if kind == "notebook" and isinstance(content, dict):
        cells = [one for one in _list(content.get("cells")) if isinstance(one, dict)]
        found["cells"] = [_cell(one) for one in cells[:MOST_ROWS]]
        return found | {"cut": len(cells) > MOST_ROWS}
    mime = str(told.get("mimetype") or "")
    if mime in PICTURES and isinstance(content, str):
        return found | {"picture": _picture(mime, content)}
    if told.get("format") == "text" and isinstance(content, str):
        return found | {"text": content}
    return found | {"unshown": True}


def file_of(told: Mapping[str, Any]) -> bytes | None:
    """The bytes of a file or notebook; None when it is neither."""
    content = told.get("content")
    if told.get("type") == "notebook":
        try:
            return plain_bytes(json.dumps(content, indent=1, ensure_ascii=False))
        except RecursionError:
            return None
    if told.get("type") != "file" or not isinstance(content, str):
        return None
    if told.get("format") != "base64":
        return plain_bytes(content)
    try:
        return base64.b64decode(content)
    except (binascii.Error, ValueError):
        return None


def plain_bytes(text: str) -> bytes:
    """The text as UTF-8, with a question mark for what is no character."""
    return text.encode("utf-8", "replace")


def crumbs(base: str, path: str) -> list[tuple[str, str]]:
    """Each folder above with its address."""
    parts = [one for one in path.split("/") if one]
    return [(name, base + quote("/".join(parts[: at + 1]))) for at, name in enumerate(parts)]


def plain_path(path: str) -> bool:
    """Whether it leads straight down, to nothing hidden."""
    parts = path.rstrip("/").split("/") if path else []
    return all(one and not one.startswith(".") and one.isprintable() for one in parts)


def _entries(rows: list[dict[str, Any]], base: str, path: str) -> list[dict[str, Any]]:
    above = f"{path.strip('/')}/" if path.strip("/") else ""
    names = sorted(
        (
            (one.get("type") != "directory", str(one.get("name") or ""), one.get("size"))
            for one in rows[:MOST_ROWS]
            if plain_path(str(one.get("name") or "."))
        ),
        key=lambda one: one[:2],
    )
    return [
        {
            "name": name,
            "folder": not is_file,
            "url": base + quote(above + name),
            "kib": round(size / 1024) if isinstance(size, int) and 0 <= size < MOST_SIZE else None,
        }
        for is_file, name, size in names
    ]


def _cell(cell: dict[str, Any]) -> dict[str, Any]:
    outputs = [one for one in _list(cell.get("outputs")) if isinstance(one, dict)]
    return {
        "kind": "code" if cell.get("cell_type") == "code" else "words",
        "source": _text(cell.get("source")),
        "outputs": [_output(one) for one in outputs[:200]],
    }


def _output(one: dict[str, Any]) -> dict[str, Any]:
    if one.get("output_type") == "error":
        return {
            "text": ANSI.sub("", "\n".join(map(str, _list(one.get("traceback"))))),
            "error": True,
        }
    if "text" in one:
        return {"text": ANSI.sub("", _text(one.get("text")))}
    data = one.get("data")
    data = data if isinstance(data, dict) else {}
    for mime in PICTURES:
        if mime in data:
            return {"picture": _picture(mime, _text(data[mime]))}
    if "text/plain" in data:
        return {"text": ANSI.sub("", _text(data["text/plain"]))}
    return {"unshown": True}


def _picture(mime: str, content: str) -> str:
    kept = re.sub(r"[^A-Za-z0-9+/=]", "", content)
    return f"data:{mime};base64,{kept}"


def _text(value: Any) -> str:
    return "".join(map(str, value)) if isinstance(value, list) else str(value or "")


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
