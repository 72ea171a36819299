// SPDX-License-Identifier: Apache-2.0
#include "cli/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/log.h"
#include "base/str.h"

extern char **environ;

/* Whether an executable of this name is in a directory of PATH. */
static bool is_installed(const char *name)
{
    const char *path = getenv("PATH");

    for (const char *at = path ? path : ""; *at;) {
        size_t len = strcspn(at, ":");
        al_auto(al_freep) char *dir = al_strndup(at, len);
        al_auto(al_freep) char *file = al_fs_join(*dir ? dir : ".", name);

        if (faccessat(AT_FDCWD, file, X_OK, AT_EACCESS) == 0)
            return true;
        at += len + (at[len] == ':');
    }
    return false;
}

/* Whether the command's program exists.  A command that needs a shell to interpret is assumed to.
 */
static bool is_runnable(const char *command)
{
    size_t len = strcspn(command, " \t");
    al_auto(al_freep) char *name = al_strndup(command, len);

    if (!len || strpbrk(name, "$`'\"\\~=;&|<>(){}*?["))
        return true;
    return strchr(name, '/') ? faccessat(AT_FDCWD, name, X_OK, AT_EACCESS) == 0
                             : is_installed(name);
}

/* The pager's command line, for sh.  NULL: use no pager. */
static const char *pager_command(int fd)
{
    const char *pager = getenv("PAGER"), *term = getenv("TERM");

    if (!isatty(fd) || !term || !strcmp(term, "dumb"))
        return NULL;
    if (!pager)
        return is_installed("less") ? "less" : NULL;
    if (!*pager || !strcmp(pager, "cat"))
        return NULL;
    if (is_runnable(pager))
        return pager;
    al_log_note("the program in $PAGER does not exist; showing everything at once");
    return NULL;
}

/* Our environment and git's defaults for pagers.  LESS=FRX: exit if the text fits, show colours,
 * leave the text on the screen. */
static char **environment(struct al_strv *entries, bool at_end)
{
    for (char **entry = environ; *entry; entry++)
        al_strv_add(entries, *entry);
    if (!getenv("LESS"))
        al_strv_add(entries, at_end ? "LESS=FRX+G" : "LESS=FRX");
    if (!getenv("LV"))
        al_strv_add(entries, "LV=-c");
    return entries->items;
}

static int spawn_pager(const char *command, bool at_end, int in_fd, int out_fd, pid_t *ret_pid)
{
    al_auto(al_strv_clear) struct al_strv entries = AL_STRV_INIT;
    char shell[] = "/bin/sh", name[] = "sh", option[] = "-c";
    al_auto(al_freep) char *words = al_strdup(command);
    char *argv[] = { name, option, words, NULL };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t none, all;
    int r;

    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawnattr_init(&attr);
    (void)posix_spawn_file_actions_adddup2(&actions, in_fd, STDIN_FILENO);
    (void)posix_spawn_file_actions_adddup2(&actions, out_fd, STDOUT_FILENO);
    (void)posix_spawnattr_setsigmask(&attr, &none);
    (void)posix_spawnattr_setsigdefault(&attr, &all);
    (void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    r = posix_spawn(ret_pid, shell, &actions, &attr, argv, environment(&entries, at_end));
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)posix_spawnattr_destroy(&attr);
    return -r;
}

/* Start a pager on `fd`.  Returns the write end of the pipe to it; -1: there is no pager. */
static int open_pager(int fd, bool at_end, pid_t *ret_pid)
{
    const char *command = pager_command(fd);
    al_auto(al_closep) int in_fd = -1;
    int fds[2];

    if (!command || pipe2(fds, O_CLOEXEC) < 0)
        return -1;
    in_fd = fds[0];
    if (spawn_pager(command, at_end, in_fd, fd, ret_pid) < 0) {
        *ret_pid = -1;
        al_close(al_take_fd(&fds[1]));
    }
    return fds[1];
}

void al_pager_start(struct al_pager *pager, bool at_end)
{
    al_auto(al_closep) int pipe_fd = open_pager(STDOUT_FILENO, at_end, &pager->pid);

    if (pipe_fd < 0)
        return;
    (void)signal(SIGINT, SIG_IGN); /* only the pager handles Ctrl-C */
    (void)signal(SIGPIPE, SIG_IGN);
    (void)fflush(stdout);
    if (dup2(pipe_fd, STDOUT_FILENO) < 0)
        al_pager_end(pager);
}

static void wait_for(pid_t pid)
{
    int status;

    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
}

void al_pager_end(struct al_pager *pager)
{
    if (pager->pid < 0)
        return;
    (void)fflush(stdout);
    (void)close(STDOUT_FILENO);
    wait_for(pager->pid);
    pager->pid = -1;
}

void al_pager_show(int fd, const char *text, size_t len)
{
    struct sigaction ignore = { .sa_handler = SIG_IGN }, old;
    pid_t pid = -1;
    int pipe_fd = open_pager(fd, false, &pid);

    if (pipe_fd < 0) {
        (void)al_write_all(fd, text, len);
        return;
    }
    (void)sigaction(SIGPIPE, &ignore, &old); /* the user may quit before the end */
    (void)al_write_all(pipe_fd, text, len);
    (void)close(pipe_fd);
    wait_for(pid);
    (void)sigaction(SIGPIPE, &old, NULL);
}
