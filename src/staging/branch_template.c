// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <string.h>

#include "staging/settings.h"
#include "util/str.h"

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
