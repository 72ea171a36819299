// SPDX-License-Identifier: Apache-2.0
/*
 * git/environment.h: what a git child gets, and what it does not.
 *
 * Where git would not tell, env(1) stands in for it, run in the very same way.
 */
#include "git/command.h"
#include "git/environment.h"
#include "git/layer.h"
#include "git/run.h"
#include "guard/env.h"
#include "tests/unit/git/command_lib.h"

static bool is_expected(const char *line)
{
    static const char *const names[] = {
        "PATH=/usr/bin:/bin",
        "LC_ALL=C.UTF-8",
        "GIT_TEXTDOMAINDIR=/nonexistent",
        "MALLOC_MMAP_THRESHOLD_=",
        "MALLOC_TRIM_THRESHOLD_=",
        "TERM=dumb",
        "HOME=",
        "TMPDIR=",
        "ALLOWED=yes",
        "SSH_ASKPASS=",
        "GIT_TERMINAL_PROMPT=0",
        "GIT_ASKPASS=",
        "GIT_EDITOR=:",
        "GIT_SEQUENCE_EDITOR=:",
        "GIT_PAGER=cat",
        "GIT_FLUSH=0",
        "GIT_MERGE_AUTOEDIT=no",
        "GIT_SSH_VARIANT=ssh",
        "GIT_PROXY_COMMAND=",
        "GIT_PROTOCOL_FROM_USER=0",
        "GIT_ALLOW_PROTOCOL=none",
        "GIT_NO_LAZY_FETCH=1",
        "GIT_NO_REPLACE_OBJECTS=1",
        "GIT_GRAFT_FILE=/nonexistent",
        "GIT_ATTR_NOSYSTEM=1",
        "GIT_CONFIG_NOSYSTEM=1",
        "GIT_CONFIG_GLOBAL=",
        "GIT_CONFIG_COUNT=",
        "GIT_CONFIG_KEY_",
        "GIT_CONFIG_VALUE_",
        "GIT_CEILING_DIRECTORIES=",
        "GIT_DIR=",
        "GIT_WORK_TREE=",
        "GIT_OPTIONAL_LOCKS=0",
    };

    for (size_t i = 0; i < COUNT(names); i++)
        if (al_starts_with(line, names[i]))
            return true;
    return false;
}

static void gives_a_child_what_it_needs_and_nothing_else(void **state)
{
    struct world *w = *state;
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(repo_freep) struct al_repo *repo = NULL;
    al_auto(al_freep) char *dir = al_asprintf("\nGIT_DIR=%s/.git\n", w->repo->path);
    char *save = NULL;

    assert_int_equal(setenv("ALLOWED", "yes", 1) | setenv("STRAY", "secret", 1) |
                         setenv("MY_TOKEN", "secret", 1) | setenv("GIT_TRACE_X", "secret", 1),
                     0);
    al_strv_adds(&w->env_allow, "ALLOWED", "MY_TOKEN", "GIT_TRACE_X", "ABSENT", NULL);
    world_start_git(w);
    repo = open_with(w, "/usr/bin/env");
    command.starts_children = true;
    al_strv_add(&command.argv, "git");
    assert_int_equal(al_git_run(&repo->at, &command,
                                &(struct al_git_run){ .max_bytes = 1u << 20, .checked = true },
                                &output, &w->err),
                     0);
    assert_null(strstr(output.out.out.buf, "secret"));
    assert_non_null(strstr(output.out.out.buf, "\nALLOWED=yes\n"));
    assert_non_null(strstr(output.out.out.buf, dir));
    for (char *line = strtok_r(output.out.out.buf, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        if (!is_expected(line))
            print_message("# %s\n", line);
        assert_true(is_expected(line));
    }
    unsetenv("GIT_TRACE_X");
}

/* One variable of the environment that a command in `dir` gets, NULL when it gets none. */
static char *variable_of(struct world *w, const char *dir, struct al_git_command *command,
                         const char *name)
{
    al_auto(al_strv_clear) struct al_strv env = AL_STRV_INIT;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, dir);
    size_t len = strlen(name);

    al_git_command_env(&env, &repo->at, command);
    for (char **entry = env.items; *entry; entry++)
        if (!strncmp(*entry, name, len) && (*entry)[len] == '=')
            return al_strdup(*entry + len + 1);
    return NULL;
}

