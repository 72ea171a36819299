// SPDX-License-Identifier: Apache-2.0
#include "gitops/diff/diff.h"

#include <inttypes.h>
#include <string.h>

#include "gitops/command.h"
#include "gitops/plumbing/batch.h"
#include "gitops/repo/repo.h"
#include "gitops/run.h"
#include "util/str.h"

void al_git_diff_add_options(const struct al_diff_options *options, struct al_strv *argv)
{
    if (options->cached)
        al_strv_add(argv, "--cached");
    if (options->unified >= 0)
        al_strv_addf(argv, "-U%" PRId64, options->unified);
    if (options->not_deleted)
        al_strv_add(argv, "--diff-filter=d");
    al_strv_adds(argv, "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", NULL);
    if (options->from_ref)
        al_strv_add(argv, options->from_ref);
    if (options->to_ref)
        al_strv_add(argv, options->to_ref);
    /* Always added: a path is then never taken for a revision, and git never compares two plain
     * files. */
    al_strv_add(argv, "--");
}

int al_git_diff_resolve(const struct al_repo *repo, const struct al_diff_options *options,
                        struct al_run_limits *budget, struct al_str *words, struct al_error *err)
{
    return options->paths ? al_repo_pathspecs(repo, options->paths, budget, words, err) : 0;
}

/* A diff is not split over several git children: the column widths of --stat and the order of the
 * files cover the whole diff. */
int al_git_diff_add_args(const struct al_repo *repo, const struct al_diff_options *options,
                         struct al_run_limits *budget, struct al_strv *argv, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    size_t at = 0;
    int r = al_git_diff_resolve(repo, options, budget, &words, err);

    if (r < 0)
        return r;
    al_git_diff_add_options(options, argv);
    if (al_batch_add(argv, &words, &at))
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "paths: more than one git diff takes; name fewer, or their directory");
    return 0;
}

int al_git_diff(const struct al_repo *repo, const struct al_diff_options *options, size_t max_bytes,
                struct al_run_limits *budget, struct al_git_output *ret_output,
                struct al_error *err)
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
    return al_git_run(&repo->at, &command,
                      &(struct al_git_run){ .max_bytes = max_bytes, .checked = true }, budget,
                      ret_output, err);
}

/* --- Ci files --- */

/* A name that ends with "/" is a directory at the top; the others are files in any directory. */
static const char *const names[] = {
    ".github/workflows/",
    ".github/actions/",
    ".gitea/workflows/",
    ".gitea/actions/",
    ".forgejo/workflows/",
    ".forgejo/actions/",
    ".gitlab-ci.yml",
    ".gitlab/ci/",
    ".circleci/",
    ".travis.yml",
    ".cirrus.yml",
    ".cirrus.star",
    ".drone.yml",
    ".drone.yaml",
    ".drone.star",
    ".drone.jsonnet",
    ".woodpecker/",
    ".woodpecker.yml",
    ".woodpecker.yaml",
    ".buildkite/",
    ".azure-pipelines/",
    ".azure-pipelines.yml",
    ".azure-pipelines.yaml",
    "azure-pipelines.yml",
    "azure-pipelines.yaml",
    ".appveyor.yml",
    "appveyor.yml",
    ".semaphore/",
    ".builds/",
    ".build.yml",
    ".tekton/",
    "bitbucket-pipelines.yml",
    "buildspec.yml",
    "cloudbuild.yaml",
    "Jenkinsfile",
};

bool al_path_runs_in_ci(const char *path)
{
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;

    for (size_t i = 0; i < AL_COUNT(names); i++)
        if (al_ends_with(names[i], "/") ? al_starts_with(path, names[i]) : !strcmp(file, names[i]))
            return true;
    return false;
}
