// SPDX-License-Identifier: Apache-2.0
/* Stages 1 and 9, the record of a call, and the lines of `-v`; and what the journal knows of the
 * calls in other working trees. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/utf8.h"
#include "call/private.h"
#include "git/repo/remotes.h"
#include "git/repo/repo.h"
#include "guard/redact.h"
#include "guard/root.h"
#include "guard/text.h"
#include "history/journal.h"

/* The journal is read back no farther from its end than this. */
#define READ_BACK_BYTES (64u << 20)

/* Whether an argument names a file, a branch or a revision. */
static bool is_name(const void *payload, const char *object, const char *member)
{
    const struct al_tool *tool = payload;
    const struct al_param *row =
        al_params_find(tool->params, tool->nparams, object ? object : member);

    if (row && object)
        row =
            row->object ? al_params_find(row->object->params, row->object->nparams, member) : NULL;
    return row && row->flags & AL_CALL_NAMES;
}

/* Stage 1.  Reads go on without a journal; al_call_record_check() refuses everything else. */
void al_call_record_open(struct al_call *call)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    const struct al_record_begin begin = {
        .tool = call->input->client_tool ? call->input->client_tool : call->tool->name,
        .agent = al_call_agent(call),
        .session = call->session->number,
        .call_id = call->input->call_id,
        .label = call->input->label,
        .input = call->input->arguments,
        .names = &(struct al_redact_names){ is_name, call->tool },
    };

    call->began_ms = al_clock_ms();
    if (al_record_open(call->session->journal, &begin, &call->record, &err) < 0)
        al_log_warn("the journal cannot be written: %s", err.message);
}

/* The facts about the call that are known by now. */
static struct al_record_end record_end_of(const struct al_call *call)
{
    return (struct al_record_end){
        .operation = call->operation ? call->operation->name : NULL,
        .effects = call->operation ? call->operation->effects : 0,
        .decision = call->decision ? call->decision : "none",
        .decided_by = call->decided_by ? call->decided_by : "none",
        .summary = call->summary,
        .root = call->repo && call->repo->at.root ? call->repo->at.root->path
                : call->tool->at_first_root ||
                        (call->session->roots && call->session->roots->count == 1)
                    ? al_call_repository_path(call)
                    : NULL,
        .repository = call->repo ? al_call_repository_path(call) : NULL,
        .git_commit = call->checkpoint[0] ? call->checkpoint : NULL,
        .changes = call->changes,
    };
}

/* A running call shows up in the journal with what it is about.  A call with side effects needs
 * this record. */
int al_call_record_check(const struct al_call *call, struct al_error *err)
{
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    const struct al_record_end known = record_end_of(call);
    int r = al_record_update(call->record, &known, false, &why);

    if (!al_effects_have_side_effects(call->operation->effects))
        return 0;
    if (r == 0)
        r = call->record ? al_journal_check(call->session->journal, &why) : AL_ERR_EXECUTION;
    if (r == 0)
        return 0;
    if (call->record)
        al_log_warn("the journal cannot be written: %s", why.message);
    return al_error_set(err, AL_ERR_EXECUTION,
                        "The journal cannot be written, so nothing that changes anything is done; "
                        "see airlock doctor");
}

/* The record tells the next process, if this one dies now, what was begun and which checkpoint to
 * use. */
int al_call_record_checkpoint(struct al_call *call, struct al_error *err)
{
    const struct al_record_end known = record_end_of(call);

    if (call->operation->effects & AL_RUNS_PROGRAM) /* it may live on where airlock is killed */
        al_record_share(call->record);
    return call->checkpoint[0] ? al_record_update(call->record, &known, true, err) : 0;
}

/* The number of a line, which is its first member that is a number. */
static uint64_t seq_of(const char *text)
{
    static const char member[] = "\"seq\":";
    const char *at = strstr(text, member);

    return at ? strtoull(at + strlen(member), NULL, 10) : 0;
}

/* Add the executions among the lines after number `after` that ran in the same working tree. */
static void add_overlaps(const struct al_call *call, uint64_t after, json_t *overlaps)
{
    al_auto(al_history_clear) struct al_history history = AL_HISTORY_INIT;
    const char *text;
    size_t len;

    if (!call->repo || al_history_open(al_journal_file(call->session->journal), &history) < 0)
        return;
    (void)al_history_skip_old(&history, READ_BACK_BYTES);
    while (al_history_next(&history, &text, &len) > 0) {
        const uint64_t seq = seq_of(text);
        al_auto(al_json_decrefp) json_t *other =
            seq > after ? json_loadb(text, len, JSON_ALLOW_NUL, NULL) : NULL;

        if (al_json_get_string(other, "git_commit") &&
            al_journal_is_about(other, al_call_repository_path(call)) &&
            (call->tool->tells_changes || al_journal_held_no_lock(other)))
            al_json_append(overlaps, al_json_int((int64_t)seq));
    }
}

void al_call_record_close(struct al_call *call, const struct al_result *result)
{
    al_auto(al_json_decrefp) json_t *overlaps = al_json_array();
    struct al_record_end end = record_end_of(call);
    uint64_t seen = al_record_seen(call->record);

    end.status = result->not_done ? AL_ERR_EXECUTION : result->status;
    end.dry_run = result->dry_run;
    end.interrupted = result->interrupted;
    end.text = result->text.buf;
    end.text_len = result->text.len;
    end.confinement = result->confinement ? result->confinement : call->session->confinement;
    /* Changes that could be another's are known by a checkpoint only. */
    end.overlaps = call->checkpoint[0] ? overlaps : NULL;
    while (al_record_close(call->record, &end) == AL_ERR_AGAIN) {
        add_overlaps(call, seen, overlaps);
        seen = al_record_seen(call->record);
    }
}

