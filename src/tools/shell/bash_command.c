// SPDX-License-Identifier: Apache-2.0
/*
 * bash_command: show a pipeline of whitelisted commands, or run it if the session allows that.
 *
 * A stage is an external program or a builtin whose output is already known.  A command that does
 * not exist, and git outside of a repository, count as builtins that print an error.
 *
 *   program | program   joined by a pipe (proc/pipeline.c)
 *   builtin | program   the builtin's output is the program's input
 *   program | builtin   the program writes to a closed pipe, since a builtin reads nothing
 */
#include "tools/shell/private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/utf8.h"
#include "call/call.h"
#include "git/readonly/readonly_commands.h"
#include "git/run.h"
#include "guard/env.h"
#include "guard/path.h"
#include "tools/words.h"

/* --- The shell of a session --- */

/* Choose an isolation that is available: the configured one, else Landlock, else firejail, else
 * none. */
static int choose_isolation(struct al_shell *shell, struct al_error *err)
{
    const struct al_shell_options *options = &shell->options;
    const enum al_isolation best = al_confine_abi() > 0 ? AL_ISOLATION_LANDLOCK : AL_ISOLATION_NONE;

    shell->isolation = options->isolation;
    if (options->isolation == AL_ISOLATION_NONE)
        return 0;
    if (options->isolation == AL_ISOLATION_LANDLOCK && best == AL_ISOLATION_NONE)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "[tools.shell] isolation is 'landlock', and this kernel has none");
    shell->isolation = best;
    if (best != AL_ISOLATION_NONE && options->isolation != AL_ISOLATION_FIREJAIL)
        return 0;
    shell->firejail = al_program_find("firejail", options->path_list, options->roots);
    if (shell->firejail)
        shell->isolation = AL_ISOLATION_FIREJAIL;
    else if (options->live)
        al_log_note("Warning: firejail not installed, running without isolation");
    return 0;
}

