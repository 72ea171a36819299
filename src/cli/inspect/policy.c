// SPDX-License-Identifier: Apache-2.0
/* airlock policy explain: which rule decides a call, and why. */
#include <unistd.h>

#include "base/fs.h"
#include "cli/call.h"
#include "cli/cli.h"
#include "cli/help.h"
#include "cli/print.h"
#include "cli/setup.h"
#include "cli/signals.h"
#include "guard/text.h"
#include "proc/cancel.h"

#define LISTED_MAX 8

/* The condition under which a call that is allowed by default asks nevertheless; NULL: none. */
static const char *condition_of(const struct al_tool *tool, const struct al_explanation *found,
                                const struct al_session *session)
{
    const struct al_ruling *ruling = &found->ruling;

    if (ruling->number || ruling->decision != AL_APPROVAL_ALLOW || session->mode != AL_APPROVAL_ASK)
        return NULL;
    return al_operation_condition(tool, &found->operation);
}

static void print_json(const struct al_tool *tool, const struct al_explanation *found,
                       const struct al_session *session)
{
    const struct al_ruling *ruling = &found->ruling;
    const char *condition = condition_of(tool, found, session);
    const char *message = ruling->rule ? ruling->rule->message : NULL;

    al_cli_print_json(json_pack(
        "{s:s, s:o, s:s*, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o}", "decision",
        al_approval_mode_name(ruling->decision), "rule",
        ruling->number ? al_json_int((int64_t)ruling->number) : al_json_string("default"), "from",
        ruling->narrows ? "worker" : NULL, "line",
        ruling->number ? al_json_int(ruling->rule->line) : json_null(), "asks",
        condition ? al_json_string(condition) : json_null(), "message",
        message ? al_json_string(message) : json_null(), "tool", al_json_string(tool->name),
        "operation", found->operation.name, "effects", al_effects_names(found->operation.effects),
        "branches", al_strings_of(&found->branches, 0), "paths", al_strings_of(&found->paths, 0),
        "addresses", al_strings_of(&found->addresses, 0)));
}

static void add_list(const char *label, const struct al_strv *items, const char *empty,
                     struct al_str *out)
{
    al_auto(al_strv_clear) struct al_strv shown = AL_STRV_INIT;

    if (!items->count)
        return;
    for (size_t i = 0; i < items->count; i++)
        al_strv_add(&shown, *items->items[i] ? items->items[i] : empty);
    al_str_addf(out, "%-10s ", label);
    al_text_add_list(out, &shown, LISTED_MAX);
    al_str_addc(out, '\n');
}

static void add_text(const struct al_tool *tool, const struct al_explanation *found,
                     const struct al_session *session, struct al_str *out)
{
    const struct al_ruling *ruling = &found->ruling;
    const char *condition = condition_of(tool, found, session);

    al_str_addf(out, "decision   %s\n", al_approval_mode_name(ruling->decision));
    if (ruling->number)
        al_str_addf(out, "rule       %zu (line %u%s)\n", ruling->number, ruling->rule->line,
                    ruling->narrows ? " of the worker file" : "");
    else
        al_str_adds(out, "rule       default\n");
    if (ruling->rule && ruling->rule->message) {
        al_auto(al_freep) char *said = al_text_join_lines(ruling->rule->message);

        al_str_addf(out, "message    %s\n", said);
    }
    al_str_addf(out, "operation  %s %s\neffects   ", tool->name, found->operation.name);
    for (unsigned bit = 0; bit < AL_EFFECT_COUNT; bit++)
        if (found->operation.effects & 1u << bit)
            al_str_addf(out, " %s", al_effect_name(bit));
    al_str_addc(out, '\n');
    if (condition)
        al_str_addf(out, "but        asks %s\n", condition);
    add_list("branches", &found->branches, "", out);
    add_list("paths", &found->paths, "(every path)", out);
    add_list("addresses", &found->addresses, "", out);
    if (!ruling->number)
        al_str_addf(out, "because    no rule matches, and %s\n",
                    ruling->decision == AL_APPROVAL_DENY  ? "the mode is deny"
                    : ruling->decision == AL_APPROVAL_ASK ? "the mode is ask"
                    : session->mode == AL_APPROVAL_ALLOW  ? "the mode is allow"
                                                          : "it is no call that the mode is about");
}

