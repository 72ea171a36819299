// SPDX-License-Identifier: Apache-2.0
#include "git/plumbing/filters.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "git/command.h"
#include "git/failure.h"
#include "git/layer.h"
#include "git/location.h"
#include "git/plumbing/bare.h"
#include "git/plumbing/batch.h"
#include "git/plumbing/diff_raw.h"
#include "git/plumbing/index_scan.h"
#include "git/repo/git.h"
#include "git/repo/repo.h"
#include "git/run.h"
#include "git/vet/vet.h"
#include "guard/path.h"
#include "guard/root.h"
#include "guard/text.h"

static void take_names(const struct al_repo *repo, const struct al_strv *files,
                       struct al_strv *names)
{
    for (size_t i = 0; i < files->count; i++) {
        const char *file = files->items[i];
        const char *below = *file == '/' ? al_location_worktree_name(&repo->at, file) : file;

        if (below)
            al_strv_add(names, below);
    }
}

int al_git_check_files(const struct al_repo *repo, const struct al_strv *files,
                       struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    take_names(repo, files, &names);
    return al_git_check_filters(repo, &names, NULL, err);
}

/* Whether there are untracked attribute files: a checkout reads them where the target has none. */
static int has_loose_attributes(const struct al_repo *repo, bool *ret_has, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_strv_clear) struct al_strv found = AL_STRV_INIT;
    int r;

    al_strv_adds(&command.argv, "git", "-C", repo->at.top, "ls-files", "-z", "--others", "--",
                 ".gitattributes", "*/.gitattributes", NULL);
    r = al_git_list_paths(repo, &command, &found, err);
    *ret_has = found.count > 0;
    return r;
}

struct attribute_check {
    const struct al_strv *drivers;
    struct al_strv *all; /* gets every path that goes through a driver; NULL: one is enough */
    char *path, *driver; /* the first path that goes through a driver, and the driver */
};

/* check-attr -z prints "path NUL attribute NUL value NUL". */
static bool check_attribute(void *payload, char *const *fields)
{
    struct attribute_check *check = payload;

    if (check->path || !al_strv_contains(check->drivers, fields[2]))
        return true;
    if (check->all) {
        al_strv_add(check->all, fields[0]);
        return true;
    }
    check->path = al_strdup(fields[0]);
    check->driver = al_strdup(fields[2]);
    return false;
}

static int refuse(const struct attribute_check *check, const char *attribute, struct al_error *err)
{
    al_auto(al_freep) char *path = al_text_sanitize_line(check->path);
    al_auto(al_freep) char *driver = al_text_sanitize_line(check->driver);

    (void)al_error_set(err, AL_ERR_EXECUTION,
                       "'%s' goes through the %s '%s', a program airlock does not run; do this "
                       "one with git itself",
                       path, !strcmp(attribute, "filter") ? "filter" : "merge driver", driver);
    return al_error_about(AL_ERR_EXECUTION, err, AL_SUBJECT_FILTER, NULL);
}

static int check_attributes(const struct al_repo *repo, const struct al_strv *paths,
                            const char *attribute, const struct al_strv *drivers, const char *index,
                            struct al_strv *all, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str input = AL_STR_INIT;
    struct attribute_check check = { .drivers = drivers, .all = all };
    int r;

    for (size_t i = 0; i < paths->count; i++)
        al_str_add(&input, paths->items[i], strlen(paths->items[i]) + 1);
    al_git_command_feed(&command, &input);
    command.index = index;
    al_strv_adds(&command.argv, "git", "-C", repo->at.top, "check-attr", NULL);
    if (index)
        al_strv_add(&command.argv, "--cached");
    al_strv_adds(&command.argv, "-z", "--stdin", attribute, NULL);
    r = al_git_read_records(&repo->at, &command, 3, check_attribute, &check, err);
    if (r == 0 && check.path)
        r = refuse(&check, attribute, err);
    free(check.path);
    free(check.driver);
    return r;
}

static int check_attributes_of_tree(const struct al_repo *repo, const struct al_strv *paths,
                                    const char *attribute, const struct al_strv *drivers,
                                    const char *tree, struct al_error *err)
{
    al_auto(al_freep) char *index = al_git_private_name(repo->at.git, "index");
    int r = al_index_read_tree(repo, index, (const char *const[]){ tree, NULL }, err);

    if (r == 0)
        r = check_attributes(repo, paths, attribute, drivers, index, NULL, err);
    (void)unlink(index);
    return r;
}

int al_git_check_filters(const struct al_repo *repo, const struct al_strv *paths, const char *tree,
                         struct al_error *err)
{
    const struct al_strv *filters = &repo->vetting->filters;
    bool of_files = !tree;
    int r = 0;

    if (!filters->count || !paths->count)
        return 0;
    if (tree)
        r = check_attributes_of_tree(repo, paths, "filter", filters, tree, err);
    if (r == 0 && tree)
        r = has_loose_attributes(repo, &of_files, err);
    if (r == 0 && of_files)
        r = check_attributes(repo, paths, "filter", filters, NULL, NULL, err);
    return r;
}

