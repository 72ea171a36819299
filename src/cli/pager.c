// SPDX-License-Identifier: Apache-2.0
#include "cli/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "cli/print.h"
#include "proc/foreground.h"

/* The script that sh runs, as git runs its pager: $PAGER, or less if there is one.  LESS=FRX: exit
 * if the text fits, show colours, leave the text on the screen.  A word that only a shell can read
 * is taken to name a program. */
static const char script[] =
    "[ \"${PAGER+set}\" ] || PAGER=$(command -v less || echo cat)\n"
    "export LESS=\"${LESS-$1}\" LV=\"${LV--c}\"\n"
    "program=${PAGER%%[ \t]*}\n"
    "case $program in\n"
    "*[!-+./A-Za-z0-9_]*) true ;;\n"
    "*/*) test -x \"$program\" ;;\n"
    "*) command -v \"$program\" >/dev/null ;;\n"
    "esac || {\n"
    "    echo 'airlock: the program in $PAGER does not exist; showing everything at once' >&2\n"
    "    PAGER=cat\n"
    "}\n"
    "trap : INT\n" /* the pager handles Ctrl-C, and is waited for */
    "eval \"$PAGER\"\n";

static bool wants_pager(int fd)
{
    const char *pager = getenv("PAGER"), *term = getenv("TERM");

    return isatty(fd) && term && strcmp(term, "dumb") != 0 &&
           (!pager || (*pager && strcmp(pager, "cat") != 0));
}

static int spawn_pager(bool at_end, int in_fd, int out_fd, pid_t *ret_pid)
{
    const char *const argv[] = { "/bin/sh", "-c", script, "sh", at_end ? "FRX+G" : "FRX", NULL };
    posix_spawn_file_actions_t actions;
    sigset_t none;
    int r;

    (void)sigemptyset(&none);
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_adddup2(&actions, in_fd, STDIN_FILENO);
    (void)posix_spawn_file_actions_adddup2(&actions, out_fd, STDOUT_FILENO);
    r = al_proc_start((char *const *)argv, NULL, &none, 0, &actions, ret_pid);
    (void)posix_spawn_file_actions_destroy(&actions);
    return -r;
}

/* Start a pager on `fd`.  Returns the write end of the pipe to it; -1: there is no pager. */
static int open_pager(int fd, bool at_end, pid_t *ret_pid)
{
    al_auto(al_closep) int in_fd = -1;
    int fds[2];

    if (!wants_pager(fd) || pipe2(fds, O_CLOEXEC) < 0)
        return -1;
    in_fd = fds[0];
    if (spawn_pager(at_end, in_fd, fd, ret_pid) < 0) {
        *ret_pid = -1;
        al_close(al_take_fd(&fds[1]));
    }
    return fds[1];
}

/* Write the text, and wait until the user has left the pager. */
static void feed(int pipe_fd, pid_t pid, const char *text, size_t len)
{
    struct sigaction ignore = { .sa_handler = SIG_IGN }, old;
    int status;

    (void)sigaction(SIGPIPE, &ignore, &old); /* the user may quit before the end */
    (void)al_write_all(pipe_fd, text, len);
    (void)close(pipe_fd);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    (void)sigaction(SIGPIPE, &old, NULL);
}

void al_pager_print(const struct al_str *text, bool at_end)
{
    struct winsize size = { .ws_row = 0 };
    size_t lines = 0;
    pid_t pid = -1;
    int pipe_fd;

    for (const char *at = text->buf; at_end && (at = strchr(at, '\n')); at++)
        lines++;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_row || lines < size.ws_row)
        at_end = false;
    pipe_fd = open_pager(STDOUT_FILENO, at_end, &pid);
    if (pipe_fd < 0) {
        al_cli_print(STDOUT_FILENO, text);
        return;
    }
    (void)signal(SIGINT, SIG_IGN); /* only the pager handles Ctrl-C */
    feed(pipe_fd, pid, text->buf, text->len);
}

void al_pager_show(int fd, const char *text, size_t len)
{
    pid_t pid = -1;
    int pipe_fd = open_pager(fd, false, &pid);

    if (pipe_fd < 0)
        (void)al_write_all(fd, text, len);
    else
        feed(pipe_fd, pid, text, len);
}
