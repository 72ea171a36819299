// SPDX-License-Identifier: Apache-2.0
/* The configuration, the options and the tools. */
#include "cli/setup.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "cli/environment.h"
#include "cli/names.h"
#include "guard/agent.h"
#include "guard/text.h"
#include "review/place.h"
#include "review/server.h"
#include "staging/settings.h"
#include "tools/commands/commands.h"
#include "tools/toolsets.h"

/* The queue of questions of a session, and its socket. */

char *al_setup_runtime_dir(void)
{
    const char *runtime = al_environment_get("XDG_RUNTIME_DIR");

    return runtime && *runtime == '/' ? al_fs_join(runtime, "airlock") : NULL;
}

void al_setup_review_dirs(const struct al_setup *setup, struct al_strv *ret_dirs)
{
    char *runtime = al_setup_runtime_dir();

    if (runtime)
        al_strv_take(ret_dirs, runtime);
    if (setup->state_dir)
        al_strv_take(ret_dirs, al_fs_join(setup->state_dir, "review"));
}

void al_setup_review(struct al_setup *setup)
{
    setup->session.review = al_review_queue_new(setup->config.approval.wait_s);
    setup->review_server = al_review_server_new(setup->session.review);
    if (!setup->review_server)
        al_log_warn("airlock review cannot answer questions: %s", strerrordesc_np(errno));
}

void al_setup_review_listen(struct al_setup *setup)
{
    al_auto(al_strv_clear) struct al_strv dirs = AL_STRV_INIT;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    if (!setup->review_server || setup->review_listens)
        return;
    setup->review_listens = true;
    al_setup_review_dirs(setup, &dirs);
    if (al_review_server_listen(setup->review_server, &dirs, &err) < 0)
        al_log_warn("airlock review cannot answer questions: %s", err.message);
}

static bool is_attended(const struct al_strv *dirs)
{
    bool attended = false;

    for (size_t i = 0; i < dirs->count && !attended; i++) {
        al_auto(al_closep) int fd = -1;

        attended = al_review_place_open(dirs->items[i], false, false, &fd, NULL) == 0 &&
                   al_review_place_is_attended(fd);
    }
    return attended;
}

void al_setup_review_await(struct al_setup *setup)
{
    al_auto(al_strv_clear) struct al_strv dirs = AL_STRV_INIT;

    al_setup_review_dirs(setup, &dirs);
    if (!is_attended(&dirs))
        return;
    al_setup_review_listen(setup);
    al_review_attach(setup->session.review);
}

/* The worker file of a session. */

static int unknown_toolset(const struct al_setup *setup, const struct al_value *toolset,
                           struct al_error *err)
{
    al_auto(al_freep) char *valid = al_toolset_names(al_toolsets());
    const char *name = toolset->name;

    return al_error_set(err, AL_ERR_BAD_ARGS,
                        "%s:%u: toolsets.%s: Unknown toolset \"%s\" in worker \"%s\". "
                        "Valid toolsets: %s",
                        toolset->file, toolset->line, name, name, setup->worker.name, valid);
}

/* Settings of a toolset that --toolset leaves out are read as well: mistakes in them are named.
 * Only staging has some. */
static int configure_toolset(struct al_setup *setup, const struct al_value *settings,
                             struct al_error *err)
{
    const char *name = al_worker_toolset(settings->name);
    struct al_session *session = &setup->session;
    char stamp[16];
    int r;

    if (!al_toolset_find(al_toolsets(), name))
        return unknown_toolset(setup, settings, err);
    if (strcmp(name, "staging") != 0)
        return !settings->count
                   ? 0
                   : al_value_error(&settings->items[0], err,
                                    "unknown key; the toolset %s has no settings", name);
    al_clock_stamp(stamp);
    session->staging_settings = al_calloc(1, sizeof(*session->staging_settings));
    r = al_staging_settings_read(settings, setup->worker.name, stamp, session->staging_settings,
                                 err);
    session->defaults.has_target = session->staging_settings->target.given;
    return r;
}

