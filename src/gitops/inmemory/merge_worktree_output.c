// SPDX-License-Identifier: Apache-2.0
#include "gitops/inmemory/merge_worktree_output.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define OURS         "HEAD"
#define SKIPPED_MAX  8  /* places in a path that look like an end of it */
#define NEWLINES_MAX 16 /* that the paths of a message may have */

/* What a message says of its paths. */
enum says {
    OF_UNMERGED = 1 << 0, /* it counts only with an unmerged path: git 2.34 also prints what it
                             finds while it merges merge bases, but names other sides there */
    MOVES = 1 << 1,       /* paths that end in "~<side>" are git's own */
    BOTH_TYPES = 1 << 2,  /* the path was moved to such paths, which are not named */
    LISTS = 1 << 3,       /* the last path is a list, separated by ", " */
};

/* '%p' is a path, '%x' some text, '%1' one side and '%2' the other one. */
static const struct form {
    const char *text, *type;
    unsigned says;
} forms[] = {
    { "CONFLICT (content): Merge conflict in %p", "CONFLICT (contents)", OF_UNMERGED },
    { "CONFLICT (add/add): Merge conflict in %p", "CONFLICT (contents)", OF_UNMERGED },
    { "CONFLICT (submodule): Merge conflict in %p", "CONFLICT (contents)", OF_UNMERGED },
    { "warning: Cannot merge binary files: %p (%1%x vs. %2%x)", "CONFLICT (binary)", 0 },
    { "CONFLICT (modify/delete): %p deleted in %1 and modified in %2.  Version %2 of %x left in "
      "tree.",
      "CONFLICT (modify/delete)", 0 },
    { "CONFLICT (rename/rename): %p renamed to %p in %1 and to %p in %2.",
      "CONFLICT (rename/rename)", 0 },
    { "CONFLICT (rename/delete): %p renamed to %p in %1, but deleted in %2.",
      "CONFLICT (rename/delete)", 0 },
    { "CONFLICT (rename involved in collision): rename of %p -> %p has content conflicts AND "
      "collides with another path; this may result in nested conflict markers.",
      "CONFLICT (rename involved in collision)", OF_UNMERGED },
    { "CONFLICT (file location): %p added in %1 inside a directory that was renamed in %2, "
      "suggesting it should perhaps be moved to %p.",
      "CONFLICT (directory rename suggested)", 0 },
    { "CONFLICT (file location): %x renamed to %p in %1, inside a directory that was renamed in "
      "%2, suggesting it should perhaps be moved to %p.",
      "CONFLICT (directory rename suggested)", 0 },
    { "CONFLICT (file/directory): directory in the way of %p from %1; moving it to %p instead.",
      "CONFLICT (file/directory)", MOVES },
    { "CONFLICT (distinct types): %p had different types on each side; renamed both of them so "
      "each can be recorded somewhere.",
      "CONFLICT (distinct modes)", MOVES | BOTH_TYPES },
    { "CONFLICT (distinct types): %p had different types on each side; renamed one of them so "
      "each can be recorded somewhere.",
      "CONFLICT (distinct modes)", MOVES | BOTH_TYPES },
    { "CONFLICT (implicit dir rename): Existing file/dir at %p in the way of implicit directory "
      "rename(s) putting the following path(s) there: %p.",
      "CONFLICT (file in way of directory rename)", LISTS },
    { "CONFLICT (implicit dir rename): Cannot map more than one path to %p; implicit directory "
      "renames tried to put these paths there: %p",
      "CONFLICT(directory rename collision)", LISTS },
    { "CONFLICT (directory rename split): Unclear where to rename %p to; it was renamed to "
      "multiple other directories, with no destination getting a majority of the files.",
      "CONFLICT(directory rename unclear split)", 0 },
    { "Failed to merge submodule %p (not checked out)", "CONFLICT (submodule not initialized)",
      OF_UNMERGED },
};

/* While messages are read. */
struct reading {
    const struct al_worktree_merge *merge;
    struct al_strv unmerged; /* sorted, each once */
    struct al_strv moved;    /* git's own name, that of merge-tree, ... */
    struct al_str notes;     /* "<number>" NUL <path> NUL ... <type> NUL <message> NUL */
};

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_unmerged(const struct reading *reading, const char *path)
{
    return reading->unmerged.count &&
           bsearch(&path, reading->unmerged.items, reading->unmerged.count, sizeof(path), by_text);
}

/* The path of a record of ls-files: "<mode> SP <oid> SP <stage> TAB <path>". */
static const char *path_of(const char *record)
{
    const char *tab = strchr(record, '\t');

    return tab ? tab + 1 : record;
}

