// SPDX-License-Identifier: Apache-2.0
/* Generate a pull request for the current branch from its commits, its files and a template. */
#ifndef AL_VERBS_MESSAGE_PULL_REQUEST_H
#define AL_VERBS_MESSAGE_PULL_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "git/repo/repo.h"

/** A larger template file is ignored. */
#define AL_PULL_REQUEST_TEMPLATE_BYTES (64u * 1024u)

/** Options of a pull request. */
struct al_pull_request_options {
    const char *target;   /**< branch to merge into; NULL: main, else origin's default branch */
    const char *template; /**< NULL: the repository's template file, else none */
    bool prefers_origin;  /**< compare with origin's branch of this name, which the local one may be
                             behind; else only if there is no local one */
    bool has_numbers;     /**< list each file with its lines: "src/a.c +3 -1" */
};

/** A generated pull request. Set up with AL_PULL_REQUEST_INIT. */
struct al_pull_request {
    char *title;          /**< sanitized, one line */
    struct al_str body;   /**< commits and paths are sanitized; a template's text is unchanged */
    uint64_t commits;     /**< all commits since the merge base, listed or not */
    struct al_strv files; /**< paths as git has them */
    bool truncated;       /**< some commits or files did not fit */
};

#define AL_PULL_REQUEST_INIT ((struct al_pull_request){ .body = AL_STR_INIT })

void al_pull_request_clear(struct al_pull_request *pr);

/**
 * Describe the changes between the merge base with the target and HEAD.  Commits are listed oldest
 * first.
 *
 * {title}, {commits}, {files}, {branch} and {target} in a template are each replaced, and replaced
 * text is not searched again.  Everything else stays as it is.  Both are appended if a template has
 * neither {commits} nor {files}.
 *
 * @param max_bytes  Limit for the lists of commits and files together.
 * @return 0, or AL_ERR_EXECUTION with AL_CODE_BRANCH_NOT_FOUND for an unknown target.
 */
int al_git_generate_pull_request(const struct al_repo *repo,
                                 const struct al_pull_request_options *options, size_t max_bytes,
                                 struct al_pull_request *ret_pr, struct al_error *err);

/** A placeholder and its replacement. */
struct al_pull_request_placeholder {
    const char *name; /**< for example "{title}" */
    const char *text;
};

/** Append a template with its placeholders replaced. `words` ends with a NULL name. */
void al_pull_request_fill(const char *template, const struct al_pull_request_placeholder *words,
                          struct al_str *out);

/** Make a title of a branch name: "feature/add-user_auth" gives "Add user auth"; "" when nothing is
 * left. Caller frees. */
char *al_pull_request_title(const char *branch);

#endif
