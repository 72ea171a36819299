// SPDX-License-Identifier: Apache-2.0
/* airlock rollback: restore the state before the last executions. */

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/history/undo.h"
#include "cli/print.h"
#include "cli/signals.h"
#include "guard/text.h"
#include "history/rollback.h"
#include "proc/cancel.h"
#include "util/fs.h"
#include "util/log.h"

/* Longer lists are cut. */
#define LISTED_MAX 100u
#define CALLS_MAX  20u

static void add_list(struct al_str *out, const char *title, const struct al_strv *names)
{
    if (!names->count)
        return;
    al_str_addf(out, "%s\n", title);
    for (size_t i = 0; i < names->count && i < LISTED_MAX; i++) {
        al_auto(al_freep) char *safe = al_text_sanitize_line(names->items[i]);

        al_str_addf(out, "  %s\n", safe);
    }
    if (names->count > LISTED_MAX)
        al_str_addf(out, "  and %zu more\n", names->count - LISTED_MAX);
}

static size_t count_files(const struct al_differences *changes)
{
    size_t count = 0;

    for (size_t i = 0; i < changes->count; i++)
        count += changes->items[i].part == AL_PART_WORKTREE;
    return count;
}

static void add_other_changes(struct al_str *out, const struct al_differences *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        if (changes->items[i].part != AL_PART_WORKTREE)
            al_undo_add_change(out, &changes->items[i]);
}

static void add_calls(struct al_str *out, const struct al_strv *calls)
{
    for (size_t i = 0; i < calls->count && i < CALLS_MAX; i++)
        al_str_addf(out, " execution: %s\n", calls->items[i]);
    if (calls->count > CALLS_MAX)
        al_str_addf(out, " and %zu more executions\n", calls->count - CALLS_MAX);
}

/* A push is no step of a rollback: what is known of the remote stays, as the remote does. */
static void add_pushed(struct al_str *out, const struct al_rollback *rollback)
{
    if (rollback->pushes.count)
        al_str_adds(out, "What was pushed stays on the remote.\n");
}

static void show_dry_run(const struct al_rollback *rollback, bool redo)
{
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

    if (redo)
        al_str_adds(&out, "Redoing would change:\n");
    else
        al_str_addf(&out, "Rolling back %zu execution%s would change:\n", rollback->count,
                    rollback->count == 1 ? "" : "s");
    add_calls(&out, &rollback->calls);
    al_str_add(&out, rollback->stat.buf, rollback->stat.len);
    add_other_changes(&out, &rollback->changes);
    if (!rollback->changes.count)
        al_str_adds(&out, " nothing\n");
    add_pushed(&out, rollback);
    al_cli_print(STDOUT_FILENO, &out);
}

/* The number of the next rollback counts this rollback too: it is an execution. */
static void add_next_steps(struct al_str *out, const struct al_rollback *rollback, bool redo,
                           const char *agent)
{
    if (!rollback->changes.count)
        return;
    if (redo) {
        al_str_adds(out, "Roll back again: airlock rollback\n");
        return;
    }
    if (rollback->further)
        al_str_addf(out, "Roll back further: airlock rollback%s%s %zu. ", agent ? " --agent " : "",
                    agent ? agent : "", rollback->further);
    al_str_adds(out, "Redo: airlock rollback --redo\n");
}

static void show_done(const struct al_rollback *rollback, bool redo, const char *agent)
{
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
    size_t files = count_files(&rollback->changes) - rollback->kept.count;

    if (rollback->resumed)
        al_str_adds(&out, "Finished the rollback that was interrupted. ");
    if (redo)
        al_str_adds(&out, "Redone: ");
    else
        al_str_addf(&out, "Rolled back %zu execution%s: ", rollback->count,
                    rollback->count == 1 ? "" : "s");
    if (rollback->changes.count)
        al_str_addf(&out, "%zu file%s\n", files, files == 1 ? "" : "s");
    else
        al_str_addf(&out, "nothing changed%s\n",
                    rollback->count > 1 ? "; a rollback is an execution too, and two of them can "
                                          "take each other back"
                                        : "");
    add_calls(&out, &rollback->calls);
    add_other_changes(&out, &rollback->changes);
    add_list(&out, "Left as they are, since they are ignored or were too large to be kept:",
             &rollback->kept);
    add_list(&out, "Left as they are, since somebody changed them meanwhile:", &rollback->left);
    add_pushed(&out, rollback);
    add_next_steps(&out, rollback, redo, agent);
    al_cli_print(STDOUT_FILENO, &out);
}

