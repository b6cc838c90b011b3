/* The world of the stand-in library: cards, profiles and instances, shared through one file. */
#ifndef WORLD_H
#define WORLD_H

enum { CARDS = 16, PROFILES = 18, STARTS = 16, INSTANCES = 16, LINES = 128, NOBODY = -1 };

enum {
    OK = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6,
    INSUFFICIENT_SIZE = 7, TIMEOUT = 10, RESET_REQUIRED = 16, IN_USE = 19,
    INSUFFICIENT_RESOURCES = 23
};

typedef struct {
    unsigned kind, id, slices, most, cores, media, encoders, decoders, size, starts, start[STARTS];
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
    unsigned ready, cards, made, xids_told;
    long long script_at;
    int used[LINES];
    Card card[CARDS];
} World;

/* One line of the script: a word, a name, and up to five numbers. */
typedef struct { char word[16], name[96]; int numbers; long long number[5]; } Line;

/* The world of this process; NULL until it is entered. */
extern World *world;

/* Map the state file, made from the card file when it is new. 0 when that fails. */
int world_enter(void);

/* What the script says this call on this card answers; 0 is nothing. It may wait or hang first. */
int world_said(const char *function, int card);

/* The lines of the script as it stands now. */
int world_script(const Line **lines);

/* `set NAME CARD NUMBER`: 1 and the number when the script says it. */
int world_number(const char *name, int card, long long *number);

/* Count one step of this process that changes a card; the environment may end it here. */
void world_step(void);

#endif
