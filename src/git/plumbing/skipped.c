// SPDX-License-Identifier: Apache-2.0
#include "git/plumbing/skipped.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "git/command.h"
#include "git/layer.h"
#include "git/run.h"
#include "git/vet/vet.h"
#include "guard/path.h"
#include "guard/root.h"
#include "guard/text.h"

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
