// SPDX-License-Identifier: Apache-2.0
/* gitops/diff/ci_files.c: which files run in CI. */
#include "git/diff/diff.h"

#include "tests/lib/assert.h"

static void files_that_run(void **state)
{
    static const char *const paths[] = {
        ".github/workflows/ci.yml",
        ".github/actions/a/action.yml",
        ".gitea/workflows/x.yaml",
        ".forgejo/workflows/x.yaml",
        ".gitlab-ci.yml",
        "sub/.gitlab-ci.yml",
        ".circleci/config.yml",
        ".travis.yml",
        ".cirrus.yml",
        ".drone.yml",
        ".drone.star",
        ".woodpecker.yml",
        ".woodpecker.yaml",
        ".woodpecker/build.yml",
        ".buildkite/pipeline.yml",
        ".azure-pipelines/x.yml",
        ".azure-pipelines.yml",
        "azure-pipelines.yml",
        "azure-pipelines.yaml",
        "bitbucket-pipelines.yml",
        "deep/er/Jenkinsfile",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(paths); i++)
        if (!al_path_runs_in_ci(paths[i]))
            fail_msg("%s", paths[i]);
}

static void other_files(void **state)
{
    static const char *const paths[] = {
        "",
        "a.txt",
        ".github/CODEOWNERS",
        ".github/workflows",
        "sub/.github/workflows/ci.yml",
        ".gitea/issue_template.md",
        "gitlab-ci.yml",
        ".gitlab-ci.yml/x",
        ".drone.yml.orig",
        "woodpecker/build.yml",
        ".woodpeckers/x",
        "buildkite.yml",
        "pipelines.yml",
        "jenkinsfile.md",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(paths); i++)
        if (al_path_runs_in_ci(paths[i]))
            fail_msg("%s", paths[i]);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_that_run),
        cmocka_unit_test(other_files),
    };

    return cmocka_run_group_tests_name("gitops/diff/ci_files", tests, NULL, NULL);
}
