// SPDX-License-Identifier: Apache-2.0
#include "config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "config/nearest.h"
#include "config/toml.h"
#include "guard/env.h"
#include "guard/text.h"
#include "util/fs.h"

#define SYSTEM_FILE      "/etc/airlock/config.toml"
#define FILE_MAX_BYTES   (1u << 20)
#define STRING_MAX_BYTES 4096u

enum kind { KIND_BOOL, KIND_UINT32, KIND_STRINGS, KIND_ABS_FILE, KIND_APPROVAL_MODE };

/** One key of the file: adding a row is all it takes to add a key. */
struct key {
    const char *path;
    enum kind kind;
    size_t offset;    /* into struct al_config */
    int64_t min, max; /* KIND_UINT32: the value; KIND_STRINGS: the number of items */
    int (*check)(const char *item, struct al_error *err); /* KIND_STRINGS: each item, may be NULL */
};

/* The offset of a field; naming a field of another type does not compile. */
#define FIELD(name, ctype)                                                                         \
    (offsetof(struct al_config, name) +                                                            \
     0 * sizeof(&((struct al_config *)NULL)->name == (ctype *)NULL))
#define BOOL(name)                     KIND_BOOL, FIELD(name, bool), 0, 1, NULL
#define UINT32(name, min, max)         KIND_UINT32, FIELD(name, uint32_t), min, max, NULL
#define STRINGS(name, min, max, check) KIND_STRINGS, FIELD(name, struct al_strv), min, max, check
#define FILE_NAME(name)                KIND_ABS_FILE, FIELD(name, char *), 0, 0, NULL
#define MODE(name)                     KIND_APPROVAL_MODE, FIELD(name, enum al_approval_mode), 0, 0, NULL

static const struct key keys[] = {
    { "toolsets", STRINGS(toolsets, 1, 32, NULL) },
    { "roots", STRINGS(roots, 0, 64, NULL) },
    { "tools.git.enabled", BOOL(git.enabled) },
    { "tools.git.timeout_ms", UINT32(git.timeout_ms, AL_TIMEOUT_MS_MIN, AL_TIMEOUT_MS_MAX) },
    { "tools.git.max_bytes", UINT32(git.max_bytes, AL_MAX_BYTES_MIN, AL_MAX_BYTES_MAX) },
    { "tools.sandbox.allow_absolute", BOOL(sandbox.allow_absolute) },
    { "tools.sandbox.require_confinement", BOOL(sandbox.require_confinement) },
    { "tools.environment.allow", STRINGS(env_allow, 0, 256, al_env_check_allowed) },
    { "tools.approval.mode", MODE(approval.mode) },
    { "journal.file", FILE_NAME(journal.file) },
};

/** One reading of one file.  The error kept is the one nearest to the file's beginning. */
struct reading {
    struct al_config *into;
    const char *path;
    const char *home; /* may be NULL */
    struct al_error *err;
    bool failed;
    unsigned line; /* of the error kept */
};

void al_config_init(struct al_config *config)
{
    *config = (struct al_config){
        .git = { .enabled = true,
                 .timeout_ms = AL_TIMEOUT_MS_DEFAULT,
                 .max_bytes = AL_MAX_BYTES_DEFAULT },
        .sandbox = { .allow_absolute = true },
        .approval = { .mode = AL_APPROVAL_ASK },
    };
    al_strv_add(&config->toolsets, "git");
}

void al_config_clear(struct al_config *config)
{
    al_strv_clear(&config->toolsets);
    al_strv_clear(&config->roots);
    al_strv_clear(&config->env_allow);
    free(config->journal.file);
    free(config->file);
    *config = (struct al_config){ .file = NULL };
}

static void copy_strings(struct al_strv *to, const struct al_strv *from)
{
    *to = AL_STRV_INIT;
    for (size_t i = 0; i < from->count; i++)
        al_strv_add(to, from->items[i]);
}

static void copy_config(struct al_config *to, const struct al_config *from)
{
    *to = *from;
    copy_strings(&to->toolsets, &from->toolsets);
    copy_strings(&to->roots, &from->roots);
    copy_strings(&to->env_allow, &from->env_allow);
    to->journal.file = al_strdup(from->journal.file);
    to->file = al_strdup(from->file);
}

al_printf(4, 5) static void complain(struct reading *reading, unsigned line, const char *key,
                                     const char *fmt, ...)
{
    al_auto(al_str_clear) struct al_str what = AL_STR_INIT;
    al_auto(al_freep) char *safe = NULL;
    va_list args;

    if (reading->failed && line >= reading->line)
        return;
    va_start(args, fmt);
    al_str_addv(&what, fmt, args);
    va_end(args);
    safe = al_text_word(key);
    al_error_set(reading->err, AL_ERR_BAD_ARGS, "%s:%u: %s%s%s", reading->path, line, safe,
                 safe[0] ? ": " : "", what.buf);
    reading->failed = true;
    reading->line = line;
}

