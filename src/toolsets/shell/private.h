// SPDX-License-Identifier: Apache-2.0
/* What the files of this folder share and nobody else sees. */
#ifndef AL_TOOLSETS_SHELL_PRIVATE_H
#define AL_TOOLSETS_SHELL_PRIVATE_H

#include <pthread.h>

#include "gitops/repo/repo.h"
#include "guard/redirect.h"
#include "guard/text.h"
#include "proc/proc.h"
#include "toolsets/shell/parse.h"
#include "toolsets/shell/rules.h"
#include "toolsets/shell/shell.h"

_Static_assert(AL_SHELL_STAGES_MAX == AL_PIPELINE_MAX, "what is parsed is what can run");

/** A program of the pipeline and what it may touch; remembered. */
struct al_shell_program {
    struct al_shell_program *next;
    char *name;                 /* as on the command line */
    char *path;                 /* NULL: there is none */
    struct al_ruleset *ruleset; /* NULL: no Landlock */
    enum al_shell_kind kind;
};

/** See shell.h. */
struct al_shell {
    struct al_shell_options options;
    enum al_isolation isolation; /* never AUTO */
    char *firejail;              /* its path, for AL_ISOLATION_FIREJAIL */
    char *work;                  /* <state>/shell: what compilers need to write */
    struct al_strv env;          /* of every program */
    struct al_strv go_env;       /* and of go */
    pthread_mutex_t lock;        /* guards the list */
    struct al_shell_program *programs;
};

/** Whether commands run, or are shown only. */
bool al_shell_is_live(const struct al_shell *shell);

/** What holds the programs, for the journal; a constant. */
const char *al_shell_confinement(const struct al_shell *shell);

/** profile.c: the environment of programs. */
void al_shell_make_env(struct al_shell *shell);

/**
 * profile.c: find a program and what it may touch.  A ruleset that went stale is built anew.
 *
 * @param[out] ret_path     NULL when there is no such program; borrowed from the shell.
 * @param[out] ret_ruleset  NULL without Landlock; borrowed.
 */
int al_shell_find(struct al_shell *shell, const char *name, const char **ret_path,
                  const struct al_ruleset **ret_ruleset, struct al_error *err);

void al_shell_program_free(struct al_shell_program *program);

/** profile.c: the limits of a program that has this much time. */
struct al_limits al_shell_limits(enum al_shell_kind kind, uint32_t left_ms);

/** outputs.c: AL_ERR_SANDBOX for words by which go would write outside the root. */
int al_shell_check_outputs(const struct al_root *root, const struct al_strv *words,
                           struct al_error *err);

/* plan.c */

/** One command, checked and with its patterns expanded. */
struct al_shell_step {
    enum al_shell_kind kind;
    struct al_strv words;
    const struct al_shell_redirects *redirects; /* of the plan's line */
    struct al_redirect in, out, err; /* the same, checked; without a name as given: none */
};

/** A line as it would run.  It is made once a call: what was checked is what runs. */
struct al_shell_plan {
    struct al_shell_line line;
    struct al_shell_step steps[AL_SHELL_STAGES_MAX];
    size_t nsteps;
};

#define AL_SHELL_PLAN_INIT ((struct al_shell_plan){ .line = { .stages = NULL } })

void al_shell_plan_clear(struct al_shell_plan *plan);

/**
 * From a line to what would run: parsed, every command on the whitelist, its words within the
 * rules before and after patterns were expanded, redirects below the root, in directories that are
 * held from then on.
 *
 * @return 0, AL_ERR_BAD_ARGS or AL_ERR_SANDBOX.
 */
int al_shell_plan(const struct al_shell *shell, const char *command, struct al_shell_plan *ret_plan,
                  struct al_error *err);

/** The plan as a line for bash, every word quoted. */
void al_shell_plan_quote(const struct al_shell_plan *plan, struct al_str *out);

/** builtin.c: what echo says, as bash has it built in; its exit code. */
int al_shell_echo(const struct al_strv *words, struct al_str *out);

/** builtin.c: what pwd says in a directory. */
int al_shell_pwd(const struct al_strv *words, const char *dir, struct al_str *out,
                 struct al_str *errors);

/* run.c */

/** How a run ended. */
struct al_shell_outcome {
    struct al_text out, err;
    int exit_code; /* the last command's, as bash has it; -1 after a timeout */
    bool timed_out, stopped;
};

void al_shell_outcome_clear(struct al_shell_outcome *outcome);

/** As bash has it: 128 and the signal's number.  A command that was stopped because nobody wanted
 * more of its output is none that failed. */
int al_shell_code_of(const struct al_proc_result *result);

/**
 * Run a plan in the first root.  It may change the plan's words.
 *
 * @param repo  The repository the root is in, NULL for none: for git.
 * @return 0, also for commands that fail and for a timeout; AL_ERR_CANCELLED; AL_ERR_EXECUTION,
 *         AL_ERR_SANDBOX when a redirect or a program could not be opened.
 */
int al_shell_run(struct al_shell *shell, struct al_shell_plan *plan, const struct al_repo *repo,
                 struct al_run_limits *budget, size_t max_bytes,
                 struct al_shell_outcome *ret_outcome, struct al_error *err);

/** explain.c: whether the exit code says that a search found nothing. */
bool al_shell_found_nothing(const struct al_shell_plan *plan, int exit_code);

/** explain.c: name what was refused to programs that say "Permission denied" alone. */
void al_shell_add_refused(const struct al_shell *shell, const struct al_shell_plan *plan,
                          struct al_text *errors);

/** firejail.c: the same through firejail; fills the outcome, and is AL_ERR_TIMEOUT after one. */
int al_shell_run_firejail(struct al_shell *shell, struct al_shell_plan *plan,
                          const struct al_repo *repo, struct al_run_limits *budget,
                          struct al_shell_outcome *outcome, struct al_error *err);

#endif