/* A call whose tool is not there or that never ran: its arguments are no names. */
void al_call_record_failure(const struct al_session *session, const struct al_call_input *input,
                            const char *tool, const struct al_error *why)
{
    const struct al_tool unknown = { .name = tool };
    struct al_call call = { .session = session, .input = input, .tool = &unknown };
    const struct al_result result = {
        .status = why->status,
        .text = { .buf = why->message, .len = strlen(why->message) },
    };

    al_call_record_open(&call);
    al_call_record_close(&call, &result);
}

#define RESULT_MAX_BYTES 200u

al_printf(2, 3) static void trace(const struct al_call *call, const char *fmt, ...)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    al_auto(al_freep) char *safe = NULL;
    va_list args;

    if (!call->session->trace)
        return;
    va_start(args, fmt);
    al_str_addv(&line, fmt, args);
    va_end(args);
    safe = al_text_join_lines(line.buf);
    call->session->trace(safe);
}

/* The words for a call, or with `checked` for why it may run: the tool's own if it has some. */
static void trace_words(const struct al_call *call, bool checked)
{
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    al_auto(al_freep) char *effects = checked ? al_effects_list(call->operation->effects) : NULL;
    const struct al_record_end known = record_end_of(call);

    if (call->tool->trace)
        call->tool->trace(call, checked, &words);
    else if (checked)
        al_str_addf(&words, "%s: %s; %s, %s", known.operation, effects, known.decision,
                    known.decided_by);
    else
        al_str_adds(&words, call->summary);
    trace(call, checked ? "Validation: \u2713 passed (%s)" : "Command: %s", words.buf);
}

void al_call_trace_begin(const struct al_call *call)
{
    trace(call, "Tool: %s", call->tool->name);
    if (call->summary && call->session->trace)
        trace_words(call, false);
}

static void trace_checkpoint(const struct al_call *call)
{
    char stamp[16];

    if (!al_effects_have_side_effects(call->operation->effects) ||
        (call->tool->open_repository && (!call->repo || call->repo->at.is_own)))
        return;
    al_clock_stamp(stamp);
    if (!call->repo)
        trace(call, AL_TRACE_NO_GIT);
    else if (call->checkpoint[0])
        trace(call, "Git: committed %.10s (pre-tool: %s at %s)", call->checkpoint, call->tool->name,
              stamp);
}

void al_call_trace_execute(const struct al_call *call, int64_t timeout_ms)
{
    if (!call->session->trace)
        return;
    trace_words(call, true);
    trace_checkpoint(call);
    trace(call, "Executing with timeout %gs...", (double)timeout_ms / 1000);
}

void al_call_trace_end(const struct al_call *call, const struct al_result *result, bool executed)
{
    const char *text = result->text.buf;
    size_t len = strcspn(text, "\n");

    if (result->status != AL_OK && !executed) {
        trace(call, "Validation: \u2717 %s", result->error.message);
        if (result->error.code == AL_CODE_NOT_INITIALIZED)
            trace(call, AL_TRACE_NO_GIT);
    }
    trace(call, "Duration: %" PRId64 "ms", result->duration_ms);
    if (!executed)
        return;
    if (len > RESULT_MAX_BYTES)
        len = al_utf8_floor(text, RESULT_MAX_BYTES);
    trace(call, "Result: %s%.*s%s", result->status == AL_OK ? "" : "failed: ", (int)len, text,
          text[len] && text[len + 1] ? " ..." : "");
}

/* The tool, the agent and the time of a call, as safe text.  Caller frees. */
static char *name_call(const json_t *call, const char *time)
{
    const char *tool = al_json_get_string(call, "tool");
    const char *agent = al_json_get_string(call, "agent");
    al_auto(al_freep) char *words = al_asprintf(
        "%s%s%s, %s", tool ? tool : "a call", agent ? " of agent " : "", agent ? agent : "", time);

    return al_text_sanitize_line(words);
}

/* This call is recorded with its own working tree, which is another one. */
char *al_call_running_in(const struct al_call *call, const char *top)
{
    const struct al_journal *journal = call->session->journal;

    return journal ? al_journal_running_in(al_journal_file(journal), top) : NULL;
}

static void take_line(const char *text, size_t len, const char *const *tops, size_t ntops,
                      char **words)
{
    static const char member[] = "\"repository\":\"";
    al_auto(al_json_decrefp) json_t *line = NULL;
    al_auto(al_freep) char *repository = NULL;
    const char *time;

    if (!memmem(text, len, member, strlen(member)))
        return;
    line = json_loadb(text, len, JSON_ALLOW_NUL, NULL);
    repository = al_journal_path(line, "repository");
    time = al_json_get_string(line, "time");
    for (size_t i = 0; repository && time && i < ntops; i++)
        if (!strcmp(repository, tops[i])) {
            free(words[i]);
            words[i] = name_call(line, time);
        }
}

void al_call_last_in(const struct al_call *call, const char *const *tops, size_t ntops,
                     char **ret_words)
{
    const struct al_journal *journal = call->session->journal;
    al_auto(al_history_clear) struct al_history history = AL_HISTORY_INIT;
    const char *text;
    size_t len;

    memset(ret_words, 0, ntops * sizeof(*ret_words));
    if (!journal || al_history_open(al_journal_file(journal), &history) < 0)
        return;
    (void)al_history_skip_old(&history, READ_BACK_BYTES);
    while (al_history_next(&history, &text, &len) > 0)
        take_line(text, len, tops, ntops, ret_words);
}
