// SPDX-License-Identifier: Apache-2.0
/* git_branch: list branches, create, rename or delete them; with git's words, with structured
 * results and with text of our own. */
#include "verbs/porcelain/branch.h"

#include <inttypes.h>

#include "git/git_lock.h"
#include "git/plumbing/revision.h"
#include "git/reading/read_object.h"
#include "git/refs.h"
#include "guard/text.h"
#include "tools/private.h"
#include "verbs/worktree/list.h"

enum action { LIST, CREATE, RENAME, DELETE };

struct branch_args {
    int action; /* enum action */
    const char *name, *new_name, *from, *merged_into, *contains;
    struct al_strv names;
    bool remote, force;
    /* Of the toolset git, whose arguments name the action. */
    bool list_all, list_remote;
    const char *create, *delete, *force_delete, *rename;
    struct al_opt_int timeout_ms;
    const char *working_dir;
};

/* In the order of the schemas. */
static const struct al_choice workflow_actions[] = {
    { "list", LIST }, { "create", CREATE }, { "delete", DELETE }, { "rename", RENAME }, { NULL, 0 },
};
static const struct al_choice actions[] = {
    { "list", LIST }, { "create", CREATE }, { "rename", RENAME }, { "delete", DELETE }, { NULL, 0 },
};

AL_WHEN(is_list, struct branch_args, args->action == LIST)
AL_WHEN(is_rename, struct branch_args, args->action == RENAME)
AL_WHEN(is_force_delete, struct branch_args, args->action == DELETE && args->force)
AL_WHEN(is_safe_delete, struct branch_args, args->action == DELETE && !args->force)

/* The branch to rename: the one that HEAD is on unless it is named.  NULL: HEAD is on none. */
static const char *renamed_branch(const struct al_call *call, const struct branch_args *args)
{
    const char *ref = args->name ? NULL : al_call_resolved(call, AL_RESOLVED_BRANCH);

    return ref && al_starts_with(ref, "refs/heads/") ? ref + strlen("refs/heads/") : args->name;
}

/* The branches to delete. */
static void add_deleted(const struct branch_args *args, struct al_strv *out)
{
    if (args->name)
        al_strv_add(out, args->name);
    al_strv_add_all(out, &args->names);
}

/* The commits of the branches that go may change during approval.  In `everyday` the commit that a
 * branch begins at is part of what is approved, and so is the branch that is renamed without being
 * named: rules look at it. */
static int resolve(struct al_call *call, struct al_error *err)
{
    const struct al_location *at = &al_call_repo(call)->at;
    const struct branch_args *args = al_call_args(call);
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT, refs = AL_STRV_INIT;

    if (args->action == DELETE || args->action == RENAME)
        add_deleted(args, &names);
    for (size_t i = 0; i < names.count; i++) {
        al_auto(al_freep) char *ref = al_asprintf("refs/heads/%s", names.items[i]);
        al_auto(al_freep) char *oid = al_ref_oid(at, ref);

        al_call_resolve(call, "old", oid);
    }
    if (!al_call_tool(call)->is_everyday)
        return 0;
    if (args->action == RENAME && !args->name)
        al_ref_follow_head(at, &refs);
    if (refs.count)
        al_call_resolve(call, AL_RESOLVED_BRANCH, refs.items[0]);
    return args->action == CREATE ? al_resolve_commit(call, args->from, err) : 0;
}

static const char *short_name(const char *ref)
{
    static const char *const prefixes[] = { "refs/heads/", "refs/remotes/" };

    for (size_t i = 0; i < AL_COUNT(prefixes); i++)
        if (al_starts_with(ref, prefixes[i]))
            return ref + strlen(prefixes[i]);
    return ref;
}

