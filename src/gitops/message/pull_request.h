// SPDX-License-Identifier: Apache-2.0
/* What a pull request for the current branch would say: from its commits, its files, and a
 * template.
 */
#ifndef AL_GITOPS_MESSAGE_PULL_REQUEST_H
#define AL_GITOPS_MESSAGE_PULL_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "gitops/repo/repo.h"
#include "util/str.h"

/** A template file of the repository larger than this is not used. */
#define AL_PULL_REQUEST_TEMPLATE_BYTES (64u * 1024u)

/** The choices of git_generate_pr. */
struct al_pull_request_options {
    const char
        *target; /**< branch to merge into; NULL: main, else what origin has as its default */
    const char *template; /**< NULL: the repository's own file, else none */
};

/** What came of it.  Set up with AL_PULL_REQUEST_INIT. */
struct al_pull_request {
    char *title;          /**< safe, one line */
    struct al_str body;   /**< text of commits and paths is safe, a template's is as it was */
    uint64_t commits;     /**< since the merge base, listed or not */
    struct al_strv files; /**< raw paths */
    bool truncated;       /**< commits or files did not fit */
};

#define AL_PULL_REQUEST_INIT ((struct al_pull_request){ .body = AL_STR_INIT })

void al_pull_request_clear(struct al_pull_request *pr);

/**
 * Describe HEAD against the merge base with the target.  Commits are listed oldest first.
 *
 * In a template, {title}, {commits}, {files}, {branch} and {target} are replaced, once; everything
 * else stays as it is.  One that asks for neither commits nor files gets both behind it.
 *
 * @param max_bytes  Of title, body and files together; a template may be longer by itself.
 * @return 0, or AL_ERR_EXECUTION with AL_CODE_BRANCH_NOT_FOUND for an unknown target.
 */
int al_git_generate_pull_request(const struct al_repo *repo,
                                 const struct al_pull_request_options *options, size_t max_bytes,
                                 struct al_run_limits *budget, struct al_pull_request *ret_pr,
                                 struct al_error *err);

/** One placeholder and what takes its place. */
struct al_pull_request_placeholder {
    const char *name; /**< "{title}" */
    const char *text;
};

/** Append a template with its placeholders replaced; `words` ends with a NULL name. */
void al_pull_request_fill(const char *template, const struct al_pull_request_placeholder *words,
                          struct al_str *out);

/** "feature/add-user_auth" → "Add user auth"; "" where nothing is left.  Caller frees. */
char *al_pull_request_title(const char *branch);

#endif
