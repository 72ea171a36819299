// SPDX-License-Identifier: Apache-2.0
/* The names of files: as an agent gives them, as a store has them, and as messages show them. */
#include <limits.h>

#include "guard/gitdir.h"
#include "guard/text.h"
#include "sandbox/backend.h"
#include "util/fs.h"
#include "util/utf8.h"

/* The directories that agents see. */
static const char *const zones[] = { "workspace" };

static int refuse(struct al_error *err, enum al_status status, const char *given, const char *why)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(given);

    return al_error_set(err, status, "'%s' %s", safe, why);
}

static bool has_control(const char *text)
{
    size_t left = strlen(text);

    while (left) {
        uint32_t c = 0;
        int n = al_utf8_next(text, left, &c);

        if (n > 0 && (c < 0x20 || (c >= 0x7f && c < 0xa0)))
            return true;
        text += n > 0 ? n : 1;
        left -= n > 0 ? (size_t)n : 1;
    }
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

/* An absolute path that is in no zone. */
static int refuse_zone(const char *given, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(given);
    al_auto(al_str_clear) struct al_str valid = AL_STR_INIT;

    for (size_t i = 0; i < AL_COUNT(zones); i++)
        al_str_addf(&valid, "%s/%s/", i ? ", " : "", zones[i]);
    return al_error_set(err, AL_ERR_SANDBOX,
                        "Path outside sandbox: %s (paths of the sandbox begin with %s)", safe,
                        valid.buf);
}

static int refuse_relative(const char *given, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(given);

    return al_error_set(err, AL_ERR_BAD_ARGS,
                        "'%s' is no path of the sandbox; such a path begins with /%s/", safe,
                        zones[0]);
}

/* The part behind the zone: "" or "/…"; NULL when the path is in no zone. */
static const char *behind_zone(const char *given)
{
    for (size_t i = 0; i < AL_COUNT(zones); i++) {
        size_t len = strlen(zones[i]);

        if (!strncmp(given + 1, zones[i], len) && (!given[1 + len] || given[1 + len] == '/'))
            return given + 1 + len;
    }
    return NULL;
}

int al_sandbox_path(const char *given, char **ret_path, struct al_error *err)
{
    al_auto(al_freep) char *path = NULL;
    const char *rest;
    int r = 0;

    if (strlen(given) >= PATH_MAX)
        return al_error_set(err, AL_ERR_BAD_ARGS, "the path is longer than %d bytes", PATH_MAX - 1);
    if (has_control(given))
        return refuse(err, AL_ERR_BAD_ARGS, given, "has a control character; write it without");
    if (given[0] != '/')
        return refuse_relative(given, err);
    rest = behind_zone(given);
    if (!rest)
        return refuse_zone(given, err);
    path = al_strdup(*rest ? rest + 1 : rest);
    if (*path && al_ends_with(path, "/"))
        path[strlen(path) - 1] = '\0';
    if (*path || !strcmp(rest, "//"))
        r = check_components(path, given, err);
    if (r == 0)
        *ret_path = al_take(&path);
    return r;
}

int al_sandbox_fail(struct al_error *err, enum al_status status, const char *path,
                    const char *before, const char *after)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(path);

    return al_error_set(err, status, "%s'%s%s%s'%s", before, AL_SANDBOX_ROOT, *safe ? "/" : "",
                        safe, after);
}

int al_sandbox_missing(const char *path, struct al_error *err)
{
    (void)al_sandbox_fail(err, AL_ERR_EXECUTION, path,
                          "no such file: ", "; list_files shows what is there");
    if (err)
        err->reason = "not_found";
    return AL_ERR_NOT_FOUND;
}

int al_sandbox_is_directory(const char *path, struct al_error *err)
{
    return al_sandbox_fail(err, AL_ERR_EXECUTION, path, "", " is a directory; name a file");
}

int al_sandbox_is_below_file(const char *path, const char *file, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(file);
    al_auto(al_freep) char *after =
        al_asprintf(" cannot be: '%s/%s' is a file and no directory", AL_SANDBOX_ROOT, safe);

    return al_sandbox_fail(err, AL_ERR_EXECUTION, path, "", after);
}

int al_sandbox_changed(const char *path, struct al_error *err)
{
    return al_sandbox_fail(err, AL_ERR_EXECUTION, path, "",
                           " was changed meanwhile by somebody else; try again");
}

int al_sandbox_is_link(const char *path, struct al_error *err)
{
    return al_sandbox_fail(
        err, AL_ERR_SANDBOX, path, "",
        " is a symbolic link, which is not followed; delete it or name another file");
}

int al_sandbox_too_many(struct al_error *err)
{
    return al_error_set(err, AL_ERR_EXECUTION, "the sandbox holds more than %u files",
                        AL_SANDBOX_FILES_MAX);
}
