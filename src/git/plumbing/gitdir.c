// SPDX-License-Identifier: Apache-2.0
#include "git/plumbing/gitdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "git/plumbing/stash_owners.h"
#include "git/refs.h"
#include "git/run.h"
#include "guard/nofollow.h"

/* Paths in the git directory.  Source: gitrepository-layout(5), and the git commands that leave
 * these files. */
const char *const al_gitdir_own_paths[] = {
    "HEAD",
    "ORIG_HEAD",
    "MERGE_HEAD",
    "MERGE_MODE",
    "MERGE_MSG",
    "MERGE_RR",
    "MERGE_AUTOSTASH",
    "AIRLOCK_AUTOSTASH",
    "AUTO_MERGE",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "SQUASH_MSG",
    "BISECT_ANCESTORS_OK",
    "BISECT_EXPECTED_REV",
    "BISECT_HEAD",
    "BISECT_LOG",
    "BISECT_NAMES",
    "BISECT_RUN",
    "BISECT_START",
    "BISECT_TERMS",
    "BISECT_FIRST_PARENT",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
    "config.worktree",
    "info/sparse-checkout",
    NULL,
};

/* Those from `hooks` on say how git works here, and are the programs that it runs. */
static const char *const common_paths[] = { "config",         "shallow",      "logs/refs/stash",
                                            "hooks",          "info/exclude", "info/grafts",
                                            "info/attributes" };
#define FIRST_SETTING 3

struct reader {
    struct al_gitdir_files *files;
    size_t bytes;
    size_t room; /* what settings may have still, and one byte; 0: a state is read */
    struct al_deadline *deadline;
    struct al_error *err;
};

void al_gitdir_files_clear(struct al_gitdir_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        free(files->items[i].path);
        al_str_clear(&files->items[i].bytes);
    }
    free(files->items);
    al_strv_clear(&files->left_out);
    *files = (struct al_gitdir_files){ .items = NULL };
}

bool al_gitdir_is_setting(const char *path)
{
    bool is = !strcmp(path, "config") || !strcmp(path, "config.worktree") ||
              (al_starts_with(path, "worktrees/") && al_ends_with(path, "/config.worktree"));

    for (size_t i = FIRST_SETTING; i < AL_COUNT(common_paths); i++)
        is |= al_fs_beneath(common_paths[i], path) != NULL;
    return is;
}

bool al_gitdir_is_common(const char *path)
{
    for (size_t i = 0; i < AL_COUNT(common_paths); i++)
        if (al_fs_beneath(common_paths[i], path))
            return true;
    return al_starts_with(path, "worktrees/");
}

bool al_gitdir_is_stored(const struct al_location *at, const char *path)
{
    return !al_gitdir_is_setting(path) &&
           al_ref_is_stored(at, strcmp(path, "logs/refs/stash") != 0 ? path : "refs/stash");
}

/* A setting is left out; half of an operation's state is useless. */
static int leave_out(const struct reader *reader, const char *path)
{
    if (reader->room)
        al_strv_addf(&reader->files->left_out, ".git/%s", path);
    return reader->room ? 0
                        : al_error_set(reader->err, AL_ERR_EXECUTION,
                                       "the state of an unfinished operation in the git directory "
                                       "has too many, too large or too deep files");
}

static int add(struct reader *reader, const char *path, unsigned mode, struct al_str *bytes)
{
    struct al_gitdir_files *files = reader->files;

    reader->bytes += bytes->len;
    if (files->count >= AL_GITDIR_FILES_MAX || reader->bytes > AL_GITDIR_ALL_BYTES)
        return leave_out(reader, path);
    files->items = al_reallocarray(files->items, files->count + 1, sizeof(*files->items));
    files->items[files->count++] =
        (struct al_gitdir_file){ .path = al_strdup(path), .mode = mode, .bytes = *bytes };
    *bytes = AL_STR_INIT;
    return al_deadline_step(reader->deadline, reader->err);
}

