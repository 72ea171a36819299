// SPDX-License-Identifier: Apache-2.0
/* git_push: push a branch to the branch of the same name at a remote, or delete it there; with a
 * structured result and with text. */

#include "git/reading/read_object.h"
#include "git/refs.h"
#include "git/repo/words.h"
#include "tools/private.h"
#include "verbs/porcelain/branch.h"

struct push_args {
    const char *remote, *branch, *tag;
    bool set_upstream, force, tags, delete;
    const char *working_dir;
};

/* The pushes of this server, by session, address and branch.  A forgotten one asks again. */
static struct al_noted pushed_before = AL_NOTED_INIT;

static struct al_oid identify(struct al_call *call, const char *address, const char *branch)
{
    const char *const parts[] = { al_call_repo(call)->at.common_dir, address, branch };
    const struct al_session *session = al_call_session(call);
    struct al_hash hash;
    struct al_oid id;

    al_hash_init(&hash, true);
    al_hash_add(&hash, &session, sizeof(session));
    al_hash_add(&hash, &session->number, sizeof(session->number)); /* another may get its address */
    for (size_t i = 0; i < AL_COUNT(parts); i++)
        al_hash_add(&hash, parts[i], strlen(parts[i]) + 1);
    al_hash_end(&hash, &id);
    return id;
}

#define TAGS      "refs/tags/"
#define NAMED_MAX 20

static bool take_tag(void *payload, const struct al_listed_ref *ref)
{
    al_str_addf(payload, "%s " TAGS "%s\n", ref->hash, ref->name);
    return true;
}

/* Append the names and ids of tags: at most 20, then their number.  `told`: the remote has told
 * that it lacks them. */
static void push_tags_show(const struct al_strv *list, const struct al_strv *ids, bool told,
                           struct al_str *out)
{
    if (!list->count) {
        al_str_adds(out, told ? "No tag is new there.\n" : "There are no tags.\n");
        return;
    }
    al_str_adds(out, told ? "Tags that are new there:\n" : "Tags, if they are new there:\n");
    for (size_t i = 0; i < list->count && i < NAMED_MAX; i++)
        al_place_addf(out, "  %s (%.8s)\n", list->items[i] + strlen(TAGS), ids->items[i]);
    if (list->count > NAMED_MAX)
        al_str_addf(out, "  and %s more\n", al_counted(list->count - NAMED_MAX, NULL, NULL).text);
}

/* The name of the resolved value that identifies the repository at an address.  Caller frees. */
static char *target_key(const char *address)
{
    return al_asprintf("place of %s", address);
}

/* The branch here, where the one at the remote has another name. */
#define RESOLVED_LOCAL "local"

/* Add the branch there as "branch", the commit of the one here as "commit" ("" to delete it there),
 * the commit last seen there as "seen", and each address with the repository it leads to. */
static int resolve_push(struct al_call *call, const struct al_remote *remote, const char *branch,
                        const char *target, bool deletes, struct al_error *err)
{
    const struct al_location *at = &al_call_repo(call)->at;
    const bool is_tag = al_starts_with(branch, TAGS);
    al_auto(al_freep) char *ref = al_asprintf("%s%s", is_tag ? "" : "refs/heads/", branch);
    al_auto(al_freep) char *commit = deletes ? al_strdup("") : al_ref_oid(at, ref);
    al_auto(al_freep) char *tracking = is_tag ? NULL : al_remote_tracking(remote, target);
    al_auto(al_freep) char *seen = tracking ? al_ref_oid(at, tracking) : al_strdup("");
    int r = 0;

    al_call_resolve(call, AL_RESOLVED_BRANCH, target);
    if (strcmp(branch, target) != 0) { /* for rules, which read full names */
        al_auto(al_freep) char *there = al_asprintf("refs/heads/%s", target);

        al_call_resolve(call, AL_RESOLVED_BRANCH, ref);
        al_call_resolve(call, AL_RESOLVED_BRANCH, there);
    }
    al_call_resolve(call, "commit", commit);
    al_call_resolve(call, "seen", seen);
    for (size_t i = 0; i < remote->push_urls.count && r == 0; i++) {
        const char *address = remote->push_urls.items[i];
        al_auto(al_network_endp) struct al_network *network = NULL;
        al_auto(al_freep) char *name = target_key(address);

        r = al_transfer_begin(call, al_call_repo(call), remote, address, AL_PUSHES, &network, err);
        if (r < 0)
            return r;
        al_transfer_resolve_address(call, remote, address, AL_PUSHES);
        al_call_resolve(call, name, network->repository_id);
    }
    return r;
}