static int choose_toolsets(struct al_setup *setup, struct al_error *err)
{
    const struct al_value *toolsets = setup->worker.toolsets;
    struct al_strv *chosen = &setup->config.toolsets;
    int r = 0;

    if (toolsets && !setup->named_toolsets) {
        al_strv_clear(chosen);
        setup->config.toolsets_line = 0;
    }
    for (size_t i = 0; toolsets && r == 0 && i < toolsets->count; i++) {
        r = configure_toolset(setup, &toolsets->items[i], err);
        if (!setup->named_toolsets)
            al_strv_add(chosen, al_worker_toolset(toolsets->items[i].name));
    }
    return r;
}

int al_setup_choose_grant(const struct al_setup *setup, struct al_config *config, const char *name,
                          const struct al_grant **ret_grant, struct al_error *err)
{
    struct al_grant *grant = NULL;
    int r = name ? al_grants_choose(&config->grants, name, &grant, err) : 0;

    if (grant) /* both have to cover a call */
        grant->also = setup->worker.grants.items;
    if (r == 0)
        *ret_grant = grant ? grant : setup->worker.grants.items;
    return r;
}

/* Read the worker file, if there is one: choose its toolsets, and narrow grant and rules. */
static int set_up_worker(struct al_setup *setup, struct al_error *err)
{
    struct al_worker *worker = &setup->worker;
    al_auto(al_freep) char *path = NULL;
    struct al_grant *grant;
    int r;

    if (!setup->config.serve.worker || worker->file)
        return 0;
    path = al_environment_absolute(setup->config.serve.worker);
    r = al_worker_read(path, worker, err);
    if (r == 0)
        r = al_names_check_worker(setup, err);
    if (r == 0)
        r = choose_toolsets(setup, err);
    if (r == 0)
        setup->config.approval.policy.narrower = &worker->policy;
    if (r == 0 && worker->grants.count)
        r = al_grants_choose(&worker->grants, worker->grants.items->name, &grant, err);
    return r;
}

static int narrow_root(const struct al_roots *roots, const struct al_value *root, const char *home,
                       struct al_roots *narrowed, struct al_error *err)
{
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;

    if (al_roots_add(narrowed, root->text, NULL, home, &why) < 0)
        return al_value_error(root, err, "%s", why.message);
    for (size_t i = 0; i < narrowed->count; i++)
        if (!al_roots_find(roots, narrowed->items[i].path))
            return al_value_error(
                root, err, "'%s' is in no root; a worker file only narrows the roots", root->text);
    return 0;
}

int al_setup_worker_roots(struct al_setup *setup, struct al_error *err)
{
    const struct al_worker *worker = &setup->worker;
    al_auto(al_roots_clear) struct al_roots narrowed = AL_ROOTS_INIT;
    int r = 0;

    /* git writes into git directories, wherever they are. */
    if (worker->file)
        r = al_roots_exclude(al_roots_parts(&setup->roots), worker->file, "worker file", err);
    if (!worker->roots || r < 0)
        return r;
    for (size_t i = 0; r == 0 && i < worker->roots->count; i++)
        r = narrow_root(&setup->roots, &worker->roots->items[i], setup->home, &narrowed, err);
    narrowed.allow_absolute = setup->roots.allow_absolute;
    if (r == 0)
        r = al_setup_git_dirs(setup, &narrowed, err);
    if (r < 0)
        return r;
    al_roots_clear(&setup->roots);
    al_roots_move(&setup->roots, &narrowed);
    return 0;
}

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
                              ? al_strdup(setup->config.journal.file)
                              : al_fs_join(setup->state_dir, "tool_log.jsonl");
}

static void write_line(const char *line)
{
    al_auto(al_freep) char *text = al_asprintf("%s\n", line);

    /* One write(2), since calls run concurrently. */
    (void)al_write_all(STDERR_FILENO, text, strlen(text));
}

