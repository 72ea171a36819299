// SPDX-License-Identifier: Apache-2.0
#include "toolsets/shell/unsupported.h"

#include <string.h>

#include "util/mem.h"
#include "util/str.h"

int al_shell_unsupported(const char *what, const char *why, struct al_error *err)
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

int al_shell_check_operator(const char *at, struct al_error *err)
{
    for (size_t i = 0; i < AL_COUNT(operators); i++)
        if (al_starts_with(at, operators[i].text))
            return al_shell_unsupported(operators[i].name, operators[i].why, err);
    return 0;
}

int al_shell_check_characters(const char *line, struct al_error *err)
{
    for (const unsigned char *s = (const unsigned char *)line; *s; s++) {
        if (*s == '\n')
            return al_shell_unsupported("A newline", "one pipeline a call", err);
        if ((*s < 0x20 && *s != '\t') || *s == 0x7f)
            return al_shell_unsupported("A control character",
                                        "write it as printf or echo -e would", err);
    }
    return 0;
}

int al_shell_check_dollar(const char *at, bool in_double_quotes, struct al_error *err)
{
    const char next = at[1];
    static const char specials[] = "_{([*@#?-$!'\"";

    if (!next || (in_double_quotes && next == '"'))
        return 0;
    if ((next >= '0' && next <= '9') || (next >= 'a' && next <= 'z') ||
        (next >= 'A' && next <= 'Z'))
        return al_shell_unsupported("'$' (a variable)", "quote it with ' to mean the character",
                                    err);
    if (!in_double_quotes && (next == '\'' || next == '"'))
        return al_shell_unsupported("'$' before a quote", "use plain quotes", err);
    if (strchr(specials, next) && (!in_double_quotes || (next != '\'' && next != '"')))
        return al_shell_unsupported("'$' (an expansion)", "quote it with ' to mean the character",
                                    err);
    return 0;
}

/* bash expands {a,b} and {1..3} and leaves other braces alone.  It does so even with quotes inside,
 * so everything up to the line's last '}' counts. */
int al_shell_check_brace(const char *at, struct al_error *err)
{
    const char *last = strrchr(at, '}');
    al_auto(al_freep) char *inside = last ? al_strndup(at, (size_t)(last - at)) : NULL;

    if (inside && (strchr(inside, ',') || strstr(inside, "..")))
        return al_shell_unsupported("'{' (brace expansion)", "write the words out, or quote it",
                                    err);
    return 0;
}
