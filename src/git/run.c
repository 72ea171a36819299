// SPDX-License-Identifier: Apache-2.0
#include "git/run.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "git/command.h"
#include "git/environment.h"
#include "git/failure.h"
#include "git/git_lock.h"
#include "git/layer.h"
#include "guard/env.h"
#include "guard/root.h"
#include "guard/text.h"
#include "proc/cancel.h"

/* Enough to see what git complained about, when a sink takes its output. */
#define ERR_MAX_BYTES (64u * 1024u)

/* Enough of the output of a git that writes to tell what it did. */
#define WRITER_KEPT_BYTES (64u * 1024u)

#define LOCK_ATTEMPTS_MAX 16

#define ASK_MS            10000

/* git removes its lock files on SIGTERM within milliseconds. */
#define WRITER_GRACE_MS 2000u

#define DATA_MAX_BYTES  (2ull << 30)
#define FILE_MAX_BYTES  (1ull << 30)
#define FILES_MAX       256u

/* AddressSanitizer and ThreadSanitizer reserve terabytes of address space, and airlock itself runs
 * as askpass and as the wrapper of ssh. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define NETWORK_DATA_MAX_BYTES 0
#else
#define NETWORK_DATA_MAX_BYTES DATA_MAX_BYTES
#endif

void al_git_output_clear(struct al_git_output *output)
{
    al_text_clear(&output->out);
    al_text_clear(&output->err);
}

bool al_git_read_well(const struct al_git_output *output)
{
    return output->exit_code == 0 || output->stopped;
}

/* --- The Landlock ruleset of each class of git child --- */

/* docs/SECURITY-MODEL.md says why each rule is there. */

static void add_system(struct al_confine_rules *rules, const struct al_git *git)
{
    /* Not /etc/passwd: a link in .git could bring a file that is readable here into an answer.  git
     * does not ask for the user's name with user.useConfigOnly. */
    static const char *const readable[] = {
        "/usr/lib",
        "/lib",
        "/lib64",
        "/usr/lib64",
        "/usr/share/git-core",
        "/usr/share/locale",
        "/usr/share/zoneinfo",
        "/etc/ld.so.cache",
        "/etc/localtime",
        "/dev/urandom",
    };

    /* execve fails for a program that is gone, and names it. */
    al_confine_add(rules, git->options.program, AL_RIGHT_EXECUTE | AL_RIGHT_READ, true);
    al_confine_add(rules, git->core, AL_RIGHT_EXECUTE | AL_RIGHT_READ, true);
    al_confine_add(rules, git->interp, AL_RIGHT_EXECUTE | AL_RIGHT_READ, false);
    al_confine_add_all(rules, readable, AL_COUNT(readable), AL_RIGHT_READ);
    al_confine_add(rules, "/dev/null", AL_RIGHT_READ | AL_RIGHT_WRITE_FILE, false);
}

/* Files that the resolver reads. */
static void add_resolver(struct al_confine_rules *rules)
{
    static const char *const readable[] = {
        "/etc/resolv.conf", "/etc/hosts",    "/etc/nsswitch.conf",
        "/etc/host.conf",   "/etc/gai.conf", "/etc/services",
    };

    al_confine_add_all(rules, readable, AL_COUNT(readable), AL_RIGHT_READ);
}

/* git-remote-https is a link to git-remote-http, or a copy.  Certificates, but no private keys. */
static void add_http(struct al_confine_rules *rules, const struct al_git *git)
{
    static const char *const readable[] = {
        "/etc/ssl/certs",
        "/etc/ssl/openssl.cnf",
        "/etc/gnutls",
        "/etc/pki/tls/certs",
        "/etc/pki/ca-trust/extracted",
        "/usr/share/ca-certificates",
        "/usr/local/share/ca-certificates",
    };
    static const char *const named[] = { "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO",
                                         "GIT_SSL_CAPATH" };

    al_confine_add(rules, git->http_helper, AL_RIGHT_EXECUTE | AL_RIGHT_READ, true);
    al_confine_add_all(rules, readable, AL_COUNT(readable), AL_RIGHT_READ);
    for (size_t i = 0; i < AL_COUNT(named); i++)
        al_confine_add(rules, al_env_get(&git->env_network, named[i]), AL_RIGHT_READ, true);
    al_confine_add(rules, git->options.self, AL_RIGHT_EXECUTE | AL_RIGHT_READ, true);
}

