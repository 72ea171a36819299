// SPDX-License-Identifier: Apache-2.0
/* Verifying a chain: every line is there, in its place and unchanged. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "history/head.h"
#include "history/history.h"
#include "history/journal.h"
#include "history/lines.h"
#include "util/fs.h"

struct walk {
    const struct al_key *key;
    struct al_head head;
    enum al_head_found found;
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
        number == 1 || (walk->found == AL_HEAD_GOOD && walk->lines == walk->head.seq &&
                        !strcmp(walk->mac, walk->head.mac));

    if (before_is_good)
        report(walk, number, "line %" PRIu64 " was changed or added", number);
    else
        report(walk, number - 1, "line %" PRIu64 " was changed%s", number - 1,
               walk->found == AL_HEAD_BAD ? ", or the key is not the one it was written with" : "");
}

static void report_missing(struct walk *walk, size_t rest)
{
    uint64_t missing = walk->head.seq - walk->lines;

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
    const struct al_head *head = &walk->head;
    uint64_t next = walk->lines + 1;
    bool announced = strcmp(head->next, al_mac_none) != 0;

    if (walk->found == AL_HEAD_BAD)
        report(walk, next, "the head file was changed, or the key is not the one of this journal");
    else if (walk->found == AL_HEAD_EMPTY && (walk->lines || rest))
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
    *ret_rest = al_lines_rest(&lines);
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

    r = al_history_open(file, key_status == 0 ? &key : NULL, &history);
    if (r == 0 && al_history_count(&history) == 0 && history.found == AL_HEAD_EMPTY)
        return al_error_set(err, AL_ERR_NOT_FOUND, "there is no journal at '%s'", file);
    if (r == 0 && key_status < 0)
        return AL_ERR_EXECUTION;
    if (r == 0) {
        walk.head = history.head;
        walk.found = history.found;
        r = walk_files(&walk, &history);
    }
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
