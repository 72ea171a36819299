// SPDX-License-Identifier: Apache-2.0
#include "toolsets/everyday/push_tags.h"

#include "answer/answer.h"
#include "answer/place.h"
#include "gitops/nul_records.h"

#define TAGS      "refs/tags/"
#define NAMED_MAX 20

/* "<object id> <reference>" */
static bool take_tag(void *payload, char *const *fields)
{
    const char *line = fields[0] + (fields[0][0] == '\n'); /* git ends the line before */

    al_str_addf(payload, "%s\n", line);
    return true;
}

int al_push_tags_resolve(struct al_call *call, struct al_resolved *out, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(1, take_tag, &text);
    int r;

    al_strv_adds(&command.argv, "git", "for-each-ref", "--format=%(objectname) %(refname)%00", TAGS,
                 NULL);
    r = al_git_read_records(&al_call_repo(call)->at, &command, &records, al_call_budget(call), err);
    if (r == 0)
        al_resolved_add(out, "tags", text.buf);
    return r;
}

/* Append the full names of all resolved tags. */
static void all_names(const char *tags, struct al_strv *out)
{
    for (const char *line = tags; *line; line += strcspn(line, "\n") + 1) {
        const char *ref = line + strcspn(line, " ") + 1;

        al_strv_take(out, al_strndup(ref, strcspn(ref, "\n")));
    }
}

static void add_one(const char *tags, const char *ref, struct al_str *out)
{
    al_auto(al_freep) char *mark = al_asprintf(" %s\n", ref);
    const char *at = strstr(tags, mark);

    al_str_adds(out, "  ");
    al_place_add_name(al_starts_with(ref, TAGS) ? ref + strlen(TAGS) : ref, out);
    while (at && at > tags && at[-1] != '\n')
        at--;
    if (at)
        al_str_addf(out, " (%.8s)", at);
    al_str_addc(out, '\n');
}

void al_push_tags_show(const struct al_call *call, const struct al_strv *missing,
                       struct al_str *out)
{
    const char *tags = al_call_resolved(call, "tags");
    al_auto(al_strv_clear) struct al_strv all = AL_STRV_INIT;
    const struct al_strv *list = missing ? missing : &all;

    if (!missing)
        all_names(tags, &all);
    if (!list->count) {
        al_str_adds(out, missing ? "No tag is new there.\n" : "There are no tags.\n");
        return;
    }
    al_str_adds(out, missing ? "Tags that are new there:\n" : "Tags, if they are new there:\n");
    for (size_t i = 0; i < list->count && i < NAMED_MAX; i++)
        add_one(tags, list->items[i], out);
    if (list->count > NAMED_MAX) {
        al_str_adds(out, "  and ");
        al_answer_add_count(list->count - NAMED_MAX, out);
        al_str_adds(out, " more\n");
    }
}
