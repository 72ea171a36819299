// SPDX-License-Identifier: Apache-2.0
/*
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

#include "base/fs.h"
#include "base/utf8.h"
#include "git/readonly/readonly_commands.h"
#include "git/run.h"
#include "guard/path.h"

/* echo and pwd, with the behaviour of bash's builtins. */

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
    struct al_shell *shell;
    const struct al_repo *repo;
    struct al_run_limits *budget;
    struct stage stages[AL_SHELL_STAGES_MAX];
    size_t count;
    struct al_proc_spec specs[AL_SHELL_STAGES_MAX];
    size_t nspecs;
    struct al_shell_outcome *outcome;
    struct al_strv firejail; /* its words */
};

void al_shell_outcome_clear(struct al_shell_outcome *outcome)
{
    al_text_clear(&outcome->out);
    al_text_clear(&outcome->err);
}

static void stage_clear(struct stage *stage)
{
    al_str_clear(&stage->out);
    al_str_clear(&stage->err);
    for (size_t i = 0; i < AL_SHELL_STREAMS; i++)
        al_closep(&stage->fds[i]);
    al_closep(&stage->closed_pipe_fd);
    al_ruleset_free(stage->sandbox.ruleset_fd);
    free(stage->program);
    al_git_pipeline_close(&stage->git);
}

/* --- Builtins --- */

/* Write a builtin's output to its redirects.  What is not redirected stays in `out`, where stderr
 * joined by 2>&1 follows stdout. */
