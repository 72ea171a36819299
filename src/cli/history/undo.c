// SPDX-License-Identifier: Apache-2.0
#include "cli/history/undo.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/help.h"
#include "cli/history/query.h"
#include "cli/print.h"
#include "cli/signals.h"
#include "gitops/locate.h"
#include "gitops/location.h"
#include "guard/root.h"
#include "guard/text.h"
#include "history/rollback.h"
#include "proc/cancel.h"
#include "util/fs.h"
#include "util/log.h"

/* Long enough for a large working tree; the user can interrupt it. */
#define TIME_LIMIT_MS 3600000u
#define SHOWN_DIGITS  10

static int usage_error(const char *command, const char *what, const char *word)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(word);

    al_log_note("%s '%s'; see airlock %s --help", what, safe, command);
    return AL_EXIT_USAGE;
}

/* Remove the command's own flags from the words and set their values. */
static void extract_flags(const char *const *flags, bool *values, int *argc, char **argv)
{
    int kept = 0;

    for (int i = 0; i < *argc; i++) {
        bool found = false;

        for (size_t k = 0; flags[k]; k++) {
            if (strcmp(argv[i], flags[k]) != 0)
                continue;
            values[k] = true;
            found = true;
        }
        if (!found)
            argv[kept++] = argv[i];
    }
    *argc = kept;
}

/* Remove an option with the number of an execution from the words. */
static int extract_number(const char *command, const char *name, size_t *number, int *argc,
                          char **argv)
{
    int kept = 0;

    for (int i = 0; i < *argc; i++) {
        if (strcmp(argv[i], name) != 0)
            argv[kept++] = argv[i];
        else if (i + 1 == *argc || !al_query_number(argv[++i], number))
            return usage_error(command, "the number of an execution has to follow", name);
    }
    *argc = kept;
    return AL_EXIT_OK;
}

static int extract_numbers(struct al_undo *undo, const char *command, int *argc, char **argv)
{
    int code = extract_number(command, "--execution", &undo->execution, argc, argv);

    if (code == AL_EXIT_OK && !strcmp(command, "rollback"))
        code = extract_number(command, "--newest", &undo->newest, argc, argv);
    if (code == AL_EXIT_OK && undo->newest && !undo->execution)
        return usage_error(command, "this goes with --execution:", "--newest");
    return code;
}

/* These say how calls are made. */
static const char *const of_sessions[] = { "--toolset", "--approval", "--grant",
                                           "--worker",  "--tool",     "--command-timeout",
                                           "--no-git",  "-v",         NULL };

static int read_words(struct al_undo *undo, const char *command, int argc, char **argv)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    for (;;) {
        if (al_options_read(&undo->options, false, &argc, &argv, &err) < 0)
            return al_cli_fail(&err);
        if (al_options_refuse(&undo->options, command, of_sessions, &err) < 0)
            return al_cli_fail(&err);
        if (argc == 0)
            return AL_EXIT_OK;
        if (undo->count || undo->execution)
            return usage_error(command, "unexpected second number", argv[0]);
        if (!al_query_number(argv[0], &undo->count))
            return usage_error(command, "not a number of executions:", argv[0]);
        argc--;
        argv++;
    }
}

/* Whether a directory or one above it contains a `.git`. */
static bool is_in_repository(const char *start)
{
    al_auto(al_freep) char *dir = al_strdup(start);
    struct stat st;

    for (;;) {
        al_auto(al_freep) char *dot_git = al_fs_join(*dir ? dir : "/", ".git");
        char *slash = strrchr(dir, '/');

        if (lstat(dot_git, &st) == 0)
            return true;
        if (!slash)
            return false;
        *slash = '\0';
    }
}

static int no_repository(const char *command, const char *remedy)
{
    al_auto(al_freep) char *line = al_asprintf("Error: %s requires git repository\n%s%s", command,
                                               remedy ? remedy : "", remedy ? "\n" : "");

    (void)al_write_all(STDERR_FILENO, line, strlen(line));
    return AL_EXIT_FAILED;
}

/* Open the repository of the current directory if that is in a root, else the repository of the
 * first root. */
static int find_repository(struct al_undo *undo, const char *command)
{
    const struct al_session *session = &undo->setup.session;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_freep) char *cwd = getcwd(NULL, 0);
    bool inside = cwd && al_roots_find(session->roots, cwd);
    int r = al_repo_open(session->git, inside ? cwd : session->roots->items[0].path, ".",
                         &undo->budget, &undo->repo, &err);

    if (r < 0 && err.code == AL_CODE_NOT_INITIALIZED)
        return no_repository(command, err.remedy);
    return r < 0 ? al_cli_fail(&err) : AL_EXIT_OK;
}

int al_undo_open(struct al_undo *undo, const char *command, const char *const *flags, bool *values,
                 int argc, char **argv)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_freep) char *cwd = getcwd(NULL, 0);
    int code, r;

    extract_flags(flags, values, &argc, argv);
    code = extract_numbers(undo, command, &argc, argv);
    if (code == AL_EXIT_OK)
        code = read_words(undo, command, argc, argv);
    if (code != AL_EXIT_OK)
        return code;
    if (undo->options.help) {
        (void)al_help_command(command);
        return -1;
    }
    r = al_setup_config(&undo->setup, &undo->options, &err);
    undo->is_set_up = true;
    if (r == 0 && !undo->setup.config.roots.count && cwd && !is_in_repository(cwd))
        return no_repository(command, al_git_is_bare_dir(cwd) ? al_git_bare_remedy : NULL);
    if (r == 0)
        r = al_setup_session(&undo->setup, &err);
    if (r < 0)
        return al_cli_fail(&err);
    undo->budget = (struct al_run_limits){ .cancel = al_cancel_new(),
                                           .left_ms = TIME_LIMIT_MS,
                                           .on_lock_wait = { al_cli_note_wait, NULL },
                                           .exit_code = -1 };
    al_signals_handle(&undo->setup, al_cancel_ref(undo->budget.cancel));
    return find_repository(undo, command);
}

void al_undo_close(struct al_undo *undo)
{
    al_repo_free(undo->repo);
    if (undo->budget.cancel)
        al_cancel_unref(undo->budget.cancel);
    if (undo->is_set_up)
        al_setup_clear(&undo->setup);
    al_options_clear(&undo->options);
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

void al_undo_add_change(struct al_str *out, const struct al_difference *change)
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
