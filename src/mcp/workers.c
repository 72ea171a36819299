// SPDX-License-Identifier: Apache-2.0
#include "mcp/workers.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "mcp/calls.h"
#include "mcp/reader.h"
#include "mcp/writer.h"
#include "proc/proc.h"

/*
 * A call's own code is straight and shallow, and its buffers are on the heap.  What needs most is a
 * message nested as deeply as the parser allows: 230 KiB to copy and to free it.  The thread
 * sanitizer has 800 KiB of its own in here.
 */
#define STACK_BYTES ((size_t)1536 * 1024)

/*
 * As many threads as this wait for good.  Those a burst made beyond it wait for the next one, since
 * to make a thread and its filter costs as much as a call; when none comes for a while they end.
 */
#define FREE_MAX        8
#define FREE_BURST_MAX  64
#define IDLE_TIMEOUT_MS 2000

/* The events of what is not a turn: news of the output, or the end; a call that was put aside. */
#define OUTPUT_EVENT  ((uint64_t)0)
#define BACKLOG_EVENT UINT64_MAX

struct al_worker {
    struct al_worker *next;
    struct al_workers *workers;
    pthread_t thread;
    bool exited; /* under the lock of `crew`: to be joined */
};

/* A thread that is being made; 0 or an errno. */
struct creation {
    struct al_worker *worker;
    int error;
};

/* Under the lock: from here on every wait returns at once. */
static void begin_shutdown(struct al_workers *workers)
{
    struct epoll_event event = { .events = EPOLLIN, .data.u64 = OUTPUT_EVENT };

    workers->ending = true;
    (void)epoll_ctl(workers->epoll_fd, EPOLL_CTL_MOD, workers->ready_fd, &event);
    (void)pthread_cond_signal(&workers->ended);
}

/*
 * Under the lock: whoever is told of this turn has it.  While too much output waits, reading more
 * would only add to it.
 */
