// SPDX-License-Identifier: Apache-2.0
#include "tools/shell/private.h"

#include <unistd.h>

#include "guard/glob.h"

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
