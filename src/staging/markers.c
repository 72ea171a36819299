// SPDX-License-Identifier: Apache-2.0
#include "staging/markers.h"

#include <errno.h>
#include <unistd.h>

#include "gitops/plumbing/merge_file.h"
#include "guard/text.h"
#include "sandbox/sandbox.h"
#include "staging/store.h"
#include "util/fs.h"

#define LIST_MAX_BYTES (64u << 20)

/* A file is read in pieces of this size. */
#define PIECE_BYTES ((size_t)1 << 20)

/* A line that begins so.  What stands between the two may be text of the file. */
#define BEGIN "\n<<<<<<< " AL_MERGE_LABEL_OURS
#define END   "\n>>>>>>> " AL_MERGE_LABEL_THEIRS

/* --- The list --- */

static char *name_of(const char *key)
{
    return al_asprintf("%s.markers", key);
}

static int load(const struct al_staging *staging, struct al_strv *ret_paths, struct al_error *err)
{
    al_auto(al_freep) char *name = name_of(staging->key);
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;
    int r = al_fs_read(staging->sandboxes_fd, name, LIST_MAX_BYTES, &list);

    if (r < 0 && r != -ENOENT)
        return al_staging_unusable(staging, -r, err);
    for (size_t at = 0; at < list.len; at += strlen(list.buf + at) + 1)
        al_strv_add(ret_paths, list.buf + at);
    al_strv_sort(ret_paths);
    return 0;
}

static int save(const struct al_staging *staging, const struct al_strv *paths, struct al_error *err)
{
    al_auto(al_freep) char *name = name_of(staging->key);
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;
    int r;

    for (size_t i = 0; i < paths->count; i++)
        al_str_add(&list, paths->items[i], strlen(paths->items[i]) + 1);
    if (!list.len)
        return al_staging_remove_json(staging, staging->sandboxes_fd, name, err);
    r = al_fs_write_durable(staging->sandboxes_fd, name, list.buf, list.len, 0600);
    return r < 0 ? al_staging_unusable(staging, -r, err) : 0;
}

int al_markers_remember(struct al_staging *staging, const struct al_strv *paths,
                        struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv known = AL_STRV_INIT;
    size_t before;
    int r = paths->count ? load(staging, &known, err) : 0;

    if (r < 0 || !paths->count)
        return r;
    before = known.count;
    for (size_t i = 0; i < paths->count; i++)
        if (!al_strv_contains(&known, paths->items[i]))
            al_strv_add(&known, paths->items[i]);
    return known.count > before ? save(staging, &known, err) : 0;
}

void al_markers_forget(struct al_staging *staging, const struct al_changes *changes)
{
    al_auto(al_strv_clear) struct al_strv known = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv staged = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv left = AL_STRV_INIT;

    if (load(staging, &known, NULL) < 0 || !known.count)
        return;
    for (size_t i = 0; i < changes->count; i++)
        al_strv_add(&staged, changes->items[i].path);
    al_strv_sort(&staged);
    for (size_t i = 0; i < known.count; i++)
        if (!al_strv_contains_sorted(&staged, known.items[i]))
            al_strv_add(&left, known.items[i]);
    if (left.count < known.count)
        (void)save(staging, &left, NULL);
}

void al_markers_drop(struct al_staging *staging, const char *key)
{
    al_auto(al_freep) char *name = name_of(key);

    (void)unlinkat(staging->sandboxes_fd, name, 0);
}

/* --- The files --- */

static bool contains(const struct al_str *text, const char *marker)
{
    return memmem(text->buf, text->len, marker, strlen(marker)) != NULL;
}

/* Keep what may be the beginning of a marker. */
static void keep_tail(struct al_str *text)
{
    const size_t most = sizeof(END) - 1;

    if (text->len <= most)
        return;
    memmove(text->buf, text->buf + text->len - most, most);
    al_str_truncate(text, most);
}

static int look(struct al_sandbox *sandbox, const char *path, bool *ret_found, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str piece = AL_STR_INIT;
    uint64_t offset = 0;
    bool found = false;

    al_str_addc(&text, '\n');
    do {
        int r = al_sandbox_read(sandbox, path, offset, PIECE_BYTES, &piece, NULL, err);

        if (r < 0)
            return r;
        al_str_add(&text, piece.buf, piece.len);
        found = contains(&text, BEGIN) || contains(&text, END);
        keep_tail(&text);
        offset += piece.len;
    } while (!found && piece.len == PIECE_BYTES);
    *ret_found = found;
    return 0;
}

static int refuse(const char *path, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(path);
    int r = al_error_set(err, AL_ERR_EXECUTION,
                         "'" AL_SANDBOX_ROOT "/%s' still has the conflict markers that git_pull "
                         "wrote; resolve each conflict with write_file, then call git_stage again",
                         safe);

    if (err)
        err->reason = "conflict";
    return r;
}

int al_markers_find(struct al_staging *staging, const struct al_changes *changes,
                    struct al_strv *ret_paths, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv known = AL_STRV_INIT;
    int r = load(staging, &known, err);

    for (size_t i = 0; i < changes->count && r == 0 && known.count; i++) {
        const struct al_change *change = &changes->items[i];
        bool found = false;

        if (!change->mode || change->mode == AL_SANDBOX_MODE_LINK ||
            !al_strv_contains_sorted(&known, change->path))
            continue;
        r = look(staging->options.sandbox, change->path, &found, err);
        if (r == 0 && found)
            al_strv_add(ret_paths, change->path);
    }
    return r;
}

int al_markers_check(struct al_staging *staging, const struct al_changes *changes,
                     struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    int r = al_markers_find(staging, changes, &paths, err);

    return r == 0 && paths.count ? refuse(paths.items[0], err) : r;
}
