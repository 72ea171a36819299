// SPDX-License-Identifier: Apache-2.0
#include "git/repo/git.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "git/command.h"
#include "git/failure.h"
#include "git/layer.h"
#include "git/repo/remotes.h"
#include "git/vet/vet.h"
#include "guard/env.h"
#include "guard/program.h"
#include "guard/root.h"
#include "guard/text.h"
#include "proc/proc.h"

/* The private directory lies below the state directory, outside every root.  Its process holds a
 * lock on it; the next start removes unlocked ones. */

static void remove_if_abandoned(const char *run_dir, const char *name)
{
    al_auto(al_freep) char *path = al_fs_join(run_dir, name);
    al_auto(al_closep) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
        al_fs_remove_tree(path);
}

static void remove_leftovers(const char *run_dir)
{
    al_auto(al_closedirp) DIR *dir = opendir(run_dir);
    struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        if (al_starts_with(entry->d_name, "git-"))
            remove_if_abandoned(run_dir, entry->d_name);
}

/* Creating and locking the directory are two steps.  Another start in between would remove it as
 * abandoned, so starts are serialised by a lock on the parent. */
static int make_locked(struct al_git *git, const char *run_dir)
{
    al_auto(al_closep) int parent = open(run_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    al_auto(al_freep) char *path = al_asprintf("%s/git-XXXXXX", run_dir);
    al_auto(al_freep) char *tmp = NULL;

    if (parent < 0 || flock(parent, LOCK_EX) < 0)
        return -errno;
    remove_leftovers(run_dir);
    if (!mkdtemp(path))
        return -errno;
    git->private_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (git->private_fd < 0 || flock(git->private_fd, LOCK_EX | LOCK_NB) < 0)
        return -errno;
    git->private_dir = al_take(&path);
    tmp = al_fs_join(git->private_dir, "tmp");
    return mkdir(tmp, 0700) < 0 ? -errno : 0;
}

/* git starts airlock as askpass and as ssh; airlock tells which by the name of the link. */
static int make_links(const struct al_git *git)
{
    static const char *const names[] = { "airlock-askpass", "airlock-ssh" };

    for (size_t i = 0; git->options.self && i < AL_COUNT(names); i++) {
        al_auto(al_freep) char *path = al_fs_join(git->private_dir, names[i]);

        if (symlink(git->options.self, path) < 0)
            return -errno;
    }
    return 0;
}

static int make_private_dir(struct al_git *git, const char *state_dir, struct al_error *err)
{
    al_auto(al_freep) char *run_dir = al_fs_join(state_dir, "run");
    int r = al_fs_mkdirs(run_dir, 0700);

    if (r == 0)
        r = make_locked(git, run_dir);
    if (r == 0)
        r = make_links(git);
    if (r < 0)
        return al_error_errno(err, -r, "cannot make a private directory in '%s'", run_dir);
    return 0;
}

char *al_git_private_name(struct al_git *git, const char *prefix)
{
    unsigned serial;

    (void)pthread_mutex_lock(&git->lock);
    serial = git->private_serial++;
    (void)pthread_mutex_unlock(&git->lock);
    return al_asprintf("%s/tmp/%s-%u", git->private_dir, prefix, serial);
}

/* <exec-path>/git; on Debian it is another inode than /usr/bin/git. */
static char *core_git_of(const char *program)
{
    static const char *const places[] = { "lib/git-core/git", "libexec/git-core/git" };
    al_auto(al_freep) char *prefix = al_strdup(program);
    char *slash;

    for (int up = 0; up < 2; up++) {
        slash = strrchr(prefix, '/');
        if (!slash)
            return NULL;
        *slash = '\0';
    }
    for (size_t i = 0; i < AL_COUNT(places); i++) {
        al_auto(al_freep) char *path = al_asprintf("%s/%s", prefix, places[i]);

        if (access(path, X_OK) == 0)
            return al_take(&path);
    }
    return NULL;
}

/* The parents of the roots, where git's own search for a repository has to end. */
static char *ceiling_of(const struct al_roots *roots)
{
    struct al_str text = AL_STR_INIT;

    for (size_t i = 0; i < roots->count; i++) {
        const char *path = roots->items[i].path;
        const char *slash = strrchr(path, '/');

        if (!slash || slash == path || strchr(path, ':'))
            continue;
        if (text.len)
            al_str_addc(&text, ':');
        al_str_add(&text, path, (size_t)(slash - path));
    }
    return al_str_detach(&text);
}

/* The options, with strings of its own. */
static void keep_options(struct al_git *git, const struct al_git_options *options)
{
    const char **const strings[] = {
        &git->options.program,  &git->options.ssh,           &git->options.self,
        &git->options.home,     &git->options.config_home,   &git->options.state_dir,
        &git->options.ssh_home, &git->options.worktrees_dir,
    };

    git->options = *options;
    git->options.roots = NULL;
    git->options.forbidden = &git->forbidden;
    git->roots = options->roots;
    al_strv_add_all(&git->forbidden, options->forbidden);
    for (size_t i = 0; i < AL_COUNT(strings); i++)
        if (*strings[i]) {
            al_strv_add(&git->kept, *strings[i]);
            *strings[i] = git->kept.items[git->kept.count - 1];
        }
}

/* The paths, variables and the confinement that the options lead to. */
static void find_rest(struct al_git *git, const struct al_git_options *options)
{
    const int abi = al_confine_abi();

    git->interp = options->program ? al_program_interpreter(options->program) : NULL;
    git->core = options->program ? core_git_of(options->program) : NULL;
    if (git->core)
        git->http_helper = al_asprintf("%s-remote-http", git->core);
    if (options->ssh_home)
        git->ssh_dir = al_fs_join(options->ssh_home, ".ssh");
    al_env_add_network(&git->env_network, options->environ_);
    for (char *const *at = options->environ_; at && *at; at++)
        if (!al_starts_with(*at, "GIT_"))
            al_strv_add(&git->env_helpers, *at);
    al_env_add_allowed(&git->env_allowed, options->env_allow, options->environ_);
    git->stash_dir = al_fs_join(options->state_dir, "stashes");
    git->lock_dir = al_fs_join(options->state_dir, "locks");
    git->records_dir = al_fs_join(options->state_dir, "worktrees");
    git->ceiling = ceiling_of(options->roots);
    if (abi > 0)
        (void)snprintf(git->confinement, sizeof(git->confinement), "landlock%d+seccomp", abi);
    else
        (void)snprintf(git->confinement, sizeof(git->confinement), "seccomp");
}

static int check_confinement(const struct al_git_options *options, struct al_error *err)
{
    if (options->require_confinement && al_confine_abi() == 0)
        return al_error_set(err, AL_ERR_SANDBOX,
                            "This kernel has no Landlock and require_confinement is set");
    if (options->require_confinement && !al_watch_is_possible())
        return al_error_set(err, AL_ERR_SANDBOX,
                            "git cannot be watched here and require_confinement is set");
    return 0;
}

int al_git_new(const struct al_git_options *options, struct al_git **ret_git, struct al_error *err)
{
    struct al_git *git;
    int r = check_confinement(options, err);

    if (r < 0)
        return r;
    git = al_calloc(1, sizeof(*git));
    git->private_fd = -1;
    (void)pthread_mutex_init(&git->lock, NULL);
    git->known_remotes = al_known_remotes_new();
    keep_options(git, options);
    find_rest(git, options);
    r = make_private_dir(git, options->state_dir, err);
    if (r < 0)
        al_git_free(git);
    else
        *ret_git = git;
    return r;
}

int al_git_new_beside(const struct al_git *like, const struct al_roots *roots,
                      struct al_git **ret_git, struct al_error *err)
{
    struct al_git_options options = like->options;

    options.roots = roots;
    options.growing = NULL;
    return al_git_new(&options, ret_git, err);
}

void al_git_free(struct al_git *git)
{
    if (!git)
        return;
    al_git_forget_vettings(git);
    if (git->private_dir)
        al_fs_remove_tree(git->private_dir);
    al_closep(&git->private_fd);
    free(git->private_dir);
    free(git->interp);
    free(git->core);
    free(git->ssh_dir);
    free(git->http_helper);
    al_strv_clear(&git->env_network);
    al_strv_clear(&git->env_helpers);
    al_strv_clear(&git->kept);
    al_known_remotes_free(git->known_remotes);
    free(git->stash_dir);
    free(git->lock_dir);
    free(git->records_dir);
    al_strv_clear(&git->forbidden);
    free(git->ceiling);
    al_strv_clear(&git->env_allowed);
    (void)pthread_mutex_destroy(&git->lock);
    free(git);
}

void al_git_abandon(struct al_git *git)
{
    if (git && git->private_dir)
        al_fs_remove_tree(git->private_dir);
}

/* --- The version of git --- */

#define VERSION_TIMEOUT_MS 10000
#define VERSION_MAX_BYTES  256

/* In the state directory: which file said what. */
#define REMEMBERED           "git-version"
#define REMEMBERED_MAX_BYTES 1024

int al_git_version(const char *program, char **ret_version, struct al_error *err)
{
    static const char *const argv[] = { "git", "--version", NULL };
    static const char *const envp[] = { "PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", NULL };
    static const char prefix[] = "git version ";
    al_auto(al_buffer_clear) struct al_buffer out = AL_BUFFER_INIT(VERSION_MAX_BYTES);
    al_auto(al_closep) int root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct al_proc_result result;
    int r;

    if (!program)
        return al_git_not_available(err);
    r = al_proc_run(
        &(struct al_proc_spec){
            .program = program,
            .argv = argv,
            .envp = envp,
            .cwd_fd = root_fd,
            .out = al_buffer_sink(&out),
            .sandbox = &(struct al_confinement){ .exec_once = true, .no_sockets = true },
            .timeout_ms = VERSION_TIMEOUT_MS,
        },
        &result, err);
    if (r == 0 &&
        ((result.exit_code != 0 && !result.stopped) || !al_starts_with(out.text.buf, prefix)))
        r = al_error_set(err, AL_ERR_EXECUTION, "'%s --version' does not answer like git", program);
    if (r == 0) {
        al_auto(al_freep) char *version = al_text_join_lines(out.text.buf + sizeof(prefix) - 1);

        version[strcspn(version, " ")] = '\0';
        *ret_version = al_take(&version);
    }
    return r;
}

bool al_git_version_is_supported(const char *version)
{
    int major = 0, minor = 0, min_major, min_minor;

    (void)sscanf(AL_GIT_VERSION_MIN, "%d.%d", &min_major, &min_minor);
    if (sscanf(version, "%d.%d", &major, &minor) != 2)
        return false;
    return major > min_major || (major == min_major && minor >= min_minor);
}

/* The key that the version of a program is remembered by. */
static char *key_of(const char *program)
{
    struct al_file_id id = al_file_id_at(AT_FDCWD, program);

    return al_asprintf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64 " ", id.dev,
                       id.ino, id.size, id.mtime_ns, id.ctime_ns);
}

