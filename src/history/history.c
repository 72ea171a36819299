// SPDX-License-Identifier: Apache-2.0
#include "history/history.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/fs.h"

#define LOG_SUFFIX ".jsonl"

char *al_history_name(const char *file, uint64_t last_seq)
{
    al_auto(al_freep) char *suffix = al_asprintf(".%" PRIu64 LOG_SUFFIX, last_seq);

    return al_journal_beside(file, suffix);
}

int al_history_open_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    return fd < 0 ? -errno : fd;
}

/* The number in "<stem>.<number>.jsonl"; 0 for any other name. */
static uint64_t number_of(const char *name, const char *stem)
{
    const char *digits = name + strlen(stem);
    uint64_t number = 0;
    int used = 0;

    if (!al_starts_with(name, stem) || digits[0] != '.' || digits[1] < '1' || digits[1] > '9')
        return 0;
    if (sscanf(digits, ".%18" SCNu64 LOG_SUFFIX "%n", &number, &used) != 1 || !used)
        return 0;
    return digits[used] ? 0 : number;
}

struct numbers {
    uint64_t *items;
    size_t count;
};

static int by_value(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;

    return (*left > *right) - (*left < *right);
}

static int find_numbers(const char *dir_path, const char *stem, struct numbers *ret_numbers)
{
    DIR *dir = opendir(dir_path);
    const struct dirent *entry;

    if (!dir)
        return errno == ENOENT ? 0 : -errno;
    while ((entry = readdir(dir))) {
        uint64_t number = number_of(entry->d_name, stem);

        if (!number)
            continue;
        ret_numbers->items = al_reallocarray(ret_numbers->items, ret_numbers->count + 1,
                                             sizeof(*ret_numbers->items));
        ret_numbers->items[ret_numbers->count++] = number;
    }
    (void)closedir(dir);
    if (ret_numbers->count)
        qsort(ret_numbers->items, ret_numbers->count, sizeof(*ret_numbers->items), by_value);
    return 0;
}

static int find_rotated(const char *file, struct al_strv *ret_paths)
{
    al_auto(al_freep) char *dir = al_strndup(file, (size_t)(strrchr(file, '/') - file) + 1);
    al_auto(al_freep) char *stem = al_journal_beside(file, "");
    struct numbers numbers = { .items = NULL };
    int r = find_numbers(dir, strrchr(stem, '/') + 1, &numbers);

    for (size_t i = 0; i < numbers.count; i++)
        al_strv_take(ret_paths, al_history_name(file, numbers.items[i]));
    free(numbers.items);
    return r;
}

/* While the head is locked, no line is appended and no file begun. */
static int read_files(const char *file, int head_fd, const struct al_key *key,
                      struct al_history *found)
{
    struct stat st;
    int r = find_rotated(file, &found->rotated);

    if (!key && head_fd >= 0)
        found->found = AL_HEAD_BAD;
    if (r == 0 && key && head_fd >= 0)
        r = al_head_read(head_fd, key, &found->head, &found->found);
    if (r < 0)
        return r;
    r = al_history_open_file(file);
    if (r == -ENOENT)
        return 0;
    if (r < 0)
        return r;
    found->log_fd = r;
    if (fstat(r, &st) < 0)
        return -errno;
    found->size = (uint64_t)st.st_size;
    return S_ISREG(st.st_mode) ? 0 : -EINVAL;
}

/* Lock the head until the descriptor is closed.  0 or -errno. */
static int lock(int head_fd)
{
    int r;

    do
        r = flock(head_fd, LOCK_SH);
    while (r < 0 && errno == EINTR);
    return r < 0 ? -errno : 0;
}

int al_history_open(const char *file, const struct al_key *key, struct al_history *ret_history)
{
    al_auto(al_freep) char *head_path = al_journal_beside(file, ".head");
    al_auto(al_closep) int head_fd = al_history_open_file(head_path);
    int r;

    *ret_history = AL_HISTORY_INIT;
    ret_history->head = al_head_empty();
    ret_history->found = AL_HEAD_EMPTY;
    if (head_fd < 0 && head_fd != -ENOENT)
        return head_fd;
    r = head_fd < 0 ? 0 : lock(head_fd);
    if (r == 0)
        r = read_files(file, head_fd, key, ret_history);
    if (r < 0)
        al_history_clear(ret_history);
    return r;
}

void al_history_clear(struct al_history *history)
{
    al_close(history->log_fd);
    al_strv_clear(&history->rotated);
    *history = AL_HISTORY_INIT;
}

size_t al_history_count(const struct al_history *history)
{
    return history->rotated.count + (history->log_fd >= 0);
}

int al_history_file(const struct al_history *history, size_t index)
{
    int fd;

    if (index < history->rotated.count)
        return al_history_open_file(history->rotated.items[index]);
    fd = fcntl(history->log_fd, F_DUPFD_CLOEXEC, 0);
    return fd < 0 ? -errno : fd;
}

bool al_history_is_empty(const struct al_history *history)
{
    return history->rotated.count == 0 && history->size == 0;
}