/* Check that the address still leads to the repository that was resolved. */
static int check_target(const struct al_call *call, const struct al_network *network,
                        const char *address, struct al_error *err)
{
    al_auto(al_freep) char *name = target_key(address);
    const char *place = al_call_resolved(call, name);

    if (place && !strcmp(place, network->repository_id))
        return 0;
    return al_remote_error(err, "Nothing was pushed there; try again.",
                           "'%s' leads to another repository by now", al_network_shown(network));
}

/* Push to an address that still leads to the repository that was resolved. */
static int push_to(struct al_call *call, const struct al_remote *remote, const char *address,
                   const struct al_push_options *options, struct al_pushed *pushed,
                   struct al_error *err)
{
    al_auto(al_network_endp) struct al_network *network = NULL;
    int r = al_transfer_begin(call, al_call_repo(call), remote, address, AL_PUSHES, &network, err);

    if (r == 0)
        r = check_target(call, network, address, err);
    if (r < 0)
        return r;
    al_pushed_clear(pushed);
    r = al_git_push(network, options, al_call_input(call)->progress, al_call_max_bytes(call),
                    pushed, err);
    if (err && pushed->is_behind && !options->is_tag &&
        al_git_branch_was_at(al_call_repo(call), options->branch, al_call_resolved(call, "seen")))
        err->remedy = "The branch had them once: look by git_log if others' work is among them; "
                      "push with force: true replaces them there.";
    return r;
}

AL_WHEN(deletes, struct push_args, args->delete)
AL_WHEN(is_plain, struct push_args, !args->force && !args->delete &&!args->tags && !args->tag)

AL_WHEN(sends_tag, struct push_args, args->tag)

/* A rule about a branch says nothing about tags, so they are an operation of their own. */
AL_WHEN(sends_tags, struct push_args, args->tags && !args->force)

static int no_branch(struct al_call *call, const char *branch, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv current = AL_STRV_INIT;
    bool text = al_transfer_in_text(call);
    int r;

    al_ref_head_branches(&al_call_repo(call)->at, &current);
    if (text && al_strv_contains(&current, branch))
        return al_failure_set(err, "git_commit makes the first commit.",
                              "There is no commit on '%s' yet", branch);
    if (text && al_has_ref(call, TAGS, branch))
        return al_failure_set(err, "tag pushes one tag, tags all of them beside a branch.",
                              "'%s' is a tag, and git_push pushes branches", branch);
    r = al_failure_set(
        err, text ? "git_branch lists the branches there are." : NULL,
        text ? "There is no branch '%s'" : "There is no branch '%s', or no commit on it", branch);
    if (err) {
        err->code = AL_CODE_BRANCH_NOT_FOUND;
        err->reason = text ? NULL : "not_found";
    }
    return al_error_about(r, err, AL_SUBJECT_BRANCH, branch);
}

/* The branch, or the full name of the tag. */
static int find_branch(struct al_call *call, const struct push_args *args, char **ret_branch,
                       struct al_error *err)
{
    int r = 0;

    if (args->tag)
        *ret_branch = al_asprintf(TAGS "%s", args->tag);
    else if (args->branch)
        *ret_branch = al_strdup(args->branch);
    else
        r = al_transfer_current_branch(call, ret_branch, err);
    if (r < 0 || args->delete)
        return r;
    if (al_has_ref(call, args->tag ? "" : "refs/heads/", *ret_branch))
        return 0;
    return args->tag ? al_failure_set(err, "git_tag lists the tags there are.",
                                      "There is no tag '%s'", args->tag)
                     : no_branch(call, *ret_branch, err);
}

/* A branch that was never seen there is not deleted there. */
static int check_seen(struct al_call *call, const struct al_remote *remote, const char *branch,
                      struct al_error *err)
{
    al_auto(al_freep) char *tracking = al_remote_tracking(remote, branch);

    if (tracking && al_ref_exists(&al_call_repo(call)->at, tracking))
        return 0;
    return al_failure_set(
        err,
        al_call_session(call)->caller_shell ? "git fetch looks what is there now."
                                            : "git_fetch looks what is there now.",
        "There is no '%s/%s' as last seen, so it is not deleted", remote->name, branch);
}

