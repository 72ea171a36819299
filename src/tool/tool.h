// SPDX-License-Identifier: Apache-2.0
/*
 * A tool is a const table.
 *
 * Parameter rows say what goes in: the JSON Schema, the decoder, the validation and the
 * documentation all read the same row.  Operation rows say what can happen: the first row that
 * applies to the decoded arguments is the one that is approved, run and recorded; the last row
 * applies always and declares the worst.  A tool cannot run itself: tool/call.c does, and skips
 * nothing.
 */
#ifndef AL_TOOL_TOOL_H
#define AL_TOOL_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guard/effects.h"
#include "util/error.h"
#include "util/json.h"
#include "util/str.h"

struct al_call;
struct al_ignored;
struct al_resolved;
struct al_result;
struct al_session;

enum al_param_type {
    AL_TYPE_BOOL,    /**< bool */
    AL_TYPE_INT,     /**< struct al_opt_int: `given` tells "absent" from a value */
    AL_TYPE_STRING,  /**< const char *, NULL when absent and without default */
    AL_TYPE_STRINGS, /**< struct al_strv */
    AL_TYPE_CHOICE,  /**< int: the value of one al_choice */
};

struct al_opt_int {
    bool given;
    int64_t value; /**< the default when not given */
};

enum al_param_flags {
    AL_PARAM_REQUIRED = 1 << 0,
    /** The schema prints a default (a bool's and a choice's always are). */
    AL_PARAM_HAS_DEFAULT = 1 << 2,
    /** The default is `[tools.git] timeout_ms`, printed and applied; more than the bound is
       clamped. */
    AL_PARAM_TIMEOUT = 1 << 3,
    /** The default is `[tools.git] max_bytes`, printed and applied. */
    AL_PARAM_MAX_BYTES = 1 << 4,
    /** `max` of an integer is enforced but not printed in the schema (its minimum always is). */
    AL_PARAM_MAX_HIDDEN = 1 << 5,
    /** A string that is the name of a branch, for policy. */
    AL_PARAM_BRANCH = 1 << 6,
    /** A path, or a list of them, inside the working tree, for policy. */
    AL_PARAM_PATH = 1 << 7,
    /** A bool or a string that, given, makes the call concern every path, whichever it names. */
    AL_PARAM_EVERY_PATH = 1 << 8,
    /** The time of the whole call in seconds, with a default of its own. */
    AL_PARAM_SECONDS = 1 << 9,
    /** Names a branch that is to go, see `drops`: the checkpoint keeps what only it reaches. */
    AL_PARAM_DELETED_BRANCH = 1 << 10,
    /** Its name says what it is for: the schema prints no description. */
    AL_PARAM_NO_DESCRIPTION = 1 << 11,
    /** A string: the directory that files are written into, anywhere in the roots, for policy. */
    AL_PARAM_OUTPUT = 1 << 12,
    /** Names a branch, a revision or a directory where policy does not ask: recorded as it is. */
    AL_PARAM_NAME = 1 << 13,
    /** With AL_PARAM_REQUIRED: the schema says so, and `check` says when it may be missing. */
    AL_PARAM_MAY_BE_ABSENT = 1 << 14,
};

struct al_choice {
    const char *name; /**< NULL ends the list */
    int value;
};

struct al_param {
    const char *name, *about;
    enum al_param_type type;
    unsigned flags;
    size_t offset;
    int64_t min, max, default_int; /**< int: value, always bounded; strings: number of items (a min
                                        above 0 is printed as minItems, the max never) */
    const char *default_str;       /**< string: printed with AL_PARAM_HAS_DEFAULT, always applied */
    const char *pattern;           /**< anchored, in what POSIX ERE and ECMA-262 share */
    size_t min_bytes; /**< string: printed as minLength; "blank" strings count as empty */
    size_t max_bytes; /**< per string; never printed */
    const struct al_choice *choices;
    const char *bad_message; /**< said instead of the generic message for a bound or pattern */
};

#define AL_FIELD(T, field, ctype) (offsetof(T, field) + 0 * sizeof(&((T *)0)->field == (ctype *)0))
/* A row whose JSON name is not the field's: "newName" for new_name. */
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
#define AL_BOOL(T, field, text, ...)    AL_BOOL_AS(T, field, #field, text, __VA_ARGS__)
#define AL_INT(T, field, text, ...)     AL_INT_AS(T, field, #field, text, __VA_ARGS__)
#define AL_STRING(T, field, text, ...)  AL_STRING_AS(T, field, #field, text, __VA_ARGS__)
#define AL_STRINGS(T, field, text, ...) AL_STRINGS_AS(T, field, #field, text, __VA_ARGS__)
#define AL_CHOICE(T, field, text, ...)  AL_CHOICE_AS(T, field, #field, text, __VA_ARGS__)

