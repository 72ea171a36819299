// SPDX-License-Identifier: Apache-2.0
#include "tools/private.h"

#include "guard/gitdir.h"
#include "guard/path.h"

int al_workflow_check_path(struct al_call *call, const char *param, const char *given,
                           struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_path_clear) struct al_path path = AL_PATH_INIT;
    al_auto(al_freep) char *word = NULL;
    const char *rest;
    int r = al_path_resolve(al_call_session(call)->roots, repo->at.dir, given, &path, err);

    if (r < 0)
        return r;
    rest = al_fs_beneath(repo->at.top, path.abs);
    if ((rest && al_path_has_dot_git(rest)) || (*given != '/' && al_path_has_dot_git(given)))
        return al_path_refuse_dot_git(given, err);
    return al_repo_file(repo, param, given, &word, err);
}

int al_workflow_check_paths(struct al_call *call, const char *param, const struct al_strv *given,
                            struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < given->count && r == 0; i++)
        r = al_workflow_check_path(call, param, given->items[i], err);
    return r;
}

bool al_workflow_fits(size_t *room, size_t bytes)
{
    const bool fits = bytes <= *room;

    *room -= fits ? bytes : 0;
    return fits;
}

bool al_workflow_append(json_t *array, json_t *item, size_t *room)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    al_json_dump(item, false, &text);
    if (!al_workflow_fits(room, text.len + 1)) { /* and a comma */
        json_decref(item);
        return false;
    }
    al_json_append(array, item);
    return true;
}

json_t *al_workflow_strings(const struct al_strv *items)
{
    json_t *array = al_json_array();

    for (size_t i = 0; i < items->count; i++)
        al_json_append(array, al_json_name(items->items[i]));
    return array;
}

void al_workflow_add_names(const struct al_strv *names, json_t *array, size_t *room,
                           bool *truncated)
{
    for (size_t i = 0; i < names->count && !*truncated; i++)
        *truncated = !al_workflow_append(array, al_json_name(names->items[i]), room);
}

void al_workflow_skipped(struct al_call *call, const char *hooks, bool commits,
                         struct al_result *result)
{
    al_auto(al_str_clear) struct al_str lines = AL_STR_INIT;

    al_outcome_add_skipped(call, hooks, commits, &lines);
    al_str_trim_end(&lines);
    if (lines.len)
        al_result_note(result, lines.buf);
}
