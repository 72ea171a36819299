// SPDX-License-Identifier: Apache-2.0
/*
 * The life of an upstream server, on a thread of its own:
 *
 *   wait until it may start -> start -> handshake -> tools/list -> serve -> close -> ...
 *
 * A server that ends is started again by itself, after 1, 2, 4 ... 60 seconds.  The wait begins
 * anew once it has answered a call.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/lock.h"
#include "base/log.h"
#include "guard/root.h"
#include "serve/upstream/private.h"

_Static_assert(AL_LINE_MAX_BYTES == 10u << 20, "a message names the limit");

enum { OUT, ERR, PIDFD, WAKE, IN_QUEUED, IN_ROOM, NFDS };

/* --- Start and end --- */

static int start(struct al_upstream_link *link, int in_fd, struct al_error *err)
{
    const struct al_upstream_settings *settings = &link->server->settings;
    al_auto(al_upstream_profile_clear) struct al_upstream_profile profile =
        AL_UPSTREAM_PROFILE_INIT;
    struct al_proc_spec spec;
    const uint64_t entered = al_roots_enter(settings->roots);
    int r = al_upstream_profile_make(settings, &profile, err);

    al_roots_leave(settings->roots, entered);
    if (r < 0)
        return r;
    spec = (struct al_proc_spec){
        .program = profile.program,
        .argv = (const char *const *)settings->command->items,
        .envp = (const char *const *)profile.env.items,
        .cwd_fd = settings->roots->items[0].fd,
        .in_fd = in_fd,
        .sandbox = &profile.sandbox,
        .grace_ms = AL_UPSTREAM_TERM_MS,
        .dies_with_parent = true,
    };
    return al_running_start(&spec, &link->process, err);
}

/* Let calls write to the server.  The writer takes the descriptor over. */
static int open_writer(struct al_upstream *server, int fd, struct al_error *err)
{
    int r;

    al_hold(&server->lock);
    r = al_message_writer_init(&server->out, fd, err);
    server->is_open = r == 0;
    server->in_fd = fd;
    server->has_answered = server->was_ready = false;
    server->nstarts++;
    return r;
}

static void close_writer(struct al_upstream *server)
{
    int fd = -1;

    (void)pthread_mutex_lock(&server->lock);
    if (server->is_open) {
        fd = server->in_fd;
        al_message_writer_clear(&server->out);
    }
    server->is_open = false;
    server->phase =
        AL_UPSTREAM_STARTING; /* nobody sends anything until the next process is ready */
    (void)pthread_mutex_unlock(&server->lock);
    al_close(fd);
}

static int open_link(struct al_upstream *server, struct al_upstream_link *link,
                     struct al_error *err)
{
    int input[2], r;

    *link = (struct al_upstream_link){ .server = server };
    if (pipe2(input, O_CLOEXEC) < 0)
        return al_error_errno(err, errno, "cannot create a pipe");
    r = start(link, input[0], err);
    al_close(input[0]);
    if (r == 0 && (r = open_writer(server, input[1], err)) < 0) {
        struct al_proc_result ignored;

        al_running_end(link->process, &ignored);
    }
    if (r < 0) {
        al_close(input[1]);
        return r;
    }
    link->reader = AL_READER_INIT(link->process->out_fd);
    link->errors = AL_READER_INIT(link->process->err_fd);
    return 0;
}

/* The end of the process, as a phrase. */
static char *describe_end(const struct al_upstream_link *link, const struct al_proc_result *result)
{
    struct al_str text = AL_STR_INIT;

    if (result->signal)
        al_str_addf(&text, "was ended by signal %d", result->signal);
    else
        al_str_addf(&text, "ended with exit code %d", result->exit_code);
    if (link->last_error)
        al_str_addf(&text, ": %s", link->last_error);
    return al_str_detach(&text);
}

static void drain(struct al_upstream_link *link, int64_t wait_ms);

