// SPDX-License-Identifier: Apache-2.0
#include "staging/store.h"

#include <errno.h>

#include "base/fs.h"
#include "git/plumbing/bare.h"
#include "guard/text.h"
#include "staging/sandbox/sandbox.h"

#define LIST_MAX_BYTES (64u << 20)

/* A pull writes markers into files of at most three times what it merges. */
#define LOOK_MAX_BYTES ((size_t)64 << 20)

/* A line that begins so.  What stands between the two may be text of the file. */
#define BEGIN     "\n<<<<<<< " AL_MERGE_LABEL_OURS
#define END       "\n>>>>>>> " AL_MERGE_LABEL_THEIRS
#define SEPARATOR "\n=======" /* and nothing else */

/* What is left of the markers. */
enum left { NOTHING, MARKERS, ONE_SEPARATOR };

/* --- The list --- */

static char *name_of(const struct al_staging *staging)
{
    return al_asprintf("%s.markers", staging->key);
}

static int load(const struct al_staging *staging, struct al_strv *ret_paths, struct al_error *err)
{
    al_auto(al_freep) char *name = name_of(staging);
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;
    int r = al_fs_read(staging->sandboxes_fd, name, LIST_MAX_BYTES, &list);

    if (r < 0 && r != -ENOENT)
        return al_staging_unusable(staging, -r, err);
    for (size_t at = 0; at < list.len; at += strlen(list.buf + at) + 1)
        al_strv_add(ret_paths, list.buf + at);
    return 0;
}

static int save(const struct al_staging *staging, const struct al_strv *paths, struct al_error *err)
{
    al_auto(al_freep) char *name = name_of(staging);
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;
    int r;

    for (size_t i = 0; i < paths->count; i++)
        al_str_add(&list, paths->items[i], strlen(paths->items[i]) + 1);
    if (!list.len)
        return al_staging_remove_json(staging, staging->sandboxes_fd, name, err);
    r = al_fs_write_durable(staging->sandboxes_fd, name, list.buf, list.len, 0600);
    return r < 0 ? al_staging_unusable(staging, -r, err) : 0;
}

static const char *path_of(const char *entry)
{
    return entry + (*entry == '/');
}

/* What the list says of a path; NULL: nothing. */
static const char *find_entry(const struct al_strv *known, const char *path)
{
    for (size_t i = 0; i < known->count; i++)
        if (!strcmp(path_of(known->items[i]), path))
            return known->items[i];
    return NULL;
}

/* Take paths out of the list and put entries into it. */
static int change(struct al_staging *staging, struct al_strv *paths, const struct al_strv *added,
                  struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv known = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv left = AL_STRV_INIT;
    int r = load(staging, &known, err);

    if (r < 0)
        return r;
    al_strv_sort(paths);
    for (size_t i = 0; i < known.count; i++)
        if (!al_strv_contains_sorted(paths, path_of(known.items[i])))
            al_strv_add(&left, known.items[i]);
    if (left.count == known.count && !added->count)
        return 0;
    for (size_t i = 0; i < added->count; i++)
        al_strv_add(&left, added->items[i]);
    return save(staging, &left, err);
}

int al_markers_remember(struct al_staging *staging, const struct al_strv *entries,
                        struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;

    for (size_t i = 0; i < entries->count; i++)
        al_strv_add(&paths, path_of(entries->items[i]));
    return change(staging, &paths, entries, err);
}

void al_markers_forget(struct al_staging *staging, const struct al_changes *changes)
{
    al_auto(al_strv_clear) struct al_strv staged = AL_STRV_INIT;
    const struct al_strv none = AL_STRV_INIT;

    for (size_t i = 0; i < changes->count; i++)
        al_strv_add(&staged, changes->items[i].path);
    (void)change(staging, &staged, &none, NULL);
}

/* --- The files --- */

static size_t count(const struct al_str *text, const char *marker, bool is_whole_line)
{
    const char *at = text->buf, *end = text->buf + text->len;
    const size_t len = strlen(marker);
    size_t found = 0;

    while ((at = memmem(at, (size_t)(end - at), marker, len))) {
        at += len;
        found += !is_whole_line || (at < end && *at == '\n') ||
                 (at + 1 < end && at[0] == '\r' && at[1] == '\n');
    }
    return found;
}

/* Every line begins and ends with a newline. */
static void frame(const struct al_str *text, struct al_str *ret_lines)
{
    al_str_addc(ret_lines, '\n');
    al_str_add(ret_lines, text->buf, text->len);
    al_str_addc(ret_lines, '\n');
}

bool al_markers_have_all_separators(const struct al_str *text)
{
    al_auto(al_str_clear) struct al_str lines = AL_STR_INIT;

    frame(text, &lines);
    return count(&lines, SEPARATOR, true) == count(&lines, BEGIN, false);
}

static enum left find_left(const struct al_str *text, bool has_all_separators)
{
    if (count(text, BEGIN, false) || count(text, END, false))
        return MARKERS;
    return has_all_separators && count(text, SEPARATOR, true) ? ONE_SEPARATOR : NOTHING;
}

static int look(struct al_sandbox *sandbox, const char *path, bool has_all_separators,
                enum left *ret_left, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str content = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r = al_sandbox_read(sandbox, path, 0, LOOK_MAX_BYTES, &content, NULL, err);

    if (r < 0)
        return r;
    frame(&content, &text);
    *ret_left = find_left(&text, has_all_separators);
    return 0;
}

static int refuse(const char *path, enum left left, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(path);
    int r = al_error_set(err, AL_ERR_EXECUTION,
                         "'" AL_SANDBOX_ROOT "/%s' still has %s; %s with write_file, then call "
                         "git_stage again",
                         safe,
                         left == ONE_SEPARATOR
                             ? "a line ======= of the conflict markers that git_pull wrote"
                             : "the conflict markers that git_pull wrote",
                         left == ONE_SEPARATOR ? "remove it" : "resolve each conflict");

    if (err)
        err->reason = "conflict";
    return r;
}

/* What is left in the file of a change. */
static int find_in(const struct al_staging *staging, const struct al_strv *known,
                   const struct al_staged_file *change, enum left *ret_left, struct al_error *err)
{
    const char *entry;

    *ret_left = NOTHING;
    if (!change->mode || change->mode == AL_SANDBOX_MODE_LINK || !known->count)
        return 0;
    entry = find_entry(known, change->path);
    return entry ? look(staging->options.sandbox, change->path, *entry == '/', ret_left, err) : 0;
}

/* Append the paths of those changes whose files have something left.  `ret_first`: of the first of
 * them. */
static int find(struct al_staging *staging, const struct al_changes *changes,
                struct al_strv *ret_paths, enum left *ret_first, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv known = AL_STRV_INIT;
    int r = load(staging, &known, err);

    for (size_t i = 0; i < changes->count && r == 0; i++) {
        enum left left;

        r = find_in(staging, &known, &changes->items[i], &left, err);
        if (r < 0 || left == NOTHING)
            continue;
        if (!ret_paths->count)
            *ret_first = left;
        al_strv_add(ret_paths, changes->items[i].path);
    }
    return r;
}

int al_markers_find(struct al_staging *staging, const struct al_changes *changes,
                    struct al_strv *ret_paths, struct al_error *err)
{
    enum left first;

    return find(staging, changes, ret_paths, &first, err);
}

int al_markers_check(struct al_staging *staging, const struct al_changes *changes,
                     struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    enum left first = NOTHING;
    int r = find(staging, changes, &paths, &first, err);

    return r == 0 && paths.count ? refuse(paths.items[0], first, err) : r;
}
