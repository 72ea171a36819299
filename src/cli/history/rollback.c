// SPDX-License-Identifier: Apache-2.0
/* airlock rollback: restore the state before the last executions. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/log.h"
#include "cli/cli.h"
#include "cli/environment.h"
#include "cli/history/query.h"
#include "cli/pager.h"
#include "cli/print.h"
#include "cli/setup.h"
#include "cli/signals.h"
#include "cli/tty.h"
#include "git/command.h"
#include "git/location.h"
#include "git/repo/repo.h"
#include "guard/root.h"
#include "guard/text.h"
#include "history/checkpoint.h"
#include "history/journal.h"
#include "history/rollback.h"
#include "proc/cancel.h"
#include "verbs/preview/diff_excerpt.h"

/* A session and the repository of the current directory.  undo_close() follows in every case. */
struct al_undo {
    const struct al_options *options;
    struct al_setup setup;
    struct al_repo *repo;
    struct al_run_limits budget;
    size_t count;             /**< number of executions; 0: not given */
    size_t execution, newest; /**< of --execution and --newest; 0: not given */
    const char *agent, *from; /**< of --agent, and of --to or --since; borrowed; NULL: not given */
    bool dry_run, redo;
    uint64_t *seqs; /**< the executions from there on, oldest first */
    size_t nseqs;
};

/* Long enough for a large working tree; the user can interrupt it. */
#define TIME_LIMIT_MS 3600000u
#define SHOWN_DIGITS  10

static int usage_error(const char *command, const char *what, const char *word)
{
    return al_cli_usage("%s '%s'; see airlock %s --help", what, word, command);
}

/* The number of an execution that an option has; 0: it is not given. */
static int read_number(const struct al_undo *undo, const char *command, const char *name,
                       size_t *ret_number)
{
    const char *word = al_option(undo->options, name);

    return !word || al_query_number(word, ret_number)
               ? AL_EXIT_OK
               : usage_error(command, "the number of an execution has to follow", name);
}

/* Find what --to or --since names in this repository. */
static int find_from(struct al_undo *undo)
{
    al_auto(al_freep) char *safe = NULL, *elsewhere = NULL;

    if (!undo->from)
        return AL_EXIT_OK;
    if (undo->count || undo->execution)
        return al_cli_usage("--to and --since go without a number and without --execution");
    undo->nseqs = al_query_from(undo->setup.journal_file, undo->repo->at.top, undo->from,
                                &undo->seqs, &elsewhere);
    if (undo->nseqs) {
        undo->execution = (size_t)undo->seqs[0];
        return AL_EXIT_OK;
    }
    safe = al_text_sanitize_line(elsewhere ? elsewhere : undo->from);
    al_log_note(elsewhere ? "that execution was in another repository: %s"
                          : "'%s' is no number or label of an execution here, nor a time that one "
                            "came after; airlock log shows them",
                safe);
    return AL_EXIT_FAILED;
}

/* At most one number follows the options. */
static int read_words(struct al_undo *undo, const char *command, int argc, char **argv)
{
    int code = read_number(undo, command, "--execution", &undo->execution);

    if (code == AL_EXIT_OK)
        code = read_number(undo, command, "--newest", &undo->newest);
    if (code != AL_EXIT_OK)
        return code;
    if (undo->newest && !undo->execution)
        return usage_error(command, "this goes with --execution:", "--newest");
    if (argc > 1 || (argc && undo->execution))
        return usage_error(command, "unexpected second number", argv[argc - 1]);
    if (argc && !al_query_number(argv[0], &undo->count))
        return usage_error(command, "not a number of executions:", argv[0]);
    return AL_EXIT_OK;
}

/* There is a git directory, but git takes it for none. */
static const char broken_remedy[] =
    "If HEAD, objects or refs are gone from .git, git init there, and "
    "then airlock rollback --force, bring back what it had.";

/* There is no git directory any more.  The store is none of its files. */
static const char gone_remedy[] =
    "The checkpoints of this directory are there still. If an execution removed .git, git init "
    "here, and then airlock rollback --force, bring back what it had; if not, its commits and "
    "branches are not brought back.";

/* Whether a working tree with this top has executions. */
static bool has_executions(const struct al_undo *undo, const char *top)
{
    al_auto(al_freep) uint64_t *seqs = NULL;
    al_auto(al_freep) char *elsewhere = NULL;

    return al_query_from(undo->setup.journal_file, top, "1", &seqs, &elsewhere) > 0;
}

