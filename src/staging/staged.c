// SPDX-License-Identifier: Apache-2.0
#include "staging/staged.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/utf8.h"
#include "guard/text.h"
#include "staging/base.h"
#include "staging/store.h"

void al_staged_clear(struct al_staged *staged)
{
    for (size_t i = 0; i < staged->count; i++)
        free(staged->files[i].path);
    free(staged->files);
    free(staged->message);
    free(staged->sandbox);
    free(staged->worker);
    json_decref(staged->heads);
    *staged = (struct al_staged){ .id = "" };
}

void al_staged_list_clear(struct al_staged_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        al_staged_clear(&list->items[i]);
    free(list->items);
    *list = (struct al_staged_list){ .items = NULL };
}

static const char *operation_name(enum al_sandbox_operation operation)
{
    static const char *const names[] = { "create", "update", "delete" };

    return names[operation];
}

char al_staged_mark(enum al_sandbox_operation operation)
{
    return "+M-"[operation];
}

const char *al_staged_message(const char *given)
{
    for (;;) {
        const char *text = given + strspn(given, " \t\r\v\f");

        if (!*text || *text != '\n')
            return *text ? given : text;
        given = text + 1;
    }
}

/* --- The record --- */

/*
 * A record is the StagedCommit of the tools, with more.  A path that is not UTF-8, of which JSON
 * has no bytes, is there in base64 as well.
 */

#define JSON_MAX_BYTES (64u << 20)

/* The reason of an error about a file that can be read, and is not what airlock writes. */
#define DAMAGED "damaged"

static int damaged(const struct al_staging *staging, const char *name, struct al_error *err)
{
    return al_error_reason(al_error_set(err, AL_ERR_EXECUTION,
                                        "the staging store '%s' is damaged: '%s'", staging->dir,
                                        name),
                           err, DAMAGED);
}

/* Caller frees; NULL: there is none. */
static char *get_path(const json_t *file)
{
    static const char root[] = "/workspace/";
    const char *shown = al_json_get_string(file, "sandboxPath");
    const char *coded = al_json_get_string(file, "path");
    al_auto(al_str_clear) struct al_str path = AL_STR_INIT;

    if (coded)
        return al_base64_decode(coded, strlen(coded), &path) ? al_str_detach(&path) : NULL;
    return shown && al_starts_with(shown, root) ? al_strdup(shown + strlen(root)) : NULL;
}

static int find_operation(const char *name)
{
    for (int i = AL_STAGED_CREATE; name && i <= AL_STAGED_DELETE; i++)
        if (!strcmp(name, operation_name((enum al_sandbox_operation)i)))
            return i;
    return -1;
}

static bool file_from_json(const json_t *object, bool sha256, struct al_sandbox_file *ret_file)
{
    int operation = find_operation(al_json_get_string(object, "operation"));
    const char *oid = al_json_get_string(object, "contentHash");
    struct al_sandbox_file file = {
        .operation = (enum al_sandbox_operation)operation,
        .mode = (unsigned)json_integer_value(json_object_get(object, "mode")),
        .size = (uint64_t)json_integer_value(json_object_get(object, "size")),
    };

    if (operation < 0 || !oid || !al_oid_parse(oid, sha256, &file.oid))
        return false;
    file.path = get_path(object);
    *ret_file = file;
    return file.path && *file.path;
}

static bool files_from_json(const json_t *array, bool sha256, struct al_staged *staged)
{
    const json_t *object;
    size_t i;

    staged->files = al_calloc(json_array_size(array) + 1, sizeof(*staged->files));
    json_array_foreach(array, i, object)
    {
        staged->count++;
        if (!file_from_json(object, sha256, &staged->files[i]))
            return false;
    }
    return staged->count > 0;
}

static bool from_json(const json_t *object, const char *id, bool sha256, struct al_staged *staged)
{
    const char *created_at, *commit, *message, *sandbox;
    json_int_t order;

    if (json_unpack((json_t *)object, "{s:s, s:s, s:s, s:s, s:I}", "createdAt", &created_at,
                    "commit", &commit, "message", &message, "sandbox", &sandbox, "order",
                    &order) < 0 ||
        !al_oid_parse(commit, sha256, &staged->commit))
        return false;
    (void)snprintf(staged->id, sizeof(staged->id), "%s", id);
    (void)snprintf(staged->created_at, sizeof(staged->created_at), "%s", created_at);
    staged->order = order;
    staged->message = al_strdup(al_staged_message(message));
    staged->sandbox = al_strdup(sandbox);
    staged->worker = al_strdup(al_json_get_string(object, "worker"));
    staged->heads = json_incref(json_object_get(object, "heads"));
    return files_from_json(json_object_get(object, "files"), sha256, staged);
}

