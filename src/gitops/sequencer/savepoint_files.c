// SPDX-License-Identifier: Apache-2.0
/* The part of a savepoint in the git directory. Every path is opened below the descriptor of the
 * git directory, without following links. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "gitops/location.h"
#include "gitops/sequencer/savepoint.h"
#include "guard/nofollow.h"
#include "guard/text.h"
#include "util/fs.h"

#define ENTRIES_MAX 4096

/* Files that describe an operation in progress, its step and its messages. */
static const char *const files[] = {
    "ORIG_HEAD",   "MERGE_HEAD", "MERGE_MSG",        "MERGE_MODE",
    "MERGE_RR",    "AUTO_MERGE", "CHERRY_PICK_HEAD", "REVERT_HEAD",
    "REBASE_HEAD", "SQUASH_MSG", "MERGE_AUTOSTASH",  "COMMIT_EDITMSG",
};

/* Directories of such files. They contain no directories. */
static const char *const dirs[] = { "rebase-merge", "rebase-apply", "sequencer" };

static int unreadable(const char *name, int r, struct al_error *err)
{
    al_auto(al_freep) char *word = al_text_sanitize_line(name);

    if (r == -EFBIG)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "'%s' in the git directory is too large to be put back if this were "
                            "interrupted; do this one with git itself",
                            word);
    return al_error_errno(err, -r, "cannot read '%s' in the git directory", word);
}

static int save_file(int git_dir, const char *name, size_t *left, struct al_savepoint *savepoint,
                     struct al_error *err)
{
    al_auto(al_closep) int fd = al_nofollow_open(git_dir, name, O_RDONLY);
    struct al_str text = AL_STR_INIT;
    int r = fd < 0 ? fd : al_fs_read_fd(fd, *left, &text);

    if (r == -ENOENT)
        return 0;
    if (r < 0)
        return unreadable(name, r, err);
    *left -= text.len;
    savepoint->files =
        al_reallocarray(savepoint->files, savepoint->nfiles + 1, sizeof(*savepoint->files));
    savepoint->files[savepoint->nfiles++] =
        (struct al_savepoint_file){ .name = al_strdup(name), .text = text };
    return 0;
}

/* List the files in a directory of the git directory. Returns 0 when the directory does not
 * exist. */
static int list_dir(int git_dir, const char *name, struct al_strv *ret_names)
{
    int fd = al_nofollow_open(git_dir, name, O_RDONLY | O_DIRECTORY);
    al_auto(al_closedirp) DIR *dir = NULL;
    struct dirent *entry;
    int r = 0;

    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    dir = al_fs_list(fd);
    if (!dir)
        return -errno;
    while (r == 0 && (entry = readdir(dir))) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        al_strv_addf(ret_names, "%s/%s", name, entry->d_name);
        r = ret_names->count > ENTRIES_MAX ? -EFBIG : 0;
    }
    return r;
}

int al_savepoint_take_files(const struct al_repo *repo, struct al_savepoint *savepoint,
                            struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    al_auto(al_closep) int git_dir = -1;
    size_t left = AL_SAVEPOINT_FILES_BYTES;
    int r = al_location_open_git_dir(&repo->at, &git_dir, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < AL_COUNT(files); i++)
        al_strv_add(&names, files[i]);
    for (size_t i = 0; i < AL_COUNT(dirs); i++) {
        r = list_dir(git_dir, dirs[i], &names);
        if (r < 0)
            return unreadable(dirs[i], r, err);
    }
    for (size_t i = 0; i < names.count; i++) {
        r = save_file(git_dir, names.items[i], &left, savepoint, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static const struct al_savepoint_file *find(const struct al_savepoint *savepoint, const char *name)
{
    for (size_t i = 0; i < savepoint->nfiles; i++)
        if (!strcmp(savepoint->files[i].name, name))
            return &savepoint->files[i];
    return NULL;
}

static bool had_dir(const struct al_savepoint *savepoint, const char *dir)
{
    size_t len = strlen(dir);

    for (size_t i = 0; i < savepoint->nfiles; i++)
        if (!strncmp(savepoint->files[i].name, dir, len) && savepoint->files[i].name[len] == '/')
            return true;
    return false;
}

/* Write one file as it was saved, or remove it when it did not exist. */
static int restore_file(int git_dir, const struct al_savepoint *savepoint, const char *name)
{
    const struct al_savepoint_file *file = find(savepoint, name);
    const char *last;
    al_auto(al_closep) int fd = al_nofollow_open_parent(git_dir, name, file != NULL, &last);

    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    if (file)
        return al_fs_write_atomic(fd, last, file->text.buf, file->text.len, 0666, true);
    return unlinkat(fd, last, 0) < 0 && errno != ENOENT && errno != EISDIR ? -errno : 0;
}

static int restore_all(int git_dir, const struct al_savepoint *savepoint)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    int r = 0;

    for (size_t i = 0; i < AL_COUNT(files); i++)
        al_strv_add(&names, files[i]);
    for (size_t i = 0; r == 0 && i < AL_COUNT(dirs); i++)
        r = list_dir(git_dir, dirs[i], &names);
    for (size_t i = 0; i < savepoint->nfiles; i++)
        if (!al_strv_contains(&names, savepoint->files[i].name))
            al_strv_add(&names, savepoint->files[i].name);
    for (size_t i = 0; r == 0 && i < names.count; i++)
        r = restore_file(git_dir, savepoint, names.items[i]);
    for (size_t i = 0; r == 0 && i < AL_COUNT(dirs); i++)
        if (!had_dir(savepoint, dirs[i]))
            (void)unlinkat(git_dir, dirs[i], AT_REMOVEDIR);
    return r;
}

int al_savepoint_restore_files(const struct al_repo *repo, const struct al_savepoint *savepoint,
                               struct al_error *err)
{
    al_auto(al_closep) int git_dir = -1;
    int r = al_location_open_git_dir(&repo->at, &git_dir, err);

    if (r < 0)
        return r;
    r = restore_all(git_dir, savepoint);
    return r < 0 ? al_error_errno(err, -r, "cannot write in the git directory") : 0;
}