static void assert_variable(struct world *w, const char *dir, struct al_git_command *command,
                            const char *name, const char *expected)
{
    al_auto(al_freep) char *value = variable_of(w, dir, command, name);

    assert_string_equal(value, expected);
}

/* Output that the user may get after a deadline must have left git by then. */
static void flushes_unless_only_the_whole_counts(void **state)
{
    struct world *w = *state;
    struct al_git_command partial = AL_GIT_COMMAND_INIT, whole = AL_GIT_COMMAND_INIT;
    al_auto(al_freep) char *flush = variable_of(w, "repo", &partial, "GIT_FLUSH");

    whole.buffered = true;
    assert_null(flush);
    assert_variable(w, "repo", &whole, "GIT_FLUSH", "0");
}

/* What only a git that writes would do costs those that read nothing; the count fits either way. */
static void hands_a_writer_more_overrides(void **state)
{
    static const enum al_git_class classes[] = { AL_GIT_READ, AL_GIT_WRITE };
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = open_with(w, "/usr/bin/env");

    for (size_t i = 0; i < COUNT(classes); i++) {
        al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
        al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
        const bool writes = classes[i] == AL_GIT_WRITE;
        size_t keys = 0;

        command.class = classes[i];
        command.starts_children = true;
        al_strv_add(&command.argv, "git");
        assert_int_equal(al_git_run(&repo->at, &command,
                                    &(struct al_git_run){ .max_bytes = 1u << 20, .checked = true },
                                    &output, &w->err),
                         0);
        assert_non_null(strstr(output.out.out.buf, "=core.hookspath\n"));
        assert_int_equal(!strstr(output.out.out.buf, "=user.useconfigonly\n"), !writes);
        assert_int_equal(!strstr(output.out.out.buf, "=gc.auto\n"), !writes);
        for (const char *at = output.out.out.buf; (at = strstr(at, "\nGIT_CONFIG_KEY_")); at++)
            keys++;
        al_auto(al_freep) char *count = al_asprintf("\nGIT_CONFIG_COUNT=%zu\n", keys);
        assert_non_null(strstr(output.out.out.buf, count));
    }
}

/* Whether git finds an object in the last of some directories. */
static bool finds_object(struct world *w, const struct al_strv *dirs)
{
    al_auto(al_freep) char *entry = al_git_alternates(dirs);
    const char *value = strchr(entry, '=') + 1;
    bool found;

    assert_true(al_starts_with(entry, "GIT_ALTERNATE_OBJECT_DIRECTORIES="));
    assert_int_equal(setenv("GIT_ALTERNATE_OBJECT_DIRECTORIES", value, 1), 0);
    found = git_status_of(w->outside, "--git-dir=empty", "cat-file", "-e",
                          "587be6b4c3f93f93c489c0111bba5596147a26cb", NULL) == 0;
    assert_int_equal(unsetenv("GIT_ALTERNATE_OBJECT_DIRECTORIES"), 0);
    return found;
}

/* git splits the list at ':' unless a path is quoted. */
static void names_every_directory_of_objects(void **state)
{
    static const char *const names[] = { "plain", "a:b", "a\"b", "a\\b", "a\nb", " " };
    struct world *w = *state;

    git_ok(w->outside, "init", "-q", "--bare", "empty", NULL);
    tmpdir_write(w->outside, "some.txt", "x\n");
    for (size_t i = 0; i < COUNT(names); i++) {
        al_auto(al_strv_clear) struct al_strv dirs = AL_STRV_INIT;
        al_auto(al_freep) char *git_dir = al_asprintf("--git-dir=%s", names[i]);

        git_ok(w->outside, "init", "-q", "--bare", names[i], NULL);
        git_ok(w->outside, git_dir, "hash-object", "-w", "some.txt", NULL);
        for (size_t others = 0; others < i; others++) {
            al_strv_addf(&dirs, "%s/empty/objects", w->outside->path);
            assert_false(finds_object(w, &dirs));
        }
        al_strv_addf(&dirs, "%s/%s/objects", w->outside->path, names[i]);
        assert_true(finds_object(w, &dirs));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(gives_a_child_what_it_needs_and_nothing_else),
        WORLD_TEST(flushes_unless_only_the_whole_counts),
        WORLD_TEST(hands_a_writer_more_overrides),
        WORLD_TEST(names_every_directory_of_objects),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/environment", tests, NULL, NULL);
}
