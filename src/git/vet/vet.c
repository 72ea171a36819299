// SPDX-License-Identifier: Apache-2.0
#include "git/vet/vet.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/str.h"
#include "git/command.h"
#include "git/environment.h"
#include "git/failure.h"
#include "git/layer.h"
#include "git/refs.h"
#include "git/run.h"
#include "guard/path.h"
#include "guard/root.h"

/* --- Vet config --- */

/* The vetting of a repository from its configuration: one `git config --list`. */

/* One configured value. */
struct entry {
    bool of_repository; /* the scope is local or worktree */
    const char *origin; /* the file it came from; NULL: none */
    const char *key;    /* section and name in lower case, subsection as written */
    const char *value;
};

/* A value that git would refuse counts as true. */
static bool is_true(const char *value)
{
    static const char *const no[] = { "false", "no", "off" };

    for (size_t i = 0; i < AL_COUNT(no); i++)
        if (!strcasecmp(value, no[i]))
            return false;
    return value[strspn(value, "0")] != '\0';
}

/* --- Vet remotes --- */

/* The part of a vetting that is about other repositories. */

/* The part of a vetting that is about other repositories: configured remotes, and the right to name
 * their addresses.
 */

/* http.* settings that a repository may have: they redirect nothing, or each command overrides
 * them. */
static const char *const harmless[] = {
    "postbuffer",      "lowspeedlimit",  "lowspeedtime",  "version",           "maxrequests",
    "minsessions",     "maxretries",     "useragent",     "sslverify",         "proxy",
    "cookiefile",      "savecookies",    "extraheader",   "emptyauth",         "delegation",
    "followredirects", "curloptresolve", "keepaliveidle", "keepaliveinterval",
};

static bool is_harmless(const char *variable)
{
    for (size_t i = 0; i < AL_COUNT(harmless); i++)
        if (!strcmp(harmless[i], variable))
            return true;
    return false;
}

/* Whether a key decides where git connects, or whom git trusts there. */
static bool leads_elsewhere(const char *key)
{
    const char *variable = strrchr(key, '.');

    if (!variable)
        return false;
    if (al_starts_with(key, "url."))
        return !strcmp(variable, ".insteadof") || !strcmp(variable, ".pushinsteadof");
    if (!strcmp(key, "fetch.bundleuri"))
        return true; /* newer gits: objects from one more address */
    return al_starts_with(key, "http.") && !is_harmless(variable + 1);
}

static void note_rewrite(struct al_vetting *vetting, const struct entry *entry)
{
    const char *base = entry->key + strlen("url."), *last = strrchr(entry->key, '.');

    if (last < base || (strcmp(last, ".insteadof") != 0 && strcmp(last, ".pushinsteadof") != 0))
        return;
    al_strv_take(&vetting->rewrites, al_strndup(base, (size_t)(last - base)));
    al_strv_adds(&vetting->rewrites, last + 1, entry->value, NULL);
}

/* Keep what an entry says about remotes, rewritten addresses and the proxy. */
static void vetting_note_remote(struct al_vetting *vetting, const struct entry *entry)
{
    bool about = al_starts_with(entry->key, "remote.") ||
                 (al_starts_with(entry->key, "branch.") &&
                  (al_ends_with(entry->key, ".remote") || al_ends_with(entry->key, ".merge") ||
                   al_ends_with(entry->key, ".pushremote")));

    /* One more than the limit, so that the caller can tell that there were more. */
    if (about && vetting->remotes.count / 2 <= AL_REMOTE_VALUES_MAX)
        al_strv_adds(&vetting->remotes, entry->key, entry->value, NULL);
    if (entry->of_repository) {
        if (!vetting->refused_key && leads_elsewhere(entry->key))
            vetting->refused_key = al_strdup(entry->key);
    } else if (al_starts_with(entry->key, "url.")) {
        note_rewrite(vetting, entry);
    } else if (!strcmp(entry->key, "http.proxy")) {
        free(vetting->proxy);
        vetting->proxy = al_strdup(entry->value);
    }
}

/* --- Vet config --- */

/* --- Vet files --- */

/* The files of one vetting: those it depends on, and the private ones made for it. */

