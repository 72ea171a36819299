// SPDX-License-Identifier: Apache-2.0
/*
 * A tool is one const table, struct al_tool.
 *
 * - Parameter rows (call/param.h) describe the input.  The JSON Schema, the decoder, the validation
 *   and the documentation all read the same row.
 * - Operation rows describe what the tool can do, with which effects, and whether the user is
 * asked. Approval, policy rules, checkpoints and the journal read them.  The first row that applies
 * to the decoded arguments is approved, run and recorded.  The last row always applies and declares
 * the worst effects.
 * - Hooks add what rows cannot say.  Each belongs to one stage of the pipeline; NULL means that the
 *   tool does not need it.
 *
 * A tool of another MCP server is made from the server's definition instead of parameter rows
 * (`definition`); everything else is the same.
 *
 * A tool cannot run itself: al_call_run() (call/call.h) runs every stage and skips none.  Toolsets,
 * the named lists of tools, are in call/registry.h.
 * docs/ADDING-A-TOOL.md walks through a new tool.
 */
#ifndef AL_CALL_TOOL_H
#define AL_CALL_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "call/param.h"
#include "guard/approval.h"
#include "guard/effects.h"

struct al_call;
struct al_repo;
struct al_result;
struct al_session;

/** The need of an operation for an approval, when no rule of the user's matches. */
enum al_asks {
    AL_ASKS_BY_EFFECTS, /**< when it changes the repository */
    AL_ASKS_ALWAYS,
    AL_ASKS_NEVER,
    /** Only when no checkpoint can be taken of what it changes: the session takes none, the
     * repository has no working tree, or saving fails.  Contents of a checkpoint are brought back,
     * not asked about. */
    AL_ASKS_UNLESS_SAVED,
    /** Never, and a rule that says to ask has no opinion: whoever calls asks the user. */
    AL_ASKS_ELSEWHERE,
};

/** The references that an operation with AL_WRITES_REFS can move.  Any other that changed meanwhile
 * was changed by another program, and a rollback leaves it. */
enum al_moves {
    AL_MOVES_HEAD = 1 << 0,   /**< HEAD: to another branch, or detached */
    AL_MOVES_BRANCH = 1 << 1, /**< the branch that HEAD is on, or a detached HEAD */
    AL_MOVES_NAMED = 1 << 2,  /**< the branches that arguments with AL_PARAM_BRANCH name */
    AL_MOVES_STASH = 1 << 3,  /**< the stash */
    AL_MOVES_NEW = 1 << 4,    /**< the named branches, if they are not there yet */
};

/* A row leaves out the members that it has no use for. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/** One thing a tool can do. */
struct al_operation {
    const char *name; /**< as the journal and policy rules spell it */
    /** Stage 3: whether the call is this operation.  The call knows its session and, if there is
     * one, its repository (al_call_repo()); the grant has not been checked yet.  NULL: the tool's
     * first choice has its name; for the last row, always. */
    bool (*applies)(const struct al_call *call, const void *args);
    unsigned effects; /**< enum al_effects */
    /** Stage 7: do it. */
    int (*execute)(struct al_call *call, struct al_result *result, struct al_error *err);
    enum al_asks asks;

    /* Stage 6; most operations have none of these. */

    /** The references that it can move, of enum al_moves.  0: those of the tool (`moves`), and if
     * that has none, every reference, and HEAD. */
    unsigned moves;
    /** The locks of git's that it takes besides index.lock, of enum al_git_locks.  Nobody is asked
     * and nothing begins before they are free. */
    unsigned locks;
    /** It deletes what AL_PARAM_DELETED_BRANCH and AL_PARAM_DELETED_TAG name. */
    bool deletes;

    /** Stage 5: another tool, and an operation of it, whose rules are about this one as well; NULL:
     * there is none. */
    const char *like_tool, *like_operation;
};

/** A stricter form of an operation, for calls whose real effects only the repository shows.
 * `airlock tools` and policy rules see the plain operation. */
