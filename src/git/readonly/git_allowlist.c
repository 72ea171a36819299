// SPDX-License-Identifier: Apache-2.0
/*
 * The commands and options of git in a pipeline.
 *
 * git accepts abbreviations of long options, so only options in the list, exactly as written, are
 * allowed.  A list of forbidden ones would have to know every abbreviation of every option of every
 * git version.
 */
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
    NEXT,     /* -n VALUE or -nVALUE */
};

static const struct form {
    unsigned commands;
    enum value value;
    const char *names; /* between spaces */
} forms[] = {
    { ALL, NONE, "-s --no-renames -b -z" },
    { ALL, MAY, "--find-renames" },
    { PATCH, NONE,
      "-p -u --patch --no-patch --raw --patch-with-stat --minimal --patience --histogram "
      "--numstat --shortstat --summary --compact-summary --name-only --name-status --no-color "
      "--pickaxe-all --pickaxe-regex -R -a --text -w --ignore-all-space --ignore-space-change "
      "--ignore-space-at-eol --ignore-blank-lines -W --function-context --full-index --binary "
      "--check --no-prefix --no-ext-diff --no-textconv" },
    { PATCH, ATTACHED, "-U -M -C -B -S -G" },
    { PATCH, EQUALS,
      "--unified --diff-algorithm --word-diff-regex --diff-filter --inter-hunk-context "
      "--src-prefix --dst-prefix" },
    { PATCH, MAY, "--stat --dirstat --word-diff --find-copies --relative --abbrev" },
    { HISTORY, NEXT, "-n" },
    { HISTORY, EQUALS, "--max-count --format --date" },
    { HISTORY, NONE,
      "--first-parent --oneline --no-decorate --abbrev-commit --no-abbrev-commit "
      "--relative-date --parents -c --cc -m --no-notes" },
    { HISTORY, MAY, "--decorate --pretty" },
    { LOG, EQUALS, "--skip --since --after --until --before --author --committer --grep" },
    { LOG, NONE,
      "--all-match --invert-grep -i -E -F -P --merges --no-merges --all --reverse --graph "
      "--follow --full-history --simplify-by-decoration --topo-order --date-order "
      "--left-right --left-only --right-only --cherry-pick --boundary --ancestry-path -g "
      "--walk-reflogs" },
    { LOG, MAY, "--branches --tags --remotes" },
    { LOG, NEXT, "-L" },
    { DIFF, NONE, "--exit-code --quiet --cached --staged --merge-base" },
    { STATUS, ATTACHED, "-u" },
    { STATUS, NONE,
      "--short --branch --long --show-stash --ahead-behind --no-ahead-behind -v -sb" },
    { STATUS, MAY, "--porcelain --untracked-files --ignored" },
};

static int refuse(const char *word, const char *why, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(word);

    return al_error_set(err, AL_ERR_SANDBOX, "git: '%s' is not allowed: %s", safe, why);
}

/* Whether a word is an option of this form.  The rest of the word follows the name. */
static bool is_of(const struct form *form, const char *word, const char **ret_rest)
{
    for (const char *name = form->names; *name; name += strspn(name, " ")) {
        const size_t len = strcspn(name, " ");
        const bool begins = !strncmp(name, word, len);
        const char next = begins ? word[len] : '\0';

        name += len;
        *ret_rest = word + (begins ? len : 0);
        if (begins && (form->value >= ATTACHED || (!next && form->value != EQUALS) ||
                       (next == '=' && form->value != NONE)))
            return true;
    }
    return false;
}

static const struct form *find_form(const char *word, unsigned command, const char **ret_rest)
{
    for (size_t i = 0; i < AL_COUNT(forms); i++)
        if ((forms[i].commands & command) && is_of(&forms[i], word, ret_rest))
            return &forms[i];
    return NULL;
}

static int check_options(const struct al_strv *words, size_t from, unsigned command,
                         struct al_error *err)
{
    for (size_t i = from; i < words->count; i++) {
        const char *word = words->items[i], *rest;
        const struct form *form;

        if (!strcmp(word, "--"))
            return 0;
        if (word[0] != '-' || !word[1])
            continue;
        if (command == LOG && !word[1 + strspn(word + 1, "0123456789")])
            continue; /* "-5": a number of commits */
        form = find_form(word, command, &rest);
        if (!form)
            return refuse(word, "it is not among the options that only read", err);
        if (form->value == NEXT && !*rest)
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
