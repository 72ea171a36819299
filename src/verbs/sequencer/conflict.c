// SPDX-License-Identifier: Apache-2.0
#include "verbs/sequencer/conflict.h"

#include <stdlib.h>

#include "git/command.h"
#include "git/plumbing/diff_raw.h"
#include "git/plumbing/index_scan.h"

#define TYPE_MASK 0170000u
#define TYPE_LINK 0120000u
#define NAMED_MAX 5

void al_conflicts_clear(struct al_conflicts *conflicts)
{
    for (size_t i = 0; i < conflicts->count; i++) {
        free(conflicts->items[i].path);
        for (size_t k = 0; k < AL_STAGES; k++)
            free(conflicts->items[i].sides[k].oid);
    }
    free(conflicts->items);
    *conflicts = AL_CONFLICTS_INIT;
}

static struct al_conflict *conflict_of(struct al_conflicts *conflicts, const char *path)
{
    size_t count = conflicts->count;

    /* git lists the stages of a path one after the other */
    if (count && !strcmp(conflicts->items[count - 1].path, path))
        return &conflicts->items[count - 1];
    if (count == AL_CONFLICTS_MAX)
        return NULL;
    conflicts->items = al_reallocarray(conflicts->items, count + 1, sizeof(*conflicts->items));
    conflicts->items[count] = (struct al_conflict){ .path = al_strdup(path) };
    conflicts->count++;
    return &conflicts->items[count];
}

bool al_conflicts_add(struct al_conflicts *conflicts, const char *line)
{
    const size_t digits = strspn(line, "01234567"),
                 oid_len = digits == 6 && line[6] == ' ' ? strspn(line + 7, "0123456789abcdef") : 0;
    const char *stage = oid_len ? line + 7 + oid_len : "";
    struct al_conflict *conflict;
    struct al_side *side;

    if ((oid_len != 40 && oid_len != 64) || stage[0] != ' ' || stage[1] < '1' || stage[1] > '3' ||
        stage[2] != '\t' || !stage[3])
        return false;
    conflict = conflict_of(conflicts, stage + 3);
    if (!conflict) {
        conflicts->more = true;
        return false;
    }
    side = &conflict->sides[stage[1] - '1'];
    free(side->oid);
    side->oid = al_strndup(line + 7, oid_len);
    side->mode = al_diff_mode(line);
    return true;
}

static bool take_stage(void *payload, char *const *fields)
{
    struct al_conflicts *conflicts = payload;

    return al_conflicts_add(conflicts, fields[0]) || !conflicts->more;
}

int al_git_conflicts(const struct al_repo *repo, struct al_conflicts *ret_conflicts,
                     struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    if (!al_repo_index_facts(&repo->at).conflicts)
        return 0;
    al_strv_adds(&command.argv, "git", "-C", repo->at.top, "ls-files", "-z", "--unmerged", NULL);
    return al_git_read_records(&repo->at, &command, 1, take_stage, ret_conflicts, err);
}

const struct al_conflict *al_conflicts_find(const struct al_conflicts *conflicts, const char *path)
{
    for (size_t i = 0; i < conflicts->count; i++)
        if (!strcmp(conflicts->items[i].path, path))
            return &conflicts->items[i];
    return NULL;
}

void al_conflicts_add_paths(const struct al_conflicts *conflicts, struct al_strv *out)
{
    for (size_t i = 0; i < conflicts->count; i++)
        al_strv_add(out, conflicts->items[i].path);
}

int al_git_check_no_conflicts(const struct al_repo *repo, struct al_error *err)
{
    al_auto(al_conflicts_clear) struct al_conflicts conflicts = AL_CONFLICTS_INIT;
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str names = AL_STR_INIT;
    int r = al_git_conflicts(repo, &conflicts, err);

    if (r < 0 || !conflicts.count)
        return r;
    al_conflicts_add_paths(&conflicts, &paths);
    al_text_add_list(&names, &paths, NAMED_MAX);
    return al_error_reason(
        al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_CONFLICT,
                          "There are unresolved conflicts in %s; resolve them first", names.buf),
        err, "conflict");
}

static bool is_type(const struct al_side *side, unsigned type)
{
    return side->oid && (side->mode & TYPE_MASK) == type;
}

bool al_side_is_link(const struct al_side *side)
{
    return is_type(side, TYPE_LINK);
}

bool al_side_is_submodule(const struct al_side *side)
{
    return is_type(side, AL_TYPE_GITLINK);
}

bool al_conflict_has_links(const struct al_conflict *conflict)
{
    for (size_t i = AL_STAGE_OURS; i < AL_STAGES; i++)
        if (al_side_is_link(&conflict->sides[i]) || al_side_is_submodule(&conflict->sides[i]))
            return true;
    return false;
}