/* Read a record.  `ret_pushed` gets the push that has to be completed, or NULL; the caller owns the
 * reference.  AL_ERR_EXECUTION when it is damaged. */
static int read_record(const struct al_staging *staging, const char *id,
                       struct al_staged *ret_staged, json_t **ret_pushed, struct al_error *err)
{
    al_auto(al_freep) char *name = al_asprintf("%s.json", id);
    al_auto(al_staged_clear) struct al_staged staged = { .id = "" };
    al_auto(al_json_decrefp) json_t *object = NULL;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r = al_fs_read(staging->staged_fd, name, JSON_MAX_BYTES, &text);

    if (r == -ENOENT)
        return al_error_set(err, AL_ERR_NOT_FOUND, "the staging store has no '%s'", name);
    if (r < 0)
        return al_staging_unusable(staging, -r, err);
    object = json_loadb(text.buf, text.len, JSON_REJECT_DUPLICATES, NULL);
    if (!from_json(object, id, staging->options.sha256, &staged))
        return damaged(staging, name, err);
    *ret_staged = staged;
    staged = (struct al_staged){ .id = "" };
    *ret_pushed = json_incref(json_object_get(object, "pushed"));
    return 0;
}

int al_staged_write(const struct al_staging *staging, const struct al_staged *staged,
                    const json_t *pushed, struct al_error *err)
{
    al_auto(al_freep) char *name = al_asprintf("%s.json", staged->id);
    al_auto(al_json_decrefp) json_t *object = al_staged_to_json(staging, staged);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    char commit[AL_OID_TEXT];
    int r;

    al_oid_text(&staged->commit, staging->options.sha256, commit);
    for (size_t i = 0; i < staged->count; i++) {
        json_t *file = json_array_get(json_object_get(object, "files"), i);
        const char *path = staged->files[i].path;
        al_auto(al_str_clear) struct al_str coded = AL_STR_INIT;

        al_json_set(file, "mode", al_json_int(staged->files[i].mode));
        if (al_utf8_valid(path, strlen(path)))
            continue;
        al_base64_encode(path, strlen(path), &coded);
        al_json_set(file, "path", al_json_string(coded.buf));
    }
    (void)json_object_update_new(
        object,
        json_pack("{s:I, s:s, s:o, s:o*, s:o, s:O*}", "order", (json_int_t)staged->order, "commit",
                  commit, "sandbox", al_json_string(staged->sandbox), "worker",
                  staged->worker ? al_json_string(staged->worker) : NULL, "heads",
                  staged->heads ? json_incref(staged->heads) : al_json_array(), "pushed", pushed));
    al_json_dump(object, true, &text);
    al_str_addc(&text, '\n');
    if (text.len > JSON_MAX_BYTES) /* it could not be read again */
        return al_error_set(err, AL_ERR_EXECUTION,
                            "the names are too long to be recorded; stage fewer files at a time");
    r = al_fs_write_durable(staging->staged_fd, name, text.buf, text.len, 0600);
    return r < 0 ? al_staging_unusable(staging, -r, err) : 0;
}

/* Whether a name is that of a record: "<uuid>.json". */
static bool is_record(const char *name)
{
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx.json";

    if (strlen(name) != strlen(form))
        return false;
    for (size_t i = 0; form[i]; i++)
        if (form[i] == 'x' ? !strchr("0123456789abcdef", name[i]) : name[i] != form[i])
            return false;
    return true;
}

/* Append the ids of all records, in no order. */
static int list_ids(const struct al_staging *staging, struct al_strv *ret_ids, struct al_error *err)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(staging->staged_fd);
    struct dirent *entry;

    if (!dir)
        return al_staging_unusable(staging, errno, err);
    while ((entry = readdir(dir)))
        if (is_record(entry->d_name))
            al_strv_take(ret_ids, al_strndup(entry->d_name, AL_STAGED_ID_TEXT - 1));
    return 0;
}

