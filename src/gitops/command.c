// SPDX-License-Identifier: Apache-2.0
#include "gitops/command.h"

#include <stdlib.h>
#include <unistd.h>

#include "gitops/environment.h"
#include "gitops/failure.h"
#include "gitops/index_lock.h"
#include "gitops/layer.h"
#include "gitops/nul_records.h"
#include "gitops/progress.h"
#include "gitops/ruleset.h"
#include "gitops/vet.h"

/* Enough for a person to see what git complained of when a program reads its output. */
#define ERR_MAX_BYTES (64u * 1024u)

/* Enough of what a git that writes says to tell from it what it did. */
#define WRITER_KEPT_BYTES (64u * 1024u)

#define LOCK_ATTEMPTS_MAX 16

#define DATA_MAX_BYTES    (2ull << 30)
#define FILE_MAX_BYTES    (1ull << 30)
#define FILES_MAX         256u

/* The sanitizers reserve terabytes in airlock itself, which is askpass and the wrapper of ssh. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define NETWORK_DATA_MAX_BYTES 0
#else
#define NETWORK_DATA_MAX_BYTES DATA_MAX_BYTES
#endif

/* git removes its lock files when it gets SIGTERM, which is a matter of milliseconds. */
#define WRITER_GRACE_MS 2000u

void al_git_command_clear(struct al_git_command *command)
{
    al_strv_clear(&command->argv);
}

void al_git_output_clear(struct al_git_output *output)
{
    al_text_clear(&output->out);
    al_text_clear(&output->err);
}

bool al_git_read_well(const struct al_git_output *output)
{
    return output->exit_code == 0 || output->stopped;
}

bool al_git_class_writes(enum al_git_class class)
{
    return class != AL_GIT_CONFIG && class != AL_GIT_READ;
}

bool al_git_class_connects(enum al_git_class class)
{
    return class == AL_GIT_TCP || class == AL_GIT_HTTP || class == AL_GIT_SSH;
}

struct al_limits al_git_limits(const struct al_git_command *command, uint32_t left_ms)
{
    static _Atomic long known; /* asking costs three system calls */
    long cores = known;

    if (!cores)
        known = cores = sysconf(_SC_NPROCESSORS_ONLN);
    return (struct al_limits){
        .data_bytes =
            al_git_class_connects(command->class) ? NETWORK_DATA_MAX_BYTES : DATA_MAX_BYTES,
        .cpu_s = (uint64_t)left_ms / 1000 * (uint64_t)(cores > 0 ? cores : 1) + 5,
        .fsize_bytes = command->link ? command->link->max_file_bytes : FILE_MAX_BYTES,
        .nofile = FILES_MAX,
    };
}

struct al_sandbox al_git_command_sandbox(const struct al_git_command *command,
                                         const struct al_held_ruleset *held, uint32_t left_ms)
{
    bool network = al_git_class_connects(command->class);

    return (struct al_sandbox){
        .ruleset = held ? held->ruleset : NULL,
        .exec_once = !command->starts_children,
        .no_sockets = !network,
        .network = network,
        .limits = al_git_limits(command, left_ms),
    };
}

static int run_under(struct al_held_ruleset *held, const struct al_git_command *command,
                     const struct al_proc_spec *spec, struct al_proc_result *ret_result,
                     struct al_error *err)
{
    struct al_sandbox sandbox = al_git_command_sandbox(command, held, spec->timeout_ms);
    struct al_proc_spec confined = *spec;

    confined.sandbox = &sandbox;
    return al_proc_run(&confined, ret_result, err);
}

/* A git that was replaced since the ruleset was looked at cannot be executed under it.  Nothing ran
 * then, so it is tried once more under one that is current. */
static int run_confined(struct al_git *git, const struct al_git_command *command,
                        const struct al_proc_spec *spec, struct al_proc_result *ret_result,
                        struct al_error *err)
{
    struct al_held_ruleset *held, *renewed = NULL;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    int r = al_git_ruleset(git, command->class, false, &held, err);

    if (r < 0)
        return r;
    r = run_under(held, command, spec, ret_result, &why);
    if (r == AL_ERR_EXECUTION && al_git_ruleset(git, command->class, true, &renewed, NULL) == 0 &&
        renewed != held) {
        al_error_clear(&why);
        r = run_under(renewed, command, spec, ret_result, &why);
    }
    if (r == AL_ERR_EXECUTION && why.reason && !strcmp(why.reason, "not_found"))
        why.code = AL_CODE_NO_GIT;
    if (r < 0 && err) {
        al_error_clear(err);
        *err = why;
        why = AL_ERROR_INIT;
    }
    if (renewed)
        al_git_ruleset_put(git, renewed);
    if (held)
        al_git_ruleset_put(git, held);
    return r;
}

