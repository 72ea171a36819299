// SPDX-License-Identifier: Apache-2.0
/* git_worktree: list, add, remove, lock and unlock linked worktrees. */
#include "toolsets/worktree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "answer/answer.h"
#include "answer/failure.h"
#include "gitops/plumbing/revision.h"
#include "gitops/repo/repo.h"
#include "gitops/worktree/add.h"
#include "gitops/worktree/find.h"
#include "gitops/worktree/list.h"
#include "gitops/worktree/lock.h"
#include "gitops/worktree/place.h"
#include "gitops/worktree/remove.h"
#include "guard/arg.h"
#include "guard/text.h"
#include "history/worktree.h"
#include "tool/resolved.h"
#include "tool/worktree_calls.h"
#include "toolsets/worktree_loss.h"
#include "util/fs.h"

#define NAME_MAX_BYTES   64
#define REF_MAX_BYTES    1024
#define REASON_MAX_BYTES 1024
#define PATH_MAX_BYTES   4096
#define MISSING_SHOWN    20

enum action { LIST, ADD, REMOVE, LOCK, UNLOCK };

struct worktree_args {
    int action; /* enum action */
    const char *name, *branch, *from, *reason;
    bool create;
    const char *working_dir;
};

static const struct al_choice actions[] = {
    { "list", LIST }, { "add", ADD },       { "remove", REMOVE },
    { "lock", LOCK }, { "unlock", UNLOCK }, { NULL, 0 },
};

static const struct al_param params[] = {
    AL_CHOICE(struct worktree_args, action, "What to do.", .choices = actions, .default_int = LIST),
    AL_STRING(struct worktree_args, name, "Its name, one path component.", .flags = AL_PARAM_NAME,
              .max_bytes = NAME_MAX_BYTES),
    AL_STRING(struct worktree_args, branch,
              "With add: the branch; default: a new one of this name.", .flags = AL_PARAM_BRANCH,
              .max_bytes = REF_MAX_BYTES),
    AL_BOOL(struct worktree_args, create, "With add: make the branch.", .default_int = 0),
    AL_STRING(struct worktree_args, from, "Where the new branch begins; default: HEAD.",
              .flags = AL_PARAM_NAME, .max_bytes = REF_MAX_BYTES),
    AL_STRING(struct worktree_args, reason, "Lock it, and why.", .max_bytes = REASON_MAX_BYTES),
    AL_STRING(struct worktree_args, working_dir, "Where git runs.",
              .flags = AL_PARAM_NO_DESCRIPTION | AL_PARAM_NAME, .max_bytes = PATH_MAX_BYTES),
};

static bool is(const void *p, enum action action)
{
    return ((const struct worktree_args *)p)->action == (int)action;
}

static bool is_list(const struct al_call *call, const void *p)
{
    (void)call;
    return is(p, LIST);
}

static bool is_add(const struct al_call *call, const void *p)
{
    (void)call;
    return is(p, ADD);
}

static bool is_lock(const struct al_call *call, const void *p)
{
    (void)call;
    return is(p, LOCK);
}

static bool is_unlock(const struct al_call *call, const void *p)
{
    (void)call;
    return is(p, UNLOCK);
}

static int check_unused(const struct worktree_args *args, struct al_error *err)
{
    const struct {
        const char *name;
        bool given, fits;
    } given[] = {
        { "name", args->name, args->action != LIST },
        { "branch", args->branch, args->action == ADD },
        { "create", args->create, args->action == ADD },
        { "from", args->from, args->action == ADD },
        { "reason", args->reason, args->action == ADD || args->action == LOCK },
    };

    for (size_t i = 0; i < AL_COUNT(given); i++)
        if (given[i].given && !given[i].fits)
            return al_error_set(err, AL_ERR_BAD_ARGS, "%s: has no meaning with action %s",
                                given[i].name, actions[args->action].name);
    return 0;
}

static int check(const void *p, struct al_error *err)
{
    const struct worktree_args *args = p;
    int r = check_unused(args, err);

    if (r < 0 || args->action == LIST)
        return r;
    if (!args->name)
        return al_error_set(err, AL_ERR_BAD_ARGS, "name: required with action %s",
                            actions[args->action].name);
    r = al_worktree_check_name("name", args->name, err);
    if (r == 0 && args->action == ADD)
        r = al_arg_check_branch(args->branch ? "branch" : "name",
                                args->branch ? args->branch : args->name, err);
    if (r == 0 && args->from)
        r = al_arg_check_revision("from", args->from, err);
    if (r == 0 && args->from && args->branch && !args->create)
        r = al_error_set(err, AL_ERR_BAD_ARGS,
                         "from: needs create, since branch names one that "
                         "exists");
    if (r == 0 && args->reason && strpbrk(args->reason, "\r\n"))
        r = al_error_set(err, AL_ERR_BAD_ARGS, "reason: must be one line");
    return r;
}

