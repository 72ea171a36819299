// SPDX-License-Identifier: Apache-2.0
#include "review/command/model.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "guard/effects.h"
#include "guard/redact.h"

/* The journal cuts a longer summary (AL_JOURNAL_RECORD_MAX_BYTES).  Text that is redacted after the
 * cut may be a little different there, so less is compared. */
#define COMPARED_BYTES 2048u

/* A larger record is not shown; stores and records that are looked at. */
#define RECORD_MAX_BYTES (4u << 20)
#define NAMES_MAX        1000
#define FILES_SHOWN_MAX  200

/* The part of the journal that is read at first, in bytes of each of its last two files. */
#define READ_BACK_BYTES (4u << 20)

/* Lines that are read at once; the next refresh goes on. */
#define LINES_MAX 20000

/* --- One entry --- */

const char *al_item_get(const struct al_item *item, const char *name)
{
    const char *text = al_json_get_string(item->record, name);

    return text ? text : "";
}

const char *al_item_title(const struct al_item *item)
{
    const char *summary = al_item_get(item, "summary");

    return *summary ? summary : al_item_get(item, "tool");
}

bool al_item_matches(const struct al_item *item, const char *filter, bool only_changes)
{
    static const char *const members[] = { "repository", "agent", "tool", "summary" };
    bool found = strcasestr(item->key, filter) != NULL;

    if (only_changes && item->kind == AL_ITEM_EXECUTION && !item->changes)
        return false;
    for (size_t i = 0; i < AL_COUNT(members); i++)
        found |= strcasestr(al_item_get(item, members[i]), filter) != NULL;
    return found;
}

static void add_files(const json_t *files, struct al_str *out)
{
    const size_t count = json_array_size(files);

    al_str_addf(out, "\n\n%zu file%s:\n", count, count == 1 ? "" : "s");
    for (size_t i = 0; i < count && i < FILES_SHOWN_MAX; i++) {
        const char *path = al_json_get_string(json_array_get(files, i), "sandboxPath");
        const char *operation = al_json_get_string(json_array_get(files, i), "operation");

        al_str_addf(out, "  %s: %s\n", operation ? operation : "", path ? path : "");
    }
    if (count > FILES_SHOWN_MAX)
        al_str_addf(out, "  and %zu more\n", count - FILES_SHOWN_MAX);
}

void al_item_add_text(const struct al_item *item, struct al_str *out)
{
    const json_t *result = json_object_get(item->record, "result");
    const char *text = al_json_get_string(result, "output");

    if (item->kind == AL_ITEM_STAGED) {
        al_str_adds(out, al_item_get(item, "message"));
        al_str_trim_end(out);
        add_files(json_object_get(item->record, "files"), out);
        return;
    }
    if ((!text || !*text) && item->kind != AL_ITEM_RUNNING) /* its error is for when it is killed */
        text = al_json_get_string(result, "error");
    al_str_adds(out, text ? text : al_item_get(item, "text"));
}

char *al_review_when(const char *iso)
{
    const time_t at = (time_t)(al_clock_iso_ms(iso) / 1000);
    const int64_t minutes = (int64_t)(at - time(NULL)) / 60;
    struct tm tm;
    char date[32];

    if (!at)
        return al_strdup(iso);
    if (minutes == 0)
        return al_strdup(at > time(NULL) ? "in less than a minute" : "just now");
    if (minutes > -60 && minutes < 60)
        return al_asprintf("%s%" PRId64 " minute%s%s", minutes > 0 ? "in " : "",
                           minutes > 0 ? minutes : -minutes, labs(minutes) == 1 ? "" : "s",
                           minutes > 0 ? "" : " ago");
    if (minutes > -24 * 60 && minutes < 0)
        return al_asprintf("%" PRId64 " hour%s ago", -minutes / 60, minutes > -120 ? "" : "s");
    (void)strftime(date, sizeof(date), "%Y-%m-%d %H:%M", localtime_r(&at, &tm));
    return al_strdup(date);
}

/* A value that is no member of the record, or is not shown as it is there.  Caller frees. */
static char *value_of(const struct al_item *item, const char *member)
{
    const char *text = al_item_get(item, member), *more;

    if (!strcmp(member, "always"))
        return al_strdup(item->always ? item->always : "");
    if (!strcmp(member, "key"))
        return al_strndup(item->key, strcspn(item->key, " "));
    if (!strcmp(member, "duration_ms"))
        return al_asprintf("%" JSON_INTEGER_FORMAT " ms",
                           json_integer_value(json_object_get(item->record, member)));
    more = al_item_get(item, !strcmp(member, "tool") ? "operation" : "decided_by");
    if (*more && !strcmp(member, "tool"))
        return al_asprintf("%s (%s)", text, more);
    if (*more && !strcmp(member, "decision"))
        return al_asprintf("%s, by %s", text, more);
    return al_strdup(text);
}

