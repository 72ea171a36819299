// SPDX-License-Identifier: Apache-2.0
#include "gitops/porcelain/status.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>

#include "gitops/command.h"
#include "gitops/failure.h"
#include "gitops/layer.h"
#include "gitops/nul_records.h"
#include "gitops/plumbing/blame_check.h"
#include "gitops/porcelain/parse.h"
#include "gitops/refs.h"
#include "gitops/repo/repo.h"
#include "gitops/run.h"
#include "gitops/vet/vet.h"
#include "guard/root.h"

int al_git_status(const struct al_repo *repo, const struct al_status_options *options,
                  size_t max_bytes, struct al_run_limits *budget, struct al_git_output *ret_output,
                  struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;

    command.lists_untracked = options->untracked;
    al_strv_adds(&command.argv, "git", "status", NULL);
    if (options->porcelain) {
        al_strv_add(&command.argv, "--porcelain=1");
        if (options->branch)
            al_strv_add(&command.argv, "-b");
    }
    if (!options->untracked)
        al_strv_add(&command.argv, "-uno");
    al_strv_add(&command.argv, "--ignore-submodules=dirty");
    return al_git_run(&repo->at, &command,
                      &(struct al_git_run){ .max_bytes = max_bytes, .checked = true }, budget,
                      ret_output, err);
}

/* Set the branch name when HEAD is on none. git prints "(detached)" then, but a branch may have
 * that name too. */
static void name_branch(const struct al_repo *repo, struct al_worktree *status)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    if (status->branch && strcmp(status->branch, "(detached)") != 0)
        return;
    al_ref_head_branches(&repo->at, &names);
    free(status->branch);
    status->branch = al_strdup(names.items[0]);
}

int al_git_read_status(const struct al_repo *repo, size_t max_bytes, struct al_run_limits *budget,
                       struct al_worktree *status, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    struct al_status_reader reader;
    int r;

    command.lists_untracked = true;
    al_status_reader_init(&reader, status, max_bytes);
    al_strv_adds(&command.argv, "git", "status", "--porcelain=v2", "--branch", "--no-ahead-behind",
                 "-z", "--untracked-files=all", "--find-renames", "--ignore-submodules=dirty",
                 NULL);
    r = al_git_run(
        &repo->at, &command,
        &(struct al_git_run){ .sink = { al_nul_records_add, &reader.records }, .checked = true },
        budget, &output, err);
    al_nul_records_clear(&reader.records);
    if (r == 0)
        name_branch(repo, status);
    return r;
}

/* --- Blame --- */

int al_git_blame(const struct al_repo *repo, const struct al_blame_options *options,
                 size_t max_bytes, struct al_run_limits *budget, struct al_git_output *ret_output,
                 struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_freep) char *path = NULL;
    int r = al_git_blame_check(repo, err);

    if (r == 0)
        r = al_repo_file(repo, "path", options->path, &path, err);
    if (r < 0)
        return r;
    al_strv_adds(&command.argv, "git", "blame", "--no-textconv", NULL);
    if (options->start_line && options->end_line)
        al_strv_addf(&command.argv, "-L%" PRId64 ",%" PRId64, options->start_line,
                     options->end_line);
    else if (options->start_line)
        al_strv_addf(&command.argv, "-L%" PRId64 ",", options->start_line);
    else if (options->end_line)
        al_strv_addf(&command.argv, "-L1,%" PRId64, options->end_line);
    if (options->commit)
        al_strv_add(&command.argv, options->commit);
    al_strv_adds(&command.argv, "--", path, NULL);
    return al_git_run(&repo->at, &command,
                      &(struct al_git_run){ .max_bytes = max_bytes, .checked = true }, budget,
                      ret_output, err);
}

/* --- Show --- */

int al_git_show(const struct al_repo *repo, const struct al_show_options *options, size_t max_bytes,
                struct al_run_limits *budget, struct al_git_output *ret_output,
                struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;

    al_strv_adds(&command.argv, "git", "show", NULL);
    if (options->name_only)
        al_strv_add(&command.argv, "--name-only");
    else if (options->stat)
        al_strv_add(&command.argv, "--stat");
    if (options->format)
        al_strv_addf(&command.argv, "--format=%s", options->format);
    al_strv_adds(&command.argv, "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty",
                 "--no-show-signature", options->commit, "--", NULL);
    return al_git_run(&repo->at, &command,
                      &(struct al_git_run){ .max_bytes = max_bytes, .checked = true }, budget,
                      ret_output, err);
}