struct al_stricter {
    const char *operation; /**< its name; NULL: every operation that changes something */
    bool (*holds)(struct al_call *call); /**< asked at the end of stage 4 */
    const char *condition;               /**< the same in words, printed after "asks": "for …" */
    unsigned effects;                    /**< further ones.  The user is always asked */
};

/** The argument struct of a tool with a definition begins with this. */
struct al_defined_args {
    const struct al_tool *tool;
    const json_t *arguments; /**< an object, as received; NULL: {}.  Borrowed from the call */
};

/** A condition of an operation that only looks at the arguments: an expression of `args`. */
#define AL_WHEN(name, type, expression)                                                            \
    static bool name(const struct al_call *call, const void *p)                                    \
    {                                                                                              \
        const type *args = p;                                                                      \
                                                                                                   \
        (void)call;                                                                                \
        return expression;                                                                         \
    }

/** The rows of parameters and operations of a tool, and its stricter forms. */
#define AL_TOOL_ROWS(of_params, of_operations)                                                     \
    .params = (of_params), .nparams = AL_COUNT(of_params), .operations = (of_operations),          \
    .noperations = AL_COUNT(of_operations)
/** The same for a tool that has one operation, with the members of its row in place of a table. */
#define AL_TOOL_ONE(of_params, ...)                                                                \
    .params = (of_params), .nparams = AL_COUNT(of_params),                                         \
    .operations = &(const struct al_operation){ __VA_ARGS__ }, .noperations = 1
#define AL_TOOL_STRICTER(forms) .stricter = (forms), .nstricter = AL_COUNT(forms)

/** The dialects that remedies are written in (remedy.c). */
enum al_words { AL_WORDS_PLAIN, AL_WORDS_WORKFLOW, AL_WORDS_EVERYDAY };

/** JSON written as JSON in C source, for output schemas: AL_JSON({"id": ""}). */
#define AL_JSON(...) #__VA_ARGS__

struct al_tool {
    const char *name, *title, *about;
    const struct al_param *params;
    size_t nparams;
    size_t args_size; /**< of the tool's argument struct */
    const struct al_operation *operations;
    size_t noperations;
    const struct al_stricter *stricter;
    size_t nstricter;

    /** Stage 3, in place of `applies` of the operations: whether the call is this one.  It may be
     * the last one always.  NULL: the operations have their own. */
    bool (*takes)(const struct al_call *call, const struct al_operation *operation);

    /**
     * An example of structuredContent, as JSON, that al_tool_output_schema() makes a schema of: "",
     * 1, 1.5 and true stand for their types, "a|b" for one of two words, a list has one item, and
     * "name?" is a member that may be absent.  An array of objects: one of them.  NULL: plain text.
     */
    const char *output_schema;

    /** The entry in tools/list of a tool of another MCP server, which has no rows: as its server
     * gives it, but for the name.  The text is safe.  Borrowed from the list that the tool is in
     * (tools/upstream/mounts.h).  NULL: the tool is native. */
    const json_t *definition;

    /** Offset of the `const char *` argument that names the working directory. */
    size_t working_dir_offset;

    /** The tool works in the first root, or in the working directory if it has one, which need not
     * be in a repository, and that not in a root: al_call_repo() may return NULL. */
    bool at_first_root;

    /**
     * Stage 3: open the repository the call is about, vetted and inside the roots.  NULL: the
     * repository of the working directory.  al_call_without_repository() is for a tool of the
     * sandbox: no grant of a directory is needed, and there is no checkpoint.
     *
     * @param[out] ret_repo  NULL: there is none.  Freed by the call.
     */
    int (*open_repository)(struct al_call *call, struct al_repo **ret_repo, struct al_error *err);

    /** git runs at the top of the working tree, and paths are relative to the top.  Otherwise both
     * go by the working directory. */
    bool runs_at_top;

    /** Policy: the call moves the current branch when no AL_PARAM_BRANCH is given. */
    bool moves_branch;

