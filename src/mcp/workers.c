// SPDX-License-Identifier: Apache-2.0
#include "mcp/workers.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "mcp/calls.h"
#include "proc/proc.h"
#include "wire/reader.h"
#include "wire/writer.h"

struct al_worker {
    struct al_worker *next;
    struct al_workers *workers;
    pthread_t thread;
    bool exited; /**< under the lock of `workers`: it left the pool and is to be joined */
};

/* The main function of a thread, given its struct al_worker; mcp/workers.c. */
static void *worker_main(void *payload);

/*
 * A call's own code is shallow, and its buffers are on the heap.  The deepest use is a message
 * nested as deeply as the parser allows: copying and freeing it takes 230 KiB.  The thread
 * sanitizer keeps 800 KiB of its own on this stack.
 */
#define STACK_BYTES ((size_t)1536 * 1024)

#define FREE_MAX    8

/* A thread that is being made. */
struct creation {
    struct al_worker *worker;
    int error; /* 0 or an errno */
};

/* Join the threads that left the pool, or with `all` every thread, even one that is made
 * meanwhile. */
static void pool_join(struct al_workers *workers, bool all)
{
    struct al_worker *worker;

    do {
        struct al_worker **at = &workers->threads;

        (void)pthread_mutex_lock(&workers->lock);
        while (*at && !all && !(*at)->exited)
            at = &(*at)->next;
        worker = *at;
        if (worker)
            *at = worker->next;
        (void)pthread_mutex_unlock(&workers->lock);
        if (worker)
            (void)pthread_join(worker->thread, NULL);
        free(worker);
    } while (worker);
}

/* Runs on an unfiltered thread, because a new thread inherits the filter of the one that makes it:
 * see al_proc_confine_thread(). */
static void create_thread(void *payload)
{
    struct creation *creation = payload;
    pthread_attr_t attr;

    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setstacksize(&attr, STACK_BYTES);
    creation->error =
        pthread_create(&creation->worker->thread, &attr, worker_main, creation->worker);
    (void)pthread_attr_destroy(&attr);
}

/* Make one more thread, which begins as a follower.  `nfree` is the caller's to count.  0 or an
 * errno. */
static int pool_add(struct al_workers *workers)
{
    struct al_worker *worker = al_calloc(1, sizeof(*worker));
    struct creation creation = { .worker = worker };

    worker->workers = workers;
    /* Not under the lock: an unfiltered thread makes the new one, and every leader that steps down
     * would wait for both.  If the new thread ends before it is listed, it is joined later. */
    al_proc_run_unfiltered(create_thread, &creation);
    if (creation.error) {
        free(worker);
        return creation.error;
    }
    (void)pthread_mutex_lock(&workers->lock);
    worker->next = workers->threads;
    workers->threads = worker;
    (void)pthread_mutex_unlock(&workers->lock);
    return 0;
}

/* Take the calling thread out of the free ones before it runs a call.  False when no other thread
 * is free to read and none could be made; the caller is still free then. */
static bool pool_hand_over_reading(struct al_workers *workers)
{
    bool others;

    (void)pthread_mutex_lock(&workers->lock);
    others = workers->nfree > 1;
    if (others)
        workers->nfree--;
    (void)pthread_mutex_unlock(&workers->lock);
    if (others)
        return true;
    pool_join(workers, false);
    return pool_add(workers) == 0; /* the new thread is free instead of the caller */
}

/* Undo pool_hand_over_reading(): the caller runs no call. */
static void pool_mark_free(struct al_workers *workers)
{
    (void)pthread_mutex_lock(&workers->lock);
    workers->nfree++;
    (void)pthread_mutex_unlock(&workers->lock);
}

/* The thread has run its calls.  Whether it is free again; if not, it left the pool and ends. */
static bool pool_rejoin(struct al_worker *worker)
{
    struct al_workers *workers = worker->workers;
    bool stays;

    pool_join(workers, false); /* no thread may ever be made again, which would join them too */
    (void)pthread_mutex_lock(&workers->lock);
    stays = !workers->ending && workers->nfree < FREE_MAX;
    if (stays)
        workers->nfree++;
    worker->exited = !stays;
    (void)pthread_mutex_unlock(&workers->lock);
    return stays;
}

