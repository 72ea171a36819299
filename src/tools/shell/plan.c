// SPDX-License-Identifier: Apache-2.0
/* A command line: parsed, checked by rules, and planned. */
#include "tools/shell/private.h"

#include <unistd.h>

#include "git/readonly/readonly_commands.h"
#include "guard/gitdir.h"
#include "guard/glob.h"
#include "tools/words.h"

/* --- Parsing --- */

/* The error "<what> is not allowed: <why>". */
static int unsupported(const char *what, const char *why, struct al_error *err)
{
    return al_error_set(err, AL_ERR_BAD_ARGS, "%s is not allowed: %s", what, why);
}

/* The operators that are refused outside of quotes.  A longer one stands before those that it
 * begins with. */
static const struct syntax {
    const char *text, *name, *why;
    const char *next;  /* only before one of these; NULL: before any */
    bool is_expansion; /* also between double quotes */
} syntax[] = {
#define QUOTE_IT "quote it with ' to mean the character"
#define LETTERS  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    { "&&", "'&&'", "one pipeline a call" },
    { "||", "'||'", "one pipeline a call" },
    { "|&", "'|&'", "write 2>&1 |" },
    { "&>", "'&>'", "write > FILE 2>&1" },
    { "&", "'&'", "nothing runs in the background" },
    { ";", "';'", "one pipeline a call" },
    { "`", "'`' (command substitution)", "nothing is substituted", NULL, true },
    { "$", "'$' (a variable)", QUOTE_IT, LETTERS, true },
    { "$", "'$' before a quote", "use plain quotes", "'\"" },
    { "$", "'$' (an expansion)", QUOTE_IT, "_{([*@#?-$!", true },
    { "(", "'(' (subshell)", "one pipeline a call" },
    { ")", "')' (subshell)", "one pipeline a call" },
    { "<<<", "'<<<' (here-string)", "pipe it in with echo" },
    { "<<", "'<<' (here-document)", "pipe it in with echo" },
    { "<>", "'<>'", "a file is read or written" },
    { "<&", "'<&'", "only 2>&1 joins streams" },
    { "<(", "'<(' (process substitution)", "one pipeline a call" },
    { ">(", "'>(' (process substitution)", "one pipeline a call" },
    { ">|", "'>|'", "write >" },
    { ">&", "'>&'", "only 2>&1 joins streams" },
};

/* Check for syntax other than '|' and plain redirects.  A '$' is allowed where bash would not
 * expand it. */
static int check_syntax(const char *at, bool in_quotes, struct al_error *err)
{
    for (size_t i = 0; i < AL_COUNT(syntax); i++) {
        const struct syntax *row = &syntax[i];

        if (al_starts_with(at, row->text) && (!in_quotes || row->is_expansion) &&
            (!row->next || (at[1] && strchr(row->next, at[1]))))
            return unsupported(row->name, row->why, err);
    }
    return 0;
}

/* Check a whole line for newlines and control characters. */
static int check_characters(const char *line, struct al_error *err)
{
    for (const unsigned char *s = (const unsigned char *)line; *s; s++) {
        if (*s == '\n')
            return unsupported("A newline", "one pipeline a call", err);
        if ((*s < 0x20 && *s != '\t') || *s == 0x7f)
            return unsupported("A control character", "write it as printf or echo -e would", err);
    }
    return 0;
}

/* bash expands {a,b} and {1..3} and leaves other braces alone.  It does so even with quotes inside,
 * so everything up to the line's last '}' counts. */
static int check_brace(const char *at, struct al_error *err)
{
    const char *last = strrchr(at, '}');
    al_auto(al_freep) char *inside = last ? al_strndup(at, (size_t)(last - at)) : NULL;

    if (inside && (strchr(inside, ',') || strstr(inside, "..")))
        return unsupported("'{' (brace expansion)", "write the words out, or quote it", err);
    return 0;
}

/* The characters that end a word. */
#define WORD_ENDS " \t|<>"

