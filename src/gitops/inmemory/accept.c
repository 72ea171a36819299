// SPDX-License-Identifier: Apache-2.0
/*
 * Bringing new objects to the repository.
 *
 * They are packed, and git unpacks or indexes the pack in the repository.  git does not write an
 * object that the repository has already, whatever its content is, so what arrived is read there
 * and compared with the ids.
 *
 * Source: git-pack-objects(1), git-unpack-objects(1), git-index-pack(1).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/inmemory/private.h"
#include "gitops/plumbing/revision.h"
#include "gitops/preview/verify_objects.h"
#include "gitops/run.h"
#include "gitops/vet/vet.h"
#include "util/fs.h"

/* So many objects stay a pack; git's own limit (transfer.unpackLimit). */
#define UNPACK_LIMIT  100
#define MESSAGE_BYTES (64u * 1024u)

/* The ids of the objects that are needed, one a line. */
struct needed {
    const struct al_inmemory *memory;
    struct al_str ids, line;
    size_t count;
};

static void needed_clear(struct needed *needed)
{
    al_str_clear(&needed->ids);
    al_str_clear(&needed->line);
}

/* Only new objects: the repository has the others. */
static bool take_id(void *payload, const char *data, size_t len)
{
    struct needed *needed = payload;

    for (size_t i = 0; i < len; i++) {
        if (data[i] != '\n') {
            al_str_addc(&needed->line, data[i]);
            continue;
        }
        if (needed->line.len > 2 && al_inmemory_has(needed->memory, needed->line.buf)) {
            al_str_addf(&needed->ids, "%s\n", needed->line.buf);
            needed->count++;
        }
        al_str_reset(&needed->line);
    }
    return true;
}

static int list_needed(const struct al_inmemory *memory, const char *commit,
                       struct al_run_limits *budget, struct needed *needed, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;

    al_str_addf(&words, "%s\n", commit);
    for (size_t i = 0; i < memory->bounds.count; i++)
        al_str_addf(&words, "^%s\n", memory->bounds.items[i]);
    command.input = words.buf;
    command.input_len = words.len;
    al_strv_adds(&command.argv, "git", "-c", AL_NO_COMMIT_GRAPH, "rev-list", "--objects",
                 "--no-object-names", "--missing=allow-any", "--stdin", NULL);
    return al_git_run(&memory->view.at, &command,
                      &(struct al_git_run){ .sink = { take_id, needed }, .checked = true }, budget,
                      &output, err);
}

static int make_pack(const struct al_inmemory *memory, const struct needed *needed,
                     struct al_run_limits *budget, char **ret_path, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    struct al_buffer hash = { .max_bytes = AL_OID_TEXT };
    int r;

    command.input = needed->ids.buf;
    command.input_len = needed->ids.len;
    al_strv_adds(&command.argv, "git", "-c", "pack.packSizeLimit=0", "pack-objects", "-q", NULL);
    al_strv_addf(&command.argv, "%s/pack", memory->dir);
    r = al_inmemory_git(memory, &command, budget, &hash, NULL, err);
    if (r == 0)
        *ret_path =
            al_asprintf("%s/pack-%.*s.pack", memory->dir,
                        hash.data ? (int)strcspn(hash.data, "\n") : 0, hash.data ? hash.data : "");
    al_buffer_clear(&hash);
    return r;
}

static int unpack(const struct al_inmemory *memory, const void *pack, size_t len, size_t count,
                  struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };

    command.class = AL_GIT_WRITE;
    command.input = pack;
    command.input_len = len;
    if (count < UNPACK_LIMIT)
        al_strv_adds(&command.argv, "git", "unpack-objects", "-q", NULL);
    else
        al_strv_adds(&command.argv, "git", "index-pack", "--stdin", NULL);
    return al_git_run(&memory->real->at, &command,
                      &(struct al_git_run){ .max_bytes = MESSAGE_BYTES, .checked = true }, budget,
                      &output, err);
}

static int unpack_file(const struct al_inmemory *memory, const char *path, size_t count,
                       struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat st;
    void *pack;
    int r;

    if (fd < 0 || fstat(fd, &st) < 0)
        return al_error_errno(err, errno, "cannot read the pack of new objects");
    pack = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (pack == MAP_FAILED)
        return al_error_errno(err, errno, "cannot read the pack of new objects");
    r = unpack(memory, pack, (size_t)st.st_size, count, budget, err);
    (void)munmap(pack, (size_t)st.st_size);
    return r;
}

/* In the repository itself. */
static int verify(const struct al_inmemory *memory, const struct needed *needed,
                  struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_stable_read_clear) struct al_stable_read found = AL_STABLE_READ_INIT;
    struct al_stable_read *outer = budget->stable_read;
    bool complete = true;
    int r;

    budget->stable_read = &found;
    r = al_git_verify_objects(memory->real, &needed->ids, budget, &complete, err);
    budget->stable_read = outer;
    if (r == 0 && complete && found.oids.count < needed->count)
        r = al_error_set(err, AL_ERR_EXECUTION,
                         "Not all new objects arrived in the repository, and no reference was "
                         "moved");
    return r;
}

int al_inmemory_accept(struct al_inmemory *memory, const char *commit, struct al_run_limits *budget,
                       struct al_error *err)
{
    al_auto(needed_clear) struct needed needed = { .memory = memory,
                                                   .ids = AL_STR_INIT,
                                                   .line = AL_STR_INIT };
    al_auto(al_freep) char *path = NULL;
    int r = list_needed(memory, commit, budget, &needed, err);

    if (r < 0 || !needed.count)
        return r;
    r = make_pack(memory, &needed, budget, &path, err);
    if (r == 0)
        r = unpack_file(memory, path, needed.count, budget, err);
    return r < 0 ? r : verify(memory, &needed, budget, err);
}
