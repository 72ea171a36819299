// SPDX-License-Identifier: Apache-2.0
#include "git/diff/diff.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"
#include "git/command.h"
#include "git/diff/hunks.h"
#include "git/plumbing/batch.h"
#include "git/repo/repo.h"
#include "git/run.h"

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

/* A diff is not split over several git children: the column widths of --stat and the order of the
 * files cover the whole diff. */
int al_git_diff_add_args(const struct al_repo *repo, const struct al_diff_options *options,
                         struct al_strv *argv, struct al_error *err)
{
    al_git_diff_add_options(options, argv);
    return al_batch_add_all(repo, options->paths, "diff", argv, err);
}

int al_git_diff(const struct al_repo *repo, const struct al_diff_options *options, size_t max_bytes,
                struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    int r;

    command.show_controls = options->show_controls;
    al_strv_adds(&command.argv, "git", "diff", NULL);
    if (options->name_only)
        al_strv_add(&command.argv, "--name-only");
    else if (options->stat)
        al_strv_add(&command.argv, "--stat");
    r = al_git_diff_add_args(repo, options, &command.argv, err);
    if (r < 0)
        return r;
    return al_git_run_checked(&repo->at, &command, max_bytes, ret_output, err);
}

/* --- Read the hunks --- */

/* A conflicted file is listed twice in a row. */
static int count_files(const struct al_repo *repo, const struct al_diff_options *options,
                       size_t *ret_files, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    int r;

    al_strv_adds(&command.argv, "git", "diff", "--name-only", "-z", NULL);
    r = al_git_diff_add_args(repo, options, &command.argv, err);
    if (r == 0)
        r = al_git_read_records(&repo->at, &command, 1, al_nul_records_list, &names, err);
    if (r == 0)
        *ret_files = 0;
    for (size_t i = 0; r == 0 && i < names.count; i++)
        *ret_files += !i || strcmp(names.items[i], names.items[i - 1]) != 0;
    return r;
}

int al_git_read_diff(const struct al_repo *repo, const struct al_diff_options *options,
                     size_t max_bytes, struct al_hunks *hunks, struct al_str *ret_text,
                     bool *ret_truncated, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_buffer_clear) struct al_buffer patch = AL_BUFFER_INIT(max_bytes + 1);
    int r;

    al_strv_adds(&command.argv, "git", "diff", "--src-prefix=" AL_HUNKS_OLD_PREFIX,
                 "--dst-prefix=" AL_HUNKS_NEW_PREFIX, NULL);
    r = al_git_diff_add_args(repo, options, &command.argv, err);
    if (r == 0)
        r = al_git_read(&repo->at, &command, al_buffer_sink(&patch), err);
    if (r < 0)
        return r;
    *ret_truncated = patch.text.len > max_bytes;
    if (*ret_truncated)
        al_str_truncate(&patch.text, al_utf8_floor(patch.text.buf, max_bytes));
    al_hunks_add(hunks, patch.text.buf, patch.text.len);
    al_hunks_end(hunks);
    al_str_add(ret_text, patch.text.buf, patch.text.len);
    return *ret_truncated ? count_files(repo, options, &hunks->files, err) : 0;
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