static void take_unmerged(struct reading *reading)
{
    const char *at = reading->merge->unmerged, *end = at + reading->merge->unmerged_len;

    for (; at < end; at += strlen(at) + 1) {
        const char *path = path_of(at);
        const size_t count = reading->unmerged.count;

        if (!count || strcmp(reading->unmerged.items[count - 1], path) != 0)
            al_strv_add(&reading->unmerged, path);
    }
}

/* The text up to the next '%p' or '%x', with the sides put in. */
static const char *literal(const char *form, const char *const sides[2], struct al_str *out)
{
    while (*form && strncmp(form, "%p", 2) != 0 && strncmp(form, "%x", 2) != 0) {
        if (*form == '%') {
            al_str_adds(out, sides[form[1] == '2']);
            form += 2;
        } else {
            al_str_addc(out, *form++);
        }
    }
    return form;
}

/* The place of `next` in [at, end), after `skipped` other ones; NULL: there is none. */
static const char *find(const char *at, const char *end, const struct al_str *next,
                        unsigned skipped)
{
    const char *found = next->len ? memmem(at, (size_t)(end - at), next->buf, next->len) : at;

    for (; found && next->len && skipped; skipped--)
        found = memmem(found + 1, (size_t)(end - found - 1), next->buf, next->len);
    return found;
}

static bool ends_with(const char *at, const char *end, const struct al_str *last)
{
    return (size_t)(end - at) >= last->len &&
           (!last->len || !memcmp(end - last->len, last->buf, last->len));
}

/* Find the paths in a text of this form.  Each reaches to the first place where the form goes on,
 * but for the first one, which reaches over as many such places as are to be skipped. */
static bool match(const char *form, const char *at, const char *end, const char *const sides[2],
                  unsigned skipped, struct al_strv *ret_paths)
{
    at += strcspn(form, "%");
    form += strcspn(form, "%");
    while (*form) {
        al_auto(al_str_clear) struct al_str next = AL_STR_INIT;
        const bool is_path = form[1] == 'p';
        const char *found;

        form = literal(form + 2, sides, &next);
        if (*form)
            found = find(at, end, &next, skipped);
        else
            found = ends_with(at, end, &next) ? end - next.len : NULL;
        if (!found)
            return false;
        if (is_path)
            al_strv_take(ret_paths, al_strndup(at, (size_t)(found - at)));
        at = found + next.len;
        skipped = 0;
    }
    return at == end;
}

/* The name that merge-tree gives to a path that git moved out of the way: "<path>~HEAD", or
 * "<path>~HEAD_<n>" if there is such a file, is "<path>~<our side's id>". */
static void note_moved(struct reading *reading, const char *path)
{
    const char *tilde = strrchr(path, '~');

    if (!tilde || !al_starts_with(tilde + 1, OURS))
        return;
    al_strv_add(&reading->moved, path);
    al_strv_addf(&reading->moved, "%.*s~%s", (int)(tilde - path), path, reading->merge->ours);
}

static const char *name_of(const struct reading *reading, const char *path)
{
    for (size_t i = 0; i < reading->moved.count && strstr(path, "~" OURS); i += 2)
        if (!strcmp(reading->moved.items[i], path))
            return reading->moved.items[i + 1];
    return path;
}

/* git does not name the paths to which it moved what has other types: "<path>~<side>", or with "_0"
 * if there is such a file. */
static void add_both_types(const struct reading *reading, struct al_strv *paths)
{
    const char *const sides[] = { OURS "_0", OURS, reading->merge->theirs };
    al_auto(al_freep) char *path = al_strdup(paths->items[0]);

    for (size_t i = 0; i < AL_COUNT(sides); i++) {
        char *moved = al_asprintf("%s~%s", path, sides[i]);
        const bool is_there = is_unmerged(reading, moved);

        if (is_there)
            al_strv_take(paths, moved);
        else
            free(moved);
        i += is_there && i == 0;
    }
}

static void split_last(struct al_strv *paths)
{
    char **last = &paths->items[paths->count - 1];
    al_auto(al_freep) char *list = al_take(last);

    paths->count--;
    for (char *at = list, *comma; at; at = comma ? comma + 2 : NULL) {
        comma = strstr(at, ", ");
        if (comma)
            *comma = '\0';
        al_strv_add(paths, at);
    }
}

static size_t count_unmerged(const struct reading *reading, const struct al_strv *paths)
{
    size_t count = 0;

    for (size_t i = 0; i < paths->count; i++)
        count += is_unmerged(reading, paths->items[i]);
    return count;
}