static void make_env(const struct al_shell *shell, bool is_go, struct al_strv *env)
{
    al_strv_adds(env, "PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "TERM=dumb", NULL);
    if (is_go)
        al_strv_adds(env, "GOPROXY=off", "GOTOOLCHAIN=local", "CGO_ENABLED=0", "GOENV=off",
                     "GOSUMDB=off", "GOFLAGS=-buildvcs=false", NULL);
    al_strv_addf(env, "HOME=%s%s", is_go ? shell->work_dir : "/nonexistent", is_go ? "/home" : "");
    al_strv_addf(env, "TMPDIR=%s/tmp", shell->work_dir);
    al_env_add_allowed(env, shell->options.env_allow, shell->options.environ_);
    if (!is_go)
        return;
    al_strv_addf(env, "GOCACHE=%s/gocache", shell->work_dir);
    al_strv_addf(env, "GOTMPDIR=%s/tmp", shell->work_dir);
    al_strv_addf(env, "GOPATH=%s/gopath", shell->work_dir);
}

int al_shell_new(const struct al_shell_options *options, struct al_shell **ret_shell,
                 struct al_error *err)
{
    struct al_shell *shell = al_calloc(1, sizeof(*shell));
    int r;

    shell->options = *options;
    shell->work_dir = al_fs_join(options->state_dir, "shell");
    make_env(shell, false, &shell->env);
    make_env(shell, true, &shell->go_env);
    r = choose_isolation(shell, err);
    if (r < 0)
        al_shell_free(shell);
    else
        *ret_shell = shell;
    return r;
}

void al_shell_free(struct al_shell *shell)
{
    if (!shell)
        return;
    al_strv_clear(&shell->env);
    al_strv_clear(&shell->go_env);
    free(shell->firejail);
    free(shell->work_dir);
    free(shell);
}

/* --- echo and pwd, with the behaviour of bash's builtins --- */

/* Whether a word is an option of echo, such as "-n" or "-neE". */
static bool is_echo_option(const char *word)
{
    return word[0] == '-' && word[1] && !word[1 + strspn(word + 1, "neE")];
}

/* Append the character of a numeric escape: 0, x, u or U and digits.  NULL: there are no digits. */
static const char *take_numeric(const char *at, struct al_str *out)
{
    const bool octal = *at == '0';
    const size_t most = octal ? 3 : *at == 'x' ? 2 : *at == 'u' ? 4 : 8;
    const size_t have = strspn(at + 1, octal ? "01234567" : "0123456789abcdefABCDEF");
    const size_t len = have < most ? have : most;
    al_auto(al_freep) char *digits = al_strndup(at + 1, len);
    const unsigned long long c = strtoull(digits, NULL, octal ? 8 : 16);

    if (!len && !octal)
        return NULL;
    if (octal || *at == 'x')
        al_str_addc(out, (char)(c & 0xff));
    else
        al_utf8_add((uint32_t)c, out);
    return at + 1 + len;
}

/* Append the character of the escape after a backslash.  Returns its end; NULL for `\c`, which ends
 * the output. */
static const char *take_escape(const char *at, struct al_str *out)
{
    static const char letters[] = "abeEfnrtv\\";
    static const char meant[] = "\a\b\033\033\f\n\r\t\v\\";
    const char *known = *at ? strchr(letters, *at) : NULL;
    const char *after = NULL;

    if (*at == 'c')
        return NULL;
    if (known) {
        al_str_addc(out, meant[known - letters]);
        return at + 1;
    }
    if (*at && strchr("0xuU", *at))
        after = take_numeric(at, out);
    if (after)
        return after;
    al_str_addc(out, '\\');
    return at;
}

/* Append a word with its escapes replaced.  Returns false after `\c`. */
static bool add_escaped(const char *word, struct al_str *out)
{
    while (*word) {
        if (*word != '\\') {
            al_str_addc(out, *word++);
            continue;
        }
        word = take_escape(word + 1, out);
        if (!word)
            return false;
    }
    return true;
}

/* Run echo; the words begin with the command. */
static void shell_echo(const struct al_strv *words, struct al_str *out)
{
    bool newline = true, escapes = false;
    size_t at = 1;

    for (; at < words->count && is_echo_option(words->items[at]); at++)
        for (const char *letter = words->items[at] + 1; *letter; letter++) {
            newline &= *letter != 'n';
            escapes = *letter == 'e' || (escapes && *letter != 'E');
        }
    for (size_t i = at; i < words->count; i++) {
        if (i > at)
            al_str_addc(out, ' ');
        if (!escapes)
            al_str_adds(out, words->items[i]);
        else if (!add_escaped(words->items[i], out))
            return;
    }
    if (newline)
        al_str_addc(out, '\n');
}

/* Run pwd in the directory `dir`.  Returns its exit code. */
static int shell_pwd(const struct al_strv *words, const char *dir, struct al_str *out,
                     struct al_str *errors)
{
    for (size_t i = 1; i < words->count; i++) {
        const char *word = words->items[i];
        size_t good = 1 + strspn(word + 1, "LP");

        if (word[0] != '-' || !word[1] || !strcmp(word, "--"))
            break;
        if (word[good]) {
            al_str_addf(errors, "pwd: -%c: invalid option\npwd: usage: pwd [-LP]\n", word[good]);
            return 2;
        }
    }
    al_str_addf(out, "%s\n", dir);
    return 0;
}

_Static_assert(AL_SHELL_STAGES_MAX == AL_PIPELINE_MAX, "every plan fits into one pipeline");

#define NOT_FOUND_CODE   127
#define GIT_FATAL_CODE   128

#define ERRORS_MAX_BYTES (64u * 1024u)

/* A stage that is being run. */
struct stage {
    const struct al_shell_step *step;
    bool builtin;           /* no program was added for it */
    struct al_str out, err; /* a builtin's output */
    int code;
    int fds[AL_SHELL_STREAMS]; /* redirects; -1: not redirected */
    int closed_pipe_fd;        /* write end of a pipe without a reader; -1: none */
    struct al_git_pipeline git;
    char *program; /* NULL: there is no such program */
    struct al_confinement sandbox;
    size_t spec; /* index of a program in struct run's specs */
};

struct run {
    const struct al_shell *shell;
    const struct al_repo *repo;
    struct al_run_limits *budget;
    struct stage stages[AL_SHELL_STAGES_MAX];
    size_t count;
    struct al_proc_spec specs[AL_SHELL_STAGES_MAX];
    size_t nspecs;
    struct al_strv firejail; /* its words */
    struct al_text out, err;
    int exit_code; /* the last command's; -1 after a timeout */
};

static void run_clear(struct run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        struct stage *stage = &run->stages[i];

        al_str_clear(&stage->out);
        al_str_clear(&stage->err);
        for (size_t k = 0; k < AL_SHELL_STREAMS; k++)
            al_closep(&stage->fds[k]);
        al_closep(&stage->closed_pipe_fd);
        al_ruleset_free(stage->sandbox.ruleset_fd);
        free(stage->program);
        al_git_pipeline_close(&stage->git);
    }
    al_strv_clear(&run->firejail);
    al_text_clear(&run->out);
    al_text_clear(&run->err);
}

