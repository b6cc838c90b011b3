/* The script of a bad day: read again whenever it changes, obeyed at every call. */
#include "world.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;
static Line lines[LINES];
static int count;
static long long seen_at = -1;

/* Words that stand for a whole card have no name: `reset`, `proc`, `xid`, `ecc`, `garble`. */
static int nameless(const char *word)
{
    return !strcmp(word, "reset") || !strcmp(word, "proc") || !strcmp(word, "xid")
        || !strcmp(word, "garble") || !strcmp(word, "ecc");
}

static void read_line(char *text)
{
    Line *line = &lines[count];
    char *rest, *word = strtok_r(text, " \n", &rest);
    if (!word || count == LINES) return;
    memset(line, 0, sizeof *line);
    snprintf(line->word, sizeof line->word, "%s", word);
    if (!nameless(word)) {
        word = strtok_r(NULL, " \n", &rest);
        snprintf(line->name, sizeof line->name, "%s", word ? word : "");
    }
    while (line->numbers < 5 && (word = strtok_r(NULL, " \n", &rest)))
        line->number[line->numbers++] = strcmp(word, "*") ? atoll(word) : NOBODY;
    count++;
}

/* A boot, or a reset of every card: MIG mode lasts only where entering it takes one. */
static void reset(void)
{
    for (unsigned i = 0; i < world->cards; i++) {
        Card *card = &world->card[i];
        if (!card->reset_to_enter) card->pending = 0;
        card->current = card->pending;
        memset(card->instance, 0, sizeof card->instance);
    }
}

static long long changed_at(char *path, size_t room)
{
    struct stat found;
    const char *folder = getenv("FAKE_NVML_WORLD");
    snprintf(path, room, "%s/script.txt", folder ? folder : "");
    if (stat(path, &found)) return 0;
    return (long long)found.st_mtim.tv_sec * 1000000000 + found.st_mtim.tv_nsec;
}

int world_script(const Line **found)
{
    char path[4096], text[256];
    pthread_mutex_lock(&reading);
    long long at = changed_at(path, sizeof path);
    if (at != seen_at) {
        FILE *file = at ? fopen(path, "r") : NULL;
        count = 0;
        seen_at = at;
        while (file && fgets(text, sizeof text, file)) read_line(text);
        if (file) fclose(file);
        if (world && world->script_at != at) {
            world->script_at = at;
            world->xids_told = 0;
            memset(world->used, 0, sizeof world->used);
            for (int i = 0; i < count; i++)
                if (!strcmp(lines[i].word, "reset")) reset();
        }
    }
    pthread_mutex_unlock(&reading);
    *found = lines;
    return count;
}

/* Is the line about this function on this card? Its card stands at `place` among its numbers. */
static int meant(const Line *line, const char *word, const char *function, int card, int place)
{
    long long which = line->numbers > place ? line->number[place] : NOBODY;
    return !strcmp(line->word, word) && (which == NOBODY || which == card)
        && (!strcmp(line->name, function) || (!strcmp(line->name, "*") && card != NOBODY));
}

int world_said(const char *function, int card)
{
    const Line *script;
    int many, said = OK;
    if (!world) return UNINITIALIZED;
    many = world_script(&script);
    for (int i = 0; i < many; i++) {
        while (meant(&script[i], "hang", function, card, 0) && seen_at) {
            usleep(20000);
            const Line *now;
            if (world_script(&now) <= i || !meant(&now[i], "hang", function, card, 0)) break;
        }
        if (meant(&script[i], "delay", function, card, 1))
            usleep((useconds_t)script[i].number[0] * 1000);
        if (!meant(&script[i], "fail", function, card, 1)) continue;
        if (script[i].numbers > 2 && world->used[i] >= script[i].number[2]) continue;
        world->used[i]++;
        said = (int)script[i].number[0];
    }
    return said;
}

int world_number(const char *name, int card, long long *number)
{
    const Line *script;
    int many = world_script(&script);
    for (int i = many - 1; i >= 0; i--)
        if (!strcmp(script[i].word, "set") && !strcmp(script[i].name, name)
            && script[i].numbers > 1 && (script[i].number[0] == card || script[i].number[0] == NOBODY)) {
            *number = script[i].number[1];
            return 1;
        }
    return 0;
}
