// SPDX-License-Identifier: Apache-2.0
#include "gitops/submodule/ignore.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "util/fs.h"
#include "util/str.h"

#define FILE_MAX_BYTES (256u << 10)
#define RULES_MAX      1000
#define PART_MAX_BYTES 200
#define STARS_MAX      3 /* fnmatch(3) is slow with more */
#define NAME_MAX_BYTES 255

void al_ignore_rules_clear(struct al_ignore_rules *rules)
{
    for (size_t i = 0; i < rules->count; i++) {
        free(rules->items[i].dir);
        free(rules->items[i].part);
    }
    free(rules->items);
    *rules = AL_IGNORE_RULES_INIT;
}

/* Takes ownership of `part`. */
static void add(struct al_ignore_rules *rules, const char *dir, char *part)
{
    rules->items = al_reallocarray(rules->items, rules->count + 1, sizeof(*rules->items));
    rules->items[rules->count++] = (struct al_ignore_rule){ al_strdup(dir), part };
}

static size_t count_stars(const char *part)
{
    size_t stars = 0;

    for (; *part; part++)
        stars += *part == '*';
    return stars;
}

/* Add the rule of one line.  A negated rule ignores nothing. */
static void add_line(struct al_ignore_rules *rules, const char *dir, char *line)
{
    size_t len = strlen(line);
    const char *part;

    if (*line == '#' || *line == '!')
        return;
    while (len && strchr(" \t\r", line[len - 1]))
        line[--len] = '\0';
    while (len && line[len - 1] == '/')
        line[--len] = '\0';
    if (!len)
        return;
    if (rules->count >= RULES_MAX) { /* later files are not read: anything may be ignored */
        add(rules, "", NULL);
        return;
    }
    part = strrchr(line, '/');
    part = part ? part + 1 : line;
    /* Escapes and brackets are not parsed: such a rule may match anything. */
    if (strpbrk(line, "\\[") || strlen(part) > PART_MAX_BYTES || count_stars(part) > STARS_MAX)
        add(rules, dir, NULL);
    else
        add(rules, dir, al_strdup(part));
}

void al_ignore_rules_read(struct al_ignore_rules *rules, int fd, const char *dir)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    char *save = NULL;

    if (fd == -ENOENT || fd == -ENOTDIR)
        return;
    if (fd < 0 || al_fs_read_fd(fd, FILE_MAX_BYTES, &text) < 0 || strlen(text.buf) != text.len) {
        add(rules, dir, NULL);
        return;
    }
    /* A byte order mark is skipped, as in git. */
    for (char *line =
             strtok_r(text.buf + (al_starts_with(text.buf, "\xef\xbb\xbf") ? 3 : 0), "\n", &save);
         line && rules->count <= RULES_MAX; line = strtok_r(NULL, "\n", &save))
        add_line(rules, dir, line);
}

static bool matches_a_part(const char *part, const char *path)
{
    char name[NAME_MAX_BYTES + 1];

    while (*path) {
        size_t len = strcspn(path, "/");

        if (len > NAME_MAX_BYTES)
            return true;
        memcpy(name, path, len);
        name[len] = '\0';
        if (fnmatch(part, name, FNM_CASEFOLD) == 0)
            return true;
        path += len + (path[len] == '/');
    }
    return false;
}

bool al_ignore_rules_may_match(const struct al_ignore_rules *rules, const char *path)
{
    for (size_t i = 0; i < rules->count; i++) {
        const struct al_ignore_rule *rule = &rules->items[i];

        if (al_starts_with(path, rule->dir) &&
            (!rule->part || matches_a_part(rule->part, path + strlen(rule->dir))))
            return true;
    }
    return false;
}
