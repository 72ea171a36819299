// SPDX-License-Identifier: Apache-2.0
/* Reading a journal: its files, line by line, from file to file and while it grows; and verifying
 * that every line is there, in its place and unchanged. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "history/journal_private.h"
#include "util/fs.h"
#include "util/utf8.h"

#define CHUNK_BYTES (64u << 10)

/* --- Files --- */

#define LOG_SUFFIX ".jsonl"

char *al_journal_beside(const char *file, const char *suffix)
{
    size_t len = strlen(file);

    if (al_ends_with(file, LOG_SUFFIX))
        len -= strlen(LOG_SUFFIX);
    return al_asprintf("%.*s%s", (int)len, file, suffix);
}

char *al_journal_rotated(const char *file, uint64_t last_seq)
{
    al_auto(al_freep) char *suffix = al_asprintf(".%" PRIu64 LOG_SUFFIX, last_seq);

    return al_journal_beside(file, suffix);
}

/* Without following a link or waiting for a fifo.  A descriptor or -errno. */
static int open_file(const char *path)
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

static int by_number(const struct dirent **a, const struct dirent **b)
{
    return strverscmp((*a)->d_name, (*b)->d_name);
}

static int find_rotated(const char *file, struct al_strv *ret_paths)
{
    al_auto(al_freep) char *dir = al_strndup(file, (size_t)(strrchr(file, '/') - file) + 1);
    al_auto(al_freep) char *stem = al_journal_beside(file, "");
    struct dirent **entries;
    int count = scandir(dir, &entries, NULL, by_number);

    if (count < 0)
        return errno == ENOENT ? 0 : -errno;
    for (int i = 0; i < count; i++) {
        uint64_t number = number_of(entries[i]->d_name, strrchr(stem, '/') + 1);

        if (number)
            al_strv_take(ret_paths, al_journal_rotated(file, number));
        free(entries[i]);
    }
    free(entries);
    return 0;
}

/* The head of a journal, as verifying needs it. */
struct end {
    struct al_head head;
    enum al_head_found found;
};

/* While the head is locked, no line is appended and no file begun. */
static int read_files(const char *file, int head_fd, const struct al_key *key, struct end *end,
                      struct al_history *found)
{
    struct stat st;
    int r = find_rotated(file, &found->rotated);

    if (r == 0 && key && head_fd >= 0)
        r = al_head_read(head_fd, key, &end->head, &end->found);
    if (r < 0)
        return r;
    r = open_file(file);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
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

/* Find the files, and where the chain ends: AL_HEAD_EMPTY without a head, AL_HEAD_BAD for one that
 * is not valid or, unless the end is not asked for, without a key. */
static int open_history(const char *file, const struct al_key *key, struct end *ret_end,
                        struct al_history *ret_history)
{
    al_auto(al_freep) char *head_path = al_journal_beside(file, ".head");
    al_auto(al_closep) int head_fd = open_file(head_path);
    int r;

