// SPDX-License-Identifier: Apache-2.0
#include "gitops/repo.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/command.h"
#include "gitops/locate.h"
#include "gitops/private.h"
#include "gitops/vet.h"
#include "guard/arg.h"
#include "guard/plain.h"
#include "util/fs.h"

/* Among so many words one is searched for that comes out of order. */
#define PATHSPECS_SEARCHED 64

/* Words and what they were resolved to, in the order they came.  Lists are gone through again in
 * their order, so the next one is where it was the last time; ten thousand are not searched. */
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
    al_repo_end_write(repo);
    if (repo->vetting)
        al_vetting_unref(repo->git, repo->vetting);
    al_close(repo->dir_fd);
    al_close(repo->git_fd);
    al_repo_forget_pathspecs(repo);
    free(repo->pathspecs);
    free(repo->dir);
    free(repo->top);
    free(repo->git_dir);
    free(repo->common_dir);
    free(repo);
}

// safe.directory as git reads it: a path, "*" for every one, "<dir>/*" for all below.
static bool is_declared_safe(const struct al_repo *repo)
{
    const struct al_strv *safe = &repo->vetting->safe_directories;

    for (size_t i = 0; i < safe->count; i++) {
        const char *entry = safe->items[i];
        size_t len = strlen(entry);

        if (!strcmp(entry, "*") || !strcmp(entry, repo->top))
            return true;
        if (al_ends_with(entry, "/*") && !strncmp(entry, repo->top, len - 1))
            return true;
    }
    return false;
}

static int check_owner(const struct al_repo *repo, const char *given, struct al_error *err)
{
    al_auto(al_freep) char *word = NULL;

    if (al_repo_is_owned(repo) || is_declared_safe(repo))
        return 0;
    word = al_text_word(given);
    return al_error_set(err, AL_ERR_SANDBOX,
                        "The repository at '%s' belongs to another user; if you trust it, run: "
                        "git config --global --add safe.directory <its path>",
                        word);
}

static int open_dir(struct al_repo *repo, const char *base, const char *given, struct al_error *err)
{
    al_auto(al_path_clear) struct al_path path = AL_PATH_INIT;
    int r = al_path_resolve(repo->git->roots, base, given, &path, err);

    if (r < 0)
        return r;
    if (path.fd < 0 || !S_ISDIR(path.mode)) {
        al_auto(al_freep) char *word = al_text_word(given);

        return al_error_set(err, AL_ERR_EXECUTION, "No such directory: %s", word);
    }
    repo->root = path.root;
    repo->dir_fd = al_take_fd(&path.fd);
    repo->dir = al_take(&path.abs);
    return 0;
}

int al_repo_open(struct al_git *git, const char *base, const char *given, struct al_budget *budget,
                 struct al_repo **ret_repo, struct al_error *err)
{
    struct al_repo *repo = al_calloc(1, sizeof(*repo));
    int r;

    repo->git = git;
    repo->pathspecs = al_calloc(1, sizeof(*repo->pathspecs));
    repo->dir_fd = repo->git_fd = -1;
    r = open_dir(repo, base, given, err);
    if (r == 0)
        r = al_repo_locate(repo, git->roots, given, err);
    if (r == 0)
        r = al_vetting_get(repo, budget, &repo->vetting, err);
    if (r == 0)
        r = check_owner(repo, given, err);
    if (r < 0) {
        al_repo_free(repo);
        return r;
    }
    *ret_repo = repo;
    return 0;
}

bool al_repo_is_bare(const struct al_repo *repo)
{
    return !strcmp(repo->top, repo->git_dir);
}

static int open_exactly(struct al_repo *repo, const char *base, const char *path,
                        struct al_error *err)
{
    al_auto(al_freep) char *abs = al_fs_join(base, path);
    al_auto(al_freep) char *word = al_text_word(path);
    int r =
        al_roots_open(repo->git->roots, abs, O_PATH | O_DIRECTORY, &repo->dir_fd, &repo->dir, err);

    if (r == AL_ERR_SANDBOX)
        return al_error_set(err, r, "Path outside sandbox: %s", word);
    if (r < 0)
        return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_REMOTE_ERROR,
                                 "No such directory: %s", word);
    repo->root = al_roots_find(repo->git->roots, repo->dir);
    return al_repo_locate_at(repo, repo->git->roots, path, err);
}

int al_repo_open_at(struct al_git *git, const char *base, const char *path,
                    struct al_budget *budget, struct al_repo **ret_repo, struct al_error *err)
{
    struct al_repo *repo = al_calloc(1, sizeof(*repo));
    int r;

    repo->git = git;
    repo->pathspecs = al_calloc(1, sizeof(*repo->pathspecs));
    repo->dir_fd = repo->git_fd = -1;
    r = open_exactly(repo, base, path, err);
    if (r == 0)
        r = al_vetting_get(repo, budget, &repo->vetting, err);
    if (r == 0)
        r = check_owner(repo, path, err);
    if (r < 0) {
        al_repo_free(repo);
        return r;
    }
    *ret_repo = repo;
    return 0;
}

static int outside_repository(const char *param, const char *given, struct al_error *err)
{
    al_auto(al_freep) char *word = al_text_word(given);

    return al_error_set(err, AL_ERR_BAD_ARGS, "%s: '%s' is outside the repository", param, word);
}

/*
 * An absolute word keeps its last component: a link names itself, as it does for git.  One that
 * ends in '/', or comes here through a link from elsewhere, is the path it leads to, and nothing
 * wider.
 */
