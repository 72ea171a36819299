// SPDX-License-Identifier: Apache-2.0
/* The pipeline.  al_call_run() is the only way to run a tool.  Each stage may stop the call; no
 * stage relaxes what an earlier one decided.  Then what a tool asks of the call it runs in. */
#include "call/call.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "call/answer.h"
#include "call/private.h"
#include "git/location.h"
#include "git/plumbing/blocking_files.h"
#include "git/repo/repo.h"
#include "git/repo/write_lock.h"
#include "git/run.h"
#include "guard/root.h"
#include "guard/text.h"
#include "history/worktree.h"
#include "verbs/worktree/add.h"

static bool is_there(const char *dir, const char *path)
{
    al_auto(al_freep) char *abs = al_fs_join(dir, path);
    struct stat st;

    return lstat(abs, &st) == 0;
}

/* git prints paths relative to the top, but takes them relative to the working directory. */
static char *hint_for(const struct al_repo *repo, const char *path)
{
    const char *below = al_fs_beneath(repo->at.top, repo->at.dir), *rest;
    al_auto(al_freep) char *meant = NULL, *safe = NULL, *shown = NULL;

    if (*path == '/' || !below || !*below || is_there(repo->at.dir, path) ||
        !is_there(repo->at.top, path))
        return NULL;
    rest = al_fs_beneath(below, path);
    meant = rest && *rest ? al_strdup(rest) : al_fs_join(repo->at.top, path);
    safe = al_text_sanitize_line(path);
    shown = al_text_sanitize_line(meant);
    return al_asprintf("'%s' is relative to the top of the repository; with this working_dir it is "
                       "'%s'",
                       safe, shown);
}

/* A call that lacks a required parameter gets "git_commit takes: type (required), scope, …". */
static char *hint_for_missing(const struct al_tool *tool, const struct al_tool_defaults *defaults)
{
    struct al_str out = AL_STR_INIT;

    al_str_addf(&out, "%s takes: ", tool->name);
    for (size_t i = 0; i < tool->nparams; i++)
        al_str_addf(&out, "%s%s%s", i ? ", " : "", tool->params[i].name,
                    al_param_is_required(&tool->params[i], defaults) ? " (required)" : "");
    return al_str_detach(&out);
}

/* One line of safe text for the caller; NULL when there is no hint.  Caller frees. */
static char *call_hint(const struct al_call *call, const struct al_error *error)
{
    const struct al_tool *tool = call->tool;
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    char *hint = NULL;

    if (tool->definition) /* its words are the server's */
        return NULL;
    if (error->subject == AL_SUBJECT_REQUIRED)
        return hint_for_missing(tool, &call->session->defaults);
    if (!call->repo || !call->args || tool->runs_at_top || !error->reason ||
        strcmp(error->reason, "not_found") != 0)
        return NULL;
    al_call_named(call, AL_PARAM_PATH, &paths);
    for (size_t i = 0; i < paths.count && !hint; i++)
        hint = hint_for(call->repo, paths.items[i]);
    return hint;
}

#define NAMES_MAX 20

/* The next step for a call that named no repository, with the repositories and roots there are. */
static char *hint_for_place(const struct al_call *call, const struct al_error *error)
{
    const struct al_roots *roots = call->session->roots;
    const bool is_none = error->code == AL_CODE_NOT_INITIALIZED;
    const bool is_outside = error->status == AL_ERR_SANDBOX && !error->code && !error->subject;
    al_auto(al_strv_clear) struct al_strv below = AL_STRV_INIT;
    struct al_str out = AL_STR_INIT;

    if (call->tool->words == AL_WORDS_PLAIN || call->tool->definition ||
        !(is_none || is_outside || error->subject == AL_SUBJECT_DIRECTORY))
        return NULL;
    if (is_none && al_grant_check_dir(call->session->grant, roots->items[0].path, false, NULL) == 0)
        al_git_list_below(roots->items[0].fd, &below);
    al_str_addf(&out, "%s ", error->remedy);
    for (size_t i = 0; i < below.count && i < NAMES_MAX; i++) {
        al_str_adds(&out, i ? ", " : "Repositories below the first root: ");
        al_text_add_shown_line(below.items[i], &out);
    }
    if (below.count > NAMES_MAX)
        al_str_addf(&out, " and %zu more", below.count - NAMES_MAX);
    al_str_adds(&out, below.count ? ". " : "");
    al_roots_add_names(roots, &out);
    return al_str_detach(&out);
}

