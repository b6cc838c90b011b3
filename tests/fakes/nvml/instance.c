/* The calls that read profiles, and make and remove GPU instances and compute instances. */
#include "device.h"

#include <stdio.h>
#include <string.h>

typedef struct { unsigned start, size; } Place;
typedef struct {
    unsigned version, id, p2p, slices, instances, cores, copy, decode, encode, jpeg, flow;
    unsigned long long memory_mib;
    char name[96];
} ProfileInfo;
typedef struct {
    unsigned version, id, slices, instances, cores, copy, decode, encode, jpeg, flow;
    char name[96];
} ComputeProfileInfo;
typedef struct { Device device; unsigned id, profile; Place place; } InstanceInfo;
typedef struct { Device device, instance; unsigned id, profile; Place place; } ComputeInfo;

/* Slices of a compute instance by the number under which its profile is asked for. */
static const unsigned COMPUTE_SLICES[] = {1, 2, 3, 4, 7, 8, 6};
enum { COMPUTE_KINDS = 7, ALL_COMPUTE_KINDS = 9 };

static Card *card_of(Device device) { return &world->card[device->card]; }
static Instance *instance_of(Device device) { return &card_of(device)->instance[device->instance]; }
static Profile *profile_of(Device device) { return &card_of(device)->profile[instance_of(device)->profile]; }

static Profile *by_id(Card *card, unsigned id)
{
    for (unsigned i = 0; i < card->profiles; i++)
        if (card->profile[i].id == id) return &card->profile[i];
    return NULL;
}

static int occupied(Card *card, unsigned start, unsigned size)
{
    for (int i = 0; i < INSTANCES; i++) {
        Instance *one = &card->instance[i];
        if (one->used && start < one->start + card->profile[one->profile].size
            && one->start < start + size)
            return 1;
    }
    return 0;
}

static unsigned alike(Card *card, Profile *profile)
{
    unsigned count = 0;
    for (int i = 0; i < INSTANCES; i++)
        count += card->instance[i].used && &card->profile[card->instance[i].profile] == profile;
    return count;
}

static int media_taken(Card *card)
{
    for (int i = 0; i < INSTANCES; i++)
        if (card->instance[i].used && card->profile[card->instance[i].profile].media) return 1;
    return 0;
}

int nvmlDeviceGetGpuInstanceProfileInfoV(Device device, unsigned kind, ProfileInfo *info)
{
    SAID_BY(device);
    Card *card = card_of(device);
    if (kind >= PROFILES) return INVALID_ARGUMENT;
    for (unsigned i = 0; i < card->profiles; i++) {
        Profile *one = &card->profile[i];
        if (one->kind != kind) continue;
        *info = (ProfileInfo){.version = info->version, .id = one->id, .slices = one->slices,
                              .instances = one->most, .cores = one->cores,
                              .decode = one->decoders, .encode = one->encoders,
                              .jpeg = one->media, .flow = one->media,
                              .memory_mib = one->memory_mib};
        snprintf(info->name, sizeof info->name, "%s", one->name);
        return OK;
    }
    return NOT_SUPPORTED;
}

/* Every legal place, taken or not. */
int nvmlDeviceGetGpuInstancePossiblePlacements_v2(Device device, unsigned id, Place *places,
                                                  unsigned *count)
{
    SAID_BY(device);
    Profile *profile = by_id(card_of(device), id);
    if (!profile) return NOT_SUPPORTED;
    if (places && *count < profile->starts) return INSUFFICIENT_SIZE;
    for (unsigned i = 0; places && i < profile->starts; i++)
        places[i] = (Place){profile->start[i], profile->size};
    *count = profile->starts;
    return OK;
}

int nvmlDeviceGetGpuInstanceRemainingCapacity(Device device, unsigned id, unsigned *count)
{
    SAID_BY(device);
    Card *card = card_of(device);
    Profile *profile = by_id(card, id);
    if (!profile || !card->current) return NOT_SUPPORTED;
    unsigned free_places = 0, left = profile->most - alike(card, profile), end = 0;
    for (unsigned i = 0; i < profile->starts; i++)
        if (profile->start[i] >= end && !occupied(card, profile->start[i], profile->size)) {
            free_places++;
            end = profile->start[i] + profile->size;
        }
    *count = free_places < left ? free_places : left;
    if (profile->media && media_taken(card)) *count = 0;
    return OK;
}

