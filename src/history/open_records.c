// SPDX-License-Identifier: Apache-2.0
/*
 * The records of running calls, as a process writes them.
 *
 * File: `<pid>-<n>.jsonl` in the journal's directory open/, mode 0600, one line for each event:
 *
 *     {"begin":7,…}   call 7 began; the other members are its line in the log if it never ends
 *     {"note":7,…}    more is known of call 7; these members replace those of "begin"
 *     {"written":7}   the log has the line of call 7, which may not be on the disk
 *     {"end":7}       the log has the line of call 7
 *
 * States of a file:
 *
 *     locked (flock(2))  its process lives
 *     not locked         its process died, or a line could not be written to the log;
 *                        al_journal_recover() then writes the lines of the calls that did not end
 *
 * Rules:
 * - A line counts when it ends in a newline.  A write that fails, or that its process does not
 *   survive, leaves no newline, and the next line overwrites what it left.
 * - A process writes one file.  A file of AL_OPEN_FILE_FULL_BYTES is full.  If it has no open call,
 *   it is truncated before the next call begins.  Otherwise the process begins another file, and
 *   removes the full one when its last call has ended.
 * - A file with an open call is never removed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "history/journal_private.h"
#include "util/fs.h"
#include "util/log.h"

/* --- Writing --- */

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
 * Lock a file until it is closed.  The kernel releases the lock when the process ends, however it
 * ends.  -EWOULDBLOCK when another has it locked; another -errno when the file system has no locks.
 */
static int lock_file(int fd, int how)
{
    int r;

    do
        r = flock(fd, how | LOCK_NB);
    while (r < 0 && errno == EINTR);
    return r < 0 ? -errno : 0;
}

/* Create a file with this name.  -EEXIST when the name is taken, also by a file that another
 * process examines just now and may take for that of a dead one. */
static int create_named(struct al_open_records *records, const char *name, int *ret_fd)
{
    int fd =
        openat(records->dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    int r = fd < 0 ? -errno : lock_file(fd, LOCK_EX);

    if (r == -EWOULDBLOCK || (r == 0 && !is_linked(fd)))
        r = -EEXIST;
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

/* If the line cannot be written, al_journal_recover() finds the call's line in the log. */
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

/* --- Reading --- */

/* The call number that a line has for an event, as a key.  False when it has none. */
static bool get_key(const json_t *line, const char *event, char ret_key[24])
{
    const json_t *serial = json_object_get(line, event);

    if (!json_is_integer(serial))
        return false;
    (void)snprintf(ret_key, 24, "%" JSON_INTEGER_FORMAT, json_integer_value(serial));
    return true;
}

static void apply_line(json_t *calls, const char *text, size_t len, bool only_running)
{
    al_auto(al_json_decrefp) json_t *line = json_loadb(text, len, JSON_ALLOW_NUL, NULL);
    char key[24];

    if (get_key(line, "begin", key)) {
        (void)json_object_del(line, "begin");
        (void)json_object_set(calls, key, line);
    } else if (get_key(line, "note", key)) {
        (void)json_object_update_existing(json_object_get(calls, key), line);
    } else if (get_key(line, "end", key) || (only_running && get_key(line, "written", key))) {
        (void)json_object_del(calls, key);
    }
}

static json_t *scan(const char *text, size_t len, bool only_running)
{
    json_t *calls = al_json_object();
    const char *end;

    for (; (end = memchr(text, '\n', len)); len -= (size_t)(end + 1 - text), text = end + 1)
        apply_line(calls, text, (size_t)(end - text), only_running);
    return calls;
}

json_t *al_open_scan_calls(const char *text, size_t len)
{
    return scan(text, len, false);
}

/* Parse "<pid>-<n>.jsonl". */
static bool parse_name(const char *name, long *ret_pid)
{
    unsigned n;
    int used = 0;

    return sscanf(name, "%ld-%u.jsonl%n", ret_pid, &n, &used) == 2 && *ret_pid > 0 && used &&
           !name[used];
}

static int read_calls(int fd, const char *name, bool only_running, json_t **ret_calls)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r = al_fs_read_fd(fd, AL_OPEN_FILE_MAX_BYTES, &text);

    if (r == 0)
        *ret_calls = scan(text.buf, text.len, only_running);
    else if (r != -EFBIG)
        al_log_warn("the record of calls that are open cannot be read: '%s': %s", name,
                    strerrordesc_np(-r));
    return r;
}

/* Whether the file is locked or not, as asked.  That of a living process is not kept locked: a
 * process that starts just now would leave a file that it cannot lock to the next one. */
static bool is_wanted(int fd, bool dead)
{
    int r = lock_file(fd, dead ? LOCK_EX : LOCK_SH);

    if (!dead && r == 0)
        (void)flock(fd, LOCK_UN);
    return dead ? r == 0 && is_linked(fd) : r == -EWOULDBLOCK;
}

/* A file that cannot be read stays.  It may have the only mention of an interrupted call's
 * checkpoint. */
static void scan_file(int dir_fd, const char *name, bool dead, al_open_scan_fn *found,
                      void *payload)
{
    al_auto(al_closep) int fd = -1;
    al_auto(al_json_decrefp) json_t *calls = NULL;
    bool unneeded;
    long pid;
    int r;

    if (!parse_name(name, &pid))
        return;
    fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 || !is_wanted(fd, dead))
        return;
    r = read_calls(fd, name, !dead, &calls);
    unneeded = r == -EFBIG ||
               (r == 0 && (json_object_size(calls) == 0 || found(payload, pid, calls) == 0));
    if (dead && unneeded)
        (void)unlinkat(dir_fd, name, 0);
}

