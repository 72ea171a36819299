// SPDX-License-Identifier: Apache-2.0
/* From words and files to a session. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/known_names.h"
#include "gitops/repo/git.h"
#include "guard/guards.h"
#include "guard/root.h"
#include "journal/journal.h"
#include "proc/proc.h"
#include "toolsets/shell/shell.h"
#include "toolsets/toolsets.h"
#include "util/fs.h"
#include "util/log.h"

extern char **environ;

/* An environment variable that is set and not empty. */
static const char *env(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

static char *find_home(void)
{
    const char *home = env("HOME");
    const struct passwd *entry;

    if (home)
        return al_strdup(home);
    entry = getpwuid(getuid());
    return entry ? al_strdup(entry->pw_dir) : NULL;
}

static char *absolute(const char *path)
{
    al_auto(al_freep) char *cwd = path[0] == '/' ? NULL : getcwd(NULL, 0);

    return cwd ? al_fs_join(cwd, path) : al_strdup(path);
}

static void find_places(struct al_setup *setup)
{
    const char *state = env("XDG_STATE_HOME");

    if (state)
        setup->state_dir = al_fs_join(state, "airlock");
    else
        setup->state_dir =
            al_fs_join(setup->home ? setup->home : "/nonexistent", ".local/state/airlock");
    setup->journal_file = setup->config.journal.file
                              ? absolute(setup->config.journal.file)
                              : al_fs_join(setup->state_dir, "tool_log.jsonl");
}

/* "read,command": what bash_command may do; only `command` and `all` make it run anything. */
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

static void tell(const char *line)
{
    al_auto(al_freep) char *text = al_asprintf("%s\n", line);

    (void)al_write_all(STDERR_FILENO, text, strlen(text)); /* one write: calls run side by side */
}

int al_setup_config(struct al_setup *setup, const struct al_options *options, struct al_error *err)
{
    struct al_config *config = &setup->config;
    int r;

    *setup = (struct al_setup){ .roots = AL_ROOTS_INIT, .registry = AL_REGISTRY_INIT };
    al_config_init(config);
    setup->home = find_home();
    r = al_config_load(config, options->config, env("XDG_CONFIG_HOME"), setup->home, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < options->roots.count; i++) {
        if (i == 0)
            al_strv_clear(&config->roots);
        al_strv_add(&config->roots, options->roots.items[i]);
    }
    for (size_t i = 0; i < options->toolsets.count; i++) {
        if (i == 0)
            al_strv_clear(&config->toolsets);
        al_strv_add(&config->toolsets, options->toolsets.items[i]);
    }
    if (options->audit) {
        free(config->journal.file);
        config->journal.file = al_strdup(options->audit);
    }
    if (options->approval) {
        int mode = al_approval_mode_parse(options->approval);

        if (mode < 0)
            return al_error_set(err, AL_ERR_BAD_ARGS, "--approval is ask, allow or deny");
        config->approval.mode = (enum al_approval_mode)mode;
    }
    if (options->verbose)
        setup->session.tell = tell;
    if (options->no_git)
        config->journal.checkpoints = false;
    if (options->grant) {
        free(config->serve.grant);
        config->serve.grant = al_strdup(options->grant);
    }
    find_places(setup);
    return read_shell_options(setup, options, err);
}

int al_setup_tools(struct al_setup *setup, struct al_error *err)
{
    int r = al_check_known_names(&setup->config, err);

    if (r < 0)
        return r;
    setup->session.defaults = (struct al_tool_defaults){
        .timeout_ms = setup->config.git.timeout_ms,
        .max_bytes = setup->config.git.max_bytes,
    };
    if (setup->config.serve.grant) {
        r = al_grants_choose(&setup->config.grants, setup->config.serve.grant,
                             &setup->session.grant, err);
        if (r < 0)
            return r;
    }
    if (!setup->config.git.enabled)
        return 0;
    return al_registry_fill(&setup->registry, al_toolsets, &setup->config.toolsets, err);
}

/* The top of the working tree that holds the current directory, else that directory. */
static char *default_root(void)
{
    al_auto(al_freep) char *cwd = getcwd(NULL, 0);
    al_auto(al_freep) char *dir = al_strdup(cwd ? cwd : ".");

    for (char *slash; (slash = strrchr(dir, '/')); *slash = '\0') {
        al_auto(al_freep) char *dot_git = al_fs_join(dir, ".git");
        struct stat st;

        if (lstat(dot_git, &st) == 0)
            return al_take(&dir);
        if (slash == dir)
            break;
    }
    return cwd ? al_take(&cwd) : al_strdup(".");
}

static char *parent_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash != path ? al_strndup(path, (size_t)(slash - path)) : al_strdup("/");
}