/* Rules see the branch that will be made. */
static void apply_session(const struct al_session *session, void *p)
{
    struct worktree_args *args = p;

    (void)session;
    if (args->action != ADD || args->branch)
        return;
    args->branch = args->name;
    args->create = true;
}

#define START "start" /* a resolved value: the commit that a new branch is made at */

#define LOSS  "loss" /* what a removal takes along, as the question has it */

/* The worktree that an action other than add is about. */
static int find(struct al_call *call, const char *name, struct al_worktree_place *place,
                struct al_worktree_found *found, struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);
    int r = al_worktree_place_find(repo, false, place, err);

    return r < 0 ? r : al_worktree_find(repo, place, name, found, err);
}

/* What cannot be told keeps nobody from removing it. */
static int resolve_loss(struct al_call *call, const char *name, struct al_resolved *out,
                        struct al_error *err)
{
    al_auto(al_worktree_place_clear) struct al_worktree_place place = AL_WORKTREE_PLACE_INIT;
    al_auto(al_worktree_found_clear) struct al_worktree_found found = AL_WORKTREE_FOUND_INIT;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    al_auto(al_str_clear) struct al_str loss = AL_STR_INIT;
    int r = al_call_is_saved(call) ? 0 : find(call, name, &place, &found, &why);

    if (r == 0 && found.is_whole)
        r = al_worktree_add_loss(call, found.top, &loss, &why);
    if (r == AL_ERR_TIMEOUT || r == AL_ERR_CANCELLED)
        return al_error_set(err, (enum al_status)r, "%s", why.message);
    if (r < 0)
        al_str_adds(&loss, "  what it has cannot be told\n");
    al_resolved_add(out, LOSS, loss.buf);
    return 0;
}

static int resolve(struct al_call *call, const void *p, struct al_resolved *out,
                   struct al_error *err)
{
    const struct worktree_args *args = p;
    al_auto(al_freep) char *oid = NULL;
    int r;

    if (args->action == REMOVE)
        return resolve_loss(call, args->name, out, err);
    if (args->action != ADD || !args->create)
        return 0;
    r = al_git_resolve_commit(al_call_repo(call), args->from ? args->from : "HEAD",
                              al_call_budget(call), &oid, err);
    if (r == 0)
        al_resolved_add(out, START, oid);
    return r;
}

static struct al_worktree_add_options add_options(const struct al_call *call,
                                                  const struct worktree_args *args)
{
    return (struct al_worktree_add_options){
        .name = args->name,
        .branch = args->branch,
        .start = al_call_resolved(call, START),
        .locks = args->reason,
        .reason = args->reason && *args->reason ? args->reason : NULL,
        .agent = al_call_agent(call),
    };
}

/* As git, which asks for --force. */
static int check_submodules(const char *name, const struct al_worktree_found *found,
                            struct al_error *err)
{
    al_auto(al_freep) char *dir = al_fs_join(found->git_dir, "modules");
    struct stat st;
    int r;

    if (lstat(dir, &st) < 0)
        return 0;
    r = al_error_set(err, AL_ERR_EXECUTION,
                     "The worktree '%s' has repositories of submodules, and without checkpoints "
                     "they would be gone for good",
                     name);
    if (err)
        err->remedy = "A user can remove it with 'git worktree remove --force'.";
    return r;
}

static int check_remove(struct al_call *call, const char *name,
                        const struct al_worktree_place *place,
                        const struct al_worktree_found *found, struct al_error *err)
{
    al_auto(al_freep) char *running = al_call_running_in(call, found->top);
    int r = al_worktree_check_removable(place, found, name, err);

    if (r < 0)
        return r;
    if (!strcmp(found->top, al_call_repo(call)->at.top))
        return al_error_set(err, AL_ERR_EXECUTION,
                            "This call runs in the worktree '%s'; remove it from another one",
                            name);
    if (running)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "A call runs in the worktree '%s': %s; try again when it has ended",
                            name, running);
    return found->is_whole && !al_call_is_saved(call) ? check_submodules(name, found, err) : 0;
}

