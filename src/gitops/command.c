// SPDX-License-Identifier: Apache-2.0
#include "gitops/command.h"

#include <stdlib.h>
#include <unistd.h>

#include "gitops/private.h"
#include "gitops/progress.h"
#include "gitops/records.h"
#include "gitops/vet.h"
#include "guard/env.h"

/* Enough for a person to see what git complained of when a program reads its output. */
#define ERR_MAX_BYTES     (64u * 1024u)

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

/* What a link sets wins: a name that is in an environment twice means the first to some and the
 * last to others. */
static bool is_replaced(const struct al_git_command *command, const char *entry)
{
    al_auto(al_freep) char *name = NULL;

    if (!command->link || !command->link->env)
        return false;
    name = al_strndup(entry, strcspn(entry, "="));
    return al_env_get(command->link->env, name);
}

/* What every git child gets, whatever it does.  Without a place for translations git does not look
 * for those of C.UTF-8, of which there are none. */
void al_git_env_base(struct al_strv *env, const struct al_git_command *command)
{
    static const char *const base[] = {
        "PATH=/usr/bin:/bin",
        "LC_ALL=C.UTF-8",
        "GIT_TEXTDOMAINDIR=/nonexistent",
        "TERM=dumb",
        "GIT_TERMINAL_PROMPT=0",
        "GIT_ASKPASS=",
        "SSH_ASKPASS=",
        "GIT_EDITOR=:",
        "GIT_SEQUENCE_EDITOR=:",
        "GIT_PAGER=cat",
        "GIT_MERGE_AUTOEDIT=no",
        "GIT_SSH_VARIANT=ssh",
        "GIT_PROXY_COMMAND=",
        "GIT_PROTOCOL_FROM_USER=0",
        "GIT_NO_LAZY_FETCH=1",
        "GIT_NO_REPLACE_OBJECTS=1",
        "GIT_GRAFT_FILE=/nonexistent",
        "GIT_ATTR_NOSYSTEM=1",
    };

    for (size_t i = 0; i < AL_COUNT(base); i++)
        if (!is_replaced(command, base[i]))
            al_strv_add(env, base[i]);
    al_env_add(env, "GIT_ALLOW_PROTOCOL", command->link ? command->link->protocol : "none");
}

static bool writes(enum al_git_class class)
{
    return class != AL_GIT_CONFIG && class != AL_GIT_READ;
}

/* The overrides of this repository, and behind them, where they win, those of the command. */
static void add_overrides(struct al_strv *env, const struct al_vetting *vetting,
                          const struct al_git_command *command)
{
    const struct al_strv *config = command->link ? command->link->config : NULL;
    al_auto(al_strv_clear) struct al_strv more = AL_STRV_INIT;
    size_t count = vetting->noverrides;

    if (writes(command->class))
        al_overrides_add_writing(&more);
    for (size_t i = 0; config && i < config->count; i++)
        al_strv_add(&more, config->items[i]);
    for (size_t i = 0; i < vetting->overrides.count; i++)
        al_strv_add(env, vetting->overrides.items[i]);
    for (size_t i = 0; i < more.count; i += 2, count++) {
        al_strv_addf(env, "GIT_CONFIG_KEY_%zu=%s", count, more.items[i]);
        al_strv_addf(env, "GIT_CONFIG_VALUE_%zu=%s", count, more.items[i + 1]);
    }
    al_strv_addf(env, "GIT_CONFIG_COUNT=%zu", count);
}

/*
 * Which repository; the other side of a link finds its own, as it would for plain git.  A reader in
 * the usual layout gets the names plain git goes by at the top: short, since git walks down from
 * them to dozens of files, and below the very directory that was looked at, whatever is renamed
 * above it.
 */
static void add_repository(struct al_strv *env, const struct al_repo *repo,
                           const struct al_git_command *command)
{
    const bool at_top =
        command->of_content && !command->cwd_fd && repo->git_fd >= 0 && !repo->by_path;

    if (command->link && command->link->socket_fd)
        return;
    al_env_add(env, "GIT_DIR", at_top ? ".git" : repo->git_dir);
    if (!al_repo_is_bare(repo))
        al_env_add(env, "GIT_WORK_TREE", at_top ? "." : repo->top);
    if (command->index)
        al_env_add(env, "GIT_INDEX_FILE", command->index);
}

