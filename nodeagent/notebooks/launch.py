"""Turns the wish for a notebook into a command that any shim can run."""

import os
from pathlib import Path

from msgspec.structs import replace

from nodeagent.notebooks.environment import Unavailable
from nodeagent.protocol.desired import WantedWork
from nodeagent.protocol.notebooks import SOCKET, base_path
from nodeagent.records import SAFE_NAME
from nodeagent.runners.accounts import NoAccount, resolve
from nodeagent.runners.environment import PLAIN_PATH

FLAGS = (
    "--no-browser",
    "--ServerApp.sock_mode=0600",
    "--ServerApp.allow_remote_access=True",
    "--ServerApp.quit_button=False",
    "--LabApp.expose_app_in_browser=True",
    "--LabApp.news_url=None",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    "--LabApp.extension_manager=readonly",
)
"""The page may be told to save all (its app is exposed to its own script); no address outside of
the node is asked for anything."""


def command(work: WantedWork, environment: Path, files: Path, home: Path) -> WantedWork:
    """The same work with what is executed: JupyterLab at a socket in the attempt's own folder.

    The socket is named from the working folder, since names of sockets are short. `HOME` is where
    the person's files are kept between runs, `home` the attempt's own folder.
    """
    words = [str(environment / "bin/python"), "-m", "jupyterlab", *FLAGS]
    words += [f"--ServerApp.sock=../{SOCKET}", f"--ServerApp.root_dir={files}"]
    words += [f"--ServerApp.base_url={base_path(work.workload)}"]
    env = {
        **work.env,
        "PATH": f"{environment / 'bin'}:{PLAIN_PATH}",
        "HOME": str(files),
        "SHELL": "/bin/bash",
        "JUPYTER_RUNTIME_DIR": str(home / "tmp/jupyter"),
        "JUPYTER_PREFER_ENV_PATH": "1",
    }
    return replace(work, command=tuple(words), env=env)


def kept_files(homes: Path, work: WantedWork) -> Path:
    """The folder that one person keeps in one project, made now for the account that runs it.

    Only the agent makes folders here, by the portal's names: one that belongs to another account
    came with the notebook from somebody who left, or its person has another account now. What in
    it was that account's becomes this one's.

    Raises:
        Unavailable: it cannot be made or given over.
    """
    if not SAFE_NAME.fullmatch(work.home):
        raise Unavailable("notebooks unavailable: the portal names no folder for the files")
    folder = homes / work.home
    try:
        account = resolve(work.account)
        homes.mkdir(mode=0o711, parents=True, exist_ok=True)
        homes.chmod(0o711)
        if not folder.exists():
            folder.mkdir(mode=0o700)
            if account.uid is not None and account.gid is not None:
                os.chown(folder, account.uid, account.gid)
        before = folder.stat(follow_symlinks=False).st_uid
        if account.uid is not None and account.gid is not None and before != account.uid:
            _give_over(folder, before, account.uid, account.gid)
        owner = folder.stat(follow_symlinks=False).st_uid
    except (OSError, NoAccount) as failure:
        raise Unavailable(f"notebooks unavailable: {failure}") from failure
    if owner != (os.geteuid() if account.uid is None else account.uid):
        raise Unavailable(f"notebooks unavailable: the kept files belong to account {owner}")
    return folder


def _give_over(folder: Path, before: int, uid: int, gid: int) -> None:
    """Make what belongs to one account another's: by handles, links themselves and not what they
    lead to, the folder last, so that a crash in between begins anew."""
    for _path, folders, files, handle in os.fwalk(folder, follow_symlinks=False):
        for name in (*folders, *files):
            if os.stat(name, dir_fd=handle, follow_symlinks=False).st_uid == before:
                os.chown(name, uid, gid, dir_fd=handle, follow_symlinks=False)
    os.chown(folder, uid, gid, follow_symlinks=False)