static const char *type_name(enum al_toml_type type)
{
    switch (type) {
    case AL_TOML_TABLE:
        return "a table";
    case AL_TOML_STRING:
        return "a string";
    case AL_TOML_INT:
        return "a whole number";
    case AL_TOML_BOOL:
        return "true or false";
    case AL_TOML_STRINGS:
        return "a list of strings";
    case AL_TOML_LIST:
        return "a list of something else";
    case AL_TOML_FLOAT:
        return "a number with a fraction";
    case AL_TOML_TIME:
        return "a date or time";
    }
    return "something else";
}

static enum al_toml_type type_wanted(enum kind kind)
{
    switch (kind) {
    case KIND_BOOL:
        return AL_TOML_BOOL;
    case KIND_UINT32:
        return AL_TOML_INT;
    case KIND_STRINGS:
        return AL_TOML_STRINGS;
    case KIND_ABS_FILE:
    case KIND_APPROVAL_MODE:
        return AL_TOML_STRING;
    }
    return AL_TOML_TABLE;
}

/* What holds for every string of the file. */
static bool strings_fit(struct reading *reading, const struct al_toml_value *value)
{
    bool fit = true;

    for (size_t i = 0; i < value->nitems; i++) {
        const struct al_toml_item *item = &value->items[i];

        if (item->len == 0)
            complain(reading, item->line, value->key, "must not be empty");
        else if (strlen(item->text) != item->len)
            complain(reading, item->line, value->key, "must not contain a NUL");
        else if (item->len > STRING_MAX_BYTES)
            complain(reading, item->line, value->key, "must be at most %u bytes", STRING_MAX_BYTES);
        else
            continue;
        fit = false;
    }
    return fit;
}

static void set_uint32(struct reading *reading, const struct key *key,
                       const struct al_toml_value *value, uint32_t *field)
{
    if (value->integer < key->min || value->integer > key->max)
        complain(reading, value->line, key->path, "must be between %" PRId64 " and %" PRId64,
                 key->min, key->max);
    else
        *field = (uint32_t)value->integer;
}

static void set_strings(struct reading *reading, const struct key *key,
                        const struct al_toml_value *value, struct al_strv *field)
{
    if (value->nitems < (size_t)key->min || value->nitems > (size_t)key->max) {
        complain(reading, value->line, key->path,
                 "must have between %" PRId64 " and %" PRId64 " items", key->min, key->max);
        return;
    }
    al_strv_clear(field);
    for (size_t i = 0; i < value->nitems; i++) {
        const struct al_toml_item *item = &value->items[i];
        al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;

        if (key->check && key->check(item->text, &why) < 0)
            complain(reading, item->line, key->path, "%s", why.message);
        al_strv_add(field, item->text);
    }
}

static void set_file(struct reading *reading, const struct key *key,
                     const struct al_toml_item *item, char **field)
{
    bool at_home = al_starts_with(item->text, "~/");

    if (item->text[0] != '/' && !at_home) {
        complain(reading, item->line, key->path, "must be an absolute path or begin with '~/'");
    } else if (al_ends_with(item->text, "/")) {
        complain(reading, item->line, key->path, "must name a file, not a directory");
    } else if (at_home && !reading->home) {
        complain(reading, item->line, key->path, "begins with '~/', but HOME is not set");
    } else {
        free(*field);
        *field = at_home ? al_fs_join(reading->home, item->text + 2) : al_strdup(item->text);
    }
}

static void set_approval_mode(struct reading *reading, const struct key *key,
                              const struct al_toml_item *item, enum al_approval_mode *field)
{
    int mode = al_approval_mode_parse(item->text);

    if (mode < 0)
        complain(reading, item->line, key->path, "must be 'ask', 'allow' or 'deny'");
    else
        *field = (enum al_approval_mode)mode;
}

static void set(struct reading *reading, const struct key *key, const struct al_toml_value *value)
{
    enum al_toml_type wanted = type_wanted(key->kind);
    void *field = (char *)reading->into + key->offset;

    if (value->type != wanted) {
        complain(reading, value->line, key->path, "must be %s, not %s", type_name(wanted),
                 type_name(value->type));
        return;
    }
    if (!strings_fit(reading, value))
        return;
    switch (key->kind) {
    case KIND_BOOL:
        *(bool *)field = value->boolean;
        break;
    case KIND_UINT32:
        set_uint32(reading, key, value, field);
        break;
    case KIND_STRINGS:
        set_strings(reading, key, value, field);
        break;
    case KIND_ABS_FILE:
        set_file(reading, key, value->items, field);
        break;
    case KIND_APPROVAL_MODE:
        set_approval_mode(reading, key, value->items, field);
        break;
    }
}

/* True when `name` is a table that keys are in: "tools" and "tools.git" for "tools.git.enabled". */
static bool is_table_of(const char *name, size_t len, const char *path)
{
    return !strncmp(path, name, len) && path[len] == '.';
}

