// SPDX-License-Identifier: Apache-2.0
/* The commits that `into` gets, built in memory. */
#include <stdlib.h>

#include "gitops/landing/private.h"
#include "gitops/plumbing/revision.h"
#include "gitops/run.h"
#include "util/fs.h"

#define LIST_MAX_BYTES (64u * 1024u)

static int write_merge(struct al_landing *landing, const char *tree, const char *message,
                       struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv parents = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    al_message_strip_space(message, &text);
    free(landing->message);
    landing->message = al_strdup(text.buf ? text.buf : "");
    al_strv_add(&parents, landing->into.oid);
    if (landing->strategy == AL_LAND_MERGE)
        al_strv_add(&parents, landing->branch.oid);
    return al_inmemory_commit(
        landing->memory,
        &(struct al_new_commit){ .tree = tree, .parents = &parents, .message = text.buf }, budget,
        &landing->commit, err);
}

/* A squash of changes that `into` has all is no commit. */
static int changes_nothing(const struct al_landing *landing, const char *tree,
                           struct al_run_limits *budget, bool *ret_is, struct al_error *err)
{
    al_auto(al_freep) char *before = NULL;
    int r = al_inmemory_tree(landing->memory, landing->into.oid, budget, &before, err);

    *ret_is = r == 0 && !strcmp(before, tree);
    return r;
}

int al_landing_build_merge(struct al_landing *landing, const char *message,
                           struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_merged_clear) struct al_merged merged = AL_MERGED_INIT;
    al_auto(al_freep) char *made = NULL;
    bool is_nothing = false;
    int r = al_inmemory_merge(landing->memory, landing->into.oid, landing->branch.oid, budget,
                              &merged, err);

    if (r < 0)
        return r;
    if (merged.conflicted) {
        landing->is_conflicted = true;
        landing->conflict = merged;
        merged = AL_MERGED_INIT;
        return 0;
    }
    if (landing->strategy == AL_LAND_SQUASH)
        r = changes_nothing(landing, merged.tree, budget, &is_nothing, err);
    landing->is_up_to_date = is_nothing;
    if (r < 0 || is_nothing)
        return r;
    if (!message)
        r = al_landing_message(landing, budget, &made, err);
    return r < 0 ? r : write_merge(landing, merged.tree, message ? message : made, budget, err);
}

static int too_many(struct al_error *err)
{
    return al_error_set(err, AL_ERR_EXECUTION,
                        "The branch has more than %d commits to rebase; land it with strategy "
                        "merge or squash",
                        AL_LANDING_COMMITS_MAX);
}

int al_landing_list(const struct al_landing *landing, struct al_run_limits *budget,
                    struct al_strv *ret_oids, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    char *save = NULL;
    int r;

    al_strv_adds(&command.argv, "git", "-c", AL_NO_COMMIT_GRAPH, "rev-list", "--reverse",
                 "--topo-order", "--no-merges", "--cherry-pick", "--right-only", NULL);
    al_strv_addf(&command.argv, "%s...%s", landing->into.oid, landing->branch.oid);
    al_strv_add(&command.argv, "--");
    r = al_git_run(&landing->repo->at, &command,
                   &(struct al_git_run){ .max_bytes = LIST_MAX_BYTES, .checked = true }, budget,
                   &output, err);
    if (r < 0)
        return r;
    for (char *oid = strtok_r(output.out.out.buf, "\n", &save); oid;
         oid = strtok_r(NULL, "\n", &save))
        al_strv_add(ret_oids, oid);
    return output.stopped || ret_oids->count > AL_LANDING_COMMITS_MAX ? too_many(err) : 0;
}

static void take_replayed(struct al_landing *landing, const struct al_strv *oids,
                          struct al_replayed *replayed)
{
    if (replayed->stopped) {
        landing->is_conflicted = true;
        landing->conflict_commit = al_strdup(oids->items[replayed->commits.count]);
        landing->conflict = replayed->conflict;
        replayed->conflict = AL_MERGED_INIT;
        return;
    }
    landing->commits = 0;
    for (size_t i = 0; i < replayed->commits.count; i++)
        landing->commits += *replayed->commits.items[i] != '\0';
    landing->is_up_to_date = !strcmp(replayed->tip, landing->into.oid);
    if (!landing->is_up_to_date)
        landing->commit = al_take(&replayed->tip);
}

int al_landing_build_rebase(struct al_landing *landing, struct al_run_limits *budget,
                            struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv oids = AL_STRV_INIT;
    al_auto(al_replayed_clear) struct al_replayed replayed = AL_REPLAYED_INIT;
    al_auto(al_freep) struct al_replay_step *steps = NULL;
    struct al_replay replay = { .onto = landing->into.oid,
                                .fast_forwards = true,
                                .when_empty = AL_EMPTY_DROPPED };
    int r = al_landing_list(landing, budget, &oids, err);

    if (r < 0)
        return r;
    steps = al_calloc(oids.count + 1, sizeof(*steps));
    for (size_t i = 0; i < oids.count; i++)
        steps[i] = (struct al_replay_step){ .commit = oids.items[i], .kind = AL_REPLAY_PICK };
    replay.steps = steps;
    replay.nsteps = oids.count;
    r = al_inmemory_replay(landing->memory, &replay, budget, &replayed, err);
    if (r == 0)
        take_replayed(landing, &oids, &replayed);
    return r;
}