/* Add a stage, and open the files that its streams are redirected to. */
static int add_stage(struct run *run, const struct al_shell_step *step, struct al_error *err)
{
    struct stage *stage = &run->stages[run->count++];
    int r = 0;

    *stage = (struct stage){ .step = step,
                             .builtin = true,
                             .out = AL_STR_INIT,
                             .err = AL_STR_INIT,
                             .fds = { -1, -1, -1 },
                             .closed_pipe_fd = -1,
                             .git = AL_GIT_PIPELINE_INIT };
    for (int i = 0; i < AL_SHELL_STREAMS && r == 0; i++)
        if (step->files[i])
            r = al_redirect_open(&step->to[i],
                                 i == STDIN_FILENO  ? AL_REDIRECT_READ
                                 : step->appends[i] ? AL_REDIRECT_APPEND
                                                    : AL_REDIRECT_WRITE,
                                 &stage->fds[i], err);
    return r;
}

/* --- Builtins --- */

/* Write a builtin's output to its redirects.  Output without a redirect stays in `out`, where
 * stderr joined by 2>&1 follows stdout. */
static int deliver_output(struct run *run, struct stage *stage, struct al_error *err)
{
    int r = 0;

    if (stage->step->join && stage->err.len) {
        al_str_add(&stage->out, stage->err.buf, stage->err.len);
        al_str_clear(&stage->err);
    }
    if (stage->fds[STDERR_FILENO] >= 0)
        r = al_write_all(stage->fds[STDERR_FILENO], stage->err.buf, stage->err.len);
    else
        (void)al_text_add(&run->err, stage->err.buf, stage->err.len);
    if (r == 0 && stage->fds[STDOUT_FILENO] >= 0) {
        r = al_write_all(stage->fds[STDOUT_FILENO], stage->out.buf, stage->out.len);
        al_str_clear(&stage->out);
    }
    return r < 0 ? al_error_errno(err, -r, "cannot write") : 0;
}

/* --- The profile that a program is started with --- */

#define DATA_MAX_BYTES (2ull << 30)
#define FILE_MAX_BYTES (1ull << 30)
#define FILES_MAX      256u
#define GO_FILES_MAX   1024u

/* Add rules for the roots that the grant allows to read.  Only the first one may be written. */
static void add_roots(struct al_confine_rules *rules, const struct al_shell *shell, bool writes)
{
    const struct al_roots *roots = shell->options.roots;

    for (size_t i = 0; i < roots->count; i++) {
        unsigned rights = AL_RIGHT_READ | (writes && i == 0 ? AL_RIGHT_WRITE : 0);

        if (!al_root_is_released(&roots->items[i]) &&
            al_grant_check_dir(shell->options.grant, roots->items[i].path, false, NULL) == 0)
            al_confine_add_fd(rules, roots->items[i].path, roots->items[i].fd, rights);
    }
}

static int build_ruleset(const struct al_shell *shell, struct stage *stage, struct al_error *err)
{
    /* The places of programs and libraries.  No file with data about the user is there. */
    static const char *const readable[] = {
        "/usr",           "/bin",         "/lib",      "/lib64", "/etc/ld.so.cache",
        "/etc/localtime", "/dev/urandom", "/dev/zero",
    };
    const bool is_go = stage->step->kind == AL_SHELL_GO;
    const bool writes = is_go || stage->step->kind == AL_SHELL_OTHER;
    al_auto(al_freep) char *interp = al_program_interpreter(stage->program);
    al_auto(al_freep) char *tmp = al_fs_join(shell->work_dir, "tmp");
    /* Of go, whose program is <go_root>/bin/go: with compiler and linker. */
    al_auto(al_freep) char *go_root = al_asprintf(
        "%.*s/..", (int)(strrchr(stage->program, '/') - stage->program), stage->program);
    al_auto(al_freep) char *tools = al_fs_join(go_root, "pkg/tool");
    al_auto(al_confine_rules_clear) struct al_confine_rules rules = { .count = 0 };

    al_confine_add(&rules, stage->program, AL_RIGHT_EXECUTE | AL_RIGHT_READ, false);
    al_confine_add(&rules, interp, AL_RIGHT_EXECUTE | AL_RIGHT_READ, false);
    al_confine_add_all(&rules, readable, AL_COUNT(readable), AL_RIGHT_READ);
    al_confine_add(&rules, "/dev/null", AL_RIGHT_READ | AL_RIGHT_WRITE_FILE, false);
    if (is_go) { /* it runs what it builds: no others may write what they execute */
        al_confine_add(&rules, go_root, AL_RIGHT_READ, true);
        al_confine_add(&rules, tools, AL_RIGHT_READ | AL_RIGHT_EXECUTE_BENEATH, true);
        al_confine_add(&rules, shell->work_dir,
                       AL_RIGHT_READ | AL_RIGHT_WRITE | AL_RIGHT_EXECUTE_BENEATH, false);
    } else if (writes)
        al_confine_add(&rules, tmp, AL_RIGHT_READ | AL_RIGHT_WRITE, false);
    add_roots(&rules, shell, writes);
    return al_ruleset_new(rules.items, rules.count, false, &stage->sandbox.ruleset_fd, err);
}

