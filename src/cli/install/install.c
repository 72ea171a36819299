// SPDX-License-Identifier: Apache-2.0
/* airlock install: write airlock's entry into the settings of an MCP client. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "call/registry.h"
#include "call/tool.h"
#include "cli/cli.h"
#include "cli/environment.h"
#include "cli/install/clients.h"
#include "cli/install/settings.h"
#include "cli/print.h"
#include "cli/setup.h"
#include "cli/tty.h"
#include "git/plumbing/batch.h"
#include "git/repo/repo.h"
#include "guard/text.h"
#include "tools/commands/commands.h"

/* The change of a file. */
struct plan {
    /* The user's choice, borrowed. */
    const struct al_client *client;
    const json_t *entry;                    /* airlock's entry; NULL: it is in another file */
    const struct al_strv *denied, *allowed; /* rules of the client; NULL: in another file */
    const char *hook;                       /* the command of hooks; NULL: none here */
    const char *path_list;                  /* the PATH of the client's shell; NULL: none here */
    bool removes;

    struct al_settings_file file;
    struct al_str base; /* the text without what an earlier installation changed */
    struct al_str text; /* the text that it gets */
    /* Changes of installations, so that they can be taken back: "file", its path; "made_file" and
     * "made_path", whether they made the file and the PATH of the client's shell; "dirs", how many
     * directories for it; "before" and "after", the lines that were changed.  Empty: there is
     * none. */
    json_t *record;
    struct al_settings_file record_file;
    bool removes_file, changes;
};

#define PLAN_INIT                                                                                  \
    ((struct plan){ .file = AL_SETTINGS_FILE_INIT,                                                 \
                    .base = AL_STR_INIT,                                                           \
                    .text = AL_STR_INIT,                                                           \
                    .record_file = AL_SETTINGS_FILE_INIT })

static bool is_set(const json_t *record, const char *name)
{
    return json_is_true(json_object_get(record, name));
}

/* --- The lines that differ --- */

#define CONTEXT 3

/* The lines that differ begin at the same place in both texts. */
struct difference {
    size_t begin, old_end, new_end;
};

static bool begins_line(const struct al_str *text, size_t at)
{
    return !at || text->buf[at - 1] == '\n';
}

static struct difference compare(const struct al_str *old, const struct al_str *new)
{
    struct difference lines = { .begin = 0, .old_end = old->len, .new_end = new->len };
    size_t least = old->len < new->len ? old->len : new->len, same = 0;

    while (lines.begin < least && old->buf[lines.begin] == new->buf[lines.begin])
        lines.begin++;
    while (!begins_line(old, lines.begin))
        lines.begin--;
    while (same < least - lines.begin &&
           old->buf[old->len - same - 1] == new->buf[new->len - same - 1])
        same++;
    while (same && !(begins_line(old, old->len - same) && begins_line(new, new->len - same)))
        same--;
    lines.old_end -= same;
    lines.new_end -= same;
    return lines;
}

static size_t add_lines(const struct al_str *text, size_t begin, size_t end, char mark,
                        struct al_str *out)
{
    size_t count = 0;

    for (; begin < end; count++) {
        const char *feed = memchr(text->buf + begin, '\n', end - begin);
        const size_t len = (feed ? (size_t)(feed + 1 - text->buf) : end) - begin;

        al_str_addc(out, mark);
        al_str_add(out, text->buf + begin, len);
        al_str_adds(out, feed ? "" : "\n\\ No newline at end of file\n");
        begin += len;
    }
    return count;
}

/* Append a diff of one hunk.  NULL for `old`: the file is new; for `new`: it goes.  Texts are not
 * made safe. */
static void add_diff(const char *name, const struct al_str *old, const struct al_str *new,
                     struct al_str *out)
{
    const struct al_str none = AL_STR_INIT, *a = old ? old : &none, *b = new ? new : &none;
    const struct difference lines = compare(a, b);
    size_t before = lines.begin, after = lines.old_end, line = 1, around, gone, come;
    al_auto(al_str_clear) struct al_str body = AL_STR_INIT;

