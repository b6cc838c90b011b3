"""Which slices may lie side by side on this card, as the card's own geometry says."""

from dataclasses import dataclass
from functools import lru_cache

from nodeagent.protocol.inventory import Geometry, Profile

ALL_MEDIA = "+me.all"
NO_MEDIA = "-me"


@dataclass(frozen=True, slots=True)
class Place:
    """One profile at one legal start. `mask` has a bit for each unit that it covers."""

    profile: int
    start: int
    mask: int


@dataclass(frozen=True, slots=True)
class Cut:
    """A geometry made ready for search: every legal place, and the rules no mask can say.

    `scarce` are the profiles whose `max_instances` is below what their starts allow; `media` those
    of which a card holds at most one together.
    """

    geometry: Geometry
    places: tuple[tuple[Place, ...], ...]
    scarce: frozenset[int]
    media: frozenset[int]
    all_media: frozenset[int]
    no_media: frozenset[int]

    def index(self, name: str) -> int | None:
        """The profile of that name on this card, or None."""
        for i, profile in enumerate(self.geometry.profiles):
            if profile.name == name:
                return i
        return None

    def profile(self, index: int) -> Profile:
        return self.geometry.profiles[index]


@dataclass(frozen=True, slots=True)
class Layout:
    """What lies on a card: the units it covers and the profiles used, sorted."""

    mask: int = 0
    used: tuple[int, ...] = ()

    def plus(self, place: Place) -> "Layout":
        return Layout(self.mask | place.mask, tuple(sorted((*self.used, place.profile))))


EMPTY = Layout()


@lru_cache(maxsize=512)
def cut_of(geometry: Geometry) -> Cut:
    """Make a geometry ready for search; places that pass the card's end are left out."""
    places = tuple(_places(geometry, i) for i in range(len(geometry.profiles)))
    profiles = geometry.profiles
    return Cut(
        geometry=geometry,
        places=places,
        scarce=frozenset(i for i, p in enumerate(profiles) if p.max_instances < _most(places[i])),
        media=frozenset(i for i, p in enumerate(profiles) if _takes_media(p)),
        all_media=frozenset(i for i, p in enumerate(profiles) if p.name.endswith(ALL_MEDIA)),
        no_media=frozenset(i for i, p in enumerate(profiles) if p.name.endswith(NO_MEDIA)),
    )


def _places(geometry: Geometry, index: int) -> tuple[Place, ...]:
    size = geometry.profiles[index].size
    block = (1 << size) - 1
    return tuple(
        Place(index, start, block << start)
        for start in sorted(geometry.profiles[index].starts)
        if start + size <= geometry.units
    )


def _takes_media(profile: Profile) -> bool:
    return "+me" in profile.name


def _most(places: tuple[Place, ...]) -> int:
    """How many of one profile lie side by side; earliest end first is exact for equal sizes."""
    mask = count = 0
    for place in places:
        if not place.mask & mask:
            mask |= place.mask
            count += 1
    return count


def allowed(cut: Cut, used: tuple[int, ...], profile: int) -> bool:
    """Whether the rules beside the places let one more of this profile in."""
    if profile in cut.scarce and used.count(profile) >= cut.profile(profile).max_instances:
        return False
    if profile in cut.media and any(p in cut.media for p in used):
        return False
    if profile in cut.all_media:
        return all(p in cut.no_media for p in used)
    return profile in cut.no_media or not any(p in cut.all_media for p in used)


def free_places(cut: Cut, layout: Layout, profile: int) -> tuple[Place, ...]:
    """Every place at which this profile could be added to the layout, lowest start first."""
    if not allowed(cut, layout.used, profile):
        return ()
    return tuple(place for place in cut.places[profile] if not place.mask & layout.mask)


def legal(cut: Cut, pieces: tuple[tuple[str, int], ...]) -> bool:
    """Whether these (profile name, start) pieces may all lie on one card together."""
    layout = EMPTY
    for name, start in pieces:
        index = cut.index(name)
        if index is None:
            return False
        place = next((p for p in free_places(cut, layout, index) if p.start == start), None)
        if place is None:
            return False
        layout = layout.plus(place)
    return True


@lru_cache(maxsize=65536)
def capacity(cut: Cut, layout: Layout, profile: int) -> int:
    """How many more of one profile the layout has room for."""
    count = 0
    while True:
        free = free_places(cut, layout, profile)
        if not free:
            return count
        layout = layout.plus(free[0])
        count += 1