static int no_repository(const struct al_undo *undo, const char *command, const char *remedy)
{
    al_auto(al_freep) char *cwd = getcwd(NULL, 0);
    const char *more = remedy ? remedy : cwd && has_executions(undo, cwd) ? gone_remedy : "";
    al_auto(al_freep) char *line =
        al_asprintf("Error: %s requires git repository\n%s%s", command, more, *more ? "\n" : "");

    (void)al_write_all(STDERR_FILENO, line, strlen(line));
    return AL_EXIT_FAILED;
}

/* Set up the session, and open the repository of the current directory if that is in a root, else
 * the repository of the first root. */
static int set_up(struct al_undo *undo, const char *command)
{
    const struct al_session *session = &undo->setup.session;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_freep) char *cwd = getcwd(NULL, 0);
    al_auto(al_freep) char *top = cwd ? al_environment_repository(cwd) : NULL;
    int r = al_setup_config(&undo->setup, undo->options, &err);
    bool inside;

    if (r == 0 && !undo->setup.config.roots.count && cwd && !top)
        return no_repository(undo, command, al_git_is_bare_dir(cwd) ? al_git_bare_remedy : NULL);
    if (r == 0)
        r = al_setup_session(&undo->setup, &err);
    if (r < 0)
        return al_cli_fail(&err);
    undo->budget = (struct al_run_limits){ .cancel = al_cancel_new(),
                                           .left_ms = TIME_LIMIT_MS,
                                           .on_lock_wait = { al_cli_note_wait, NULL },
                                           .exit_code = -1 };
    al_signals_handle(&undo->setup, al_cancel_ref(undo->budget.cancel));
    inside = cwd && al_roots_find(session->roots, cwd);
    r = al_repo_open(session->git, inside ? cwd : session->roots->items[0].path, ".", &undo->budget,
                     &undo->repo, &err);
    if (r < 0 && err.code == AL_CODE_NOT_INITIALIZED)
        return no_repository(undo, command, err.remedy || !top ? err.remedy : broken_remedy);
    return r < 0 ? al_cli_fail(&err) : find_from(undo);
}

/* Read the command line, and set up what it works with.  Returns an exit code. */
static int undo_open(struct al_undo *undo, const char *command, int argc, char **argv)
{
    int code = read_words(undo, command, argc, argv);

    undo->agent = al_option(undo->options, "--agent");
    return code == AL_EXIT_OK ? set_up(undo, command) : code;
}

static void undo_close(struct al_undo *undo)
{
    free(undo->seqs);
    al_repo_free(undo->repo);
    if (undo->budget.cancel)
        al_cancel_unref(undo->budget.cancel);
    al_setup_clear(&undo->setup);
}

/* Append an abbreviated object id, or the target of a symbolic reference. */
static void add_value(struct al_str *out, const char *value)
{
    if (!value)
        al_str_adds(out, "(none)");
    else if (al_starts_with(value, "ref: "))
        al_str_adds(out, value + strlen("ref: "));
    else
        al_str_addf(out, "%.*s", SHOWN_DIGITS, value);
}

/* Append a line for a change outside the working tree, such as a reference, with its old and new
 * value. */
static void undo_add_change(struct al_str *out, const struct al_difference *change)
{
    al_auto(al_freep) char *words = al_difference_words(change);
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    al_auto(al_freep) char *safe = NULL;

    al_str_adds(&line, words);
    if (change->part == AL_PART_REF || change->part == AL_PART_HEAD) {
        al_str_adds(&line, ": ");
        add_value(&line, change->from);
        al_str_adds(&line, " -> ");
        add_value(&line, change->to);
    }
    safe = al_text_join_lines(line.buf);
    al_str_addf(out, " %s\n", safe);
}

/* The files of an operation in progress: git's names for them.  The configuration is a state too.
 */
static bool is_of_operation(const struct al_difference *change)
{
    const char *name = change->name;

    return change->part == AL_PART_STATE &&
           ((*name >= 'A' && *name <= 'Z') || al_starts_with(name, "rebase-") ||
            al_starts_with(name, "sequencer"));
}

/* Append what changed outside the working tree.  The files of an operation are one thing. */
static void add_other_changes(struct al_str *out, const struct al_differences *changes)
{
    bool operation = false;

    for (size_t i = 0; i < changes->count; i++) {
        const struct al_difference *change = &changes->items[i];

        if (is_of_operation(change))
            operation |= !al_difference_is_note(change);
        else if (change->part != AL_PART_WORKTREE && !al_difference_is_note(change))
            undo_add_change(out, change);
    }
    if (operation)
        al_str_adds(out, " the state of the operation in progress\n");
}

