// SPDX-License-Identifier: Apache-2.0
#include "git/readonly/readonly_commands.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "git/command.h"
#include "git/failure.h"
#include "git/layer.h"
#include "git/reading/read_blame.h"
#include "git/repo/repo.h"
#include "git/run.h"
#include "guard/arg.h"
#include "guard/date.h"
#include "guard/guards.h"
#include "guard/nofollow.h"
#include "guard/text.h"

#define WORDS_MAX     4
#define FLAGS_MAX     5
#define REF_MAX_BYTES 200

/* The characters of a reference: none has a meaning to a shell or in git's path syntax. */
#define REF_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./~^@-"

/* Characters with a meaning to a shell.  No shell reads these words here, but a user may copy the
 * command of a result into one. */
#define SHELL_LETTERS "|&;<>()$`\\\"'*?[]#!{}"

enum need { NEVER, MAY, MUST };
enum value { NONE, NUMBER_FOLLOWS, TEXT_ATTACHED };

/* An option that an operation accepts. */
struct flag {
    const char *name;
    enum value value;
};

/* One operation. */
struct row {
    const char *name;
    const char *words[WORDS_MAX];  /* the command and its fixed options */
    const char *forced[WORDS_MAX]; /* options that have no configuration key to override */
    struct flag flags[FLAGS_MAX];
    enum need ref, path;
    bool ranges; /* a range A..B is allowed as reference */
    const char *standard_ref;
};

static const struct row rows[] = {
    [AL_READONLY_STATUS] = { .name = "status",
                             .words = { "status", "--porcelain" },
                             .forced = { "--ignore-submodules=dirty" },
                             .path = MAY },
    [AL_READONLY_LOG] = { .name = "log",
                          .words = { "log" },
                          .flags = { { "--oneline", NONE },
                                     { "--graph", NONE },
                                     { "-n", NUMBER_FOLLOWS },
                                     { "--since", TEXT_ATTACHED },
                                     { "--author", TEXT_ATTACHED } },
                          .ref = MAY,
                          .ranges = true,
                          .path = MAY },
    [AL_READONLY_DIFF] = { .name = "diff",
                           .words = { "diff" },
                           .forced = { "--no-ext-diff", "--no-textconv",
                                       "--ignore-submodules=dirty" },
                           .ref = MAY,
                           .ranges = true,
                           .path = MAY },
    [AL_READONLY_SHOW] = { .name = "show",
                           .words = { "show" },
                           .forced = { "--no-ext-diff", "--no-textconv" },
                           .ref = MUST,
                           .path = MAY },
    [AL_READONLY_BRANCH] = { .name = "branch", .words = { "branch", "-a", "--no-color" } },
    [AL_READONLY_BLAME] = { .name = "blame",
                            .words = { "blame" },
                            .forced = { "--no-textconv" },
                            .ref = MAY,
                            .path = MUST },
    [AL_READONLY_LS_FILES] = { .name = "ls_files", .words = { "ls-files" }, .path = MAY },
    [AL_READONLY_REV_PARSE] = { .name = "rev_parse",
                                .words = { "rev-parse", "--short" },
                                .ref = MAY,
                                .standard_ref = "HEAD" },
#ifdef AL_GUARDS_OFF
    [AL_READONLY_COMMIT] = { .name = "commit", .words = { "commit" } },
    [AL_READONLY_UPDATE_REF] = { .name = "update_ref", .words = { "update-ref" } },
    [AL_READONLY_CONFIG] = { .name = "config", .words = { "config" } },
    [AL_READONLY_GC] = { .name = "gc", .words = { "gc" } },
#endif
};

/* Options. */

static const struct flag *find_flag(const struct row *row, const char *word)
{
    for (size_t i = 0; i < FLAGS_MAX && row->flags[i].name; i++) {
        const struct flag *flag = &row->flags[i];
        size_t len = strlen(flag->name);

        /* Compared in full: git would take an abbreviation for another option. */
        if (flag->value == TEXT_ATTACHED ? !strncmp(word, flag->name, len) && word[len] == '='
                                         : !strcmp(word, flag->name))
            return flag;
    }
    return NULL;
}

