// SPDX-License-Identifier: Apache-2.0
#include "verbs/landing/landing.h"

#include <stdlib.h>
#include <string.h>

#include "git/diff/diff.h"
#include "git/plumbing/batch.h"
#include "git/plumbing/filters.h"
#include "git/plumbing/revision.h"
#include "git/refs.h"
#include "git/repo/repo.h"
#include "git/run.h"
#include "git/vet/vet.h"
#include "guard/arg.h"
#include "guard/text.h"
#include "verbs/follow/follow.h"
#include "verbs/inmemory/inmemory.h"
#include "verbs/preview/diff_excerpt.h"
#include "verbs/replay/work.h"
#include "verbs/sequencer/operation_state.h"

/* --- Branches --- */

void al_named_branch_clear(struct al_named_branch *branch)
{
    free(branch->ref);
    free(branch->oid);
    *branch = (struct al_named_branch){ .ref = NULL };
}

const char *al_named_branch_name(const struct al_named_branch *branch)
{
    return branch->ref + strlen(AL_HEADS);
}

int al_landing_check_name(const char *param, const char *name, struct al_error *err)
{
    al_auto(al_freep) char *safe = NULL;
    int r = al_arg_check_branch(param, name, err);

    if (r < 0 || !al_starts_with(name, AL_HEADS))
        return r;
    safe = al_text_sanitize_line(name + strlen(AL_HEADS));
    return al_error_set(err, AL_ERR_BAD_ARGS, "%s is a name without " AL_HEADS "; give '%s'", param,
                        safe);
}

static int not_found(const char *name, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(name);

    return al_error_about(al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_BRANCH_NOT_FOUND,
                                            "There is no branch '%s'", safe),
                          err, AL_SUBJECT_BRANCH, safe);
}

int al_landing_check_direct(const struct al_repo *repo, const char *ref, struct al_error *err)
{
    al_auto(al_freep) char *loose = al_ref_read_loose(&repo->at, ref);
    al_auto(al_freep) char *safe = al_text_sanitize_line(ref + strlen(AL_HEADS));

    if (!loose || !al_starts_with(loose, "ref:"))
        return 0;
    return al_error_set(err, AL_ERR_EXECUTION,
                        "Branch '%s' stands for another branch (it is a symbolic reference); "
                        "name that one",
                        safe);
}

int al_landing_find(const struct al_repo *repo, const char *name,
                    struct al_named_branch *ret_branch, struct al_error *err)
{
    al_auto(al_freep) char *ref = al_asprintf(AL_HEADS "%s", name);
    al_auto(al_freep) char *oid = NULL;
    int r = al_landing_check_direct(repo, ref, err);

    if (r < 0)
        return r;
    oid = al_ref_oid(&repo->at, ref);
    if (!oid || !*oid)
        return not_found(name, err);
    ret_branch->ref = al_take(&ref);
    ret_branch->oid = al_take(&oid);
    return 0;
}

int al_landing_default(const struct al_repo *repo, char **ret_name, struct al_error *err)
{
    al_auto(al_freep) char *origin = al_git_remote_default(repo, "origin");
    const char *const names[] = { "main", origin, "master" };

    for (size_t i = 0; i < AL_COUNT(names); i++) {
        al_auto(al_freep) char *ref = names[i] ? al_asprintf(AL_HEADS "%s", names[i]) : NULL;

        if (ref && al_ref_exists(&repo->at, ref)) {
            *ret_name = al_strdup(names[i]);
            return 0;
        }
    }
    return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_BRANCH_NOT_FOUND,
                             "The repository has no branch main or master, and none that is "
                             "origin's default; give into");
}

/* --- Landing --- */

/* The most commits that are rebased, and that a message lists. */
#define LANDING_COMMITS_MAX 500

/* List the commits of the branch that `into` does not have, oldest first, as `git rebase` takes
 * them: no merges, and none whose change `into` has. */
static int landing_list(const struct al_landing *landing, struct al_rebase_list *list,
                        struct al_error *err)
{
    int r = al_commit_list_rebase(landing->repo, landing->into.oid, landing->branch.oid, list, err);

