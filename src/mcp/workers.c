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
#define FREE_MAX       8
#define FREE_BURST_MAX 64
#define LINGER_MS      2000

/* The events of what is not a turn: news of the output, or the end; a call that was put aside. */
#define NEWS  ((uint64_t)0)
#define ASIDE UINT64_MAX

struct al_member {
    struct al_member *next;
    struct al_workers *crew;
    pthread_t thread;
    bool gone; /* under the lock of `crew`: to be joined */
};

/* A thread that is being made; 0 or an errno. */
struct creation {
    struct al_member *member;
    int error;
};

/* Under the lock: from here on every wait returns at once. */
static void begin_end(struct al_workers *crew)
{
    struct epoll_event event = { .events = EPOLLIN, .data.u64 = NEWS };

    crew->ending = true;
    (void)epoll_ctl(crew->epoll_fd, EPOLL_CTL_MOD, crew->go_fd, &event);
    (void)pthread_cond_signal(&crew->ended);
}

/*
 * Under the lock: whoever is told of this turn has it.  While too much output waits, reading more
 * would only add to it.
 */
static void offer_turn(struct al_workers *crew)
{
    const bool go = crew->more || crew->always_ready;
    struct epoll_event event = { .data.u64 = ++crew->turn };

    crew->paused = !crew->more && al_message_writer_full(crew->task.out);
    event.events = (crew->paused ? EPOLLRDHUP : EPOLLIN) | EPOLLONESHOT;
    if (epoll_ctl(crew->epoll_fd, EPOLL_CTL_MOD, go ? crew->go_fd : crew->task.reader->fd, &event))
        begin_end(crew); /* somebody closed the input */
}

static void pass_turn(struct al_workers *crew)
{
    (void)pthread_mutex_lock(&crew->lock);
    if ((crew->task.reader->ended && !crew->more) || al_message_writer_dead(crew->task.out))
        begin_end(crew);
    else if (!crew->ending)
        offer_turn(crew);
    (void)pthread_mutex_unlock(&crew->lock);
}

/* Under the lock: the output is dead, or has room again. */
static void hear_news(struct al_workers *crew)
{
    if (al_message_writer_dead(crew->task.out))
        begin_end(crew);
    else if (crew->paused)
        offer_turn(crew);
}

/* Join the threads that ended by themselves, or every one, even of those that are made meanwhile.
 */
static void join_members(struct al_workers *crew, bool all)
{
    struct al_member *member;

    do {
        struct al_member **at = &crew->members;

        (void)pthread_mutex_lock(&crew->lock);
        while (*at && !all && !(*at)->gone)
            at = &(*at)->next;
        member = *at;
        if (member)
            *at = member->next;
        (void)pthread_mutex_unlock(&crew->lock);
        if (member)
            (void)pthread_join(member->thread, NULL);
        free(member);
    } while (member);
}

/* Under the lock: something happened.  Whether it is the turn, which is the caller's then. */
static bool take_turn(struct al_workers *crew, uint64_t what)
{
    if (crew->ending)
        return false;
    if (what == NEWS)
        hear_news(crew);
    if (what != crew->turn)
        return false;
    crew->paused = false;
    return true;
}

static int patience_ms(struct al_workers *crew)
{
    int ms;

    (void)pthread_mutex_lock(&crew->lock);
    ms = crew->nfree > FREE_MAX ? LINGER_MS : -1;
    (void)pthread_mutex_unlock(&crew->lock);
    return ms;
}

/* Nothing came for a while.  Whether there are enough others that wait. */
static bool is_left_over(struct al_member *member)
{
    struct al_workers *crew = member->crew;
    bool over, last;

    join_members(crew, false); /* nobody makes a thread now, who would join them */
    (void)pthread_mutex_lock(&crew->lock);
    over = !crew->ending && crew->nfree > FREE_MAX;
    if (over)
        crew->nfree--;
    member->gone = over;
    last = over && crew->nfree == FREE_MAX;
    (void)pthread_mutex_unlock(&crew->lock);
    if (last)
        (void)malloc_trim(0); /* what a burst took nobody may need again */
    return over;
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
        pthread_create(&creation->member->thread, &attr, thread_main, creation->member);
    (void)pthread_attr_destroy(&attr);
}

/* One more thread, which goes and waits for the turn.  0 or an errno. */
static int add_member(struct al_workers *crew)
{
    struct al_member *member = al_calloc(1, sizeof(*member));
    struct creation creation = { .member = member };

    member->crew = crew;
    /* Without the lock: another thread makes this one, and everybody who passes the turn would wait
     * for both.  The new one may be gone before it is in the list, and is joined from there. */
    al_proc_run_open(create_thread, &creation);
    if (creation.error) {
        free(member);
        return creation.error;
    }
    (void)pthread_mutex_lock(&crew->lock);
    member->next = crew->members;
    crew->members = member;
    (void)pthread_mutex_unlock(&crew->lock);
    return 0;
}

/* Whether there is a thread to read on while the caller runs a call. */
static bool leave_reading(struct al_workers *crew)
{
    bool others;

    (void)pthread_mutex_lock(&crew->lock);
    others = crew->nfree > 1;
    if (others)
        crew->nfree--;
    (void)pthread_mutex_unlock(&crew->lock);
    if (others)
        return true;
    join_members(crew, false);
    return add_member(crew) == 0; /* free in the place of the caller */
}

static void count_free(struct al_workers *crew)
{
    (void)pthread_mutex_lock(&crew->lock);
    crew->nfree++;
    (void)pthread_mutex_unlock(&crew->lock);
}

/* A call that was put aside; NULL when somebody else has taken it, or no thread is there to read
 * on: it lies there until one of those has time that run calls now. */
