// SPDX-License-Identifier: Apache-2.0
/* A call as a command line for a shell. */
#include "journal/journal.h"
#include "tool/private.h"
#include "util/json.h"

/** Longer arguments are left out: they would bury the message. */
#define ARGUMENTS_MAX_BYTES 72

/** The toolset that `airlock call` uses without --toolset. */
#define OWN_TOOLSET "git"

/* Append JSON as one shell word in single quotes.  In JSON of printable ASCII an apostrophe occurs
 * only inside strings, where an escape can replace it; so does DEL. */
static void add_quoted(struct al_str *out, const struct al_str *json)
{
    al_str_adds(out, " '");
    for (size_t i = 0; i < json->len; i++) {
        if (json->buf[i] == '\'' || json->buf[i] == 0x7f)
            al_str_addf(out, "\\u%04x", (unsigned)json->buf[i]);
        else
            al_str_addc(out, json->buf[i]);
    }
    al_str_addc(out, '\'');
}

/* Returns false for arguments that the journal would redact, and for long ones. */
static bool add_arguments(struct al_str *out, const json_t *arguments)
{
    al_auto(al_str_clear) struct al_str json = AL_STR_INIT, word = AL_STR_INIT;

    if (!arguments || !json_object_size(arguments))
        return true;
    if (al_redact_has_secret(arguments))
        return false;
    al_json_dump(arguments, true, &json);
    add_quoted(&word, &json);
    if (word.len >= ARGUMENTS_MAX_BYTES)
        return false;
    al_str_add(out, word.buf, word.len);
    return true;
}

char *al_call_command_line(const struct al_call *call)
{
    const char *toolset = call->input->tool->toolset->name;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    bool whole;

    if (call->tool->command_line && call->tool->command_line(call, call->args, &line))
        return al_asprintf(": %s", line.buf);
    al_str_reset(&line);
    al_str_adds(&line, "airlock call");
    if (!call->tool->definition && strcmp(toolset, OWN_TOOLSET) != 0)
        al_str_addf(&line, " --toolset %s", toolset);
    al_str_addf(&line, " %s", call->tool->name);
    whole = add_arguments(&line, call->input->arguments);
    return al_asprintf("%s: %s", whole ? "" : ", with its arguments", line.buf);
}