/* git deletes a branch that its upstream has, or, if it has none, HEAD. */
static int look_at_commits(struct al_call *call, const char *name, const struct al_strv *current,
                           bool *ret_found, struct al_error *err)
{
    al_auto(al_branch_unmerged_clear) struct al_branch_unmerged unmerged = { .ahead = 0 };
    const char *here = current->count ? current->items[0] : "HEAD";
    const char *remedy = al_call_session(call)->checkpoints
                             ? "With force it goes all the same; git_undo brings it back."
                             : "With force it goes all the same, and nothing brings it back.";
    const char *target;
    int r = al_git_branch_unmerged(al_call_repo(call), name, &unmerged, err);

    if (r < 0 || !unmerged.ahead)
        return r;
    *ret_found = true;
    target = strcmp(unmerged.target, "HEAD") != 0 ? short_name(unmerged.target) : here;
    if (unmerged.is_in_head)
        return al_failure_set(err, remedy, "'%s' is merged into %s, but %" PRIu64 " ahead of %s",
                              name, here, unmerged.ahead, target);
    return al_failure_set(err, remedy,
                          "'%s' is not merged: %" PRIu64 " of its commits %s not in %s", name,
                          unmerged.ahead, unmerged.ahead == 1 ? "is" : "are", target);
}

/* Fail if git would not delete a branch.
 *
 * @param ret_found  That is why, and not that it could not be looked at. */
static int look_at(struct al_call *call, const char *name, bool force, bool *ret_found,
                   struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_strv_clear) struct al_strv current = AL_STRV_INIT;
    int r;

    al_ref_head_branches(&repo->at, &current);
    *ret_found = true;
    if (!al_has_ref(call, "refs/heads/", name)) {
        r = al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_BRANCH_NOT_FOUND,
                              "There is no branch '%s'", name);
        r = al_error_remedy(r, err, "git_branch lists the branches there are.");
        return al_error_about(al_error_reason(r, err, "not_found"), err, AL_SUBJECT_BRANCH, name);
    }
    if (al_strv_contains(&current, name))
        return al_failure_set(err, "git_switch to another branch first.",
                              "'%s' is the current branch", name);
    r = al_worktree_check_free(repo, name, true, err);
    if (r < 0 || force)
        return r;
    *ret_found = false;
    return look_at_commits(call, name, &current, ret_found, err);
}

/* So many branches are told. */
#define TOLD_MAX 10

/* Fail if git would not delete the branches, before the first one goes: with the only reason, or
 * all of them. */
static int check_delete(struct al_call *call, const struct branch_args *args, bool *ret_found,
                        struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;
    const char *remedy = NULL;
    enum al_code code = AL_CODE_NONE;
    size_t count = 0;
    int r = 0;

    add_deleted(args, &names);
    for (size_t i = 0; i < names.count; i++) {
        bool found = false;
        const int failure = look_at(call, names.items[i], args->force, &found, err);

        if (failure < 0 && !found)
            return failure;
        if (failure < 0)
            r = failure;
        if (failure == 0 || ++count > TOLD_MAX)
            continue;
        al_str_addf(&message, "%s%s", count > 1 ? "; " : "", err->message);
        remedy = count == 1 || (remedy && err->remedy && !strcmp(remedy, err->remedy)) ? err->remedy
                                                                                       : NULL;
        code = code == AL_CODE_NONE ? err->code : code;
    }
    *ret_found = count;
    if (count > TOLD_MAX)
        al_str_addf(&message, "; and %zu more", count - TOLD_MAX);
    if (count > 1)
        r = al_error_remedy(al_error_set_code(err, AL_ERR_EXECUTION, code, "%s", message.buf), err,
                            remedy ? remedy
                                   : "Nothing was deleted; git_branch lists the branches.");
    return r;
}

/* Show the commits that are lost.  A branch that git refuses to delete needs no question; the
 * toolset everyday has looked already. */
static int preview_delete(struct al_call *call, const struct branch_args *args, struct al_str *out,
                          struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    bool found = false;
    int r = al_call_tool(call)->is_everyday ? 0 : check_delete(call, args, &found, err);

    if (found) {
        al_error_clear(err);
        al_call_plan(call)->skips_approval = true;
        return 0;
    }
    add_deleted(args, &names);
    for (size_t i = 0; i < names.count && r == 0; i++)
        r = al_git_branch_preview(al_call_repo(call), names.items[i], out, err);
    return r;
}

