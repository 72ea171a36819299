// SPDX-License-Identifier: Apache-2.0
/* Finds the children of a process in /proc. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proc/reaper.h"
#include "util/fs.h"

/* Enough for 10,000 children of one thread; the next sweep finds the rest. */
#define CHILDREN_MAX_BYTES (64u * 1024u)
#define STAT_MAX_BYTES     1024u

static void closedirp(DIR **dir)
{
    if (*dir)
        closedir(*dir);
}

void al_pids_add(struct al_pids *pids, pid_t pid)
{
    if (pids->count == pids->capacity) {
        pids->capacity = pids->capacity ? 2 * pids->capacity : 16;
        pids->items = al_reallocarray(pids->items, pids->capacity, sizeof(*pids->items));
    }
    pids->items[pids->count++] = pid;
}

void al_pids_clear(struct al_pids *pids)
{
    free(pids->items);
    *pids = (struct al_pids){ .items = NULL };
}

bool al_pids_contain(const struct al_pids *pids, pid_t pid)
{
    for (size_t i = 0; i < pids->count; i++) {
        if (pids->items[i] == pid)
            return true;
    }
    return false;
}

/* The number `text` begins with. */
static pid_t number_at(const char *text)
{
    pid_t number = 0;

    for (; *text >= '0' && *text <= '9'; text++)
        number = number * 10 + (*text - '0');
    return number;
}

/* Read a small file of /proc.  False: it does not exist. */
static bool read_proc(int dir_fd, const char *name, char *buffer, size_t size)
{
    al_auto(al_closep) int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
    size_t len = 0;

    if (fd < 0)
        return false;
    while (len < size - 1) {
        ssize_t got = read(fd, buffer + len, size - 1 - len);

        if (got <= 0)
            break;
        len += (size_t)got;
    }
    buffer[len] = '\0';
    return true;
}

/* Add the numbers of "12 34 56 ", the format of /proc/PID/task/TID/children.  A number that is cut
 * off at the end is skipped. */
static void add_numbers(struct al_pids *pids, const char *text)
{
    for (const char *end; (end = strchr(text, ' ')); text = end + 1)
        al_pids_add(pids, number_at(text));
}

bool al_pids_add_listed(struct al_pids *pids, pid_t parent)
{
    char path[64];
    al_auto(al_freep) char *text = NULL;
    bool listed = true;

    (void)snprintf(path, sizeof(path), "/proc/%d/task", (int)parent);
    al_auto(closedirp) DIR *tasks = opendir(path);
    if (!tasks)
        return access("/proc/self/task", F_OK) ==
               0; /* true: the process has ended; false: no /proc */
    text = al_malloc(CHILDREN_MAX_BYTES);
    for (struct dirent *task; (task = readdir(tasks));) {
        if (task->d_name[0] == '.')
            continue;
        (void)snprintf(path, sizeof(path), "%.20s/children", task->d_name);
        if (read_proc(dirfd(tasks), path, text, CHILDREN_MAX_BYTES))
            add_numbers(pids, text);
        else if (faccessat(dirfd(tasks), task->d_name, F_OK, 0) == 0)
            listed = false;
    }
    return listed;
}

/* PPID of "PID (name) STATE PPID …".  Only the name may contain brackets. */
static pid_t parent_in(const char *stat)
{
    const char *after_name = strrchr(stat, ')');

    return after_name && strlen(after_name) > 4 ? number_at(after_name + 4) : 0;
}

void al_pids_add_scanned(struct al_pids *pids, pid_t parent)
{
    al_auto(closedirp) DIR *all = opendir("/proc");
    char path[64], stat[STAT_MAX_BYTES];

    if (!all)
        return;
    for (struct dirent *process; (process = readdir(all));) {
        if (process->d_name[0] < '1' || process->d_name[0] > '9')
            continue;
        (void)snprintf(path, sizeof(path), "%.20s/stat", process->d_name);
        if (read_proc(dirfd(all), path, stat, sizeof(stat)) && parent_in(stat) == parent)
            al_pids_add(pids, number_at(process->d_name));
    }
}