static int authorize_add(struct al_call *call, const struct worktree_args *args,
                         struct al_error *err)
{
    al_auto(al_worktree_place_clear) struct al_worktree_place place = AL_WORKTREE_PLACE_INIT;
    const struct al_worktree_add_options options = add_options(call, args);
    al_auto(al_freep) char *top = NULL;
    int r = al_worktree_place_find(al_call_repo(call), false, &place, err);

    if (r < 0)
        return r;
    top = al_fs_join(place.dir, args->name);
    r = al_call_check_granted_below(call, top, true, err);
    /* What a killed airlock left is removed under the lock, and everything is checked there again.
     */
    return r < 0 || al_worktree_has_unfinished(al_call_repo(call))
               ? r
               : al_worktree_check_add(al_call_repo(call), &place, &options, al_call_budget(call),
                                       err);
}

static int authorize(struct al_call *call, const void *p, struct al_error *err)
{
    const struct worktree_args *args = p;
    al_auto(al_worktree_place_clear) struct al_worktree_place place = AL_WORKTREE_PLACE_INIT;
    al_auto(al_worktree_found_clear) struct al_worktree_found found = AL_WORKTREE_FOUND_INIT;
    int r;

    if (args->action == LIST)
        return 0;
    al_worktree_tidy(al_call_repo(call), true, NULL);
    if (args->action == ADD)
        return authorize_add(call, args, err);
    r = find(call, args->name, &place, &found, err);
    if (r == 0)
        r = al_call_check_granted_below(call, found.top, true, err);
    if (r == 0 && args->action == REMOVE)
        return check_remove(call, args->name, &place, &found, err);
    return r < 0 || found.id ? r : al_worktree_check_removable(&place, &found, args->name, err);
}

static void add_copies(const struct al_worktree_copies *copies, struct al_str *out)
{
    if (copies->bytes > AL_WORKTREE_COPIES_MAX_BYTES)
        al_str_addf(out,
                    "\nThe files that .worktreeinclude names have %" PRIu64
                    " bytes, more than 100 MB: none was copied.",
                    copies->bytes);
    else if (copies->copied)
        al_str_addf(out, "\nCopied %zu ignored file%s that .worktreeinclude names.", copies->copied,
                    copies->copied == 1 ? "" : "s");
    if (copies->links)
        al_str_addf(out, "\n%zu link%s not copied.", copies->links,
                    copies->links == 1 ? " was" : "s were");
}

/* Those that are not there are named: a build in the worktree would miss them. */
static void add_submodules(const struct al_worktree_submodules_made *made, struct al_str *out)
{
    if (made->count)
        al_str_addf(out, "\nMade %zu submodule%s from what is here.", made->count,
                    made->count == 1 ? "" : "s");
    if (made->missing.count)
        al_str_adds(out, "\nNot made, since airlock follows no address for it:");
    for (size_t i = 0; i < made->missing.count && i < MISSING_SHOWN; i++)
        al_str_addf(out, "\n  %s", made->missing.items[i]);
    if (made->missing.count > MISSING_SHOWN)
        al_str_addf(out, "\n  and %zu more", made->missing.count - MISSING_SHOWN);
}

static int add(struct al_call *call, const void *p, struct al_result *result, struct al_error *err)
{
    const struct worktree_args *args = p;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    const struct al_worktree_add_options options = add_options(call, args);
    al_auto(al_worktree_added_clear) struct al_worktree_added added = { .top = NULL };
    al_auto(al_freep) char *top = NULL;
    al_auto(al_freep) char *branch = al_text_sanitize_line(args->branch);
    int r = al_worktree_add(al_call_repo(call), &options, al_call_budget(call), &added, err);

    if (r < 0)
        return r;
    top = al_text_sanitize_line(added.top);
    al_str_addf(&text, "Made the worktree '%s' at %s, on the %sbranch '%s'%s%.8s.%s", args->name,
                top, options.start ? "new " : "", branch, options.start ? " at " : "",
                options.start ? options.start : "", options.locks ? " It is locked." : "");
    add_submodules(&added.submodules, &text);
    add_copies(&added.copies, &text);
    al_str_addc(&text, '\n');
    al_answer_done(call, &text, result);
    return 0;
}

