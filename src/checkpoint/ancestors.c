// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/ancestors.h"

#include "gitops/plumbing/loose_object.h"

/** The commits in the order in which they were met. */
struct walk {
    struct al_strv met;
    struct al_oid_set set;
};

static void walk_clear(struct walk *walk)
{
    al_strv_clear(&walk->met);
    al_oid_set_clear(&walk->set);
}

static void meet(struct walk *walk, const char *commit, bool sha256,
                 const struct al_oid_set *wanted, struct al_oid_set *found)
{
    struct al_oid oid;

    if (!al_oid_parse(commit, sha256, &oid) || !al_oid_set_add(&walk->set, &oid))
        return;
    al_strv_add(&walk->met, commit);
    if (al_oid_set_has(wanted, &oid))
        (void)al_oid_set_add(found, &oid);
}

void al_ancestors_find(int common_fd, bool sha256, const struct al_strv *from,
                       const struct al_oid_set *wanted, struct al_oid_set *ret_found)
{
    al_auto(walk_clear) struct walk walk = { .met = AL_STRV_INIT };

    for (size_t i = 0; i < from->count; i++)
        meet(&walk, from->items[i], sha256, wanted, ret_found);
    for (size_t i = 0;
         i < walk.met.count && i < AL_ANCESTORS_MAX && ret_found->count < wanted->count; i++) {
        al_auto(al_strv_clear) struct al_strv parents = AL_STRV_INIT;

        if (!al_loose_object_parents(common_fd, walk.met.items[i], sha256, &parents))
            continue;
        for (size_t k = 0; k < parents.count; k++)
            meet(&walk, parents.items[k], sha256, wanted, ret_found);
    }
}