static int preview(struct al_call *call, struct al_str *out, struct al_error *err)
{
    const struct branch_args *args = al_call_args(call);
    const char *at = al_call_resolved(call, AL_RESOLVED_COMMIT);
    const char *renamed = NULL;
    int r = 0;

    if (args->action == DELETE)
        return preview_delete(call, args, out, err);
    if (args->action == RENAME) {
        renamed = renamed_branch(call, args);
        return renamed
                   ? al_git_branch_rename_check(al_call_repo(call), renamed, args->new_name, err)
                   : 0;
    }
    if (args->action == CREATE)
        r = al_git_branch_create_check(al_call_repo(call), args->name, err);
    return r < 0 || !at ? r : al_outcome_add_commit(call, "At ", at, "\n", out, err);
}

/* Create, delete or rename one branch. */
static int change(struct al_call *call, const struct branch_args *args, const char *name,
                  struct al_git_output *output, struct al_error *err)
{
    struct al_repo *repo = al_call_repo(call);
    size_t max_bytes = al_call_max_bytes(call);

    if (args->action == CREATE)
        return al_git_branch_create_from(repo, name, NULL, NULL, err);
    if (args->action == RENAME)
        return al_git_branch_rename(repo, name, args->new_name, max_bytes, output, err);
    return al_git_branch_delete(repo, name, args->force, max_bytes, output, err);
}

/* "Created branch 'x'" */
static char *done_text(const struct branch_args *args)
{
    if (args->action == RENAME)
        return al_asprintf("Renamed branch '%s' to '%s'", args->name, args->new_name);
    return al_asprintf("%s branch '%s'", args->action == CREATE ? "Created" : "Deleted",
                       args->name);
}

/* git refuses to delete what another worktree has checked out, but renames it under that. */
static int authorize(struct al_call *call, struct al_error *err)
{
    const struct branch_args *args = al_call_args(call);
    const char *name = args->action == RENAME ? renamed_branch(call, args) : NULL;
    bool found;

    if (args->action == DELETE && al_call_tool(call)->is_everyday)
        return check_delete(call, args, &found, err);
    if (!name && args->action == DELETE)
        name = args->name;
    return name ? al_worktree_check_free(al_call_repo(call), name, true, err) : 0;
}

/* The part that the tools have. */
/* A reference that goes may be packed, and its upstream is in the configuration. */
#define CHANGES (AL_WRITES_REFS | AL_WRITES_CONFIG)
#define LOCKS   .locks = (AL_LOCK_CONFIG | AL_LOCK_PACKED_REFS)
#define DELETED LOCKS, .deletes = true
#define RENAMES LOCKS, .moves = AL_MOVES_NAMED | AL_MOVES_HEAD
#define SHARED                                                                                     \
    .name = "git_branch", .title = "Branches", .moves = AL_MOVES_NAMED, .resolve = resolve,        \
    .authorize = authorize, .preview = preview

#define DELETES "[action=delete?[name?[force?Force delete][!force?Delete] branch '{name}']"
#define SUMMARY                                                                                    \
    "[action=list?List branches][action=create?Create branch '{name}']"                            \
    "[action=rename?Rename branch '[name?{name}][!name?HEAD]' to '{new_name}']"

/* The toolset git. */

static const struct al_param git_params[] = {
    AL_BOOL(struct branch_args, list_all, "List remote ones too.",
            .unless = "rename force_delete delete create"),
    AL_BOOL(struct branch_args, list_remote, "List remote ones only.",
            .unless = "rename force_delete delete create"),
    AL_STRING(struct branch_args, create, "Create this branch at HEAD.", .flags = AL_PARAM_BRANCH,
              .check = al_arg_check_branch, .unless = "rename force_delete delete"),
    AL_STRING(struct branch_args, delete, "Delete this merged branch.",
              .flags = AL_PARAM_BRANCH | AL_PARAM_DELETED_BRANCH, .check = al_arg_check_branch,
              .unless = "rename force_delete"),
    AL_STRING(struct branch_args, force_delete, "Delete this branch, merged or not.",
              .flags = AL_PARAM_BRANCH | AL_PARAM_DELETED_BRANCH, .check = al_arg_check_branch,
              .unless = "rename"),
    AL_STRING(struct branch_args, rename, "Rename this branch; needs new_name.",
              .flags = AL_PARAM_BRANCH, .check = al_arg_check_branch),
    AL_STRING(struct branch_args, new_name, "The new name, with rename.", .flags = AL_PARAM_BRANCH,
              .check = al_arg_check_branch),
    AL_GIT_COMMON_ROWS(struct branch_args),
};