/* The branch at the remote: of the same name, or with push.default=upstream the one that the
 * current branch follows there.  Rules look at both.  Caller frees. */
static char *target_of(struct al_call *call, const struct push_args *args,
                       const struct al_remote *remote, const char *branch)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_freep) char *how = NULL;
    al_auto(al_freep) char *upstream = NULL;

    if (args->branch || args->tag || !al_transfer_in_text(call))
        return al_strdup(branch);
    upstream = al_remote_upstream(repo, remote, branch);
    if (!upstream || !strcmp(upstream, branch))
        return al_strdup(branch);
    how = al_git_setting(repo, "push.default");
    if (!how || (strcmp(how, "upstream") != 0 && strcmp(how, "tracking") != 0))
        return al_strdup(branch);
    al_call_resolve(call, RESOLVED_LOCAL, branch);
    return al_take(&upstream);
}

/* Resolve the remote, the branch, its commit, the tags, the repositories, and the remote commit
 * that a forced push or a deletion is about. */
static int resolve(struct al_call *call, struct al_error *err)
{
    const struct push_args *args = al_call_args(call);
    al_auto(al_remote_clear) struct al_remote remote = AL_REMOTE_INIT;
    al_auto(al_freep) char *branch = NULL;
    al_auto(al_freep) char *name = NULL;
    al_auto(al_freep) char *target = NULL;
    const struct al_refs_query all_tags = { .tags = true, .ids = true };
    al_auto(al_str_clear) struct al_str tags = AL_STR_INIT;
    const struct al_repo *repo = al_call_repo(call);
    int r = find_branch(call, args, &branch, err);

    if (r < 0)
        return r;
    name = args->remote ? al_strdup(args->remote) : al_remote_push_default(repo, branch);
    if (!name)
        name = al_remote_default(repo, branch);
    al_call_resolve(call, "remote", name);
    r = al_transfer_authorize(call, err);
    if (r == 0)
        r = al_transfer_find(call, &remote, err);
    if (r == 0 && args->delete)
        r = check_seen(call, &remote, branch, err);
    if (r == 0 && args->tags)
        r = al_git_read_refs(repo, &all_tags, take_tag, &tags, err);
    if (r < 0)
        return r;
    /* A tag that is made, moved or deleted later gives another value. */
    if (args->tags)
        al_call_resolve(call, "tags", tags.buf);
    target = target_of(call, args, &remote, branch);
    return resolve_push(call, &remote, branch, target, args->delete, err);
}

static struct al_push_options options_of(const struct al_call *call, const struct push_args *args)
{
    return (struct al_push_options){
        .branch = args->tag ? args->tag : al_call_resolved(call, "branch"),
        .is_tag = args->tag,
        .commit = al_call_resolved(call, "commit"),
        .lease = args->force || args->delete ? al_call_resolved(call, "seen") : NULL,
        .deletes = args->delete,
        .tags = args->tags,
    };
}

/* Look at a remote that the user knows: a question about nothing is not asked, nor one about what
 * git refuses already.  The call's draft is set when there is nothing to push. */
static int look(struct al_call *call, const struct push_args *args, const struct al_remote *remote,
                struct al_str *out, struct al_error *err)
{
    struct al_push_options options = options_of(call, args);
    const bool looks = !al_transfer_is_new(call);
    bool nothing = looks && !args->delete;

    options.looks = true;
    for (size_t i = 0; looks && i < remote->push_urls.count; i++) {
        al_auto(al_pushed_clear) struct al_pushed pushed = AL_PUSHED_INIT;
        const int r = push_to(call, remote, remote->push_urls.items[i], &options, &pushed, err);

        if (pushed.is_rejected && !pushed.tags.count && !al_call_session(call)->caller_shell)
            return r;
        if (pushed.is_rejected && pushed.tags.count && err)
            al_str_addf(out, "Only tags go there. %s.\n", err->message);
        nothing |= pushed.is_rejected && i == 0; /* git says so itself, and how it ends */
        if (r < 0)
            al_error_clear(err);
        nothing = nothing && (pushed.is_rejected ? !args->tags
                                                 : r == 0 && pushed.up_to_date &&
                                                       !pushed.tags.count && !pushed.is_cut);
    }
    al_call_plan(call)->skips_approval = nothing;
    return 0;
}

