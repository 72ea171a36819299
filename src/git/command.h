// SPDX-License-Identifier: Apache-2.0
/*
 * A git command: its words, its environment and its confinement.
 *
 * Every option on a command line is a constant of airlock's sources.  An agent's values follow as
 * "--option=value", after "--", or on standard input.
 */
#ifndef AL_GIT_COMMAND_H
#define AL_GIT_COMMAND_H

#include <stdbool.h>

#include "base/error.h"
#include "base/progress.h"
#include "base/str.h"
#include "git/location.h"
#include "guard/text.h"
#include "proc/proc.h"

struct al_stable_read;

/** Access of git to files and the network; each class has its own Landlock ruleset. */
enum al_git_class {
    AL_GIT_CONFIG,  /**< list the configuration: reads the user's files as well, runs nothing */
    AL_GIT_READ,    /**< read the roots */
    AL_GIT_SCRATCH, /**< read the roots, and write below airlock's private directory alone */
    AL_GIT_WRITE,   /**< read and write the roots */
    AL_GIT_TCP,     /**< read and write the roots, and connect: the protocol git:// */
    AL_GIT_HTTP,    /**< as AL_GIT_TCP, with git-remote-http, certificates and our askpass */
    AL_GIT_SSH,     /**< as AL_GIT_TCP, with ssh, our wrapper of it and the user's ~/.ssh */
};

/** The limits of the children of one call, and what is known of the last one. */
struct al_run_limits {
    struct al_cancel *cancel;        /**< may be NULL */
    const struct al_watch *watch;    /**< of children that write (history/rescue.h); NULL: none */
    uint32_t left_ms;                /**< reduced by the time that each child runs */
    struct al_progress on_lock_wait; /**< told about a wait for a lock after a second, and with NULL
                                        that it is over; no callback: nobody */
    const char *caller; /**< what other writers are told of this one, "git_add of agent x"; NULL:
                           nothing.  Safe text, borrowed */
    int exit_code;      /**< of the last child; -1 when it did not exit */
    bool in_full;       /**< what a user decides by is shown in full, not as an excerpt */
    struct al_stable_read *stable_read; /**< records what a user is shown; may be NULL */
};

/** The means by which a command talks to another repository.  Borrowed. */
struct al_git_link {
    const char *protocol;         /**< the only one git may use; "none" for a server */
    const struct al_strv *config; /**< more overrides: key, value, key, ... */
    const struct al_strv *env;    /**< "NAME=value" entries that replace those set otherwise */
    const int *fds;               /**< descriptors that git's own children inherit */
    size_t nfds;
    bool has_job; /**< the caller has acquired a job (al_proc_acquire_job()) for this git and its
                     server */
    uint64_t max_file_bytes;            /**< of each file that git writes; 0: no limit */
    const struct al_progress *progress; /**< gets git's progress; NULL: nobody */
};

/** A shell that started a git through airlock.  Borrowed. */
struct al_git_shell {
    int in_fd, out_fd, err_fd; /**< its streams, above 2 */
    /** "NAME=value": what of its environment counts, such as the language and who commits. */
    const struct al_strv *env;
    const char *home, *path_list; /**< of its environment; NULL: not set */
    const char *ceilings;         /**< GIT_CEILING_DIRECTORIES there; NULL: not set */
    bool tells_programs;          /**< git says which editor and pager it would start */
    const struct al_strv *again;  /**< program and words to run git with the same options as this
                                       `airlock run`; NULL: it is none */
    const struct al_strv *config; /**< more overrides: key, value, key, ...; NULL: none */
    bool is_confined;             /**< a sandbox handed the words over */
    bool has_network;             /**< which may use the network */
};

