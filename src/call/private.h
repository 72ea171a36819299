// SPDX-License-Identifier: Apache-2.0
/*
 * Inside tool/: the state of one call, and the functions that the stages share.
 *
 *   what                        set in           valid until
 *   args, budget                stage 2          the end of the call
 *   repo, operation, summary    stage 3          the end of the call
 *   resolved, affected_files    stages 4, 5      al_call_invalidate()
 *   state                       stage 5          the next approval
 *   store, checkpoint           stage 6          the checkpoint after, or its drop
 *
 * The write lock is held from stage 6 to the end of stage 7.
 */
#ifndef AL_CALL_PRIVATE_H
#define AL_CALL_PRIVATE_H

#include "call/call.h"
#include "git/command.h"
#include "git/repo/repo.h"
#include "history/checkpoint.h"
#include "history/journal.h"

/** A question says this where no checkpoint can be taken. */
#define AL_CALL_UNSAVED "No checkpoint of this can be taken, so it could not be undone"

/** One call on its way through the stages. */
struct al_call {
    const struct al_session *session;
    const struct al_call_input *input;
    const struct al_tool *tool;
    struct al_record *record; /* NULL: none */
    int64_t began_ms;
    json_t *expanded_arguments;  /* from the tool's expand; NULL: those of the input */
    struct al_strv parent_paths; /* strings of `args` that are not those of the arguments */
    void *args;
    const struct al_operation *operation; /* a row of the tool, then `tightened` */
    struct al_operation tightened;
    const struct al_stricter *form; /* by this; NULL: it was not */
    char *caller;                   /* what other writers are told, see struct al_run_limits */
    char *summary;                  /* one safe line */
    struct al_repo *repo;           /* NULL: none */
    struct al_run_limits budget;
    const char *decision, *decided_by; /* the outcome of stage 5, for the journal */
    void *tool_data;                   /* set by the tool's authorize; NULL: none */
    void (*free_tool_data)(void *);
    char *always_values;     /* the values of the "always" that covers the call; NULL: none does */
    char state[65];          /* digest that the approval is bound to; "" when nothing was asked */
    struct al_strv resolved; /* from the tool's resolve: alternating names and values */
    bool is_resolved;        /* `resolved` is current */
    struct al_plan plan;     /* set by the tool's stages */
    struct al_strv affected_files; /* from the tool's affected_files */
    bool has_affected_files;
    struct al_store *store; /* open from stage 6 to the checkpoint after the call */
    /* The contents of its checkpoints: see struct al_checkpoint_reason. */
    unsigned without;
    struct al_strv writes;
    struct al_strv moves;
    bool moves_all;
    struct al_strv linked, linked_before;
    struct al_strv ignored;       /* what no checkpoint has, and a program may remove */
    char *unsaved;                /* what no checkpoint would bring back; NULL: nothing is known */
    bool knows_files;             /* `writes` is from the tool's changed_files */
    char checkpoint[AL_OID_TEXT]; /* id of the checkpoint before the call; "" when there is none */
    struct al_rescue *rescue;     /* what stage 7 takes out of the working tree; NULL: none */
    char *rescued;                /* text: what stays aside of it; NULL: nothing */
    struct al_strv touched;       /* the files that stage 7 wrote, if the kernel told them */
    bool knows_touched;
    char *changes;   /* what it changed, in words; NULL: it is not told, or nothing */
    char *half_done; /* text: what a failed call changed all the same; NULL: nothing */
    bool fetched;    /* the tool's `fetch` began */
    bool executed;   /* stage 7 began */
};

/* The fields of the arguments, through the rows. */

/** The row that a JSON member is called by (al_param_is_called()); NULL: there is none. */
const struct al_param *al_params_find(const struct al_param *params, size_t nparams,
                                      const char *name);

/** The value of a parameter under any of its spellings; NULL when it is absent.  Borrowed. */
const json_t *al_args_given_as(const struct al_param *param, const json_t *arguments);

/** A JSON schema that has only this type.  Caller owns the reference. */
json_t *al_schema_typed(const char *type);

/** The field of a parameter, to be read, or written if the arguments may be. */
void *al_args_field(const void *args, const struct al_param *param);

/** The value of a parameter of type AL_TYPE_BOOL. */
bool al_args_bool(const void *args, const struct al_param *param);

/** The value of a parameter of type AL_TYPE_INT. */
const struct al_opt_int *al_args_int(const void *args, const struct al_param *param);

/** The value of a parameter of type AL_TYPE_STRING, NULL when it is absent.  Borrowed. */
const char *al_args_string(const void *args, const struct al_param *param);

/** The value of a parameter of type AL_TYPE_STRINGS.  Borrowed. */
const struct al_strv *al_args_strings(const void *args, const struct al_param *param);

/** An item of a parameter of type AL_TYPE_OBJECTS: the struct that its members' offsets are in. */
void *al_args_item(const struct al_param *param, const struct al_objects *list, size_t i);

/** Whether an argument is given, or true. */
bool al_args_given(const void *args, const struct al_param *param);

/** Whether the tool's first choice is this one. */
bool al_args_action_is(const struct al_tool *tool, const void *args, const char *name);

/** Append the line "airlock: ignored: a, b, since …" for the arguments that have no effect
 * (`actions` and `unless` of their rows); nothing when every one counts. */
