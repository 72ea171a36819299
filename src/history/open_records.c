// SPDX-License-Identifier: Apache-2.0
/*
 * The records of running calls: a file `<pid>-<n>.jsonl` for each in the journal's directory open/,
 * mode 0600, with one JSON object in a line:
 *
 *     the first   the call's line in the log if it never ends
 *     others      more is known of the call: these members replace those before
 *     written     {"written":true}: the log has the call's line, which may not be on the disk
 *
 * The file is removed when the line is on the disk.  Its states until then:
 *
 *     locked (flock(2))  its process lives, or one that it shared the lock with
 *     not locked         its process died, or the line could not be written to the log;
 *                        al_journal_recover() then writes it
 *
 * A line counts when it ends in a newline.  A write that fails, or that its process does not
 * survive, leaves no newline, and the next line overwrites what it left.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/log.h"
#include "guard/text.h"
#include "history/journal_private.h"

/** A larger file is not airlock's. */
#define FILE_MAX_BYTES (64u << 20)

/* --- Writing --- */

/* False when the file was removed.  Another file may have its name then. */
static bool is_linked(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && st.st_nlink > 0;
}

/* Create a file with this name.  -EEXIST when the name is taken, also by a file that another
 * process examines just now and may take for that of a dead one. */
static int create_named(int dir_fd, const char *name, int *ret_fd)
{
    int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    int r = fd < 0 ? -errno : al_journal_lock(fd, LOCK_EX | LOCK_NB);

    if (r == -EWOULDBLOCK || (r == 0 && !is_linked(fd)))
        r = -EEXIST;
    if (r == 0) {
        *ret_fd = fd;
        return 0;
    }
    if (fd >= 0 && r != -EEXIST)
        (void)unlinkat(dir_fd, name, 0);
    al_close(fd);
    return r;
}

/* The newline is written last, so that a partial line does not count. */
int al_open_record_note(struct al_open_record *record, const json_t *members)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    int r;

    al_json_dump(members, true, &line);
    al_str_addc(&line, '\n');
    r = lseek(record->fd, record->size, SEEK_SET) < 0
            ? -errno
            : al_write_all(record->fd, line.buf, line.len);
    if (r == 0)
        record->size += (off_t)line.len;
    return r;
}

int al_open_record_begin(int dir_fd, const json_t *line, struct al_open_record *ret_record)
{
    static atomic_uint files; /* number of names that were tried */
    struct al_open_record record = { .dir_fd = dir_fd, .fd = -1 };
    int r;

    do {
        (void)snprintf(record.name, sizeof(record.name), "%ld-%u.jsonl", (long)getpid(),
                       atomic_fetch_add(&files, 1));
        r = create_named(dir_fd, record.name, &record.fd);
    } while (r == -EEXIST);
    if (r == 0)
        r = al_open_record_note(&record, line);
    if (r == 0)
        *ret_record = record;
    else if (record.fd >= 0)
        al_open_record_close(&record, true);
    return r;
}

/* A line that cannot be written shows the call as running for a moment longer. */
void al_open_record_written(struct al_open_record *record)
{
    al_auto(al_json_decrefp) json_t *written = json_pack("{s:b}", "written", true);

    (void)al_open_record_note(record, written);
}

void al_open_record_close(struct al_open_record *record, bool is_written)
{
    if (is_written && is_linked(record->fd))
        (void)unlinkat(record->dir_fd, record->name, 0);
    al_close(record->fd); /* with the lock */
    record->fd = -1;
}

/* --- Reading and recovering --- */

json_t *al_open_record_read(const char *text, size_t len, bool *ret_written)
{
    json_t *call = NULL;
    const char *end;

    for (; (end = memchr(text, '\n', len)); len -= (size_t)(end + 1 - text), text = end + 1) {
        al_auto(al_json_decrefp) json_t *line =
            json_loadb(text, (size_t)(end - text), JSON_ALLOW_NUL, NULL);

        if (json_object_get(line, "written"))
            *ret_written = true;
        if (call)
            (void)json_object_update_existing(call, line);
        else
            call = json_is_object(line) ? json_incref(line) : NULL;
    }
    return call;
}

/* Whether the file is locked or not, as asked.  That of a living process is not kept locked: a
 * process that starts just now would leave a file that it cannot lock to the next one. */
static bool is_wanted(int fd, bool dead)
{
    int r = al_journal_lock(fd, (dead ? LOCK_EX : LOCK_SH) | LOCK_NB);

    if (!dead && r == 0)
        (void)flock(fd, LOCK_UN);
    return dead ? r == 0 && is_linked(fd) : r == -EWOULDBLOCK;
}

