// SPDX-License-Identifier: Apache-2.0
#include "staging/pull/choose.h"

#include <stdlib.h>

#include "guard/text.h"
#include "sandbox/match.h"
#include "util/sorted.h"

static bool has_parent(const char *path)
{
    while (*path) {
        size_t len = strcspn(path, "/");

        if (len == 2 && !strncmp(path, "..", 2))
            return true;
        path += len + (path[len] == '/');
    }
    return false;
}

/* Strip what only says where the path begins. */
static int strip(const char *given, struct al_pull_word *ret_word, struct al_error *err)
{
    static const char root[] = AL_SANDBOX_ROOT "/";
    al_auto(al_freep) char *safe = al_text_sanitize_line(given);
    const char *rest = given;

    ret_word->is_whole = al_starts_with(given, root) || !strcmp(given, AL_SANDBOX_ROOT);
    if (ret_word->is_whole)
        rest = strcmp(given, AL_SANDBOX_ROOT) ? given + strlen(root) : "";
    else if (!strcmp(given, ".") || !strcmp(given, "./"))
        rest = "";
    else if (al_starts_with(given, "./"))
        rest = given + 2;
    if (!*given)
        return al_error_set(err, AL_ERR_BAD_ARGS, "paths has an empty path; leave it out");
    if (*rest == '/' || has_parent(rest))
        return al_error_set(err, AL_ERR_SANDBOX,
                            "Path outside sandbox: %s (paths are relative to the top of the "
                            "repository)",
                            safe);
    ret_word->given = al_strdup(given);
    ret_word->path = al_strdup(rest);
    if (al_ends_with(rest, "/"))
        ret_word->path[strlen(rest) - 1] = '\0';
    return 0;
}

int al_pull_words_parse(const struct al_strv *given, struct al_pull_words *ret_words,
                        struct al_error *err)
{
    struct al_pull_words words = { .items = al_calloc(given->count + 1, sizeof(*words.items)) };
    int r = 0;

    while (words.count < given->count && r == 0) {
        r = strip(given->items[words.count], &words.items[words.count], err);
        words.count++;
    }
    if (r < 0)
        al_pull_words_clear(&words);
    else
        *ret_words = words;
    return r;
}

void al_pull_words_clear(struct al_pull_words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        free(words->items[i].given);
        free(words->items[i].path);
    }
    free(words->items);
    *words = (struct al_pull_words){ .items = NULL };
}

/* --- What they stand for --- */

static bool is_pattern(const struct al_pull_word *word)
{
    return strpbrk(word->path, "*?[") != NULL;
}

/* A pattern below the workspace has its '/' there, so it goes by the whole path. */
static bool matches(const struct al_pull_word *word, const char *path)
{
    al_auto(al_freep) char *below = NULL;
    al_auto(al_freep) char *whole = NULL;

    if (!word->is_whole)
        return al_sandbox_match(word->path, path);
    below = al_asprintf("workspace/%s", word->path);
    whole = al_asprintf("workspace/%s", path);
    return al_sandbox_match(below, whole);
}

/* Test whether a path is this file, or lies in this directory. */
static bool is_in(const char *path, const char *dir)
{
    size_t len = strlen(dir);

    return !*dir || (!strncmp(path, dir, len) && (path[len] == '/' || !path[len]));
}

bool al_pull_words_may_mean(const struct al_pull_words *words, const char *path)
{
    for (size_t i = 0; i < words->count; i++) {
        const struct al_pull_word *word = &words->items[i];

        if (is_in(path, word->path) || (is_pattern(word) && matches(word, path)))
            return true;
    }
    return false;
}

static size_t lower_bound(const struct al_pull_plan *plan, const char *path)
{
    return al_sorted_lower_bound(plan->items, plan->count, sizeof(*plan->items), path);
}

static bool choose_file(struct al_pull_plan *plan, const char *path)
{
    size_t at = lower_bound(plan, path);
    bool found = at < plan->count && !strcmp(plan->items[at].path, path);

    if (found)
        plan->items[at].chosen = true;
    return found;
}

static bool choose_below(struct al_pull_plan *plan, const char *dir)
{
    al_auto(al_freep) char *prefix = *dir ? al_asprintf("%s/", dir) : al_strdup("");
    size_t first = lower_bound(plan, prefix), at = first;

    for (; at < plan->count && al_starts_with(plan->items[at].path, prefix); at++)
        plan->items[at].chosen = true;
    return at > first;
}

static bool choose_matching(struct al_pull_plan *plan, const struct al_pull_word *word)
{
    bool found = false;

    for (size_t i = 0; i < plan->count; i++)
        if (matches(word, plan->items[i].path))
            plan->items[i].chosen = found = true;
    return found;
}

static int choose(struct al_pull_plan *plan, const struct al_pull_word *word, const char *where,
                  struct al_error *err)
{
    al_auto(al_freep) char *safe = NULL;

    if ((!al_ends_with(word->given, "/") && choose_file(plan, word->path)) ||
        choose_below(plan, word->path) || !*word->path)
        return 0;
    if (is_pattern(word) && choose_matching(plan, word))
        return 0;
    safe = al_text_sanitize_line(word->given);
    (void)al_error_set(err, AL_ERR_EXECUTION, "there is no '%s' in %s%s", safe, where,
                       al_sandbox_pattern_hint(word->path));
    if (err)
        err->reason = "not_found";
    return AL_ERR_EXECUTION;
}

int al_pull_choose(struct al_pull_plan *plan, const struct al_pull_words *words, const char *where,
                   struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < words->count && r == 0; i++)
        r = choose(plan, &words->items[i], where, err);
    return r;
}
