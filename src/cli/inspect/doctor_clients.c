// SPDX-License-Identifier: Apache-2.0
/*
 * The findings of airlock doctor about MCP clients: the entries that start airlock, and how it
 * answers when it is started as the client would start it.
 *
 * A file in a repository may be anybody's.  Only this program is started, and from a file in a
 * repository only with options that run nothing else.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "cli/environment.h"
#include "cli/inspect/doctor.h"
#include "cli/install/clients.h"
#include "cli/install/settings.h"
#include "git/location.h"
#include "guard/program.h"
#include "proc/proc.h"
#include "tools/upstream/mounts.h"
#include "tools/words.h"

#define START_MS 10000u

/** An entry that was found. */
struct entry {
    const struct al_client *client;
    const char *file;
    bool of_project; /* the file lies in a repository */
    struct al_strv command;
};

/* The variables that clients pass on to a server on standard input and output. */
static void add_environment(struct al_strv *env)
{
    static const char *const names[] = { "HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER" };

    for (size_t i = 0; i < AL_COUNT(names); i++)
        if (getenv(names[i]))
            al_strv_addf(env, "%s=%s", names[i], getenv(names[i]));
}

static const char this_program[] = "/proc/self/exe";

/* The options that `airlock install` writes into a project's file by itself, or that only choose
 * what airlock offers. */
static bool is_plain_command(const struct al_strv *command)
{
    size_t i = 2;

    if (command->count < 2 || strcmp(command->items[1], "serve") != 0)
        return false;
    for (; i + 1 < command->count; i += 2)
        if (!al_shell_words_list(" --root --toolset --approval --agent --tool ", command->items[i]))
            return false;
    return i == command->count;
}

/* Start it, and ask for its tools. */
static void try_entry(struct al_findings *findings, const struct al_setup *setup,
                      const struct entry *entry)
{
    const char *what = entry->client->name;
    static char *const no_environment[] = { NULL };
    al_auto(al_strv_clear) struct al_strv env = AL_STRV_INIT;
    al_auto(al_upstream_state_clear) struct al_upstream_state state = { .ntools = 0 };
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    json_t *tools = NULL;
    al_auto(al_freep) char *scratch =
        al_asprintf("%s/run/doctor-%d", setup->state_dir, (int)getpid());
    struct al_upstream *server;
    int r;

    add_environment(&env);
    server = al_upstream_new(&(struct al_upstream_settings){ .name = "airlock",
                                                             .command = &entry->command,
                                                             .env = &env,
                                                             .timeout_ms = START_MS,
                                                             .roots = &setup->roots,
                                                             .path_list = getenv("PATH"),
                                                             .environ_ = no_environment,
                                                             .scratch_dir = scratch,
                                                             .is_airlock = true,
                                                             .is_brief = true });
    r = al_upstream_tools(server, START_MS, NULL, &tools, &err);
    al_upstream_get_state(server, &state);
    if (r == 0)
        al_finding_add(findings, what, AL_FINE, NULL, "%s: %s, %zu tool%s", entry->file,
                       state.revision ? state.revision->name : "no revision",
                       json_array_size(tools), json_array_size(tools) == 1 ? "" : "s");
    else
        al_finding_add(findings, what, AL_MISSING,
                       "Correct the entry, or write it again with airlock install.", "%s: %s",
                       entry->file, state.problem ? state.problem : err.message);
    json_decref(tools);
    al_upstream_end(server);
    al_upstream_free(server);
}

/* Put the project's directory where the entry has the client's variable for it. */
static void expand(const struct al_setup *setup, struct entry *entry)
{
    const char *variable = entry->client->root;

    for (size_t i = 0; variable && i < entry->command.count; i++)
        if (!strcmp(entry->command.items[i], variable)) {
            free(entry->command.items[i]);
            entry->command.items[i] = al_strdup(setup->roots.items[0].path);
        }
}

/* The first root that the entry names, if none of those is this working tree.  Caller frees. */
static char *other_root(const struct al_setup *setup, const struct entry *entry)
{
    const char *own = setup->roots.items[0].path;
    char *other = NULL;

    for (size_t i = 1; i + 1 < entry->command.count; i++) {
        al_auto(al_freep) char *path = NULL;

        if (strcmp(entry->command.items[i], "--root") != 0)
            continue;
        path = al_fs_join(own, entry->command.items[i + 1]);
        al_freep(&other);
        other = al_environment_canonical(path);
        if (!strcmp(other, own))
            break;
    }
    return other && strcmp(other, own) != 0 ? other : (free(other), NULL);
}

