// SPDX-License-Identifier: Apache-2.0
/* The toolset `commands`: what a shell runs through airlock.  Its calls are made by `airlock git`,
 * `run` and `snapshot` alone, with the streams of the shell (al_session.caller_shell). */
#ifndef AL_TOOLS_COMMANDS_COMMANDS_H
#define AL_TOOLS_COMMANDS_COMMANDS_H

#include "call/tool.h"
#include "git/command.h"
#include "guard/root.h"
#include "tools/words.h"
#include "verbs/transport/remote.h"

/** `git`: the words of git's own command line. */
extern const struct al_tool al_tool_commands_git;

/** `run`: any command between two checkpoints, or a checkpoint alone. */
extern const struct al_tool al_tool_commands_run;

/** A tool of the client's own between two checkpoints, in a process that proc/hold.h began.  The
 * shell's output gets AL_HOOK_READY when the tool may begin.  It is called by the name of the
 * client's tool. */
extern const struct al_tool al_tool_commands_hook;
#define AL_HOOK_READY     "ready"
#define AL_HOOK_OPERATION "hook"

/** The file that a tool of the client is given; NULL: it may change any, as a shell may. */
const char *al_hook_file(const json_t *input);

/** Open the repository of a directory; *ret_repo stays NULL where there is none. */
int al_shell_open(struct al_call *call, const char *dir, struct al_repo **ret_repo,
                  struct al_error *err);

/** The effects of the operation that a line is. */
unsigned al_shell_effects(const struct al_call *call);

/** A shell's command may take a day. */
int64_t al_shell_timeout_ms(const struct al_session *session);

/* --- The words after `git`, taken apart, and what airlock says about them --- */

enum al_shell_words_flags {
    AL_SHELL_OUTSIDE = 1 << 0,         /**< it writes where no repository is */
    AL_SHELL_STARTS_CHILDREN = 1 << 1, /**< it starts other gits */
    AL_SHELL_SHOWS_PATCHES = 1 << 2,   /**< see struct al_git_words */
    AL_SHELL_NAMES_BRANCHES = 1 << 3,  /**< its words may name branches that it moves */
    AL_SHELL_NAMES_PATHS = 1 << 4,     /**< its words are paths, before "--" too */
    /** It prints the configuration or paths as git itself finds them, and changes nothing: no
     * override of airlock's shows. */
    AL_SHELL_SHOWS_SETTINGS = 1 << 5,
};

/** A command of git, whatever its options. */
struct al_shell_words_command {
    const char *name;
    /** The letters and, between spaces, the options that take a value: the next word if none is
     * attached.  Letters behind a '?' take an attached value alone.  NULL: none that matters. */
    const char *letters, *values;
    unsigned flags; /**< enum al_shell_words_flags */
};

/** The condition of an operation: every member that is given has to hold. */
struct al_shell_words_form {
    const char *command; /**< or several, between spaces; NULL: every one */
    const char *options; /**< any of these is given, between spaces */
    const char *verbs;   /**< the first word that is no option is one of these */
    bool is_bare;        /**< there is no word but options, behind "--" neither */
    bool is_single;      /**< there is at most one */
    /** A form that only reads: an abbreviated option does not count, as it might be another. */
    bool in_full;
};

/** The request of a line to another repository, as a call of a tool of `everyday`. */
struct al_shell_connection {
    const struct al_tool *tool; /**< NULL: nothing */
    json_t *arguments;
    void *args; /**< the same, decoded */
    const struct al_operation *operation;
    struct al_fetch_words git; /**< what git gets besides */
    struct al_strv rest;       /**< the options of git pull for what follows its fetch */
    int code;   /**< of git pull: how its fetch has ended; -1: well, and there is no more */
    char *name; /**< what git's output calls what is pushed; NULL: nothing is */
};

/** A line of words.  Set it up with AL_SHELL_WORDS_INIT. */
struct al_shell_words {
    struct al_strv globals; /**< the options of git itself that it gets */
    struct al_strv words;   /**< the command and all that follows; an alias is expanded */
    struct al_strv options; /**< "-x", "--name", each as often as given, without its value */
    struct al_strv given;   /**< the same with it: "-x1", "--name=VALUE" */
    bool lacks_value;       /**< there is none behind the last one, which takes one */
    struct al_strv others;  /**< what is neither an option nor the value of one, before "--" */
    struct al_strv paths;   /**< what follows "--" */
    struct al_strv
        operands; /**< `others`, and then `paths`; of git clone an address and a directory */
    const char *git_dir, *work_tree; /**< the values of these options, borrowed; NULL: not given */
    struct al_shell_words_command command;
    struct al_shell_connection connection;
    struct al_strv clones; /**< the submodules that it makes: path from the top, address, git
                              directory from that of the repository, path, ... */
};

