// SPDX-License-Identifier: Apache-2.0
/* The functions by which a tool uses the call it runs in. */
#include <stdlib.h>

#include "gitops/repo/repo.h"
#include "gitops/run.h"
#include "guard/root.h"
#include "guard/text.h"
#include "tool/call.h"
#include "tool/ignored.h"
#include "tool/private.h"

const struct al_tool *al_call_tool(const struct al_call *call)
{
    return call->tool;
}

const json_t *al_call_arguments(const struct al_call *call)
{
    return call->expanded_arguments ? call->expanded_arguments : call->input->arguments;
}

const struct al_session *al_call_session(const struct al_call *call)
{
    return call->session;
}

const char *al_call_agent(const struct al_call *call)
{
    return call->session->agent ? call->session->agent : call->input->client;
}

struct al_cancel *al_call_cancel(const struct al_call *call)
{
    return call->input->cancel;
}

const struct al_progress *al_call_progress(const struct al_call *call)
{
    return call->input->progress;
}

const char *al_call_repository_path(const struct al_call *call)
{
    if (!call->repo)
        return call->session->roots->items[0].path;
    return call->repo->shown ? call->repo->shown : call->repo->at.top;
}

const struct al_asker *al_call_asker(const struct al_call *call)
{
    return call->input->asker;
}

const struct al_sampler *al_call_sampler(const struct al_call *call)
{
    return call->input->sampler;
}

const char *al_call_draft(const struct al_call *call)
{
    return call->draft;
}

void al_call_set_draft(struct al_call *call, char *draft)
{
    free(call->draft);
    call->draft = draft;
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

const char *al_call_expected(const struct al_call *call)
{
    return call->expected;
}

void al_call_set_expected(struct al_call *call, char *expected)
{
    free(call->expected);
    call->expected = expected;
}

struct al_repo *al_call_repo(const struct al_call *call)
{
    return call->repo;
}

int al_call_without_repository(struct al_call *call, const void *args, struct al_repo **ret_repo,
                               struct al_error *err)
{
    (void)call;
    (void)args;
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
        r = call->tool->affected_files(call, call->args, &call->affected_files, err);
    call->has_affected_files = r == 0;
    *ret_files = &call->affected_files;
    return r;
}

static void summarize_resolved(struct al_call *call)
{
    al_auto(al_str_clear) struct al_str summary = AL_STR_INIT;

    call->tool->summarize_resolved(call, call->args, &summary);
    free(call->summary);
    call->summary = al_text_join_shown_lines(summary.buf);
}

int al_call_resolve(struct al_call *call, struct al_error *err)
{
    int r = 0;

    if (call->is_resolved)
        return 0;
    if (call->tool->resolve)
        r = call->tool->resolve(call, call->args, &call->resolved, err);
    if (r == 0 && call->tool->summarize_resolved)
        summarize_resolved(call);
    call->is_resolved = r == 0;
    if (r < 0)
        al_resolved_clear(&call->resolved);
    return r;
}

const char *al_call_resolved(const struct al_call *call, const char *name)
{
    return al_resolved_find(&call->resolved, name);
}

void al_call_invalidate(struct al_call *call)
{
    al_strv_clear(&call->affected_files);
    call->has_affected_files = false;
    al_resolved_clear(&call->resolved);
    call->is_resolved = false;
    if (call->repo)
        al_repo_forget_pathspecs(call->repo);
}

bool al_call_was_asked(const struct al_call *call)
{
    return call->decision && (!strcmp(call->decision, "once") || !strcmp(call->decision, "always"));
}

int al_call_check_granted(const struct al_call *call, const char *dir, bool writes,
                          struct al_error *err)
{
    return al_grant_check_dir(call->session->grant, dir, writes, err);
}

int al_call_check_granted_below(const struct al_call *call, const char *dir, bool writes,
                                struct al_error *err)
{
    return al_grant_check_tree(call->session->grant, dir, writes, err);
}

void al_call_note_ignored(const struct al_call *call, struct al_str *out)
{
    al_auto(al_ignored_clear) struct al_ignored ignored = AL_IGNORED_INIT;

    if (call->tool->ignored)
        call->tool->ignored(call->args, &ignored);
    if (!ignored.names.count)
        return;
    if (out->len)
        al_str_addc(out, '\n');
    al_str_adds(out, "airlock: ignored: ");
    for (size_t i = 0; i < ignored.names.count; i++)
        al_str_addf(out, "%s%s", i ? ", " : "", ignored.names.items[i]);
    al_str_addf(out, ", since %s", ignored.since);
}

void al_call_shape_text(const struct al_call *call, struct al_git_output *output, const char *notes,
                        struct al_result *result)
{
    al_auto(al_str_clear) struct al_str lines = AL_STR_INIT;
    struct al_str *text = &result->text;

    al_str_adds(&lines, notes);
    al_call_note_ignored(call, &lines);
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
}

void al_call_frame(struct al_call *call, size_t len)
{
    call->framed_len = len;
}

void al_call_skip_approval(struct al_call *call)
{
    call->skips_approval = true;
}