/* The state of the parser. */
struct parser {
    const char *at;
    struct al_shell_plan *plan;
    size_t nwords;
    struct al_str word; /* that is being parsed, as a pattern */
    bool is_pattern, exists, is_quoted;
    struct al_error *err;
};

static void add(struct parser *parser, const char *text, size_t len, bool quoted)
{
    parser->exists = true;
    parser->is_quoted |= quoted;
    for (size_t i = 0; i < len; i++) {
        bool special = strchr("*?[", text[i]);

        if (quoted && (special || strchr("]\\-!^", text[i])))
            al_str_addc(&parser->word, '\\');
        parser->is_pattern |= special && !quoted;
        al_str_addc(&parser->word, text[i]);
    }
}

static int take_single(struct parser *parser)
{
    size_t len = strcspn(parser->at + 1, "'");

    if (!parser->at[len + 1])
        return al_error_set(parser->err, AL_ERR_BAD_ARGS, "A quote ' is not closed");
    add(parser, parser->at + 1, len, true);
    parser->at += len + 2;
    return 0;
}

static int take_double(struct parser *parser)
{
    add(parser, "", 0, true);
    for (parser->at++; *parser->at != '"'; parser->at++) {
        if (!*parser->at)
            return al_error_set(parser->err, AL_ERR_BAD_ARGS, "A quote \" is not closed");
        if (check_syntax(parser->at, true, parser->err) < 0)
            return AL_ERR_BAD_ARGS;
        if (*parser->at == '\\' && parser->at[1] && strchr("\\\"$`", parser->at[1]))
            parser->at++;
        add(parser, parser->at, 1, true);
    }
    parser->at++;
    return 0;
}

static int take_plain(struct parser *parser)
{
    const size_t len = parser->word.len;
    int r = check_syntax(parser->at, false, parser->err);

    if (r < 0)
        return r;
    if (*parser->at == '\\') {
        if (!parser->at[1])
            return unsupported("'\\' at the end", "nothing follows it", parser->err);
        add(parser, parser->at + 1, 1, true);
        parser->at += 2;
        return 0;
    }
    /* bash would expand '~' at the beginning of a word and after '=' or ':'. */
    if (*parser->at == '~' && (!parser->exists || (len && strchr("=:", parser->word.buf[len - 1]))))
        return unsupported("'~' (a home directory)", "quote it to mean the character", parser->err);
    if (!parser->exists && *parser->at == '#')
        return unsupported("'#' (a comment)", "quote it to mean the character", parser->err);
    if (*parser->at == '{')
        r = check_brace(parser->at, parser->err);
    if (r < 0)
        return r;
    add(parser, parser->at, 1, false);
    parser->at++;
    return 0;
}

static int take_word(struct parser *parser)
{
    int r = 0;

    al_str_reset(&parser->word);
    parser->is_pattern = parser->exists = parser->is_quoted = false;
    while (r == 0 && *parser->at && !strchr(WORD_ENDS, *parser->at)) {
        if (*parser->at == '\'')
            r = take_single(parser);
        else if (*parser->at == '"')
            r = take_double(parser);
        else
            r = take_plain(parser);
    }
    return r;
}

static void skip_blanks(struct parser *parser)
{
    parser->at += strspn(parser->at, " \t");
}

/* --- Redirects --- */

static int take_target(struct parser *parser, char **place)
{
    int r;

    skip_blanks(parser);
    if (*place)
        return al_error_set(parser->err, AL_ERR_BAD_ARGS, "A stream is redirected twice");
    r = check_syntax(parser->at, false, parser->err);
    if (r == 0)
        r = take_word(parser);
    if (r < 0)
        return r;
    if (!parser->exists)
        return al_error_set(parser->err, AL_ERR_BAD_ARGS, "A redirect needs the name of a file");
    if (parser->is_pattern)
        return unsupported("A pattern after a redirect", "quote it to mean the characters",
                           parser->err);
    *place = al_glob_literal(parser->word.buf);
    return 0;
}