int al_git_filtered_files(const struct al_repo *repo, const struct al_strv *files,
                          struct al_strv *ret_names, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    if (!repo->vetting->filters.count)
        return 0;
    take_names(repo, files, &names);
    return check_attributes(repo, &names, "filter", &repo->vetting->filters, NULL, ret_names, err);
}

int al_git_check_filters_between(const struct al_repo *repo, const char *from, const char *to,
                                 struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    int r;

    if (!repo->vetting->filters.count)
        return 0;
    r = al_git_list_changed(repo, from, to, &paths, err);
    return r < 0 ? r : al_git_check_filters(repo, &paths, to ? to : from, err);
}

int al_git_check_merge_drivers(const struct al_repo *repo, const struct al_strv *paths,
                               const char *tree, struct al_error *err)
{
    const struct al_strv *drivers = &repo->vetting->merge_drivers;
    int r;

    if (!drivers->count || !paths->count)
        return 0;
    r = check_attributes(repo, paths, "merge", drivers, NULL, NULL, err);
    if (r == 0 && tree)
        r = check_attributes_of_tree(repo, paths, "merge", drivers, tree, err);
    return r;
}

/* --- Hooks and filters that did not run --- */

#define ATTRIBUTES_MAX_BYTES (1u << 20)
#define FILTERS_NAMED_MAX    8
#define FILTERS_ASKED_MAX    4
#define HOOKS_MAX_BYTES      (64u << 10)

static char *hooks_dir(const struct al_repo *repo)
{
    const char *configured = repo->vetting->hooks_path;

    return configured ? al_fs_join(repo->at.top, configured)
                      : al_fs_join(repo->at.common_dir, "hooks");
}

/* Whether git would run this file.  The user's own hooks may lie anywhere.  A repository's hook
 * outside the roots counts whether it exists or not, so that an agent learns nothing about it. */
static bool is_hook(const struct al_repo *repo, const char *path)
{
    al_auto(al_freep) char *abs = NULL;
    al_auto(al_closep) int fd = -1;
    struct stat st;
    int r;

    if (repo->vetting->hooks_path_is_users)
        return stat(path, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 0111);
    r = al_roots_open(al_roots_parts(repo->at.git->roots), path, O_PATH, &fd, &abs, NULL);
    if (r < 0)
        return r == AL_ERR_SANDBOX;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 0111);
}

/* Whether the configuration names a program for an event and does not switch it off (git 2.54).  An
 * older git runs none, and fails when it is asked. */
static bool is_configured(const struct al_repo *repo, const char *event)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    char *save = NULL;

    if (!repo->vetting->configures_hooks)
        return false;
    command.class = AL_GIT_CONFIG; /* the user's hooks as well, and without our overrides */
    al_strv_adds(&command.argv, "git", "-c", "core.hooksPath=/dev/null", "hook", "list", event,
                 NULL);
    if (!al_git_ask(&repo->at, &command, HOOKS_MAX_BYTES, &output))
        return false;
    for (char *line = strtok_r(output.out.out.buf, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save))
        if (!strchr(line, '\t')) /* "disabled TAB name" */
            return true;
    return false;
}

/* Add "airlock: hooks not run: a, b" on a line of its own. */
static void add_note(struct al_str *out, const char *what, const struct al_strv *names,
                     size_t max_names)
{
    if (names->count)
        al_str_addf(out, "%sairlock: %s%s not run: ", out->len ? "\n" : "", what,
                    names->count == 1 ? "" : "s");
    al_text_add_list(out, names, max_names);
}

void al_git_skipped_hooks(const struct al_repo *repo, const char *hooks, struct al_str *out)
{
    al_auto(al_freep) char *words = al_strdup(hooks);
    al_auto(al_freep) char *dir = hooks_dir(repo);
    al_auto(al_strv_clear) struct al_strv there = AL_STRV_INIT;
    char *save = NULL;

    for (char *at = strtok_r(words, " ", &save); at; at = strtok_r(NULL, " ", &save)) {
        al_auto(al_freep) char *path = al_fs_join(dir, at);

        if (is_hook(repo, path) || is_configured(repo, at))
            al_strv_add(&there, at);
    }
    add_note(out, "hook", &there, there.count);
}

void al_git_show_skipped(const struct al_repo *repo, const char *hooks, struct al_str *out)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_git_skipped_hooks(repo, hooks, &line);
    if (line.len)
        al_str_addf(out, "%s\n", line.buf);
    al_git_show_unsigned(repo, out);
}

/* Whether an attributes file assigns `filter=<name>`. */
static bool mentions(const char *text, const char *name)
{
    al_auto(al_freep) char *needle = al_asprintf("filter=%s", name);
    size_t len = strlen(needle);

    for (const char *at = text; (at = strstr(at, needle)); at += len)
        if (!at[len] || strchr(" \t\r\n", at[len]))
            return true;
    return false;
}