/* Read what all addresses have.  False: they were not looked at, or do not say. */
static bool look_there(struct al_call *call, const struct al_remote *remote,
                       struct al_there *ret_there)
{
    bool told = remote->push_urls.count && !al_transfer_is_new(call);

    for (size_t i = 0; told && i < remote->push_urls.count; i++) {
        const char *address = remote->push_urls.items[i];
        al_auto(al_network_endp) struct al_network *network = NULL;
        al_auto(al_there_clear) struct al_there there = AL_THERE_INIT, both = AL_THERE_INIT;

        told = al_transfer_begin(call, al_call_repo(call), remote, address, AL_FETCHES, &network,
                                 NULL) == 0 &&
               check_target(call, network, address, NULL) == 0 &&
               al_git_look_there(network, &there, NULL) == 0;
        for (size_t k = 0; told && k < there.ids.count; k++)
            if (i == 0 || al_strv_contains_sorted(&ret_there->ids, there.ids.items[k]))
                al_strv_add(&both.ids, there.ids.items[k]);
        for (size_t k = 0; told && k < there.names.count; k++)
            if (i == 0 || al_strv_contains_sorted(&ret_there->names, there.names.items[k]))
                al_strv_add(&both.names, there.names.items[k]);
        al_there_clear(ret_there);
        *ret_there = both;
        both = AL_THERE_INIT;
    }
    return told;
}

/* The resolved tags that are not there. */
static void new_tags(const struct al_call *call, const struct al_there *there,
                     struct al_strv *ret_names, struct al_strv *ret_ids)
{
    const char *tags = al_call_resolved(call, "tags");

    for (const char *line = tags ? tags : ""; *line; line += strcspn(line, "\n") + 1) {
        const size_t digits = strcspn(line, " ");
        al_auto(al_freep) char *name =
            al_strndup(line + digits + 1, strcspn(line, "\n") - digits - 1);

        if (al_strv_contains_sorted(&there->names, name))
            continue;
        al_strv_add(ret_names, name);
        al_strv_take(ret_ids, al_strndup(line, digits));
    }
}

/* Show the addresses, and the commits that a forced push removes. */
static int preview(struct al_call *call, struct al_str *out, struct al_error *err)
{
    const struct push_args *args = al_call_args(call);
    al_auto(al_remote_clear) struct al_remote remote = AL_REMOTE_INIT;
    al_auto(al_there_clear) struct al_there there = AL_THERE_INIT;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT, tags = AL_STRV_INIT;
    struct al_push_shown push = { al_call_resolved(call, "commit"), &tags, &there.ids, "" };
    bool told;
    int r = al_transfer_find(call, &remote, err);

    if (r < 0)
        return r;
    if (al_transfer_in_text(call))
        r = look(call, args, &remote, out, err);
    if (r < 0)
        return r;
    al_transfer_preview(call, &remote, AL_PUSHES, out);
    told = args->delete ? false : look_there(call, &remote, &there);
    new_tags(call, &there, &names, &tags);
    if (args->tag)
        al_str_addf(out, "The tag leads to %.8s.\n", al_call_resolved(call, "commit"));
    if (args->tags)
        push_tags_show(&names, &tags, told, out);
    if (args->delete) {
        al_str_addf(out, "The branch is deleted there; it was last seen at %.8s.\n",
                    al_call_resolved(call, "seen"));
        return 0;
    }
    push.replaced = args->force ? al_call_resolved(call, "seen") : "";
    return al_git_push_preview(al_call_repo(call), &push, out, err);
}

/* In words, a branch that follows none follows the one that it is pushed to, where git with
 * push.autoSetupRemote would do so, too. */
static bool sets_upstream(struct al_call *call, const struct push_args *args)
{
    const struct al_repo *repo = al_call_repo(call);
    const char *branch = al_call_resolved(call, "branch");
    al_auto(al_freep) char *usual = NULL;

    if (al_call_resolved(call, RESOLVED_LOCAL))
        return false; /* it follows that already */
    if (args->set_upstream || !al_transfer_in_text(call) || args->delete || args->tag ||
        al_remote_follows(repo, branch))
        return args->set_upstream;
    usual = al_remote_default(repo, branch);
    return !strcmp(usual, al_call_resolved(call, "remote"));
}

