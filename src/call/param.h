// SPDX-License-Identifier: Apache-2.0
/*
 * The parameters of a tool: one const row each, written with the macros below.  The JSON Schema
 * and the decoder (rows.c), the table test (tests/tables/self_check.c) and the documentation read
 * the rows.
 */
#ifndef AL_CALL_PARAM_H
#define AL_CALL_PARAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

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
    bool given;      /**< false: the argument was absent */
    bool is_clamped; /**< a larger value was given than there may be */
    int64_t value;   /**< the default when the argument was absent */
};

/** The items of an array of objects: `count` structs of the row's object, each with `given` set. */
struct al_objects {
    void *items; /**< NULL while there are none */
    size_t count;
};

enum al_param_flags {
    AL_PARAM_REQUIRED = 1 << 0,
    /** Policy: a revision, or a range of them.  Paths beside a tree that is no commit's are paths
     * in that tree, so the call affects every path. */
    AL_PARAM_REVISION = 1 << 1,
    /** The schema prints the default.  The defaults of bools and choices are always printed. */
    AL_PARAM_HAS_DEFAULT = 1 << 2,
    /** Milliseconds.  The default is `[tools.git] timeout_ms`; a value above `max` is clamped. */
    AL_PARAM_TIMEOUT = 1 << 3,
    /** The default is `[tools.git] max_bytes`. */
    AL_PARAM_MAX_BYTES = 1 << 4,
    /** An integer whose `max` is enforced but not printed in the schema.  In the dialect everyday a
     * larger value is clamped, which the caller is told. */
    AL_PARAM_MAX_HIDDEN = 1 << 5,
    /** Policy: a string that names a branch. */
    AL_PARAM_BRANCH = 1 << 6,
    /** Policy: a path, or a list of paths, inside the working tree.  Policy does not look at a
     * member of an object: a row with such members affects every path (AL_PARAM_EVERY_PATH). */
    AL_PARAM_PATH = 1 << 7,
    /** Policy: a bool, string or list, of objects too, that, when given, makes the call affect
       every path. */
    AL_PARAM_EVERY_PATH = 1 << 8,
    /** Seconds for the whole call, with a default in the row. */
    AL_PARAM_SECONDS = 1 << 9,
    /** Names a branch that the call deletes (see `deletes`).  The checkpoint keeps the
     * commits that only this branch reaches. */
    AL_PARAM_DELETED_BRANCH = 1 << 10,
    /** Bytes of a command line.  The journal records them as text, without what is secret. */
    AL_PARAM_RAW = 1 << 11,
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
    /** The AL_PARAM_DELETED_BRANCH of a tag. */
    AL_PARAM_DELETED_TAG = 1 << 16,
    /** Set by the decoder in the dialect everyday: "5" is taken for 5, "a.c" for ["a.c"]. */
    AL_PARAM_LENIENT = 1 << 17,
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
    const char *name;
    const char *about; /**< the schema's description; NULL: the name explains the parameter */
    enum al_param_type type;
    unsigned flags; /**< enum al_param_flags */
    size_t offset;  /**< of the field in the tool's argument struct */
    /** Integer: bounds of the value, always enforced.  List: bounds of the number of items; a `min`
     * above 0 is printed as minItems, `max` is never printed; 0: AL_PARAM_ITEMS_MAX. */
    int64_t min, max;
    int64_t default_int;     /**< bool, integer, choice */
    const char *default_str; /**< string: always applied, printed with AL_PARAM_HAS_DEFAULT */
    const char *pattern;     /**< string: see al_pattern_matches(); NULL: none */
    /** String, or each item of a list: a rule of guard's for what it names, as
     * al_arg_check_branch(); NULL: none. */
    int (*check)(const char *param, const char *value, struct al_error *err);
    /** Words, separated by blanks: those of the tool's first choices that it goes with; NULL: all.
     * It is refused with others in the dialect everyday, and has no effect elsewhere. */
    const char *actions;
    /** Parameters, separated by blanks: if one of them is given, this one has no effect, which the
     * caller is told. */
    const char *unless;
    size_t min_bytes; /**< string: printed as minLength; a blank string is empty */
    size_t max_bytes; /**< string, or each item of a list: never printed; 0: what a path, a name or
                         a text has, by the flags */
    const struct al_choice *choices;
    const struct al_object *object; /**< object, or each item of an array of them: its members */
    const char *bad_message; /**< replaces the generic message for a bound or pattern; of a bool,
                                the remedy where none is given; NULL: none */
};