static int make_directories(const struct al_shell *shell, struct al_error *err)
{
    static const char *const names[] = { "home", "tmp", "gocache", "gopath" };

    for (size_t i = 0; i < AL_COUNT(names); i++) {
        al_auto(al_freep) char *path = al_fs_join(shell->work_dir, names[i]);
        int r = al_fs_mkdirs(path, 0700);

        if (r < 0)
            return al_error_errno(err, -r, "cannot make '%s'", path);
    }
    return 0;
}

/* Find the program of a stage, and build its ruleset.  `program` stays NULL: there is none. */
static int find_program(const struct run *run, struct stage *stage, struct al_error *err)
{
    const struct al_shell *shell = run->shell;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int r = 0;

    stage->program = al_program_find(stage->step->words.items[0], shell->options.path_list,
                                     shell->options.roots);
    stage->sandbox = (struct al_confinement){
        .no_sockets = true,
        .limits = { .data_bytes = DATA_MAX_BYTES,
                    .cpu_s =
                        (uint64_t)run->budget->left_ms / 1000 * (uint64_t)(cores > 0 ? cores : 1) +
                        5,
                    .fsize_bytes = FILE_MAX_BYTES,
                    .nofile = stage->step->kind == AL_SHELL_GO ? GO_FILES_MAX : FILES_MAX },
    };
    if (!stage->program || shell->isolation != AL_ISOLATION_LANDLOCK)
        return 0;
    r = make_directories(shell, err);
    return r < 0 ? r : build_ruleset(shell, stage, err);
}

/* --- Programs --- */

static struct al_proc_spec *add_spec(struct run *run, struct stage *stage)
{
    struct al_proc_spec *spec = &run->specs[run->nspecs];

    stage->builtin = false;
    stage->spec = run->nspecs;
    *spec = (struct al_proc_spec){
        .cwd_fd = run->shell->options.roots->items[0].fd,
        .err = al_git_text_sink(&run->err),
        .sandbox = &stage->sandbox,
        .cancel = run->budget->cancel,
        .timeout_ms = run->budget->left_ms,
        .err_to_out = stage->step->join,
    };
    run->nspecs++;
    return spec;
}

static int add_git(struct run *run, struct stage *stage, struct al_error *err)
{
    struct al_proc_spec *spec;
    int r;

    if (!run->repo) {
        al_str_adds(&stage->err, "fatal: not a git repository (or any of the parent "
                                 "directories): .git\n");
        stage->code = GIT_FATAL_CODE;
        return 0;
    }
    r = al_git_pipeline_open(run->repo, &stage->step->words, &stage->git, err);
    if (r < 0)
        return r;
    spec = add_spec(run, stage);
    spec->program = stage->git.child.spec.program;
    spec->argv = (const char *const *)stage->git.argv.items;
    spec->envp = stage->git.child.spec.envp;
    spec->sandbox = &stage->git.child.sandbox;
    return 0;
}

static int add_program(struct run *run, struct stage *stage, struct al_error *err)
{
    const struct al_shell_step *step = stage->step;
    struct al_proc_spec *spec;
    int r = find_program(run, stage, err);

    if (r < 0)
        return r;
    if (!stage->program) {
        al_str_addf(&stage->err, "%s: command not found\n", step->words.items[0]);
        stage->code = NOT_FOUND_CODE;
        return 0;
    }
    spec = add_spec(run, stage);
    spec->program = stage->program;
    spec->argv = (const char *const *)step->words.items;
    spec->envp = (const char *const *)(step->kind == AL_SHELL_GO ? run->shell->go_env.items
                                                                 : run->shell->env.items);
    return 0;
}

