// SPDX-License-Identifier: Apache-2.0
/*
 * One call through the pipeline, from every front door.
 *
 *   open record -> decode -> select -> authorize -> approve -> checkpoint -> execute -> shape ->
 * close
 */
#ifndef AL_TOOL_CALL_H
#define AL_TOOL_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "guard/approval.h"
#include "guard/grant.h"
#include "guard/policy.h"
#include "tool/tool.h"
#include "util/error.h"
#include "util/json.h"
#include "util/str.h"

struct al_run_limits;
struct al_cancel;
struct al_checkpoint_settings;
struct al_git;
struct al_git_output;
struct al_journal;
struct al_progress;
struct al_path;
struct al_repo;
struct al_roots;
struct al_shell;

/** What all calls of one server or command share.  Set up by the front door, then read only. */
struct al_session {
    const struct al_registry *registry;
    const struct al_roots *roots;
    struct al_git *git;             /**< the git layer */
    struct al_journal *journal;     /**< NULL: it could not be opened */
    struct al_approvals *approvals; /**< NULL: one call is the session, "always" is not offered */
    enum al_approval_mode mode;
    const struct al_policy *policy; /**< NULL: no rules */
    const struct al_grant *grant;   /**< NULL: everything */
    struct al_tool_defaults defaults;
    const struct al_checkpoint_settings *checkpoints; /**< NULL: none are taken */
    bool requires_checkpoints; /**< what destroys something is refused where none can be taken */
    const char *confinement;   /**< "landlock7+seccomp", "none" */
    struct al_shell *shell;    /**< for bash_command; NULL in a session without it */
    void (*waits)(const char *line); /**< told after a second what a call waits for; NULL: nobody */
    void (*trace)(const char *line); /**< lines about each call, safe text; NULL: nobody asked */
};

/** What comes back, whatever happened.  Set up with AL_RESULT_INIT. */
struct al_result {
    struct al_str text;   /**< safe text, within the byte cap */
    json_t *structured;   /**< for tools with an output schema, else NULL */
    struct al_str quoted; /**< the text as it stands inside a JSON string, where the tool wrote that
                               along with it; else empty */
    bool text_is_object; /**< the text is the JSON of the structured result: it is sent as such, and
                              `structured` may be NULL */
    struct al_str notes; /**< lines for the caller that the object has no member for: a second text
                              item of a success whose text is the object.  Safe text */
    bool has_notes;      /**< al_call_shape_text() has put what is to be noted into the text */
    bool truncated;
    int exit_code; /**< git's; -1 when no git ran or a signal ended it */
    int64_t duration_ms;
    bool dry_run;            /**< it only said what would be done: the journal tells it apart */
    const char *confinement; /**< what held it, a constant; NULL: what holds every git */
    enum al_status
        status; /**< AL_OK, or why it failed: `error` is then set and `text` is what to show */
    struct al_error error;
};

#define AL_RESULT_INIT                                                                             \
    ((struct al_result){ .text = AL_STR_INIT,                                                      \
                         .quoted = AL_STR_INIT,                                                    \
                         .notes = AL_STR_INIT,                                                     \
                         .exit_code = -1,                                                          \
                         .error = AL_ERROR_INIT })

void al_result_clear(struct al_result *result);

/** A text to be written. */
struct al_sampling_request {
    const char *role; /**< what the writer is to be */
    const char *task; /**< what there is to write about */
    int max_tokens;   /**< of the text */
    int timeout_ms;   /**< longest wait, never 0 */
};

/** Someone who writes when asked: the model behind the client. */
struct al_sampler {
    /**
     * Blocks until there is a text, the time is over, or `cancel` fires.
     * @return 0 with *ret_text, which the caller frees and has to check as any input (NULL: there
     * is none), or AL_ERR_CANCELLED.
     */
    int (*sample)(void *payload, const struct al_sampling_request *request,
                  struct al_cancel *cancel, char **ret_text, struct al_error *err);
    void *payload;
};

/** What one call brings with it.  Borrowed for the duration of al_call_run(). */
struct al_call_input {
    const struct al_listed_tool *tool;
    const json_t *arguments;     /**< NULL: {} */
    const char *arguments_error; /**< the arguments could not even be taken (a NUL, a duplicate
                                      name): said instead of decoding; NULL otherwise */
    struct al_cancel *cancel;
    const struct al_approver *approvers; /**< tried in order */
    size_t napprovers;
    const struct al_sampler *sampler;   /**< NULL: nobody writes */
    const struct al_progress *progress; /**< who hears how far it is; NULL: nobody */
};

/** Run one call.  Always fills *result.  Threads: safe, one call per thread. */
void al_call_run(const struct al_session *session, const struct al_call_input *input,
                 struct al_result *result);

/** What a call would meet.  Set up with AL_EXPLANATION_INIT. */
struct al_explanation {
    const struct al_operation *operation;
    struct al_strv branches, paths; /**< what it concerns, as a person should see it */
    struct al_ruling ruling;
};

#define AL_EXPLANATION_INIT ((struct al_explanation){ .operation = NULL })

void al_explanation_clear(struct al_explanation *explanation);

/**
 * Say what would become of a call: it is decoded, checked and authorized as a call is, and then
 * decided.  Nothing is run, asked or recorded.
 *
 * @return 0, or why the call would fail before anything is decided.
 */