/* The version; NULL: the program does not tell it.  Caller frees. */
static char *version_of(const char *program, const char *state_dir)
{
    al_auto(al_closep) int dir_fd = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    al_auto(al_str_clear) struct al_str known = AL_STR_INIT;
    al_auto(al_freep) char *key = key_of(program);
    char *version = NULL;

    if (al_fs_read(dir_fd, REMEMBERED, REMEMBERED_MAX_BYTES, &known) == 0 && known.len &&
        al_starts_with(known.buf, key))
        return al_strdup(known.buf + strlen(key));
    if (al_git_version(program, &version, NULL) < 0)
        return NULL;
    al_str_clear(&known);
    al_str_addf(&known, "%s%s", key, version);
    (void)al_fs_write_atomic(dir_fd, REMEMBERED, known.buf, known.len, 0600, true);
    return version;
}

int al_git_version_require(const char *program, const char *state_dir, struct al_error *err)
{
    al_auto(al_freep) char *version = program ? version_of(program, state_dir) : NULL;
    al_auto(al_freep) char *safe = NULL;

    if (!version || al_git_version_is_supported(version))
        return 0;
    safe = al_text_sanitize_line(version);
    return al_error_set(err, AL_ERR_BAD_ARGS,
                        "'%s' is git %s, and airlock needs git " AL_GIT_VERSION_MIN " or newer",
                        program, safe);
}
