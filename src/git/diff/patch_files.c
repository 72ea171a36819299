// SPDX-License-Identifier: Apache-2.0
/*
 * Write one patch file per changed path, from one `git diff`.
 *
 * Every patch is first written under a temporary name, and renamed only after git has succeeded.
 * If a file already has the final name, the two are exchanged: the old file then has the
 * temporary name until all patches are in place.  It gets its name back when a later patch cannot
 * be placed, or when it turns out not to be the file that was checked.
 */
#include "git/diff/patch_files.h"

#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/utf8.h"
#include "git/command.h"
#include "git/diff/diff.h"
#include "git/failure.h"
#include "git/run.h"
#include "guard/text.h"

/* The file that already had the name of a patch. */
struct old_file {
    bool exists;
    bool is_stuck; /* still has the temporary name, because restoring it failed */
    struct al_file_id id;
};

struct patch_writer {
    int dir_fd;
    unsigned serial;      /* tells the writers of this process apart */
    size_t begun;         /* patches whose temporary file was created */
    int fd;               /* the current patch file; -1 before the first */
    int error;            /* first errno; 0: none */
    struct old_file *old; /* one for each patch; NULL until all patches are complete */
};

static struct patch_writer patch_writer_init(int dir_fd)
{
    static _Atomic unsigned serial;

    return (struct patch_writer){ .dir_fd = dir_fd, .serial = serial++, .fd = -1 };
}

/* The name is unique: another call may write into the same directory at the same time. */
static char *temporary(const struct patch_writer *w, size_t number)
{
    return al_asprintf(".airlock-%ld-%u-%zu.patch", (long)getpid(), w->serial, number);
}

static bool begin_patch(void *payload, size_t number)
{
    struct patch_writer *w = payload;
    al_auto(al_freep) char *name = temporary(w, number);

    al_closep(&w->fd);
    w->fd = openat(w->dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640);
    if (w->fd < 0) {
        w->error = errno;
        return false;
    }
    w->begun++; /* remove_temporaries() removes it from here on */
    return true;
}

static bool write_piece(void *payload, const char *data, size_t len)
{
    struct patch_writer *w = payload;
    int r = al_write_all(w->fd, data, len);

    if (r < 0)
        w->error = -r;
    return r == 0;
}

static void remove_temporaries(const struct patch_writer *w)
{
    for (size_t i = 0; i < w->begun; i++) {
        al_auto(al_freep) char *name = temporary(w, i);

        if (!w->old || !w->old[i].is_stuck)
            (void)unlinkat(w->dir_fd, name, 0);
    }
}

static int refuse(const char *name, const char *why, struct al_error *err)
{
    al_auto(al_freep) char *word = al_text_sanitize_line(name);

    return al_error_set(err, AL_ERR_EXECUTION, "output_dir: '%s' %s", word, why);
}

/* The identity of a file without its ctime, which a rename changes. */
static struct al_file_id id_from(const struct stat *st)
{
    struct al_file_id id = al_file_id_from(st);

    id.ctime_ns = 0;
    return id;
}

