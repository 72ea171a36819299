// SPDX-License-Identifier: Apache-2.0
#include "history/open_scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "util/fs.h"
#include "util/log.h"

/* --- Lines --- */

/* The call number that a line has for an event, as a key.  False when it has none. */
static bool get_key(const json_t *line, const char *event, char ret_key[24])
{
    const json_t *serial = json_object_get(line, event);

    if (!json_is_integer(serial))
        return false;
    (void)snprintf(ret_key, 24, "%" JSON_INTEGER_FORMAT, json_integer_value(serial));
    return true;
}

/* Apply a line of an earlier version: it replaces the call of the line before, and an empty line
 * removes it. */
static void apply_old_line(json_t *calls, json_t *line)
{
    if (!line)
        (void)json_object_del(calls, "");
    else if (al_json_get_string(line, "conversation_id"))
        (void)json_object_set(calls, "", line);
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
    } else {
        apply_old_line(calls, line);
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

/* --- Files --- */

/* Parse "<pid>-<n>.jsonl", or a name of an earlier version: without the suffix, and possibly with a
 * dot before it. */
static bool parse_name(const char *name, long *ret_pid)
{
    unsigned n;
    int used = 0;

    name += name[0] == '.';
    return sscanf(name, "%ld-%u%n", ret_pid, &n, &used) == 2 && *ret_pid > 0 &&
           (!name[used] || !strcmp(name + used, ".jsonl"));
}

/* Lock the file until it is closed.  -EWOULDBLOCK when its process has it locked. */
static int lock_file(int fd, int how)
{
    int r;

    do
        r = flock(fd, how | LOCK_NB);
    while (r < 0 && errno == EINTR);
    return r < 0 ? -errno : 0;
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

/* A file that cannot be read stays.  It may have the only mention of an interrupted call's
 * checkpoint. */
static void scan_dead(int dir_fd, const char *name, al_open_scan_fn *found, void *payload)
{
    al_auto(al_closep) int fd = -1;
    al_auto(al_json_decrefp) json_t *calls = NULL;
    struct stat st;
    long pid;
    int r;

    if (!parse_name(name, &pid))
        return;
    fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 || lock_file(fd, LOCK_EX) < 0 || fstat(fd, &st) < 0 || st.st_nlink == 0)
        return;
    r = read_calls(fd, name, false, &calls);
    if (r == -EFBIG ||
        (r == 0 && (json_object_size(calls) == 0 || found(payload, pid, calls) == 0)))
        (void)unlinkat(dir_fd, name, 0);
}

/* The lock is released at once: a process that starts just now would take the file for that of a
 * living process, and leave it to the next one. */
static bool is_locked(int fd)
{
    int r = lock_file(fd, LOCK_SH);

    if (r == 0)
        (void)flock(fd, LOCK_UN);
    return r == -EWOULDBLOCK;
}

static void scan_running(int dir_fd, const char *name, al_open_scan_fn *found, void *payload)
{
    al_auto(al_closep) int fd = -1;
    al_auto(al_json_decrefp) json_t *calls = NULL;
    long pid;

    if (!parse_name(name, &pid))
        return;
    fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0 && is_locked(fd) && read_calls(fd, name, true, &calls) == 0 &&
        json_object_size(calls))
        (void)found(payload, pid, calls);
}

void al_open_scan_dead(int dir_fd, al_open_scan_fn *found, void *payload)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(dir_fd);
    const struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        scan_dead(dir_fd, entry->d_name, found, payload);
}

void al_open_scan_running(int dir_fd, al_open_scan_fn *found, void *payload)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(dir_fd);
    const struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        scan_running(dir_fd, entry->d_name, found, payload);
}
