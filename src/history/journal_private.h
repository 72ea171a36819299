// SPDX-License-Identifier: Apache-2.0
/*
 * What the files of the journal share: the chain of lines (chain.c), the records of running calls
 * (open_records.c), the names of the files (reading.c), and the arguments in a line (journal.c).
 *
 * The log is append-only, and shared by processes and threads.  To append a line, a writer
 *
 *   1. locks the head file
 *   2. announces the HMAC of the line in the head
 *   3. writes the line to the log
 *   4. moves the head to the line
 *
 * The next writer repairs what a writer that died in between left: a complete announced line joins
 * the chain, and a partial one is cut off.  Any other difference between head and log was made by
 * another program.  The journal then continues after it, and al_journal_verify() reports the break.
 */
#ifndef AL_HISTORY_JOURNAL_PRIVATE_H
#define AL_HISTORY_JOURNAL_PRIVATE_H

#include <nettle/hmac.h>

#include "history/journal.h"

#define AL_MAC_HEX 64

/** The `prev` of the first line: 64 zeros. */
extern const char al_mac_none[AL_MAC_HEX + 1];

/** A key, ready for use. */
struct al_key {
    struct hmac_sha256_ctx ctx;
};

/**
 * Read the key `name` below `dir_fd`.  With `create`, make it when there is none; processes that do
 * so at the same time get the same key.
 * @return 0, or AL_ERR_EXECUTION; AL_ERR_NOT_FOUND without `create`.
 */
int al_key_load(int dir_fd, const char *name, bool create, struct al_key *ret_key,
                struct al_error *err);

/** The HMAC-SHA256 of some bytes, in hexadecimal. */
void al_key_mac(const struct al_key *key, const void *data, size_t len,
                char ret_hex[AL_MAC_HEX + 1]);

/** The end of the chain. */
struct al_head {
    uint64_t seq;              /**< of the last line; 0 before the first */
    uint64_t size;             /**< of the log up to the end of the last line, in bytes */
    char mac[AL_MAC_HEX + 1];  /**< of the last line */
    char next[AL_MAC_HEX + 1]; /**< of the line that is being appended, or zeros */
};

/** Size of the head file in bytes: the members of struct al_head, and an HMAC of them.  Without it,
 * anyone who removes the last line could build the head from that line's `prev`. */
#define AL_HEAD_BYTES (2 * (20 + 1) + 3 * (AL_MAC_HEX + 1))

/** The content of the head file: nothing, a head that this key signed, or something else. */
enum al_head_found { AL_HEAD_EMPTY, AL_HEAD_GOOD, AL_HEAD_BAD };

/** Read or overwrite the head.  `*ret_head` is that of an empty journal unless `*ret_found` is
 * AL_HEAD_GOOD.  0 or -errno. */
int al_head_read(int fd, const struct al_key *key, struct al_head *ret_head,
                 enum al_head_found *ret_found);
int al_head_write(int fd, const struct al_key *key, const struct al_head *head);

struct al_chain;

/** Open the log, its head and its key, and create those that are missing.  Threads: the chain may
 * then be used from many threads. */
int al_chain_open(const char *file, struct al_chain **ret_chain, struct al_error *err);
void al_chain_free(struct al_chain *chain);

/** The path of the log.  Borrowed. */
const char *al_chain_file(const struct al_chain *chain);

/** See al_journal_limit().  A file with a single line may be larger. */
void al_chain_limit(struct al_chain *chain, uint64_t max_bytes);

/**
 * Append one line, a JSON object in ASCII.  Its members "seq" and "prev" are null and get their
 * values here; "prev" is the last member.
 * @return 0, or AL_ERR_EXECUTION; the log then has nothing of the line.
 */
int al_chain_append(struct al_chain *chain, const struct al_str *line, struct al_error *err);

/** Synchronise the log's lines and then the head with the disk.  0, or AL_ERR_EXECUTION; the lines
 * are in the log all the same. */
int al_chain_sync(struct al_chain *chain, struct al_error *err);

/** Test whether the last line could not be appended. */
bool al_chain_failed(const struct al_chain *chain);

/** Check that the log is still where others read it.  0, or AL_ERR_EXECUTION when the file was
 * removed. */
int al_chain_check(struct al_chain *chain, struct al_error *err);

/** The name of a file beside the log: "/dir/tool_log.head" for "/dir/tool_log.jsonl" and ".head";
 * and that of a full log.  Caller frees. */
char *al_journal_beside(const char *file, const char *suffix);
char *al_journal_rotated(const char *file, uint64_t last_seq);

/** A call's arguments as a line has them, see docs/JOURNAL.md.  Caller owns the reference. */
json_t *al_journal_input(const struct al_record_begin *begin);

/** The record of a running call, a file in open/: open_records.c describes it.  One thread at a
 * time uses it. */
struct al_open_record {
    int dir_fd; /**< borrowed */
    int fd;     /**< owned */
    uint64_t size;
    char name[48];
};

/** A larger file is not airlock's. */
#define AL_OPEN_FILE_MAX_BYTES (64u << 20)

/** Open the directory `path`, and create it (0700) when there is none.  A descriptor that the
 * caller closes, or AL_ERR_EXECUTION. */
int al_open_dir(const char *path, struct al_error *err);

/** Record that a call began: its line in the log if it never ends.  0 or -errno. */
int al_open_record_begin(int dir_fd, const json_t *line, struct al_open_record *ret_record);

/** Record what became known of a call.  0 or -errno; then nothing is recorded. */
int al_open_record_note(struct al_open_record *record, const json_t *members);

/** Synchronise the record and its name with the disk.  0 or -errno. */
int al_open_record_sync(const struct al_open_record *record);

/** Record that the log has the call's line, which is synchronised later.  The call does not count
 * as running any more, and its record stays open. */
void al_open_record_written(struct al_open_record *record);

/** The log has the call's line: remove the record.  Or leave one whose line could not be written to
 * the log: the next process that opens the journal writes it.  It is closed. */
void al_open_record_end(struct al_open_record *record);
void al_open_record_abandon(struct al_open_record *record);

/** The call in a record's text, as the line that it would have in the log; NULL: none had begun.
 * Sets *ret_written if the log has its line.  Caller owns the reference. */
json_t *al_open_record_read(const char *text, size_t len, bool *ret_written);

/** Receives an open call.  0 when its record is no longer needed. */
typedef int al_open_scan_fn(void *payload, long pid, json_t *call);

/**
 * Report each call in open/ whose process lives or, with `dead`, died.  The record of one that died
 * is removed if `found` returns 0; if several processes look for them at the same time, one of them
 * gets each.
 */
void al_open_scan(int dir_fd, bool dead, al_open_scan_fn *found, void *payload);

/**
 * Write the line of each call whose process died, unless the log has it.  A line belongs to a call
 * if session and call number are the same.  A failure is a warning, and the record stays for
 * the next process that opens the journal.
 */
void al_journal_recover(struct al_chain *chain, int open_fd);

#endif