/* The configuration file holds in another terminal as well.  NULL: a path is no word. */
static char *format_options(const struct al_options *options)
{
    const struct al_strv *given = &options->given;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    for (size_t i = 0; i < given->count; i += 2) {
        al_auto(al_freep) char *path = NULL;
        al_auto(al_freep) char *safe = NULL;

        if (!al_shell_words_list(" --root --config --worker ", given->items[i]))
            continue;
        path = realpath(given->items[i + 1], NULL);
        safe = path ? al_text_sanitize_shown_line(path) : NULL;
        if (!path || strcmp(path, safe) != 0)
            return NULL;
        al_str_addf(&text, " %s", given->items[i]);
        al_text_add_word(path, &text);
    }
    return al_str_detach(&text);
}

int al_setup_read_config(const struct al_setup *setup, const struct al_options *options,
                         struct al_config *config, struct al_error *err)
{
    int r;

    al_config_init(config);
    r = al_config_load(config, al_option(options, "--config"),
                       al_environment_get("XDG_CONFIG_HOME"), setup->home, err);
    return r == 0 ? al_config_take_options(config, options, err) : r;
}

int al_setup_config(struct al_setup *setup, const struct al_options *options, struct al_error *err)
{
    int r;

    *setup = (struct al_setup){ .roots = AL_ROOTS_INIT, .registry = AL_REGISTRY_INIT };
    setup->home = find_home();
    setup->options = format_options(options);
    setup->session.options = setup->options;
    setup->named_toolsets = al_option(options, "--toolset") != NULL;
    r = al_setup_read_config(setup, options, &setup->config, err);
    if (r < 0)
        return r;
    if (setup->config.serve.verbose)
        setup->session.trace = write_line;
    find_paths(setup);
    return 0;
}

const struct al_shell_session al_shell_sessions[] = {
    { "AIRLOCK_SESSION", NULL },
    { "CLAUDE_CODE_SESSION_ID", "claude-code" },
    { "CODEX_SESSION_ID", "codex" },
    { NULL, NULL },
};

/* The client in whose shell a command runs: its hooks export the name, or it tells its session. */
static const char *client_of_shell(void)
{
    const char *name = al_environment_get("AIRLOCK_AGENT");

    if (name && al_agent_check_name(name, NULL) < 0)
        name = NULL;
    for (const struct al_shell_session *at = al_shell_sessions; !name && at->variable; at++)
        name = al_environment_get(at->variable) ? at->client : NULL;
    return name;
}

char *al_setup_agent_name(const struct al_setup *setup, const struct al_config *config,
                          const char *chosen, const char *grant)
{
    if (!chosen)
        chosen = config->serve.agent;
    if (!chosen)
        chosen = setup->worker.name;
    if (!chosen && setup->serves_shell)
        chosen = client_of_shell();
    return al_agent_name(chosen ? chosen : grant);
}

int al_setup_tools(struct al_setup *setup, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv chosen = AL_STRV_INIT;
    int r;

    r = al_names_check(setup, &setup->config, err);
    if (r < 0)
        return r;
    setup->session.defaults.timeout_ms = setup->config.git.timeout_ms;
    setup->session.defaults.max_bytes = setup->config.git.max_bytes;
    if (setup->serves_shell && setup->config.shell_grant) {
        free(setup->config.serve.grant);
        setup->config.serve.grant = al_strdup(setup->config.shell_grant);
    }
    r = set_up_worker(setup, err);
    if (r < 0)
        return al_error_about(r, err, AL_SUBJECT_NONE, "--worker");
    r = al_setup_choose_grant(setup, &setup->config, setup->config.serve.grant,
                              &setup->session.grant, err);
    if (r < 0)
        return al_error_about(r, err, AL_SUBJECT_NONE, "--grant");
    free(setup->agent);
    setup->agent = al_setup_agent_name(setup, &setup->config, NULL, setup->config.serve.grant);
    setup->session.agent = setup->agent;
    for (size_t i = 0; i < setup->config.toolsets.count; i++)
        if (setup->config.git.enabled || strcmp(setup->config.toolsets.items[i], "git") != 0)
            al_strv_add(&chosen, setup->config.toolsets.items[i]);
    r = al_registry_fill(&setup->registry, al_toolsets(), &chosen, err);
    r = al_config_error(&setup->config, setup->config.toolsets_line, "toolsets", r, err);
    return r < 0 ? al_error_about(r, err, AL_SUBJECT_NONE, "--toolset") : 0;
}