    /** Clients do not see what goes without saying: a false default, that an unknown name is
     * refused, hints that are MCP's own defaults or mean nothing for a tool that reads.  Paths of
     * the arguments may begin with "..", as long as they stay inside the working tree: such a path
     * is made absolute at the beginning of stage 4.  And the checkpoint has to have whatever
     * `changed_files` lists and is there, whether the operation discards work or not: git writes
     * over ignored files without a word. */
    bool is_everyday;

    /**
     * Stage 2: the arguments that a call really has, for one that goes on with an earlier call.
     * They are decoded in place of the given ones, which the journal and the user see.
     *
     * @param given              NULL: {}.
     * @param[out] ret_arguments  NULL: the given ones.  The caller owns the reference.
     */
    int (*expand)(const struct al_session *session, const struct al_tool *tool, const json_t *given,
                  json_t **ret_arguments, struct al_error *err);

    /** Stage 2: cross-checks after decoding, and what follows from what is left out. */
    int (*check)(void *args, struct al_error *err);

    /** Stage 2: how long the call may take.  NULL: the parameter with AL_PARAM_SECONDS or
     * AL_PARAM_TIMEOUT, or the configured time. */
    int64_t (*timeout_ms)(const struct al_session *session);

    /**
     * Stage 3: the approval summary, one line, with the arguments by the names of their rows:
     *
     *   {name}         a value; of a list at most three; {name:2} at most two
     *   {^name}        its first line
     *   {#name}        the number of a list; {#name hunk}: "1 hunk", "2 hunks"
     *   [name?text]    the text if it is given, or true; [!name?text] if not
     *   [name=x?text]  if it is this choice, word or number
     */
    const char *summary;

    /** The same for what that cannot say: appended to `out`, before anything is resolved unless
     * there is a `summary`, and after each `resolve`.  The caller sanitizes it.  Both NULL: the
     * title. */
    void (*summarize)(const struct al_call *call, struct al_str *out);

    /**
     * Stage 4: resolve what the arguments name: a commit to its id, a branch to its full name, a
     * remote to its address.  Policy, the approval, the binding of the answer and `execute` all use
     * the values that it gives to al_call_resolve(), so they all mean the same objects.  The
     * pipeline calls this again to see whether an answer is still valid, so it must not change
     * anything.
     */
    int (*resolve)(struct al_call *call, struct al_error *err);

    /** Stage 5: append the paths that rules look at, relative to the top, for a call whose
     * parameters name none; "" is every path.  NULL: those of `changed_files` where an operation
     * changes files and they can be told, else every path. */
    int (*policy_paths)(struct al_call *call, struct al_strv *out, struct al_error *err);

    /** Stage 4: checks that only the tool can make, on paths and refs.  Asks no user. */
    int (*authorize)(struct al_call *call, struct al_error *err);

    /** Stage 5: append what the user sees below the summary (a diff), and make the checks that have
     * to fail before a user is asked. */
    int (*preview)(struct al_call *call, struct al_str *out, struct al_error *err);

    /** Stage 5: append the command with which a user can make this call in a terminal.  False: it
     * cannot be written on a line.  NULL: `airlock call`. */
    bool (*command_line)(const struct al_call *call, struct al_str *out);

    /** Stage 5: names of values that `resolve` adds, ended by NULL.  An "always" covers only these
     * values.  NULL: it covers the operation in this repository. */
    const char *const *always_by;

    /**
     * Stage 5: append the files an approval is about, beside HEAD and the index.  A path is
     * absolute or relative to the working directory.  A change of one of these files before the
     * call runs asks the user again.
     */
    int (*affected_files)(struct al_call *call, struct al_strv *out, struct al_error *err);

    /**
     * Stage 6, once, under the write lock and before the checkpoint: bring what the operation needs
     * over the network.  It may change nothing but what a fetch changes, which is never undone.  So
     * what others do during a long exchange is older than the checkpoint, and none of the call's.
     */
    int (*fetch)(struct al_call *call, struct al_error *err);

    /** Stage 6: the references that operations can move which do not say it themselves, of enum
     * al_moves. */
    unsigned moves;

