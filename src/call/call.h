// SPDX-License-Identifier: Apache-2.0
/*
 * One call through the pipeline, from MCP and from the command line alike:
 *
 *   1 open record -> 2 decode -> 3 select operation -> 4 authorize -> 5 approve -> 6 checkpoint
 *   -> 7 execute -> 8 shape result -> 9 close record
 *
 * Each stage may stop the call; no stage relaxes what an earlier one decided.  A call that fails
 * still passes stages 8 and 9.
 */
#ifndef AL_CALL_CALL_H
#define AL_CALL_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/json.h"
#include "base/progress.h"
#include "base/str.h"
#include "call/registry.h"
#include "call/tool.h"
#include "guard/approval.h"
#include "guard/grant.h"
#include "guard/policy.h"

struct al_run_limits;
struct al_cancel;
struct al_checkpoint_settings;
struct al_git;
struct al_git_output;
struct al_git_shell;
struct al_journal;
struct al_mounts;
struct al_path;
struct al_repo;
struct al_review_queue;
struct al_roots;
struct al_sandbox;
struct al_shell;
struct al_staging;
struct al_staging_settings;

/** The context that all calls of one server or command share.  Set up before the first call, read
 * only afterwards. */
struct al_session {
    uint64_t
        number;     /**< of a session over HTTP, never used again; 0: the process has one session */
    uint64_t owner; /**< of whose token that session is: a number that no other token gets; 0: there
                       are no tokens */
    const struct al_registry *registry;
    const struct al_roots *roots;
    struct al_git *git;
    struct al_journal *journal;     /**< NULL: the journal could not be opened */
    struct al_approvals *approvals; /**< NULL: the session is one call, without "always" */
    bool is_one_call;               /**< no call comes after: an answer ends without a cursor */
    struct al_review_queue *review; /**< where `airlock review` finds what waits; NULL: nowhere */
    enum al_approval_mode mode;
    const struct al_policy *policy; /**< NULL: no rules */
    const struct al_grant *grant;   /**< NULL: everything is granted */
    const char *agent; /**< the agent's name, safe text; NULL: the name that the client has */
    struct al_tool_defaults defaults;
    const struct al_checkpoint_settings *checkpoints; /**< NULL: no checkpoints are taken */
    bool requires_checkpoints; /**< destructive calls are refused when no checkpoint can be taken */
    const char *confinement;   /**< what confines git: "landlock7+seccomp", "none" */
    const struct al_git_shell *caller_shell; /**< that `airlock git` or `airlock run` was started
                                                  from; NULL: none */
    struct al_shell *shell; /**< for bash_command; NULL in a session without that tool */
    /** The toolsets `files` and `staging` use it; NULL in a session without a tool of them. */
    struct al_sandbox *sandbox;
    struct al_staging *staging; /**< for the toolset `staging`; NULL in a session without it */
    struct al_staging_settings *staging_settings; /**< of the worker file; NULL: none */
    struct al_mounts *mounts; /**< tools of other MCP servers; NULL: no server is configured */
    struct al_progress
        on_lock_wait;    /**< told about a wait for a lock; no callback: only the client is
                          */
    const char *options; /**< that a command in another terminal needs too, as words of a shell:
                            " --root /a"; NULL: they cannot be written on a line */
    void (*trace)(const char *line); /**< the lines of `-v`, safe text; NULL: no `-v` */
};

/** The result of a call, successful or not.  Set up with AL_RESULT_INIT. */
struct al_result {
    struct al_str text; /**< safe text, within the byte cap */
    json_t *structured; /**< of a tool with an output schema, else NULL */
    json_t *content;    /**< of a tool of another MCP server: the content items, safe and within the
                           cap.  `text` then is what a terminal and the journal get.  Else NULL */
    json_t *meta;       /**< further members of `_meta`; NULL: none */
    bool text_is_object; /**< the text is the structured result as JSON, sent as such */
    bool is_unfinished;  /**< the structured result gets its members one by one */
    struct al_str notes; /**< safe lines that the structured result has no member for: a second text
                            item of a successful result */
    bool has_notes;      /**< al_call_shape_text() has put the notes into the text */
    bool truncated;
    int exit_code; /**< git's exit code, 0 of a call that was done without git; -1 when nothing was
                      done or a signal ended git */
    int64_t duration_ms;
    bool dry_run;            /**< nothing was done but to report what would be; recorded as such */
    bool not_done;           /**< nothing was done, as the object says (a conflict); recorded as an
                                error */
    bool interrupted;        /**< its end was not seen; recorded as such */
    const char *confinement; /**< what confined this call, a constant; NULL: the session's */
    enum al_status status;   /**< AL_OK, or why the call failed: `error` is then set, and `text` is
                                what to show */
    struct al_error error;
};

