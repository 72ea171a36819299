// SPDX-License-Identifier: Apache-2.0
#include "staging/base.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/log.h"
#include "base/sorted.h"
#include "git/plumbing/bare.h"
#include "staging/staged.h"
#include "staging/store.h"

void al_base_clear(struct al_base *base)
{
    for (size_t i = 0; i < base->count; i++)
        free(base->items[i].path);
    free(base->items);
    json_decref(base->heads);
    *base = (struct al_base){ .items = NULL };
}

/* --- Changing and finding --- */

void al_base_set(struct al_base *base, const char *path, unsigned mode, const struct al_oid *oid)
{
    base->items = al_grow(base->items, base->count, sizeof(*base->items));
    base->items[base->count] = (struct al_base_file){
        .path = al_strdup(path), .mode = mode, .order = base->count, .oid = *oid
    };
    base->count++;
}

void al_base_remove(struct al_base *base, const char *path)
{
    al_base_set(base, path, 0, &(struct al_oid){ { 0 } });
}

void al_base_apply(struct al_base *base, const struct al_staged *staged)
{
    for (size_t i = 0; i < staged->count; i++)
        al_base_set(base, staged->files[i].path, staged->files[i].mode, &staged->files[i].oid);
}

static int by_path(const void *a, const void *b)
{
    const struct al_base_file *x = a, *y = b;
    int order = strcmp(x->path, y->path);

    return order ? order : (x->order > y->order) - (x->order < y->order);
}

void al_base_sort(struct al_base *base)
{
    size_t kept = 0;

    if (base->sorted == base->count)
        return;
    qsort(base->items, base->count, sizeof(*base->items), by_path);
    for (size_t i = 0; i < base->count; i++) {
        struct al_base_file *file = &base->items[i];
        bool is_last = i + 1 == base->count || strcmp(file->path, base->items[i + 1].path) != 0;

        if (!is_last || !file->mode) {
            free(file->path);
            continue;
        }
        base->items[kept] = *file;
        base->items[kept].order = kept;
        kept++;
    }
    base->count = base->sorted = kept;
}

const struct al_base_file *al_base_find(struct al_base *base, const char *path)
{
    size_t at;

    al_base_sort(base);
    at = al_sorted_find(base->items, base->count, sizeof(*base->items), path);
    return at == SIZE_MAX ? NULL : &base->items[at];
}

void al_base_list_replaced(struct al_base *base, const char *path, struct al_strv *ret_paths)
{
    struct al_range below;

    al_base_sort(base);
    below = al_choose_range(
        &(struct al_choosing){ base->items, base->count, sizeof(*base->items), NULL, NULL }, path);
    for (size_t i = below.begin; i < below.end; i++)
        al_strv_add(ret_paths, base->items[i].path);
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        al_auto(al_freep) char *above = al_strndup(path, (size_t)(slash - path));

        if (al_base_find(base, above))
            al_strv_add(ret_paths, above);
    }
}

/* --- Reading --- */

struct reading {
    struct al_base *base;
    struct al_tree_bounds bounds;
    bool sha256;
};

static bool add_file(void *payload, const struct al_bare_change *change)
{
    struct reading *reading = payload;
    struct al_oid oid;

    if (!al_oid_parse(change->new_oid, reading->sha256, &oid) ||
        !al_tree_bounds_add(&reading->bounds, change->path))
        return false;
    al_base_set(reading->base, change->path, change->new_mode, &oid);
    return true;
}

static int check_size(const struct al_tree_bounds *bounds, struct al_error *err)
{
    return al_tree_bounds_check(bounds, "what was pulled into this sandbox",
                                "use another sandbox for other repositories", err);
}

/* git writes references as a whole; a broken one comes from elsewhere.  git would not replace it.
 */
static void drop_broken(struct al_staging *staging, const char *ref, struct al_run_limits *budget)
{
    struct al_oid oid;

    if (!al_file_id_at(staging->bare.dir_fd, ref).exists ||
        al_staging_lock(staging, budget, NULL) < 0)
        return;
    if (al_staging_read_ref(staging, ref, &oid, NULL) < 0 &&
        unlinkat(staging->bare.dir_fd, ref, 0) == 0)
        al_log_warn("the staging store '%s' is damaged: it had no commit in '%s', and all files of "
                    "its sandbox count as new; pull again before a push",
                    staging->dir, ref);
    al_staging_unlock(staging);
}

int al_base_load(struct al_staging *staging, const char *key, struct al_run_limits *budget,
                 struct al_base *ret_base, struct al_error *err)
{
    al_auto(al_freep) char *ref = al_asprintf(AL_REF_BASE "%s", key);
    al_auto(al_base_clear) struct al_base base = { .items = NULL };
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;
    struct reading reading = { .base = &base, .sha256 = staging->options.sha256 };
    struct al_oid oid;
    char commit[AL_OID_TEXT];
    int r;

