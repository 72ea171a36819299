// SPDX-License-Identifier: Apache-2.0
#include "staging/target.h"

#include <stdlib.h>

#include "git/layer.h"
#include "git/refs.h"
#include "git/repo/repo.h"
#include "git/vet/vet.h"
#include "guard/gitdir.h"
#include "guard/path.h"
#include "guard/root.h"
#include "guard/text.h"
#include "guard/url.h"
#include "verbs/landing/landing.h"
#include "verbs/transport/mirror.h"

/** The most roots that a message names. */
#define ROOTS_MAX 8

/** A row for each type. */
struct type {
    const char *name;
    bool has_path; /* else it has a repo */
    int (*open)(struct al_git *git, const char *base, const char *path,
                const struct al_path *resolved, struct al_run_limits *budget,
                struct al_repo **ret_repo, struct al_error *err);
};

void al_target_clear(struct al_target *target)
{
    free((char *)target->path);
    free((char *)target->repo);
    free((char *)target->branch);
    *target = (struct al_target){ .path = NULL };
}

static int wrong_kind(const char *path, const char *is, const char *use, struct al_error *err)
{
    al_auto(al_freep) char *word = al_text_sanitize_line(path);

    return al_error_set(err, AL_ERR_EXECUTION, "'%s' is %s; give target type '%s'", word, is, use);
}

static int open_local(struct al_git *git, const char *base, const char *path,
                      const struct al_path *resolved, struct al_run_limits *budget,
                      struct al_repo **ret_repo, struct al_error *err)
{
    /* Inside a working tree git would find that one instead. */
    if (resolved->fd >= 0 && al_gitdir_is(resolved->fd, NULL))
        return wrong_kind(path, "a bare repository", "local-bare", err);
    return al_repo_open(git, base, path, budget, ret_repo, err);
}

/* A git directory beside a working tree looks like a bare repository, and only its configuration
 * says that it is none. */
static int open_bare(struct al_git *git, const char *base, const char *path,
                     const struct al_path *resolved, struct al_run_limits *budget,
                     struct al_repo **ret_repo, struct al_error *err)
{
    struct al_repo *repo = NULL;
    int r;

    if (al_path_has_dot_git(resolved->abs))
        return wrong_kind(path, "the git directory of a working tree", "local", err);
    r = al_repo_open_at(git, base, resolved->abs, budget, &repo, err);
    if (r < 0)
        return r;
    if (!al_location_is_bare(&repo->at) || !repo->vetting->says_bare) {
        al_repo_free(repo);
        return wrong_kind(path, "no bare repository", "local", err);
    }
    *ret_repo = repo;
    return 0;
}

static const struct type types[] = {
    [AL_TARGET_LOCAL] = { "local", true, open_local },
    [AL_TARGET_LOCAL_BARE] = { "local-bare", true, open_bare },
    [AL_TARGET_GITHUB] = { "github", false, NULL },
};

const char *al_target_type_name(int type)
{
    return types[type].name;
}

static int check_member(const char *param, const char *name, const char *value, bool wanted,
                        const char *type, struct al_error *err)
{
    if (wanted && (!value || !*value))
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s.%s is required for type '%s'", param, name,
                            type);
    if (!wanted && value)
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s.%s does not go with type '%s'", param, name,
                            type);
    return 0;
}

int al_target_check(const struct al_target *target, const char *param, struct al_error *err)
{
    const struct type *type = &types[target->type];
    al_auto(al_freep) char *branch = al_asprintf("%s.branch", param);
    al_auto(al_freep) char *repo = al_asprintf("%s.repo", param);
    int r = check_member(param, "path", target->path, type->has_path, type->name, err);

    if (r == 0)
        r = check_member(param, "repo", target->repo, !type->has_path, type->name, err);
    if (r == 0 && target->repo)
        r = al_github_check_repo(repo, target->repo, err);
    if (r == 0 && target->branch)
        r = al_landing_check_name(branch, target->branch, err);
    return r;
}

char *al_target_shown(const struct al_target *target)
{
    const struct type *type = &types[target->type];
    const char *place = type->has_path ? target->path : target->repo;
    al_auto(al_freep) char *safe = al_text_sanitize_shown_line(place ? place : "");

    return al_asprintf("%s:%s", type->name, safe);
}

char *al_target_key(const struct al_target *target, const struct al_repo *repo)
{
    const struct type *type = &types[target->type];
    const char *top = !repo ? "" : repo->asked_top ? repo->asked_top : repo->at.top;
    char *key = al_asprintf("%s:%s", type->name, type->has_path ? top : target->repo);

    for (char *at = key; !type->has_path && *at; at++) /* GitHub's names have no case */
        *at = (char)(*at >= 'A' && *at <= 'Z' ? *at + ('a' - 'A') : *at);
    return key;
}

