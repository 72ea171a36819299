// SPDX-License-Identifier: Apache-2.0
#include "gitops/reading/change_reader.h"

#include <stdlib.h>

static void clear_files(struct al_changed_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        free(files->items[i].path);
        free(files->items[i].old_path);
    }
    free(files->items);
    *files = AL_CHANGED_FILES_INIT;
}

static struct al_changed_file *new_file(struct al_changed_files *files)
{
    if (files->count == files->allocated) {
        files->allocated = files->allocated ? files->allocated * 2 : 64;
        files->items = al_reallocarray(files->items, files->allocated, sizeof(*files->items));
    }
    files->items[files->count] = (struct al_changed_file){ .path = NULL };
    return &files->items[files->count++];
}

/* "12\t3\tpath", or "-\t-\tpath" of a binary file.  Of a rename the path is empty, and the two
 * names follow. */
static bool take_numbers(struct al_change_reader *reader, const char *record)
{
    struct al_changed_file *file;
    const char *path = strchr(record, '\t');
    char *end;

    path = path ? strchr(path + 1, '\t') : NULL;
    if (!path)
        return false;
    file = new_file(&reader->files);
    file->is_binary = *record == '-';
    if (!file->is_binary) {
        file->added = strtoull(record, &end, 10);
        file->deleted = strtoull(end, NULL, 10);
    }
    reader->files.added += file->added;
    reader->files.deleted += file->deleted;
    if (path[1])
        file->path = al_strdup(path + 1);
    else
        reader->names_left = 2;
    return true;
}

static bool take_record(struct al_change_reader *reader)
{
    struct al_changed_files *files = &reader->files;
    const char *record = reader->record.buf;

    files->bytes += reader->record.len;
    if (files->bytes > AL_CHANGED_NAMES_MAX_BYTES)
        return false;
    if (reader->names_left) {
        struct al_changed_file *file = &files->items[files->count - 1];

        *(reader->names_left-- == 2 ? &file->old_path : &file->path) = al_strdup(record);
        return true;
    }
    if (!*record) {
        reader->in_patch = true;
        return true;
    }
    return take_numbers(reader, record + (*record == '\n'));
}

static bool tell_files(struct al_change_reader *reader)
{
    if (!reader->has_told && !reader->stopped) {
        reader->has_told = true;
        reader->stopped = !reader->take_files(reader->payload, &reader->files);
    }
    return !reader->stopped;
}

void al_change_reader_init(struct al_change_reader *reader,
                           bool (*take_files)(void *payload, const struct al_changed_files *files),
                           const struct al_patch_taker *to)
{
    *reader = (struct al_change_reader){ .files = AL_CHANGED_FILES_INIT,
                                         .take_files = take_files,
                                         .payload = to->payload,
                                         .record = AL_STR_INIT };
    al_patch_reader_init(&reader->patch, to);
}

void al_change_reader_clear(struct al_change_reader *reader)
{
    clear_files(&reader->files);
    al_patch_reader_clear(&reader->patch);
    al_str_clear(&reader->record);
}

bool al_change_reader_add(void *payload, const char *data, size_t len)
{
    struct al_change_reader *reader = payload;

    while (len && !reader->in_patch && !reader->stopped) {
        const char *end = memchr(data, '\0', len);
        size_t piece = end ? (size_t)(end - data) : len;

        al_str_add(&reader->record, data, piece);
        data += piece + (end != NULL);
        len -= piece + (end != NULL);
        if (!end)
            break;
        reader->stopped = !take_record(reader);
        al_str_reset(&reader->record);
    }
    if (!reader->in_patch || !len)
        return !reader->stopped;
    return tell_files(reader) && al_patch_reader_add(&reader->patch, data, len);
}

bool al_change_reader_end(struct al_change_reader *reader)
{
    return tell_files(reader) && al_patch_reader_end(&reader->patch);
}