    for (unsigned i = 0; i < CONTEXT; i++) {
        while (before && !begins_line(a, --before))
            continue;
        if (after < a->len) {
            const char *feed = memchr(a->buf + after, '\n', a->len - after);

            after = feed ? (size_t)(feed + 1 - a->buf) : a->len;
        }
    }
    for (size_t i = 0; i < before; i++)
        line += a->buf[i] == '\n';
    around = add_lines(a, before, lines.begin, ' ', &body);
    gone = add_lines(a, lines.begin, lines.old_end, '-', &body);
    come = add_lines(b, lines.begin, lines.new_end, '+', &body);
    around += add_lines(a, lines.old_end, after, ' ', &body);
    al_str_addf(out, "--- %s\n+++ %s\n@@ -%zu,%zu +%zu,%zu @@\n%s", old ? name : "/dev/null",
                new ? name : "/dev/null", old ? line : 0, gone + around, new ? line : 0,
                come + around, body.buf);
}

/* --- The record of an installation --- */

/* It has the changed lines of a file twice, with escapes. */
#define RECORD_MAX_MIB (4 * AL_SETTINGS_MAX_MIB)

/* The record is airlock's own file, and is read and written like one of a client. */
static int read_record(struct plan *plan, const char *path, struct al_error *err)
{
    struct al_settings_file *file = &plan->record_file;
    int r = al_settings_file_read(path, RECORD_MAX_MIB, file, err);

    if (r == 0 && !file->exists)
        file->mode = 0600;
    plan->record = r == 0 ? json_loadb(file->text.buf, file->text.len, 0, NULL) : NULL;
    if (json_is_object(plan->record))
        return r;
    json_decref(plan->record);
    plan->record = al_json_object();
    return r;
}

/* Remember what this installation changed.  A file that an earlier one made stays a made one. */
static int write_record(const struct plan *plan, unsigned dirs, struct al_error *err)
{
    const struct difference lines = compare(&plan->base, &plan->text);
    json_t *record = plan->record;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    unsigned made;

    al_json_set(record, "file", al_json_string(plan->file.real_path));
    if (!plan->file.exists) {
        al_json_set(record, "made_file", json_true());
        al_json_set(record, "dirs", al_json_int(dirs));
    }
    al_json_set(record, "before",
                al_json_stringn(plan->base.buf + lines.begin, lines.old_end - lines.begin));
    al_json_set(record, "after",
                al_json_stringn(plan->text.buf + lines.begin, lines.new_end - lines.begin));
    al_json_dump(record, false, &text);
    al_str_addc(&text, '\n');
    return al_settings_file_write(&plan->record_file, &text, &made, err);
}

/* --- The plan --- */

static void plan_clear(struct plan *plan)
{
    al_settings_file_clear(&plan->file);
    al_str_clear(&plan->base);
    al_str_clear(&plan->text);
    al_settings_file_clear(&plan->record_file);
    json_decref(plan->record);
    *plan = PLAN_INIT;
}

/* Take back what an earlier installation changed.  False: those lines are not there just once. */
static bool take_back(const json_t *record, struct al_str *text)
{
    const char *before = al_json_get_string(record, "before");
    const char *after = al_json_get_string(record, "after");
    const char *found = before && after && *after ? strstr(text->buf, after) : NULL;
    const size_t begin = found ? (size_t)(found - text->buf) : 0;

    if (!found || strstr(found + 1, after))
        return false;
    al_settings_replace(text, begin, begin + strlen(after), before);
    return true;
}

/* The place of Claude Code's rules about tools. */
#define RULES "permissions"

static int add_rules(const char *list, const struct al_strv *rules, struct al_str *text,
                     struct al_error *err)
{
    const char *const path[] = { RULES, list, NULL };
    int r = 0;

    for (size_t i = 0; r == 0 && i < rules->count; i++) {
        al_auto(al_json_decrefp) json_t *rule = al_json_string(rules->items[i]);

        r = al_settings_json_add(text, path, rule, err);
    }
    return r;
}

static size_t count_of(const char *text, const char *words)
{
    size_t count = 0;

    for (; text && (text = strstr(text, words)); text++)
        count++;
    return count;
}

/* Remove the rules of a list that begin like those of airlock, and that an installation added.  One
 * that was there before, in another list too, or came later, is the user's. */
