// SPDX-License-Identifier: Apache-2.0
#include "odb/objects.h"

#include <unistd.h>

void al_objects_init(struct al_objects *objects, int dir_fd, int quarantine_fd, bool sha256)
{
    *objects = (struct al_objects){
        .sha256 = sha256, .dir_fd = dir_fd, .quarantine_fd = quarantine_fd, .used = AL_STR_INIT
    };
    objects->pack = quarantine_fd >= 0 ? al_pack_new(quarantine_fd, sha256, false)
                                       : al_pack_new(dir_fd, sha256, true);
}

void al_objects_clear(struct al_objects *objects)
{
    al_pack_free(objects->pack);
    al_packs_free(objects->packs);
    al_oid_set_clear(&objects->known);
    al_str_clear(&objects->used);
    objects->pack = NULL;
    objects->packs = NULL;
}

void al_objects_know(struct al_objects *objects, const struct al_oid *oid)
{
    (void)al_oid_set_add(&objects->known, oid);
}

void al_objects_ask(struct al_objects *objects, al_has_object_fn has, void *payload)
{
    objects->store_has = has;
    objects->store_payload = payload;
}

/* An object that is not found is written again. */
static bool open_packs(struct al_objects *objects)
{
    if (objects->store_has)
        objects->packs = al_packs_new(objects->sha256);
    else if (al_packs_open(objects->dir_fd, objects->sha256, &objects->packs, NULL) < 0)
        return false;
    if (objects->quarantine_fd >= 0)
        (void)al_packs_add(objects->packs, objects->quarantine_fd, NULL);
    return true;
}

bool al_objects_has(struct al_objects *objects, const struct al_oid *oid)
{
    if (al_oid_set_has(&objects->known, oid))
        return true;
    if (!objects->packs && !open_packs(objects))
        return false;
    if (!al_packs_have(objects->packs, oid) &&
        !(objects->store_has && objects->store_has(objects->store_payload, oid)))
        return false;
    al_objects_know(objects, oid);
    return true;
}

void al_objects_look_again(struct al_objects *objects)
{
    al_packs_free(objects->packs);
    objects->packs = NULL;
}

int al_objects_put(struct al_objects *objects, enum al_object_type type, const void *data,
                   size_t len, struct al_oid *ret_oid, struct al_error *err)
{
    int r;

    al_oid_of(objects->sha256, type, data, len, ret_oid);
    al_str_add(&objects->used, ret_oid, sizeof(*ret_oid));
    if (al_objects_has(objects, ret_oid))
        return 0;
    r = al_pack_begin(objects->pack, type, len, err);
    if (r == 0)
        r = al_pack_add(objects->pack, data, len, err);
    if (r == 0)
        r = al_pack_end(objects->pack, ret_oid, err);
    if (r == 0)
        al_objects_know(objects, ret_oid);
    return r;
}

bool al_objects_take_image(struct al_objects *objects, struct al_pack_image *ret_image)
{
    return al_pack_take_image(objects->pack, ret_image);
}

int al_objects_finish(struct al_objects *objects, struct al_error *err)
{
    return al_pack_finish(objects->pack, err);
}