    return r < 0 || list->commits.count <= LANDING_COMMITS_MAX
               ? r
               : al_error_set(err, AL_ERR_EXECUTION,
                              "The branch has more than %d commits to rebase; land it with "
                              "strategy merge or squash",
                              LANDING_COMMITS_MAX);
}

/* --- Message --- */

/* The message of a merge, as git merge has it, and of a squash. */

/* The subjects of the commits below a line that names the branch; the message of a single one. */
static int message_of_squash(const struct al_landing *landing, struct al_str *out,
                             struct al_error *err)
{
    al_auto(al_rebase_list_clear) struct al_rebase_list list = AL_REBASE_LIST_INIT;
    const struct al_strv *oids = &list.commits;
    int r = landing_list(landing, &list, err);

    if (r == 0)
        r = al_inmemory_read(landing->memory, oids, err);
    if (r == 0 && oids->count != 1)
        al_str_addf(out, "Squash branch '%s'\n", al_named_branch_name(&landing->branch));
    for (size_t i = 0; r == 0 && i < oids->count; i++) {
        const char *message = al_inmemory_known(landing->memory, oids->items[i])->message;
        al_auto(al_freep) char *subject = al_message_subject(message);

        if (oids->count == 1)
            al_str_adds(out, message);
        else
            al_str_addf(out, "%s* %s\n", i ? "" : "\n", subject);
    }
    return r;
}

/* git names the branch that is merged into, unless it is master. */
static void message_of_merge(const struct al_landing *landing, struct al_str *out)
{
    const char *into = al_named_branch_name(&landing->into);

    al_str_addf(out, "Merge branch '%s'", al_named_branch_name(&landing->branch));
    if (strcmp(into, "master") != 0)
        al_str_addf(out, " into %s", into);
    al_str_addc(out, '\n');
}

/* --- Build --- */

/* The commits that `into` gets, built in memory. */

static int write_merge(struct al_landing *landing, const char *tree, const char *message,
                       struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv parents = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    al_message_strip_space(message, &text);
    landing->message = al_str_detach(&text);
    al_strv_add(&parents, landing->into.oid);
    if (landing->strategy == AL_LAND_MERGE)
        al_strv_add(&parents, landing->branch.oid);
    return al_inmemory_commit(
        landing->memory,
        &(struct al_new_commit){ .tree = tree, .parents = &parents, .message = landing->message },
        &landing->commit, err);
}

/* Build the commit of a merge or a squash.  Conflicts are noted in `landing`. */
static int landing_build_merge(struct al_landing *landing, const char *message,
                               struct al_error *err)
{
    al_auto(al_merged_clear) struct al_merged merged = AL_MERGED_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_freep) char *before = NULL;
    int r =
        al_inmemory_merge(landing->memory, landing->into.oid, landing->branch.oid, &merged, err);

    if (r < 0)
        return r;
    if (merged.conflicted) {
        landing->conflict = merged;
        merged = AL_MERGED_INIT;
        return 0;
    }
    if (landing->strategy == AL_LAND_SQUASH) /* of changes that `into` has all it is no commit */
        r = al_inmemory_tree(landing->memory, landing->into.oid, &before, err);
    if (r < 0 || (before && !strcmp(before, merged.tree)))
        return r;
    if (message)
        al_str_adds(&text, message);
    else if (landing->strategy == AL_LAND_SQUASH)
        r = message_of_squash(landing, &text, err);
    else
        message_of_merge(landing, &text);
    return r < 0 ? r : write_merge(landing, merged.tree, text.buf, err);
}

static void take_replayed(struct al_landing *landing, const struct al_strv *oids,
                          struct al_replayed *replayed)
{
    if (replayed->stopped) {
        landing->conflict_commit = al_strdup(oids->items[replayed->commits.count]);
        landing->conflict = replayed->conflict;
        replayed->conflict = AL_MERGED_INIT;
        return;
    }
    landing->commits = 0;
    for (size_t i = 0; i < replayed->commits.count; i++)
        landing->commits += *replayed->commits.items[i] != '\0';
    if (strcmp(replayed->tip, landing->into.oid) != 0)
        landing->commit = al_take(&replayed->tip);
}

