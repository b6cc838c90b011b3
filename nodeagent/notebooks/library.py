"""What all notebooks of a node share: their environment, and where files are kept between runs."""

from pathlib import Path

from nodeagent.notebooks.environment import Environment, Recipe


class Library:
    """Below the work root unless the site names a folder for files that all its nodes share.

    `ca` is the authority by which gateways are known, None for the machine's own.
    """

    def __init__(
        self,
        work_root: Path,
        recipe: Recipe | None = None,
        homes: Path | None = None,
        ca: Path | None = None,
    ) -> None:
        self.environment = Environment(work_root / "notebooks", recipe or Recipe())
        self.homes = homes or work_root / "homes"
        self.ca = ca
