// SPDX-License-Identifier: Apache-2.0
#include "gitops/verbs.h"

#include <inttypes.h>
#include <stdlib.h>

#include "gitops/diffargs.h"

int al_git_diff_add_args(const struct al_repo *repo, const struct al_diff_options *options,
                         struct al_budget *budget, struct al_strv *argv, struct al_error *err)
{
    if (options->cached)
        al_strv_add(argv, "--cached");
    if (options->unified >= 0)
        al_strv_addf(argv, "-U%" PRId64, options->unified);
    al_strv_adds(argv, "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", NULL);
    if (options->from_ref)
        al_strv_add(argv, options->from_ref);
    if (options->to_ref)
        al_strv_add(argv, options->to_ref);
    /* Always, so that a word is never taken for a revision and git never compares two plain files.
     */
    al_strv_add(argv, "--");
    for (size_t i = 0; options->paths && i < options->paths->count; i++) {
        char *spec;
        int r = al_repo_pathspec(repo, "paths", options->paths->items[i], budget, &spec, err);

        if (r < 0)
            return r;
        al_strv_take(argv, spec);
    }
    return 0;
}

int al_git_diff(const struct al_repo *repo, const struct al_diff_options *options, size_t max_bytes,
                struct al_budget *budget, struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    int r;

    command.show_controls = options->show_controls;
    al_strv_adds(&command.argv, "git", "diff", NULL);
    if (options->name_only)
        al_strv_add(&command.argv, "--name-only");
    else if (options->stat)
        al_strv_add(&command.argv, "--stat");
    r = al_git_diff_add_args(repo, options, budget, &command.argv, err);
    if (r < 0)
        return r;
    return al_git_run_checked(repo, &command, max_bytes, budget, ret_output, err);
}

int al_git_diff_excerpt(const struct al_repo *repo, const struct al_diff_options *options,
                        struct al_budget *budget, struct al_str *out, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output diff = { .exit_code = -1 };
    struct al_diff_options shown = *options;
    int r;

    shown.show_controls = true;
    r = al_git_diff(repo, &shown, AL_GIT_EXCERPT_MAX_BYTES, budget, &diff, err);
    if (r == 0)
        al_text_add_excerpt(out, diff.out.out.buf, diff.out.out.len, diff.stopped);
    return r;
}