static int push(struct al_call *call, const struct push_args *args, struct al_pushed *pushed,
                struct al_error *err)
{
    const char *branch = al_call_resolved(call, "branch");
    al_auto(al_remote_clear) struct al_remote remote = AL_REMOTE_INIT;
    const struct al_push_options options = options_of(call, args);
    const bool nothing = al_call_plan(call)->skips_approval;
    int r = al_transfer_find(call, &remote, err);

    if (r < 0)
        return r;
    al_transfer_accept(call, &remote, AL_PUSHES);
    pushed->up_to_date = nothing;
    for (size_t i = 0; r == 0 && !nothing && i < remote.push_urls.count; i++) {
        const struct al_oid id = identify(call, remote.push_urls.items[i], branch);

        r = push_to(call, &remote, remote.push_urls.items[i], &options, pushed, err);
        if (r == 0 && !args->delete)
            al_noted_add(&pushed_before, &id);
    }
    if (r == 0 && sets_upstream(call, args))
        r = al_git_set_upstream(al_call_repo(call), branch, remote.name, err);
    return r;
}

int al_push_in_shell(struct al_call *call, const void *args, const struct al_strv *words,
                     const char *name, int *ret_code, struct al_error *err)
{
    const struct push_args *given = args;
    struct al_network_shown shown = { .shell = al_call_session(call)->caller_shell,
                                      .id = al_call_resolved(call, "commit"),
                                      .name = name };
    al_auto(al_remote_clear) struct al_remote remote = AL_REMOTE_INIT;
    al_auto(al_pushed_clear) struct al_pushed pushed = AL_PUSHED_INIT;
    al_auto(al_freep) char *line = NULL;
    const bool is_quiet = al_strv_contains(words, "-q") || al_strv_contains(words, "--quiet");
    struct al_push_options options = options_of(call, given);
    int r = al_transfer_find(call, &remote, err);

    *ret_code = 0;
    if (r < 0)
        return r;
    al_transfer_accept(call, &remote, AL_PUSHES);
    options.looks = al_call_plan(call)->skips_approval; /* there is nothing to push */
    options.shown = &shown;
    options.words = words;
    for (size_t i = 0; r == 0 && i < remote.push_urls.count; i++) {
        r = push_to(call, &remote, remote.push_urls.items[i], &options, &pushed, err);
        if (shown.exit_code)
            *ret_code = shown.exit_code;
    }
    if (r < 0 || *ret_code || !given->set_upstream)
        return r;
    /* git says this too, and does nothing of it. */
    line = al_asprintf("Would set upstream of '%s' to '%s' of '%s'\n",
                       al_call_resolved(call, "branch"), al_call_resolved(call, "branch"),
                       remote.name);
    if (al_strv_contains(words, "-n") || al_strv_contains(words, "--dry-run"))
        (void)al_write_all(shown.shell->out_fd, line, is_quiet ? 0 : strlen(line));
    else
        r = al_git_set_upstream_shown(al_call_repo(call), al_call_resolved(call, "branch"), &remote,
                                      shown.shell, is_quiet, err);
    return r;
}

/* Of `everyday`: with what was resolved, once it is. */
static void summarize(const struct al_call *call, struct al_str *out)
{
    const bool is_everyday = al_call_tool(call) == &al_tool_everyday_push;
    const struct push_args *args = al_call_args(call);
    const char *branch = is_everyday ? al_call_resolved(call, "branch") : NULL;
    const char *local = branch ? al_call_resolved(call, RESOLVED_LOCAL) : NULL;
    const char *remote = branch ? al_call_resolved(call, "remote") : args->remote;

    if (!branch)
        branch = args->branch ? args->branch : "the current branch";
    if (args->delete)
        al_str_adds(out, "Delete ");
    else
        al_str_addf(out, "%s %s", args->force ? "Force push" : "Push", args->tag ? "the tag " : "");
    if (args->tag && !args->delete)
        al_str_adds(out, args->tag);
    else
        al_str_addf(out, "%s%s%s", local ? local : "", local ? " as " : "", branch);
    al_str_addf(out, " %s %s", args->delete ? "at" : "to", remote ? remote : "its remote");
    if (args->tags)
        al_str_adds(out, " with all tags");
}