    *ret_history = AL_HISTORY_INIT;
    if (head_fd < 0 && head_fd != -ENOENT)
        return head_fd;
    if (ret_end)
        ret_end->found = head_fd < 0 ? AL_HEAD_EMPTY : AL_HEAD_BAD;
    r = head_fd < 0 ? 0 : lock(head_fd);
    if (r == 0)
        r = read_files(file, head_fd, key, ret_end, ret_history);
    if (r < 0)
        al_history_clear(ret_history);
    return r;
}

int al_history_open(const char *file, struct al_history *ret_history)
{
    return open_history(file, NULL, NULL, ret_history);
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
        return open_file(history->rotated.items[index]);
    fd = fcntl(history->log_fd, F_DUPFD_CLOEXEC, 0);
    return fd < 0 ? -errno : fd;
}

bool al_history_is_empty(const struct al_history *history)
{
    return history->rotated.count == 0 && history->size == 0;
}

/* --- Lines --- */

void al_lines_clear(struct al_lines *lines)
{
    al_str_clear(&lines->buf);
}

/* Bytes of a partial line at the end. */
static size_t rest_of(const struct al_lines *lines)
{
    return lines->buf.len - lines->begin;
}

/* Read the next part of the file.  1; 0 at its end; -errno. */
static int fill(struct al_lines *lines)
{
    uint64_t left = lines->limit - lines->at;
    size_t want = left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES;
    ssize_t n;

    if (lines->begin) {
        lines->buf.len -= lines->begin;
        memmove(lines->buf.buf, lines->buf.buf + lines->begin, lines->buf.len);
        lines->begin = 0;
    }
    if (!want)
        return 0;
    al_str_reserve(&lines->buf, want);
    do
        n = pread(lines->fd, lines->buf.buf + lines->buf.len, want, (off_t)lines->at);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    lines->buf.len += (size_t)n;
    lines->buf.buf[lines->buf.len] = '\0';
    lines->at += (uint64_t)n;
    return n > 0;
}

int al_lines_next(struct al_lines *lines, const char **ret_line, size_t *ret_len)
{
    size_t searched = 0; /* bytes of the line that are known to have no newline */

    for (;;) {
        char *line = lines->buf.buf + lines->begin;
        size_t have = rest_of(lines);
        char *end = memchr(line + searched, '\n', have - searched);
        int r;

        if (end ? end - line > (ptrdiff_t)AL_JOURNAL_LINE_MAX_BYTES
                : have > AL_JOURNAL_LINE_MAX_BYTES)
            return -EFBIG;
        if (end) {
            *end = '\0';
            *ret_line = line;
            *ret_len = (size_t)(end - line);
            lines->begin += *ret_len + 1;
            return 1;
        }
        searched = have;
        r = fill(lines);
        if (r <= 0)
            return r;
    }
}

/* --- From file to file --- */

/* Read `fd` from its beginning.  The tail now owns it. */
static void read_from(struct al_tail *tail, int fd)
{
    al_lines_clear(&tail->lines);
    al_close(tail->fd);
    tail->fd = fd;
    tail->lines = AL_LINES_INIT(fd, 0);
}

int al_tail_start(struct al_tail *tail, const char *file, const struct al_history *history,
                  size_t index)
{
    int fd;

    *tail = (struct al_tail){ .file = file, .lines = AL_LINES_INIT(-1, 0), .fd = -1 };
    if (index >= al_history_count(history))
        return 0; /* there is no file yet */
    fd = al_history_file(history, index);
    if (fd < 0)
        return fd;
    read_from(tail, fd);
    return 0;
}

void al_tail_clear(struct al_tail *tail)
{
    al_lines_clear(&tail->lines);
    al_close(tail->fd);
    tail->fd = -1;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether the file may still grow. */
static bool is_current(const struct al_tail *tail)
{
    struct stat mine, named;

    return tail->fd >= 0 && fstat(tail->fd, &mine) == 0 && lstat(tail->file, &named) == 0 &&
           same_file(&mine, &named);
}

/* Open the file after the current one, or the oldest if the current one is no longer part of the
 * journal. */
static int find_next(const struct al_tail *tail, const struct al_history *history)
{
    struct stat mine = { .st_ino = 0 };
    size_t count = al_history_count(history), next = 0;

    if (tail->fd >= 0 && fstat(tail->fd, &mine) < 0)
        return -errno;
    for (size_t i = 0; i < count && tail->fd >= 0; i++) {
        al_auto(al_closep) int fd = al_history_file(history, i);
        struct stat st;

        if (fd < 0)
            return fd;
        if (fstat(fd, &st) == 0 && same_file(&st, &mine))
            next = i + 1;
    }
    return next < count ? al_history_file(history, next) : -ENOENT;
}

/* Continue with the next file.  1; 0 when there is none yet; -errno. */
static int open_next(struct al_tail *tail)
{
    al_auto(al_history_clear) struct al_history history = AL_HISTORY_INIT;
    int r = al_history_open(tail->file, &history);

    if (r == 0)
        r = find_next(tail, &history);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    read_from(tail, r);
    return 1;
}

int al_tail_next(struct al_tail *tail, const char **ret_line, size_t *ret_len)
{
    for (;;) {
        bool current = is_current(tail);
        int r = tail->fd >= 0 ? al_lines_next(&tail->lines, ret_line, ret_len) : 0;

        /* Nothing is appended to a file that was replaced before this read reached its end. */
        if (r != 0 || current)
            return r;
        r = open_next(tail);
        if (r <= 0)
            return r;
    }
}

/* --- The paths of a line --- */

char *al_journal_path(const json_t *line, const char *member)
{
    const char *text = al_json_get_string(line, member);
    struct al_str path = AL_STR_INIT;

    if (!text)
        return NULL;
    al_utf8_unescape(text, &path);
    return al_str_detach(&path);
}

bool al_journal_is_about(const json_t *line, const char *repository)
{
    al_auto(al_freep) char *path = al_journal_path(line, "repository");

    return path && !strcmp(path, repository);
}

/* --- Verifying --- */

struct walk {
    const struct al_key *key;
    struct end end;           /* of the chain, as the head file says */
    uint64_t lines;           /* lines that are intact so far */
    char mac[AL_MAC_HEX + 1]; /* of the last of them */
    uint64_t bad_line;
    char *problem;
};

al_printf(3, 4) static void report(struct walk *walk, uint64_t bad_line, const char *fmt, ...)
{
    struct al_str text = AL_STR_INIT;
    va_list args;

    va_start(args, fmt);
    al_str_addv(&text, fmt, args);
    va_end(args);
    walk->bad_line = bad_line;
    walk->problem = al_str_detach(&text);
}

/* A line with the right number does not have the HMAC of the line before.  Find out which of the
 * two was changed. */
static void report_bad_prev(struct walk *walk, uint64_t number)
{
    bool before_is_good =
        number == 1 || (walk->end.found == AL_HEAD_GOOD && walk->lines == walk->end.head.seq &&
                        !strcmp(walk->mac, walk->end.head.mac));

    if (before_is_good)
        report(walk, number, "line %" PRIu64 " was changed or added", number);
    else
        report(walk, number - 1, "line %" PRIu64 " was changed%s", number - 1,
               walk->end.found == AL_HEAD_BAD ? ", or the key is not the one it was written with"
                                              : "");
}

static void report_missing(struct walk *walk, size_t rest)
{
    uint64_t missing = walk->end.head.seq - walk->lines;

    if (missing > 1)
        report(walk, walk->lines + 1, "the last %" PRIu64 " lines are missing%s", missing,
               rest ? " but for a part of the first of them" : "");
    else
        report(walk, walk->lines + 1, "the last line is %s", rest ? "cut short" : "missing");
}

/* Find a line's `seq` and `prev` where al_journal_close_record() writes them.  A JSON parser is not
 * used: an agent's input may exceed the parser's limits, and that must not look like tampering. */
static bool parse_seq_and_prev(const char *text, size_t len, uint64_t *ret_seq,
                               char ret_prev[AL_MAC_HEX + 1])
{
    static const char before[] = ",\"prev\":\"", after[] = "\"}";
    const size_t tail = strlen(before) + AL_MAC_HEX + strlen(after);
    const char *at = text + len - tail;

    if (len < tail || strncmp(at, before, strlen(before)) != 0 ||
        strcmp(at + tail - strlen(after), after) != 0)
        return false;
    memcpy(ret_prev, at + strlen(before), AL_MAC_HEX);
    ret_prev[AL_MAC_HEX] = '\0';
    return sscanf(text,
                  "{\"timestamp\":\"%*15[0-9_]\",\"time\":\"%*24[0-9TZ:.-]\",\"seq\":%20" SCNu64
                  ",",
                  ret_seq) == 1;
}

/* Check the next line, and report what is wrong with it or with the line before. */
static void check_line(struct walk *walk, const char *text, size_t len)
{
    uint64_t number = walk->lines + 1, seq;
    char prev[AL_MAC_HEX + 1];

    if (!parse_seq_and_prev(text, len, &seq, prev)) {
        report(walk, number, "line %" PRIu64 " is not a line of this journal", number);
    } else if (seq != number) {
        report(walk, number,
               "line %" PRIu64 " says it is number %" PRIu64 ": lines were removed, added or moved",
               number, seq);
    } else if (strcmp(prev, walk->mac) != 0) {
        report_bad_prev(walk, number);
    } else {
        al_key_mac(walk->key, text, len, walk->mac);
        walk->lines = number;
    }
}

/* Every line fits the one before.  Check that the last one fits the head. */
static void check_end(struct walk *walk, size_t rest)
{
    const struct al_head *head = &walk->end.head;
    uint64_t next = walk->lines + 1;
    bool announced = strcmp(head->next, al_mac_none) != 0;

    if (walk->end.found == AL_HEAD_BAD)
        report(walk, next, "the head file was changed, or the key is not the one of this journal");
    else if (walk->end.found == AL_HEAD_EMPTY && (walk->lines || rest))
        report(walk, next, "the head file is missing");
    else if (walk->lines < head->seq)
        report_missing(walk, rest);
    else if (walk->lines == head->seq && strcmp(walk->mac, head->mac) != 0)
        report(walk, walk->lines, "line %" PRIu64 " was changed", walk->lines);
    else if (walk->lines == head->seq && rest && !announced)
        report(walk, next, "something else was written after line %" PRIu64, walk->lines);
    else if (walk->lines == head->seq + 1 && !rest && !strcmp(walk->mac, head->next))
        return; /* its writer died before it moved the head */
    else if (walk->lines > head->seq)
        report(walk, head->seq + 1, "line %" PRIu64 " was added by something else", head->seq + 1);
}

/* Check one file of the log.  `*ret_rest` is what follows its last newline. */
static int walk_file(struct walk *walk, int fd, uint64_t size, size_t *ret_rest)
{
    al_auto(al_lines_clear) struct al_lines lines = AL_LINES_INIT(fd, 0);
    const char *text;
    size_t len;
    int r;

    lines.limit = size;
    while ((r = al_lines_next(&lines, &text, &len)) > 0) {
        check_line(walk, text, len);
        if (walk->problem)
            return 0;
    }
    if (r == -EFBIG)
        report(walk, walk->lines + 1, "line %" PRIu64 " has no end", walk->lines + 1);
    *ret_rest = rest_of(&lines);
    return r == -EFBIG ? 0 : r;
}

static int walk_files(struct walk *walk, const struct al_history *history)
{
    size_t rest = 0;

    memcpy(walk->mac, al_mac_none, sizeof(walk->mac));
    for (size_t i = 0; i < al_history_count(history) && !walk->problem; i++) {
        bool last = i == history->rotated.count;
        al_auto(al_closep) int fd = al_history_file(history, i);
        int r = fd < 0 ? fd : walk_file(walk, fd, last ? history->size : UINT64_MAX, &rest);

        if (r < 0)
            return r;
        if (!last && rest && !walk->problem)
            report(walk, walk->lines + 1, "something else was written after line %" PRIu64,
                   walk->lines);
    }
    if (!walk->problem)
        check_end(walk, rest);
    return 0;
}

int al_journal_verify(const char *file, struct al_verdict *ret_verdict, struct al_error *err)
{
    al_auto(al_freep) char *key_path = al_journal_beside(file, ".key");
    al_auto(al_history_clear) struct al_history history = AL_HISTORY_INIT;
    struct al_key key;
    struct walk walk = { .key = &key };
    int r, key_status = al_key_load(AT_FDCWD, key_path, false, &key, err);

    memcpy(walk.end.head.mac, al_mac_none, sizeof(walk.end.head.mac));
    memcpy(walk.end.head.next, al_mac_none, sizeof(walk.end.head.next));
    r = open_history(file, key_status == 0 ? &key : NULL, &walk.end, &history);
    if (r == 0 && al_history_count(&history) == 0 && walk.end.found == AL_HEAD_EMPTY)
        return al_error_set(err, AL_ERR_NOT_FOUND, "there is no journal at '%s'", file);
    if (r == 0 && key_status < 0)
        return AL_ERR_EXECUTION;
    if (r == 0)
        r = walk_files(&walk, &history);
    if (r < 0) {
        free(walk.problem);
        return al_error_errno(err, -r, "cannot read '%s'", file);
    }
    *ret_verdict = (struct al_verdict){
        .lines = walk.problem && walk.bad_line <= walk.lines ? walk.bad_line - 1 : walk.lines,
        .bad_line = walk.bad_line,
        .problem = walk.problem,
    };
    return 0;
}