/* Build the commits of a rebase. */
static int landing_build_rebase(struct al_landing *landing, struct al_error *err)
{
    al_auto(al_rebase_list_clear) struct al_rebase_list list = AL_REBASE_LIST_INIT;
    const struct al_strv *oids = &list.commits;
    al_auto(al_replayed_clear) struct al_replayed replayed = AL_REPLAYED_INIT;
    al_auto(al_freep) struct al_replay_step *steps = NULL;
    struct al_replay replay = { .onto = landing->into.oid, .fast_forwards = true };
    int r = landing_list(landing, &list, err);

    if (r < 0)
        return r;
    steps = al_calloc(oids->count + 1, sizeof(*steps));
    for (size_t i = 0; i < oids->count; i++)
        steps[i] = (struct al_replay_step){ .commit = oids->items[i], .kind = AL_REPLAY_PICK };
    replay.steps = steps;
    replay.nsteps = oids->count;
    r = al_inmemory_replay(landing->memory, &replay, &replayed, err);
    if (r == 0)
        take_replayed(landing, oids, &replayed);
    return r;
}

/* --- Plan --- */

const char *al_landing_strategy_name(enum al_landing_strategy strategy)
{
    static const char *const names[] = { [AL_LAND_MERGE] = "merge",
                                         [AL_LAND_SQUASH] = "squash",
                                         [AL_LAND_REBASE] = "rebase",
                                         [AL_LAND_FF] = "ff" };

    return names[strategy];
}

void al_landing_free(struct al_landing *landing)
{
    if (!landing)
        return;
    al_named_branch_clear(&landing->branch);
    al_named_branch_clear(&landing->into);
    al_inmemory_free(landing->memory);
    al_merged_clear(&landing->conflict);
    free(landing->commit);
    free(landing->tree);
    free(landing->conflict_commit);
    free(landing->message);
    free(landing);
}

static int find_branches(struct al_landing *landing, const struct al_landing_request *request,
                         struct al_error *err)
{
    int r = al_landing_find(landing->repo, request->branch, &landing->branch, err);

    if (r == 0)
        r = al_landing_find(landing->repo, request->into, &landing->into, err);
    if (r == 0 && !strcmp(landing->branch.ref, landing->into.ref))
        r = al_error_set(err, AL_ERR_BAD_ARGS, "branch and into are the same branch");
    return r;
}

static int build(struct al_landing *landing, const struct al_landing_request *request,
                 const char *base, struct al_error *err)
{
    switch (landing->strategy) {
    case AL_LAND_MERGE:
    case AL_LAND_SQUASH:
        return landing_build_merge(landing, request->message, err);
    case AL_LAND_REBASE:
        return landing_build_rebase(landing, err);
    case AL_LAND_FF:
        landing->is_diverged = !base || strcmp(base, landing->into.oid) != 0;
        if (!landing->is_diverged)
            landing->commit = al_strdup(landing->branch.oid);
        break;
    }
    return 0;
}

static int plan(struct al_landing *landing, const struct al_landing_request *request,
                struct al_error *err)
{
    al_auto(al_freep) char *base = NULL;
    size_t behind = 0;
    int r = find_branches(landing, request, err);

    if (r == 0)
        r = al_git_merge_base(landing->repo, landing->into.oid, landing->branch.oid, &base, err);
    if (r == 0)
        r = al_git_count_apart(landing->repo, landing->into.oid, landing->branch.oid, &behind,
                               &landing->commits, err);
    if (r == 0)
        r = al_inmemory_open(landing->repo, &landing->memory, err);
    if (r < 0)
        return r;
    if (landing->commits)
        r = build(landing, request, base, err);
    if (r == 0 && landing->commit)
        r = al_inmemory_tree(landing->memory, landing->commit, &landing->tree, err);
    return r;
}

int al_landing_plan(const struct al_repo *repo, const struct al_landing_request *request,
                    struct al_landing **ret_landing, struct al_error *err)
{
    struct al_landing *landing = al_calloc(1, sizeof(*landing));
    int r;

    landing->repo = repo;
    landing->strategy = request->strategy;
    landing->conflict = AL_MERGED_INIT;
    r = plan(landing, request, err);
    if (r < 0) {
        al_landing_free(landing);
        return r;
    }
    *ret_landing = landing;
    return 0;
}

