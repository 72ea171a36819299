// SPDX-License-Identifier: Apache-2.0
/*
 * Files that git reads are hashed with all their bytes.  git verifies neither the checksum of an
 * index nor the length of MERGE_HEAD, so no part of a file proves anything about the rest.
 *
 * Source: gitrepository-layout(5), gitformat-index(5) "Split index".
 */
#include "git/plumbing/state_digest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "git/layer.h"
#include "git/locate.h"
#include "git/oid.h"
#include "git/plumbing/gitdir.h"
#include "git/refs.h"
#include "git/repo/repo.h"
#include "git/vet/vet.h"
#include "guard/path.h"
#include "guard/root.h"
#include "guard/text.h"

/* Files shared by all working trees that change how git treats a file, a name or a history. */
static const char *const common_files[] = { "config", "info/attributes", "info/exclude",
                                            "shallow" };

struct digest {
    const struct al_repo *repo;
    struct al_hash sum;
    struct al_error *err;
};

static void add(struct digest *digest, const void *data, size_t len)
{
    al_hash_add(&digest->sum, data, len);
}

static void add_word(struct digest *digest, const char *word)
{
    add(digest, word, strlen(word) + 1);
}

static void add_number(struct digest *digest, uint64_t number)
{
    add(digest, &number, sizeof(number));
}

static void add_id(struct digest *digest, const struct al_file_id *id)
{
    const uint64_t numbers[] = {
        id->exists, id->dev, id->ino, id->size, (uint64_t)id->mtime_ns, (uint64_t)id->ctime_ns,
    };

    add(digest, numbers, sizeof(numbers));
}

/* An approval must not be bound to a file that cannot be read. */
static int cannot_read(struct digest *digest, const char *path, int error)
{
    al_auto(al_freep) char *name = al_text_sanitize_line(path);

    return al_error_errno(digest->err, error, "cannot read '%s', so nobody can be asked", name);
}

/* Add the content of `dir`/`name`.  A link is followed as git follows it, inside the roots. */
static int add_file(struct digest *digest, const char *dir, const char *name)
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
    add(digest, &oid, sizeof(oid));
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
        r = add_file(digest, path, names.items[i]);
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
                                                        : add_file(digest, at->git_dir, *name);
    }
    for (size_t i = 0; i < AL_COUNT(common_files) && r == 0; i++)
        r = add_file(digest, at->common_dir, common_files[i]);
    return r;
}

/* Add a path, and the .gitattributes beside it, which decide how git treats the file. */
static void add_path(struct digest *digest, const char *path, struct al_str *dir)
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

    add_path(digest, top, &dir);
    for (size_t i = 0; paths && i < paths->count; i++)
        add_path(digest, paths->items[i], &dir);
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
        r = add_file(&digest, repo->at.git_dir, "index");
    if (r == 0) /* a split index has most of its entries in another file */
        r = add_files_of(&digest, repo->at.git_dir, "sharedindex.");
    if (r < 0)
        return r;
    add_configuration(&digest);
    add_paths(&digest, paths);
    if (objects)
        add(&digest, objects->buf, objects->len);
    al_hash_text(&digest.sum, ret_hex);
    return 0;
}