static int run(const struct al_location *at, const struct al_git_command *command,
               struct al_sink out, struct al_sink errors, struct al_run_limits *budget,
               struct al_proc_result *ret_result, struct al_error *err)
{
    static const struct al_git_link none = { .protocol = "none" };
    const struct al_git_link *link = command->link ? command->link : &none;
    struct al_progress_filter filter = AL_PROGRESS_FILTER_INIT(link->progress, errors);
    al_auto(al_git_env_clear) struct al_git_env env = AL_GIT_ENV_INIT;
    struct al_git *git = at->git;
    int r;

    budget->exit_code = -1;
    if (!git->program)
        return al_git_none(err);
    al_git_command_env(&env, at, command);
    r = run_confined(
        git, command,
        &(struct al_proc_spec){
            .program = git->program,
            .argv = (const char *const *)command->argv.items,
            .envp = env.entries,
            .cwd_fd = command->cwd_fd ? command->cwd_fd : at->dir_fd,
            .input = command->input,
            .input_len = command->input_len,
            .out = out,
            .err = link->progress ? (struct al_sink){ al_progress_filter_add, &filter } : errors,
            .drains = al_git_class_writes(command->class),
            .socket_fd = link->socket_fd,
            .kept_fds = link->fds,
            .nkept_fds = link->nfds,
            .has_job = link->has_job,
            .cancel = budget->cancel,
            .timeout_ms = budget->left_ms,
            .grace_ms = al_git_class_writes(command->class) ? WRITER_GRACE_MS : 0,
        },
        ret_result, err);
    if (link->progress)
        al_progress_filter_end(&filter);
    if (r < 0)
        return r;
    budget->exit_code = ret_result->exit_code;
    budget->left_ms -=
        ret_result->ran_ms < budget->left_ms ? ret_result->ran_ms : budget->left_ms - 1;
    return 0;
}

static bool add_text(void *payload, const char *data, size_t len)
{
    return al_text_add(payload, data, len);
}

/* Output until the deadline is not lost: it follows the message. */
static void keep_partial(struct al_git_output *output, struct al_error *err)
{
    if (!err || err->detail)
        return;
    al_text_end(&output->out);
    al_text_end(&output->err);
    if (output->err.out.len) {
        al_str_adds(&output->out.out, AL_TEXT_STDERR);
        al_str_add(&output->out.out, output->err.out.buf, output->err.out.len);
    }
    if (output->out.out.len)
        err->detail = al_strdup(output->out.out.buf);
}

int al_git_run_text(const struct al_location *at, const struct al_git_command *command,
                    size_t max_bytes, struct al_run_limits *budget,
                    struct al_git_output *ret_output, struct al_error *err)
{
    bool more = al_git_class_writes(command->class) && max_bytes < WRITER_KEPT_BYTES;
    size_t kept_bytes = more ? WRITER_KEPT_BYTES : max_bytes;
    struct al_git_output output = {
        .out = AL_TEXT_INIT(kept_bytes),
        .err = AL_TEXT_INIT(kept_bytes),
    };
    struct al_proc_result result;
    int r;

    output.out.show_controls = command->show_controls;
    r = run(at, command, (struct al_sink){ add_text, &output.out },
            (struct al_sink){ add_text, &output.err }, budget, &result, err);
    if (r < 0) {
        if (r == AL_ERR_TIMEOUT)
            keep_partial(&output, err);
        al_git_output_clear(&output);
        return r;
    }
    al_text_end(&output.out);
    al_text_end(&output.err);
    output.exit_code = result.exit_code;
    output.stopped = result.stopped;
    *ret_output = output;
    return 0;
}

int al_git_run_until(const struct al_location *at, const struct al_git_command *command,
                     size_t max_out_bytes, size_t max_err_bytes, struct al_run_limits *budget,
                     struct al_git_output *ret_output, struct al_error *err)
{
    struct al_git_output output = {
        .out = AL_TEXT_INIT(max_out_bytes),
        .err = AL_TEXT_INIT(max_err_bytes),
        .exit_code = -1,
    };
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    struct al_proc_result result;
    int r = run(at, command, (struct al_sink){ add_text, &output.out },
                (struct al_sink){ add_text, &output.err }, budget, &result, &why);