/* The integer argument with this flag, or `standard` when it is absent.  There are no arguments yet
 * if decoding has not begun. */
static int64_t configured_int(const struct al_call *call, unsigned flag, int64_t standard)
{
    const struct al_tool *tool = call->tool;

    for (size_t i = 0; call->args && i < tool->nparams; i++)
        if (tool->params[i].flags & flag && al_args_int(call->args, &tool->params[i])->value > 0)
            return al_args_int(call->args, &tool->params[i])->value;
    return standard;
}

static int64_t timeout_of(const struct al_call *call)
{
    int64_t seconds = configured_int(call, AL_PARAM_SECONDS, 0);

    if (seconds)
        return seconds * 1000;
    if (call->tool->timeout_ms)
        return call->tool->timeout_ms(call->session);
    return configured_int(call, AL_PARAM_TIMEOUT, call->session->defaults.timeout_ms);
}

static const char *working_dir_of(const struct al_call *call)
{
    const char *dir;

    memcpy(&dir, (const char *)call->args + call->tool->working_dir_offset, sizeof(dir));
    return dir ? dir : ".";
}

static void report_wait(void *payload, const char *line)
{
    const struct al_call *call = payload;
    const struct al_progress *to[] = { &call->session->on_lock_wait, call->input->progress };

    for (size_t i = 0; i < AL_COUNT(to); i++)
        if (to[i] && to[i]->report)
            to[i]->report(to[i]->payload, line);
}

static int decode(struct al_call *call, struct al_error *err)
{
    const struct al_tool *tool = call->tool;
    const char *agent = al_call_agent(call);
    int r;

    if (call->input->arguments_error)
        return al_error_set(err, AL_ERR_BAD_ARGS, "Invalid arguments: %s",
                            call->input->arguments_error);
    r = tool->expand ? tool->expand(call->session, tool, call->input->arguments,
                                    &call->expanded_arguments, err)
                     : 0;
    if (r < 0)
        return r;
    call->args = al_calloc(1, tool->args_size);
    r = al_tool_decode(tool, al_call_arguments(call), &call->session->defaults, call->args, err);
    if (r < 0)
        return r;
    al_call_take_bytes(call);
    call->budget.cancel = call->input->cancel;
    call->budget.on_lock_wait = (struct al_progress){ report_wait, call };
    call->budget.caller = call->caller =
        al_asprintf("%s%s%s", tool->name, agent ? " of agent " : "", agent ? agent : "");
    call->budget.left_ms = (uint32_t)timeout_of(call);
    return 0;
}

static void summarize(struct al_call *call)
{
    const struct al_tool *tool = call->tool;
    al_auto(al_str_clear) struct al_str summary = AL_STR_INIT;

    if (tool->summarize && (call->is_resolved || !tool->summary))
        tool->summarize(call, &summary);
    else if (tool->summary)
        al_tool_write_summary(tool, call->args, &summary);
    else
        al_str_adds(&summary, tool->title);
    free(call->summary);
    call->summary = al_text_join_shown_lines(summary.buf);
}

static void select_operation(struct al_call *call)
{
    call->operation = al_tool_select(call->tool, call, call->args);
    summarize(call);
}

/* The grant has to cover every part of the repository, wherever it lies.  `r` in a grant means that
 * nothing is written, under whatever name. */
static int check_grant(const struct al_call *call, struct al_error *err)
{
    const struct al_repo *repo = call->repo;
    const char *const parts[] = { repo ? repo->at.top : NULL, repo ? repo->at.git_dir : NULL,
                                  repo ? repo->at.common_dir : NULL };
    const unsigned effects = call->operation->effects;
    bool writes = call->tool->definition ? !al_effects_read_only(effects)
                                         : al_effects_have_side_effects(effects);
    int r = 0;

    if (call->tool->open_repository && (!call->repo || call->repo->at.is_own))
        return 0;
    if (!call->repo)
        return al_grant_check_dir(call->session->grant, al_call_repository_path(call), writes, err);
    /* A part outside the roots is the git directory of this working tree, and comes with it. */
    for (size_t i = 0; i < AL_COUNT(parts) && r == 0; i++) {
        if (i == 0 || al_roots_find(call->session->roots, parts[i]))
            r = al_grant_check_dir(call->session->grant, parts[i], writes, err);
    }
    return r;
}

