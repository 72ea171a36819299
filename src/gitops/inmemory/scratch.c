// SPDX-License-Identifier: Apache-2.0
/* The directory of new objects, and the children that work with it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <zlib.h>

#include "gitops/failure.h"
#include "gitops/inmemory/private.h"
#include "gitops/oid.h"
#include "gitops/private_dir.h"
#include "gitops/run.h"
#include "gitops/vet/vet.h"
#include "util/fs.h"

static int unusable(const struct al_inmemory *memory, int error, struct al_error *err)
{
    return al_error_errno(err, error, "cannot use the private directory '%s'", memory->dir);
}

static int make_dir(const char *path, int *ret_fd)
{
    if (mkdir(path, 0700) < 0)
        return -errno;
    *ret_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    return *ret_fd < 0 ? -errno : 0;
}

static int make_dirs(struct al_inmemory *memory)
{
    int r = mkdir(memory->dir, 0700) < 0 ? -errno : 0;

    if (r == 0)
        r = make_dir(memory->objects, &memory->objects_fd);
    return r < 0 ? r : make_dir(memory->top, &memory->top_fd);
}

int al_inmemory_open(const struct al_repo *repo, struct al_inmemory **ret_memory,
                     struct al_error *err)
{
    struct al_inmemory *memory;
    int r;

    if (repo->at.is_own || repo->at.objects)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "A repository of airlock's own cannot be merged in memory");
    memory = al_calloc(1, sizeof(*memory));
    memory->real = repo;
    memory->objects_fd = memory->top_fd = -1;
    memory->dir = al_git_private_name(repo->at.git, "inmemory");
    memory->objects = al_fs_join(memory->dir, "objects");
    memory->top = al_fs_join(memory->dir, "top");
    memory->view = *repo;
    memory->view.at.objects = memory->objects;
    r = make_dirs(memory);
    if (r < 0) {
        r = unusable(memory, -r, err);
        al_inmemory_free(memory);
        return r;
    }
    *ret_memory = memory;
    return 0;
}

void al_inmemory_free(struct al_inmemory *memory)
{
    if (!memory)
        return;
    al_close(memory->objects_fd);
    al_close(memory->top_fd);
    al_fs_remove_tree(memory->dir);
    free(memory->dir);
    free(memory->objects);
    free(memory->top);
    free(memory->attributes_of);
    free(memory->author);
    free(memory->committer);
    al_strv_clear(&memory->made);
    al_strv_clear(&memory->bounds);
    free(memory);
}

const struct al_repo *al_inmemory_repo(const struct al_inmemory *memory)
{
    return &memory->view;
}

void al_inmemory_add_bound(struct al_inmemory *memory, const char *commit)
{
    if (!al_strv_contains(&memory->made, commit) && !al_strv_contains(&memory->bounds, commit))
        al_strv_add(&memory->bounds, commit);
}

int al_inmemory_git(const struct al_inmemory *memory, struct al_git_command *command,
                    struct al_run_limits *budget, struct al_buffer *ret_out, int *ret_exit,
                    struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    command->class = AL_GIT_SCRATCH;
    command->cwd_fd = memory->top_fd;
    command->work_tree = memory->top;
    if (!ret_out->max_bytes)
        ret_out->max_bytes = AL_INMEMORY_OUTPUT_MAX_BYTES;
    r = al_git_run(&memory->view.at, command,
                   &(struct al_git_run){ .sink = al_buffer_sink(ret_out) }, budget, &output, err);
    if (r < 0)
        return r;
    if (!ret_exit && output.exit_code != 0)
        return al_git_failed(&output, err);
    if (ret_out->total > ret_out->len)
        return al_error_set(err, AL_ERR_EXECUTION, "git %s has more to say than fits in %zu MiB",
                            command->argv.items[1], ret_out->max_bytes >> 20);
    if (ret_exit) {
        *ret_exit = output.exit_code;
        if (output.exit_code != 0 && output.exit_code != 1)
            return al_git_failed(&output, err);
    }
    return 0;
}

static const char *const types[] = {
    [AL_OBJECT_COMMIT] = "commit", [AL_OBJECT_TREE] = "tree", [AL_OBJECT_BLOB] = "blob"
};

/* "<2 digits>/<the others>" */
static char *loose_path(const char *oid)
{
    return al_asprintf("%.2s/%s", oid, oid + 2);
}

bool al_inmemory_has(const struct al_inmemory *memory, const char *oid)
{
    al_auto(al_freep) char *path = loose_path(oid);
    struct stat st;

    return fstatat(memory->objects_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* The file is no part of the repository, so it may be seen while it is written. */
static int write_loose(const struct al_inmemory *memory, const char *path, const void *data,
                       size_t len)
{
    const char dir[] = { path[0], path[1], '\0' };
    al_auto(al_closep) int fd = -1;

    if (mkdirat(memory->objects_fd, dir, 0700) < 0 && errno != EEXIST)
        return -errno;
    fd = openat(memory->objects_fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                0600);
    return fd < 0 ? -errno : al_write_all(fd, data, len);
}

int al_inmemory_write(struct al_inmemory *memory, enum al_object_type type, const char *data,
                      size_t len, char ret_oid[AL_OID_TEXT], struct al_error *err)
{
    const bool sha256 = memory->real->vetting->is_sha256;
    al_auto(al_str_clear) struct al_str whole = AL_STR_INIT;
    al_auto(al_freep) unsigned char *packed = NULL;
    al_auto(al_freep) char *path = NULL;
    struct al_oid oid;
    uLongf room;
    int r;

    al_oid_of(sha256, type, data, len, &oid);
    al_oid_text(&oid, sha256, ret_oid);
    if (al_inmemory_has(memory, ret_oid))
        return 0;
    al_str_addf(&whole, "%s %zu", types[type], len);
    al_str_addc(&whole, '\0');
    al_str_add(&whole, data, len);
    room = compressBound(whole.len);
    packed = al_malloc(room);
    if (compress2(packed, &room, (const Bytef *)whole.buf, whole.len, Z_BEST_SPEED) != Z_OK)
        return al_error_set(err, AL_ERR_EXECUTION, "zlib cannot compress an object");
    path = loose_path(ret_oid);
    r = write_loose(memory, path, packed, room);
    return r < 0 ? unusable(memory, -r, err) : 0;
}