static int remove_worktree(struct al_call *call, const void *p, struct al_result *result,
                           struct al_error *err)
{
    const struct worktree_args *args = p;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_worktree_place_clear) struct al_worktree_place place = AL_WORKTREE_PLACE_INIT;
    al_auto(al_worktree_found_clear) struct al_worktree_found found = AL_WORKTREE_FOUND_INIT;
    const bool saved = al_call_is_saved(call);
    int r = find(call, args->name, &place, &found, err);

    if (r == 0)
        r = check_remove(call, args->name, &place, &found, err);
    if (r == 0)
        r = al_worktree_put_aside(al_call_repo(call), &place, &found, args->name, saved,
                                  al_call_budget(call), err);
    if (r < 0)
        return r;
    al_str_addf(&text, "Removed the worktree '%s'. Its branch stays.%s", args->name,
                saved ? " git_undo, or a user with 'airlock rollback', brings it back whole, "
                        "ignored files included."
                      : " What was not committed is gone for good: there is no checkpoint.");
    al_str_addc(&text, '\n');
    al_answer_done(call, &text, result);
    return 0;
}

static int set_lock(struct al_call *call, const void *p, struct al_result *result,
                    struct al_error *err)
{
    const struct worktree_args *args = p;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_worktree_place_clear) struct al_worktree_place place = AL_WORKTREE_PLACE_INIT;
    al_auto(al_worktree_found_clear) struct al_worktree_found found = AL_WORKTREE_FOUND_INIT;
    bool locks = args->action == LOCK;
    int r = find(call, args->name, &place, &found, err);

    if (r == 0 && !found.id)
        r = al_worktree_check_removable(&place, &found, args->name, err);
    if (r == 0)
        r = al_worktree_set_lock(al_call_repo(call), &found, args->name, locks, args->reason, err);
    if (r < 0)
        return r;
    al_str_addf(&text, "%s the worktree '%s'.\n", locks ? "Locked" : "Unlocked", args->name);
    al_answer_done(call, &text, result);
    return 0;
}

static const struct al_operation operations[] = {
    { "list", is_list, AL_READS, al_worktree_tool_list, AL_ASKS_NEVER },
    { "add", is_add, AL_WRITES_REFS, add, AL_ASKS_NEVER },
    { "lock", is_lock, AL_WRITES_REFS, set_lock, AL_ASKS_NEVER },
    { "unlock", is_unlock, AL_WRITES_REFS, set_lock, AL_ASKS_UNLESS_SAVED },
    { "remove", NULL, AL_WRITES_REFS | AL_DISCARDS_WORK, remove_worktree, AL_ASKS_UNLESS_SAVED },
};

static const char *linked_worktree(const struct al_operation *op, const void *p,
                                   bool *ret_only_locks)
{
    const struct worktree_args *args = p;

    (void)op;
    *ret_only_locks = args->action == LOCK || args->action == UNLOCK;
    return args->name;
}

static int preview(struct al_call *call, const struct al_operation *op, const void *p,
                   struct al_str *out, struct al_error *err)
{
    const char *loss = al_call_resolved(call, LOSS);

    (void)op;
    (void)p;
    (void)err;
    if (loss && *loss)
        al_str_addf(out, "Gone for good, since there is no checkpoint:\n%s", loss);
    return 0;
}

static void summarize(const struct al_operation *op, const void *p, struct al_str *out)
{
    const struct worktree_args *args = p;

    if (args->action == LIST)
        al_str_adds(out, "List worktrees");
    else if (args->action == ADD)
        al_str_addf(out, "Make the worktree %s on the %sbranch %s", args->name,
                    args->create ? "new " : "", args->branch);
    else
        al_str_addf(out, "%c%s the worktree %s", op->name[0] - ('a' - 'A'), op->name + 1,
                    args->name);
    if (args->from)
        al_str_addf(out, " from %s", args->from);
}

const struct al_tool al_tool_git_worktree = {
    .name = "git_worktree",
    .title = "Worktrees",
    .about = "Linked worktrees, one for each agent: list, add, remove (airlock rollback brings it "
             "back, all but ignored files), lock or unlock.",
    .params = params,
    .nparams = AL_COUNT(params),
    .args_size = sizeof(struct worktree_args),
    .working_dir_offset = offsetof(struct worktree_args, working_dir),
    .is_terse = true,
    .complete_error = al_failure_complete,
    .operations = operations,
    .noperations = AL_COUNT(operations),
    .check = check,
    .apply_session = apply_session,
    .resolve = resolve,
    .authorize = authorize,
    .preview = preview,
    .linked_worktree = linked_worktree,
    .moves_always = AL_MOVES_NAMED, /* only the branch that an add makes */
    .summarize = summarize,
};
