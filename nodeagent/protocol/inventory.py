"""What a node is: its host and its cards, each with its own geometry."""

from msgspec import Struct

from nodeagent.protocol.vocabulary import Isolation, Mode, Vendor


class Profile(Struct, frozen=True):
    """One kind of slice that a card can be cut into.

    `compute` and `size` count the card's own units (for MIG: g and memory places); `starts` are the
    legal first places; `memory_mib` is usable memory, `nominal_gb` what the name says. `encoders`
    and `decoders` are the video engines that such a slice has to itself; None is unknown.
    """

    name: str
    profile_id: str
    compute: int
    size: int
    memory_mib: int
    nominal_gb: int
    starts: tuple[int, ...]
    max_instances: int
    cores: int | None = None
    media: bool = False
    encoders: int | None = None
    decoders: int | None = None


class Geometry(Struct, frozen=True):
    """How one card can be cut in one mode. `units` places long, `compute_units` strong."""

    mode: Mode
    units: int
    compute_units: int
    profiles: tuple[Profile, ...]
    isolation: Isolation
    reset_to_enter: bool = False


class Link(Struct, frozen=True):
    """The path between two cards of one node; a higher `score` is nearer, `nvlinks` counts."""

    peer: str
    score: int
    nvlinks: int = 0


class Ability(Struct, frozen=True, kw_only=True):
    """What a node can really keep in one mode of a card, so that nothing is promised beyond it.

    `memory` and `compute` say who holds a slice to its share: hardware, driver, daemon, preload,
    sampling (the agent looks and stops what is over) or none. `licence` names the seat it needs.
    """

    mode: Mode
    memory: str
    compute: str
    note: str = ""
    licence: str = ""


class Card(Struct, frozen=True, kw_only=True):
    """One physical accelerator. Identity is `uuid`, never `index`. Unknown is None."""

    uuid: str
    index: int
    vendor: Vendor
    model: str
    label: str
    nominal_gb: int
    memory_mib: int
    modes: tuple[Mode, ...]
    geometries: tuple[Geometry, ...] = ()
    serial: str | None = None
    pci: str | None = None
    architecture: str | None = None
    compute_capability: str | None = None
    precisions: tuple[str, ...] = ()
    driver: str | None = None
    runtime: str | None = None
    cores: int | None = None
    strength: int | None = None
    tdp_w: int | None = None
    memory_gb_per_s: int | None = None
    nvenc: int | None = None
    nvdec: int | None = None
    graphics: bool = False
    display: bool = False
    numa: int | None = None
    domain: str | None = None
    pcie_width_max: int | None = None
    pcie_generation_max: int | None = None
    links: tuple[Link, ...] = ()
    abilities: tuple[Ability, ...] = ()


class Host(Struct, frozen=True, kw_only=True):
    """The machine round the cards: cores in thousandths, memory and disk in MiB."""

    cpu_milli: int
    memory_mib: int
    disk_mib: int
    arch: str
    kernel: str = ""
    identity: bool = False
    fence: bool = False
    simulated: bool = False
    notes: tuple[str, ...] = ()
    mounts: tuple[str, ...] = ()
    runners: tuple[str, ...] = ("process",)


class Hello(Struct, frozen=True, kw_only=True):
    """First words after each start of an agent, and again when the hardware changes.

    `address` is where other nodes reach this one; an agent that names none runs no part of a gang.
    """

    protocol: int
    agent: str
    name: str
    boot_id: str
    sent_at: float
    host: Host
    cards: tuple[Card, ...]
    labels: dict[str, str] = {}
    observe: bool = False
    address: str = ""


class Join(Struct, frozen=True, kw_only=True):
    """A one-time join token with the hello of the node that asks in."""

    token: str
    hello: Hello


class Joined(Struct, frozen=True, kw_only=True):
    """The node's credential, told once."""

    node: str
    credential: str


class Welcome(Struct, frozen=True, kw_only=True):
    """The portal's answer to a hello. `skew_s` is the node's clock minus the portal's."""

    protocol: int
    node: str
    epoch: int
    generation: int
    fence_s: int
    skew_s: float
    warnings: tuple[str, ...] = ()
