// SPDX-License-Identifier: Apache-2.0
/*
 * The one place where a git command line, its environment and its confinement meet.
 *
 * Every option is one written in this folder.  Values of an agent follow as "--option=value",
 * behind
 * "--", or on standard input.
 */
#ifndef AL_GITOPS_COMMAND_H
#define AL_GITOPS_COMMAND_H

#include <stdbool.h>

#include "gitops/location.h"
#include "guard/text.h"
#include "proc/proc.h"
#include "util/error.h"
#include "util/str.h"

struct al_held_ruleset;
struct al_nul_records;
struct al_steady;

/** What git may do to the file system and beyond; each class has its own Landlock ruleset. */
enum al_git_class {
    AL_GIT_CONFIG, /**< list the configuration: reads the person's files as well, runs nothing */
    AL_GIT_READ,   /**< read the roots */
    AL_GIT_WRITE,  /**< read and write the roots */
    AL_GIT_TCP,    /**< the same, and connect: the protocol git:// */
    AL_GIT_HTTP,   /**< the same, with git's helper for it, certificates, and our askpass */
    AL_GIT_SSH,    /**< the same, with ssh, our wrapper of it, and the person's ~/.ssh */
    AL_GIT_CLASSES,
};

/** What limits the children of one call. */
struct al_run_limits {
    struct al_cancel *cancel;        /**< may be NULL */
    uint32_t left_ms;                /**< counted down by the time children ran */
    void (*waits)(const char *line); /**< told when a foreign lock is waited for; NULL: nobody */
    int exit_code;                   /**< of the child that ended last; -1 when it did not exit */
    bool in_full;                    /**< what a user decides by is not cut to an excerpt */
    struct al_steady *steady; /**< gets the objects a user decides by; NULL: nobody is asked */
};

/** What a command has that talks to another repository.  All of it borrowed. */
struct al_git_link {
    const char *protocol;         /**< the only one git may use; "none" for a server */
    const struct al_strv *config; /**< more overrides: key, value, key, value … */
    const struct al_strv *env;    /**< "NAME=value"; replaces what is set otherwise */
    const int *fds;               /**< what a helper further down inherits */
    size_t nfds;
    int socket_fd; /**< git is the other side: its standard input and output, and it finds its
                        repository by itself; 0: it is not */
    bool
        has_job; /**< the caller holds a turn (al_proc_acquire_job()) for this and its other side */
    uint64_t max_file_bytes;            /**< of a file it writes; 0: any */
    const struct al_progress *progress; /**< gets what git says about it; NULL: nobody */
};

/** One git command to be.  Set up with AL_GIT_COMMAND_INIT, then add words. */
struct al_git_command {
    struct al_strv argv; /**< "git" first */
    enum al_git_class class;
    bool reads_content_only; /**< it reads what people wrote, and asks the configuration for
                          nobody's name and no connection */
    bool buffered; /**< what came of its output before a deadline is of no use, so that it need
                        not be flushed */
    bool starts_children;  /**< git starts gits of its own, so exec-once cannot be put on */
    const char *index;     /**< GIT_INDEX_FILE, NULL: the repository's own; borrowed */
    const char *work_tree; /**< GIT_WORK_TREE, NULL: the repository's own; borrowed */
    int cwd_fd;            /**< directory to start in; 0: the repository's working directory */
    const void *input;     /**< standard input; borrowed */
    size_t input_len;
    bool quotes_names;              /**< as the configuration says; else git writes names as they
                                         are, but for control characters */
    bool show_controls;             /**< in the text of its output, see al_text */
    const struct al_git_link *link; /**< NULL: it concerns this repository alone; borrowed */
};

#define AL_GIT_COMMAND_INIT ((struct al_git_command){ .class = AL_GIT_READ })
#define AL_GIT_CONTENT_INIT                                                                        \
    ((struct al_git_command){ .class = AL_GIT_READ, .reads_content_only = true })

void al_git_command_clear(struct al_git_command *command);

