// SPDX-License-Identifier: Apache-2.0
/* The directory that one push works in: store.git/push-<pid>-<random>. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/command.h"
#include "gitops/plumbing/bare_run.h"
#include "gitops/plumbing/revision.h"
#include "staging/push/private.h"
#include "staging/store.h"
#include "util/fs.h"

#define PREFIX "push-"

/* Remove what a killed process left.  A process of another user, or one that took over the number,
 * only makes it stay longer. */
static void remove_left(const char *store, int dir_fd)
{
    al_auto(al_closedirp) DIR *entries = al_fs_list_at(dir_fd);
    const struct dirent *entry;

    while (entries && (entry = readdir(entries))) {
        al_auto(al_freep) char *path = NULL;
        unsigned long long pid;

        if (!al_starts_with(entry->d_name, PREFIX))
            continue;
        pid = strtoull(entry->d_name + strlen(PREFIX), NULL, 10);
        if (!pid || pid > INT32_MAX || kill((pid_t)pid, 0) == 0 || errno != ESRCH)
            continue;
        path = al_fs_join(store, entry->d_name);
        al_fs_remove_tree(path);
    }
}

int al_push_dir_make(const struct al_push *push, struct al_push_dir *ret_dir, struct al_error *err)
{
    const struct al_staging *staging = push->staging;
    al_auto(al_freep) char *store = al_fs_fd_path(staging->bare.dir_fd);
    al_auto(al_freep) char *name = NULL;
    uint64_t nonce;

    if (!store || getrandom(&nonce, sizeof(nonce), 0) != (ssize_t)sizeof(nonce))
        return al_staging_unusable(staging, errno, err);
    remove_left(store, staging->bare.dir_fd);
    name = al_asprintf(PREFIX "%ld-%016" PRIx64, (long)getpid(), nonce);
    if (mkdirat(staging->bare.dir_fd, name, 0700) < 0)
        return al_staging_unusable(staging, errno, err);
    ret_dir->bare = staging->bare;
    ret_dir->bare.lender = &push->repo->at;
    ret_dir->path = al_fs_join(store, name);
    ret_dir->index = al_fs_join(ret_dir->path, "index");
    return 0;
}

void al_push_dir_remove(struct al_push_dir *dir)
{
    if (dir->path)
        al_fs_remove_tree(dir->path);
    free(dir->path);
    free(dir->index);
    *dir = AL_PUSH_DIR_INIT;
}

static bool add_bytes(void *payload, const char *data, size_t len)
{
    if (payload)
        al_str_add(payload, data, len);
    return true;
}

/* The target may have a commit-graph that tells other trees and parents than its commits do. */
static void ignore_commit_graph(struct al_git_command *command)
{
    al_auto(al_strv_clear) struct al_strv words = command->argv;

    command->argv = AL_STRV_INIT;
    al_strv_adds(&command->argv, words.items[0], "-c", AL_NO_COMMIT_GRAPH, NULL);
    for (size_t i = 1; i < words.count; i++)
        al_strv_add(&command->argv, words.items[i]);
}

int al_push_git_sink(const struct al_push_dir *dir, struct al_git_command *command,
                     struct al_sink sink, struct al_run_limits *budget, struct al_error *err)
{
    ignore_commit_graph(command);
    command->index = dir->index;
    return al_bare_run(&dir->bare, command, true, sink, budget, err);
}

int al_push_git(const struct al_push_dir *dir, struct al_git_command *command, struct al_str *out,
                struct al_run_limits *budget, struct al_error *err)
{
    return al_push_git_sink(dir, command, (struct al_sink){ add_bytes, out }, budget, err);
}
