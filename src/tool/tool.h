// SPDX-License-Identifier: Apache-2.0
/*
 * A tool is one const table, struct al_tool.
 *
 * - Parameter rows describe the input.  The JSON Schema, the decoder, the validation and the
 *   documentation all read the same row.
 * - Operation rows describe what the tool can do.  The first row that applies to the decoded
 *   arguments is approved, run and recorded.  The last row always applies and declares the worst
 *   effects.
 * - Hooks add what rows cannot say.  Each belongs to one stage of the pipeline; NULL means that the
 *   tool does not need it.
 *
 * A tool of another MCP server is made from the server's definition instead of parameter rows
 * (`definition`); everything else is the same.
 *
 * A tool cannot run itself: al_call_run() (tool/call.h) runs every stage and skips none.
 * docs/ADDING-A-TOOL.md walks through a new tool.
 */
#ifndef AL_TOOL_TOOL_H
#define AL_TOOL_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guard/rules/effects.h"
#include "util/error.h"
#include "util/json.h"
#include "util/str.h"

struct al_call;
struct al_ignored;
struct al_repo;
struct al_resolved;
struct al_result;
struct al_session;
struct al_toolset_context;
struct al_toolset_registry;

/** The JSON type of a parameter, and with it the C type of its field. */
enum al_param_type {
    AL_TYPE_BOOL,    /**< bool */
    AL_TYPE_INT,     /**< struct al_opt_int */
    AL_TYPE_STRING,  /**< const char *; NULL when it is absent and has no default */
    AL_TYPE_STRINGS, /**< struct al_strv */
    AL_TYPE_CHOICE,  /**< int: the value of one struct al_choice */
    AL_TYPE_OBJECT,  /**< a struct that begins with `bool given`; see struct al_object */
    AL_TYPE_OBJECTS, /**< struct al_objects: an array of such structs */
};

/** An integer argument. */
struct al_opt_int {
    bool given;    /**< false: the argument was absent */
    int64_t value; /**< the default when the argument was absent */
};

/** The items of an array of objects: `count` structs of the row's object, each with `given` set. */
struct al_objects {
    void *items; /**< NULL while there are none */
    size_t count;
};

enum al_param_flags {
    AL_PARAM_REQUIRED = 1 << 0,
    /** The schema prints the default.  The defaults of bools and choices are always printed. */
    AL_PARAM_HAS_DEFAULT = 1 << 2,
    /** Milliseconds.  The default is `[tools.git] timeout_ms`; a value above `max` is clamped. */
    AL_PARAM_TIMEOUT = 1 << 3,
    /** The default is `[tools.git] max_bytes`. */
    AL_PARAM_MAX_BYTES = 1 << 4,
    /** An integer whose `max` is enforced but not printed in the schema. */
    AL_PARAM_MAX_HIDDEN = 1 << 5,
    /** Policy: a string that names a branch. */
    AL_PARAM_BRANCH = 1 << 6,
    /** Policy: a path, or a list of paths, inside the working tree. */
    AL_PARAM_PATH = 1 << 7,
    /** Policy: a bool or string that, when given, makes the call affect every path. */
    AL_PARAM_EVERY_PATH = 1 << 8,
    /** Seconds for the whole call, with a default in the row. */
    AL_PARAM_SECONDS = 1 << 9,
    /** Names a branch that the call deletes (see `deletes_branch`).  The checkpoint keeps the
     * commits that only this branch reaches. */
    AL_PARAM_DELETED_BRANCH = 1 << 10,
    /** The name explains the parameter: the schema prints no description. */
    AL_PARAM_NO_DESCRIPTION = 1 << 11,
    /** Policy: a string that names the directory files are written into, anywhere in the roots. */
    AL_PARAM_OUTPUT = 1 << 12,
    /** Names a branch, a revision or a directory that policy does not look at.  The journal records
     * the value as given. */
    AL_PARAM_NAME = 1 << 13,
    /** Together with AL_PARAM_REQUIRED: the schema requires the parameter, the decoder does not.
     * The tool's `check` decides when it may be absent. */
    AL_PARAM_MAY_BE_ABSENT = 1 << 14,
    /** Together with AL_PARAM_REQUIRED: neither is the parameter required, nor does the schema say
     * so, in a session with a default target. */
    AL_PARAM_DEFAULT_TARGET = 1 << 15,
    /** As AL_PARAM_DELETED_BRANCH, for a tag. */
    AL_PARAM_DELETED_TAG = 1 << 16,
};

struct al_choice {
    const char *name; /**< NULL ends the list */
    int value;
};

struct al_param;