#define USER_FILE_MAX_BYTES (1u << 20)

/* The vetting is forgotten when this file changes, appears or goes away; NULL is fine. */
static void vetting_depend_on(struct al_vetting *vetting, const char *path)
{
    if (path && vetting->sources.count < AL_VETTING_SOURCES_MAX &&
        !al_strv_contains(&vetting->sources, path))
        al_strv_add(&vetting->sources, path);
}

/* $XDG_CONFIG_HOME/git/<name>, or its default path.  NULL without a home.  Caller frees. */
static char *user_config_path(const struct al_git *git, const char *name)
{
    if (git->options.config_home && *git->options.config_home)
        return al_asprintf("%s/git/%s", git->options.config_home, name);
    return git->options.home ? al_asprintf("%s/.config/git/%s", git->options.home, name) : NULL;
}

/* Write a file into the private directory, for as long as the vetting lives.  Its path, which the
 * caller frees; NULL with errno when it cannot be written. */
static char *vetting_write_file(struct al_git *git, struct al_vetting *vetting, const char *name,
                                const struct al_str *text)
{
    al_auto(al_freep) char *path = NULL;
    al_auto(al_closep) int fd = -1;

    (void)pthread_mutex_lock(&git->lock);
    path = al_asprintf("%s/%s-%u", git->private_dir, name, git->private_serial++);
    (void)pthread_mutex_unlock(&git->lock);
    al_strv_add(&vetting->files, path);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || al_write_all(fd, text->buf, text->len) < 0)
        return NULL;
    return al_take(&path);
}

/*
 * Make a private copy of a file of the user's.
 *
 * @param configured  Its path; NULL: `name` in git's configuration directory.
 * @return The path of the copy, which the caller frees; NULL when there is no content.
 */
static char *vetting_copy_user_file(struct al_git *git, struct al_vetting *vetting,
                                    const char *configured, const char *name)
{
    al_auto(al_freep) char *path = configured ? al_strdup(configured) : user_config_path(git, name);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_closep) int fd = -1;

    vetting_depend_on(vetting, path);
    if (path) /* links are followed: it is the user's file */
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || al_fs_read_fd(fd, USER_FILE_MAX_BYTES, &text) < 0 || !text.len)
        return NULL;
    return vetting_write_file(git, vetting, name, &text);
}

/* --- Vet config --- */

/* Stands for an empty file: one lookup finds it missing, whereas /dev/null would be opened and
 * read. */
#define NO_FILE "/nonexistent"

/* The state of one listing of the configuration. */
struct config_scan {
    const struct al_location *at;
    struct al_vetting *vetting;
    size_t drivers;
    bool leads_outside;                    /* the repository includes a file outside the roots */
    struct al_str user_config;             /* text of the stand-in for ~/.gitconfig */
    struct al_str for_shell;               /* it, and every harmless key */
    char *excludes, *attributes, *ca_file; /* paths of the user's files */
    bool has_name[2], has_email[2];        /* author, committer */
};

/* Expand `~/` as git does; a relative path is relative to the file that names it. */
static char *expand_path(const struct al_git *git, const char *origin, const char *path)
{
    al_auto(al_freep) char *dir = NULL;
    char *slash;

    if (al_starts_with(path, "~/") && git->options.home)
        return al_fs_join(git->options.home, path + 2);
    if (path[0] == '/' || !origin)
        return al_strdup(path);
    dir = al_strdup(origin);
    slash = strrchr(dir, '/');
    if (!slash)
        return al_strdup(path);
    *slash = '\0';
    return al_fs_join(dir, path);
}

static void set_string(char **string, char *value)
{
    free(*string);
    *string = value;
}

static void note_identity(struct config_scan *scan, const char *key, bool given)
{
    if (!strcmp(key, "user.name"))
        scan->has_name[0] = scan->has_name[1] = given;
    else if (!strcmp(key, "user.email"))
        scan->has_email[0] = scan->has_email[1] = given;
    else if (!strcmp(key, "author.name"))
        scan->has_name[0] |= given;
    else if (!strcmp(key, "committer.name"))
        scan->has_name[1] |= given;
    else if (!strcmp(key, "author.email"))
        scan->has_email[0] |= given;
    else if (!strcmp(key, "committer.email"))
        scan->has_email[1] |= given;
}

