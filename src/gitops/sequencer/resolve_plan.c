// SPDX-License-Identifier: Apache-2.0
#include "gitops/sequencer/resolve_plan.h"

#include <errno.h>

#include "gitops/layer.h"
#include "gitops/location.h"
#include "gitops/plumbing/filters.h"
#include "gitops/sequencer/conflict_hunks.h"
#include "guard/gitdir.h"
#include "guard/nofollow.h"
#include "guard/path.h"
#include "guard/root.h"

void al_resolve_plan_clear(struct al_resolve_plan *plan)
{
    al_conflicts_clear(&plan->conflicts);
}

int al_resolve_refuse(const char *path, const char *why, struct al_error *err)
{
    al_auto(al_freep) char *word = al_text_sanitize_line(path);

    return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_OPERATION_FAILED, "'%s' %s", word, why);
}

/* The directory must be inside the roots. The last component may be a link to anywhere: it is
 * replaced, never followed. */
static int check_inside(const struct al_repo *repo, const char *given, struct al_error *err)
{
    const char *slash = strrchr(given, '/');
    al_auto(al_freep) char *parent = al_strndup(given, slash ? (size_t)(slash - given) + 1 : 0);
    al_auto(al_freep) char *word = al_text_sanitize_line(given);
    al_auto(al_path_clear) struct al_path path = AL_PATH_INIT;

    if (al_path_has_dot_git(given))
        return al_error_set_code(err, AL_ERR_SANDBOX, AL_CODE_PROTECTED_PATH, "Protected path: %s",
                                 word);
    if (!strcmp(slash ? slash + 1 : given, "..") ||
        al_path_resolve(repo->at.git->roots, repo->at.top, *parent ? parent : ".", &path, NULL) < 0)
        return al_error_set(err, AL_ERR_SANDBOX, "Path outside sandbox: %s", word);
    return 0;
}

const char *al_resolve_top_path(const struct al_repo *repo, const char *given)
{
    size_t len = strlen(repo->at.top);

    if (!strncmp(given, repo->at.top, len) && given[len] == '/')
        given += len + 1;
    while (al_starts_with(given, "./"))
        given += 2;
    return given;
}

static int check_content(const struct al_repo *repo, const struct al_conflict_file *file,
                         const char *content, struct al_run_limits *budget, struct al_error *err)
{
    bool has_markers;
    int r = al_git_has_markers(repo, file, content, budget, &has_markers, err);

    if (r < 0 || !has_markers)
        return r;
    r = al_error_set_code(err, AL_ERR_BAD_ARGS, AL_CODE_CONFLICT,
                          "content still has conflict markers");
    if (err) {
        err->reason = "conflict";
        err->remedy = "Give the whole file as it is to be, without the lines that begin with "
                      "<<<<<<<, ||||||| or >>>>>>>.";
    }
    return r;
}

static int check_disk(const struct al_conflict_file *file, struct al_error *err)
{
    al_auto(al_freep) char *word = al_text_sanitize_line(file->conflict->path);

    if (!file->has_markers)
        return 0;
    (void)al_error_set_code(err, AL_ERR_BAD_ARGS, AL_CODE_CONFLICT,
                            "'%s' still has conflict markers on disk", word);
    if (err)
        err->reason = "conflict";
    return AL_ERR_BAD_ARGS;
}

int al_git_check_no_markers(const struct al_repo *repo, const struct al_conflict *conflict,
                            struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_conflict_file_clear) struct al_conflict_file file = AL_CONFLICT_FILE_INIT;
    int r = al_git_conflict_files(repo, conflict, 1, budget, &file, err);

    return r < 0 ? r : check_disk(&file, err);
}

static int check_how(const struct al_repo *repo, const struct al_resolve_options *options,
                     struct al_run_limits *budget, struct al_resolve_plan *plan,
                     struct al_error *err)
{
    al_auto(al_conflict_file_clear) struct al_conflict_file file = AL_CONFLICT_FILE_INIT;
    const bool takes_side = options->how == AL_RESOLVE_OURS || options->how == AL_RESOLVE_THEIRS;
    int r = al_git_conflict_files(repo, plan->conflict, 1, budget, &file, err);

    plan->nested_size = file.nested_size;
    plan->keeps_disk = options->how == AL_RESOLVE_DISK;
    plan->keeps_conflict = options->how == AL_RESOLVE_PARTLY;
    if (takes_side)
        plan->side =
            &plan->conflict
                 ->sides[options->how == AL_RESOLVE_OURS ? AL_STAGE_OURS : AL_STAGE_THEIRS];
    if (r < 0 || takes_side)
        return r;
    if (plan->keeps_disk)
        return check_disk(&file, err);
    if (al_conflict_has_links(plan->conflict))
        return al_resolve_refuse(
            plan->conflict->path,
            "is a symbolic link or a submodule on one side; choose ours or theirs", err);
    return plan->keeps_conflict ? 0 : check_content(repo, &file, options->content, budget, err);
}

static int check_filters(const struct al_repo *repo, const struct al_conflict *conflict,
                         struct al_run_limits *budget, struct al_error *err)
{
    const struct al_buffer list = { .data = conflict->path, .len = strlen(conflict->path) + 1 };

    return al_git_check_filters(repo, &list, NULL, budget, err);
}

/* Fail unless every parent of the path is a directory, or missing. */
static int check_parents(const struct al_repo *repo, const char *path, struct al_error *err)
{
    al_auto(al_closep) int top = -1;
    al_auto(al_closep) int parent = -1;
    const char *name;
    int r = al_location_open_top(&repo->at, &top, err);

    if (r < 0)
        return r;
    parent = al_nofollow_open_parent(top, path, false, &name);
    if (parent >= 0 || parent == -ENOENT)
        return 0;
    return al_resolve_refuse(path, "lies behind a symbolic link or something that is no directory",
                             err);
}

int al_git_plan_resolve(const struct al_repo *repo, const struct al_resolve_options *options,
                        struct al_run_limits *budget, struct al_resolve_plan *plan,
                        struct al_error *err)
{
    int r = check_inside(repo, options->path, err);

    if (r == 0)
        r = al_git_conflicts(repo, budget, &plan->conflicts, err);
    if (r < 0)
        return r;
    plan->conflict = al_conflicts_find(&plan->conflicts, al_resolve_top_path(repo, options->path));
    if (!plan->conflict) {
        r = al_resolve_refuse(options->path, "is not in conflict", err);
        if (err) {
            err->reason = "not_found";
            err->remedy = "See git_conflict_info for the files that are.";
        }
        return r;
    }
    r = check_how(repo, options, budget, plan, err);
    if (r == 0)
        r = check_parents(repo, plan->conflict->path, err);
    return r < 0 ? r : check_filters(repo, plan->conflict, budget, err);
}
