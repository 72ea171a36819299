// SPDX-License-Identifier: Apache-2.0
/* airlock install: write airlock's entry into the settings of an MCP client. */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/environment.h"
#include "cli/help.h"
#include "cli/install/clients.h"
#include "cli/install/plan.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/setup.h"
#include "guard/text.h"
#include "tool/registry.h"
#include "tool/tool.h"
#include "util/fs.h"
#include "util/log.h"

/* The rule of Claude Code that keeps its shell from running git. */
#define DENIED_SHELL "Bash(git *)"

/** A run of the command. */
struct install {
    struct al_options options;
    struct al_setup setup;
    const struct al_client *client;
    bool user, yes, removes, prints, with_rules;
    struct al_strv command, denied, allowed;
};

static void add_option(struct al_strv *command, const char *name, const char *value)
{
    if (!value)
        return;
    al_strv_add(command, name);
    al_strv_add(command, value);
}

/* The client may start in another directory. */
static void add_file_option(struct al_strv *command, const char *name, const char *file)
{
    al_auto(al_freep) char *path = file ? al_environment_absolute(file) : NULL;

    add_option(command, name, path);
}

/* The command that the client starts: this program, with the options of this command line. */
static int make_command(struct install *install, struct al_error *err)
{
    const struct al_options *options = &install->options;
    char program[4096];
    const ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);

    if (len <= 0)
        return al_error_set(err, AL_ERR_EXECUTION, "the path of airlock itself cannot be found");
    program[len] = '\0';
    al_strv_add(&install->command, program);
    al_strv_add(&install->command, "serve");
    for (size_t i = 0; !install->user && i < install->setup.roots.count; i++)
        if (!install->setup.roots.items[i].is_git_dir)
            add_option(&install->command, "--root", install->setup.roots.items[i].path);
    for (size_t i = 0; i < options->toolsets.count; i++)
        add_option(&install->command, "--toolset", options->toolsets.items[i]);
    add_option(&install->command, "--approval", options->approval);
    add_option(&install->command, "--grant", options->grant);
    add_option(&install->command, "--agent", options->agent);
    add_option(&install->command, "--tool", options->tool);
    add_option(&install->command, "--command-timeout", options->command_timeout);
    add_file_option(&install->command, "--config", options->config);
    add_file_option(&install->command, "--worker", options->worker);
    add_file_option(&install->command, "--audit", options->audit);
    if (options->no_git)
        al_strv_add(&install->command, "--no-git");
    return 0;
}

static void make_rules(struct install *install)
{
    const struct al_registry *tools = &install->setup.registry;

    al_strv_add(&install->denied, DENIED_SHELL);
    for (size_t i = 0; i < tools->count; i++)
        if (al_effects_read_only(al_tool_effects(tools->items[i].tool)))
            al_strv_addf(&install->allowed, "mcp__" AL_CLIENT_ENTRY "__%s",
                         tools->items[i].tool->name);
}

/* The files: the client's settings, then its rules. */
static int make_plans(struct install *install, struct al_install_plan plans[2],
                      struct al_error *err)
{
    const struct al_client *client = install->client;
    const bool user = install->user || !client->project_file;
    const char *dir = user ? install->setup.home : install->setup.roots.items[0].path;
    const char *rules_file = user ? client->user_rules : client->project_rules;
    al_auto(al_json_decrefp) json_t *entry = client->make(&install->command);
    al_auto(al_freep) char *path = al_fs_join(dir, user ? client->user_file : client->project_file);
    al_auto(al_freep) char *rules = rules_file ? al_fs_join(dir, rules_file) : NULL;
    struct al_install_wish wish = { .client = client,
                                    .path = path,
                                    .state_dir = install->setup.state_dir,
                                    .entry = entry,
                                    .removes = install->removes };
    int r = al_install_plan_make(&wish, &plans[0], err);

    if (r < 0 || !rules || (!install->with_rules && !install->removes))
        return r;
    wish.path = rules;
    wish.entry = NULL;
    wish.denied = &install->denied;
    wish.allowed = &install->allowed;
    return al_install_plan_make(&wish, &plans[1], err);
}

static bool is_confirmed(const struct install *install)
{
    const char *question = install->removes ? "Remove? [y/N] " : "Write? [y/N] ";
    char answer[16] = "";

    if (install->yes)
        return true;
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
        al_log_note("there is no terminal to ask on, and nothing was written; --yes does not ask");
        return false;
    }
    (void)al_write_all(STDOUT_FILENO, question, strlen(question));
    if (fgets(answer, (int)sizeof(answer), stdin) &&
        (!strcasecmp(answer, "y\n") || !strcasecmp(answer, "yes\n")))
        return true;
    al_log_note("nothing was written");
    return false;
}