/* The roots that targets may lie in, whatever is at this place. */
static void add_roots(const struct al_roots *roots, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;
    char *message;

    for (size_t i = 0; i < roots->count; i++)
        if (!al_root_is_released(&roots->items[i]))
            al_strv_add(&paths, roots->items[i].path);
    al_text_add_list(&list, &paths, ROOTS_MAX);
    message = al_asprintf("%s (targets lie in the roots: %s)", err->message, list.buf);
    free(err->message);
    err->message = message;
}

int al_target_open(struct al_git *git, const char *base, const struct al_target *target,
                   struct al_run_limits *budget, struct al_repo **ret_repo, struct al_error *err)
{
    al_auto(al_path_clear) struct al_path resolved = AL_PATH_INIT;
    int r = al_path_resolve(git->roots, base, target->path, &resolved, err);

    if (r == AL_ERR_SANDBOX && err)
        add_roots(git->roots, err);
    return r < 0 ? r
                 : types[target->type].open(git, base, target->path, &resolved, budget, ret_repo,
                                            err);
}

static int fetch(struct al_mirror *mirror, const char *branch, struct al_error *err)
{
    bool found = false;
    int r = al_mirror_fetch(mirror, branch, &found, err);

    return r < 0 || found ? r : al_mirror_fetch(mirror, NULL, &found, err);
}

int al_target_open_github(struct al_git *git, const struct al_github_request *request,
                          struct al_run_limits *budget, struct al_repo **ret_repo,
                          struct al_error *err)
{
    const struct al_target *target = request->target;
    al_auto(al_mirror_freep) struct al_mirror *mirror = NULL;
    al_auto(al_freep) char *address = al_github_address(request->base_url, target->repo);
    al_auto(al_freep) char *shown = al_target_shown(target);
    int r = al_mirror_new(git, address, request->progress, budget, &mirror, err);

    if (r == 0 && !request->only_names)
        r = fetch(mirror, target->branch, err);
    if (r < 0)
        return r;
    *ret_repo = al_mirror_to_repo(al_take(&mirror), shown);
    return 0;
}

int al_target_bring(const struct al_repo *repo, const struct al_strv *oids, struct al_error *err)
{
    return repo->mirror ? al_mirror_fetch_blobs(repo->mirror, oids, err) : 0;
}

static int find_head_branch(const struct al_target *target, const struct al_repo *repo,
                            char **ret_ref, struct al_error *err)
{
    static const char mark[] = "ref: ";
    al_auto(al_freep) char *head = al_ref_read_head(&repo->at);
    al_auto(al_freep) char *shown = NULL;

    if (head && al_starts_with(head, mark) && al_starts_with(head + strlen(mark), AL_HEADS)) {
        *ret_ref = al_strdup(head + strlen(mark));
        return 0;
    }
    shown = al_target_shown(target);
    return al_error_set(err, AL_ERR_EXECUTION,
                        "No branch is checked out in %s (HEAD is detached); give target.branch",
                        shown);
}

int al_target_branch(const struct al_target *target, const struct al_repo *repo, char **ret_ref,
                     struct al_error *err)
{
    al_auto(al_freep) char *ref = NULL;
    int r = 0;

    if (target->branch)
        ref = al_asprintf(AL_HEADS "%s", target->branch);
    else
        r = find_head_branch(target, repo, &ref, err);
    if (r == 0)
        r = al_landing_check_direct(repo, ref, err);
    if (r == 0)
        *ret_ref = al_take(&ref);
    return r;
}

int al_target_go_to_branch(const struct al_target *target, struct al_repo **repo,
                           struct al_error *err)
{
    al_auto(al_freep) char *ref = NULL;
    struct al_repo *other = NULL;
    int r;

    if (target->type != AL_TARGET_LOCAL || !target->branch ||
        al_target_branch(target, *repo, &ref, NULL) < 0 || !al_ref_exists(&(*repo)->at, ref))
        return 0;
    r = al_landing_open_worktree(*repo, target->branch, &other, err);
    if (r == AL_ERR_SANDBOX || r == AL_ERR_EXECUTION) { /* it is refused later */
        if (err)
            al_error_clear(err);
        return 0;
    }
    if (r < 0 || !other)
        return r;
    if (!al_landing_is_checked_out(other, ref)) {
        al_repo_free(other);
        return 0;
    }
    other->asked_top = al_strdup((*repo)->at.top);
    al_repo_free(*repo);
    *repo = other;
    return 0;
}