/* The arguments of the other dialects say the same. */
static int git_check(void *p, struct al_error *err)
{
    struct branch_args *args = p;

    args->action = args->rename                         ? RENAME
                   : args->force_delete || args->delete ? DELETE
                   : args->create                       ? CREATE
                                                        : LIST;
    args->force = args->force_delete;
    args->name = args->rename         ? args->rename
                 : args->force_delete ? args->force_delete
                 : args->delete       ? args->delete
                                      : args->create;
    return args->rename && !args->new_name
               ? al_error_set(err, AL_ERR_BAD_ARGS, "rename requires new_name")
               : 0;
}

static int git_list(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct branch_args *args = al_call_args(call);
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r = al_git_branch_list(al_call_repo(call), args->list_all, args->list_remote,
                               al_call_max_bytes(call), &output, err);

    return al_call_shape_text(call, r, &output, "", result);
}

/* git prints nothing when it creates or renames a branch; the result then says that it did. */
static int git_change(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct branch_args *args = al_call_args(call);
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_freep) char *text = done_text(args);
    int r = change(call, args, args->name, &output, err);

    if (args->action != DELETE && !output.out.out.len)
        al_text_sanitize(text, strlen(text), &output.out.out);
    return al_call_shape_text(call, r, &output, "", result);
}

static const struct al_operation git_operations[] = {
    { "rename", is_rename, CHANGES, git_change, AL_ASKS_BY_EFFECTS, RENAMES },
    { "force_delete", is_force_delete, CHANGES | AL_DISCARDS_WORK, git_change, AL_ASKS_BY_EFFECTS,
      DELETED },
    { "delete", is_safe_delete, CHANGES, git_change, AL_ASKS_BY_EFFECTS, DELETED },
    { "list", is_list, AL_READS, git_list, AL_ASKS_BY_EFFECTS },
    { "create", NULL, CHANGES, git_change, AL_ASKS_BY_EFFECTS },
};

const struct al_tool al_tool_git_branch = {
    SHARED,
    .about = "List branches, or create, delete or rename one.",
    .summary = "[rename?Rename branch '{rename}' to '{new_name}'][!rename?"
               "[force_delete?Force delete branch '{force_delete}'][!force_delete?"
               "[delete?Delete branch '{delete}'][!delete?[create?Create branch '{create}']"
               "[!create?List branches]]]]",
    AL_TOOL_ROWS(git_params, git_operations),
    AL_DIALECT_TOOL(struct branch_args),
    .check = git_check,
};

/* The toolset workflow. */

static const struct al_param workflow_params[] = {
    AL_CHOICE(struct branch_args, action, "What to do.", .choices = workflow_actions,
              .flags = AL_PARAM_REQUIRED),
    AL_STRING(struct branch_args, name, "Branch to create, delete or rename.",
              .flags = AL_PARAM_BRANCH | AL_PARAM_DELETED_BRANCH, .check = al_arg_check_branch,
              .actions = "create delete rename"),
    AL_STRING_AS(struct branch_args, new_name, "newName", "New name (rename).",
                 .flags = AL_PARAM_BRANCH, .check = al_arg_check_branch, .actions = "rename"),
    AL_BOOL(struct branch_args, remote, "List remote-tracking branches as well.",
            .actions = "list"),
    AL_BOOL(struct branch_args, force, "Delete even if not merged.", .actions = "delete"),
    AL_WORKFLOW_CWD_ROW(struct branch_args),
};

