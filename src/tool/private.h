// SPDX-License-Identifier: Apache-2.0
/* One call on its way through the pipeline, and the stage that has a file of its own. */
#ifndef AL_TOOL_PRIVATE_H
#define AL_TOOL_PRIVATE_H

#include "checkpoint/checkpoint.h"
#include "gitops/command.h"
#include "gitops/repo/repo.h"
#include "journal/recorded.h"
#include "tool/call.h"
#include "tool/resolved.h"

/** One call on its way through the stages. */
struct al_call {
    const struct al_session *session;
    const struct al_call_input *input;
    const struct al_tool *tool;
    struct al_recorded recorded;          /* from stage 1 on */
    void *args;                           /* decoded, from stage 2 on */
    const struct al_operation *operation; /* from stage 3 on */
    char *summary;                        /* safe, one line */
    struct al_repo *repo;                 /* from stage 4 on */
    struct al_run_limits budget;
    const char *decision, *decided_by; /* how stage 5 ended, for the journal */
    char *draft, *expected;            /* of the tool's preview */
    void *tool_data;                   /* of the tool's authorize; NULL: nothing */
    void (*free_tool_data)(void *);
    char *branches;      /* HEAD's when rules were consulted, NULL without rules */
    char *always_values; /* what the "always" is for that covers the call; NULL: none does */
    char state[65];      /* what the approval is bound to, "" when nobody was asked */
    struct al_resolved resolved;   /* what `resolve` gave last */
    bool is_resolved;              /* … and that it was asked */
    bool skips_approval;           /* so its preview said */
    struct al_strv affected_files; /* what `concerns` gave last */
    bool has_affected_files;
    struct al_store *store;       /* open from stage 6 until the call's checkpoint after */
    char checkpoint[AL_OID_TEXT]; /* the one before; "" when there is none */
    char *half_done;              /* what it changed though it failed, as text; NULL: nothing */
    bool executed;                /* it got as far as its execution */
};

/** Where a call works: the top of the repository, or the first root. */
const char *al_call_repository_path(const struct al_call *call);

/** record.c, stage 1: open the call's record.  Without a journal, al_call_record_check() refuses
 * what changes anything. */
void al_call_record_open(struct al_call *call);

/** Bring the record up to date; refuse a call with side effects when the journal cannot be written.
 */
int al_call_record_check(const struct al_call *call, struct al_error *err);

/** Note the checkpoint in the record before anything changes, for recovery after a crash. */
int al_call_record_checkpoint(struct al_call *call, struct al_error *err);

/** Stage 9: close the record. */
void al_call_record_close(struct al_call *call, const struct al_result *result);

/** prepare.c, stages 5 and 6: the approval, the write lock and the checkpoint.  0: the call may
 * change the repository, and the caller releases the lock. */
int al_call_prepare(struct al_call *call, struct al_error *err);

/** Resolve the words of the call's arguments, unless that is done. */
int al_call_resolve(struct al_call *call, struct al_error *err);

/** Files may have come and gone since they were listed, and words mean something else. */
void al_call_invalidate(struct al_call *call);

/** The branches and paths a call concerns, for policy; from stage 4 on.  Refuses what resolving a
 * path refuses.  `ret_shown` (may be NULL) gets the same paths as a person should see them: what
 * is not there counts as a directory, which it could become, and is shown as it was given. */
int al_call_policy_targets(struct al_call *call, struct al_strv *ret_branches,
                           struct al_strv *ret_paths, struct al_strv *ret_shown,
                           struct al_error *err);

/** The branches that a call's arguments of this flag (AL_PARAM_BRANCH, AL_PARAM_DELETED_BRANCH)
 * name. */
void al_call_named_branches(const struct al_call *call, unsigned flag,
                            struct al_strv *ret_branches);

/** The line that names what was ignored, appended to `out`. */
void al_call_note_ignored(const struct al_call *call, struct al_str *out);

/** Stage 6: the checkpoint before, for operations that change the repository. */
int al_call_checkpoint_before(struct al_call *call, struct al_error *err);

/** Leave the checkpoint before alone, since the call does not go on: nothing was done. */
void al_call_checkpoint_drop(struct al_call *call);

/** The checkpoint after, when there is one before.  What goes wrong is a warning.  Of a call that
 * failed (`failure`, else NULL) it is noted what it changed all the same. */
void al_call_checkpoint_after(struct al_call *call, const struct al_error *failure);

/** half_done.c: note what a call that writes files and failed changed until its checkpoint after
 * ("": there is none), and how to undo that. */
void al_call_note_half_done(struct al_call *call, const char *after, struct al_run_limits *budget,
                            const struct al_error *failure);

/** What is said where there is no repository to take a checkpoint of. */
#define AL_TRACE_NO_GIT "Warning: git auto-commit failed (not in git repo?)"

/** tell.c: lines for the person who asked for them with -v. */
void al_call_trace_begin(const struct al_call *call);
void al_call_trace_execute(const struct al_call *call, int64_t timeout_ms);
/** `executed` tells that the call got as far as its execution. */
void al_call_trace_end(const struct al_call *call, const struct al_result *result, bool executed);

/** What policy says to a call. */
struct al_ruling al_call_policy_ruling(const struct al_call *call, const struct al_strv *branches,
                                       const struct al_strv *paths);

/** preview.c: what the tool shows a user who decides, appended to `out`; begun anew while the
 * objects it is read from change, and refused when they go on doing so. */
int al_call_preview(struct al_call *call, struct al_str *out, struct al_error *err);

/** What the preview shows without its bounds, safe, appended to `out`; refuses what is no longer
 * what was asked about.  `payload` is the call, while its approvers are asked. */
int al_approval_add_full(void *payload, struct al_str *out, struct al_error *err);

/** Stage 5: policy, then the approvers in order.  0 means go on. */
int al_approval_obtain(struct al_call *call, struct al_error *err);

/** binding.c: a digest of what the user's answer covers: HEAD, the index, the files and the objects
 * that the arguments name, as they are now. */
int al_approval_bind(struct al_call *call, char ret_state[65], struct al_error *err);

/** The branches that HEAD is on, one a line.  Caller frees. */
char *al_approval_branches(const struct al_call *call);

/** The values that an "always" is for: safe text (`shown`), or as they are.  Caller frees. */
char *al_approval_always_values(const struct al_call *call, bool shown);

/** command_line.c: how a user makes the same call in a terminal, to be put behind what they do: a
 * colon and the line, or the words for the arguments when these are long or hold a secret.  Safe
 * text.  Caller frees. */
char *al_call_command_line(const struct al_call *call);

/** Whether the repository still is what the user was shown; true when nobody was asked. */
int al_approval_check(struct al_call *call, bool *ret_current, struct al_error *err);

#endif
