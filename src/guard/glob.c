// SPDX-License-Identifier: Apache-2.0
#include "guard/glob.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wctype.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "guard/nofollow.h"
#include "guard/text.h"

/* Read one character of a text that is not at its end. */
static const char *take(const char *at, uint32_t *ret_char)
{
    int len = al_utf8_next(at, strnlen(at, 4), ret_char);

    if (len > 0)
        return at + len;
    *ret_char = 0x110000u + (unsigned char)*at; /* not a character, so it equals no character */
    return at + 1;
}

/* Matching one name. */

static const char *take_literal(const char *at, uint32_t *ret_char)
{
    if (*at == '\\' && at[1])
        at++;
    return take(at, ret_char);
}

/* The locale that programs run with.  The process itself stays in the C locale. */
static locale_t classes;
static pthread_once_t classes_once = PTHREAD_ONCE_INIT;

static void load_classes(void)
{
    classes = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

/* Read a class like "[:alpha:]" at a bracket's '[', and whether it contains the character; NULL
 * when there is no class. */
static const char *take_class(const char *at, uint32_t c, bool *ret_has)
{
    char name[16];
    size_t len = strnlen(at, 2 + sizeof(name) + 1);
    const char *end = at[1] == ':' ? memmem(at + 2, len - 2, ":]", 2) : NULL;

    if (!end)
        return NULL;
    len = (size_t)(end - at) - 2;
    memcpy(name, at + 2, len);
    name[len] = '\0';
    (void)pthread_once(&classes_once, load_classes);
    if (classes)
        *ret_has = iswctype_l((wint_t)c, wctype_l(name, classes), classes);
    return end + 2;
}

/* Match a bracket expression; NULL when it has no end, so '[' is literal. */
static const char *take_bracket(const char *at, uint32_t c, bool *ret_matches)
{
    bool negated = *at == '!' || *at == '^', has = false, first = true;

    at += negated;
    for (; *at && (*at != ']' || first); first = false) {
        uint32_t low, high;
        bool in_class = false;
        const char *end = *at == '[' ? take_class(at, c, &in_class) : NULL;

        if (end) {
            has |= in_class;
            at = end;
            continue;
        }
        at = take_literal(at, &low);
        high = low;
        if (at[0] == '-' && at[1] && at[1] != ']')
            at = take_literal(at + 1, &high);
        has |= c >= low && c <= high;
    }
    *ret_matches = has != negated;
    return *at ? at + 1 : NULL;
}

/* Match one element of the pattern against one character.  Returns the rest of the pattern, or
 * NULL. */
static const char *match_one(const char *pattern, uint32_t c)
{
    uint32_t wanted;

    if (*pattern == '?')
        return pattern + 1;
    if (*pattern == '[') {
        bool matches;
        const char *after = take_bracket(pattern + 1, c, &matches);

        if (after)
            return matches ? after : NULL;
    }
    if (!*pattern)
        return NULL;
    pattern = take_literal(pattern, &wanted);
    return wanted == c ? pattern : NULL;
}

bool al_glob_match(const char *pattern, const char *name)
{
    if (*name == '.' && *pattern != '.' && strncmp(pattern, "\\.", 2) != 0)
        return false;
    if (!strcmp(name, ".") || !strcmp(name, ".."))
        return false;
    return al_glob_match_any(pattern, name);
}

bool al_glob_match_any(const char *pattern, const char *name)
{
    const char *star = NULL, *retry = NULL;

    while (*name) {
        uint32_t c;
        const char *next = take(name, &c);
        const char *after = *pattern == '*' ? NULL : match_one(pattern, c);

        if (*pattern == '*') {
            star = ++pattern;
            retry = name;
        } else if (after) {
            pattern = after;
            name = next;
        } else if (star) {
            /* The last star matches one more character. */
            pattern = star;
            name = retry = take(retry, &c);
        } else {
            return false;
        }
    }
    return pattern[strspn(pattern, "*")] == '\0';
}

char *al_glob_literal(const char *pattern)
{
    struct al_str text = AL_STR_INIT;

    for (; *pattern; pattern++) {
        if (*pattern == '\\' && pattern[1])
            pattern++;
        al_str_addc(&text, *pattern);
    }
    return al_str_detach(&text);
}

/* Walking the tree, one part between slashes after the other.  Only a part with a pattern recurses,
 * since it may match several names. */

struct walk {
    int dir_fd;
    struct al_strv *names;
    size_t first; /* the number of names before this pattern */
    size_t entries;
    struct al_glob_cost *cost;
    bool too_many;
};

static bool is_pattern(const char *part)
{
    for (; *part; part++) {
        if (*part == '\\' && part[1])
            part++;
        else if (strchr("*?[", *part))
            return true;
    }
    return false;
}

static void descend(struct walk *walk, const char *before, bool matched, const char *pattern);

static void keep(struct walk *walk, const char *name)
{
    if (walk->names->count - walk->first >= AL_GLOB_NAMES_MAX)
        walk->too_many = true;
    else
        al_strv_add(walk->names, name);
}

static bool is_there(const struct walk *walk, const char *name, bool directory)
{
    al_auto(al_closep) int fd = al_beneath_open(
        walk->dir_fd, name, O_PATH | (directory ? O_DIRECTORY : O_NOFOLLOW), RESOLVE_BENEATH);

    return fd >= 0;
}

/* Append the slashes before the next part.  They stay as written up to the first matched part;
 * after it, several slashes become one. */
static void add_slashes(struct al_str *name, bool matched, size_t slashes)
{
    for (size_t i = 0; i < (matched && slashes ? 1 : slashes); i++)
        al_str_addc(name, '/');
}

static bool is_too_much(struct walk *walk, const char *part, const char *name)
{
    struct al_glob_cost *cost = walk->cost;

    cost->comparisons += (strlen(part) + 1) * (strlen(name) + 1);
    return ++walk->entries > AL_GLOB_ENTRIES_MAX || ++cost->entries > AL_GLOB_ALL_ENTRIES_MAX ||
           cost->comparisons > AL_GLOB_COMPARISONS_MAX;
}

/* Find all names in one directory that a part matches, and continue each with the rest of the
 * pattern. */
static void list(struct walk *walk, const char *prefix, const char *part, const char *rest)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list(al_beneath_open(
        walk->dir_fd, *prefix ? prefix : ".", O_RDONLY | O_DIRECTORY, RESOLVE_BENEATH));
    const size_t slashes = strspn(rest, "/");
    const struct dirent *entry;

    while (dir && !walk->too_many && (entry = readdir(dir))) {
        al_auto(al_str_clear) struct al_str name = AL_STR_INIT;

        walk->too_many |= is_too_much(walk, part, entry->d_name);
        if (walk->too_many || !al_glob_match(part, entry->d_name))
            continue;
        al_str_addf(&name, "%s%s", prefix, entry->d_name);
        add_slashes(&name, true, slashes);
        if (rest[slashes])
            descend(walk, name.buf, true, rest + slashes);
        else if (!slashes || is_there(walk, name.buf, true))
            keep(walk, name.buf);
    }
}

