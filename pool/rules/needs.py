"""What a template, a request or a workload asks for: one shape, read strictly, written plainly."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from nodeagent.protocol.vocabulary import Isolation, Mode, Vendor
from pool.rules.problems import Problem, Problems
from pool.rules.problems import marked as _

TOPOLOGIES = ("node", "linked", "network", "whole_nodes", "spread", "anywhere")
"""How the parts must lie: on one node, linked, in one network, on whole nodes, apart, anyhow."""

SEVERAL = ("network", "whole_nodes", "anywhere")
"""Topologies that let work say on how many nodes it lies."""

SIZES = ("whole", "memory_gb", "memory_mib", "compute_milli", "share_milli", "profile")
"""The ways to say how big one part is; memory and compute may stand together, nothing else."""

_MOST = {
    "parts": 1024,
    "nodes": 128,
    "memory_gb": 1024,
    "memory_mib": 4_194_304,
    "compute_milli": 1000,
    "share_milli": 1000,
    "min_size_gb": 1024,
    "encoder_units": 64,
    "decoder_units": 64,
    "cpu_milli": 4_096_000,
    "ram_mib": 67_108_864,
    "disk_mib": 1_073_741_824,
}
ENGINES = ("encoder_units", "decoder_units")
"""Video engines that each part has to itself."""

_LEAST = dict.fromkeys(
    ("parts", "nodes", "min_size_gb", *ENGINES, "cpu_milli", "ram_mib", "disk_mib"), 0
)
_WORDS = {
    "vendors": frozenset(Vendor),
    "modes": frozenset(Mode),
    "labels": None,
    "architectures": None,
    "node_labels": None,
    "storage": None,
}
_ONE_OF: dict[str, tuple[str, ...]] = {
    "topology": TOPOLOGIES,
    "isolation": tuple(Isolation),
}
_FLAGS = ("whole", "encoder", "graphics", "heavy_bandwidth", "proportional")
_TEXTS = ("profile", "min_driver", "min_compute_capability")
_ALIASES = {
    "models": ("labels", 1),
    "compute_percent": ("compute_milli", 10),
    "share_percent": ("share_milli", 10),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """`parts` equal parts, each a whole card or a share; CPU, RAM and disk are for all together.

    GB are nominal, MiB usable and absolute; compute and share in thousandths of a card. CPU, RAM
    and disk are None where the node's own share per card is meant. `proportional`: compute is at
    least the memory's proportion (requirement P3: memory alone takes the greater of the two).
    `nodes` is on how many nodes a gang lies, alike on each; 0 is as few as it fits on.
    `encoder_units` and `decoder_units` are video engines that each part has to itself; `encoder`
    alone asks for a card that has an encoder, which others may use as well.
    """

    parts: int = 1
    nodes: int = 0
    whole: bool = False
    memory_gb: int | None = None
    memory_mib: int | None = None
    compute_milli: int | None = None
    share_milli: int | None = None
    proportional: bool = False
    profile: str = ""
    min_size_gb: int = 0
    vendors: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    architectures: tuple[str, ...] = ()
    isolation: str | None = None
    encoder: bool = False
    encoder_units: int = 0
    decoder_units: int = 0
    graphics: bool = False
    min_driver: str = ""
    min_compute_capability: str = ""
    topology: str = "node"
    cpu_milli: int | None = None
    ram_mib: int | None = None
    disk_mib: int | None = None
    node_labels: tuple[str, ...] = ()
    storage: tuple[str, ...] = ()
    heavy_bandwidth: bool = False

    @property
    def sized(self) -> bool:
        """Whether it says how big a part is."""
        return any(getattr(self, name) for name in SIZES)


_NAMES = frozenset(f.name for f in fields(Need))
_PLAIN = Need()


def from_mapping(given: Mapping[str, Any]) -> Need:
    """A need from what a person, a script or a row says.

    `models`, `compute_percent` and `share_percent` are taken for `labels`, `compute_milli` and
    `share_milli`. Raises Problems, field by field, for everything that is wrong.
    """
    need = partial(given)
    wrong = _contradictions(need)
    if wrong:
        raise Problems(wrong)
    return need


def partial(given: Mapping[str, Any]) -> Need:
    """Like `from_mapping`, but it need not be whole: for a person's changes to a template."""
    plain, wrong = _without_aliases(given)
    values: dict[str, Any] = {}
    for name, value in plain.items():
        if value is None or value == "":
            continue
        read = _read(name, value)
        if isinstance(read, Problem):
            wrong[name] = read
        else:
            values[name] = read
    if wrong:
        raise Problems(wrong)
    return Need(**values)