/* A tool knows best which repository its arguments name.  A tool that works in the first root needs
 * neither a repository there nor git. */
static int open_repository(struct al_call *call, struct al_error *err)
{
    const struct al_session *session = call->session;
    const char *first = session->roots->items[0].path;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    int r;

    if (call->tool->open_repository)
        return call->tool->open_repository(call, &call->repo, err);
    if (!call->tool->at_first_root)
        return al_repo_open(session->git, first, working_dir_of(call), &call->budget, &call->repo,
                            err);
    r = al_repo_open(session->git, first,
                     call->tool->working_dir_offset ? working_dir_of(call) : ".", &call->budget,
                     &call->repo, &why);
    if (r == AL_ERR_EXECUTION &&
        (why.code == AL_CODE_NOT_INITIALIZED || why.code == AL_CODE_NO_GIT))
        return 0;
    if (r < 0) {
        *err = why;
        why = AL_ERROR_INIT;
    } else if (al_location_is_bare(&call->repo->at)) { /* its files are no working tree */
        al_repo_free(call->repo);
        call->repo = NULL;
    }
    return r;
}

/* The first call of a process in a repository clears up after one that was killed, and names what
 * cannot go back to where it was. */
static void tidy(struct al_call *call)
{
    al_auto(al_strv_clear) struct al_strv kept = AL_STRV_INIT;

    al_worktree_tidy(call->repo, false, &kept);
    al_call_name_kept(call,
                      "A call before was killed. What it had taken away, and cannot go back, is "
                      "kept here:",
                      &kept);
}

/* Whether the tool goes on without a repository, since its directory is in no root. */
static bool is_outside(const struct al_call *call)
{
    return call->tool->at_first_root && call->tool->working_dir_offset &&
           *working_dir_of(call) == '/' &&
           !al_roots_find(call->session->roots, working_dir_of(call));
}

/* Selecting the operation may need the repository, so it is opened before stage 3. */
static int find_repository(struct al_call *call, struct al_error *err)
{
    int r = al_grant_check_tool(call->session->grant, call->tool->name, err);

    if (r < 0)
        return r;
    r = open_repository(call, err);
    /* Another process may have made the worktree, or brought it back. */
    if (r < 0 && !call->tool->open_repository && al_worktree_admit_recorded(call->session->git)) {
        al_error_clear(err);
        r = open_repository(call, err);
    }
    if (r == AL_ERR_SANDBOX && is_outside(call)) {
        al_error_clear(err);
        al_log_note("Warning: this directory is outside of the roots: nothing that is done here "
                    "can be undone");
        r = 0;
    }
    if (r == 0 && call->repo)
        tidy(call);
    return r;
}

/* The repository that was found is a root without a working tree.  A tool that opens another
 * repository knows itself what that may be. */
static bool is_in_bare_root(const struct al_call *call)
{
    return call->repo && !call->tool->open_repository && al_location_is_bare(&call->repo->at);
}

/* A tool that opens another repository does so before its operation is known; it changes it. */
int al_call_refuse_bare(const struct al_call *call, struct al_error *err)
{
    bool reads = call->operation && al_effects_read_only(call->operation->effects);
    return al_error_remedy(
        al_error_set(err, AL_ERR_EXECUTION,
                     reads ? "%s needs a working tree here"
                           : "A bare repository is only read, and this call of %s changes it",
                     call->tool->name),
        err, al_git_bare_remedy_of(call->repo ? &call->repo->at : NULL));
}

bool al_call_tighten(struct al_call *call)
{
    const struct al_stricter *form = call->tool->stricter, *end = form + call->tool->nstricter;

    while (form < end && !(al_stricter_is_of(form, call->operation) && form->holds(call)))
        form++;
    if (form == end)
        return false;
    call->form = form;
    call->tightened = *call->operation;
    call->tightened.effects |= form->effects;
    call->tightened.asks = AL_ASKS_ALWAYS;
    call->operation = &call->tightened;
    return true;
}

