// SPDX-License-Identifier: Apache-2.0
#include "history/open_records.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/fs.h"

struct al_open_file {
    struct al_open_file *next;
    int fd;
    uint64_t size;     /* where the next line is written */
    size_t nopen;      /* calls that began and did not end */
    bool synced;       /* its name is on the disk */
    bool is_abandoned; /* it has a call whose line must still be written, so it is not removed */
    char name[48];
};

/* The lock protects everything but dir_fd. */
struct al_open_records {
    int dir_fd;
    pthread_mutex_t lock;
    unsigned nfiles;              /* number of names that were tried */
    struct al_open_file *files;   /* every file */
    struct al_open_file *current; /* the file for the next call; NULL when there is none */
};

int al_open_records_open(const char *path, struct al_open_records **ret_records,
                         struct al_error *err)
{
    al_auto(al_closep) int dir_fd = -1;
    struct al_open_records *records;
    int r = al_fs_mkdirs(path, 0700);

    if (r < 0)
        return al_error_errno(err, -r, "cannot create '%s'", path);
    dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (dir_fd < 0)
        return al_error_errno(err, errno, "cannot open '%s'", path);
    records = al_calloc(1, sizeof(*records));
    records->dir_fd = al_take_fd(&dir_fd);
    (void)pthread_mutex_init(&records->lock, NULL);
    *ret_records = records;
    return 0;
}

/* False when the file was removed.  Another file may have its name then. */
static bool is_linked(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && st.st_nlink > 0;
}

/* Close a file, which unlocks it, and remove it if it is not needed. */
static void drop(struct al_open_records *records, struct al_open_file *file)
{
    struct al_open_file **at = &records->files;

    while (*at != file)
        at = &(*at)->next;
    *at = file->next;
    if (file->nopen == 0 && !file->is_abandoned && is_linked(file->fd))
        (void)unlinkat(records->dir_fd, file->name, 0);
    al_close(file->fd);
    free(file);
}

void al_open_records_free(struct al_open_records *records)
{
    if (!records)
        return;
    while (records->files)
        drop(records, records->files);
    (void)pthread_mutex_destroy(&records->lock);
    al_close(records->dir_fd);
    free(records);
}

int al_open_records_dir(const struct al_open_records *records)
{
    return records->dir_fd;
}

/* Begin no more calls in the current file. */
static void retire(struct al_open_records *records)
{
    struct al_open_file *file = records->current;

    records->current = NULL;
    if (file->nopen == 0)
        drop(records, file);
}

/*
 * Lock a file.  The kernel releases the lock when the process ends, however it ends.
 * @return 0; -EEXIST when another process examines the file and may take it for that of a dead
 *         process; another -errno when the file system has no locks.
 */
static int lock_file(int fd)
{
    int r;

    do
        r = flock(fd, LOCK_EX | LOCK_NB);
    while (r < 0 && errno == EINTR);
    if (r < 0)
        return errno == EWOULDBLOCK ? -EEXIST : -errno;
    return is_linked(fd) ? 0 : -EEXIST;
}

/* Create a file with this name.  -EEXIST when the name is taken. */
static int create_named(struct al_open_records *records, const char *name, int *ret_fd)
{
    int fd =
        openat(records->dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    int r = fd < 0 ? -errno : lock_file(fd);

    if (r == 0) {
        *ret_fd = fd;
        return 0;
    }
    if (fd >= 0 && r != -EEXIST)
        (void)unlinkat(records->dir_fd, name, 0);
    al_close(fd);
    return r;
}

static int create(struct al_open_records *records)
{
    struct al_open_file *file = al_calloc(1, sizeof(*file));
    int r;

    do {
        (void)snprintf(file->name, sizeof(file->name), "%ld-%u.jsonl", (long)getpid(),
                       records->nfiles++);
        r = create_named(records, file->name, &file->fd);
    } while (r == -EEXIST);
    if (r < 0) {
        free(file);
        return r;
    }
    file->next = records->files;
    records->files = records->current = file;
    return 0;
}

/* Make sure that there is a current file with room. */
static int prepare_current(struct al_open_records *records)
{
    struct al_open_file *file = records->current;
    bool is_full = file && file->size >= AL_OPEN_FILE_FULL_BYTES;

    if (is_full && file->nopen == 0 && ftruncate(file->fd, 0) == 0) {
        file->size = 0;
        is_full = false;
    }
    if (file && (is_full || !is_linked(file->fd)))
        retire(records);
    return records->current ? 0 : create(records);
}

/* Write all of the text at an offset.  0 or -errno. */
static int write_at(int fd, const struct al_str *text, uint64_t at)
{
    size_t done = 0;

    while (done < text->len) {
        ssize_t n = pwrite(fd, text->buf + done, text->len - done, (off_t)(at + done));

        if (n < 0 && errno != EINTR)
            return -errno;
        if (n > 0)
            done += (size_t)n;
    }
    return 0;
}

/* The newline is written last, so that a partial line does not count. */
static int add_line(struct al_open_file *file, const char *event, uint64_t serial,
                    const struct al_str *members)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    int r;

    al_str_reserve(&line, members ? members->len + 40 : 40);
    al_str_addf(&line, "{\"%s\":%" PRIu64, event, serial);
    if (members) {
        al_str_addc(&line, ',');
        al_str_add(&line, members->buf, members->len);
    }
    al_str_adds(&line, "}\n");
    r = write_at(file->fd, &line, file->size);
    if (r == 0)
        file->size += line.len;
    return r;
}

