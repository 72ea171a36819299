// SPDX-License-Identifier: Apache-2.0
#include "cli/install/plan.h"

#include <string.h>

#include "cli/install/line_diff.h"
#include "guard/text.h"

/* Where Claude Code has its rules about tools. */
static const char *const denied_path[] = { "permissions", "deny", NULL };
static const char *const allowed_path[] = { "permissions", "allow", NULL };

void al_install_plan_clear(struct al_install_plan *plan)
{
    al_settings_file_clear(&plan->file);
    al_settings_text_clear(&plan->settings);
    al_install_record_clear(&plan->record);
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
    al_install_record_read(wish->state_dir, plan.file.real_path, &plan.record);
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
    return al_install_record_write(record, plan->file.real_path, err);
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
        al_install_record_forget(&plan->record);
    return plan->removes ? 0 : write_record(plan, dirs, err);
}
