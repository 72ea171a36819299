// SPDX-License-Identifier: Apache-2.0
#include "cli/review/overview_staged.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "guard/text.h"
#include "util/fs.h"
#include "util/json.h"

/* A larger record is not shown; stores and records that are looked at. */
#define RECORD_MAX_BYTES (4u << 20)
#define NAMES_MAX        1000
#define FILES_SHOWN_MAX  200

void al_overview_clear_staged(struct al_overview *shown)
{
    for (size_t i = 0; i < shown->nstaged; i++) {
        struct al_overview_staged *staged = &shown->staged[i];

        free(staged->id);
        free(staged->time);
        free(staged->title);
        free(staged->worker);
        free(staged->text);
    }
    free(al_take(&shown->staged));
    shown->nstaged = 0;
}

static char *line_of(const json_t *object, const char *name)
{
    const char *text = al_json_get_string(object, name);

    return al_text_join_shown_lines(text ? text : "");
}

/* The first line of the message that is not empty.  Caller frees. */
static char *title_of(const char *message)
{
    const char *at = message + strspn(message, " \t\r\n");
    al_auto(al_freep) char *line = al_strndup(at, strcspn(at, "\n"));

    return al_text_join_shown_lines(line);
}

/* The whole message and the files.  Caller frees. */
static char *text_of(const json_t *record, const char *message)
{
    const json_t *files = json_object_get(record, "files");
    const size_t count = json_array_size(files);
    struct al_str text = AL_STR_INIT;

    al_text_sanitize_shown(message, strlen(message), &text);
    al_str_trim_end(&text);
    al_str_addf(&text, "\n\n%zu file%s:\n", count, count == 1 ? "" : "s");
    for (size_t i = 0; i < count && i < FILES_SHOWN_MAX; i++) {
        const json_t *file = json_array_get(files, i);
        al_auto(al_freep) char *path = line_of(file, "path");
        al_auto(al_freep) char *operation = line_of(file, "operation");

        al_str_addf(&text, "  %s: %s\n", operation, *path ? path : "(a name that is not UTF-8)");
    }
    if (count > FILES_SHOWN_MAX)
        al_str_addf(&text, "  and %zu more\n", count - FILES_SHOWN_MAX);
    return al_str_detach(&text);
}

/* Keep the newest ones, newest first. */
static void add_record(struct al_overview *shown, const json_t *record)
{
    const char *message = al_json_get_string(record, "message");
    const char *time = al_json_get_string(record, "createdAt");
    size_t at = shown->nstaged;

    if (!message || !time || !al_json_get_string(record, "id") ||
        shown->nstaged == AL_OVERVIEW_STAGED_MAX)
        return;
    shown->staged = al_reallocarray(shown->staged, shown->nstaged + 1, sizeof(*shown->staged));
    while (at > 0 && strcmp(shown->staged[at - 1].time, time) < 0)
        at--;
    memmove(&shown->staged[at + 1], &shown->staged[at],
            (shown->nstaged - at) * sizeof(*shown->staged));
    shown->staged[at] = (struct al_overview_staged){
        .id = line_of(record, "id"),
        .time = line_of(record, "createdAt"),
        .title = title_of(message),
        .worker = line_of(record, "worker"),
        .files = json_array_size(json_object_get(record, "files")),
        .text = text_of(record, message),
    };
    shown->nstaged++;
}

static void read_store(struct al_overview *shown, int stores_fd, const char *name)
{
    al_auto(al_freep) char *path = al_fs_join(name, "staged");
    al_auto(al_closep) int fd =
        openat(stores_fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    al_auto(al_closedirp) DIR *records = fd < 0 ? NULL : al_fs_list_at(fd);
    const struct dirent *entry;

    for (int i = 0; records && i < NAMES_MAX && (entry = readdir(records)); i++) {
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
        al_auto(al_json_decrefp) json_t *record = NULL;

        if (!al_ends_with(entry->d_name, ".json") ||
            al_fs_read(fd, entry->d_name, RECORD_MAX_BYTES, &text) < 0)
            continue;
        record = json_loadb(text.buf, text.len, 0, NULL);
        /* One that was pushed is staged no longer. */
        if (!json_object_get(record, "pushed"))
            add_record(shown, record);
    }
}

void al_overview_read_staged(struct al_overview *shown, const char *state_dir,
                             struct al_str *ret_seen)
{
    al_auto(al_freep) char *path = state_dir ? al_fs_join(state_dir, "staging") : NULL;
    al_auto(al_closep) int fd =
        path ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    al_auto(al_closedirp) DIR *stores = fd < 0 ? NULL : al_fs_list_at(fd);
    const struct dirent *entry;

    al_overview_clear_staged(shown);
    for (int i = 0; stores && i < NAMES_MAX && (entry = readdir(stores)); i++)
        if (entry->d_name[0] != '.')
            read_store(shown, fd, entry->d_name);
    for (size_t i = 0; i < shown->nstaged; i++)
        al_str_addf(ret_seen, "%s\n", shown->staged[i].id);
}
