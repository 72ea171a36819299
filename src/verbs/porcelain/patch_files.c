// SPDX-License-Identifier: Apache-2.0
/*
 * Write one patch file per changed path, from one `git diff`.
 *
 * Every patch is first written under a temporary name, and gets its own only after git has
 * succeeded.  The patches come in the order in which git has listed the paths, and each begins with
 * a line "diff --git ".  No line of a patch body can begin like that: body lines begin with ' ',
 * '+', '-', '\', '@' or, in binary patches, contain no blank.
 *
 * Source: git-diff(1), "Raw output format" and "Generating patch text with -p".
 */
#include "verbs/porcelain/patch_files.h"

#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/utf8.h"
#include "git/diff/diff.h"
#include "git/run.h"
#include "guard/text.h"
#include "history/rescue.h"

#define PATCHES_MAX    10000
#define NAME_MAX_BYTES 255u

struct writer {
    int dir_fd;
    unsigned serial;      /* tells the writers of this process apart */
    void *taken;          /* search tree of the file names, without ".patch" */
    struct al_strv names; /* file names, in the order of the patches: all different, without '/' */
    const struct al_diff_raw *files; /* what git lists */
    size_t begun;                    /* patches whose temporary file was created */
    FILE *file;                      /* the current patch; NULL before the first */
    size_t headers_left;             /* git prints a type change as two patches */
    bool name_too_long;
    bool unlisted; /* a patch came that was not listed */
    int error;     /* first errno; 0: none */
};

/* A file name in use. */
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

static void end_patch(struct writer *w)
{
    if (w->file && fclose(al_take(&w->file)) != 0 && !w->error)
        w->error = errno;
}

static void writer_clear(struct writer *w)
{
    tdestroy(w->taken, free_taken);
    al_strv_clear(&w->names);
    end_patch(w);
}

/* --- The names --- */

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
static struct taken *take_name(struct writer *w, const char *name, bool *ret_new)
{
    struct taken *made = al_calloc(1, sizeof(*made));
    struct taken **found;

    *made = (struct taken){ .name = al_strdup(name), .next = 2 };
    found = tsearch(made, &w->taken, compare_taken);
    if (!found)
        abort(); /* out of memory, as in base/mem.h */
    *ret_new = *found == made;
    if (!*ret_new)
        free_taken(made);
    return *found;
}

/* Add the file name for a path: "a/b" gives "a__b.patch", and a name in use gets "-2", "-3" and so
 * on. The repository chooses the paths, so each suffix of a name is tried at most once. */
static void add_name(struct writer *w, const char *path)
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
    w->name_too_long |= name.len > NAME_MAX_BYTES;
    al_strv_take(&w->names, al_str_detach(&name));
}

/* git has listed the paths. */
static bool take_files(void *payload, const struct al_diff_raw *files)
{
    struct writer *w = payload;

    w->files = files;
    for (size_t i = 0; i < files->count && files->count <= PATCHES_MAX; i++)
        add_name(w, files->items[i].path);
    return files->count <= PATCHES_MAX && !w->name_too_long;
}

/* --- The patches --- */

/* The name is unique: another call may write into the same directory at the same time. */
static char *temporary(const struct writer *w, size_t number)
{
    return al_asprintf(".airlock-%ld-%u-%zu.patch", (long)getpid(), w->serial, number);
}

static void begin_patch(struct writer *w)
{
    al_auto(al_freep) char *name = temporary(w, w->begun);
    int fd;

    if (w->headers_left) {
        w->headers_left--;
        return;
    }
    w->unlisted = w->begun == w->names.count;
    end_patch(w);
    if (w->unlisted || w->error)
        return;
    fd = openat(w->dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640);
    w->file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!w->file) {
        w->error = errno;
        return;
    }
    w->headers_left = w->files->items[w->begun++].status == 'T';
}

/* Bytes before the first patch belong to no patch and are dropped. */
static void take_line(void *payload, const struct al_patch_line *line)
{
    struct writer *w = payload;

    if (!line->continues && !line->in_hunk && al_hunks_begins(line->text, line->len, "diff --git "))
        begin_patch(w);
    if (w->file && (fwrite(line->text, 1, line->len, w->file) != line->len ||
                    (line->ended && putc('\n', w->file) == EOF)))
        w->error = errno;
    if (w->error || w->unlisted)
        end_patch(w);
}

