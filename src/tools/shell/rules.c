// SPDX-License-Identifier: Apache-2.0
#include "tools/shell/private.h"

#include "git/readonly/readonly_commands.h"
#include "guard/gitdir.h"
#include "tools/words.h"

/* Programs that only read.  Any other program that the user puts on the whitelist may write below
 * the root. */
static const char readers[] =
    " ls cat grep find head tail wc date sort uniq cut tr nl tac rev comm join paste fold expand "
    "column diff cmp file stat tree du df basename dirname seq printf true false readlink realpath "
    "md5sum sha256sum cksum od xxd hexdump strings jq rg sed awk test egrep fgrep ";

static const char *const runs = "would run a program";
static const char *const writes = "would write a file";
static const char *const removes = "would remove files";

/* The arguments that are refused, between spaces. */
static const struct refusal {
    const char *command;
    const char *const *why;
    const char *words;   /* exactly these */
    const char *letters; /* -x, also combined (-nx) and with a value (-xfile) */
    const char *ends;    /* letters with a value: those after them in a word are not options */
    const char *longs;   /* --name, --name=..., and abbreviations as in getopt_long(3) */
    const char *flags;   /* -name or --name, optionally with =..., as Go programs parse them */
} refusals[] = {
    { "find", &runs, .words = " -exec -execdir -ok -okdir " },
    { "find", &removes, .words = " -delete " },
    { "find", &writes, .words = " -fprint -fprint0 -fprintf -fls " },
    { "sort", &writes, .letters = "oT", .ends = "kStT", .longs = " output temporary-directory " },
    { "sort", &runs, .longs = " compress-program " },
    { "sed", &writes, .letters = "i", .ends = "efl", .longs = " in-place " },
    { "tree", &writes, .letters = "o", .ends = "LPIHT" },
    { "rg", &runs, .letters = "z", .ends = "efgtTmABCEjMr",
      .longs = " pre hostname-bin search-zip " },
    { "awk", &runs, .letters = "il", .ends = "Fvfe", .longs = " include load " },
    { "file", &writes, .letters = "C", .ends = "fFmMP", .longs = " compile " },
    { "xxd", &writes, .letters = "r", .ends = "clsog" },
    { "go", &runs, .flags = " toolexec exec vettool compiler gccgoflags " },
    { "go", &writes, .flags = " overlay modcacherw C " },
};

enum al_shell_kind al_shell_kind_of(const char *command)
{
    static const struct {
        const char *name;
        enum al_shell_kind kind;
    } kinds[] = {
        { "echo", AL_SHELL_ECHO },
        { "pwd", AL_SHELL_PWD },
        { "git", AL_SHELL_GIT },
        { "go", AL_SHELL_GO },
    };

    for (size_t i = 0; i < AL_COUNT(kinds); i++)
        if (!strcmp(kinds[i].name, command))
            return kinds[i].kind;
    return al_shell_words_list(readers, command) ? AL_SHELL_READER : AL_SHELL_OTHER;
}

int al_shell_check_command(const struct al_strv *whitelist, const char *word, struct al_error *err)
{
    al_auto(al_freep) char *safe = NULL;

    if (al_strv_contains(whitelist, word))
        return 0;
    safe = al_text_sanitize_line(word);
    return al_error_set(err, AL_ERR_SANDBOX, "Command '%s' not in whitelist", safe);
}

static int refuse(const char *command, const char *word, const char *why, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(word);

    return al_error_set(err, AL_ERR_SANDBOX, "%s: '%s' is not allowed: it %s", command, safe, why);
}

static bool has_letter(const struct refusal *refusal, const char *word)
{
    if (!refusal->letters || word[0] != '-' || word[1] == '-')
        return false;
    for (const char *at = word + 1; *at; at++) {
        if (strchr(refusal->letters, *at))
            return true;
        if (strchr(refusal->ends, *at))
            return false;
    }
    return false;
}

static bool matches(const struct refusal *refusal, const char *word)
{
    const size_t dashes = word[0] != '-' ? 0 : word[1] != '-' ? 1 : 2;
    al_auto(al_freep) char *begin =
        al_asprintf(" %.*s", (int)strcspn(word + dashes, "="), word + dashes);

    if ((refusal->words && al_shell_words_list(refusal->words, word)) || has_letter(refusal, word))
        return true;
    if (dashes && refusal->flags && al_shell_words_list(refusal->flags, begin + 1))
        return true;
    /* getopt_long(3) rejects ambiguous abbreviations, which are refused here too. */
    return dashes == 2 && refusal->longs && begin[1] && strstr(refusal->longs, begin);
}

static int check_refusals(const struct al_strv *words, struct al_error *err)
{
    const char *command = words->items[0];

    for (size_t i = 0; i < AL_COUNT(refusals); i++) {
        if (strcmp(refusals[i].command, command) != 0)
            continue;
        for (size_t k = 1; k < words->count; k++)
            if (matches(&refusals[i], words->items[k]))
                return refuse(command, words->items[k], *refusals[i].why, err);
    }
    return 0;
}

/* date sets the clock with -s and with a plain number, so its arguments are allow-listed.  The
 * value of an option in the next word is skipped. */
static int check_date(const struct al_strv *words, struct al_error *err)
{
    static const char plain[] =
        " -u --utc --universal -R --rfc-email --debug -I --iso-8601 --help --version ";
    static const char *const attached[] = { "-I", "--iso-8601=", "--rfc-3339=", "--date=",
                                            "--reference=" };

    for (size_t i = 1; i < words->count; i++) {
        const char *word = words->items[i];
        const bool value = al_shell_words_list(" -d --date -r --reference -ud -ur ", word);
        bool good = word[0] == '+' || al_shell_words_list(plain, word);

        for (size_t k = 0; k < AL_COUNT(attached); k++)
            good |= al_starts_with(word, attached[k]);
        if (!good && !value)
            return refuse("date", word,
                          "could set the clock, or is not one of -u -R -I -d -r "
                          "--rfc-3339= and +FORMAT",
                          err);
        i += value;
    }
    return 0;
}

/* go: four commands are allowed, without the options that would run another program. */
static int check_go(const struct al_strv *words, struct al_error *err)
{
    const char *word = words->count > 1 ? words->items[1] : "";

    for (size_t i = 2; i < words->count; i++) {
        const char *value = strchr(words->items[i], '=');

        if (al_path_has_dot_git(value ? value + 1 : words->items[i]))
            return refuse("go", words->items[i], "lies in a .git directory", err);
    }
    return al_shell_words_list(" build test run mod ", word)
               ? check_refusals(words, err)
               : refuse("go", word, "is not one of build, test, run and mod", err);
}

int al_shell_check_words(const struct al_strv *words, struct al_error *err)
{
    const char *command = words->items[0];

    if (!strcmp(command, "git"))
        return al_git_pipeline_check(words, err);
    if (!strcmp(command, "go"))
        return check_go(words, err);
    if (!strcmp(command, "date"))
        return check_date(words, err);
    return check_refusals(words, err);
}