/* Append literal parts to the name so far, a part of which may have been matched by a pattern, up
 * to the next part with one. */
static void descend(struct walk *walk, const char *before, bool matched, const char *pattern)
{
    al_auto(al_str_clear) struct al_str name = AL_STR_INIT;
    size_t slashes = 0;

    al_str_adds(&name, before);
    while (*pattern) {
        const size_t len = strcspn(pattern, "/");
        al_auto(al_freep) char *part = al_strndup(pattern, len);
        al_auto(al_freep) char *literal = al_glob_literal(part);

        pattern += len;
        if (is_pattern(part)) {
            list(walk, name.buf, part, pattern);
            return;
        }
        slashes = strspn(pattern, "/");
        al_str_adds(&name, literal);
        add_slashes(&name, matched, slashes);
        pattern += slashes;
    }
    if (is_there(walk, name.buf, slashes > 0))
        keep(walk, name.buf);
}

static bool leaves(const char *pattern)
{
    al_auto(al_freep) char *literal = al_glob_literal(pattern);

    return *pattern == '/' || al_path_goes_up(literal);
}

static int check_length(const char *pattern, struct al_error *err)
{
    size_t parts = 1;

    if (strlen(pattern) > AL_GLOB_PATTERN_MAX)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "A pattern has more than %d bytes; quote it to mean the characters",
                            AL_GLOB_PATTERN_MAX);
    for (const char *at = pattern; *at; at++)
        parts += at[0] == '/' && at[1] && at[1] != '/';
    if (parts > AL_GLOB_PARTS_MAX)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "A pattern has more than %d parts; quote it to mean the characters",
                            AL_GLOB_PARTS_MAX);
    return 0;
}

int al_glob_expand(int dir_fd, const char *pattern, struct al_glob_cost *cost,
                   struct al_strv *names, struct al_error *err)
{
    struct walk walk = { .dir_fd = dir_fd, .cost = cost, .names = names, .first = names->count };
    al_auto(al_freep) char *safe = al_text_sanitize_line(pattern);
    int r = check_length(pattern, err);

    if (r < 0)
        return r;
    if (leaves(pattern))
        return al_error_set(err, AL_ERR_SANDBOX, "The pattern '%s' leaves the working directory",
                            safe);
    descend(&walk, "", false, pattern);
    if (walk.too_many)
        return al_error_set(err, AL_ERR_BAD_ARGS, "The pattern '%s' matches too many names", safe);
    al_strv_sort(&(struct al_strv){ names->items + walk.first, names->count - walk.first });
    return 0;
}