/** The members of a parameter of type AL_TYPE_OBJECT or AL_TYPE_OBJECTS, which are no objects
 * themselves.  Several tools may share one.  Messages name a member "target.branch", and one of an
 * item of an array, counted from 0, "plan[2].commit". */
struct al_object {
    const struct al_param *params; /**< offsets are from the beginning of the object's struct */
    size_t nparams;
    size_t size; /**< of the struct.  Its first member is `bool given`: false when the object was
                    absent, and all members have their defaults */
};

/** One parameter.  Write rows with the macros below: they check the field's type. */
struct al_param {
    const char *name, *about;
    enum al_param_type type;
    unsigned flags; /**< enum al_param_flags */
    size_t offset;  /**< of the field in the tool's argument struct */
    /** Integer: bounds of the value, always enforced.  List: bounds of the number of items; a `min`
     * above 0 is printed as minItems, `max` is never printed. */
    int64_t min, max;
    int64_t default_int;     /**< bool, integer, choice */
    const char *default_str; /**< string: always applied, printed with AL_PARAM_HAS_DEFAULT */
    const char *pattern;     /**< string: see tool/pattern.h; NULL: none */
    size_t min_bytes;        /**< string: printed as minLength; a blank string is empty */
    size_t max_bytes;        /**< string, or each item of a list: never printed */
    const struct al_choice *choices;
    const struct al_object *object; /**< object, or each item of an array of them: its members */
    const char *bad_message; /**< replaces the generic message for a bound or pattern; NULL: none */
};

#define AL_FIELD(T, field, ctype) (offsetof(T, field) + 0 * sizeof(&((T *)0)->field == (ctype *)0))
/* Rows whose JSON name differs from the field's name: "newName" for new_name. */
#define AL_BOOL_AS(T, field, json, text, ...)                                                      \
    {                                                                                              \
        .name = (json), .about = (text), .type = AL_TYPE_BOOL, .offset = AL_FIELD(T, field, bool), \
        __VA_ARGS__                                                                                \
    }
#define AL_INT_AS(T, field, json, text, ...)                                                       \
    {                                                                                              \
        .name = (json), .about = (text), .type = AL_TYPE_INT,                                      \
        .offset = AL_FIELD(T, field, struct al_opt_int), __VA_ARGS__                               \
    }
#define AL_STRING_AS(T, field, json, text, ...)                                                    \
    {                                                                                              \
        .name = (json), .about = (text), .type = AL_TYPE_STRING,                                   \
        .offset = AL_FIELD(T, field, const char *), __VA_ARGS__                                    \
    }
#define AL_STRINGS_AS(T, field, json, text, ...)                                                   \
    {                                                                                              \
        .name = (json), .about = (text), .type = AL_TYPE_STRINGS,                                  \
        .offset = AL_FIELD(T, field, struct al_strv), __VA_ARGS__                                  \
    }
#define AL_CHOICE_AS(T, field, json, text, ...)                                                    \
    {                                                                                              \
        .name = (json), .about = (text), .type = AL_TYPE_CHOICE,                                   \
        .offset = AL_FIELD(T, field, int), __VA_ARGS__                                             \
    }
#define AL_OBJECT_AS(T, field, json, text, members, ...)                                           \
    {                                                                                              \
        .name = (json), .about = (text), .type = AL_TYPE_OBJECT,                                   \
        .offset = AL_FIELD(T, field.given, bool), .object = &(members), __VA_ARGS__                \
    }
#define AL_OBJECTS_AS(T, field, json, text, members, ...)                                          \
    {                                                                                              \
        .name = (json), .about = (text), .type = AL_TYPE_OBJECTS,                                  \
        .offset = AL_FIELD(T, field, struct al_objects), .object = &(members), __VA_ARGS__         \
    }