static void check_entry(struct al_findings *findings, const struct al_setup *setup,
                        struct entry *entry)
{
    const char *what = entry->client->name, *file = entry->file;
    const char *program = entry->command.items[0];
    al_auto(al_freep) char *found = al_program_find(program, getenv("PATH"), &setup->roots);
    al_auto(al_freep) char *other = NULL;

    expand(setup, entry);
    other = other_root(setup, entry);
    if (!found) {
        al_finding_add(findings, what, AL_MISSING, "Write the entry again with airlock install.",
                       "%s: there is no program '%s' outside the roots", file, program);
    } else if (!al_location_is_same(this_program, found)) {
        al_finding_add(findings, what, AL_WARNING,
                       "Run doctor of that program, or write the entry again with airlock "
                       "install.",
                       "%s: starts another program, '%s', and was not tried", file, program);
    } else if (entry->of_project && !is_plain_command(&entry->command)) {
        al_finding_add(findings, what, AL_WARNING,
                       "Look at the entry: the file lies in the repository.",
                       "%s: its options could start other programs, and it was not tried", file);
    } else if (other) {
        al_finding_add(findings, what, AL_WARNING,
                       "Here airlock would work there: write the entry again with airlock install.",
                       "%s: is for another working tree, '%s'", file, other);
    } else {
        try_entry(findings, setup, entry);
    }
}

static bool add_strings(const json_t *list, struct al_strv *ret)
{
    const json_t *item;
    size_t i;

    json_array_foreach(list, i, item)
    {
        if (!json_is_string(item))
            return false;
        al_strv_add(ret, json_string_value(item));
    }
    return json_is_array(list);
}

/* Append the command of an entry.  False: it has none. */
static bool read_command(const struct al_client *client, const json_t *entry, struct al_strv *ret)
{
    const char *program = al_json_get_string(entry, "command");
    const json_t *command = json_object_get(entry, "command"),
                 *args = json_object_get(entry, "args");

    if (client->one_list)
        return json_array_size(command) && add_strings(command, ret);
    if (program)
        al_strv_add(ret, program);
    return program && (!args || add_strings(args, ret));
}

/* Look into one file of a client. */
static void check_file(struct al_findings *findings, const struct al_setup *setup,
                       const struct al_client *client, const char *path, bool of_project)
{
    al_auto(al_settings_file_clear) struct al_settings_file file = AL_SETTINGS_FILE_INIT;
    al_auto(al_json_decrefp) json_t *value = NULL;
    struct entry entry = { .client = client, .file = path, .of_project = of_project };

    if (al_settings_file_read(path, AL_SETTINGS_MAX_MIB, &file, NULL) < 0 || !file.exists)
        return;
    value = client->is_toml ? al_settings_toml_get(&file.text, AL_CLIENT_TABLE)
                            : al_settings_json_get(&file.text, client->path);
    if (!value)
        return;
    if (read_command(client, value, &entry.command))
        check_entry(findings, setup, &entry);
    else
        al_finding_add(findings, client->name, AL_MISSING,
                       "Write the entry again with airlock install.",
                       "the entry of airlock names no command");
    al_strv_clear(&entry.command);
}

/* airlock's own command among the hooks of an event.  The program; NULL: there is none.  Caller
 * frees. */
static char *find_hook(const json_t *groups, const struct al_client *client)
{
    const json_t *group, *hook;
    char *program;
    size_t i, j;

    json_array_foreach(groups, i, group)
    {
        json_array_foreach(json_object_get(group, "hooks"), j, hook)
        {
            if ((program = al_client_hook_program(client, hook)))
                return program;
        }
    }
    return NULL;
}

