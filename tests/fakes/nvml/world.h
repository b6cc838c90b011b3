/* The world of the stand-in library: cards, profiles and instances, shared through one file. */
#ifndef WORLD_H
#define WORLD_H

enum { CARDS = 8, PROFILES = 18, STARTS = 16, INSTANCES = 16 };

enum {
    OK = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6,
    INSUFFICIENT_SIZE = 7, RESET_REQUIRED = 16, IN_USE = 19, INSUFFICIENT_RESOURCES = 23
};

typedef struct {
    unsigned kind, id, slices, most, cores, media, size, starts, start[STARTS];
    unsigned long long memory_mib;
    char name[96];
} Profile;

/* A GPU instance with at most one compute instance. */
typedef struct {
    unsigned used, id, profile, start, compute;
    char uuid[96];
} Instance;

typedef struct {
    char uuid[96], name[96], pci[32];
    unsigned long long memory_mib;
    unsigned reset_to_enter, major, current, pending, profiles, next_id;
    Profile profile[PROFILES];
    Instance instance[INSTANCES];
} Card;

typedef struct {
    unsigned ready, cards, made;
    Card card[CARDS];
} World;

/* The world of this process; NULL until it is entered. */
extern World *world;

/* Map the state file, made from the card file when it is new. 0 when that fails. */
int world_enter(void);

/* What the script says a function answers; 0 is nothing. Also carries out a scripted reset. */
int world_said(const char *function);

#endif
