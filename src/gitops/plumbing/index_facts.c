// SPDX-License-Identifier: Apache-2.0
#include "gitops/plumbing/index_facts.h"

#include <errno.h>
#include <fcntl.h>

#include "gitops/oid.h"
#include "gitops/plumbing/index_scan.h"
#include "util/fs.h"

/* An entry for a directory of a sparse index may stand for gitlinks. */
static bool note_entry(void *payload, const struct al_index_entry *entry)
{
    struct al_index_facts *facts = payload;

    facts->marks |= entry->assume_unchanged || entry->skip_worktree;
    facts->gitlinks |= entry->mode == 0160000u || entry->mode == 0040000u;
    facts->conflicts |= entry->stage != 0;
    facts->attributes |= al_ends_with(entry->name, ".gitattributes") || entry->mode == 0040000u;
    return true;
}

struct al_index_facts al_repo_index_facts(const struct al_location *at)
{
    static const struct al_index_facts all = { true, true, true, true };
    al_auto(al_freep) char *path = al_fs_join(at->git_dir, "index");
    al_auto(al_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct al_index_facts facts = { .marks = false };
    enum al_index_end end;

    if (fd < 0)
        return errno == ENOENT ? facts : all;
    end = al_index_read(fd, al_oid_bytes(false), note_entry, &facts);
    if (end == AL_INDEX_NOT_UNDERSTOOD) { /* only one length of ids fits the whole file */
        facts = (struct al_index_facts){ .marks = false };
        end = al_index_read(fd, al_oid_bytes(true), note_entry, &facts);
    }
    return end == AL_INDEX_WHOLE ? facts : all;
}