/* Begin a call.  If that fails and the file has no open call, it is removed. */
static int add_begin(struct al_open_records *records, uint64_t serial, const struct al_str *members)
{
    int r = prepare_current(records);

    if (r < 0)
        return r;
    r = add_line(records->current, "begin", serial, members);
    if (r < 0 && records->current->nopen == 0)
        retire(records);
    return r;
}

int al_open_records_begin(struct al_open_records *records, uint64_t serial,
                          const struct al_str *members, struct al_open_record *ret_record)
{
    bool has_file;
    int r;

    (void)pthread_mutex_lock(&records->lock);
    has_file = records->current != NULL;
    r = add_begin(records, serial, members);
    if (r < 0 && has_file && !records->current) /* the room that ended calls took may be enough */
        r = add_begin(records, serial, members);
    if (r == 0) {
        records->current->nopen++;
        *ret_record = (struct al_open_record){ .file = records->current, .serial = serial };
    }
    (void)pthread_mutex_unlock(&records->lock);
    return r;
}

int al_open_records_note(struct al_open_records *records, const struct al_open_record *record,
                         const struct al_str *members)
{
    int r;

    (void)pthread_mutex_lock(&records->lock);
    r = add_line(record->file, "note", record->serial, members);
    (void)pthread_mutex_unlock(&records->lock);
    return r;
}

/* The lock is not held meanwhile, so that other calls do not wait for the disk.  The file stays
 * because its call is open. */
int al_open_records_sync(struct al_open_records *records, const struct al_open_record *record)
{
    struct al_open_file *file = record->file;
    bool is_new;

    (void)pthread_mutex_lock(&records->lock);
    is_new = !file->synced;
    (void)pthread_mutex_unlock(&records->lock);
    if (fdatasync(file->fd) < 0 || (is_new && fsync(records->dir_fd) < 0))
        return -errno;
    (void)pthread_mutex_lock(&records->lock);
    file->synced = true;
    (void)pthread_mutex_unlock(&records->lock);
    return 0;
}

/* Count one open call less. */
static void close_call(struct al_open_records *records, struct al_open_file *file)
{
    file->nopen--;
    if (file != records->current && file->nopen == 0)
        drop(records, file);
}

/* If the line cannot be written, the call is shown as running for a moment longer. */
void al_open_records_written(struct al_open_records *records, const struct al_open_record *record)
{
    (void)pthread_mutex_lock(&records->lock);
    (void)add_line(record->file, "written", record->serial, NULL);
    (void)pthread_mutex_unlock(&records->lock);
}

/* If the line cannot be written, recover.h finds the call's line in the log. */
void al_open_records_end(struct al_open_records *records, const struct al_open_record *record)
{
    (void)pthread_mutex_lock(&records->lock);
    (void)add_line(record->file, "end", record->serial, NULL);
    close_call(records, record->file);
    (void)pthread_mutex_unlock(&records->lock);
}

/* The file is unlocked when its last other call has ended. */
void al_open_records_abandon(struct al_open_records *records, const struct al_open_record *record)
{
    (void)pthread_mutex_lock(&records->lock);
    record->file->is_abandoned = true;
    if (record->file == records->current)
        records->current = NULL;
    close_call(records, record->file);
    (void)pthread_mutex_unlock(&records->lock);
}