/* airlock diff: the changes that the last executions made. */

/* The names of the patches in headings. */
static const char *const place_names[AL_PATCH_COUNT] = {
    [AL_PATCH_WORKTREE] = "the working tree",
    [AL_PATCH_INDEX] = "the index",
    [AL_PATCH_HEAD] = "the commits of HEAD",
};

/* Add a patch under a heading.  Equal patches are shown once, with all their names in the heading.
 */
static void add_patch(struct al_str *out, const struct al_execution_changes *found, size_t which)
{
    const struct al_str *patch = &found->patches[which];

    if (!patch->len)
        return;
    for (size_t i = 0; i < which; i++)
        if (!strcmp(found->patches[i].buf, patch->buf))
            return;
    al_str_addf(out, "In %s", place_names[which]);
    for (size_t i = which + 1; i < AL_PATCH_COUNT; i++)
        if (!strcmp(found->patches[i].buf, patch->buf))
            al_str_addf(out, ", %s", place_names[i]);
    al_str_adds(out, ":\n");
    al_str_add(out, patch->buf, patch->len);
}

static void add_execution(void *payload, const struct al_execution_changes *found)
{
    struct al_str *out = payload;
    al_auto(al_freep) char *tool = al_text_sanitize_line(found->tool);
    al_auto(al_freep) char *summary = al_text_join_lines(found->summary ? found->summary : "");

    if (out->len)
        al_str_addc(out, '\n');
    al_str_addf(out, "%" PRIu64 " %s%s%s%s\n", found->seq, tool, *summary ? ": " : "", summary,
                found->ended ? "" : " (interrupted)");
    add_other_changes(out, &found->changes);
    for (size_t i = 0; i < AL_PATCH_COUNT; i++)
        add_patch(out, found, i);
}

/* Each execution from --since on is read by itself; not all of them changed something.
 */
static int read_changes(struct al_undo *undo, bool stat, struct al_str *out, struct al_error *err)
{
    struct al_rollback_options options = {
        .settings = &undo->setup.checkpoints,
        .journal_file = undo->setup.journal_file,
        .count = undo->count,
        .execution = undo->execution,
        .agent = undo->agent,
        .lines = !stat,
    };
    size_t i = 0;
    int r;

    do {
        if (undo->nseqs)
            options.execution = undo->seqs[i];
        r = al_difference_read(undo->repo, &options, add_execution, out, err);
        if (r == AL_ERR_NOT_FOUND && undo->nseqs) {
            al_error_clear(err);
            r = 0;
        }
    } while (r == 0 && ++i < undo->nseqs);
    return r;
}

static int run_diff(struct al_undo *undo, bool stat)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT, shown = AL_STR_INIT;
    int r = read_changes(undo, stat, &out, &err);

    if (r < 0) {
        (void)al_cli_fail(&err);
        return AL_EXIT_FAILED;
    }
    /* After the last git, so that the pager is not mistaken for a git child. */
    al_tty_add_text(out.buf, "", al_tty_colours(STDOUT_FILENO), &shown);
    al_pager_print(&shown, false);
    return AL_EXIT_OK;
}

int al_cmd_diff(struct al_options *options, int argc, char **argv)
{
    struct al_undo undo = { .options = options, .from = al_option(options, "--since") };
    int code = undo_open(&undo, "diff", argc, argv);

    if (code == AL_EXIT_OK)
        code = run_diff(&undo, al_option(options, "--stat"));
    undo_close(&undo);
    return code;
}

/* Longer lists are cut. */
#define LISTED_MAX 100u
#define CALLS_MAX  20u

static void add_list(struct al_str *out, const char *title, const struct al_strv *names)
{
    if (!names->count)
        return;
    al_str_addf(out, "%s\n", title);
    for (size_t i = 0; i < names->count && i < LISTED_MAX; i++) {
        al_auto(al_freep) char *safe = al_text_join_lines(names->items[i]);

        al_str_addf(out, "  %s\n", safe);
    }
    if (names->count > LISTED_MAX)
        al_str_addf(out, "  and %zu more\n", names->count - LISTED_MAX);
}

static void add_calls(struct al_str *out, const struct al_strv *calls)
{
    for (size_t i = 0; i < calls->count && i < CALLS_MAX; i++)
        al_str_addf(out, " execution: %s\n", calls->items[i]);
    if (calls->count > CALLS_MAX)
        al_str_addf(out, " and %zu more executions\n", calls->count - CALLS_MAX);
}

