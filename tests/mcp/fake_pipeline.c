// SPDX-License-Identifier: Apache-2.0
#include "tests/mcp/fake_pipeline.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "call/call.h"
#include "proc/cancel.h"
#include "tests/lib/assert.h"
#include "tools/upstream/mounts.h"

/* Long enough for the slowest machine; a test that gets here has failed. */
#define GIVE_UP_S 540

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned calls, threads, at_gate, cancelled;
static int gate_fd = -1; /* a semaphore: a read takes one place */
static int stuck_fd = -1;

static const struct al_operation operations[] = { { "run", NULL, AL_READS, NULL,
                                                    AL_ASKS_BY_EFFECTS } };
static const struct al_operation outward[] = { { "run", NULL, AL_READS | AL_USES_NETWORK, NULL,
                                                 AL_ASKS_BY_EFFECTS } };

static const struct al_operation writing[] = { { "run", NULL, AL_READS | AL_WRITES_INDEX, NULL,
                                                 AL_ASKS_BY_EFFECTS } };

static const struct al_tool tools[] = {
    { .name = "echo",
      .title = "Echo",
      .about = "Say it again.",
      .operations = operations,
      .noperations = 1 },
    { .name = "gate",
      .title = "Gate",
      .about = "Wait.",
      .operations = outward,
      .noperations = 1,
      .output_schema = "{ \"type\": \"object\" }" },
    { .name = "ask",
      .title = "Ask",
      .about = "Ask a user.",
      .operations = operations,
      .noperations = 1 },
    { .name = "big",
      .title = "Big",
      .about = "Say much.",
      .operations = operations,
      .noperations = 1 },
    { .name = "look",
      .title = "Look",
      .about = "Wait, as something that reads.",
      .operations = operations,
      .noperations = 1 },
    { .name = "stuck",
      .title = "Stuck",
      .about = "Wait for a dead disk.",
      .operations = operations,
      .noperations = 1 },
    { .name = "change",
      .title = "Change",
      .about = "Wait, as something that changes.",
      .operations = writing,
      .noperations = 1 },
};

const struct al_session *fake_session(void)
{
    static const struct al_toolset toolset = { .name = "fake" };
    static struct al_listed_tool items[COUNT(tools)];
    static const struct al_registry registry = { .items = items, .count = COUNT(tools) };
    static const struct al_session session = { .registry = &registry };

    for (size_t i = 0; i < COUNT(tools); i++)
        items[i] = (struct al_listed_tool){ .toolset = &toolset, .tool = &tools[i] };
    calls = threads = at_gate = cancelled = 0;
    al_close(gate_fd);
    al_close(stuck_fd);
    gate_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
    stuck_fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
    assert_true(gate_fd >= 0 && stuck_fd >= 0);
    return &session;
}

/* Wait for *value to reach `count`. */
static void wait_for(const unsigned *value, unsigned count)
{
    struct timespec end;
    int r = 0;

    (void)clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += GIVE_UP_S;
    (void)pthread_mutex_lock(&lock);
    while (*value < count && !r)
        r = pthread_cond_timedwait(&changed, &lock, &end);
    (void)pthread_mutex_unlock(&lock);
    assert_int_equal(r, 0);
}

/* Add to a counter of this file. */
static void add(unsigned *value, unsigned count)
{
    (void)pthread_mutex_lock(&lock);
    *value += count;
    (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&lock);
}

void fake_wait_at_gate(unsigned count)
{
    wait_for(&at_gate, count);
}

void fake_open_gate(unsigned count)
{
    const uint64_t places = count;

    assert_int_equal(write(gate_fd, &places, sizeof(places)), sizeof(places));
}

void fake_free_stuck(void)
{
    assert_int_equal(eventfd_write(stuck_fd, 1), 0);
}

void fake_wait_cancelled(unsigned count)
{
    wait_for(&cancelled, count);
}

unsigned fake_calls(void)
{
    unsigned count;

    (void)pthread_mutex_lock(&lock);
    count = calls;
    (void)pthread_mutex_unlock(&lock);
    return count;
}

unsigned fake_threads(void)
{
    unsigned count;

    (void)pthread_mutex_lock(&lock);
    count = threads;
    (void)pthread_mutex_unlock(&lock);
    return count;
}

static void fail_with(struct al_result *result, enum al_status status, const char *text)
{
    result->status = al_error_set(&result->error, status, "%s", text);
    al_str_adds(&result->text, text);
}

static void echo(const struct al_call_input *input, struct al_result *result)
{
    if (input->arguments)
        al_json_dump(input->arguments, false, &result->text);
}

