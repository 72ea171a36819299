// SPDX-License-Identifier: Apache-2.0
/* What has to hold before a branch is moved from elsewhere. */
#include "gitops/follow/branch_use.h"
#include "gitops/follow/follow.h"
#include "gitops/landing/private.h"
#include "gitops/plumbing/batch.h"
#include "gitops/plumbing/filters.h"
#include "gitops/refs.h"
#include "gitops/sequencer/operation_state.h"
#include "guard/text.h"
#include "util/fs.h"

bool al_landing_is_checked_out(const struct al_repo *repo, const char *ref)
{
    al_auto(al_freep) char *head = al_ref_read_head(&repo->at);

    return !al_location_is_bare(&repo->at) && head && al_starts_with(head, "ref: ") &&
           !strcmp(head + strlen("ref: "), ref);
}

int al_landing_open_worktree(const struct al_repo *repo, const char *into,
                             struct al_run_limits *budget, struct al_repo **ret_repo,
                             struct al_error *err)
{
    al_auto(al_branch_users_clear) struct al_branch_users users = { .items = NULL };
    al_auto(al_freep) char *ref = al_asprintf(AL_HEADS "%s", into);
    int r;

    *ret_repo = NULL;
    if (al_landing_is_checked_out(repo, ref))
        return 0;
    r = al_branch_find_users(repo, ref, &users, err);
    for (size_t i = 0; r == 0 && i < users.count; i++)
        if (!users.items[i].is_own && users.items[i].use == AL_BRANCH_CHECKED_OUT)
            return al_branch_open_user(repo, &users.items[i], budget, ret_repo, err);
    return r;
}

static int refuse_use(const struct al_landing *landing, const struct al_branch_user *user,
                      struct al_error *err)
{
    static const char *const words[] = { [AL_BRANCH_CHECKED_OUT] = "has %s checked out as well",
                                         [AL_BRANCH_REBASED] = "is rebasing %s",
                                         [AL_BRANCH_BISECTED] = "is bisecting %s" };
    al_auto(al_freep) char *top = al_text_sanitize_line(user->top    ? user->top
                                                        : user->name ? user->name
                                                                     : "the main one");
    al_auto(al_freep) char *into = al_text_sanitize_line(al_named_branch_name(&landing->into));
    al_auto(al_str_clear) struct al_str use = AL_STR_INIT;

    for (const char *at = words[user->use]; *at; at++)
        if (at[0] == '%' && at[1] == 's') {
            al_str_adds(&use, into);
            at++;
        } else {
            al_str_addc(&use, *at);
        }
    return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_CONFLICT,
                             "The working tree '%s' %s; that has to end first. Nothing was done",
                             top, use.buf);
}

/* Only the working tree that is brought along may use the branch, and only by having it checked
 * out. */
static int check_users(const struct al_landing *landing, struct al_error *err)
{
    al_auto(al_branch_users_clear) struct al_branch_users users = { .items = NULL };
    int r = al_branch_find_users(landing->repo, landing->into.ref, &users, err);

    for (size_t i = 0; r == 0 && i < users.count; i++)
        if (!users.items[i].is_own || users.items[i].use != AL_BRANCH_CHECKED_OUT ||
            !al_landing_is_checked_out(landing->repo, landing->into.ref))
            r = refuse_use(landing, &users.items[i], err);
    return r;
}

/* Files would be written without the program that has to write them. */
static int check_filters(const struct al_landing *landing, struct al_run_limits *budget,
                         struct al_error *err)
{
    const struct al_repo *view = al_inmemory_repo(landing->memory);
    struct al_buffer list = { .max_bytes = AL_PATH_LIST_MAX_BYTES };
    int r;

    if (!al_git_has_filters(landing->repo))
        return 0;
    r = al_git_list_changed(view, landing->into.oid, landing->commit, budget, &list, err);
    if (r == 0)
        r = al_git_check_filters(view, &list, landing->commit, budget, err);
    if (r == 0)
        r = al_git_check_filters(view, &list, NULL, budget, err);
    al_buffer_clear(&list);
    return r;
}

static int check_files(const struct al_landing *landing, struct al_run_limits *budget,
                       struct al_error *err)
{
    al_auto(al_freep) char *shown = al_text_sanitize_line(landing->repo->at.top);
    const struct al_follow with = { .repo = al_inmemory_repo(landing->memory),
                                    .from = landing->into.oid,
                                    .shown = shown,
                                    .only_looks = true };
    al_auto(al_strv_clear) struct al_strv changed = AL_STRV_INIT;
    int r = al_follow_find_changed(&with, landing->commit, budget, &changed, err);

    return r == 0 && changed.count ? al_follow_refuse(&with, &changed, err) : r;
}

int al_landing_check(const struct al_landing *landing, struct al_run_limits *budget,
                     struct al_error *err)
{
    int r;

    if (al_landing_is_idle(landing))
        return 0;
    r = check_users(landing, err);
    if (r < 0 || !al_landing_is_checked_out(landing->repo, landing->into.ref))
        return r;
    r = al_git_check_no_operation(landing->repo, budget, err);
    if (r == 0)
        r = check_filters(landing, budget, err);
    return r < 0 ? r : check_files(landing, budget, err);
}