static int remove_rules(const char *list, const char *beginning, const json_t *record,
                        struct al_str *text, struct al_error *err)
{
    const char *const path[] = { RULES, list, NULL };
    const char *before = al_json_get_string(record, "before");
    const char *after = al_json_get_string(record, "after");
    al_auto(al_json_decrefp) json_t *rules = al_settings_json_get(text, path);
    const json_t *rule;
    size_t i;
    int r = 0;

    json_array_foreach(rules, i, rule)
    {
        const char *words = json_is_string(rule) ? json_string_value(rule) : "";
        al_auto(al_freep) char *quoted = al_asprintf("\"%s\"", words);

        if (r == 0 && al_starts_with(words, beginning) &&
            count_of(after, quoted) > count_of(before, quoted))
            r = al_settings_json_remove(text, path, rule, err);
    }
    return r;
}

/* Whether an installation wrote this hook: a copy of airlock runs for this client. */
static bool is_own_hook(const struct al_client *client, const json_t *hook)
{
    al_auto(al_freep) char *program = al_client_hook_program(client, hook);

    return program && (!strcmp(program, "airlock") || al_ends_with(program, "/airlock"));
}

/* Airlock's hooks of an event go, and groups that had no other, but for one of `wanted`, which has
 * the place of an older one.  NULL: none is wanted. */
static int replace_hooks(const struct al_client *client, const char *event, const json_t *wanted,
                         struct al_str *text, struct al_error *err)
{
    const char *const path[] = { "hooks", event, NULL };
    al_auto(al_json_decrefp) json_t *groups = al_settings_json_get(text, path);
    int r = 0;

    for (size_t i = json_array_size(groups); r == 0 && i-- > 0;) {
        json_t *group = json_array_get(groups, i), *hooks = json_object_get(group, "hooks");
        const size_t count = json_array_size(hooks);
        al_auto(al_freep) char *index = al_asprintf("%zu", i);
        const char *const place[] = { "hooks", event, index, NULL };

        for (size_t k = count; k-- > 0;)
            if (is_own_hook(client, json_array_get(hooks, k)))
                (void)json_array_remove(hooks, k);
        if (json_array_size(hooks) == count)
            continue;
        if (!json_array_size(hooks) && !wanted) {
            r = al_settings_json_remove(text, place, NULL, err);
        } else {
            r = al_settings_json_put(text, place, json_array_size(hooks) ? group : wanted, err);
            wanted = json_array_size(hooks) ? wanted : NULL;
        }
    }
    return r;
}

/* The settings for one event: the command that the client's shell runs, and for which tools. */
static json_t *make_group(const struct al_client *client, const struct al_client_event *event,
                          const char *command)
{
    const bool is_of_tool = event->event == AL_EVENT_BEFORE || event->event == AL_EVENT_AFTER;
    const bool waits = event->event != AL_EVENT_ADD && event->event != AL_EVENT_REMOVE;

    return json_pack("{s:s*, s:[{s:s, s:o, s:o*}]}", "matcher",
                     is_of_tool ? client->hooks->tools : NULL, "hooks", "type", "command",
                     "command", al_json_string(command), "timeout",
                     waits ? al_json_int(client->hooks->timeout) : NULL);
}

static int change_hooks(const struct plan *plan, bool removes, struct al_str *text,
                        struct al_error *err)
{
    static const char *const path[] = { "hooks", NULL };
    const struct al_client *client = plan->client;
    al_auto(al_json_decrefp) json_t *wanted = al_json_object();
    al_auto(al_json_decrefp) json_t *there = al_settings_json_get(text, path);
    const struct al_client_event *at = client->hooks->events;
    const char *name;
    json_t *value;
    int r = 0;

    for (; at->name && !removes; at++)
        al_json_set(wanted, at->name, make_group(client, at, plan->hook));
    json_object_foreach(there, name, value) r =
        r == 0 ? replace_hooks(client, name, json_object_get(wanted, name), text, err) : r;
    json_object_foreach(wanted, name, value)
    {
        const char *const list[] = { "hooks", name, NULL };

        r = r == 0 ? al_settings_json_add(text, list, value, err) : r;
    }
    return r;
}