static int workflow_check(void *p, struct al_error *err)
{
    const struct branch_args *args = p;

    if (args->action != LIST && !args->name)
        return al_error_set(err, AL_ERR_BAD_ARGS, "name is required for action '%s'",
                            actions[args->action].name);
    if (args->action == RENAME && !args->new_name)
        return al_error_set(err, AL_ERR_BAD_ARGS, "newName is required for action 'rename'");
    return 0;
}

/** The branches while git lists them. */
struct listing {
    json_t *branches;
    size_t room; /* bytes that objects may have yet */
    bool truncated;
};

static bool list_branch(void *payload, const struct al_listed_ref *branch)
{
    struct listing *listing = payload;
    json_t *object = json_pack(
        "{s:o, s:b, s:o*, s:o*, s:s}", "name", al_json_string(branch->name), "current",
        branch->is_current, "remote", branch->is_remote ? json_true() : NULL, "upstream",
        *branch->upstream ? al_json_string(branch->upstream) : NULL, "hash", branch->hash);

    listing->truncated = !al_workflow_append(listing->branches, object, &listing->room);
    return !listing->truncated;
}

static int workflow_list(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct branch_args *args = al_call_args(call);
    const struct al_refs_query query = { .remotes = args->remote, .ids = true };
    al_auto(al_json_decrefp) json_t *branches = al_json_array();
    al_auto(al_freep) char *current = NULL;
    struct listing listing = { .branches = branches, .room = al_call_max_bytes(call) };
    int r = al_git_read_refs(al_call_repo(call), &query, list_branch, &listing, err);

    if (r < 0)
        return r;
    current = al_current_branch(al_call_repo(call));
    al_result_set(result, "branches", al_take(&branches));
    al_result_set(result, "current", al_json_string(current ? current : "HEAD"));
    result->truncated = listing.truncated;
    return 0;
}

static int workflow_change(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct branch_args *args = al_call_args(call);
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_freep) char *text = done_text(args);
    const char *branch = args->action == RENAME ? args->new_name : args->name;
    int r = change(call, args, args->name, &output, err);

    if (r < 0)
        return r;
    al_result_set(result, "message", al_json_string(text));
    al_result_set(result, "branch", al_json_string(branch));
    return 0;
}

static const struct al_operation workflow_operations[] = {
    { "list", is_list, AL_READS, workflow_list, AL_ASKS_NEVER },
    { "create", NULL, CHANGES, workflow_change, AL_ASKS_NEVER },
    { "rename", is_rename, CHANGES, workflow_change, AL_ASKS_NEVER, RENAMES },
    { "delete", is_safe_delete, CHANGES, workflow_change, AL_ASKS_ALWAYS, DELETED },
    { "force_delete", NULL, CHANGES | AL_DISCARDS_WORK, workflow_change, AL_ASKS_ALWAYS, DELETED },
};

/* clang-format off */
static const char output_schema[] = AL_JSON([
    {
        "branches": [{"name": "", "current": true, "remote?": true, "upstream?": "", "hash": ""}],
        "current": ""
    },
    {"message": "", "branch": ""}
]);
/* clang-format on */

const struct al_tool al_tool_workflow_branch = {
    SHARED,
    .about = "List branches, or create, delete or rename one.",
    .summary = SUMMARY DELETES "]",
    AL_TOOL_ROWS(workflow_params, workflow_operations),
    AL_WORKFLOW_TOOL(struct branch_args),
    .check = workflow_check,
    .output_schema = output_schema,
};

/* The toolset everyday. */

/* More are only counted. */
#define BRANCHES_MAX 200
#define TAGS_MAX     100

/* A listing while it is written. */
struct showing {
    const struct al_refs_query *query;
    struct al_str text;
    struct al_strv merged; /* names merged into the default branch */
    const char *base;      /* the default branch; NULL: none, or tags are listed */
    size_t listed, max;
    bool in_remotes;
};

