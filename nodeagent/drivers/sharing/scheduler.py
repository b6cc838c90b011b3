"""How the vGPU devices of one card take turns: a policy of the card, set while it is empty."""

import pynvml

from nodeagent.drivers.base import NotSupported, Refused

POLICIES = {"best_effort": 1, "equal_share": 2, "fixed_share": 3}


def set_policy(uuid: str, policy: str) -> None:
    """Put the policy in force. The card takes it only without devices and outside MIG.

    Raises:
        NotSupported: no such policy, no vGPU host, or devices are there.
        Refused: the driver said no.
    """
    if policy not in POLICIES:
        raise NotSupported(f"no vGPU scheduler policy {policy!r}; known are {sorted(POLICIES)}")
    wanted = pynvml.c_nvmlVgpuSchedulerSetState_t()
    wanted.schedulerPolicy = POLICIES[policy]
    wanted.enableARRMode = 0
    try:
        handle = pynvml.nvmlDeviceGetHandleByUUID(uuid)
        pynvml.nvmlDeviceSetVgpuSchedulerState(handle, wanted)
    except pynvml.NVMLError as failure:
        kind = NotSupported if failure.value == pynvml.NVML_ERROR_NOT_SUPPORTED else Refused
        raise kind(str(failure)) from failure
