// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "gitops/records.h"
#include "gitops/verbs.h"
#include "gitops/vet.h"

/* NUL-separated pathspecs for --pathspec-from-file: no limit of the command line applies. */
static int pathspecs(const struct al_repo *repo, const struct al_strv *paths,
                     struct al_budget *budget, struct al_str *ret_list, struct al_error *err)
{
    for (size_t i = 0; i < paths->count; i++) {
        al_auto(al_freep) char *spec = NULL;
        int r = al_repo_pathspec(repo, "paths", paths->items[i], budget, &spec, err);

        if (r < 0)
            return r;
        al_str_add(ret_list, spec, strlen(spec) + 1);
    }
    return 0;
}

/* What `git add` would read: one NUL-terminated path each, relative to the top. */
static int candidates(const struct al_repo *repo, const struct al_add_options *options,
                      struct al_budget *budget, struct al_buffer *ret_list, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    al_strv_adds(&command.argv, "git", "ls-files", "-z", "--full-name", "--modified", NULL);
    if (options->mode != AL_ADD_UPDATE)
        al_strv_adds(&command.argv, "--others", "--exclude-standard", NULL);
    al_strv_add(&command.argv, "--");
    if (options->mode != AL_ADD_PATHS)
        al_strv_add(&command.argv, ":/");
    for (size_t i = 0; options->mode == AL_ADD_PATHS && i < options->paths->count; i++) {
        char *spec;

        r = al_repo_pathspec(repo, "paths", options->paths->items[i], budget, &spec, err);
        if (r < 0)
            return r;
        al_strv_take(&command.argv, spec);
    }
    r = al_git_run_sink(repo, &command, al_buffer_sink(ret_list), budget, &output, err);
    if (r < 0)
        return r;
    if (output.stopped)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "Too many files to check for filters at once; add fewer paths");
    return output.exit_code != 0 ? al_git_failed(&output, err) : 0;
}

struct attribute_check {
    const struct al_strv *filters;
    char *path, *filter; /* the first that would be filtered */
};

/* check-attr -z prints "path NUL attribute NUL value NUL". */
static bool take_attribute(void *payload, char *const *fields)
{
    struct attribute_check *check = payload;

    if (check->path || !al_strv_contains(check->filters, fields[2]))
        return true;
    check->path = al_strdup(fields[0]);
    check->filter = al_strdup(fields[2]);
    return false;
}

static int check_attributes(const struct al_repo *repo, const struct al_buffer *list,
                            struct al_budget *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    struct attribute_check check = { .filters = &repo->vetting->filters };
    al_auto(al_records_clear) struct al_records records =
        AL_RECORDS_INIT(3, take_attribute, &check);
    int r;

    command.input = list->data;
    command.input_len = list->len;
    al_strv_adds(&command.argv, "git", "-C", NULL);
    al_strv_add(&command.argv, repo->top);
    al_strv_adds(&command.argv, "check-attr", "-z", "--stdin", "filter", NULL);
    r = al_git_run_sink(repo, &command, (struct al_sink){ al_records_add, &records }, budget,
                        &output, err);
    if (r == 0 && check.path) {
        al_auto(al_freep) char *path = al_text_word(check.path);
        al_auto(al_freep) char *filter = al_text_word(check.filter);

        r = al_error_set(err, AL_ERR_EXECUTION,
                         "'%s' goes through the filter '%s', a program airlock does not run; stage "
                         "it yourself with git add",
                         path, filter);
    } else if (r == 0 && output.exit_code != 0) {
        r = al_git_failed(&output, err);
    }
    free(check.path);
    free(check.filter);
    return r;
}

#define CANDIDATES_MAX_BYTES (8u << 20)

int al_git_add_check(const struct al_repo *repo, const struct al_add_options *options,
                     struct al_budget *budget, struct al_error *err)
{
    struct al_buffer list = { .max_bytes = CANDIDATES_MAX_BYTES };
    int r;

    if (!repo->vetting->filters.count)
        return 0;
    r = candidates(repo, options, budget, &list, err);
    if (r == 0 && list.len)
        r = check_attributes(repo, &list, budget, err);
    al_buffer_clear(&list);
    return r;
}

int al_git_add(struct al_repo *repo, const struct al_add_options *options, size_t max_bytes,
               struct al_budget *budget, struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;
    int r;

    command.class = AL_GIT_WRITE;
    command.starts_children = al_repo_may_have_gitlinks(repo);
    al_strv_adds(&command.argv, "git", "add", NULL);
    if (options->mode == AL_ADD_ALL) {
        al_strv_add(&command.argv, "-A");
    } else if (options->mode == AL_ADD_UPDATE) {
        al_strv_add(&command.argv, "-u");
    } else {
        r = pathspecs(repo, options->paths, budget, &list, err);
        if (r < 0)
            return r;
        al_strv_adds(&command.argv, "--pathspec-from-file=-", "--pathspec-file-nul", NULL);
        command.input = list.buf;
        command.input_len = list.len;
    }
    return al_git_run_writer(repo, &command, max_bytes, budget, ret_output, err);
}

static bool count_record(void *payload, char *const *fields)
{
    (void)fields;
    ++*(uint64_t *)payload;
    return true;
}

int al_git_count_staged(const struct al_repo *repo, struct al_budget *budget, uint64_t *ret_count,
                        struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    uint64_t count = 0;
    al_auto(al_records_clear) struct al_records records = AL_RECORDS_INIT(1, count_record, &count);
    int r;

    al_strv_adds(&command.argv, "git", "diff", "--cached", "--name-only", "-z", "--no-ext-diff",
                 "--no-textconv", "--ignore-submodules=dirty", "--", NULL);
    r = al_git_run_sink(repo, &command, (struct al_sink){ al_records_add, &records }, budget,
                        &output, err);
    if (r == 0 && output.exit_code != 0)
        r = al_git_failed(&output, err);
    if (r == 0)
        *ret_count = count;
    return r;
}
