// SPDX-License-Identifier: Apache-2.0
/* airlock git, and airlock called through a link named git: git's own command line, as one call.
 * airlock run and snapshot: any command, or a checkpoint by hand. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/log.h"
#include "cli/cli.h"
#include "cli/environment.h"
#include "cli/print.h"
#include "cli/setup.h"
#include "cli/signals.h"
#include "git/command.h"
#include "guard/root.h"
#include "guard/text.h"
#include "history/journal.h"
#include "proc/cancel.h"
#include "proc/foreground.h"
#include "tools/commands/commands.h"
#include "tools/toolsets.h"

/* The exit code of git for what it cannot do. */
#define REFUSED 128

extern char **environ;

static int fail(const char *message)
{
    al_auto(al_freep) char *line = al_text_join_lines(message);

    al_log_note("%s", line);
    return REFUSED;
}

/* These say where something is: to drop one would change another place.  Caller frees. */
static char *find_place(void)
{
    static const char places[] =
        " GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY "
        "GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_COMMON_DIR GIT_CONFIG GIT_NAMESPACE GIT_NOTES_REF "
        "GIT_SHALLOW_FILE ";

    for (char *const *at = environ; *at; at++) {
        al_auto(al_freep) char *name = al_strndup(*at, strcspn(*at, "="));

        if (al_shell_words_list(places, name) && al_environment_get(name))
            return al_take(&name);
    }
    return NULL;
}

/* The environment that counts: who commits and when, the language, the terminal, and how paths are
 * read.  Variables that run programs or carry configuration are left out. */
static void take_environment(bool tells_programs, struct al_strv *ret_env)
{
    static const char taken[] =
        " GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL "
        "GIT_COMMITTER_DATE GIT_REFLOG_ACTION GIT_LITERAL_PATHSPECS GIT_GLOB_PATHSPECS "
        "GIT_NOGLOB_PATHSPECS GIT_ICASE_PATHSPECS GIT_MERGE_VERBOSITY GIT_DEFAULT_HASH "
        "GIT_DEFAULT_REF_FORMAT GIT_ADVICE EMAIL TZ LANG LANGUAGE TERM COLUMNS LINES ";

    for (char *const *at = environ; *at; at++) {
        al_auto(al_freep) char *name = al_strndup(*at, strcspn(*at, "="));

        if (al_starts_with(name, "LC_") || al_shell_words_list(taken, name) ||
            (tells_programs && (al_ends_with(name, "EDITOR") || al_ends_with(name, "PAGER") ||
                                !strcmp(name, "VISUAL"))))
            al_strv_add(ret_env, *at);
    }
    if (!al_environment_get("LC_ALL")) /* else ours would stay */
        al_strv_add(ret_env, "LC_ALL=");
    al_strv_add(ret_env, "GIT_TEXTDOMAINDIR=/usr/share/locale");
}

/* Go where -C says, as git does before anything else, so that the default root is there; and tell
 * whether the command is one that says which programs git would start. */
static int change_directory(int argc, char **argv, bool *ret_tells_programs)
{
    int i = 0;

    for (; i < argc && argv[i][0] == '-'; i++) {
        const char *word = argv[i];
        const bool has_next = i + 1 < argc;

        if (!strcmp(word, "-C") && has_next && *argv[i + 1] && chdir(argv[i + 1]) < 0) {
            al_auto(al_freep) char *safe = al_text_sanitize_line(argv[i + 1]);
            al_auto(al_freep) char *line =
                al_asprintf("fatal: cannot change to '%s': %s\n", safe, strerror(errno));

            (void)al_write_all(STDERR_FILENO, line, strlen(line));
            return REFUSED;
        }
        if (!strcmp(word, "-C") || !strcmp(word, "-c") || !strcmp(word, "--git-dir") ||
            !strcmp(word, "--work-tree"))
            i++;
    }
    *ret_tells_programs = i < argc && !strcmp(argv[i], "var");
    return 0;
}

static json_t *arguments_of(const char *name, int argc, char **argv)
{
    json_t *object = al_json_object(), *words = al_json_array();

    for (int i = 0; i < argc; i++)
        al_json_append(words, al_json_name(argv[i]));
    al_json_set(object, name, words);
    return object;
}

