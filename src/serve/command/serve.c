// SPDX-License-Identifier: Apache-2.0
/* airlock serve: the MCP server on standard input and output, or over HTTP. */
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/call.h"
#include "cli/cli.h"
#include "cli/print.h"
#include "cli/setup.h"
#include "cli/signals.h"
#include "history/journal.h"
#include "serve/command/http.h"
#include "serve/command/warn.h"
#include "serve/mcp/server.h"

/* git and workflow are made for use together: tools of equal names are expected and not reported.
 */
static bool is_known_pair(const struct al_strv *chosen)
{
    return chosen->count == 2 && !strcmp(chosen->items[0], "git") &&
           !strcmp(chosen->items[1], "workflow");
}

static void tell_settings(const struct al_setup *setup)
{
    const bool tells = !is_known_pair(&setup->config.toolsets);

    for (size_t i = 0; tells && i < setup->registry.notes.count; i++)
        al_log_note("%s", setup->registry.notes.items[i]);
    if (setup->session.mode == AL_APPROVAL_ALLOW)
        al_log_warn("approval mode allow: every call is run without asking");
}

static int serve(struct al_setup *setup)
{
    struct al_auto_pulling *pulling;
    int r;

    al_setup_review(setup);
    al_setup_review_listen(setup);
    al_signals_handle(setup, NULL);
    if (setup->session.journal)
        al_journal_sync_later(setup->session.journal);
    tell_settings(setup);
    if (setup->config.serve.grant)
        al_warn_of_grant(setup, setup->session.grant);
    if (setup->config.serve.token_file)
        al_log_warn("serve.token_file is for a server over HTTP, and there is no serve.http; this "
                    "one speaks MCP on standard input and output, without tokens");
    setup->auto_pulls = true;
    pulling = al_auto_pull_begin(setup);
    if (isatty(STDIN_FILENO))
        al_log_note("speaking MCP on standard input and output; a client usually starts this. "
                    "End with Ctrl-D");
    r = al_mcp_serve(&(struct al_mcp_options){
        .session = &setup->session,
        .in_fd = STDIN_FILENO,
        .out_fd = STDOUT_FILENO,
        .version = AIRLOCK_VERSION,
        .ready = al_auto_pull_ended(pulling),
    });
    al_auto_pull_end(pulling);
    return r < 0 ? AL_EXIT_FAILED : AL_EXIT_OK;
}

int al_cmd_serve(struct al_options *options, int argc, char **argv)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_setup setup;
    int r, code;

    (void)argv;
    if (argc > 0)
        return al_cli_usage("serve takes options only");
    r = al_setup_config(&setup, options, &err);
    setup.asks_client = true;
    setup.many_agents = setup.config.serve.http.count > 0;
    if (r == 0)
        r = al_http_check(options, &setup.config, &err);
    if (r == 0)
        r = al_setup_tools(&setup, &err);
    if (r == 0)
        r = al_setup_session(&setup, &err);
    if (r == 0 && setup.many_agents)
        tell_settings(&setup);
    if (r < 0)
        code = al_cli_fail(&err);
    else
        code = setup.many_agents ? al_serve_http(&setup, options) : serve(&setup);
    al_setup_clear(&setup);
    return code;
}