/* ssh looks up the user's name and home, hence passwd and group. */
static void add_ssh(struct al_confine_rules *rules, const struct al_git *git)
{
    al_confine_add(rules, git->options.ssh, AL_RIGHT_EXECUTE | AL_RIGHT_READ, true);
    al_confine_add(rules, git->options.self, AL_RIGHT_EXECUTE | AL_RIGHT_READ, true);
    al_confine_add(rules, "/etc/ssh", AL_RIGHT_READ, true);
    al_confine_add(rules, "/etc/passwd", AL_RIGHT_READ, true);
    al_confine_add(rules, "/etc/group", AL_RIGHT_READ, true);
    al_confine_add(rules, git->ssh_dir, AL_RIGHT_READ, true);
}

/* By descriptor: a root inside another root could be replaced by a link to anywhere. */
static void add_roots(struct al_confine_rules *rules, const struct al_roots *agent_roots,
                      unsigned rights)
{
    for (const struct al_roots *roots = al_roots_parts(agent_roots); roots; roots = roots->also)
        for (size_t i = 0; i < roots->count; i++)
            if (!al_root_is_released(&roots->items[i]))
                al_confine_add_fd(rules, roots->items[i].path, roots->items[i].fd, rights);
}

/* Things that a class may use besides the repository. */
static void add_class(struct al_confine_rules *rules, const struct al_git *git,
                      enum al_git_class class)
{
    add_system(rules, git);
    if (class == AL_GIT_CONFIG)
        al_confine_add(rules, "/", AL_RIGHT_READ, false);
    al_confine_add(rules, git->private_dir, AL_RIGHT_READ, false);
    if (al_git_class_connects(class))
        add_resolver(rules);
    if (class == AL_GIT_HTTP)
        add_http(rules, git);
    if (class == AL_GIT_SSH)
        add_ssh(rules, git);
}

/* Make the ruleset for a command.  In a location that is_own nothing of the user's files and
 * folders may be read or written, only the repository itself and, by a command that borrows or has
 * a cwd_fd, what its lender has.  0 when the kernel has no Landlock. */
static int make_ruleset(const struct al_location *at, const struct al_git_command *command,
                        int *ret_ruleset_fd, struct al_error *err)
{
    const enum al_git_class class = command->class;
    const struct al_location *lender = command->borrows || command->cwd_fd ? at->lender : NULL;
    const struct al_git *git = at->git;
    const bool writes = al_git_class_writes(class);
    const unsigned rights = AL_RIGHT_READ | (writes ? AL_RIGHT_WRITE : 0);
    al_auto(al_freep) char *tmp = al_fs_join(git->private_dir, "tmp");
    al_auto(al_confine_rules_clear) struct al_confine_rules rules = { .count = 0 };

    *ret_ruleset_fd = 0;
    if (al_confine_abi() == 0)
        return 0; /* al_git_new() refuses when confinement is required */
    add_class(&rules, git, class);
    if (at->is_own && class != AL_GIT_CONFIG) {
        al_confine_add_fd(&rules, at->dir, at->dir_fd, rights);
        if (lender && lender->is_own)
            al_confine_add_fd(&rules, lender->dir, lender->dir_fd, AL_RIGHT_READ);
        else if (lender)
            add_roots(&rules, git->roots, AL_RIGHT_READ);
    } else {
        if (writes)
            al_confine_add(&rules, tmp, AL_RIGHT_READ | AL_RIGHT_WRITE, false);
        add_roots(&rules, git->roots, class == AL_GIT_SCRATCH ? AL_RIGHT_READ : rights);
    }
    return al_ruleset_new(rules.items, rules.count, al_git_class_connects(class), ret_ruleset_fd,
                          err);
}

