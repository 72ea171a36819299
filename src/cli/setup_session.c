// SPDX-License-Identifier: Apache-2.0
/* The session itself: roots, git, journal, checkpoints, shell. */
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "cli/environment.h"
#include "cli/print.h"
#include "cli/setup.h"
#include "cli/signals.h"
#include "git/location.h"
#include "git/repo/git.h"
#include "git/repo/repo.h"
#include "git/vet/vet.h"
#include "guard/guards.h"
#include "guard/program.h"
#include "guard/text.h"
#include "history/journal.h"
#include "proc/proc.h"
#include "proc/reaper.h"
#include "review/server.h"
#include "staging/pull/pull.h"
#include "staging/sandbox/sandbox.h"
#include "staging/settings.h"
#include "staging/staging.h"
#include "tools/shell/shell.h"
#include "verbs/worktree/add.h"

/* The sandbox of a session. */

/* The first question to a repository must not keep a server from starting. */
#define LOOK_MS 5000u

/* Another process may be clearing up the store. */
#define LOCK_MS 60000u

/* Whether a tool of the toolset is offered. */
static bool offers(const struct al_setup *setup, const char *toolset)
{
    for (size_t i = 0; i < setup->registry.count; i++)
        if (!strcmp(setup->registry.items[i].toolset->name, toolset))
            return true;
    return false;
}

/* The format of object ids is that of the repository at the first root, since most files come from
 * there or go there. */
static bool is_sha256(const struct al_setup *setup)
{
    struct al_run_limits limits = { .left_ms = LOOK_MS, .exit_code = -1 };
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    struct al_repo *repo = NULL;
    bool sha256 = al_repo_open(setup->session.git, setup->roots.items[0].path, ".", &limits, &repo,
                               &why) == 0 &&
                  repo->vetting->is_sha256;

    al_repo_free(repo);
    return sha256;
}

/* An agent writes whatever it wants into the directory, so that must not hold what is the user's.
 */
static int check_place(const struct al_setup *setup, const char *dir, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv others = AL_STRV_INIT;
    al_auto(al_freep) char *found = NULL;
    const char *const more[] = { setup->home, setup->worker.file, setup->fallback_dir };
    bool contains;

    for (size_t i = 0; i < AL_COUNT(more); i++)
        if (more[i])
            al_strv_add(&others, more[i]);
    for (size_t i = 0; i < setup->roots.count; i++)
        al_strv_add(&others, setup->roots.items[i].path);
    found = al_setup_overlap(setup, &others, dir, &contains);
    return !found ? 0
                  : al_error_set(err, AL_ERR_BAD_ARGS,
                                 "staging.path: '%s' %s '%s'; name a directory of its own", dir,
                                 contains ? "is or contains" : "is inside airlock's own", found);
}

/* The directory as the user configured it; "~/" is the home directory. */
static char *path_of(const struct al_setup *setup)
{
    const char *path = setup->config.staging.path;

    if (setup->home && al_starts_with(path, "~/"))
        return al_fs_join(setup->home, path + 2);
    return al_environment_absolute(path);
}

static int make_sandbox(const struct al_setup *setup, struct al_session *session,
                        struct al_error *err)
{
    const struct al_config *config = &setup->config;
    al_auto(al_freep) char *absolute = path_of(setup);
    int r;

    r = al_sandbox_new(
        &(struct al_sandbox_options){
            .in_directory = config->staging.backend == AL_STAGING_DIRECTORY,
            .path = absolute,
            .max_bytes = config->staging.max_bytes,
            .sha256 = is_sha256(setup),
            .allow_symlinks = config->staging.allow_symlinks,
            .roots = &setup->roots,
        },
        &session->sandbox, err);
    if (r == 0 && al_sandbox_dir(session->sandbox))
        r = check_place(setup, al_sandbox_dir(session->sandbox), err);
    return r;
}

int al_setup_staging(const struct al_setup *setup, struct al_session *session, bool must_exist,
                     struct al_error *err)
{
    const struct al_config *config = &setup->config;
    const struct al_staging_settings *settings = setup->session.staging_settings;
    struct al_run_limits limits = { .left_ms = LOCK_MS, .exit_code = -1 };

    return al_staging_new(
        &(struct al_staging_options){
            .state_dir = setup->fallback_dir ? setup->fallback_dir : setup->state_dir,
            .git = setup->session.git,
            .roots = &setup->roots,
            .sha256 = is_sha256(setup),
            .sandbox = session->sandbox,
            .max_bytes = config->staging.max_bytes,
            .author = config->staging.author,
            .github_base_url = config->staging.github_base_url,
            .worker = setup->worker.name,
            .default_target = settings && settings->target.given ? &settings->target : NULL,
            .must_exist = must_exist,
            .recover = al_pull_recover,
        },
        &limits, &session->staging, err);
}

