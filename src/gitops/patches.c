// SPDX-License-Identifier: Apache-2.0
/*
 * One patch file per changed path, from one `git diff`.
 *
 * `git diff --raw -p -z` prints a NUL-terminated record per path, an empty record, then the patches
 * in the same order.  Each patch begins with a line "diff --git "; no line of its body can, since
 * those begin with ' ', '+', '-', '\', '@' or, in binary patches, hold no blank.  Everything is
 * written under temporary names first, and renamed only when git has succeeded.
 */
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "gitops/diffargs.h"
#include "guard/text.h"
#include "util/fs.h"
#include "util/utf8.h"

#define RECORDS_MAX_BYTES (4u << 20)
#define NAME_MAX_BYTES    255u

static const char header[] = "diff --git ";

/* A file name that is taken, without ".patch". */
struct taken {
    char *name;
    unsigned next; /* no smaller suffix of it is free */
};

struct writing {
    int dir_fd;
    unsigned serial;       /* ours among the writings of this process */
    struct al_strv names;  /* final file names */
    void *taken;           /* tree of struct taken: the same, to be looked up */
    struct al_strv status; /* the status letter of each path */
    struct al_str record;  /* raw record being read */
    bool in_patches;
    size_t matched;      /* bytes of `header` seen at the start of the current line */
    bool line_started;   /* this line is not the start of a patch */
    size_t begun;        /* patches begun */
    size_t headers_left; /* a type change is shown as two patches */
    int fd;              /* the patch being written, -1 before the first */
    int error;           /* first errno, 0 while all is well */
    bool too_many;       /* paths */
    bool endless;        /* a record */
    bool too_long;       /* a file name */
    bool surplus;        /* a patch that was not listed */
};

static struct writing begin_writing(int dir_fd)
{
    static _Atomic unsigned serial;

    return (
        struct writing){ .dir_fd = dir_fd, .serial = serial++, .fd = -1, .record = AL_STR_INIT };
}

static void free_taken(void *node)
{
    struct taken *taken = node;

    free(taken->name);
    free(taken);
}

static void end_writing(struct writing *w)
{
    tdestroy(w->taken, free_taken);
    al_closep(&w->fd);
    al_strv_clear(&w->names);
    al_strv_clear(&w->status);
    al_str_clear(&w->record);
}

/* Another call may write into the same directory at the same time. */
static char *temporary(const struct writing *w, size_t number)
{
    return al_asprintf(".airlock-%ld-%u-%zu.patch", (long)getpid(), w->serial, number);
}

/* A file name that reads the same in a listing, in JSON and on disk. */
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

/* The entry of a name: a new one, or the one that has been there, which *ret_new tells. */
static struct taken *take_name(struct writing *w, const char *name, bool *ret_new)
{
    struct taken *made = al_calloc(1, sizeof(*made));
    struct taken **found;

    *made = (struct taken){ .name = al_strdup(name), .next = 2 };
    found = tsearch(made, &w->taken, compare_taken);
    if (!found)
        abort(); /* no memory, as in util/mem.h */
    *ret_new = *found == made;
    if (!*ret_new)
        free_taken(made);
    return *found;
}

/* `a/b` → "a__b.patch"; a name that is taken gets "-2", "-3", …  The names are the repository's
 * choice, so each suffix of a name is tried once at most. */
static void add_name(struct writing *w, const char *path)
{
    al_auto(al_str_clear) struct al_str name = AL_STR_INIT;
    struct taken *first;
    size_t base_len;
    bool is_new;

    add_plain(&name, path);
    base_len = name.len;
    first = take_name(w, name.buf, &is_new);
    while (!is_new) {
        al_str_truncate(&name, base_len);
        al_str_addf(&name, "-%u", first->next++);
        (void)take_name(w, name.buf, &is_new);
    }
    al_str_adds(&name, ".patch");
    w->too_long |= name.len > NAME_MAX_BYTES;
    al_strv_take(&w->names, al_str_detach(&name));
}

/* Records come in pairs: ":<modes> <oids> <letter>" and the path. */
static void record_done(struct writing *w)
{
    if (!w->record.len)
        w->in_patches = true;
    else if (w->status.count == w->names.count)
        al_strv_addf(&w->status, "%c", w->record.buf[w->record.len - 1]);
    else
        add_name(w, w->record.buf);
    al_str_reset(&w->record);
}

static bool begin_patch(struct writing *w)
{
    al_auto(al_freep) char *name = NULL;

    if (w->headers_left) {
        w->headers_left--;
        return true;
    }
    al_closep(&w->fd);
    if (w->begun == w->names.count) {
        w->surplus = true;
        return false;
    }
    w->headers_left = w->status.items[w->begun][0] == 'T';
    name = temporary(w, w->begun);
    w->fd = openat(w->dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640);
    if (w->fd < 0) {
        w->error = errno;
        return false;
    }
    w->begun++; /* from here on it is ours to remove */
    return true;
}