static void close_link(struct al_upstream_link *link, bool gently, char **ret_end)
{
    struct al_proc_result result;

    close_writer(link->server);
    if (gently)
        drain(link, AL_UPSTREAM_EOF_MS);
    al_running_end(link->process, &result);
    *ret_end = describe_end(link, &result);
    al_reader_clear(&link->reader);
    al_reader_clear(&link->errors);
    free(link->last_error);
    free(link->garbage);
}

/* --- Reading --- */

/* Keep the last line of standard error: it says best why a server ends. */
static void read_errors(struct al_upstream_link *link)
{
    const size_t before = link->errors.buf.len;
    const char *text;
    size_t len;

    al_reader_fill(&link->errors);
    link->nerrors += link->errors.buf.len - before;
    while (al_reader_next(&link->errors, &text, &len) != AL_LINE_NONE) {
        al_auto(al_freep) char *begin = al_strndup(
            text, len < AL_UPSTREAM_QUOTED_MAX_BYTES ? len : AL_UPSTREAM_QUOTED_MAX_BYTES);
        char *line = al_upstream_line(begin, AL_UPSTREAM_QUOTED_MAX_BYTES);

        if (line) {
            free(link->last_error);
            link->last_error = line;
        }
    }
}

/* Handle the whole lines that were read. */
static void take_lines(struct al_upstream_link *link)
{
    enum al_line got;
    const char *line;
    size_t len;

    while (!link->broken && (got = al_reader_next(&link->reader, &line, &len)) != AL_LINE_NONE) {
        if (got == AL_LINE_READY)
            al_upstream_take_line(link, line, len);
        else
            al_upstream_take_unreadable(link, line, len, "a line of more than 10 MiB");
    }
}

/* Handle what comes until the process has ended and its pipes are empty, for so long at most.  Its
 * children may hold their other ends, hence no wait for these, and may write all the time. */
static void drain(struct al_upstream_link *link, int64_t wait_ms)
{
    const int64_t until_ms = al_clock_ms() + wait_ms;
    int64_t left_ms = wait_ms;

    while (left_ms > 0 && !link->broken) {
        struct pollfd fds[] = {
            [OUT] = { .fd = link->reader.ended ? -1 : link->reader.fd, .events = POLLIN },
            [ERR] = { .fd = link->errors.ended ? -1 : link->errors.fd, .events = POLLIN },
            [PIDFD] = { .fd = link->has_ended ? -1 : link->process->process.pidfd,
                        .events = POLLIN },
        };
        const int n = poll(fds, AL_COUNT(fds), link->has_ended ? 0 : (int)left_ms);

        left_ms = n == 0 ? 0 : until_ms - al_clock_ms();
        if (n <= 0)
            continue;
        link->has_ended |= fds[PIDFD].revents != 0;
        if (fds[ERR].revents)
            read_errors(link);
        if (fds[OUT].revents) {
            al_reader_fill(&link->reader);
            take_lines(link);
        }
    }
    if (!link->last_error) /* a line that has no end */
        link->last_error = al_upstream_line(link->errors.buf.buf + link->errors.start,
                                            AL_UPSTREAM_QUOTED_MAX_BYTES);
}

/* Whether standard error has to wait, since too much of it came.  A flood would keep a core busy.
 */
static bool holds_errors(struct al_upstream_link *link)
{
    const int64_t now_ms = al_clock_ms();

    if (now_ms >= link->errors_until_ms) {
        link->nerrors = 0;
        link->errors_until_ms = now_ms + AL_UPSTREAM_ERRORS_PERIOD_MS;
    }
    return link->nerrors >= AL_UPSTREAM_ERRORS_MAX_BYTES;
}

/* The writer as two entries of poll(2): one wakes when something is queued, the other when there is
 * room for it. */
static void watch_writer(struct al_upstream *server, struct pollfd *fds)
{
    al_hold(&server->lock);
    fds[IN_QUEUED] = (struct pollfd){ .fd = server->out.wake_fd, .events = POLLIN };
    fds[IN_ROOM] = (struct pollfd){ .fd = -1, .events = POLLOUT };
    if (al_message_writer_flush(&server->out))
        fds[IN_ROOM].fd = server->out.fd;
}