#define AL_BOOL(T, field, text, ...)    AL_BOOL_AS(T, field, #field, text, __VA_ARGS__)
#define AL_INT(T, field, text, ...)     AL_INT_AS(T, field, #field, text, __VA_ARGS__)
#define AL_STRING(T, field, text, ...)  AL_STRING_AS(T, field, #field, text, __VA_ARGS__)
#define AL_STRINGS(T, field, text, ...) AL_STRINGS_AS(T, field, #field, text, __VA_ARGS__)
#define AL_CHOICE(T, field, text, ...)  AL_CHOICE_AS(T, field, #field, text, __VA_ARGS__)
#define AL_OBJECT(T, field, text, members, ...)                                                    \
    AL_OBJECT_AS(T, field, #field, text, members, __VA_ARGS__)
#define AL_OBJECTS(T, field, text, members, ...)                                                   \
    AL_OBJECTS_AS(T, field, #field, text, members, __VA_ARGS__)

/** The need of an operation for an approval, when no rule of the user's matches. */
enum al_asks {
    AL_ASKS_BY_EFFECTS, /**< when it changes the repository */
    AL_ASKS_ALWAYS,
    AL_ASKS_NEVER,
    /** When no checkpoint can be taken of what it changes: the session takes none, the repository
     * has no working tree, or saving fails.  What a checkpoint has is brought back, not asked
     * about.  The approval mode "deny" refuses it all the same. */
    AL_ASKS_UNLESS_SAVED,
};

/** What an operation does to a linked worktree as a whole. */
enum al_linked_effect { AL_LINKED_MADE, AL_LINKED_REMOVED, AL_LINKED_LOCKED };

/** The references that an operation with AL_WRITES_REFS can move.  Any other that changed meanwhile
 * was changed by another program, and a rollback leaves it. */
enum al_moves {
    AL_MOVES_HEAD = 1 << 0,   /**< HEAD: to another branch, or detached */
    AL_MOVES_BRANCH = 1 << 1, /**< the branch that HEAD is on, or a detached HEAD */
    AL_MOVES_NAMED = 1 << 2,  /**< the branches that arguments with AL_PARAM_BRANCH name */
    AL_MOVES_STASH = 1 << 3,  /**< the stash */
};

/** One thing a tool can do. */
struct al_operation {
    const char *name; /**< as the journal and policy rules spell it */
    /** Stage 3: whether the call is this operation.  The call knows its session and, if there is
     * one, its repository (al_call_repo()); the grant has not been checked yet.  NULL: always, for
     * the last row alone. */
    bool (*applies)(const struct al_call *call, const void *args);
    unsigned effects; /**< enum al_effects */
    /** Stage 7: do it. */
    int (*execute)(struct al_call *call, const void *args, struct al_result *result,
                   struct al_error *err);
    enum al_asks asks;
};

/** A stricter form of an operation, for calls whose real effects only the repository shows.
 * `airlock tools` and policy rules see the plain operation. */
struct al_stricter {
    struct al_operation operation; /**< has the plain operation's name; its `applies` is not used */
    bool (*holds)(struct al_call *call, const void *args); /**< asked at the end of stage 4 */
    const char *condition; /**< the same in words, printed after "asks": "for …" */
};

/** What a tool of another MCP server has in place of parameter rows, as the server says it.  The
 * text is safe.  Borrowed from the list that the tool is in (tool/mounts.h). */
struct al_tool_definition {
    bool has_title;              /**< false: `title` of the tool is only its name */
    const json_t *input_schema;  /**< an object */
    const json_t *output_schema; /**< an object; NULL: none */
    const json_t *annotations;   /**< an object; NULL: none */
};

/** The argument struct of a tool with a definition begins with this. */
struct al_defined_args {
    const struct al_tool *tool;
    const json_t *arguments; /**< an object, as received; NULL: {}.  Borrowed from the call */
};

/** JSON written as JSON in C source, for output schemas: AL_JSON({"type": "object"}). */
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

    /** JSON Schema of structuredContent; NULL for plain text. */
    const char *output_schema;

    /** For a tool of another MCP server, which has no rows.  NULL: the tool is native. */
    const struct al_tool_definition *definition;

    /** Offset of the `const char *` argument that names the working directory. */
    size_t working_dir_offset;

    /** The tool works in the first root, which need not be in a repository: al_call_repo() may
     * return NULL. */
    bool at_first_root;

    /**
     * Stage 3: open the repository the call is about, vetted and inside the roots.  NULL: the
     * repository of the working directory.  al_call_without_repository() is for a tool of the
     * sandbox: no grant of a directory is needed, and there is no checkpoint.
     *
     * @param[out] ret_repo  NULL: there is none.  Freed by the call.
     */
    int (*open_repository)(struct al_call *call, const void *args, struct al_repo **ret_repo,
                           struct al_error *err);

    /** git runs at the top of the working tree, and paths are relative to the top.  Otherwise both
     * go by the working directory. */
    bool runs_at_top;

    /** Policy: the call moves the current branch when no AL_PARAM_BRANCH is given. */
    bool moves_branch;

    /** What clients see leaves out what goes without saying: a false default, that an unknown name
     * is refused, hints that are MCP's own defaults or mean nothing for a tool that reads. */
    bool is_terse;

    /** Paths of the arguments may begin with "..", as long as they stay inside the working tree:
     * such a path is made absolute at the beginning of stage 4 (tool/parent_paths.h). */
    bool takes_parent_paths;

    /**
     * Stage 2: the arguments that a call really has, for one that goes on with an earlier call.
     * They are decoded in place of the given ones, which the journal and the user see.
     *
     * @param given              NULL: {}.
     * @param[out] ret_arguments  NULL: the given ones.  The caller owns the reference.
     */
    int (*expand)(const struct al_session *session, const struct al_tool *tool, const json_t *given,
                  json_t **ret_arguments, struct al_error *err);

    /** Stage 2: cross-checks after decoding. */
    int (*check)(const void *args, struct al_error *err);

    /** Stage 2: adjust the arguments to the session. */
    void (*apply_session)(const struct al_session *session, void *args);

    /** Stage 2: how long the call may take.  NULL: the parameter with AL_PARAM_SECONDS or
     * AL_PARAM_TIMEOUT, or the configured time. */
    int64_t (*timeout_ms)(const struct al_session *session);

    /** Stage 3: the approval summary, one line appended to `out`.  The caller sanitizes it.  NULL:
     * the title. */
    void (*summarize)(const struct al_operation *op, const void *args, struct al_str *out);

    /**
     * Stage 4: resolve what the arguments name: a commit to its id, a branch to its full name, a
     * remote to its address.  Policy, the approval, the binding of the answer and `execute` (by
     * al_call_resolved()) all use the values added to `out`, so they all mean the same objects.
     * The pipeline calls this again to see whether an answer is still valid, so it must not change
     * anything.
     */
    int (*resolve)(struct al_call *call, const void *args, struct al_resolved *out,
                   struct al_error *err);

    /** After each `resolve`: the summary with what was resolved, one line appended to `out`.  The
     * caller sanitizes it.  NULL: the summary of `summarize` stays. */
    void (*summarize_resolved)(struct al_call *call, const void *args, struct al_str *out);

    /** Stage 5: append the paths that rules look at, relative to the top, in place of those that
     * the parameters name. */
    int (*policy_paths)(struct al_call *call, const void *args, struct al_strv *out,
                        struct al_error *err);

    /** Stage 4: checks that only the tool can make, on paths and refs.  Asks no user. */
    int (*authorize)(struct al_call *call, const void *args, struct al_error *err);

    /** Stage 5: append what the user sees below the summary (a diff), and make the checks that have
     * to fail before a user is asked. */
    int (*preview)(struct al_call *call, const struct al_operation *op, const void *args,
                   struct al_str *out, struct al_error *err);

    /** Stage 5: append the command with which a user can make this call in a terminal.  False: it
     * cannot be written on a line.  NULL: `airlock call`. */
    bool (*command_line)(const struct al_call *call, const void *args, struct al_str *out);

    /** Stage 5: names of values that `resolve` adds, ended by NULL.  An "always" covers only these
     * values.  NULL: it covers the operation in this repository. */
    const char *const *always_by;

    /**
     * Stage 5: append the files an approval is about, beside HEAD and the index.  A path is
     * absolute or relative to the working directory.  If one of these files changes before the call
     * runs, the user is asked again.
     */
    int (*affected_files)(struct al_call *call, const void *args, struct al_strv *out,
                          struct al_error *err);

    /** Stage 6: the locks of git's that the operation takes besides index.lock, of enum
     * al_git_locks.  Nobody is asked and nothing begins before they are free.  NULL: none. */
    unsigned (*git_locks)(const struct al_operation *operation);

    /** Stage 6: the references that the operation can move, of enum al_moves.  0, or NULL: every
     * reference, and HEAD. */
    unsigned (*moves)(const struct al_operation *operation);

    /** Stage 6: append further files that the call overwrites, in the same form.  The checkpoint
     * has to contain them; the approval does not depend on them. */
    int (*overwritten_files)(struct al_call *call, const void *args, struct al_strv *out,
                             struct al_error *err);

    /**
     * Stage 6: append every file of the working tree that the call can change, also when it fails
     * half way, in the same form; gitops/preview/written_files.h has such lists.  The checkpoints
     * then have these files instead of the whole tree, and `execute` finds them with
     * al_call_changed_files().  Not asked for an operation that runs a program or writes other
     * files.
     *
     * @param[out] ret_known  False: it cannot be told, so the checkpoint has the whole tree.
     */
    int (*changed_files)(struct al_call *call, const void *args, bool *ret_known,
                         struct al_strv *out, struct al_error *err);

    /** Stage 6: the linked worktree that the operation is about, which its checkpoints then have,
     * and what it does to it.  A name below airlock's directory; NULL: none. */
    const char *(*linked_worktree)(const struct al_operation *operation, const void *args,
                                   enum al_linked_effect *ret_effect);

    /** Stage 6: the call goes back by the checkpoints (rollback/rollback.h), which takes the locks,
     * saves the present and has a record of its own. */
    bool goes_back;

    /** Stage 7: what a failing call has changed all the same is put back from its checkpoint,
     * except for conflicts. */
    bool puts_back;

    /** Stage 6: whether this call deletes what AL_PARAM_DELETED_BRANCH and AL_PARAM_DELETED_TAG
     * name. NULL: always. */
    bool (*deletes_branch)(const void *args);

    /** Stage 8: append the arguments that had no effect because another one wins. */
    void (*ignored)(const void *args, struct al_ignored *out);

    /** Stage 8: add a code, a remedy or a one-line message to an error before the caller sees it.
     * The status and approval errors are not to be changed. */
    void (*complete_error)(struct al_call *call, struct al_error *err);

    /** For `-v`: a short note on why the call was allowed.  NULL: the operation, its effects and
     * who decided. */
    void (*describe_checked)(const void *args, struct al_str *out);

    /** For `-v`: the text of the `Command:` line.  NULL: the summary. */
    void (*trace_command)(const void *args, struct al_str *out);
};

/** The largest number of parameters a tool may have. */
#define AL_PARAMS_MAX 32

/** The configured defaults that a schema prints and decoding applies. */
struct al_tool_defaults {
    int64_t timeout_ms, max_bytes;
    bool has_target; /**< the worker file has a default target: see AL_PARAM_DEFAULT_TARGET */
};

/** Test whether a parameter is required in a session with these defaults, as the schema says. */
bool al_param_is_required(const struct al_param *param, const struct al_tool_defaults *defaults);

/** The default of an integer row: its own, or the configured one its flags name. */
int64_t al_param_default_int(const struct al_param *param, const struct al_tool_defaults *defaults);

/** The union of the effects of all operations, without the stricter forms. */
unsigned al_tool_effects(const struct al_tool *tool);

/** Test whether an operation needs an approval when no rule matches.
 *
 * @param saves  Whether a checkpoint is taken before a call. */
bool al_operation_asks(const struct al_operation *op, bool saves);

/** Test whether any operation of a tool needs an approval when no rule matches. */
bool al_tool_asks(const struct al_tool *tool, bool saves);

/** Test whether an operation may destroy something that nothing brings back. */
bool al_operation_destroys(const struct al_operation *op, bool saves);

/** The first operation that applies; never NULL. */
const struct al_operation *al_tool_select(const struct al_tool *tool, const struct al_call *call,
                                          const void *args);

/** The stricter form of `op` if one holds for this call, else `op`.  From the end of stage 4 on. */
const struct al_operation *al_tool_tighten(const struct al_tool *tool,
                                           const struct al_operation *op, struct al_call *call,
                                           const void *args);

/** The input schema, members in row order.  Caller owns the reference. */
json_t *al_tool_schema(const struct al_tool *tool, const struct al_tool_defaults *defaults);

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

/** The first fault in a tool's tables, for the table test; NULL when there is none.  Caller frees.
 */
char *al_tool_self_check(const struct al_tool *tool);

/* Toolsets: named lists of tools. */

struct al_toolset {
    const char *name;
    const char *about;
    const struct al_tool *const *tools; /**< NULL-terminated, in the order clients see them */

    /** Read the toolset's settings in a worker file, and keep them in the session.  Called through
     * al_toolset_configure().  NULL: there are no settings. */
    int (*configure)(const struct al_toolset_context *context, struct al_error *err);
};

/** One tool as a client sees it. */
struct al_listed_tool {
    const struct al_toolset *toolset;
    const struct al_tool *tool;
};

/** The tools of the chosen toolsets.  If two toolsets have a tool of the same name, the earlier
 * toolset wins. */
struct al_registry {
    struct al_listed_tool *items;
    size_t count;
    struct al_strv notes; /**< for the log: the tools that an earlier toolset replaced */
};

#define AL_REGISTRY_INIT ((struct al_registry){ .items = NULL })

/**
 * Fill a registry.
 *
 * @param all    Every toolset there is.
 * @param names  The chosen toolsets, in order of precedence.
 * @return 0, or AL_ERR_BAD_ARGS naming the unknown toolset and the valid ones; the registry is then
 *         unchanged.
 */
int al_registry_fill(struct al_registry *registry, const struct al_toolset_registry *all,
                     const struct al_strv *names, struct al_error *err);
void al_registry_clear(struct al_registry *registry);

/** The tool of this name, borrowed; NULL when the registry has none. */
const struct al_listed_tool *al_registry_find(const struct al_registry *registry, const char *name);

#endif
