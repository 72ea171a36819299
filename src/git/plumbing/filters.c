// SPDX-License-Identifier: Apache-2.0
#include "git/plumbing/filters.h"

#include <stdlib.h>
#include <unistd.h>

#include "git/command.h"
#include "git/location.h"
#include "git/plumbing/batch.h"
#include "git/plumbing/scratch_index.h"
#include "git/repo/git.h"
#include "git/run.h"
#include "git/vet/vet.h"
#include "guard/text.h"

static void take_names(const struct al_repo *repo, const struct al_strv *files,
                       struct al_strv *names)
{
    for (size_t i = 0; i < files->count; i++) {
        const char *file = files->items[i];
        const char *below = *file == '/' ? al_location_worktree_name(&repo->at, file) : file;

        if (below)
            al_strv_add(names, below);
    }
}

int al_git_check_files(const struct al_repo *repo, const struct al_strv *files,
                       struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    take_names(repo, files, &names);
    return al_git_check_filters(repo, &names, NULL, err);
}

/* Whether there are untracked attribute files: a checkout reads them where the target has none. */
static int has_loose_attributes(const struct al_repo *repo, bool *ret_has, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_strv_clear) struct al_strv found = AL_STRV_INIT;
    int r;

    al_strv_adds(&command.argv, "git", "-C", repo->at.top, "ls-files", "-z", "--others", "--",
                 ".gitattributes", "*/.gitattributes", NULL);
    r = al_git_list_paths(repo, &command, &found, err);
    *ret_has = found.count > 0;
    return r;
}

struct attribute_check {
    const struct al_strv *drivers;
    struct al_strv *all; /* gets every path that goes through a driver; NULL: one is enough */
    char *path, *driver; /* the first path that goes through a driver, and the driver */
};

/* check-attr -z prints "path NUL attribute NUL value NUL". */
static bool check_attribute(void *payload, char *const *fields)
{
    struct attribute_check *check = payload;

    if (check->path || !al_strv_contains(check->drivers, fields[2]))
        return true;
    if (check->all) {
        al_strv_add(check->all, fields[0]);
        return true;
    }
    check->path = al_strdup(fields[0]);
    check->driver = al_strdup(fields[2]);
    return false;
}

static int refuse(const struct attribute_check *check, const char *attribute, struct al_error *err)
{
    al_auto(al_freep) char *path = al_text_sanitize_line(check->path);
    al_auto(al_freep) char *driver = al_text_sanitize_line(check->driver);

    (void)al_error_set(err, AL_ERR_EXECUTION,
                       "'%s' goes through the %s '%s', a program airlock does not run; do this "
                       "one with git itself",
                       path, !strcmp(attribute, "filter") ? "filter" : "merge driver", driver);
    return al_error_about(AL_ERR_EXECUTION, err, AL_SUBJECT_FILTER, NULL);
}

static int check_attributes(const struct al_repo *repo, const struct al_strv *paths,
                            const char *attribute, const struct al_strv *drivers, const char *index,
                            struct al_strv *all, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str input = AL_STR_INIT;
    struct attribute_check check = { .drivers = drivers, .all = all };
    int r;

    for (size_t i = 0; i < paths->count; i++)
        al_str_add(&input, paths->items[i], strlen(paths->items[i]) + 1);
    al_git_command_feed(&command, &input);
    command.index = index;
    al_strv_adds(&command.argv, "git", "-C", repo->at.top, "check-attr", NULL);
    if (index)
        al_strv_add(&command.argv, "--cached");
    al_strv_adds(&command.argv, "-z", "--stdin", attribute, NULL);
    r = al_git_read_records(&repo->at, &command, 3, check_attribute, &check, err);
    if (r == 0 && check.path)
        r = refuse(&check, attribute, err);
    free(check.path);
    free(check.driver);
    return r;
}

static int check_attributes_of_tree(const struct al_repo *repo, const struct al_strv *paths,
                                    const char *attribute, const struct al_strv *drivers,
                                    const char *tree, struct al_error *err)
{
    al_auto(al_freep) char *index = al_git_private_name(repo->at.git, "index");
    int r = al_index_read_tree(repo, index, (const char *const[]){ tree, NULL }, err);

    if (r == 0)
        r = check_attributes(repo, paths, attribute, drivers, index, NULL, err);
    (void)unlink(index);
    return r;
}

int al_git_check_filters(const struct al_repo *repo, const struct al_strv *paths, const char *tree,
                         struct al_error *err)
{
    const struct al_strv *filters = &repo->vetting->filters;
    bool of_files = !tree;
    int r = 0;

    if (!filters->count || !paths->count)
        return 0;
    if (tree)
        r = check_attributes_of_tree(repo, paths, "filter", filters, tree, err);
    if (r == 0 && tree)
        r = has_loose_attributes(repo, &of_files, err);
    if (r == 0 && of_files)
        r = check_attributes(repo, paths, "filter", filters, NULL, NULL, err);
    return r;
}

int al_git_filtered_files(const struct al_repo *repo, const struct al_strv *files,
                          struct al_strv *ret_names, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    if (!repo->vetting->filters.count)
        return 0;
    take_names(repo, files, &names);
    return check_attributes(repo, &names, "filter", &repo->vetting->filters, NULL, ret_names, err);
}

int al_git_check_filters_between(const struct al_repo *repo, const char *from, const char *to,
                                 struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    int r;

    if (!repo->vetting->filters.count)
        return 0;
    r = al_git_list_changed(repo, from, to, &paths, err);
    return r < 0 ? r : al_git_check_filters(repo, &paths, to ? to : from, err);
}

int al_git_check_merge_drivers(const struct al_repo *repo, const struct al_strv *paths,
                               const char *tree, struct al_error *err)
{
    const struct al_strv *drivers = &repo->vetting->merge_drivers;
    int r;

    if (!drivers->count || !paths->count)
        return 0;
    r = check_attributes(repo, paths, "merge", drivers, NULL, NULL, err);
    if (r == 0 && tree)
        r = check_attributes_of_tree(repo, paths, "merge", drivers, tree, err);
    return r;
}
