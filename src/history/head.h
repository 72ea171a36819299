// SPDX-License-Identifier: Apache-2.0
/*
 * The key of a journal, and the head file that says where its chain ends.
 *
 * The head is one line of fixed width, written with one pwrite(2):
 *
 *   sequence number of the last line
 *   size of the log
 *   HMAC of the last line
 *   HMAC of the line that is being appended; zeros when there is none
 *   HMAC of all of the above
 *
 * The last HMAC makes a forged head detectable.  Without it, anyone who removes the last line could
 * build the head from that line's `prev`.
 */
#ifndef AL_HISTORY_HEAD_H
#define AL_HISTORY_HEAD_H

#include <nettle/hmac.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"
#include "util/str.h"

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

/** Size of the head file in bytes. */
#define AL_HEAD_BYTES (2 * (20 + 1) + 3 * (AL_MAC_HEX + 1))

/** The head of an empty journal. */
struct al_head al_head_empty(void);

/** The content of the head file: nothing, a head that this key signed, or something else. */
enum al_head_found { AL_HEAD_EMPTY, AL_HEAD_GOOD, AL_HEAD_BAD };

/** Read the head.  `*ret_head` is the empty one unless `*ret_found` is AL_HEAD_GOOD.  0 or -errno.
 */
int al_head_read(int fd, const struct al_key *key, struct al_head *ret_head,
                 enum al_head_found *ret_found);

/** Overwrite the head.  0 or -errno. */
int al_head_write(int fd, const struct al_key *key, const struct al_head *head);

/** The name of a file beside the log: "/dir/tool_log.head" for "/dir/tool_log.jsonl" and ".head".
 * Caller frees. */
char *al_journal_beside(const char *file, const char *suffix);

#endif
