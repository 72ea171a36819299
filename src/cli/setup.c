// SPDX-License-Identifier: Apache-2.0
/* The configuration, the options and the tools. */
#include <ctype.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/environment.h"
#include "cli/known_names.h"
#include "cli/options.h"
#include "guard/agent.h"
#include "guard/text.h"
#include "toolsets/shell/shell.h"
#include "toolsets/toolsets.h"
#include "util/fs.h"

#include "cli/setup.h"

static char *find_home(void)
{
    const char *home = al_environment_get("HOME");
    const struct passwd *entry;

    if (home)
        return al_strdup(home);
    entry = getpwuid(getuid());
    return entry ? al_strdup(entry->pw_dir) : NULL;
}

static void find_paths(struct al_setup *setup)
{
    const char *state = al_environment_get("XDG_STATE_HOME");

    if (state)
        setup->state_dir = al_fs_join(state, "airlock");
    else
        setup->state_dir =
            al_fs_join(setup->home ? setup->home : "/nonexistent", ".local/state/airlock");
    setup->journal_file = setup->config.journal.file
                              ? al_environment_absolute(setup->config.journal.file)
                              : al_fs_join(setup->state_dir, "tool_log.jsonl");
}

/* Read the value of --tool, e.g. "read,command".  Only `command` and `all` let bash_command run
 * anything. */
static int read_tool_option(struct al_setup *setup, const char *list, struct al_error *err)
{
    static const char *const words[] = { "all", "command", "read", "write" };

    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        size_t len = strcspn(at, ","), i = 0;

        while (i < AL_COUNT(words) && (strlen(words[i]) != len || strncmp(words[i], at, len) != 0))
            i++;
        if (i == AL_COUNT(words))
            return al_error_set(err, AL_ERR_BAD_ARGS,
                                "--tool is a list of command, all, read and write");
        setup->runs_commands |= i < 2;
    }
    return 0;
}

static int read_shell_options(struct al_setup *setup, const struct al_options *options,
                              struct al_error *err)
{
    const char *text = options->command_timeout;
    char *end = NULL;
    long seconds;

    if (text) {
        seconds = strtol(text, &end, 10);
        if (*end || !isdigit((unsigned char)*text) || seconds < AL_SHELL_TIMEOUT_S_MIN ||
            seconds > AL_SHELL_TIMEOUT_S_MAX)
            return al_error_set(err, AL_ERR_BAD_ARGS, "--command-timeout is %d to %d seconds",
                                AL_SHELL_TIMEOUT_S_MIN, AL_SHELL_TIMEOUT_S_MAX);
        setup->config.shell.timeout_s = (uint32_t)seconds;
    }
    return read_tool_option(setup, options->tool, err);
}

static void replace(char **field, const char *option)
{
    if (!option)
        return;
    free(*field);
    *field = al_strdup(option);
}

static void replace_list(struct al_strv *field, const struct al_strv *option)
{
    for (size_t i = 0; i < option->count; i++) {
        if (i == 0)
            al_strv_clear(field);
        al_strv_add(field, option->items[i]);
    }
}

static int read_http_options(struct al_config *config, const struct al_options *options,
                             struct al_error *err)
{
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;

    for (size_t i = 0; i < options->http.count; i++)
        if (al_serve_check_place(options->http.items[i], &why) < 0)
            return al_error_set(err, AL_ERR_BAD_ARGS, "--http %s", why.message);
    replace_list(&config->serve.http, &options->http);
    if (options->token_file)
        config->serve.no_token = false;
    if (options->no_token)
        free(al_take(&config->serve.token_file));
    replace(&config->serve.token_file, options->token_file);
    replace(&config->serve.tls_cert, options->tls_cert);
    replace(&config->serve.tls_key, options->tls_key);
    config->serve.no_token |= options->no_token;
    config->serve.behind_proxy |= options->behind_proxy;
    return 0;
}

static int read_serve_options(struct al_config *config, const struct al_options *options,
                              struct al_error *err)
{
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;

    if (options->agent && al_agent_check_name(options->agent, &why) < 0)
        return al_error_set(err, AL_ERR_BAD_ARGS, "--agent %s", why.message);
    replace(&config->serve.agent, options->agent);
    replace(&config->serve.grant, options->grant);
    replace(&config->serve.worker, options->worker);
    return read_http_options(config, options, err);
}