/* Make the sandbox and the staging, if a tool of them is offered. */
static int set_up_sandbox(const struct al_setup *setup, struct al_session *session,
                          struct al_error *err)
{
    bool stages = offers(setup, "staging");
    int r;

    if (!stages && !offers(setup, "files"))
        return 0;
    r = make_sandbox(setup, session, err);
    return r == 0 && stages ? al_setup_staging(setup, session, false, err) : r;
}

extern char **environ;

/* The top of the working tree that the current directory is in, or the current directory. */
static char *default_root(void)
{
    al_auto(al_freep) char *cwd = getcwd(NULL, 0);
    char *top = cwd ? al_environment_repository(cwd) : NULL;

    return top ? top : al_strdup(cwd ? cwd : ".");
}

static char *parent_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash != path ? al_strndup(path, (size_t)(slash - path)) : al_strdup("/");
}

/* Airlock's own directories, in which nothing else lies. */
static void add_own_dirs(const struct al_setup *setup, struct al_strv *ret_dirs)
{
    const char *config_home = al_environment_get("XDG_CONFIG_HOME");
    char *runtime = al_setup_runtime_dir();

    if (setup->state_dir) /* unknown when the configuration cannot be read; doctor goes on then */
        al_strv_add(ret_dirs, setup->state_dir);
    if (runtime)
        al_strv_take(ret_dirs, runtime);
    if (config_home)
        al_strv_addf(ret_dirs, "%s/airlock", config_home);
    else if (setup->home)
        al_strv_addf(ret_dirs, "%s/.config/airlock", setup->home);
}

static void list_forbidden(const struct al_setup *setup, struct al_strv *ret_forbidden)
{
    if (setup->journal_file) /* unknown in the same case */
        al_strv_take(ret_forbidden, parent_of(setup->journal_file));
    if (setup->config.file)
        al_strv_take(ret_forbidden, al_environment_absolute(setup->config.file));
    add_own_dirs(setup, ret_forbidden);
}

char *al_setup_overlap(const struct al_setup *setup, const struct al_strv *others, const char *path,
                       bool *ret_contains)
{
    al_auto(al_strv_clear) struct al_strv own = AL_STRV_INIT, all = AL_STRV_INIT;
    const char *found;

    add_own_dirs(setup, &own);
    list_forbidden(setup, &all);
    al_strv_add_all(&all, others);
    found = al_environment_overlap(&all, path, false);
    *ret_contains = found;
    if (!found)
        found = al_environment_overlap(&own, path, true);
    return found ? al_strdup(found) : NULL;
}

int al_setup_git_dirs(const struct al_setup *setup, struct al_roots *roots, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv forbidden = AL_STRV_INIT;

    list_forbidden(setup, &forbidden);
    return al_git_dirs_settle(
        roots,
        &(struct al_git_dirs_options){ .listed = &setup->config.sandbox.git_dirs,
                                       .forbidden = &forbidden,
                                       .home = setup->home },
        err);
}

static int add_roots(struct al_setup *setup, struct al_error *err)
{
    const struct al_config *config = &setup->config;
    al_auto(al_strv_clear) struct al_strv forbidden = AL_STRV_INIT;
    int r = 0;

    setup->roots.allow_absolute = config->sandbox.allow_absolute;
    list_forbidden(setup, &forbidden);
    for (size_t i = 0; i < config->roots.count && r == 0; i++)
        r = al_config_error(
            config, config->roots_line, "roots",
            al_roots_add(&setup->roots, config->roots.items[i], &forbidden, setup->home, err), err);
    if (!config->roots.count) {
        al_auto(al_freep) char *root = default_root();

        r = al_roots_add(&setup->roots, root, &forbidden, setup->home, err);
    }
    return r == 0 ? al_setup_git_dirs(setup, &setup->roots, err) : r;
}

/* The client's session that a command in its shell, or a server that it has started, belongs to. */
static const char *find_client_session(void)
{
    for (const struct al_shell_session *at = al_shell_sessions; at->variable; at++) {
        const char *id = al_environment_get(at->variable);

        if (al_journal_is_id(id))
            return id;
    }
    return NULL;
}