/* Append the directories of a PATH but for this one. */
static void add_others(const char *list, const char *dir, struct al_str *out)
{
    for (const char *at = list; *at;) {
        const size_t len = strcspn(at, ":");

        if (len != strlen(dir) || strncmp(at, dir, len) != 0)
            al_str_addf(out, "%s%.*s", out->len ? ":" : "", (int)len, at);
        at += len + (at[len] == ':');
    }
}

/* Put airlock's directory before a PATH of the user's own, or else before that of this shell: the
 * client takes a list, and nothing to add to one.  Or take it out, with a list that was made. */
static int change_path(const struct plan *plan, bool removes, struct al_str *text,
                       struct al_error *err)
{
    const char *table = plan->client->hooks->env_table, *dir = plan->path_list;
    al_auto(al_json_decrefp) json_t *entry = al_settings_toml_get(text, table);
    const char *now = al_json_get_string(entry, "PATH"), *list = al_environment_get("PATH");
    al_auto(al_str_clear) struct al_str path = AL_STR_INIT;

    if (removes && !now)
        return 0;
    if (!removes)
        al_str_adds(&path, dir);
    add_others(now ? now : list ? list : "/usr/bin:/bin", dir, &path);
    if (!entry)
        entry = al_json_object();
    if (removes && is_set(plan->record, "made_path") && strcmp(now, path.buf) != 0)
        (void)json_object_del(entry, "PATH");
    else
        al_json_set(entry, "PATH", al_json_string(path.buf));
    al_json_set(plan->record, "made_path", al_json_bool(!removes && !now));
    return json_object_size(entry) ? al_settings_toml_put(text, table, entry, err)
                                   : al_settings_toml_remove(text, table, err);
}

/* Take away what installations have added to a text that was edited since. */
static int remove_all(const struct plan *plan, struct al_str *text, struct al_error *err)
{
    const struct al_client *client = plan->client;
    int r = 0;

    if (plan->entry)
        r = client->is_toml ? al_settings_toml_remove(text, AL_CLIENT_TABLE, err)
                            : al_settings_json_remove(text, client->path, NULL, err);
    if (r == 0 && plan->path_list)
        r = change_path(plan, true, text, err);
    if (r == 0 && plan->hook)
        r = change_hooks(plan, true, text, err);
    if (r == 0 && plan->denied)
        r = remove_rules("deny", "Bash(", plan->record, text, err);
    return r == 0 && plan->denied
               ? remove_rules("allow", "mcp__" AL_CLIENT_ENTRY "__", plan->record, text, err)
               : r;
}

static int add_all(struct plan *plan, struct al_error *err)
{
    const struct al_client *client = plan->client;
    int r = 0;

    if (plan->entry)
        r = client->is_toml ? al_settings_toml_put(&plan->text, AL_CLIENT_TABLE, plan->entry, err)
                            : al_settings_json_put(&plan->text, client->path, plan->entry, err);
    if (r == 0 && plan->path_list)
        r = change_path(plan, false, &plan->text, err);
    if (r == 0 && plan->hook)
        r = change_hooks(plan, false, &plan->text, err);
    if (r < 0 || !plan->denied)
        return r;
    r = add_rules("deny", plan->denied, &plan->text, err);
    return r == 0 ? add_rules("allow", plan->allowed, &plan->text, err) : r;
}

/* Whether nothing is in the text but white space and an empty object: not even a comment. */
static bool is_hollow(const struct al_str *text)
{
    static const char *const top[] = { NULL };
    al_auto(al_json_decrefp) json_t *value = al_settings_json_get(text, top);

    return strspn(text->buf, " \t\r\n") == text->len ||
           (json_is_object(value) && !json_object_size(value) && !strchr(text->buf, '/'));
}

