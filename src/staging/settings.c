// SPDX-License-Identifier: Apache-2.0
#include "staging/settings.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/value.h"
#include "guard/arg.h"

#define PULLS_MAX      64u
#define PATH_MAX_BYTES 4096u
#define WORD_MAX_BYTES 1024u

void al_staging_settings_clear(struct al_staging_settings *settings)
{
    al_target_clear(&settings->target);
    for (size_t i = 0; i < settings->npulls; i++) {
        free((char *)settings->pulls[i].path);
        al_target_clear(&settings->pulls[i].source);
    }
    free(settings->pulls);
    *settings = (struct al_staging_settings){ .pulls = NULL };
}

void al_staging_settings_free(struct al_staging_settings *settings)
{
    if (settings)
        al_staging_settings_clear(settings);
    free(settings);
}

static int read_type(const struct al_value *from, int *ret_type, struct al_error *err)
{
    const struct al_value *type = al_value_get(from, "type");
    int r = type ? al_value_check_string(type, WORD_MAX_BYTES, err)
                 : al_value_error(from, err, "has no 'type'");

    if (r < 0)
        return r;
    for (*ret_type = AL_TARGET_LOCAL; *ret_type <= AL_TARGET_GITHUB; ++*ret_type)
        if (!strcmp(al_target_type_name(*ret_type), type->text))
            return 0;
    return al_value_error(type, err, "must be 'local', 'local-bare' or 'github'");
}

/* The member `name` of a target. */
static int read_member(const struct al_value *from, const char *name, size_t max_bytes,
                       const char **field, struct al_error *err)
{
    const char *text;
    int r = al_value_get_string(from, name, max_bytes, &text, err);

    if (r == 0)
        *field = al_strdup(text);
    return r;
}

/* A target; its branch is as written. */
static int read_target(const struct al_value *from, struct al_target *ret_target,
                       struct al_error *err)
{
    static const char *const names[] = { "type", "path", "repo", "branch", NULL };
    al_auto(al_target_clear) struct al_target target = { .given = true };
    int r = al_value_check_names(from, names, err);

    if (r == 0)
        r = read_type(from, &target.type, err);
    if (r == 0)
        r = read_member(from, "path", PATH_MAX_BYTES, &target.path, err);
    if (r == 0)
        r = read_member(from, "repo", WORD_MAX_BYTES, &target.repo, err);
    if (r == 0)
        r = read_member(from, "branch", WORD_MAX_BYTES, &target.branch, err);
    if (r < 0)
        return r;
    *ret_target = target;
    target = (struct al_target){ .path = NULL };
    return 0;
}

static int check_target(const struct al_value *from, const struct al_target *target,
                        struct al_error *err)
{
    const struct al_value *branch = al_value_get(from, "branch");
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;

    if (branch && al_arg_check_branch("the name", target->branch, &why) < 0)
        return al_value_error(branch, err, "'%s': %s", target->branch, why.message);
    if (al_target_check(target, from->name, &why) < 0)
        return al_value_error(from, err, "%s", why.message);
    return 0;
}

static int read_default_target(const struct al_value *from, const char *worker, const char *stamp,
                               struct al_staging_settings *settings, struct al_error *err)
{
    struct al_target *target = &settings->target;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    char *branch = NULL;
    int r = read_target(from, target, err);

    if (r < 0)
        return r;
    if (!target->branch)
        return check_target(from, target, err);
    if (al_branch_template_expand(target->branch, worker, stamp, &branch, &why) < 0)
        return al_value_error(al_value_get(from, "branch"), err, "%s", why.message);
    free((char *)target->branch);
    target->branch = branch;
    return check_target(from, target, err);
}

static int read_pull(const struct al_value *from, bool has_target, struct al_auto_pull *pull,
                     struct al_error *err)
{
    static const char *const names[] = { "path", "source", NULL };
    const struct al_value *source;
    int r = al_value_check_names(from, names, err);

    if (r == 0)
        r = read_member(from, "path", PATH_MAX_BYTES, &pull->path, err);
    if (r < 0)
        return r;
    if (!pull->path)
        return al_value_error(from, err, "has no 'path'");
    source = al_value_get(from, "source");
    if (!source)
        return has_target
                   ? 0
                   : al_value_error(from, err, "needs a 'source': there is no default_target");
    r = read_target(source, &pull->source, err);
    return r == 0 ? check_target(source, &pull->source, err) : r;
}

static int read_pulls(const struct al_value *from, struct al_staging_settings *settings,
                      struct al_error *err)
{
    int r = al_value_check_list(from, 0, PULLS_MAX, err);

    if (r < 0)
        return r;
    settings->pulls = al_calloc(from->count + 1, sizeof(*settings->pulls));
    for (size_t i = 0; r == 0 && i < from->count; i++)
        r = read_pull(&from->items[i], settings->target.given, &settings->pulls[settings->npulls++],
                      err);
    return r;
}

int al_staging_settings_read(const struct al_value *config, const char *worker, const char *stamp,
                             struct al_staging_settings *ret_settings, struct al_error *err)
{
    static const char *const names[] = { "default_target", "auto_pull", NULL };
    struct al_staging_settings settings = { .pulls = NULL };
    const struct al_value *target = al_value_get(config, "default_target");
    const struct al_value *pulls = al_value_get(config, "auto_pull");
    int r = config->type == AL_VALUE_NULL ? 0 : al_value_check_names(config, names, err);

    if (r == 0 && target)
        r = read_default_target(target, worker, stamp, &settings, err);
    if (r == 0 && pulls)
        r = read_pulls(pulls, &settings, err);
    if (r < 0)
        al_staging_settings_clear(&settings);
    else
        *ret_settings = settings;
    return r;
}

/* --- Branch names --- */

/* Append a name with everything but ASCII letters, digits and "_.-" replaced.  No part of a branch
 * name may begin with '.', contain "..", or end with ".lock". */
static void add_as_part(struct al_str *out, const char *name)
{
    size_t begin = out->len;

    for (const char *at = name; *at; at++) {
        bool plain = isalnum((unsigned char)*at) || *at == '_';
        char c = plain ? *at : '-';
        bool first = out->len == begin;

        if (*at == '.' && !first && out->buf[out->len - 1] != '-' &&
            isalnum((unsigned char)at[1]) && strcasecmp(at, ".lock") != 0)
            c = '.';
        if (c != '-' || (!first && out->buf[out->len - 1] != '-'))
            al_str_addc(out, c);
    }
    if (out->len > begin && out->buf[out->len - 1] == '-')
        al_str_truncate(out, out->len - 1);
    if (out->len == begin)
        al_str_adds(out, "worker");
}

int al_branch_template_expand(const char *text, const char *worker, const char *stamp,
                              char **ret_branch, struct al_error *err)
{
    static const char timestamp[] = "{timestamp}", name[] = "{worker}";
    al_auto(al_str_clear) struct al_str branch = AL_STR_INIT;

    for (const char *at = text; *at;) {
        if (al_starts_with(at, timestamp)) {
            al_str_adds(&branch, stamp);
            at += strlen(timestamp);
        } else if (al_starts_with(at, name)) {
            add_as_part(&branch, worker);
            at += strlen(name);
        } else if (*at == '{' && strchr(at, '}')) {
            return al_error_set(err, AL_ERR_BAD_ARGS,
                                "unknown placeholder '%.*s'; there are {timestamp} and {worker}",
                                (int)(strchr(at, '}') + 1 - at), at);
        } else {
            al_str_addc(&branch, *at++);
        }
    }
    *ret_branch = al_str_detach(&branch);
    return 0;
}