static int deliver_output(const struct run *run, struct stage *stage, struct al_error *err)
{
    int r = 0;

    if (stage->step->join && stage->err.len) {
        al_str_add(&stage->out, stage->err.buf, stage->err.len);
        al_str_clear(&stage->err);
    }
    if (stage->fds[STDERR_FILENO] >= 0)
        r = al_write_all(stage->fds[STDERR_FILENO], stage->err.buf, stage->err.len);
    else
        (void)al_text_add(&run->outcome->err, stage->err.buf, stage->err.len);
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
    /* For programs and libraries.  No file with data about the user is there. */
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

static struct stage *add_stage(struct run *run, const struct al_shell_step *step)
{
    struct stage *stage = &run->stages[run->count++];

    *stage = (struct stage){ .step = step,
                             .builtin = true,
                             .out = AL_STR_INIT,
                             .err = AL_STR_INIT,
                             .fds = { -1, -1, -1 },
                             .closed_pipe_fd = -1,
                             .git = AL_GIT_PIPELINE_INIT };
    return stage;
}

static struct al_proc_spec *add_spec(struct run *run, struct stage *stage)
{
    struct al_proc_spec *spec = &run->specs[run->nspecs];

    stage->builtin = false;
    stage->spec = run->nspecs;
    *spec = (struct al_proc_spec){
        .cwd_fd = run->shell->options.roots->items[0].fd,
        .err = al_git_text_sink(&run->outcome->err),
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
    int r = al_shell_step_open(stage->step, stage->fds, err);

    if (r < 0)
        return r;
    switch (stage->step->kind) {
    case AL_SHELL_ECHO:
        shell_echo(words, &stage->out);
        break;
    case AL_SHELL_PWD:
        stage->code =
            shell_pwd(words, run->shell->options.roots->items[0].path, &stage->out, &stage->err);
        break;
    case AL_SHELL_GIT:
        r = add_git(run, stage, err);
        break;
    case AL_SHELL_READER:
    case AL_SHELL_GO:
    case AL_SHELL_OTHER:
        r = add_program(run, stage, err);
        break;
    }
    return r == 0 && stage->builtin ? deliver_output(run, stage, err) : r;
}

static int connect_output(struct run *run, size_t i, struct al_error *err)
{
    struct stage *stage = &run->stages[i], *next = i + 1 < run->count ? stage + 1 : NULL;
    struct al_proc_spec *spec = &run->specs[stage->spec];
    int ends[2];

    if (stage->fds[STDOUT_FILENO] >= 0) {
        spec->out_fd = stage->fds[STDOUT_FILENO];
    } else if (next && (next->builtin || next->fds[STDIN_FILENO] >= 0)) {
        /* Without a reader a program that writes to it ends by SIGPIPE, as in bash. */
        if (pipe2(ends, O_CLOEXEC) < 0)
            return al_error_errno(err, errno, "cannot create a pipe");
        al_close(ends[0]);
        spec->out_fd = stage->closed_pipe_fd = ends[1];
    } else if (!next) {
        spec->out = al_git_text_sink(&run->outcome->out);
    }
    if (stage->fds[STDERR_FILENO] >= 0)
        spec->err_fd = stage->fds[STDERR_FILENO];
    return 0;
}

static void connect_input(struct run *run, size_t i)
{
    struct stage *stage = &run->stages[i];
    const struct stage *before = i ? stage - 1 : NULL;
    struct al_proc_spec *spec = &run->specs[stage->spec];

    if (stage->fds[STDIN_FILENO] >= 0) {
        spec->in_fd = stage->fds[STDIN_FILENO];
    } else if (before && (before->builtin || before->fds[STDOUT_FILENO] >= 0)) {
        /* A redirected stage gives no input. */
        spec->input = before->out.buf;
        spec->input_len = before->out.len;
    }
}

static int connect_stages(struct run *run, struct al_error *err)
{
    for (size_t i = 0; i < run->count; i++) {
        int r;

        if (run->stages[i].builtin)
            continue;
        connect_input(run, i);
        r = connect_output(run, i, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* --- firejail --- */

/*
 * In firejail the words of a plan, quoted, are one line for a bash.
 *
 * firejail is set-uid root, so it runs without no_new_privs, Landlock and seccomp; the confinement
 * is firejail's alone.  Redirects are checked and opened once here, but bash opens them again for
 * the command.
 */

/* Open and close the files once.  bash truncates them again. */
static int check_redirects(const struct al_shell_plan *plan, struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < plan->nsteps && r == 0; i++) {
        int fds[AL_SHELL_STREAMS] = { -1, -1, -1 };

        r = al_shell_step_open(&plan->steps[i], fds, err);
        for (size_t k = 0; k < AL_SHELL_STREAMS; k++)
            al_close(fds[k]);
    }
    return r;
}

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
    struct stage *stage = add_stage(run, &plan->steps[0]);
    struct al_proc_spec *spec = add_spec(run, stage);
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    int r = check_redirects(plan, err);

    if (r == 0)
        r = harden_git(plan, run->repo, &stage->git, err);
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
    spec->out = al_git_text_sink(&run->outcome->out);
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
        (void)al_text_add(&run->outcome->out, last->out.buf, last->out.len);
        run->outcome->exit_code = last->code;
    } else {
        const struct al_proc_result *result = &results[last->spec];

        /* As bash reports it.  A program that was stopped at the output limit counts as
         * successful. */
        run->outcome->exit_code = result->stopped  ? 0
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

int al_shell_run(struct al_shell *shell, struct al_shell_plan *plan, const struct al_repo *repo,
                 struct al_run_limits *budget, size_t max_bytes,
                 struct al_shell_outcome *ret_outcome, struct al_error *err)
{
    struct al_shell_outcome outcome = { .out = AL_TEXT_INIT(max_bytes),
                                        .err = AL_TEXT_INIT(ERRORS_MAX_BYTES),
                                        .exit_code = -1 };
    struct run run = { .shell = shell, .repo = repo, .budget = budget, .outcome = &outcome };
    const bool in_firejail = shell->isolation == AL_ISOLATION_FIREJAIL;
    int r = in_firejail ? add_firejail(&run, plan, err) : 0;

    for (size_t i = 0; !in_firejail && i < plan->nsteps && r == 0; i++)
        r = prepare(&run, add_stage(&run, &plan->steps[i]), err);
    if (r == 0 && !in_firejail)
        r = connect_stages(&run, err);
    if (r == 0)
        r = start(&run, err);
    for (size_t i = 0; i < run.count; i++)
        stage_clear(&run.stages[i]);
    al_strv_clear(&run.firejail);
    al_text_end(&outcome.out);
    al_text_end(&outcome.err);
    add_refused(shell, plan, &outcome.err);
    outcome.timed_out = r == AL_ERR_TIMEOUT;
    if (r < 0 && r != AL_ERR_TIMEOUT) {
        al_shell_outcome_clear(&outcome);
        return r;
    }
    *ret_outcome = outcome;
    return 0;
}