static int join_streams(struct parser *parser, struct al_shell_step *step)
{
    if (step->join || step->files[STDERR_FILENO])
        return al_error_set(parser->err, AL_ERR_BAD_ARGS, "A stream is redirected twice");
    step->join = true;
    parser->at += strlen(">&1");
    if (*parser->at && !strchr(" \t|", *parser->at))
        return unsupported("'>&'", "only 2>&1 joins streams", parser->err);
    return 0;
}

/* Parse a redirect at '<' or '>'.  `number` is the digit before it, '\0' for none. */
static int take_redirect(struct parser *parser, struct al_shell_step *step, char number)
{
    const bool into = *parser->at == '>', append = al_starts_with(parser->at, ">>");
    const int stream = !into ? STDIN_FILENO : number == '2' ? STDERR_FILENO : STDOUT_FILENO;
    int r;

    if (number == '2' && al_starts_with(parser->at, ">&1"))
        return join_streams(parser, step);
    r = check_syntax(parser->at, false, parser->err);
    if (r < 0)
        return r;
    if (number && number != '0' + stream)
        return unsupported("Such a descriptor", "only 0, 1 and 2 are", parser->err);
    if (step->join && stream == STDERR_FILENO)
        return al_error_set(parser->err, AL_ERR_BAD_ARGS, "A stream is redirected twice");
    /* In bash, 2>&1 before the redirect joins the old output, which is rarely intended. */
    if (step->join && stream == STDOUT_FILENO)
        return unsupported("A redirect of the output behind 2>&1", "write > FILE 2>&1",
                           parser->err);
    parser->at += append ? 2 : 1;
    step->appends[stream] = append;
    return take_target(parser, &step->files[stream]);
}

/* --- Steps --- */

static int add_word(struct parser *parser, struct al_shell_step *step)
{
    if (++parser->nwords > AL_SHELL_WORDS_MAX)
        return al_error_set(parser->err, AL_ERR_BAD_ARGS, "The command has more than %d words",
                            AL_SHELL_WORDS_MAX);
    al_strv_take(&step->given, al_glob_literal(parser->word.buf));
    al_strv_add(&step->patterns, parser->is_pattern ? parser->word.buf : "");
    return 0;
}

static int take_item(struct parser *parser, struct al_shell_step *step)
{
    const struct al_str *word = &parser->word;
    int r = take_word(parser);

    if (r < 0)
        return r;
    if (parser->exists && strchr("<>", *parser->at) && *parser->at) {
        if (!parser->is_quoted && word->len == strspn(word->buf, "0123456789"))
            return word->len > 1
                       ? unsupported("Such a descriptor", "only 0, 1 and 2 are", parser->err)
                       : take_redirect(parser, step, word->buf[0]);
        if (word->buf[0] == '{')
            return unsupported("'{' before a redirect", "only 0, 1 and 2 are redirected",
                               parser->err);
    }
    return parser->exists ? add_word(parser, step) : take_redirect(parser, step, '\0');
}

static int take_step(struct parser *parser)
{
    struct al_shell_plan *plan = parser->plan;
    struct al_shell_step *step = &plan->steps[plan->nsteps];
    int r = 0;

    if (plan->nsteps == AL_SHELL_STAGES_MAX)
        return al_error_set(parser->err, AL_ERR_BAD_ARGS, "The pipeline has more than %d commands",
                            AL_SHELL_STAGES_MAX);
    plan->nsteps++;
    *step =
        (struct al_shell_step){ .to = { AL_REDIRECT_INIT, AL_REDIRECT_INIT, AL_REDIRECT_INIT } };
    skip_blanks(parser);
    while (r == 0 && *parser->at && *parser->at != '|') {
        r = take_item(parser, step);
        skip_blanks(parser);
    }
    if (r == 0 && *parser->at == '|')
        r = check_syntax(parser->at, false, parser->err);
    if (r == 0 && !step->given.count)
        r = al_error_set(parser->err, AL_ERR_BAD_ARGS, "A command is missing%s",
                         plan->nsteps > 1 || *parser->at ? " beside '|'" : "");
    return r;
}

