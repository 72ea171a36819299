// SPDX-License-Identifier: Apache-2.0
#include "git/repo/repo.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "git/command.h"
#include "git/layer.h"
#include "git/location.h"
#include "git/repo/remotes.h"
#include "git/repo/write_lock.h"
#include "git/run.h"
#include "git/vet/vet.h"
#include "guard/arg.h"
#include "guard/path.h"
#include "guard/root.h"

/* A word out of order is searched for among this many. */
#define PATHSPECS_SEARCHED 64

/* Words and their pathspecs, in the order of resolution.  A list of words is usually resolved again
 * in the same order, so the next word is found at `next` without a search. */
struct al_pathspecs {
    struct al_strv given, specs;
    size_t next;
};

void al_repo_forget_pathspecs(struct al_repo *repo)
{
    al_strv_clear(&repo->pathspecs->given);
    al_strv_clear(&repo->pathspecs->specs);
    repo->pathspecs->next = 0;
}

static const char *recall_at(struct al_pathspecs *known, size_t at, const char *given)
{
    if (at >= known->given.count || strcmp(known->given.items[at], given) != 0)
        return NULL;
    known->next = at + 1;
    return known->specs.items[at];
}

static const char *recall_pathspec(struct al_pathspecs *known, const char *given)
{
    const char *spec = recall_at(known, known->next, given);

    for (size_t at = 0; !spec && at < known->given.count && at < PATHSPECS_SEARCHED; at++)
        spec = recall_at(known, at, given);
    return spec;
}

void al_repo_free(struct al_repo *repo)
{
    if (!repo)
        return;
    if (repo->free_mirror) {
        repo->free_mirror(repo->mirror); /* frees this repository too */
        return;
    }
    al_write_lock_release(repo);
    if (repo->vetting)
        al_vetting_unref(repo->at.git, repo->vetting);
    al_location_clear(&repo->at);
    al_repo_forget_pathspecs(repo);
    free(repo->pathspecs);
    free(repo->asked_top);
    free(repo->shown);
    free(repo);
}

// safe.directory, as git reads it: a path, "*" for all, "<dir>/*" for all below <dir>.
static bool is_declared_safe(const struct al_repo *repo)
{
    const struct al_strv *safe = &repo->vetting->safe_directories;

    for (size_t i = 0; i < safe->count; i++) {
        const char *entry = safe->items[i];
        size_t len = strlen(entry);

        if (!strcmp(entry, "*") || !strcmp(entry, repo->at.top))
            return true;
        if (al_ends_with(entry, "/*") && !strncmp(entry, repo->at.top, len - 1))
            return true;
    }
    return false;
}

static int check_owner(const struct al_repo *repo, const char *given, struct al_error *err)
{
    al_auto(al_freep) char *word = NULL;
    al_auto(al_freep) char *path = NULL;
    struct stat st;

    if (al_location_is_owned(&repo->at) || is_declared_safe(repo))
        return 0;
    if (lstat(repo->at.git_dir, &st) < 0 || al_location_is_own(&st))
        (void)lstat(repo->at.top, &st);
    word = al_text_sanitize_line(given);
    path = al_text_sanitize_line(repo->at.top);
    return al_error_remedy(
        al_error_set(err, AL_ERR_SANDBOX,
                     "The repository at '%s' belongs to another user (uid %u); if you trust it, "
                     "run: git config --global --add safe.directory %s",
                     word, (unsigned)st.st_uid, path),
        err, "Only a user can say that it is trusted.");
}

static int open_dir(struct al_repo *repo, const char *base, const char *given, struct al_error *err)
{
    al_auto(al_path_clear) struct al_path path = AL_PATH_INIT;
    int r = al_path_resolve(repo->at.git->roots, base, given, &path, err);

    if (r < 0)
        return r;
    if (path.fd < 0 || !S_ISDIR(path.mode)) {
        al_auto(al_freep) char *word = al_text_sanitize_line(given);

        return al_error_about(al_error_set(err, AL_ERR_EXECUTION, "No such directory: %s", word),
                              err, AL_SUBJECT_DIRECTORY, NULL);
    }
    repo->at.root = path.root;
    repo->at.dir_fd = al_take_fd(&path.fd);
    repo->at.dir = al_take(&path.abs);
    return 0;
}