#define AL_RESULT_INIT                                                                             \
    ((struct al_result){                                                                           \
        .text = AL_STR_INIT, .notes = AL_STR_INIT, .exit_code = -1, .error = AL_ERROR_INIT })

void al_result_clear(struct al_result *result);

/** A text to ask the client's model for. */
struct al_sampling_request {
    const char *role; /**< the system prompt */
    const char *task; /**< the prompt */
    int max_tokens;
    int timeout_ms; /**< the longest wait, never 0 */
};

/** The client's model, asked with MCP's sampling/createMessage. */
struct al_sampler {
    /**
     * Block until there is a text, the time is over, or `cancel` fires.
     * @return 0 with *ret_text (NULL: there is none), which the caller frees and has to check like
     *         any untrusted input; or AL_ERR_CANCELLED.
     */
    int (*sample)(void *payload, const struct al_sampling_request *request,
                  struct al_cancel *cancel, char **ret_text, struct al_error *err);
    void *payload;
};

/** The client, for a question that another MCP server has while it works on a call. */
struct al_asker {
    /**
     * Pass a request on to the client, and wait for its answer.
     *
     * @param method      "elicitation/create" or "sampling/createMessage".
     * @param params      An object.  Borrowed.
     * @param ret_result  The client's result, whose reference the caller owns; NULL: the client
     *                    cannot be asked this, or has answered with an error.
     * @return 0, or AL_ERR_CANCELLED.
     */
    int (*ask)(void *payload, const char *method, const json_t *params, struct al_cancel *cancel,
               json_t **ret_result, struct al_error *err);
    void *payload;
};

/** The input of one call.  Borrowed for the duration of al_call_run(). */
struct al_call_input {
    const struct al_listed_tool *tool;
    const json_t *arguments;     /**< NULL: {} */
    const char *arguments_error; /**< why the arguments could not be parsed (a NUL, a duplicate
                                    name); NULL: they could */
    struct al_cancel *cancel;
    const struct al_approver *approver; /**< its own door; NULL: it has none */
    const char *client;                 /**< the name of the client, safe text; NULL: it has none */
    const char *call_id, *client_tool;  /**< the client's id of the call, and its own name of the
                                           tool in records; NULL: it has none */
    const char *label;                  /**< the user's name of the call; NULL: none */
    const struct al_sampler *sampler;   /**< NULL: the client offers no sampling */
    const struct al_progress *progress; /**< receives progress; NULL: not wanted */
    const struct al_asker *asker;       /**< NULL: the client can be asked nothing */
    const struct al_progress *waiting;  /**< told while it waits for a user whom it does not ask
                                           itself; NULL: not wanted */
};

/**
 * Run one call through all stages.  Always fills *result.
 *
 * Threads: safe, one call per thread.
 */
void al_call_run(const struct al_session *session, const struct al_call_input *input,
                 struct al_result *result);

/**
 * Record a call that fails before its tool is known: the server that has the tool does not run, or
 * the grant does not have it.
 *
 * @param input  Without a tool.
 */
void al_call_record_failure(const struct al_session *session, const struct al_call_input *input,
                            const char *tool, const struct al_error *why);

/** The decision of the policy about a call that is not made.  Set up with AL_EXPLANATION_INIT. */
struct al_explanation {
    struct al_operation operation;
    struct al_strv branches, paths, addresses; /**< its policy targets, as shown to users */
    struct al_ruling ruling;
};

#define AL_EXPLANATION_INIT ((struct al_explanation){ .operation = { .name = NULL } })

void al_explanation_clear(struct al_explanation *explanation);

/**
 * Explain what policy would decide about a call.  The call is decoded, checked and authorized as
 * usual, and then ruled on.  Nothing is run, asked or recorded.
 *
 * @return 0, or why the call would fail before policy decides.
 */
int al_call_explain(const struct al_session *session, const struct al_call_input *input,
                    struct al_explanation *ret_explanation, struct al_error *err);

/** Stage 7 for a tool with an output schema, once it has succeeded: add a member to the object that
 * is the result, which has none at first.  `value` is taken over.  The caller keeps the object
 * within the byte cap, and sets result->truncated if something was left out. */