static int prepare(struct run *run, struct stage *stage, struct al_error *err)
{
    const struct al_strv *words = &stage->step->words;
    const enum al_shell_kind kind = stage->step->kind;
    int r = 0;

    if (kind == AL_SHELL_ECHO)
        shell_echo(words, &stage->out);
    else if (kind == AL_SHELL_PWD)
        stage->code =
            shell_pwd(words, run->shell->options.roots->items[0].path, &stage->out, &stage->err);
    else
        r = kind == AL_SHELL_GIT ? add_git(run, stage, err) : add_program(run, stage, err);
    return r == 0 && stage->builtin ? deliver_output(run, stage, err) : r;
}

/* Lead the streams of a program to files, pipes and the outputs of builtins. */
static int connect(struct run *run, size_t i, struct al_error *err)
{
    struct stage *stage = &run->stages[i], *next = i + 1 < run->count ? stage + 1 : NULL;
    const struct stage *before = i ? stage - 1 : NULL;
    struct al_proc_spec *spec = &run->specs[stage->spec];
    int ends[2];

    if (stage->fds[STDIN_FILENO] >= 0) {
        spec->in_fd = stage->fds[STDIN_FILENO];
    } else if (before && (before->builtin || before->fds[STDOUT_FILENO] >= 0)) {
        /* A redirected stage gives no input. */
        spec->input = before->out.buf;
        spec->input_len = before->out.len;
    }
    if (stage->fds[STDOUT_FILENO] >= 0) {
        spec->out_fd = stage->fds[STDOUT_FILENO];
    } else if (next && (next->builtin || next->fds[STDIN_FILENO] >= 0)) {
        /* A program that writes to a pipe without a reader ends by SIGPIPE, as in bash. */
        if (pipe2(ends, O_CLOEXEC) < 0)
            return al_error_errno(err, errno, "cannot create a pipe");
        al_close(ends[0]);
        spec->out_fd = stage->closed_pipe_fd = ends[1];
    } else if (!next) {
        spec->out = al_git_text_sink(&run->out);
    }
    if (stage->fds[STDERR_FILENO] >= 0)
        spec->err_fd = stage->fds[STDERR_FILENO];
    return 0;
}

/* --- firejail --- */

/*
 * In firejail the words of a plan, quoted, are one line for a bash.
 *
 * firejail is set-uid root, so it runs without no_new_privs, Landlock and seccomp; the confinement
 * is firejail's alone.  Redirects are checked and opened as ever, but bash opens them again for the
 * command.
 */

/* Replace the words of git commands by hardened ones.  git's hardened environment then applies to
 * every program of the line. */
static int harden_git(struct al_shell_plan *plan, const struct al_repo *repo,
                      struct al_git_pipeline *git, struct al_error *err)
{
    for (size_t i = 0; i < plan->nsteps; i++) {
        struct al_shell_step *step = &plan->steps[i];
        int r;

        if (step->kind != AL_SHELL_GIT || !repo)
            continue;
        al_git_pipeline_close(git);
        r = al_git_pipeline_open(repo, &step->words, git, err);
        if (r < 0)
            return r;
        al_strv_clear(&step->words);
        step->words = git->argv;
        git->argv = AL_STRV_INIT;
    }
    return 0;
}

/* Append the plan as a line for bash, every word quoted. */
static void quote(const struct al_shell_plan *plan, struct al_str *out)
{
    static const char *const signs[][2] = { { " < " }, { " > ", " >> " }, { " 2> ", " 2>> " } };

    for (size_t i = 0; i < plan->nsteps; i++) {
        const struct al_shell_step *step = &plan->steps[i];

        al_str_adds(out, i ? " | " : "");
        for (size_t k = 0; k < step->words.count; k++) {
            al_str_adds(out, k ? " " : "");
            al_text_add_quoted(step->words.items[k], out);
        }
        for (size_t k = 0; k < AL_SHELL_STREAMS; k++)
            if (step->files[k]) {
                al_str_adds(out, signs[k][step->appends[k]]);
                al_text_add_quoted(step->files[k], out);
            }
        al_str_adds(out, step->join ? " 2>&1" : "");
    }
}

static int add_firejail(struct run *run, struct al_shell_plan *plan, struct al_error *err)
{
    struct stage *stage = &run->stages[run->count - 1];
    struct al_proc_spec *spec = add_spec(run, stage);
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    int r = harden_git(plan, run->repo, &stage->git, err);

    if (r < 0)
        return r;
    quote(plan, &line);
    /* firejail's messages would be mixed with the output. */
    al_strv_adds(&run->firejail, "firejail", "--quiet", "--noprofile", "--private-tmp",
                 "--private-dev", "--noroot", "--net=none", NULL);
    al_strv_addf(&run->firejail, "--whitelist=%s", run->shell->options.roots->items[0].path);
    al_strv_adds(&run->firejail, "--", "bash", "-c", line.buf, NULL);
    spec->program = run->shell->firejail;
    spec->argv = (const char *const *)run->firejail.items;
    spec->envp = (const char *const *)(stage->git.child.env.count ? stage->git.child.env.items
                                                                  : run->shell->env.items);
    spec->out = al_git_text_sink(&run->out);
    spec->err_to_out = false; /* the line says it */
    stage->sandbox.keep_setuid = true;
    return 0;
}

