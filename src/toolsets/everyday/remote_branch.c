// SPDX-License-Identifier: Apache-2.0
#include "toolsets/everyday/remote_branch.h"

#include <pthread.h>
#include <stdlib.h>

#include "answer/failure.h"
#include "gitops/oid.h"
#include "gitops/refs.h"
#include "gitops/repo/remotes.h"
#include "gitops/repo/repo.h"
#include "toolsets/everyday/replay.h"
#include "toolsets/transfer.h"

/** The oldest of more is forgotten: its next push asks again. */
#define PUSHED_MAX 1024

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct al_oid pushed[PUSHED_MAX];
static size_t next;

int al_everyday_current_branch(struct al_call *call, char **ret_branch, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    int r;

    al_ref_head_branches(&al_call_repo(call)->at, &names);
    if (names.count && strcmp(names.items[0], "HEAD") != 0) {
        *ret_branch = al_strdup(names.items[0]);
        return 0;
    }
    r = al_everyday_check_idle(call, err); /* HEAD is detached during a rebase */
    return r < 0 ? r
                 : al_failure_set(err, "Name a branch, or go to one with git_switch.",
                                  "HEAD is on no branch");
}

char *al_everyday_default_remote(struct al_call *call, const char *branch)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    const struct al_repo *repo = al_call_repo(call);

    al_remote_names(repo, &names);
    for (size_t i = 0; branch && i < names.count; i++) {
        al_auto(al_remote_clear) struct al_remote remote = AL_REMOTE_INIT;
        al_auto(al_freep) char *upstream = NULL;

        if (al_remote_find(repo, names.items[i], &remote, NULL) < 0)
            continue;
        upstream = al_remote_upstream(repo, &remote, branch);
        if (upstream)
            return al_strdup(names.items[i]);
    }
    if (names.count == 1 && !al_strv_contains(&names, AL_DEFAULT_REMOTE))
        return al_strdup(names.items[0]);
    return al_strdup(AL_DEFAULT_REMOTE);
}

static void identify(struct al_call *call, const char *address, const char *branch,
                     struct al_oid *ret_id)
{
    const char *const parts[] = { al_call_repo(call)->at.common_dir, address, branch };
    const struct al_session *session = al_call_session(call);
    struct al_hash hash;

    al_hash_init(&hash, true);
    al_hash_add(&hash, &session, sizeof(session));
    al_hash_add(&hash, &session->number, sizeof(session->number)); /* another may get its address */
    for (size_t i = 0; i < AL_COUNT(parts); i++)
        al_hash_add(&hash, parts[i], strlen(parts[i]) + 1);
    al_hash_end(&hash, ret_id);
}

bool al_everyday_was_pushed(struct al_call *call, const char *address, const char *branch)
{
    struct al_oid id;
    bool found = false;

    identify(call, address, branch, &id);
    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; i < PUSHED_MAX; i++)
        found |= al_oid_equal(&pushed[i], &id);
    (void)pthread_mutex_unlock(&lock);
    return found;
}

void al_everyday_note_pushed(struct al_call *call, const char *address, const char *branch)
{
    struct al_oid id;

    if (al_everyday_was_pushed(call, address, branch))
        return;
    identify(call, address, branch, &id);
    (void)pthread_mutex_lock(&lock);
    pushed[next++ % PUSHED_MAX] = id;
    (void)pthread_mutex_unlock(&lock);
}
