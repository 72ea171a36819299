// SPDX-License-Identifier: Apache-2.0
#include "journal/open_records.h"

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
    bool is_abandoned; /* it has a call for whoever starts next, so it is not removed */
    char name[48];
};

/* All but the directory: under the lock. */
struct al_open_records {
    int dir_fd;
    pthread_mutex_t lock;
    unsigned nfiles;              /* names that were tried */
    struct al_open_file *files;   /* all of them */
    struct al_open_file *current; /* the one for the next call; NULL: none */
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

/* False when somebody removed it: the name may be another's then. */
static bool is_linked(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && st.st_nlink > 0;
}

/* Close it, which unlocks it. */
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

/* No call begins in it any more. */
static void retire(struct al_open_records *records)
{
    struct al_open_file *file = records->current;

    records->current = NULL;
    if (file->nopen == 0)
        drop(records, file);
}

/* A process that ends gives up its locks, however it ends.  0; -EEXIST when somebody looks at the
 * file just now and may take it for that of a dead process; another -errno when the file system
 * cannot tell. */
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

/* A file of its own name.  -EEXIST: the name is somebody's. */
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

/* Have a current file with room. */
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

/* All of it at this place.  0 or -errno. */
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

/* The newline comes last, so that a part of the line is none. */
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

/* A file that takes no line goes, unless a call is open in it. */
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
    if (r < 0 && has_file && !records->current) /* what ended calls took may be room enough */
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

/* Others must not wait for the disk, so nothing is locked meanwhile: the open call keeps its file.
 */
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

/* The file has one call less. */
static void close_call(struct al_open_records *records, struct al_open_file *file)
{
    file->nopen--;
    if (file != records->current && file->nopen == 0)
        drop(records, file);
}

/* Where the line cannot be written the log tells that the call ended; see recover.h. */
void al_open_records_end(struct al_open_records *records, const struct al_open_record *record)
{
    (void)pthread_mutex_lock(&records->lock);
    (void)add_line(record->file, "end", record->serial, NULL);
    close_call(records, record->file);
    (void)pthread_mutex_unlock(&records->lock);
}

/* It is unlocked as soon as no other call needs it. */
void al_open_records_abandon(struct al_open_records *records, const struct al_open_record *record)
{
    (void)pthread_mutex_lock(&records->lock);
    record->file->is_abandoned = true;
    if (record->file == records->current)
        records->current = NULL;
    close_call(records, record->file);
    (void)pthread_mutex_unlock(&records->lock);
}
