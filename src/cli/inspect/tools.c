// SPDX-License-Identifier: Apache-2.0
/* airlock tools: the tools that an agent is offered. */
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/utf8.h"
#include "cli/cli.h"
#include "cli/print.h"
#include "cli/setup.h"
#include "cli/tty.h"
#include "guard/text.h"
#include "tools/upstream/mounts.h"

static json_t *tool_object(const struct al_listed_tool *listed, const struct al_setup *setup)
{
    const struct al_tool *tool = listed->tool;
    unsigned effects = al_tool_effects(tool);

    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o*}", "name",
                     al_json_string(tool->name), "toolset", al_json_string(listed->toolset->name),
                     "title", al_json_string(tool->title), "description",
                     al_json_string(tool->about), "risk", al_json_string(al_effects_risk(effects)),
                     "approval", al_json_string(al_tool_asking(tool, &setup->config)), "effects",
                     al_effects_names(effects), "inputSchema",
                     al_tool_schema(tool, &setup->session.defaults), "outputSchema",
                     al_tool_output_schema(tool));
}

static bool is_offered(const struct al_setup *setup, const struct al_listed_tool *listed)
{
    return al_grant_has_tool(setup->session.grant, listed->tool->name);
}

/* The tools of a session: the native ones, and after them those of other MCP servers. */
struct offer {
    const struct al_setup *setup;
    const struct al_mounted_list *mounted; /* NULL: none */
};

/* One tool after the other; NULL: there are no more. */
static const struct al_listed_tool *nth(const struct offer *offer, size_t n)
{
    const struct al_registry *native = &offer->setup->registry;
    const struct al_mounted_list *mounted = offer->mounted;

    if (n < native->count)
        return &native->items[n];
    n -= native->count;
    return mounted && n < mounted->count ? &mounted->items[n] : NULL;
}

/* Whether an agent sees the tool. */
static bool is_seen(const struct offer *offer, const struct al_listed_tool *listed)
{
    return is_offered(offer->setup, listed) &&
           (listed->tool->definition ||
            !al_mounts_replaces(offer->setup->session.mounts, listed->tool->name));
}

static void print_json(const struct offer *offer, const struct al_listed_tool *only)
{
    al_auto(al_json_decrefp) json_t *list = al_json_array();
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    const struct al_listed_tool *listed;

    for (size_t i = 0; (listed = nth(offer, i)); i++)
        if (only ? only == listed : is_seen(offer, listed))
            al_json_append(list, tool_object(listed, offer->setup));
    al_json_dump(list, false, &text);
    al_str_addc(&text, '\n');
    al_cli_print(STDOUT_FILENO, &text);
}

/* The column of the description, after name, risk and approval. */
#define ABOUT_COLUMN (2 + 20 + 2 + 6 + 2 + 4 + 2)

/* The longest description of another server's tool in the table. */
#define ABOUT_MAX_BYTES 100u

static const char *legend(enum al_approval_mode mode)
{
    static const char *const texts[] = {
        [AL_APPROVAL_ASK] = "Columns: risk; whether you are asked: for every call (ask), for "
                            "some, for none.\nRules of the configuration come first: airlock "
                            "policy explain TOOL\nOne tool with its operations and parameters: "
                            "airlock tools TOOL\n",
        [AL_APPROVAL_ALLOW] =
            "Columns: risk; whether you are asked: the approval mode is allow, so only "
            "rules\nof the configuration ask.\n",
        [AL_APPROVAL_DENY] = "Columns: risk; whether a call is refused, since the approval mode is "
                             "deny: every\ncall (deny), some, or none.\n",
    };

    return texts[mode];
}

#define NAME_COLUMNS 20

/* The beginning of a description that a server has written.  Caller frees. */
static char *first_line(const char *about)
{
    al_auto(al_freep) char *line = al_strndup(about, strcspn(about, "\n"));
    al_auto(al_freep) char *safe = al_text_join_lines(line);
    const bool is_long = strlen(safe) > ABOUT_MAX_BYTES;

    if (is_long)
        safe[al_utf8_floor(safe, ABOUT_MAX_BYTES)] = '\0';
    return al_asprintf("%s%s", safe, is_long ? "…" : "");
}

static void add_row(const struct al_listed_tool *listed, const struct al_config *config,
                    struct al_str *text)
{
    const struct al_tool *tool = listed->tool;
    al_auto(al_freep) char *about = tool->definition ? first_line(tool->about) : NULL;
    const bool is_wide = strlen(tool->name) > NAME_COLUMNS;

