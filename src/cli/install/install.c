// SPDX-License-Identifier: Apache-2.0
/* airlock install: write airlock's entry into the settings of an MCP client. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/environment.h"
#include "cli/help.h"
#include "cli/install/clients.h"
#include "cli/install/settings_text.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/setup.h"
#include "gitops/oid.h"
#include "guard/text.h"
#include "tool/registry.h"
#include "tool/tool.h"
#include "util/error.h"
#include "util/fs.h"
#include "util/json.h"
#include "util/log.h"
#include "util/str.h"

struct al_install_record {
    bool exists;
    bool made_file;               /**< the file was made by the installation */
    unsigned dirs;                /**< directories that were made for it */
    struct al_strv before, after; /**< as in struct al_settings_text */
    char *path;                   /**< of the record itself */
};

#define AL_INSTALL_RECORD_INIT                                                                     \
    ((struct al_install_record){ .before = AL_STRV_INIT, .after = AL_STRV_INIT })

/* What is wanted of a file. */
struct al_install_wish {
    const struct al_client *client;
    const char *path;                       /**< the file, absolute */
    const char *state_dir;                  /**< where records are */
    const json_t *entry;                    /**< airlock's entry; NULL: the file has rules */
    const struct al_strv *denied, *allowed; /**< rules of the client; NULL with an entry */
    bool removes;
};

/* The change of a file. */
struct al_install_plan {
    struct al_settings_file file;
    struct al_settings_text settings; /**< the text that it gets, and the changes to get there */
    struct al_install_record record;
    bool removes, removes_file, changes;
};

#define AL_INSTALL_PLAN_INIT                                                                       \
    ((struct al_install_plan){ .file = AL_SETTINGS_FILE_INIT,                                      \
                               .settings = AL_SETTINGS_TEXT_INIT,                                  \
                               .record = AL_INSTALL_RECORD_INIT })

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
    ret->exists = al_client_strings(json_object_get(value, "before"), &ret->before) &&
                  al_client_strings(json_object_get(value, "after"), &ret->after) &&
                  ret->before.count == ret->after.count;
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
    al_json_set(value, "before", al_client_list(&record->before, 0));
    al_json_set(value, "after", al_client_list(&record->after, 0));
    al_json_dump(value, false, &text);
    al_str_addc(&text, '\n');
    r = al_fs_mkdirs(dir, 0700);
    if (r == 0)
        dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (r == 0)
        r = dir_fd < 0 ? -errno : al_fs_write_durable(dir_fd, slash + 1, text.buf, text.len, 0600);
    return r < 0 ? al_error_errno(err, -r, "cannot write '%s'", record->path) : 0;
}

/* Where Claude Code has its rules about tools. */
static const char *const denied_path[] = { "permissions", "deny", NULL };
static const char *const allowed_path[] = { "permissions", "allow", NULL };

static void install_plan_clear(struct al_install_plan *plan)
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

/* Read the file, and make the change in memory.  0; or AL_ERR_EXECUTION, naming the file. */
static int install_plan_make(const struct al_install_wish *wish, struct al_install_plan *ret,
                             struct al_error *err)
{
    al_auto(install_plan_clear) struct al_install_plan plan = AL_INSTALL_PLAN_INIT;
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

/* Append the change as a diff; nothing if there is none.  Safe text. */
static void install_plan_show(const struct al_install_plan *plan, struct al_str *out)
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

/* Write the file.  0 or AL_ERR_EXECUTION; then it is as it was. */
static int install_plan_write(struct al_install_plan *plan, struct al_error *err)
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
        (void)unlink(plan->record.path);
    return plan->removes ? 0 : write_record(plan, dirs, err);
}

/* The rule of Claude Code that keeps its shell from running git. */
#define DENIED_SHELL "Bash(git *)"

/* A run of the command. */
struct install {
    struct al_options options;
    struct al_setup setup;
    const struct al_client *client;
    bool user, yes, removes, prints, with_rules;
    struct al_strv command, denied, allowed;
};

