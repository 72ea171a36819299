// SPDX-License-Identifier: Apache-2.0
/* Shared by the tests of the pipeline: test tools over real git, a session with a journal, and a
 * user with scripted answers. */
#ifndef TESTS_UNIT_TOOL_LIB_H
#define TESTS_UNIT_TOOL_LIB_H

#include "call/call.h"
#include "git/command.h"
#include "git/reading/worktree_state.h"
#include "git/repo/git.h"
#include "git/run.h"
#include "guard/text.h"
#include "history/journal.h"
#include "tests/unit/git/lib.h"
#include "verbs/porcelain/commit.h"

struct args {
    struct al_strv paths;
    const char *message;
    struct al_opt_int timeout_ms;
    const char *working_dir;
};

#define TIMEOUT_ROW                                                                                \
    AL_INT(struct args, timeout_ms, "Timeout in milliseconds.", .flags = AL_PARAM_TIMEOUT,         \
           .min = 100, .max = 600000)
#define WORKING_DIR_ROW                                                                            \
    AL_STRING(struct args, working_dir, "Directory to run git in.", .max_bytes = 4096)
#define OFFSETS                                                                                    \
    .args_size = sizeof(struct args), .working_dir_offset = offsetof(struct args, working_dir)

static inline int run_status(struct al_call *call, struct al_result *result, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    const struct al_status_options options = { .porcelain = true, .untracked = true };
    int r = al_git_status(al_call_repo(call), &options, al_call_max_bytes(call), &output, err);

    return al_call_shape_text(call, r, &output, "", result);
}

static inline int run_add(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct args *args = al_call_args(call);
    const struct al_add_options options = { .mode = AL_ADD_PATHS, .paths = &args->paths };
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r = al_git_add(al_call_repo(call), &options, al_call_max_bytes(call), &output, err);

    return al_call_shape_text(call, r, &output, "", result);
}

static inline int run_commit(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct args *args = al_call_args(call);
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    const struct al_commit_options options = { .message = args->message };
    int r = al_git_commit(al_call_repo(call), &options, al_call_max_bytes(call), &output, err);

    return al_call_shape_text(call, r, &output, "", result);
}

static inline int show_staged(struct al_call *call, struct al_str *out, struct al_error *err)
{
    return al_git_commit_preview(al_call_repo(call), out, err);
}

static inline void name_paths(const struct al_call *call, struct al_str *out)
{
    const struct args *args = al_call_args(call);

    (void)call;
    al_str_adds(out, "Stage ");
    al_text_add_list(out, &args->paths, 3);
}

static inline void name_message(const struct al_call *call, struct al_str *out)
{
    const void *p = al_call_args(call);
    (void)call;
    al_str_addf(out, "Commit: %s", ((const struct args *)p)->message);
}

static const struct al_param peek_params[] = { TIMEOUT_ROW, WORKING_DIR_ROW };
static const struct al_param stage_params[] = {
    AL_STRINGS(struct args, paths, "Files to stage.", .flags = AL_PARAM_REQUIRED, .min = 1,
               .max = 100, .max_bytes = 4096),
    TIMEOUT_ROW,
    WORKING_DIR_ROW,
};
static const struct al_param record_params[] = {
    AL_STRING(struct args, message, "What the change does.", .flags = AL_PARAM_REQUIRED,
              .max_bytes = 4096),
    TIMEOUT_ROW,
    WORKING_DIR_ROW,
};

static const struct al_operation peek_operations[] = { { "peek", NULL, AL_READS, run_status,
                                                         AL_ASKS_BY_EFFECTS } };
static const struct al_operation stage_operations[] = { { "stage", NULL, AL_WRITES_INDEX, run_add,
                                                          AL_ASKS_BY_EFFECTS } };
static const struct al_operation record_operations[] = {
    { "record", NULL, AL_WRITES_INDEX | AL_WRITES_REFS, run_commit, AL_ASKS_BY_EFFECTS },
};

