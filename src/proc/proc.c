// SPDX-License-Identifier: Apache-2.0
#include "proc/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "proc/reaper.h"
#include "proc/seccomp.h"
#include "proc/spawn.h"

static bool add(void *payload, const char *data, size_t len)
{
    struct al_buffer *buffer = payload;
    const size_t room = buffer->max_bytes - buffer->text.len;
    const size_t kept = len < room ? len : room;

    al_str_add(&buffer->text, data, kept);
    buffer->total += len;
    return kept == len;
}

struct al_sink al_buffer_sink(struct al_buffer *buffer)
{
    return (struct al_sink){ .add = add, .payload = buffer };
}

void al_buffer_clear(struct al_buffer *buffer)
{
    al_str_clear(&buffer->text);
    buffer->total = 0;
}

int al_proc_exec(const char *program, char *const *argv, char *const *envp)
{
    (void)execve(program, argv, envp);
    return -errno;
}

/* Finds the children of a process in /proc. */

#define CHILDREN_MAX_BYTES (1u << 20)
#define STAT_MAX_BYTES     4096u

static void add_pid(struct al_pids *pids, pid_t pid)
{
    pids->items = al_grow(pids->items, pids->count, sizeof(*pids->items));
    pids->items[pids->count++] = pid;
}

void al_pids_clear(struct al_pids *pids)
{
    free(pids->items);
    *pids = (struct al_pids){ .items = NULL };
}

bool al_pids_contain(const struct al_pids *pids, pid_t pid)
{
    for (size_t i = 0; i < pids->count; i++)
        if (pids->items[i] == pid)
            return true;
    return false;
}

/* The number `text` begins with; 0: it begins with none. */
static pid_t number_at(const char *text)
{
    return (pid_t)strtoull(text, NULL, 10);
}

bool al_pids_add_listed(struct al_pids *pids, pid_t parent)
{
    char path[64];
    bool listed = true;

    (void)snprintf(path, sizeof(path), "/proc/%d/task", (int)parent);
    al_auto(al_closedirp) DIR *tasks = opendir(path);
    if (!tasks)
        return access("/proc/self/task", F_OK) ==
               0; /* true: the process has ended; false: no /proc */
    for (struct dirent *task; (task = readdir(tasks));) {
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

        if (task->d_name[0] == '.')
            continue;
        (void)snprintf(path, sizeof(path), "%.20s/children", task->d_name);
        if (al_fs_read(dirfd(tasks), path, CHILDREN_MAX_BYTES, &text) < 0)
            listed &= faccessat(dirfd(tasks), task->d_name, F_OK, 0) < 0;
        /* "12 34 56 " */
        for (const char *at = text.buf, *end; (end = strchr(at, ' ')); at = end + 1)
            add_pid(pids, number_at(at));
    }
    return listed;
}

pid_t al_pid_parent(pid_t pid)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_freep) char *path = al_asprintf("/proc/%ld/stat", (long)pid);
    /* "PID (name) STATE PPID …": only the name may contain brackets. */
    const char *after_name =
        al_fs_read(AT_FDCWD, path, STAT_MAX_BYTES, &text) < 0 ? NULL : strrchr(text.buf, ')');

    return after_name && strlen(after_name) > 4 ? number_at(after_name + 4) : -1;
}

void al_pids_add_scanned(struct al_pids *pids, pid_t parent)
{
    al_auto(al_closedirp) DIR *all = opendir("/proc");

    for (struct dirent *process; all && (process = readdir(all));) {
        const pid_t pid = number_at(process->d_name);

        if (pid && al_pid_parent(pid) == parent)
            add_pid(pids, pid);
    }
}

static bool ready;
static const char *exec_path; /* AL_EXEC_PATH once it is mapped */

/* Written once and then read-only, so that no defect can redirect execve. */
static int map_exec_page(const char *program, struct al_error *err)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE), len = strlen(program);
    char *page;

    if (len + 2 > page_bytes)
        return al_error_set(err, AL_ERR_EXECUTION, "the path of the program is too long");
    page = mmap((void *)AL_EXEC_PAGE, page_bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (page == MAP_FAILED)
        return al_error_errno(err, errno, "cannot map the exec-once page");
    memcpy((char *)AL_EXEC_PATH, program, len + 1);
    if (mprotect(page, page_bytes, PROT_READ) < 0)
        return al_error_errno(err, errno, "cannot protect the exec-once page");
    exec_path = (const char *)AL_EXEC_PATH;
    return 0;
}

int al_proc_init(const char *program, struct al_error *err)
{
    int r;

    if (ready)
        return al_spawn_init(err);
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
        return al_error_errno(err, errno, "cannot become a child subreaper");
    /* The kernel would reap children if SIGCHLD were ignored, and their exit status would be lost.
     */
    if (signal(SIGPIPE, SIG_IGN) == SIG_ERR || signal(SIGXFSZ, SIG_IGN) == SIG_ERR ||
        signal(SIGIO, SIG_IGN) == SIG_ERR || /* somebody wants a file that has a lease */
        signal(SIGCHLD, SIG_DFL) == SIG_ERR)
        return al_error_errno(err, errno, "cannot set signal dispositions");
    if (program && (r = map_exec_page(program, err)) < 0)
        return r;
    r = al_spawn_init(err);
    if (r < 0)
        return r;
    al_reaper_init();
    ready = true;
    return 0;
}

const char *al_exec_page_path(void)
{
    return exec_path;
}