void al_item_facts(const struct al_item *item, al_item_fact_fn *add, void *payload)
{
    enum {
        QUESTION = 1 << AL_ITEM_QUESTION,
        RUNNING = 1 << AL_ITEM_RUNNING,
        STAGED = 1 << AL_ITEM_STAGED,
        EXECUTION = 1 << AL_ITEM_EXECUTION,
        ALL = QUESTION | RUNNING | STAGED | EXECUTION
    };
    static const struct {
        unsigned kinds;
        const char *label, *member;
    } facts[] = {
        { QUESTION, "always", "always" },
        { EXECUTION, "outcome", "outcome" },
        { EXECUTION, "decision", "decision" },
        { ALL, "repository", "repository" },
        { ALL, "tool", "tool" },
        { QUESTION | RUNNING | EXECUTION, "agent", "agent" },
        { STAGED, "worker", "agent" },
        { QUESTION, "client", "client" },
        { QUESTION, "asked", "time" },
        { RUNNING | EXECUTION, "began", "time" },
        { STAGED, "staged", "time" },
        { QUESTION, "ends", "deadline" },
        { EXECUTION, "took", "duration_ms" },
        { RUNNING, "process", "key" },
        { EXECUTION, "number", "key" },
        { QUESTION | STAGED, "id", "key" },
    };

    for (size_t i = 0; i < AL_COUNT(facts); i++) {
        const char *member = facts[i].member;
        const bool is_time = !strcmp(member, "time") || !strcmp(member, "deadline");
        al_auto(al_freep) char *value = NULL;

        if (!(facts[i].kinds & 1u << item->kind))
            continue;
        value = is_time ? al_review_when(al_item_get(item, member)) : value_of(item, member);
        if (*value)
            add(payload, facts[i].label, value, is_time ? al_item_get(item, member) : NULL);
    }
}

/* --- Lists --- */

/* Forget the first entries of a list. */
static void drop(struct al_item_list *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        json_decref(list->items[i].record);
        free(list->items[i].path);
        free(list->items[i].always);
    }
    list->count -= count;
    if (list->count)
        memmove(list->items, list->items + count, list->count * sizeof(*list->items));
}

static int compare(const void *one, const void *two)
{
    return strcmp(al_item_get(one, "time"), al_item_get(two, "time"));
}

static void sort(struct al_item_list *list)
{
    if (list->count)
        qsort(list->items, list->count, sizeof(*list->items), compare);
}

/* Append an entry for a record, whose reference it takes. */
static struct al_item *add(struct al_model *model, enum al_item_kind kind, const char *key,
                           json_t *record)
{
    struct al_item_list *list = &model->parts[kind];
    struct al_item *item;

    list->items = al_grow(list->items, list->count, sizeof(*list->items));
    item = &list->items[list->count++];
    *item = (struct al_item){ .kind = kind, .record = record };
    (void)snprintf(item->key, sizeof(item->key), "%s", key);
    return item;
}

const struct al_item *al_model_item(const struct al_model *model, enum al_item_kind kind,
                                    size_t number)
{
    const struct al_item_list *part = &model->parts[kind];

    return &part->items[kind >= AL_ITEM_STAGED ? part->count - 1 - number : number];
}

const struct al_item *al_model_find(const struct al_model *model, enum al_item_kind kind,
                                    const char *key)
{
    for (size_t i = 0; i < model->parts[kind].count; i++)
        if (!strcmp(model->parts[kind].items[i].key, key))
            return &model->parts[kind].items[i];
    return NULL;
}

uint64_t al_model_newest(const struct al_model *model, const char *path)
{
    for (size_t i = 0; i < model->parts[AL_ITEM_EXECUTION].count; i++) {
        const struct al_item *item = al_model_item(model, AL_ITEM_EXECUTION, i);

        if (item->checkpointed && item->path && !strcmp(item->path, path))
            return item->seq;
    }
    return 0;
}

/* --- What waits and what runs --- */

/* Whether a running call is the one that a question is about.  The journal has the summary without
 * secrets, and a question has it whole. */
static bool is_asked_about(const struct al_review_waiting *question, long pid, const json_t *call)
{
    const char *members[] = { "tool", "summary" }, *asked[2], *runs[2];
    al_auto(al_str_clear) struct al_str clean = AL_STR_INIT;

    for (size_t i = 0; i < AL_COUNT(members); i++) {
        asked[i] = al_json_get_string(question->entry, members[i]);
        runs[i] = al_json_get_string(call, members[i]);
        if (!asked[i] || !runs[i])
            return false;
    }
    al_redact_text(asked[1], strlen(asked[1]), &clean);
    return question->pid == pid && !strcmp(asked[0], runs[0]) &&
           !strncmp(clean.buf, runs[1], COMPARED_BYTES);
}

