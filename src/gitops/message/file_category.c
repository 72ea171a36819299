// SPDX-License-Identifier: Apache-2.0
#include "gitops/message/file_category.h"

#include <fnmatch.h>
#include <stdlib.h>

/* The first row that matches decides.  A pattern with a '/' is held against the whole path ('*'
 * takes slashes too), one without against the last component. */
static const struct {
    const char *pattern;
    enum al_kind kind;
} rows[] = {
    { ".github/workflows/*", AL_KIND_CI },
    { ".github/actions/*", AL_KIND_CI },
    { ".circleci/*", AL_KIND_CI },
    { ".gitlab-ci.yml", AL_KIND_CI },
    { ".travis.yml", AL_KIND_CI },
    { "azure-pipelines.yml", AL_KIND_CI },
    { "Jenkinsfile", AL_KIND_CI },

    { "Makefile", AL_KIND_BUILD },
    { "makefile", AL_KIND_BUILD },
    { "GNUmakefile", AL_KIND_BUILD },
    { "*.mk", AL_KIND_BUILD },
    { "CMakeLists.txt", AL_KIND_BUILD },
    { "*.cmake", AL_KIND_BUILD },
    { "meson.build", AL_KIND_BUILD },
    { "meson_options.txt", AL_KIND_BUILD },
    { "meson.options", AL_KIND_BUILD },
    { "configure.ac", AL_KIND_BUILD },
    { "BUILD.bazel", AL_KIND_BUILD },
    { "WORKSPACE", AL_KIND_BUILD },
    { "package.json", AL_KIND_BUILD },
    { "package-lock.json", AL_KIND_BUILD },
    { "yarn.lock", AL_KIND_BUILD },
    { "pnpm-lock.yaml", AL_KIND_BUILD },
    { "tsconfig*.json", AL_KIND_BUILD },
    { "Cargo.toml", AL_KIND_BUILD },
    { "Cargo.lock", AL_KIND_BUILD },
    { "go.mod", AL_KIND_BUILD },
    { "go.sum", AL_KIND_BUILD },
    { "pyproject.toml", AL_KIND_BUILD },
    { "setup.py", AL_KIND_BUILD },
    { "setup.cfg", AL_KIND_BUILD },
    { "requirements*.txt", AL_KIND_BUILD },
    { "poetry.lock", AL_KIND_BUILD },
    { "Gemfile", AL_KIND_BUILD },
    { "Gemfile.lock", AL_KIND_BUILD },
    { "composer.json", AL_KIND_BUILD },
    { "composer.lock", AL_KIND_BUILD },
    { "pom.xml", AL_KIND_BUILD },
    { "*.gradle", AL_KIND_BUILD },
    { "*.gradle.kts", AL_KIND_BUILD },
    { "Dockerfile*", AL_KIND_BUILD },
    { "docker-compose*.yml", AL_KIND_BUILD },

    { "test/*", AL_KIND_TEST },
    { "tests/*", AL_KIND_TEST },
    { "*/test/*", AL_KIND_TEST },
    { "*/tests/*", AL_KIND_TEST },
    { "spec/*", AL_KIND_TEST },
    { "*/__tests__/*", AL_KIND_TEST },
    { "*/testdata/*", AL_KIND_TEST },
    { "*_test.*", AL_KIND_TEST },
    { "test_*.*", AL_KIND_TEST },
    { "*.test.*", AL_KIND_TEST },
    { "*.spec.*", AL_KIND_TEST },
    { "*Test.java", AL_KIND_TEST },
    { "conftest.py", AL_KIND_TEST },

    { "docs/*", AL_KIND_DOCS },
    { "doc/*", AL_KIND_DOCS },
    { "*/docs/*", AL_KIND_DOCS },
    { "man/*", AL_KIND_DOCS },
    { "*.md", AL_KIND_DOCS },
    { "*.rst", AL_KIND_DOCS },
    { "*.adoc", AL_KIND_DOCS },
    { "README*", AL_KIND_DOCS },
    { "CHANGELOG*", AL_KIND_DOCS },
    { "CONTRIBUTING*", AL_KIND_DOCS },
    { "LICENSE*", AL_KIND_DOCS },
    { "COPYING*", AL_KIND_DOCS },
    { "AUTHORS", AL_KIND_DOCS },

    { ".*", AL_KIND_CHORE }, /* .gitignore, .editorconfig … */
    { ".*/*", AL_KIND_CHORE },
};

enum al_kind al_kind_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    for (size_t i = 0; i < AL_COUNT(rows); i++) {
        const char *against = strchr(rows[i].pattern, '/') ? path : name;

        if (fnmatch(rows[i].pattern, against, 0) == 0)
            return rows[i].kind;
    }
    return AL_KIND_CODE;
}

const char *al_kind_type(enum al_kind kind)
{
    static const char *const types[] = {
        [AL_KIND_CODE] = "feat",   [AL_KIND_TEST] = "test", [AL_KIND_DOCS] = "docs",
        [AL_KIND_BUILD] = "build", [AL_KIND_CI] = "ci",     [AL_KIND_CHORE] = "chore",
    };

    return types[kind];
}

/* Directories that say how a project is laid out, and not what a part of it is about. */
static bool is_layout(const char *name)
{
    static const char *const names[] = {
        "src",       "source",   "lib",  "libs",    "pkg",       "packages", "internal",
        "include",   "cmd",      "app",  "apps",    "main",      "crates",   "modules",
        "test",      "tests",    "spec", "docs",    "doc",       "unit",     "e2e",
        "__tests__", "testdata", "java", ".github", "workflows",
    };

    for (size_t i = 0; i < AL_COUNT(names); i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

char *al_kind_area(const char *dir)
{
    al_auto(al_freep) char *copy = al_strdup(dir);
    char *save = NULL;

    for (char *name = strtok_r(copy, "/", &save); name; name = strtok_r(NULL, "/", &save))
        if (!is_layout(name))
            return al_strdup(name);
    return al_strdup("");
}