static struct al_repo *new_repo(struct al_git *git, struct al_run_limits *budget)
{
    struct al_repo *repo = al_calloc(1, sizeof(*repo));

    repo->at = AL_LOCATION_INIT;
    repo->at.git = git;
    repo->at.budget = budget;
    repo->write_fd = -1;
    repo->pathspecs = al_calloc(1, sizeof(*repo->pathspecs));
    return repo;
}

/* git has no working tree where core.bare is set.  A linked worktree is one whatever the
 * configuration of the repository says. */
static int check_bare(struct al_repo *repo, struct al_error *err)
{
    const struct al_vetting *vetting = repo->vetting;

    return vetting->says_bare && !vetting->work_tree && !al_location_is_linked(&repo->at) &&
                   !al_location_is_bare(&repo->at)
               ? al_location_make_bare(&repo->at, err)
               : 0;
}

/* The files beside `.git` are not the repository's if core.worktree leads elsewhere.  git does not
 * look at it in a repository that is bare to the end of its configuration. */
static int check_work_tree(const struct al_repo *repo, const char *given, struct al_error *err)
{
    const char *named = repo->vetting->work_tree;
    al_auto(al_freep) char *path = named ? al_fs_join(repo->at.git_dir, named) : NULL;
    al_auto(al_freep) char *word = al_text_sanitize_line(given);

    if (!named || al_location_is_linked(&repo->at) ||
        (al_location_is_bare(&repo->at) && repo->vetting->says_bare) ||
        al_location_is_same(path, repo->at.top))
        return 0;
    return al_error_remedy(
        al_error_set(err, AL_ERR_EXECUTION,
                     "The working tree of the repository is not where it was found, at '%s': its "
                     "configuration names another one (core.worktree)",
                     word),
        err,
        "'git config --unset core.worktree' makes this directory the working tree, "
        "if it is meant to be one.");
}

/* Vet a repository that was found (`r` is the result of finding it) and check its owner. */
static int vet_found(int r, struct al_repo *repo, const char *given, struct al_repo **ret_repo,
                     struct al_error *err)
{
    bool is_new = false;

    if (r == 0)
        r = al_vetting_get(&repo->at, &repo->vetting, &is_new, err);
    if (r == 0) {
        repo->at.config = &repo->vetting->config;
        if (is_new) {
            al_known_remotes_note(repo); /* before another call finds the vetting */
            al_vetting_remember(repo->at.git, repo->vetting);
        }
        r = check_owner(repo, given, err);
    }
    if (r == 0)
        r = check_bare(repo, err);
    if (r < 0) {
        al_repo_free(repo);
        return r;
    }
    *ret_repo = repo;
    return 0;
}

int al_repo_open(struct al_git *git, const char *base, const char *given,
                 struct al_run_limits *budget, struct al_repo **ret_repo, struct al_error *err)
{
    struct al_repo *repo = new_repo(git, budget);
    int r = open_dir(repo, base, given, err);

    if (r == 0)
        r = al_location_find(&repo->at, git->roots, given, err);
    r = vet_found(r, repo, given, &repo, err);
    if (r < 0)
        return r;
    r = check_work_tree(repo, given, err);
    if (r < 0)
        al_repo_free(repo);
    else
        *ret_repo = repo;
    return r;
}

bool al_repo_is_gone(const struct al_repo *repo)
{
    return !al_git_is_bare_dir(repo->at.git_dir) || !al_git_is_bare_dir(repo->at.common_dir);
}

static int open_exactly(struct al_repo *repo, const char *base, const char *path,
                        struct al_error *err)
{
    al_auto(al_freep) char *abs = al_fs_join(base, path);
    al_auto(al_freep) char *word = al_text_sanitize_line(path);
    int r = al_roots_open(repo->at.git->roots, abs, O_PATH | O_DIRECTORY, &repo->at.dir_fd,
                          &repo->at.dir, err);

