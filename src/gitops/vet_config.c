// SPDX-License-Identifier: Apache-2.0
/* Reading a repository's configuration once, and making what stands in its way. */
#include "gitops/vet_config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/command.h"
#include "gitops/config_list.h"
#include "gitops/failure.h"
#include "gitops/layer.h"
#include "gitops/overrides.h"
#include "gitops/refs.h"
#include "gitops/run.h"
#include "gitops/user_config.h"
#include "gitops/vet.h"
#include "gitops/vet_files.h"
#include "gitops/vet_remotes.h"
#include "guard/root.h"

/* For a file that is to be empty: found missing by one look, where /dev/null is opened and read. */
#define NO_FILE "/nonexistent"

/* What is gathered while the configuration is read. */
struct gathering {
    const struct al_location *at;
    struct al_vetting *vetting;
    size_t drivers;
    bool leads_outside;             /* the repository includes a file outside the roots */
    struct al_strv pairs;           /* overrides of driver keys */
    struct al_str personal;         /* the stand-in for ~/.gitconfig … */
    struct al_str for_content_only; /* … and its part for commands that are reads_content_only */
    char *excludes, *attributes, *authorities; /* files of the person */
    bool has_name[2], has_email[2];            /* author, committer */
};

/* `~/x` as git expands it; a relative path is relative to the file that names it. */
static char *expand(const struct al_git *git, const char *origin, const char *path)
{
    al_auto(al_freep) char *dir = NULL;
    char *slash;

    if (al_starts_with(path, "~/") && git->home)
        return al_fs_join(git->home, path + 2);
    if (path[0] == '/' || !origin)
        return al_strdup(path);
    dir = al_strdup(origin);
    slash = strrchr(dir, '/');
    if (!slash)
        return al_strdup(path);
    *slash = '\0';
    return al_fs_join(dir, path);
}

static void replace(char **place, char *value)
{
    free(*place);
    *place = value;
}

static void note_identity(struct gathering *g, const char *key, bool given)
{
    if (!strcmp(key, "user.name"))
        g->has_name[0] = g->has_name[1] = given;
    else if (!strcmp(key, "user.email"))
        g->has_email[0] = g->has_email[1] = given;
    else if (!strcmp(key, "author.name"))
        g->has_name[0] |= given;
    else if (!strcmp(key, "committer.name"))
        g->has_name[1] |= given;
    else if (!strcmp(key, "author.email"))
        g->has_email[0] |= given;
    else if (!strcmp(key, "committer.email"))
        g->has_email[1] |= given;
}

/* "<section>.<name>.<variable>" with a value that is not empty: remember the name. */
static void note_driver(struct al_strv *names, const char *section, const char *variable,
                        const struct al_config_entry *entry)
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

static void note_filter(struct gathering *g, const struct al_config_entry *entry,
                        const char *variable)
{
    note_driver(&g->vetting->filters, "filter.", variable, entry);
    if (entry->of_repository)
        note_driver(&g->vetting->own_filters, "filter.", variable, entry);
}

static void take_personal(struct gathering *g, const struct al_config_entry *entry)
{
    const struct al_git *git = g->at->git;

    if (al_user_config_wants(entry->key)) {
        al_user_config_add(&g->personal, entry->key, entry->value);
        if (al_user_config_matters_to_content(entry->key))
            al_user_config_add(&g->for_content_only, entry->key, entry->value);
    }
    if (!strcmp(entry->key, "safe.directory")) {
        if (*entry->value)
            al_strv_take(&g->vetting->safe_directories, expand(git, NULL, entry->value));
        else
            al_strv_clear(&g->vetting->safe_directories);
    } else if (!strcmp(entry->key, "core.excludesfile")) {
        replace(&g->excludes, expand(git, entry->origin, entry->value));
    } else if (!strcmp(entry->key, "core.attributesfile")) {
        replace(&g->attributes, expand(git, entry->origin, entry->value));
    } else if (!strcmp(entry->key, "http.sslcainfo")) {
        replace(&g->authorities, expand(git, entry->origin, entry->value));
    }
}

/* The branch may be another name for one: then HEAD stays the same when that changes. */
static void depend_on_branch(const struct al_location *at, struct al_vetting *vetting)
{
    al_auto(al_strv_clear) struct al_strv refs = AL_STRV_INIT;

    al_ref_follow_head(at, &refs);
    for (size_t i = 0; i < refs.count; i++) {
        al_auto(al_freep) char *path = al_fs_join(at->common_dir, refs.items[i]);

        al_vetting_depend_on(vetting, path);
    }
}

