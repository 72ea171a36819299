// SPDX-License-Identifier: Apache-2.0
#include "bench/plain.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/stats.h"

extern char **environ;

#define WORKERS_MAX 64

size_t plain_run(const char *dir, const char *const *argv, size_t stop_after)
{
    posix_spawn_file_actions_t actions;
    char piece[65536];
    size_t total = 0;
    int out[2];
    pid_t pid;
    ssize_t n;
    int r;

    if (pipe2(out, O_CLOEXEC) < 0)
        give_up("pipe: %s", strerror(errno));
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addchdir_np(&actions, dir);
    r = posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(out[1]);
    if (r != 0)
        give_up("%s: %s", argv[0], strerror(r));
    while ((n = read(out[0], piece, sizeof(piece))) > 0) {
        total += (size_t)n;
        if (stop_after && total >= stop_after) {
            (void)kill(pid, SIGKILL);
            break;
        }
    }
    close(out[0]);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return total;
}

struct batch {
    const char *dir;
    const char *const *argv;
    atomic_int left;
};

static void *work(void *payload)
{
    struct batch *batch = payload;

    while (atomic_fetch_sub(&batch->left, 1) > 0)
        plain_run(batch->dir, batch->argv, 0);
    return NULL;
}

void plain_run_many(const char *dir, const char *const *argv, unsigned times, unsigned workers)
{
    struct batch batch = { .dir = dir, .argv = argv, .left = (int)times };
    pthread_t threads[WORKERS_MAX];

    if (workers > WORKERS_MAX)
        workers = WORKERS_MAX;
    for (unsigned i = 0; i < workers; i++)
        if (pthread_create(&threads[i], NULL, work, &batch) != 0)
            give_up("no thread could be started");
    for (unsigned i = 0; i < workers; i++)
        pthread_join(threads[i], NULL);
}