/* --- Log --- */

static void add_value(struct al_strv *argv, const char *option, const char *value)
{
    if (value)
        al_strv_addf(argv, "%s=%s", option, value);
}

static void add_filters(const struct al_log_options *options, struct al_strv *argv)
{
    add_value(argv, "--author", options->author);
    add_value(argv, "--since", options->since);
    add_value(argv, "--until", options->until);
    add_value(argv, "--grep", options->grep);
}

int al_git_log(const struct al_repo *repo, const struct al_log_options *options, size_t max_bytes,
               struct al_run_limits *budget, struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    struct al_strv *argv = &command.argv;
    al_auto(al_freep) char *spec = NULL;
    int r;

    al_strv_adds(argv, "git", "log", NULL);
    if (options->max_count > 0)
        al_strv_addf(argv, "--max-count=%" PRId64, options->max_count);
    if (options->format)
        add_value(argv, "--format", options->format);
    else if (options->oneline)
        al_strv_add(argv, "--oneline");
    add_filters(options, argv);
    al_strv_adds(argv, "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty",
                 "--no-show-signature", "--", NULL);
    if (options->path) {
        r = al_repo_pathspec(repo, "path", options->path, budget, &spec, err);
        if (r < 0)
            return r;
        al_strv_add(argv, spec);
    }
    return al_git_run(&repo->at, &command,
                      &(struct al_git_run){ .max_bytes = max_bytes, .checked = true }, budget,
                      ret_output, err);
}

int al_git_read_log(const struct al_repo *repo, const struct al_commits_options *options,
                    size_t max_bytes, struct al_run_limits *budget, struct al_commits *history,
                    struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_freep) char *spec = NULL;
    struct al_commits_reader reader;
    int r = 0;

    command.buffered = true;
    al_strv_adds(&command.argv, "git", "log", "-z", AL_COMMITS_FORMAT, "--encoding=UTF-8", NULL);
    al_strv_addf(&command.argv, "--max-count=%zu", options->limit + 1);
    if (options->author)
        al_strv_add(&command.argv, "--fixed-strings");
    add_value(&command.argv, "--author", options->author);
    add_value(&command.argv, "--since", options->since);
    add_value(&command.argv, "--until", options->until);
    al_strv_adds(&command.argv, "--no-patch", "--no-show-signature", "--", NULL);
    if (options->path)
        r = al_repo_pathspec(repo, "path", options->path, budget, &spec, err);
    if (r < 0)
        return r;
    if (spec)
        al_strv_add(&command.argv, spec);
    al_commits_reader_init(&reader, history, options->limit, max_bytes);
    r = al_git_run(&repo->at, &command,
                   &(struct al_git_run){ .sink = { al_nul_records_add, &reader.records } }, budget,
                   &output, err);
    al_nul_records_clear(&reader.records);
    if (r == 0 && !al_git_read_well(&output) && !al_ref_is_unborn(&repo->at))
        r = al_git_failed(&output, err);
    return r;
}

int al_git_read_message(const struct al_repo *repo, size_t max_bytes, struct al_run_limits *budget,
                        char **ret_message, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    struct al_buffer text = { .max_bytes = max_bytes };
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;
    int r;

    al_strv_adds(&command.argv, "git", "log", "--max-count=1", "--format=%B", "--encoding=UTF-8",
                 "--no-patch", "--no-show-signature", "HEAD", "--", NULL);
    r = al_git_run(&repo->at, &command, &(struct al_git_run){ .sink = al_buffer_sink(&text) },
                   budget, &output, err);
    if (r == 0 && !al_git_read_well(&output))
        r = al_git_failed(&output, err);
    al_str_add(&message, text.data ? text.data : "", text.len);
    al_buffer_clear(&text);
    if (r < 0)
        return r;
    al_str_trim_end(&message);
    *ret_message = al_str_detach(&message);
    return 0;
}