static int start(struct run *run, struct al_error *err)
{
    const struct stage *last = &run->stages[run->count - 1];
    struct al_proc_result results[AL_SHELL_STAGES_MAX];
    int r = run->nspecs ? al_proc_run_pipeline(run->specs, run->nspecs, results, err) : 0;

    if (r < 0)
        return r;
    if (last->builtin) {
        (void)al_text_add(&run->out, last->out.buf, last->out.len);
        run->exit_code = last->code;
    } else {
        const struct al_proc_result *result = &results[last->spec];

        /* The exit code is as bash reports it.  A program that was stopped at the output limit
         * counts as successful. */
        run->exit_code = result->stopped  ? 0
                         : result->signal ? 128 + result->signal
                                          : result->exit_code;
    }
    return 0;
}

/* --- The reason for a failure, where the program's own message does not tell --- */

#define DENIED    "Permission denied"
#define NAMED_MAX 5

/* Whether the errors mention an argument that is a path outside the roots.  System files that every
 * program may read do not count. */
static bool was_refused(const struct al_shell *shell, const char *word, const char *errors)
{
    static const char *const readable[] = { "/usr/", "/bin/", "/lib/", "/lib64/", "/dev/" };
    const struct al_roots *roots = shell->options.roots;
    al_auto(al_path_clear) struct al_path path = AL_PATH_INIT;

    if (!*word || *word == '-' || !strstr(errors, word))
        return false;
    for (size_t i = 0; i < AL_COUNT(readable); i++)
        if (al_starts_with(word, readable[i]))
            return false;
    return al_path_resolve(roots, roots->items[0].path, word, &path, NULL) == AL_ERR_SANDBOX;
}

/* Append to `errors` which arguments lie outside the roots, if a program reported "Permission
 * denied" for them. */
static void add_refused(const struct al_shell *shell, const struct al_shell_plan *plan,
                        struct al_text *errors)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    if (shell->isolation != AL_ISOLATION_LANDLOCK || !strstr(errors->out.buf, DENIED))
        return;
    for (size_t i = 0; i < plan->nsteps; i++) {
        const struct al_strv *words = &plan->steps[i].words;

        for (size_t k = 1; k < words->count; k++)
            if (!al_strv_contains(&names, words->items[k]) &&
                was_refused(shell, words->items[k], errors->out.buf))
                al_strv_add(&names, words->items[k]);
    }
    if (!names.count)
        return;
    al_str_adds(&line, "airlock: outside the allowed roots, so no command may read it: ");
    al_text_add_list(&line, &names, NAMED_MAX);
    al_str_addc(&line, '\n');
    (void)al_text_add(errors, line.buf, line.len);
}

/* Run a plan in the first root.  Its words may be changed.  0 also when a command fails. */
static int run_plan(struct run *run, struct al_shell_plan *plan, struct al_error *err)
{
    const bool in_firejail = run->shell->isolation == AL_ISOLATION_FIREJAIL;
    int r = 0;

    for (size_t i = 0; i < plan->nsteps && r == 0; i++)
        r = add_stage(run, &plan->steps[i], err);
    if (r == 0 && in_firejail)
        r = add_firejail(run, plan, err);
    for (size_t i = 0; !in_firejail && i < run->count && r == 0; i++)
        r = prepare(run, &run->stages[i], err);
    for (size_t i = 0; !in_firejail && i < run->count && r == 0; i++)
        r = run->stages[i].builtin ? 0 : connect(run, i, err);
    if (r == 0)
        r = start(run, err);
    al_text_end(&run->out);
    al_text_end(&run->err);
    add_refused(run->shell, plan, &run->err);
    return r;
}

/* --- The tool --- */

#define COMMAND_MAX_BYTES 16384
#define REASON_MAX_BYTES  4096

struct bash_args {
    const char *command, *reason;
};

