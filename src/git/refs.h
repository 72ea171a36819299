// SPDX-License-Identifier: Apache-2.0
/*
 * HEAD and references, read from the files of a repository: no git is started for them, unless they
 * are in no files (git 2.45, reftable).
 *
 * Source: gitrepository-layout(5), git-pack-refs(1).
 */
#ifndef AL_GIT_REFS_H
#define AL_GIT_REFS_H

#include "git/location.h"
#include <stdbool.h>
#include <stddef.h>

/** Test whether a text is made of hex digits only, of any length: then git cannot take it for an
 * option or a path. */
bool al_is_oid(const char *text, size_t len);

/** "refs/heads/main" as "main", also a remote-tracking branch or tag.  Points into `ref`. */
const char *al_ref_short(const char *ref);

/** Test whether a reference is in no file of the repository: with reftable all are, but those that
 * a merge or a fetch leaves. */
bool al_ref_is_stored(const struct al_location *at, const char *name);

/** The text that git has of such a reference, as its file would; NULL: there is none, or it is in a
 * file.  Names may also be those of other working trees (worktrees/<name>/HEAD).  Caller frees. */
char *al_ref_stored(const struct al_location *at, const char *name);

/** The first line of a file that holds a reference; NULL: it is none.  Caller frees. */
char *al_ref_line_of(int fd);

/** The content of HEAD, or of a loose reference, without the newline; NULL when there is none or it
 * leads outside the roots.  Caller frees. */
char *al_ref_read_head(const struct al_location *at);
char *al_ref_read_loose(const struct al_location *at, const char *ref);

/** Append the references that HEAD leads through, by symbolic references and by symbolic links: at
 * most five, and none when HEAD holds an object id. */
void al_ref_follow_head(const struct al_location *at, struct al_strv *ret_refs);

/** Test whether a full reference name ("refs/heads/main") exists, loose or packed. */
bool al_ref_exists(const struct al_location *at, const char *ref);

/** The object id that packed-refs of a common directory has for a full reference name; NULL when
 * it is not there.  Caller frees. */
char *al_ref_packed(const char *common_dir, const char *ref);

/** The object id that HEAD leads to; "" on an unborn branch.  Caller frees. */
char *al_ref_head(const struct al_location *at);

/** The object id that a full reference name leads to, or HEAD (NULL); "" when there is none. Caller
 * frees. */
char *al_ref_oid(const struct al_location *at, const char *ref);

/** The reference that a full name, or HEAD (NULL), leads to, if its file holds no object id: a
 * power failure may leave it empty or zeroed.  "HEAD": reftables cannot be read.  NULL: it is in
 * order, or there is none.  Caller frees. */
char *al_ref_broken(const struct al_location *at, const char *ref);

/** Test whether HEAD is on a branch that has no commit yet. */
bool al_ref_is_unborn(const struct al_location *at);

/** The commits at which the history of a shallow clone ends, an id a line; NULL: it is whole.
 * Caller frees. */
char *al_shallow_commits(const struct al_location *at);

/** The value of a reference whose file has this text: an object id or "ref: <name>".  NULL when the
 * text is neither.  Caller frees. */
char *al_ref_value(const char *text, bool sha256);

/** Append the full names of the other branches that a stopped rebase moves when it is completed, by
 * git's notes of --update-refs. */
void al_ref_followers(const struct al_location *at, struct al_strv *ret_refs);

/** Append the branches that a commit would move: the current branch and, if that is a symbolic
 * reference, those it leads to.  "HEAD" when it is detached.  Also the branches of a stopped
 * rebase, which move when the rebase is completed. */
void al_ref_head_branches(const struct al_location *at, struct al_strv *ret_names);

/** The first of them: the current branch, or "HEAD".  Caller frees. */
char *al_ref_head_branch(const struct al_location *at);

#endif