struct collecting {
    struct al_model *model;
    const struct al_review_list *waiting; /* may be NULL */
    bool *seen;                           /* which of them are the question of a call */
};

/* Each question is about one call only: of two equal calls with one question, one runs. */
static void add_running(void *payload, long pid, const json_t *call)
{
    const struct collecting *collecting = payload;
    char key[AL_ITEM_KEY_BYTES];

    for (size_t i = 0; collecting->waiting && i < collecting->waiting->count; i++)
        if (!collecting->seen[i] && is_asked_about(&collecting->waiting->items[i], pid, call)) {
            collecting->seen[i] = true;
            return;
        }
    (void)snprintf(key, sizeof(key), "%ld %s", pid, al_json_get_string(call, "time"));
    (void)add(collecting->model, AL_ITEM_RUNNING, key, json_copy((json_t *)call));
}

void al_model_read_calls(struct al_model *model, const struct al_review_list *waiting)
{
    const size_t count = waiting ? waiting->count : 0;
    al_auto(al_freep) bool *seen = al_calloc(count + 1, sizeof(*seen));
    struct collecting collecting = { model, waiting, seen };

    for (int kind = AL_ITEM_QUESTION; kind <= AL_ITEM_RUNNING; kind++)
        drop(&model->parts[kind], model->parts[kind].count);
    for (size_t i = 0; i < count; i++)
        add(model, AL_ITEM_QUESTION, al_json_get_string(waiting->items[i].entry, "id"),
            json_incref(waiting->items[i].entry))
            ->always = al_strdup(waiting->items[i].always);
    (void)al_journal_running(model->setup->journal_file, add_running, &collecting);
    sort(&model->parts[AL_ITEM_RUNNING]);
}

/* --- Staged commits --- */

/* Add one, with the members that other entries have. */
static void add_staged(struct al_model *model, json_t *record)
{
    const char *message = al_json_get_string(record, "message");
    const char *time = al_json_get_string(record, "createdAt");
    const char *id = al_json_get_string(record, "id"), *worker;

    /* One that was pushed is staged no longer. */
    if (!message || !time || !id || json_object_get(record, "pushed") ||
        model->parts[AL_ITEM_STAGED].count == AL_MODEL_ITEMS_MAX)
        return;
    worker = al_json_get_string(record, "worker");
    message += strspn(message, " \t\r\n");
    al_json_set(record, "summary", al_json_stringn(message, strcspn(message, "\n")));
    al_json_set(record, "time", al_json_string(time));
    al_json_set(record, "agent", al_json_string(worker ? worker : ""));
    (void)add(model, AL_ITEM_STAGED, id, json_incref(record));
}

