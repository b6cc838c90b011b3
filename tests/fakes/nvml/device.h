/* What a handle points at, and how every call begins. */
#ifndef DEVICE_H
#define DEVICE_H

#include "world.h"

/* A card, or with `instance` from 0 the MIG device that lies in that slot of it. */
struct Device { unsigned card; int instance; };
typedef struct Device *Device;

Device card_handle(unsigned card);
Device part_handle(unsigned card, int instance);

/* A call answers what the script says, when it says anything. */
#define SAID_OF(card_) do { int said_ = world_said(__func__, (int)(card_)); if (said_) return said_; } while (0)
#define SAID SAID_OF(NOBODY)
#define SAID_BY(device_) SAID_OF((device_)->card)

#endif
