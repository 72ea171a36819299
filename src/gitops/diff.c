// SPDX-License-Identifier: Apache-2.0
#include "gitops/verbs.h"

#include <inttypes.h>

#include "gitops/batch.h"
#include "gitops/diffargs.h"

/* All words but the paths. */
static void add_options(const struct al_diff_options *options, struct al_strv *argv)
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
}

static int resolve(const struct al_repo *repo, const struct al_diff_options *options,
                   struct al_budget *budget, struct al_str *words, struct al_error *err)
{
    return options->paths ? al_repo_pathspecs(repo, options->paths, budget, words, err) : 0;
}

/* One diff is one git: the widths of --stat and the order of files are about all of it. */
int al_git_diff_add_args(const struct al_repo *repo, const struct al_diff_options *options,
                         struct al_budget *budget, struct al_strv *argv, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    size_t at = 0;
    int r = resolve(repo, options, budget, &words, err);

    if (r < 0)
        return r;
    add_options(options, argv);
    if (al_batch_add(argv, &words, &at))
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "paths: more than one git diff takes; name fewer, or their directory");
    return 0;
}

int al_git_diff(const struct al_repo *repo, const struct al_diff_options *options, size_t max_bytes,
                struct al_budget *budget, struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
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

/* The diff of as many paths as one git takes, from *at on. */
static int add_diff(const struct al_repo *repo, const struct al_diff_options *options,
                    const struct al_str *words, size_t *at, struct al_budget *budget,
                    struct al_str *diff, bool *ret_more, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    bool left;
    int r;

    command.show_controls = true;
    al_strv_adds(&command.argv, "git", "diff", NULL);
    add_options(options, &command.argv);
    left = al_batch_add(&command.argv, words, at);
    r = al_git_run_checked(repo, &command, AL_GIT_EXCERPT_MAX_BYTES - diff->len, budget, &output,
                           err);
    if (r < 0)
        return r;
    al_str_add(diff, output.out.out.buf, output.out.out.len);
    *ret_more = left || output.stopped;
    return 0;
}

int al_git_diff_excerpt(const struct al_repo *repo, const struct al_diff_options *options,
                        struct al_budget *budget, struct al_str *out, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str diff = AL_STR_INIT;
    size_t at = 0;
    bool more = false;
    int r = resolve(repo, options, budget, &words, err);

    do {
        if (r == 0)
            r = add_diff(repo, options, &words, &at, budget, &diff, &more, err);
    } while (r == 0 && at < words.len && diff.len < AL_GIT_EXCERPT_MAX_BYTES);
    if (r == 0)
        al_text_add_excerpt(out, diff.buf, diff.len, more);
    return r;
}