int al_upstream_left_ms(int64_t deadline_ms)
{
    const int64_t left_ms = deadline_ms - al_clock_ms();

    if (deadline_ms == INT64_MAX)
        return -1;
    if (left_ms <= 0)
        return 0;
    return left_ms < INT_MAX ? (int)left_ms : INT_MAX;
}

static int wait_once(struct al_upstream_link *link, int64_t deadline_ms)
{
    struct pollfd fds[NFDS] = {
        [OUT] = { .fd = link->reader.fd, .events = POLLIN },
        [ERR] = { .fd = link->errors.ended ? -1 : link->errors.fd, .events = POLLIN },
        [PIDFD] = { .fd = link->process->process.pidfd, .events = POLLIN },
        [WAKE] = { .fd = link->server->wake_fd, .events = POLLIN },
    };
    uint64_t ignored;

    if (holds_errors(link)) {
        fds[ERR].fd = -1;
        deadline_ms = deadline_ms < link->errors_until_ms ? deadline_ms : link->errors_until_ms;
    }
    watch_writer(link->server, fds);
    if (poll(fds, NFDS, al_upstream_left_ms(deadline_ms)) <= 0)
        return 0;
    if (fds[WAKE].revents)
        return AL_ERR_CANCELLED;
    if (fds[IN_QUEUED].revents)
        (void)!read(fds[IN_QUEUED].fd, &ignored, sizeof(ignored));
    if (fds[ERR].revents)
        read_errors(link);
    link->has_ended = fds[PIDFD].revents != 0;
    if (fds[OUT].revents && !link->has_ended) {
        al_reader_fill(&link->reader);
        take_lines(link);
    }
    if (!link->has_ended && !link->reader.ended && !link->broken)
        return 0;
    /* A process that ends closes its output first. */
    drain(link, link->has_ended ? AL_UPSTREAM_REST_MS : AL_UPSTREAM_EXIT_MS);
    if (!link->has_ended && !link->broken)
        link->broken = "has closed its output";
    return AL_ERR_EXECUTION;
}

/* --- Requests of the link's own --- */

void al_upstream_link_ask(struct al_upstream_link *link, struct al_upstream_wait *request,
                          const struct al_revision *revision, const char *method, json_t *params)
{
    struct al_upstream *server = link->server;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_upstream_set_meta(server, revision, params, 0, true);

    al_hold(&server->lock);
    *request = AL_UPSTREAM_WAIT_INIT;
    request->is_own = true;
    request->id = ++server->last_id;
    request->next = server->waits;
    server->waits = request;
    al_upstream_add_request(&line, request->id, method, params);
    json_decref(params);
    (void)al_upstream_send(server, &line);
}

int al_upstream_link_await(struct al_upstream_link *link, const struct al_upstream_wait *a,
                           const struct al_upstream_wait *b, int64_t deadline_ms)
{
    int r = 0;

    while (r == 0 && !a->answered && !(b && b->answered)) {
        if (al_clock_ms() >= deadline_ms)
            return AL_ERR_TIMEOUT;
        r = wait_once(link, deadline_ms);
    }
    return r;
}

int al_upstream_link_late(struct al_upstream_link *link, const char *method, char **ret_problem)
{
    const char *garbage = link->garbage;

    *ret_problem = al_asprintf("did not answer %s within %u ms%s%s", method,
                               (unsigned)link->server->settings.timeout_ms,
                               garbage ? "; it wrote: " : "", garbage ? garbage : "");
    return AL_ERR_TIMEOUT;
}

/* --- Handshake --- */

/*
 * A server of either era is asked for its revisions with server/discover first.  One of the older
 * era answers with an error, not at all, or by ending:
 *
 *   answer to server/discover              then
 *   a result or -32022 with 2026-07-28     modern
 *   anything else                          initialize
 *   none within AL_UPSTREAM_PROBE_MS       initialize too; the first useful answer decides
 *   the process ends                       it is started once more, with initialize first
 */