/* Send this program an event after which nothing runs any more. */
static void try_hook(struct al_findings *findings, const struct al_setup *setup,
                     const struct al_client *client, const char *event, const char *file)
{
    const char *const argv[] = { "airlock", "hook", client->name, NULL };
    al_auto(al_freep) char *what = al_asprintf("%s hooks", client->name);
    al_auto(al_freep) char *shim = al_client_shim(false);
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_strv_clear) struct al_strv env = AL_STRV_INIT;
    al_auto(al_json_decrefp) json_t *sent =
        json_pack("{s:s, s:s, s:o}", "session_id", "airlock-doctor", "hook_event_name", event,
                  "cwd", al_json_name(setup->roots.items[0].path));
    al_auto(al_str_clear) struct al_str input = AL_STR_INIT;
    al_auto(al_closep) int cwd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    al_auto(al_buffer_clear) struct al_buffer out = AL_BUFFER_INIT(4096),
                                              said = AL_BUFFER_INIT(4096);
    struct al_proc_result result = { .exit_code = -1 };
    int r;

    add_environment(&env);
    al_json_dump(sent, false, &input);
    r = al_proc_run(&(struct al_proc_spec){ .program = "/proc/self/exe",
                                            .argv = argv,
                                            .envp = (const char *const *)env.items,
                                            .cwd_fd = cwd,
                                            .input = input.buf,
                                            .input_len = input.len,
                                            .out = al_buffer_sink(&out),
                                            .err = al_buffer_sink(&said),
                                            .sandbox = &(struct al_confinement){ .ruleset_fd = 0 },
                                            .timeout_ms = START_MS },
                    &result, &err);
    if (r < 0 || result.exit_code != 0 || out.text.len || said.text.len)
        al_finding_add(findings, what, AL_MISSING,
                       "Write the hooks again with airlock install --shell.",
                       "%s: %s is not answered: %s", file, event,
                       r < 0           ? err.message
                       : said.text.len ? said.text.buf
                                       : "airlock failed");
    else
        al_finding_add(findings, what, shim ? AL_FINE : AL_WARNING,
                       "Install airlock whole: libexec/airlock/bin/git beside bin is missing.",
                       "%s: %s is answered in %u ms; git in the shell is %s", file, event,
                       result.ran_ms, shim ? "airlock's" : "another one");
}

/* Look into one file with hooks of a client. */
static void check_hooks(struct al_findings *findings, const struct al_setup *setup,
                        const struct al_client *client, const char *dir)
{
    al_auto(al_settings_file_clear) struct al_settings_file file = AL_SETTINGS_FILE_INIT;
    al_auto(al_freep) char *path = al_fs_join(dir, client->hooks->file);
    const struct al_client_event *at = client->hooks->events;
    al_auto(al_freep) char *what = al_asprintf("%s hooks", client->name);
    al_auto(al_freep) char *program = NULL;
    const char *idle = NULL, *lacking = NULL;

    if (al_settings_file_read(path, AL_SETTINGS_MAX_MIB, &file, NULL) < 0 || !file.exists)
        return;
    for (; at->name; at++) {
        al_auto(al_json_decrefp) json_t *groups =
            al_settings_json_get(&file.text, (const char *const[]){ "hooks", at->name, NULL });
        char *found = find_hook(groups, client);

        lacking = found ? lacking : at->name;
        idle = at->event == AL_EVENT_CLOSE ? at->name : idle;
        if (found) {
            free(program);
            program = found;
        }
    }
    if (program && al_location_is_same(this_program, program)) {
        try_hook(findings, setup, client, idle, path);
        if (lacking)
            al_finding_add(findings, what, AL_WARNING,
                           "Write the hooks again with airlock install --shell.",
                           "%s: %s has no hook, since an older airlock wrote them", path, lacking);
    } else if (program) {
        al_finding_add(findings, what, AL_WARNING,
                       "Run doctor of that program, or write the hooks again with airlock install "
                       "--shell.",
                       "%s: start another program, and were not tried", path);
    }
}

void al_doctor_clients(struct al_findings *findings, const struct al_setup *setup)
{
    size_t count;
    const struct al_client *clients = al_clients(&count);

    for (size_t i = 0; i < 2 * count; i++) {
        const struct al_client *client = &clients[i / 2];
        const bool of_project = i % 2 == 0;
        const char *dir = of_project ? setup->roots.items[0].path : setup->home;
        const char *file = of_project ? client->project_file : client->user_file;
        al_auto(al_freep) char *path = dir && file ? al_fs_join(dir, file) : NULL;

        if (path)
            check_file(findings, setup, client, path, of_project);
        if (client->hooks && dir)
            check_hooks(findings, setup, client, dir);
    }
}
