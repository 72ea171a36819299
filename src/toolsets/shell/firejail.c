// SPDX-License-Identifier: Apache-2.0
/*
 * Run a plan in firejail: its words, quoted, as one line for a bash inside firejail.
 *
 * firejail is set-uid root, so it runs without no_new_privs, Landlock and seccomp; the confinement
 * is firejail's alone.  Redirects are checked and opened once here, but bash opens them again for
 * the command.
 */
#include "toolsets/shell/firejail.h"

#include "gitops/readonly/pipeline_git.h"
#include "guard/root.h"
#include "toolsets/shell/parse.h"
#include "toolsets/shell/plan.h"
#include "toolsets/shell/rules.h"
#include "toolsets/shell/run.h"
#include "toolsets/shell/state.h"

static bool add_text(void *payload, const char *data, size_t len)
{
    return al_text_add(payload, data, len);
}

static int open_once(const char *given, const struct al_redirect *redirect,
                     enum al_redirect_mode mode, struct al_error *err)
{
    al_auto(al_closep) int fd = -1;

    return given ? al_redirect_open(redirect, mode, &fd, err) : 0;
}

static int check_redirects(const struct al_shell_plan *plan, struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < plan->nsteps && r == 0; i++) {
        const struct al_shell_step *step = &plan->steps[i];
        const struct al_shell_redirects *to = step->redirects;

        r = open_once(to->in, &step->in, AL_REDIRECT_READ, err);
        if (r == 0)
            r = open_once(to->out, &step->out,
                          to->append_out ? AL_REDIRECT_APPEND : AL_REDIRECT_WRITE, err);
        if (r == 0)
            r = open_once(to->err, &step->err,
                          to->append_err ? AL_REDIRECT_APPEND : AL_REDIRECT_WRITE, err);
    }
    return r;
}

/* Replace the words of git commands by hardened ones.  git's hardened environment then applies to
 * every program of the line. */
static int harden_git(struct al_shell_plan *plan, const struct al_repo *repo, uint32_t left_ms,
                      struct al_git_pipeline *git, struct al_error *err)
{
    for (size_t i = 0; i < plan->nsteps; i++) {
        struct al_shell_step *step = &plan->steps[i];
        struct al_git_pipeline stage = AL_GIT_PIPELINE_INIT;
        int r;

        if (step->kind != AL_SHELL_GIT || !repo)
            continue;
        r = al_git_pipeline_open(repo, &step->words, left_ms, &stage, err);
        if (r < 0)
            return r;
        al_strv_clear(&step->words);
        step->words = stage.argv;
        stage.argv = AL_STRV_INIT;
        al_git_pipeline_close(git);
        *git = stage;
    }
    return 0;
}

int al_shell_run_firejail(struct al_shell *shell, struct al_shell_plan *plan,
                          const struct al_repo *repo, struct al_run_limits *budget,
                          struct al_shell_outcome *outcome, struct al_error *err)
{
    const struct al_root *root = &shell->options.roots->items[0];
    al_auto(al_git_pipeline_close) struct al_git_pipeline git = AL_GIT_PIPELINE_INIT;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    al_auto(al_freep) char *whitelist = al_asprintf("--whitelist=%s", root->path);
    const char *argv[] = { "firejail",
                           "--quiet", /* firejail's messages would be mixed with the output */
                           "--noprofile",
                           "--private-tmp",
                           "--private-dev",
                           "--noroot",
                           "--net=none",
                           whitelist,
                           "--",
                           "bash",
                           "-c",
                           NULL,
                           NULL };
    struct al_proc_result result;
    int r = check_redirects(plan, err);

    if (r == 0)
        r = harden_git(plan, repo, budget->left_ms, &git, err);
    if (r < 0)
        return r;
    al_shell_plan_quote(plan, &line);
    argv[AL_COUNT(argv) - 2] = line.buf;
    r = al_proc_run_pipeline(
        &(struct al_proc_spec){
            .program = shell->firejail,
            .argv = argv,
            .envp = git.env.count ? git.env.entries : (const char *const *)shell->env.items,
            .cwd_fd = root->fd,
            .out = { add_text, &outcome->out },
            .err = { add_text, &outcome->err },
            .sandbox = &(struct al_confinement){ .keep_setuid = true },
            .cancel = budget->cancel,
            .timeout_ms = budget->left_ms,
        },
        1, &result, err);
    if (r < 0)
        return r;
    outcome->exit_code = al_shell_code_of(&result);
    outcome->stopped = result.stopped;
    return 0;
}
