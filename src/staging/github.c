// SPDX-License-Identifier: Apache-2.0
#include "staging/github.h"

#include <stdlib.h>

#include "gitops/repo/repo.h"
#include "gitops/transport/mirror.h"
#include "gitops/transport/push.h"
#include "guard/text.h"
#include "guard/url.h"
#include "staging/target.h"

/* --- Opening --- */

static int fetch(struct al_mirror *mirror, const char *branch, struct al_run_limits *budget,
                 struct al_error *err)
{
    bool found = false;
    int r = al_mirror_fetch(mirror, branch, budget, &found, err);

    return r < 0 || found ? r : al_mirror_fetch(mirror, NULL, budget, &found, err);
}

int al_github_open(struct al_git *git, const struct al_github_request *request,
                   struct al_run_limits *budget, struct al_repo **ret_repo, struct al_error *err)
{
    const struct al_target *target = request->target;
    al_auto(al_mirror_freep) struct al_mirror *mirror = NULL;
    al_auto(al_freep) char *address = al_github_address(request->base_url, target->repo);
    al_auto(al_freep) char *shown = al_target_shown(target);
    int r = al_mirror_new(git, address, request->progress, budget, &mirror, err);

    if (r == 0 && !request->only_names)
        r = fetch(mirror, target->branch, budget, err);
    if (r < 0)
        return r;
    *ret_repo = al_mirror_to_repo(al_take(&mirror), shown);
    return 0;
}

int al_github_branches(const struct al_repo *repo, struct al_run_limits *budget,
                       struct al_strv *ret_names, bool *ret_truncated, struct al_error *err)
{
    return al_mirror_branches(repo->mirror, budget, ret_names, ret_truncated, err);
}

/* --- Content of files --- */

int al_github_bring(const struct al_repo *repo, const struct al_strv *oids,
                    struct al_run_limits *budget, struct al_error *err)
{
    return repo->mirror ? al_mirror_fetch_blobs(repo->mirror, oids, budget, err) : 0;
}

/* --- Pushing --- */

void al_github_push_clear(struct al_github_push *push)
{
    free(push->refusal);
    free(push->head_now);
    al_str_clear(&push->from_hook);
}

/* The connection may break after the server took the push, and only the branch tells. */
static int look_again(const struct al_repo *repo, struct al_github_push *push, int failed,
                      struct al_run_limits *budget, struct al_error *err)
{
    char *now = NULL;

    if (failed == AL_ERR_CANCELLED || failed == AL_ERR_TIMEOUT ||
        al_mirror_look(repo->mirror, push->branch, budget, &now, NULL) < 0)
        return failed;
    free(push->head_now);
    push->head_now = now;
    if (strcmp(now, push->commit) != 0)
        return failed;
    al_error_clear(err);
    return 0;
}

int al_github_push(const struct al_repo *repo, struct al_github_push *push,
                   struct al_run_limits *budget, struct al_error *err)
{
    const struct al_push_options options = { .branch = push->branch,
                                             .commit = push->commit,
                                             .lease = push->head };
    al_auto(al_pushed_clear) struct al_pushed pushed = AL_PUSHED_INIT;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    int r = al_mirror_push(repo->mirror, &options, budget, &pushed, &why);

    if (r < 0 && !pushed.is_rejected)
        r = look_again(repo, push, r, budget, &why);
    if (r == 0) {
        al_str_add(&push->from_hook, pushed.from_hook.buf, pushed.from_hook.len);
        return 0;
    }
    if (pushed.is_rejected) {
        (void)al_mirror_look(repo->mirror, push->branch, budget, &push->head_now, NULL);
        push->is_stale =
            pushed.is_stale || (push->head_now && strcmp(push->head_now, push->head) != 0);
        push->refusal = al_strdup(why.message);
        return 0;
    }
    if (err) {
        *err = why;
        why = AL_ERROR_INIT;
    }
    return r;
}