/* The base is what the user has without airlock. */
static int change(struct plan *plan, struct al_error *err)
{
    const bool is_back = take_back(plan->record, &plan->base);
    int r = 0;

    if (is_back)
        r = plan->removes && plan->hook ? change_hooks(plan, true, &plan->base, err) : 0;
    else if (json_object_get(plan->record, "after") || plan->removes)
        r = remove_all(plan, &plan->base, err);
    if (r < 0)
        return r;
    if (is_back || plan->removes)
        al_settings_replace(&plan->text, 0, plan->text.len, plan->base.buf);
    plan->removes_file =
        plan->removes && is_set(plan->record, "made_file") && is_hollow(&plan->text);
    return plan->removes ? 0 : add_all(plan, err);
}

/* Read the file, and make the change in memory.  0; or AL_ERR_EXECUTION, naming the file. */
static int make_plan(struct plan *plan, const char *dir, const char *name, const char *state_dir,
                     struct al_error *err)
{
    al_auto(al_freep) char *path = al_fs_join(dir, name), *hash = NULL, *record = NULL;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    int r = al_settings_file_read(path, AL_SETTINGS_MAX_MIB, &plan->file, err);

    if (r < 0)
        return r;
    /* Named by the hash of the file's path, which may be too long for a name. */
    hash = al_sha256(plan->file.real_path, strlen(plan->file.real_path));
    record = al_asprintf("%s/installs/%s.json", state_dir, hash);
    r = read_record(plan, record, err);
    if (r < 0)
        return r;
    al_str_add(&plan->base, plan->file.text.buf, plan->file.text.len);
    al_str_add(&plan->text, plan->file.text.buf, plan->file.text.len);
    r = change(plan, &why);
    if (r < 0)
        return al_error_set(err, AL_ERR_EXECUTION, "'%s' was left alone: %s", path, why.message);
    plan->changes = plan->removes_file || plan->file.text.len != plan->text.len ||
                    memcmp(plan->file.text.buf, plan->text.buf, plan->text.len) != 0;
    return 0;
}

/* Append the change as a diff; nothing if there is none.  Safe text. */
static void show_plan(const struct plan *plan, struct al_str *out)
{
    const struct al_settings_file *file = &plan->file;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (!plan->changes)
        return;
    if (strcmp(file->path, file->real_path) != 0)
        al_str_addf(&text, "%s leads to %s\n", file->path, file->real_path);
    add_diff(file->real_path, file->exists ? &file->text : NULL,
             plan->removes_file ? NULL : &plan->text, &text);
    al_text_sanitize(text.buf, text.len, out);
}

/* Write the file.  0 or AL_ERR_EXECUTION; then it is as it was. */
static int write_plan(const struct plan *plan, struct al_error *err)
{
    unsigned dirs = (unsigned)json_integer_value(json_object_get(plan->record, "dirs"));
    int r =
        al_settings_file_write(&plan->file, plan->removes_file ? NULL : &plan->text, &dirs, err);

    if (r == 0 && plan->removes)
        (void)unlink(plan->record_file.real_path);
    return r == 0 && !plan->removes ? write_record(plan, dirs, err) : r;
}

/* The rules of Claude Code that keep its shell from running git, and from another git than the one
 * that is airlock's there. */
#define DENIED_SHELL "Bash(git *)"
#define DENIED_OTHER "Bash(/usr/bin/git *)"

/* The time that the question whether git ignores the file may take. */
#define LOOK_MS 5000u

static const char rules_offer[] =
    "Answer r to write --with-rules, too: Claude Code may then not run git in its own shell, and\n"
    "calls airlock's reading tools without asking.\n";

/* A run of the command. */
struct install {
    const struct al_options *options;
    struct al_setup setup;
    const struct al_client *client;
    bool user, yes, removes, prints, with_rules, shell;
    char *hook, *shim; /* the command of hooks; the directory of airlock's git, or NULL */
    struct al_strv command, denied, allowed;
};

static void add_option(struct al_strv *command, const char *name, const char *value)
{
    al_strv_add(command, name);
    if (*value)
        al_strv_add(command, value);
}

/* The options among these that are given, in their order. */
static void add_given(const struct install *install, const char *names, struct al_strv *command)
{
    const struct al_strv *given = &install->options->given;

    for (size_t i = 0; i < given->count; i += 2)
        if (al_shell_words_list(names, given->items[i]))
            add_option(command, given->items[i], given->items[i + 1]);
}