/* The session goes on without a journal: the pipeline then refuses everything but reads. */
static void open_journal(struct al_setup *setup)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_strv_clear) struct al_strv clients = AL_STRV_INIT;

    if (al_journal_open(setup->journal_file, &setup->session.journal, &err) == 0)
        al_journal_limit(setup->session.journal, setup->config.journal.max_log_bytes);
    else if (!setup->serves_shell) /* where reads are git's own, and others are refused */
        al_log_warn("the journal cannot be written, so only reading is possible: %s", err.message);
    if (!setup->session.journal || !setup->client_session)
        return;
    if (!setup->serves_shell) /* a shell has the session of now */
        for (pid_t pid = getppid(); pid > 0; pid = al_pid_parent(pid))
            al_strv_take(&clients, al_setup_client_file(setup, pid));
    al_journal_join(setup->session.journal, setup->client_session, &clients);
}

/* git needs a private directory outside the roots.  Make one in TMPDIR when the state directory is
 * not writable. */
static int make_private_dir(struct al_setup *setup, struct al_error *err)
{
    al_auto(al_freep) char *run = al_fs_join(setup->state_dir, "run");
    const char *given = al_environment_get("TMPDIR"), *tmp = given ? given : "/tmp";
    al_auto(al_freep) char *name = NULL;

    if (al_fs_mkdirs(run, 0700) == 0 && access(run, W_OK) == 0)
        return 0;
    name = al_asprintf("%s/airlock-XXXXXX", tmp);
    if (al_roots_find(&setup->roots, name))
        return al_error_set(err, AL_ERR_EXECUTION,
                            "'%s' cannot be written, and the temporary directory lies in a root; "
                            "set TMPDIR or XDG_STATE_HOME to a place outside the roots",
                            setup->state_dir);
    if (!mkdtemp(name)) {
        const int error = errno;

        free(name);
        name = al_strdup("/dev/shm/airlock-XXXXXX"); /* the sandbox of a client may leave this */
        if (error != EROFS || al_roots_find(&setup->roots, name) || !mkdtemp(name))
            return al_error_errno(err, error, "cannot make a private directory in '%s'", tmp);
    }
    setup->fallback_dir = al_take(&name);
    return 0;
}

int al_setup_git(struct al_setup *setup, struct al_error *err)
{
    int r = setup->roots.count ? 0 : add_roots(setup, err);

    if (!setup->git_program)
        setup->git_program = al_program_find("git", al_environment_get("PATH"), &setup->roots);
    return r;
}

/* Checkpoints of a running session are kept at least this long, whatever the limits. */
#define SESSION_KEEP_S 86400u

static void set_checkpoints(struct al_setup *setup)
{
    const struct al_config *config = &setup->config;
    struct al_session *session = &setup->session;

    setup->checkpoints = (struct al_checkpoint_settings){
        .state_dir = setup->state_dir,
        .max_store_bytes = config->journal.max_store_bytes,
        .max_age_days = config->journal.max_age_days,
        .max_file_bytes = config->journal.max_file_bytes,
        .keep_s = SESSION_KEEP_S,
        .began_ns = al_clock_ns(),
        .include_ignored = &config->journal.include_ignored,
    };
    session->checkpoints = config->journal.checkpoints ? &setup->checkpoints : NULL;
    session->requires_checkpoints =
        config->journal.on_snapshot_failure == AL_SNAPSHOT_FAILURE_REFUSE;
}

/* Only if bash_command is offered. */
static int make_shell(const struct al_setup *setup, struct al_session *session,
                      struct al_error *err)
{
    const struct al_config *config = &setup->config;

    if (!al_registry_find(&setup->registry, al_tool_bash_command.name))
        return 0;
    return al_shell_new(
        &(struct al_shell_options){
            .whitelist = &config->shell.whitelist,
            /* Only these two let bash_command run anything. */
            .live = al_strv_contains(&config->shell.tool, "command") ||
                    al_strv_contains(&config->shell.tool, "all"),
            .timeout_s = config->shell.timeout_s,
            .isolation = config->shell.isolation,
            .path_list = al_environment_get("PATH"),
            .roots = &setup->roots,
            .grant = session->grant,
            .env_allow = &config->env_allow,
            .environ_ = environ,
            .state_dir = setup->fallback_dir ? setup->fallback_dir : setup->state_dir,
        },
        &session->shell, err);
}

/* Worktrees that a session can make roots of.  Every one is a rule of a git child's confinement. */
#define AL_ADMITTED_ROOTS_MAX 128

