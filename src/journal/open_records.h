// SPDX-License-Identifier: Apache-2.0
/*
 * The records of calls that run, as a process writes them.
 *
 * File: `<pid>-<n>.jsonl` in the directory open/ of the journal, mode 0600, one line an event:
 *
 *     {"begin":7,…}   call 7 began; the other members are its line in the log if it never ends
 *     {"note":7,…}    what became known of call 7: members that replace those of "begin"
 *     {"end":7}       the log has the line of call 7
 *
 * States of a file:
 *
 *     locked (flock(2))  its process lives
 *     not locked         its process died, or a call's line could not be written to the log:
 *                        recover.h writes the lines of the calls that began and did not end
 *
 * Rules:
 * - A line counts when it ends in a newline.  A write that fails, or that its process does not
 *   survive, leaves none behind, and the next line is written over what it left.
 * - A process writes one file.  When that is full (AL_OPEN_FILE_FULL_BYTES) it is emptied before
 *   the next call, if no call is open; else the process begins another file, and removes the full
 *   one when its last call has ended.
 * - Only a file that has no open call is removed.
 */
#ifndef AL_JOURNAL_OPEN_RECORDS_H
#define AL_JOURNAL_OPEN_RECORDS_H

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

/** A file of at least this size gets no further call. */
#ifndef AL_OPEN_FILE_FULL_BYTES
#define AL_OPEN_FILE_FULL_BYTES (256u << 10)
#endif

/** Use (and create, 0700) the directory `path`.  Threads: then safe. */
int al_open_records_open(const char *path, struct al_open_records **ret_records,
                         struct al_error *err);

/** Remove the file, unless it has open calls. */
void al_open_records_free(struct al_open_records *records);

/** The directory, open.  Borrowed. */
int al_open_records_dir(const struct al_open_records *records);

/**
 * A call begins.
 *
 * @param serial   Of this call, and no other one of this process.
 * @param members  Of a JSON object, in ASCII, without the braces.
 * @return 0 or -errno.
 */
int al_open_records_begin(struct al_open_records *records, uint64_t serial,
                          const struct al_str *members, struct al_open_record *ret_record);

/** More is known of it.  0 or -errno: then nothing is noted. */
int al_open_records_note(struct al_open_records *records, const struct al_open_record *record,
                         const struct al_str *members);

/** Have its lines, and the file's name, survive a loss of power.  0 or -errno. */
int al_open_records_sync(struct al_open_records *records, const struct al_open_record *record);

/** The log has its line. */
void al_open_records_end(struct al_open_records *records, const struct al_open_record *record);

/** Its line is not known to be in the log: leave it to whoever starts next. */
void al_open_records_abandon(struct al_open_records *records, const struct al_open_record *record);

#endif
