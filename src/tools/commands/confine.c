// SPDX-License-Identifier: Apache-2.0
#include "tools/commands/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "guard/env.h"
#include "guard/gitdir.h"
#include "guard/nofollow.h"
#include "guard/path.h"
#include "guard/program.h"
#include "proc/foreground.h"
#include "proc/handover.h"

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

/* Without HEAD it is no git directory, and everything in it is still there. */
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

int al_confine_find(const struct al_git_shell *shell, const struct al_roots *roots, bool network,
                    char **ret_program, struct al_error *err)
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

int al_confine_run(const char *bubblewrap, const struct al_root *root,
                   const struct al_git_shell *shell, const struct al_strv *command, bool network,
                   int *ret_code, struct al_strv *ret_notes, struct al_error *err)
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