void al_args_note_ignored(const struct al_tool *tool, const void *args, struct al_str *out);

/** In the dialect everyday: refuse an argument that the action does not have (`actions` of its
 * row). */
int al_args_check_used(const struct al_tool *tool, const void *args, struct al_error *err);

/**
 * Make each path of the arguments that begins with ".." absolute: the working directory without as
 * many components, then the rest.  The working directory is canonical, so no link is involved.  Any
 * later ".." is refused where the path is resolved.
 *
 * A control or invisible character that is written as <U+000A> is read as that character, unless a
 * file has the very name that was given.
 *
 * @return 0; AL_ERR_SANDBOX for a path that leaves the working tree or goes into .git.
 */
int al_call_take_parent_paths(struct al_call *call, struct al_error *err);

/** The flags of arguments that name a file, a directory, a branch or a revision. */
#define AL_CALL_NAMES (AL_PARAM_PATH | AL_PARAM_OUTPUT | AL_PARAM_BRANCH | AL_PARAM_NAME)

/** Read the bytes that are written as <E9> in names and AL_PARAM_RAW, see al_utf8_unescape(). */
void al_call_take_bytes(struct al_call *call);

/** The directory a call works in: the top of the repository, or the first root.  A repository
 * elsewhere has its name, "github:user/name". */
const char *al_call_repository_path(const struct al_call *call);

/** Stage 1: open the call's record.  A journal that cannot be opened makes al_call_record_check()
 * refuse a call with side effects. */
void al_call_record_open(struct al_call *call);

/** Update the record with what is known by now, and refuse a call with side effects if the journal
 * cannot be written. */
int al_call_record_check(const struct al_call *call, struct al_error *err);

/** Note the checkpoint in the record before anything changes, so that recovery after a crash finds
 * it. */
int al_call_record_checkpoint(struct al_call *call, struct al_error *err);

/** Stage 8 of a failure of a tool with words of its own (failure.c): fold git's message into one
 * line; indented names become a list.  Toolset `everyday` says what may have been meant by a name
 * that nothing has.  An error about an approval stays as it is. */
void al_failure_complete(struct al_call *call, struct al_error *err);

/** Stage 9: close the record. */
void al_call_record_close(struct al_call *call, const struct al_result *result);

/** Before stage 7 of a call that can write files: what git takes out of the working tree is moved
 * aside, and dropped after it when the store has it. */
int al_call_rescue_begin(struct al_call *call, struct al_error *err);

/** Say in the result what is kept aside, and where. */
void al_call_name_kept(struct al_call *call, const char *what, const struct al_strv *kept);

/** Stages 5 and 6: obtain the approval, the write lock and the checkpoint, for an approval that is
 * still valid.  The caller releases the lock. */
int al_call_prepare(struct al_call *call, struct al_error *err);

/** Make the operation the first of its stricter forms that holds, of one that is none yet.  Whether
 * there is such a form. */
bool al_call_tighten(struct al_call *call);

/** Run the tool's resolve, unless its values are current. */
int al_call_resolve_now(struct al_call *call, struct al_error *err);

/** Drop the resolved values, affected files and pathspecs: the repository may have changed since.
 */
void al_call_invalidate(struct al_call *call);

/**
 * Let policy rules decide about a call, from stage 4 on, and tell by which targets.
 *
 * @param has_targets  Whether rules may look at branches and paths, which are then found.  Fails
 * when a path cannot be resolved; one that does not exist counts as a directory, which it could
 * become, and is shown as given.
 */
int al_call_rule(struct al_call *call, bool has_targets, struct al_explanation *found,
                 struct al_error *err);

/** Test whether a revision is a commit, or both sides of a range are (failure.c). */
bool al_call_names_commits(struct al_call *call, const char *revision);

/** The paths or branches that the arguments with this flag name, also those that AL_PARAM_BRANCH
 * was resolved to. */
void al_call_named(const struct al_call *call, unsigned flag, struct al_strv *ret_names);

/** Stage 6: create the checkpoint before an operation that changes the repository. */
int al_call_checkpoint_before(struct al_call *call, struct al_error *err);

/** The files that the operation can change, relative to the top, by the tool's `changed_files`.
 *
 * @param[out] ret_known  False: it cannot be told, and nothing is appended. */
int al_call_list_changed(struct al_call *call, bool *ret_known, struct al_strv *ret_names,
                         struct al_error *err);

/** Forget the checkpoint of a call that does not go on and has changed nothing. */
void al_call_checkpoint_drop(struct al_call *call);

/**
 * After stage 7: create the checkpoint after, if there is one before.  A failure is only a warning.
 *
 * @param failure  Why the call failed: what it changed all the same is then put back, or noted.
 *                 NULL: it succeeded.
 */
void al_call_checkpoint_after(struct al_call *call, struct al_error *failure);

/** The warning for a call without a repository, which gets no checkpoint. */
#define AL_TRACE_NO_GIT "Warning: git auto-commit failed (not in git repo?)"

/** The lines of `-v`; nothing without it. */
void al_call_trace_begin(const struct al_call *call);
void al_call_trace_execute(const struct al_call *call, int64_t timeout_ms);
/** `executed`: stage 7 began. */
void al_call_trace_end(const struct al_call *call, const struct al_result *result, bool executed);

#endif