static const char hooks[] = "pre-push";

static const char *const always_by[] = { "branch", "address", NULL };

/* The effects that both tools have. */
#define EFFECTS (AL_USES_NETWORK | AL_LEAVES_MACHINE | AL_WRITES_REFS | AL_WRITES_CONFIG)
#define SHARED                                                                                     \
    .name = "git_push", .title = "Push", .moves_branch = true, .resolve = resolve,                 \
    .always_by = always_by, .preview = preview, .summarize = summarize

/* The toolset workflow. */

static const struct al_param workflow_params[] = {
    AL_TRANSFER_ROW_REMOTE(struct push_args, .unless = NULL),
    AL_STRING(struct push_args, branch, "Default: the current one.", .flags = AL_PARAM_BRANCH,
              .check = al_arg_check_branch),
    AL_BOOL(struct push_args, force, "Replace what was last seen there."),
    AL_BOOL_AS(struct push_args, set_upstream, "setUpstream", "Follow the remote's branch."),
    AL_WORKFLOW_CWD_ROW(struct push_args),
};

static void add_message(const struct push_args *args, const char *branch,
                        const struct al_pushed *pushed, struct al_str *text)
{
    if (pushed->up_to_date)
        al_str_addf(text, "%s/%s was up to date already", args->remote, branch);
    else if (pushed->is_new)
        al_str_addf(text, "Pushed the new branch %s to %s", branch, args->remote);
    else
        al_str_addf(text, "%s %s to %s: %s", pushed->forced ? "Force pushed" : "Pushed", branch,
                    args->remote, pushed->range);
    if (args->set_upstream)
        al_str_addf(text, "; it follows %s/%s now", args->remote, branch);
    if (pushed->from_hook.len)
        al_str_addf(text, "\nThe remote says:\n%s", pushed->from_hook.buf);
}

static int workflow_execute(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct push_args *args = al_call_args(call);
    const char *branch = al_call_resolved(call, "branch");
    al_auto(al_pushed_clear) struct al_pushed pushed = AL_PUSHED_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r = push(call, args, &pushed, err);

    if (r < 0)
        return r;
    add_message(args, branch, &pushed, &text);
    result->truncated = al_text_truncate(&text, al_call_max_bytes(call));
    al_transfer_result(result, true, args->remote, text.buf);
    al_result_set(result, "branch", al_json_string(branch));
    al_result_set(result, "forced", al_json_bool(args->force));
    al_workflow_skipped(call, hooks, false, result);
    return 0;
}

static const struct al_operation workflow_operations[] = {
    { "push", is_plain, EFFECTS, workflow_execute, AL_ASKS_NEVER },
    { "force", NULL, EFFECTS | AL_REWRITES_HISTORY, workflow_execute, AL_ASKS_ALWAYS },
};

static const struct al_stricter workflow_stricter[] = {
    { "push", al_transfer_is_new, AL_TRANSFER_CONDITION, 0 },
};

/* clang-format off */
static const char output_schema[] = AL_JSON({
    "success": true, "remote": "", "message": "", "branch?": "", "forced?": true
});
/* clang-format on */

const struct al_tool al_tool_workflow_push = {
    SHARED,
    .about = "Push a branch to the same name at a remote.",
    AL_TOOL_ROWS(workflow_params, workflow_operations),
    AL_WORKFLOW_TOOL(struct push_args),
    AL_TOOL_STRICTER(workflow_stricter),
    .output_schema = output_schema,
};

/* The toolset everyday. */

static const struct al_param everyday_params[] = {
    AL_TRANSFER_ROW_ANY_REMOTE(struct push_args),
    AL_STRING(struct push_args, branch, "Default: the current one.", .flags = AL_PARAM_BRANCH,
              .check = al_arg_check_branch),
    AL_BOOL(struct push_args, set_upstream, NULL),
    AL_BOOL(struct push_args, force, "Replace what was last seen there."),
    AL_STRING(struct push_args, tag, "One tag alone.", .flags = AL_PARAM_NAME,
              .check = al_arg_check_branch),
    AL_BOOL(struct push_args, tags, "All tags too."),
    AL_BOOL(struct push_args, delete, "Delete the branch there."),
    AL_WORKING_DIR_ROW(struct push_args),
};