/* The entry of a project is right in each of its worktrees and clones: its directory is named by
 * the client's variable, or is where the client starts the server.  Only a client without files for
 * a project needs its path. */
static void add_roots(struct install *install)
{
    const struct al_roots *roots = &install->setup.roots;
    const char *variable = install->client->root;
    const bool given = al_option(install->options, "--root");

    for (size_t i = 0; !install->user && i < roots->count; i++) {
        if (roots->items[i].is_git_dir)
            continue;
        if (!install->client->project_file || (given && i))
            add_option(&install->command, "--root", roots->items[i].path);
        else if (given || (variable && !install->setup.config.roots.count))
            add_option(&install->command, "--root", variable ? variable : ".");
    }
}

/* The command that the client starts: this program, with the options of this command line. */
static void make_command(struct install *install)
{
    al_strv_take(&install->command, realpath("/proc/self/exe", NULL));
    al_strv_add(&install->command, "serve");
    add_roots(install);
    add_given(install,
              " --toolset --approval --grant --agent --tool --command-timeout --config --worker "
              "--audit --no-git ",
              &install->command);
}

/* The entry for a command of a program and its arguments. */
static json_t *make_entry(const struct al_client *client, const struct al_strv *command)
{
    json_t *entry = client->first ? json_loads(client->first, 0, NULL) : al_json_object();
    json_t *more = client->more ? json_loads(client->more, 0, NULL) : NULL;

    if (client->one_list) {
        al_json_set(entry, "command", al_strings_of(command, 0));
    } else {
        al_json_set(entry, "command", al_json_string(command->items[0]));
        al_json_set(entry, "args", al_strings_of(command, 1));
    }
    if (more)
        (void)json_object_update(entry, more);
    json_decref(more);
    return entry;
}

/* The command of hooks, for the client's shell. */
static void make_hook(struct install *install)
{
    al_auto(al_strv_clear) struct al_strv words = AL_STRV_INIT, roots = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_strv_adds(&words, install->command.items[0], "hook", install->client->name, NULL);
    add_given(install, " --config --audit ", &words);
    al_option_all(install->options, "--root", &roots);
    for (size_t i = 0; i < roots.count; i++) {
        al_auto(al_freep) char *root = al_environment_absolute(roots.items[i]);

        add_option(&words, "--root", root);
    }
    for (size_t i = 0; i < words.count; i++)
        al_text_add_word(words.items[i], &line); /* with a space before it */
    install->hook = al_strdup(line.buf + 1);
    install->shim = al_client_shim(install->shell && !install->removes);
}

static void make_rules(struct install *install)
{
    const struct al_registry *tools = &install->setup.registry;

    if (install->shell || install->removes)
        al_strv_add(&install->denied, DENIED_OTHER);
    if (!install->shell)
        al_strv_add(&install->denied, DENIED_SHELL);
    for (size_t i = 0; i < tools->count; i++)
        if (al_effects_read_only(al_tool_effects(tools->items[i].tool)))
            al_strv_addf(&install->allowed, "mcp__" AL_CLIENT_ENTRY "__%s",
                         tools->items[i].tool->name);
}

/* The files: the client's settings, then its rules and hooks, which may be in the same file. */
static int make_plans(struct install *install, struct plan plans[2], struct al_error *err)
{
    const struct al_client *client = install->client;
    const bool user = install->user || !client->project_file;
    const char *dir = user ? install->setup.home : install->setup.roots.items[0].path;
    const char *state_dir = install->setup.state_dir;
    const char *file = user ? client->user_file : client->project_file;
    const char *second = client->hooks ? client->hooks->file : NULL;
    const bool hooks = client->hooks && (install->shell || install->removes);
    const struct al_strv none = AL_STRV_INIT;
    const bool is_same_file = second && !strcmp(file, second);
    al_auto(al_json_decrefp) json_t *entry = make_entry(client, &install->command);
    int r;

    for (size_t i = 0; i < 2; i++) {
        plans[i].client = client;
        plans[i].removes = install->removes;
        plans[i].hook = hooks && (i || is_same_file) ? install->hook : NULL;
    }
    plans[0].entry = entry;
    plans[0].path_list = hooks && client->hooks->env_table ? install->shim : NULL;
    r = make_plan(&plans[0], dir, file, state_dir, err);
    if (r < 0 || !second || is_same_file || (!install->with_rules && !hooks))
        return r;
    if (client->hooks->has_rules) {
        plans[1].denied = &install->denied;
        plans[1].allowed = install->with_rules || install->removes ? &install->allowed : &none;
    }
    return make_plan(&plans[1], dir, second, state_dir, err);
}