    al_str_addf(text, "  %-*s%s", NAME_COLUMNS, tool->name, is_wide ? "\n" : "");
    al_str_addf(text, "%*s  %-6s  %-4s", is_wide ? 2 + NAME_COLUMNS : 0, "",
                al_effects_risk(al_tool_effects(tool)), al_tool_asking(tool, config));
    al_cli_wrap(text, ABOUT_COLUMN, about ? about : tool->about);
}

static void print_table(const struct offer *offer)
{
    const struct al_setup *setup = offer->setup;
    bool colours = al_tty_colours(STDOUT_FILENO);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    const struct al_listed_tool *listed;
    const char *toolset = NULL;

    for (size_t i = 0; (listed = nth(offer, i)); i++) {
        if (!is_seen(offer, listed))
            continue;
        if (!toolset || strcmp(toolset, listed->toolset->name) != 0) {
            toolset = listed->toolset->name;
            al_str_addf(&text, "%s%s%s%s\n", text.len ? "\n" : "", colours ? "\033[1m" : "",
                        toolset, colours ? "\033[0m" : "");
        }
        add_row(listed, &setup->config, &text);
    }
    if (!setup->registry.count)
        al_str_adds(&text, "No tools: [tools.git] enabled is false.\n");
    else if (!text.len)
        al_str_addf(&text, "No tools: the grant '%s' includes none of them.\n",
                    setup->session.grant->name);
    else
        al_str_addf(&text, "\n%s", legend(setup->config.approval.mode));
    al_cli_print(STDOUT_FILENO, &text);
}

/* Name the servers whose tools are not known, and why. */
static void warn_of_missing(const struct al_mounts *mounts)
{
    for (size_t i = 0; i < al_upstream_mounts_count(mounts); i++) {
        struct al_upstream *server = al_upstream_mounts_server(mounts, i);
        al_auto(al_upstream_state_clear) struct al_upstream_state state = { .ntools = 0 };

        al_upstream_get_state(server, &state);
        if (state.phase != AL_UPSTREAM_READY)
            al_log_warn("the tools of %s are missing: %s", al_upstream_name(server),
                        state.problem ? state.problem : "it has not answered in time");
    }
}

/* Start the servers that are needed, if any.  Their tools are left out without a session. */
static int find_mounted(struct al_setup *setup, const char *word, struct offer *offer,
                        const struct al_listed_tool **ret_only, struct al_error *err)
{
    const bool mounted = word && al_starts_with(word, AL_MOUNTS_PREFIX);
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;

    if (!setup->config.mcp.servers.count || (word && !mounted))
        return 0;
    if (al_setup_session(setup, &why) < 0) {
        if (mounted)
            return al_error_set(err, why.status, "%s", why.message);
        al_log_warn("the tools of other MCP servers are not listed: %s", why.message);
        return 0;
    }
    if (!mounted) {
        offer->mounted = al_setup_mounted(setup);
        warn_of_missing(setup->session.mounts);
    } else if (al_mounts_claims(setup->session.mounts, word)) {
        return al_setup_find_mounted(setup, word, ret_only, err);
    }
    return 0;
}

/* Print all tools, or the tool `word`. */
static int print(struct al_setup *setup, const char *word, bool json, struct al_error *err)
{
    const struct al_listed_tool *listed = word ? al_registry_find(&setup->registry, word) : NULL;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    struct offer offer = { .setup = setup };
    int r = find_mounted(setup, word, &offer, &listed, err);

    if (r < 0)
        return r;
    if (word && (!listed || !is_offered(setup, listed)))
        return al_unknown_tool(setup, word, err);
    if (listed && listed->tool->definition)
        offer.mounted = setup->mounted;
    if (json) {
        print_json(&offer, listed);
    } else if (listed) {
        al_tool_show(listed, &setup->session.defaults, &setup->config, &text);
        al_cli_print(STDOUT_FILENO, &text);
    } else {
        print_table(&offer);
    }
    return 0;
}

int al_tools_show(const struct al_options *options, const char *word)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_setup setup;
    int r;

    r = al_setup_config(&setup, options, &err);
    if (r == 0)
        r = al_setup_tools(&setup, &err);
    if (r == 0)
        r = print(&setup, word, al_option(options, "--json") && !al_option(options, "--help"),
                  &err);
    al_setup_clear(&setup);
    return r < 0 ? al_cli_fail(&err) : AL_EXIT_OK;
}

int al_cmd_tools(struct al_options *options, int argc, char **argv)
{
    const bool all = al_option(options, "--markdown");

    if (argc > !all)
        return al_cli_usage(all ? "--markdown is about all tools" : "tools takes one tool at most");
    return all ? al_cli_reference() : al_tools_show(options, argc ? argv[0] : NULL);
}