static bool write_piece(struct writing *w, const char *data, size_t len)
{
    int r = w->fd < 0 ? 0 : al_write_all(w->fd, data, len);

    if (r < 0)
        w->error = -r;
    return r == 0;
}

/* Bytes of a line that is known not to begin a patch, up to and including its newline. */
static size_t rest_of_line(struct writing *w, const char *data, size_t len)
{
    const char *end = memchr(data, '\n', len);

    w->line_started = !end;
    return end ? (size_t)(end - data) + 1 : len;
}

static bool add_patch_bytes(struct writing *w, const char *data, size_t len)
{
    while (len) {
        size_t piece;

        if (!w->line_started && *data == header[w->matched]) {
            data++;
            len--;
            if (++w->matched < sizeof(header) - 1)
                continue;
            w->matched = 0;
            w->line_started = true;
            if (!begin_patch(w) || !write_piece(w, header, sizeof(header) - 1))
                return false;
            continue;
        }
        if (w->matched && !write_piece(w, header, w->matched))
            return false;
        w->matched = 0;
        piece = rest_of_line(w, data, len);
        if (!write_piece(w, data, piece))
            return false;
        data += piece;
        len -= piece;
    }
    return true;
}

static bool add(void *payload, const char *data, size_t len)
{
    struct writing *w = payload;

    while (len && !w->in_patches) {
        const char *end = memchr(data, '\0', len);
        size_t piece = end ? (size_t)(end - data) : len;

        al_str_add(&w->record, data, piece);
        if (w->record.len > RECORDS_MAX_BYTES) {
            w->endless = true;
            return false;
        }
        if (!end)
            return true;
        record_done(w);
        if (w->names.count > AL_GIT_PATCHES_MAX) {
            w->too_many = true;
            return false;
        }
        data += piece + 1;
        len -= piece + 1;
    }
    return add_patch_bytes(w, data, len);
}

static void remove_temporaries(const struct writing *w)
{
    for (size_t i = 0; i < w->begun; i++) {
        al_auto(al_freep) char *name = temporary(w, i);

        (void)unlinkat(w->dir_fd, name, 0);
    }
}

/* Rename all into place; on the first failure take back those that were. */
static int publish(struct writing *w, struct al_error *err)
{
    for (size_t i = 0; i < w->begun; i++) {
        al_auto(al_freep) char *name = temporary(w, i);
        int saved;

        if (renameat2(w->dir_fd, name, w->dir_fd, w->names.items[i], RENAME_NOREPLACE) == 0)
            continue;
        saved = errno;
        for (size_t k = 0; k < i; k++)
            (void)unlinkat(w->dir_fd, w->names.items[k], 0);
        remove_temporaries(w);
        if (saved == EEXIST) {
            al_auto(al_freep) char *word = al_text_word(w->names.items[i]);

            return al_error_set(err, AL_ERR_EXECUTION,
                                "output_dir: '%s' exists already; remove it or choose another "
                                "directory",
                                word);
        }
        return al_error_errno(err, saved, "cannot write patches");
    }
    return 0;
}

static int finish(struct writing *w, const struct al_git_output *output, struct al_error *err)
{
    if (w->too_many)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "There are more than %d changed paths; name fewer paths",
                            AL_GIT_PATCHES_MAX);
    if (w->endless)
        return al_error_set(err, AL_ERR_EXECUTION, "A changed path is too long for a patch file");
    if (w->too_long)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "A changed path is too long for the name of a patch file (%u bytes)",
                            NAME_MAX_BYTES);
    if (w->error)
        return al_error_errno(err, w->error, "cannot write patches");
    if (output->exit_code != 0)
        return al_git_failed(output, err);
    if (w->surplus || w->begun != w->names.count)
        return al_error_set(err, AL_ERR_EXECUTION, "git listed %zu paths but %zu patches%s",
                            w->names.count, w->begun, w->surplus ? " and more" : "");
    return publish(w, err);
}

int al_git_write_patches(const struct al_repo *repo, const struct al_diff_options *options,
                         int dir_fd, struct al_budget *budget, struct al_strv *ret_names,
                         struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    struct writing w = begin_writing(dir_fd);
    int r;

    al_strv_adds(&command.argv, "git", "diff", "--raw", "-p", "-z", "--no-renames", NULL);
    r = al_git_diff_add_args(repo, options, budget, &command.argv, err);
    if (r == 0)
        r = al_git_run_sink(repo, &command, (struct al_sink){ add, &w }, budget, &output, err);
    if (r == 0)
        r = finish(&w, &output, err);
    if (r < 0) {
        remove_temporaries(&w);
    } else {
        *ret_names = w.names;
        w.names = AL_STRV_INIT;
    }
    end_writing(&w);
    return r;
}
