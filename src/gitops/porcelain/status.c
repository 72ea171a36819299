// SPDX-License-Identifier: Apache-2.0
#include "gitops/porcelain/status.h"

#include <inttypes.h>
#include <stdlib.h>

#include "gitops/command.h"
#include "gitops/repo/repo.h"
#include "gitops/run.h"

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

int al_git_read_message(const struct al_repo *repo, size_t max_bytes, struct al_run_limits *budget,
                        char **ret_message, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    struct al_buffer text = { .max_bytes = max_bytes };
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;
    int r;

    al_strv_adds(&command.argv, "git", "log", "--max-count=1", "--format=%B", "--encoding=UTF-8",
                 "--no-patch", "--no-show-signature", "HEAD", "--", NULL);
    r = al_git_read(&repo->at, &command, al_buffer_sink(&text), budget, err);
    al_str_add(&message, text.data ? text.data : "", text.len);
    al_buffer_clear(&text);
    if (r < 0)
        return r;
    al_str_trim_end(&message);
    *ret_message = al_str_detach(&message);
    return 0;
}