/* Say whether git takes the files along.  Nothing where that is not known. */
static void tell_committed(struct install *install, const struct plan plans[2], struct al_str *out)
{
    const struct al_client *client = install->client;
    const char *files[] = { client->project_file, client->hooks ? client->hooks->file : NULL };
    struct al_run_limits limits = { .left_ms = LOOK_MS, .exit_code = -1 };
    struct al_repo *repo = NULL;

    if (install->user || install->removes || !files[0])
        return;
    install->setup.many_agents = true; /* nothing of an agent's own is needed */
    if (install->setup.session.git || al_setup_session(&install->setup, NULL) == 0)
        (void)al_repo_open(install->setup.session.git, install->setup.roots.items[0].path, ".",
                           &limits, &repo, NULL);
    for (size_t i = 0; repo && i < AL_COUNT(files); i++) {
        al_auto(al_strv_clear) struct al_strv file = AL_STRV_INIT;
        al_auto(al_freep) char *rule = NULL;

        if (!plans[i].changes)
            continue;
        al_strv_add(&file, files[i]);
        if (al_git_find_ignored(repo, &file, &rule, NULL) == 0)
            al_str_addf(out,
                        rule ? "%s; it will not be committed.\n"
                             : "%s will be committed with your next commit of everything.\n",
                        rule ? rule : files[i]);
    }
    al_repo_free(repo);
}

static bool has_rules(const struct al_client *client)
{
    return client->hooks && client->hooks->has_rules;
}

/* Whether the rules can be written beside the entry, and were not asked for. */
static bool offers_rules(const struct install *install)
{
    return has_rules(install->client) && !install->with_rules && !install->shell &&
           !install->removes;
}

/* 'y': write; 'r': write the rules too; 'n'. */
static char ask(const struct install *install)
{
    char answer;

    if (install->yes)
        return 'y';
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
        al_log_note("there is no terminal to ask on, and nothing was written; --yes does not ask");
        return 'n';
    }
    if (offers_rules(install))
        (void)al_write_all(STDOUT_FILENO, rules_offer, strlen(rules_offer));
    answer = al_tty_ask(install->removes ? "Remove? [y/N] " : "Write? [y/N] ", NULL);
    if (answer == 'y' || (answer == 'r' && offers_rules(install)))
        return answer;
    al_log_note("nothing was written");
    return 'n';
}

static void tell_done(const struct install *install)
{
    const char *title = install->client->title;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (install->removes)
        al_str_addf(&text, "airlock was removed from %s.\n", title);
    else
        al_str_addf(&text,
                    "airlock is installed in %s, which reads this when it starts.\n"
                    "Check: airlock doctor. Undo: airlock install %s%s --remove\n",
                    title, install->client->name, install->user ? " --user" : "");
    if (install->shell && !install->removes && !install->shim)
        al_str_adds(&text, "git in its shell is not airlock's: this package has no "
                           "libexec/airlock/bin/git.\n");
    if (install->shell && !install->removes && install->shim && install->client->hooks->env_table)
        al_str_adds(&text,
                    "Its shell gets the PATH of now; install it again when yours changes.\n");
    if (install->shell && !install->removes && install->client->hooks->needs_trust)
        al_str_addf(&text, "%s runs these hooks when its user has said that it may.\n", title);
    if (install->yes && offers_rules(install))
        al_str_addf(&text, "%s can still run git in its own shell: --with-rules denies it that.\n",
                    title);
    al_cli_print(STDOUT_FILENO, &text);
}

