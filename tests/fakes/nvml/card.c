/* The calls that look at a card, and its MIG mode. */
#include "device.h"

#include <stdio.h>
#include <string.h>

typedef struct { unsigned long long total, free, used; } Memory;
typedef struct { unsigned version; unsigned long long total, reserved, free, used; } NewerMemory;
typedef struct {
    char legacy[16];
    unsigned domain, bus, device, id, subsystem;
    char bus_id[32];
} Pci;

/* One handle for each card, and one for each place where a MIG device may lie. */
static struct Device whole[CARDS], part[CARDS][INSTANCES];

Device card_handle(unsigned card) { whole[card] = (struct Device){card, -1}; return &whole[card]; }

Device part_handle(unsigned card, int instance)
{
    part[card][instance] = (struct Device){card, instance};
    return &part[card][instance];
}

static int put(const char *text, char *into, unsigned room)
{
    if (strlen(text) >= room) return INSUFFICIENT_SIZE;
    strcpy(into, text);
    return OK;
}

int nvmlInitWithFlags(unsigned flags) { (void)flags; if (!world_enter()) return 9; SAID; return OK; }
int nvmlInit_v2(void) { return nvmlInitWithFlags(0); }
int nvmlShutdown(void) { return OK; }

const char *nvmlErrorString(int code)
{
    static _Thread_local char text[64];
    snprintf(text, sizeof text, "the library answered %d", code);
    return text;
}

int nvmlSystemGetDriverVersion(char *text, unsigned room) { SAID; return put("580.95.05", text, room); }
int nvmlDeviceGetCount_v2(unsigned *count) { SAID; *count = world->cards; return OK; }

/* `set shuffle * N` turns the order of the cards by N, as a bus that is numbered anew does. */
int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device *device)
{
    long long by = 0;
    if (!world) return UNINITIALIZED;
    if (index >= world->cards) return INVALID_ARGUMENT;
    if (world && world_number("shuffle", NOBODY, &by)) index = (index + (unsigned)by) % world->cards;
    SAID_OF(index);
    *device = card_handle(index);
    return OK;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, Device *device)
{
    SAID;
    for (unsigned card = 0; card < world->cards; card++) {
        *device = card_handle(card);
        if (!strcmp(world->card[card].uuid, uuid)) return OK;
        for (int i = 0; i < INSTANCES; i++) {
            Instance *one = &world->card[card].instance[i];
            *device = part_handle(card, i);
            if (one->used && one->compute && !strcmp(one->uuid, uuid)) return OK;
        }
    }
    return NOT_FOUND;
}

int nvmlDeviceGetName(Device device, char *text, unsigned room)
{
    const Line *script;
    int many = world_script(&script);
    SAID_BY(device);
    for (int i = 0; i < many; i++)
        if (!strcmp(script[i].word, "garble") && script[i].number[0] == (long long)device->card)
            return put("NVIDIA \xff\xfe card", text, room);
    return put(world->card[device->card].name, text, room);
}

int nvmlDeviceGetUUID(Device device, char *text, unsigned room)
{
    SAID_BY(device);
    Card *card = &world->card[device->card];
    return put(device->instance < 0 ? card->uuid : card->instance[device->instance].uuid, text, room);
}

/* `set used CARD MIB`, of an instance by its number `set used.GI CARD MIB`; `set reserved CARD MIB`
   is what the driver keeps for itself: the older question counts it as used. */
static unsigned long long taken(Device device, const char *name)
{
    char word[32];
    long long mib = 0;
    if (device->instance >= 0)
        snprintf(word, sizeof word, "%s.%u", name, world->card[device->card].instance[device->instance].id);
    else
        snprintf(word, sizeof word, "%s", name);
    world_number(word, (int)device->card, &mib);
    return (unsigned long long)mib;
}

static unsigned long long all_mib(Device device)
{
    Card *card = &world->card[device->card];
    if (device->instance < 0) return card->memory_mib;
    return card->profile[card->instance[device->instance].profile].memory_mib;
}

int nvmlDeviceGetMemoryInfo(Device device, Memory *memory)
{
    SAID_BY(device);
    unsigned long long mib = all_mib(device), used = taken(device, "used") + taken(device, "reserved");
    *memory = (Memory){mib << 20, (mib - used) << 20, used << 20};
    return OK;
}

int nvmlDeviceGetMemoryInfo_v2(Device device, NewerMemory *memory)
{
    SAID_BY(device);
    unsigned long long mib = all_mib(device), used = taken(device, "used");
    unsigned long long kept = taken(device, "reserved");
    *memory = (NewerMemory){memory->version, mib << 20, kept << 20, (mib - used - kept) << 20, used << 20};
    return OK;
}

int nvmlDeviceGetSerial(Device device, char *text, unsigned room)
{
    char serial[32];
    SAID_BY(device);
    snprintf(serial, sizeof serial, "132052200%04u", device->card);
    return put(serial, text, room);
}

int nvmlDeviceGetPciInfo_v3(Device device, Pci *pci)
{
    SAID_BY(device);
    memset(pci, 0, sizeof *pci);
    return put(world->card[device->card].pci, pci->bus_id, sizeof pci->bus_id);
}

int nvmlDeviceGetCudaComputeCapability(Device device, int *major, int *minor)
{
    SAID_BY(device);
    long long said = 0;
    world_number("minor", (int)device->card, &said);
    *major = (int)world->card[device->card].major;
    *minor = (int)said;
    return OK;
}

int nvmlDeviceGetMigMode(Device device, unsigned *current, unsigned *pending)
{
    SAID_BY(device);
    Card *card = &world->card[device->card];
    if (!card->profiles) return NOT_SUPPORTED;
    *current = card->current;
    *pending = card->pending;
    return OK;
}

static int used(const Card *card, unsigned number)
{
    const Line *script;
    long long held = 0;
    int many = world_script(&script);
    for (int i = 0; i < INSTANCES; i++)
        if (card->instance[i].used) return 1;
    for (int i = 0; i < many; i++)
        if (!strcmp(script[i].word, "proc") && script[i].number[0] == (long long)number) return 1;
    return world_number("held", (int)number, &held) && held;
}

/* Success is answered even when the mode is not in force yet; the status tells. `set held CARD 1`
   is a program that holds the card open and runs nothing on it. */
int nvmlDeviceSetMigMode(Device device, unsigned mode, unsigned *status)
{
    SAID_BY(device);
    Card *card = &world->card[device->card];
    if (!card->profiles) return NOT_SUPPORTED;
    if (mode > 1) return INVALID_ARGUMENT;
    world_step();
    *status = used(card, device->card) ? IN_USE : OK;
    if (*status != OK) return OK;
    card->pending = mode;
    if (card->reset_to_enter && mode != card->current)
        *status = RESET_REQUIRED;
    else
        card->current = mode;
    world_step();
    return OK;
}