/* The listing of the configuration sees the person's own files; everything else our stand-in. */
static void add_configuration(struct al_strv *env, const struct al_repo *repo,
                              const struct al_git_command *command)
{
    const struct al_vetting *vetting = repo->vetting;
    const struct al_git *git = repo->git;

    if (command->class == AL_GIT_CONFIG) {
        al_env_add(env, "HOME", git->home ? git->home : "/nonexistent");
        if (git->config_home)
            al_env_add(env, "XDG_CONFIG_HOME", git->config_home);
        return;
    }
    al_env_add(env, "HOME", git->private_dir);
    al_env_add(env, "GIT_CONFIG_NOSYSTEM", "1");
    al_env_add(env, "GIT_CONFIG_GLOBAL",
               command->of_content ? vetting->of_content : vetting->global);
    add_overrides(env, vetting, command);
}

void al_git_command_env(struct al_strv *env, const struct al_repo *repo,
                        const struct al_git_command *command)
{
    const struct al_git *git = repo->git;

    al_git_env_base(env, command);
    if (command->link && command->link->env)
        for (size_t i = 0; i < command->link->env->count; i++)
            al_strv_add(env, command->link->env->items[i]);
    add_configuration(env, repo, command);
    al_strv_addf(env, "TMPDIR=%s/tmp", git->private_dir);
    al_env_add(env, "GIT_CEILING_DIRECTORIES", git->ceiling);
    add_repository(env, repo, command);
    if (!writes(command->class))
        al_env_add(env, "GIT_OPTIONAL_LOCKS", "0");
    if (command->buffered)
        al_env_add(env, "GIT_FLUSH", "0");
    for (size_t i = 0; i < git->env_allowed.count; i++)
        al_strv_add(env, git->env_allowed.items[i]);
}

struct al_limits al_git_limits(const struct al_git_command *command, uint32_t left_ms)
{
    static _Atomic long known; /* asking costs three system calls */
    long cores = known;

    if (!cores)
        known = cores = sysconf(_SC_NPROCESSORS_ONLN);
    return (struct al_limits){
        .data_bytes = command->class > AL_GIT_WRITE ? NETWORK_DATA_MAX_BYTES : DATA_MAX_BYTES,
        .cpu_s = (uint64_t)left_ms / 1000 * (uint64_t)(cores > 0 ? cores : 1) + 5,
        .fsize_bytes = command->link ? 0 : FILE_MAX_BYTES, /* a pack may be larger */
        .nofile = FILES_MAX,
    };
}

struct al_sandbox al_git_command_sandbox(const struct al_git_command *command,
                                         const struct al_held_ruleset *held, uint32_t left_ms)
{
    bool network = command->class > AL_GIT_WRITE;

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
    int r = al_git_ruleset(git, command->class, false, &held, err);

    if (r < 0)
        return r;
    r = run_under(held, command, spec, ret_result, err);
    if (r == AL_ERR_EXECUTION && al_git_ruleset(git, command->class, true, &renewed, NULL) == 0 &&
        renewed != held)
        r = run_under(renewed, command, spec, ret_result, err);
    if (renewed)
        al_git_ruleset_put(git, renewed);
    if (held)
        al_git_ruleset_put(git, held);
    return r;
}

static int run(const struct al_repo *repo, const struct al_git_command *command, struct al_sink out,
               struct al_sink errors, struct al_budget *budget, struct al_proc_result *ret_result,
               struct al_error *err)
{
    static const struct al_git_link none = { .protocol = "none" };
    const struct al_git_link *link = command->link ? command->link : &none;
    struct al_progress_filter filter = AL_PROGRESS_FILTER_INIT(link->progress, errors);
    al_auto(al_strv_clear) struct al_strv env = AL_STRV_INIT;
    struct al_git *git = repo->git;
    int r;

