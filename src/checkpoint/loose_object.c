// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/loose_object.h"

#include "gitops/plumbing/loose_object.h"

int al_loose_object_copy(int common_fd, const struct al_oid *oid, uint64_t max_bytes,
                         struct al_objects *objects, struct al_error *err)
{
    al_auto(al_loose_object_clear) struct al_loose_object object = { .data = NULL };
    size_t most = max_bytes < AL_LOOSE_MAX_BYTES ? (size_t)max_bytes : AL_LOOSE_MAX_BYTES;
    struct al_oid written;
    int r;

    if (!al_loose_object_read(common_fd, oid, objects->sha256, most, &object) ||
        object.type != AL_OBJECT_BLOB)
        return 0;
    r = al_objects_put(objects, AL_OBJECT_BLOB, object.data, object.len, &written, err);
    return r < 0 ? r : 1;
}