    if (r < 0 && r != AL_ERR_TIMEOUT) {
        al_git_output_clear(&output);
        if (err)
            *err = why;
        else
            al_error_clear(&why);
        why = AL_ERROR_INIT;
        return r;
    }
    al_text_end(&output.out);
    al_text_end(&output.err);
    output.timed_out = r == AL_ERR_TIMEOUT;
    if (r == 0) {
        output.exit_code = result.exit_code;
        output.stopped = result.stopped;
    }
    *ret_output = output;
    return 0;
}

int al_git_run_sink(const struct al_location *at, const struct al_git_command *command,
                    struct al_sink sink, struct al_run_limits *budget,
                    struct al_git_output *ret_output, struct al_error *err)
{
    struct al_git_output output = {
        .out = AL_TEXT_INIT(0),
        .err = AL_TEXT_INIT(ERR_MAX_BYTES),
    };
    struct al_proc_result result;
    int r;

    r = run(at, command, sink, (struct al_sink){ add_text, &output.err }, budget, &result, err);
    if (r < 0) {
        al_git_output_clear(&output);
        return r;
    }
    al_text_end(&output.err);
    output.exit_code = result.exit_code;
    output.stopped = result.stopped;
    *ret_output = output;
    return 0;
}

int al_git_read_records(const struct al_location *at, const struct al_git_command *command,
                        struct al_nul_records *records, struct al_run_limits *budget,
                        struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r = al_git_run_sink(at, command, (struct al_sink){ al_nul_records_add, records }, budget,
                            &output, err);

    return r == 0 && !al_git_read_well(&output) ? al_git_failed(&output, err) : r;
}

static bool count_record(void *payload, char *const *fields)
{
    (void)fields;
    ++*(uint64_t *)payload;
    return true;
}

int al_git_count_records(const struct al_location *at, const struct al_git_command *command,
                         struct al_run_limits *budget, uint64_t *ret_count, struct al_error *err)
{
    uint64_t count = 0;
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(1, count_record, &count);
    int r = al_git_read_records(at, command, &records, budget, err);

    if (r == 0)
        *ret_count = count;
    return r;
}

static int checked(const struct al_git_command *command, struct al_git_output *output,
                   struct al_git_output *ret_output, struct al_error *err)
{
    int r;

    if (al_git_class_writes(command->class) ? output->exit_code == 0 : al_git_read_well(output)) {
        *ret_output = *output;
        return 0;
    }
    r = al_git_failed(output, err);
    al_git_output_clear(output);
    return r;
}

int al_git_run_checked(const struct al_location *at, const struct al_git_command *command,
                       size_t max_bytes, struct al_run_limits *budget,
                       struct al_git_output *ret_output, struct al_error *err)
{
    struct al_git_output output;
    int r = al_git_run_text(at, command, max_bytes, budget, &output, err);

    return r < 0 ? r : checked(command, &output, ret_output, err);
}

int al_git_run_writer_raw(struct al_location *at, const struct al_git_command *command,
                          size_t max_bytes, struct al_run_limits *budget,
                          struct al_git_output *ret_output, struct al_error *err)
{
    for (int attempt = 1;; attempt++) {
        struct al_git_output output;
        int r = al_git_run_text(at, command, max_bytes, budget, &output, err);

        if (r < 0)
            return r;
        /* The words may also be an agent's, in a path git complains of: they do not count for ever.
         */
        if (!al_git_failed_on_index_lock(at, &output) || attempt == LOCK_ATTEMPTS_MAX) {
            *ret_output = output;
            return 0;
        }
        al_git_output_clear(&output);
        r = al_index_lock_wait(at, budget, err);
        if (r < 0)
            return r;
    }
}

int al_git_run_writer(struct al_location *at, const struct al_git_command *command,
                      size_t max_bytes, struct al_run_limits *budget,
                      struct al_git_output *ret_output, struct al_error *err)
{
    struct al_git_output output;
    int r = al_git_run_writer_raw(at, command, max_bytes, budget, &output, err);

    if (r < 0)
        return r;
    if (al_git_did_all(&output)) {
        *ret_output = output;
        return 0;
    }
    r = al_git_failed(&output, err);
    al_git_output_clear(&output);
    return r;
}