static void add_option(struct al_strv *command, const char *name, const char *value)
{
    if (!value)
        return;
    al_strv_add(command, name);
    al_strv_add(command, value);
}

/* The client may start in another directory. */
static void add_file_option(struct al_strv *command, const char *name, const char *file)
{
    al_auto(al_freep) char *path = file ? al_environment_absolute(file) : NULL;

    add_option(command, name, path);
}

/* The command that the client starts: this program, with the options of this command line. */
static int make_command(struct install *install, struct al_error *err)
{
    const struct al_options *options = &install->options;
    char program[4096];
    const ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);

    if (len <= 0)
        return al_error_set(err, AL_ERR_EXECUTION, "the path of airlock itself cannot be found");
    program[len] = '\0';
    al_strv_add(&install->command, program);
    al_strv_add(&install->command, "serve");
    for (size_t i = 0; !install->user && i < install->setup.roots.count; i++)
        if (!install->setup.roots.items[i].is_git_dir)
            add_option(&install->command, "--root", install->setup.roots.items[i].path);
    for (size_t i = 0; i < options->toolsets.count; i++)
        add_option(&install->command, "--toolset", options->toolsets.items[i]);
    add_option(&install->command, "--approval", options->approval);
    add_option(&install->command, "--grant", options->grant);
    add_option(&install->command, "--agent", options->agent);
    add_option(&install->command, "--tool", options->tool);
    add_option(&install->command, "--command-timeout", options->command_timeout);
    add_file_option(&install->command, "--config", options->config);
    add_file_option(&install->command, "--worker", options->worker);
    add_file_option(&install->command, "--audit", options->audit);
    if (options->no_git)
        al_strv_add(&install->command, "--no-git");
    return 0;
}

static void make_rules(struct install *install)
{
    const struct al_registry *tools = &install->setup.registry;

    al_strv_add(&install->denied, DENIED_SHELL);
    for (size_t i = 0; i < tools->count; i++)
        if (al_effects_read_only(al_tool_effects(tools->items[i].tool)))
            al_strv_addf(&install->allowed, "mcp__" AL_CLIENT_ENTRY "__%s",
                         tools->items[i].tool->name);
}

/* The files: the client's settings, then its rules. */
static int make_plans(struct install *install, struct al_install_plan plans[2],
                      struct al_error *err)
{
    const struct al_client *client = install->client;
    const bool user = install->user || !client->project_file;
    const char *dir = user ? install->setup.home : install->setup.roots.items[0].path;
    const char *rules_file = user ? client->user_rules : client->project_rules;
    al_auto(al_json_decrefp) json_t *entry = client->make(&install->command);
    al_auto(al_freep) char *path = al_fs_join(dir, user ? client->user_file : client->project_file);
    al_auto(al_freep) char *rules = rules_file ? al_fs_join(dir, rules_file) : NULL;
    struct al_install_wish wish = { .client = client,
                                    .path = path,
                                    .state_dir = install->setup.state_dir,
                                    .entry = entry,
                                    .removes = install->removes };
    int r = install_plan_make(&wish, &plans[0], err);

    if (r < 0 || !rules || (!install->with_rules && !install->removes))
        return r;
    wish.path = rules;
    wish.entry = NULL;
    wish.denied = &install->denied;
    wish.allowed = &install->allowed;
    return install_plan_make(&wish, &plans[1], err);
}

static bool is_confirmed(const struct install *install)
{
    const char *question = install->removes ? "Remove? [y/N] " : "Write? [y/N] ";
    char answer[16] = "";

    if (install->yes)
        return true;
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
        al_log_note("there is no terminal to ask on, and nothing was written; --yes does not ask");
        return false;
    }
    (void)al_write_all(STDOUT_FILENO, question, strlen(question));
    if (fgets(answer, (int)sizeof(answer), stdin) &&
        (!strcasecmp(answer, "y\n") || !strcasecmp(answer, "yes\n")))
        return true;
    al_log_note("nothing was written");
    return false;
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
    al_cli_print(STDOUT_FILENO, &text);
}

