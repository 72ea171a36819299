// SPDX-License-Identifier: Apache-2.0
#include "answer/cursor.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>

#include "tool/spelling.h"

#define CURSORS_MAX 256
/* Of the arguments of one owner's cursors, by al_json_bytes(). */
#define OWNER_BYTES_MAX ((size_t)4 << 20)
/** A cursor has so many hexadecimal digits. */
#define CURSOR_CHARS 16

static const char cursor_name[] = "cursor", max_bytes_name[] = "max_bytes";

struct entry {
    char word[CURSOR_CHARS + 1];      /* "" for an unused entry */
    uint64_t made;                    /* 0: unused; a later one has a higher number */
    uint64_t owner;                   /* of the session */
    const struct al_session *session; /* compared, never followed */
    uint64_t number;                  /* of the session: a later one may be at its address */
    const struct al_tool *tool;
    json_t *arguments; /* without cursor and max_bytes */
    size_t nbytes;     /* of these */
    struct al_cursor_place place;
};

static struct {
    pthread_mutex_t lock;
    struct entry entries[CURSORS_MAX];
    uint64_t nmade;
} store = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct entry *find_locked(const struct al_session *session, const char *word)
{
    for (size_t i = 0; *word && i < CURSORS_MAX; i++)
        if (store.entries[i].session == session && store.entries[i].number == session->number &&
            !strcmp(store.entries[i].word, word))
            return &store.entries[i];
    return NULL;
}

static size_t count_locked(uint64_t owner)
{
    size_t count = 0;

    for (size_t i = 0; i < CURSORS_MAX; i++)
        count += store.entries[i].made && store.entries[i].owner == owner;
    return count;
}

/* The entry for a new cursor: an unused one, else the oldest one of the owner who has most, so that
 * nobody can make the few of another one be forgotten. */
static struct entry *place_locked(void)
{
    struct entry *found = &store.entries[0];
    size_t most = 0;

    for (size_t i = 0; i < CURSORS_MAX && found->made; i++) {
        struct entry *entry = &store.entries[i];
        const size_t count = entry->made ? count_locked(entry->owner) : SIZE_MAX;

        if (count > most || (count == most && entry->made < found->made)) {
            most = count;
            found = entry;
        }
    }
    return found;
}

/* The oldest cursor of an owner, and what all of them take. */
static struct entry *oldest_locked(uint64_t owner, size_t *ret_bytes)
{
    struct entry *oldest = NULL;

    *ret_bytes = 0;
    for (size_t i = 0; i < CURSORS_MAX; i++) {
        struct entry *entry = &store.entries[i];

        if (!entry->made || entry->owner != owner)
            continue;
        *ret_bytes += entry->nbytes;
        if (!oldest || entry->made < oldest->made)
            oldest = entry;
    }
    return oldest;
}

/* Forget the oldest cursors of an owner whose arguments take too much, but not this one. */
static void make_room_locked(const struct entry *kept)
{
    for (;;) {
        size_t bytes;
        struct entry *oldest = oldest_locked(kept->owner, &bytes);

        if (bytes <= OWNER_BYTES_MAX || oldest == kept)
            return;
        json_decref(oldest->arguments);
        *oldest = (struct entry){ .made = 0 };
    }
}

static int unknown(struct al_error *err)
{
    (void)al_error_set(err, AL_ERR_BAD_ARGS,
                       "cursor: it is not of this session, or too old to go on from");
    if (err)
        err->remedy = "Make the call again without cursor, with the arguments it had.";
    return AL_ERR_BAD_ARGS;
}

static bool is_paging(const char *name)
{
    return !strcmp(name, cursor_name) || !strcmp(name, max_bytes_name) || !strcmp(name, "maxBytes");
}

/* The arguments that say what the call is about.  The caller owns the reference. */
static json_t *without_paging(const json_t *arguments)
{
    json_t *rest = al_json_object(), *value;
    const char *name;

    json_object_foreach((json_t *)arguments, name, value)
    {
        if (!is_paging(name))
            al_json_set(rest, name, json_deep_copy(value));
    }
    return rest;
}