/* Remember the name of a "<section>.<name>.<variable>" whose value is not empty. */
static void note_driver(struct al_strv *names, const char *section, const char *variable,
                        const struct entry *entry)
{
    const char *first = entry->key + strlen(section);
    const char *last = strrchr(entry->key, '.');
    al_auto(al_freep) char *name = NULL;

    if (!*entry->value || !al_starts_with(entry->key, section) || last <= first ||
        strcmp(last + 1, variable) != 0)
        return;
    name = al_strndup(first, (size_t)(last - first));
    if (!al_strv_contains(names, name))
        al_strv_add(names, name);
}

static void note_filter(struct config_scan *scan, const struct entry *entry, const char *variable)
{
    note_driver(&scan->vetting->filters, "filter.", variable, entry);
    if (entry->of_repository)
        note_driver(&scan->vetting->own_filters, "filter.", variable, entry);
}

bool al_user_config_wants(const char *key)
{
    static const char *const wanted[] = {
        "user.name",      "user.email",      "author.name",        "author.email",
        "committer.name", "committer.email", "init.defaultbranch", "core.autocrlf",
        "core.quotepath", "http.proxy",      "http.sslcainfo",     "url.*.insteadof",
        "safe.directory",
    };

    for (size_t i = 0; i < AL_COUNT(wanted); i++)
        if (fnmatch(wanted[i], key, 0) == 0)
            return true;
    return false;
}

void al_user_config_add(struct al_str *out, const char *key, const char *value)
{
    const char *first = strchr(key, '.');
    const char *last = strrchr(key, '.');

    if (!first)
        return;
    al_str_addc(out, '[');
    al_str_add(out, key, (size_t)(first - key));
    if (first != last) {
        al_auto(al_freep) char *name = al_strndup(first + 1, (size_t)(last - first - 1));

        al_str_addc(out, ' ');
        al_git_quote(out, name);
    }
    al_str_addf(out, "]\n\t%s = ", last + 1);
    al_git_quote(out, value);
    al_str_addc(out, '\n');
}

static void scan_user_entry(struct config_scan *scan, const struct entry *entry)
{
    const struct al_git *git = scan->at->git;

    if (al_user_config_wants(entry->key) || al_config_key_is_harmless(entry->key))
        al_user_config_add(&scan->for_shell, entry->key, entry->value);
    if (al_user_config_wants(entry->key))
        al_user_config_add(&scan->user_config, entry->key, entry->value);
    if (!strcmp(entry->key, "safe.directory")) {
        if (*entry->value)
            al_strv_take(&scan->vetting->safe_directories, expand_path(git, NULL, entry->value));
        else
            al_strv_clear(&scan->vetting->safe_directories);
    } else if (!strcmp(entry->key, "core.excludesfile")) {
        set_string(&scan->excludes, expand_path(git, entry->origin, entry->value));
    } else if (!strcmp(entry->key, "core.attributesfile")) {
        set_string(&scan->attributes, expand_path(git, entry->origin, entry->value));
    } else if (!strcmp(entry->key, "http.sslcainfo")) {
        set_string(&scan->ca_file, expand_path(git, entry->origin, entry->value));
    }
}

/* The vetting depends on HEAD with includeIf "onbranch".  Its branch may be a symbolic reference:
 * HEAD stays the same when that one changes. */
static void depend_on_branch(const struct al_location *at, struct al_vetting *vetting)
{
    al_auto(al_strv_clear) struct al_strv refs = AL_STRV_INIT;
    al_auto(al_freep) char *head = al_fs_join(at->git_dir, "HEAD");
    al_auto(al_freep) char *tables = al_fs_join(at->git_dir, "reftable/tables.list");
    al_auto(al_freep) char *shared = al_fs_join(at->common_dir, "reftable/tables.list");

    vetting_depend_on(vetting, head);
    vetting_depend_on(vetting, tables);
    vetting_depend_on(vetting, shared);
    al_ref_follow_head(at, &refs);
    for (size_t i = 0; i < refs.count; i++) {
        al_auto(al_freep) char *path = al_fs_join(at->common_dir, refs.items[i]);

        vetting_depend_on(vetting, path);
    }
}