/** When an operation needs an approval, as long as no rule of the person's says otherwise. */
enum al_asks {
    AL_ASKS_BY_EFFECTS, /**< when it changes the repository */
    AL_ASKS_ALWAYS,
    AL_ASKS_NEVER,
};

struct al_operation {
    const char *name; /**< journal and policy rules use it */
    /** NULL: always; only the last row may say so.  The call knows its session and, where there is
     * one, its repository (al_call_repo()); nothing has been checked against a grant yet. */
    bool (*applies)(const struct al_call *call, const void *args);
    unsigned effects; /**< enum al_effects */
    int (*execute)(struct al_call *call, const void *args, struct al_result *result,
                   struct al_error *err);
    enum al_asks asks;
};

/** What is more than the operation of the same name says, for calls of which only the repository
 * tells. `airlock tools` and rules see the operation as it is without. */
struct al_stricter {
    struct al_operation operation;                         /**< `applies` is not asked */
    bool (*holds)(struct al_call *call, const void *args); /**< asked at the end of stage 4 */
    const char *condition; /**< the same in words behind "asks": "for …" */
};

/** JSON written as JSON in C source, for output schemas: AL_JSON({"type": "object"}). */
#define AL_JSON(...) #__VA_ARGS__

struct al_tool {
    const char *name, *title, *about;
    const struct al_param *params;
    size_t nparams;
    size_t args_size;
    const struct al_operation *operations;
    size_t noperations;
    const struct al_stricter *stricter;
    size_t nstricter;

    /** It moves the current branch where no AL_PARAM_BRANCH is given, for policy. */
    bool moves_branch;

    /** Whether what AL_PARAM_DELETED_BRANCH names is to go this time; NULL: always. */
    bool (*deletes_branch)(const void *args);

    /** Cross-checks after decoding; NULL when rows say it all. */
    int (*check)(const void *args, struct al_error *err);

    /** The approval summary: one line, appended to `out`.  Values are made safe by the caller. */
    void (*summarize)(const struct al_operation *op, const void *args, struct al_str *out);

    /** What was found right about a call that goes on, in a few words for who watches (`-v`). NULL:
     * its operation and effects, and who decided. */
    void (*describe_checked)(const void *args, struct al_str *out);

    /** How long a call may take, for a tool without a parameter that says so.  NULL: as the
     * configuration says for git. */
    int64_t (*timeout_ms)(const struct al_session *session);

    /** The `Command:` line for who watches (`-v`).  NULL: the summary. */
    void (*trace_command)(const void *args, struct al_str *out);

    /** Stage 4's part that only the tool knows (paths, refs).  Never asks anyone.  NULL: none. */
    int (*authorize)(struct al_call *call, const void *args, struct al_error *err);

    /** What the person is shown below the summary (a diff), and checks that must be answered before
     * anyone is asked.  NULL: none. */
    int (*preview)(struct al_call *call, const struct al_operation *op, const void *args,
                   struct al_str *out, struct al_error *err);

    /**
     * What the words of the arguments mean: commits by id, branches by full name, remotes by
     * address.  What is added to `out` is what policy, the question, the binding of its answer and
     * `execute` (by al_call_resolved()) go by, so that all of them speak of the same objects.  It
     * is called again to see whether the answer still counts, so it only looks.  NULL: nothing.
     */
    int (*resolve)(struct al_call *call, const void *args, struct al_resolved *out,
                   struct al_error *err);

    /** Names of what `resolve` adds, NULL at the end: an "always" is for these values alone.  NULL:
     * for the operation in this repository. */
    const char *const *always_by;

    /**
     * The files an approval is about, beside HEAD and the index: paths relative to the working
     * directory, or absolute, appended to `out`.  When one of them changes while the person is
     * asked, the call is asked again.  NULL: none.
     */
    int (*affected_files)(struct al_call *call, const void *args, struct al_strv *out,
                          struct al_error *err);

