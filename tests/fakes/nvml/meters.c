/* The calls that measure a card: utilisation, power, errors, processes, and events. */
#include "device.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct { unsigned gpu, memory; } Utilisation;
typedef struct { unsigned pid; unsigned long long used; unsigned gi, ci; } Process;
typedef struct { Device device; unsigned long long type, data; unsigned gi, ci; } Event;
typedef struct {
    unsigned field, scope;
    long long at, latency;
    unsigned type;
    int answer;
    union { double d; unsigned long long u; } value;
} Field;

enum { XID_EVENT = 8, NO_INSTANCE = -1 };

/* What the process asked to be told of, by card. */
static unsigned long long asked_for[CARDS];

/* A number that the script gives, or what a healthy idle card shows. */
static long long told(const char *name, Device device, long long otherwise)
{
    long long number = otherwise;
    world_number(name, (int)device->card, &number);
    return number;
}

static int cut(Device device) { return world->card[device->card].current || device->instance >= 0; }

int nvmlDeviceGetUtilizationRates(Device device, Utilisation *use)
{
    SAID_BY(device);
    if (cut(device)) return NOT_SUPPORTED;
    *use = (Utilisation){(unsigned)told("util", device, 0), (unsigned)told("memory_util", device, 0)};
    return OK;
}

int nvmlDeviceGetEncoderUtilization(Device device, unsigned *use, unsigned *period)
{
    SAID_BY(device);
    if (cut(device)) return NOT_SUPPORTED;
    *use = (unsigned)told("encoder", device, 0), *period = 1000;
    return OK;
}

int nvmlDeviceGetDecoderUtilization(Device device, unsigned *use, unsigned *period)
{
    SAID_BY(device);
    if (cut(device)) return NOT_SUPPORTED;
    *use = (unsigned)told("decoder", device, 0), *period = 1000;
    return OK;
}

/* Of the board, so a MIG device has none of its own. */
#define BOARD_NUMBER(function, name, otherwise) \
    int function(Device device, unsigned *number) \
    { \
        SAID_BY(device); \
        if (device->instance >= 0) return NOT_SUPPORTED; \
        *number = (unsigned)told(name, device, otherwise); \
        return OK; \
    }

BOARD_NUMBER(nvmlDeviceGetPowerUsage, "power_mw", 60000)
BOARD_NUMBER(nvmlDeviceGetPowerManagementDefaultLimit, "limit_mw", 400000)
BOARD_NUMBER(nvmlDeviceGetArchitecture, "architecture", 7)
BOARD_NUMBER(nvmlDeviceGetDisplayActive, "display", 0)
BOARD_NUMBER(nvmlDeviceGetCurrPcieLinkWidth, "pcie_width", 16)
BOARD_NUMBER(nvmlDeviceGetMaxPcieLinkWidth, "pcie_width_max", 16)
BOARD_NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, "pcie_generation", 4)
BOARD_NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, "pcie_generation_max", 5)

int nvmlDeviceGetNumaNodeId(Device device, int *node)
{
    SAID_BY(device);
    *node = (int)told("numa", device, 0);
    return OK;
}

int nvmlDeviceGetPcieThroughput(Device device, unsigned counter, unsigned *kib)
{
    SAID_BY(device);
    if (cut(device)) return NOT_SUPPORTED;
    *kib = (unsigned)told(counter ? "pcie_rx_kib" : "pcie_tx_kib", device, 0);
    return OK;
}

int nvmlDeviceGetTemperature(Device device, unsigned sensor, unsigned *celsius)
{
    SAID_BY(device);
    if (sensor) return INVALID_ARGUMENT;
    if (device->instance >= 0) return NOT_SUPPORTED;
    *celsius = (unsigned)told("temperature", device, 34);
    return OK;
}

int nvmlDeviceGetCurrentClocksEventReasons(Device device, unsigned long long *bits)
{
    SAID_BY(device);
    if (device->instance >= 0) return NOT_SUPPORTED;
    *bits = (unsigned long long)told("throttle", device, 0);
    return OK;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(Device device, unsigned long long *bits)
{
    return nvmlDeviceGetCurrentClocksEventReasons(device, bits);
}

int nvmlDeviceGetTotalEccErrors(Device device, unsigned kind, unsigned counter,
                                unsigned long long *count)
{
    SAID_BY(device);
    if (counter > 1) return INVALID_ARGUMENT;
    *count = (unsigned long long)told(kind ? "ecc_uncorrected" : "ecc_corrected", device, 0);
    return OK;
}

/* `proc CARD GI CI PID MIB`. A MIG device shows its own, the card shows all. */
int nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned *count, Process *rows)
{
    const Line *script;
    unsigned found = 0, room = *count;
    SAID_BY(device);
    int many = world_script(&script);
    for (int i = 0; i < many; i++) {
        const long long *number = script[i].number;
        if (strcmp(script[i].word, "proc") || number[0] != (long long)device->card) continue;
        if (device->instance >= 0
            && number[1] != (long long)world->card[device->card].instance[device->instance].id)
            continue;
        if (rows && found < room)
            rows[found] = (Process){(unsigned)number[3], (unsigned long long)number[4] << 20,
                                    (unsigned)number[1], (unsigned)number[2]};
        found++;
    }
    *count = found;
    return found > room ? INSUFFICIENT_SIZE : OK;
}