void al_open_scan(int dir_fd, bool dead, al_open_scan_fn *found, void *payload)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(dir_fd);
    const struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        scan_file(dir_fd, entry->d_name, dead, found, payload);
}

struct receiver {
    al_journal_running_fn *found;
    void *payload;
};

static int report_calls(void *payload, long pid, json_t *calls)
{
    const struct receiver *receiver = payload;
    const json_t *call;
    const char *key;

    json_object_foreach(calls, key, call)
    {
        receiver->found(receiver->payload, pid, call);
    }
    return 0;
}

int al_journal_running(const char *file, al_journal_running_fn *found, void *payload)
{
    al_auto(al_freep) char *dir = al_asprintf("%.*s/open", (int)(strrchr(file, '/') - file), file);
    al_auto(al_closep) int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    struct receiver receiver = { .found = found, .payload = payload };

    if (dir_fd < 0)
        return errno == ENOENT ? 0 : -errno;
    al_open_scan(dir_fd, false, report_calls, &receiver);
    return 0;
}

/* --- Recovering --- */

static bool same_member(const json_t *a, const json_t *b, const char *name)
{
    return json_equal(json_object_get(a, name), json_object_get(b, name)) != 0;
}

static bool same_call(const json_t *line, const json_t *call)
{
    return same_member(line, call, "conversation_id") && same_member(line, call, "id");
}

/* Whether the text has the session id of one of the calls. */
static bool may_have_line(json_t *calls, const char *text, size_t len)
{
    const char *key, *before = "";
    const json_t *call;

    json_object_foreach(calls, key, call)
    {
        const char *session = al_json_get_string(call, "conversation_id");

        if (strcmp(session, before) != 0 && memmem(text, len, session, strlen(session)))
            return true;
        before = session;
    }
    return false;
}

/* Remove the calls whose line is in this file of the log. */
static void drop_recorded(json_t *calls, int fd)
{
    al_auto(al_lines_clear) struct al_lines lines = AL_LINES_INIT(fd, 0);
    const char *text, *key;
    json_t *call;
    size_t len;
    void *next;

    while (json_object_size(calls) && al_lines_next(&lines, &text, &len) > 0) {
        al_auto(al_json_decrefp) json_t *line = NULL;

        if (!may_have_line(calls, text, len))
            continue;
        line = json_loadb(text, len, JSON_ALLOW_NUL, NULL);
        json_object_foreach_safe(calls, next, key, call)
        {
            if (same_call(line, call))
                (void)json_object_del(calls, key);
        }
    }
}

/* Only the last two files of the log are searched: at most one file can have been begun after the
 * lines of these calls. */
static void drop_all_recorded(const struct al_chain *chain, json_t *calls)
{
    al_auto(al_history_clear) struct al_history history = AL_HISTORY_INIT;
    size_t count =
        al_history_open(al_chain_file(chain), &history) < 0 ? 0 : al_history_count(&history);

    for (size_t i = count > 2 ? count - 2 : 0; i < count; i++) {
        al_auto(al_closep) int fd = al_history_file(&history, i);

        if (fd >= 0)
            drop_recorded(calls, fd);
    }
}

/* The lines are on the disk before the open record is removed, since they may have the only mention
 * of a checkpoint.  A process that died may not have synchronised those that it wrote, either. */
static int append(struct al_chain *chain, json_t *calls, struct al_error *err)
{
    const json_t *call;
    const char *key;
    int r = 0;

    json_object_foreach(calls, key, call)
    {
        al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

        al_json_dump(call, true, &line);
        if (r == 0)
            r = al_chain_append(chain, &line, err);
    }
    return r == 0 ? al_chain_sync(chain, err) : r;
}

/* A record without a session id is not that of a call. */
static void drop_invalid(json_t *calls)
{
    json_t *call;
    const char *key;
    void *next;

    json_object_foreach_safe(calls, next, key, call)
    {
        if (!al_json_get_string(call, "conversation_id"))
            (void)json_object_del(calls, key);
    }
}

static int recover(void *payload, long pid, json_t *calls)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_chain *chain = payload;
    int r;

    drop_invalid(calls);
    drop_all_recorded(chain, calls);
    r = append(chain, calls, &err);
    if (r < 0)
        al_log_warn("the record of a call that was interrupted stays open (process %ld): %s", pid,
                    err.message);
    return r;
}

void al_journal_recover(struct al_chain *chain, int open_fd)
{
    al_open_scan(open_fd, true, recover, chain);
}