    /** Stage 6: append further files that the call overwrites, in the same form.  The checkpoint
     * has to contain them; the approval does not depend on them. */
    int (*overwritten_files)(struct al_call *call, struct al_strv *out, struct al_error *err);

    /**
     * Stages 5 and 6: append every file of the working tree that the call can change, also when it
     * fails half way, in the same form; verbs/preview/affected_files.h has such lists.  Others that
     * change meanwhile are not the call's.  Not asked for an operation that runs a program or
     * writes other files.
     *
     * @param[out] ret_known  False: it cannot be told.
     * @return as ever; AL_ERR_EXECUTION: it cannot be told either.
     */
    int (*changed_files)(struct al_call *call, bool *ret_known, struct al_strv *out,
                         struct al_error *err);

    /** Stage 6: the call goes back by the checkpoints (history/rollback.h), which takes the locks,
     * saves the present and has a record of its own. */
    bool goes_back;

    /** Stage 7: what it changed, whoever did it, is told in the journal's line. */
    bool tells_changes;

    /** Stage 6: of an operation that discards no work, all that is staged stays so, or gets into a
     * commit or a stash, unless the tool says otherwise (`loses_staged` of struct al_plan). */
    bool keeps_staged;

    /** Whose words the remedies of failures are in: the names of tools and parameters. */
    enum al_words words;

    /** Stage 8: change the message of an error before the caller sees it. */
    void (*complete_error)(struct al_call *call, struct al_error *err);

    /** The text of the `Command:` line for `-v`, or, `checked`, a short note on why the call was
     * allowed.  NULL: the summary; the operation, its effects and who decided. */
    void (*trace)(const struct al_call *call, bool checked, struct al_str *out);
};

/** The union of the effects of all operations, without the stricter forms. */
unsigned al_tool_effects(const struct al_tool *tool);

/** Test whether any operation of a tool needs an approval when no rule matches. */
bool al_tool_asks(const struct al_tool *tool, bool saves);

/** Test whether an operation needs an approval when no rule matches.  In the mode "deny" whatever
 * changes a repository does, also what could be undone.
 *
 * @param saves  Whether a checkpoint is taken before a call. */
bool al_operation_asks(const struct al_operation *op, enum al_approval_mode mode, bool saves);

/** Test whether a stricter form is one of this operation. */
bool al_stricter_is_of(const struct al_stricter *form, const struct al_operation *op);

/** Append the `summary` of a tool.  Aborts when it names no row, which a test finds. */
void al_tool_write_summary(const struct al_tool *tool, const void *args, struct al_str *out);

/** The first operation that applies; never NULL. */
const struct al_operation *al_tool_select(const struct al_tool *tool, const struct al_call *call,
                                          const void *args);

/** The input schema, members in row order.  Caller owns the reference. */
json_t *al_tool_schema(const struct al_tool *tool, const struct al_tool_defaults *defaults);

/** The output schema; NULL: the tool has none.  Caller owns the reference. */
json_t *al_tool_output_schema(const struct al_tool *tool);

/** MCP annotations, derived from the effects; those of the definition if the tool has one, which
 * may be NULL.  Caller owns the reference.
 *
 * @param saves  Whether checkpoints are taken: what one brings back is not destroyed. */
json_t *al_tool_annotations(const struct al_tool *tool, bool saves);

/**
 * Decode arguments into `args` (args_size bytes, zeroed by this function), then run the tool's own
 * cross-checks.
 *
 * @param arguments  A JSON object, or NULL for {}.  Strings in `args` point into this object, which
 *                   must outlive them; string lists are copies.
 * @return 0 (release with al_tool_args_clear()), or AL_ERR_BAD_ARGS with nothing left to release.
 */
int al_tool_decode(const struct al_tool *tool, const json_t *arguments,
                   const struct al_tool_defaults *defaults, void *args, struct al_error *err);
void al_tool_args_clear(const struct al_tool *tool, void *args);

#endif