/** A git command.  Set it up with AL_GIT_COMMAND_INIT, then add words. */
struct al_git_command {
    struct al_strv argv; /**< "git" first */
    enum al_git_class class;
    bool buffered; /**< partial output before a deadline is of no use, so git need not flush */
    bool starts_children;  /**< git starts other gits, so exec-once cannot be applied */
    const char *index;     /**< GIT_INDEX_FILE; NULL: the repository's own; borrowed */
    bool lists_untracked;  /**< the untracked cache in the repository's index is not believed */
    const char *work_tree; /**< GIT_WORK_TREE; NULL: the repository's own; borrowed */
    int cwd_fd;            /**< directory to start in; 0: the repository's working directory */
    bool borrows;          /**< the objects of the lender, if there is one, can be read as well */
    const void *input;     /**< standard input; borrowed */
    size_t input_len;
    int in_fd, out_fd;  /**< standard input, instead of `input`, and output; 0: none; borrowed */
    bool quotes_names;  /**< quote names as the configuration says; otherwise git quotes only names
                           with control characters */
    bool show_controls; /**< show control characters of the output, see al_text */
    /** The words are those of a user of this shell: git gets its streams, and the repository's and
     * the user's settings of what is shown count.  NULL: airlock reads the output. */
    const struct al_git_shell *shell;
    bool finds_itself; /**< git looks for the repository as it does without airlock, up to the
                          roots: it prints paths as it finds them */
    const struct al_git_link *link; /**< NULL: this repository alone; borrowed */
};

#define AL_GIT_COMMAND_INIT ((struct al_git_command){ .class = AL_GIT_READ })

void al_git_command_clear(struct al_git_command *command);

/** Set what git reads from standard input, which is borrowed. */
void al_git_command_feed(struct al_git_command *command, const struct al_str *input);

/** Test whether commands of a class may write. */
bool al_git_class_writes(enum al_git_class class);

/** Test whether commands of a class reach over the network. */
bool al_git_class_connects(enum al_git_class class);

/* --- Records --- */

#define AL_RECORD_FIELDS_MAX 6

/** Gets the fields of one record; false ends the reading and stops git. */
typedef bool (*al_record_fn)(void *payload, char *const *fields);

/** A reader of records of so many fields, each with a NUL at its end, as git prints them with -z.
 */
struct al_nul_records {
    struct al_str field[AL_RECORD_FIELDS_MAX];
    size_t nfields, at;
    al_record_fn take;
    void *payload;
};

#define AL_NUL_RECORDS_INIT(n, fn, data)                                                           \
    ((struct al_nul_records){                                                                      \
        .field = { AL_STR_INIT, AL_STR_INIT, AL_STR_INIT, AL_STR_INIT, AL_STR_INIT, AL_STR_INIT }, \
        .nfields = (n),                                                                            \
        .take = (fn),                                                                              \
        .payload = (data) })

void al_nul_records_clear(struct al_nul_records *records);

/** Feed bytes, split anywhere.  An al_sink function. */
bool al_nul_records_add(void *payload, const char *data, size_t len);

/** Run a command that prints such records.  A git that fails is an error; a git that was stopped
 * because `take` wanted no more is not. */
int al_git_read_records(const struct al_location *at, const struct al_git_command *command,
                        size_t nfields, al_record_fn take, void *payload, struct al_error *err);

/** The same for a command that ends with 1 when it finds none. */
int al_git_find_records(const struct al_location *at, const struct al_git_command *command,
                        size_t nfields, al_record_fn take, void *payload, struct al_error *err);

/** A function for records of one field: `strv` is a list of strings, which gets it. */
bool al_nul_records_list(void *strv, char *const *fields);

/* --- Progress --- */

/*
 * Filters git's progress out of its standard error: progress lines go to a listener, all other text
 * goes to a sink.
 *
 * Source: git's progress.c; gitprotocol-pack(5) on the sideband, whose lines begin with "remote: ".
 */

struct al_progress_filter {
    const struct al_progress *to; /**< borrowed */
    struct al_sink rest;
    struct al_str line; /* the unfinished line; private */
    bool full;          /* the sink wants no more; private */
};

#define AL_PROGRESS_FILTER_INIT(listener, sink)                                                    \
    ((struct al_progress_filter){ .to = (listener), .rest = (sink), .line = AL_STR_INIT })

/** Feed bytes, split anywhere.  An al_sink function; always true. */
bool al_progress_filter_add(void *payload, const char *data, size_t len);

/** End of input: pass on the unfinished line and release memory. */
void al_progress_filter_end(struct al_progress_filter *filter);

/** Test whether a line, without its line end, is a progress line. */
bool al_is_progress(const char *line);

#endif
