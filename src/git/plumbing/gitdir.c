// SPDX-License-Identifier: Apache-2.0
#include "git/plumbing/gitdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "git/layer.h"
#include "git/location.h"
#include "git/oid.h"
#include "git/plumbing/stash_owners.h"
#include "git/refs.h"
#include "git/repo/repo.h"
#include "git/run.h"
#include "git/vet/vet.h"
#include "guard/nofollow.h"
#include "guard/path.h"
#include "guard/root.h"
#include "guard/text.h"

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

/* References that are in no file, as their file would have them. */
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

/* --- State digest --- */

/*
 * Files that git reads are hashed with all their bytes.  git verifies neither the checksum of an
 * index nor the length of MERGE_HEAD, so no part of a file proves anything about the rest.
 *
 * Source: gitrepository-layout(5), gitformat-index(5) "Split index".
 */

/* Files shared by all working trees that change how git treats a file, a name or a history. */
static const char *const common_files[] = { "config", "info/attributes", "info/exclude",
                                            "shallow" };

struct digest {
    const struct al_repo *repo;
    struct al_hash sum;
    struct al_error *err;
};

static void add_word(struct digest *digest, const char *word)
{
    al_hash_add(&digest->sum, word, strlen(word) + 1);
}

static void add_number(struct digest *digest, uint64_t number)
{
    al_hash_add(&digest->sum, &number, sizeof(number));
}

static void add_id(struct digest *digest, const struct al_file_id *id)
{
    const uint64_t numbers[] = {
        id->exists, id->dev, id->ino, id->size, (uint64_t)id->mtime_ns, (uint64_t)id->ctime_ns,
    };

    al_hash_add(&digest->sum, numbers, sizeof(numbers));
}

/* An approval must not be bound to a file that cannot be read. */
static int cannot_read(struct digest *digest, const char *path, int error)
{
    al_auto(al_freep) char *name = al_text_sanitize_line(path);

    return al_error_errno(digest->err, error, "cannot read '%s', so nobody can be asked", name);
}

/* Add the content of `dir`/`name`.  A link is followed as git follows it, inside the roots. */
static int digest_file(struct digest *digest, const char *dir, const char *name)
{
    al_auto(al_freep) char *path = al_fs_join(dir, name);
    al_auto(al_freep) char *abs = NULL;
    al_auto(al_closep) int fd = -1;
    struct al_oid oid;
    struct stat st;
    int r =
        al_roots_open(al_roots_parts(digest->repo->at.git->roots), path, O_RDONLY, &fd, &abs, NULL);

    add_word(digest, name);
    add_number(digest, r == 0);
    if (r == AL_ERR_NOT_FOUND)
        return 0;
    if (r < 0)
        return cannot_read(digest, name, EACCES);
    if (fstat(fd, &st) < 0 || S_ISDIR(st.st_mode))
        return cannot_read(digest, name, EISDIR);
    if (!S_ISREG(st.st_mode))
        return cannot_read(digest, name, EINVAL);
    r = al_oid_of_file(fd, (uint64_t)st.st_size, true, &oid);
    if (r < 0) /* also when somebody writes to it now */
        return cannot_read(digest, name, -r);
    al_hash_add(&digest->sum, &oid, sizeof(oid));
    return 0;
}

/* Add the files of a directory whose names begin with a prefix; there need not be one. */
static int add_files_of(struct digest *digest, const char *path, const char *prefix)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    al_auto(al_freep) char *abs = NULL;
    al_auto(al_closep) int fd = -1;
    al_auto(al_closedirp) DIR *dir = NULL;
    const struct dirent *entry;
    struct stat st;
    int r = al_roots_open(al_roots_parts(digest->repo->at.git->roots), path, O_RDONLY | O_DIRECTORY,
                          &fd, &abs, NULL);

    if (r < 0)
        return r == AL_ERR_NOT_FOUND ? 0 : cannot_read(digest, path, EACCES);
    dir = al_fs_list_at(fd);
    while (dir && (entry = readdir(dir)))
        if (al_starts_with(entry->d_name, prefix) &&
            (fstatat(fd, entry->d_name, &st, 0) < 0 || !S_ISDIR(st.st_mode)))
            al_strv_add(&names, entry->d_name);
    al_strv_sort(&names);
    for (size_t i = 0; r == 0 && i < names.count; i++)
        r = digest_file(digest, path, names.items[i]);
    return r;
}