int al_call_explain(const struct al_session *session, const struct al_call_input *input,
                    struct al_explanation *ret_explanation, struct al_error *err);

/**
 * Stage 8 for a tool with an output schema: `object`, which is taken over, becomes the result, and
 * its text as JSON in which nothing invisible stands as itself.  The caller has kept it within the
 * byte cap, and said so with result->truncated.
 */
void al_result_set_structured(struct al_result *result, json_t *object);

/**
 * The same with an object that is written already, with al_text_escape(), while git still ran.
 *
 * @param quoted  All of `json` through al_json_escape(), for a tool that has the time to do it
 * while it waits for git; NULL: it is done when it is needed. Both are taken over and empty
 * afterwards.
 */
void al_result_take_json(struct al_result *result, struct al_str *json, struct al_str *quoted);

/** Add a line to the notes of a result.  `line` is safe text without an end of line. */
void al_result_note(struct al_result *result, const char *line);

/** `{kind, code, name, reason, message}` of a failed result.  Caller owns the reference. */
json_t *al_result_error_json(const struct al_result *result);

/** The whole MCP result object: content, structuredContent, isError, _meta, as compact JSON
 * appended to `out`.  Text goes straight into the buffer, without a copy in between. */
void al_result_dump(const struct al_result *result, struct al_str *out);

/** Members a protocol revision adds to the result object, as JSON text without a comma. */
struct al_result_extra {
    const char *members; /**< of the object itself */
    const char *meta;    /**< of its _meta */
};

/** The same with more members; `extra` may be NULL. */
void al_result_dump_with(const struct al_result *result, const struct al_result_extra *extra,
                         struct al_str *out);

/* For tools: what a running call knows. */

/** The session the call belongs to, and the token that cancels it.  Borrowed. */
const struct al_session *al_call_session(const struct al_call *call);
struct al_cancel *al_call_cancel(const struct al_call *call);

/** Who wants to hear how far the call is, NULL: nobody.  Borrowed. */
const struct al_progress *al_call_progress(const struct al_call *call);

/** Who writes texts for this call; NULL: nobody. */
const struct al_sampler *al_call_sampler(const struct al_call *call);

/** A text the tool has drafted in its preview and uses when its turn has come; NULL: none. */
const char *al_call_draft(const struct al_call *call);

/** Keep a draft, which is taken over, in the place of an earlier one. */
void al_call_set_draft(struct al_call *call, char *draft);

/** What the tool's preview says the outcome is to be, for `execute` to compare; NULL when nobody
 * was asked, or the tool does not know.  Set takes the value over. */
const char *al_call_expected(const struct al_call *call);
void al_call_set_expected(struct al_call *call, char *expected);

/** What `resolve` found under this name, NULL for nothing.  From the preview on, borrowed until the
 * call is asked about again. */
const char *al_call_resolved(const struct al_call *call, const char *name);

/** Keep what the tool has made of its arguments in `authorize`, for what comes after it: `made` is
 * taken over, in the place of an earlier one. */
void al_call_set_tool_data(struct al_call *call, void *data, void (*free_data)(void *));

/** What was kept; NULL: nothing. */
void *al_call_tool_data(const struct al_call *call);

/** For a preview: nothing would come of the call, or it must fail.  Nobody is asked, and the
 * execution says so. */
void al_call_skip_approval(struct al_call *call);

/** The vetted repository of working_dir; set from `applies` on.  NULL for a tool that works in
 * the first root when that is in none. */
struct al_repo *al_call_repo(const struct al_call *call);

/**
 * The files the tool's `concerns` gives, listed once up to the approval: what a preview shows of
 * them is what the answer is bound to.  From `authorize` on.
 *
 * @param[out] ret_files  Borrowed until the call ends or its turn has come.
 */
int al_call_affected_files(struct al_call *call, const struct al_strv **ret_files,
                           struct al_error *err);

/** The time and the cancel token for the call's git children. */
struct al_run_limits *al_call_budget(struct al_call *call);

/**
 * Stage 8 for a tool that shows git's output: standard output, standard error and airlock's own
 * notes become the result's text, within the byte cap.  Standard output is taken, not copied.
 *
 * @param notes  Lines for the [stderr] section, "" for none.
 */
void al_call_shape_text(const struct al_call *call, struct al_git_output *output, const char *notes,
                        struct al_result *result);

/** Whether a person agreed to this call or to its kind: neither a rule nor the mode alone.  From
 * `execute` on. */
bool al_call_was_asked(const struct al_call *call);

/** Whether the session's grant covers a directory beside the repository; see al_grant_check_dir().
 */
int al_call_check_granted(const struct al_call *call, const char *dir, bool writes,
                          struct al_error *err);

/**
 * Whether files may be replaced, since the call's checkpoint gives them back as they are now.
 *
 * @param dir    The directory they are in, open.
 * @return 0; AL_ERR_EXECUTION "<what>: '<name>' exists already and no checkpoint has it; …".
 */
int al_call_check_in_checkpoint(struct al_call *call, const char *what, const struct al_path *dir,
                                const struct al_strv *names, struct al_error *err);

/** The byte cap of the text: max_bytes of the arguments, else the configured one. */
size_t al_call_max_bytes(const struct al_call *call);

#endif