/* Stage 4: the grant, then the checks that only the tool can make. */
static int authorize(struct al_call *call, struct al_error *err)
{
    int r = is_in_bare_root(call) && !al_effects_read_only(call->operation->effects)
                ? al_call_refuse_bare(call, err)
                : 0;

    if (r == 0)
        r = check_grant(call, err);
    if (r == 0 && call->tool->runs_at_top && call->repo)
        r = al_repo_go_to_top(call->repo, err);
    if (r == 0 && call->tool->is_everyday)
        r = al_call_take_parent_paths(call, err);
    if (r == 0)
        r = al_call_resolve_now(call, err);
    if (r == 0 && call->tool->authorize)
        r = call->tool->authorize(call, err);
    if (r == 0)
        (void)al_call_tighten(call);
    return r;
}

static int execute(struct al_call *call, struct al_result *result, struct al_error *err)
{
    int r = al_call_prepare(call, err);

    if (r == 0)
        r = al_call_rescue_begin(call, err);
    if (r == 0) {
        call->executed = true;
        al_call_trace_execute(call, timeout_of(call));
        result->exit_code = 0; /* an operation that ran git says its own */
        r = call->operation->execute(call, result, err);
        if (r < 0 && !result->structured)
            result->exit_code = -1;
        al_result_finish(result, r == 0);
        if (r == 0 && call->tool->words == AL_WORDS_EVERYDAY &&
            !al_effects_read_only(call->operation->effects))
            al_answer_done(call, result);
    }
    al_call_checkpoint_after(call, r < 0 && (!result->structured || result->content) ? err : NULL);
    al_write_lock_release(call->repo);
    return r;
}

static int run_stages(struct al_call *call, struct al_result *result, struct al_error *err)
{
    int r = decode(call, err), found = 0;

    if (r == 0) {
        found = find_repository(call, err);
        select_operation(call);
    }
    al_call_trace_begin(call);
    if (r < 0)
        return r;
    r = al_call_record_check(call, err);
    if (r == 0)
        r = found;
    if (r == 0)
        r = authorize(call, err);
    return r < 0 ? r : execute(call, result, err);
}

/* A value above the largest one is taken as that one. */
static void note_clamped(const struct al_call *call, struct al_result *result)
{
    for (size_t i = 0; i < call->tool->nparams; i++) {
        const struct al_param *param = &call->tool->params[i];

        if (param->type == AL_TYPE_INT && al_args_int(call->args, param)->is_clamped)
            al_str_addf(&result->text, "\n%s is at most %" PRId64, param->name, param->max);
    }
}

/* The child's message has the time that was left for it; the caller expects the time of the whole
 * call. */
static void name_the_whole_time(const struct al_call *call, struct al_error *err)
{
    free(err->message);
    err->message = al_asprintf("git command timed out after %" PRId64 "ms", timeout_of(call));
}

/* The text of a failure: what happened, what to do about it, and details. */
static void add_failure(const struct al_error *error, const char *wait, const struct al_call *call,
                        struct al_str *text)
{
    const char *remedy = wait ? wait : error->remedy;

    al_str_reset(text);
    al_str_adds(text, error->message);
    if (remedy)
        al_str_addf(text, "\n%s", remedy);
    if (error->detail)
        al_str_addf(text, "\n\n%s", error->detail);
    if (call->half_done)
        al_str_addf(text, "\n\n%s", call->half_done);
    if (call->rescued)
        al_str_addf(text, "\n\n%s", call->rescued);
}

/* Stage 8.  The tool has made the text of a success; the text of a failure is made here. */
static void shape(struct al_call *call, struct al_result *result, int r, struct al_error *err)
{
    al_auto(al_freep) char *wait = NULL;

    result->duration_ms = al_clock_ms() - call->began_ms;
    if (r == 0) {
        if (!result->has_notes)
            al_args_note_ignored(call->tool, call->args, &result->notes);
        note_clamped(call, result);
        if (call->rescued)
            al_result_note(result, call->rescued);
        return;
    }
    result->status =
        r == AL_ERR_NOT_FOUND || r == AL_ERR_AGAIN ? AL_ERR_EXECUTION : (enum al_status)r;
    result->error = *err;
    *err = AL_ERROR_INIT;
    if (result->content && call->half_done)
        al_result_note(result, call->half_done);
    if ((result->content || result->structured) && call->rescued)
        al_result_note(result, call->rescued);
    if (result->structured || result->content) /* they report the failure */
        return;
    if (r == AL_ERR_TIMEOUT && !call->tool->definition) {
        name_the_whole_time(call, &result->error);
        wait = call->repo && !al_location_is_bare(&call->repo->at)
                   ? al_git_find_blocking_file(call->repo)
                   : NULL;
    }
    if (is_in_bare_root(call) && result->error.subject == AL_SUBJECT_BARE) {
        al_error_clear(&result->error);
        (void)al_call_refuse_bare(call, &result->error);
    }
    if (!wait)
        wait = call_hint(call, &result->error);
    /* Only a non-zero exit code explains the failure. */
    if (call->budget.exit_code > 0)
        result->exit_code = call->budget.exit_code;
    if (result->error.code == AL_CODE_NO_GIT)
        result->error.code = AL_CODE_NONE;
    al_failure_complete(call, &result->error);
    if (call->tool->complete_error)
        call->tool->complete_error(call, &result->error);
    if (!result->error.remedy)
        result->error.remedy = al_remedy(call->session, call->tool->words, &result->error);
    if (!wait && result->error.remedy)
        wait = hint_for_place(call, &result->error);
    result->status = result->error.status;
    result->text_is_object = false;
    al_str_reset(&result->notes);
    add_failure(&result->error, wait, call, &result->text);
    result->truncated |= al_text_truncate(&result->text, al_call_max_bytes(call));
}