static int add_roots(struct al_setup *setup, struct al_error *err)
{
    const struct al_config *config = &setup->config;
    al_auto(al_strv_clear) struct al_strv forbidden = AL_STRV_INIT;
    const char *config_home = env("XDG_CONFIG_HOME");
    int r = 0;

    setup->roots.allow_absolute = config->sandbox.allow_absolute;
    /* Neither is known where the configuration cannot be read; doctor looks at the rest then. */
    if (setup->journal_file)
        al_strv_take(&forbidden, parent_of(setup->journal_file));
    if (setup->state_dir)
        al_strv_add(&forbidden, setup->state_dir);
    if (config->file)
        al_strv_take(&forbidden, absolute(config->file));
    if (config_home)
        al_strv_addf(&forbidden, "%s/airlock", config_home);
    else if (setup->home)
        al_strv_addf(&forbidden, "%s/.config/airlock", setup->home);
    for (size_t i = 0; i < config->roots.count && r == 0; i++)
        r = al_roots_add(&setup->roots, config->roots.items[i], &forbidden, setup->home, err);
    if (!config->roots.count) {
        al_auto(al_freep) char *root = default_root();

        r = al_roots_add(&setup->roots, root, &forbidden, setup->home, err);
    }
    return r;
}

/* Without a journal, reads go on: the pipeline refuses the rest. */
static void open_journal(struct al_setup *setup)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    if (al_journal_open(setup->journal_file, &setup->session.journal, &err) < 0)
        al_log_warn("the journal cannot be written, so only reading is possible: %s", err.message);
    else
        al_journal_limit(setup->session.journal, setup->config.journal.max_log_bytes);
}

/* Where the state directory cannot be written, git still needs a private place outside the roots.
 */
static int private_place(struct al_setup *setup, struct al_error *err)
{
    al_auto(al_freep) char *run = al_fs_join(setup->state_dir, "run");
    const char *tmp = env("TMPDIR");
    al_auto(al_freep) char *name = NULL;

    if (al_fs_mkdirs(run, 0700) == 0 && access(run, W_OK) == 0)
        return 0;
    name = al_asprintf("%s/airlock-XXXXXX", tmp ? tmp : "/tmp");
    if (al_roots_find(&setup->roots, name))
        return al_error_set(err, AL_ERR_EXECUTION,
                            "'%s' cannot be written, and the temporary directory lies in a root; "
                            "set TMPDIR or XDG_STATE_HOME to a place outside the roots",
                            setup->state_dir);
    if (!mkdtemp(name))
        return al_error_errno(err, errno, "cannot make a private directory '%s'", name);
    setup->fallback_dir = al_take(&name);
    return 0;
}

int al_setup_git(struct al_setup *setup, struct al_error *err)
{
    int r = setup->roots.count ? 0 : add_roots(setup, err);

    if (!setup->git_program)
        setup->git_program = al_git_find_program(env("PATH"), &setup->roots);
    return r;
}

/* ssh looks for its files in the home that the system knows, whatever $HOME says. */
static char *find_ssh_home(void)
{
    const struct passwd *entry = getpwuid(getuid());

    return entry ? al_strdup(entry->pw_dir) : NULL;
}

/* A session that lasts longer keeps what it made all the same. */
#define KEEP_S 86400u