/* Events other than a term: the output changed or the pool ends; a queued call may run. */
#define OUTPUT_EVENT  ((uint64_t)0)
#define BACKLOG_EVENT UINT64_MAX

/* Caller holds the lock.  Every epoll_wait() returns at once from here on. */
static void begin_shutdown(struct al_workers *workers)
{
    struct epoll_event event = { .events = EPOLLIN, .data.u64 = OUTPUT_EVENT };

    workers->ending = true;
    (void)epoll_ctl(workers->epoll_fd, EPOLL_CTL_MOD, workers->ready_fd, &event);
    (void)pthread_cond_signal(&workers->ended);
}

/*
 * Caller holds the lock.  The thread that gets the event with the new term is the leader.  While
 * too much output is queued the input is watched for its end only, since more calls would add
 * output.
 */
static void promote_follower(struct al_workers *workers)
{
    const bool ready = workers->buffered || workers->input_always_ready;
    struct epoll_event event = { .data.u64 = ++workers->term };

    workers->paused = !workers->buffered && al_message_writer_full(workers->options.out);
    event.events = (workers->paused ? EPOLLRDHUP : EPOLLIN) | EPOLLONESHOT;
    if (epoll_ctl(workers->epoll_fd, EPOLL_CTL_MOD,
                  ready ? workers->ready_fd : workers->options.reader->fd, &event))
        begin_shutdown(workers); /* the input was closed */
}

static void step_down(struct al_workers *workers)
{
    (void)pthread_mutex_lock(&workers->lock);
    if ((workers->options.reader->ended && !workers->buffered) ||
        al_message_writer_dead(workers->options.out))
        begin_shutdown(workers);
    else if (!workers->ending)
        promote_follower(workers);
    (void)pthread_mutex_unlock(&workers->lock);
}

/* Caller holds the lock.  The output is closed, or its queue has room again. */
static void on_output_event(struct al_workers *workers)
{
    if (al_message_writer_dead(workers->options.out))
        begin_shutdown(workers);
    else if (workers->paused)
        promote_follower(workers);
}

/* Caller holds the lock.  True when the event makes the calling thread the leader. */
static bool become_leader(struct al_workers *workers, uint64_t event)
{
    if (workers->ending)
        return false;
    if (event == OUTPUT_EVENT)
        on_output_event(workers);
    if (event != workers->term)
        return false;
    workers->paused = false;
    return true;
}

/* A queued call to run.  NULL when another thread has taken it, or when no thread would be left to
 * read; the call then stays queued until a running thread has ended its own call. */
static struct al_inflight *take_queued(struct al_workers *workers)
{
    struct al_inflight *call;

    if (!pool_hand_over_reading(workers))
        return NULL;
    call = al_calls_dequeue(workers->options.calls);
    if (!call)
        pool_mark_free(workers);
    return call;
}

/* The result of waiting as a follower: either to lead, or a queued call to run. */
struct work {
    bool leads;
    bool has_input; /* epoll says so: bytes, or the end of input */
    struct al_inflight *call;
};

/* False when the thread has to end. */
static bool wait_for_work(struct al_workers *workers, struct work *ret_work)
{
    bool exits = false;

    *ret_work = (struct work){ .leads = false };
    while (!ret_work->leads && !ret_work->call && !exits) {
        struct epoll_event event = { .events = 0 };
        const int n = epoll_wait(workers->epoll_fd, &event, 1, -1);

        if (n == 1 && event.data.u64 == BACKLOG_EVENT) {
            ret_work->call = take_queued(workers);
        } else if (n == 1) {
            (void)pthread_mutex_lock(&workers->lock);
            ret_work->leads = become_leader(workers, event.data.u64);
            exits = workers->ending;
            (void)pthread_mutex_unlock(&workers->lock);
        }
        ret_work->has_input = event.events & EPOLLIN;
    }
    return ret_work->leads || ret_work->call;
}