/* --- Check --- */

/* The conditions for moving a branch from elsewhere. */

bool al_landing_is_checked_out(const struct al_repo *repo, const char *ref)
{
    al_auto(al_freep) char *head = al_ref_read_head(&repo->at);

    return !al_location_is_bare(&repo->at) && head && al_starts_with(head, "ref: ") &&
           !strcmp(head + strlen("ref: "), ref);
}

int al_landing_open_worktree(const struct al_repo *repo, const char *into,
                             struct al_repo **ret_repo, struct al_error *err)
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
            return al_branch_open_user(repo, &users.items[i], ret_repo, err);
    return r;
}

static int refuse_use(const struct al_landing *landing, const struct al_branch_user *user,
                      struct al_error *err)
{
    static const char *const uses[][2] = { [AL_BRANCH_CHECKED_OUT] = { "has",
                                                                       " checked out as well" },
                                           [AL_BRANCH_REBASED] = { "is rebasing", "" },
                                           [AL_BRANCH_BISECTED] = { "is bisecting", "" } };
    al_auto(al_freep) char *top = al_text_sanitize_line(user->top    ? user->top
                                                        : user->name ? user->name
                                                                     : "the main one");
    al_auto(al_freep) char *into = al_text_sanitize_line(al_named_branch_name(&landing->into));

    return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_CONFLICT,
                             "The working tree '%s' %s %s%s; that has to end first. Nothing was "
                             "done",
                             top, uses[user->use][0], into, uses[user->use][1]);
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
static int check_filters(const struct al_landing *landing, struct al_error *err)
{
    const struct al_repo *view = al_inmemory_repo(landing->memory);
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    int r;

    if (!landing->repo->vetting->filters.count)
        return 0;
    r = al_git_list_changed(view, landing->into.oid, landing->commit, &paths, err);
    if (r == 0)
        r = al_git_check_filters(view, &paths, landing->commit, err);
    return r < 0 ? r : al_git_check_filters(view, &paths, NULL, err);
}

static int check_files(const struct al_landing *landing, struct al_error *err)
{
    al_auto(al_freep) char *shown = al_text_sanitize_line(landing->repo->at.top);
    const struct al_follow with = { .repo = al_inmemory_repo(landing->memory),
                                    .from = landing->into.oid,
                                    .shown = shown,
                                    .only_looks = true };
    al_auto(al_strv_clear) struct al_strv changed = AL_STRV_INIT;
    int r = al_follow_find_changed(&with, landing->commit, &changed, err);

    return r == 0 && changed.count ? al_follow_refuse(&with, &changed, err) : r;
}

int al_landing_check(const struct al_landing *landing, struct al_error *err)
{
    int r;

    if (!landing->commit)
        return 0;
    r = check_users(landing, err);
    if (r < 0 || !al_landing_is_checked_out(landing->repo, landing->into.ref))
        return r;
    r = al_git_check_no_operation(landing->repo, err);
    if (r == 0)
        r = check_filters(landing, err);
    return r < 0 ? r : check_files(landing, err);
}

/* --- Preview --- */

int al_landing_paths(const struct al_landing *landing, struct al_strv *ret_paths,
                     struct al_error *err)
{
    return !landing->commit
               ? 0
               : al_git_list_changed(al_inmemory_repo(landing->memory), landing->into.oid,
                                     landing->commit, ret_paths, err);
}

/* Those of the branch; of a rebase the new ones. */
static int add_commits(const struct al_landing *landing, struct al_str *out, struct al_error *err)
{
    al_auto(al_freep) char *without = al_asprintf("^%s", landing->into.oid);
    const bool is_rebase = landing->strategy == AL_LAND_REBASE;
    const char *tip = is_rebase ? landing->commit : landing->branch.oid;
    bool any = false;

    return al_git_commits_excerpt(
        al_inmemory_repo(landing->memory),
        &(struct al_commits_shown){ .words = (const char *const[]){ tip, without, NULL },
                                    .format = "  %h %an: %s",
                                    .title = landing->strategy == AL_LAND_SQUASH
                                                 ? "These commits come in as one:"
                                             : is_rebase ? "These commits come in, made anew:"
                                                         : "These commits come in:" },
        out, &any, err);
}

