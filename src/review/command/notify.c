// SPDX-License-Identifier: Apache-2.0
#include "review/command/notify.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "guard/program.h"
#include "guard/text.h"
#include "proc/spawn.h"
#include "review/lines.h"

#define PROGRAM_DIRS   "/usr/local/bin:/usr/bin:/bin"
#define TIMEOUT_MS     5000 /* one that runs longer is ended for the next one */
#define BODY_MAX_BYTES 200

extern char **environ; /* which names the user's desktop */

struct al_review_notify {
    char *program;
    struct al_spawned *running; /* NULL: none was started, or its end was seen */
    int64_t began_ms;
};

struct al_review_notify *al_review_notify_new(enum al_notify how, const char *dirs)
{
    struct al_review_notify *notify;
    char *program = how == AL_NOTIFY_SEND
                        ? al_program_find("notify-send", dirs ? dirs : PROGRAM_DIRS, NULL)
                        : NULL;

    if (!program)
        return NULL;
    (void)al_proc_init(NULL, NULL);
    notify = al_calloc(1, sizeof(*notify));
    notify->program = program;
    return notify;
}

static void end(struct al_review_notify *notify)
{
    struct al_proc_result result;

    if (notify->running)
        al_running_end(al_take(&notify->running), &result);
}

void al_review_notify_free(struct al_review_notify *notify)
{
    if (!notify)
        return;
    end(notify);
    free(notify->program);
    free(notify);
}

/* Whether the last one still has its time. */
static bool is_busy(const struct al_review_notify *notify)
{
    struct pollfd ended = { .events = POLLIN };

    if (!notify->running || al_clock_ms() - notify->began_ms >= TIMEOUT_MS)
        return false;
    ended.fd = notify->running->process.pidfd;
    return poll(&ended, 1, 0) == 0;
}

void al_review_notify_send(struct al_review_notify *notify, size_t count, const char *summary)
{
    static const struct al_confinement unconfined = { .ruleset_fd = 0 };
    al_auto(al_str_clear) struct al_str title = AL_STR_INIT, body = AL_STR_INIT;
    al_auto(al_closep) int root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    al_auto(al_freep) char *line = al_text_join_shown_lines(summary);

    if (!notify || root_fd < 0 || is_busy(notify))
        return;
    end(notify);
    if (strlen(line) > BODY_MAX_BYTES)
        line[al_utf8_floor(line, BODY_MAX_BYTES)] = '\0';
    al_review_add_escaped(line, strlen(line), &body);
    al_str_addf(&title, "airlock: %zu call%s", count, count == 1 ? " waits" : "s wait");
    const char *const argv[] = {
        notify->program, "--app-name=airlock", "--", title.buf, body.buf, NULL
    };
    const struct al_proc_spec spec = { .program = notify->program,
                                       .argv = argv,
                                       .envp = (const char *const *)environ,
                                       .cwd_fd = root_fd,
                                       .sandbox = &unconfined,
                                       .timeout_ms = 1 /* no effect */ };

    notify->began_ms = al_clock_ms();
    (void)al_running_start(&spec, &notify->running, NULL);
}
