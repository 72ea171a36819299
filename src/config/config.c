// SPDX-License-Identifier: Apache-2.0
#include "config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "config/nearest.h"
#include "config/reading.h"
#include "config/toml.h"
#include "guard/env.h"
#include "guard/text.h"
#include "util/fs.h"

#define SYSTEM_FILE    "/etc/airlock/config.toml"
#define FILE_MAX_BYTES (1u << 20)
#define RULES_MAX      256u

enum kind {
    KIND_BOOL,
    KIND_UINT32,
    KIND_STRING,
    KIND_STRINGS,
    KIND_ABS_FILE,
    KIND_APPROVAL_MODE,
    KIND_GRANTS, /* a table of tables that the person names */
    KIND_RULES,  /* a list of tables; what is in them are the next two */
    KIND_RULE_STRING,
    KIND_RULE_DECISION,
};

/** One key of the file: adding a row is all it takes to add a key. */
struct key {
    const char *path;
    enum kind kind;
    size_t offset;    /* into struct al_config; in a rule, into struct al_rule */
    int64_t min, max; /* KIND_UINT32: the value; KIND_STRINGS: the number of items */
    int (*check)(const char *item, struct al_error *err); /* each string, may be NULL */
};

/* The offset of a field; naming a field of another type does not compile. */
#define FIELD_OF(type, name, ctype)                                                                \
    (offsetof(type, name) + 0 * sizeof(&((type *)NULL)->name == (ctype *)NULL))
#define FIELD(name, ctype)             FIELD_OF(struct al_config, name, ctype)
#define BOOL(name)                     KIND_BOOL, FIELD(name, bool), 0, 1, NULL
#define UINT32(name, min, max)         KIND_UINT32, FIELD(name, uint32_t), min, max, NULL
#define STRINGS(name, min, max, check) KIND_STRINGS, FIELD(name, struct al_strv), min, max, check
#define FILE_NAME(name)                KIND_ABS_FILE, FIELD(name, char *), 0, 0, NULL
#define MODE(name)                     KIND_APPROVAL_MODE, FIELD(name, enum al_approval_mode), 0, 0, NULL
#define STRING(name)                   KIND_STRING, FIELD(name, char *), 0, 0, NULL
#define GRANTS(name)                   KIND_GRANTS, FIELD(name, struct al_grants), 0, 0, NULL
#define RULES(name)                    KIND_RULES, FIELD(name, struct al_policy), 0, 0, NULL
#define RULE_STRING(name, check)                                                                   \
    KIND_RULE_STRING, FIELD_OF(struct al_rule, name, char *), 0, 0, check
#define RULE_DECISION(name)                                                                        \
    KIND_RULE_DECISION, FIELD_OF(struct al_rule, name, enum al_approval_mode), 0, 0, NULL

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
    { "tools.approval.rule", RULES(approval.policy) },
    { "tools.approval.rule.tool", RULE_STRING(tool, NULL) },
    { "tools.approval.rule.operation", RULE_STRING(operation, NULL) },
    { "tools.approval.rule.effect", RULE_STRING(effect, al_policy_check_effect) },
    { "tools.approval.rule.branch", RULE_STRING(branch, NULL) },
    { "tools.approval.rule.path", RULE_STRING(path, NULL) },
    { "tools.approval.rule.decision", RULE_DECISION(decision) },
    { "tools.approval.rule.message", RULE_STRING(message, NULL) },
    { "journal.file", FILE_NAME(journal.file) },
    { "serve.grant", STRING(serve.grant) },
    { "grants", GRANTS(grants) },
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
    al_policy_clear(&config->approval.policy);
    al_grants_clear(&config->grants);
    free(config->journal.file);
    free(config->serve.grant);
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
    al_policy_copy(&to->approval.policy, &from->approval.policy);
    al_grants_copy(&to->grants, &from->grants);
    to->journal.file = al_strdup(from->journal.file);
    to->serve.grant = al_strdup(from->serve.grant);
    to->file = al_strdup(from->file);
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
    case KIND_STRING:
    case KIND_ABS_FILE:
    case KIND_APPROVAL_MODE:
    case KIND_RULE_STRING:
    case KIND_RULE_DECISION:
        return AL_TOML_STRING;
    case KIND_RULES:
        return AL_TOML_TABLES;
    case KIND_GRANTS:
        break;
    }
    return AL_TOML_TABLE;
}

static void set_uint32(struct al_reading *reading, const struct key *key,
                       const struct al_toml_value *value, uint32_t *field)
{
    if (value->integer < key->min || value->integer > key->max)
        al_reading_complain(reading, value->line, key->path,
                            "must be between %" PRId64 " and %" PRId64, key->min, key->max);
    else
        *field = (uint32_t)value->integer;
}

static void set_strings(struct al_reading *reading, const struct key *key,
                        const struct al_toml_value *value, struct al_strv *field)
{
    if (value->nitems < (size_t)key->min || value->nitems > (size_t)key->max) {
        al_reading_complain(reading, value->line, key->path,
                            "must have between %" PRId64 " and %" PRId64 " items", key->min,
                            key->max);
        return;
    }
    al_strv_clear(field);
    for (size_t i = 0; i < value->nitems; i++) {
        const struct al_toml_item *item = &value->items[i];
        al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;

        if (key->check && key->check(item->text, &why) < 0)
            al_reading_complain(reading, item->line, key->path, "%s", why.message);
        al_strv_add(field, item->text);
    }
}

