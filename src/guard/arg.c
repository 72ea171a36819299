// SPDX-License-Identifier: Apache-2.0
#include "guard/arg.h"

#include <string.h>

#include "guard/guards.h"

static int refuse(struct al_error *err, const char *param, const char *why)
{
    if (!al_guarded)
        return 0;
    return al_error_set(err, AL_ERR_BAD_ARGS, "%s must not %s", param, why);
}

bool al_arg_has_control(const char *value)
{
    for (const unsigned char *s = (const unsigned char *)value; *s; s++)
        if (*s < 0x20 || *s == 0x7f)
            return true;
    return false;
}

/* The rules for every argument that git could take for an option or a name. */
static int check_word(const char *param, const char *value, struct al_error *err)
{
    if (!*value)
        return refuse(err, param, "be empty");
    if (*value == '-')
        return refuse(err, param, "begin with '-'");
    if (al_arg_has_control(value))
        return refuse(err, param, "contain control characters");
    return 0;
}

/* The fault of a name by git-check-ref-format(1)'s rules for each part between slashes, or NULL. */
static const char *component_fault(const char *name)
{
    for (;;) {
        size_t len = strcspn(name, "/");

        if (len == 0)
            return "begin or end with '/' or contain '//'";
        if (*name == '.')
            return "have a part that begins with '.'";
        if (len >= 5 && !strncmp(name + len - 5, ".lock", 5))
            return "have a part that ends with '.lock'";
        if (!name[len])
            return NULL;
        name += len + 1;
    }
}

int al_arg_check_branch(const char *param, const char *value, struct al_error *err)
{
    const char *fault;
    int r = check_word(param, value, err);

    if (r < 0)
        return r;
    if (strpbrk(value, " ~^:?*[\\"))
        return refuse(err, param, "contain a space or any of ~ ^ : ? * [ \\");
    if (strstr(value, ".."))
        return refuse(err, param, "contain '..'");
    if (strstr(value, "@{"))
        return refuse(err, param, "contain '@{'");
    if (!strcmp(value, "@") || !strcmp(value, "HEAD"))
        return refuse(err, param, "be 'HEAD' or '@'");
    fault = component_fault(value);
    if (fault)
        return refuse(err, param, fault);
    if (value[strlen(value) - 1] == '.')
        return refuse(err, param, "end with '.'");
    return 0;
}

int al_arg_check_revision(const char *param, const char *value, struct al_error *err)
{
    int r = check_word(param, value, err);

    if (r < 0)
        return r;
    /* git looks for a range first, even inside "HEAD:a..b", so ".." is nowhere safe. */
    if (strstr(value, ".."))
        return refuse(err, param, "contain '..': it names one revision, not a range");
    return 0;
}

int al_arg_check_range(const char *param, const char *value, struct al_error *err)
{
    const char *dots = strstr(value, "..");
    const char *right = dots ? dots + 2 + (dots[2] == '.') : NULL;
    al_auto(al_freep) char *left = dots ? al_strndup(value, (size_t)(dots - value)) : NULL;
    int r = 0;

    if (!dots)
        return al_arg_check_revision(param, value, err);
    if (!*left && !*right)
        return refuse(err, param, "be a range of nothing");
    if (*left)
        r = al_arg_check_revision(param, left, err);
    if (r == 0 && *right)
        r = al_arg_check_revision(param, right, err);
    return r;
}

void al_arg_split_revisions(const char *value, struct al_strv *ret_words)
{
    const char *begin = value;
    int depth = 0;

    for (const char *at = value; !al_starts_with(value, ":/"); at++) {
        depth += (*at == '{') - (*at == '}');
        if (*at && (*at != ' ' || depth > 0))
            continue;
        if (at > begin)
            al_strv_take(ret_words, al_strndup(begin, (size_t)(at - begin)));
        begin = at + 1;
        if (!*at)
            return;
    }
    al_strv_add(ret_words, value);
}

int al_arg_check_revisions(const char *param, const char *value, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv words = AL_STRV_INIT;
    bool shows = false;
    int r = check_word(param, value, err);

    al_arg_split_revisions(value, &words);
    for (size_t i = 0; i < words.count && r == 0; i++) {
        const bool leaves_out = *words.items[i] == '^';

        r = leaves_out ? al_arg_check_revision(param, words.items[i] + 1, err)
                       : al_arg_check_range(param, words.items[i], err);
        shows |= !leaves_out;
    }
    return r < 0 || shows ? r : refuse(err, param, "name only what is left out");
}

int al_arg_pathspec(const char *param, const char *value, bool names_a_file, char **ret_spec,
                    struct al_error *err)
{
    bool magic = *value == ':';

    if (!*value)
        return refuse(err, param, "be empty");
    if (!names_a_file && magic)
        return refuse(err, param, "begin with ':' (pathspec magic)");
    if (names_a_file && (magic || strpbrk(value, "*?[\\")))
        *ret_spec = al_asprintf(":(literal)%s", value);
    else
        *ret_spec = al_strdup(value);
    return 0;
}