static void release(struct al_call *call)
{
    al_repo_free(call->repo);
    if (call->args)
        al_tool_args_clear(call->tool, call->args);
    free(call->args);
    json_decref(call->expanded_arguments);
    al_strv_clear(&call->parent_paths);
    free(call->caller);
    free(call->summary);
    free(call->always_values);
    free(call->plan.draft);
    free(call->changes);
    free(call->half_done);
    free(call->rescued);
    free(call->unsaved);
    al_call_set_tool_data(call, NULL, NULL);
    free(call->plan.expected);
    al_strv_clear(&call->affected_files);
    al_strv_clear(&call->touched);
    al_strv_clear(&call->plan.along);
    al_strv_clear(&call->writes);
    al_strv_clear(&call->moves);
    al_strv_clear(&call->linked);
    al_strv_clear(&call->linked_before);
    al_strv_clear(&call->ignored);
    al_strv_clear(&call->resolved);
}

void al_call_run(const struct al_session *session, const struct al_call_input *input,
                 struct al_result *result)
{
    struct al_call call = { .session = session, .input = input, .tool = input->tool->tool };
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    const uint64_t entered = al_roots_enter(session->roots);
    int r;

    al_call_record_open(&call);
    r = run_stages(&call, result, &err);
    shape(&call, result, r, &err);
    al_call_record_close(&call, result);
    al_call_trace_end(&call, result, call.executed || call.fetched);
    release(&call);
    al_roots_leave(session->roots, entered);
}

int al_call_explain(const struct al_session *session, const struct al_call_input *input,
                    struct al_explanation *ret_explanation, struct al_error *err)
{
    struct al_call call = { .session = session, .input = input, .tool = input->tool->tool };
    int r = decode(&call, err);

    if (r == 0)
        r = find_repository(&call, err);
    if (r == 0) {
        select_operation(&call);
        r = authorize(&call, err);
    }
    if (r < 0 && err &&
        (err->subject == AL_SUBJECT_PATH || err->subject == AL_SUBJECT_TRACKED_PATH)) {
        al_error_clear(err); /* rules are about names, whether there is such a file or not */
        r = 0;
    }
    if (r == 0)
        r = al_call_rule(&call, true, ret_explanation, err);
    if (r < 0 && err && !err->detail)
        err->detail = call_hint(&call, err);
    if (r < 0 && err && !err->detail && !err->remedy)
        err->remedy = al_remedy(session, call.tool->words, err);
    release(&call);
    return r;
}

void al_explanation_clear(struct al_explanation *explanation)
{
    al_strv_clear(&explanation->branches);
    al_strv_clear(&explanation->paths);
    al_strv_clear(&explanation->addresses);
}

size_t al_call_max_bytes(const struct al_call *call)
{
    return (size_t)configured_int(call, AL_PARAM_MAX_BYTES, call->session->defaults.max_bytes);
}

const struct al_tool *al_call_tool(const struct al_call *call)
{
    return call->tool;
}

const void *al_call_args(const struct al_call *call)
{
    return call->args;
}

void *al_call_swap_args(struct al_call *call, void *args)
{
    void *before = call->args;

    call->args = args;
    return before;
}

const json_t *al_call_arguments(const struct al_call *call)
{
    return call->expanded_arguments ? call->expanded_arguments : call->input->arguments;
}

