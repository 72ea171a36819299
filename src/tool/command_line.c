// SPDX-License-Identifier: Apache-2.0
/* A call as a command line for a shell. */
#include <string.h>

#include "guard/redact.h"
#include "guard/root.h"
#include "guard/text.h"
#include "tool/private.h"
#include "util/json.h"

/** Longer arguments are left out: they would bury the message. */
#define ARGUMENTS_MAX_BYTES 72

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

/* Append a path as one shell word. */
static void add_path(struct al_str *out, const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=@%:,./";
    al_auto(al_freep) char *safe = al_text_sanitize_shown_line(path);

    if (strspn(safe, plain) == strlen(safe)) {
        al_str_adds(out, safe);
        return;
    }
    al_str_addc(out, '\'');
    for (const char *at = safe; *at; at++)
        al_str_adds(out, *at == '\'' ? "'\\''" : (char[]){ *at, '\0' });
    al_str_addc(out, '\'');
}

/* A root that is the repository needs no option: the user is taken to be in it.  Of several roots
 * each one is needed, and so is one above the repository, which a relative working_dir is of. */
static void add_roots(struct al_str *out, const struct al_call *call)
{
    const struct al_roots *roots = al_call_session(call)->roots;
    const size_t count = roots ? roots->count : 0;
    size_t given = 0;

    for (size_t i = 0; i < count; i++) {
        const struct al_root *root = &roots->items[i];

        if (!root->is_git_dir && !al_root_is_released(root))
            given += strcmp(root->path, al_call_repository_path(call)) != 0 ? 2 : 1;
    }
    for (size_t i = 0; i < count && given > 1; i++) {
        if (roots->items[i].is_git_dir || al_root_is_released(&roots->items[i]))
            continue;
        al_str_adds(out, " --root ");
        add_path(out, roots->items[i].path);
    }
}

/* Returns false for arguments that the journal would redact, and for long ones. */
static bool add_arguments(struct al_str *out, const json_t *arguments)
{
    al_auto(al_str_clear) struct al_str json = AL_STR_INIT, word = AL_STR_INIT;
    al_auto(al_json_decrefp) json_t *clean = al_redact_json(arguments, NULL);

    if (!arguments || !json_object_size(arguments))
        return true;
    if (!json_equal(clean, arguments))
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
    add_roots(&line, call);
    if (!call->tool->definition)
        al_str_addf(&line, " --toolset %s", toolset);
    al_str_addf(&line, " %s", call->tool->name);
    whole = add_arguments(&line, call->input->arguments);
    return al_asprintf("%s: %s", whole ? "" : ", with its arguments", line.buf);
}
