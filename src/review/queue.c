// SPDX-License-Identifier: Apache-2.0
#include "review/queue.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/secret.h"
#include "proc/cancel.h"
#include "review/message.h"

struct al_review_queue {
    uint32_t wait_s;
    int change_fd; /* eventfd(2) */
    bool (*is_attended)(void *payload);
    void *attended_payload;

    pthread_mutex_t lock; /* guards the members below */
    struct al_review_entry *first, **last;
    size_t count;
    size_t nattached;
    uint64_t nserials;
};

struct al_review_queue *al_review_queue_new(uint32_t wait_s)
{
    struct al_review_queue *queue = al_calloc(1, sizeof(*queue));

    queue->wait_s = wait_s;
    queue->last = &queue->first;
    queue->change_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    (void)pthread_mutex_init(&queue->lock, NULL);
    return queue;
}

void al_review_queue_free(struct al_review_queue *queue)
{
    if (!queue)
        return;
    (void)pthread_mutex_destroy(&queue->lock);
    al_close(queue->change_fd);
    free(queue);
}

uint32_t al_review_wait_s(const struct al_review_queue *queue)
{
    return queue->wait_s;
}

/* Caller holds the lock. */
static void report_change(struct al_review_queue *queue)
{
    (void)eventfd_write(queue->change_fd, 1);
}

/* Caller holds the lock. */
static struct al_review_entry *find(struct al_review_queue *queue, const char *id)
{
    struct al_review_entry *entry = queue->first;

    while (entry && strcmp(entry->id, id) != 0)
        entry = entry->next;
    return entry;
}

/* Caller holds the lock.  An id that cannot be guessed from others; no two that wait are equal. */
static void choose_id(struct al_review_queue *queue, struct al_review_entry *entry)
{
    do
        al_random_hex(AL_REVIEW_ID_CHARS / 2, entry->id);
    while (find(queue, entry->id));
}

/* `wait_s` later than a time of al_clock_iso(). */
static void format_deadline(uint32_t wait_s, const char *from, char ret_text[25])
{
    const time_t at = (time_t)(al_clock_iso_ms(from) / 1000 + wait_s);
    struct tm tm;

    (void)strftime(ret_text, 25, "%Y-%m-%dT%H:%M:%S", gmtime_r(&at, &tm));
    memcpy(ret_text + 19, from + 19, 6); /* the milliseconds */
}

bool al_review_begin(struct al_review_queue *queue, const struct al_approval_request *request,
                     const char *client, struct al_cancel *cancel,
                     struct al_review_entry *ret_entry)
{
    *ret_entry = (struct al_review_entry){ .request = request,
                                           .client = client,
                                           .wanted_fd = -1,
                                           .whole = AL_STR_INIT,
                                           .answer = AL_APPROVAL_ANSWER_INIT };
    al_hold(&queue->lock);
    if (queue->count == AL_REVIEW_ENTRIES_MAX)
        return false;
    al_clock_iso(ret_entry->time);
    format_deadline(queue->wait_s, ret_entry->time, ret_entry->deadline);
    ret_entry->deadline_ms = al_clock_ms() + (int64_t)queue->wait_s * 1000;
    ret_entry->withdrawn = al_cancel_new_within(cancel);
    ret_entry->wanted_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    ret_entry->serial = ++queue->nserials;
    choose_id(queue, ret_entry);
    *queue->last = ret_entry;
    queue->last = &ret_entry->next;
    queue->count++;
    report_change(queue);
    return true;
}

/* Caller holds the lock.  The entry is waiting. */
static void settle(struct al_review_queue *queue, struct al_review_entry *entry,
                   enum al_review_state state)
{
    struct al_review_entry **at = &queue->first;

    while (*at != entry)
        at = &(*at)->next;
    *at = entry->next;
    if (queue->last == &entry->next)
        queue->last = at;
    queue->count--;
    entry->state = state;
    report_change(queue);
    if (state == AL_REVIEW_ANSWERED || state == AL_REVIEW_OVER)
        al_cancel_fire(entry->withdrawn);
}

void al_review_await(struct al_review_queue *queue, struct al_review_entry *entry,
                     const struct al_meanwhile *meanwhile)
{
    struct pollfd wait[2] = { { .fd = al_cancel_fd(entry->withdrawn), .events = POLLIN },
                              { .fd = meanwhile ? meanwhile->fd : -1, .events = POLLIN } };
    int64_t left_ms;

    while (!al_cancel_fired(entry->withdrawn) &&
           (left_ms = entry->deadline_ms - al_clock_ms()) > 0) {
        if (poll(wait, AL_COUNT(wait), left_ms < INT_MAX ? (int)left_ms : INT_MAX) < 0 &&
            errno != EINTR)
            break;
        if (wait[1].revents)
            meanwhile->run(meanwhile->payload);
    }
    (void)al_review_expire(queue);
}