    budget->exit_code = -1;
    if (!git->program)
        return al_error_set(err, AL_ERR_EXECUTION, "git binary not available");
    al_git_command_env(&env, repo, command);
    r = run_confined(
        git, command,
        &(struct al_proc_spec){
            .program = git->program,
            .argv = (const char *const *)command->argv.items,
            .envp = (const char *const *)env.items,
            .cwd_fd = command->cwd_fd ? command->cwd_fd : repo->dir_fd,
            .input = command->input,
            .input_len = command->input_len,
            .out = out,
            .err = link->progress ? (struct al_sink){ al_progress_filter_add, &filter } : errors,
            .socket_fd = link->socket_fd,
            .kept_fds = link->fds,
            .nkept_fds = link->nfds,
            .without_turn = link->has_turn,
            .cancel = budget->cancel,
            .timeout_ms = budget->left_ms,
            .grace_ms = writes(command->class) ? WRITER_GRACE_MS : 0,
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

int al_git_run_text(const struct al_repo *repo, const struct al_git_command *command,
                    size_t max_bytes, struct al_budget *budget, struct al_git_output *ret_output,
                    struct al_error *err)
{
    struct al_git_output output = {
        .out = AL_TEXT_INIT(max_bytes),
        .err = AL_TEXT_INIT(max_bytes),
    };
    struct al_proc_result result;
    int r;

    output.out.show_controls = command->show_controls;
    r = run(repo, command, (struct al_sink){ add_text, &output.out },
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

int al_git_run_until(const struct al_repo *repo, const struct al_git_command *command,
                     size_t max_out_bytes, size_t max_err_bytes, struct al_budget *budget,
                     struct al_git_output *ret_output, struct al_error *err)
{
    struct al_git_output output = {
        .out = AL_TEXT_INIT(max_out_bytes),
        .err = AL_TEXT_INIT(max_err_bytes),
        .exit_code = -1,
    };
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    struct al_proc_result result;
    int r = run(repo, command, (struct al_sink){ add_text, &output.out },
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

int al_git_run_sink(const struct al_repo *repo, const struct al_git_command *command,
                    struct al_sink sink, struct al_budget *budget, struct al_git_output *ret_output,
                    struct al_error *err)
{
    struct al_git_output output = {
        .out = AL_TEXT_INIT(0),
        .err = AL_TEXT_INIT(ERR_MAX_BYTES),
    };
    struct al_proc_result result;
    int r;

    r = run(repo, command, sink, (struct al_sink){ add_text, &output.err }, budget, &result, err);
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

int al_git_read_records(const struct al_repo *repo, const struct al_git_command *command,
                        struct al_records *records, struct al_budget *budget, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r = al_git_run_sink(repo, command, (struct al_sink){ al_records_add, records }, budget,
                            &output, err);

    return r == 0 && output.exit_code != 0 ? al_git_failed(&output, err) : r;
}

static bool count_record(void *payload, char *const *fields)
{
    (void)fields;
    ++*(uint64_t *)payload;
    return true;
}

int al_git_count_records(const struct al_repo *repo, const struct al_git_command *command,
                         struct al_budget *budget, uint64_t *ret_count, struct al_error *err)
{
    uint64_t count = 0;
    al_auto(al_records_clear) struct al_records records = AL_RECORDS_INIT(1, count_record, &count);
    int r = al_git_read_records(repo, command, &records, budget, err);

    if (r == 0)
        *ret_count = count;
    return r;
}

static int checked(struct al_git_output *output, struct al_git_output *ret_output,
                   struct al_error *err)
{
    int r;

    if (output->exit_code == 0) {
        *ret_output = *output;
        return 0;
    }
    r = al_git_failed(output, err);
    al_git_output_clear(output);
    return r;
}

int al_git_run_checked(const struct al_repo *repo, const struct al_git_command *command,
                       size_t max_bytes, struct al_budget *budget, struct al_git_output *ret_output,
                       struct al_error *err)
{
    struct al_git_output output;
    int r = al_git_run_text(repo, command, max_bytes, budget, &output, err);

    return r < 0 ? r : checked(&output, ret_output, err);
}

int al_git_run_writer_raw(struct al_repo *repo, const struct al_git_command *command,
                          size_t max_bytes, struct al_budget *budget,
                          struct al_git_output *ret_output, struct al_error *err)
{
    for (int attempt = 1;; attempt++) {
        struct al_git_output output;
        int r = al_git_run_text(repo, command, max_bytes, budget, &output, err);

        if (r < 0)
            return r;
        /* The words may also be an agent's, in a path git complains of: they do not count for ever.
         */
        if (!al_git_failed_on_index_lock(repo, &output) || attempt == LOCK_ATTEMPTS_MAX) {
            *ret_output = output;
            return 0;
        }
        al_git_output_clear(&output);
        r = al_repo_wait_index_lock(repo, budget, err);
        if (r < 0)
            return r;
    }
}

int al_git_run_writer(struct al_repo *repo, const struct al_git_command *command, size_t max_bytes,
                      struct al_budget *budget, struct al_git_output *ret_output,
                      struct al_error *err)
{
    struct al_git_output output;
    int r = al_git_run_writer_raw(repo, command, max_bytes, budget, &output, err);

    return r < 0 ? r : checked(&output, ret_output, err);
}