static const char meanwhile_title[] = "Ran meanwhile, and goes too:";

/* A push is no step of a rollback: what is known of the remote stays, as the remote does. */
static void add_pushed(struct al_str *out, const struct al_rollback *rollback)
{
    if (rollback->pushes.count)
        al_str_adds(out, "What was pushed stays on the remote.\n");
}

/* List the newest commits that no reference would have any more. */
static void add_lost_commits(struct al_str *out, const struct al_repo *repo,
                             const struct al_differences *changes)
{
    al_auto(al_strv_clear) struct al_strv words = AL_STRV_INIT, kept = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    al_strv_adds(&words, "-20", "--topo-order", NULL);
    for (size_t i = 0; i < changes->count && words.count < LISTED_MAX; i++)
        if (changes->items[i].part == AL_PART_REF && changes->items[i].from) {
            al_strv_add(&words, changes->items[i].from);
            al_strv_addf(&kept, "--exclude=%s", changes->items[i].name);
        }
    al_strv_add(&words, "--not");
    al_strv_add_all(&words, &kept);
    al_strv_add(&words, "--glob=refs/*");
    for (size_t i = 0; i < changes->count; i++)
        if (changes->items[i].part == AL_PART_REF && changes->items[i].to)
            al_strv_add(&words, changes->items[i].to);
    if (kept.count)
        (void)al_git_commits_list(repo,
                                  &(struct al_commits_shown){
                                      .words = (const char *const *)words.items,
                                      .format = "  %h %s",
                                  },
                                  &text, NULL);
    if (text.len)
        al_str_adds(out, "Commits that no reference would have any more:\n");
    al_text_sanitize(text.buf, text.len, out);
}

static void show_dry_run(const struct al_repo *repo, const struct al_rollback *rollback, bool redo)
{
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

    if (redo)
        al_str_adds(&out, "Redoing would change:\n");
    else
        al_str_addf(&out, "Rolling back %zu execution%s would change:\n", rollback->count,
                    rollback->count == 1 ? "" : "s");
    add_calls(&out, &rollback->calls);
    add_list(&out, meanwhile_title, &rollback->meanwhile);
    al_str_add(&out, rollback->stat.buf, rollback->stat.len);
    add_other_changes(&out, &rollback->changes);
    add_lost_commits(&out, repo, &rollback->changes);
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

    if (rollback->resumed)
        al_str_adds(&out, "Finished the rollback that was interrupted. ");
    if (redo)
        al_str_adds(&out, "Redone: ");
    else
        al_str_addf(&out, "Rolled back %zu execution%s: ", rollback->count,
                    rollback->count == 1 ? "" : "s");
    if (rollback->changes.count)
        al_str_addf(&out, "%zu file%s\n", rollback->files, rollback->files == 1 ? "" : "s");
    else
        al_str_addf(&out, "nothing changed%s\n",
                    rollback->count > 1 ? "; a rollback is an execution too, and two of them can "
                                          "take each other back"
                                        : "");
    add_calls(&out, &rollback->calls);
    add_list(&out, meanwhile_title, &rollback->meanwhile);
    add_other_changes(&out, &rollback->changes);
    add_list(&out, "Left as they are, since they are ignored:", &rollback->kept);
    add_list(&out, "Not brought back, since no checkpoint has what they were:", &rollback->lacking);
    add_list(&out, "Left as they are, since somebody changed them meanwhile:", &rollback->left);
    add_pushed(&out, rollback);
    add_next_steps(&out, rollback, redo, agent);
    al_cli_print(STDOUT_FILENO, &out);
}

/* Report on stderr why the rollback was refused, after the files that would be lost. */
static int show_failed(const struct al_rollback *rollback, const struct al_error *err)
{
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

    add_list(&out, meanwhile_title, &rollback->meanwhile);
    add_list(&out,
             "Changed since, by you, another program or in another worktree:", &rollback->lost);
    add_list(&out, "Staged then, and committed since:", &rollback->committed);
    add_list(&out, "In the way, and in no checkpoint:", &rollback->unsaved);
    add_pushed(&out, rollback);
    al_cli_print(STDERR_FILENO, &out);
    al_log_note("%s", err->message);
    if (err->remedy)
        al_log_note("%s", err->remedy);
    return AL_EXIT_FAILED;
}

/* A command that runs still, in a repository. */
struct running {
    const char *top;
    char *summary; /* NULL: there is none */
};

