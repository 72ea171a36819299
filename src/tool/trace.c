// SPDX-License-Identifier: Apache-2.0
/* The lines of `-v`: what a call is doing, while it does it. */
#include <inttypes.h>
#include <stdlib.h>

#include "gitops/repo/remotes.h"
#include "guard/text.h"
#include "tool/private.h"
#include "util/clock.h"
#include "util/utf8.h"

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

void al_call_trace_begin(const struct al_call *call)
{
    trace(call, "Tool: %s", call->tool->name);
    if (call->summary && call->tool->trace_command) {
        al_auto(al_str_clear) struct al_str command = AL_STR_INIT;

        call->tool->trace_command(call->args, &command);
        trace(call, "Command: %s", command.buf);
    } else if (call->summary) {
        trace(call, "Command: %s", call->summary);
    }
}

static void trace_effects(const struct al_call *call)
{
    al_auto(al_freep) char *names = al_effects_list(call->operation->effects);

    trace(call, "Validation: \u2713 passed (%s: %s; %s, %s)", call->operation->name, names,
          call->decision ? call->decision : "none", call->decided_by ? call->decided_by : "none");
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

static void trace_checked(const struct al_call *call)
{
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;

    call->tool->describe_checked(call->args, &words);
    trace(call, "Validation: \u2713 passed (%s)", words.buf);
}

void al_call_trace_execute(const struct al_call *call, int64_t timeout_ms)
{
    if (!call->session->trace)
        return;
    if (call->tool->describe_checked)
        trace_checked(call);
    else
        trace_effects(call);
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