static int carry_out(struct install *install, struct al_install_plan plans[2], struct al_error *err)
{
    al_auto(al_str_clear) struct al_str shown = AL_STR_INIT;
    int r = 0;

    install_plan_show(&plans[0], &shown);
    install_plan_show(&plans[1], &shown);
    if (!shown.len)
        al_str_addf(&shown, "airlock is %s %s; nothing to do.\n",
                    install->removes ? "not installed in" : "installed already in",
                    install->client->title);
    al_cli_print(STDOUT_FILENO, &shown);
    if (install->prints || (!plans[0].changes && !plans[1].changes))
        return AL_EXIT_OK;
    if (!is_confirmed(install))
        return AL_EXIT_FAILED;
    for (size_t i = 0; r == 0 && i < 2; i++)
        if (plans[i].changes)
            r = install_plan_write(&plans[i], err);
    if (r < 0)
        return r;
    tell_done(install);
    return AL_EXIT_OK;
}

static int run(struct install *install, struct al_error *err)
{
    struct al_install_plan plans[2] = { AL_INSTALL_PLAN_INIT, AL_INSTALL_PLAN_INIT };
    int r = al_setup_config(&install->setup, &install->options, err);

    if (r == 0)
        r = al_setup_tools(&install->setup, err);
    if (r == 0 && !install->user)
        r = al_setup_git(&install->setup, err);
    if (r == 0 && !install->setup.home)
        r = al_error_set(err, AL_ERR_EXECUTION, "there is no home directory; set HOME");
    if (r == 0)
        r = make_command(install, err);
    if (r < 0)
        return r;
    make_rules(install);
    r = make_plans(install, plans, err);
    if (r == 0)
        r = carry_out(install, plans, err);
    install_plan_clear(&plans[0]);
    install_plan_clear(&plans[1]);
    return r;
}

/* --- The command line --- */

/* Take the options that only this command has out of the words. */
static void take_own(struct install *install, int *argc, char **argv)
{
    const struct {
        const char *name;
        bool *flag;
    } own[] = { { "--user", &install->user },    { "--yes", &install->yes },
                { "-y", &install->yes },         { "--remove", &install->removes },
                { "--print", &install->prints }, { "--with-rules", &install->with_rules } };
    int count = 0;

    for (int i = 0; i < *argc; i++) {
        bool taken = false;

        for (size_t j = 0; j < AL_COUNT(own); j++)
            if (!strcmp(argv[i], own[j].name))
                *own[j].flag = taken = true;
        if (!taken)
            argv[count++] = argv[i];
    }
    *argc = count;
}

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
    if (!install->client) {
        al_auto(al_freep) char *safe = al_text_sanitize_line(argv[0]);

        return nearest ? al_error_set(err, AL_ERR_BAD_ARGS, "unknown client '%s'; did you mean %s?",
                                      safe, nearest)
                       : al_error_set(err, AL_ERR_BAD_ARGS, "unknown client '%s'; there are: %s",
                                      safe, names.buf);
    }
    if (install->user && install->options.roots.count)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "--user is for every repository, so it takes no --root");
    if (install->with_rules && !install->client->user_rules)
        return al_error_set(err, AL_ERR_BAD_ARGS, "--with-rules is not supported for %s",
                            install->client->title);
    return 0;
}

int al_cmd_install(int argc, char **argv)
{
    struct install install = { .client = NULL };
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    int r;

    take_own(&install, &argc, argv);
    r = al_options_read_all(&install.options, false, &argc, argv, &err);
    if (r == 0 && install.options.help) {
        al_options_clear(&install.options);
        return al_help_command("install");
    }
    if (r == 0)
        r = find_client(&install, argc, argv, &err);
    if (r == 0)
        r = run(&install, &err);
    al_setup_clear(&install.setup);
    al_options_clear(&install.options);
    al_strv_clear(&install.command);
    al_strv_clear(&install.denied);
    al_strv_clear(&install.allowed);
    return r < 0 ? al_cli_fail(&err) : r;
}