static char *canonical_word(const struct al_repo *repo, const char *given, const char *abs)
{
    const char *slash = strrchr(given, '/');
    al_auto(al_path_clear) struct al_path parent = AL_PATH_INIT;
    al_auto(al_freep) char *head = NULL;

    if (given[0] != '/')
        return al_strdup(given);
    head = slash == given ? al_strdup("/") : al_strndup(given, (size_t)(slash - given));
    if (!slash[1] || al_path_resolve(repo->git->roots, repo->dir, head, &parent, NULL) < 0 ||
        !al_fs_below(repo->top, parent.abs))
        return al_strdup(abs);
    return al_fs_join(parent.abs, slash + 1);
}

/* A missing file whose name looks like a pattern may still be an entry of the index. */
static int is_index_entry(const struct al_repo *repo, const char *word, struct al_budget *budget,
                          bool *ret_is, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    al_strv_adds(&command.argv, "git", "ls-files", "-z", "--", NULL);
    al_strv_addf(&command.argv, ":(literal)%s", word);
    r = al_git_run_text(repo, &command, 1, budget, &output, err);
    if (r == 0)
        *ret_is = al_git_read_well(&output) && output.out.out.len > 0;
    return r;
}

int al_repo_file(const struct al_repo *repo, const char *param, const char *given, char **ret_path,
                 struct al_error *err)
{
    al_auto(al_path_clear) struct al_path path = AL_PATH_INIT;
    int r = al_path_resolve(repo->git->roots, repo->dir, given, &path, err);

    if (r < 0)
        return r;
    if (!al_fs_below(repo->top, path.abs))
        return outside_repository(param, given, err);
    *ret_path = canonical_word(repo, given, path.abs);
    return 0;
}

static int resolve_pathspec(const struct al_repo *repo, const char *param, const char *given,
                            struct al_budget *budget, char **ret_spec, struct al_error *err)
{
    al_auto(al_freep) char *word = NULL;
    struct stat st;
    bool names_a_file;
    int r = al_repo_file(repo, param, given, &word, err);

    if (r < 0)
        return r;
    names_a_file = fstatat(repo->dir_fd, word, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (!names_a_file && (word[0] == ':' || strpbrk(word, "*?[\\"))) {
        r = is_index_entry(repo, word, budget, &names_a_file, err);
        if (r < 0)
            return r;
    }
    return al_arg_pathspec(param, word, names_a_file, ret_spec, err);
}

int al_repo_pathspec(const struct al_repo *repo, const char *param, const char *given,
                     struct al_budget *budget, char **ret_spec, struct al_error *err)
{
    const char *known = recall_pathspec(repo->pathspecs, given);
    int r;

    if (known) {
        *ret_spec = al_strdup(known);
        return 0;
    }
    r = resolve_pathspec(repo, param, given, budget, ret_spec, err);
    if (r < 0)
        return r;
    al_strv_add(&repo->pathspecs->given, given);
    al_strv_add(&repo->pathspecs->specs, *ret_spec);
    repo->pathspecs->next = repo->pathspecs->given.count;
    return 0;
}

int al_repo_pathspecs(const struct al_repo *repo, const struct al_strv *given,
                      struct al_budget *budget, struct al_str *ret_list, struct al_error *err)
{
    for (size_t i = 0; i < given->count; i++) {
        al_auto(al_freep) char *spec = NULL;
        int r = al_repo_pathspec(repo, "paths", given->items[i], budget, &spec, err);

        if (r < 0)
            return r;
        al_str_add(ret_list, spec, strlen(spec) + 1);
    }
    return 0;
}

/* By its place below the root it lies in, which is open. */
static int open_part(const struct al_repo *repo, const char *path, int *ret_fd,
                     struct al_error *err)
{
    const struct al_root *root = al_roots_find(repo->git->roots, path);
    int fd = -ENOENT;

    if (root)
        fd = al_plain_open(root->fd, path + strlen(root->path) + (strcmp(root->path, path) != 0),
                           O_PATH | O_DIRECTORY);
    if (fd < 0)
        return al_error_errno(err, -fd, "cannot open the repository");
    *ret_fd = fd;
    return 0;
}

int al_repo_open_top(const struct al_repo *repo, int *ret_fd, struct al_error *err)
{
    return open_part(repo, repo->top, ret_fd, err);
}

int al_repo_go_to_top(struct al_repo *repo, struct al_error *err)
{
    const struct al_root *root = al_roots_find(repo->git->roots, repo->top);
    int fd, r;

    if (!strcmp(repo->dir, repo->top))
        return 0;
    al_repo_forget_pathspecs(repo);
    r = al_repo_open_top(repo, &fd, err);
    if (r < 0)
        return r;
    al_close(repo->dir_fd);
    repo->dir_fd = fd;
    free(repo->dir);
    repo->dir = al_strdup(repo->top);
    repo->root = root ? root : repo->root;
    return 0;
}

void al_repo_go_by_path(struct al_repo *repo)
{
    repo->by_path = true;
}

int al_repo_open_git_dir(const struct al_repo *repo, int *ret_fd, struct al_error *err)
{
    return open_part(repo, repo->git_dir, ret_fd, err);
}

int al_repo_open_common_dir(const struct al_repo *repo, int *ret_fd, struct al_error *err)
{
    return open_part(repo, repo->common_dir, ret_fd, err);
}
