// SPDX-License-Identifier: Apache-2.0
#include "staging/staged.h"

#include <stdlib.h>
#include <unistd.h>

#include "guard/text.h"
#include "staging/staged_record.h"
#include "staging/store.h"
#include "util/log.h"

void al_staged_clear(struct al_staged *staged)
{
    for (size_t i = 0; i < staged->count; i++)
        free(staged->files[i].path);
    free(staged->files);
    free(staged->message);
    free(staged->sandbox);
    free(staged->worker);
    al_heads_clear(&staged->heads);
    *staged = (struct al_staged){ .id = "" };
}

void al_staged_list_clear(struct al_staged_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        al_staged_clear(&list->items[i]);
    free(list->items);
    *list = (struct al_staged_list){ .items = NULL };
}

const char *al_staged_operation_name(enum al_staged_operation operation)
{
    static const char *const names[] = { "create", "update", "delete" };

    return names[operation];
}

char al_staged_mark(enum al_staged_operation operation)
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
    int r = al_staged_ids(staging, &ids, err);

    list->items = al_calloc(ids.count + 1, sizeof(*list->items));
    for (size_t i = 0; i < ids.count && r == 0; i++) {
        al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
        al_auto(al_json_decrefp) json_t *pushed = NULL;
        struct al_staged *next = &list->items[list->count];
        int found = al_staged_read(staging, ids.items[i], next, &pushed, &why);

        if (found == 0 && pushed)
            al_staged_clear(next);
        else if (found == 0)
            list->count++;
        else if (why.reason && !strcmp(why.reason, AL_STAGING_DAMAGED))
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

    if (strlen(given) < AL_STAGED_PREFIX_MIN)
        (void)al_error_set(err, AL_ERR_EXECUTION,
                           "no staged commit '%s': give at least six characters of its id", safe);
    else
        (void)al_error_set(err, AL_ERR_EXECUTION,
                           "no staged commit '%s'; git_status lists them, and airlock staging in a "
                           "terminal",
                           safe);
    if (err)
        err->reason = "not_found";
    return AL_ERR_EXECUTION;
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
        (void)al_error_set(err, AL_ERR_EXECUTION,
                           "'%s' is the beginning of %zu staged commits; give more of its id",
                           given, matches);
        if (err)
            err->reason = "not_found";
        return AL_ERR_EXECUTION;
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
        r = al_staged_remove(staging, staged->id, budget, err);
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
           al_heads_differ(&older->heads, &newer->heads) && common_file(older, newer);
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
    json_t *object = al_json_object(), *files = al_json_array();

    for (size_t i = 0; i < staged->count; i++) {
        const struct al_staged_file *file = &staged->files[i];
        al_auto(al_freep) char *path = al_asprintf("/workspace/%s", file->path);
        json_t *entry = al_json_object();
        char oid[AL_OID_TEXT];

        al_oid_text(&file->oid, staging->options.sha256, oid);
        al_json_set(entry, "sandboxPath", al_json_string(path));
        al_json_set(entry, "operation", al_json_string(al_staged_operation_name(file->operation)));
        al_json_set(entry, "contentHash", al_json_string(oid));
        al_json_set(entry, "size", al_json_int((int64_t)file->size));
        al_json_append(files, entry);
    }
    al_json_set(object, "id", al_json_string(staged->id));
    al_json_set(object, "message", al_json_string(staged->message));
    al_json_set(object, "files", files);
    al_json_set(object, "createdAt", al_json_string(staged->created_at));
    return object;
}
