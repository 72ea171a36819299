// SPDX-License-Identifier: Apache-2.0
/* airlock tools --markdown: the page docs/REFERENCE.md, from the tables of the program. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/config/config.h"
#include "cli/config/keys.h"
#include "cli/print.h"
#include "tools/toolsets.h"

static void add_tools(const struct al_config *config, struct al_str *text)
{
    const struct al_toolset_registry *all = al_toolsets();
    const struct al_tool_defaults defaults = { .timeout_ms = config->git.timeout_ms,
                                               .max_bytes = config->git.max_bytes };

    for (size_t i = 0; i < all->count; i++) {
        al_str_addf(text, "\n## Toolset %s\n\n%s\n", all->items[i].name, all->items[i].about);
        for (const struct al_tool *const *tool = all->items[i].tools; *tool; tool++) {
            const struct al_listed_tool listed = { .tool = *tool, .toolset = &all->items[i] };

            al_str_addf(text, "\n### %s of %s\n\n```\n", (*tool)->name, all->items[i].name);
            al_tool_show(&listed, &defaults, config, text);
            al_str_adds(text, "```\n");
        }
    }
}

/* The values that a key may have, and its default. */
static void add_value(const struct al_key *key, const struct al_config *config, struct al_str *text)
{
    struct al_mcp_server server = { .name = NULL };

    al_keys_init(AL_KEY_OF_SERVER, &server);
    if (key->kind == AL_KEY_BOOL)
        al_str_adds(text, "true, false");
    else if (key->kind == AL_KEY_UINT32 || key->kind == AL_KEY_UINT64)
        al_str_addf(text, "%" PRId64 " to %" PRId64, key->min, key->max);
    else if (key->kind == AL_KEY_STRINGS || key->kind == AL_KEY_PATHS)
        al_str_adds(text, "list");
    for (size_t i = 0; key->kind == AL_KEY_CHOICE && key->words[i]; i++)
        al_str_addf(text, "%s%s", i ? ", " : "", key->words[i]);
    al_str_adds(text, " | ");
    if (key->place == AL_KEY_OF_CONFIG)
        al_key_add_value(key, config, text);
    else if (key->place == AL_KEY_OF_SERVER)
        al_key_add_value(key, &server, text);
}

static void add_keys(const struct al_config *config, struct al_str *text)
{
    const struct al_key *key;

    al_str_adds(text,
                "\n## Configuration keys\n\n| key | value | default | |\n|---|---|---|---|\n");
    for (size_t i = 0; (key = al_key_nth(i)); i++) {
        al_str_addf(text, "| `%s` | ", key->path);
        add_value(key, config, text);
        al_str_addf(text, " | %.*s", (int)strlen(key->about) - 1, key->about);
        al_str_addf(text, "%s%s. |\n", key->option ? "; " : "", key->option ? key->option : "");
    }
}

static const struct {
    enum al_code code;
    const char *about;
} codes[] = {
    { AL_CODE_NOT_INITIALIZED, "There is no repository." },
    { AL_CODE_SNAPSHOT_DISABLED, "Work would be lost, and no checkpoint can be taken." },
    { AL_CODE_PROTECTED_PATH, "The path is in a git directory, or outside of the roots." },
    { AL_CODE_OPERATION_FAILED, "git refused; its reason is in the message." },
    { AL_CODE_LOCK_TIMEOUT, "Another writer did not end in time." },
    { AL_CODE_CONFLICT, "Files are in conflict." },
    { AL_CODE_DIRTY_WORKDIR, "Local changes would be overwritten." },
    { AL_CODE_BRANCH_EXISTS, "A branch has this name." },
    { AL_CODE_BRANCH_NOT_FOUND, "No branch or commit has this name." },
    { AL_CODE_REMOTE_ERROR, "The remote is unknown, refused, or has moved." },
    { AL_CODE_TIMEOUT, "The call ran out of time." },
    { AL_CODE_NO_STAGED_CHANGES, "Nothing is staged." },
    { AL_CODE_STASH_EMPTY, "There is no stash entry." },
};

int al_cli_reference(void)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_config_clear) struct al_config config;

    al_config_init(&config);
    al_str_adds(&text, "# Reference\n\nPrinted by `airlock tools --markdown`, from the tables that "
                       "the program itself uses.\n");
    add_tools(&config, &text);
    add_keys(&config, &text);
    al_str_adds(&text, "\n## Error codes\n\n| code | name | |\n|---|---|---|\n");
    for (size_t i = 0; i < AL_COUNT(codes); i++)
        al_str_addf(&text, "| %d | `%s` | %s |\n", codes[i].code, al_code_name(codes[i].code),
                    codes[i].about);
    al_cli_print(STDOUT_FILENO, &text);
    return AL_EXIT_OK;
}
