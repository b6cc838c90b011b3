"""What a node is told of a notebook beyond any other work: its files' folder and its token."""

from django.utils.crypto import salted_hmac

from nodeagent.protocol.notebooks import TOKEN
from nodeagent.protocol.vocabulary import WorkloadKind
from pool.models.workloads import Attempt, Workload

SALT = "pool.notebooks.token"


def home_of(workload: Workload) -> str:
    """The folder that this person keeps in this project, or the one that came with the notebook
    from somebody who left; empty for other work."""
    if workload.kind != WorkloadKind.NOTEBOOK:
        return ""
    return workload.home or f"{workload.project.uid}.{workload.owner.uid}"


def token_of(attempt_uid: str) -> str:
    """What the notebook's own server wants to be told; another for each run, stored nowhere."""
    return salted_hmac(SALT, attempt_uid, algorithm="sha256").hexdigest()


def secret_words(workload: Workload, attempt: Attempt) -> dict[str, str]:
    """Variables that only the notebook and the gateway may know."""
    if workload.kind != WorkloadKind.NOTEBOOK:
        return {}
    return {TOKEN: token_of(attempt.uid)}
