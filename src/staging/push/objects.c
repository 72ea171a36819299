// SPDX-License-Identifier: Apache-2.0
/*
 * Bringing a commit's objects from the store to the target.
 *
 * A pack is made in the push's directory, which git indexes in the target.  git finds the id of
 * each object by its content there, and compares the content with that of an object which the
 * target has already.  So all is right if that index is the one that was made with the pack, where
 * the ids are those that the commit and its trees name.
 *
 * Source: git-pack-objects(1), git-index-pack(1).
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "gitops/command.h"
#include "gitops/run.h"
#include "staging/push/private.h"
#include "staging/store.h"
#include "util/fs.h"

#define MESSAGE_BYTES (64u * 1024u)
#define INDEX_BYTES   (64u << 20) /* of the index of a pack of a million objects */

/* The objects that the commit reaches and its parent does not. */
static int make_pack(const struct al_push *push, const struct al_push_dir *dir, const char *commit,
                     struct al_run_limits *budget, char **ret_name, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str revisions = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str hash = AL_STR_INIT;
    int r;

    al_str_addf(&revisions, "%s\n", commit);
    if (*push->parent)
        al_str_addf(&revisions, "^%s\n", push->parent);
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
    *ret_name = al_asprintf("pack-%s", hash.buf);
    return 0;
}

static int index_pack(const struct al_push *push, const char *path, struct al_run_limits *budget,
                      struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0)
        return al_staging_unusable(push->staging, errno, err);
    command.class = AL_GIT_WRITE;
    command.in_fd = fd;
    al_strv_adds(&command.argv, "git", "index-pack", "--stdin", NULL);
    return al_git_run(&push->repo->at, &command,
                      &(struct al_git_run){ .max_bytes = MESSAGE_BYTES, .checked = true }, budget,
                      &output, err);
}

/* Test whether the target's index of the pack says what the pack's own says. */
static bool is_indexed_the_same(const struct al_push *push, const char *own, const char *name)
{
    al_auto(al_freep) char *theirs = al_asprintf("objects/pack/%s.idx", name);
    al_auto(al_closep) int fd =
        open(push->repo->at.common_dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    al_auto(al_str_clear) struct al_str made = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str found = AL_STR_INIT;

    return fd >= 0 && al_fs_read(AT_FDCWD, own, INDEX_BYTES, &made) == 0 &&
           al_fs_read(fd, theirs, INDEX_BYTES, &found) == 0 && made.len == found.len && made.len &&
           memcmp(made.buf, found.buf, made.len) == 0;
}

int al_push_objects(const struct al_push *push, const struct al_push_dir *dir, const char *commit,
                    struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_freep) char *name = NULL;
    al_auto(al_freep) char *pack = NULL;
    al_auto(al_freep) char *index = NULL;
    int r = make_pack(push, dir, commit, budget, &name, err);

    if (r < 0)
        return r;
    pack = al_asprintf("%s/%s.pack", dir->path, name);
    index = al_asprintf("%s/%s.idx", dir->path, name);
    r = index_pack(push, pack, budget, err);
    if (r < 0 || is_indexed_the_same(push, index, name))
        return r;
    return al_error_set(err, AL_ERR_EXECUTION,
                        "Not all objects of the commit arrived in %s, and its branch was not moved",
                        push->shown);
}