/* HEAD, and the operation in progress. */
static int add_state(struct digest *digest)
{
    const struct al_location *at = &digest->repo->at;
    int r = 0;

    for (const char *const *name = al_gitdir_own_paths; *name && r == 0; name++) {
        al_auto(al_freep) char *stored = al_ref_stored(at, *name);
        al_auto(al_freep) char *path = al_fs_join(at->git_dir, *name);
        struct stat st;

        add_word(digest, stored ? stored : "");
        r = stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? add_files_of(digest, path, "")
                                                        : digest_file(digest, at->git_dir, *name);
    }
    for (size_t i = 0; i < AL_COUNT(common_files) && r == 0; i++)
        r = digest_file(digest, at->common_dir, common_files[i]);
    return r;
}

/* Add a path, and the .gitattributes beside it, which decide how git treats the file. */
static void digest_path(struct digest *digest, const char *path, struct al_str *dir)
{
    const char *slash = strrchr(path, '/');
    size_t len = slash ? (size_t)(slash - path) + 1 : 0;
    struct al_file_id id = { .exists = false };
    struct stat st;

    if (fstatat(digest->repo->at.dir_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0)
        id = al_file_id_from(&st);
    add_word(digest, path);
    add_id(digest, &id);
    if (id.exists && S_ISDIR(st.st_mode)) { /* git stages the commit of the repository in it */
        al_auto(al_freep) char *head = al_git_nested_head(&digest->repo->at, path);

        add_number(digest, head != NULL);
        add_word(digest, head ? head : "");
    }
    if (dir->len == len && !memcmp(dir->buf, path, len))
        return;
    al_str_reset(dir);
    al_str_add(dir, path, len);
    al_str_adds(dir, ".gitattributes");
    id = al_file_id_at(digest->repo->at.dir_fd, dir->buf);
    al_str_truncate(dir, len);
    add_id(digest, &id);
}

static void add_paths(struct digest *digest, const struct al_strv *paths)
{
    al_auto(al_str_clear) struct al_str dir = AL_STR_INIT;
    al_auto(al_freep) char *top = al_fs_join(digest->repo->at.top, ".gitattributes");

    digest_path(digest, top, &dir);
    for (size_t i = 0; paths && i < paths->count; i++)
        digest_path(digest, paths->items[i], &dir);
}

/* All files of the configuration, included ones too. */
static void add_configuration(struct digest *digest)
{
    const struct al_strv *sources = &digest->repo->vetting->sources;

    for (size_t i = 0; i < sources->count; i++) {
        struct al_file_id id = al_file_id_at(AT_FDCWD, sources->items[i]);

        add_word(digest, sources->items[i]);
        add_id(digest, &id);
    }
}

int al_repo_state_digest(const struct al_repo *repo, const struct al_strv *paths,
                         const struct al_str *objects, char ret_hex[65], struct al_error *err)
{
    al_auto(al_freep) char *head = al_ref_head(&repo->at);
    struct digest digest = { .repo = repo, .err = err };
    int r;

    al_hash_init(&digest.sum, true);
    add_word(&digest, head);
    r = add_state(&digest);
    if (r == 0)
        r = digest_file(&digest, repo->at.git_dir, "index");
    if (r == 0) /* a split index has most of its entries in another file */
        r = add_files_of(&digest, repo->at.git_dir, "sharedindex.");
    if (r < 0)
        return r;
    add_configuration(&digest);
    add_paths(&digest, paths);
    if (objects)
        al_hash_add(&digest.sum, objects->buf, objects->len);
    al_hash_text(&digest.sum, ret_hex);
    return 0;
}
