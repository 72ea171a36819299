// SPDX-License-Identifier: Apache-2.0
/*
 * Recording a push.  Its first step writes the push into the record of the staged commit, and from
 * then on the commit counts as pushed; each of the others may be done twice.
 */
#include "staging/base.h"
#include "staging/origins.h"
#include "staging/staged_record.h"
#include "staging/store.h"
#include "util/log.h"

static json_t *to_json(const struct al_pushed *pushed)
{
    json_t *object = al_json_object();

    al_json_set(object, "target", al_json_string(pushed->target));
    al_json_set(object, "branch", al_json_string(pushed->branch));
    if (pushed->old_head)
        al_json_set(object, "oldHead", al_json_string(pushed->old_head));
    al_json_set(object, "commit", al_json_string(pushed->commit));
    return object;
}

static void from_json(const json_t *object, struct al_pushed *ret_pushed)
{
    *ret_pushed = (struct al_pushed){
        .target = al_json_get_string(object, "target"),
        .branch = al_json_get_string(object, "branch"),
        .old_head = al_json_get_string(object, "oldHead"),
        .commit = al_json_get_string(object, "commit"),
    };
}

/* Whether a base or a staged commit was based on the head that the push replaced. */
static bool was_based_on_old(const struct al_heads *heads, const struct al_pushed *pushed)
{
    const char *known = al_heads_find(heads, pushed->target, pushed->branch);

    return known && pushed->old_head && !strcmp(known, pushed->old_head);
}

static int advance_origin(struct al_staging *staging, const struct al_staged *staged,
                          const struct al_pushed *pushed, struct al_run_limits *budget,
                          struct al_error *err)
{
    const struct al_branch_name branch = { pushed->target, pushed->branch };
    al_auto(al_base_clear) struct al_base origin = { .items = NULL };
    int r = al_origin_load(staging, staged->sandbox, &branch, budget, &origin, err);

    if (r < 0)
        return r;
    al_base_apply(&origin, staged);
    return al_origin_save(staging, staged->sandbox, &branch, &origin, budget, err);
}

static int advance_base(struct al_staging *staging, const struct al_staged *staged,
                        const struct al_pushed *pushed, struct al_run_limits *budget,
                        struct al_error *err)
{
    al_auto(al_base_clear) struct al_base base = { .items = NULL };
    int r;

    if (al_staging_is_gone(staging, staged->sandbox))
        return 0;
    r = advance_origin(staging, staged, pushed, budget, err);
    if (r == 0)
        r = al_base_load(staging, staged->sandbox, budget, &base, err);
    if (r < 0)
        return r;
    al_base_apply(&base, staged);
    if (!al_heads_find(&base.heads, pushed->target, pushed->branch) ||
        was_based_on_old(&base.heads, pushed))
        al_heads_set(&base.heads, pushed->target, pushed->branch, pushed->commit);
    return al_base_save(staging, staged->sandbox, &base, budget, err);
}

/* Advance the head in the other commits of this sandbox that were based on the old one. */
static int advance_others(struct al_staging *staging, const struct al_staged *staged,
                          const struct al_pushed *pushed, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv ids = AL_STRV_INIT;
    int r = al_staged_ids(staging, &ids, err);

    for (size_t i = 0; i < ids.count && r == 0; i++) {
        al_auto(al_staged_clear) struct al_staged other = { .id = "" };
        al_auto(al_json_decrefp) json_t *other_pushed = NULL;

        if (!strcmp(ids.items[i], staged->id) ||
            al_staged_read(staging, ids.items[i], &other, &other_pushed, NULL) < 0 ||
            strcmp(other.sandbox, staged->sandbox) != 0 || !was_based_on_old(&other.heads, pushed))
            continue;
        al_heads_set(&other.heads, pushed->target, pushed->branch, pushed->commit);
        r = al_staged_write(staging, &other, other_pushed, err);
    }
    return r;
}

static int complete(struct al_staging *staging, const struct al_staged *staged,
                    const struct al_pushed *pushed, struct al_run_limits *budget,
                    struct al_error *err)
{
    int r = advance_base(staging, staged, pushed, budget, err);

    if (r == 0)
        r = advance_others(staging, staged, pushed, err);
    return r < 0 ? r : al_staged_remove(staging, staged->id, budget, err);
}

int al_staged_pushed(struct al_staging *staging, const struct al_staged *staged,
                     const struct al_pushed *pushed, struct al_run_limits *budget,
                     struct al_error *err)
{
    al_auto(al_json_decrefp) json_t *object = to_json(pushed);
    int r = al_staging_lock(staging, budget, err);

    if (r < 0)
        return r;
    r = al_staged_write(staging, staged, object, err);
    if (r == 0)
        r = complete(staging, staged, pushed, budget, err);
    al_staging_unlock(staging);
    return r;
}

static int complete_one(struct al_staging *staging, const char *id, struct al_run_limits *budget,
                        struct al_error *err)
{
    al_auto(al_staged_clear) struct al_staged staged = { .id = "" };
    al_auto(al_json_decrefp) json_t *object = NULL;
    struct al_pushed pushed;

    if (al_staged_read(staging, id, &staged, &object, NULL) < 0 || !object)
        return 0;
    from_json(object, &pushed);
    return pushed.target && pushed.branch && pushed.commit
               ? complete(staging, &staged, &pushed, budget, err)
               : al_staged_remove(staging, staged.id, budget, err);
}

int al_staged_recover(struct al_staging *staging, struct al_run_limits *budget,
                      struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv ids = AL_STRV_INIT;
    int r = al_staged_ids(staging, &ids, err);

    for (size_t i = 0; i < ids.count && r == 0; i++) {
        al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;

        r = complete_one(staging, ids.items[i], budget, &why);
        if (r == AL_ERR_TIMEOUT || r == AL_ERR_CANCELLED)
            return al_error_set(err, (enum al_status)r, "%s", why.message);
        if (r < 0)
            al_log_warn("the push of staged commit %.*s is not recorded yet: %s",
                        AL_STAGED_SHORT_ID, ids.items[i], why.message);
        r = 0;
    }
    return r;
}
