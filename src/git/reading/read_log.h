// SPDX-License-Identifier: Apache-2.0
/* Run `git log`: commits, and what they changed, read while git prints them. */
#ifndef AL_GIT_READING_READ_LOG_H
#define AL_GIT_READING_READ_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "git/diff/diff.h"
#include "git/repo/repo.h"
#include "git/run.h"

/** The commits that are wanted.  Words of an agent are checked by the caller. */
struct al_log_query {
    const char *range;           /**< as al_arg_split_revisions() takes it; NULL: HEAD */
    bool all;                    /**< all branches, of remotes too */
    const struct al_strv *paths; /**< as the agent wrote them; NULL: all */
    const char *author;          /**< a part of the name or address, taken literally; NULL */
    const char *since, *until;   /**< as git takes dates; NULL */
    const char *grep;            /**< of the message: an extended regular expression; NULL */
    const char *changed;         /**< a text whose number changed; NULL */
    bool regex;                  /**< `changed` is an expression that a changed line matches */
    bool follow, first_parent;
    bool no_walk;       /**< only the commit that `range` names */
    bool in_full;       /**< without `no_walk`, `stat` and `patch`: what is not abbreviated */
    bool stat, patch;   /**< what is shown of a commit beside its header */
    uint64_t max_count; /**< 0: all */
};

/** One commit.  Valid only while it is passed on. */
struct al_logged {
    const char *hash;        /**< abbreviated by git; whole with `no_walk` or `in_full` */
    const char *date;        /**< 2026-02-07, the author's; strict ISO 8601 with `in_full` */
    const char *author;      /**< "Name <mail>"; the name alone in the short form */
    const char *decorations; /**< "HEAD -> main, tag: v1"; "" for none, and with `in_full` */
    const char *message; /**< the subject; with `stat`, `patch` or `no_walk` the whole message */
    const char *parents; /**< with `no_walk` their ids, else "" */
};

/** Gets what is read.  False ends the reading, which stops git. */
struct al_log_taker {
    bool (*take_commit)(void *payload, const struct al_logged *commit);
    /** The files of the commit before, with `stat`. */
    bool (*take_files)(void *payload, const struct al_diff_raw *files);
    struct al_patch_taker patch; /**< with `patch`; its payload is that of all */
    /** Of a search: `skip` commits are done, the last of them `id`. */
    bool (*take_place)(void *payload, uint64_t skip, const char *id, size_t len);
};

/**
 * Run `git log`.  One git child.
 *
 * @param[out] ret_unborn  HEAD has no commit yet, and nothing else was asked for.
 * @return 0, also when the taker has stopped; git's failure.
 */
int al_git_read_commits(const struct al_repo *repo, const struct al_log_query *query,
                        const struct al_log_taker *to, bool *ret_unborn, struct al_error *err);

/**
 * The same with `changed` and without `follow`, some hundred commits at a time: for a search that
 * may run out of time, and go on later where it was.
 *
 * @param skip  Commits that are done, as the taker was told; take_place() is called for it again.
 * @return As above; AL_ERR_TIMEOUT, when all that was found so far has been taken.
 */
int al_git_search_commits(const struct al_repo *repo, const struct al_log_query *query,
                          uint64_t skip, const struct al_log_taker *to, bool *ret_unborn,
                          struct al_error *err);

/** The time of the commit that a word names, in seconds; false: it names none. */
int al_git_commit_time(const struct al_repo *repo, const char *word, bool *ret_found,
                       int64_t *ret_time, struct al_error *err);

/** Read the whole message of HEAD's commit, at most `max_bytes`. Caller frees. */
int al_git_read_message(const struct al_repo *repo, size_t max_bytes, char **ret_message,
                        struct al_error *err);

/* --- Git's own text --- */

/** Options of `git log`. A NULL string means not given. */
struct al_log_options {
    int64_t max_count; /**< 0: no limit */
    bool oneline;
    const char *format, *author, *since, *until, *grep, *path;
};

/** Run `git log`. A non-zero exit code is an error. */
int al_git_log(const struct al_repo *repo, const struct al_log_options *options, size_t max_bytes,
               struct al_git_output *ret_output, struct al_error *err);

/** Options of `git show`. */
struct al_show_options {
    const char *commit;
    bool stat, name_only;
    const char *format;
};

/** Run `git show`. A non-zero exit code is an error. */
int al_git_show(const struct al_repo *repo, const struct al_show_options *options, size_t max_bytes,
                struct al_git_output *ret_output, struct al_error *err);

/* --- Log reader --- */

/*
 * Reader of the output of `git log` in the formats below.
 *
 * A header is NUL-separated fields, with a NUL in front.  No line of a patch begins with a NUL, so
 * a header cannot be forged by the content of files.  A message has no NUL.
 *
 * Source: git-log(1) "PRETTY FORMATS", "-z".
 */

/** One line a commit, with -z. */
#define AL_LOG_FORMAT_SHORT "--format=%x00%h%x00%ad%x00%an%x00%D%x00%x00%s"
/** The same, in full. */
#define AL_LOG_FORMAT_FULL "--format=%x00%H%x00%aI%x00%an <%ae>%x00%x00%x00%s"
/** The whole message, with -z and --numstat, or with --patch and without -z. */
#define AL_LOG_FORMAT_LONG "--format=%x00%h%x00%ad%x00%an <%ae>%x00%D%x00%x00%B%x00"
/** One commit, with -z, --numstat and --patch. */
#define AL_LOG_FORMAT_SHOW "--format=%x00%H%x00%ad%x00%an <%ae>%x00%D%x00%P%x00%B%x00"

#define AL_LOG_FIELDS      6

/** The reader.  Must not be moved after al_log_reader_init(). */
struct al_log_reader {
    const struct al_log_query *query;
    const struct al_log_taker *to;
    struct al_change_reader changes; /* of the commit that was read last */
    bool has_changes;

    /* Private. */
    struct al_str fields[AL_LOG_FIELDS];
    size_t at; /* the field that is read */
    enum {
        AL_LOG_BEFORE, /* a header: its NUL, or the blank line before what the commit changed */
        AL_LOG_HEADER,
        AL_LOG_ENDED, /* a header, and git's terminator follows */
        AL_LOG_CHANGES,
    } state;
    bool record_begins; /* of the changes: a NUL now is that of the next header */
    bool stopped;
};

void al_log_reader_init(struct al_log_reader *reader, const struct al_log_query *query,
                        const struct al_log_taker *to);
void al_log_reader_clear(struct al_log_reader *reader);

/** Sink function: parse the next bytes, split anywhere.  `payload` is the reader. */
bool al_log_reader_add(void *payload, const char *data, size_t len);

/** The end of the output. */
void al_log_reader_end(struct al_log_reader *reader);

#endif