/* One line: what happened, and what to do about it. */
static int report_failure(const struct al_result *result)
{
    const char *text = result->text.buf, *message = result->error.message;
    const size_t len = message && al_starts_with(text, message) ? strlen(message) : 0;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    if (!len || text[len] != '\n' || strchr(".!?:", text[len - 1]))
        return fail(text);
    al_str_addf(&line, "%s.%s", message, text + len);
    return fail(line.buf);
}

/* The exit code, with what there is to say beside git's own words, a line for each. */
static int report(const struct al_result *result)
{
    al_auto(al_freep) char *notes = al_strdup(result->notes.len ? result->notes.buf : "");
    char *save = NULL;

    if (result->status == AL_ERR_CANCELLED && al_signals_caught())
        return 128 + al_signals_caught();
    if (result->status != AL_OK)
        return report_failure(result);
    for (char *at = strtok_r(notes, "\n", &save); at; at = strtok_r(NULL, "\n", &save))
        (void)fail(at);
    return result->exit_code;
}

/* airlock in the command belongs to the session of the command. */
static int share_session(const struct al_setup *setup, struct al_error *err)
{
    al_auto(al_freep) char *id =
        setup->session.journal ? al_journal_conversation(setup->session.journal, 0) : NULL;

    return id && setenv("AIRLOCK_SESSION", id, 1) < 0
               ? al_error_errno(err, errno, "cannot set AIRLOCK_SESSION")
               : 0;
}

/* It is of the repository that holds the current directory, unless --root names another place.
 * A command that runs in git's own directory is of the working tree. */
static void set_working_dir(const struct al_setup *setup, bool has_root, bool is_git,
                            json_t *arguments)
{
    al_auto(al_freep) char *here = getcwd(NULL, 0);
    char *dot_git = here && !is_git ? strstr(here, "/.git") : NULL;

    if (dot_git && (!dot_git[5] || dot_git[5] == '/'))
        *dot_git = '\0';
    if (here && *here && !(has_root && !al_roots_find(&setup->roots, here)))
        al_json_set(arguments, "working_dir", al_json_name(here));
}

/* `run` has the signals for its command.  A review answers, never the terminal: that belongs to the
 * agent. */
static int make_call(struct al_setup *setup, bool has_root, const char *name, json_t *arguments,
                     struct al_error *err)
{
    al_auto(al_cancel_unrefp) struct al_cancel *cancel = al_cancel_new();
    al_auto(al_result_clear) struct al_result result = AL_RESULT_INIT;
    const struct al_listed_tool tool = al_toolset_find_tool(al_toolsets(), name);
    int r = al_setup_session(setup, err);

    if (r < 0)
        return r;
    set_working_dir(setup, has_root, !strcmp(name, "git"), arguments);
    al_setup_one_call(setup);
    al_setup_review(setup);
    if (strcmp(name, "run") != 0) {
        al_signals_handle(setup, al_cancel_ref(cancel));
    } else {
        r = share_session(setup, err);
        al_signals_leave(setup);
    }
    al_setup_review_await(setup);
    al_call_run(&setup->session,
                &(struct al_call_input){
                    .tool = &tool,
                    .label = al_json_get_string(arguments, "label"),
                    .arguments = arguments,
                    .cancel = cancel,
                    .waiting = &(struct al_progress){ .report = al_cli_note_wait },
                },
                &result);
    return report(&result);
}

/* Make the call with the streams and what counts of the environment of the shell.
 * `shell` says the rest. */
static int call_from_shell(const struct al_options *options, struct al_git_shell shell,
                           const char *name, json_t *arguments)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_strv_clear) struct al_strv env = AL_STRV_INIT;
    struct al_setup setup;
    int r;

    shell.in_fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    shell.out_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    shell.err_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    shell.env = &env;
    shell.home = al_environment_get("HOME");
    shell.path_list = al_environment_get("PATH");
    shell.ceilings = al_environment_get("GIT_CEILING_DIRECTORIES");
    take_environment(shell.tells_programs, &env);
    r = al_setup_config(&setup, options, &err);
    setup.session.caller_shell = &shell;
    setup.serves_shell = true;
    if (r == 0)
        r = al_setup_tools(&setup, &err);
    if (r == 0)
        r = make_call(&setup, al_option(options, "--root"), name, arguments, &err);
    if (r < 0)
        r = strcmp(name, "git") != 0 ? al_cli_fail(&err) : fail(err.message);
    al_setup_clear(&setup);
    al_close(shell.in_fd);
    al_close(shell.out_fd);
    al_close(shell.err_fd);
    return r;
}