#define MODERN "2026-07-28"
#define LEGACY "2025-11-25"

static void discover(struct al_upstream_link *link, struct al_upstream_wait *request)
{
    al_upstream_link_ask(link, request, al_revision_find(MODERN), "server/discover",
                         al_json_object());
}

static void initialize(struct al_upstream_link *link, struct al_upstream_wait *request)
{
    al_upstream_link_ask(link, request, NULL, "initialize",
                         json_pack("{s:s, s:o, s:o}", "protocolVersion", LEGACY, "capabilities",
                                   al_upstream_capabilities(link->server, true), "clientInfo",
                                   al_upstream_client_info()));
}

static bool lists_modern(const json_t *versions)
{
    for (size_t i = 0; i < json_array_size(versions); i++) {
        const char *name = json_string_value(json_array_get(versions, i));

        if (name && !strcmp(name, MODERN))
            return true;
    }
    return false;
}

/* Whether the answer to server/discover says that the server is modern. */
static bool is_modern(const struct al_upstream_wait *request)
{
    if (!request->answered)
        return false;
    if (request->result)
        return lists_modern(json_object_get(request->result, "supportedVersions"));
    return request->code == AL_RPC_UNSUPPORTED_VERSION &&
           lists_modern(json_object_get(request->data, "supported"));
}

/* Keep what the server says about itself. */
static void note_server(struct al_upstream_link *link, const json_t *info,
                        const json_t *capabilities)
{
    struct al_upstream *server = link->server;
    al_auto(al_freep) char *name = al_upstream_line(al_json_get_string(info, "name"), 100);
    al_auto(al_freep) char *version = al_upstream_line(al_json_get_string(info, "version"), 50);

    link->has_tools = json_object_get(capabilities, "tools") != NULL;
    al_hold(&server->lock);
    free(server->program);
    server->program =
        name ? al_asprintf("%s%s%s", name, version ? " " : "", version ? version : "") : NULL;
    server->revision = link->revision;
}

/* Ask a modern server to tell when its tools change. */
static void listen(struct al_upstream_link *link)
{
    struct al_upstream_wait request;

    al_upstream_link_ask(link, &request, link->revision, "subscriptions/listen",
                         json_pack("{s:{s:b}}", "notifications", "toolsListChanged", 1));
    link->listen_id = request.id;
    al_upstream_wait_end(link->server, &request, NULL);
}

static int be_modern(struct al_upstream_link *link, const json_t *result)
{
    const json_t *capabilities = json_object_get(result, "capabilities");
    const json_t *info = json_object_get(json_object_get(result, "_meta"), AL_META_SERVER);

    link->revision = al_revision_find(MODERN);
    note_server(link, info, capabilities);
    if (!result)
        link->has_tools = true; /* an error says nothing about capabilities */
    if (json_is_true(json_object_get(json_object_get(capabilities, "tools"), "listChanged")))
        listen(link);
    return 0;
}