/* Whether a path leads outside the roots.  The answer does not tell an agent whether the file
 * exists. */
static bool is_outside(const struct al_location *at, const char *path)
{
    al_auto(al_freep) char *abs = NULL;
    al_auto(al_closep) int fd = -1;

    return al_roots_open(al_roots_parts(at->git->roots), path, O_PATH, &fd, &abs, NULL) ==
           AL_ERR_SANDBOX;
}

/* Relative to the top, where git blame runs, and not to the file that names it. */
static void take_ignore_revs(struct config_scan *scan, const char *value)
{
    struct al_strv *files = &scan->vetting->ignore_revs;
    al_auto(al_freep) char *path = expand_path(scan->at->git, NULL, value);
    al_auto(al_freep) char *abs = al_fs_join(scan->at->top, path);

    /* One more than allowed, so that blame can tell that there were more. */
    if (files->count <= AL_IGNORE_REVS_MAX && !al_strv_contains(files, abs))
        al_strv_take(files, al_take(&abs));
}

/* Object format and reference storage, which only the repository's own configuration can set. */
static void note_storage(struct al_vetting *vetting, const struct entry *entry)
{
    if (!entry->of_repository)
        return;
    if (!strcmp(entry->key, "extensions.objectformat"))
        vetting->is_sha256 = !strcmp(entry->value, "sha256");
    /* An included file may say something else; git does not read this key there. */
    if (!strcmp(entry->key, "extensions.refstorage")) {
        vetting->config.has_reftable |= strcmp(entry->value, "files") != 0;
        vetting->names_ref_place |= strchr(entry->value, ':') != NULL;
    }
}

/* The place of the main working tree.  git takes this from these two files alone, without what they
 * include. */
static void note_layout(struct config_scan *scan, const struct entry *entry, const char *origin)
{
    const struct al_location *at = scan->at;
    al_auto(al_freep) char *shared = al_fs_join(at->common_dir, "config");
    al_auto(al_freep) char *own = al_fs_join(at->git_dir, "config.worktree");

    if (!origin || (strcmp(origin, shared) != 0 && strcmp(origin, own) != 0))
        return;
    if (!strcmp(entry->key, "core.bare"))
        scan->vetting->says_bare = is_true(entry->value);
    if (!strcmp(entry->key, "core.worktree"))
        set_string(&scan->vetting->work_tree, al_strdup(entry->value));
}

static void scan_entry(struct config_scan *scan, const struct entry *entry)
{
    bool of_file = entry->origin != NULL;
    al_auto(al_freep) char *origin = of_file ? al_fs_join(scan->at->top, entry->origin) : NULL;

    if (scan->drivers > AL_DRIVER_KEYS_MAX)
        return; /* the repository will be refused: keep nothing more of it */
    vetting_depend_on(scan->vetting, origin);
    note_identity(scan, entry->key, *entry->value != '\0');
    note_storage(scan->vetting, entry);
    note_layout(scan, entry, origin);
    if (!strcmp(entry->key, "commit.gpgsign")) /* the last value wins, as in git */
        scan->vetting->wants_signatures = is_true(entry->value);
    note_filter(scan, entry, "clean");
    note_filter(scan, entry, "smudge");
    note_filter(scan, entry, "process");
    note_driver(&scan->vetting->merge_drivers, "merge.", "driver", entry);
    if (entry->of_repository && !strcmp(entry->key, "blame.ignorerevsfile") && *entry->value)
        take_ignore_revs(scan, entry->value);
    if (!strcmp(entry->key, "core.hookspath")) {
        set_string(&scan->vetting->hooks_path, expand_path(scan->at->git, NULL, entry->value));
        scan->vetting->hooks_path_is_users = !entry->of_repository;
    }
    scan->vetting->configures_hooks |=
        al_starts_with(entry->key, "hook.") && al_ends_with(entry->key, ".event");
    if (al_starts_with(entry->key, "includeif.onbranch:"))
        depend_on_branch(scan->at, scan->vetting);
    if (!strcmp(entry->key, "include.path") ||
        (al_starts_with(entry->key, "includeif.") && al_ends_with(entry->key, ".path"))) {
        al_auto(al_freep) char *target = expand_path(scan->at->git, origin, entry->value);

        vetting_depend_on(scan->vetting, target); /* even if absent: it may appear later */
        scan->leads_outside |= entry->of_repository && is_outside(scan->at, target);
    }
    if (al_starts_with(entry->key, "alias."))
        al_strv_adds(&scan->vetting->aliases, entry->key + strlen("alias."), entry->value, NULL);
    scan->vetting->includes |=
        !strcmp(entry->key, "include.path") || al_starts_with(entry->key, "includeif.");
    vetting_note_remote(scan->vetting, entry);
    if (!entry->of_repository)
        scan_user_entry(scan, entry);
    else
        scan->drivers += al_overrides_add_for(&scan->vetting->config.overrides, entry->key);
}