static const struct al_param params[] = {
    AL_STRING(struct bash_args, command,
              "The command line: words, quotes, patterns, |, > >> < 2> 2>&1; no variables.",
              .flags = AL_PARAM_REQUIRED | AL_PARAM_EVERY_PATH, .min_bytes = 1,
              .max_bytes = COMMAND_MAX_BYTES),
    AL_STRING(struct bash_args, reason, "Why it is needed; recorded.", .flags = AL_PARAM_REQUIRED,
              .min_bytes = 1, .max_bytes = REASON_MAX_BYTES),
};

static bool is_live(const struct al_call *call)
{
    const struct al_shell *shell = al_call_session(call)->shell;

    return shell && shell->options.live;
}

static void free_plan(void *plan)
{
    al_shell_plan_clear(plan);
    free(plan);
}

/* Plan the command before approval.  The call keeps the plan, so that exactly what was checked is
 * run. */
static int authorize(struct al_call *call, struct al_error *err)
{
    const struct bash_args *args = al_call_args(call);
    const struct al_shell *shell = al_call_session(call)->shell;
    struct al_shell_plan *plan;

    if (!shell)
        return al_error_set(err, AL_ERR_EXECUTION, "This session has no shell");
    plan = al_calloc(1, sizeof(*plan));
    al_call_set_tool_data(call, plan, free_plan);
    return al_shell_plan(shell, args->command, plan, err);
}

/* The paths of redirects that truncate a file. */
static int overwritten_files(struct al_call *call, struct al_strv *out, struct al_error *err)
{
    const struct al_shell_plan *plan = al_call_tool_data(call);

    (void)err;
    for (size_t i = 0; is_live(call) && i < plan->nsteps; i++) {
        const struct al_shell_step *step = &plan->steps[i];

        for (size_t k = STDOUT_FILENO; k < AL_SHELL_STREAMS; k++) {
            const struct al_redirect *to = &step->to[k];
            const bool truncates = !step->appends[k] && to->name && to->dir_fd >= 0;
            al_auto(al_freep) char *dir = truncates ? al_fs_fd_path(to->dir_fd) : NULL;

            if (dir)
                al_strv_take(out, al_fs_join(dir, to->name));
        }
    }
    return 0;
}

/* Append the command, or the names of its commands, each once.  authorize() has found all of them
 * in the whitelist. */
static void trace(const struct al_call *call, bool checked, struct al_str *out)
{
    const struct al_shell_plan *plan = al_call_tool_data(call);
    const struct bash_args *args = al_call_args(call);
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    if (!checked) {
        al_str_adds(out, args->command);
        return;
    }
    for (size_t i = 0; i < plan->nsteps; i++)
        if (!al_strv_contains(&names, plan->steps[i].words.items[0]))
            al_strv_add(&names, plan->steps[i].words.items[0]);
    al_text_add_list(out, &names, AL_SHELL_STAGES_MAX);
    al_str_adds(out, " in whitelist");
}

static int64_t timeout_ms(const struct al_session *session)
{
    return session->shell ? (int64_t)session->shell->options.timeout_s * 1000
                          : session->defaults.timeout_ms;
}

static json_t *stage_object(const struct al_shell_step *step)
{
    static const char *const names[AL_SHELL_STREAMS] = { "stdin", "stdout", "stderr" };
    json_t *object = json_pack("{s:o, s:o}", "command", al_json_string(step->words.items[0]),
                               "args", al_strings_of(&step->words, 1));

    for (size_t i = 0; i < AL_SHELL_STREAMS; i++) {
        const char *path = i == STDERR_FILENO && step->join ? "&1" : step->files[i];

        if (path)
            al_json_set(object, names[i], al_json_string(path));
        if (path && step->appends[i])
            al_json_set(object, "append", al_json_bool(true));
    }
    return object;
}

static int preview(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct bash_args *args = al_call_args(call);
    const struct al_shell *shell = al_call_session(call)->shell;
    const struct al_shell_plan *plan = al_call_tool_data(call);
    json_t *stages = al_json_array(), *names = al_json_array();

    (void)err;
    for (size_t i = 0; i < plan->nsteps; i++)
        al_json_append(stages, stage_object(&plan->steps[i]));
    for (size_t i = 0; i < shell->env.count; i++) /* their values may be private */
        al_json_append(names,
                       al_json_stringn(shell->env.items[i], strcspn(shell->env.items[i], "=")));
    al_result_set_structured(
        result, json_pack("{s:b, s:o, s:o, s:o, s:o}", "dry_run", true, "command",
                          al_json_string(args->command), "stages", stages, "cwd",
                          al_json_string(shell->options.roots->items[0].path), "env", names));
    result->dry_run = true;
    return 0;
}