static int be_legacy(struct al_upstream_link *link, const json_t *result, char **ret_problem)
{
    const char *name = al_json_get_string(result, "protocolVersion");
    const struct al_revision *revision = name ? al_revision_find(name) : NULL;
    al_auto(al_freep) char *shown = al_upstream_line(name, 50);
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    if (!revision || revision->era != AL_ERA_LEGACY) {
        *ret_problem =
            al_asprintf("speaks revision '%s' of MCP, which airlock does not", shown ? shown : "");
        return AL_ERR_EXECUTION;
    }
    link->revision = revision;
    note_server(link, json_object_get(result, "serverInfo"),
                json_object_get(result, "capabilities"));
    al_str_adds(&line, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    al_hold(&link->server->lock);
    (void)al_upstream_send(link->server, &line);
    return 0;
}

/* Wait for the answer to initialize, while a late one to server/discover still counts. */
static int finish_handshake(struct al_upstream_link *link, struct al_upstream_wait *probe,
                            struct al_upstream_wait *hello, int64_t deadline_ms, char **ret_problem)
{
    int r;

    do
        r = al_upstream_link_await(link, hello, probe->answered ? NULL : probe, deadline_ms);
    while (r == 0 && !hello->answered && !is_modern(probe));
    if (r == AL_ERR_TIMEOUT)
        return al_upstream_link_late(link, "initialize", ret_problem);
    if (r < 0)
        return r;
    if (hello->result)
        return be_legacy(link, hello->result, ret_problem);
    if (!probe->is_own) { /* initialize came first, and is not known */
        discover(link, probe);
        r = al_upstream_link_await(link, probe, NULL, deadline_ms);
        if (r == AL_ERR_TIMEOUT)
            return al_upstream_link_late(link, "server/discover", ret_problem);
    }
    if (r == 0 && is_modern(probe))
        return be_modern(link, probe->result);
    if (r == 0) {
        *ret_problem = al_asprintf("answered initialize with error %d: %s", hello->code,
                                   hello->message ? hello->message : "no result");
        r = AL_ERR_EXECUTION;
    }
    return r;
}

static int try_handshake(struct al_upstream_link *link, struct al_upstream_wait *probe,
                         struct al_upstream_wait *hello, int64_t deadline_ms, char **ret_problem)
{
    const int64_t probe_ms = al_clock_ms() + AL_UPSTREAM_PROBE_MS;
    int r;

    if (!link->server->skips_probe) {
        discover(link, probe);
        r = al_upstream_link_await(link, probe, NULL,
                                   probe_ms < deadline_ms ? probe_ms : deadline_ms);
        if (r < 0 && r != AL_ERR_TIMEOUT)
            return r;
        if (is_modern(probe))
            return be_modern(link, probe->result);
    }
    initialize(link, hello);
    return finish_handshake(link, probe, hello, deadline_ms, ret_problem);
}

static int shake_hands(struct al_upstream_link *link, int64_t deadline_ms, char **ret_problem)
{
    struct al_upstream_wait probe = AL_UPSTREAM_WAIT_INIT, hello = AL_UPSTREAM_WAIT_INIT;
    int r = try_handshake(link, &probe, &hello, deadline_ms, ret_problem);

    al_upstream_wait_end(link->server, &probe, NULL);
    al_upstream_wait_end(link->server, &hello, NULL);
    return r;
}

/* --- Phases --- */

static void set_phase(struct al_upstream *server, enum al_upstream_phase phase)
{
    al_hold(&server->lock);
    server->phase = phase;
    server->was_ready |= phase == AL_UPSTREAM_READY;
    if (phase == AL_UPSTREAM_READY)
        al_error_clear(&server->problem);
    al_upstream_signal_all(server);
}

/* Wait until the server may be started.  False: it is to be ended. */
static bool await_start(struct al_upstream *server)
{
    struct pollfd wake = { .fd = server->wake_fd, .events = POLLIN };
    int64_t left_ms;

    /* Only this thread changes the time. */
    while ((left_ms = server->next_start_ms - al_clock_ms()) > 0)
        if (poll(&wake, 1, (int)left_ms) > 0)
            return false;
    if (poll(&wake, 1, 0) > 0)
        return false;
    set_phase(server, AL_UPSTREAM_STARTING);
    return true;
}

int64_t al_upstream_backoff_ms(unsigned streak)
{
    const unsigned doublings = streak < 16 ? streak : 16;
    const int64_t wait_ms = (int64_t)AL_UPSTREAM_BACKOFF_FIRST_MS << doublings;

    return wait_ms < AL_UPSTREAM_BACKOFF_MAX_MS ? wait_ms : AL_UPSTREAM_BACKOFF_MAX_MS;
}

/* Caller holds the lock.  All who wait for the server are told why that is in vain. */
static void fail_waits(struct al_upstream *server)
{
    for (struct al_upstream_wait *wait = server->waits; wait; wait = wait->next) {
        if (wait->id) {
            (void)al_error_set(&wait->failure, AL_ERR_EXECUTION, "the call was lost: %s",
                               server->problem.message);
            al_upstream_answer(wait);
        }
        al_upstream_signal(wait);
    }
}

/* The process has ended, or could not be started; `why` is taken over. */
static void note_failure(struct al_upstream *server, struct al_error *why)
{
    al_hold(&server->lock);
    if (server->has_answered)
        server->streak = 0;
    server->has_answered = false;
    server->next_start_ms = al_clock_ms() + al_upstream_backoff_ms(server->streak);
    server->streak++;
    server->nfailures += !server->was_ready;
    server->was_ready = false;
    al_error_clear(&server->problem);
    server->problem = *why;
    *why = AL_ERROR_INIT;
    server->phase = AL_UPSTREAM_WAITING;
    server->list_is_old = false;
    fail_waits(server);
}

static void note_end(struct al_upstream *server)
{
    al_hold(&server->lock);
    server->phase = AL_UPSTREAM_ENDED;
    al_error_clear(&server->problem);
    (void)al_error_set(&server->problem, AL_ERR_EXECUTION, "MCP server '%s' is being ended",
                       server->settings.name);
    fail_waits(server);
}

/* --- One process --- */

static int read_tools(struct al_upstream_link *link, int64_t deadline_ms, char **ret_problem)
{
    struct al_upstream *server = link->server;
    bool differs = false;
    int r;

    link->list_changed = false;
    r = al_upstream_read_tools(link, deadline_ms, &differs, ret_problem);
    if (r < 0)
        return r;
    /* Those who wait for the server then know of the list already. */
    if (differs && server->settings.on_tools)
        server->settings.on_tools(server->settings.payload);
    set_phase(server, AL_UPSTREAM_READY);
    return 0;
}

/* The list of before stays, and nobody waits for another one. */
static void keep_tools(struct al_upstream *server)
{
    al_hold(&server->lock);
    server->list_is_old = false;
    al_upstream_signal_all(server);
}

/* Serve until something ends it.  A list that has changed is read again, but not all the time. */
static int serve(struct al_upstream_link *link, char **ret_problem)
{
    const uint32_t timeout_ms = link->server->settings.timeout_ms;
    int64_t next_list_ms = al_clock_ms() + AL_UPSTREAM_RELIST_MS;
    int r = 0;

    while (r == 0) {
        const int64_t now_ms = al_clock_ms();

        if (!link->list_changed || now_ms < next_list_ms) {
            r = wait_once(link, link->list_changed ? next_list_ms : INT64_MAX);
            continue;
        }
        r = read_tools(link, now_ms + timeout_ms, ret_problem);
        if (r == AL_ERR_TIMEOUT || (r < 0 && *ret_problem)) {
            free(al_take(ret_problem));
            keep_tools(link->server);
            r = 0;
        }
        next_list_ms = al_clock_ms() + AL_UPSTREAM_RELIST_MS;
    }
    return r;
}

static int converse(struct al_upstream_link *link, char **ret_problem)
{
    const int64_t deadline_ms = al_clock_ms() + link->server->settings.timeout_ms;
    int r = shake_hands(link, deadline_ms, ret_problem);

    if (r == 0)
        r = read_tools(link, deadline_ms, ret_problem);
    return r == 0 ? serve(link, ret_problem) : r;
}

/* Start the server and stay with it until it has ended.  AL_ERR_CANCELLED: it was to be ended;
 * AL_ERR_AGAIN: it may be started again at once; anything else: why it ended. */
static int run(struct al_upstream *server, struct al_error *err)
{
    struct al_upstream_link link;
    al_auto(al_freep) char *problem = NULL;
    al_auto(al_freep) char *end = NULL;
    struct al_error why = AL_ERROR_INIT;
    int r = open_link(server, &link, &why);

    if (r < 0) {
        (void)al_error_set(err, r, "MCP server '%s': %s", server->settings.name, why.message);
        al_error_clear(&why);
        return r;
    }
    r = converse(&link, &problem);
    if (!problem && link.broken && !link.has_ended)
        problem = al_strdup(link.broken);
    close_link(&link, r == AL_ERR_CANCELLED, &end);
    if (r == AL_ERR_CANCELLED)
        return r;
    if (!link.revision && link.has_ended && !server->skips_probe) {
        server->skips_probe = true;
        return AL_ERR_AGAIN;
    }
    return al_error_set(err, r, "MCP server '%s' %s", server->settings.name,
                        problem ? problem : end);
}

static void *thread_main(void *payload)
{
    struct al_upstream *server = payload;

    while (await_start(server)) {
        struct al_error err = AL_ERROR_INIT;
        int r = run(server, &err);

        if (r == AL_ERR_AGAIN)
            r = run(server, &err);
        if (r == AL_ERR_CANCELLED)
            break;
        note_failure(server, &err);
    }
    note_end(server);
    return NULL;
}

/* --- From outside --- */

/* The stack of threads that run calls (serve/mcp/pool.c): for a message nested as deeply as the
 * parser allows. */
#define STACK_BYTES ((size_t)1536 * 1024)

struct al_upstream *al_upstream_new(const struct al_upstream_settings *settings)
{
    struct al_upstream *server = al_calloc(1, sizeof(*server));

    server->settings = *settings;
    server->settings.scratch_dir = al_strdup(settings->scratch_dir);
    server->problem = AL_ERROR_INIT;
    server->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    (void)pthread_mutex_init(&server->lock, NULL);
    return server;
}

void al_upstream_start(struct al_upstream *server)
{
    bool warns;

    (void)pthread_mutex_lock(&server->lock);
    if (!server->has_thread && !server->ending) {
        server->has_thread =
            al_thread_start(&server->thread, STACK_BYTES, thread_main, server) == 0;
        if (server->has_thread)
            server->phase = AL_UPSTREAM_STARTING;
    }
    warns = server->has_thread && !server->settings.confine && !server->settings.is_airlock &&
            !server->warned;
    server->warned |= warns;
    (void)pthread_mutex_unlock(&server->lock);
    if (warns)
        al_log_warn("MCP server '%s' runs without confinement (confine = false)",
                    server->settings.name);
}

void al_upstream_end(struct al_upstream *server)
{
    al_hold(&server->lock);
    server->ending = true;
    if (!server->has_thread)
        server->phase = AL_UPSTREAM_ENDED;
    (void)eventfd_write(server->wake_fd, 1);
    al_upstream_signal_all(server);
}

void al_upstream_free(struct al_upstream *server)
{
    if (!server)
        return;
    al_upstream_end(server);
    if (server->has_thread) {
        (void)pthread_join(server->thread, NULL);
        al_fs_remove_tree(server->settings.scratch_dir);
    }
    al_upstream_list_clear(&server->list);
    al_error_clear(&server->problem);
    free((char *)server->settings.scratch_dir);
    free(server->program);
    al_close(server->wake_fd);
    (void)pthread_mutex_destroy(&server->lock);
    free(server);
}

const char *al_upstream_name(const struct al_upstream *server)
{
    return server->settings.name;
}

void al_upstream_get_state(struct al_upstream *server, struct al_upstream_state *ret_state)
{
    al_hold(&server->lock);
    *ret_state = (struct al_upstream_state){
        .phase = server->phase,
        .confined = server->settings.confine,
        .revision = server->revision,
        .program = al_strdup(server->program),
        .ntools = json_array_size(server->list.tools),
        .nleft_out = server->list.nleft_out,
        .left_out = al_strdup(server->list.left_out),
        .problem = al_strdup(server->problem.message),
    };
}

void al_upstream_state_clear(struct al_upstream_state *state)
{
    free(state->program);
    free(state->left_out);
    free(state->problem);
    *state = (struct al_upstream_state){ .phase = AL_UPSTREAM_IDLE };
}