/* The git layer of the session. */
static int make_git(struct al_setup *setup, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv forbidden = AL_STRV_INIT;
    /* ssh takes the home directory from the password database and ignores HOME. */
    const struct passwd *user = getpwuid(getuid());
    al_auto(al_freep) char *ssh_home = user ? al_strdup(user->pw_dir) : NULL;
    al_auto(al_freep) char *self = realpath("/proc/self/exe", NULL);
    al_auto(al_freep) char *ssh = al_program_find("ssh", al_environment_get("PATH"), &setup->roots);
    const struct al_config *config = &setup->config;

    list_forbidden(setup, &forbidden);
    al_roots_reserve(&setup->roots, AL_ADMITTED_ROOTS_MAX);
    return al_git_new(
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
            .config_home = al_environment_get("XDG_CONFIG_HOME"),
            .state_dir = setup->fallback_dir ? setup->fallback_dir : setup->state_dir,
            .require_confinement = config->sandbox.require_confinement,
            .growing = &setup->roots,
            .forbidden = &forbidden,
            .worktrees_dir = config->worktrees.dir,
            .worktrees_max = config->worktrees.max,
        },
        &setup->session.git, err);
}

/* Say what this machine lacks. */
static void warn_of_machine(void)
{
    if (!al_guarded)
        al_log_warn("this build checks neither arguments nor grants; it is for one test");
    if (al_confine_abi() == 0)
        al_log_warn(
            "this kernel has no Landlock: git is confined by seccomp and configuration only");
    if (!al_watch_is_possible())
        al_log_warn("git cannot be watched here: what somebody saves while a call discards files "
                    "can be lost");
}

char *al_setup_always_file(const struct al_setup *setup, const char *session)
{
    return session ? al_asprintf("%s/sessions/always-%s", setup->state_dir, session) : NULL;
}

char *al_setup_client_file(const struct al_setup *setup, pid_t client)
{
    return al_asprintf("%s/sessions/client-%ld", setup->state_dir, (long)client);
}

void al_setup_one_call(struct al_setup *setup)
{
    if (!setup->client_session)
        al_approvals_free(al_take(&setup->session.approvals));
    setup->session.is_one_call = true;
    setup->session.on_lock_wait = (struct al_progress){ al_cli_note_wait, NULL };
}

int al_setup_session(struct al_setup *setup, struct al_error *err)
{
    const struct al_config *config = &setup->config;
    struct al_session *session = &setup->session;
    al_auto(al_freep) char *always = NULL;
    int r = al_setup_git(setup, err);

    if (r == 0)
        r = al_setup_worker_roots(setup, err);
    if (r == 0)
        r = al_proc_init(setup->git_program, err);
    if (r == 0)
        r = make_private_dir(setup, err);
    if (r == 0)
        r = al_git_version_require(setup->git_program, setup->state_dir, err);
    if (r < 0)
        return r;
    if (!setup->many_agents) /* whose sessions are those of their connections */
        setup->client_session = find_client_session();
    open_journal(setup);
    r = make_git(setup, err);
    if (r < 0)
        return r;
    (void)al_worktree_admit_recorded(session->git);
    if (!setup->serves_shell)
        warn_of_machine();
    session->registry = &setup->registry;
    session->roots = &setup->roots;
    always = al_setup_always_file(setup, setup->client_session);
    session->approvals = al_approvals_new(always);
    session->mode = config->approval.mode;
    session->policy = &config->approval.policy;
    session->confinement = session->git->confinement;
    set_checkpoints(setup);
    r = setup->many_agents ? 0 : al_setup_agent(setup, session, err);
    return r < 0 ? r : al_setup_upstream(setup, err);
}

int al_setup_agent(const struct al_setup *setup, struct al_session *session, struct al_error *err)
{
    int r = set_up_sandbox(setup, session, err);

    return r == 0 ? make_shell(setup, session, err) : r;
}

void al_setup_clear_agent(struct al_session *session)
{
    al_shell_free(al_take(&session->shell));
    al_staging_free(al_take(&session->staging));
    al_sandbox_free(al_take(&session->sandbox));
}

void al_setup_clear(struct al_setup *setup)
{
    al_signals_forget();
    al_review_server_free(al_take(&setup->review_server));
    al_review_queue_free(al_take(&setup->session.review));
    al_setup_clear_upstream(setup);
    al_setup_clear_agent(&setup->session);
    al_git_free(setup->session.git);
    al_journal_free(setup->session.journal);
    al_approvals_free(setup->session.approvals);
    al_registry_clear(&setup->registry);
    al_roots_clear(&setup->roots);
    al_config_clear(&setup->config);
    al_worker_clear(&setup->worker);
    al_staging_settings_free(setup->session.staging_settings);
    if (setup->fallback_dir)
        al_fs_remove_tree(setup->fallback_dir);
    free(setup->fallback_dir);
    free(setup->agent);
    free(setup->options);
    free(setup->home);
    free(setup->state_dir);
    free(setup->journal_file);
    free(setup->git_program);
}