    /** Files that the call writes over beside those, in the same form: they have to be in its
     * checkpoint, and no approval is bound to them.  NULL: none. */
    int (*overwritten_files)(struct al_call *call, const void *args, struct al_strv *out,
                             struct al_error *err);

    /**
     * Completes what went wrong before the caller hears of it: a toolset may promise a code for
     * every failure, a remedy, one line.  Status and approvals are not its business.  NULL: as it
     * is.
     */
    void (*complete_error)(struct al_error *err);

    /** Which arguments had no effect because another one wins.  NULL: each one has. */
    void (*ignored)(const void *args, struct al_ignored *out);

    size_t working_dir_offset; /**< of the const char * in the args struct that says where */

    /** It works in the first root, be that in a repository or not; al_call_repo() may then give
     * NULL. */
    bool at_first_root;

    /** What the session says about the arguments, before the operation is chosen.  NULL: nothing.
     */
    void (*apply_session)(const struct al_session *session, void *args);

    /** git runs at the top of the working tree, and paths are relative to it; else both go by the
     * working directory. */
    bool runs_at_top;

    /** JSON Schema of structuredContent, NULL for plain text. */
    const char *output_schema;
};

/** The largest number of parameters a tool may have. */
#define AL_PARAMS_MAX 32

/** The defaults a schema prints and decoding applies. */
struct al_tool_defaults {
    int64_t timeout_ms, max_bytes;
};

/** The default of an integer row: its own, or the configured one its flags name. */
int64_t al_param_default_int(const struct al_param *param, const struct al_tool_defaults *defaults);

/** Union of the effects of all operations, without what is stricter. */
unsigned al_tool_effects(const struct al_tool *tool);

/** Whether an operation, or any of a tool's, asks a person where no rule says otherwise. */
bool al_operation_asks(const struct al_operation *op);
bool al_tool_asks(const struct al_tool *tool);

/** The first operation that applies; never NULL. */
const struct al_operation *al_tool_select(const struct al_tool *tool, const struct al_call *call,
                                          const void *args);

/** The stricter form of an operation where one holds for this call, else the operation.  From stage
 * 4 on. */
const struct al_operation *al_tool_tighten(const struct al_tool *tool,
                                           const struct al_operation *op, struct al_call *call,
                                           const void *args);

/** The input schema, members in row order.  Caller owns the reference. */
json_t *al_tool_schema(const struct al_tool *tool, const struct al_tool_defaults *defaults);

/** MCP annotations, derived from effects. */
json_t *al_tool_annotations(const struct al_tool *tool);

/**
 * Decode arguments into `args` (args_size bytes, zeroed by this function), then run the tool's own
 * cross-checks.
 *
 * @param arguments  A JSON object, or NULL for {}.  Strings in `args` point into it, so it outlives
 *                   them; string lists are copies, released with al_tool_args_clear().
 * @return 0, or AL_ERR_BAD_ARGS with nothing left to release.
 */
int al_tool_decode(const struct al_tool *tool, const json_t *arguments,
                   const struct al_tool_defaults *defaults, void *args, struct al_error *err);
void al_tool_args_clear(const struct al_tool *tool, void *args);

/** What is wrong with a tool's tables, for the table test; NULL when nothing is.  Caller frees. */
char *al_tool_self_check(const struct al_tool *tool);

/* Toolsets: named lists of tools. */

struct al_toolset {
    const char *name;
    const char *about;
    const struct al_tool *const *tools; /**< NULL-terminated, in the order they are listed */
};

/** One tool as a client sees it. */
struct al_listed_tool {
    const struct al_toolset *toolset;
    const struct al_tool *tool;
};

/** The tools of the chosen toolsets: earlier toolsets win a name; order is constant. */
struct al_registry {
    struct al_listed_tool *items;
    size_t count;
    struct al_strv notes; /**< for the log: which names a toolset had to leave to earlier ones */
};

#define AL_REGISTRY_INIT ((struct al_registry){ .items = NULL })

/**
 * Fill a registry.
 *
 * @param all    Every toolset there is, NULL-terminated.
 * @param names  Those chosen, in order of precedence.
 * @return 0, or AL_ERR_BAD_ARGS naming the unknown toolset and the valid ones.
 */
int al_registry_fill(struct al_registry *registry, const struct al_toolset *const *all,
                     const struct al_strv *names, struct al_error *err);
void al_registry_clear(struct al_registry *registry);
const struct al_listed_tool *al_registry_find(const struct al_registry *registry, const char *name);

#endif