static void promote_follower(struct al_workers *workers)
{
    const bool ready = workers->buffered || workers->input_always_ready;
    struct epoll_event event = { .data.u64 = ++workers->term };

    workers->paused = !workers->buffered && al_message_writer_full(workers->options.out);
    event.events = (workers->paused ? EPOLLRDHUP : EPOLLIN) | EPOLLONESHOT;
    if (epoll_ctl(workers->epoll_fd, EPOLL_CTL_MOD,
                  ready ? workers->ready_fd : workers->options.reader->fd, &event))
        begin_shutdown(workers); /* somebody closed the input */
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

/* Under the lock: the output is dead, or has room again. */
static void on_output_event(struct al_workers *workers)
{
    if (al_message_writer_dead(workers->options.out))
        begin_shutdown(workers);
    else if (workers->paused)
        promote_follower(workers);
}

/* Join the threads that ended by themselves, or every one, even of those that are made meanwhile.
 */
static void join_workers(struct al_workers *workers, bool all)
{
    struct al_worker *worker;

    do {
        struct al_worker **at = &workers->list;

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

/* Under the lock: something happened.  Whether it is the turn, which is the caller's then. */
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

static int idle_timeout_ms(struct al_workers *workers)
{
    int ms;

    (void)pthread_mutex_lock(&workers->lock);
    ms = workers->nfree > FREE_MAX ? IDLE_TIMEOUT_MS : -1;
    (void)pthread_mutex_unlock(&workers->lock);
    return ms;
}

/* Nothing came for a while.  Whether there are enough others that wait. */
static bool should_exit(struct al_worker *worker)
{
    struct al_workers *workers = worker->workers;
    bool exits, last;

    join_workers(workers, false); /* nobody makes a thread now, who would join them */
    (void)pthread_mutex_lock(&workers->lock);
    exits = !workers->ending && workers->nfree > FREE_MAX;
    if (exits)
        workers->nfree--;
    worker->exited = exits;
    last = exits && workers->nfree == FREE_MAX;
    (void)pthread_mutex_unlock(&workers->lock);
    if (last)
        (void)malloc_trim(0); /* what a burst took nobody may need again */
    return exits;
}

static void *thread_main(void *payload);

/* Run by a thread that no filter holds, which this one may not be: see al_proc_confine_thread(). */
static void create_thread(void *payload)
{
    struct creation *creation = payload;
    pthread_attr_t attr;

    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setstacksize(&attr, STACK_BYTES);
    creation->error =
        pthread_create(&creation->worker->thread, &attr, thread_main, creation->worker);
    (void)pthread_attr_destroy(&attr);
}

/* One more thread, which goes and waits for the turn.  0 or an errno. */
static int add_worker(struct al_workers *workers)
{
    struct al_worker *worker = al_calloc(1, sizeof(*worker));
    struct creation creation = { .worker = worker };

    worker->workers = workers;
    /* Without the lock: another thread makes this one, and everybody who passes the turn would wait
     * for both.  The new one may be gone before it is in the list, and is joined from there. */
    al_proc_run_unfiltered(create_thread, &creation);
    if (creation.error) {
        free(worker);
        return creation.error;
    }
    (void)pthread_mutex_lock(&workers->lock);
    worker->next = workers->list;
    workers->list = worker;
    (void)pthread_mutex_unlock(&workers->lock);
    return 0;
}

/* Whether there is a thread to read on while the caller runs a call. */
static bool hand_over_reading(struct al_workers *workers)
{
    bool others;

    (void)pthread_mutex_lock(&workers->lock);
    others = workers->nfree > 1;
    if (others)
        workers->nfree--;
    (void)pthread_mutex_unlock(&workers->lock);
    if (others)
        return true;
    join_workers(workers, false);
    return add_worker(workers) == 0; /* free in the place of the caller */
}

static void mark_free(struct al_workers *workers)
{
    (void)pthread_mutex_lock(&workers->lock);
    workers->nfree++;
    (void)pthread_mutex_unlock(&workers->lock);
}

/* A call that was put aside; NULL when somebody else has taken it, or no thread is there to read
 * on: it lies there until one of those has time that run calls now. */
static struct al_inflight *take_queued(struct al_workers *workers)
{
    struct al_inflight *call;

    if (!hand_over_reading(workers))
        return NULL;
    call = al_calls_dequeue(workers->options.calls);
    if (!call)
        mark_free(workers);
    return call;
}

/* What a thread waits for: the turn, or a call. */
struct work {
    bool leads;
    bool has_input; /* there is some, or it is closed */
    struct al_inflight *call;
};

/* False when the thread is to end. */
static bool wait_for_work(struct al_worker *worker, struct work *ret_work)
{
    struct al_workers *workers = worker->workers;
    bool exits = false;

    *ret_work = (struct work){ .leads = false };
    while (!ret_work->leads && !ret_work->call && !exits) {
        struct epoll_event event = { .events = 0 };
        const int n = epoll_wait(workers->epoll_fd, &event, 1, idle_timeout_ms(workers));

        if (n == 0) {
            exits = should_exit(worker);
        } else if (n == 1 && event.data.u64 == BACKLOG_EVENT) {
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

/* Whether the thread is still wanted after its call. */
static bool rejoin_pool(struct al_worker *worker)
{
    struct al_workers *workers = worker->workers;
    bool stays;

    (void)pthread_mutex_lock(&workers->lock);
    stays = !workers->ending && workers->nfree < FREE_BURST_MAX;
    if (stays)
        workers->nfree++;
    worker->exited = !stays;
    (void)pthread_mutex_unlock(&workers->lock);
    return stays;
}

/* Read and serve, and pass the turn on.  Returns the call that is to be run. */
static struct al_inflight *lead(struct al_workers *workers, bool has_input)
{
    struct al_reader *reader = workers->options.reader;
    struct al_inflight *call;

    if (!workers->buffered && has_input)
        al_reader_fill(reader);
    else if (!workers->buffered) /* no writer is left, or the descriptor is no good */
        reader->ended = true;
    while ((call = workers->options.serve(workers->options.payload, &workers->buffered))) {
        if (!al_calls_admit(call))
            continue;
        if (hand_over_reading(workers))
            break;
        al_calls_refuse(call, "no thread could be started for the call");
    }
    step_down(workers);
    return call;
}

/* The call, and those that were put aside meanwhile. */
static void run_calls(struct al_workers *workers, struct al_inflight *call)
{
    for (; call; call = al_calls_dequeue(workers->options.calls))
        al_calls_run(call);
}

static void *thread_main(void *payload)
{
    struct al_worker *worker = payload;
    struct al_workers *workers = worker->workers;
    struct work work;
    bool wanted = true;

    al_proc_confine_thread();
    while (wanted && wait_for_work(worker, &work)) {
        if (work.leads)
            work.call = lead(workers, work.has_input);
        if (work.call) {
            run_calls(workers, work.call);
            wanted = rejoin_pool(worker);
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

/* Watch all there is, and offer the first turn. */
static int open_epoll(struct al_workers *workers, struct al_error *err)
{
    workers->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    workers->ready_fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
    if (workers->epoll_fd < 0 || workers->ready_fd < 0 ||
        add_fd(workers, workers->ready_fd, EPOLLONESHOT, OUTPUT_EVENT) < 0 ||
        add_fd(workers, workers->options.out->event_fd, EPOLLIN | EPOLLET, OUTPUT_EVENT) < 0 ||
        add_fd(workers, workers->options.calls->backlog_fd, EPOLLIN | EPOLLET, BACKLOG_EVENT) < 0)
        return al_error_errno(err, errno, "cannot watch the input");
    /* Where that does not work a read blocks for long as little as poll() would have. */
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
    workers->nfree = 1; /* before it counts itself */
    r = add_worker(workers);
    if (r != 0) {
        clear(workers);
        return al_error_errno(err, r, "cannot start a thread");
    }
    if (add_worker(workers) == 0)
        mark_free(workers);
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
    join_workers(workers, true);
    clear(workers);
}
