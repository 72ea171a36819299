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
    struct al_cancel *cancel; /**< may be NULL */
    uint32_t left_ms;         /**< counted down by the time children ran */
    void (*on_lock_wait)(
        const char *line);    /**< told when a foreign lock is waited for; NULL: nobody */
    int exit_code;            /**< of the child that ended last; -1 when it did not exit */
    bool in_full;             /**< what a user decides by is not cut to an excerpt */
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