/* "<scope> NUL file:<origin> NUL <key> LF <value> NUL" */
static bool take_entry(void *payload, char *const *fields)
{
    char *value = strchr(fields[2], '\n');

    if (value)
        *value++ = '\0';
    scan_entry(payload,
               &(struct entry){
                   .of_repository = !strcmp(fields[0], "local") || !strcmp(fields[0], "worktree"),
                   .origin = al_starts_with(fields[1], "file:") ? fields[1] + 5 : NULL,
                   .key = fields[2],
                   .value = value ? value : "true",
               });
    return true;
}

/* The same error for an include that leads outside and for a file that git cannot read: git's own
 * message would tell what lies there.  Only a syntax error in the repository's own file is
 * reported in git's words. */
static int unreadable(const struct al_location *at, const struct al_git_output *output,
                      struct al_error *err)
{
    al_auto(al_freep) char *own = al_asprintf("in file %s/", at->common_dir);
    const char *said = output->err.out.buf;

    if (al_starts_with(said, "fatal: bad config line ") && strstr(said, own))
        return al_git_failed(output, err);
    return al_error_set(err, AL_ERR_SANDBOX,
                        "The repository's configuration includes a file outside the allowed roots, "
                        "or git cannot read it; 'git config --list' there says more");
}

static int list_config(struct config_scan *scan, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_nul_records_clear) struct al_nul_records list =
        AL_NUL_RECORDS_INIT(3, take_entry, scan);
    int r;

    command.class = AL_GIT_CONFIG;
    al_strv_adds(&command.argv, "git", "config", "--list", "-z", "--show-scope", "--show-origin",
                 "--includes", NULL);
    r = al_git_run(scan->at, &command,
                   &(struct al_git_run){ .sink = { al_nul_records_add, &list } }, &output, err);
    if (r < 0)
        return r;
    if (!al_git_read_well(&output) || scan->leads_outside)
        return unreadable(scan->at, &output, err);
    if (scan->vetting->names_ref_place)
        return al_error_set(err, AL_ERR_SANDBOX,
                            "The repository's configuration names the place of its references "
                            "(extensions.refStorage), which may be outside the allowed roots");
    if (scan->drivers > AL_DRIVER_KEYS_MAX)
        return al_error_set(err, AL_ERR_SANDBOX,
                            "The repository's configuration sets more than %d driver keys; remove "
                            "what is not needed from its config file",
                            AL_DRIVER_KEYS_MAX);
    return 0;
}

/* Files that git reads if they exist: their appearance changes the configuration. */
static void depend_on_standard_files(const struct al_location *at, struct al_vetting *vetting)
{
    const struct al_git *git = at->git;
    al_auto(al_freep) char *config = al_fs_join(at->common_dir, "config");
    al_auto(al_freep) char *worktree = al_fs_join(at->git_dir, "config.worktree");
    al_auto(al_freep) char *place = user_config_path(git, "config");

    vetting_depend_on(vetting, config);
    vetting_depend_on(vetting, worktree);
    vetting_depend_on(vetting, "/etc/gitconfig");
    vetting_depend_on(vetting, place);
    if (git->options.home) {
        al_auto(al_freep) char *dot = al_fs_join(git->options.home, ".gitconfig");

        vetting_depend_on(vetting, dot);
    }
}