/* Record the files that have the names of patches, and ask whether they may be replaced. */
static int check_existing(struct patch_writer *w, const struct al_strv *names,
                          const struct al_replacing *replacing, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv found = AL_STRV_INIT;
    struct stat st;

    w->old = al_calloc(w->begun + 1, sizeof(*w->old));
    for (size_t i = 0; i < w->begun; i++) {
        const char *name = names->items[i];

        if (fstatat(w->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
            if (errno != ENOENT)
                return al_error_errno(err, errno, "cannot write patches");
            continue;
        }
        if (!S_ISREG(st.st_mode))
            return refuse(name, "exists and is no file; remove it or choose another directory",
                          err);
        w->old[i] = (struct old_file){ .exists = true, .id = id_from(&st) };
        al_strv_add(&found, name);
    }
    if (!found.count)
        return 0;
    if (!replacing)
        return refuse(found.items[0], "exists already; remove it or choose another directory", err);
    return replacing->check(replacing->payload, &found, err);
}

static int exchange(const struct patch_writer *w, const char *a, const char *b)
{
    return renameat2(w->dir_fd, a, w->dir_fd, b, RENAME_EXCHANGE) < 0 ? -errno : 0;
}

/* Give an old file its name back, whatever file has that name now. */
static void restore_old(const struct patch_writer *w, const char *name, size_t i)
{
    al_auto(al_freep) char *temp_name = temporary(w, i);

    if (exchange(w, temp_name, name) < 0 &&
        renameat2(w->dir_fd, temp_name, w->dir_fd, name, RENAME_NOREPLACE) < 0)
        w->old[i].is_stuck = true;
}

/* Returns -ESTALE when the existing file is not the one that was checked. */
static int publish_one(const struct patch_writer *w, const char *name, size_t i)
{
    al_auto(al_freep) char *temp_name = temporary(w, i);
    struct al_file_id now = { .exists = false };
    struct stat st;
    int r;

    if (!w->old[i].exists) {
        r = renameat2(w->dir_fd, temp_name, w->dir_fd, name, RENAME_NOREPLACE) < 0 ? -errno : 0;
        return r == -EEXIST ? -ESTALE : r;
    }
    r = exchange(w, temp_name, name);
    if (r < 0)
        return r == -ENOENT ? -ESTALE : r;
    if (fstatat(w->dir_fd, temp_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        now = id_from(&st);
    if (al_file_id_equal(&now, &w->old[i].id))
        return 0;
    restore_old(w, name, i);
    return -ESTALE;
}

static void unpublish(const struct patch_writer *w, const struct al_strv *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (w->old[i].exists)
            restore_old(w, names->items[i], i);
        else
            (void)unlinkat(w->dir_fd, names->items[i], 0);
    }
}

/* Move all patches into place, or none. */
static int publish(struct patch_writer *w, const struct al_strv *names,
                   const struct al_replacing *replacing, struct al_error *err)
{
    int r = check_existing(w, names, replacing, err);

    for (size_t i = 0; r == 0 && i < w->begun; i++) {
        int why = publish_one(w, names->items[i], i);

        if (why == 0)
            continue;
        unpublish(w, names, i);
        r = why == -ESTALE
                ? refuse(names->items[i], "changed while the patches were written; try again", err)
                : al_error_errno(err, -why, "cannot write patches");
    }
    return r;
}

static int finish(struct patch_writer *w, const struct al_patch_split *splitter,
                  const struct al_git_output *output, const struct al_replacing *replacing,
                  struct al_error *err)
{
    int r = al_patch_split_check_limits(splitter, err);

    if (r < 0)
        return r;
    if (w->error)
        return al_error_errno(err, w->error, "cannot write patches");
    if (!al_git_read_well(output))
        return al_git_failed(output, err);
    r = al_patch_split_check_count(splitter, err);
    return r < 0 ? r : publish(w, &splitter->names, replacing, err);
}

int al_git_write_patches(const struct al_repo *repo, const struct al_diff_options *options,
                         int dir_fd, const struct al_replacing *replacing,
                         struct al_run_limits *budget, struct al_strv *ret_names,
                         struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    struct patch_writer w = patch_writer_init(dir_fd);
    al_auto(al_patch_split_clear) struct al_patch_split splitter =
        AL_PATCH_SPLIT_INIT(begin_patch, write_piece, &w);
    int r;

    al_strv_adds(&command.argv, "git", "diff", "--raw", "-p", "-z", "--no-renames", NULL);
    r = al_git_diff_add_args(repo, options, budget, &command.argv, err);
    if (r == 0)
        r = al_git_run(&repo->at, &command,
                       &(struct al_git_run){ .sink = { al_patch_split_add, &splitter } }, budget,
                       &output, err);
    if (r == 0)
        r = finish(&w, &splitter, &output, replacing, err);
    al_closep(&w.fd);
    remove_temporaries(&w); /* the replaced files; after a failure all that was written */
    free(w.old);
    if (r == 0) {
        *ret_names = splitter.names;
        splitter.names = AL_STRV_INIT;
    }
    return r;
}

/* --- Patch split --- */

#define RECORDS_MAX_BYTES (4u << 20)
#define NAME_MAX_BYTES    255u

static const char header[] = "diff --git ";

/* A file name in use, without ".patch". */
struct taken {
    char *name;
    unsigned next; /* no smaller suffix of the name is free */
};

static void free_taken(void *node)
{
    struct taken *taken = node;

    free(taken->name);
    free(taken);
}

void al_patch_split_clear(struct al_patch_split *s)
{
    tdestroy(s->taken, free_taken);
    s->taken = NULL;
    al_strv_clear(&s->names);
    al_strv_clear(&s->status);
    al_str_clear(&s->record);
}

/* Append a path as a file name that reads the same in a listing, in JSON and on disk. */
static void add_plain(struct al_str *out, const char *path)
{
    size_t len = strlen(path);

    for (size_t i = 0; i < len;) {
        uint32_t c;
        int n = al_utf8_next(path + i, len - i, &c);

        if (path[i] == '/')
            al_str_adds(out, "__");
        else if (n <= 0 || c < 0x20 || (c >= 0x7f && c < 0xa0))
            al_str_addc(out, '_');
        else
            al_str_add(out, path + i, (size_t)n);
        i += n > 0 ? (size_t)n : 1;
    }
}

static int compare_taken(const void *a, const void *b)
{
    return strcmp(((const struct taken *)a)->name, ((const struct taken *)b)->name);
}

/* Find or add the entry of a name. *ret_new tells whether it was added. */
static struct taken *take_name(struct al_patch_split *s, const char *name, bool *ret_new)
{
    struct taken *made = al_calloc(1, sizeof(*made));
    struct taken **found;

    *made = (struct taken){ .name = al_strdup(name), .next = 2 };
    found = tsearch(made, &s->taken, compare_taken);
    if (!found)
        abort(); /* out of memory, as in base/mem.h */
    *ret_new = *found == made;
    if (!*ret_new)
        free_taken(made);
    return *found;
}

/* Add the file name for a path: "a/b" gives "a__b.patch", and a name in use gets "-2", "-3" and so
 * on. The repository chooses the paths, so each suffix of a name is tried at most once. */
static void add_name(struct al_patch_split *s, const char *path)
{
    al_auto(al_str_clear) struct al_str name = AL_STR_INIT;
    struct taken *first;
    size_t base_len;
    bool is_new;

    add_plain(&name, path);
    base_len = name.len;
    first = take_name(s, name.buf, &is_new);
    while (!is_new) {
        al_str_truncate(&name, base_len);
        al_str_addf(&name, "-%u", first->next++);
        (void)take_name(s, name.buf, &is_new);
    }
    al_str_adds(&name, ".patch");
    s->name_too_long |= name.len > NAME_MAX_BYTES;
    al_strv_take(&s->names, al_str_detach(&name));
}

/* A record is complete. Records come in pairs: ":<modes> <oids> <letter>", then the path. */
static void record_done(struct al_patch_split *s)
{
    if (!s->record.len)
        s->in_patches = true;
    else if (s->status.count == s->names.count)
        al_strv_addf(&s->status, "%c", s->record.buf[s->record.len - 1]);
    else
        add_name(s, s->record.buf);
    al_str_reset(&s->record);
}

static bool patch_split_begin_patch(struct al_patch_split *s)
{
    if (s->headers_left) {
        s->headers_left--;
        return true;
    }
    if (s->begun == s->names.count) {
        s->unlisted_patch = true;
        return false;
    }
    s->headers_left = s->status.items[s->begun][0] == 'T';
    return s->begin(s->payload, s->begun++);
}

/* Bytes before the first patch belong to no patch and are dropped. */
static bool add_piece(struct al_patch_split *s, const char *data, size_t len)
{
    return !s->begun || s->add(s->payload, data, len);
}

/* Number of bytes up to and including the newline, on a line that begins no patch. */
static size_t rest_of_line(struct al_patch_split *s, const char *data, size_t len)
{
    const char *end = memchr(data, '\n', len);

    s->line_started = !end;
    return end ? (size_t)(end - data) + 1 : len;
}

static bool add_patch_bytes(struct al_patch_split *s, const char *data, size_t len)
{
    while (len) {
        size_t piece;

        if (!s->line_started && *data == header[s->matched]) {
            data++;
            len--;
            if (++s->matched < sizeof(header) - 1)
                continue;
            s->matched = 0;
            s->line_started = true;
            if (!patch_split_begin_patch(s) || !add_piece(s, header, sizeof(header) - 1))
                return false;
            continue;
        }
        if (s->matched && !add_piece(s, header, s->matched))
            return false;
        s->matched = 0;
        piece = rest_of_line(s, data, len);
        if (!add_piece(s, data, piece))
            return false;
        data += piece;
        len -= piece;
    }
    return true;
}

bool al_patch_split_add(void *payload, const char *data, size_t len)
{
    struct al_patch_split *s = payload;

    while (len && !s->in_patches) {
        const char *end = memchr(data, '\0', len);
        size_t piece = end ? (size_t)(end - data) : len;

        al_str_add(&s->record, data, piece);
        if (s->record.len > RECORDS_MAX_BYTES) {
            s->record_too_long = true;
            return false;
        }
        if (!end)
            return true;
        record_done(s);
        if (s->names.count > AL_PATCHES_MAX) {
            s->too_many_paths = true;
            return false;
        }
        data += piece + 1;
        len -= piece + 1;
    }
    return add_patch_bytes(s, data, len);
}

int al_patch_split_check_limits(const struct al_patch_split *s, struct al_error *err)
{
    if (s->too_many_paths)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "There are more than %d changed paths; name fewer paths",
                            AL_PATCHES_MAX);
    if (s->record_too_long)
        return al_error_set(err, AL_ERR_EXECUTION, "A changed path is too long for a patch file");
    if (s->name_too_long)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "A changed path is too long for the name of a patch file (%u bytes)",
                            NAME_MAX_BYTES);
    return 0;
}

int al_patch_split_check_count(const struct al_patch_split *s, struct al_error *err)
{
    if (!s->unlisted_patch && s->begun == s->names.count)
        return 0;
    return al_error_set(err, AL_ERR_EXECUTION, "git listed %zu paths but %zu patches%s",
                        s->names.count, s->begun, s->unlisted_patch ? " and more" : "");
}
