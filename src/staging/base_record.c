// SPDX-License-Identifier: Apache-2.0
#include "staging/base_record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "staging/store.h"
#include "util/log.h"

#define ASIDE_MAX 1000 /* damaged records of one sandbox that are kept */

void al_base_record_clear(struct al_base_record *record)
{
    al_heads_clear(&record->heads);
    *record = (struct al_base_record){ .heads = { .items = NULL } };
}

static bool parse(const json_t *object, bool sha256, struct al_base_record *ret_record)
{
    const char *tree = al_json_get_string(object, "tree");

    if (!tree || !al_oid_parse(tree, sha256, &ret_record->tree))
        return false;
    al_heads_from_json(json_object_get(object, "heads"), &ret_record->heads);
    return true;
}

static int read_file(const struct al_staging *staging, const char *name,
                     struct al_base_record *ret_record, bool *ret_is_damaged, struct al_error *err)
{
    al_auto(al_json_decrefp) json_t *object = NULL;
    int r = al_staging_load_json(staging, staging->sandboxes_fd, name, &object, err);

    *ret_is_damaged = r == 0 && !parse(object, staging->options.sha256, ret_record);
    return r;
}

/* Rename a damaged record.  `ret_name` is the new name. */
static int set_aside(const struct al_staging *staging, const char *name, char **ret_name,
                     struct al_error *err)
{
    const int fd = staging->sandboxes_fd;

    for (int i = 1; i <= ASIDE_MAX; i++) {
        al_auto(al_freep) char *aside = al_asprintf("%s.damaged-%d", name, i);

        if (renameat2(fd, name, fd, aside, RENAME_NOREPLACE) == 0) {
            *ret_name = al_take(&aside);
            return 0;
        }
        if (errno != EEXIST)
            break;
    }
    return al_staging_unusable(staging, errno, err);
}

static int repair(struct al_staging *staging, const char *key, const char *name,
                  struct al_base_record *ret_record, struct al_error *err)
{
    al_auto(al_freep) char *ref = al_asprintf(AL_REF_BASE "%s", key);
    al_auto(al_freep) char *aside = NULL;
    int r = set_aside(staging, name, &aside, err);

    if (r < 0)
        return r;
    if (al_staging_read_ref(staging, ref, &ret_record->tree, NULL) < 0) {
        al_log_warn("the staging store '%s' is damaged: '%s' is now '%s', and all files of its "
                    "sandbox count as new; pull again before a push",
                    staging->dir, name, aside);
        return AL_ERR_NOT_FOUND;
    }
    al_log_warn("the staging store '%s' is damaged: '%s' is now '%s', and the commits that its "
                "files were pulled at are forgotten; pull again before a push",
                staging->dir, name, aside);
    return al_base_record_write(staging, key, ret_record, err);
}

int al_base_record_read(struct al_staging *staging, const char *key, struct al_run_limits *budget,
                        struct al_base_record *ret_record, struct al_error *err)
{
    al_auto(al_freep) char *name = al_asprintf("%s.json", key);
    bool is_damaged;
    int r = read_file(staging, name, ret_record, &is_damaged, err);

    if (!is_damaged)
        return r;
    r = al_staging_lock(staging, budget, err);
    if (r < 0)
        return r;
    r = read_file(staging, name, ret_record, &is_damaged, err); /* another process was faster? */
    if (is_damaged)
        r = repair(staging, key, name, ret_record, err);
    al_staging_unlock(staging);
    return r;
}

int al_base_record_write(struct al_staging *staging, const char *key,
                         const struct al_base_record *record, struct al_error *err)
{
    al_auto(al_freep) char *name = al_asprintf("%s.json", key);
    al_auto(al_json_decrefp) json_t *object = al_json_object();
    char text[AL_OID_TEXT];

    al_oid_text(&record->tree, staging->options.sha256, text);
    al_json_set(object, "tree", al_json_string(text));
    al_json_set(object, "heads", al_heads_to_json(&record->heads));
    return al_staging_write_json(staging, staging->sandboxes_fd, name, object, err);
}
