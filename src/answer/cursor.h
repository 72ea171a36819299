// SPDX-License-Identifier: Apache-2.0
/*
 * Cursors: where a long answer goes on.
 *
 * A cursor is a random word.  This process keeps, for the session it was made in, the arguments of
 * the call, the place in its answer, and a digest of everything before that place.  A word of
 * another session, or one that was forgotten, means nothing.  The oldest cursors of who has
 * most are forgotten: a token over HTTP, or a process without tokens.  So are the oldest ones of
 * who has arguments of more than 4 MiB in them (al_json_bytes()), but never the newest.
 *
 * The digest binds a cursor to what the repository is: where the answer up to that place is not
 * what it was, going on would leave something out or repeat it, and al_pages_end() says so.
 *
 * Threads: safe.
 */
#ifndef AL_ANSWER_CURSOR_H
#define AL_ANSWER_CURSOR_H

#include <nettle/sha2.h>
#include <stdint.h>

#include "tool/call.h"
#include "util/error.h"
#include "util/json.h"
#include "util/str.h"

/** A place in an answer. */
struct al_cursor_place {
    uint64_t unit;                      /**< units before it */
    uint64_t offset;                    /**< bytes of its unit before it */
    uint8_t before[SHA256_DIGEST_SIZE]; /**< of all the bytes before it */
};

/** Append a new cursor of this call to `out`.
 *
 * @return 0; AL_ERR_EXECUTION when the kernel has no random bytes.
 */
int al_cursor_add(const struct al_call *call, const struct al_cursor_place *place,
                  struct al_str *out, struct al_error *err);

/** The place that a cursor names.
 *
 * @return 0; AL_ERR_BAD_ARGS for a cursor that is not of this session or was forgotten.
 */
int al_cursor_find(const struct al_session *session, const char *cursor,
                   struct al_cursor_place *ret_place, struct al_error *err);

/**
 * For `expand` of struct al_tool: the arguments that a call with a cursor goes on with, which are
 * those of the call the cursor comes from.  Beside the cursor, `max_bytes` may be another one;
 * anything else that is given has to be as it was.
 *
 * @param[out] ret_arguments  NULL: there is no cursor.  The caller owns the reference.
 */
int al_cursor_expand(const struct al_session *session, const struct al_tool *tool,
                     const json_t *given, json_t **ret_arguments, struct al_error *err);

#endif