/* A path may contain words of the form: the reading in which most paths are unmerged is right. */
static bool find_paths(const struct reading *reading, const struct form *form, const char *at,
                       const char *end, struct al_strv *ret_paths)
{
    const char *const sides[] = { OURS, reading->merge->theirs, OURS };
    size_t best = 0;

    for (unsigned i = 0; i < 2 * SKIPPED_MAX; i++) {
        struct al_strv paths = AL_STRV_INIT;
        const bool matches = match(form->text, at, end, sides + i % 2, i / 2, &paths);
        size_t count;

        if (matches && form->says & LISTS)
            split_last(&paths);
        if (matches && form->says & BOTH_TYPES)
            add_both_types(reading, &paths);
        count = matches ? 1 + count_unmerged(reading, &paths) : 0;
        if (count > best) {
            al_strv_clear(ret_paths);
            *ret_paths = paths;
            best = count;
        } else {
            al_strv_clear(&paths);
        }
    }
    return best > (form->says & OF_UNMERGED ? 1 : 0);
}

static bool take_form(struct reading *reading, const struct form *form, const char *at,
                      const char *end)
{
    const size_t fixed = strcspn(form->text, "%");
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;

    if ((size_t)(end - at) < fixed || strncmp(form->text, at, fixed) != 0 ||
        !find_paths(reading, form, at, end, &paths))
        return false;
    al_str_addf(&reading->notes, "%zu", paths.count);
    al_str_addc(&reading->notes, '\0');
    for (size_t i = 0; i < paths.count; i++) {
        if (i && form->says & MOVES)
            note_moved(reading, paths.items[i]);
        al_str_adds(&reading->notes, name_of(reading, paths.items[i]));
        al_str_addc(&reading->notes, '\0');
    }
    al_str_adds(&reading->notes, form->type);
    al_str_add(&reading->notes, "\0", 2); /* and no message */
    return true;
}

/* Take the message that begins here.  Its end; NULL: there is none.  A path may have newlines. */
static const char *take_message(struct reading *reading, const char *at, const char *end)
{
    const char *stop = at;

    for (int newlines = 0; newlines < NEWLINES_MAX && stop < end; newlines++, stop++) {
        const char *newline = memchr(stop, '\n', (size_t)(end - stop));

        stop = newline ? newline : end;
        for (size_t i = 0; i < AL_COUNT(forms); i++)
            if (take_form(reading, &forms[i], at, stop))
                return stop;
    }
    return NULL;
}

static bool may_begin(const char *at, const char *end)
{
    static const char *const words[] = { "CONFLICT (", "warning: Cannot merge binary files: ",
                                         "Failed to merge submodule " };

    for (size_t i = 0; i < AL_COUNT(words); i++)
        if ((size_t)(end - at) > strlen(words[i]) && !strncmp(at, words[i], strlen(words[i])))
            return true;
    return false;
}

static void take_messages(struct reading *reading)
{
    const char *at = reading->merge->said->buf, *end = at + reading->merge->said->len;

    while (at < end) {
        const char *stop = may_begin(at, end) ? take_message(reading, at, end) : NULL;

        if (!stop)
            stop = memchr(at, '\n', (size_t)(end - at));
        at = stop && stop < end ? stop + 1 : end;
    }
}

static void add_entries(const struct reading *reading, struct al_str *out)
{
    const char *at = reading->merge->unmerged, *end = at + reading->merge->unmerged_len;

    for (; at < end; at += strlen(at) + 1) {
        const char *path = path_of(at);

        al_str_add(out, at, (size_t)(path - at));
        al_str_adds(out, name_of(reading, path));
        al_str_addc(out, '\0');
    }
    al_str_addc(out, '\0');
}

void al_worktree_merge_output(const struct al_worktree_merge *merge, struct al_str *out)
{
    struct reading reading = {
        .merge = merge, .unmerged = AL_STRV_INIT, .moved = AL_STRV_INIT, .notes = AL_STR_INIT
    };

    take_unmerged(&reading);
    take_messages(&reading);
    al_str_adds(out, merge->tree);
    al_str_addc(out, '\0');
    add_entries(&reading, out);
    al_str_add(out, "0\0\0", 3); /* one message without a path and without a type */
    al_str_adds(out, merge->said->len ? merge->said->buf : "");
    al_str_addc(out, '\0');
    if (reading.notes.len)
        al_str_add(out, reading.notes.buf, reading.notes.len);
    al_strv_clear(&reading.unmerged);
    al_strv_clear(&reading.moved);
    al_str_clear(&reading.notes);
}