/* The error message of a failed run; NULL: it succeeded.  Caller frees. */
static char *failure_of(const struct run *run, const struct al_shell_plan *plan, bool timed_out)
{
    const char *last = plan->steps[plan->nsteps - 1].words.items[0];
    const bool searches = al_shell_words_list(" grep egrep fgrep rg ", last);

    if (timed_out)
        return al_asprintf("command timeout after %us", (unsigned)run->shell->options.timeout_s);
    if (run->exit_code == 0)
        return NULL;
    return al_asprintf("command failed: exit code %d%s", run->exit_code,
                       searches && run->exit_code == 1 ? " (no match)" : "");
}

static int execute(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct al_shell *shell = al_call_session(call)->shell;
    struct al_shell_plan *plan = al_call_tool_data(call);
    al_auto(run_clear) struct run run = {
        .shell = shell,
        .repo = al_call_repo(call),
        .budget = al_call_budget(call),
        .out = AL_TEXT_INIT(al_call_max_bytes(call)),
        .err = AL_TEXT_INIT(ERRORS_MAX_BYTES),
        .exit_code = -1,
    };
    struct al_str *out = &run.out.out, *errors = &run.err.out;
    al_auto(al_freep) char *error = NULL;
    int64_t began_ms = al_clock_ms();
    int r;

    result->confinement = shell->isolation == AL_ISOLATION_FIREJAIL ? "firejail"
                          : shell->isolation == AL_ISOLATION_NONE   ? "seccomp"
                                                                    : NULL; /* that of git */
    run.budget->left_ms = shell->options.timeout_s * 1000;
    r = run_plan(&run, plan, err);
    if (r < 0 && r != AL_ERR_TIMEOUT)
        return r;
    result->truncated = al_text_truncate(out, run.out.max_bytes);
    result->truncated |= al_text_truncate(errors, run.err.max_bytes);
    error = failure_of(&run, plan, r == AL_ERR_TIMEOUT);
    al_result_set_structured(
        result, json_pack("{s:s*, s:o, s:o, s:i, s:o*}", "error", error, "stdout",
                          al_json_stringn(out->buf, out->len), "stderr",
                          al_json_stringn(errors->buf, errors->len), "exit_code", run.exit_code,
                          "duration_ms", error ? NULL : al_json_int(al_clock_ms() - began_ms)));
    result->exit_code = run.exit_code;
    if (!error)
        return 0;
    return al_error_set_code(err, r < 0 ? AL_ERR_TIMEOUT : AL_ERR_EXECUTION,
                             r < 0 ? AL_CODE_TIMEOUT : AL_CODE_NONE, "%s", error);
}

static bool is_dry(const struct al_call *call, const void *args)
{
    (void)args;
    return !is_live(call);
}

/* A redirect may overwrite a file. */
#define RUNS (AL_READS | AL_WRITES_WORKTREE | AL_DISCARDS_WORK | AL_RUNS_PROGRAM | AL_WRITES_FILES)

/* The whitelist and --tool are the user's consent, so a live call asks only if a rule says so. */
static const struct al_operation operations[] = {
    { "preview", is_dry, AL_READS, preview, AL_ASKS_NEVER },
    { "run", NULL, RUNS, execute, AL_ASKS_NEVER },
};

static void summarize(const struct al_call *call, struct al_str *out)
{
    const struct bash_args *args = al_call_args(call);

    al_str_addf(out, "%s %s (%s)", is_live(call) ? "Run" : "Preview", args->command, args->reason);
}

/* clang-format off */
static const char output_schema[] = AL_JSON([
    {
        "dry_run": true, "command": "",
        "stages": [{"command": "", "args": [""], "stdin?": "", "stdout?": "", "stderr?": "",
                    "append?": true}],
        "cwd": "", "env": [""]
    },
    {"stdout": "", "stderr": "", "exit_code": 1, "duration_ms": 1},
    {"error": "", "stdout": "", "stderr": "", "exit_code": 1}
]);
/* clang-format on */

const struct al_tool al_tool_bash_command = {
    .name = "bash_command",
    .title = "Run a command",
    .about =
        "Execute a bash command. Whitelist enforced. Shows preview in dry-run. No shell: pipes "
        "and redirects of ls, cat, grep, find, head, tail, wc, echo, pwd, date, go, and git "
        "(log, diff, show, status), unless configured otherwise.",
    AL_TOOL_ROWS(params, operations),
    .args_size = sizeof(struct bash_args),
    .at_first_root = true,
    .authorize = authorize,
    .overwritten_files = overwritten_files,
    .summarize = summarize,
    .trace = trace,
    .timeout_ms = timeout_ms,
    .output_schema = output_schema,
};