/* Write a configuration file; NO_FILE when it would be empty, so that git opens none. */
static int write_config(struct config_scan *scan, const char *name, const struct al_str *text,
                        char **ret_path, struct al_error *err)
{
    *ret_path = text->len ? vetting_write_file(scan->at->git, scan->vetting, name, text)
                          : al_strdup(NO_FILE);
    return *ret_path ? 0 : al_error_errno(err, errno, "cannot write a private configuration file");
}

static int build_env(struct config_scan *scan, struct al_error *err)
{
    struct al_vetting *vetting = scan->vetting;
    al_auto(al_freep) char *excludes =
        vetting_copy_user_file(scan->at->git, scan->vetting, scan->excludes, "ignore");
    al_auto(al_freep) char *attributes =
        vetting_copy_user_file(scan->at->git, scan->vetting, scan->attributes, "attributes");
    int r = write_config(scan, "config", &scan->user_config, &vetting->config.global, err);

    if (r == 0 && scan->for_shell.len == scan->user_config.len)
        vetting->config.for_shell = al_strdup(vetting->config.global);
    else if (r == 0)
        r = write_config(scan, "config-of-shell", &scan->for_shell, &vetting->config.for_shell,
                         err);
    if (r < 0)
        return r;
    al_overrides_add_always(&vetting->config.overrides, excludes ? excludes : NO_FILE,
                            attributes ? attributes : NO_FILE);
    vetting->attributes_path = al_take(&attributes);
    vetting->excludes_path = al_take(&excludes);
    if (scan->ca_file) {
        vetting->ca_path =
            vetting_copy_user_file(scan->at->git, scan->vetting, scan->ca_file, "authorities");
        if (!vetting->ca_path) /* unreadable: still not the authorities of the system */
            vetting->ca_path = al_strdup("/dev/null");
    }
    vetting->has_identity =
        scan->has_name[0] && scan->has_name[1] && scan->has_email[0] && scan->has_email[1];
    return 0;
}

/* List the configuration and fill `vetting` from it. */
static int vetting_read_config(const struct al_location *at, struct al_vetting *vetting,
                               struct al_error *err)
{
    struct config_scan scan = {
        .at = at,
        .vetting = vetting,
        .user_config = AL_STR_INIT,
        .for_shell = AL_STR_INIT,
    };
    int r;

    depend_on_standard_files(at, vetting);
    r = list_config(&scan, err);
    if (r == 0)
        r = build_env(&scan, err);
    al_str_clear(&scan.user_config);
    al_str_clear(&scan.for_shell);
    free(scan.excludes);
    free(scan.attributes);
    free(scan.ca_file);
    return r;
}

/* --- Vet --- */

#define RACY_NS 20000000

static void free_vetting(struct al_vetting *vetting)
{
    for (size_t i = 0; i < vetting->files.count; i++)
        (void)unlink(vetting->files.items[i]);
    al_strv_clear(&vetting->files);
    free(vetting->git_dir);
    free(vetting->ids);
    free(vetting->config.global);
    free(vetting->config.for_shell);
    free(vetting->hooks_path);
    free(vetting->attributes_path);
    free(vetting->excludes_path);
    al_strv_clear(&vetting->sources);
    al_strv_clear(&vetting->config.overrides);
    al_strv_clear(&vetting->filters);
    al_strv_clear(&vetting->own_filters);
    al_strv_clear(&vetting->merge_drivers);
    al_strv_clear(&vetting->ignore_revs);
    al_strv_clear(&vetting->remotes);
    al_strv_clear(&vetting->rewrites);
    al_strv_clear(&vetting->aliases);
    free(vetting->proxy);
    free(vetting->work_tree);
    free(vetting->ca_path);
    free(vetting->refused_key);
    al_strv_clear(&vetting->safe_directories);
    free(vetting);
}

bool al_vetting_is_current(const struct al_vetting *vetting)
{
    for (size_t i = 0; i < vetting->sources.count; i++) {
        struct al_file_id now = al_file_id_at(AT_FDCWD, vetting->sources.items[i]);

        if (!al_file_id_equal(&now, &vetting->ids[i]))
            return false;
    }
    return true;
}