/* --- A child --- */

/* The sandbox of a git child that may run for `left_ms`. */
static struct al_confinement sandbox_of(const struct al_git_command *command, int ruleset_fd,
                                        uint32_t left_ms)
{
    static _Atomic long known; /* asking costs three system calls */
    const bool network = al_git_class_connects(command->class);
    long cores = known;

    if (!cores)
        known = cores = sysconf(_SC_NPROCESSORS_ONLN);
    return (struct al_confinement){
        .ruleset_fd = ruleset_fd,
        .exec_once = !command->starts_children,
        .no_sockets = !network,
        .network = network,
        .limits = {
            .data_bytes = network ? NETWORK_DATA_MAX_BYTES : DATA_MAX_BYTES,
            .cpu_s = (uint64_t)left_ms / 1000 * (uint64_t)(cores > 0 ? cores : 1) + 5,
            .fsize_bytes = command->link ? command->link->max_file_bytes : FILE_MAX_BYTES,
            .nofile = FILES_MAX,
        },
    };
}

int al_git_child_prepare(const struct al_location *at, const struct al_git_command *command,
                         struct al_git_child *ret_child, struct al_error *err)
{
    static const struct al_git_link none = { .protocol = "none" };
    const struct al_git_link *link = command->link ? command->link : &none;
    const bool writes = al_git_class_writes(command->class);
    int r;

    *ret_child = AL_GIT_CHILD_INIT;
    at->budget->exit_code = -1; /* until it has ended */
    if (!at->git->options.program)
        return al_git_not_available(err);
    r = make_ruleset(at, command, &ret_child->ruleset_fd, err);
    if (r < 0)
        return r;
    al_git_command_env(&ret_child->env, at, command);
    ret_child->sandbox = sandbox_of(command, ret_child->ruleset_fd, at->budget->left_ms);
    ret_child->spec = (struct al_proc_spec){
        .program = at->git->options.program,
        .argv = (const char *const *)command->argv.items,
        .envp = (const char *const *)ret_child->env.items,
        .cwd_fd = command->cwd_fd ? command->cwd_fd : at->dir_fd,
        .input = command->input,
        .input_len = command->input_len,
        .in_fd = command->shell ? command->shell->in_fd : command->in_fd,
        .out_fd = command->shell ? command->shell->out_fd : command->out_fd,
        .err_fd = command->shell ? command->shell->err_fd : 0,
        .drains = writes,
        .kept_fds = link->fds,
        .nkept_fds = link->nfds,
        .has_job = link->has_job,
        .watch = writes && !at->is_own ? at->budget->watch : NULL,
        .cancel = at->budget->cancel,
        .timeout_ms = at->budget->left_ms,
        .grace_ms = writes ? WRITER_GRACE_MS : 0,
    };
    return 0;
}

void al_git_child_clear(struct al_git_child *child)
{
    al_strv_clear(&child->env);
    al_ruleset_free(child->ruleset_fd);
}

static int start(const struct al_location *at, const struct al_git_command *command,
                 struct al_sink out, struct al_sink errors, struct al_proc_result *ret_result,
                 struct al_error *err)
{
    const struct al_progress *progress = command->link ? command->link->progress : NULL;
    struct al_progress_filter filter = AL_PROGRESS_FILTER_INIT(progress, errors);
    al_auto(al_git_child_clear) struct al_git_child child;
    int r = al_git_child_prepare(at, command, &child, err);

    if (r < 0)
        return r;
    child.spec.sandbox = &child.sandbox;
    child.spec.out = out;
    child.spec.err = progress ? (struct al_sink){ al_progress_filter_add, &filter } : errors;
    r = al_proc_run(&child.spec, ret_result, err);
    if (progress)
        al_progress_filter_end(&filter);
    if (r == AL_ERR_EXECUTION && err && err->reason && !strcmp(err->reason, "not_found"))
        err->code = AL_CODE_NO_GIT;
    if (r < 0)
        return r;
    at->budget->exit_code = ret_result->exit_code;
    at->budget->left_ms -=
        ret_result->ran_ms < at->budget->left_ms ? ret_result->ran_ms : at->budget->left_ms - 1;
    return 0;
}