static void gate(const struct al_call_input *input, struct al_result *result)
{
    struct pollfd fds[] = {
        { .fd = al_cancel_fd(input->cancel), .events = POLLIN },
        { .fd = gate_fd, .events = POLLIN },
    };
    uint64_t one;

    add(&at_gate, 1);
    do {
        if (poll(fds, COUNT(fds), -1) > 0 && fds[0].revents) {
            add(&cancelled, 1);
            fail_with(result, AL_ERR_CANCELLED, "cancelled");
            return;
        }
    } while (read(gate_fd, &one, sizeof(one)) < 0); /* another call took the place */
    al_str_adds(&result->text, "through");
}

static void stick(const struct al_call_input *input, struct al_result *result)
{
    eventfd_t one;

    (void)input;
    add(&at_gate, 1);
    while (eventfd_read(stuck_fd, &one) < 0)
        continue;
    al_str_adds(&result->text, "free");
}

static void ask(const struct al_call_input *input, struct al_result *result)
{
    static const struct al_approval_request request = {
        .tool = "ask",
        .operation = "run",
        .summary = "Do it?",
        .detail = "+ one line\n",
        .repository = "/r",
        .risk = "medium",
        .state = "as it is",
        .always_covers = "every ask",
    };
    static const char *const names[] = { "none", "once", "always", "reject", "too many", "later" };
    al_auto(al_approval_answer_clear) struct al_approval_answer answer = AL_APPROVAL_ANSWER_INIT;
    int r = 0;

    if (!input->approver) {
        fail_with(result, AL_ERR_APPROVAL_REQUIRED, "nobody to ask");
        return;
    }
    r = input->approver->ask(input->approver->payload, &request, input->cancel, &answer,
                             &result->error);
    if (r == AL_ERR_CANCELLED) {
        add(&cancelled, 1);
        result->status = AL_ERR_CANCELLED;
        return;
    }
    if (answer.decision == AL_ANSWER_LATER) {
        fail_with(result, AL_ERR_APPROVAL_REQUIRED, names[answer.decision]);
        return;
    }
    al_str_adds(&result->text, names[answer.decision]);
    if (answer.reason)
        al_str_addf(&result->text, ": %s", answer.reason);
}

static void big(const struct al_call_input *input, struct al_result *result)
{
    size_t bytes = (size_t)json_integer_value(json_object_get(input->arguments, "bytes"));

    al_str_reserve(&result->text, bytes);
    while (result->text.len < bytes)
        al_str_addc(&result->text, 'x');
}

/* Without a journal there is nothing to record. */
void al_call_record_failure(const struct al_session *session, const struct al_call_input *input,
                            const char *tool, const struct al_error *why)
{
    (void)session;
    (void)input;
    (void)tool;
    (void)why;
}

void al_call_run(const struct al_session *session, const struct al_call_input *input,
                 struct al_result *result)
{
    static void (*const run[])(const struct al_call_input *,
                               struct al_result *) = { echo, gate, ask, big, gate, stick, gate };

    static _Thread_local bool counted;

    (void)session;
    add(&calls, 1);
    if (!counted)
        add(&threads, 1);
    counted = true;
    if (input->arguments_error)
        fail_with(result, AL_ERR_BAD_ARGS, input->arguments_error);
    else
        run[input->tool->tool - tools](input, result);
}

/* No other server is mounted. */
void al_mounts_await(struct al_mounts *mounts, uint32_t wait_ms, struct al_cancel *cancel)
{
    (void)wait_ms;
    (void)cancel;
    assert_null(mounts);
}

const struct al_mounted_list *al_mounts_list(const struct al_mounts *mounts)
{
    assert_null(mounts);
    return NULL;
}

void al_mounted_list_free(const struct al_mounted_list *list)
{
    assert_null(list);
}

bool al_mounts_claims(const struct al_mounts *mounts, const char *name)
{
    (void)name;
    assert_null(mounts);
    return false;
}

int al_mounts_find(struct al_mounts *mounts, const char *name, struct al_cancel *cancel,
                   const struct al_mounted_list **ret_list, const struct al_listed_tool **ret_tool,
                   struct al_error *err)
{
    (void)name;
    (void)cancel;
    (void)ret_list;
    (void)ret_tool;
    assert_non_null(mounts);
    return al_error_set(err, AL_ERR_NOT_FOUND, "nothing is mounted");
}

bool al_mounts_replaces(struct al_mounts *mounts, const char *native)
{
    (void)native;
    assert_null(mounts);
    return false;
}

void al_mounts_watch(struct al_mounts *mounts, void (*on_change)(void *payload), void *payload)
{
    (void)on_change;
    (void)payload;
    assert_null(mounts);
}
