// SPDX-License-Identifier: Apache-2.0
/* The names of files: as an agent gives them, as a store has them, as messages show them, and as
 * patterns match them. */
#include <limits.h>

#include "base/fs.h"
#include "guard/gitdir.h"
#include "guard/glob.h"
#include "guard/text.h"
#include "staging/sandbox/backend.h"

static int refuse(struct al_error *err, enum al_status status, const char *given, const char *why)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(given);

    return al_error_set(err, status, "'%s' %s", safe, why);
}

/* Controls of ASCII, and in UTF-8 U+0080 to U+009F. */
static bool has_control(const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        if (*c < 0x20 || *c == 0x7f || (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0))
            return true;
    return false;
}

static bool is_temporary(const char *component, size_t len)
{
    al_auto(al_freep) char *name = al_strndup(component, len);

    return al_fs_temp_owner(name) != 0;
}

/* Check every component of a path without a leading '/'. */
static int check_components(const char *path, const char *given, struct al_error *err)
{
    for (const char *at = path;; at++) {
        size_t len = strcspn(at, "/");

        if (!len)
            return refuse(err, AL_ERR_BAD_ARGS, given, "has an empty component; write one '/'");
        if (len > NAME_MAX)
            return refuse(err, AL_ERR_BAD_ARGS, given, "has a component of more than 255 bytes");
        if (!strncmp(at, "..", len) && len <= 2)
            return refuse(err, AL_ERR_SANDBOX, given,
                          "has a '.' or '..' component; write the path without it");
        if (is_temporary(at, len))
            return refuse(err, AL_ERR_BAD_ARGS, given,
                          "has a name that airlock gives its temporary files; choose another one");
        at += len;
        if (!*at)
            break;
    }
    return al_path_has_dot_git(path) ? al_gitdir_refuse(given, err) : 0;
}

int al_sandbox_check_stored(const char *path, struct al_error *err)
{
    if (strlen(path) >= PATH_MAX - sizeof(AL_SANDBOX_ROOT))
        return refuse(err, AL_ERR_EXECUTION, path, "is too long for the sandbox");
    return check_components(path, path, err);
}

/* A path that does not begin with the name of the workspace. */
static int refuse_outside(const char *given, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(given);

    if (given[0] == '/')
        return al_error_set(
            err, AL_ERR_SANDBOX,
            "Path outside sandbox: %s (paths of the sandbox begin with " AL_SANDBOX_ROOT "/)",
            safe);
    return al_error_set(
        err, AL_ERR_BAD_ARGS,
        "'%s' is no path of the sandbox; such a path begins with " AL_SANDBOX_ROOT "/", safe);
}

int al_sandbox_path(const char *given, char **ret_path, struct al_error *err)
{
    al_auto(al_freep) char *path = NULL;
    const size_t root = strlen(AL_SANDBOX_ROOT);
    const char *rest;
    int r = 0;

    if (strlen(given) >= PATH_MAX)
        return al_error_set(err, AL_ERR_BAD_ARGS, "the path is longer than %d bytes", PATH_MAX - 1);
    if (has_control(given))
        return refuse(err, AL_ERR_BAD_ARGS, given, "has a control character; write it without");
    if (!al_starts_with(given, AL_SANDBOX_ROOT) || (given[root] && given[root] != '/'))
        return refuse_outside(given, err);
    rest = given + root;
    path = al_strdup(*rest ? rest + 1 : rest);
    if (*path && al_ends_with(path, "/"))
        path[strlen(path) - 1] = '\0';
    if (*path || !strcmp(rest, "//"))
        r = check_components(path, given, err);
    if (r == 0)
        *ret_path = al_take(&path);
    return r;
}

/* --- Failures --- */

static int fail(const char *before, const char *path, const char *after, enum al_status status,
                struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(path);

    return al_error_set(err, status, "%s'%s%s%s'%s", before, AL_SANDBOX_ROOT, *safe ? "/" : "",
                        safe, after);
}

int al_sandbox_fail(const char *path, const char *text, struct al_error *err)
{
    return fail("", path, text, AL_ERR_EXECUTION, err);
}

int al_sandbox_missing(const char *path, struct al_error *err)
{
    (void)al_error_reason(
        fail("no such file: ", path, "; list_files shows what is there", AL_ERR_EXECUTION, err),
        err, "not_found");
    return AL_ERR_NOT_FOUND;
}

int al_sandbox_is_link(const char *path, struct al_error *err)
{
    return fail("", path,
                " is a symbolic link, which is not followed; delete it or name another file",
                AL_ERR_SANDBOX, err);
}

int al_sandbox_too_many(struct al_error *err)
{
    return al_error_set(err, AL_ERR_EXECUTION, "the sandbox holds more than %u files",
                        AL_SANDBOX_FILES_MAX);
}

/* --- Patterns --- */

/* Match one component of each, given as the text up to the next '/'. */
static bool match_component(const char *pattern, size_t pattern_len, const char *name,
                            size_t name_len)
{
    char one[AL_GLOB_PATTERN_MAX + 1], other[NAME_MAX + 1];

    if (pattern_len >= sizeof(one) || name_len >= sizeof(other))
        return false;
    memcpy(one, pattern, pattern_len);
    one[pattern_len] = '\0';
    memcpy(other, name, name_len);
    other[name_len] = '\0';
    return al_glob_match_any(one, other);
}

/* The text behind the next '/', or its end. */
static const char *next(const char *at)
{
    at += strcspn(at, "/");
    return *at ? at + 1 : at;
}

static bool is_many(const char *pattern, size_t len)
{
    return len == 2 && !strncmp(pattern, "**", 2);
}

/* Match component by component.  Only the last "**" has to be tried again with one component more,
 * as with '*' in a name. */
static bool match_path(const char *pattern, const char *path)
{
    const char *many = NULL, *retry = NULL;

    while (*path) {
        size_t pattern_len = strcspn(pattern, "/"), len = strcspn(path, "/");

        if (is_many(pattern, pattern_len)) {
            many = pattern = next(pattern);
            retry = path;
            if (!*pattern)
                return true;
        } else if (*pattern && match_component(pattern, pattern_len, path, len)) {
            pattern = next(pattern);
            path = next(path);
        } else if (many) {
            pattern = many;
            path = retry = next(retry);
        } else {
            return false;
        }
    }
    return !*pattern;
}

bool al_sandbox_match(const char *pattern, const char *path)
{
    const char *name = strrchr(path, '/');
    size_t len = strlen(pattern);

    if (!len || pattern[len - 1] == '/') /* of a directory, and there are files only */
        return false;
    if (!strchr(pattern, '/') && !is_many(pattern, strlen(pattern)))
        return match_path(pattern, name ? name + 1 : path);
    return match_path(pattern, path);
}

const char *al_sandbox_pattern_hint(const char *pattern)
{
    const char *brace = strchr(pattern, '{');

    if (brace && strchr(brace, '}'))
        return "; '{…}' is not expanded, so give a pattern for each of its words";
    return *pattern == '!' ? "; a pattern cannot exclude files" : "";
}