static bool take_merged(void *payload, const struct al_listed_ref *ref)
{
    struct showing *showing = payload;

    al_strv_add(&showing->merged, ref->name);
    return true;
}

static void add_facts(const struct showing *showing, const struct al_listed_ref *ref,
                      struct al_str *out)
{
    if (*ref->upstream)
        al_place_addf(out, ", %s %s %s", *ref->track ? ref->track : "even",
                      *ref->track ? "of" : "with", ref->upstream);
    if (!ref->is_remote && showing->base && strcmp(ref->name, showing->base) != 0)
        al_str_addf(out, ", %s",
                    al_strv_contains(&showing->merged, ref->name) ? "merged" : "not merged");
    if (*ref->worktree && !ref->is_current)
        al_place_addf(out, ", in %s", ref->worktree);
}

/* "* main a1b2c3d 2026-02-07 subject (ahead 3 of origin/main)", "v1.2 a1b2c3d 2026-02-07  subject"
 */
static bool take_ref(void *payload, const struct al_listed_ref *ref)
{
    struct showing *showing = payload;
    struct al_str *out = &showing->text;
    al_auto(al_str_clear) struct al_str facts = AL_STR_INIT;

    if (showing->listed++ >= showing->max)
        return true;
    if (ref->is_remote && !showing->in_remotes) {
        showing->in_remotes = true;
        al_str_adds(out, "remote-tracking:\n");
    }
    if (!showing->query->tags)
        al_str_adds(out, ref->is_current ? "* " : "  ");
    al_place_addf(out, "%s %s %s  %s", ref->name, ref->hash, ref->date, ref->subject);
    add_facts(showing, ref, &facts);
    if (facts.len)
        al_str_addf(out, " (%s)", facts.buf + strlen(", "));
    al_str_addc(out, '\n');
    return true;
}

int al_show_refs(struct al_call *call, const struct al_refs_query *query, struct al_result *result,
                 struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);
    const bool is_name = query->pattern && !strpbrk(query->pattern, "*?[\\");
    al_auto(al_freep) char *safe = is_name ? al_text_sanitize_line(query->pattern) : NULL;
    struct showing showing = { .query = query,
                               .text = AL_STR_INIT,
                               .max = query->tags ? TAGS_MAX : BRANCHES_MAX };
    al_auto(al_freep) char *base = query->tags ? NULL : al_git_default_branch(repo);
    struct al_refs_query merged = { .merged_into = NULL };
    int r = 0;

    merged.merged_into = showing.base = base ? short_name(base) : NULL;
    if (base)
        r = al_git_read_refs(repo, &merged, take_merged, &showing, err);
    if (r == 0)
        r = al_git_read_refs(repo, query, take_ref, &showing, err);
    if (r == 0) {
        /* The agent may want to make the branch that it names. */
        if (!showing.listed && !query->tags && is_name && !query->contains && !query->merged_into)
            al_str_addf(&showing.text, "No branch is called '%s'; action create makes one.\n",
                        safe);
        else if (!showing.listed)
            al_str_adds(&showing.text, !query->tags     ? "No branches match.\n"
                                       : query->pattern ? "No tags match.\n"
                                                        : "No tags.\n");
        if (showing.listed > showing.max)
            al_str_addf(&showing.text, "-- %s more, older ones: %s takes a glob\n",
                        al_counted(showing.listed - showing.max, NULL, NULL).text,
                        query->tags ? "pattern" : "name");
        al_answer_text(&showing.text, result);
    }
    al_str_clear(&showing.text);
    al_strv_clear(&showing.merged);
    return r;
}

#define REVISION_ROW(field, with)                                                                  \
    AL_STRING(struct branch_args, field, NULL, .actions = (with), .flags = AL_PARAM_NAME,          \
              .check = al_arg_check_revision)