static void add_worktree(const struct al_landing *landing, struct al_str *out)
{
    al_auto(al_freep) char *top = al_text_sanitize_shown_line(landing->repo->at.top);

    if (al_landing_is_checked_out(landing->repo, landing->into.ref))
        al_str_addf(out, "The files of the working tree '%s' are brought along.\n", top);
    else
        al_str_adds(out, "No working tree has the branch checked out; no file changes.\n");
}

/* The whole message of the commit that is made: it is part of what is approved. */
static void add_message(const struct al_landing *landing, struct al_str *out)
{
    if (!landing->message)
        return;
    al_str_adds(out, "The commit's message:\n");
    al_text_add_indented(out, landing->message, true);
    if (!al_ends_with(out->buf, "\n"))
        al_str_addc(out, '\n');
}

int al_landing_preview(const struct al_landing *landing, struct al_str *out, struct al_error *err)
{
    const struct al_diff_options change = { .unified = -1,
                                            .from_ref = landing->into.oid,
                                            .to_ref = landing->commit };
    int r;

    if (landing->strategy != AL_LAND_FF)
        al_git_show_unsigned(landing->repo, out);
    add_worktree(landing, out);
    add_message(landing, out);
    r = add_commits(landing, out, err);
    return r < 0 ? r : al_git_diff_excerpt(al_inmemory_repo(landing->memory), &change, out, err);
}

/* --- Run --- */

/* The objects come first, then the reference, then the working tree. */

#define MESSAGE_BYTES (64u * 1024u)

/* Move `into` in one transaction that also verifies where the landed branch is. */
static int move(const struct al_landing *landing, const char *from, const char *to,
                bool verifies_branch, struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str input = AL_STR_INIT;

    al_str_addf(&input, "option no-deref\nupdate %s %s %s\n", landing->into.ref, to, from);
    if (verifies_branch)
        al_str_addf(&input, "option no-deref\nverify %s %s\n", landing->branch.ref,
                    landing->branch.oid);
    command.class = AL_GIT_WRITE;
    al_git_command_feed(&command, &input);
    al_strv_adds(&command.argv, "git", "update-ref", "-m", NULL);
    al_strv_addf(&command.argv, "airlock: land %s (%s)", al_named_branch_name(&landing->branch),
                 al_landing_strategy_name(landing->strategy));
    al_strv_add(&command.argv, "--stdin");
    return al_git_run(&landing->repo->at, &command,
                      &(struct al_git_run){ .max_bytes = MESSAGE_BYTES }, ret_output, err);
}

/* Say which branch moved, if one did. */
static int not_moved(const struct al_landing *landing, const struct al_git_output *output,
                     struct al_error *err)
{
    const struct al_named_branch *const branches[] = { &landing->into, &landing->branch };
    al_auto(al_freep) char *why = al_text_join_lines(output->err.out.buf);

    for (size_t i = 0; i < AL_COUNT(branches); i++) {
        al_auto(al_freep) char *now = al_ref_oid(&landing->repo->at, branches[i]->ref);
        al_auto(al_freep) char *name = al_text_sanitize_line(al_named_branch_name(branches[i]));

        if (strcmp(now, branches[i]->oid) != 0)
            return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_CONFLICT,
                                     "Branch %s moved meanwhile, and nothing was landed; call "
                                     "git_land again",
                                     name);
    }
    return al_error_set(err, AL_ERR_EXECUTION, "git did not move the branch: %s", why);
}

static int move_forward(const struct al_landing *landing, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r = move(landing, landing->into.oid, landing->commit, true, &output, err);

    return r == 0 && output.exit_code != 0 ? not_moved(landing, &output, err) : r;
}

/* The working tree could not follow: the branch goes back, so that nothing is half landed. */
static void move_back(const struct al_landing *landing, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    const struct al_run_limits spent = *landing->repo->at.budget;
    int r;

    *landing->repo->at.budget =
        (struct al_run_limits){ .left_ms = spent.left_ms > 10000 ? spent.left_ms : 10000 };
    r = move(landing, landing->commit, landing->into.oid, false, &output, NULL);
    *landing->repo->at.budget = spent;
    if (err && (r < 0 || output.exit_code != 0))
        err->remedy = "The branch has moved all the same; the user can take it back with 'airlock "
                      "rollback'.";
}

