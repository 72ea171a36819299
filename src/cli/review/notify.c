// SPDX-License-Identifier: Apache-2.0
#include "cli/review/notify.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "guard/program.h"
#include "guard/text.h"
#include "proc/proc.h"
#include "util/utf8.h"

#define PROGRAM_DIRS   "/usr/local/bin:/usr/bin:/bin"
#define TIMEOUT_MS     5000
#define BODY_MAX_BYTES 200

struct al_review_notify {
    char *program;
    struct al_strv env;
    struct al_str title, body; /* of the thread while it runs */
    struct al_cancel *cancel;
    pthread_t thread;
    bool has_thread; /* not joined yet */
    atomic_bool runs;
};

/* What a program needs to find the user's desktop. */
static void add_environment(struct al_strv *env)
{
    static const char *const names[] = { "DBUS_SESSION_BUS_ADDRESS",
                                         "XDG_RUNTIME_DIR",
                                         "WAYLAND_DISPLAY",
                                         "DISPLAY",
                                         "XAUTHORITY",
                                         "HOME",
                                         "LANG",
                                         "LC_ALL" };

    al_strv_add(env, "PATH=" PROGRAM_DIRS);
    for (size_t i = 0; i < AL_COUNT(names); i++) {
        const char *value = getenv(names[i]);

        if (value)
            al_strv_addf(env, "%s=%s", names[i], value);
    }
}

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
    notify->env = AL_STRV_INIT;
    notify->title = notify->body = AL_STR_INIT;
    notify->cancel = al_cancel_new();
    add_environment(&notify->env);
    return notify;
}

void al_review_notify_free(struct al_review_notify *notify)
{
    if (!notify)
        return;
    al_cancel_fire(notify->cancel);
    if (notify->has_thread)
        (void)pthread_join(notify->thread, NULL);
    al_cancel_unref(notify->cancel);
    al_strv_clear(&notify->env);
    al_str_clear(&notify->title);
    al_str_clear(&notify->body);
    free(notify->program);
    free(notify);
}

static void add_escaped(const char *text, struct al_str *out)
{
    for (; *text; text++) {
        if (*text == '&')
            al_str_adds(out, "&amp;");
        else if (*text == '<')
            al_str_adds(out, "&lt;");
        else if (*text == '>')
            al_str_adds(out, "&gt;");
        else
            al_str_addc(out, *text);
    }
}

void al_review_notify_add_text(const struct al_review_list *questions, struct al_str *title,
                               struct al_str *body)
{
    const char *summary = NULL;
    al_auto(al_freep) char *line = NULL;

    if (questions->count)
        summary = al_json_get_string(questions->items[questions->count - 1].entry, "summary");
    line = al_text_join_shown_lines(summary ? summary : "");
    if (strlen(line) > BODY_MAX_BYTES)
        line[al_utf8_floor(line, BODY_MAX_BYTES)] = '\0';
    al_str_addf(title, "airlock: %zu call%s", questions->count,
                questions->count == 1 ? " waits" : "s wait");
    add_escaped(line, body);
}

static void *run(void *payload)
{
    struct al_review_notify *notify = payload;
    const char *const argv[] = { notify->program,   "--app-name=airlock", "--",
                                 notify->title.buf, notify->body.buf,     NULL };
    const struct al_confinement unconfined = { .ruleset = NULL };
    const int root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct al_buffer lost = { .max_bytes = 0 };
    const struct al_proc_spec spec = { .program = notify->program,
                                       .argv = argv,
                                       .envp = (const char *const *)notify->env.items,
                                       .cwd_fd = root_fd,
                                       .out = al_buffer_sink(&lost),
                                       .err = al_buffer_sink(&lost),
                                       .drains = true,
                                       .sandbox = &unconfined,
                                       .cancel = notify->cancel,
                                       .timeout_ms = TIMEOUT_MS };
    struct al_proc_result result;

    if (root_fd >= 0)
        (void)al_proc_run(&spec, &result, NULL);
    al_close(root_fd);
    al_buffer_clear(&lost);
    atomic_store(&notify->runs, false);
    return NULL;
}

void al_review_notify_send(struct al_review_notify *notify, const struct al_review_list *questions)
{
    if (!notify || atomic_load(&notify->runs))
        return;
    if (notify->has_thread)
        (void)pthread_join(notify->thread, NULL);
    al_str_reset(&notify->title);
    al_str_reset(&notify->body);
    al_review_notify_add_text(questions, &notify->title, &notify->body);
    atomic_store(&notify->runs, true);
    notify->has_thread = pthread_create(&notify->thread, NULL, run, notify) == 0;
    if (!notify->has_thread)
        atomic_store(&notify->runs, false);
}
