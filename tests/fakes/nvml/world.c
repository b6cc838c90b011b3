/* Where the stand-in library keeps its state: a file, so that it outlives a killed process. */
#include "world.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

World *world = NULL;

static FILE *opened(const char *name)
{
    char path[4096];
    const char *folder = getenv("FAKE_NVML_WORLD");
    if (!folder) return NULL;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return fopen(path, "r");
}

static void read_profile(Card *card, const char *line)
{
    Profile *one = &card->profile[card->profiles];
    int at = 0;
    if (sscanf(line, "profile %u %u %u %u %llu %u %u %u %u %u %95s%n", &one->kind, &one->id,
               &one->slices, &one->most, &one->memory_mib, &one->cores, &one->media,
               &one->encoders, &one->decoders, &one->size, one->name, &at) != 11)
        return;
    for (const char *rest = line + at; one->starts < STARTS; one->starts++) {
        char *end;
        unsigned long start = strtoul(rest, &end, 10);
        if (end == rest) break;
        one->start[one->starts] = (unsigned)start;
        rest = end;
    }
    card->profiles++;
}

static int load(void)
{
    char line[512];
    FILE *file = opened("cards.txt");
    if (!file) return 0;
    while (fgets(line, sizeof line, file)) {
        Card *card = &world->card[world->cards];
        if (sscanf(line, "card %95s %31s %llu %u %u %95[^\n]", card->uuid, card->pci,
                   &card->memory_mib, &card->reset_to_enter, &card->major, card->name) == 6
            && world->cards < CARDS)
            world->cards++;
        else if (world->cards && world->card[world->cards - 1].profiles < PROFILES)
            read_profile(&world->card[world->cards - 1], line);
    }
    fclose(file);
    world->ready = 1;
    return 1;
}

int world_enter(void)
{
    char path[4096];
    const char *folder = getenv("FAKE_NVML_WORLD");
    if (world) return 1;
    if (!folder) return 0;
    snprintf(path, sizeof path, "%s/state", folder);
    int file = open(path, O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, sizeof(World)) != 0) return 0;
    void *at = mmap(NULL, sizeof(World), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (at == MAP_FAILED) return 0;
    world = at;
    return world->ready || load();
}

void world_step(void)
{
    static int steps;
    const char *last = getenv("FAKE_NVML_KILL_AT");
    if (last && ++steps == atoi(last)) kill(getpid(), SIGKILL);
}
