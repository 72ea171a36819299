// SPDX-License-Identifier: Apache-2.0
#include "cli/install/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gitops/oid.h"
#include "guard/text.h"
#include "util/fs.h"
#include "util/json.h"

#define CONTEXT 3

/* The lines of a text; the last one may have no newline. */
struct lines {
    const char *at[2]; /* of the part that is left: begin and end */
};

static struct lines lines_of(const struct al_str *text)
{
    const char *buf = text && text->buf ? text->buf : "";

    return (struct lines){ { buf, buf + (text ? text->len : 0) } };
}

/* The length of the first line, with its newline. */
static size_t first_line(const struct lines *lines)
{
    const char *end = memchr(lines->at[0], '\n', (size_t)(lines->at[1] - lines->at[0]));

    return (size_t)((end ? end + 1 : lines->at[1]) - lines->at[0]);
}

static size_t last_line(const struct lines *lines)
{
    const char *begin = lines->at[1];

    if (begin > lines->at[0])
        begin--;
    while (begin > lines->at[0] && begin[-1] != '\n')
        begin--;
    return (size_t)(lines->at[1] - begin);
}

/* Take equal lines off one end of both texts, and return how many. */
static size_t take_equal(struct lines *a, struct lines *b, bool first)
{
    size_t count = 0, len;

    for (;; count++) {
        len = first ? first_line(a) : last_line(a);
        if (!len || len != (first ? first_line(b) : last_line(b)) ||
            memcmp(first ? a->at[0] : a->at[1] - len, first ? b->at[0] : b->at[1] - len, len) != 0)
            return count;
        a->at[0] += first ? len : 0;
        b->at[0] += first ? len : 0;
        a->at[1] -= first ? 0 : len;
        b->at[1] -= first ? 0 : len;
    }
}

static size_t add_lines(struct lines lines, char mark, size_t max, struct al_str *out)
{
    size_t count = 0, len;

    while (count < max && (len = first_line(&lines))) {
        al_str_addc(out, mark);
        al_str_add(out, lines.at[0], len);
        if (lines.at[0][len - 1] != '\n')
            al_str_adds(out, "\n\\ No newline at end of file\n");
        lines.at[0] += len;
        count++;
    }
    return count;
}

/* The last lines of the text that ends at `end`. */
static struct lines lines_before(const char *begin, const char *end, size_t count)
{
    struct lines before = { { end, end } }, rest = { { begin, end } };

    while (count-- && rest.at[1] > rest.at[0]) {
        rest.at[1] -= last_line(&rest);
        before.at[0] = rest.at[1];
    }
    return before;
}

static void add_range(char mark, size_t line, size_t count, struct al_str *out)
{
    al_str_addf(out, "%s%c%zu,%zu", mark == '-' ? "@@ " : " ", mark, line, count);
}

/* Append the lines from the first to the last difference, with three lines around them.  `name` is
 * the file's.  NULL for `before`: the file is new; for `after`: it goes.  Texts are not made safe.
 */
static void al_line_diff(const char *name, const struct al_str *before, const struct al_str *after,
                         struct al_str *out)
{
    struct lines a = lines_of(before), b = lines_of(after);
    const char *begin = a.at[0], *end = a.at[1];
    const size_t same = take_equal(&a, &b, true);
    const size_t line = same < CONTEXT ? 1 : same - CONTEXT + 1;
    size_t around, old = 0, new = 0;
    al_auto(al_str_clear) struct al_str body = AL_STR_INIT;

    (void)take_equal(&a, &b, false);
    around = add_lines(lines_before(begin, a.at[0], CONTEXT), ' ', CONTEXT, &body);
    old = add_lines(a, '-', SIZE_MAX, &body);
    new = add_lines(b, '+', SIZE_MAX, &body);
    around += add_lines((struct lines){ { a.at[1], end } }, ' ', CONTEXT, &body);
    al_str_addf(out, "--- %s\n+++ %s\n", before ? name : "/dev/null", after ? name : "/dev/null");
    add_range('-', before ? line : 0, old + around, out);
    add_range('+', after ? line : 0, new + around, out);
    al_str_adds(out, " @@\n");
    al_str_add(out, body.buf, body.len);
}

#define MAX_BYTES (64u * 1024u * 1024u)

static void install_record_clear(struct al_install_record *record)
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

/* Read the record of a file; `exists` is false when there is none that can be read. */
static void install_record_read(const char *state_dir, const char *file,
                                struct al_install_record *ret)
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

