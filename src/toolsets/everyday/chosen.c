// SPDX-License-Identifier: Apache-2.0
#include "toolsets/everyday/chosen.h"

#include <inttypes.h>

#include "answer/answer.h"
#include "answer/place.h"
#include "guard/text.h"
#include "util/fs.h"

#define NAMED_MAX     20
#define SUMMARY_PATHS 3

void al_chosen_clear(struct al_chosen *chosen)
{
    al_hunk_choice_clear(&chosen->choice);
    al_hunk_list_clear(&chosen->list);
}

static int read_side(struct al_call *call, enum al_hunk_side side, struct al_hunk_list *ret_list,
                     struct al_error *err)
{
    return al_git_read_hunks(al_call_repo(call),
                             &(struct al_hunk_query){ .side = side, .binary = true },
                             al_call_budget(call), ret_list, err);
}

/* Say so if the missing hunk is on the other side. */
static void find_elsewhere(struct al_call *call, enum al_hunk_side side, const struct al_strv *ids,
                           const struct al_hunk_list *list, struct al_error *err)
{
    const bool staged = side == AL_HUNKS_STAGED;
    al_auto(al_hunk_list_clear) struct al_hunk_list other = AL_HUNK_LIST_INIT;

    if (!err || read_side(call, staged ? AL_HUNKS_UNSTAGED : AL_HUNKS_STAGED, &other, NULL) < 0)
        return;
    for (size_t i = 0; i < ids->count; i++) {
        if (al_hunk_find(list, ids->items[i]) || !al_hunk_find(&other, ids->items[i]))
            continue;
        err->remedy = staged ? "This hunk is not staged: without staged, the call is about it."
                             : "This hunk is staged: git_restore with staged takes it back.";
        return;
    }
}

int al_chosen_read(struct al_call *call, enum al_hunk_side side, const struct al_strv *ids,
                   struct al_chosen *ret_chosen, struct al_error *err)
{
    int r;

    *ret_chosen = AL_CHOSEN_INIT;
    r = read_side(call, side, &ret_chosen->list, err);
    if (r < 0)
        return r;
    r = al_hunks_choose(&ret_chosen->list, ids, &ret_chosen->choice, err);
    if (r < 0)
        find_elsewhere(call, side, ids, &ret_chosen->list, err);
    return r;
}

void al_chosen_files(const struct al_call *call, const struct al_chosen *chosen,
                     struct al_strv *out)
{
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;

    al_hunk_choice_paths(&chosen->choice, &paths);
    for (size_t i = 0; i < paths.count; i++)
        al_strv_take(out, al_fs_join(al_call_repo(call)->at.top, paths.items[i]));
}

static void describe_file(const struct al_call *call, const struct al_chosen *chosen, size_t file,
                          struct al_str *out)
{
    const struct al_hunk_file *of = &chosen->list.files[file];
    int64_t added = 0, removed = 0;
    size_t count = 0;

    for (size_t i = of->first; i < of->first + of->count; i++) {
        if (!chosen->choice.chosen[i])
            continue;
        count++;
        added += chosen->list.items[i].new_lines;
        removed += chosen->list.items[i].old_lines;
    }
    if (!count)
        return;
    al_str_adds(out, out->len ? ", " : "");
    al_answer_add_counted(count, "hunk", "hunks", out);
    al_str_adds(out, " of ");
    al_place_add(al_call_repo(call), of->path, out);
    if (added || removed)
        al_str_addf(out, " (+%" PRId64 " -%" PRId64 ")", added, removed);
}

void al_chosen_describe(const struct al_call *call, const struct al_chosen *chosen,
                        struct al_str *out)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    for (size_t i = 0; i < chosen->list.nfiles; i++)
        describe_file(call, chosen, i, &text);
    al_str_add(out, text.buf, text.len);
}

static int show_side(struct al_call *call, enum al_hunk_side side, const struct al_strv *ids,
                     struct al_str *out, struct al_error *err)
{
    al_auto(al_hunk_list_clear) struct al_hunk_list list = AL_HUNK_LIST_INIT;
    al_auto(al_str_clear) struct al_str shown = AL_STR_INIT;
    int r = read_side(call, side, &list, err);

    for (size_t i = 0; r == 0 && i < ids->count; i++) {
        const struct al_hunk_item *item = al_hunk_find(&list, ids->items[i]);

        if (!item)
            continue;
        al_str_addf(&shown, "%s\n", list.files[item->file].path);
        al_hunk_show(&list, item, AL_HUNKS_CONTEXT, &shown);
    }
    al_text_sanitize(shown.buf, shown.len, out);
    return r;
}

int al_chosen_show(struct al_call *call, const struct al_strv *ids, struct al_str *out,
                   struct al_error *err)
{
    int r = show_side(call, AL_HUNKS_STAGED, ids, out, err);

    return r < 0 ? r : show_side(call, AL_HUNKS_UNSTAGED, ids, out, err);
}

void al_chosen_summarize(const char *verb, const struct al_strv *paths, struct al_str *out)
{
    al_str_addf(out, "%s ", verb);
    al_text_add_list(out, paths, SUMMARY_PATHS);
}

void al_chosen_add_names(const struct al_call *call, const struct al_strv *files,
                         struct al_str *out)
{
    const struct al_repo *repo = al_call_repo(call);

    for (size_t i = 0; i < files->count && i < NAMED_MAX; i++) {
        const char *name = files->items[i];

        al_str_adds(out, i ? ", " : "");
        al_place_add(repo, *name == '/' ? al_location_worktree_name(&repo->at, name) : name, out);
    }
    if (files->count > NAMED_MAX) {
        al_str_adds(out, " and ");
        al_answer_add_count(files->count - NAMED_MAX, out);
        al_str_adds(out, " more");
    }
}