/* A file that changed just before it was read could change again with the same stat, since file
 * times tick coarsely.  Such a vetting is used but not remembered, as git does with its index
 * ("racy git"). */
static void identify_sources(struct al_vetting *vetting, int64_t began_ns)
{
    const size_t count = vetting->sources.count;

    vetting->ids = al_calloc(count, sizeof(*vetting->ids));
    vetting->is_lasting = count < AL_VETTING_SOURCES_MAX;
    for (size_t i = 0; i < count; i++) {
        vetting->ids[i] = al_file_id_at(AT_FDCWD, vetting->sources.items[i]);
        if (vetting->ids[i].exists && vetting->ids[i].ctime_ns > began_ns - RACY_NS)
            vetting->is_lasting = false;
    }
}

static int vet(const struct al_location *at, struct al_vetting **ret_vetting, struct al_error *err)
{
    struct al_vetting *vetting = al_calloc(1, sizeof(*vetting));
    struct timespec now;
    int r;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    vetting->git_dir = al_strdup(at->git_dir);
    vetting->refs = 1;
    r = vetting_read_config(at, vetting, err);
    if (r < 0) {
        free_vetting(vetting);
        return r;
    }
    identify_sources(vetting, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
    *ret_vetting = vetting;
    return 0;
}

/* The lock is held.  The remembered vetting of a repository, moved to the front. */
static struct al_vetting *recall(struct al_git *git, const char *git_dir)
{
    for (size_t i = 0; i < AL_VETTINGS_KEPT && git->vettings[i]; i++) {
        struct al_vetting *found = git->vettings[i];

        if (strcmp(found->git_dir, git_dir) != 0)
            continue;
        memmove(&git->vettings[1], &git->vettings[0], i * sizeof(git->vettings[0]));
        git->vettings[0] = found;
        return found;
    }
    return NULL;
}

static void drop_locked(struct al_vetting *vetting)
{
    if (vetting && --vetting->refs == 0)
        free_vetting(vetting);
}

static void remember(struct al_git *git, struct al_vetting *vetting)
{
    size_t last = AL_VETTINGS_KEPT - 1;

    if (recall(git, vetting->git_dir)) {
        drop_locked(git->vettings[0]);
    } else {
        drop_locked(git->vettings[last]);
        memmove(&git->vettings[1], &git->vettings[0], last * sizeof(git->vettings[0]));
    }
    git->vettings[0] = vetting;
    vetting->refs++;
}

/* The remembered vetting, if it is current; the caller owns a reference.  The sources are stat'ed
 * without the lock, so that a dead mount among them stops only this call. */
static struct al_vetting *get_current(const struct al_location *at)
{
    struct al_git *git = at->git;
    struct al_vetting *vetting;

    (void)pthread_mutex_lock(&git->lock);
    vetting = recall(git, at->git_dir);
    if (vetting)
        vetting->refs++;
    (void)pthread_mutex_unlock(&git->lock);
    if (!vetting || al_vetting_is_current(vetting))
        return vetting;
    al_vetting_unref(git, vetting);
    return NULL;
}

int al_vetting_get(const struct al_location *at, const struct al_vetting **ret_vetting,
                   bool *ret_new, struct al_error *err)
{
    struct al_vetting *vetting = get_current(at);
    int r = 0;

    *ret_new = !vetting;
    if (!vetting)
        r = vet(at, &vetting, err);
    if (r == 0)
        *ret_vetting = vetting;
    return r;
}

void al_vetting_remember(struct al_git *git, const struct al_vetting *vetting)
{
    (void)pthread_mutex_lock(&git->lock);
    if (vetting->is_lasting)
        remember(git, (struct al_vetting *)vetting);
    (void)pthread_mutex_unlock(&git->lock);
}

void al_vetting_unref(struct al_git *git, const struct al_vetting *vetting)
{
    (void)pthread_mutex_lock(&git->lock);
    drop_locked((struct al_vetting *)vetting);
    (void)pthread_mutex_unlock(&git->lock);
}

void al_git_forget_vettings(struct al_git *git)
{
    for (size_t i = 0; i < AL_VETTINGS_KEPT; i++) {
        drop_locked(git->vettings[i]);
        git->vettings[i] = NULL;
    }
}