#define AL_FIELD(T, field, ctype) (offsetof(T, field) + 0 * sizeof(&((T *)0)->field == (ctype *)0))

/* A row: the struct, the field, the description or NULL, then what else there is to say. */
#define AL_ROW_OF(T, field, json, ctype, kind, ...)                                                \
    {                                                                                              \
        .name = (json), .type = (kind), .offset = AL_FIELD(T, field, ctype), .about = __VA_ARGS__  \
    }
/* Rows whose JSON name differs from the field's name: "newName" for new_name. */
#define AL_BOOL_AS(T, field, json, ...) AL_ROW_OF(T, field, json, bool, AL_TYPE_BOOL, __VA_ARGS__)
#define AL_INT_AS(T, field, json, ...)                                                             \
    AL_ROW_OF(T, field, json, struct al_opt_int, AL_TYPE_INT, __VA_ARGS__)
#define AL_STRING_AS(T, field, json, ...)                                                          \
    AL_ROW_OF(T, field, json, const char *, AL_TYPE_STRING, __VA_ARGS__)
#define AL_STRINGS_AS(T, field, json, ...)                                                         \
    AL_ROW_OF(T, field, json, struct al_strv, AL_TYPE_STRINGS, __VA_ARGS__)
#define AL_CHOICE_AS(T, field, json, ...)                                                          \
    AL_ROW_OF(T, field, json, int, AL_TYPE_CHOICE, __VA_ARGS__)
#define AL_BOOL(T, field, ...)    AL_BOOL_AS(T, field, #field, __VA_ARGS__)
#define AL_INT(T, field, ...)     AL_INT_AS(T, field, #field, __VA_ARGS__)
#define AL_STRING(T, field, ...)  AL_STRING_AS(T, field, #field, __VA_ARGS__)
#define AL_STRINGS(T, field, ...) AL_STRINGS_AS(T, field, #field, __VA_ARGS__)
#define AL_CHOICE(T, field, ...)  AL_CHOICE_AS(T, field, #field, __VA_ARGS__)
/* An object's members come after the description. */
#define AL_OBJECT(T, field, text, members, ...)                                                    \
    AL_ROW_OF(T, field.given, #field, bool, AL_TYPE_OBJECT, text, .object = &(members), __VA_ARGS__)
#define AL_OBJECTS(T, field, text, members, ...)                                                   \
    AL_ROW_OF(T, field, #field, struct al_objects, AL_TYPE_OBJECTS, text, .object = &(members),    \
              __VA_ARGS__)

/* Limits of the rows that give none. */
#define AL_PARAM_NAME_MAX_BYTES 1024
#define AL_PARAM_PATH_MAX_BYTES 4096
#define AL_PARAM_TEXT_MAX_BYTES 65536
#define AL_PARAM_ITEMS_MAX      10000

/** The largest number of parameters a tool may have. */
#define AL_PARAMS_MAX 32

/** Test whether a JSON member is this parameter: by its own name, by the same words in snake or
 * camel case (new_name, newName), or with `cwd` for `working_dir` and vice versa. */
bool al_param_is_called(const struct al_param *param, const char *name);

/** Test whether a text matches the pattern of a row, which means the same as an ECMA-262 and as a
 * POSIX extended regular expression: tests/tables/self_check.c has the subset. */
bool al_pattern_matches(const char *pattern, const char *text);

/** The configured defaults that a schema prints and decoding applies. */
struct al_tool_defaults {
    int64_t timeout_ms, max_bytes;
    bool has_target; /**< the worker file has a default target: see AL_PARAM_DEFAULT_TARGET */
};

/** Test whether a parameter is required in a session with these defaults, as the schema says. */
bool al_param_is_required(const struct al_param *param, const struct al_tool_defaults *defaults);

/** The limit of a string's bytes, or of each item of a list, and that of a list's items. */
size_t al_param_max_bytes(const struct al_param *param);
int64_t al_param_max_items(const struct al_param *param);

#endif