int nvmlEventSetCreate(void **set) { static int one; SAID; *set = &one; return OK; }
int nvmlEventSetFree(void *set) { (void)set; SAID; return OK; }

int nvmlDeviceGetSupportedEventTypes(Device device, unsigned long long *types)
{
    SAID_BY(device);
    *types = (unsigned long long)told("event_types", device, 0xf);
    return OK;
}

int nvmlDeviceRegisterEvents(Device device, unsigned long long types, void *set)
{
    (void)set;
    SAID_BY(device);
    if (device->instance >= 0) return NOT_SUPPORTED;
    if (types & ~(unsigned long long)told("event_types", device, 0xf)) return INVALID_ARGUMENT;
    asked_for[device->card] |= types;
    return OK;
}

static unsigned instance(const Line *line, int place)
{
    return (unsigned)(line->numbers > place ? line->number[place] : NO_INSTANCE);
}

/* `xid CARD NUMBER [GI CI]`, `ecc CARD KIND [GI CI]` with 1 for a single bit and 2 for two: each
   line is told once for each time the script is written, to whom has asked for its kind. */
static unsigned long long kind_of(const Line *line)
{
    if (!strcmp(line->word, "xid")) return XID_EVENT;
    return strcmp(line->word, "ecc") ? 0 : (unsigned long long)line->number[1];
}

int nvmlEventSetWait_v2(void *set, Event *event, unsigned milliseconds)
{
    (void)set;
    SAID;
    for (unsigned waited = 0;; waited += 20) {
        const Line *script;
        unsigned nth = 0;
        int many = world_script(&script);
        for (int i = 0; i < many; i++) {
            unsigned long long kind = kind_of(&script[i]);
            if (!kind || nth++ < world->xids_told) continue;
            world->xids_told++;
            if (!(asked_for[script[i].number[0]] & kind)) continue;
            *event = (Event){card_handle((unsigned)script[i].number[0]), kind,
                             kind == XID_EVENT ? (unsigned long long)script[i].number[1] : 0,
                             instance(&script[i], 2), instance(&script[i], 3)};
            return OK;
        }
        if (waited >= milliseconds) return TIMEOUT;
        usleep(20000);
    }
}

/* 138 and 139: NVLink data sent and received, in KiB since the start. */
int nvmlDeviceGetFieldValues(Device device, int many, Field *fields)
{
    SAID_BY(device);
    for (int i = 0; i < many; i++) {
        unsigned id = fields[i].field;
        fields[i].answer = cut(device) || (id != 138 && id != 139) ? NOT_SUPPORTED : OK;
        fields[i].type = 2;
        fields[i].value.u = (unsigned long long)told(id == 138 ? "nvlink_tx_kib" : "nvlink_rx_kib", device, 0);
    }
    return OK;
}

typedef struct { unsigned pid; unsigned long long at; unsigned sm, memory, encode, decode; } ProcessUse;

/* `set sm.PID CARD N` for each process of the script; not on a card that is cut. */
int nvmlDeviceGetProcessUtilization(Device device, ProcessUse *rows, unsigned *count,
                                    unsigned long long since)
{
    const Line *script;
    unsigned found = 0;
    (void)since;
    SAID_BY(device);
    if (cut(device)) return NOT_SUPPORTED;
    int many = world_script(&script);
    for (int i = 0; i < many; i++) {
        if (strcmp(script[i].word, "set") || strncmp(script[i].name, "sm.", 3)
            || script[i].number[0] != (long long)device->card)
            continue;
        if (rows && found < *count)
            rows[found] = (ProcessUse){(unsigned)atoi(script[i].name + 3), since + 1,
                                       (unsigned)script[i].number[1], 0, 0, 0};
        found++;
    }
    int fits = rows && found <= *count;
    *count = found;
    return !found ? NOT_FOUND : fits ? OK : INSUFFICIENT_SIZE;
}

int nvmlDeviceGetMinorNumber(Device device, unsigned *minor)
{
    SAID_BY(device);
    *minor = device->card;
    return OK;
}
