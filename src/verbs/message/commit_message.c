// SPDX-License-Identifier: Apache-2.0
#include "verbs/message/commit_message.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"
#include "git/diff/diff.h"
#include "git/plumbing/diff_raw.h"
#include "guard/text.h"
#include "verbs/sequencer/operation_state.h"

/* --- File category --- */

/* The category of a file, derived from its path by common naming conventions. */

/* Categories of files. */
enum file_category {
    CATEGORY_CODE,
    CATEGORY_TEST,
    CATEGORY_DOCS,
    CATEGORY_BUILD,
    CATEGORY_CI,
    CATEGORY_CHORE
};

/* Patterns of files: one with a '/' is matched against the whole path ('*' also matches slashes),
 * any other against the last component. */
static const char *const build_files[] = { "Makefile",
                                           "makefile",
                                           "GNUmakefile",
                                           "*.mk",
                                           "CMakeLists.txt",
                                           "*.cmake",
                                           "meson.build",
                                           "meson_options.txt",
                                           "meson.options",
                                           "configure.ac",
                                           "BUILD.bazel",
                                           "WORKSPACE",
                                           "package.json",
                                           "package-lock.json",
                                           "yarn.lock",
                                           "pnpm-lock.yaml",
                                           "tsconfig*.json",
                                           "Cargo.toml",
                                           "Cargo.lock",
                                           "go.mod",
                                           "go.sum",
                                           "pyproject.toml",
                                           "setup.py",
                                           "setup.cfg",
                                           "requirements*.txt",
                                           "poetry.lock",
                                           "Gemfile",
                                           "Gemfile.lock",
                                           "composer.json",
                                           "composer.lock",
                                           "pom.xml",
                                           "*.gradle",
                                           "*.gradle.kts",
                                           "Dockerfile*",
                                           "docker-compose*.yml",
                                           NULL };
static const char *const test_files[] = {
    "test/*",   "tests/*",  "*/test/*", "*/tests/*", "spec/*",     "*/__tests__/*", "*/testdata/*",
    "*_test.*", "test_*.*", "*.test.*", "*.spec.*",  "*Test.java", "conftest.py",   NULL
};
static const char *const docs_files[] = {
    "docs/*",  "doc/*",      "*/docs/*",      "man/*",    "*.md",     "*.rst",   "*.adoc",
    "README*", "CHANGELOG*", "CONTRIBUTING*", "LICENSE*", "COPYING*", "AUTHORS", NULL
};
/* .gitignore, .editorconfig and so on */
static const char *const chore_files[] = { ".*", ".*/*", NULL };

/* The first row with a pattern that matches decides. */
static const struct {
    const char *const *patterns;
    enum file_category category;
} rows[] = {
    { build_files, CATEGORY_BUILD },
    { test_files, CATEGORY_TEST },
    { docs_files, CATEGORY_DOCS },
    { chore_files, CATEGORY_CHORE },
};

/* The category of a file. */
static enum file_category file_category_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    if (al_path_runs_in_ci(path))
        return CATEGORY_CI;
    for (size_t i = 0; i < AL_COUNT(rows); i++)
        for (const char *const *pattern = rows[i].patterns; *pattern; pattern++)
            if (fnmatch(*pattern, strchr(*pattern, '/') ? path : name, 0) == 0)
                return rows[i].category;
    return CATEGORY_CODE;
}

/* The commit type that Conventional Commits uses for a change of this category alone: "feat",
 * "test", "docs", "build", "ci" or "chore". The type of a change of code depends on the change. */
static const char *file_category_type(enum file_category category)
{
    static const char *const types[] = {
        [CATEGORY_CODE] = "feat",   [CATEGORY_TEST] = "test", [CATEGORY_DOCS] = "docs",
        [CATEGORY_BUILD] = "build", [CATEGORY_CI] = "ci",     [CATEGORY_CHORE] = "chore",
    };

    return types[category];
}