static bool add_bytes(void *payload, const char *data, size_t len)
{
    if (payload)
        al_str_add(payload, data, len);
    return true;
}

struct al_sink al_git_sink(struct al_str *text)
{
    return (struct al_sink){ add_bytes, text };
}

static bool add_text(void *payload, const char *data, size_t len)
{
    return al_text_add(payload, data, len);
}

struct al_sink al_git_text_sink(struct al_text *text)
{
    return (struct al_sink){ add_text, text };
}

/* Keep the output until the deadline as the detail of the error. */
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

/* Empty output, with the caps of the options. */
static struct al_git_output new_output(const struct al_git_command *command,
                                       const struct al_git_run *options)
{
    size_t max_bytes = options->max_bytes;
    size_t max_err_bytes = options->max_err_bytes ? options->max_err_bytes : max_bytes;

    if (options->sink.add)
        max_err_bytes = ERR_MAX_BYTES;
    else if (al_git_class_writes(command->class) && !options->max_err_bytes &&
             max_bytes < WRITER_KEPT_BYTES)
        max_bytes = max_err_bytes = WRITER_KEPT_BYTES;
    return (struct al_git_output){
        .out = AL_TEXT_INIT(max_bytes),
        .err = AL_TEXT_INIT(max_err_bytes),
        .exit_code = -1,
    };
}

static int run_once(const struct al_location *at, const struct al_git_command *command,
                    const struct al_git_run *options, struct al_git_output *ret_output,
                    struct al_error *err)
{
    struct al_git_output output = new_output(command, options);
    struct al_sink out = { add_text, &output.out };
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    struct al_proc_result result = { .exit_code = -1 };
    int r;

    output.out.show_controls = command->show_controls;
    r = start(at, command, options->sink.add ? options->sink : out,
              (struct al_sink){ add_text, &output.err }, &result, &why);
    output.timed_out = r == AL_ERR_TIMEOUT;
    if (r < 0 && !(output.timed_out && options->may_time_out)) {
        if (output.timed_out && !options->sink.add)
            keep_partial(&output, &why);
        al_git_output_clear(&output);
        return al_error_pass(r, &why, err);
    }
    al_text_end(&output.out);
    al_text_end(&output.err);
    if (r == 0) {
        output.exit_code = result.exit_code;
        output.signal = result.signal;
        output.stopped = result.stopped;
    }
    *ret_output = output;
    return 0;
}

/* Whether the run counts as a success for `checked`. */
static bool did_well(const struct al_git_command *command, const struct al_git_run *options,
                     const struct al_git_output *output)
{
    if (options->locks & AL_LOCK_INDEX)
        return al_git_wrote_all_files(output);
    return al_git_class_writes(command->class) ? output->exit_code == 0 : al_git_read_well(output);
}

int al_git_run(const struct al_location *at, const struct al_git_command *command,
               const struct al_git_run *options, struct al_git_output *ret_output,
               struct al_error *err)
{
    /* On another index the repository's lock is no obstacle, and may be the caller's own. */
    const unsigned others = options->locks & ~(unsigned)AL_LOCK_INDEX;
    const unsigned locks = command->index ? others : options->locks;
    struct al_git_output output;
    unsigned lock;
    int r = al_git_lock_wait(at, others, at->budget, err);