int al_shell_parse(const char *command, struct al_shell_plan *ret_plan, struct al_error *err)
{
    struct parser parser = { .at = command, .plan = ret_plan, .word = AL_STR_INIT, .err = err };
    int r = check_characters(command, err);

    ret_plan->nsteps = 0;
    while (r == 0) {
        r = take_step(&parser);
        if (r < 0 || *parser.at != '|')
            break;
        parser.at++;
    }
    al_str_clear(&parser.word);
    if (r < 0)
        al_shell_plan_clear(ret_plan);
    return r;
}

/* --- Rules --- */

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
    static const char *const names[] = { [AL_SHELL_ECHO] = "echo",
                                         [AL_SHELL_PWD] = "pwd",
                                         [AL_SHELL_GIT] = "git",
                                         [AL_SHELL_GO] = "go" };

    for (size_t i = 0; i < AL_COUNT(names); i++)
        if (names[i] && !strcmp(names[i], command))
            return (enum al_shell_kind)i;
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

/* --- Planning --- */

/* Paths that go is told to write have to lie below the working directory, like redirects.  Landlock
 * enforces the same; this check gives an error beforehand, also in a preview. */

/* Options whose value is a path to write, of go and of test binaries.  The latter accept them with
 * the prefix "test." as well. */
static const char outputs[] =
    " o outputdir coverprofile cpuprofile memprofile blockprofile mutexprofile trace pkgdir "
    "modfile testlogfile gocoverdir fuzzcachedir debug-trace debug-actiongraph "
    "debug-runtime-trace asmhdr linkobj traceprofile ";

/* Options whose value is a list of options for the compiler or the linker. */
static const char lists[] = " ldflags gcflags asmflags ";

/* The value of one of these options, in this word or in the next; NULL: it is another word, or has
 * none. */
static const char *value_of(const struct al_strv *words, size_t at, const char *names)
{
    const char *word = words->items[at];
    al_auto(al_freep) char *name = NULL;

    if (*word != '-')
        return NULL;
    word += word[1] == '-' ? 2 : 1;
    if (al_starts_with(word, "test."))
        word += strlen("test.");
    name = al_strndup(word, strcspn(word, "="));
    if (!al_shell_words_list(names, name))
        return NULL;
    word += strlen(name);
    return *word ? word + 1 : at + 1 < words->count ? words->items[at + 1] : NULL;
}

static int check_options(const struct al_root *root, const struct al_strv *words,
                         struct al_error *err);

/* Check the options in a value like "all=-o=x -N".  The package pattern and quotes are skipped. */
static int check_list(const struct al_root *root, const char *list, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv words = AL_STRV_INIT;

    while (*list) {
        const size_t len = strcspn(list, " \t'\"");
        al_auto(al_freep) char *word = al_strndup(list, len);
        const char *option = words.count ? NULL : strstr(word, "=-");

        if (len)
            al_strv_add(&words, option ? option + 1 : word);
        list += len + strspn(list + len, " \t'\"");
    }
    return check_options(root, &words, err);
}

static int check_options(const struct al_root *root, const struct al_strv *words,
                         struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < words->count && r == 0; i++) {
        const char *list = value_of(words, i, lists), *value = value_of(words, i, outputs);

        if (list)
            r = check_list(root, list, err);
        else if (value && *value)
            r = al_output_check(root, value, err);
    }
    return r;
}

int al_shell_check_outputs(const struct al_root *root, const struct al_strv *words,
                           struct al_error *err)
{
    const bool edits =
        words->count > 2 && !strcmp(words->items[1], "mod") && !strcmp(words->items[2], "edit");
    int r = 0;