static const struct al_tool peek = {
    .name = "peek",
    .title = "Peek",
    .about = "Look.",
    .params = peek_params,
    .nparams = COUNT(peek_params),
    OFFSETS,
    .operations = peek_operations,
    .noperations = 1,
};
static const struct al_tool stage = {
    .name = "stage",
    .title = "Stage",
    .about = "Stage files.",
    .params = stage_params,
    .nparams = COUNT(stage_params),
    OFFSETS,
    .operations = stage_operations,
    .noperations = 1,
    .summarize = name_paths,
};
static const struct al_tool record = {
    .name = "record",
    .title = "Record",
    .about = "Commit what is staged.",
    .params = record_params,
    .nparams = COUNT(record_params),
    OFFSETS,
    .operations = record_operations,
    .noperations = 1,
    .preview = show_staged,
    .summarize = name_message,
};

static const struct al_toolset toolset = { .name = "test" };

/* A session over a world, and the user who is asked. */
struct scene {
    struct world *w;
    struct al_session session;
    struct al_journal *journal;
    struct al_result result;
    struct al_cancel *cancel;

    enum al_answer answers[18];             /* to the first, second and later questions */
    const char *reason;                     /* of every answer; NULL: none */
    int failure;                            /* a failure instead of an answer; 0: none */
    void (*meanwhile)(struct scene *scene); /* called during the first question */
    size_t restless;                        /* called during this many questions after the first */
    size_t asked;
    char *summary, *detail, *repository, *state;
    char *covers; /* NULL: "always" was not offered */
};

static inline void keep(char **place, const char *text)
{
    free(*place);
    *place = al_strdup(text);
}

static inline int ask(void *payload, const struct al_approval_request *request,
                      struct al_cancel *cancel, struct al_approval_answer *ret_answer,
                      struct al_error *err)
{
    struct scene *scene = payload;
    size_t turn = scene->asked++;

    assert_true(turn < COUNT(scene->answers));
    keep(&scene->summary, request->summary);
    keep(&scene->detail, request->detail);
    keep(&scene->repository, request->repository);
    keep(&scene->state, request->state);
    free(scene->covers);
    scene->covers = request->always_covers ? al_strdup(request->always_covers) : NULL;
    if (turn <= scene->restless && scene->meanwhile)
        scene->meanwhile(scene);
    if (al_cancel_fired(cancel))
        return al_error_set(err, AL_ERR_CANCELLED, "Cancelled");
    if (scene->failure)
        return al_error_set(err, scene->failure, "the asking failed");
    ret_answer->decision = scene->answers[turn];
    if (scene->reason)
        al_approval_answer_set_reason(ret_answer, scene->reason);
    return 0;
}

static inline int fail_to_ask(void *payload, const struct al_approval_request *request,
                              struct al_cancel *cancel, struct al_approval_answer *ret_answer,
                              struct al_error *err)
{
    (void)payload;
    (void)request;
    (void)cancel;
    (void)ret_answer;
    return al_error_set(err, AL_ERR_EXECUTION, "the terminal is gone");
}

static inline int have_no_answer(void *payload, const struct al_approval_request *request,
                                 struct al_cancel *cancel, struct al_approval_answer *ret_answer,
                                 struct al_error *err)
{
    (void)payload;
    (void)request;
    (void)cancel;
    (void)err;
    ret_answer->decision = AL_ANSWER_NONE;
    return 0;
}

static inline int scene_setup(void **state)
{
    struct scene *scene = al_calloc(1, sizeof(*scene));
    al_auto(al_freep) char *log = NULL;
    void *world = NULL;

    world_setup(&world);
    scene->w = world;
    log = tmpdir_path(scene->w->state, "tool_log.jsonl");
    assert_int_equal(al_journal_open(log, &scene->journal, NULL), 0);
    scene->session = (struct al_session){
        .roots = &scene->w->roots,
        .git = scene->w->git,
        .journal = scene->journal,
        .approvals = al_approvals_new(NULL),
        .mode = AL_APPROVAL_ASK,
        .defaults = { .timeout_ms = LONG_MS, .max_bytes = 100000 },
        .confinement = scene->w->git->confinement,
    };
    scene->result = AL_RESULT_INIT;
    scene->cancel = al_cancel_new();
    tmpdir_write(scene->w->repo, "a.txt", "two\n");
    tmpdir_write(scene->w->repo, "b.txt", "new\n");
    *state = scene;
    return 0;
}

