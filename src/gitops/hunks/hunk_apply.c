// SPDX-License-Identifier: Apache-2.0
#include "gitops/hunks/hunk_apply.h"

#include <stdlib.h>

#include "gitops/command.h"
#include "gitops/failure.h"
#include "gitops/refs.h"
#include "gitops/run.h"
#include "guard/text.h"

/* Of an id, before the number that equal hunks have. */
#define ID_DIGITS 8

/* So many ids are listed in an error. */
#define LISTED_MAX 40

#define KEPT_BYTES (64u * 1024u)

void al_hunk_choice_clear(struct al_hunk_choice *choice)
{
    free(choice->chosen);
    *choice = (struct al_hunk_choice){ .list = NULL };
}

/* "a.c: 3fa9c1d2 +2 -1, …": the ids that there are, by file. */
static char *list_ids(const struct al_hunk_list *list)
{
    struct al_str out = AL_STR_INIT;

    for (size_t i = 0; i < list->count && i < LISTED_MAX; i++) {
        const struct al_hunk_item *item = &list->items[i];
        al_auto(al_freep) char *safe = al_text_sanitize_line(list->files[item->file].path);

        if (!i || item->file != list->items[i - 1].file)
            al_str_addf(&out, "%s%s: %s", i ? "; " : "", safe, item->id);
        else
            al_str_addf(&out, ", %s", item->id);
    }
    if (list->count > LISTED_MAX)
        al_str_addf(&out, " and %zu more", list->count - LISTED_MAX);
    return al_str_detach(&out);
}

/* Eight hex digits; equal hunks of a file have a number behind: 3fa9c1d2-2. */
static bool is_id(const char *word)
{
    const size_t len = strcspn(word, "-");

    return len == ID_DIGITS && al_is_oid(word, len);
}

static int not_there(const struct al_hunk_list *list, const char *id, struct al_error *err)
{
    const char *which = list->side == AL_HUNKS_STAGED ? "staged" : "unstaged";
    al_auto(al_freep) char *safe = al_text_sanitize_line(id);
    al_auto(al_freep) char *ids = list_ids(list);

    if (!is_id(id))
        return al_error_set(err, AL_ERR_BAD_ARGS, "'%s' is no id of a hunk, as 3fa9c1d2 is", safe);
    if (!list->count)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "hunk %s is not there any more: there are no %s changes", safe, which);
    return al_error_set(err, AL_ERR_BAD_ARGS, "hunk %s is not there any more; the %s hunks are: %s",
                        safe, which, ids);
}

int al_hunks_choose(const struct al_hunk_list *list, const struct al_strv *ids,
                    struct al_hunk_choice *ret_choice, struct al_error *err)
{
    al_auto(al_hunk_choice_clear) struct al_hunk_choice choice = {
        .list = list, .chosen = al_calloc(list->count, sizeof(bool))
    };

    for (size_t i = 0; i < ids->count; i++) {
        const struct al_hunk_item *item = al_hunk_find(list, ids->items[i]);

        if (!item)
            return not_there(list, ids->items[i], err);
        choice.count += !choice.chosen[item - list->items];
        choice.chosen[item - list->items] = true;
    }
    *ret_choice = choice;
    choice = (struct al_hunk_choice){ .list = NULL };
    return 0;
}

void al_hunk_choice_paths(const struct al_hunk_choice *choice, struct al_strv *out)
{
    const struct al_hunk_list *list = choice->list;
    size_t last = SIZE_MAX;

    for (size_t i = 0; i < list->count; i++) {
        if (!choice->chosen[i] || list->items[i].file == last)
            continue;
        last = list->items[i].file;
        al_strv_add(out, list->files[last].path);
    }
}

int al_git_apply_hunks(struct al_repo *repo, const struct al_hunk_choice *choice,
                       enum al_hunk_apply how, const char *index, struct al_run_limits *budget,
                       struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_str_clear) struct al_str patch = AL_STR_INIT;

    if (!choice->count)
        return 0;
    al_hunk_choice_patch(choice, how != AL_HUNKS_STAGE, &patch);
    command.class = AL_GIT_WRITE;
    command.index = index;
    command.input = patch.buf;
    command.input_len = patch.len;
    /* Paths of the patch are from the top. */
    al_strv_adds(&command.argv, "git", "-C", repo->at.top, "apply", "-p1", "--whitespace=nowarn",
                 "--no-ignore-whitespace", NULL);
    if (how != AL_HUNKS_STAGE)
        al_strv_add(&command.argv, "--reverse");
    if (how != AL_HUNKS_DISCARD)
        al_strv_add(&command.argv, "--cached");
    al_strv_add(&command.argv, "-");
    return al_git_run(&repo->at, &command,
                      &(struct al_git_run){ .max_bytes = KEPT_BYTES,
                                            .checked = true,
                                            .waits_for_lock = how != AL_HUNKS_DISCARD && !index },
                      budget, &output, err);
}
