// SPDX-License-Identifier: Apache-2.0
#include "gitops/sequencer/resolve_plan.h"

#include <errno.h>
#include <fcntl.h>

#include "gitops/layer.h"
#include "gitops/location.h"
#include "gitops/plumbing/filters.h"
#include "gitops/sequencer/conflict.h"
#include "guard/gitdir.h"
#include "guard/nofollow.h"
#include "guard/path.h"
#include "guard/root.h"
#include "util/fs.h"

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

static int check_content(const struct al_repo *repo, const struct al_resolve_plan *plan,
                         const char *content, struct al_run_limits *budget, struct al_error *err)
{
    const struct al_conflict *conflict = plan->conflict;
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    size_t marker_size;
    int r;

    for (size_t i = AL_STAGE_OURS; i <= AL_STAGE_THEIRS; i++)
        if (al_side_is_link(&conflict->sides[i]) || al_side_is_submodule(&conflict->sides[i]))
            return al_resolve_refuse(
                conflict->path,
                "is a symbolic link or a submodule on one side; choose ours or theirs", err);
    al_strv_add(&paths, conflict->path);
    r = al_git_marker_sizes(repo, &paths, budget, &marker_size, err);
    if (r < 0 || plan->keeps_conflict ||
        !al_conflict_has_markers(content, strlen(content), marker_size))
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

/* The file on disk, if it is one, must have no markers. */
static int check_disk(int top, const char *path, size_t marker_size, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_freep) char *word = al_text_sanitize_line(path);
    al_auto(al_closep) int fd = al_nofollow_open(top, path, O_RDONLY);
    int r;

    if (fd < 0 || al_fs_read_fd(fd, AL_RESOLVE_MAX_BYTES, &text) < 0 ||
        !al_conflict_has_markers(text.buf, text.len, marker_size))
        return 0;
    r = al_error_set_code(err, AL_ERR_BAD_ARGS, AL_CODE_CONFLICT,
                          "'%s' still has conflict markers on disk", word);
    if (err)
        err->reason = "conflict";
    return r;
}

int al_git_check_no_markers(const struct al_repo *repo, const struct al_strv *paths,
                            struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_freep) size_t *sizes = al_calloc(paths->count, sizeof(*sizes));
    al_auto(al_closep) int top = -1;
    int r = paths->count ? al_git_marker_sizes(repo, paths, budget, sizes, err) : 0;

    if (r == 0 && paths->count)
        r = al_location_open_top(&repo->at, &top, err);
    for (size_t i = 0; r == 0 && i < paths->count; i++)
        r = check_disk(top, paths->items[i], sizes[i], err);
    return r;
}

static int check_plan_disk(const struct al_repo *repo, const char *path,
                           struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;

    al_strv_add(&paths, path);
    return al_git_check_no_markers(repo, &paths, budget, err);
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
    plan->keeps_disk = options->how == AL_RESOLVE_DISK;
    plan->keeps_conflict = options->how == AL_RESOLVE_PARTLY;
    if (options->how == AL_RESOLVE_CONTENT || options->how == AL_RESOLVE_PARTLY)
        r = check_content(repo, plan, options->content, budget, err);
    else if (options->how == AL_RESOLVE_DISK)
        r = check_plan_disk(repo, plan->conflict->path, budget, err);
    else
        plan->side =
            &plan->conflict
                 ->sides[options->how == AL_RESOLVE_OURS ? AL_STAGE_OURS : AL_STAGE_THEIRS];
    if (r == 0)
        r = check_parents(repo, plan->conflict->path, err);
    return r < 0 ? r : check_filters(repo, plan->conflict, budget, err);
}
