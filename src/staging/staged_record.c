// SPDX-License-Identifier: Apache-2.0
#include "staging/staged_record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/fs.h"
#include "util/utf8.h"

/* --- Paths: JSON has no bytes that are not UTF-8 --- */

static void set_path(json_t *object, const char *path)
{
    al_auto(al_str_clear) struct al_str hex = AL_STR_INIT;

    al_json_set(object, "path", al_json_string(path));
    if (al_utf8_valid(path, strlen(path)))
        return;
    for (const char *at = path; *at; at++)
        al_str_addf(&hex, "%02x", (unsigned char)*at);
    al_json_set(object, "pathHex", al_json_string(hex.buf));
}

static int digit(char c)
{
    const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;

    return at ? (int)(at - digits) : -1;
}

/* Caller frees. */
static char *get_path(const json_t *object)
{
    const char *hex = al_json_get_string(object, "pathHex");
    al_auto(al_str_clear) struct al_str path = AL_STR_INIT;

    if (!hex)
        return al_strdup(al_json_get_string(object, "path"));
    for (; hex[0] && hex[1]; hex += 2) {
        int high = digit(hex[0]), low = digit(hex[1]);

        if (high < 0 || low < 0)
            return NULL;
        al_str_addc(&path, (char)(high << 4 | low));
    }
    return al_str_detach(&path);
}

/* --- Files --- */

static json_t *file_to_json(const struct al_staged_file *file, bool sha256)
{
    json_t *object = al_json_object();
    char oid[AL_OID_TEXT];

    al_oid_text(&file->oid, sha256, oid);
    set_path(object, file->path);
    al_json_set(object, "operation", al_json_string(al_staged_operation_name(file->operation)));
    al_json_set(object, "mode", al_json_int(file->mode));
    al_json_set(object, "size", al_json_int((int64_t)file->size));
    al_json_set(object, "oid", al_json_string(oid));
    return object;
}

static int find_operation(const char *name)
{
    for (int i = AL_STAGED_CREATE; name && i <= AL_STAGED_DELETE; i++)
        if (!strcmp(name, al_staged_operation_name((enum al_staged_operation)i)))
            return i;
    return -1;
}

static bool file_from_json(const json_t *object, bool sha256, struct al_staged_file *ret_file)
{
    int operation = find_operation(al_json_get_string(object, "operation"));
    const char *oid = al_json_get_string(object, "oid");
    struct al_staged_file file = {
        .operation = (enum al_staged_operation)operation,
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

/* --- Records --- */

static bool from_json(const json_t *object, const char *id, bool sha256, struct al_staged *staged)
{
    const char *created_at = al_json_get_string(object, "createdAt");
    const char *commit = al_json_get_string(object, "commit");
    const char *message = al_json_get_string(object, "message");
    const char *sandbox = al_json_get_string(object, "sandbox");
    const json_t *order = json_object_get(object, "order");

    if (!created_at || !commit || !message || !sandbox || !json_is_integer(order) ||
        !al_oid_parse(commit, sha256, &staged->commit))
        return false;
    (void)snprintf(staged->id, sizeof(staged->id), "%s", id);
    (void)snprintf(staged->created_at, sizeof(staged->created_at), "%s", created_at);
    staged->order = json_integer_value(order);
    staged->message = al_strdup(al_staged_message(message));
    staged->sandbox = al_strdup(sandbox);
    staged->worker = al_strdup(al_json_get_string(object, "worker"));
    al_heads_from_json(json_object_get(object, "heads"), &staged->heads);
    return files_from_json(json_object_get(object, "files"), sha256, staged);
}

int al_staged_read(const struct al_staging *staging, const char *id, struct al_staged *ret_staged,
                   json_t **ret_pushed, struct al_error *err)
{
    al_auto(al_freep) char *name = al_asprintf("%s.json", id);
    al_auto(al_staged_clear) struct al_staged staged = { .id = "" };
    al_auto(al_json_decrefp) json_t *object = NULL;
    int r = al_staging_read_json(staging, staging->staged_fd, name, &object, err);

    if (r < 0)
        return r;
    if (!from_json(object, id, staging->options.sha256, &staged))
        return al_staging_damaged(staging, name, err);
    *ret_staged = staged;
    staged = (struct al_staged){ .id = "" };
    *ret_pushed = json_incref(json_object_get(object, "pushed"));
    return 0;
}

int al_staged_write(const struct al_staging *staging, const struct al_staged *staged,
                    const json_t *pushed, struct al_error *err)
{
    al_auto(al_freep) char *name = al_asprintf("%s.json", staged->id);
    al_auto(al_json_decrefp) json_t *object = al_json_object();
    json_t *files = al_json_array();
    char commit[AL_OID_TEXT];

    al_oid_text(&staged->commit, staging->options.sha256, commit);
    al_json_set(object, "id", al_json_string(staged->id));
    al_json_set(object, "message", al_json_string(staged->message));
    al_json_set(object, "createdAt", al_json_string(staged->created_at));
    al_json_set(object, "order", al_json_int(staged->order));
    al_json_set(object, "commit", al_json_string(commit));
    al_json_set(object, "sandbox", al_json_string(staged->sandbox));
    if (staged->worker)
        al_json_set(object, "worker", al_json_string(staged->worker));
    for (size_t i = 0; i < staged->count; i++)
        al_json_append(files, file_to_json(&staged->files[i], staging->options.sha256));
    al_json_set(object, "files", files);
    al_json_set(object, "heads", al_heads_to_json(&staged->heads));
    if (pushed)
        al_json_set(object, "pushed", json_deep_copy(pushed));
    return al_staging_write_json(staging, staging->staged_fd, name, object, err);
}

/* Whether a name is that of a record: "<uuid>.json". */
static bool is_record(const char *name)
{
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx.json";

    if (strlen(name) != strlen(form))
        return false;
    for (size_t i = 0; form[i]; i++)
        if (form[i] == 'x' ? digit(name[i]) < 0 : name[i] != form[i])
            return false;
    return true;
}

int al_staged_ids(const struct al_staging *staging, struct al_strv *ret_ids, struct al_error *err)
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

int al_staged_remove(struct al_staging *staging, const char *id, struct al_run_limits *budget,
                     struct al_error *err)
{
    al_auto(al_freep) char *name = al_asprintf("%s.json", id);
    al_auto(al_freep) char *ref = al_asprintf(AL_REF_STAGED "%s", id);
    int r = al_staging_remove_json(staging, staging->staged_fd, name, err);

    return r < 0 ? r : al_staging_delete_ref(staging, ref, budget, err);
}
