// SPDX-License-Identifier: Apache-2.0
/* Choosing the files to pull by the words of an agent. */
#include <stdlib.h>

#include "guard/text.h"
#include "sandbox/match.h"
#include "staging/pull/plan.h"
#include "util/sorted.h"

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

/* A pattern below the workspace has its '/' there, so it goes by the whole path. */
static bool choose_matching(struct al_pull_plan *plan, const char *pattern, bool is_whole)
{
    al_auto(al_freep) char *below = al_asprintf("workspace/%s", pattern);
    bool found = false;

    for (size_t i = 0; i < plan->count; i++) {
        al_auto(al_freep) char *path =
            is_whole ? al_asprintf("workspace/%s", plan->items[i].path) : NULL;

        if (is_whole ? !al_sandbox_match(below, path)
                     : !al_sandbox_match(pattern, plan->items[i].path))
            continue;
        plan->items[i].chosen = found = true;
    }
    return found;
}

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
static int strip(const char *given, const char *safe, char **ret_path, bool *ret_is_whole,
                 struct al_error *err)
{
    static const char root[] = AL_SANDBOX_ROOT "/";
    const char *rest = given;
    al_auto(al_freep) char *path = NULL;

    *ret_is_whole = al_starts_with(given, root) || !strcmp(given, AL_SANDBOX_ROOT);
    if (*ret_is_whole)
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
    path = al_strdup(rest);
    if (al_ends_with(path, "/"))
        path[strlen(path) - 1] = '\0';
    *ret_path = al_take(&path);
    return 0;
}

static int choose(struct al_pull_plan *plan, const char *given, const char *where,
                  struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(given);
    al_auto(al_freep) char *path = NULL;
    bool is_whole = false;
    int r = strip(given, safe, &path, &is_whole, err);

    if (r < 0)
        return r;
    if ((!al_ends_with(given, "/") && choose_file(plan, path)) || choose_below(plan, path) ||
        !*path)
        return 0;
    if (strpbrk(path, "*?[") && choose_matching(plan, path, is_whole))
        return 0;
    (void)al_error_set(err, AL_ERR_EXECUTION, "there is no '%s' in %s%s", safe, where,
                       al_sandbox_pattern_hint(path));
    if (err)
        err->reason = "not_found";
    return AL_ERR_EXECUTION;
}

int al_pull_choose(struct al_pull_plan *plan, const struct al_strv *words, const char *where,
                   struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < words->count && r == 0; i++)
        r = choose(plan, words->items[i], where, err);
    return r;
}
