// SPDX-License-Identifier: Apache-2.0
#include "toolsets/everyday/hunk_choices.h"

#include <stdlib.h>

#include "answer/answer.h"
#include "answer/failure.h"
#include "gitops/sequencer/conflict.h"

#define ID_MAX_BYTES      32
#define CONTENT_MAX_BYTES (1u << 20)

/** The ids that an error repeats. */
#define IDS_MAX_BYTES 400

struct hunk_arg {
    bool given;
    const char *id, *take, *content;
};

static const struct al_param members[] = {
    AL_STRING(struct hunk_arg, id, "Hunk.", .flags = AL_PARAM_REQUIRED | AL_PARAM_NO_DESCRIPTION,
              .min_bytes = 1, .max_bytes = ID_MAX_BYTES),
    AL_STRING(
        struct hunk_arg, take, "Side.", .pattern = "^(ours|theirs)$", .max_bytes = 6,
        .flags = AL_PARAM_NO_DESCRIPTION,
        .bad_message =
            "take of a hunk is ours or theirs; for any other text leave take out and give content"),
    AL_STRING(struct hunk_arg, content, "Lines.", .flags = AL_PARAM_NO_DESCRIPTION,
              .max_bytes = CONTENT_MAX_BYTES),
};

const struct al_object al_hunk_choices_row = { members, AL_COUNT(members),
                                               sizeof(struct hunk_arg) };

static const struct hunk_arg *at(const struct al_objects *choices, size_t i)
{
    return (const struct hunk_arg *)choices->items + i;
}

int al_hunk_choices_check(const struct al_objects *choices, struct al_error *err)
{
    for (size_t i = 0; i < choices->count; i++) {
        const struct hunk_arg *hunk = at(choices, i);

        if ((hunk->take != NULL) + (hunk->content != NULL) != 1)
            return al_error_set(err, AL_ERR_BAD_ARGS, "hunks[%zu] takes one of take and content",
                                i);
        for (size_t k = 0; k < i; k++)
            if (!strcmp(at(choices, k)->id, hunk->id))
                return al_error_set(err, AL_ERR_BAD_ARGS, "hunks[%zu] and hunks[%zu] are one hunk",
                                    k, i);
    }
    return 0;
}

int al_hunk_choices_check_markers(const struct al_objects *choices, size_t marker_size,
                                  struct al_error *err)
{
    for (size_t i = 0; i < choices->count; i++) {
        const struct hunk_arg *hunk = at(choices, i);

        if (hunk->content &&
            al_conflict_has_markers(hunk->content, strlen(hunk->content), marker_size))
            return al_failure_bad_args(err,
                                       "Give only the lines that the hunk becomes, without those "
                                       "that begin with <<<<<<<, ||||||| or >>>>>>>.",
                                       "content of hunks[%zu] has conflict markers", i);
    }
    return 0;
}

static int is_gone(const char *id, const struct al_conflict_file *file, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv ids = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;
    al_auto(al_freep) char *shown = al_text_sanitize_line(id);

    for (size_t i = 0; i < file->blocks.count; i++)
        al_strv_add(&ids, file->hunks[i].id);
    al_answer_add_items(&ids, IDS_MAX_BYTES, &list);
    return al_failure_bad_args(err, "git_conflicts shows the hunks that are left.",
                               "hunk %s is not there any more; %s%s", shown,
                               ids.count ? "there are " : "no hunk is left", list.buf);
}

int al_hunk_choices_settle(const struct al_objects *choices, const struct al_conflict_file *file,
                           struct al_str *out, struct al_error *err)
{
    al_auto(al_freep) struct al_hunk_choice *chosen =
        al_calloc(choices->count + 1, sizeof(*chosen));

    for (size_t i = 0; i < choices->count; i++) {
        const struct hunk_arg *arg = at(choices, i);

        chosen[i].hunk = al_conflict_file_find(file, arg->id);
        if (!chosen[i].hunk)
            return is_gone(arg->id, file, err);
        chosen[i].content = arg->content;
        if (arg->take)
            chosen[i].side = !strcmp(arg->take, "ours") ? AL_STAGE_OURS : AL_STAGE_THEIRS;
    }
    al_conflict_file_settle(file, chosen, choices->count, out);
    return 0;
}