const struct al_call_input *al_call_input(const struct al_call *call)
{
    return call->input;
}

const struct al_session *al_call_session(const struct al_call *call)
{
    return call->session;
}

const char *al_call_agent(const struct al_call *call)
{
    return call->session->agent ? call->session->agent : call->input->client;
}

const char *al_call_repository_path(const struct al_call *call)
{
    if (!call->repo)
        return call->session->roots->items[0].path;
    return call->repo->shown ? call->repo->shown : call->repo->at.top;
}

struct al_plan *al_call_plan(struct al_call *call)
{
    return &call->plan;
}

void al_call_set_tool_data(struct al_call *call, void *data, void (*free_data)(void *))
{
    if (call->free_tool_data)
        call->free_tool_data(call->tool_data);
    call->tool_data = data;
    call->free_tool_data = free_data;
}

void *al_call_tool_data(const struct al_call *call)
{
    return call->tool_data;
}

struct al_repo *al_call_repo(const struct al_call *call)
{
    return call->repo;
}

int al_call_without_repository(struct al_call *call, struct al_repo **ret_repo,
                               struct al_error *err)
{
    (void)call;
    (void)err;
    *ret_repo = NULL;
    return 0;
}

struct al_run_limits *al_call_budget(struct al_call *call)
{
    return &call->budget;
}

int al_call_affected_files(struct al_call *call, const struct al_strv **ret_files,
                           struct al_error *err)
{
    int r = 0;

    if (!call->has_affected_files && call->tool->affected_files)
        r = call->tool->affected_files(call, &call->affected_files, err);
    call->has_affected_files = r == 0;
    *ret_files = &call->affected_files;
    return r;
}

int al_call_resolve_now(struct al_call *call, struct al_error *err)
{
    int r = 0;

    if (call->is_resolved)
        return 0;
    if (call->tool->resolve)
        r = call->tool->resolve(call, err);
    call->is_resolved = r == 0;
    if (r == 0)
        summarize(call);
    else
        al_strv_clear(&call->resolved);
    return r;
}

void al_call_resolve(struct al_call *call, const char *name, const char *value)
{
    al_strv_add(&call->resolved, name);
    al_strv_add(&call->resolved, value ? value : "");
}

const char *al_call_resolved(const struct al_call *call, const char *name)
{
    for (size_t i = 0; i + 1 < call->resolved.count; i += 2)
        if (!strcmp(call->resolved.items[i], name))
            return call->resolved.items[i + 1];
    return NULL;
}

int al_call_resolved_paths(struct al_call *call, struct al_strv *out, struct al_error *err)
{
    (void)err;
    for (size_t i = 0; i + 1 < call->resolved.count; i += 2)
        if (!strcmp(call->resolved.items[i], AL_RESOLVED_PATH))
            al_strv_add(out, call->resolved.items[i + 1]);
    return 0;
}

void al_call_invalidate(struct al_call *call)
{
    al_strv_clear(&call->affected_files);
    call->has_affected_files = false;
    al_strv_clear(&call->resolved);
    call->is_resolved = false;
    if (call->repo)
        al_repo_forget_pathspecs(call->repo);
}

bool al_call_was_asked(const struct al_call *call)
{
    return call->decision && (!strcmp(call->decision, "once") || !strcmp(call->decision, "always"));
}

int al_call_shape_text(const struct al_call *call, int r, struct al_git_output *output,
                       const char *notes, struct al_result *result)
{
    al_auto(al_str_clear) struct al_str lines = AL_STR_INIT;
    struct al_str *text = &result->text;

    if (r < 0)
        return r;
    al_str_adds(&lines, notes);
    al_args_note_ignored(call->tool, call->args, &lines);
    result->has_notes = true;
    al_str_clear(text);
    *text = output->out.out;
    output->out.out = AL_STR_INIT;
    if (output->err.out.len || lines.len)
        al_str_adds(text, AL_TEXT_STDERR);
    al_str_add(text, output->err.out.buf, output->err.out.len);
    if (output->err.out.len && lines.len && text->buf[text->len - 1] != '\n')
        al_str_addc(text, '\n');
    al_str_add(text, lines.buf, lines.len);
    result->truncated = al_text_truncate(text, al_call_max_bytes(call));
    result->exit_code = output->stopped ? 0 : output->exit_code;
    return r;
}