/* Report on stderr why the rollback was refused, after the files that would be lost. */
static int show_failed(const struct al_rollback *rollback, const struct al_error *err)
{
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

    add_list(&out, "Changed since, by you or another program:", &rollback->lost);
    add_list(&out, "Staged then, and committed since:", &rollback->committed);
    add_list(&out, "In the way, and in no checkpoint:", &rollback->unsaved);
    add_pushed(&out, rollback);
    al_cli_print(STDERR_FILENO, &out);
    al_log_note("%s", err->message);
    if (err->remedy)
        al_log_note("%s", err->remedy);
    return AL_EXIT_FAILED;
}

/** The options of this command alone. */
struct own_options {
    bool dry_run, force, redo, yes;
};

static int roll_back(struct al_undo *undo, const struct own_options *own, bool dry_run,
                     struct al_rollback *rollback, struct al_error *err)
{
    const struct al_session *session = &undo->setup.session;

    return al_rollback_run(undo->repo,
                           &(struct al_rollback_options){
                               .journal_file = undo->setup.journal_file,
                               .journal = session->journal,
                               .settings = &undo->setup.checkpoints,
                               .confinement = session->confinement,
                               .lock_wait_ms = undo->setup.config.git.timeout_ms,
                               .count = undo->count,
                               .execution = undo->execution,
                               .newest = undo->newest,
                               .agent = undo->options.agent,
                               .force = own->force,
                               .dry_run = dry_run,
                               .redo = own->redo,
                           },
                           &undo->budget, rollback, err);
}

/* Read one line.  Returns false at end of input and after a signal. */
static bool read_answer(struct al_cancel *cancel, char *answer, int size)
{
    struct pollfd wait[2] = {
        { .fd = STDIN_FILENO, .events = POLLIN },
        { .fd = al_cancel_fd(cancel), .events = POLLIN },
    };

    while (poll(wait, AL_COUNT(wait), -1) < 0 && errno == EINTR)
        continue;
    return !al_cancel_fired(cancel) && fgets(answer, size, stdin);
}

/* On a terminal, show what would change and ask.  No lock is held meanwhile.  An error counts as
 * yes: the rollback itself reports it. */
static bool is_confirmed(struct al_undo *undo, const struct own_options *own)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_rollback_clear) struct al_rollback rollback = AL_ROLLBACK_INIT;
    const char *question = own->redo ? "Redo? [y/N] " : "Roll back? [y/N] ";
    char answer[16] = "";

    if (own->yes || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) ||
        roll_back(undo, own, true, &rollback, &err) < 0)
        return true;
    show_dry_run(&rollback, own->redo);
    (void)al_write_all(STDOUT_FILENO, question, strlen(question));
    if (!read_answer(undo->budget.cancel, answer, (int)sizeof(answer)))
        return false;
    return !strcasecmp(answer, "y\n") || !strcasecmp(answer, "yes\n");
}

static int run(struct al_undo *undo, const struct own_options *own)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_rollback_clear) struct al_rollback rollback = AL_ROLLBACK_INIT;
    int r;

    if (undo->execution && undo->options.agent) {
        al_log_note("--execution goes without --agent; see airlock rollback --help");
        return AL_EXIT_USAGE;
    }
    if (own->redo && (undo->count || undo->execution || undo->options.agent)) {
        al_log_note("--redo takes no number and no agent; see airlock rollback --help");
        return AL_EXIT_USAGE;
    }
    if (!undo->setup.session.journal && !own->dry_run)
        return AL_EXIT_FAILED; /* opening it reported the reason */
    if (!own->dry_run && !is_confirmed(undo, own)) {
        al_log_note("nothing was changed");
        return al_signals_caught() ? 128 + al_signals_caught() : AL_EXIT_FAILED;
    }
    r = roll_back(undo, own, own->dry_run, &rollback, &err);
    if (own->dry_run && (r == 0 || r == AL_ERR_APPROVAL_REQUIRED))
        show_dry_run(&rollback, own->redo);
    else if (r == 0)
        show_done(&rollback, own->redo, undo->options.agent);
    if (r < 0)
        return show_failed(&rollback, &err);
    return rollback.left.count ? AL_EXIT_FAILED : AL_EXIT_OK;
}

int al_cmd_rollback(int argc, char **argv)
{
    static const char *const names[] = { "--dry-run", "--force", "--redo", "-y", "--yes", NULL };
    struct al_undo undo = AL_UNDO_INIT;
    bool values[AL_COUNT(names)] = { false };
    int code = al_undo_open(&undo, "rollback", names, values, argc, argv);

    if (code == AL_EXIT_OK)
        code = run(&undo, &(const struct own_options){ .dry_run = values[0],
                                                       .force = values[1],
                                                       .redo = values[2],
                                                       .yes = values[3] || values[4] });
    al_undo_close(&undo);
    return code < 0 ? AL_EXIT_OK : code;
}