int al_landing_run(struct al_landing *landing, struct al_error *err)
{
    al_auto(al_freep) char *shown = al_text_sanitize_line(landing->repo->at.top);
    const struct al_follow with = { .repo = landing->repo,
                                    .from = landing->into.oid,
                                    .shown = shown };
    int r = al_landing_check(landing, err);

    if (r == 0)
        r = al_inmemory_accept(landing->memory, landing->commit, err);
    if (r == 0)
        r = move_forward(landing, err);
    if (r < 0 || !al_landing_is_checked_out(landing->repo, landing->into.ref))
        return r;
    r = al_follow_wholly(&with, landing->commit, err);
    if (r < 0)
        move_back(landing, err);
    return r;
}

/* --- Compare --- */

void al_branch_comparison_clear(struct al_branch_comparison *comparison)
{
    for (size_t i = 0; i < comparison->count; i++) {
        al_named_branch_clear(&comparison->branches[i].branch);
        free(comparison->branches[i].base);
        al_strv_clear(&comparison->branches[i].files);
    }
    for (size_t i = 0; i < comparison->nclashes; i++)
        al_strv_clear(&comparison->clashes[i].conflicts);
    al_named_branch_clear(&comparison->into);
    free(comparison->branches);
    free(comparison->clashes);
    free(comparison->order);
    *comparison = (struct al_branch_comparison){ .branches = NULL };
}

static int look_at(const struct al_repo *repo, const char *name, const struct al_named_branch *into,
                   struct al_compared *compared, struct al_error *err)
{
    int r = al_landing_find(repo, name, &compared->branch, err);

    if (r == 0)
        r = al_git_merge_base(repo, into->oid, compared->branch.oid, &compared->base, err);
    if (r == 0)
        r = al_git_count_apart(repo, into->oid, compared->branch.oid, &compared->behind,
                               &compared->ahead, err);
    if (r == 0 && compared->base)
        r = al_git_list_changed(repo, compared->base, compared->branch.oid, &compared->files, err);
    return r;
}

static struct al_clash *add_clash(struct al_branch_comparison *comparison, size_t one, size_t other)
{
    comparison->clashes = al_reallocarray(comparison->clashes, comparison->nclashes + 1,
                                          sizeof(*comparison->clashes));
    comparison->clashes[comparison->nclashes] = (struct al_clash){ .one = one, .other = other };
    comparison->branches[one].clashes++;
    if (other != AL_COMPARE_INTO)
        comparison->branches[other].clashes++;
    return &comparison->clashes[comparison->nclashes++];
}

/* Try one merge. */
static int try_pair(struct al_branch_comparison *comparison, struct al_inmemory *memory, size_t one,
                    size_t other, struct al_error *err)
{
    const struct al_compared *ours = &comparison->branches[one];
    const struct al_compared *theirs =
        other == AL_COMPARE_INTO ? NULL : &comparison->branches[other];
    const char *with = theirs ? theirs->branch.oid : comparison->into.oid;
    al_auto(al_merged_clear) struct al_merged merged = AL_MERGED_INIT;
    al_auto(al_freep) char *base = NULL;
    int r = al_git_merge_base(al_inmemory_repo(memory), ours->branch.oid, with, &base, err);

    if (r < 0)
        return r;
    if (!base) {
        (void)add_clash(comparison, one, other);
        return 0;
    }
    if (!strcmp(base, with) || !strcmp(base, ours->branch.oid)) /* one has the other */
        return 0;
    r = al_inmemory_merge(memory, ours->branch.oid, with, &merged, err);
    if (r == 0 && merged.conflicted)
        al_conflicts_add_paths(&merged.files, &add_clash(comparison, one, other)->conflicts);
    return r;
}

static int try_all(struct al_branch_comparison *comparison, struct al_inmemory *memory,
                   struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < comparison->count; i++) {
        r = try_pair(comparison, memory, i, AL_COMPARE_INTO, err);
        for (size_t j = i + 1; r == 0 && j < comparison->count; j++)
            r = try_pair(comparison, memory, i, j, err);
    }
    return r;
}