/** What a git command said, as safe text within a cap. */
struct al_git_output {
    struct al_text out, err;
    int exit_code;  /**< -1 when a signal ended it, or when stopped */
    bool stopped;   /**< the cap was reached and git was stopped; never one that may write */
    bool timed_out; /**< al_git_run_until() alone: the deadline passed */
};

void al_git_output_clear(struct al_git_output *output);

/** Whether a git that reads did what it was asked: it says so, or no more of it was wanted.  One
 * that may write did when its exit code is 0, and not when it was stopped. */
bool al_git_read_well(const struct al_git_output *output);

/**
 * Run a command and keep its output as safe text of at most `max_bytes` (one character more tells
 * that there was more).  A non-zero exit code is a success here.
 *
 * A git that may write is never stopped for its output, whichever of these functions runs it: what
 * is beyond the cap is read and dropped.  Of its output 64 KiB are kept even where `max_bytes` is
 * less, since what became of the repository may stand in them; cutting what is shown is then the
 * caller's.
 *
 * @return 0; AL_ERR_TIMEOUT with what came until then as err->detail; AL_ERR_CANCELLED;
 *         AL_ERR_EXECUTION when git could not be started ("git binary not available").
 * Budget: the time the child ran is taken off budget->left_ms.
 */
int al_git_run_text(const struct al_location *at, const struct al_git_command *command,
                    size_t max_bytes, struct al_run_limits *budget,
                    struct al_git_output *ret_output, struct al_error *err);

/**
 * al_git_run_text() with a cap for each stream, for a caller to whom the deadline is an outcome and
 * not an error: the output then holds what came until then, `timed_out` is set and the exit code is
 * -1.
 */
int al_git_run_until(const struct al_location *at, const struct al_git_command *command,
                     size_t max_out_bytes, size_t max_err_bytes, struct al_run_limits *budget,
                     struct al_git_output *ret_output, struct al_error *err);

/**
 * Run a command whose output a program reads: bytes go to `sink` as they come, standard error is
 * kept (64 KiB of safe text) for al_git_failed().
 */
int al_git_run_sink(const struct al_location *at, const struct al_git_command *command,
                    struct al_sink sink, struct al_run_limits *budget,
                    struct al_git_output *ret_output, struct al_error *err);

/** Run a command whose output is records, and feed them; a git that fails is an error, one that
 * `records` wanted no more of is not. */
int al_git_read_records(const struct al_location *at, const struct al_git_command *command,
                        struct al_nul_records *records, struct al_run_limits *budget,
                        struct al_error *err);

/** The same, counting records of one field. */
int al_git_count_records(const struct al_location *at, const struct al_git_command *command,
                         struct al_run_limits *budget, uint64_t *ret_count, struct al_error *err);

/** al_git_run_text(), with a non-zero exit code as an error. */
int al_git_run_checked(const struct al_location *at, const struct al_git_command *command,
                       size_t max_bytes, struct al_run_limits *budget,
                       struct al_git_output *ret_output, struct al_error *err);

/**
 * al_git_run_text() for a command that writes the index: when a foreign index.lock got in between,
 * wait for it and run again, until the budget is used up.  The repository's turn to write is ours.
 */
int al_git_run_writer_raw(struct al_location *at, const struct al_git_command *command,
                          size_t max_bytes, struct al_run_limits *budget,
                          struct al_git_output *ret_output, struct al_error *err);

/** The same; what did not do all of it, see al_git_did_all(), is an error. */
int al_git_run_writer(struct al_location *at, const struct al_git_command *command,
                      size_t max_bytes, struct al_run_limits *budget,
                      struct al_git_output *ret_output, struct al_error *err);

/** Whether commands of a class may write. */
bool al_git_class_writes(enum al_git_class class);

/** Whether commands of a class reach over the network. */
bool al_git_class_connects(enum al_git_class class);

/** How much a git child may use. */
struct al_limits al_git_limits(const struct al_git_command *command, uint32_t left_ms);

/** What a child of a command that has this much time is held to. */
struct al_sandbox al_git_command_sandbox(const struct al_git_command *command,
                                         const struct al_held_ruleset *held, uint32_t left_ms);

#endif
