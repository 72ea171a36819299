// SPDX-License-Identifier: Apache-2.0
/*
 * The parts that the files of the journal share: the chain of lines (chain.c), the records of
 * running calls (open_records.c), and the files and their lines (reading.c).
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
#include <pthread.h>
#include <sys/types.h>

#include "history/journal.h"

#define AL_MAC_HEX 64

/** The `prev` of the first line: 64 zeros. */
#define AL_MAC_NONE "0000000000000000000000000000000000000000000000000000000000000000"

/** A key, ready for use. */
struct al_key {
    struct hmac_sha256_ctx ctx;
};

/** Read a key.  0, AL_ERR_NOT_FOUND or AL_ERR_EXECUTION. */
int al_key_load(const char *path, struct al_key *ret_key, struct al_error *err);

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

/** Size of the head file in bytes: the members of struct al_head, and an HMAC of them.  Anyone who
 * removes the last line could build the head from that line's `prev` without it. */
#define AL_HEAD_BYTES (2 * (20 + 1) + 3 * (AL_MAC_HEX + 1))

/** Overwrite the head.  0 or -errno. */
int al_head_write(int fd, const struct al_key *key, const struct al_head *head);

/** The log, its head and its key.  A full log is renamed and a new one begun, so the log is opened
 * for each line. */
struct al_chain {
    char *file;
    uint64_t max_bytes; /**< of one file; one with a single line may be larger */
    struct al_key key;
    pthread_mutex_t lock; /* between threads; flock(2) on the head is between processes */
    int dir_fd, head_fd;
    int fd;               /* of the log, while the chain is locked */
    _Atomic ino_t synced; /* the log whose name is known to be on the disk; 0: none */
};

/** Open the log, its head and its key, and create those that are missing.  Threads: the chain may
 * then be used from many threads.  The caller closes it also after a failure. */
int al_chain_open(struct al_chain *chain, const char *file, struct al_error *err);
void al_chain_close(struct al_chain *chain);

/**
 * Append one line, an object with the members "seq" and, as the last one, "prev", which get their
 * values here.
 * @param seen  The number of the last line that the writer knows; NULL: it need not.
 * @return 0; AL_ERR_AGAIN: there are more lines, and *seen is the number of the last one; or
 *         AL_ERR_EXECUTION.  In both cases the log has nothing of the line.
 */
int al_chain_append(struct al_chain *chain, json_t *line, uint64_t *seen, struct al_error *err);

/** The number of the last line; 0: there is none, or it cannot be told. */
uint64_t al_chain_last(struct al_chain *chain);

/** Synchronise the log's lines and then the head with the disk.  0, or AL_ERR_EXECUTION; the lines
 * are in the log all the same. */
int al_chain_sync(struct al_chain *chain, struct al_error *err);

/** Check that the log is still where others read it.  0, or AL_ERR_EXECUTION when the file was
 * removed. */
int al_chain_check(struct al_chain *chain, struct al_error *err);

/** The name of a file beside the log: "/dir/tool_log.head" for "/dir/tool_log.jsonl" and ".head".
 * Caller frees. */
char *al_journal_beside(const char *file, const char *suffix);

/** The path of full log `number`, counted from 1, and how many there are.  Caller frees. */
char *al_journal_full_path(const char *file, uint64_t number);
uint64_t al_journal_count_full(const char *file);

/** Open the directory `path`, and create it (0700) when there is none.  A descriptor that the
 * caller closes, or AL_ERR_EXECUTION. */
int al_journal_open_dir(const char *path, struct al_error *err);

/** Open a regular file, with O_CREAT a new one (0600).  Links are not followed, and a fifo is not
 * waited for.  A descriptor or -errno; -EINVAL when it is not a regular file. */
int al_journal_open_file(const char *path, int flags);

/** Lock a file until it is closed, as flock(2).  The kernel releases the lock when the process
 * ends, however it ends.  0 or -errno: -EWOULDBLOCK when another has it locked, another one when
 * the file system has no locks. */
int al_journal_lock(int fd, int how);

/** Lock the head of a journal, so that no line is appended and no file begun, until the descriptor
 * is closed.  `*ret_fd` is -1 without a head.  0 or -errno. */
int al_journal_lock_head(const char *file, int *ret_fd);

/** The record of a running call, a file in open/: open_records.c describes it.  One thread at a
 * time uses it. */
struct al_open_record {
    int dir_fd; /**< borrowed */
    int fd;     /**< owned */
    off_t size;
    char name[48];
};

/** Record that a call began: its line in the log if it never ends.  0 or -errno. */
int al_open_record_begin(int dir_fd, const json_t *line, struct al_open_record *ret_record);

/** Record what became known of a call.  0 or -errno; then nothing is recorded. */
int al_open_record_note(struct al_open_record *record, const json_t *members);

/** Record that the log has the call's line, which is synchronised later.  The call does not count
 * as running any more, and its record stays open. */
void al_open_record_written(struct al_open_record *record);

/** Close the record, and remove it if the log has the call's line.  Otherwise the next process that
 * opens the journal writes the line. */
void al_open_record_close(struct al_open_record *record, bool is_written);

/** The call in a record's text, as the line that it would have in the log; NULL: none had begun.
 * Sets *ret_written if the log has its line.  Caller owns the reference. */
json_t *al_open_record_read(const char *text, size_t len, bool *ret_written);

/**
 * Write the line of each call whose process died, unless the log has it.  A line belongs to a call
 * if session and call number are the same.  A failure is a warning, and the record stays for
 * the next process that opens the journal.
 */
void al_journal_recover(struct al_chain *chain, int open_fd);

#endif
