// SPDX-License-Identifier: Apache-2.0
#include "staging/choose.h"

#include <stdlib.h>

#include "guard/text.h"
#include "sandbox/match.h"
#include "util/sorted.h"

/* --- Sorted lists --- */

/* A list of paths in the order of their bytes. */
struct paths {
    const void *items; /* each begins with its path */
    size_t count, item_bytes;
};

/* The index of the first path that is not before this one. */
static size_t lower_bound(const struct paths *paths, const char *path)
{
    return al_sorted_lower_bound(paths->items, paths->count, paths->item_bytes, path);
}

/* The range of a file, or of all that is below a directory. */
struct range {
    size_t begin, end;
};

static struct range find_file(const struct paths *paths, const char *path)
{
    const size_t at = al_sorted_find(paths->items, paths->count, paths->item_bytes, path);

    return at == SIZE_MAX ? (struct range){ 0, 0 } : (struct range){ at, at + 1 };
}

static struct range find_below(const struct paths *paths, const char *dir)
{
    al_auto(al_freep) char *first = al_asprintf("%s/", dir);
    al_auto(al_freep) char *behind = al_asprintf("%s0", dir); /* '0' follows '/' */

    if (!*dir)
        return (struct range){ 0, paths->count };
    return (struct range){ lower_bound(paths, first), lower_bound(paths, behind) };
}

static bool is_empty(struct range range)
{
    return range.begin >= range.end;
}

/* --- Choosing --- */

static struct paths changes_of(const struct al_choosing *choosing)
{
    const struct al_changes *changes = choosing->changes;

    return (struct paths){ changes->items, changes->count, sizeof(*changes->items) };
}

static struct paths files_of(const struct al_choosing *choosing)
{
    const struct al_sandbox_files *files = choosing->files;

    return (struct paths){ files->items, files->count, sizeof(*files->items) };
}

static bool choose_range(struct al_choosing *choosing, struct range range)
{
    for (size_t i = range.begin; i < range.end; i++)
        choosing->chosen[i] = true;
    return !is_empty(range);
}

static int matches(struct al_choosing *choosing, const char *pattern, const char *path,
                   bool *ret_matches, struct al_error *err)
{
    /* With a directory in front, a pattern without a '/' stands for files of the top alone. */
    al_auto(al_freep) char *whole = al_asprintf("workspace/%s", path);

    *ret_matches = al_sandbox_match(pattern, whole);
    return al_deadline_step(choosing->deadline, err);
}

/* Choose the changes that match, and tell whether any change and any file does. */
static int choose_matching(struct al_choosing *choosing, const char *path, bool *ret_changed,
                           bool *ret_exists, struct al_error *err)
{
    al_auto(al_freep) char *pattern = al_asprintf("workspace/%s", path);
    bool found;
    int r = 0;

    *ret_changed = *ret_exists = false;
    for (size_t i = 0; i < choosing->changes->count && r == 0; i++) {
        r = matches(choosing, pattern, choosing->changes->items[i].path, &found, err);
        choosing->chosen[i] |= found;
        *ret_changed |= found;
    }
    for (size_t i = 0; i < choosing->files->count && r == 0 && !*ret_exists; i++)
        r = matches(choosing, pattern, choosing->files->items[i].path, ret_exists, err);
    return r;
}

/* --- Errors --- */

static int nothing_there(const char *safe, bool is_pattern, struct al_error *err)
{
    const char *hint = al_sandbox_pattern_hint(safe);

    if (is_pattern)
        (void)al_error_set(err, AL_ERR_EXECUTION, "no file in the sandbox matches '%s'%s", safe,
                           hint);
    else
        (void)al_error_set(err, AL_ERR_EXECUTION, "there is no '%s' in the sandbox%s", safe, hint);
    if (err)
        err->reason = "not_found";
    return AL_ERR_EXECUTION;
}

static int unchanged(const char *before, const char *safe, const char *behind, struct al_error *err)
{
    return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_NO_STAGED_CHANGES,
                             "%s'%s' %s, so there is nothing to stage", before, safe, behind);
}

/* A word that no change is found for as a file or as a directory. */
static int choose_other(struct al_choosing *choosing, const char *path, const char *safe,
                        bool may_be_file, struct al_error *err)
{
    const struct paths files = files_of(choosing);
    bool is_pattern = strpbrk(path, "*?[") != NULL, changed = false, exists = false;
    int r = 0;

    if (may_be_file && !is_empty(find_file(&files, path)))
        return unchanged("", safe, "is unchanged", err);
    if (!*path || !is_empty(find_below(&files, path)))
        return unchanged("no file in ", safe, "has changed", err);
    if (is_pattern)
        r = choose_matching(choosing, path, &changed, &exists, err);
    if (r < 0 || changed)
        return r;
    return exists ? unchanged("no file that matches ", safe, "has changed", err)
                  : nothing_there(safe, is_pattern, err);
}

static int choose(struct al_choosing *choosing, const char *given, struct al_error *err)
{
    const struct paths changes = changes_of(choosing);
    bool may_be_file = !al_ends_with(given, "/");
    al_auto(al_freep) char *path = NULL;
    al_auto(al_freep) char *safe = NULL;
    int r = al_sandbox_path(given, &path, err);

    if (r < 0)
        return r;
    if (may_be_file && choose_range(choosing, find_file(&changes, path)))
        return 0;
    if (choose_range(choosing, find_below(&changes, path)))
        return 0;
    safe = al_text_sanitize_line(given);
    return choose_other(choosing, path, safe, may_be_file, err);
}

/* --- Files in the place of directories --- */

static void choose_deletions(struct al_choosing *choosing, struct range range)
{
    for (size_t i = range.begin; i < range.end; i++)
        if (choosing->changes->items[i].operation == AL_STAGED_DELETE)
            choosing->chosen[i] = true;
}

/* No tree has both a file and a directory of one name. */
static void choose_replaced(struct al_choosing *choosing, const char *path)
{
    const struct paths changes = changes_of(choosing);

    choose_deletions(choosing, find_below(&changes, path));
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        al_auto(al_freep) char *parent = al_strndup(path, (size_t)(slash - path));

        choose_deletions(choosing, find_file(&changes, parent));
    }
}

int al_changes_choose(struct al_choosing *choosing, const struct al_strv *words,
                      struct al_error *err)
{
    const struct al_changes *changes = choosing->changes;
    int r = 0;

    for (size_t i = 0; i < words->count && r == 0; i++)
        r = choose(choosing, words->items[i], err);
    for (size_t i = 0; i < changes->count && r == 0; i++)
        if (choosing->chosen[i] && changes->items[i].operation == AL_STAGED_CREATE)
            choose_replaced(choosing, changes->items[i].path);
    return r;
}
