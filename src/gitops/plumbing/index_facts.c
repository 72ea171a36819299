// SPDX-License-Identifier: Apache-2.0
#include "gitops/plumbing/index_facts.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "gitops/plumbing/index_scan.h"
#include "util/fs.h"

/* Whether `holds` may be false for an entry. */
static bool may_fail(const char *path, bool (*holds)(void *, const struct al_index_entry *))
{
    static const size_t oid_bytes[] = { 20, 32 };
    al_auto(al_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    if (fd < 0)
        return errno != ENOENT;
    /* Only one of the two lengths fits the whole file. */
    for (size_t i = 0; i < AL_COUNT(oid_bytes); i++) {
        enum al_index_end end = al_index_read(fd, oid_bytes[i], holds, NULL);

        if (end != AL_INDEX_NOT_UNDERSTOOD)
            return end != AL_INDEX_WHOLE;
    }
    return true;
}

/* An entry for a directory of a sparse index may stand for gitlinks. */
static bool is_a_file(void *payload, const struct al_index_entry *entry)
{
    (void)payload;
    return entry->mode != 0160000u && entry->mode != 0040000u;
}

bool al_index_may_have_gitlinks(const char *path)
{
    return may_fail(path, is_a_file);
}

static bool is_unmarked(void *payload, const struct al_index_entry *entry)
{
    (void)payload;
    return !entry->assume_unchanged && !entry->skip_worktree;
}

bool al_repo_may_have_marks(const struct al_location *at)
{
    al_auto(al_freep) char *index = al_fs_join(at->git_dir, "index");

    return may_fail(index, is_unmarked);
}

static bool is_merged(void *payload, const struct al_index_entry *entry)
{
    (void)payload;
    return entry->stage == 0;
}

bool al_repo_may_have_conflicts(const struct al_location *at)
{
    al_auto(al_freep) char *index = al_fs_join(at->git_dir, "index");

    return may_fail(index, is_merged);
}

bool al_repo_may_have_gitlinks(const struct al_location *at)
{
    al_auto(al_freep) char *index = al_fs_join(at->git_dir, "index");

    return al_index_may_have_gitlinks(index);
}
