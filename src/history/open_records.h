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
 *                        recover.h then writes the lines of the calls that did not end
 *
 * Rules:
 * - A line counts when it ends in a newline.  A write that fails, or that its process does not
 *   survive, leaves no newline, and the next line overwrites what it left.
 * - A process writes one file.  A file of AL_OPEN_FILE_FULL_BYTES is full.  If it has no open call,
 *   it is truncated before the next call begins.  Otherwise the process begins another file, and
 *   removes the full one when its last call has ended.
 * - A file with an open call is never removed.
 */
#ifndef AL_HISTORY_OPEN_RECORDS_H
#define AL_HISTORY_OPEN_RECORDS_H

#include <stdint.h>

#include "util/error.h"
#include "util/str.h"

struct al_open_records;
struct al_open_file;

/** A call that began. */
struct al_open_record {
    struct al_open_file *file;
    uint64_t serial;
};

/** No call begins in a file of at least this size. */
#ifndef AL_OPEN_FILE_FULL_BYTES
#define AL_OPEN_FILE_FULL_BYTES (256u << 10)
#endif

/** Open the directory `path`, and create it (0700) when there is none.  Threads: the records may
 * then be used from many threads. */
int al_open_records_open(const char *path, struct al_open_records **ret_records,
                         struct al_error *err);

/** Release the records, and remove each file that has no open call. */
void al_open_records_free(struct al_open_records *records);

/** The open directory.  Borrowed. */
int al_open_records_dir(const struct al_open_records *records);

/**
 * Record that a call began.
 *
 * @param serial   The call's number, unique in this process.
 * @param members  Members of a JSON object in ASCII, without the braces.
 * @return 0 or -errno.
 */
int al_open_records_begin(struct al_open_records *records, uint64_t serial,
                          const struct al_str *members, struct al_open_record *ret_record);

/** Record what became known of a call.  0 or -errno; then nothing is recorded. */
int al_open_records_note(struct al_open_records *records, const struct al_open_record *record,
                         const struct al_str *members);

/** Synchronise the call's lines and the file's name with the disk.  0 or -errno. */
int al_open_records_sync(struct al_open_records *records, const struct al_open_record *record);

/** Record that the log has the call's line, and that the line is synchronised later.  The call does
 * not count as running any more, and its record stays open. */
void al_open_records_written(struct al_open_records *records, const struct al_open_record *record);

/** Record that the log has the call's line. */
void al_open_records_end(struct al_open_records *records, const struct al_open_record *record);

/** Keep a call whose line could not be written to the log.  The next process that opens the journal
 * writes it. */
void al_open_records_abandon(struct al_open_records *records, const struct al_open_record *record);

#endif