/* --- Their places --- */

static int refuse(const char *name, const char *why, struct al_error *err)
{
    al_auto(al_freep) char *word = al_text_sanitize_line(name);

    return al_error_set(err, AL_ERR_EXECUTION, "output_dir: '%s' %s", word, why);
}

/* Whether there is one patch for each path that git has listed. */
static int check_complete(const struct writer *w, struct al_error *err)
{
    if (w->files && w->files->count > PATCHES_MAX)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "There are more than %d changed paths; name fewer paths", PATCHES_MAX);
    if (w->name_too_long)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "A changed path is too long for the name of a patch file (%u bytes)",
                            NAME_MAX_BYTES);
    if (w->error)
        return al_error_errno(err, w->error, "cannot write patches");
    if (w->files && !w->unlisted && w->begun == w->names.count)
        return 0;
    return al_error_set(err, AL_ERR_EXECUTION, "git listed %zu paths but %zu patches%s",
                        w->names.count, w->begun, w->unlisted ? " and more" : "");
}

/* Find the files that have the names of patches, and ask whether they may be replaced. */
static int check_existing(const struct writer *w, const struct al_replacing *replacing,
                          struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv found = AL_STRV_INIT;
    struct stat st;

    for (size_t i = 0; i < w->names.count; i++) {
        const char *name = w->names.items[i];

        if (fstatat(w->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
            if (errno != ENOENT)
                return al_error_errno(err, errno, "cannot write patches");
            continue;
        }
        if (!S_ISREG(st.st_mode))
            return refuse(name, "exists and is no file; remove it or choose another directory",
                          err);
        al_strv_add(&found, name);
    }
    if (!found.count)
        return 0;
    if (!replacing)
        return refuse(found.items[0], "exists already; remove it or choose another directory", err);
    return replacing->check(replacing->payload, &found, err);
}

/* Move the patches into place.  A file that is there by now, whosever it is, is put aside; without
 * a checkpoint it stays. */
static int publish(const struct writer *w, const struct al_path *dir, const struct al_watch *watch,
                   size_t *done, struct al_error *err)
{
    for (; *done < w->begun; ++*done) {
        const char *name = w->names.items[*done];
        al_auto(al_freep) char *from = temporary(w, *done);
        al_auto(al_freep) char *path = al_fs_join(dir->abs, name);
        const int r = watch ? al_rescue_rename(watch, dir->fd, from, name, path)
                            : al_fs_rename_new(dir->fd, from, dir->fd, name);

        if (r == -EEXIST)
            return refuse(name, "changed while the patches were written; try again", err);
        if (r < 0)
            return al_error_errno(err, -r, "cannot write patches");
    }
    return 0;
}

int al_git_write_patches(const struct al_repo *repo, const struct al_diff_options *options,
                         const struct al_path *dir, const struct al_replacing *replacing,
                         struct al_strv *ret_names, struct al_error *err)
{
    static _Atomic unsigned serial;
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_change_reader_clear) struct al_change_reader reader;
    al_auto(writer_clear) struct writer w = { .dir_fd = dir->fd, .serial = serial++ };
    size_t done = 0;
    int r;

    al_change_reader_init(&reader, take_files, &(struct al_patch_taker){ .payload = &w });
    reader.hunks = AL_HUNKS_INIT(take_line, &w);
    reader.hunks.in_parts = true;
    al_strv_adds(&command.argv, "git", "diff", "--raw", "-p", "-z", "--no-renames", NULL);
    r = al_git_diff_add_args(repo, options, &command.argv, err);
    if (r == 0)
        r = al_git_read(&repo->at, &command, (struct al_sink){ al_change_reader_add, &reader },
                        err);
    if (r == 0) {
        (void)al_change_reader_end(&reader);
        end_patch(&w);
        r = check_complete(&w, err);
    }
    if (r == 0)
        r = check_existing(&w, replacing, err);
    if (r == 0) {
        r = publish(&w, dir, repo->at.budget->watch, &done, err);
        done += r < 0 && repo->at.budget->watch; /* it may be what was to be put aside */
    }
    for (; done < w.begun; done++) {
        al_auto(al_freep) char *name = temporary(&w, done);

        (void)unlinkat(dir->fd, name, 0);
    }
    if (r == 0) {
        *ret_names = w.names;
        w.names = AL_STRV_INIT;
    }
    return r;
}