static void read_store(struct al_model *model, int stores_fd, const char *name)
{
    al_auto(al_freep) char *path = al_fs_join(name, "staged");
    al_auto(al_closep) int fd =
        openat(stores_fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    al_auto(al_closedirp) DIR *records = fd < 0 ? NULL : al_fs_list_at(fd);
    const struct dirent *entry;

    for (int i = 0; records && i < NAMES_MAX && (entry = readdir(records)); i++) {
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
        al_auto(al_json_decrefp) json_t *record = NULL;

        if (al_ends_with(entry->d_name, ".json") &&
            al_fs_read(fd, entry->d_name, RECORD_MAX_BYTES, &text) >= 0)
            record = json_loadb(text.buf, text.len, 0, NULL);
        add_staged(model, record);
    }
}

static void read_staged(struct al_model *model)
{
    const char *state_dir = model->setup->state_dir;
    al_auto(al_freep) char *path = state_dir ? al_fs_join(state_dir, "staging") : NULL;
    al_auto(al_closep) int fd =
        path ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    al_auto(al_closedirp) DIR *stores = fd < 0 ? NULL : al_fs_list_at(fd);
    const struct dirent *entry;

    drop(&model->parts[AL_ITEM_STAGED], model->parts[AL_ITEM_STAGED].count);
    for (int i = 0; stores && i < NAMES_MAX && (entry = readdir(stores)); i++)
        if (entry->d_name[0] != '.')
            read_store(model, fd, entry->d_name);
    sort(&model->parts[AL_ITEM_STAGED]);
}

/* --- Executions --- */

static bool has_side_effects(const json_t *line)
{
    const json_t *name;
    size_t i;

    json_array_foreach(json_object_get(line, "effects"), i, name)
    {
        if (json_is_string(name) && strcmp(json_string_value(name), al_effect_name(0)) != 0)
            return true;
    }
    return false;
}

static void add_execution(struct al_model *model, json_t *line)
{
    struct al_item_list *part = &model->parts[AL_ITEM_EXECUTION];
    const json_int_t seq = json_integer_value(json_object_get(line, "seq"));
    struct al_item *item;
    char key[AL_ITEM_KEY_BYTES];

    (void)snprintf(key, sizeof(key), "%" JSON_INTEGER_FORMAT, seq);
    (void)json_object_del(line, "input"); /* it is long, and not shown */
    item = add(model, AL_ITEM_EXECUTION, key, json_incref(line));
    item->seq = (uint64_t)seq;
    item->path = al_journal_path(line, "repository");
    item->changes = has_side_effects(line);
    item->checkpointed = al_json_get_string(line, "git_commit") && item->path;
    if (part->count == 2 * AL_MODEL_ITEMS_MAX) {
        drop(part, AL_MODEL_ITEMS_MAX);
        model->has_older = true;
    }
}

/* Begin at most READ_BACK_BYTES before the end of the last file, or of the one before it. */
static int start_reading(struct al_model *model)
{
    struct al_history *history = &model->history;
    int r = al_history_open(model->setup->journal_file, history);

    if (r < 0 || (!history->last && !history->size))
        return r;
    model->follows = history->follow = true;
    model->has_older = al_history_skip_old(history, READ_BACK_BYTES);
    return 0;
}

/* Whether there were any. */
static bool read_executions(struct al_model *model)
{
    struct al_item_list *part = &model->parts[AL_ITEM_EXECUTION];
    const char *text;
    size_t len, i = 0;
    int r = model->follows ? 1 : start_reading(model);

    for (; r >= 0 && model->follows && i < LINES_MAX; i++) {
        al_auto(al_json_decrefp) json_t *line = NULL;

        r = al_history_next(&model->history, &text, &len);
        if (r <= 0)
            break;
        line = json_loadb(text, len, JSON_ALLOW_NUL, NULL);
        if (json_is_object(line))
            add_execution(model, line);
    }
    if (part->count > AL_MODEL_ITEMS_MAX) {
        drop(part, part->count - AL_MODEL_ITEMS_MAX);
        model->has_older = true;
    }
    free(al_take(&model->problem));
    if (r < 0)
        model->problem = al_asprintf("the journal cannot be read: %s", strerrordesc_np(-r));
    return i > 0;
}

/* --- All of it --- */

/* Directories that do not exist yet are tried again. */
static void watch_dirs(const struct al_model *model)
{
    const char *file = model->setup->journal_file;
    const uint32_t events = IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_ONLYDIR;
    al_auto(al_freep) char *dir = al_strndup(file, (size_t)(strrchr(file, '/') - file));
    al_auto(al_freep) char *open_dir = al_fs_join(dir, "open");

    (void)inotify_add_watch(model->fd, dir, events);
    (void)inotify_add_watch(model->fd, open_dir, events);
}

struct al_model *al_model_open(const struct al_setup *setup)
{
    struct al_model *model = al_calloc(1, sizeof(*model));

    model->setup = setup;
    model->history = AL_HISTORY_INIT;
    model->seen = AL_STR_INIT;
    model->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    watch_dirs(model);
    return model;
}

void al_model_close(struct al_model *model)
{
    if (!model)
        return;
    for (int kind = 0; kind < AL_ITEM_KINDS; kind++) {
        drop(&model->parts[kind], model->parts[kind].count);
        free(model->parts[kind].items);
    }
    free(model->problem);
    al_history_clear(&model->history);
    al_str_clear(&model->seen);
    al_close(model->fd);
    free(model);
}

bool al_model_refresh(struct al_model *model, const struct al_review_list *waiting)
{
    struct al_str seen = AL_STR_INIT;
    char events[4096];
    bool differs;

    while (read(model->fd, events, sizeof(events)) > 0)
        continue;
    watch_dirs(model);
    differs = read_executions(model);
    al_model_read_calls(model, waiting);
    read_staged(model);
    for (int kind = AL_ITEM_RUNNING; kind <= AL_ITEM_STAGED; kind++)
        for (size_t i = 0; i < model->parts[kind].count; i++)
            al_str_addf(&seen, "%s %s\n", model->parts[kind].items[i].key,
                        al_item_title(&model->parts[kind].items[i]));
    differs |= seen.len != model->seen.len || memcmp(seen.buf, model->seen.buf, seen.len) != 0;
    al_str_clear(&model->seen);
    model->seen = seen;
    return differs;
}
