"""Folders of nodes: what to look for, what was found, and what one attempt is given."""

from msgspec import Struct


class Watched(Struct, frozen=True, kw_only=True):
    """A folder that a node shall look for. With `types` it must lie on a file system of one of
    them (the type's name begins so); without, any folder will do.
    """

    path: str
    types: tuple[str, ...] = ()


class Place(Struct, frozen=True, kw_only=True):
    """How the node found a watched folder; `why` says what is wrong, "" that it is there."""

    path: str
    why: str = ""


class Mount(Struct, frozen=True, kw_only=True):
    """A folder given to an attempt: `root` must be there, `tail` lies below it and may be made.

    `at` is a relative path in the folder where the command starts. `name` is what its variable
    GPUPOOL_STORAGE_… is called after. A `shared` folder that is made belongs to the project's
    group, another one to the work's own account.
    """

    root: str
    tail: str
    at: str
    name: str
    read_only: bool = True
    create: bool = False
    shared: bool = False
    types: tuple[str, ...] = ()
