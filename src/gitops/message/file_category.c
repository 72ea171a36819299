// SPDX-License-Identifier: Apache-2.0
#include "gitops/message/file_category.h"

#include <fnmatch.h>
#include <stdlib.h>

#include "gitops/diff/ci_files.h"

/* The first row that matches decides. A pattern with a '/' is matched against the whole path ('*'
 * also matches slashes), any other against the last component. */
static const struct {
    const char *pattern;
    enum al_file_category category;
} rows[] = {
    { "Makefile", AL_CATEGORY_BUILD },
    { "makefile", AL_CATEGORY_BUILD },
    { "GNUmakefile", AL_CATEGORY_BUILD },
    { "*.mk", AL_CATEGORY_BUILD },
    { "CMakeLists.txt", AL_CATEGORY_BUILD },
    { "*.cmake", AL_CATEGORY_BUILD },
    { "meson.build", AL_CATEGORY_BUILD },
    { "meson_options.txt", AL_CATEGORY_BUILD },
    { "meson.options", AL_CATEGORY_BUILD },
    { "configure.ac", AL_CATEGORY_BUILD },
    { "BUILD.bazel", AL_CATEGORY_BUILD },
    { "WORKSPACE", AL_CATEGORY_BUILD },
    { "package.json", AL_CATEGORY_BUILD },
    { "package-lock.json", AL_CATEGORY_BUILD },
    { "yarn.lock", AL_CATEGORY_BUILD },
    { "pnpm-lock.yaml", AL_CATEGORY_BUILD },
    { "tsconfig*.json", AL_CATEGORY_BUILD },
    { "Cargo.toml", AL_CATEGORY_BUILD },
    { "Cargo.lock", AL_CATEGORY_BUILD },
    { "go.mod", AL_CATEGORY_BUILD },
    { "go.sum", AL_CATEGORY_BUILD },
    { "pyproject.toml", AL_CATEGORY_BUILD },
    { "setup.py", AL_CATEGORY_BUILD },
    { "setup.cfg", AL_CATEGORY_BUILD },
    { "requirements*.txt", AL_CATEGORY_BUILD },
    { "poetry.lock", AL_CATEGORY_BUILD },
    { "Gemfile", AL_CATEGORY_BUILD },
    { "Gemfile.lock", AL_CATEGORY_BUILD },
    { "composer.json", AL_CATEGORY_BUILD },
    { "composer.lock", AL_CATEGORY_BUILD },
    { "pom.xml", AL_CATEGORY_BUILD },
    { "*.gradle", AL_CATEGORY_BUILD },
    { "*.gradle.kts", AL_CATEGORY_BUILD },
    { "Dockerfile*", AL_CATEGORY_BUILD },
    { "docker-compose*.yml", AL_CATEGORY_BUILD },

    { "test/*", AL_CATEGORY_TEST },
    { "tests/*", AL_CATEGORY_TEST },
    { "*/test/*", AL_CATEGORY_TEST },
    { "*/tests/*", AL_CATEGORY_TEST },
    { "spec/*", AL_CATEGORY_TEST },
    { "*/__tests__/*", AL_CATEGORY_TEST },
    { "*/testdata/*", AL_CATEGORY_TEST },
    { "*_test.*", AL_CATEGORY_TEST },
    { "test_*.*", AL_CATEGORY_TEST },
    { "*.test.*", AL_CATEGORY_TEST },
    { "*.spec.*", AL_CATEGORY_TEST },
    { "*Test.java", AL_CATEGORY_TEST },
    { "conftest.py", AL_CATEGORY_TEST },

    { "docs/*", AL_CATEGORY_DOCS },
    { "doc/*", AL_CATEGORY_DOCS },
    { "*/docs/*", AL_CATEGORY_DOCS },
    { "man/*", AL_CATEGORY_DOCS },
    { "*.md", AL_CATEGORY_DOCS },
    { "*.rst", AL_CATEGORY_DOCS },
    { "*.adoc", AL_CATEGORY_DOCS },
    { "README*", AL_CATEGORY_DOCS },
    { "CHANGELOG*", AL_CATEGORY_DOCS },
    { "CONTRIBUTING*", AL_CATEGORY_DOCS },
    { "LICENSE*", AL_CATEGORY_DOCS },
    { "COPYING*", AL_CATEGORY_DOCS },
    { "AUTHORS", AL_CATEGORY_DOCS },

    { ".*", AL_CATEGORY_CHORE }, /* .gitignore, .editorconfig and so on */
    { ".*/*", AL_CATEGORY_CHORE },
};

enum al_file_category al_file_category_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    if (al_path_runs_in_ci(path))
        return AL_CATEGORY_CI;
    for (size_t i = 0; i < AL_COUNT(rows); i++) {
        const char *against = strchr(rows[i].pattern, '/') ? path : name;

        if (fnmatch(rows[i].pattern, against, 0) == 0)
            return rows[i].category;
    }
    return AL_CATEGORY_CODE;
}

const char *al_file_category_type(enum al_file_category category)
{
    static const char *const types[] = {
        [AL_CATEGORY_CODE] = "feat",   [AL_CATEGORY_TEST] = "test", [AL_CATEGORY_DOCS] = "docs",
        [AL_CATEGORY_BUILD] = "build", [AL_CATEGORY_CI] = "ci",     [AL_CATEGORY_CHORE] = "chore",
    };

    return types[category];
}

/* Directory names that describe the layout of a project instead of a part of it. */
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

char *al_file_category_scope(const char *dir)
{
    al_auto(al_freep) char *copy = al_strdup(dir);
    char *save = NULL;

    for (char *name = strtok_r(copy, "/", &save); name; name = strtok_r(NULL, "/", &save))
        if (!is_layout(name))
            return al_strdup(name);
    return al_strdup("");
}