def to_mapping(need: Need) -> dict[str, Any]:
    """The need as JSON: only what differs from a plain one, and always the parts."""
    said = {
        f.name: getattr(need, f.name)
        for f in fields(need)
        if getattr(need, f.name) != getattr(_PLAIN, f.name)
    }
    return {"parts": need.parts} | {
        name: list(value) if isinstance(value, tuple) else value for name, value in said.items()
    }


def merged(template: Need, overrides: Mapping[str, Any]) -> Need:
    """The template's need with a person's changes; what the template forbids is a Problem.

    Another size replaces the template's size as a whole; memory alone keeps the template's
    compute as the least, and grows with the memory (requirement P3). Modes, vendors and models
    may be narrowed, isolation only strengthened, the smallest slice only raised.
    """
    asked = partial(overrides)
    said = {
        _ALIASES.get(name, (name, 1))[0]
        for name, value in overrides.items()
        if value not in (None, "") and (value or name not in SIZES)
    }
    values = {name: getattr(asked, name) for name in said}
    base = _resized(template, asked) if said & set(SIZES) else template
    need = replace(base, **{k: v for k, v in values.items() if k not in SIZES})
    wrong = _beyond(template, asked, said) | _contradictions(need)
    if wrong:
        raise Problems(wrong)
    return need


