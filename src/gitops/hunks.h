// SPDX-License-Identifier: Apache-2.0
/*
 * The hunks of a patch as `git diff` prints it, combined ones of a conflict included.
 *
 * Content cannot pass for a header: a hunk ends where its own line counts say.
 *
 * Source: git-diff(1) "GENERATING PATCH TEXT WITH -P", "COMBINED DIFF FORMAT".
 */
#ifndef AL_GITOPS_HUNKS_H
#define AL_GITOPS_HUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** One hunk.  Pointers go into the patch, but for the name. */
struct al_hunk {
    const char *file; /**< raw; the old name of a file that was deleted */
    int64_t old_start, old_lines, new_start, new_lines;
    const char *header; /**< what git found before it ("int main(void)"), not terminated */
    size_t header_len;
    const char *body; /**< its lines with their first column and newline */
    size_t body_len;
};

/** Called with each hunk in turn. */
typedef void (*al_hunk_fn)(void *payload, const struct al_hunk *hunk);

/** The prefixes of names in a patch read here, as options of git. */
#define AL_HUNKS_OLD_PREFIX "a/"
#define AL_HUNKS_NEW_PREFIX "b/"

/**
 * Read a patch.
 *
 * @param patch  Bytes of any kind, with a NUL behind them.
 * @param take   May be NULL: only count.
 * @return the number of files in it.
 */
size_t al_hunks_read(const char *patch, size_t len, al_hunk_fn take, void *payload);

#endif
