// SPDX-License-Identifier: Apache-2.0
/*
 * Secrets in texts and JSON values, replaced by `[redacted]`:
 *
 *   - the value of a name on the denylist for environment variables: a member, or NAME=value
 *   - user information in addresses, as al_url_redact() finds it
 *   - GitHub tokens, bearer tokens, and what follows "Authorization:"
 */
#ifndef AL_GUARD_REDACT_H
#define AL_GUARD_REDACT_H

#include "base/json.h"
#include "base/str.h"

/** Append a text without its secrets. */
void al_redact_text(const char *text, size_t len, struct al_str *out);

/** Arguments that name a file, branch or revision.  They say what a call did, so they stay whatever
 * they look like. */
struct al_redact_names {
    /** Whether an argument is such a name.  `object` is the argument that `member` is in; NULL:
     * `member` is an argument itself. */
    bool (*is_name)(const void *payload, const char *object, const char *member);
    const void *payload;
};

/** Copy a value without its secrets.  Both may be NULL.  Caller owns the reference. */
json_t *al_redact_json(const json_t *value, const struct al_redact_names *names);

/** Longer arguments are cut, see docs/JOURNAL.md.  Measured as ASCII JSON. */
#define AL_REDACT_INPUT_MAX_BYTES (128u << 10)

/** The arguments of a call as a log has them: without secrets, within the bound.  Both may be NULL.
 * Caller owns the reference. */
json_t *al_redact_input(const json_t *value, const struct al_redact_names *names);

/** A text as a log has it: without secrets, cut at 4 KiB, and valid UTF-8.  Caller owns the
 * reference. */
json_t *al_redact_log_text(const char *text, size_t len);

#endif