/* Whether it is there or not does not matter: saying so would tell the agent. */
static bool is_outside(const struct al_location *at, const char *path)
{
    al_auto(al_freep) char *abs = NULL;
    al_auto(al_closep) int fd = -1;

    return al_roots_open(at->git->roots, path, O_PATH, &fd, &abs, NULL) == AL_ERR_SANDBOX;
}

/* Unlike an included file, this one is looked for from the top, where git blame runs. */
static void take_ignore_revs(struct gathering *g, const char *value)
{
    struct al_strv *files = &g->vetting->ignore_revs;
    al_auto(al_freep) char *path = expand(g->at->git, NULL, value);
    al_auto(al_freep) char *abs = al_fs_join(g->at->top, path);

    /* One more than allowed, so that blame can tell that there were more. */
    if (files->count <= AL_IGNORE_REVS_MAX && !al_strv_contains(files, abs))
        al_strv_take(files, al_take(&abs));
}

/* The last value counts, as in git; what the user wants is not for a repository to say. */
static void note_signing(struct al_vetting *vetting, const struct al_config_entry *entry)
{
    if (strcmp(entry->key, "commit.gpgsign") != 0)
        return;
    vetting->wants_signatures = al_git_is_true(entry->value);
    if (!entry->of_repository)
        vetting->user_wants_signatures = vetting->wants_signatures;
}

/* How the repository is stored, which only its own configuration can say. */
static void note_storage(struct al_vetting *vetting, const struct al_config_entry *entry)
{
    if (!entry->of_repository)
        return;
    if (!strcmp(entry->key, "extensions.objectformat"))
        vetting->is_sha256 = !strcmp(entry->value, "sha256");
    if (!strcmp(entry->key, "extensions.refstorage"))
        vetting->has_reftable = strcmp(entry->value, "files") != 0;
}

static void take(void *payload, const struct al_config_entry *entry)
{
    struct gathering *g = payload;
    bool of_file = entry->origin != NULL;
    al_auto(al_freep) char *origin = of_file ? al_fs_join(g->at->top, entry->origin) : NULL;

    if (g->drivers > AL_DRIVER_KEYS_MAX)
        return; /* it is refused: nothing more is kept of it */
    al_vetting_depend_on(g->vetting, origin);
    note_identity(g, entry->key, *entry->value != '\0');
    note_storage(g->vetting, entry);
    note_signing(g->vetting, entry);
    note_filter(g, entry, "clean");
    note_filter(g, entry, "smudge");
    note_filter(g, entry, "process");
    note_driver(&g->vetting->merge_drivers, "merge.", "driver", entry);
    if (entry->of_repository && !strcmp(entry->key, "blame.ignorerevsfile") && *entry->value)
        take_ignore_revs(g, entry->value);
    if (!strcmp(entry->key, "core.hookspath")) {
        replace(&g->vetting->hooks_path, expand(g->at->git, NULL, entry->value));
        g->vetting->hooks_path_is_personal = !entry->of_repository;
    }
    if (entry->of_repository && al_starts_with(entry->key, "includeif.onbranch:"))
        depend_on_branch(g->at, g->vetting);
    if (!strcmp(entry->key, "include.path") ||
        (al_starts_with(entry->key, "includeif.") && al_ends_with(entry->key, ".path"))) {
        al_auto(al_freep) char *target = expand(g->at->git, origin, entry->value);

        al_vetting_depend_on(g->vetting, target); /* it may be absent now and there later */
        g->leads_outside |= entry->of_repository && is_outside(g->at, target);
    }
    al_vetting_note_remote(g->vetting, entry);
    if (!entry->of_repository)
        take_personal(g, entry);
    else
        g->drivers += al_overrides_add_for(&g->pairs, entry->key);
}

/*
 * One answer for an include that leads outside and for what git cannot read at all: git's own words
 * would tell what lies there.  Only a wrong line of the repository's own file is said as git says
 * it.
 */
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

static int list_config(struct gathering *g, struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_config_list_clear) struct al_config_list list = AL_CONFIG_LIST_INIT(take, g);
    int r;

    command.class = AL_GIT_CONFIG;
    al_strv_adds(&command.argv, "git", "config", "--list", "-z", "--show-scope", "--show-origin",
                 "--includes", NULL);
    r = al_git_run(g->at, &command, &(struct al_git_run){ .sink = { al_config_list_add, &list } },
                   budget, &output, err);
    if (r < 0)
        return r;
    if (!al_git_read_well(&output) || g->leads_outside)
        return unreadable(g->at, &output, err);
    if (g->drivers > AL_DRIVER_KEYS_MAX)
        return al_error_set(err, AL_ERR_SANDBOX,
                            "The repository's configuration sets more than %d driver keys; remove "
                            "what is not needed from its config file",
                            AL_DRIVER_KEYS_MAX);
    return 0;
}