static void set_file(struct al_reading *reading, const struct key *key,
                     const struct al_toml_item *item, char **field)
{
    bool at_home = al_starts_with(item->text, "~/");

    if (item->text[0] != '/' && !at_home) {
        al_reading_complain(reading, item->line, key->path,
                            "must be an absolute path or begin with '~/'");
    } else if (al_ends_with(item->text, "/")) {
        al_reading_complain(reading, item->line, key->path, "must name a file, not a directory");
    } else if (at_home && !reading->home) {
        al_reading_complain(reading, item->line, key->path,
                            "begins with '~/', but HOME is not set");
    } else {
        free(*field);
        *field = at_home ? al_fs_join(reading->home, item->text + 2) : al_strdup(item->text);
    }
}

static void set_string(struct al_reading *reading, const struct key *key,
                       const struct al_toml_item *item, char **field)
{
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;

    if (key->check && key->check(item->text, &why) < 0)
        al_reading_complain(reading, item->line, key->path, "%s", why.message);
    free(*field);
    *field = al_strdup(item->text);
}

static void set_approval_mode(struct al_reading *reading, const struct key *key,
                              const struct al_toml_item *item, enum al_approval_mode *field)
{
    int mode = al_approval_mode_parse(item->text);

    if (mode < 0)
        al_reading_complain(reading, item->line, key->path, "must be 'ask', 'allow' or 'deny'");
    else
        *field = (enum al_approval_mode)mode;
}

/* A rule that does not say what it decides would be read as one thing by one person and as another
 * by the next. */
static void end_rule(struct al_reading *reading)
{
    const struct al_policy *policy = &reading->into->approval.policy;

    if (policy->count && !reading->has_decision)
        al_reading_complain(reading, policy->rules[policy->count - 1].line, "tools.approval.rule",
                            "has no 'decision'");
}

/* The list of rules, then each of them.  A file's rules take the place of those there were. */
static bool set_rules(struct al_reading *reading, const struct key *key,
                      const struct al_toml_value *value, struct al_policy *policy)
{
    if (value->in_list) {
        end_rule(reading);
        reading->has_decision = false;
        (void)al_policy_add(policy, value->line);
        return true;
    }
    if (value->type == AL_TOML_STRINGS && !value->nitems) {
        al_policy_clear(policy);
        return false;
    }
    if (!al_reading_wants(reading, value, AL_TOML_TABLES))
        return false;
    if (value->nitems > RULES_MAX) {
        al_reading_complain(reading, value->line, key->path, "must have at most %u rules",
                            RULES_MAX);
        return false;
    }
    al_policy_clear(policy);
    reading->has_decision = true; /* no rule is open */
    return true;
}

static void *field_of(const struct al_reading *reading, const struct key *key)
{
    const struct al_policy *policy = &reading->into->approval.policy;

    if (key->kind == KIND_RULE_STRING || key->kind == KIND_RULE_DECISION)
        return (char *)&policy->rules[policy->count - 1] + key->offset;
    return (char *)reading->into + key->offset;
}

/* Gives whether to look inside. */
static bool set(struct al_reading *reading, const struct key *key,
                const struct al_toml_value *value)
{
    void *field = field_of(reading, key);

    if (key->kind == KIND_RULES)
        return set_rules(reading, key, value, field);
    if (key->kind == KIND_RULE_DECISION)
        reading->has_decision = true;
    if (!al_reading_wants(reading, value, type_wanted(key->kind)) ||
        !al_reading_strings_fit(reading, value))
        return false;
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
    case KIND_RULE_DECISION:
        set_approval_mode(reading, key, value->items, field);
        break;
    case KIND_STRING:
    case KIND_RULE_STRING:
        set_string(reading, key, value->items, field);
        break;
    case KIND_GRANTS:
        al_grants_clear(field);
        return true;
    case KIND_RULES:
        break;
    }
    return false;
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
    struct al_reading *reading = payload;
    bool is_table;
    const struct key *key = find_key(value->key, &is_table);

    if (key)
        return set(reading, key, value);
    if (al_starts_with(value->key, "grants."))
        return al_reading_visit_grants(reading, value);
    if (is_table && value->type == AL_TOML_TABLE)
        return true;
    if (is_table) {
        (void)al_reading_wants(reading, value, AL_TOML_TABLE);
    } else {
        al_auto(al_freep) char *meant = nearest(value->key);

        al_reading_complain(reading, value->line, value->key, "unknown key%s%s%s",
                            meant ? ", did you mean '" : "", meant ? meant : "", meant ? "'?" : "");
    }
    return false;
}

static void not_toml(void *payload, unsigned line, const char *what)
{
    static const char noise[] = "Error "; /* "Error while parsing …" */
    struct al_reading *reading = payload;
    al_auto(al_freep) char *safe =
        al_text_word(al_starts_with(what, noise) ? what + strlen(noise) : what);

    al_reading_complain(reading, line, "", "%s", safe);
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
    struct al_reading reading = {
        .into = &fresh, .path = path, .home = home, .err = err, .has_decision = true
    };
    int r;

    r = read_text(path, &text, err);
    if (r < 0)
        return r;
    copy_config(&fresh, config);
    (void)al_toml_walk(text.buf, text.len, visit, not_toml, &reading); /* fails through not_toml */
    end_rule(&reading);
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
