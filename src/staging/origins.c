// SPDX-License-Identifier: Apache-2.0
/* An origin is stored like a base, as the one of "<key>-<digits of the branch>". */
#include "staging/origins.h"

#include <string.h>

#include "staging/store.h"

#define DIGITS 16

/* The name under which the origin of a sandbox is kept, beside its base.  Caller frees. */
static char *origin_name(const char *key, const struct al_branch_name *branch)
{
    struct al_hash hash;
    struct al_oid digest;
    char text[AL_OID_TEXT];

    al_hash_init(&hash, true);
    al_hash_add(&hash, branch->target, strlen(branch->target) + 1);
    al_hash_add(&hash, branch->branch, strlen(branch->branch) + 1);
    al_hash_end(&hash, &digest);
    al_oid_text(&digest, true, text);
    return al_asprintf("%s-%.*s", key, DIGITS, text);
}

int al_origin_load(struct al_staging *staging, const char *key, const struct al_branch_name *branch,
                   struct al_run_limits *budget, struct al_base *ret_origin, struct al_error *err)
{
    al_auto(al_freep) char *name = origin_name(key, branch);

    return al_base_load(staging, name, budget, ret_origin, err);
}

int al_origin_save(struct al_staging *staging, const char *key, const struct al_branch_name *branch,
                   struct al_base *origin, struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_freep) char *name = origin_name(key, branch);

    return al_base_save(staging, name, origin, budget, err);
}