static const struct al_param everyday_params[] = {
    AL_CHOICE(struct branch_args, action, NULL, .choices = actions, .default_int = LIST),
    AL_STRING(struct branch_args, name, "A glob for list.",
              .flags = AL_PARAM_BRANCH | AL_PARAM_DELETED_BRANCH),
    AL_STRINGS(struct branch_args, names, "Several to delete.",
               .flags = AL_PARAM_BRANCH | AL_PARAM_DELETED_BRANCH, .check = al_arg_check_branch,
               .actions = "delete"),
    AL_STRING(struct branch_args, new_name, NULL, .flags = AL_PARAM_BRANCH,
              .check = al_arg_check_branch, .actions = "rename"),
    REVISION_ROW(from, "create"),
    REVISION_ROW(merged_into, "list"),
    AL_BOOL(struct branch_args, force, "Delete what is not merged.", .actions = "delete"),
    REVISION_ROW(contains, "list"),
    AL_WORKING_DIR_ROW(struct branch_args),
};

static int everyday_check(void *p, struct al_error *err)
{
    const struct branch_args *args = p;

    if (args->action == CREATE && !args->name)
        return al_failure_bad_args(err, "Give name.", "create needs the name of the branch");
    if (args->action == RENAME && !args->new_name)
        return al_failure_bad_args(err, "Give new_name, and name unless it is the current branch.",
                                   "rename needs new_name");
    if (args->action == DELETE && !args->name == !args->names.count)
        return al_failure_bad_args(err, "Give name for one branch, names for several.",
                                   "delete needs either name or names");
    if (args->action == LIST && args->name && (*args->name == '-' || !*args->name))
        return al_failure_bad_args(err, "Give a glob like feature/*.", "name is no glob");
    return args->name && args->action != LIST ? al_arg_check_branch("name", args->name, err) : 0;
}

static int everyday_list(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct branch_args *args = al_call_args(call);
    const struct al_refs_query query = { .remotes = true,
                                         .pattern = args->name,
                                         .merged_into = args->merged_into,
                                         .contains = args->contains };

    return al_show_refs(call, &query, result, err);
}

static int create(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct branch_args *args = al_call_args(call);
    int r = al_git_branch_create_from(al_call_repo(call), args->name, args->from,
                                      al_call_resolved(call, AL_RESOLVED_COMMIT), err);

    if (r == 0)
        al_str_addf(&result->text, "Created branch %s; git_switch changes to it.\n", args->name);
    return r;
}

static int rename_branch(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct branch_args *args = al_call_args(call);
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    const char *name = renamed_branch(call, args);
    int r;

    if (!name)
        return al_failure_bad_args(err, "Give name.", "HEAD is on no branch");
    r = change(call, args, name, &output, err);
    if (r == 0)
        al_str_addf(&result->text, "Renamed branch %s to %s.\n", name, args->new_name);
    return r;
}

static int remove_branches(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct branch_args *args = al_call_args(call);
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    int r = 0;

    add_deleted(args, &names);
    for (size_t i = 0; i < names.count && r == 0; i++) {
        al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
        al_auto(al_freep) char *ref = al_asprintf("refs/heads/%s", names.items[i]);
        al_auto(al_freep) char *oid = al_ref_oid(&al_call_repo(call)->at, ref);

        r = change(call, args, names.items[i], &output, err);
        al_str_addf(&result->text, "Deleted branch %s, was at %.8s.\n", names.items[i], oid);
    }
    return r;
}

static const struct al_operation everyday_operations[] = {
    { "list", is_list, AL_READS, everyday_list, AL_ASKS_NEVER },
    { "create", NULL, CHANGES, create, AL_ASKS_NEVER },
    { "rename", is_rename, CHANGES, rename_branch, AL_ASKS_UNLESS_SAVED, RENAMES },
    { "delete", NULL, CHANGES | AL_DISCARDS_WORK, remove_branches, AL_ASKS_UNLESS_SAVED, DELETED },
};

const struct al_tool al_tool_everyday_branch = {
    SHARED,
    .about = "List branches, or create, rename or delete some.",
    .summary = SUMMARY DELETES "[!name?Delete {#names} branches]]",
    AL_TOOL_ROWS(everyday_params, everyday_operations),
    AL_EVERYDAY_TOOL(struct branch_args),
    .check = everyday_check,
};
