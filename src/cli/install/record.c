// SPDX-License-Identifier: Apache-2.0
#include "cli/install/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gitops/oid.h"
#include "util/fs.h"
#include "util/json.h"

#define MAX_BYTES (64u * 1024u * 1024u)

void al_install_record_clear(struct al_install_record *record)
{
    al_strv_clear(&record->before);
    al_strv_clear(&record->after);
    free(record->path);
    *record = AL_INSTALL_RECORD_INIT;
}

/* A record is named by the hash of the file's path, which may be too long for a name. */
static char *path_of(const char *state_dir, const char *file)
{
    char text[AL_OID_TEXT];
    struct al_hash hash;
    struct al_oid oid;

    al_hash_init(&hash, true);
    al_hash_add(&hash, file, strlen(file));
    al_hash_end(&hash, &oid);
    al_oid_text(&oid, true, text);
    return al_asprintf("%s/installs/%s.json", state_dir, text);
}

static bool take_strings(const json_t *list, struct al_strv *ret)
{
    const json_t *item;
    size_t i;

    json_array_foreach(list, i, item)
    {
        if (!json_is_string(item))
            return false;
        al_strv_add(ret, json_string_value(item));
    }
    return json_is_array(list);
}

void al_install_record_read(const char *state_dir, const char *file, struct al_install_record *ret)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_json_decrefp) json_t *value = NULL;

    *ret = AL_INSTALL_RECORD_INIT;
    ret->path = path_of(state_dir, file);
    if (al_fs_read(AT_FDCWD, ret->path, MAX_BYTES, &text) < 0)
        return;
    value = json_loadb(text.buf, text.len, 0, NULL);
    ret->made_file = json_is_true(json_object_get(value, "made_file"));
    ret->dirs = (unsigned)json_integer_value(json_object_get(value, "dirs"));
    ret->exists = take_strings(json_object_get(value, "before"), &ret->before) &&
                  take_strings(json_object_get(value, "after"), &ret->after) &&
                  ret->before.count == ret->after.count;
}

static json_t *strings(const struct al_strv *items)
{
    json_t *list = al_json_array();

    for (size_t i = 0; i < items->count; i++)
        al_json_append(list, al_json_string(items->items[i]));
    return list;
}

int al_install_record_write(const struct al_install_record *record, const char *file,
                            struct al_error *err)
{
    al_auto(al_json_decrefp) json_t *value = al_json_object();
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    const char *slash = strrchr(record->path, '/');
    al_auto(al_freep) char *dir = al_strndup(record->path, (size_t)(slash - record->path));
    al_auto(al_closep) int dir_fd = -1;
    int r;

    al_json_set(value, "file", al_json_string(file));
    al_json_set(value, "made_file", al_json_bool(record->made_file));
    al_json_set(value, "dirs", al_json_int(record->dirs));
    al_json_set(value, "before", strings(&record->before));
    al_json_set(value, "after", strings(&record->after));
    al_json_dump(value, false, &text);
    al_str_addc(&text, '\n');
    r = al_fs_mkdirs(dir, 0700);
    if (r == 0)
        dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (r == 0)
        r = dir_fd < 0 ? -errno : al_fs_write_durable(dir_fd, slash + 1, text.buf, text.len, 0600);
    return r < 0 ? al_error_errno(err, -r, "cannot write '%s'", record->path) : 0;
}

void al_install_record_forget(const struct al_install_record *record)
{
    (void)unlink(record->path);
}