static int refuse_flag(const struct row *row, const char *word, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(word);
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;

    for (size_t i = 0; i < FLAGS_MAX && row->flags[i].name; i++)
        al_str_addf(&list, "%s%s%s", i ? " " : "", row->flags[i].name,
                    row->flags[i].value == TEXT_ATTACHED    ? "=..."
                    : row->flags[i].value == NUMBER_FOLLOWS ? " N"
                                                            : "");
    return al_error_set(err, AL_ERR_BAD_ARGS, "args: '%s' is not allowed for %s (allowed: %s)",
                        safe, row->name, list.len ? list.buf : "none");
}

static int check_number(const char *word, struct al_error *err)
{
    size_t len = word ? strlen(word) : 0;

    if (len >= 1 && len <= 9 && strspn(word, "0123456789") == len)
        return 0;
    return al_error_set(err, AL_ERR_BAD_ARGS,
                        "args: -n is followed by a number of at most nine digits, in an argument "
                        "of its own");
}

static int check_text(const char *word, struct al_error *err)
{
    if (al_arg_has_control(word))
        return al_error_set(err, AL_ERR_BAD_ARGS, "args must not contain control characters");
    if (strpbrk(word, SHELL_LETTERS)) {
        al_auto(al_freep) char *safe = al_text_sanitize_line(word);

        return al_error_set(err, AL_ERR_BAD_ARGS, "args: '%s' contains a shell metacharacter",
                            safe);
    }
    return 0;
}