/* Add a file or a link, unless it has another type (of st_mode) by now. */
static int add_file(struct reader *reader, int dir_fd, const char *path, mode_t type)
{
    al_auto(al_str_clear) struct al_str bytes = AL_STR_INIT;
    al_auto(al_closep) int fd =
        al_nofollow_open(dir_fd, path, S_ISLNK(type) ? O_PATH | O_NOFOLLOW : O_RDONLY);
    char target[PATH_MAX];
    struct stat st;
    ssize_t r;

    if (fd < 0 || fstat(fd, &st) < 0 || ((st.st_mode ^ type) & S_IFMT))
        return reader->room ? leave_out(reader, path) : 0;
    r = S_ISLNK(type)
            ? readlinkat(fd, "", target, sizeof(target))
            : al_fs_read_fd(fd, reader->room ? reader->room - 1 : AL_GITDIR_FILE_BYTES, &bytes);
    if (r == -EFBIG)
        return leave_out(reader, path);
    if (r < 0)
        return al_error_errno(reader->err, S_ISLNK(type) ? errno : (int)-r, "cannot read '%s'",
                              path);
    if (S_ISLNK(type))
        al_str_add(&bytes, target, (size_t)r);
    if (reader->room && bytes.len >= reader->room) /* a link's target */
        return leave_out(reader, path);
    reader->room -= reader->room ? bytes.len : 0;
    return add(reader, path, st.st_mode, &bytes);
}

/* Add what is there.  git never runs the examples that it puts beside the hooks. */
static int add_path(struct reader *reader, int dir_fd, const char *path, int depth)
{
    al_auto(al_closedirp) DIR *dir = NULL;
    struct dirent *entry;
    struct stat st;
    int r = al_deadline_step(reader->deadline, reader->err);

    /* This only finds the type.  The file is opened below without following a link. */
    if (r < 0 || fstatat(dir_fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return r;
    if (!S_ISDIR(st.st_mode))
        return S_ISLNK(st.st_mode) || S_ISREG(st.st_mode)
                   ? add_file(reader, dir_fd, path, st.st_mode)
                   : 0;
    if (depth == AL_GITDIR_DEPTH_MAX)
        return leave_out(reader, path);
    dir = al_fs_list(al_nofollow_open(dir_fd, path, O_RDONLY | O_DIRECTORY));
    while (r == 0 && dir && (entry = readdir(dir))) {
        al_auto(al_freep) char *name = al_fs_join(path, entry->d_name);

        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            !(reader->room && al_ends_with(name, ".sample")))
            r = add_path(reader, dir_fd, name, depth + 1);
    }
    return r;
}

/* The shared parts of a split index; the index names them by checksum. */
static int add_shared_indexes(struct reader *reader, int git_fd)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(git_fd);
    struct dirent *entry;
    int r = 0;

    while (r == 0 && dir && (entry = readdir(dir)))
        if (al_starts_with(entry->d_name, "sharedindex."))
            r = add_file(reader, git_fd, entry->d_name, S_IFREG);
    return r;
}

/* What is in no file, as its file would have it. */
static int add_stored(struct reader *reader, const struct al_location *at, const char *path)
{
    al_auto(al_str_clear) struct al_str bytes = AL_STR_INIT;
    al_auto(al_freep) char *line = NULL;

    if (!strcmp(path, "logs/refs/stash")) {
        al_git_stored_stash(at, &bytes);
    } else {
        line = al_ref_stored(at, path);
        if (line)
            al_str_addf(&bytes, "%s\n", line);
    }
    return bytes.len ? add(reader, path, S_IFREG | 0644, &bytes) : 0;
}

int al_gitdir_read(const struct al_location *at, int git_fd, int common_fd,
                   struct al_deadline *deadline, struct al_gitdir_files *ret_files,
                   struct al_error *err)
{
    struct reader reader = { .files = ret_files, .deadline = deadline, .err = err };
    int r;

    *ret_files = (struct al_gitdir_files){ .items = NULL };
    r = add_shared_indexes(&reader, git_fd);
    for (const char *const *path = al_gitdir_own_paths; *path && r == 0; path++)
        r = al_gitdir_is_stored(at, *path) ? add_stored(&reader, at, *path)
                                           : add_path(&reader, git_fd, *path, 0);
    for (size_t i = 0; i < AL_COUNT(common_paths) && r == 0; i++) {
        reader.room = i == FIRST_SETTING ? AL_GITDIR_SETTINGS_BYTES + 1 : reader.room;
        r = al_gitdir_is_stored(at, common_paths[i])
                ? add_stored(&reader, at, common_paths[i])
                : add_path(&reader, common_fd, common_paths[i], 0);
    }
    return r;
}