/* --- airlock run --confine: inside of the sandbox --- */

static bool is_inside(void)
{
    return access(AL_HANDOVER_DIR, F_OK) == 0;
}

static int enter(char **argv)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    const bool is_first = al_environment_get(AL_HANDOVER_FIRST);
    int code;

    (void)unsetenv(AL_HANDOVER_FIRST);
    code = al_handover_enter(argv, is_first, &err);
    (void)fail(err.message);
    return code;
}

/* --- airlock git --- */

static int run_git(const struct al_options *options, struct al_git_shell shell, int argc,
                   char **argv)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_json_decrefp) json_t *arguments = NULL;
    al_auto(al_freep) char *place = find_place();
    int code = 0;

    if (place) {
        al_auto(al_freep) char *line =
            al_asprintf("%s is set; unset it, or name the place with -C DIRECTORY", place);

        return fail(line);
    }
    if (is_inside()) {
        code = al_handover_git(argv, &err);
        return code < 0 ? fail(err.message) : code;
    }
    code = change_directory(argc, argv, &shell.tells_programs);
    arguments = arguments_of("args", argc, argv);
    return code ? code : call_from_shell(options, shell, "git", arguments);
}

int al_cmd_git(struct al_options *options, int argc, char **argv)
{
    return run_git(options, (struct al_git_shell){ .env = NULL }, argc, argv);
}

/* --- airlock run and snapshot --- */

/* Run git for a sandbox, in its root alone, which was added behind those of the command line. */
static int run_for_sandbox(struct al_options *options, const char *last_root)
{
    const bool network = al_option(options, "--network");
    al_auto(al_freep) char *root = al_strdup(last_root);
    al_auto(al_freep) char *here = NULL;
    al_auto(al_strv_clear) struct al_strv words = AL_STRV_INIT;
    int code;

    al_option_set(options, "--root", root);
    if (al_handover_take(root, &words) < 0)
        return fail("this is no git of a sandbox");
    if (*words.items[0] != '/' || chdir(words.items[0]) < 0 || !(here = getcwd(NULL, 0)) ||
        !al_fs_beneath(root, here))
        code = fail("git works below the root of this sandbox alone");
    else
        code =
            run_git(options, (struct al_git_shell){ .is_confined = true, .has_network = network },
                    (int)words.count - 1, words.items + 1);
    al_handover_answer(code);
    return code;
}

static int run_labelled(struct al_options *options, bool takes_words, int argc, char **argv)
{
    const char *label = al_option(options, "--label"), *root = al_option(options, "--root");
    al_auto(al_json_decrefp) json_t *arguments = NULL;
    al_auto(al_strv_clear) struct al_strv again = AL_STRV_INIT;
    int code;

    if (al_option(options, "--as-git") && root)
        return run_for_sandbox(options, root);
    if (takes_words != (argc > 0))
        return al_cli_usage(takes_words
                                ? "run needs a command, for example: airlock run -- make test"
                                : "snapshot takes no command; see airlock snapshot --help");
    if (label && !al_cli_is_label(label))
        return fail("a label cannot be empty, nor read as a number or a time");
    if (is_inside())
        return takes_words ? enter(argv) : fail("a sandbox has no checkpoints of its own");
    al_strv_take(&again, realpath("/proc/self/exe", NULL));
    al_strv_add(&again, "run");
    for (size_t i = 0; i < options->given.count; i++)
        if (*options->given.items[i]) /* a flag has no value */
            al_strv_add(&again, options->given.items[i]);
    arguments = arguments_of("command", argc, argv);
    if (label)
        al_json_set(arguments, "label", al_json_string(label));
    if (al_option(options, "--confine"))
        al_json_set(arguments, "confine", json_true());
    if (al_option(options, "--network"))
        al_json_set(arguments, "network", json_true());
    code = call_from_shell(options, (struct al_git_shell){ .again = &again }, "run", arguments);
    if (!takes_words && code == AL_EXIT_OK)
        al_log_note("checkpoint taken; airlock rollback takes back what executions change from now "
                    "on, and no edits of your own");
    return code;
}

int al_cmd_run(struct al_options *options, int argc, char **argv)
{
    return run_labelled(options, true, argc, argv);
}

int al_cmd_snapshot(struct al_options *options, int argc, char **argv)
{
    return run_labelled(options, false, argc, argv);
}