def changed(current: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A need's mapping with some words changed; None takes a word away, a new size the old size.

    Aliases are resolved, so that no word stands twice. Raises Problems for words it does not know.
    """
    plain, wrong = _without_aliases(changes)
    if wrong:
        raise Problems(wrong)
    resized = any(plain.get(name) for name in SIZES)
    kept = {
        name: value
        for name, value in current.items()
        if name not in plain and not (resized and name in (*SIZES, "proportional"))
    }
    return kept | {name: value for name, value in plain.items() if value is not None}


def _resized(template: Need, asked: Need) -> Need:
    """The template with the size that was asked for in place of its own."""
    size = {name: getattr(asked, name) for name in SIZES}
    only_memory = (asked.memory_gb or asked.memory_mib) and not asked.compute_milli
    if only_memory and template.compute_milli:
        size["compute_milli"] = template.compute_milli
        size["proportional"] = True
    return replace(template, **{"proportional": False, **size})


def _without_aliases(
    given: Any,
) -> tuple[dict[str, Any], dict[str, Problem]]:
    """Field names as rows use them, and what cannot be read as such."""
    if not isinstance(given, Mapping):
        raise Problems({"need": Problem(_("A need is written as names with values."))})
    plain: dict[str, Any] = {}
    wrong: dict[str, Problem] = {}
    for name, value in given.items():
        target, factor = _ALIASES.get(name, (name, 1))
        if target not in _NAMES:
            wrong[str(name)[:63]] = Problem(_("This is not a part of a need."))
        elif target in plain:
            wrong[name] = Problem(_("Given twice, in two spellings."))
        elif factor > 1 and isinstance(value, (int, float)) and not isinstance(value, bool):
            plain[target] = _thousandths(value)
        else:
            plain[target] = value
    return plain, wrong


def _thousandths(percent: float) -> int | str:
    """Per cent in thousandths; a finer number stays a text, which no whole number is."""
    exact = percent * 10
    return round(exact) if abs(exact) < 1e9 and abs(exact - round(exact)) < 1e-6 else str(percent)


def _read(name: str, value: Any) -> Any:
    """The value in the field's own type, or the Problem with it."""
    if name in _MOST:
        return _whole_number(name, value)
    if name in _FLAGS:
        return value if isinstance(value, bool) else Problem(_("Yes or no is meant here."))
    if name in _WORDS:
        return _several(value, _WORDS[name])
    if name in _ONE_OF:
        return _one_of(value, _ONE_OF[name])
    if not isinstance(value, str) or len(value) > 63 or not value.isprintable():
        return Problem(_("A short text is needed: at most %(most)s characters."), {"most": 63})
    return value


def _whole_number(name: str, value: Any) -> int | Problem:
    least, most = _LEAST.get(name, 1), _MOST[name]
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        return Problem(
            _("A whole number from %(least)s to %(most)s is needed."),
            {"least": least, "most": most},
        )
    return value


def _several(value: Any, known: frozenset[str] | None) -> tuple[str, ...] | Problem:
    if not isinstance(value, (list, tuple, set, frozenset)) or len(value) > 64:
        return Problem(_("A list of at most %(most)s names is needed."), {"most": 64})
    if not all(isinstance(one, str) and 0 < len(one) <= 96 for one in value):
        return Problem(_("Every name must be a text of 1 to 96 characters."))
    names = list(dict.fromkeys(str(one) for one in value))
    strange = [one for one in names if known is not None and one not in known]
    if strange and known is not None:
        return Problem(
            _("%(strange)s is not known. Choose from: %(known)s."),
            {"strange": strange[0], "known": ", ".join(sorted(known))},
        )
    return tuple(sorted(names)) if isinstance(value, (set, frozenset)) else tuple(names)


def _one_of(value: Any, known: tuple[str, ...]) -> str | Problem:
    if isinstance(value, str) and value in known:
        return str(value)
    return Problem(_("Choose from: %(known)s."), {"known": ", ".join(known)})


def _contradictions(need: Need) -> dict[str, Problem]:
    """What is right word by word and wrong together."""
    said = [name for name in SIZES if getattr(need, name)]
    if need.parts == 0:
        engines = [name for name in ENGINES if getattr(need, name)]
        wrong = {
            name: Problem(_("Work without a card has no card size.")) for name in (*said, *engines)
        }
        if not need.cpu_milli:
            wrong["cpu_milli"] = Problem(_("Work without a card must say how much CPU it needs."))
        return wrong
    if not said:
        return {"memory_gb": Problem(_("Say how big a part is: a whole card, memory or compute."))}
    return _sizes_together(need, said) | _parts_together(need)


def _sizes_together(need: Need, said: list[str]) -> dict[str, Problem]:
    pair = len(said) == 2 and "compute_milli" in said and said[0] in ("memory_gb", "memory_mib")
    if len(said) == 1 or pair:
        return {}
    return {
        said[-1]: Problem(
            _("%(one)s and %(other)s cannot stand together."), {"one": said[0], "other": said[-1]}
        )
    }


def _parts_together(need: Need) -> dict[str, Problem]:
    if not need.whole and need.topology in ("linked", *SEVERAL):
        return {"topology": Problem(_("Cards that work together must be whole cards."))}
    if need.whole and need.modes and Mode.WHOLE not in need.modes:
        return {"modes": Problem(_("A whole card cannot be had by sharing one."))}
    if need.nodes and need.topology not in SEVERAL:
        words = {"known": ", ".join(SEVERAL)}
        return {"topology": Problem(_("Work on several nodes is one of: %(known)s."), words)}
    if need.nodes and need.parts % need.nodes:
        words = {"parts": str(need.parts), "nodes": str(need.nodes)}
        return {"nodes": Problem(_("%(parts)s cards cannot lie alike on %(nodes)s nodes."), words)}
    if need.topology == "spread" and need.parts == 1:
        return {"topology": Problem(_("One part alone cannot be spread."))}
    return {}


_STRENGTH = {
    Isolation.UNKNOWN: 0,
    Isolation.NONE: 0,
    Isolation.PROCESS: 1,
    Isolation.SOFTWARE: 2,
    Isolation.HARDWARE: 3,
}


def _beyond(template: Need, asked: Need, said: set[str]) -> dict[str, Problem]:
    """Changes that the template does not allow."""
    wrong: dict[str, Problem] = {}
    for name in ("modes", "vendors", "labels"):
        allowed = getattr(template, name)
        if name in said and allowed and not set(getattr(asked, name)) <= set(allowed):
            wrong[name] = Problem(
                _("The template allows only: %(known)s."), {"known": ", ".join(allowed)}
            )
    if "isolation" in said and not isolated_enough(asked.isolation, template.isolation):
        wrong["isolation"] = Problem(_("The template asks for stronger isolation."))
    if "min_size_gb" in said and asked.min_size_gb < template.min_size_gb:
        wrong["min_size_gb"] = Problem(_("The template's smallest slice cannot be made smaller."))
    return wrong


def isolated_enough(given: str | None, floor: str | None) -> bool:
    """Whether an isolation is at least the floor; without a floor everything is."""
    if floor is None:
        return True
    return given is not None and _STRENGTH[Isolation(given)] >= _STRENGTH[Isolation(floor)]