static int64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void set_checkpoints(struct al_setup *setup)
{
    const struct al_config *config = &setup->config;
    struct al_session *session = &setup->session;

    setup->checkpoints = (struct al_checkpoint_settings){
        .state_dir = setup->state_dir,
        .max_store_bytes = config->journal.max_store_bytes,
        .max_age_days = config->journal.max_age_days,
        .max_file_bytes = config->journal.max_file_bytes,
        .keep_s = KEEP_S,
        .began_ns = now_ns(),
        .include_ignored = &config->journal.include_ignored,
    };
    session->checkpoints = config->journal.checkpoints ? &setup->checkpoints : NULL;
    session->requires_checkpoints =
        config->journal.on_snapshot_failure == AL_SNAPSHOT_FAILURE_REFUSE;
}

/* Only where the tool is offered. */
static int make_shell(struct al_setup *setup, struct al_error *err)
{
    const struct al_config *config = &setup->config;

    if (!al_registry_find(&setup->registry, al_tool_bash_command.name))
        return 0;
    return al_shell_new(
        &(struct al_shell_options){
            .whitelist = &config->shell.whitelist,
            .live = setup->runs_commands,
            .timeout_s = config->shell.timeout_s,
            .isolation = config->shell.isolation,
            .path_list = env("PATH"),
            .roots = &setup->roots,
            .grant = setup->session.grant,
            .env_allow = &config->env_allow,
            .environ_ = environ,
            .state_dir = setup->fallback_dir ? setup->fallback_dir : setup->state_dir,
        },
        &setup->session.shell, err);
}

int al_setup_session(struct al_setup *setup, struct al_error *err)
{
    al_auto(al_freep) char *ssh = NULL;
    al_auto(al_freep) char *ssh_home = find_ssh_home();
    al_auto(al_freep) char *self = realpath("/proc/self/exe", NULL);
    const struct al_config *config = &setup->config;
    struct al_session *session = &setup->session;
    int r;

    r = al_setup_git(setup, err);
    if (r == 0)
        r = al_proc_init(setup->git_program, err);
    if (r == 0)
        r = private_place(setup, err);
    if (r < 0)
        return r;
    open_journal(setup);
    ssh = al_find_program(env("PATH"), "ssh", &setup->roots);
    r = al_git_new(
        &(struct al_git_options){
            .program = setup->git_program,
            .ssh = ssh,
            .self = self,
            .ssh_home = ssh_home,
            .roots = &setup->roots,
            .env_allow = &config->env_allow,
            .credential_hosts = &config->git.credential_hosts,
            .max_fetch_bytes = config->git.max_fetch_bytes,
            .environ_ = environ,
            .home = setup->home,
            .config_home = env("XDG_CONFIG_HOME"),
            .state_dir = setup->fallback_dir ? setup->fallback_dir : setup->state_dir,
            .require_confinement = config->sandbox.require_confinement,
            .require_signature = config->git.require_signature,
        },
        &session->git, err);
    if (r < 0)
        return r;
    if (!al_guarded)
        al_log_warn("this build checks neither arguments nor grants; it is for one test");
    if (al_confine_abi() == 0)
        al_log_warn("this kernel has no Landlock: git is held by seccomp and configuration only");
    session->registry = &setup->registry;
    session->roots = &setup->roots;
    session->approvals = al_approvals_new();
    session->mode = config->approval.mode;
    session->policy = &config->approval.policy;
    session->confinement = al_git_confinement(session->git);
    set_checkpoints(setup);
    return make_shell(setup, err);
}

void al_setup_clear(struct al_setup *setup)
{
    al_signals_forget();
    al_shell_free(setup->session.shell);
    al_git_free(setup->session.git);
    al_journal_free(setup->session.journal);
    al_approvals_free(setup->session.approvals);
    al_registry_clear(&setup->registry);
    al_roots_clear(&setup->roots);
    al_config_clear(&setup->config);
    if (setup->fallback_dir)
        al_fs_remove_tree(setup->fallback_dir);
    free(setup->fallback_dir);
    free(setup->home);
    free(setup->state_dir);
    free(setup->journal_file);
    free(setup->git_program);
}