    if (r == AL_ERR_SANDBOX)
        return al_error_set(err, r, "Path outside sandbox: %s", word);
    if (r < 0)
        return al_error_about(al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_REMOTE_ERROR,
                                                "No such directory: %s", word),
                              err, AL_SUBJECT_DIRECTORY, NULL);
    repo->at.root = al_roots_find(repo->at.git->roots, repo->at.dir);
    return al_location_find_at(&repo->at, repo->at.git->roots, path, err);
}

int al_repo_open_at(struct al_git *git, const char *base, const char *path,
                    struct al_run_limits *budget, struct al_repo **ret_repo, struct al_error *err)
{
    struct al_repo *repo = new_repo(git, budget);

    return vet_found(open_exactly(repo, base, path, err), repo, path, ret_repo, err);
}

int al_repo_open_own(struct al_git *git, const char *dir, struct al_run_limits *budget,
                     struct al_repo **ret_repo, struct al_error *err)
{
    struct al_repo *repo = new_repo(git, budget);
    bool is_new;
    int r = 0;

    al_location_set_own(&repo->at, dir);
    repo->at.dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (repo->at.dir_fd < 0)
        r = al_error_errno(err, errno, "cannot open '%s'", dir);
    if (r == 0)
        r = al_vetting_get(&repo->at, &repo->vetting, &is_new, err);
    if (r < 0) {
        al_repo_free(repo);
        return r;
    }
    repo->at.config = &repo->vetting->config;
    *ret_repo = repo;
    return 0;
}

static int fill_own(const char *dir)
{
    static const char *const files[][2] = { { "config", AL_REPO_OWN_CONFIG },
                                            { "HEAD", "ref: refs/heads/none\n" } };
    al_auto(al_closep) int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    int r = 0;

    if (fd < 0 || mkdirat(fd, "objects", 0700) < 0 || mkdirat(fd, "refs", 0700) < 0)
        return -errno;
    for (size_t i = 0; r == 0 && i < AL_COUNT(files); i++)
        r = al_fs_write_atomic(fd, files[i][0], files[i][1], strlen(files[i][1]), 0600, true);
    return r;
}

int al_repo_make_own(struct al_git *git, struct al_run_limits *budget, struct al_repo **ret_repo,
                     struct al_error *err)
{
    al_auto(al_freep) char *dir = al_fs_join(git->private_dir, "mirror-XXXXXX");
    int r = mkdtemp(dir) ? fill_own(dir) : -errno;

    if (r < 0)
        return al_error_errno(err, -r, "cannot make a private directory in '%s'", git->private_dir);
    return al_repo_open_own(git, dir, budget, ret_repo, err);
}

static int outside_repository(const char *param, const char *given, struct al_error *err)
{
    al_auto(al_freep) char *word = al_text_sanitize_line(given);

    return al_error_about(
        al_error_set(err, AL_ERR_BAD_ARGS, "%s: '%s' is outside the repository", param, word), err,
        AL_SUBJECT_OUTSIDE, NULL);
}

/* An absolute word keeps its last component, so that a link names itself, as it does for git.  A
 * word that ends in '/', or reaches the working tree through a link from elsewhere, becomes the
 * path it leads to. */
static char *canonical_word(const struct al_repo *repo, const char *given, const char *abs)
{
    const char *slash = strrchr(given, '/');
    al_auto(al_path_clear) struct al_path parent = AL_PATH_INIT;
    al_auto(al_freep) char *head = NULL;

    if (given[0] != '/')
        return al_strdup(given);
    head = slash == given ? al_strdup("/") : al_strndup(given, (size_t)(slash - given));
    if (!slash[1] || al_path_resolve(repo->at.git->roots, repo->at.dir, head, &parent, NULL) < 0 ||
        !al_fs_beneath(repo->at.top, parent.abs))
        return al_strdup(abs);
    return al_fs_join(parent.abs, slash + 1);
}

