/* The calls about vGPU that a hypervisor host answers. */
#include "device.h"

typedef struct { unsigned policy, arr, parameter[2]; } Scheduler;

/* `set vgpu_host CARD 1` makes it such a host; the policy cannot change in MIG mode. */
int nvmlDeviceSetVgpuSchedulerState(Device device, Scheduler *wanted)
{
    long long host = 0;
    SAID_BY(device);
    world_number("vgpu_host", (int)device->card, &host);
    if (!host || world->card[device->card].current) return NOT_SUPPORTED;
    return wanted->policy >= 1 && wanted->policy <= 3 ? OK : INVALID_ARGUMENT;
}