    *ret_base = (struct al_base){ .items = NULL };
    if (al_staging_read_ref(staging, ref, &oid, NULL) < 0) {
        drop_broken(staging, ref, budget);
        return 0;
    }
    al_oid_text(&oid, reading.sha256, commit);
    r = al_bare_read_commit(&staging->bare, commit, &message, add_file, &reading, budget, err);
    if (r == 0)
        r = check_size(&reading.bounds, err);
    if (r < 0)
        return r;
    al_base_sort(&base);
    base.heads = json_loadb(message.buf, message.len, JSON_REJECT_DUPLICATES, NULL);
    *ret_base = base;
    base = (struct al_base){ .items = NULL };
    return 0;
}

/* --- Writing --- */

/* What is written can be read again. */
static int check_readable(const struct al_base *base, struct al_error *err)
{
    struct al_tree_bounds bounds = { .entries = 0 };

    for (size_t i = 0; i < base->count && al_tree_bounds_add(&bounds, base->items[i].path); i++)
        continue;
    return check_size(&bounds, err);
}

int al_base_save(struct al_staging *staging, const char *key, struct al_base *base,
                 struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_freep) char *ref = al_asprintf(AL_REF_BASE "%s", key);
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;
    al_auto(al_import_clear) struct al_import import;
    int r = al_import_begin(staging, &import, err);

    if (r < 0)
        return r;
    al_base_sort(base);
    r = check_readable(base, err);
    if (r < 0)
        return r;
    if (base->heads)
        al_json_dump(base->heads, true, &message);
    al_import_commit(&import, ref, message.buf, 0);
    al_import_set_all(&import, base);
    return al_import_end(&import, budget, NULL, err);
}

/* --- Heads --- */

static json_t *find_head(const json_t *heads, const char *target, const char *branch)
{
    json_t *head;
    size_t i;

    json_array_foreach(heads, i, head)
    {
        const char *its = al_json_get_string(head, "target");
        const char *name = al_json_get_string(head, "branch");

        if (its && name && !strcmp(its, target) && !strcmp(name, branch))
            return head;
    }
    return NULL;
}

const char *al_heads_find(const json_t *heads, const char *target, const char *branch)
{
    return al_json_get_string(find_head(heads, target, branch), "head");
}

bool al_heads_differ(const json_t *heads, const json_t *others)
{
    const json_t *head;
    size_t i;

    json_array_foreach(heads, i, head)
    {
        const char *target = al_json_get_string(head, "target");
        const char *branch = al_json_get_string(head, "branch");
        const char *commit = al_json_get_string(head, "head");
        const char *other = target && branch ? al_heads_find(others, target, branch) : NULL;

        if (commit && other && strcmp(other, commit) != 0)
            return true;
    }
    return false;
}

void al_heads_set(json_t **heads, const char *target, const char *branch, const char *commit)
{
    json_t *head = find_head(*heads, target, branch), *value = al_json_string(commit);

    if (!head) {
        if (!json_is_array(*heads)) {
            json_decref(*heads);
            *heads = al_json_array();
        }
        head = al_json_object();
        al_json_set(head, "target", al_json_string(target));
        al_json_set(head, "branch", al_json_string(branch));
        al_json_append(*heads, head);
    }
    al_json_set(head, "head", value);
}

/* --- Origins --- */

#define DIGITS 16

char *al_origin_name(const char *key, const char *target, const char *branch)
{
    struct al_hash hash;
    struct al_oid digest;
    char text[AL_OID_TEXT];

    al_hash_init(&hash, true);
    al_hash_add(&hash, target, strlen(target) + 1);
    al_hash_add(&hash, branch, strlen(branch) + 1);
    al_hash_end(&hash, &digest);
    al_oid_text(&digest, true, text);
    return al_asprintf("%s-%.*s", key, DIGITS, text);
}

/* --- Bounds --- */

static unsigned depth_of(const char *path)
{
    unsigned depth = 0;

    for (; *path; path++)
        depth += *path == '/';
    return depth;
}

bool al_tree_bounds_add(struct al_tree_bounds *bounds, const char *path)
{
    bounds->entries++;
    bounds->names_bytes += strlen(path);
    if (bounds->entries > AL_TREE_ENTRIES_MAX || bounds->names_bytes > AL_TREE_NAMES_MAX_BYTES ||
        depth_of(path) > AL_TREE_DEPTH_MAX)
        bounds->is_exceeded = true;
    return !bounds->is_exceeded;
}

int al_tree_bounds_check(const struct al_tree_bounds *bounds, const char *what, const char *advice,
                         struct al_error *err)
{
    if (!bounds->is_exceeded)
        return 0;
    return al_error_set(err, AL_ERR_EXECUTION,
                        "%s has more than %u files and directories, more than %u bytes of names, "
                        "or directories more than %u deep; %s",
                        what, AL_TREE_ENTRIES_MAX, AL_TREE_NAMES_MAX_BYTES, AL_TREE_DEPTH_MAX,
                        advice);
}
