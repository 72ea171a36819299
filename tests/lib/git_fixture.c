// SPDX-License-Identifier: Apache-2.0
#include "tests/lib/git_fixture.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "tests/lib/assert.h"

extern char **environ;

void git_fixture_environment(struct tmpdir *home)
{
    setenv("HOME", home->path, 1);
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("XDG_STATE_HOME");
    setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
    setenv("GIT_AUTHOR_DATE", "2026-01-02T03:04:05Z", 1);
    setenv("GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z", 1);
    setenv("TZ", "UTC", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    tmpdir_write(home, ".gitconfig",
                 "[user]\n\tname = A U Thor\n\temail = author@example.com\n"
                 "[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = true\n");
}

static int run(const struct tmpdir *dir, va_list args, struct al_str *out)
{
    al_auto(al_strv_clear) struct al_strv argv = AL_STRV_INIT;
    posix_spawn_file_actions_t actions;
    int pipe_fds[2], status;
    const char *arg;
    pid_t pid;

    al_strv_adds(&argv, "git", "-C", dir->path, NULL);
    while ((arg = va_arg(args, const char *)))
        al_strv_add(&argv, arg);
    assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipe_fds[1], 1);
    assert_int_equal(posix_spawnp(&pid, "git", &actions, NULL, argv.items, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(pipe_fds[1]);
    for (;;) {
        char piece[4096];
        ssize_t n = read(pipe_fds[0], piece, sizeof(piece));

        if (n <= 0)
            break;
        al_str_add(out, piece, (size_t)n);
    }
    close(pipe_fds[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void git_ok(const struct tmpdir *dir, ...)
{
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
    va_list args;

    va_start(args, dir);
    assert_int_equal(run(dir, args, &out), 0);
    va_end(args);
}

char *git_output(const struct tmpdir *dir, ...)
{
    struct al_str out = AL_STR_INIT;
    va_list args;

    va_start(args, dir);
    assert_int_equal(run(dir, args, &out), 0);
    va_end(args);
    return al_str_detach(&out);
}

int git_status_of(const struct tmpdir *dir, ...)
{
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
    va_list args;
    int code;

    va_start(args, dir);
    code = run(dir, args, &out);
    va_end(args);
    return code;
}

void git_fixture_init(struct tmpdir *dir)
{
    git_ok(dir, "init", "-q", "-b", "main", NULL);
}

void git_fixture_commit(struct tmpdir *dir, const char *name, const char *text, const char *message)
{
    tmpdir_write(dir, name, text);
    git_ok(dir, "add", "--", name, NULL);
    git_ok(dir, "commit", "-q", "-m", message, NULL);
}
