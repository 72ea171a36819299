// SPDX-License-Identifier: Apache-2.0
#include "gitops/sequencer/begun.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "gitops/location.h"
#include "gitops/oid.h"
#include "gitops/refs.h"
#include "gitops/sequencer/operation_sides.h"
#include "gitops/sequencer/operation_state.h"

/** The oldest of more operations is forgotten. */
#define KEPT_MAX 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct al_oid kept[KEPT_MAX];
static size_t next;

static void add_text(struct al_hash *hash, const char *text)
{
    al_hash_add(hash, text ? text : "", text ? strlen(text) + 1 : 1);
}

/* The first line of a state file, and which file it is: git writes it once for each operation.  The
 * same merge, given up and begun again by a user, is another one. */
static void add_file(const struct al_repo *repo, const char *name, struct al_hash *hash)
{
    al_auto(al_freep) char *line = al_operation_line(repo, name);
    al_auto(al_closep) int git_dir = -1;
    struct stat st;

    add_text(hash, line);
    if (al_location_open_git_dir(&repo->at, &git_dir, NULL) < 0 ||
        fstatat(git_dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    al_hash_add(hash, &st.st_ino, sizeof(st.st_ino));
    al_hash_add(hash, &st.st_mtim.tv_sec, sizeof(st.st_mtim.tv_sec));
    al_hash_add(hash, &st.st_mtim.tv_nsec, sizeof(st.st_mtim.tv_nsec));
}

/* What stays the same from the beginning of an operation to its end, or to the next commit of a
 * single one.  False: none is in progress. */
static bool identify(const struct al_repo *repo, uint64_t session, struct al_oid *ret_id)
{
    static const char *const files[] = { "rebase-merge/orig-head", "rebase-merge/onto",
                                         "rebase-apply/orig-head", "sequencer/head", "MERGE_HEAD" };
    static const char *const single[] = { "CHERRY_PICK_HEAD", "REVERT_HEAD" };
    enum al_operation_state state = al_git_operation_state(repo);
    al_auto(al_freep) char *sequence = al_operation_line(repo, "sequencer/head");
    struct al_hash hash;

    if (state == AL_IN_PROGRESS_NONE)
        return false;
    al_hash_init(&hash, true);
    al_hash_add(&hash, &session, sizeof(session));
    al_hash_add(&hash, &state, sizeof(state));
    add_text(&hash, repo->at.git_dir);
    for (size_t i = 0; i < AL_COUNT(files); i++)
        add_file(repo, files[i], &hash);
    for (size_t i = 0; !sequence && state != AL_IN_PROGRESS_REBASE && i < AL_COUNT(single); i++)
        add_file(repo, single[i], &hash);
    al_hash_end(&hash, ret_id);
    return true;
}

void al_operation_note_begun(const struct al_repo *repo, uint64_t session)
{
    struct al_oid id;

    if (!identify(repo, session, &id))
        return;
    (void)pthread_mutex_lock(&lock);
    kept[next++ % KEPT_MAX] = id;
    (void)pthread_mutex_unlock(&lock);
}

bool al_operation_was_begun_here(const struct al_repo *repo, uint64_t session)
{
    struct al_oid id;
    bool found = false;

    if (!identify(repo, session, &id))
        return false;
    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; i < KEPT_MAX; i++)
        found |= al_oid_equal(&kept[i], &id);
    (void)pthread_mutex_unlock(&lock);
    return found;
}
