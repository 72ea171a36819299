// SPDX-License-Identifier: Apache-2.0
/*
 * Paths on command lines, for the git commands that do not read them from standard input: as many
 * command lines as it takes.
 *
 * Source: execve(2), "Limits on size of arguments and environment".
 */
#ifndef AL_GITOPS_PLUMBING_BATCH_H
#define AL_GITOPS_PLUMBING_BATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "proc/proc.h"
#include "util/error.h"
#include "util/str.h"

struct al_run_limits;
struct al_git_command;
struct al_repo;

/** Paths beyond this are too many to look at; the call is refused, saying so. */
#define AL_PATH_LIST_MAX_BYTES (8u << 20)

/** What the words of one batch take at most, each counted with its NUL and a pointer to it. */
size_t al_batch_max_bytes(void);

/**
 * Append the next words to a command line: as many as one holds, and at least one.
 *
 * @param words  Words with a NUL behind each, as al_repo_pathspecs() gives them.
 * @param at     Where the next word begins; moved behind those that were added.
 * @return whether words are left.
 */
bool al_batch_add(struct al_strv *argv, const struct al_str *words, size_t *at);

/**
 * The paths that a command prints with -z for these words, from one run a batch; sorted, each of
 * them once, appended to `ret_list`, which was empty.
 *
 * @param command  Its words up to "--", ending with NULL.
 * @return 0, or as al_git_list_paths().
 */
int al_batch_list(const struct al_repo *repo, const char *const *command,
                  const struct al_str *words, struct al_run_limits *budget,
                  struct al_buffer *ret_list, struct al_error *err);

/** Run a command that prints NUL-terminated paths relative to the top, and append them. */
int al_git_list_paths(const struct al_repo *repo, const struct al_git_command *command,
                      struct al_run_limits *budget, struct al_buffer *ret_list,
                      struct al_error *err);

/** Paths that differ between two commits, or (`to` NULL) between a commit and the working tree. */
int al_git_list_changed(const struct al_repo *repo, const char *from, const char *to,
                        struct al_run_limits *budget, struct al_buffer *ret_list,
                        struct al_error *err);

#endif