static void add_attributes(struct al_str *text, const char *dir, const char *name)
{
    al_auto(al_freep) char *path = al_fs_join(dir, name);
    al_auto(al_str_clear) struct al_str part = AL_STR_INIT;

    if (al_fs_read(AT_FDCWD, path, ATTRIBUTES_MAX_BYTES, &part) == 0) {
        al_str_add(text, part.buf, part.len);
        al_str_addc(text, '\n');
    }
}

/* Whether a tracked file goes through a filter, whichever file assigns the attribute.  It takes one
 * more git child, so it is used only for filters that the repository itself configures; a filter
 * of the user's (LFS in ~/.gitconfig) would cost every call that child. */
static bool is_used(const struct al_repo *repo, const char *name)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };

    if (strpbrk(name, "\\,()") || !*name)
        return true; /* cannot be written in a pathspec */
    al_strv_adds(&command.argv, "git", "ls-files", "-z", "--", NULL);
    al_strv_addf(&command.argv, ":(top,attr:filter=%s)", name);
    return al_git_run(&repo->at, &command, &(struct al_git_run){ .max_bytes = 1 }, &output, NULL) ==
               0 &&
           al_git_read_well(&output) && output.out.out.len > 0;
}

void al_git_skipped_filters(const struct al_repo *repo, struct al_str *out)
{
    const struct al_vetting *vetting = repo->vetting;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv named = AL_STRV_INIT;

    if (!vetting->filters.count)
        return;
    add_attributes(&text, repo->at.top, ".gitattributes");
    add_attributes(&text, repo->at.common_dir, "info/attributes");
    if (vetting->attributes_path)
        add_attributes(&text, "/", vetting->attributes_path);
    for (size_t i = 0, asked = 0; i < vetting->filters.count; i++) {
        const char *name = vetting->filters.items[i];
        bool own = al_strv_contains(&vetting->own_filters, name);

        if (mentions(text.buf, name) || (own && asked++ < FILTERS_ASKED_MAX && is_used(repo, name)))
            al_strv_add(&named, name);
    }
    add_note(out, "filter", &named, FILTERS_NAMED_MAX);
}

/* --- Partial clones --- */

bool al_repo_is_partial(const struct al_repo *repo)
{
    al_auto(al_freep) char *packs = al_fs_join(repo->at.common_dir, "objects/pack");
    al_auto(al_closedirp) DIR *dir =
        al_fs_list(open(packs, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    const struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        if (al_ends_with(entry->d_name, ".promisor"))
            return true;
    return false;
}

static int list_batch(const struct al_repo *repo, const char *from, const struct al_str *words,
                      size_t *at, struct al_diff_raw *needed, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "diff", "--raw", "-z", "--no-abbrev", "--no-renames",
                 "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", NULL);
    if (from)
        al_strv_add(&command.argv, from);
    al_strv_add(&command.argv, "--");
    if (words->len)
        (void)al_batch_add(&command.argv, words, at);
    return al_git_list_changes(&repo->at, &command, needed, err);
}

static int refuse_missing(const struct al_diff_raw *needed, const char *oid, struct al_error *err)
{
    al_auto(al_freep) char *word = NULL;
    const char *path = "";

    for (size_t i = 0; i < needed->count && !*path; i++)
        if (!strcmp(needed->items[i].old_oid, oid))
            path = needed->items[i].path;
    word = al_text_sanitize_line(path);
    return al_error_remedy(
        al_error_set(err, AL_ERR_EXECUTION,
                     "The content of '%s' was not downloaded, so nothing was done", word),
        err, al_not_downloaded);
}

int al_git_check_downloaded(const struct al_repo *repo, const char *from,
                            const struct al_strv *paths, struct al_error *err)
{
    al_auto(al_diff_raw_clear) struct al_diff_raw needed = AL_DIFF_RAW_INIT;
    al_auto(al_strv_clear) struct al_strv oids = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv missing = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    size_t at = 0;
    int r;

    if (!al_repo_is_partial(repo))
        return 0;
    needed.all = true;
    r = al_repo_pathspecs(repo, paths, &words, err);
    do {
        if (r == 0)
            r = list_batch(repo, from, &words, &at, &needed, err);
    } while (r == 0 && at < words.len);
    /* The old side would be written; a deletion and a gitlink have no content. */
    for (size_t i = 0; r == 0 && i < needed.count; i++)
        if (needed.items[i].old_mode && needed.items[i].old_mode != AL_TYPE_GITLINK)
            al_strv_add(&oids, needed.items[i].old_oid);
    if (r == 0)
        r = al_git_find_objects(&repo->at, &oids, false, NULL, &missing, err);
    return r == 0 && missing.count ? refuse_missing(&needed, missing.items[0], err) : r;
}
