// SPDX-License-Identifier: Apache-2.0
#include "gitops/diff/ci_files.h"

#include <string.h>

#include "util/str.h"

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