static inline int scene_teardown(void **state)
{
    struct scene *scene = *state;
    void *world = scene->w;

    al_result_clear(&scene->result);
    al_cancel_unref(scene->cancel);
    al_approvals_free(scene->session.approvals);
    al_journal_free(scene->journal);
    free(scene->summary);
    free(scene->detail);
    free(scene->repository);
    free(scene->state);
    free(scene->covers);
    free(scene);
    return world_teardown(&world);
}

#define SCENE_TEST(name) cmocka_unit_test_setup_teardown(name, scene_setup, scene_teardown)

static inline void run_with(struct scene *scene, const struct al_tool *tool, const char *arguments,
                            const struct al_approver *approver)
{
    const struct al_listed_tool listed = { .toolset = &toolset, .tool = tool };
    al_auto(al_json_decrefp) json_t *json = json_loads(arguments, 0, NULL);

    assert_non_null(json);
    al_result_clear(&scene->result);
    scene->result = AL_RESULT_INIT;
    al_call_run(&scene->session,
                &(struct al_call_input){
                    .tool = &listed,
                    .arguments = json,
                    .cancel = scene->cancel,
                    .approver = approver,
                },
                &scene->result);
}

/* Run one call, with the scripted user to be asked. */
static inline void run(struct scene *scene, const struct al_tool *tool, const char *arguments)
{
    const struct al_approver terminal = { .name = "terminal", .ask = ask, .payload = scene };

    run_with(scene, tool, arguments, &terminal);
}

/* The journal's last line as "outcome decision decided_by operation success". */
static inline void assert_journal(struct scene *scene, const char *expected)
{
    al_auto(al_freep) char *log = tmpdir_read(scene->w->state, "tool_log.jsonl");
    al_auto(al_json_decrefp) json_t *line = NULL;
    al_auto(al_freep) char *seen = NULL;
    const char *operation;
    char *last;

    assert_non_null(log);
    assert_true(strlen(log) > 1);
    log[strlen(log) - 1] = '\0'; /* the last newline */
    last = strrchr(log, '\n');
    line = json_loads(last ? last + 1 : log, 0, NULL);
    assert_non_null(line);
    operation = al_json_get_string(line, "operation");
    seen = al_asprintf(
        "%s %s %s %s %s", al_json_get_string(line, "outcome"), al_json_get_string(line, "decision"),
        al_json_get_string(line, "decided_by"), operation ? operation : "-",
        json_is_true(json_object_get(json_object_get(line, "result"), "success")) ? "yes" : "no");
    assert_string_equal(seen, expected);
}

static inline size_t journal_lines(const struct scene *scene)
{
    al_auto(al_freep) char *log = tmpdir_read(scene->w->state, "tool_log.jsonl");
    size_t lines = 0;

    for (const char *at = log; at && (at = strchr(at, '\n')); at++)
        lines++;
    return lines;
}

static inline void assert_status(struct scene *scene, const char *expected)
{
    al_auto(al_freep) char *status = git_output(scene->w->repo, "status", "--porcelain", NULL);

    assert_string_equal(status, expected);
}

#define UNTOUCHED " M a.txt\n?? b.txt\n"
#define STAGED_A  "M  a.txt\n?? b.txt\n"
#define STAGE_A   "{\"working_dir\":\"repo\",\"paths\":[\"a.txt\"]}"
#define STAGE_B   "{\"working_dir\":\"repo\",\"paths\":[\"b.txt\"]}"
#define RECORD    "{\"working_dir\":\"repo\",\"message\":\"fix: two\\n\"}"

static inline void assert_commits(const struct scene *scene, const char *expected)
{
    al_auto(al_freep) char *count = git_output(scene->w->repo, "rev-list", "--count", "HEAD", NULL);

    assert_string_equal(count, expected);
}

#endif