/* Directory names that describe the layout of a project instead of a part of it. */
static bool is_layout(const char *name)
{
    static const char *const names[] = {
        "src",       "source",   "lib",  "libs",    "pkg",       "packages", "internal",
        "include",   "cmd",      "app",  "apps",    "main",      "crates",   "modules",
        "test",      "tests",    "spec", "docs",    "doc",       "unit",     "e2e",
        "__tests__", "testdata", "java", ".github", "workflows",
    };

    for (size_t i = 0; i < AL_COUNT(names); i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

/* The scope of a change in a directory: its first component that is not mere layout ("src/auth"
 * gives "auth"); "" when there is none. Caller frees. */
static char *file_category_scope(const char *dir)
{
    al_auto(al_freep) char *copy = al_strdup(dir);
    char *save = NULL;

    for (char *name = strtok_r(copy, "/", &save); name; name = strtok_r(NULL, "/", &save))
        if (!is_layout(name))
            return al_strdup(name);
    return al_strdup("");
}

/* --- Message cleanup --- */

#define PROPOSED_BYTES (16u * 1024u)

/* Number of UTF-8 characters. */
static size_t message_characters(const char *text)
{
    size_t count = 0;

    for (; *text; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

/* Clean up the lines of a message: trim line ends and the start of the subject, and put an empty
 * line after the subject. `take` converts each line; when it returns NULL, there is no message. */
static char *tidy(const char *text, char *(*take)(const char *line, bool is_subject))
{
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;
    bool subject_is_last = false;

    for (const char *at = text; *at;) {
        size_t len = strcspn(at, "\n");
        al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
        al_auto(al_freep) char *taken = NULL;

        al_str_add(&line, at, len);
        al_str_trim_end(&line);
        at += len + (at[len] == '\n');
        if (!message.len && !line.len)
            continue;
        taken = take(message.len ? line.buf : line.buf + strspn(line.buf, " \t\r"), !message.len);
        if (!taken)
            return NULL;
        if (subject_is_last && *taken)
            al_str_addc(&message, '\n');
        subject_is_last = !message.len;
        al_str_addf(&message, "%s\n", taken);
    }
    al_str_trim_end(&message);
    if (!message.len)
        return NULL;
    al_str_addc(&message, '\n');
    return al_str_detach(&message);
}

static char *take_prepared(const char *line, bool is_subject)
{
    (void)is_subject;
    return al_text_join_lines(line);
}

char *al_message_clean_prepared(const char *text)
{
    return tidy(text, take_prepared);
}

/* Accept a line only if every character is visible, and the subject is not too long. */
static char *take_proposed(const char *line, bool is_subject)
{
    al_auto(al_freep) char *shown = al_text_join_shown_lines(line);

    if (strcmp(shown, line) != 0 || (is_subject && message_characters(line) > AL_SUBJECT_MAX))
        return NULL;
    return al_take(&shown);
}

/* Remove a code fence, "```text" to "```", which models like to add. */
static char *without_fence(const char *text)
{
    const char *first = text + strspn(text, " \t\r\n");
    const char *begin = strchr(first, '\n');
    const char *end = begin ? strstr(begin, "\n```") : NULL;

    if (!al_starts_with(first, "```") || !end || end[4 + strspn(end + 4, " \t\r\n")])
        return al_strdup(text);
    return al_strndup(begin + 1, end > begin ? (size_t)(end - begin - 1) : 0);
}

char *al_commit_message_accept(const char *proposed)
{
    al_auto(al_freep) char *text = NULL;

    if (strlen(proposed) > PROPOSED_BYTES || !al_utf8_valid(proposed, strlen(proposed)))
        return NULL;
    text = without_fence(proposed);
    return tidy(text, take_proposed);
}

/* --- Commit message --- */

#define LISTED_MAX  20
#define NAMED_MAX   3
#define SCOPE_MAX   20
#define TYPE_MASK   0170000u
#define SHORT_OID   7
#define EXECUTABLE  0111u
#define GROWS_LINES 10u /* lines beyond twice the opposite count: not a mere fix */

/* The files that the subject names: those of the most important category. */
struct subject {
    const struct al_change **items;
    size_t count, total;
    enum file_category category;
    bool mixed; /* files of several categories, none of them code */
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static bool is_submodule(const struct al_change *change)
{
    return ((change->new_mode ? change->new_mode : change->old_mode) & TYPE_MASK) ==
           AL_TYPE_GITLINK;
}

static bool is_mode_only(const struct al_change *change)
{
    return change->status == 'M' && change->same_content;
}

static bool is_moved_only(const struct al_change *change)
{
    return change->status == 'R' && change->same_content;
}

/* Choose the files for the subject. Tests and documents beside code are left out. */
static struct subject subject_of(const struct al_diff_raw *changes)
{
    struct subject subject = { .items = al_calloc(changes->count, sizeof(*subject.items)),
                               .category = file_category_of(changes->items[0].path),
                               .total = changes->total };

    for (size_t i = 0; i < changes->count; i++) {
        enum file_category category = file_category_of(changes->items[i].path);

        if (category == CATEGORY_CODE)
            subject.items[subject.count++] = &changes->items[i];
        subject.mixed |= category != subject.category;
    }
    if (subject.count) {
        subject.category = CATEGORY_CODE;
        subject.mixed = false;
        subject.total -= changes->count - subject.count;
        return subject;
    }
    for (size_t i = 0; i < changes->count; i++)
        subject.items[subject.count++] = &changes->items[i];
    return subject;
}

static bool all(const struct subject *subject, bool (*is)(const struct al_change *))
{
    for (size_t i = 0; i < subject->count; i++)
        if (!is(subject->items[i]))
            return false;
    return true;
}

static bool all_have(const struct subject *subject, char status)
{
    for (size_t i = 0; i < subject->count; i++)
        if (subject->items[i]->status != status)
            return false;
    return true;
}

/* The type of a change of code, estimated from the number of lines. */
static const char *type_of_code(const struct subject *subject)
{
    uint64_t added = 0, deleted = 0;

    for (size_t i = 0; i < subject->count; i++) {
        if (subject->items[i]->status == 'A')
            return "feat";
        added += subject->items[i]->added;
        deleted += subject->items[i]->deleted;
    }
    if (all_have(subject, 'D') || all(subject, is_moved_only))
        return "refactor";
    if (added > 2 * deleted + GROWS_LINES)
        return "feat";
    return deleted > 2 * added + GROWS_LINES ? "refactor" : "fix";
}

static const char *type_of(const struct subject *subject)
{
    if (subject->mixed || all(subject, is_submodule) || all(subject, is_mode_only))
        return "chore";
    return subject->category == CATEGORY_CODE ? type_of_code(subject)
                                              : file_category_type(subject->category);
}

/* The longest directory that contains all of the files. Caller frees. */
static char *common_dir(const struct subject *subject)
{
    const char *first = subject->items[0]->path;
    size_t len = (size_t)(base_name(first) - first);

    for (size_t i = 1; i < subject->count; i++) {
        while (len && strncmp(first, subject->items[i]->path, len) != 0)
            for (len--; len && first[len - 1] != '/'; len--)
                continue;
    }
    return al_strndup(first, len);
}

/* The scope of the subject; "" when there is none, or its name does not fit. */
static char *scope_of(const struct subject *subject)
{
    al_auto(al_freep) char *dir = common_dir(subject);
    al_auto(al_freep) char *area =
        subject->total > subject->count ? al_strdup("") : file_category_scope(dir);

    for (char *at = area; *at; at++)
        if (*at >= 'A' && *at <= 'Z')
            *at = (char)(*at - 'A' + 'a');
    if (strlen(area) > SCOPE_MAX ||
        strspn(area, "abcdefghijklmnopqrstuvwxyz0123456789_-") != strlen(area))
        return al_strdup("");
    return al_take(&area);
}

static const char *verb_of(const struct subject *subject)
{
    if (all(subject, is_mode_only))
        return "change the mode of";
    if (all_have(subject, 'A'))
        return "add";
    if (all_have(subject, 'D'))
        return "remove";
    if (all_have(subject, 'R'))
        return "rename";
    return "update";
}

/* Append "a.c", "a.c and b.c", or "a.c, b.c and c.c". */
static void add_names(struct al_str *out, const struct subject *subject)
{
    for (size_t i = 0; i < subject->count; i++) {
        const struct al_change *change = subject->items[i];
        al_auto(al_freep) char *name = al_text_sanitize_line(base_name(change->path));

        if (i)
            al_str_adds(out, i + 1 < subject->count ? ", " : " and ");
        if (is_submodule(change))
            al_str_adds(out, "submodule ");
        al_str_adds(out, name);
    }
}

static void add_one(struct al_str *out, const struct al_change *change)
{
    al_auto(al_freep) char *name = al_text_sanitize_line(base_name(change->path));

    if (change->status == 'R') {
        al_auto(al_freep) char *old = al_text_sanitize_line(base_name(change->old_path));
        al_auto(al_freep) char *dir =
            al_strndup(change->path, (size_t)(base_name(change->path) - change->path));
        al_auto(al_freep) char *shown = al_text_sanitize_line(*dir ? dir : "the top");

        if (strcmp(old, name) != 0)
            al_str_addf(out, "rename %s to %s", old, name);
        else
            al_str_addf(out, "move %s to %s", name, shown);
    } else if (is_mode_only(change)) {
        al_str_addf(out, "make %s %sexecutable", name, change->new_mode & EXECUTABLE ? "" : "not ");
    } else if (is_submodule(change) && change->status == 'M') {
        al_str_addf(out, "update submodule %s to %.*s", name, SHORT_OID, change->new_oid);
    } else {
        const struct subject single = { .items = &change, .count = 1, .total = 1 };

        al_str_addf(out, "%s ", verb_of(&single));
        add_names(out, &single);
    }
}

/* Append the names of the files if there is room, else their number. Returns whether it appended
 * names. */
static bool add_what(struct al_str *out, const struct subject *subject, size_t room)
{
    al_auto(al_str_clear) struct al_str what = AL_STR_INIT;
    al_auto(al_freep) char *dir = NULL;
    al_auto(al_freep) char *shown = NULL;

    if (subject->total == 1) {
        add_one(&what, subject->items[0]);
    } else {
        al_str_addf(&what, "%s ", verb_of(subject));
        if (subject->total <= NAMED_MAX)
            add_names(&what, subject);
    }
    if (subject->total <= NAMED_MAX && message_characters(what.buf) <= room) {
        al_str_adds(out, what.buf);
        return true;
    }
    dir = common_dir(subject);
    if (*dir)
        dir[strlen(dir) - 1] =
            '\0'; /* remove the slash first: escaping could merge it with a broken character */
    shown = al_text_sanitize_line(dir);
    al_str_reset(&what);
    al_str_addf(&what, "%s %zu file%s", verb_of(subject), subject->total,
                subject->total == 1 ? "" : "s");
    al_str_adds(out, what.buf);
    if (*shown && message_characters(what.buf) + strlen(" in ") + message_characters(shown) <= room)
        al_str_addf(out, " in %s", shown);
    return false;
}

static void add_listed(struct al_str *out, const struct al_change *change)
{
    const struct subject single = { .items = &change, .count = 1, .total = 1 };
    al_auto(al_freep) char *path = al_text_sanitize_line(change->path);

    al_str_addf(out, "- %s ", verb_of(&single));
    if (change->old_path) {
        al_auto(al_freep) char *old = al_text_sanitize_line(change->old_path);

        al_str_addf(out, "%s to ", old);
    }
    al_str_adds(out, path);
    if (is_submodule(change))
        al_str_adds(out, " (submodule)");
    else if (change->binary)
        al_str_adds(out, " (binary)");
    else if (!change->same_content)
        al_str_addf(out, " (+%" PRIu64 " -%" PRIu64 ")", change->added, change->deleted);
    al_str_addc(out, '\n');
}

void al_commit_message_of_changes(const struct al_diff_raw *changes, struct al_str *out)
{
    struct subject subject = subject_of(changes);
    al_auto(al_freep) char *scope = scope_of(&subject);
    size_t before = out->len, listed = changes->count < LISTED_MAX ? changes->count : LISTED_MAX;
    bool named;

    al_str_adds(out, type_of(&subject));
    if (*scope)
        al_str_addf(out, "(%s)", scope);
    al_str_adds(out, ": ");
    named = add_what(out, &subject, AL_SUBJECT_MAX - message_characters(out->buf + before));
    al_str_addc(out, '\n');
    free(subject.items);
    if (named && changes->total == 1 && changes->items[0].status != 'R')
        return; /* the subject says everything */
    al_str_addc(out, '\n');
    for (size_t i = 0; i < listed; i++)
        add_listed(out, &changes->items[i]);
    if (changes->total > listed)
        al_str_addf(out, "- and %zu more\n", changes->total - listed);
}

/* git's own message for the merge, cherry-pick or revert that is being concluded; NULL when there
 * is none. */
static char *read_prepared(const struct al_repo *repo)
{
    al_auto(al_freep) char *text = NULL;

    if (al_git_operation_state(repo) != AL_IN_PROGRESS_NONE)
        text = al_git_prepared_message(repo);
    return text ? al_message_clean_prepared(text) : NULL;
}

int al_git_suggest_message(const struct al_repo *repo, char **ret_message, bool *ret_generated,
                           struct al_error *err)
{
    al_auto(al_diff_raw_clear) struct al_diff_raw changes = AL_DIFF_RAW_INIT;
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;
    int r;

    *ret_message = read_prepared(repo);
    if (ret_generated)
        *ret_generated = !*ret_message;
    if (*ret_message)
        return 0;
    r = al_git_staged_changes(repo, &changes, err);
    if (r < 0)
        return r;
    if (!changes.total)
        return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_NO_STAGED_CHANGES,
                                 "nothing to commit");
    al_commit_message_of_changes(&changes, &message);
    *ret_message = al_str_detach(&message);
    return 0;
}