static void tell_done(const struct install *install)
{
    const char *title = install->client->title;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (install->removes)
        al_str_addf(&text, "airlock was removed from %s.\n", title);
    else
        al_str_addf(&text,
                    "airlock is installed in %s, which reads this when it starts.\n"
                    "Check: airlock doctor. Undo: airlock install %s%s --remove\n",
                    title, install->client->name, install->user ? " --user" : "");
    al_cli_print(STDOUT_FILENO, &text);
}

static int carry_out(struct install *install, struct al_install_plan plans[2], struct al_error *err)
{
    al_auto(al_str_clear) struct al_str shown = AL_STR_INIT;
    int r = 0;

    al_install_plan_show(&plans[0], &shown);
    al_install_plan_show(&plans[1], &shown);
    if (!shown.len)
        al_str_addf(&shown, "airlock is %s %s; nothing to do.\n",
                    install->removes ? "not installed in" : "installed already in",
                    install->client->title);
    al_cli_print(STDOUT_FILENO, &shown);
    if (install->prints || (!plans[0].changes && !plans[1].changes))
        return AL_EXIT_OK;
    if (!is_confirmed(install))
        return AL_EXIT_FAILED;
    for (size_t i = 0; r == 0 && i < 2; i++)
        if (plans[i].changes)
            r = al_install_plan_write(&plans[i], err);
    if (r < 0)
        return r;
    tell_done(install);
    return AL_EXIT_OK;
}

static int run(struct install *install, struct al_error *err)
{
    struct al_install_plan plans[2] = { AL_INSTALL_PLAN_INIT, AL_INSTALL_PLAN_INIT };
    int r = al_setup_config(&install->setup, &install->options, err);

    if (r == 0)
        r = al_setup_tools(&install->setup, err);
    if (r == 0 && !install->user)
        r = al_setup_git(&install->setup, err);
    if (r == 0 && !install->setup.home)
        r = al_error_set(err, AL_ERR_EXECUTION, "there is no home directory; set HOME");
    if (r == 0)
        r = make_command(install, err);
    if (r < 0)
        return r;
    make_rules(install);
    r = make_plans(install, plans, err);
    if (r == 0)
        r = carry_out(install, plans, err);
    al_install_plan_clear(&plans[0]);
    al_install_plan_clear(&plans[1]);
    return r;
}

/* --- The command line --- */

/* Take the options that only this command has out of the words. */
static void take_own(struct install *install, int *argc, char **argv)
{
    const struct {
        const char *name;
        bool *flag;
    } own[] = { { "--user", &install->user },    { "--yes", &install->yes },
                { "-y", &install->yes },         { "--remove", &install->removes },
                { "--print", &install->prints }, { "--with-rules", &install->with_rules } };
    int count = 0;

    for (int i = 0; i < *argc; i++) {
        bool taken = false;

        for (size_t j = 0; j < AL_COUNT(own); j++)
            if (!strcmp(argv[i], own[j].name))
                *own[j].flag = taken = true;
        if (!taken)
            argv[count++] = argv[i];
    }
    *argc = count;
}

static int find_client(struct install *install, int argc, char **argv, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str names = AL_STR_INIT;
    const char *nearest = NULL;
    size_t count;
    const struct al_client *clients = al_clients(&count);

    for (size_t i = 0; i < count; i++)
        al_str_addf(&names, "%s%s", i ? " " : "", clients[i].name);
    if (argc != 1)
        return al_error_set(err, AL_ERR_BAD_ARGS, "install needs one client: %s", names.buf);
    install->client = al_client_find(argv[0], &nearest);
    if (!install->client) {
        al_auto(al_freep) char *safe = al_text_sanitize_line(argv[0]);

        return nearest ? al_error_set(err, AL_ERR_BAD_ARGS, "unknown client '%s'; did you mean %s?",
                                      safe, nearest)
                       : al_error_set(err, AL_ERR_BAD_ARGS, "unknown client '%s'; there are: %s",
                                      safe, names.buf);
    }
    if (install->user && install->options.roots.count)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "--user is for every repository, so it takes no --root");
    if (install->with_rules && !install->client->user_rules)
        return al_error_set(err, AL_ERR_BAD_ARGS, "--with-rules is not supported for %s",
                            install->client->title);
    return 0;
}

int al_cmd_install(int argc, char **argv)
{
    struct install install = { .client = NULL };
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    int r;

    take_own(&install, &argc, argv);
    r = al_options_read_all(&install.options, false, &argc, argv, &err);
    if (r == 0 && install.options.help) {
        al_options_clear(&install.options);
        return al_help_command("install");
    }
    if (r == 0)
        r = find_client(&install, argc, argv, &err);
    if (r == 0)
        r = run(&install, &err);
    al_setup_clear(&install.setup);
    al_options_clear(&install.options);
    al_strv_clear(&install.command);
    al_strv_clear(&install.denied);
    al_strv_clear(&install.allowed);
    return r < 0 ? al_cli_fail(&err) : r;
}