/* Write it.  0 or AL_ERR_EXECUTION. */
static int install_record_write(const struct al_install_record *record, const char *file,
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

/* Forget it. */
static void install_record_forget(const struct al_install_record *record)
{
    (void)unlink(record->path);
}

/* Where Claude Code has its rules about tools. */
static const char *const denied_path[] = { "permissions", "deny", NULL };
static const char *const allowed_path[] = { "permissions", "allow", NULL };

void al_install_plan_clear(struct al_install_plan *plan)
{
    al_settings_file_clear(&plan->file);
    al_settings_text_clear(&plan->settings);
    install_record_clear(&plan->record);
}

/* Begin with a text, and no changes. */
static void begin(struct al_settings_text *settings, const struct al_str *text)
{
    struct al_settings_text begun = AL_SETTINGS_TEXT_INIT;

    al_str_add(&begun.text, text->buf ? text->buf : "", text->len);
    al_settings_text_clear(settings);
    *settings = begun;
}

/* Take back what an earlier installation changed.  False: it cannot be found. */
static bool take_back(struct al_install_plan *plan)
{
    struct al_settings_text *settings = &plan->settings;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (!plan->record.exists ||
        !al_settings_text_undo(settings, &plan->record.before, &plan->record.after))
        return false;
    al_str_add(&text, settings->text.buf ? settings->text.buf : "", settings->text.len);
    begin(settings, &text);
    return true;
}

static int add_rules(const struct al_install_wish *wish, struct al_settings_text *settings,
                     struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < wish->denied->count; i++)
        r = al_settings_json_add(settings, denied_path, wish->denied->items[i], err);
    for (size_t i = 0; r == 0 && i < wish->allowed->count; i++)
        r = al_settings_json_add(settings, allowed_path, wish->allowed->items[i], err);
    return r;
}

/* Without the record of an installation, rules count as the user's own. */
static void take_rules(const struct al_install_wish *wish, struct al_install_plan *plan)
{
    if (!plan->record.exists)
        return;
    for (size_t i = 0; i < wish->denied->count; i++)
        al_settings_json_take(&plan->settings, denied_path, wish->denied->items[i]);
    for (size_t i = 0; i < wish->allowed->count; i++)
        al_settings_json_take(&plan->settings, allowed_path, wish->allowed->items[i]);
}

static int change(const struct al_install_wish *wish, struct al_install_plan *plan,
                  struct al_error *err)
{
    const bool taken_back = take_back(plan);

    if (wish->removes && taken_back) {
        plan->removes_file = plan->record.made_file && !plan->settings.text.len;
        return 0;
    }
    if (wish->removes && !wish->entry) {
        take_rules(wish, plan);
        return 0;
    }
    if (wish->removes)
        return al_client_remove(wish->client, &plan->settings, err);
    return wish->entry ? al_client_put(wish->client, &plan->settings, wish->entry, err)
                       : add_rules(wish, &plan->settings, err);
}

static bool is_same(const struct al_str *a, const struct al_str *b)
{
    return a->len == b->len && (!a->len || !memcmp(a->buf, b->buf, a->len));
}

int al_install_plan_make(const struct al_install_wish *wish, struct al_install_plan *ret,
                         struct al_error *err)
{
    al_auto(al_install_plan_clear) struct al_install_plan plan = AL_INSTALL_PLAN_INIT;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    int r = al_settings_file_read(wish->path, &plan.file, err);

    if (r < 0)
        return r;
    install_record_read(wish->state_dir, plan.file.real_path, &plan.record);
    begin(&plan.settings, &plan.file.text);
    plan.removes = wish->removes;
    r = change(wish, &plan, &why);
    if (r < 0)
        return al_error_set(err, AL_ERR_EXECUTION, "'%s' was left alone: %s", wish->path,
                            why.message);
    plan.changes = plan.removes_file || !is_same(&plan.file.text, &plan.settings.text);
    *ret = plan;
    plan = AL_INSTALL_PLAN_INIT;
    return 0;
}

void al_install_plan_show(const struct al_install_plan *plan, struct al_str *out)
{
    const struct al_settings_file *file = &plan->file;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (!plan->changes)
        return;
    if (strcmp(file->path, file->real_path) != 0)
        al_str_addf(&text, "%s leads to %s\n", file->path, file->real_path);
    al_line_diff(file->real_path, file->exists ? &file->text : NULL,
                 plan->removes_file ? NULL : &plan->settings.text, &text);
    al_text_sanitize(text.buf, text.len, out);
}

/* Remember what this installation changed.  A file that an earlier one made stays a made one. */
static int write_record(struct al_install_plan *plan, unsigned dirs, struct al_error *err)
{
    struct al_install_record *record = &plan->record;

    if (!plan->file.exists) {
        record->made_file = true;
        record->dirs = dirs;
    }
    al_strv_clear(&record->before);
    al_strv_clear(&record->after);
    record->before = plan->settings.before;
    record->after = plan->settings.after;
    plan->settings.before = plan->settings.after = AL_STRV_INIT;
    return install_record_write(record, plan->file.real_path, err);
}

int al_install_plan_write(struct al_install_plan *plan, struct al_error *err)
{
    unsigned dirs = 0;
    int r;

    if (plan->removes_file)
        r = al_settings_file_remove(&plan->file, plan->record.dirs, err);
    else
        r = plan->changes ? al_settings_file_write(&plan->file, &plan->settings.text, &dirs, err)
                          : 0;
    if (r < 0)
        return r;
    if (plan->removes)
        install_record_forget(&plan->record);
    return plan->removes ? 0 : write_record(plan, dirs, err);
}