void al_result_set(struct al_result *result, const char *name, json_t *value);

/** The same for a whole object, which is taken over: it is sent also if the tool fails. */
void al_result_set_structured(struct al_result *result, json_t *object);

/** Strings as an array, from the one with this index on. */
json_t *al_strings_of(const struct al_strv *strings, size_t first);

/** Stage 8: write the object as the text, with invisible characters escaped, or drop what has only
 * some of its members since the tool failed.  Nothing for another result. */
void al_result_finish(struct al_result *result, bool is_done);

/** In stage 7: the files, relative to the top, of the tool's `changed_files`.  Borrowed.  NULL:
 * they are not known, or there is no checkpoint. */
const struct al_strv *al_call_changed_files(const struct al_call *call);

/** Add a line to the notes of a result.  `line` is safe text without a newline. */
void al_result_note(struct al_result *result, const char *line);

/** The error of a failed result as `{kind, code, name, reason, message}`.  Caller owns the
 * reference. */
json_t *al_result_error_json(const struct al_result *result);

/** Members that a protocol revision adds to the result object, as JSON text without a comma. */
struct al_result_extra {
    const char *members;
    const char *meta;
};

/** Append the whole MCP result object to `out` as compact JSON: content, structuredContent, isError
 * and _meta.
 *
 * @param extra  Further members; NULL: none. */
void al_result_dump(const struct al_result *result, const struct al_result_extra *extra,
                    struct al_str *out);

/* The knowledge of a running call, for tools. */

/** The tool of the call. */
const struct al_tool *al_call_tool(const struct al_call *call);

/** The argument struct of the tool.  Borrowed. */
const void *al_call_args(const struct al_call *call);

/** Give the hooks of another tool arguments of its own: exchange the struct for `args`, and give
 * what it was, to be put back. */
void *al_call_swap_args(struct al_call *call, void *args);

/** The arguments that were decoded; NULL: {}.  Borrowed. */
const json_t *al_call_arguments(const struct al_call *call);

/** Test whether a checkpoint is taken before this call, as far as is known yet. */
bool al_call_is_saved(const struct al_call *call);

/** The input of the call: its cancel token, the client's progress, model and questions.
 * Borrowed. */
const struct al_call_input *al_call_input(const struct al_call *call);

/** The session of the call.  Borrowed. */
const struct al_session *al_call_session(const struct al_call *call);

/** Before a call: the `_meta` of the first one may say which session of the client's it is, if that
 * is not known yet.  Codex does. */
void al_session_join(const struct al_session *session, const json_t *meta);

/** Test whether a session has the tool, from this toolset (NULL: any). */
bool al_session_has(const struct al_session *session, const char *tool, const char *from);

/** The next step after a failure, in the words of a dialect and with the tools that the session
 * has; NULL: there is nothing to say. */
const char *al_remedy(const struct al_session *session, enum al_words words,
                      const struct al_error *error);

/** The name of the agent that calls: the session's, else the client's; NULL: it has none. Borrowed.
 */
const char *al_call_agent(const struct al_call *call);

/** The facts that a tool leaves to the stages after its own.  All are empty at first, and those of
 * a preview are so again when the user is asked again. */
struct al_plan {
    /* `preview` sets these. */
    char *draft;         /**< the text that it drafted, for `execute` to use; NULL: none */
    char *expected;      /**< the outcome that it announced, for `execute` to compare; NULL: none */
    bool skips_approval; /**< the call would change nothing, or is bound to fail: no user is asked,
                            which is recorded, and `execute` reports it */
    size_t framed_len; /**< a terminal shows so many bytes at the beginning of its text in a frame,
                          with the keys, below the rest */

    /* `authorize` sets these. */
    bool loses_staged;    /**< the operation may lose what is staged, so its checkpoint keeps it,
                             whatever the tool's `keeps_staged` says */
    struct al_strv along; /**< the full names of the branches that the call moves along */
    const char *worktree; /**< that the call is about: a name below airlock's directory, which its
                             checkpoints then have.  Borrowed; NULL: none */
    bool only_locks;      /**< they have only whether it is locked */
};

/** The plan of the call. */
struct al_plan *al_call_plan(struct al_call *call);

/** Names of resolved values that are used outside the tool: an object id, the full name of the
 * branch that rules by branch look at, and where a transfer leads; the last one is there where one
 * of these is new in this session and nobody has agreed to it. */
