// SPDX-License-Identifier: Apache-2.0
/* echo and pwd, with the behaviour of bash's builtins. */
#include "toolsets/shell/builtin.h"

#include "util/utf8.h"

/* Whether a word is an option of echo, such as "-n" or "-neE". */
static bool is_echo_option(const char *word)
{
    return word[0] == '-' && word[1] && !word[1 + strspn(word + 1, "neE")];
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 99;
}

/* Read at most `most` digits.  Returns the end of the number. */
static const char *take_number(const char *at, unsigned base, int most, uint32_t *ret)
{
    *ret = 0;
    for (; most > 0 && digit_of(*at) < (int)base; most--, at++)
        *ret = *ret * base + (uint32_t)digit_of(*at);
    return at;
}

/* Append the character of a numeric escape: 0, x, u or U and digits.  NULL: there are no digits. */
static const char *take_numeric(const char *at, struct al_str *out)
{
    const char letter = *at;
    const char *from = at + 1;
    uint32_t c;

    if (letter == '0') {
        at = take_number(from, 8, 3, &c);
        al_str_addc(out, (char)(c & 0xff));
        return at;
    }
    at = take_number(from, 16, letter == 'x' ? 2 : letter == 'u' ? 4 : 8, &c);
    if (at == from)
        return NULL;
    if (letter == 'x')
        al_str_addc(out, (char)c);
    else
        al_utf8_add(c, out);
    return at;
}

/* Append the character of the escape after a backslash.  Returns its end; NULL for `\c`, which ends
 * the output. */
static const char *take_escape(const char *at, struct al_str *out)
{
    static const char letters[] = "abeEfnrtv\\";
    static const char meant[] = "\a\b\033\033\f\n\r\t\v\\";
    const char *known = *at ? strchr(letters, *at) : NULL;
    const char *after = NULL;

    if (*at == 'c')
        return NULL;
    if (known) {
        al_str_addc(out, meant[known - letters]);
        return at + 1;
    }
    if (*at && strchr("0xuU", *at))
        after = take_numeric(at, out);
    if (after)
        return after;
    al_str_addc(out, '\\');
    return at;
}

/* Append a word with its escapes replaced.  Returns false after `\c`. */
static bool add_escaped(const char *word, struct al_str *out)
{
    while (*word) {
        if (*word != '\\') {
            al_str_addc(out, *word++);
            continue;
        }
        word = take_escape(word + 1, out);
        if (!word)
            return false;
    }
    return true;
}

int al_shell_echo(const struct al_strv *words, struct al_str *out)
{
    bool newline = true, escapes = false;
    size_t at = 1;

    for (; at < words->count && is_echo_option(words->items[at]); at++)
        for (const char *letter = words->items[at] + 1; *letter; letter++) {
            newline &= *letter != 'n';
            escapes = *letter == 'e' || (escapes && *letter != 'E');
        }
    for (size_t i = at; i < words->count; i++) {
        if (i > at)
            al_str_addc(out, ' ');
        if (!escapes)
            al_str_adds(out, words->items[i]);
        else if (!add_escaped(words->items[i], out))
            return 0;
    }
    if (newline)
        al_str_addc(out, '\n');
    return 0;
}

int al_shell_pwd(const struct al_strv *words, const char *dir, struct al_str *out,
                 struct al_str *errors)
{
    for (size_t i = 1; i < words->count; i++) {
        const char *word = words->items[i];
        size_t good = 1 + strspn(word + 1, "LP");

        if (word[0] != '-' || !word[1] || !strcmp(word, "--"))
            break;
        if (word[good]) {
            al_str_addf(errors, "pwd: -%c: invalid option\npwd: usage: pwd [-LP]\n", word[good]);
            return 2;
        }
    }
    al_str_addf(out, "%s\n", dir);
    return 0;
}