    if (r == 0)
        r = run_once(at, command, options, &output, err);
    /* An agent can put the same words into a path that git prints, so attempts are limited. */
    for (int attempt = 1; r == 0 && locks && attempt < LOCK_ATTEMPTS_MAX &&
                          (lock = al_git_failed_on_lock(at, locks, &output));
         attempt++) {
        al_git_output_clear(&output);
        r = al_git_lock_wait(at, lock, at->budget, err);
        if (r == 0)
            r = run_once(at, command, options, &output, err);
    }
    if (r < 0)
        return r;
    if (options->checked && !did_well(command, options, &output)) {
        r = al_git_failed(&output, err);
        al_git_output_clear(&output);
        return r;
    }
    *ret_output = output;
    return 0;
}

int al_git_run_checked(const struct al_location *at, const struct al_git_command *command,
                       size_t max_bytes, struct al_git_output *ret_output, struct al_error *err)
{
    const struct al_git_run options = { .max_bytes = max_bytes, .checked = true };

    return al_git_run(at, command, &options, ret_output, err);
}

int al_git_read(const struct al_location *at, const struct al_git_command *command,
                struct al_sink sink, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };

    return al_git_run(at, command, &(struct al_git_run){ .sink = sink, .checked = true }, &output,
                      err);
}

int al_git_write(const struct al_location *at, struct al_git_command *command, unsigned locks,
                 struct al_error *err)
{
    const struct al_git_run options = { .locks = locks, .checked = true };
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };

    command->class = AL_GIT_WRITE;
    return al_git_run(at, command, &options, &output, err);
}

bool al_git_ask(const struct al_location *at, const struct al_git_command *command,
                size_t max_bytes, struct al_git_output *ret_output)
{
    struct al_run_limits budget = { .left_ms = ASK_MS };
    struct al_location own = *at;

    own.budget = &budget;
    return al_git_run(&own, command, &(struct al_git_run){ .max_bytes = max_bytes }, ret_output,
                      NULL) == 0 &&
           ret_output->exit_code == 0;
}

int al_git_refresh_index(const struct al_location *at, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };

    command.class = AL_GIT_WRITE;
    al_strv_adds(&command.argv, "git", "-C", at->top, "update-index", "-q", "--ignore-submodules",
                 "--refresh", NULL);
    return al_git_run(at, &command, &(struct al_git_run){ .locks = AL_LOCK_INDEX }, &output, err);
}

/* --- Deadline --- */

#define STEPS 128

struct al_deadline al_deadline_begin(struct al_run_limits *budget)
{
    return (struct al_deadline){ .budget = budget,
                                 .deadline_ms = al_clock_ms() + budget->left_ms,
                                 .total_ms = budget->left_ms };
}

void al_deadline_sync(struct al_deadline *deadline)
{
    int64_t left = deadline->deadline_ms - al_clock_ms();

    deadline->budget->left_ms = left > 0 ? (uint32_t)left : 1;
}

int al_deadline_check(struct al_deadline *deadline, struct al_error *err)
{
    deadline->steps = 0;
    if (deadline->budget->cancel && al_cancel_fired(deadline->budget->cancel))
        return al_error_set(err, AL_ERR_CANCELLED, "Cancelled");
    if (al_clock_ms() >= deadline->deadline_ms)
        return al_error_set_code(err, AL_ERR_TIMEOUT, AL_CODE_TIMEOUT,
                                 "git command timed out after %ums", (unsigned)deadline->total_ms);
    return 0;
}

int al_deadline_step(struct al_deadline *deadline, struct al_error *err)
{
    return ++deadline->steps < STEPS ? 0 : al_deadline_check(deadline, err);
}

/* --- Excerpt --- */

size_t al_git_excerpt_bytes(const struct al_run_limits *budget, size_t wanted)
{
    return budget->in_full ? AL_GIT_IN_FULL_MAX_BYTES : wanted;
}

void al_git_add_excerpt(const struct al_run_limits *budget, const char *text, size_t len, bool more,
                        struct al_str *out)
{
    if (!budget->in_full) {
        al_text_add_excerpt(out, text, len, more);
        return;
    }
    al_text_sanitize_shown(text, len, out);
    if (more && out->len && out->buf[out->len - 1] != '\n')
        al_str_addc(out, '\n');
    al_text_add_remaining(out, 0, more);
}
