// SPDX-License-Identifier: Apache-2.0
/*
 * The commands and options of git in a pipeline.
 *
 * git accepts abbreviations of long options, so only options in the list, exactly as written, are
 * allowed.  A list of forbidden ones would have to know every abbreviation of every option of every
 * git version.
 */
#include <ctype.h>

#include "git/readonly/readonly_commands.h"
#include "guard/text.h"

/* The commands that take an option, as a bit set. */
enum { LOG = 1 << 0, DIFF = 1 << 1, SHOW = 1 << 2, STATUS = 1 << 3, HISTORY = LOG | SHOW };
enum { PATCH = LOG | DIFF | SHOW, ALL = PATCH | STATUS };

/* The form in which an option takes its value. */
enum value {
    NONE,     /* no value */
    EQUALS,   /* --name=VALUE */
    MAY,      /* --name, or --name=VALUE */
    ATTACHED, /* -nVALUE, or -n */
    NEXT,     /* -n VALUE, --name VALUE, -nVALUE or --name=VALUE */
};

static const struct option {
    const char *name;
    unsigned commands;
    enum value value;
} options[] = {
    { "-p", PATCH, NONE },
    { "-u", PATCH, NONE },
    { "-u", STATUS, ATTACHED },
    { "--patch", PATCH, NONE },
    { "-s", ALL, NONE },
    { "--no-patch", PATCH, NONE },
    { "-U", PATCH, ATTACHED },
    { "--unified", PATCH, EQUALS },
    { "--raw", PATCH, NONE },
    { "--patch-with-stat", PATCH, NONE },
    { "--minimal", PATCH, NONE },
    { "--patience", PATCH, NONE },
    { "--histogram", PATCH, NONE },
    { "--diff-algorithm", PATCH, EQUALS },
    { "--stat", PATCH, MAY },
    { "--numstat", PATCH, NONE },
    { "--shortstat", PATCH, NONE },
    { "--dirstat", PATCH, MAY },
    { "--summary", PATCH, NONE },
    { "--compact-summary", PATCH, NONE },
    { "--name-only", PATCH, NONE },
    { "--name-status", PATCH, NONE },
    { "--no-color", PATCH, NONE },
    { "--word-diff", PATCH, MAY },
    { "--word-diff-regex", PATCH, EQUALS },
    { "--no-renames", ALL, NONE },
    { "-M", PATCH, ATTACHED },
    { "-C", PATCH, ATTACHED },
    { "-B", PATCH, ATTACHED },
    { "--find-renames", ALL, MAY },
    { "--find-copies", PATCH, MAY },
    { "--diff-filter", PATCH, EQUALS },
    { "-S", PATCH, ATTACHED },
    { "-G", PATCH, ATTACHED },
    { "--pickaxe-all", PATCH, NONE },
    { "--pickaxe-regex", PATCH, NONE },
    { "-R", PATCH, NONE },
    { "--relative", PATCH, MAY },
    { "-a", PATCH, NONE },
    { "--text", PATCH, NONE },
    { "-w", PATCH, NONE },
    { "-b", ALL, NONE },
    { "--ignore-all-space", PATCH, NONE },
    { "--ignore-space-change", PATCH, NONE },
    { "--ignore-space-at-eol", PATCH, NONE },
    { "--ignore-blank-lines", PATCH, NONE },
    { "-W", PATCH, NONE },
    { "--function-context", PATCH, NONE },
    { "--inter-hunk-context", PATCH, EQUALS },
    { "--exit-code", DIFF, NONE },
    { "--quiet", DIFF, NONE },
    { "--full-index", PATCH, NONE },
    { "--abbrev", PATCH, MAY },
    { "--binary", PATCH, NONE },
    { "--check", PATCH, NONE },
    { "--no-prefix", PATCH, NONE },
    { "--src-prefix", PATCH, EQUALS },
    { "--dst-prefix", PATCH, EQUALS },
    { "--cached", DIFF, NONE },
    { "--staged", DIFF, NONE },
    { "--merge-base", DIFF, NONE },
    { "--no-ext-diff", PATCH, NONE },
    { "--no-textconv", PATCH, NONE },
    { "-z", ALL, NONE },
    { "-n", HISTORY, NEXT },
    { "--max-count", HISTORY, EQUALS },
    { "--skip", LOG, EQUALS },
    { "--since", LOG, EQUALS },
    { "--after", LOG, EQUALS },
    { "--until", LOG, EQUALS },
    { "--before", LOG, EQUALS },
    { "--author", LOG, EQUALS },
    { "--committer", LOG, EQUALS },
    { "--grep", LOG, EQUALS },
    { "--all-match", LOG, NONE },
    { "--invert-grep", LOG, NONE },
    { "-i", LOG, NONE },
    { "-E", LOG, NONE },
    { "-F", LOG, NONE },
    { "-P", LOG, NONE },
    { "--merges", LOG, NONE },
    { "--no-merges", LOG, NONE },
    { "--first-parent", HISTORY, NONE },
    { "--all", LOG, NONE },
    { "--branches", LOG, MAY },
    { "--tags", LOG, MAY },
    { "--remotes", LOG, MAY },
    { "--reverse", LOG, NONE },
    { "--graph", LOG, NONE },
    { "--oneline", HISTORY, NONE },
    { "--decorate", HISTORY, MAY },
    { "--no-decorate", HISTORY, NONE },
    { "--format", HISTORY, EQUALS },
    { "--pretty", HISTORY, MAY },
    { "--abbrev-commit", HISTORY, NONE },
    { "--no-abbrev-commit", HISTORY, NONE },
    { "--date", HISTORY, EQUALS },
    { "--relative-date", HISTORY, NONE },
    { "--follow", LOG, NONE },
    { "-L", LOG, NEXT },
    { "--full-history", LOG, NONE },
    { "--simplify-by-decoration", LOG, NONE },
    { "--topo-order", LOG, NONE },
    { "--date-order", LOG, NONE },
    { "--left-right", LOG, NONE },
    { "--left-only", LOG, NONE },
    { "--right-only", LOG, NONE },
    { "--cherry-pick", LOG, NONE },
    { "--boundary", LOG, NONE },
    { "--ancestry-path", LOG, NONE },
    { "--parents", HISTORY, NONE },
    { "-g", LOG, NONE },
    { "--walk-reflogs", LOG, NONE },
    { "-c", HISTORY, NONE },
    { "--cc", HISTORY, NONE },
    { "-m", HISTORY, NONE },
    { "--no-notes", HISTORY, NONE },
    { "--short", STATUS, NONE },
    { "--branch", STATUS, NONE },
    { "--porcelain", STATUS, MAY },
    { "--long", STATUS, NONE },
    { "--show-stash", STATUS, NONE },
    { "--untracked-files", STATUS, MAY },
    { "--ignored", STATUS, MAY },
    { "--ahead-behind", STATUS, NONE },
    { "--no-ahead-behind", STATUS, NONE },
    { "-v", STATUS, NONE },
    { "-sb", STATUS, NONE },
};

