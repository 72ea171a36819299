// SPDX-License-Identifier: Apache-2.0
/* Asking on the terminal, which the agent's own client cannot answer. */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"
#include "proc/cancel.h"
#include "util/fs.h"

#define BOLD  "\033[1m"
#define DIM   "\033[2m"
#define RED   "\033[31m"
#define GREEN "\033[32m"
#define CYAN  "\033[36m"
#define RESET "\033[0m"

struct al_tty {
    int fd;
    bool colours;
};

bool al_tty_colours(int fd)
{
    const char *none = getenv("NO_COLOR");
    const char *term = getenv("TERM");

    return isatty(fd) && !(none && *none) && !(term && !strcmp(term, "dumb"));
}

struct al_tty *al_tty_open(void)
{
    struct al_tty *tty;
    int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);

    if (fd < 0)
        return NULL;
    tty = al_calloc(1, sizeof(*tty));
    tty->fd = fd;
    tty->colours = al_tty_colours(fd);
    return tty;
}

void al_tty_free(struct al_tty *tty)
{
    if (!tty)
        return;
    al_close(tty->fd);
    free(tty);
}

static const char *colour_of(const char *line)
{
    if (al_starts_with(line, "+++") || al_starts_with(line, "---") ||
        al_starts_with(line, "diff --git"))
        return BOLD;
    switch (line[0]) {
    case '+':
        return GREEN;
    case '-':
        return RED;
    case '@':
        return CYAN;
    default:
        return NULL;
    }
}

/* Summary first, then what it is about, each line of it indented so that it cannot pose as ours. */
static void show(const struct al_tty *tty, const struct al_approval_request *request,
                 struct al_str *out)
{
    al_str_addf(out, "\n%s%s%s\n", tty->colours ? BOLD : "", request->summary,
                tty->colours ? RESET : "");
    al_str_addf(out, "%s%s, %s risk, in %s%s\n", tty->colours ? DIM : "", request->tool,
                request->risk, request->repository, tty->colours ? RESET : "");
    for (const char *at = request->detail; *at;) {
        size_t len = strcspn(at, "\n");
        const char *colour = tty->colours ? colour_of(at) : NULL;

        al_str_addf(out, "  %s%.*s%s\n", colour ? colour : "", (int)len, at, colour ? RESET : "");
        at += len + (at[len] == '\n');
    }
}

/* One line, or NULL at end of input or when cancelled. */
static char *read_line(const struct al_tty *tty, struct al_cancel *cancel)
{
    struct pollfd wait[2] = {
        { .fd = tty->fd, .events = POLLIN },
        { .fd = al_cancel_fd(cancel), .events = POLLIN },
    };
    char line[256];
    ssize_t n;

    if (poll(wait, 2, -1) < 0 || al_cancel_fired(cancel))
        return NULL;
    n = read(tty->fd, line, sizeof(line));
    return n > 0 ? al_strndup(line, (size_t)n) : NULL;
}

static int ask(void *payload, const struct al_approval_request *request, struct al_cancel *cancel,
               enum al_answer *ret_answer, struct al_error *err)
{
    static const char question[] = "[o]nce [a]lways [r]eject [d]iff? ";
    const struct al_tty *tty = payload;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    show(tty, request, &text);
    if (al_write_all(tty->fd, text.buf, text.len) < 0)
        return 0;
    for (;;) {
        al_auto(al_freep) char *line = NULL;

        (void)al_write_all(tty->fd, question, sizeof(question) - 1);
        line = read_line(tty, cancel);
        if (al_cancel_fired(cancel))
            return al_error_set(err, AL_ERR_CANCELLED, "Cancelled");
        switch (line ? line[0] : 'r') {
        case 'o':
            *ret_answer = AL_ANSWER_ONCE;
            return 0;
        case 'a':
            *ret_answer = AL_ANSWER_ALWAYS;
            return 0;
        case 'r':
            *ret_answer = AL_ANSWER_REJECT;
            return 0;
        case 'd':
            (void)al_write_all(tty->fd, text.buf, text.len);
            break;
        default:
            break; /* anything else is no answer: ask again */
        }
    }
}

struct al_approver al_tty_approver(struct al_tty *tty)
{
    return (struct al_approver){ .name = "terminal", .ask = ask, .payload = tty };
}