int al_staged_remove(struct al_staging *staging, const char *id, struct al_error *err)
{
    al_auto(al_freep) char *name = al_asprintf("%s.json", id);
    al_auto(al_freep) char *ref = al_asprintf(AL_REF_STAGED "%s", id);
    int r = unlinkat(staging->staged_fd, name, 0) < 0 && errno != ENOENT
                ? -errno
                : al_fs_sync(staging->staged_fd);

    return r < 0 ? al_staging_unusable(staging, -r, err) : al_staging_delete_ref(staging, ref, err);
}

/* --- The list --- */

static int by_age(const void *a, const void *b)
{
    const struct al_staged *x = a, *y = b;
    int order = (x->order > y->order) - (x->order < y->order);

    return order ? order : strcmp(x->id, y->id);
}

/* Read the records.  A damaged one is left out: the others can still be used, and gc keeps its
 * objects.  One that cannot be read now is an error: its files would be staged again.  One that was
 * pushed is staged no longer, whether or not its push is complete. */
static int read_all(struct al_staging *staging, struct al_staged_list *list, bool *ret_has_pushed,
                    struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv ids = AL_STRV_INIT;
    int r = list_ids(staging, &ids, err);

    list->items = al_calloc(ids.count + 1, sizeof(*list->items));
    for (size_t i = 0; i < ids.count && r == 0; i++) {
        al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
        al_auto(al_json_decrefp) json_t *pushed = NULL;
        struct al_staged *next = &list->items[list->count];
        int found = read_record(staging, ids.items[i], next, &pushed, &why);

        if (found == 0 && pushed)
            al_staged_clear(next);
        else if (found == 0)
            list->count++;
        else if (why.reason && !strcmp(why.reason, DAMAGED))
            al_log_warn("%s", why.message);
        else if (found != AL_ERR_NOT_FOUND) /* else another process removed it meanwhile */
            r = al_error_set(err, found, "%s", why.message);
        *ret_has_pushed |= pushed != NULL;
    }
    qsort(list->items, list->count, sizeof(*list->items), by_age);
    return r;
}

int al_staged_list(struct al_staging *staging, struct al_run_limits *budget,
                   struct al_staged_list *ret_list, struct al_error *err)
{
    al_auto(al_staged_list_clear) struct al_staged_list list = { .items = NULL };
    bool has_pushed = false;
    int r = read_all(staging, &list, &has_pushed, err);

    if (r == 0 && has_pushed) {
        al_staged_list_clear(&list);
        r = al_staging_lock(staging, budget, err);
        if (r < 0)
            return r;
        r = al_staged_recover(staging, budget, err);
        if (r == 0)
            r = read_all(staging, &list, &has_pushed, err);
        al_staging_unlock(staging);
    }
    if (r < 0)
        return r;
    *ret_list = list;
    list = (struct al_staged_list){ .items = NULL };
    return 0;
}

static int not_found(const char *given, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(given);

    return al_error_reason(
        al_error_set(err, AL_ERR_EXECUTION,
                     strlen(given) < AL_STAGED_PREFIX_MIN
                         ? "no staged commit '%s': give at least six characters of its id"
                         : "no staged commit '%s'; git_status lists them, and airlock staging in a "
                           "terminal",
                     safe),
        err, "not_found");
}

int al_staged_find(struct al_staging *staging, const char *given, struct al_run_limits *budget,
                   struct al_staged *ret_staged, struct al_error *err)
{
    al_auto(al_staged_list_clear) struct al_staged_list list = { .items = NULL };
    size_t matches = 0, which = 0;
    int r = al_staged_list(staging, budget, &list, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < list.count && strlen(given) >= AL_STAGED_PREFIX_MIN; i++)
        if (!strncasecmp(list.items[i].id, given, strlen(given))) {
            matches++;
            which = i;
        }
    if (matches > 1) {
        return al_error_reason(
            al_error_set(err, AL_ERR_EXECUTION,
                         "'%s' is the beginning of %zu staged commits; give more of its id", given,
                         matches),
            err, "not_found");
    }
    if (!matches)
        return not_found(given, err);
    *ret_staged = list.items[which];
    list.items[which] = (struct al_staged){ .id = "" };
    return 0;
}