#define AL_SHELL_WORDS_INIT ((struct al_shell_words){ .command.name = "" })

void al_shell_words_clear(struct al_shell_words *words);

/**
 * Take a line apart, and refuse what git may not be told here.
 *
 * @param given  Borrowed: the line, without "git".
 * @param repo   Where aliases are; NULL: there is no repository.
 * @return 0, or AL_ERR_SANDBOX with one line that names another way.
 */
int al_shell_words_read(struct al_shell_words *words, const struct al_strv *given,
                        const struct al_repo *repo, struct al_error *err);

/** Read what a line that was taken apart asks of another repository; nothing is the rule.
 *
 * @return as al_shell_words_read(). */
int al_shell_connection_read(struct al_shell_words *words, const struct al_repo *repo,
                             const struct al_tool_defaults *defaults, struct al_error *err);
void al_shell_connection_clear(struct al_shell_connection *connection);

/** git clone, of the first operand into the second, with the options of the connection.
 */
int al_shell_clone(struct al_call *call, struct al_shell_words *words, int *ret_code,
                   struct al_error *err);

/** The commit, or NULL: what git says of the word is git's to say.  Caller frees. */
char *al_shell_commit_of(struct al_call *call, const char *word);

/** The words of a line that changes the repository; a pull is the merge or rebase that it does.
 * Borrowed. */
struct al_shell_words al_shell_words_done(struct al_call *call);

/** Append the ignored files that git would write over, as absolute paths. */
int al_shell_overwritten(struct al_call *call, struct al_strv *out, struct al_error *err);

/** Say what git would have run, and where it could not look.
 * @param before  The commit of HEAD before git ran; NULL: it changed nothing of a repository. */
void al_shell_notes_add(struct al_call *call, const char *before, struct al_result *result);

/** The last name in an address, without what git leaves out.  Caller frees. */
char *al_shell_guess_dir(const char *address, bool is_bare);

/** Refuse a directory that git would make outside of the roots, or where its own files are. */
int al_shell_check_made(const struct al_call *call, const char *dir, const char *word,
                        struct al_error *err);

/** Refuse a line that would stage files that go through a filter driver, naming file and filter. */
int al_shell_check_filters(const struct al_repo *repo, const struct al_shell_words *words,
                           struct al_error *err);

/** Test whether an address leads to another machine, and no remote has it. */
bool al_shell_address_is_new(const struct al_repo *repo, const char *address);

/** Find what such a line clones; any other one clones nothing. */
int al_shell_submodules_read(struct al_call *call, struct al_shell_words *words,
                             const struct al_repo *repo, struct al_error *err);

/** Run one. */
int al_shell_submodules(struct al_call *call, const struct al_shell_words *words, int *ret_code,
                        struct al_error *err);

/** Refuse a command: "git WHAT is refused: WHY". */
int al_shell_words_refuse(const char *what, const char *why, struct al_error *err);
#define AL_SHELL_CONFINED "inside of airlock run --confine; make the repository before"
#define AL_SHELL_OFFLINE  "this sandbox has no network, see airlock run --help"

/** Test whether a line has one of the options between spaces, in full or what git takes for it. */
bool al_shell_words_have(const struct al_shell_words *words, const char *list, bool in_full);

/** The last value of an option, "--name=" or "-n", among what was given; NULL: it is not there. */
const char *al_shell_words_value(const struct al_strv *given, const char *option,
                                 const char *letter);

/** Test whether a line is of this form. */
bool al_shell_words_match(const struct al_shell_words *words,
                          const struct al_shell_words_form *form);

/** Test whether it is one of these commands, with one of these options unless they are NULL. */
bool al_shell_words_are(const struct al_shell_words *words, const char *command,
                        const char *options);

/** Test whether it is one of these commands, and its first word that is no option one of `verbs`.
 */
bool al_shell_words_do(const struct al_shell_words *words, const char *command, const char *verbs);

/** Append the words of a line, with quotes and backslashes as in a shell.  False: there are none,
 * or a quote has no end. */
bool al_shell_words_split(const char *line, struct al_strv *ret_words);

/** Append the branches that a line may move, by name; nothing: only the current one. */
void al_shell_words_branches(const struct al_shell_words *words, struct al_strv *ret_names);

#endif
