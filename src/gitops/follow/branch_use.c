// SPDX-License-Identifier: Apache-2.0
#include "gitops/follow/branch_use.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "gitops/plumbing/heads.h"
#include "guard/nofollow.h"
#include "guard/text.h"
#include "util/fs.h"

/* --- Branch use --- */

#define HEADS          "refs/heads/"
#define FILE_MAX_BYTES (1u << 20)

/* Read a file of a git directory; false: there is none. */
static bool read_file(int git_dir, const char *name, struct al_str *ret_text)
{
    al_auto(al_closep) int fd = al_nofollow_open(git_dir, name, O_RDONLY);

    if (fd < 0 || al_fs_read_fd(fd, FILE_MAX_BYTES, ret_text) < 0)
        return false;
    al_str_trim_end(ret_text);
    return true;
}

/* Whether a file has this line, alone or among others. */
static bool has_line(int git_dir, const char *name, const char *line)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    const size_t len = strlen(line);

    if (!read_file(git_dir, name, &text))
        return false;
    for (const char *at = text.buf; *at;) {
        const size_t this = strcspn(at, "\n");

        if (this == len && !strncmp(at, line, len))
            return true;
        at += this + (at[this] == '\n');
    }
    return false;
}

static bool has_file(int git_dir, const char *name)
{
    struct stat st;

    return fstatat(git_dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* What happens to the branch beside HEAD. */
static enum al_branch_use use_in_operation(int git_dir, const char *ref)
{
    static const char *const rebased[] = { "rebase-merge/head-name", "rebase-apply/head-name",
                                           "rebase-merge/update-refs" };

    for (size_t i = 0; i < AL_COUNT(rebased); i++)
        if (has_line(git_dir, rebased[i], ref))
            return AL_BRANCH_REBASED;
    if (has_file(git_dir, "BISECT_LOG") &&
        (has_line(git_dir, "BISECT_START", ref + strlen(HEADS)) ||
         has_line(git_dir, "BISECT_START", ref)))
        return AL_BRANCH_BISECTED;
    return AL_BRANCH_UNUSED;
}

void al_branch_users_clear(struct al_branch_users *users)
{
    for (size_t i = 0; i < users->count; i++) {
        free(users->items[i].name);
        free(users->items[i].top);
    }
    free(users->items);
    *users = (struct al_branch_users){ .items = NULL };
}

/* While the working trees are gone through. */
struct search {
    const struct al_location *at;
    const char *ref;
    struct al_branch_users users;
};

/* The HEAD of a bare repository, which has no index, is nobody's working tree. */
static bool take_head(void *payload, const struct al_head *head)
{
    struct search *search = payload;
    struct al_branch_users *users = &search->users;
    enum al_branch_use use = use_in_operation(head->git_dir_fd, search->ref);

    if (!head->name && (head->is_own ? al_location_is_bare(search->at) : !head->has_index))
        return true;
    if (use == AL_BRANCH_UNUSED && head->branch && !strcmp(head->branch, search->ref))
        use = AL_BRANCH_CHECKED_OUT;
    if (use == AL_BRANCH_UNUSED)
        return true;
    users->items = al_reallocarray(users->items, users->count + 1, sizeof(*users->items));
    users->items[users->count++] = (struct al_branch_user){ .use = use,
                                                            .is_own = head->is_own,
                                                            .name = al_strdup(head->name),
                                                            .top = al_strdup(head->top) };
    return true;
}

static int by_place(const void *a, const void *b)
{
    const struct al_branch_user *one = a, *other = b;

    if (one->is_own != other->is_own)
        return one->is_own ? -1 : 1;
    if (!one->name || !other->name)
        return one->name ? 1 : other->name ? -1 : 0;
    return strcmp(one->name, other->name);
}

int al_branch_find_users(const struct al_repo *repo, const char *ref,
                         struct al_branch_users *ret_users, struct al_error *err)
{
    struct search search = { .at = &repo->at, .ref = ref };
    int r = al_git_each_head(&repo->at, take_head, &search, err);

    if (r < 0)
        return r;
    if (search.users.count)
        qsort(search.users.items, search.users.count, sizeof(*search.users.items), by_place);
    *ret_users = search.users;
    return 0;
}

/* --- User --- */

/* Opening the working tree that uses a branch. */

static int outside(const char *top, struct al_error *err)
{
    al_auto(al_freep) char *word = al_text_sanitize_line(top);

    return al_error_set(err, AL_ERR_SANDBOX,
                        "The branch is checked out in '%s', which is outside of the roots, so that "
                        "working tree cannot be brought along; the user can add it with --root",
                        word);
}

static int gone(const struct al_branch_user *user, struct al_error *err)
{
    al_auto(al_freep) char *word = al_text_sanitize_line(user->top ? user->top : user->name);

    return al_error_set(err, AL_ERR_EXECUTION,
                        "The branch is checked out in the working tree '%s', which is not where "
                        "git says that it is; the user can look with git worktree list",
                        word);
}

/* What lies at the path may be another repository by now. */
static bool is_meant(const struct al_repo *repo, const struct al_branch_user *user,
                     const struct al_repo *opened)
{
    al_auto(al_freep) char *below = user->name ? al_asprintf("worktrees/%s", user->name) : NULL;
    al_auto(al_freep) char *git_dir =
        below ? al_fs_join(repo->at.common_dir, below) : al_strdup(repo->at.common_dir);

    return !strcmp(opened->at.common_dir, repo->at.common_dir) &&
           !strcmp(opened->at.git_dir, git_dir);
}

int al_branch_open_user(const struct al_repo *repo, const struct al_branch_user *user,
                        struct al_run_limits *budget, struct al_repo **ret_repo,
                        struct al_error *err)
{
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    struct al_repo *opened = NULL;
    int r;

    if (!user->top)
        return gone(user, err);
    r = al_repo_open_at(repo->at.git, repo->at.common_dir, user->top, budget, &opened, &why);
    if (r == AL_ERR_SANDBOX)
        return outside(user->top, err);
    if (r == AL_ERR_EXECUTION || (r == 0 && !is_meant(repo, user, opened))) {
        al_repo_free(opened);
        return gone(user, err);
    }
    if (r < 0 && err) {
        al_error_clear(err);
        *err = why;
        why = AL_ERROR_INIT;
    }
    if (r == 0)
        *ret_repo = opened;
    return r;
}