static bool clashes_with_into(const struct al_branch_comparison *comparison, size_t branch)
{
    for (size_t i = 0; i < comparison->nclashes; i++)
        if (comparison->clashes[i].one == branch && comparison->clashes[i].other == AL_COMPARE_INTO)
            return true;
    return false;
}

/* Whether a branch had better land before another one: what conflicts with less comes first, since
 * each that lands is one less to resolve against; small ones come before large ones. */
static bool is_before(const struct al_branch_comparison *comparison, size_t one, size_t other)
{
    const struct al_compared *a = &comparison->branches[one], *b = &comparison->branches[other];
    const bool a_clashes = clashes_with_into(comparison, one);
    const bool b_clashes = clashes_with_into(comparison, other);

    if (a_clashes != b_clashes)
        return b_clashes;
    if (a->clashes != b->clashes)
        return a->clashes < b->clashes;
    return a->files.count < b->files.count;
}

/* A branch that is a part of another one is never suggested after it: it has fewer files or as many
 * conflicts.  Equal ones stay in the order in which they were given. */
static void suggest_order(struct al_branch_comparison *comparison)
{
    comparison->order = al_calloc(comparison->count + 1, sizeof(*comparison->order));
    for (size_t i = 0; i < comparison->count; i++) {
        size_t at = i;

        for (; at && is_before(comparison, i, comparison->order[at - 1]); at--)
            comparison->order[at] = comparison->order[at - 1];
        comparison->order[at] = i;
    }
}

int al_landing_compare(const struct al_repo *repo, const char *into, const struct al_strv *names,
                       struct al_branch_comparison *comparison, struct al_error *err)
{
    struct al_inmemory *memory = NULL;
    int r = al_landing_find(repo, into, &comparison->into, err);

    comparison->branches = al_calloc(names->count + 1, sizeof(*comparison->branches));
    for (size_t i = 0; r == 0 && i < names->count; i++) {
        comparison->count++;
        r = look_at(repo, names->items[i], &comparison->into, &comparison->branches[i], err);
    }
    if (r == 0)
        r = al_inmemory_open(repo, &memory, err);
    if (r == 0)
        r = try_all(comparison, memory, err);
    al_inmemory_free(memory);
    if (r == 0)
        suggest_order(comparison);
    return r;
}

/* The branches that git lists. */
struct candidates {
    const char *into; /* full name */
    struct al_strv in_worktrees, others;
};

/* "<full name> <path of the working tree>" */
static bool take_candidate(void *payload, char *const *fields)
{
    struct candidates *candidates = payload;
    const char *ref = fields[0] + strspn(fields[0], "\n"); /* for-each-ref ends lines */

    if (!al_starts_with(ref, AL_HEADS) || !strcmp(ref, candidates->into))
        return true;
    al_strv_add(*fields[1] ? &candidates->in_worktrees : &candidates->others,
                ref + strlen(AL_HEADS));
    return true;
}

int al_landing_candidates(const struct al_repo *repo, const char *into, struct al_strv *ret_names,
                          size_t *ret_more, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_freep) char *ref = al_asprintf(AL_HEADS "%s", into);
    struct candidates candidates = { .into = ref };
    const struct al_strv *chosen;
    int r;

    al_strv_adds(&command.argv, "git", "-c", AL_NO_COMMIT_GRAPH, "for-each-ref",
                 "--format=%(refname)%00%(worktreepath)%00", NULL);
    al_strv_addf(&command.argv, "--no-merged=%s", ref);
    al_strv_add(&command.argv, AL_HEADS);
    r = al_git_read_records(&repo->at, &command, 2, take_candidate, &candidates, err);
    chosen = candidates.in_worktrees.count ? &candidates.in_worktrees : &candidates.others;
    for (size_t i = 0; r == 0 && i < chosen->count && i < AL_COMPARE_BRANCHES_MAX; i++)
        al_strv_add(ret_names, chosen->items[i]);
    *ret_more = chosen->count - (r == 0 ? ret_names->count : 0);
    al_strv_clear(&candidates.in_worktrees);
    al_strv_clear(&candidates.others);
    return r;
}