static const struct key *find_key(const char *name, bool *ret_is_table)
{
    size_t len = strlen(name);

    *ret_is_table = false;
    for (size_t i = 0; i < AL_COUNT(keys); i++) {
        if (!strcmp(keys[i].path, name))
            return &keys[i];
        if (is_table_of(name, len, keys[i].path))
            *ret_is_table = true;
    }
    return NULL;
}

/* Take the candidate over when it is nearer to `name` than the best word so far. */
static void take_if_nearer(const char *name, char *candidate, size_t *best, char **word)
{
    size_t edits = al_edit_distance(name, candidate);

    if (edits >= *best) {
        free(candidate);
        return;
    }
    free(*word);
    *word = candidate;
    *best = edits;
}

/* The nearest key, or table of keys, within the limit; NULL when none is.  Caller frees. */
static char *nearest(const char *name)
{
    size_t best = AL_NEAREST_MAX_EDITS + 1;
    char *word = NULL;

    for (size_t i = 0; i < AL_COUNT(keys); i++) {
        const char *path = keys[i].path, *end = path;

        do {
            end = strchr(end + 1, '.');
            take_if_nearer(name, al_strndup(path, end ? (size_t)(end - path) : strlen(path)), &best,
                           &word);
        } while (end);
    }
    return word;
}

static bool visit(void *payload, const struct al_toml_value *value)
{
    struct reading *reading = payload;
    bool is_table;
    const struct key *key = find_key(value->key, &is_table);

    if (key) {
        set(reading, key, value);
        return false;
    }
    if (is_table && value->type == AL_TOML_TABLE)
        return true;
    if (is_table) {
        complain(reading, value->line, value->key, "must be a table, not %s",
                 type_name(value->type));
    } else {
        al_auto(al_freep) char *meant = nearest(value->key);

        complain(reading, value->line, value->key, "unknown key%s%s%s",
                 meant ? ", did you mean '" : "", meant ? meant : "", meant ? "'?" : "");
    }
    return false;
}

static void not_toml(void *payload, unsigned line, const char *what)
{
    static const char noise[] = "Error "; /* "Error while parsing …" */
    struct reading *reading = payload;
    al_auto(al_freep) char *safe =
        al_text_word(al_starts_with(what, noise) ? what + strlen(noise) : what);

    complain(reading, line, "", "%s", safe);
}

static int read_text(const char *path, struct al_str *ret_text, struct al_error *err)
{
    /* Links are followed: the path is the person's own, and dotfiles often are links. */
    al_auto(al_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    int r;

    if (fd < 0 && errno == ENOENT)
        return al_error_set(err, AL_ERR_NOT_FOUND, "%s: no such file", path);
    r = fd < 0 ? -errno : al_fs_read_fd(fd, FILE_MAX_BYTES, ret_text);
    if (r == -EFBIG)
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s: cannot read: larger than %u bytes", path,
                            FILE_MAX_BYTES);
    if (r == -EINVAL)
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s: cannot read: not a regular file", path);
    if (r < 0)
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s: cannot read: %s", path, strerrordesc_np(-r));
    return 0;
}

static int read_config(struct al_config *config, const char *path, const char *home,
                       struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    struct al_config fresh;
    struct reading reading = { .into = &fresh, .path = path, .home = home, .err = err };
    int r;

    r = read_text(path, &text, err);
    if (r < 0)
        return r;
    copy_config(&fresh, config);
    (void)al_toml_walk(text.buf, text.len, visit, not_toml, &reading); /* fails through not_toml */
    if (reading.failed) {
        al_config_clear(&fresh);
        return AL_ERR_BAD_ARGS;
    }
    free(fresh.file);
    fresh.file = al_strdup(path);
    al_config_clear(config);
    *config = fresh;
    return 0;
}

int al_config_read(struct al_config *config, const char *path, struct al_error *err)
{
    return read_config(config, path, NULL, err);
}

/* Where a person's own file is: the XDG base directory rules ignore a relative $XDG_CONFIG_HOME. */
static char *own_file(const char *env_config_home, const char *home)
{
    if (env_config_home && env_config_home[0] == '/')
        return al_fs_join(env_config_home, "airlock/config.toml");
    return home ? al_fs_join(home, ".config/airlock/config.toml") : NULL;
}

int al_config_load(struct al_config *config, const char *path, const char *env_config_home,
                   const char *home, struct al_error *err)
{
    al_auto(al_freep) char *own = own_file(env_config_home, home);
    const char *const places[] = { own, SYSTEM_FILE };
    al_auto(al_error_clear) struct al_error missing = AL_ERROR_INIT;

    if (path) {
        int r = read_config(config, path, home, err);

        return r == AL_ERR_NOT_FOUND ? al_error_set(err, AL_ERR_BAD_ARGS, "%s: no such file", path)
                                     : r;
    }
    for (size_t i = 0; i < AL_COUNT(places); i++) {
        int r = places[i] ? read_config(config, places[i], home, &missing) : AL_ERR_NOT_FOUND;

        if (r == AL_ERR_NOT_FOUND)
            continue;
        if (r < 0)
            return al_error_set(err, r, "%s", missing.message);
        return 0;
    }
    return 0;
}
