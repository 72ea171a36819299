// SPDX-License-Identifier: Apache-2.0
#include "cli/config/worker.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli/config/keys.h"
#include "guard/text.h"

#define ROOTS_MAX      64u
#define RULES_MAX      256u
#define TEXT_MAX_BYTES 4096u

static int check_strings(const struct al_value *list, size_t min, size_t max, struct al_error *err)
{
    int r = al_value_check_list(list, min, max, err);

    for (size_t i = 0; r == 0 && i < list->count; i++)
        r = al_value_check_string(&list->items[i], TEXT_MAX_BYTES, err);
    return r;
}

static int take_grant(struct al_worker *worker, const struct al_value *from, struct al_error *err)
{
    al_auto(al_freep) char *name = al_asprintf("worker %s", worker->name);
    int r = al_value_check_type(from, AL_VALUE_MAPPING, err);

    return r == 0
               ? al_config_read_table(AL_KEY_GRANT, from, al_grants_add(&worker->grants, name), err)
               : r;
}

static int take_rule(const struct al_value *from, struct al_policy *policy, struct al_error *err)
{
    const struct al_value *decision = al_value_get(from, "decision");
    struct al_rule *rule = al_policy_add(policy, from->line);
    int r = al_value_check_type(from, AL_VALUE_MAPPING, err);

    if (r == 0)
        r = al_config_read_table(AL_KEY_RULE, from, rule, err);
    if (r == 0 && !decision)
        r = al_value_error(from, err, "has no 'decision'");
    if (r == 0 && rule->decision == AL_APPROVAL_ALLOW)
        r = al_value_error(decision, err, "must be 'ask' or 'deny': a worker file only narrows");
    return r;
}

static int take_policy(struct al_worker *worker, const struct al_value *rules, struct al_error *err)
{
    int r = al_value_check_list(rules, 0, RULES_MAX, err);

    for (size_t i = 0; r == 0 && i < rules->count; i++)
        r = take_rule(&rules->items[i], &worker->policy, err);
    return r;
}

#define DESCRIPTION_MAX_BYTES 4096u
#define TOOLSETS_MAX          32u

/* The first line of the frontmatter follows the line `---`. */
#define FIRST_LINE 2

void al_worker_clear(struct al_worker *worker)
{
    free(worker->file);
    free(worker->name);
    al_grants_clear(&worker->grants);
    al_policy_clear(&worker->policy);
    al_value_clear(&worker->frontmatter);
    *worker = (struct al_worker){ .file = NULL };
}

const char *al_worker_toolset(const char *name)
{
    static const char *const others[][2] = { { "filesystem", "files" }, { "git", "staging" } };

    for (size_t i = 0; i < AL_COUNT(others); i++)
        if (!strcmp(others[i][0], name))
            return others[i][1];
    return name;
}

/* Whether the line that begins here is `---`, apart from blanks at its end. */
static bool is_fence(const char *line, size_t len)
{
    if (len < 3 || memcmp(line, "---", 3) != 0)
        return false;
    for (size_t i = 3; i < len && line[i] != '\n'; i++)
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r')
            return false;
    return true;
}

/* The bytes between the two fences; both point into `text`. */
static int find_frontmatter(const char *path, const struct al_str *text, const char **ret_begin,
                            size_t *ret_len, struct al_error *err)
{
    static const char mark[] = "\xef\xbb\xbf"; /* a byte order mark */
    const char *end = text->buf + text->len;
    const char *at = text->buf + (al_starts_with(text->buf, mark) ? strlen(mark) : 0);
    const char *begin = memchr(at, '\n', (size_t)(end - at));

    if (!is_fence(at, (size_t)(end - at)) || !begin)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "%s:1: a worker file begins with a line '---', settings and another "
                            "line '---'",
                            path);
    begin++;
    for (at = begin; at < end && !is_fence(at, (size_t)(end - at));) {
        const char *feed = memchr(at, '\n', (size_t)(end - at));

        at = feed ? feed + 1 : end;
    }
    if (at == end)
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s:1: no line '---' ends the frontmatter", path);
    if ((size_t)(at - begin) > AL_WORKER_FRONTMATTER_MAX_BYTES)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "%s:1: the frontmatter is larger than %u bytes; move text below it",
                            path, AL_WORKER_FRONTMATTER_MAX_BYTES);
    *ret_begin = begin;
    *ret_len = (size_t)(at - begin);
    return 0;
}

