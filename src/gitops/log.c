// SPDX-License-Identifier: Apache-2.0
#include "gitops/verbs.h"

#include <inttypes.h>
#include <stdlib.h>

static void add_value(struct al_strv *argv, const char *option, const char *value)
{
    if (value)
        al_strv_addf(argv, "%s=%s", option, value);
}

int al_git_log(const struct al_repo *repo, const struct al_log_options *options, size_t max_bytes,
               struct al_budget *budget, struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
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
    add_value(argv, "--author", options->author);
    add_value(argv, "--since", options->since);
    add_value(argv, "--until", options->until);
    add_value(argv, "--grep", options->grep);
    al_strv_adds(argv, "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty",
                 "--no-show-signature", "--", NULL);
    if (options->path) {
        r = al_repo_pathspec(repo, "path", options->path, budget, &spec, err);
        if (r < 0)
            return r;
        al_strv_add(argv, spec);
    }
    return al_git_run_checked(repo, &command, max_bytes, budget, ret_output, err);
}