static int everyday_check(void *p, struct al_error *err)
{
    const struct push_args *args = p;

    if (args->delete &&!args->branch)
        return al_error_set(err, AL_ERR_BAD_ARGS, "branch is required with delete");
    if (args->delete &&(args->set_upstream || args->tags || args->force))
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "delete cannot be combined with set_upstream, tags or force");
    if (args->tag && (args->branch || args->tags || args->delete || args->set_upstream))
        return al_failure_bad_args(err, "Give tag alone, with remote.",
                                   "tag cannot be combined with branch, tags, delete or "
                                   "set_upstream");
    if (args->tag && args->force)
        return al_failure_bad_args(err, "Leave out force, or give the tag another name.",
                                   "force: a tag that is there is not moved, since others may have "
                                   "it");
    return 0;
}

/* The first push of a session to each address and branch. */
static bool is_first(struct al_call *call)
{
    al_auto(al_remote_clear) struct al_remote remote = AL_REMOTE_INIT;
    const char *branch = al_call_resolved(call, "branch");

    if (al_transfer_is_new(call) || al_transfer_find(call, &remote, NULL) < 0)
        return true;
    for (size_t i = 0; i < remote.push_urls.count; i++) {
        const struct al_oid id = identify(call, remote.push_urls.items[i], branch);

        if (!al_noted_has(&pushed_before, &id))
            return true;
    }
    return false;
}

static void add_done(struct al_call *call, const struct push_args *args,
                     const struct al_pushed *pushed, struct al_str *text)
{
    const char *remote = al_call_resolved(call, "remote");
    al_auto(al_str_clear) struct al_str there = AL_STR_INIT;

    if (args->tag)
        al_place_addf(&there, "tag %s at %s", args->tag, remote);
    else
        al_place_addf(&there, "%s/%s", remote, al_call_resolved(call, "branch"));
    if (args->delete)
        al_str_addf(text, "Deleted %s", there.buf);
    else if (pushed->up_to_date)
        al_str_addf(text, "%s was up to date already%s", there.buf,
                    args->tags && !pushed->tags.count ? ", and no tag is new there" : "");
    else if (pushed->is_new)
        al_str_addf(text, "Pushed the new %s%s", args->tag ? "" : "branch ", there.buf);
    else
        al_str_addf(text, "%s %s: %s", pushed->forced ? "Force pushed" : "Pushed", there.buf,
                    pushed->range);
    if (pushed->tags.count)
        al_str_addf(text, ", and %s", al_counted(pushed->tags.count, "new tag", "new tags").text);
    if (sets_upstream(call, args))
        al_str_adds(text, "; the branch follows it");
    al_str_addc(text, '\n');
    if (pushed->from_hook.len)
        al_str_addf(text, "The remote says:\n%s\n", pushed->from_hook.buf);
}

static int everyday_execute(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct push_args *args = al_call_args(call);
    al_auto(al_pushed_clear) struct al_pushed pushed = AL_PUSHED_INIT;
    int r = push(call, args, &pushed, err);

    if (r < 0)
        return r;
    add_done(call, args, &pushed, &result->text);
    al_outcome_add_skipped(call, hooks, false, &result->text);
    return 0;
}

static const struct al_operation everyday_operations[] = {
    { "push", is_plain, EFFECTS, everyday_execute, AL_ASKS_NEVER },
    { "delete", deletes, EFFECTS | AL_REWRITES_HISTORY, everyday_execute, AL_ASKS_ALWAYS },
    { "tag", sends_tag, EFFECTS, everyday_execute, AL_ASKS_NEVER },
    { "tags", sends_tags, EFFECTS, everyday_execute, AL_ASKS_ALWAYS },
    { "force", NULL, EFFECTS | AL_REWRITES_HISTORY, everyday_execute, AL_ASKS_ALWAYS },
};

static const struct al_stricter everyday_stricter[] = {
    { "push", is_first, "for the first push of a session to an address and branch", 0 },
    { "tag", is_first, "for the first push of a session to an address and tag", 0 },
};

const struct al_tool al_tool_everyday_push = {
    SHARED,
    .about = "Push a branch to the same name at a remote, or delete it there.",
    AL_TOOL_ROWS(everyday_params, everyday_operations),
    AL_EVERYDAY_TOOL(struct push_args),
    AL_TOOL_STRICTER(everyday_stricter),
    .check = everyday_check,
};