int al_staged_discard(struct al_staging *staging, const struct al_staged *staged,
                      struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_freep) char *name = al_asprintf("%s.json", staged->id);
    int r = al_staging_lock(staging, budget, err);

    if (r < 0)
        return r;
    if (faccessat(staging->staged_fd, name, F_OK, 0) < 0)
        r = not_found(staged->id, err); /* another process was faster */
    else
        r = al_staged_remove(staging, staged->id, err);
    al_staging_unlock(staging);
    return r;
}

/* A file of `staged` that the earlier commit has as well; NULL: none.  Both are sorted. */
static const char *common_file(const struct al_staged *earlier, const struct al_staged *staged)
{
    for (size_t i = 0, j = 0; i < earlier->count && j < staged->count;) {
        const int order = strcmp(earlier->files[i].path, staged->files[j].path);

        if (!order)
            return staged->files[j].path;
        i += order < 0;
        j += order > 0;
    }
    return NULL;
}

bool al_staged_supersedes(const struct al_staged *newer, const struct al_staged *older)
{
    return older->order < newer->order && !strcmp(older->sandbox, newer->sandbox) &&
           al_heads_differ(older->heads, newer->heads) && common_file(older, newer);
}

const struct al_staged *al_staged_earlier(const struct al_staged_list *list,
                                          const struct al_staged *staged, const char **ret_path)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct al_staged *other = &list->items[i];
        const char *path;

        if (other->order >= staged->order || strcmp(other->sandbox, staged->sandbox) != 0 ||
            al_staged_supersedes(staged, other))
            continue;
        path = common_file(other, staged);
        if (path) {
            *ret_path = path;
            return other;
        }
    }
    return NULL;
}

char *al_staged_title(const struct al_staged *staged)
{
    al_auto(al_freep) char *line = al_strndup(staged->message, strcspn(staged->message, "\n"));
    al_auto(al_freep) char *safe = al_text_join_shown_lines(line);

    return al_asprintf("%.*s \"%s\"", AL_STAGED_SHORT_ID, staged->id, safe);
}

json_t *al_staged_to_json(const struct al_staging *staging, const struct al_staged *staged)
{
    json_t *files = al_json_array();

    for (size_t i = 0; i < staged->count; i++) {
        const struct al_sandbox_file *file = &staged->files[i];
        al_auto(al_freep) char *path = al_asprintf("/workspace/%s", file->path);
        char oid[AL_OID_TEXT];

        al_oid_text(&file->oid, staging->options.sha256, oid);
        al_json_append(files, json_pack("{s:o, s:s, s:s, s:I}", "sandboxPath", al_json_string(path),
                                        "operation", operation_name(file->operation), "contentHash",
                                        oid, "size", (json_int_t)file->size));
    }
    return json_pack("{s:s, s:o, s:o, s:o}", "id", staged->id, "message",
                     al_json_string(staged->message), "files", files, "createdAt",
                     al_json_string(staged->created_at));
}

/* --- A push --- */

/*
 * Recording a push.  Its first step writes the push into the record of the staged commit, and from
 * then on the commit counts as pushed; each of the others may be done twice.
 */

static json_t *pushed_to_json(const struct al_staged_push *pushed)
{
    return json_pack("{s:o, s:o, s:s*, s:s}", "target", al_json_string(pushed->target), "branch",
                     al_json_string(pushed->branch), "oldHead", pushed->old_head, "commit",
                     pushed->commit);
}

static void pushed_from_json(const json_t *object, struct al_staged_push *ret_pushed)
{
    *ret_pushed = (struct al_staged_push){
        .target = al_json_get_string(object, "target"),
        .branch = al_json_get_string(object, "branch"),
        .old_head = al_json_get_string(object, "oldHead"),
        .commit = al_json_get_string(object, "commit"),
    };
}

/* Whether a base or a staged commit was based on the head that the push replaced. */
static bool was_based_on_old(const json_t *heads, const struct al_staged_push *pushed)
{
    const char *known = al_heads_find(heads, pushed->target, pushed->branch);

    return known && pushed->old_head && !strcmp(known, pushed->old_head);
}

