// SPDX-License-Identifier: Apache-2.0
/* Whether the files that a command can write have changes, told without git. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/oid.h"
#include "gitops/plumbing/index_diff.h"
#include "gitops/plumbing/index_places.h"
#include "gitops/sequencer/overwrite.h"
#include "gitops/sequencer/savepoint.h"
#include "gitops/vet/vet.h"
#include "guard/nofollow.h"
#include "util/fs.h"

/* So many files are read; git tells about more. */
#define CONTENTS_MAX 64u

/** One pass over the index. */
struct pass {
    const struct al_strv *files; /* sorted */
    bool *tracked;               /* for each of them */
    int top_fd;
    struct stat index;
    bool sha256;
    unsigned nread; /* files that were read */
    bool clean;
};

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* lstat(2) below the top, following no link on the way. */
static bool stat_file(int top_fd, const char *path, struct stat *ret_stat)
{
    const char *name;
    al_auto(al_closep) int parent = al_nofollow_open_parent(top_fd, path, false, &name);

    return parent >= 0 && fstatat(parent, name, ret_stat, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool check_entry(void *payload, const struct al_index_entry *entry)
{
    struct pass *pass = payload;
    const char *const *found = pass->files->count
                                   ? bsearch(&entry->name, pass->files->items, pass->files->count,
                                             sizeof(*pass->files->items), compare)
                                   : NULL;
    struct stat st;
    bool plain;

    if (!found)
        return true;
    pass->tracked[found - (const char *const *)pass->files->items] = true;
    /* The stat data do not tell when the file was written in the same tick of the clock as the
     * index, as git itself often does. */
    pass->clean = stat_file(pass->top_fd, entry->name, &st) &&
                  (al_index_entry_is_unchanged(entry, &st, &pass->index) ||
                   (pass->nread++ < CONTENTS_MAX &&
                    al_index_entry_has_content(pass->top_fd, entry, &st, pass->sha256, &plain)));
    return pass->clean;
}

/* False: there are too many. */
static bool add_preexisting(const struct pass *pass, struct al_savepoint *savepoint)
{
    struct al_sink sink = al_buffer_sink(&savepoint->preexisting);
    bool fits = true;

    for (size_t i = 0; fits && i < pass->files->count; i++) {
        al_auto(al_freep) char *found =
            pass->tracked[i] ? NULL : al_overwrite_find(pass->top_fd, pass->files->items[i]);

        if (found)
            fits = sink.add(sink.payload, found, strlen(found) + 1);
    }
    if (!fits)
        al_buffer_clear(&savepoint->preexisting);
    return fits;
}

bool al_savepoint_is_clean(const struct al_repo *repo, int top_fd, struct al_savepoint *savepoint)
{
    al_auto(al_freep) char *path = al_fs_join(repo->at.git_dir, "index");
    al_auto(al_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    al_auto(al_freep) bool *tracked = al_calloc(savepoint->written.count + 1, sizeof(*tracked));
    struct pass pass = {
        .files = &savepoint->written,
        .tracked = tracked,
        .top_fd = top_fd,
        .sha256 = repo->vetting->is_sha256,
        .clean = true,
    };
    size_t oid_bytes = al_oid_bytes(pass.sha256);

    if (fd < 0 || fstat(fd, &pass.index) < 0 ||
        al_index_read_near(fd, oid_bytes, pass.files, check_entry, &pass) != AL_INDEX_WHOLE ||
        !pass.clean)
        return false;
    return add_preexisting(&pass, savepoint);
}