int al_cursor_add(const struct al_call *call, const struct al_cursor_place *place,
                  struct al_str *out, struct al_error *err)
{
    unsigned char bytes[CURSOR_CHARS / 2];
    json_t *arguments = without_paging(al_call_arguments(call));
    struct entry *entry;

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes)) {
        json_decref(arguments);
        return al_error_errno(err, errno, "cannot make a cursor");
    }
    (void)pthread_mutex_lock(&store.lock);
    entry = place_locked();
    entry->made = ++store.nmade;
    json_decref(entry->arguments);
    for (size_t i = 0; i < sizeof(bytes); i++)
        (void)snprintf(entry->word + 2 * i, 3, "%02x", bytes[i]);
    entry->session = al_call_session(call);
    entry->number = entry->session->number;
    entry->owner = entry->session->owner;
    entry->tool = al_call_tool(call);
    entry->arguments = arguments;
    entry->nbytes = al_json_bytes(arguments);
    entry->place = *place;
    make_room_locked(entry);
    al_str_adds(out, entry->word);
    (void)pthread_mutex_unlock(&store.lock);
    return 0;
}

int al_cursor_find(const struct al_session *session, const char *cursor,
                   struct al_cursor_place *ret_place, struct al_error *err)
{
    const struct entry *entry;

    (void)pthread_mutex_lock(&store.lock);
    entry = find_locked(session, cursor);
    if (entry)
        *ret_place = entry->place;
    (void)pthread_mutex_unlock(&store.lock);
    return entry ? 0 : unknown(err);
}

/* The value that a tool's parameter has among the arguments, under any of its spellings. */
static const json_t *value_of(const struct al_tool *tool, const char *name, const json_t *arguments)
{
    const struct al_param *param = NULL;
    const char *other;
    json_t *value;

    for (size_t i = 0; i < tool->nparams && !param; i++)
        if (al_param_is_called(&tool->params[i], name))
            param = &tool->params[i];
    json_object_foreach((json_t *)arguments, other, value)
    {
        if (param ? al_param_is_called(param, other) : !strcmp(name, other))
            return value;
    }
    return NULL;
}

/* Give the arguments of before the ones that may be new, and refuse others. */
static int merge(const struct al_tool *tool, const json_t *given, json_t *whole,
                 struct al_error *err)
{
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)given, name, value)
    {
        const json_t *before = value_of(tool, name, whole);

        if (is_paging(name))
            al_json_set(whole, name, json_deep_copy(value));
        else if (!before || !json_equal(before, value))
            return al_error_set(err, AL_ERR_BAD_ARGS,
                                "cursor: it goes on with the arguments of the call it is from, "
                                "where '%.64s' was not this; give the cursor alone, or leave it "
                                "out for another call",
                                name);
    }
    return 0;
}

int al_cursor_expand(const struct al_session *session, const struct al_tool *tool,
                     const json_t *given, json_t **ret_arguments, struct al_error *err)
{
    const char *cursor = json_string_value(json_object_get(given, cursor_name));
    al_auto(al_json_decrefp) json_t *whole = NULL;
    const struct al_tool *of = NULL;
    const struct entry *entry;
    int r;

    *ret_arguments = NULL;
    if (!cursor)
        return 0; /* the decoder refuses what is no string */
    (void)pthread_mutex_lock(&store.lock);
    entry = find_locked(session, cursor);
    if (entry) {
        whole = json_deep_copy(entry->arguments);
        of = entry->tool;
    }
    (void)pthread_mutex_unlock(&store.lock);
    if (!entry)
        return unknown(err);
    if (of != tool)
        return al_error_set(err, AL_ERR_BAD_ARGS, "cursor: it goes on with %s, not with %s",
                            of->name, tool->name);
    r = merge(tool, given, whole, err);
    if (r == 0)
        *ret_arguments = al_take(&whole);
    return r;
}