static int advance_origin(struct al_staging *staging, const struct al_staged *staged,
                          const struct al_staged_push *pushed, struct al_run_limits *budget,
                          struct al_error *err)
{
    al_auto(al_freep) char *name = al_origin_name(staged->sandbox, pushed->target, pushed->branch);
    al_auto(al_base_clear) struct al_base origin = { .heads = NULL };
    int r = al_base_load(staging, name, budget, &origin, err);

    if (r < 0)
        return r;
    al_base_apply(&origin, staged);
    return al_base_save(staging, name, &origin, budget, err);
}

static int advance_base(struct al_staging *staging, const struct al_staged *staged,
                        const struct al_staged_push *pushed, struct al_run_limits *budget,
                        struct al_error *err)
{
    al_auto(al_base_clear) struct al_base base = { .heads = NULL };
    int r;

    if (al_staging_is_gone(staging, staged->sandbox))
        return 0;
    r = advance_origin(staging, staged, pushed, budget, err);
    if (r == 0)
        r = al_base_load(staging, staged->sandbox, budget, &base, err);
    if (r < 0)
        return r;
    al_base_apply(&base, staged);
    if (!al_heads_find(base.heads, pushed->target, pushed->branch) ||
        was_based_on_old(base.heads, pushed))
        al_heads_set(&base.heads, pushed->target, pushed->branch, pushed->commit);
    return al_base_save(staging, staged->sandbox, &base, budget, err);
}

/* Advance the head in the other commits of this sandbox that were based on the old one. */
static int advance_others(struct al_staging *staging, const struct al_staged *staged,
                          const struct al_staged_push *pushed, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv ids = AL_STRV_INIT;
    int r = list_ids(staging, &ids, err);

    for (size_t i = 0; i < ids.count && r == 0; i++) {
        al_auto(al_staged_clear) struct al_staged other = { .id = "" };
        al_auto(al_json_decrefp) json_t *other_pushed = NULL;

        if (!strcmp(ids.items[i], staged->id) ||
            read_record(staging, ids.items[i], &other, &other_pushed, NULL) < 0 ||
            strcmp(other.sandbox, staged->sandbox) != 0 || !was_based_on_old(other.heads, pushed))
            continue;
        al_heads_set(&other.heads, pushed->target, pushed->branch, pushed->commit);
        r = al_staged_write(staging, &other, other_pushed, err);
    }
    return r;
}

static int complete(struct al_staging *staging, const struct al_staged *staged,
                    const struct al_staged_push *pushed, struct al_run_limits *budget,
                    struct al_error *err)
{
    int r = advance_base(staging, staged, pushed, budget, err);

    if (r == 0)
        r = advance_others(staging, staged, pushed, err);
    return r < 0 ? r : al_staged_remove(staging, staged->id, err);
}

int al_staged_pushed(struct al_staging *staging, const struct al_staged *staged,
                     const struct al_staged_push *pushed, struct al_run_limits *budget,
                     struct al_error *err)
{
    al_auto(al_json_decrefp) json_t *object = pushed_to_json(pushed);
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
    struct al_staged_push pushed;

    if (read_record(staging, id, &staged, &object, NULL) < 0 || !object)
        return 0;
    pushed_from_json(object, &pushed);
    return pushed.target && pushed.branch && pushed.commit
               ? complete(staging, &staged, &pushed, budget, err)
               : al_staged_remove(staging, staged.id, err);
}

int al_staged_recover(struct al_staging *staging, struct al_run_limits *budget,
                      struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv ids = AL_STRV_INIT;
    int r = list_ids(staging, &ids, err);

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

/* --- Sizes --- */

void al_size_add(struct al_str *out, uint64_t bytes)
{
    static const char *const units[] = { "KB", "MB", "GB", "TB" };
    uint64_t one = 1024;
    size_t unit = 0;

    if (bytes * 10 < 1024) {
        al_str_addf(out, "%" PRIu64 " B", bytes);
        return;
    }
    /* Tenths, rounded; 1023.95 KB and more would read "1024.0 KB". */
    while (unit + 1 < AL_COUNT(units) &&
           bytes / one * 10 + (bytes % one * 10 + one / 2) / one >= UINT64_C(10240)) {
        one *= 1024;
        unit++;
    }
    bytes = bytes / one * 10 + (bytes % one * 10 + one / 2) / one;
    al_str_addf(out, "%" PRIu64 ".%" PRIu64 " %s", bytes / 10, bytes % 10, units[unit]);
}
