// SPDX-License-Identifier: Apache-2.0
/* airlock tools: the tools that an agent is offered. */
#include <unistd.h>

#include "cli/cli.h"
#include "cli/fail.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/setup.h"
#include "cli/show.h"
#include "cli/tty.h"
#include "util/fs.h"

static json_t *tool_object(const struct al_listed_tool *listed,
                           const struct al_tool_defaults *defaults)
{
    const struct al_tool *tool = listed->tool;
    unsigned effects = al_tool_effects(tool);
    json_t *object = al_json_object();

    al_json_set(object, "name", al_json_string(tool->name));
    al_json_set(object, "toolset", al_json_string(listed->toolset->name));
    al_json_set(object, "title", al_json_string(tool->title));
    al_json_set(object, "description", al_json_string(tool->about));
    al_json_set(object, "risk", al_json_string(al_effects_risk(effects)));
    al_json_set(object, "approval", al_json_string(al_tool_asking(tool)));
    al_json_set(object, "effects", al_effects_names(effects));
    al_json_set(object, "inputSchema", al_tool_schema(tool, defaults));
    if (tool->output_schema)
        al_json_set(object, "outputSchema", json_loads(tool->output_schema, 0, NULL));
    return object;
}

static bool is_offered(const struct al_setup *setup, const struct al_listed_tool *listed)
{
    return al_grant_has_tool(setup->session.grant, listed->tool->name);
}

static void print_json(const struct al_setup *setup, const struct al_listed_tool *only)
{
    al_auto(al_json_decrefp) json_t *list = al_json_array();
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    for (size_t i = 0; i < setup->registry.count; i++)
        if (is_offered(setup, &setup->registry.items[i]) &&
            (!only || only == &setup->registry.items[i]))
            al_json_append(list, tool_object(&setup->registry.items[i], &setup->session.defaults));
    al_json_dump(list, false, &text);
    al_str_addc(&text, '\n');
    al_cli_print(STDOUT_FILENO, &text);
}

/* The column of the description, after name, risk and approval. */
#define ABOUT_COLUMN (2 + 20 + 2 + 6 + 2 + 4 + 2)

static const char *legend(enum al_approval_mode mode)
{
    static const char *const texts[] = {
        [AL_APPROVAL_ASK] = "Columns: risk; whether you are asked: for every call (ask), for "
                            "some, for none.\nRules of the configuration come first: airlock "
                            "policy explain TOOL\nOne tool with its operations and parameters: "
                            "airlock tools TOOL\n",
        [AL_APPROVAL_ALLOW] = "Columns: risk, and what would ask if the approval mode were ask; it "
                              "is allow, so\nonly rules of the configuration ask.\n",
        [AL_APPROVAL_DENY] = "Columns: risk, and what would ask if the approval mode were ask; it "
                             "is deny, so\nthat is refused.\n",
    };

    return texts[mode];
}

static void print_table(const struct al_setup *setup)
{
    bool colours = al_tty_colours(STDOUT_FILENO);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    const char *toolset = NULL;

    for (size_t i = 0; i < setup->registry.count; i++) {
        const struct al_listed_tool *listed = &setup->registry.items[i];
        unsigned effects = al_tool_effects(listed->tool);

        if (!is_offered(setup, listed))
            continue;
        if (!toolset || strcmp(toolset, listed->toolset->name) != 0) {
            toolset = listed->toolset->name;
            al_str_addf(&text, "%s%s%s%s\n", text.len ? "\n" : "", colours ? "\033[1m" : "",
                        toolset, colours ? "\033[0m" : "");
        }
        al_str_addf(&text, "  %-20s  %-6s  %-4s", listed->tool->name, al_effects_risk(effects),
                    al_tool_asking(listed->tool));
        al_cli_wrap(&text, ABOUT_COLUMN, listed->tool->about);
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

/* Print all tools, or the tool `word`. */
static int print(const struct al_setup *setup, const char *word, bool json, struct al_error *err)
{
    const struct al_listed_tool *listed = word ? al_registry_find(&setup->registry, word) : NULL;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (word && (!listed || !is_offered(setup, listed)))
        return al_unknown_tool(setup, word, err);
    if (json) {
        print_json(setup, listed);
    } else if (listed) {
        al_tool_show(listed, &setup->session.defaults, &text);
        al_cli_print(STDOUT_FILENO, &text);
    } else {
        print_table(setup);
    }
    return 0;
}

static int show(const struct al_options *options, const char *word)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_setup setup;
    int r;

    r = al_setup_config(&setup, options, &err);
    if (r == 0)
        r = al_setup_tools(&setup, &err);
    if (r == 0)
        r = print(&setup, word, options->json, &err);
    al_setup_clear(&setup);
    return r < 0 ? al_cli_fail(&err) : AL_EXIT_OK;
}

int al_tools_show_help(const struct al_options *options, const char *word)
{
    struct al_options text_options = *options; /* borrows the strings */

    text_options.json = false;
    return show(&text_options, word);
}

int al_cmd_tools(int argc, char **argv)
{
    al_auto(al_options_clear) struct al_options options = { .json = false };
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    int r;

    r = al_options_read_all(&options, true, &argc, argv, &err);
    if (r == 0 && argc > 1)
        r = al_error_set(&err, AL_ERR_BAD_ARGS, "tools takes one tool at most");
    if (r < 0)
        return al_cli_fail(&err);
    if (options.help)
        return al_help_command("tools");
    return show(&options, argc ? argv[0] : NULL);
}
