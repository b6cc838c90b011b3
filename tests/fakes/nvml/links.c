/* How the cards hang together, and the sampled counters of Hopper and later. */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char legacy[16];
    unsigned domain, bus, device, id, subsystem;
    char bus_id[32];
} Pci;
typedef struct {
    unsigned version;
    unsigned char cluster[16];
    int status;
    unsigned clique;
    unsigned char state;
    unsigned health;
} Fabric;
typedef struct { unsigned id; int answer; double value; char *words[3]; } Metric;
typedef struct { int card, gi; } Sample;
typedef struct { unsigned version, many; Sample *first, *second; Metric metric[512]; } Metrics;
typedef struct { unsigned version, supported; } Support;

enum { HOPPER = 9, NODE_LEVEL = 40, TO_A_CARD = 0, TO_A_SWITCH = 2 };

static long long told(const char *name, unsigned card, long long otherwise)
{
    long long number = otherwise;
    world_number(name, (int)card, &number);
    return number;
}

/* `set level.OTHER CARD N`: the nearest common ancestor of two cards. */
int nvmlDeviceGetTopologyCommonAncestor(Device one, Device other, unsigned *level)
{
    char name[32];
    long long said = NODE_LEVEL;
    SAID_BY(one);
    snprintf(name, sizeof name, "level.%u", other->card);
    if (!world_number(name, (int)one->card, &said)) {
        snprintf(name, sizeof name, "level.%u", one->card);
        world_number(name, (int)other->card, &said);
    }
    *level = (unsigned)said;
    return OK;
}

/* `set no_fabric CARD 1`: switches of before the driver told of fabrics. `set fabric_state CARD N`: 3 is up. `set links CARD N`, `set switched CARD 1`: to a switch, else shared out to card `peer`. */
int nvmlDeviceGetNvLinkState(Device device, unsigned link, unsigned *active)
{
    SAID_BY(device);
    if (!told("links", device->card, 0)) return NOT_SUPPORTED;
    *active = link < (unsigned)told("links", device->card, 0);
    return OK;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(Device device, unsigned link, unsigned *type)
{
    (void)link;
    SAID_BY(device);
    *type = told("switched", device->card, 0) ? TO_A_SWITCH : TO_A_CARD;
    return OK;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(Device device, unsigned link, Pci *pci)
{
    (void)link;
    SAID_BY(device);
    memset(pci, 0, sizeof *pci);
    long long peer = told("peer", device->card, NOBODY);
    if (peer < 0) return NOT_SUPPORTED;
    strcpy(pci->bus_id, world->card[peer].pci);
    return OK;
}

int nvmlDeviceGetGpuFabricInfoV(Device device, Fabric *fabric)
{
    SAID_BY(device);
    if (!told("switched", device->card, 0) || told("no_fabric", device->card, 0)) return NOT_SUPPORTED;
    fabric->state = (unsigned char)told("fabric_state", device->card, 3), fabric->status = OK;
    fabric->clique = (unsigned)told("clique", device->card, 0);
    memset(fabric->cluster, 7, sizeof fabric->cluster);
    return OK;
}

int nvmlGpmQueryDeviceSupport(Device device, Support *support)
{
    SAID_BY(device);
    support->supported = world->card[device->card].major >= HOPPER;
    return OK;
}

int nvmlGpmSampleAlloc(Sample **sample)
{
    SAID;
    *sample = calloc(1, sizeof(Sample));
    return OK;
}

int nvmlGpmSampleFree(Sample *sample) { free(sample); return OK; }

static int take(Device device, int gi, Sample *sample)
{
    if (world->card[device->card].major < HOPPER) return NOT_SUPPORTED;
    *sample = (Sample){(int)device->card, gi};
    return OK;
}

int nvmlGpmSampleGet(Device device, Sample *sample)
{
    SAID_BY(device);
    return take(device, NOBODY, sample);
}

int nvmlGpmMigSampleGet(Device device, unsigned gi, Sample *sample)
{
    SAID_BY(device);
    return take(device, (int)gi, sample);
}

/* `set gpm.ID CARD N` for the card, `set gpm.ID.GI CARD N` for an instance; else not supported. */
int nvmlGpmMetricsGet(Metrics *wanted)
{
    SAID;
    if (!wanted->first || !wanted->second) return INVALID_ARGUMENT;
    for (unsigned i = 0; i < wanted->many; i++) {
        char name[48];
        long long number;
        Metric *metric = &wanted->metric[i];
        if (wanted->second->gi < 0) snprintf(name, sizeof name, "gpm.%u", metric->id);
        else snprintf(name, sizeof name, "gpm.%u.%d", metric->id, wanted->second->gi);
        metric->answer = NOT_SUPPORTED;
        if (world_number(name, wanted->second->card, &number))
            metric->answer = OK, metric->value = (double)number;
    }
    return OK;
}
