// SPDX-License-Identifier: Apache-2.0
/* run: any command as one execution, between two checkpoints, in a sandbox if that is asked for; or
 * a checkpoint by hand. */
#include "tools/commands/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "call/call.h"
#include "git/repo/write_lock.h"
#include "guard/env.h"
#include "guard/gitdir.h"
#include "guard/nofollow.h"
#include "guard/path.h"
#include "guard/program.h"
#include "proc/foreground.h"

/* --- The sandbox of --confine, made by bubblewrap --- */

/* Each level holds two descriptors. */
#define DEPTH_MAX 200

/* bubblewrap takes 9,000 words. */
#define WORDS_MAX 8000

#define BIN       AL_HANDOVER_DIR "/bin"

extern char **environ;

/* A git directory that is mounted read-only.  The inode of one that is gone may come again, its
 * birth does not. */
struct kept {
    char *path;
    ino_t ino;
    int64_t birth_ns;
};

struct confine {
    const struct al_root *root;
    struct al_strv words, env; /* bubblewrap's */
    struct al_strv hidden;     /* its words about sockets; they stand above all other mounts */
    struct kept *kept;
    size_t nkept;
    struct al_strv *notes; /* NULL before the command runs; what it made is looked for afterwards */
};

static void note(struct confine *self, const char *what, const char *path)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(path);

    al_strv_addf(self->notes, "%s %s", what, safe);
}

static int refuse(const char *path, const char *why, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(path);

    return al_error_set(err, AL_ERR_SANDBOX, "--confine cannot protect '%s': %s", safe, why);
}

/* Mount it read-only.  The directories on the way are mounts too, since one can be neither renamed
 * nor removed: else another directory could take the place of one that has a mount in it. */
static int protect(struct confine *self, const char *path, struct al_error *err)
{
    al_auto(al_freep) char *above = al_strdup(path);
    al_auto(al_closep) int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return al_error_errno(err, errno, "cannot open '%s'", path);
    if (S_ISLNK(st.st_mode))
        return refuse(path, "it is a link", err);
    for (char *at = above + strlen(self->root->path) + 1;
         strlen(path) > strlen(self->root->path) && (at = strchr(at, '/')); at++) {
        *at = '\0';
        if (!al_strv_contains(&self->words, above))
            al_strv_adds(&self->words, "--bind", above, above, NULL);
        *at = '/';
    }
    al_strv_adds(&self->words, "--ro-bind", path, path, NULL);
    self->kept = al_reallocarray(self->kept, self->nkept + 1, sizeof(*self->kept));
    self->kept[self->nkept++] = (struct kept){ al_strdup(path), st.st_ino, al_fs_birth_ns(fd) };
    return self->words.count < WORDS_MAX
               ? 0
               : refuse(self->root->path, "it has too many git directories", err);
}

static bool is_kept(const struct confine *self, int fd, const char *path)
{
    struct stat st;

    for (size_t i = 0; i < self->nkept; i++)
        if (!strcmp(self->kept[i].path, path))
            return fstat(fd, &st) == 0 && st.st_ino == self->kept[i].ino &&
                   al_fs_birth_ns(fd) == self->kept[i].birth_ns;
    return false;
}

/* A directory without HEAD is no git directory, and everything in it is still there. */
static void disarm(struct confine *self, int fd, const char *path)
{
    char name[40];

    (void)snprintf(name, sizeof(name), "HEAD.confined-%d", (int)getpid());
    (void)fchmod(fd, 0700);
    if (renameat(fd, "HEAD", fd, name) == 0)
        note(self, "git would take for a repository, so its HEAD was renamed:", path);
    else
        note(self, "git takes for a repository what the command made:", path);
}

/* Open a directory.  -1: it is none, or neither we nor the command can look into it. */
static int enter(struct confine *self, int fd, const char *name, const char *path, int *ret_fd,
                 struct al_error *err)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    struct stat st;

    *ret_fd = openat(fd, name, flags);
    if (*ret_fd >= 0 || errno == ENOENT || errno == ENOTDIR || errno == ELOOP)
        return 0;
    if (errno == EACCES && fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        st.st_uid != geteuid())
        return 0;
    if (!self->notes)
        return refuse(path, "it cannot be read", err);
    if (errno == EACCES && fchmodat(fd, name, 0700, 0) == 0)
        *ret_fd = openat(fd, name, flags);
    if (*ret_fd < 0)
        note(self, "cannot be looked at:", path);
    return 0;
}

static int walk(struct confine *self, int dir_fd, const char *path, unsigned depth,
                struct al_error *err);