    if (al_shell_kind_of(words->items[0]) != AL_SHELL_GO)
        return 0;
    r = check_options(root, words, err);
    /* `go mod edit` writes the file that is its argument. */
    for (size_t i = 3; edits && i < words->count && r == 0; i++)
        if (words->items[i][0] != '-' && words->items[i][0])
            r = al_output_check(root, words->items[i], err);
    return r;
}

/* Half of the kernel's limit for arguments and environment, which is 2 MiB with the default stack
 * limit (execve(2)). */
#define WORDS_MAX_BYTES (1024u * 1024u)

void al_shell_plan_clear(struct al_shell_plan *plan)
{
    for (size_t i = 0; i < plan->nsteps; i++) {
        struct al_shell_step *step = &plan->steps[i];

        al_strv_clear(&step->given);
        al_strv_clear(&step->patterns);
        al_strv_clear(&step->words);
        for (size_t k = 0; k < AL_SHELL_STREAMS; k++) {
            free(step->files[k]);
            al_redirect_clear(&step->to[k]);
        }
    }
    plan->nsteps = 0;
}

static int check_words(const struct al_root *root, const struct al_strv *words,
                       struct al_error *err)
{
    int r = al_shell_check_words(words, err);

    return r < 0 ? r : al_shell_check_outputs(root, words, err);
}

/* Check the words before patterns are expanded, so that a refusal does not depend on the files that
 * exist. */
static int check_as_written(const struct al_shell *shell, const struct al_shell_step *step,
                            struct al_error *err)
{
    const struct al_root *root = &shell->options.roots->items[0];
    const char *pattern = step->patterns.items[0];
    int r = al_shell_check_command(shell->options.whitelist,
                                   *pattern ? pattern : step->given.items[0], err);

    if (r == 0)
        r = check_words(root, &step->given, err);
    for (size_t i = 0; i < AL_SHELL_STREAMS && r == 0; i++)
        if (step->files[i])
            r = al_redirect_check(root, step->files[i], err);
    return r;
}

static int expand(const struct al_root *root, struct al_shell_step *step, struct al_glob_cost *cost,
                  struct al_error *err)
{
    struct al_strv *words = &step->words;
    size_t bytes = 0;

    for (size_t i = 0; i < step->given.count; i++) {
        const char *pattern = step->patterns.items[i];
        size_t before = words->count;
        int r = *pattern ? al_glob_expand(root->fd, pattern, cost, words, err) : 0;

        if (r < 0)
            return r;
        if (words->count == before)
            al_strv_add(words, step->given.items[i]);
        for (size_t k = before; k < words->count; k++)
            bytes += strlen(words->items[k]) + 1;
        if (bytes > WORDS_MAX_BYTES)
            return al_error_set(err, AL_ERR_BAD_ARGS, "The command becomes longer than %u bytes",
                                WORDS_MAX_BYTES);
    }
    return 0;
}

int al_shell_plan(const struct al_shell *shell, const char *command, struct al_shell_plan *ret_plan,
                  struct al_error *err)
{
    const struct al_root *root = &shell->options.roots->items[0];
    struct al_glob_cost cost = AL_GLOB_COST_INIT;
    int r = al_shell_parse(command, ret_plan, err);

    for (size_t i = 0; i < ret_plan->nsteps && r == 0; i++)
        r = check_as_written(shell, &ret_plan->steps[i], err);
    for (size_t i = 0; i < ret_plan->nsteps && r == 0; i++) {
        struct al_shell_step *step = &ret_plan->steps[i];

        step->kind = al_shell_kind_of(step->given.items[0]);
        r = expand(root, step, &cost, err);
        if (r == 0)
            r = check_words(root, &step->words, err);
        for (size_t k = 0; k < AL_SHELL_STREAMS && r == 0; k++)
            if (step->files[k])
                r = al_redirect_find(root, step->files[k], &step->to[k], err);
    }
    if (r < 0)
        al_shell_plan_clear(ret_plan);
    return r;
}