static void write_line(const char *line)
{
    al_auto(al_freep) char *text = al_asprintf("%s\n", line);

    /* One write(2), since calls run concurrently. */
    (void)al_write_all(STDERR_FILENO, text, strlen(text));
}

/* Append an option with the path of what exists, from any directory.  False: it is no word. */
static bool add_option(struct al_str *out, const char *name, const char *given)
{
    al_auto(al_freep) char *path = realpath(given, NULL);
    al_auto(al_freep) char *safe = path ? al_text_sanitize_shown_line(path) : NULL;

    if (!path || strcmp(path, safe) != 0 || strchr(path, '\''))
        return false;
    al_str_addf(out,
                strcspn(path, " \t!\"#$&()*;<>?[\\]^`{|}~") < strlen(path) ? " %s '%s'" : " %s %s",
                name, path);
    return true;
}

/* What the configuration file says holds in another terminal as well. */
static char *format_options(const struct al_options *options)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    bool is_whole = true;

    for (size_t i = 0; i < options->roots.count && is_whole; i++)
        is_whole = add_option(&text, "--root", options->roots.items[i]);
    if (options->config && is_whole)
        is_whole = add_option(&text, "--config", options->config);
    if (options->worker && is_whole)
        is_whole = add_option(&text, "--worker", options->worker);
    return is_whole ? al_str_detach(&text) : NULL;
}

int al_setup_read_config(const struct al_setup *setup, const struct al_options *options,
                         struct al_config *config, struct al_error *err)
{
    int r;

    al_config_init(config);
    r = al_config_load(config, options->config, al_environment_get("XDG_CONFIG_HOME"), setup->home,
                       err);
    if (r < 0)
        return r;
    replace_list(&config->roots, &options->roots);
    replace_list(&config->toolsets, &options->toolsets);
    replace(&config->journal.file, options->audit);
    if (options->approval) {
        int mode = al_approval_mode_parse(options->approval);

        if (mode < 0)
            return al_error_set(err, AL_ERR_BAD_ARGS, "--approval is ask, allow or deny");
        config->approval.mode = (enum al_approval_mode)mode;
    }
    if (options->no_git)
        config->journal.checkpoints = false;
    return read_serve_options(config, options, err);
}

int al_setup_config(struct al_setup *setup, const struct al_options *options, struct al_error *err)
{
    int r;

    *setup = (struct al_setup){ .roots = AL_ROOTS_INIT, .registry = AL_REGISTRY_INIT };
    setup->home = find_home();
    setup->options = format_options(options);
    setup->session.options = setup->options;
    setup->named_toolsets = options->toolsets.count > 0;
    if (options->verbose)
        setup->session.trace = write_line;
    r = al_setup_read_config(setup, options, &setup->config, err);
    if (r < 0)
        return r;
    find_paths(setup);
    return read_shell_options(setup, options, err);
}

/* The name that the user chose for the agent comes before the names of what it is limited by. */
static void name_agent(struct al_setup *setup)
{
    const char *chosen = setup->config.serve.agent;

    if (!chosen)
        chosen = setup->worker.name;
    if (!chosen)
        chosen = setup->config.serve.grant;
    free(setup->agent);
    setup->agent = al_agent_name(chosen);
    setup->session.agent = setup->agent;
}

int al_setup_tools(struct al_setup *setup, struct al_error *err)
{
    int r;

    al_toolset_registry_clear(&setup->toolsets);
    al_toolsets_register(&setup->toolsets);
    r = al_check_known_names(&(struct al_known){ &setup->toolsets, &setup->config.mcp.servers },
                             &setup->config, err);
    if (r < 0)
        return r;
    setup->session.defaults.timeout_ms = setup->config.git.timeout_ms;
    setup->session.defaults.max_bytes = setup->config.git.max_bytes;
    if (setup->config.serve.grant) {
        r = al_grants_choose(&setup->config.grants, setup->config.serve.grant,
                             &setup->session.grant, err);
        if (r < 0)
            return r;
    }
    r = al_setup_worker(setup, err);
    if (r == 0)
        name_agent(setup);
    if (r < 0 || !setup->config.git.enabled)
        return r;
    return al_registry_fill(&setup->registry, &setup->toolsets, &setup->config.toolsets, err);
}