/* The name is shown in approvals and is written into commits. */
static int take_name(struct al_worker *worker, struct al_error *err)
{
    const struct al_value *name = al_value_get(&worker->frontmatter, "name");
    al_auto(al_freep) char *safe = NULL;
    int r;

    if (!name)
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s:%d: name: is missing", worker->file,
                            FIRST_LINE);
    r = al_value_check_string(name, AL_WORKER_NAME_MAX_BYTES, err);
    if (r < 0)
        return r;
    safe = al_text_sanitize_line(name->text);
    if (strcmp(safe, name->text) != 0 || name->text[0] == ' ' || al_ends_with(name->text, " "))
        return al_value_error(name, err, "must be one line of visible characters");
    worker->name = al_take(&safe);
    return 0;
}

static int check_toolset(const struct al_value *toolsets, size_t which, struct al_error *err)
{
    const struct al_value *toolset = &toolsets->items[which];
    const char *name = al_worker_toolset(toolset->name);

    for (size_t i = 0; i < which; i++)
        if (!strcmp(al_worker_toolset(toolsets->items[i].name), name))
            return al_value_error(toolset, err, "is the same toolset as '%s'",
                                  toolsets->items[i].name);
    return toolset->type == AL_VALUE_NULL ? 0 : al_value_check_type(toolset, AL_VALUE_MAPPING, err);
}

static int check_toolsets(const struct al_value *toolsets, struct al_error *err)
{
    int r = al_value_check_type(toolsets, AL_VALUE_MAPPING, err);

    if (r == 0 && (!toolsets->count || toolsets->count > TOOLSETS_MAX))
        return al_value_error(toolsets, err, "must name between 1 and %u toolsets", TOOLSETS_MAX);
    for (size_t i = 0; r == 0 && i < toolsets->count; i++)
        r = check_toolset(toolsets, i, err);
    return r;
}

static int take_all(struct al_worker *worker, struct al_error *err)
{
    static const char *const names[] = { "name",   "description", "toolsets", "roots",
                                         "grants", "policy",      NULL };
    const struct al_value *top = &worker->frontmatter, *grants = al_value_get(top, "grants"),
                          *policy = al_value_get(top, "policy");
    const char *description; /* for whoever reads the file */
    int r = top->type == AL_VALUE_NULL ? 0 : al_value_check_names(top, names, err);

    worker->toolsets = al_value_get(top, "toolsets");
    worker->roots = al_value_get(top, "roots");
    if (r == 0)
        r = take_name(worker, err);
    if (r == 0)
        r = al_value_get_string(top, "description", DESCRIPTION_MAX_BYTES, &description, err);
    if (r == 0 && worker->toolsets)
        r = check_toolsets(worker->toolsets, err);
    if (r == 0 && worker->roots)
        r = check_strings(worker->roots, 1, ROOTS_MAX, err);
    if (r == 0 && grants)
        r = take_grant(worker, grants, err);
    return r == 0 && policy ? take_policy(worker, policy, err) : r;
}

static int read_worker(const char *path, struct al_worker *worker, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    const char *begin = NULL;
    size_t len = 0;
    int r = al_config_read_text(path, &text, err);

    worker->file = al_strdup(path);
    if (r == 0)
        r = find_frontmatter(path, &text, &begin, &len, err);
    if (r == 0)
        r = al_yaml_read(worker->file, FIRST_LINE, begin, len, &worker->frontmatter, err);
    return r == 0 ? take_all(worker, err) : r;
}

int al_worker_read(const char *path, struct al_worker *ret_worker, struct al_error *err)
{
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    al_auto(al_freep) char *safe = NULL;
    struct al_worker worker = { .file = NULL };
    int r = read_worker(path, &worker, &why);

    if (r == 0) {
        *ret_worker = worker;
        return 0;
    }
    al_worker_clear(&worker);
    safe = al_text_join_lines(why.message);
    return al_error_set(err, AL_ERR_BAD_ARGS, "%s", safe);
}