/* Read, serve, and promote a follower.  Returns the call to run, or NULL. */
static struct al_inflight *lead(struct al_workers *workers, bool has_input)
{
    struct al_reader *reader = workers->options.reader;
    struct al_inflight *call;

    if (!workers->buffered && has_input)
        al_reader_fill(reader);
    else if (!workers->buffered) /* EPOLLHUP or EPOLLERR alone */
        reader->ended = true;
    while ((call = workers->options.serve(workers->options.payload, &workers->buffered))) {
        if (!al_calls_admit(call))
            continue;
        if (pool_hand_over_reading(workers))
            break;
        al_calls_refuse(call, "no thread could be started for the call");
    }
    step_down(workers);
    return call;
}

/* Run the call, then queued calls for as long as there are any that may run. */
static void run_calls(struct al_workers *workers, struct al_inflight *call)
{
    for (; call; call = al_calls_dequeue(workers->options.calls))
        al_calls_run(call);
}

static void *worker_main(void *payload)
{
    struct al_worker *worker = payload;
    struct al_workers *workers = worker->workers;
    struct work work;
    bool wanted = true;

    al_proc_confine_thread();
    while (wanted && wait_for_work(workers, &work)) {
        if (work.leads)
            work.call = lead(workers, work.has_input);
        if (work.call) {
            run_calls(workers, work.call);
            wanted = pool_rejoin(worker);
        }
    }
    return NULL;
}

static void clear(struct al_workers *workers)
{
    al_close(al_take_fd(&workers->epoll_fd));
    al_close(al_take_fd(&workers->ready_fd));
    (void)pthread_cond_destroy(&workers->ended);
    (void)pthread_mutex_destroy(&workers->lock);
}

static int add_fd(const struct al_workers *workers, int fd, uint32_t events, uint64_t term)
{
    struct epoll_event event = { .events = events, .data.u64 = term };

    return epoll_ctl(workers->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

/* Watch input, output and backlog; the first follower that wakes up for input leads. */
static int open_epoll(struct al_workers *workers, struct al_error *err)
{
    workers->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    workers->ready_fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
    if (workers->epoll_fd < 0 || workers->ready_fd < 0 ||
        add_fd(workers, workers->ready_fd, EPOLLONESHOT, OUTPUT_EVENT) < 0 ||
        add_fd(workers, workers->options.out->event_fd, EPOLLIN | EPOLLET, OUTPUT_EVENT) < 0 ||
        add_fd(workers, workers->options.calls->backlog_fd, EPOLLIN | EPOLLET, BACKLOG_EVENT) < 0)
        return al_error_errno(err, errno, "cannot watch the input");
    /* epoll refuses files and directories with EPERM; poll() calls them always readable. */
    workers->term = 1;
    workers->input_always_ready =
        add_fd(workers, workers->options.reader->fd, EPOLLIN | EPOLLONESHOT, 1) < 0;
    if (workers->input_always_ready && errno != EPERM && errno != EBADF)
        return al_error_errno(err, errno, "cannot watch the input");
    if (workers->input_always_ready)
        promote_follower(workers);
    return 0;
}

int al_workers_start(struct al_workers *workers, const struct al_workers_options *options,
                     struct al_error *err)
{
    int r;

    *workers = (struct al_workers){ .options = *options, .epoll_fd = -1, .ready_fd = -1 };
    (void)pthread_mutex_init(&workers->lock, NULL);
    (void)pthread_cond_init(&workers->ended, NULL);
    r = open_epoll(workers, err);
    if (r < 0) {
        clear(workers);
        return r;
    }
    workers->nfree = 1; /* the first thread */
    r = pool_add(workers);
    if (r != 0) {
        clear(workers);
        return al_error_errno(err, r, "cannot start a thread");
    }
    if (pool_add(workers) == 0)
        pool_mark_free(workers);
    return 0;
}

void al_workers_wait(struct al_workers *workers)
{
    (void)pthread_mutex_lock(&workers->lock);
    while (!workers->ending)
        (void)pthread_cond_wait(&workers->ended, &workers->lock);
    (void)pthread_mutex_unlock(&workers->lock);
}

void al_workers_join(struct al_workers *workers)
{
    pool_join(workers, true);
    clear(workers);
}
