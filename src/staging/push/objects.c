// SPDX-License-Identifier: Apache-2.0
/*
 * Bringing a commit's objects from the store to the target.
 *
 * A pack is made in the push's directory, which git unpacks or indexes in the target.
 *
 * Unpacking, git does not write an object that the target has already, whatever its content is, so
 * what arrived is read there and compared with the ids.  Indexing, git finds the id of each object
 * by its content, and compares the content with that of an object which the target has already.  So
 * all is right if that index is the one that was made with the pack, where the ids are those that
 * the commit and its trees name.
 *
 * Source: git-unpack-objects(1), git-index-pack(1), gitformat-pack(5).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/command.h"
#include "gitops/preview/stable_read.h"
#include "gitops/preview/verify_objects.h"
#include "gitops/run.h"
#include "staging/push/private.h"
#include "staging/store.h"
#include "util/fs.h"

/* A pack of this many objects stays a pack; git's own limit (transfer.unpackLimit). */
#ifndef AL_PUSH_UNPACK_LIMIT /* tests compile with a smaller limit */
#define AL_PUSH_UNPACK_LIMIT 100
#endif

#define MESSAGE_BYTES (64u * 1024u)
#define HEADER_BYTES  12u
#define INDEX_BYTES   (64u << 20) /* of the index of a pack of a million objects */

/* A pack in memory, as far as it is read. */
struct pack {
    unsigned char *data;
    size_t len;
};

static void pack_clear(struct pack *pack)
{
    if (pack->data)
        (void)munmap(pack->data, pack->len);
}

static uint32_t count_objects(const struct pack *pack)
{
    const unsigned char *at = pack->data + 8;

    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static bool stays_pack(const struct pack *pack)
{
    return count_objects(pack) >= AL_PUSH_UNPACK_LIMIT;
}

/* The objects that the commit reaches and its parent does not. */
static void add_revisions(const struct al_push *push, const char *commit, struct al_str *out)
{
    al_str_addf(out, "%s\n", commit);
    if (*push->parent)
        al_str_addf(out, "^%s\n", push->parent);
}

static int make_pack(const struct al_push *push, const struct al_push_dir *dir, const char *commit,
                     struct al_run_limits *budget, char **ret_path, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str revisions = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str hash = AL_STR_INIT;
    int r;

    add_revisions(push, commit, &revisions);
    command.class = AL_GIT_WRITE;
    command.input = revisions.buf;
    command.input_len = revisions.len;
    al_strv_adds(&command.argv, "git", "-c", "pack.packSizeLimit=0", "pack-objects", "-q", "--revs",
                 "--missing=allow-any", NULL);
    al_strv_addf(&command.argv, "%s/pack", dir->path);
    r = al_push_git(dir, &command, &hash, budget, err);
    if (r < 0)
        return r;
    al_str_trim_end(&hash);
    *ret_path = al_asprintf("%s/pack-%s.pack", dir->path, hash.buf);
    return 0;
}

static int map_pack(const struct al_push *push, const char *path, struct pack *ret_pack,
                    struct al_error *err)
{
    al_auto(al_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat st;
    void *data;

    if (fd < 0 || fstat(fd, &st) < 0)
        return al_staging_unusable(push->staging, errno, err);
    if (st.st_size < (off_t)HEADER_BYTES)
        return al_error_set(err, AL_ERR_EXECUTION, "git pack-objects made no pack");
    data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED)
        return al_staging_unusable(push->staging, errno, err);
    *ret_pack = (struct pack){ .data = data, .len = (size_t)st.st_size };
    return 0;
}

static int unpack(const struct al_push *push, const struct pack *pack, struct al_run_limits *budget,
                  struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };

    command.class = AL_GIT_WRITE;
    command.input = pack->data;
    command.input_len = pack->len;
    if (stays_pack(pack))
        al_strv_adds(&command.argv, "git", "index-pack", "--stdin", NULL);
    else
        al_strv_adds(&command.argv, "git", "unpack-objects", "-q", NULL);
    return al_git_run(&push->repo->at, &command,
                      &(struct al_git_run){ .max_bytes = MESSAGE_BYTES, .checked = true }, budget,
                      &output, err);
}

/* The ids of what was brought, one a line. */
static int list_objects(const struct al_push *push, const struct al_push_dir *dir,
                        const char *commit, struct al_run_limits *budget, struct al_str *ret_ids,
                        size_t *ret_count, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    int r;

    al_strv_adds(&command.argv, "git", "rev-list", "--objects", "--no-object-names",
                 "--missing=allow-any", commit, NULL);
    if (*push->parent)
        al_strv_addf(&command.argv, "^%s", push->parent);
    r = al_push_git(dir, &command, ret_ids, budget, err);
    for (size_t i = 0; r == 0 && i < ret_ids->len; i++)
        *ret_count += ret_ids->buf[i] == '\n';
    return r;
}

/* Test whether the target's index of the pack says what the pack's own says. */
static bool is_indexed_the_same(const struct al_push *push, const char *pack)
{
    al_auto(al_freep) char *own =
        al_asprintf("%.*sidx", (int)(strlen(pack) - strlen("pack")), pack);
    al_auto(al_freep) char *theirs = al_asprintf("objects/pack/%s", strrchr(own, '/') + 1);
    al_auto(al_closep) int fd =
        open(push->repo->at.common_dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    al_auto(al_str_clear) struct al_str made = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str found = AL_STR_INIT;

    return fd >= 0 && al_fs_read(AT_FDCWD, own, INDEX_BYTES, &made) == 0 &&
           al_fs_read(fd, theirs, INDEX_BYTES, &found) == 0 && made.len == found.len && made.len &&
           memcmp(made.buf, found.buf, made.len) == 0;
}

static int verify(const struct al_push *push, const struct al_push_dir *dir, const char *commit,
                  struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str ids = AL_STR_INIT;
    al_auto(al_stable_read_clear) struct al_stable_read found = AL_STABLE_READ_INIT;
    struct al_stable_read *outer = budget->stable_read;
    bool complete = true;
    size_t count = 0;
    int r = list_objects(push, dir, commit, budget, &ids, &count, err);

    if (r < 0)
        return r;
    budget->stable_read = &found;
    r = al_git_verify_objects(push->repo, &ids, budget, &complete, err);
    budget->stable_read = outer;
    if (r == 0 && complete && found.oids.count < count)
        r = al_error_set(
            err, AL_ERR_EXECUTION,
            "Not all objects of the commit arrived in %s, and its branch was not moved",
            push->shown);
    return r;
}

int al_push_objects(const struct al_push *push, const struct al_push_dir *dir, const char *commit,
                    struct al_run_limits *budget, struct al_error *err)
{
    al_auto(pack_clear) struct pack pack = { .data = NULL };
    al_auto(al_freep) char *path = NULL;
    int r = make_pack(push, dir, commit, budget, &path, err);

    if (r == 0)
        r = map_pack(push, path, &pack, err);
    if (r == 0)
        r = unpack(push, &pack, budget, err);
    if (r == 0 && stays_pack(&pack) && is_indexed_the_same(push, path))
        return 0;
    return r < 0 ? r : verify(push, dir, commit, budget, err);
}