static int look_at(struct confine *self, int dir_fd, const char *path, const struct dirent *entry,
                   unsigned depth, struct al_error *err)
{
    al_auto(al_freep) char *child = al_fs_join(path, entry->d_name);
    al_auto(al_closep) int fd = -1;
    int r;

    if (!self->notes && al_fold_is(entry->d_name, strlen(entry->d_name), ".git"))
        return protect(self, child, err);
    if (entry->d_type == DT_SOCK && !self->notes)
        al_strv_adds(&self->hidden, "--ro-bind", "/dev/null", child, NULL);
    if (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN)
        return 0;
    r = enter(self, dir_fd, entry->d_name, child, &fd, err);
    return r < 0 || fd < 0 ? r : walk(self, fd, child, depth + 1, err);
}

/* Before the command runs: protect every git directory, and hide the sockets of servers, which
 * would work for it without a sandbox.  Afterwards: disarm those it made. */
static int walk(struct confine *self, int dir_fd, const char *path, unsigned depth,
                struct al_error *err)
{
    al_auto(al_closedirp) DIR *dir = NULL;
    int r = 0;

    if (self->notes && is_kept(self, dir_fd, path))
        return 0;
    if (al_gitdir_is(dir_fd, NULL)) {
        if (!self->notes)
            return protect(self, path, err);
        disarm(self, dir_fd, path);
    }
    if (depth > DEPTH_MAX) {
        if (!self->notes)
            return refuse(path, "it is too deep", err);
        note(self, "too deep to be looked at:", path);
        return 0;
    }
    dir = al_fs_list_at(dir_fd);
    if (!dir && !self->notes)
        return al_error_errno(err, errno, "cannot list '%s'", path);
    for (struct dirent *entry; dir && r == 0 && (entry = readdir(dir));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            r = look_at(self, dir_fd, path, entry, depth, err);
    return r;
}

static int walk_root(struct confine *self, struct al_error *err)
{
    al_auto(al_closep) int fd = openat(self->root->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return al_error_errno(err, errno, "cannot open '%s'", self->root->path);
    return walk(self, fd, self->root->path, 0, err);
}

/* --- The files of the sandbox --- */

static void add_system(struct al_strv *words)
{
    static const char *const merged[] = { "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32" };
    static const char *const others[] = { "/usr", "/etc", "/opt", "/nix/store", "/gnu/store" };

    for (size_t i = 0; i < AL_COUNT(others); i++)
        al_strv_adds(words, "--ro-bind-try", others[i], others[i], NULL);
    for (size_t i = 0; i < AL_COUNT(merged); i++) {
        char target[64] = "";

        if (readlink(merged[i], target, sizeof(target) - 1) > 0)
            al_strv_adds(words, "--symlink", target, merged[i], NULL);
        else
            al_strv_adds(words, "--ro-bind-try", merged[i], merged[i], NULL);
    }
    al_strv_adds(words, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/dev/shm", "--tmpfs",
                 "/tmp", NULL);
}

/* The words of bubblewrap up to the root. */
static void begin_words(struct confine *self, const char *bubblewrap,
                        const struct al_git_shell *shell, const char *home, bool network)
{
    al_auto(al_freep) char *names = NULL; /* often a link to somewhere else */
    struct al_strv *words = &self->words;

    al_strv_adds(words, bubblewrap, "--die-with-parent", "--unshare-user", "--unshare-ipc",
                 "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL",
                 NULL);
    if (!network)
        al_strv_add(words, "--unshare-net");
    else if (al_beneath_trace("/etc/resolv.conf", &names, NULL) < 0)
        names = NULL;
    add_system(words);
    if (names)
        al_strv_adds(words, "--ro-bind-try", names, names, NULL);
    al_strv_adds(words, "--tmpfs", home, "--tmpfs", AL_HANDOVER_DIR, "--dir", BIN, "--ro-bind",
                 shell->again->items[0], BIN "/airlock", "--symlink", "airlock", BIN "/git",
                 "--bind", self->root->path, self->root->path, "--remount-ro", "/", "--remount-ro",
                 "/dev", NULL);
}

/* bubblewrap has it from the start: the command could read there what bubblewrap unsets.  No secret
 * is passed, as in every sandbox, and no name of a place outside. */
static void make_env(const struct al_git_shell *shell, const char *home, struct al_strv *ret_env)
{
    static const char others[] = " HOME TMPDIR PATH SSH_AUTH_SOCK XDG_RUNTIME_DIR XDG_CONFIG_HOME "
                                 "XDG_DATA_HOME XDG_STATE_HOME XDG_CACHE_HOME ";

    for (char *const *at = environ; *at; at++) {
        al_auto(al_freep) char *name = al_strndup(*at, strcspn(*at, "="));

        if (!al_shell_words_list(others, name) && !al_env_is_secret(name))
            al_strv_add(ret_env, *at);
    }
    al_env_add(ret_env, "HOME", home);
    al_env_add(ret_env, "TMPDIR", "/tmp");
    al_env_add(ret_env, AL_HANDOVER_FIRST, "1");
    al_strv_addf(ret_env, "PATH=%s:%s", BIN, shell->path_list ? shell->path_list : "/usr/bin:/bin");
}

static int make_words(struct confine *self, const char *bubblewrap,
                      const struct al_git_shell *shell, const struct al_strv *command, bool network,
                      struct al_error *err)
{
    al_auto(al_freep) char *here = getcwd(NULL, 0);
    const char *home = shell->home && *shell->home == '/' && shell->home[1] ? shell->home : "/tmp";
    int r;

    if (al_fs_beneath(self->root->path, home))
        return refuse(home, "the root contains it", err);
    begin_words(self, bubblewrap, shell, home, network);
    make_env(shell, home, &self->env);
    r = walk_root(self, err);
    if (r < 0)
        return r;
    al_strv_add_all(&self->words, &self->hidden);
    al_strv_adds(&self->words, "--chdir",
                 here && al_fs_beneath(self->root->path, here) ? here : self->root->path, "--",
                 BIN "/airlock", "run", "--", NULL);
    al_strv_add_all(&self->words, command);
    return 0;
}

/* --- Running it --- */

/* Find bubblewrap, outside of the roots; *ret_program is the caller's.  AL_ERR_SANDBOX names the
 * package, or what `network` needs. */
static int find_bubblewrap(const struct al_git_shell *shell, const struct al_roots *roots,
                           bool network, char **ret_program, struct al_error *err)
{
    if (network && al_confine_abi() < 6)
        return al_error_set(err, AL_ERR_SANDBOX,
                            "--network needs Linux 6.12 with Landlock, which keeps a command from "
                            "the abstract sockets of other programs");
    *ret_program = al_program_find("bwrap", shell->path_list, roots);
    return *ret_program
               ? 0
               : al_error_set(err, AL_ERR_SANDBOX,
                              "--confine needs bubblewrap; install the package bubblewrap");
}

/*
 * Run a command in a sandbox: the system can be read, the root can be written, and so can a private
 * /tmp and home directory.  Git directories below the root can be read; its git is run by airlock
 * outside.  A directory of the command's that git takes for a git directory is none any more
 * afterwards, which *ret_notes says.  AL_ERR_SANDBOX: there is no sandbox, and nothing ran.
 */
static int run_confined(const char *bubblewrap, const struct al_root *root,
                        const struct al_git_shell *shell, const struct al_strv *command,
                        bool network, int *ret_code, struct al_strv *ret_notes,
                        struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv git = AL_STRV_INIT;
    struct confine self = { .root = root, .words = AL_STRV_INIT };
    int r = make_words(&self, bubblewrap, shell, command, network, err);

    /* git runs outside of the sandbox, but with the root as a mount of its own, and it does not
     * write to git directories in the working tree either. */
    al_strv_adds(&git, bubblewrap, "--dev-bind", "/", "/", "--bind", root->path, root->path,
                 "--cap-add", "CAP_SYS_ADMIN", NULL);
    for (size_t i = 0; i < self.nkept; i++)
        if (!al_path_has_dot_git(self.kept[i].path))
            al_strv_adds(&git, "--ro-bind", self.kept[i].path, self.kept[i].path, NULL);
    al_strv_add(&git, "--");
    al_strv_add_all(&git, shell->again);
    al_strv_adds(&git, "--root", root->path, "--as-git", NULL);
    if (r == 0)
        r = al_proc_run_foreground(self.words.items, self.env.items, git.items, ret_code, err);
    self.notes = ret_notes;
    if (r == 0)
        (void)walk_root(&self, NULL);
    for (size_t i = 0; i < self.nkept; i++)
        free(self.kept[i].path);
    free(self.kept);
    al_strv_clear(&self.words);
    al_strv_clear(&self.env);
    al_strv_clear(&self.hidden);
    return r;
}

/* --- The tool --- */

struct run_args {
    struct al_strv command;
    const char *label, *working_dir;
    bool confine, network;
};

static const struct al_param params[] = {
    AL_STRINGS(struct run_args, command, "The program and its arguments; none: only a checkpoint.",
               .flags = AL_PARAM_RAW, .max_bytes = 1u << 20),
    AL_STRING(struct run_args, label, "A name to go back to; no number or time.", .max_bytes = 100),
    AL_BOOL(struct run_args, confine, "Keep it to the system and the root, in a sandbox."),
    AL_BOOL(struct run_args, network, "Let it use the network there."),
    AL_STRING(struct run_args, working_dir, NULL, .flags = AL_PARAM_NAME, .max_bytes = 64u << 10),
};

static int check(void *p, struct al_error *err)
{
    const struct run_args *args = p;

    if (args->network && !args->confine)
        return al_error_set(err, AL_ERR_BAD_ARGS, "--network is an option of --confine");
    return 0;
}

/* The root that a sandbox keeps the command to; NULL: this directory is in none. */
static const struct al_root *root_of(const struct al_call *call, const struct run_args *args)
{
    const struct al_roots *roots = al_call_session(call)->roots;

    return args->working_dir ? al_roots_find(roots, args->working_dir) : &roots->items[0];
}

/* Nothing begins without a sandbox where one is asked for. */
static int authorize(struct al_call *call, struct al_error *err)
{
    const struct run_args *args = al_call_args(call);
    const struct al_session *session = al_call_session(call);
    char *bubblewrap = NULL;
    int r;

    if (!args->confine)
        return 0;
    if (!root_of(call, args))
        return al_error_set(err, AL_ERR_SANDBOX,
                            "--confine keeps a command to a root, and this directory is in none");
    r = find_bubblewrap(session->caller_shell, session->roots, args->network, &bubblewrap, err);
    if (r == 0)
        al_call_set_tool_data(call, bubblewrap, free);
    return r;
}

static int snapshot(struct al_call *call, struct al_result *result, struct al_error *err)
{
    if (!al_call_repo(call))
        return al_error_set(err, AL_ERR_EXECUTION,
                            "There is no repository here, and nothing to take a checkpoint of");
    al_str_adds(&result->text, "checkpoint taken");
    return 0;
}

/* The write lock is free meanwhile: the command may call airlock itself, and take hours. */
static int run(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct run_args *args = al_call_args(call);
    struct al_repo *repo = al_call_repo(call);
    al_auto(al_strv_clear) struct al_strv notes = AL_STRV_INIT;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    const int64_t began_ms = al_clock_ms();
    int code = 0, r;

    al_write_lock_release(repo);
    r = args->confine ? run_confined(al_call_tool_data(call), root_of(call, args),
                                     al_call_session(call)->caller_shell, &args->command,
                                     args->network, &code, &notes, err)
                      : al_proc_run_foreground(args->command.items, NULL, NULL, &code, &why);
    for (size_t i = 0; i < notes.count; i++)
        al_result_note(result, notes.items[i]);
    if (r < 0 && args->confine)
        return r;
    if (r < 0) {
        al_auto(al_freep) char *line = al_text_join_lines(why.message);

        al_result_note(result, line);
    }
    result->confinement = args->confine ? "bubblewrap" : "none";
    result->exit_code = code;
    al_str_addf(&result->text, "exit status %d after %.1f s", code,
                (double)(al_clock_ms() - began_ms) / 1000);
    return repo && !al_repo_is_gone(repo) ? al_write_lock_acquire(repo, al_call_budget(call), err)
                                          : 0;
}

static void summarize(const struct al_call *call, struct al_str *out)
{
    const struct run_args *args = al_call_args(call);

    al_str_adds(out, args->command.count ? "Run" : "Take a checkpoint");
    for (size_t i = 0; i < args->command.count; i++)
        al_text_add_word(args->command.items[i], out);
    if (args->label)
        al_str_addf(out, " (%s)", args->label);
}

AL_WHEN(is_snapshot, struct run_args, !args->command.count)

#define RUNS (AL_READS | AL_WRITES_WORKTREE | AL_DISCARDS_WORK | AL_RUNS_PROGRAM | AL_WRITES_FILES)

/* It is the user's own command, or that of an agent with a shell, which has no need of airlock. */
static const struct al_operation operations[] = {
    { "snapshot", is_snapshot, AL_WRITES_WORKTREE | AL_WRITES_FILES, snapshot, AL_ASKS_ELSEWHERE },
    { "run", NULL, RUNS, run, AL_ASKS_NEVER },
};

const struct al_tool al_tool_commands_run = {
    .name = "run",
    .title = "Run a command",
    .about = "Run any command of a shell as one execution between two checkpoints.",
    AL_TOOL_ROWS(params, operations),
    .args_size = sizeof(struct run_args),
    .working_dir_offset = offsetof(struct run_args, working_dir),
    .runs_at_top = true,
    .at_first_root = true,
    .tells_changes = true,
    .check = check,
    .timeout_ms = al_shell_timeout_ms,
    .authorize = authorize,
    .summarize = summarize,
};
