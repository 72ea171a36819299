// SPDX-License-Identifier: Apache-2.0
#include "tools/shell/private.h"

#include <unistd.h>

/* The error "<what> is not allowed: <why>". */
static int shell_unsupported(const char *what, const char *why, struct al_error *err)
{
    return al_error_set(err, AL_ERR_BAD_ARGS, "%s is not allowed: %s", what, why);
}

/* A longer operator stands before those that it begins with. */
static const struct operator
{
    const char *text, *name, *why;
}
operators[] = {
    { "&&", "'&&'", "one pipeline a call" },
    { "||", "'||'", "one pipeline a call" },
    { "|&", "'|&'", "write 2>&1 |" },
    { "&>", "'&>'", "write > FILE 2>&1" },
    { "&", "'&'", "nothing runs in the background" },
    { ";", "';'", "one pipeline a call" },
    { "`", "'`' (command substitution)", "nothing is substituted" },
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

/* Check for an operator other than '|' and plain redirects, outside of quotes. */
static int shell_check_operator(const char *at, struct al_error *err)
{
    for (size_t i = 0; i < AL_COUNT(operators); i++)
        if (al_starts_with(at, operators[i].text))
            return shell_unsupported(operators[i].name, operators[i].why, err);
    return 0;
}

/* Check a whole line for newlines and control characters. */
static int shell_check_characters(const char *line, struct al_error *err)
{
    for (const unsigned char *s = (const unsigned char *)line; *s; s++) {
        if (*s == '\n')
            return shell_unsupported("A newline", "one pipeline a call", err);
        if ((*s < 0x20 && *s != '\t') || *s == 0x7f)
            return shell_unsupported("A control character", "write it as printf or echo -e would",
                                     err);
    }
    return 0;
}

/* Check a '$'.  It is allowed where bash would not expand it. */
static int shell_check_dollar(const char *at, bool in_double_quotes, struct al_error *err)
{
    const char next = at[1];
    static const char specials[] = "_{([*@#?-$!'\"";

    if (!next || (in_double_quotes && next == '"'))
        return 0;
    if ((next >= '0' && next <= '9') || (next >= 'a' && next <= 'z') ||
        (next >= 'A' && next <= 'Z'))
        return shell_unsupported("'$' (a variable)", "quote it with ' to mean the character", err);
    if (!in_double_quotes && (next == '\'' || next == '"'))
        return shell_unsupported("'$' before a quote", "use plain quotes", err);
    if (strchr(specials, next) && (!in_double_quotes || (next != '\'' && next != '"')))
        return shell_unsupported("'$' (an expansion)", "quote it with ' to mean the character",
                                 err);
    return 0;
}

/* bash expands {a,b} and {1..3} and leaves other braces alone.  It does so even with quotes inside,
 * so everything up to the line's last '}' counts. */
static int shell_check_brace(const char *at, struct al_error *err)
{
    const char *last = strrchr(at, '}');
    al_auto(al_freep) char *inside = last ? al_strndup(at, (size_t)(last - at)) : NULL;

    if (inside && (strchr(inside, ',') || strstr(inside, "..")))
        return shell_unsupported("'{' (brace expansion)", "write the words out, or quote it", err);
    return 0;
}

/* The characters that end a word. */
#define WORD_ENDS " \t|<>"

/* The state of the parser. */
struct parser {
    const char *at;
    struct al_shell_plan *plan;
    size_t nwords;
    struct al_error *err;
};

/* A word that is being parsed. */
struct word {
    struct al_str text, pattern;
    bool is_pattern, exists, is_quoted;
};

static void add(struct word *word, const char *text, size_t len, bool quoted)
{
    word->exists = true;
    word->is_quoted |= quoted;
    al_str_add(&word->text, text, len);
    for (size_t i = 0; i < len; i++) {
        bool special = strchr("*?[", text[i]);

        if (quoted && (special || strchr("]\\-!^", text[i])))
            al_str_addc(&word->pattern, '\\');
        word->is_pattern |= special && !quoted;
        al_str_addc(&word->pattern, text[i]);
    }
}

static int take_single(struct parser *parser, struct word *word)
{
    size_t len = strcspn(parser->at + 1, "'");

    if (!parser->at[len + 1])
        return al_error_set(parser->err, AL_ERR_BAD_ARGS, "A quote ' is not closed");
    add(word, parser->at + 1, len, true);
    parser->at += len + 2;
    return 0;
}

static int take_double(struct parser *parser, struct word *word)
{
    add(word, "", 0, true);
    for (parser->at++; *parser->at != '"'; parser->at++) {
        const char c = *parser->at;

        if (!c)
            return al_error_set(parser->err, AL_ERR_BAD_ARGS, "A quote \" is not closed");
        if (c == '`')
            return shell_check_operator(parser->at, parser->err);
        if (c == '$') {
            int r = shell_check_dollar(parser->at, true, parser->err);

            if (r < 0)
                return r;
        }
        if (c == '\\' && parser->at[1] && strchr("\\\"$`", parser->at[1]))
            parser->at++;
        add(word, parser->at, 1, true);
    }
    parser->at++;
    return 0;
}

static int take_plain(struct parser *parser, struct word *word)
{
    int r = shell_check_operator(parser->at, parser->err);

    if (r < 0)
        return r;
    if (*parser->at == '\\') {
        if (!parser->at[1])
            return shell_unsupported("'\\' at the end", "nothing follows it", parser->err);
        add(word, parser->at + 1, 1, true);
        parser->at += 2;
        return 0;
    }
    /* bash would expand '~' at the beginning of a word and after '=' or ':'. */
    if (*parser->at == '~' &&
        (!word->exists || (word->text.len && strchr("=:", word->text.buf[word->text.len - 1]))))
        return shell_unsupported("'~' (a home directory)", "quote it to mean the character",
                                 parser->err);
    if (!word->exists && *parser->at == '#')
        return shell_unsupported("'#' (a comment)", "quote it to mean the character", parser->err);
    if (*parser->at == '$')
        r = shell_check_dollar(parser->at, false, parser->err);
    if (*parser->at == '{')
        r = shell_check_brace(parser->at, parser->err);
    if (r < 0)
        return r;
    add(word, parser->at, 1, false);
    parser->at++;
    return 0;
}

static void word_clear(struct word *word)
{
    al_str_clear(&word->text);
    al_str_clear(&word->pattern);
}

#define WORD_INIT ((struct word){ .text = AL_STR_INIT, .pattern = AL_STR_INIT })

static int take_word(struct parser *parser, struct word *word)
{
    int r = 0;

    while (r == 0 && *parser->at && !strchr(WORD_ENDS, *parser->at)) {
        if (*parser->at == '\'')
            r = take_single(parser, word);
        else if (*parser->at == '"')
            r = take_double(parser, word);
        else
            r = take_plain(parser, word);
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
    al_auto(word_clear) struct word word = WORD_INIT;
    int r;

    skip_blanks(parser);
    if (*place)
        return al_error_set(parser->err, AL_ERR_BAD_ARGS, "A stream is redirected twice");
    r = shell_check_operator(parser->at, parser->err);
    if (r == 0)
        r = take_word(parser, &word);
    if (r < 0)
        return r;
    if (!word.exists)
        return al_error_set(parser->err, AL_ERR_BAD_ARGS, "A redirect needs the name of a file");
    if (word.is_pattern)
        return shell_unsupported("A pattern after a redirect", "quote it to mean the characters",
                                 parser->err);
    *place = al_str_detach(&word.text);
    return 0;
}

static int join_streams(struct parser *parser, struct al_shell_step *step)
{
    if (step->join || step->files[STDERR_FILENO])
        return al_error_set(parser->err, AL_ERR_BAD_ARGS, "A stream is redirected twice");
    step->join = true;
    parser->at += strlen(">&1");
    if (*parser->at && !strchr(" \t|", *parser->at))
        return shell_unsupported("'>&'", "only 2>&1 joins streams", parser->err);
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
    r = shell_check_operator(parser->at, parser->err);
    if (r < 0)
        return r;
    if (number && number != '0' + stream)
        return shell_unsupported("Such a descriptor", "only 0, 1 and 2 are", parser->err);
    if (step->join && stream == STDERR_FILENO)
        return al_error_set(parser->err, AL_ERR_BAD_ARGS, "A stream is redirected twice");
    /* In bash, 2>&1 before the redirect joins the old output, which is rarely intended. */
    if (step->join && stream == STDOUT_FILENO)
        return shell_unsupported("A redirect of the output behind 2>&1", "write > FILE 2>&1",
                                 parser->err);
    parser->at += append ? 2 : 1;
    step->appends[stream] = append;
    return take_target(parser, &step->files[stream]);
}

/* --- Steps --- */

static int add_word(struct parser *parser, struct al_shell_step *step, const struct word *word)
{
    if (++parser->nwords > AL_SHELL_WORDS_MAX)
        return al_error_set(parser->err, AL_ERR_BAD_ARGS, "The command has more than %d words",
                            AL_SHELL_WORDS_MAX);
    al_strv_add(&step->given, word->text.buf);
    al_strv_add(&step->patterns, word->is_pattern ? word->pattern.buf : "");
    return 0;
}

/* Whether a word is the number of a redirect, as in "2>". */
static bool is_number(const struct word *word, char next)
{
    return (next == '<' || next == '>') && word->exists && !word->is_quoted &&
           word->text.len == strspn(word->text.buf, "0123456789");
}

static int take_item(struct parser *parser, struct al_shell_step *step)
{
    al_auto(word_clear) struct word word = WORD_INIT;
    int r = take_word(parser, &word);

    if (r < 0)
        return r;
    if (is_number(&word, *parser->at)) {
        if (word.text.len > 1)
            return shell_unsupported("Such a descriptor", "only 0, 1 and 2 are", parser->err);
        return take_redirect(parser, step, word.text.buf[0]);
    }
    if (word.text.buf[0] == '{' && *parser->at && strchr("<>", *parser->at))
        return shell_unsupported("'{' before a redirect", "only 0, 1 and 2 are redirected",
                                 parser->err);
    if (word.exists)
        return add_word(parser, step, &word);
    return take_redirect(parser, step, '\0');
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
        r = shell_check_operator(parser->at, parser->err);
    if (r == 0 && !step->given.count)
        r = al_error_set(parser->err, AL_ERR_BAD_ARGS, "A command is missing%s",
                         plan->nsteps > 1 || *parser->at ? " beside '|'" : "");
    return r;
}

int al_shell_parse(const char *command, struct al_shell_plan *ret_plan, struct al_error *err)
{
    struct parser parser = { .at = command, .plan = ret_plan, .err = err };
    int r = shell_check_characters(command, err);

    ret_plan->nsteps = 0;
    while (r == 0) {
        r = take_step(&parser);
        if (r < 0 || *parser.at != '|')
            break;
        parser.at++;
    }
    if (r < 0)
        al_shell_plan_clear(ret_plan);
    return r;
}
