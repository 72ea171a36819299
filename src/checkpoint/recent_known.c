// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/recent_known.h"

#include <stdlib.h>

#include "odb/pack_index.h"

struct al_recent_ref {
    char *name;
    struct al_oid commit;
    uint64_t at; /* the offset of its record */
    bool kept;   /* it is no reference, and the name has the tips of a kept pack */
};

void al_recent_know(struct al_recent *recent, bool sha256, uint64_t at,
                    const struct al_recent_record *record)
{
    al_auto(al_strv_clear) struct al_strv tips = AL_STRV_INIT;
    bool kept = al_recent_kept_tips(record->reference, &tips);

    recent->refs = al_reallocarray(recent->refs, recent->nrefs + 1, sizeof(*recent->refs));
    recent->refs[recent->nrefs++] = (struct al_recent_ref){
        .name = al_strdup(record->reference), .commit = record->commit, .at = at, .kept = kept
    };
    if (kept) /* checkpoints do not rely on it */
        return;
    if (!recent->objects)
        recent->objects = al_packs_new(sha256);
    if (record->index_len)
        al_packs_add_index(recent->objects, record->index, record->index_len);
}

const struct al_oid *al_recent_find_ref(const struct al_recent *recent, const char *name)
{
    for (size_t i = recent->nrefs; i > 0; i--) {
        const struct al_recent_ref *ref = &recent->refs[i - 1];

        if (ref->at >= recent->published && !strcmp(ref->name, name))
            return &ref->commit;
    }
    return NULL;
}

size_t al_recent_count_unpublished(const struct al_recent *recent)
{
    size_t count = 0;

    for (size_t i = 0; i < recent->nrefs; i++)
        count += !recent->refs[i].kept && recent->refs[i].at >= recent->published;
    return count;
}

void al_recent_list_kept(const struct al_recent *recent, struct al_strv *ret_tips)
{
    for (size_t i = 0; i < recent->nrefs; i++)
        if (recent->refs[i].kept && recent->refs[i].at >= recent->published)
            (void)al_recent_kept_tips(recent->refs[i].name, ret_tips);
}

void al_recent_forget_refs(struct al_recent *recent)
{
    for (size_t i = 0; i < recent->nrefs; i++)
        free(recent->refs[i].name);
    free(recent->refs);
    recent->refs = NULL;
    recent->nrefs = 0;
}

void al_recent_clear(struct al_recent *recent)
{
    al_recent_forget_refs(recent);
    al_packs_free(recent->objects);
    recent->objects = NULL;
}
