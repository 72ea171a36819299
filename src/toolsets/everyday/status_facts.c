// SPDX-License-Identifier: Apache-2.0
#include "toolsets/everyday/status_facts.h"

#include <string.h>

#include "answer/answer.h"
#include "answer/place.h"
#include "answer/state_line.h"
#include "gitops/plumbing/heads.h"
#include "gitops/plumbing/stash_owners.h"
#include "gitops/reading/worktree_state.h"
#include "gitops/refs.h"
#include "gitops/repo/remotes.h"

/** More working trees are only counted. */
#define WORKTREES_MAX 20

/* The branch that <remote>/HEAD names, without the remote; NULL.  Caller frees. */
static char *remote_default(const struct al_repo *repo, const char *remote)
{
    al_auto(al_freep) char *name = al_asprintf("refs/remotes/%s/HEAD", remote);
    al_auto(al_freep) char *target = al_ref_read_loose(&repo->at, name);
    al_auto(al_freep) char *prefix = al_asprintf("ref: refs/remotes/%s/", remote);

    return target && al_starts_with(target, prefix) &&
                   al_ref_exists(&repo->at, target + strlen("ref: "))
               ? al_strdup(target + strlen(prefix))
               : NULL;
}

char *al_default_branch(const struct al_repo *repo)
{
    static const char *const usual[] = { "main", "master" };
    al_auto(al_strv_clear) struct al_strv remotes = AL_STRV_INIT;
    char *branch = remote_default(repo, "origin");

    al_remote_names(repo, &remotes);
    if (!branch && remotes.count == 1)
        branch = remote_default(repo, remotes.items[0]);
    for (size_t i = 0; i < AL_COUNT(usual) && !branch; i++) {
        al_auto(al_freep) char *ref = al_asprintf("refs/heads/%s", usual[i]);

        if (al_ref_exists(&repo->at, ref))
            branch = al_strdup(usual[i]);
    }
    return branch;
}

static void add_remotes(const struct al_repo *repo, struct al_str *out)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    al_remote_names(repo, &names);
    for (size_t i = 0; i < names.count; i++) {
        al_auto(al_strv_clear) struct al_strv urls = AL_STRV_INIT;
        al_auto(al_strv_clear) struct al_strv push_urls = AL_STRV_INIT;

        (void)al_remote_addresses(repo, names.items[i], &urls, &push_urls);
        al_str_adds(out, i ? ", " : "remotes: ");
        al_place_add_name(names.items[i], out);
        if (urls.count) {
            al_str_addc(out, ' ');
            al_place_add_name(urls.items[0], out);
        }
    }
    if (names.count)
        al_str_addc(out, '\n');
}

static void add_default_branch(const struct al_repo *repo, const struct al_worktree_state *state,
                               struct al_str *out)
{
    al_auto(al_freep) char *branch = al_default_branch(repo);

    if (!branch || (state->branch && !strcmp(branch, state->branch)))
        return;
    al_str_adds(out, "default branch: ");
    al_place_add_name(branch, out);
    al_str_addc(out, '\n');
}

static void add_stashes(const struct al_repo *repo, struct al_str *out)
{
    al_auto(al_strv_clear) struct al_strv entries = AL_STRV_INIT;
    al_auto(al_stash_owners_clear) struct al_stash_owners owners = AL_STASH_OWNERS_INIT;
    size_t own = 0;

    al_git_stash_entries(repo, &entries);
    if (!entries.count)
        return;
    al_stash_owners_read(repo, &owners);
    for (size_t i = 0; i < entries.count; i++)
        own += al_stash_is_own(&owners, entries.items[i]);
    al_str_adds(out, "stash: ");
    al_answer_add_counted(entries.count, "entry", "entries", out);
    if (owners.is_shared)
        al_str_addf(out, ", %zu of them of this working tree", own);
    al_str_addc(out, '\n');
}

/* The other working trees, while they are listed. */
struct worktrees {
    struct al_str text;
    size_t count;
};

static bool take_worktree(void *payload, const struct al_head *head)
{
    static const char heads[] = "refs/heads/";
    struct worktrees *to = payload;
    const bool on_branch = head->branch && al_starts_with(head->branch, heads);

    if (head->is_own || !head->top || (!head->branch && !head->oid) || to->count++ >= WORKTREES_MAX)
        return true;
    al_str_addc(&to->text, ' ');
    al_place_add_name(head->top, &to->text);
    if (on_branch) {
        al_str_adds(&to->text, " on ");
        al_place_add_name(head->branch + strlen(heads), &to->text);
    } else {
        al_str_addf(&to->text, " detached at %.*s", AL_SHORT_ID, head->oid ? head->oid : "");
    }
    al_str_addc(&to->text, '\n');
    return true;
}

static void add_worktrees(const struct al_repo *repo, struct al_str *out)
{
    struct worktrees others = { .text = AL_STR_INIT };

    (void)al_git_each_head(&repo->at, take_worktree, &others, NULL);
    if (others.count)
        al_str_addf(out, "other working trees:\n%s", others.text.buf);
    if (others.count > WORKTREES_MAX)
        al_str_addf(out, " and %zu more\n", others.count - WORKTREES_MAX);
    al_str_clear(&others.text);
}

void al_status_add_facts(const struct al_repo *repo, const struct al_worktree_state *state,
                         struct al_str *out)
{
    al_auto(al_freep) char *shallow = al_shallow_commits(&repo->at);

    if (shallow)
        al_str_adds(out, "shallow clone: older commits are not here\n");
    add_default_branch(repo, state, out);
    add_remotes(repo, out);
    add_stashes(repo, out);
    add_worktrees(repo, out);
}