/* Whether the log has the call's line.  Only the last two files of the log are searched: at most
 * one file can have been begun after the line of this call. */
static bool is_recorded(const struct al_chain *chain, const json_t *call, const char *session)
{
    al_auto(al_history_clear) struct al_history history = AL_HISTORY_INIT;
    const json_t *id = json_object_get(call, "id");
    bool has = false;
    const char *text;
    size_t len;

    if (al_history_open(chain->file, &history) < 0)
        return false;
    history.index = history.last ? history.last - 1 : 0;
    while (!has && al_history_next(&history, &text, &len) > 0) {
        al_auto(al_json_decrefp) json_t *line = memmem(text, len, session, strlen(session))
                                                    ? json_loadb(text, len, JSON_ALLOW_NUL, NULL)
                                                    : NULL;
        const char *its = al_json_get_string(line, "conversation_id");

        has = its && !strcmp(its, session) && json_equal(json_object_get(line, "id"), id);
    }
    return has;
}

/* Write the line of a call whose process died.  It is on the disk before the open record is
 * removed, since it may have the only mention of a checkpoint.  A process that died may not have
 * synchronised the one that it wrote, either.  A record without a session id is not that of a
 * call. */
static int recover(struct al_chain *chain, long pid, json_t *call)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    const char *session = al_json_get_string(call, "conversation_id");
    int r = 0;

    if (!session)
        return 0;
    if (!is_recorded(chain, call, session))
        r = al_chain_append(chain, call, NULL, &err);
    if (r == 0)
        r = al_chain_sync(chain, &err);
    if (r < 0)
        al_log_warn("the record of a call that was interrupted stays open (process %ld): %s", pid,
                    err.message);
    return r;
}

/* Whom to tell of the calls that run; or the log that gets the lines of those whose process died.
 */
struct scan {
    al_journal_running_fn *found;
    void *payload;
    struct al_chain *chain;
};

/* A file that cannot be read stays.  It may have the only mention of an interrupted call's
 * checkpoint.  One without the beginning of a call goes. */
static void scan_file(const struct scan *scan, int dir_fd, const char *name)
{
    al_auto(al_closep) int fd = -1;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_json_decrefp) json_t *call = NULL;
    const bool dead = scan->chain;
    bool written = false;
    int used = 0, r;
    long pid;

    if (sscanf(name, "%ld-%*u.jsonl%n", &pid, &used) != 1 || pid <= 0 || !used || name[used])
        return;
    fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 || !is_wanted(fd, dead))
        return;
    r = al_fs_read_fd(fd, FILE_MAX_BYTES, &text);
    if (r < 0) {
        al_log_warn("the record of a call that is open cannot be read: '%s': %s", name,
                    strerrordesc_np(-r));
        return;
    }
    call = al_open_record_read(text.buf, text.len, &written);
    if (dead && (!call || recover(scan->chain, pid, call) == 0))
        (void)unlinkat(dir_fd, name, 0);
    else if (!dead && call && !written)
        scan->found(scan->payload, pid, call);
}

static void scan_dir(const struct scan *scan, int dir_fd)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(dir_fd);
    const struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        scan_file(scan, dir_fd, entry->d_name);
}

int al_journal_running(const char *file, al_journal_running_fn *found, void *payload)
{
    al_auto(al_freep) char *dir = al_asprintf("%.*s/open", (int)(strrchr(file, '/') - file), file);
    al_auto(al_closep) int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

    if (dir_fd < 0)
        return errno == ENOENT ? 0 : -errno;
    scan_dir(&(struct scan){ .found = found, .payload = payload }, dir_fd);
    return 0;
}

struct running {
    const char *top;
    char *words; /* of the first one; NULL: none */
};

static void take_running(void *payload, long pid, const json_t *call)
{
    struct running *running = payload;
    const char *tool = al_json_get_string(call, "tool");
    const char *agent = al_json_get_string(call, "agent");
    al_auto(al_freep) char *words = al_asprintf("%s%s%s (process %ld)", tool ? tool : "a call",
                                                agent ? " of agent " : "", agent ? agent : "", pid);

    if (!running->words && al_journal_is_about(call, running->top))
        running->words = al_text_sanitize_line(words);
}

char *al_journal_running_in(const char *file, const char *top)
{
    struct running running = { .top = top };

    (void)al_journal_running(file, take_running, &running);
    return running.words;
}

void al_journal_recover(struct al_chain *chain, int open_fd)
{
    scan_dir(&(struct scan){ .chain = chain }, open_fd);
}