static void find_running(void *payload, long pid, const json_t *call)
{
    struct running *running = payload;
    const char *where = al_json_get_string(call, "repository");
    const char *summary = al_json_get_string(call, "summary");

    (void)pid;
    if (!running->summary && where && !strcmp(where, running->top) &&
        al_journal_held_no_lock(call) && al_json_get_string(call, "git_commit"))
        running->summary = al_text_join_lines(summary ? summary : "a command");
}

/* Say that what is taken back is not the last that was begun. */
static void note_running(const struct al_undo *undo)
{
    struct running running = { .top = undo->repo->at.top };
    al_auto(al_freep) char *summary = NULL;

    (void)al_journal_running(undo->setup.journal_file, find_running, &running);
    summary = running.summary;
    if (summary)
        al_log_note("still running, and not taken back: %s", summary);
}

/* The first execution that changed something counts for --to: before it all was the same.
 */
static int roll_back(struct al_undo *undo, bool dry_run, struct al_rollback *rollback,
                     struct al_error *err)
{
    const struct al_session *session = &undo->setup.session;
    struct al_rollback_options options = {
        .journal_file = undo->setup.journal_file,
        .journal = session->journal,
        .settings = &undo->setup.checkpoints,
        .confinement = session->confinement,
        .lock_wait_ms = undo->setup.config.git.timeout_ms,
        .count = undo->count,
        .execution = undo->execution,
        .newest = undo->newest,
        .agent = undo->agent,
        .force = al_option(undo->options, "--force"),
        .dry_run = dry_run,
        .redo = undo->redo,
    };
    int r = al_rollback_run(undo->repo, &options, rollback, err);

    for (size_t i = 1; r == AL_ERR_NOT_FOUND && i < undo->nseqs; i++) {
        al_error_clear(err);
        al_rollback_clear(rollback);
        options.execution = undo->seqs[i];
        r = al_rollback_run(undo->repo, &options, rollback, err);
    }
    if (r == AL_ERR_NOT_FOUND && undo->nseqs)
        err->remedy = "A rollback takes back what executions changed, and no edits of your own.";
    else if (r == AL_ERR_NOT_FOUND && !has_executions(undo, undo->repo->at.top))
        err->remedy = "A repository that was moved has its history at its old path.";
    return r;
}

/* On a terminal, show what would change and ask.  No lock is held meanwhile.  An error counts as
 * yes: the rollback itself reports it. */
static bool is_confirmed(struct al_undo *undo)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_rollback_clear) struct al_rollback rollback = AL_ROLLBACK_INIT;

    if (al_option(undo->options, "--yes") || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) ||
        roll_back(undo, true, &rollback, &err) < 0)
        return true;
    show_dry_run(undo->repo, &rollback, undo->redo);
    return al_tty_ask(undo->redo ? "Redo? [y/N] " : "Roll back? [y/N] ", undo->budget.cancel) ==
           'y';
}

static int run(struct al_undo *undo)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_rollback_clear) struct al_rollback rollback = AL_ROLLBACK_INIT;
    int r;

    if (undo->execution && undo->agent)
        return al_cli_usage("--execution goes without --agent; see airlock rollback --help");
    if (undo->redo && (undo->count || undo->execution || undo->agent))
        return al_cli_usage("--redo takes no number and no agent; see airlock rollback --help");
    if (!undo->setup.session.journal && !undo->dry_run)
        return AL_EXIT_FAILED; /* opening it reported the reason */
    note_running(undo);
    if (!undo->dry_run && !is_confirmed(undo)) {
        al_log_note("nothing was changed");
        return AL_EXIT_FAILED;
    }
    r = roll_back(undo, undo->dry_run, &rollback, &err);
    if (undo->dry_run && (r == 0 || r == AL_ERR_APPROVAL_REQUIRED))
        show_dry_run(undo->repo, &rollback, undo->redo);
    else if (r == 0)
        show_done(&rollback, undo->redo, undo->agent);
    if (r < 0)
        return show_failed(&rollback, &err);
    return rollback.left.count || rollback.lacking.count ? AL_EXIT_FAILED : AL_EXIT_OK;
}

int al_cmd_rollback(struct al_options *options, int argc, char **argv)
{
    struct al_undo undo = { .options = options,
                            .from = al_option(options, "--to"),
                            .dry_run = al_option(options, "--dry-run"),
                            .redo = al_option(options, "--redo") };
    int code = undo_open(&undo, "rollback", argc, argv);

    if (code == AL_EXIT_OK)
        code = run(&undo);
    undo_close(&undo);
    return code;
}
