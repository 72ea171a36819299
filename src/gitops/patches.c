// SPDX-License-Identifier: Apache-2.0
/*
 * One patch file per changed path, from one `git diff`.  Everything is written under temporary
 * names first, and renamed only when git has succeeded.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "gitops/diffargs.h"
#include "gitops/splitter.h"
#include "guard/text.h"
#include "util/fs.h"

struct writing {
    int dir_fd;
    unsigned serial; /* ours among the writings of this process */
    size_t begun;    /* patches whose file we made */
    int fd;          /* the patch being written, -1 before the first */
    int error;       /* first errno, 0 while all is well */
};

static struct writing begin_writing(int dir_fd)
{
    static _Atomic unsigned serial;

    return (struct writing){ .dir_fd = dir_fd, .serial = serial++, .fd = -1 };
}

/* Another call may write into the same directory at the same time. */
static char *temporary(const struct writing *w, size_t number)
{
    return al_asprintf(".airlock-%ld-%u-%zu.patch", (long)getpid(), w->serial, number);
}

static bool begin_patch(void *payload, size_t number)
{
    struct writing *w = payload;
    al_auto(al_freep) char *name = temporary(w, number);

    al_closep(&w->fd);
    w->fd = openat(w->dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640);
    if (w->fd < 0) {
        w->error = errno;
        return false;
    }
    w->begun++; /* from here on it is ours to remove */
    return true;
}

static bool write_piece(void *payload, const char *data, size_t len)
{
    struct writing *w = payload;
    int r = al_write_all(w->fd, data, len);

    if (r < 0)
        w->error = -r;
    return r == 0;
}

static void remove_temporaries(const struct writing *w)
{
    for (size_t i = 0; i < w->begun; i++) {
        al_auto(al_freep) char *name = temporary(w, i);

        (void)unlinkat(w->dir_fd, name, 0);
    }
}

/* Rename all into place; on the first failure take back those that were. */
static int publish(const struct writing *w, const struct al_strv *names, struct al_error *err)
{
    for (size_t i = 0; i < w->begun; i++) {
        al_auto(al_freep) char *name = temporary(w, i);
        int saved;

        if (renameat2(w->dir_fd, name, w->dir_fd, names->items[i], RENAME_NOREPLACE) == 0)
            continue;
        saved = errno;
        for (size_t k = 0; k < i; k++)
            (void)unlinkat(w->dir_fd, names->items[k], 0);
        remove_temporaries(w);
        if (saved == EEXIST) {
            al_auto(al_freep) char *word = al_text_word(names->items[i]);

            return al_error_set(err, AL_ERR_EXECUTION,
                                "output_dir: '%s' exists already; remove it or choose another "
                                "directory",
                                word);
        }
        return al_error_errno(err, saved, "cannot write patches");
    }
    return 0;
}

static int finish(const struct writing *w, const struct al_splitter *splitter,
                  const struct al_git_output *output, struct al_error *err)
{
    int r = al_splitter_check_limits(splitter, err);

    if (r < 0)
        return r;
    if (w->error)
        return al_error_errno(err, w->error, "cannot write patches");
    if (output->exit_code != 0)
        return al_git_failed(output, err);
    r = al_splitter_check_count(splitter, err);
    return r < 0 ? r : publish(w, &splitter->names, err);
}

int al_git_write_patches(const struct al_repo *repo, const struct al_diff_options *options,
                         int dir_fd, struct al_budget *budget, struct al_strv *ret_names,
                         struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    struct writing w = begin_writing(dir_fd);
    al_auto(al_splitter_clear) struct al_splitter splitter =
        AL_SPLITTER_INIT(begin_patch, write_piece, &w);
    int r;

    al_strv_adds(&command.argv, "git", "diff", "--raw", "-p", "-z", "--no-renames", NULL);
    r = al_git_diff_add_args(repo, options, budget, &command.argv, err);
    if (r == 0)
        r = al_git_run_sink(repo, &command, (struct al_sink){ al_splitter_add, &splitter }, budget,
                            &output, err);
    if (r == 0)
        r = finish(&w, &splitter, &output, err);
    al_closep(&w.fd);
    if (r < 0) {
        remove_temporaries(&w);
    } else {
        *ret_names = splitter.names;
        splitter.names = AL_STRV_INIT;
    }
    return r;
}