int nvmlDeviceCreateGpuInstanceWithPlacement(Device device, unsigned id, const Place *place,
                                             Device *made)
{
    SAID_BY(device);
    Card *card = card_of(device);
    Profile *profile = by_id(card, id);
    int legal = 0, slot = 0;
    if (!card->current || !profile) return NOT_SUPPORTED;
    for (unsigned i = 0; i < profile->starts; i++)
        legal |= profile->start[i] == place->start && profile->size == place->size;
    if (!legal) return INVALID_ARGUMENT;
    if (occupied(card, place->start, profile->size) || alike(card, profile) >= profile->most
        || (profile->media && media_taken(card)))
        return INSUFFICIENT_RESOURCES;
    world_step();
    while (card->instance[slot].used) slot++;
    card->instance[slot] = (Instance){1, ++card->next_id, (unsigned)(profile - card->profile),
                                      place->start, 0, ""};
    *made = part_handle(device->card, slot);
    world_step();
    return OK;
}

int nvmlDeviceGetGpuInstances(Device device, unsigned id, Device *rows, unsigned *count)
{
    SAID_BY(device);
    Card *card = card_of(device);
    Profile *profile = by_id(card, id);
    if (!card->current || !profile) return NOT_SUPPORTED;
    *count = 0;
    for (int i = 0; i < INSTANCES; i++)
        if (card->instance[i].used && &card->profile[card->instance[i].profile] == profile)
            rows[(*count)++] = part_handle(device->card, i);
    return OK;
}

int nvmlGpuInstanceGetInfo(Device instance, InstanceInfo *info)
{
    SAID_BY(instance);
    Instance *one = instance_of(instance);
    if (!one->used) return NOT_FOUND;
    *info = (InstanceInfo){card_handle(instance->card), one->id, profile_of(instance)->id,
                           {one->start, profile_of(instance)->size}};
    return OK;
}

int nvmlGpuInstanceDestroy(Device instance)
{
    SAID_BY(instance);
    if (!instance_of(instance)->used) return NOT_FOUND;
    if (instance_of(instance)->compute) return IN_USE;
    world_step();
    instance_of(instance)->used = 0;
    world_step();
    return OK;
}

int nvmlGpuInstanceGetComputeInstanceProfileInfoV(Device instance, unsigned kind, unsigned engine,
                                                  ComputeProfileInfo *info)
{
    SAID_BY(instance);
    if (kind >= ALL_COMPUTE_KINDS || engine) return INVALID_ARGUMENT;
    if (kind >= COMPUTE_KINDS || COMPUTE_SLICES[kind] > profile_of(instance)->slices)
        return NOT_SUPPORTED;
    *info = (ComputeProfileInfo){.version = info->version, .id = kind, .instances = 1,
                                 .slices = COMPUTE_SLICES[kind]};
    return OK;
}

int nvmlGpuInstanceCreateComputeInstance(Device instance, unsigned id, Device *made)
{
    SAID_BY(instance);
    Instance *one = instance_of(instance);
    if (!one->used) return NOT_FOUND;
    if (id >= COMPUTE_KINDS) return INVALID_ARGUMENT;
    if (one->compute) return INSUFFICIENT_RESOURCES;
    world_step();
    one->compute = id + 1;
    snprintf(one->uuid, sizeof one->uuid, "MIG-00000000-0000-4000-8000-%012u", ++world->made);
    *made = instance;
    world_step();
    return OK;
}

int nvmlGpuInstanceGetComputeInstances(Device instance, unsigned id, Device *rows, unsigned *count)
{
    SAID_BY(instance);
    *count = instance_of(instance)->compute == id + 1;
    if (*count) rows[0] = instance;
    return OK;
}

int nvmlComputeInstanceGetInfo_v2(Device compute, ComputeInfo *info)
{
    SAID_BY(compute);
    Instance *one = instance_of(compute);
    if (!one->compute) return NOT_FOUND;
    *info = (ComputeInfo){compute, compute, 0, one->compute - 1, {0, profile_of(compute)->slices}};
    return OK;
}

int nvmlComputeInstanceDestroy(Device compute)
{
    SAID_BY(compute);
    if (!instance_of(compute)->compute) return NOT_FOUND;
    world_step();
    instance_of(compute)->compute = 0;
    world_step();
    return OK;
}