/* Files whose appearance would change the answer, beside those git read. */
static void depend_on_standard_places(const struct al_location *at, struct al_vetting *vetting)
{
    const struct al_git *git = at->git;
    al_auto(al_freep) char *config = al_fs_join(at->common_dir, "config");
    al_auto(al_freep) char *worktree = al_fs_join(at->git_dir, "config.worktree");
    al_auto(al_freep) char *head = al_fs_join(at->git_dir, "HEAD");
    al_auto(al_freep) char *place = al_user_config_place(git, "config");

    al_vetting_depend_on(vetting, config);
    al_vetting_depend_on(vetting, worktree);
    al_vetting_depend_on(vetting, head); /* includeIf "onbranch:…" */
    al_vetting_depend_on(vetting, "/etc/gitconfig");
    al_vetting_depend_on(vetting, place);
    if (git->home) {
        al_auto(al_freep) char *dot = al_fs_join(git->home, ".gitconfig");

        al_vetting_depend_on(vetting, dot);
    }
}

/* A configuration file of ours, or the name of none: git then does not even open it. */
static int write_config(struct gathering *g, const char *name, const struct al_str *text,
                        char **ret_path, struct al_error *err)
{
    *ret_path =
        text->len ? al_vetting_write_file(g->at->git, g->vetting, name, text) : al_strdup(NO_FILE);
    return *ret_path ? 0 : al_error_errno(err, errno, "cannot write a private configuration file");
}

static void add_overrides(struct gathering *g, const char *excludes, const char *attributes)
{
    al_auto(al_strv_clear) struct al_strv pairs = AL_STRV_INIT;
    struct al_vetting *vetting = g->vetting;
    size_t count;

    al_overrides_add_always(&pairs, excludes ? excludes : NO_FILE,
                            attributes ? attributes : NO_FILE);
    count = (pairs.count + g->pairs.count) / 2;
    vetting->config.noverrides = count;
    for (size_t i = 0; i < count; i++) {
        char **pair =
            2 * i < pairs.count ? &pairs.items[2 * i] : &g->pairs.items[2 * i - pairs.count];

        al_strv_addf(&vetting->config.overrides, "GIT_CONFIG_KEY_%zu=%s", i, pair[0]);
        al_strv_addf(&vetting->config.overrides, "GIT_CONFIG_VALUE_%zu=%s", i, pair[1]);
    }
}

static int build_env(struct gathering *g, struct al_error *err)
{
    struct al_vetting *vetting = g->vetting;
    al_auto(al_freep) char *excludes =
        al_vetting_copy_user_file(g->at->git, g->vetting, g->excludes, "ignore");
    al_auto(al_freep) char *attributes =
        al_vetting_copy_user_file(g->at->git, g->vetting, g->attributes, "attributes");
    int r = write_config(g, "config", &g->personal, &vetting->config.global, err);

    if (r == 0)
        r = write_config(g, "config-of-content", &g->for_content_only,
                         &vetting->config.for_content_only, err);
    if (r < 0)
        return r;
    add_overrides(g, excludes, attributes);
    vetting->attributes_path = al_take(&attributes);
    vetting->excludes_path = al_take(&excludes);
    if (g->authorities) {
        vetting->ca_path =
            al_vetting_copy_user_file(g->at->git, g->vetting, g->authorities, "authorities");
        if (!vetting->ca_path) /* it is still not the machine's that count */
            vetting->ca_path = al_strdup("/dev/null");
    }
    vetting->has_identity = g->has_name[0] && g->has_name[1] && g->has_email[0] && g->has_email[1];
    return 0;
}

int al_vetting_read_config(const struct al_location *at, struct al_run_limits *budget,
                           struct al_vetting *vetting, struct al_error *err)
{
    struct gathering g = {
        .at = at, .vetting = vetting, .personal = AL_STR_INIT, .for_content_only = AL_STR_INIT
    };
    int r;

    depend_on_standard_places(at, vetting);
    r = list_config(&g, budget, err);
    if (r == 0)
        r = build_env(&g, err);
    al_strv_clear(&g.pairs);
    al_str_clear(&g.personal);
    al_str_clear(&g.for_content_only);
    free(g.excludes);
    free(g.attributes);
    free(g.authorities);
    return r;
}
