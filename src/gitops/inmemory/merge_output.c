// SPDX-License-Identifier: Apache-2.0
#include "gitops/inmemory/merge_output.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

void al_merged_clear(struct al_merged *merged)
{
    free(merged->tree);
    for (size_t i = 0; i < merged->count; i++)
        free(merged->conflicts[i].path);
    free(merged->conflicts);
    *merged = AL_MERGED_INIT;
}

void al_merged_paths(const struct al_merged *merged, struct al_strv *ret_paths)
{
    for (size_t i = 0; i < merged->count; i++)
        al_strv_add(ret_paths, merged->conflicts[i].path);
}

const char *al_merge_conflict_kind(const struct al_merge_conflict *conflict)
{
    const char *base = conflict->sides[AL_SIDE_BASE].mode,
               *ours = conflict->sides[AL_SIDE_OURS].mode,
               *theirs = conflict->sides[AL_SIDE_THEIRS].mode;

    if (!*ours || !*theirs)
        return !*ours && !*theirs ? "rename/rename"
               : *base            ? "modify/delete"
                                  : "renamed, or in the place of a directory";
    if (al_starts_with(ours, "16") || al_starts_with(theirs, "16"))
        return "submodule";
    return strncmp(ours, theirs, 3) != 0 ? "distinct types" : "contents";
}

static struct al_merge_conflict *add_conflict(struct al_merged *merged, const char *path)
{
    merged->conflicts =
        al_reallocarray(merged->conflicts, merged->count + 1, sizeof(*merged->conflicts));
    merged->conflicts[merged->count] = (struct al_merge_conflict){ .path = al_strdup(path) };
    return &merged->conflicts[merged->count++];
}

/* "<mode> SP <oid> SP <stage> TAB <path>".  git sorts them by path. */
static bool take_entry(struct al_merged *merged, const char *field, bool sha256)
{
    const size_t digits = 2 * al_oid_bytes(sha256);
    struct al_merge_conflict *conflict =
        merged->count ? &merged->conflicts[merged->count - 1] : NULL;
    struct al_merge_side *side;
    struct al_oid oid;
    const char *rest;
    int order;

    if (strspn(field, "01234567") != 6 || field[6] != ' ' || !al_oid_parse(field + 7, sha256, &oid))
        return false;
    rest = field + 7 + digits;
    if (rest[0] != ' ' || rest[1] < '1' || rest[1] > '3' || rest[2] != '\t' || !rest[3])
        return false;
    order = conflict ? strcmp(conflict->path, rest + 3) : -1;
    if (order > 0)
        return false;
    if (order < 0)
        conflict = add_conflict(merged, rest + 3);
    side = &conflict->sides[rest[1] - '1'];
    memcpy(side->mode, field, 6);
    memcpy(side->oid, field + 7, digits);
    return true;
}

bool al_merge_output_parse(const char *data, size_t len, bool sha256, struct al_merged *ret_merged)
{
    struct al_merged merged = AL_MERGED_INIT;
    struct al_oid oid;
    bool good = len && !data[len - 1] && al_oid_parse(data, sha256, &oid) &&
                !data[2 * al_oid_bytes(sha256)];

    if (!good)
        return false;
    merged.tree = al_strdup(data);
    for (const char *field = data + strlen(data) + 1; good && field < data + len;
         field += strlen(field) + 1)
        good = take_entry(&merged, field, sha256);
    if (good)
        *ret_merged = merged;
    else
        al_merged_clear(&merged);
    return good;
}