static bool is_told_before(const struct al_tool *tool, size_t which)
{
    for (size_t i = 0; i < which; i++)
        if (!strcmp(tool->operations[i].name, tool->operations[which].name) &&
            tool->operations[i].effects == tool->operations[which].effects)
            return true;
    return false;
}

/* The ruling on each operation of the tool by the rules that look at no branch, path or address:
 * which operation it is, and what it is about, depends on arguments and repository. */
static void add_operations(const struct al_tool *tool, const struct al_session *session,
                           struct al_str *out)
{
    const struct al_strv none = AL_STRV_INIT;

    al_str_addf(out, "Known without that, but for rules about a branch, a path or an address:\n");
    for (size_t i = 0; i < tool->noperations; i++) {
        const struct al_operation *operation = &tool->operations[i];
        const struct al_policy_query query = { .tool = tool->name,
                                               .operation = operation->name,
                                               .effects = operation->effects,
                                               .asks = al_operation_asks(operation, session->mode,
                                                                         session->checkpoints),
                                               .branches = &none,
                                               .paths = &none,
                                               .addresses = &none };
        const struct al_explanation found = {
            .operation = *operation,
            .ruling = al_policy_decide(session->policy, session->mode, &query),
        };

        if (is_told_before(tool, i))
            continue;
        al_str_addc(out, '\n');
        add_text(tool, &found, session, out);
    }
}

static int explain(struct al_setup *setup, const struct al_listed_tool *tool,
                   const json_t *arguments, bool json)
{
    al_auto(al_cancel_unrefp) struct al_cancel *cancel = al_cancel_new();
    al_auto(al_explanation_clear) struct al_explanation found = AL_EXPLANATION_INIT;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r;

    al_signals_handle(setup, al_cancel_ref(cancel));
    r = al_call_explain(
        &setup->session,
        &(struct al_call_input){ .tool = tool, .arguments = arguments, .cancel = cancel }, &found,
        &err);
    if (r < 0) {
        al_str_addf(&text, "%s: %s\n", al_status_kind(err.status), err.message);
        if (err.remedy || err.detail)
            al_str_addf(&text, "%s\n", err.remedy ? err.remedy : err.detail);
        (void)al_write_all(STDERR_FILENO, text.buf, text.len);
        al_str_clear(&text);
        if (!json)
            add_operations(tool->tool, &setup->session, &text);
        al_cli_print(STDOUT_FILENO, &text);
        return AL_EXIT_FAILED;
    }
    if (json)
        print_json(tool->tool, &found, &setup->session);
    else
        add_text(tool->tool, &found, &setup->session, &text);
    al_cli_print(STDOUT_FILENO, &text);
    return AL_EXIT_OK;
}

int al_cmd_policy(struct al_options *options, int argc, char **argv)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_json_decrefp) json_t *arguments = NULL;
    const struct al_listed_tool *tool = NULL;
    struct al_setup setup;
    const bool explains = argc && !strcmp(argv[0], "explain");
    int r, code;

    if (al_option(options, "--help"))
        return explains && argc > 1 ? al_tools_show(options, argv[1]) : al_help_command("policy");
    if (!explains)
        return al_cli_usage(
            "airlock policy needs 'explain', a tool and, optionally, its arguments");
    r = al_prepare_call(&setup, "policy explain", options, argc - 1, argv + 1, &tool, &arguments,
                        &err);
    code =
        r < 0 ? al_cli_fail(&err) : explain(&setup, tool, arguments, al_option(options, "--json"));
    al_setup_clear(&setup);
    return code;
}