static int refuse(const char *word, const char *why, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(word);

    return al_error_set(err, AL_ERR_SANDBOX, "git: '%s' is not allowed: %s", safe, why);
}

static bool is_option(const struct option *option, const char *word)
{
    size_t len = strlen(option->name);
    bool is_long = option->name[1] == '-';

    if (strncmp(option->name, word, len) != 0)
        return false;
    switch (option->value) {
    case NONE:
        return !word[len];
    case EQUALS:
        return word[len] == '=';
    case MAY:
        return !word[len] || word[len] == '=';
    case ATTACHED:
        return true;
    case NEXT:
        break;
    }
    return !is_long || !word[len] || word[len] == '=';
}

/* "-5": a number of commits. */
static bool is_count(const char *word)
{
    for (word++; *word; word++)
        if (!isdigit((unsigned char)*word))
            return false;
    return true;
}

static const struct option *find_option(const char *word, unsigned command)
{
    for (size_t i = 0; i < AL_COUNT(options); i++)
        if ((options[i].commands & command) && is_option(&options[i], word))
            return &options[i];
    return NULL;
}

static int check_options(const struct al_strv *words, size_t from, unsigned command,
                         struct al_error *err)
{
    for (size_t i = from; i < words->count; i++) {
        const char *word = words->items[i];
        const struct option *option;

        if (!strcmp(word, "--"))
            return 0;
        if (word[0] != '-' || !word[1])
            continue;
        if (command == LOG && is_count(word))
            continue;
        option = find_option(word, command);
        if (!option)
            return refuse(word, "it is not among the options that only read", err);
        if (option->value == NEXT && !word[strlen(option->name)])
            i++;
    }
    return 0;
}

static const struct {
    const char *name;
    unsigned command;
} commands[] = { { "log", LOG }, { "diff", DIFF }, { "show", SHOW }, { "status", STATUS } };

/* The command and its position among the words; 0 when it is not allowed. */
static unsigned find_command(const struct al_strv *words, size_t *ret_at)
{
    size_t at = words->count > 1 && !strcmp(words->items[1], "--no-pager") ? 2 : 1;

    *ret_at = at;
    for (size_t i = 0; at < words->count && i < AL_COUNT(commands); i++)
        if (!strcmp(commands[i].name, words->items[at]))
            return commands[i].command;
    return 0;
}

void al_git_pipeline_words(const struct al_strv *given, struct al_strv *argv)
{
    size_t at;
    unsigned command = find_command(given, &at);

    for (size_t i = 0; i <= at && i < given->count; i++)
        al_strv_add(argv, given->items[i]);
    if (command & PATCH)
        al_strv_adds(argv, "--no-ext-diff", "--no-textconv", NULL);
    if (command & HISTORY)
        al_strv_add(argv, "--no-show-signature");
    al_strv_add(argv, "--ignore-submodules=dirty");
    for (size_t i = at + 1; i < given->count; i++)
        al_strv_add(argv, given->items[i]);
}

int al_git_pipeline_check(const struct al_strv *words, struct al_error *err)
{
    size_t at;
    unsigned command = find_command(words, &at);

    if (command)
        return check_options(words, at + 1, command, err);
    return refuse(at < words->count ? words->items[at] : "", "only log, diff, show and status are",
                  err);
}