#define AL_RESOLVED_COMMIT      "commit"
#define AL_RESOLVED_BRANCH      "branch"
#define AL_RESOLVED_ADDRESS     "address"
#define AL_RESOLVED_NEW_ADDRESS "new_address"

/** The name of the values that al_call_resolved_paths() gives. */
#define AL_RESOLVED_PATH "path"

/** Add a value, a copy, in `resolve`; NULL counts as "".  A name may be added more than once. */
void al_call_resolve(struct al_call *call, const char *name, const char *value);

/** The first value that `resolve` added under this name; NULL: none.  Borrowed until the call is
 * resolved again. */
const char *al_call_resolved(const struct al_call *call, const char *name);

/** Whether the configuration or a worker file has rules, which look at what is resolved. */
bool al_call_has_rules(const struct al_call *call);

/** The values of AL_RESOLVED_PATH, for `policy_paths`. */
int al_call_resolved_paths(struct al_call *call, struct al_strv *out, struct al_error *err);

/** Keep data that `authorize` derived from the arguments, for the stages after it.  `data` is taken
 * over, and earlier data freed. */
void al_call_set_tool_data(struct al_call *call, void *data, void (*free_data)(void *));

/** The data kept by al_call_set_tool_data(); NULL: none.  Borrowed. */
void *al_call_tool_data(const struct al_call *call);

/** Read what telling the changes of the call begins with, while there is nothing to do: after the
 * checkpoint before it. */
void al_call_expect_changes(const struct al_call *call);

/** The vetted repository of the working directory, or the one that `open_repository` gave, from
 * `applies` on.  NULL for a tool with `at_first_root` when its directory is in no repository, and
 * for a call without a repository. */
struct al_repo *al_call_repo(const struct al_call *call);

/** The `open_repository` of a tool that works in the sandbox alone. */
int al_call_without_repository(struct al_call *call, struct al_repo **ret_repo,
                               struct al_error *err);

/**
 * The files from the tool's `affected_files`, listed once until the approval: the answer is bound
 * to the same files that the preview shows.  From `authorize` on.
 *
 * @param[out] ret_files  Borrowed until the call ends or takes the write lock.
 */
int al_call_affected_files(struct al_call *call, const struct al_strv **ret_files,
                           struct al_error *err);

/** The run limits of the call's git children: time left and cancel token. */
struct al_run_limits *al_call_budget(struct al_call *call);

/**
 * Stage 8 for a tool that shows git's output: make standard output, standard error and airlock's
 * own notes the result's text, within the byte cap.  Standard output is moved, not copied.
 *
 * @param r      What git's run came to: after a failure there is no result.
 * @param notes  Lines for the [stderr] section, "" for none.
 * @return r.
 */
int al_call_shape_text(const struct al_call *call, int r, struct al_git_output *output,
                       const char *notes, struct al_result *result);

/** Test whether a user approved this call, once or with "always"; false when a rule or the mode
 * alone allowed it.  From `execute` on. */
bool al_call_was_asked(const struct al_call *call);

/**
 * Test whether files may be replaced: the call's checkpoint has to contain each of them as it is
 * now, so that rollback can restore it.
 *
 * @param dir    The directory that contains the files, open.
 * @param names  The files' names in `dir`.
 * @return 0; AL_ERR_EXECUTION "<what>: '<name>' exists already and no checkpoint has it; …".
 */
int al_call_check_in_checkpoint(struct al_call *call, const char *what, const struct al_path *dir,
                                const struct al_strv *names, struct al_error *err);

/** Give a commit of the working tree's state files back to the repository, from the store, if git
 * has removed it there. */
int al_call_return_commit(struct al_call *call, const char *oid, struct al_error *err);

/** Fail with AL_ERR_EXECUTION: the repository is bare, and the call changes it or needs a working
 * tree. */
int al_call_refuse_bare(const struct al_call *call, struct al_error *err);

/** The al_journal_running_in() of a call other than this one. */
char *al_call_running_in(const struct al_call *call, const char *top);

/**
 * The last call in each of these working trees that the current file of the journal has:
 * "git_commit of agent x, 2026-01-31T10:00:00.000Z".
 *
 * @param ret_words  One for each; NULL: there is none.  Safe text.  The caller frees them.
 */
void al_call_last_in(const struct al_call *call, const char *const *tops, size_t ntops,
                     char **ret_words);

/** The byte cap of the text: `max_bytes` of the arguments, else the configured one. */
size_t al_call_max_bytes(const struct al_call *call);

#endif