static int carry_out(struct install *install, struct plan plans[2], struct al_error *err)
{
    al_auto(al_str_clear) struct al_str shown = AL_STR_INIT;
    const bool changes = plans[0].changes || plans[1].changes;
    int r = 0;
    char answer;

    show_plan(&plans[0], &shown);
    show_plan(&plans[1], &shown);
    if (!shown.len)
        al_str_addf(&shown, "airlock is %s %s; nothing to do.\n",
                    install->removes ? "not installed in" : "installed already in",
                    install->client->title);
    tell_committed(install, plans, &shown);
    al_cli_print(STDOUT_FILENO, &shown);
    if (install->prints)
        return AL_EXIT_OK;
    answer = changes ? ask(install) : 'y';
    if (answer == 'r') {
        install->with_rules = true;
        plan_clear(&plans[0]);
        plan_clear(&plans[1]);
        r = make_plans(install, plans, err);
        return r < 0 ? r : carry_out(install, plans, err);
    }
    if (answer == 'n')
        return AL_EXIT_FAILED;
    if (install->shim)
        r = al_client_make_shim(install->shim, err);
    /* Backwards the last file goes after which the directory is empty that the first one was made
     * with. */
    for (size_t i = 0; r == 0 && i < 2; i++) {
        struct plan *plan = &plans[install->removes ? 1 - i : i];

        r = plan->changes ? write_plan(plan, err) : 0;
    }
    if (r < 0)
        return r;
    if (changes)
        tell_done(install);
    return AL_EXIT_OK;
}

static int run(struct install *install, struct al_error *err)
{
    struct plan plans[2] = { PLAN_INIT, PLAN_INIT };
    int r = al_setup_config(&install->setup, install->options, err);

    if (r == 0)
        r = al_setup_tools(&install->setup, err);
    if (r == 0 && !install->user)
        r = al_setup_git(&install->setup, err);
    if (r == 0 && !install->setup.home)
        r = al_error_set(err, AL_ERR_EXECUTION, "there is no home directory; set HOME");
    if (r < 0)
        return r;
    make_command(install);
    make_hook(install);
    make_rules(install);
    r = make_plans(install, plans, err);
    if (r == 0)
        r = carry_out(install, plans, err);
    plan_clear(&plans[0]);
    plan_clear(&plans[1]);
    return r;
}

/* --- The command line --- */

static int find_client(struct install *install, int argc, char **argv, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str names = AL_STR_INIT;
    const char *nearest = NULL;
    size_t count;
    const struct al_client *clients = al_clients(&count);

    for (size_t i = 0; i < count; i++)
        al_str_addf(&names, "%s%s", i ? " " : "", clients[i].name);
    if (argc != 1)
        return al_error_set(err, AL_ERR_BAD_ARGS, "install needs one client: %s", names.buf);
    install->client = al_client_find(argv[0], &nearest);
    if (!install->client)
        return nearest ? al_error_set(err, AL_ERR_BAD_ARGS, "unknown client '%s'; did you mean %s?",
                                      argv[0], nearest)
                       : al_error_set(err, AL_ERR_BAD_ARGS, "unknown client '%s'; there are: %s",
                                      argv[0], names.buf);
    if (install->user && al_option(install->options, "--root"))
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "--user is for every repository, so it takes no --root");
    if (install->with_rules && !has_rules(install->client))
        return al_error_set(err, AL_ERR_BAD_ARGS, "--with-rules is not supported for %s",
                            install->client->title);
    if (install->shell && !install->client->hooks)
        return al_error_set(err, AL_ERR_BAD_ARGS, "--shell is not supported for %s",
                            install->client->title);
    return 0;
}

int al_cmd_install(struct al_options *options, int argc, char **argv)
{
    struct install install = {
        .options = options,
        .user = al_option(options, "--user"),
        .yes = al_option(options, "--yes"),
        .removes = al_option(options, "--remove"),
        .prints = al_option(options, "--dry-run"),
        .with_rules = al_option(options, "--with-rules"),
        .shell = al_option(options, "--shell"),
    };
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    int r;

    r = find_client(&install, argc, argv, &err);
    if (r == 0)
        r = run(&install, &err);
    al_setup_clear(&install.setup);
    al_strv_clear(&install.command);
    al_strv_clear(&install.denied);
    al_strv_clear(&install.allowed);
    free(install.hook);
    free(install.shim);
    return r < 0 ? al_cli_fail(&err) : r;
}