static struct al_inflight *take_aside(struct al_workers *crew)
{
    struct al_inflight *call;

    if (!leave_reading(crew))
        return NULL;
    call = al_calls_next(crew->task.calls);
    if (!call)
        count_free(crew);
    return call;
}

/* What a thread waits for: the turn, or a call. */
struct work {
    bool turn;
    bool input; /* there is some, or it is closed */
    struct al_inflight *call;
};

/* False when the thread is to end. */
static bool wait_for_work(struct al_member *member, struct work *ret_work)
{
    struct al_workers *crew = member->crew;
    bool over = false;

    *ret_work = (struct work){ .turn = false };
    while (!ret_work->turn && !ret_work->call && !over) {
        struct epoll_event event = { .events = 0 };
        const int n = epoll_wait(crew->epoll_fd, &event, 1, patience_ms(crew));

        if (n == 0) {
            over = is_left_over(member);
        } else if (n == 1 && event.data.u64 == ASIDE) {
            ret_work->call = take_aside(crew);
        } else if (n == 1) {
            (void)pthread_mutex_lock(&crew->lock);
            ret_work->turn = take_turn(crew, event.data.u64);
            over = crew->ending;
            (void)pthread_mutex_unlock(&crew->lock);
        }
        ret_work->input = event.events & EPOLLIN;
    }
    return ret_work->turn || ret_work->call;
}

/* Whether the thread is still wanted after its call. */
static bool come_back(struct al_member *member)
{
    struct al_workers *crew = member->crew;
    bool stays;

    (void)pthread_mutex_lock(&crew->lock);
    stays = !crew->ending && crew->nfree < FREE_BURST_MAX;
    if (stays)
        crew->nfree++;
    member->gone = !stays;
    (void)pthread_mutex_unlock(&crew->lock);
    return stays;
}

/* Read and serve, and pass the turn on.  Returns the call that is to be run. */
static struct al_inflight *use_turn(struct al_workers *crew, bool input)
{
    struct al_reader *reader = crew->task.reader;
    struct al_inflight *call;

    if (!crew->more && input)
        al_reader_fill(reader);
    else if (!crew->more) /* no writer is left, or the descriptor is no good */
        reader->ended = true;
    while ((call = crew->task.serve(crew->task.payload, &crew->more))) {
        if (!al_calls_admit(call))
            continue;
        if (leave_reading(crew))
            break;
        al_calls_refuse(call, "no thread could be started for the call");
    }
    pass_turn(crew);
    return call;
}

/* The call, and those that were put aside meanwhile. */
static void run_calls(struct al_workers *crew, struct al_inflight *call)
{
    for (; call; call = al_calls_next(crew->task.calls))
        al_calls_run(call);
}

static void *thread_main(void *payload)
{
    struct al_member *member = payload;
    struct al_workers *crew = member->crew;
    struct work work;
    bool wanted = true;

    al_proc_confine_thread();
    while (wanted && wait_for_work(member, &work)) {
        if (work.turn)
            work.call = use_turn(crew, work.input);
        if (work.call) {
            run_calls(crew, work.call);
            wanted = come_back(member);
        }
    }
    return NULL;
}

static void clear(struct al_workers *crew)
{
    al_close(al_take_fd(&crew->epoll_fd));
    al_close(al_take_fd(&crew->go_fd));
    (void)pthread_cond_destroy(&crew->ended);
    (void)pthread_mutex_destroy(&crew->lock);
}

static int watch(const struct al_workers *crew, int fd, uint32_t events, uint64_t turn)
{
    struct epoll_event event = { .events = events, .data.u64 = turn };

    return epoll_ctl(crew->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

/* Watch all there is, and offer the first turn. */
static int open_watch(struct al_workers *crew, struct al_error *err)
{
    crew->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    crew->go_fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
    if (crew->epoll_fd < 0 || crew->go_fd < 0 || watch(crew, crew->go_fd, EPOLLONESHOT, NEWS) < 0 ||
        watch(crew, crew->task.out->notice_fd, EPOLLIN | EPOLLET, NEWS) < 0 ||
        watch(crew, crew->task.calls->aside_fd, EPOLLIN | EPOLLET, ASIDE) < 0)
        return al_error_errno(err, errno, "cannot watch the input");
    /* Where that does not work a read blocks for long as little as poll() would have. */
    crew->turn = 1;
    crew->always_ready = watch(crew, crew->task.reader->fd, EPOLLIN | EPOLLONESHOT, 1) < 0;
    if (crew->always_ready && errno != EPERM && errno != EBADF)
        return al_error_errno(err, errno, "cannot watch the input");
    if (crew->always_ready)
        offer_turn(crew);
    return 0;
}

int al_workers_start(struct al_workers *crew, const struct al_workers_task *task,
                     struct al_error *err)
{
    int r;

    *crew = (struct al_workers){ .task = *task, .epoll_fd = -1, .go_fd = -1 };
    (void)pthread_mutex_init(&crew->lock, NULL);
    (void)pthread_cond_init(&crew->ended, NULL);
    r = open_watch(crew, err);
    if (r < 0) {
        clear(crew);
        return r;
    }
    crew->nfree = 1; /* before it counts itself */
    r = add_member(crew);
    if (r != 0) {
        clear(crew);
        return al_error_errno(err, r, "cannot start a thread");
    }
    if (add_member(crew) == 0)
        count_free(crew);
    return 0;
}

void al_workers_wait(struct al_workers *crew)
{
    (void)pthread_mutex_lock(&crew->lock);
    while (!crew->ending)
        (void)pthread_cond_wait(&crew->ended, &crew->lock);
    (void)pthread_mutex_unlock(&crew->lock);
}

void al_workers_join(struct al_workers *crew)
{
    join_members(crew, true);
    clear(crew);
}