/* A missing file whose name looks like a pattern may still be an entry of the index. */
static int is_index_entry(const struct al_repo *repo, const char *word, bool *ret_is,
                          struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    al_strv_adds(&command.argv, "git", "ls-files", "-z", "--", NULL);
    al_strv_addf(&command.argv, ":(literal)%s", word);
    r = al_git_run(&repo->at, &command, &(struct al_git_run){ .max_bytes = 1 }, &output, err);
    if (r == 0)
        *ret_is = al_git_read_well(&output) && output.out.out.len > 0;
    return r;
}

int al_repo_file(const struct al_repo *repo, const char *param, const char *given, char **ret_path,
                 struct al_error *err)
{
    al_auto(al_path_clear) struct al_path path = AL_PATH_INIT;
    int r = al_path_resolve(repo->at.git->roots, repo->at.dir, given, &path, err);

    if (r < 0)
        return r;
    if (!al_fs_beneath(repo->at.top, path.abs))
        return outside_repository(param, given, err);
    *ret_path = canonical_word(repo, given, path.abs);
    return 0;
}

static int resolve_pathspec(const struct al_repo *repo, const char *param, const char *given,
                            char **ret_spec, struct al_error *err)
{
    al_auto(al_freep) char *word = NULL;
    struct stat st;
    bool names_a_file;
    int r = al_repo_file(repo, param, given, &word, err);

    if (r < 0)
        return r;
    names_a_file = fstatat(repo->at.dir_fd, word, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (!names_a_file && (word[0] == ':' || strpbrk(word, "*?[\\"))) {
        r = is_index_entry(repo, word, &names_a_file, err);
        if (r < 0)
            return r;
    }
    return al_arg_pathspec(param, word, names_a_file, ret_spec, err);
}

int al_repo_pathspec(const struct al_repo *repo, const char *param, const char *given,
                     char **ret_spec, struct al_error *err)
{
    const char *known = recall_pathspec(repo->pathspecs, given);
    int r;

    if (known) {
        *ret_spec = al_strdup(known);
        return 0;
    }
    r = resolve_pathspec(repo, param, given, ret_spec, err);
    if (r < 0)
        return r;
    al_strv_add(&repo->pathspecs->given, given);
    al_strv_add(&repo->pathspecs->specs, *ret_spec);
    repo->pathspecs->next = repo->pathspecs->given.count;
    return 0;
}

int al_repo_pathspecs(const struct al_repo *repo, const struct al_strv *given,
                      struct al_str *ret_list, struct al_error *err)
{
    for (size_t i = 0; given && i < given->count; i++) {
        al_auto(al_freep) char *spec = NULL;
        int r = al_repo_pathspec(repo, "paths", given->items[i], &spec, err);

        if (r < 0)
            return r;
        al_str_add(ret_list, spec, strlen(spec) + 1);
    }
    return 0;
}

int al_repo_go_to_top(struct al_repo *repo, struct al_error *err)
{
    const struct al_root *root = al_roots_find(repo->at.git->roots, repo->at.top);
    int fd, r;

    if (!strcmp(repo->at.dir, repo->at.top))
        return 0;
    al_repo_forget_pathspecs(repo);
    r = al_location_open_top(&repo->at, &fd, err);
    if (r < 0)
        return r;
    al_close(repo->at.dir_fd);
    repo->at.dir_fd = fd;
    free(repo->at.dir);
    repo->at.dir = al_strdup(repo->at.top);
    repo->at.root = root ? root : repo->at.root;
    return 0;
}

/* --- Signature --- */

void al_git_show_unsigned(const struct al_repo *repo, struct al_str *out)
{
    if (repo->vetting->wants_signatures)
        al_str_adds(out, "No commit made here is signed, although commit.gpgSign asks for it.\n");
}

void al_git_skipped_signature(const struct al_repo *repo, struct al_str *out)
{
    if (!repo->vetting->wants_signatures)
        return;
    if (out->len)
        al_str_addc(out, '\n');
    al_str_adds(out, "airlock: not signed, although commit.gpgSign asks for it");
}
