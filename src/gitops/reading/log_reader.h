// SPDX-License-Identifier: Apache-2.0
/*
 * Reader of the output of `git log` in the formats below.
 *
 * A header is NUL-separated fields, with a NUL in front.  No line of a patch begins with a NUL, so
 * a header cannot be forged by the content of files.  A message has no NUL.
 *
 * Source: git-log(1) "PRETTY FORMATS", "-z".
 */
#ifndef AL_GITOPS_READING_LOG_READER_H
#define AL_GITOPS_READING_LOG_READER_H

#include "gitops/reading/read_log.h"

/** One line a commit, with -z. */
#define AL_LOG_FORMAT_SHORT "--format=%x00%h%x00%ad%x00%an%x00%D%x00%x00%s"
/** The whole message, with -z and --numstat, or with --patch and without -z. */
#define AL_LOG_FORMAT_LONG "--format=%x00%h%x00%ad%x00%an <%ae>%x00%D%x00%x00%B%x00"
/** One commit, with -z, --numstat and --patch. */
#define AL_LOG_FORMAT_SHOW "--format=%x00%H%x00%ad%x00%an <%ae>%x00%D%x00%P%x00%B%x00"

#define AL_LOG_FIELDS      6

/** The reader.  Must not be moved after al_log_reader_init(). */
struct al_log_reader {
    const struct al_log_query *query;
    const struct al_log_taker *to;
    struct al_change_reader changes; /* of the commit that was read last */
    bool has_changes;

    /* Private. */
    struct al_str fields[AL_LOG_FIELDS];
    size_t at; /* the field that is read */
    enum {
        AL_LOG_BEFORE, /* a header: its NUL, or the blank line before what the commit changed */
        AL_LOG_HEADER,
        AL_LOG_ENDED, /* a header, and git's terminator follows */
        AL_LOG_CHANGES,
    } state;
    bool record_begins; /* of the changes: a NUL now is that of the next header */
    bool stopped;
};

void al_log_reader_init(struct al_log_reader *reader, const struct al_log_query *query,
                        const struct al_log_taker *to);
void al_log_reader_clear(struct al_log_reader *reader);

/** Sink function: parse the next bytes, split anywhere.  `payload` is the reader. */
bool al_log_reader_add(void *payload, const char *data, size_t len);

/** The end of the output. */
void al_log_reader_end(struct al_log_reader *reader);

#endif