static int check_args(const struct row *row, const struct al_strv *args, struct al_error *err)
{
    unsigned seen = 0;

    for (size_t i = 0; i < args->count; i++) {
        const char *word = args->items[i];
        const struct flag *flag = find_flag(row, word);
        unsigned bit;
        int r = 0;

        if (!flag)
            return refuse_flag(row, word, err);
        bit = 1u << (flag - row->flags);
        if (seen & bit)
            return al_error_set(err, AL_ERR_BAD_ARGS, "args: %s is given twice", flag->name);
        seen |= bit;
        if (flag->value == NUMBER_FOLLOWS)
            r = check_number(args->items[++i], err); /* the list is NULL-terminated */
        else
            r = check_text(word, err);
        if (r == 0 && !strcmp(flag->name, "--since"))
            r = al_date_check("args: --since", strchr(word, '=') + 1, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* References and paths. */

static int check_ref(const struct row *row, const char *ref, struct al_error *err)
{
    if (!ref && row->ref == MUST)
        return al_error_set(err, AL_ERR_BAD_ARGS, "ref is required for %s", row->name);
    if (!ref)
        return 0;
    if (row->ref == NEVER)
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s takes no ref", row->name);
    if (!*ref || strlen(ref) > REF_MAX_BYTES || ref[strspn(ref, REF_LETTERS)])
        return al_error_set(err, AL_ERR_BAD_ARGS, "ref must match " AL_READONLY_REF_PATTERN);
    if (*ref == '-')
        return al_error_set(err, AL_ERR_BAD_ARGS, "ref must not begin with '-'");
    if (!row->ranges && strstr(ref, ".."))
        return al_error_set(err, AL_ERR_BAD_ARGS, "ref: a range is for log and diff only");
    return 0;
}

static int check_path(const struct row *row, const char *path, struct al_error *err)
{
    if (!path && row->path == MUST)
        return al_error_set(err, AL_ERR_BAD_ARGS, "path is required for %s", row->name);
    if (!path)
        return 0;
    if (row->path == NEVER)
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s takes no path", row->name);
    if (!*path)
        return al_error_set(err, AL_ERR_BAD_ARGS, "path must not be empty");
    if (al_arg_has_control(path))
        return al_error_set(err, AL_ERR_BAD_ARGS, "path must not contain control characters");
    if (*path == '/')
        return al_error_set(err, AL_ERR_BAD_ARGS, "path must be relative to repo");
    if (al_path_goes_up(path))
        return al_error_set(err, AL_ERR_BAD_ARGS, "path must not contain '..'");
    return 0;
}

int al_readonly_check(const struct al_readonly_options *options, struct al_error *err)
{
    const struct row *row = &rows[options->op];
    int r;

    if (!al_guarded)
        return 0;
    r = check_args(row, options->args, err);
    if (r == 0)
        r = check_ref(row, options->ref, err);
    return r < 0 ? r : check_path(row, options->path, err);
}

/* Running. */

/* Resolve the path; it must lead to something in this repository. */
static int resolve_path(const struct al_repo *repo, const struct al_readonly_options *options,
                        char **ret_word, struct al_error *err)
{
    int r;

    if (!al_guarded) {
        *ret_word = al_strdup(options->path);
        return 0;
    }
    if (options->op == AL_READONLY_BLAME) /* blame takes a file, not a pattern */
        r = al_repo_file(repo, "path", options->path, ret_word, err);
    else
        r = al_repo_pathspec(repo, "path", options->path, ret_word, err);
    if (r != AL_ERR_SANDBOX)
        return r;
    return al_error_set(err, AL_ERR_BAD_ARGS, "path leads out of the repository");
}

static void add_words(struct al_strv *argv, const char *const words[WORDS_MAX])
{
    for (size_t i = 0; i < WORDS_MAX && words[i]; i++)
        al_strv_add(argv, words[i]);
}

static void build(const struct al_repo *repo, const struct al_readonly_options *options,
                  const char *path, struct al_strv *argv)
{
    const struct row *row = &rows[options->op];
    const char *ref = options->ref ? options->ref : row->standard_ref;

    al_strv_adds(argv, repo->at.git->options.program, "-C", options->dir, NULL);
    add_words(argv, row->words);
    add_words(argv, row->forced);
    al_strv_add_all(argv, options->args);
    if (ref)
        al_strv_add(argv, ref);
    /* "--" keeps a reference from being taken for a file; rev-parse would print it. */
    if (path || (ref && !row->standard_ref && options->op != AL_READONLY_BLAME))
        al_strv_add(argv, "--");
    if (path)
        al_strv_add(argv, path);
}

/* Cut the text to the cap.  The text is one character longer if there was more. */
static bool cut(struct al_str *text, size_t max_bytes)
{
    if (text->len <= max_bytes)
        return false;
    al_str_truncate(text, al_utf8_floor(text->buf, max_bytes));
    return true;
}

int al_git_read_only(const struct al_repo *repo, const struct al_readonly_options *options,
                     struct al_readonly_run *ret_run, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    struct al_readonly_run run = AL_READONLY_RUN_INIT;
    al_auto(al_freep) char *path = NULL;
    int r = 0;

    if (!repo->at.git->options.program)
        return al_git_not_available(err);
    if (options->op == AL_READONLY_BLAME)
        r = al_git_blame_check(repo, err);
    if (r == 0 && options->path)
        r = resolve_path(repo, options, &path, err);
    if (r < 0)
        return r;
    build(repo, options, path, &command.argv);
    command.quotes_names = true; /* show names as git prints them */
    r = al_git_run(&repo->at, &command,
                   &(struct al_git_run){ .max_bytes = AL_READONLY_OUT_MAX_BYTES,
                                         .max_err_bytes = AL_READONLY_ERR_MAX_BYTES,
                                         .may_time_out = true },
                   &run.output, err);
    if (r < 0)
        return r;
    run.out_truncated = cut(&run.output.out.out, AL_READONLY_OUT_MAX_BYTES);
    run.err_truncated = cut(&run.output.err.out, AL_READONLY_ERR_MAX_BYTES);
    run.argv = command.argv;
    command.argv = AL_STRV_INIT;
    *ret_run = run;
    return 0;
}

void al_readonly_run_clear(struct al_readonly_run *run)
{
    al_strv_clear(&run->argv);
    al_git_output_clear(&run->output);
}

int al_git_pipeline_open(const struct al_repo *repo, const struct al_strv *words,
                         struct al_git_pipeline *ret_pipeline, struct al_error *err)
{
    static const struct al_git_command reading = { .class = AL_GIT_READ, .quotes_names = true };

    *ret_pipeline = AL_GIT_PIPELINE_INIT;
    al_git_pipeline_words(words, &ret_pipeline->argv);
    return al_git_child_prepare(&repo->at, &reading, &ret_pipeline->child, err);
}

void al_git_pipeline_close(struct al_git_pipeline *pipeline)
{
    al_strv_clear(&pipeline->argv);
    al_git_child_clear(&pipeline->child);
    *pipeline = AL_GIT_PIPELINE_INIT;
}