enum al_review_state al_review_end(struct al_review_queue *queue, struct al_review_entry *entry,
                                   struct al_approval_answer *ret_answer)
{
    al_hold(&queue->lock);
    if (entry->state == AL_REVIEW_WAITS)
        settle(queue, entry,
               al_cancel_fired(entry->withdrawn) ? AL_REVIEW_CANCELLED : AL_REVIEW_WAITS);
    if (entry->state == AL_REVIEW_ANSWERED) {
        al_approval_answer_clear(ret_answer);
        *ret_answer = entry->answer;
    }
    al_cancel_unref(al_take(&entry->withdrawn));
    al_close(al_take_fd(&entry->wanted_fd));
    al_str_clear(&entry->whole);
    return entry->state;
}

int al_review_answer(struct al_review_queue *queue, const char *id, enum al_answer decision,
                     const char *reason, struct al_error *err)
{
    struct al_review_entry *entry;

    al_hold(&queue->lock);
    entry = find(queue, id);
    if (!entry)
        return al_error_set(err, AL_ERR_NOT_FOUND, "this question no longer waits");
    if (decision == AL_ANSWER_ALWAYS && !entry->request->always_covers)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "this question offers no 'always', because its session ends with the "
                            "call; approve it once");
    entry->answer.decision = decision;
    if (decision == AL_ANSWER_REJECT && reason)
        al_approval_answer_set_reason(&entry->answer, reason);
    settle(queue, entry, AL_REVIEW_ANSWERED);
    return 0;
}

bool al_review_next(struct al_review_queue *queue, uint64_t from, struct al_str *out,
                    uint64_t *ret_serial, char ret_id[AL_REVIEW_ID_CHARS + 1])
{
    const struct al_review_entry *entry;

    al_hold(&queue->lock);
    entry = queue->first; /* they are in the order of their serials */
    while (entry && entry->serial < from)
        entry = entry->next;
    if (entry) {
        al_review_add_entry(entry, out);
        *ret_serial = entry->serial;
        memcpy(ret_id, entry->id, sizeof(entry->id));
    }
    return entry != NULL;
}

bool al_review_has(struct al_review_queue *queue, const char *id)
{
    al_hold(&queue->lock);
    return find(queue, id) != NULL;
}

int64_t al_review_expire(struct al_review_queue *queue)
{
    const int64_t now_ms = al_clock_ms();
    int64_t next_ms = INT64_MAX;

    al_hold(&queue->lock);
    /* All wait equally long, so the first is due first. */
    while (queue->first && queue->first->deadline_ms <= now_ms)
        settle(queue, queue->first, AL_REVIEW_OVER);
    if (queue->first)
        next_ms = queue->first->deadline_ms;
    return next_ms;
}

void al_review_attach(struct al_review_queue *queue)
{
    al_hold(&queue->lock);
    queue->nattached++;
}

void al_review_detach(struct al_review_queue *queue)
{
    al_hold(&queue->lock);
    queue->nattached--;
}

bool al_review_is_attached(struct al_review_queue *queue)
{
    al_hold(&queue->lock);
    return queue->nattached > 0 ||
           (queue->is_attended && queue->is_attended(queue->attended_payload));
}

void al_review_expect(struct al_review_queue *queue, bool (*is_attended)(void *payload),
                      void *payload)
{
    queue->is_attended = is_attended;
    queue->attended_payload = payload;
}

int al_review_change_fd(const struct al_review_queue *queue)
{
    return queue->change_fd;
}

/* --- The whole text --- */

enum al_review_whole al_review_take_text(struct al_review_queue *queue, const char *id,
                                         struct al_str *ret_text)
{
    struct al_review_entry *entry;

    al_hold(&queue->lock);
    entry = find(queue, id);
    if (!entry)
        return AL_REVIEW_WHOLE_GONE;
    if (!entry->is_made) {
        entry->is_wanted = true;
        (void)eventfd_write(entry->wanted_fd, 1);
        return AL_REVIEW_WHOLE_COMES;
    }
    entry->is_made = false; /* for another door it is made again */
    *ret_text = entry->whole;
    entry->whole = AL_STR_INIT;
    return entry->has_whole ? AL_REVIEW_WHOLE_HERE : AL_REVIEW_WHOLE_FAILED;
}

bool al_review_wants_text(struct al_review_queue *queue, struct al_review_entry *entry)
{
    eventfd_t count;

    al_hold(&queue->lock);
    (void)eventfd_read(entry->wanted_fd, &count);
    return entry->state == AL_REVIEW_WAITS && entry->is_wanted;
}

void al_review_give_text(struct al_review_queue *queue, struct al_review_entry *entry,
                         struct al_str *text, const char *problem)
{
    al_hold(&queue->lock);
    if (problem) {
        al_str_adds(&entry->whole, problem);
    } else {
        entry->whole = *text;
        *text = AL_STR_INIT;
    }
    entry->has_whole = !problem;
    entry->is_made = true;
    entry->is_wanted = false;
    report_change(queue);
}
