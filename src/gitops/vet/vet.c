// SPDX-License-Identifier: Apache-2.0
#include "gitops/vet/vet.h"

#include <fcntl.h>
#include <stdlib.h>
#include <time.h>

#include "gitops/layer.h"
#include "gitops/vet/vet_config.h"

#define RACY_NS 20000000

static void free_vetting(struct al_vetting *vetting)
{
    if (vetting->dir)
        al_fs_remove_tree(vetting->dir);
    free(vetting->git_dir);
    free(vetting->ids);
    free(vetting->dir);
    free(vetting->config.global);
    free(vetting->config.for_content_only);
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
    free(vetting->proxy);
    free(vetting->work_tree);
    free(vetting->ca_path);
    free(vetting->refused_key);
    al_strv_clear(&vetting->safe_directories);
    free(vetting);
}

static void identify_sources(struct al_vetting *vetting)
{
    vetting->ids = al_calloc(vetting->sources.count, sizeof(*vetting->ids));
    for (size_t i = 0; i < vetting->sources.count; i++)
        vetting->ids[i] = al_file_id_at(AT_FDCWD, vetting->sources.items[i]);
}

/* The stat of a source.  Relative to the git directory if that is open: it is the directory that
 * git will use, and the lookup is short. */
static struct al_file_id source_id(const struct al_location *at, const char *path)
{
    const char *name = at->git_fd >= 0 ? al_fs_beneath(at->git_dir, path) : NULL;

    if (!name || !*name)
        return al_file_id_at(AT_FDCWD, path);
    return strcmp(name, "HEAD") != 0 ? al_file_id_at(at->git_fd, name) : at->head;
}

static bool is_current(const struct al_vetting *vetting, const struct al_location *at)
{
    for (size_t i = 0; i < vetting->sources.count; i++) {
        struct al_file_id now = source_id(at, vetting->sources.items[i]);

        if (!al_file_id_equal(&now, &vetting->ids[i]))
            return false;
    }
    return true;
}

/* A file that changed just before it was read could change again with the same stat, since file
 * times tick coarsely.  Such a vetting is used but not remembered, as git does with its index
 * ("racy git"). */
static bool is_racy(const struct al_vetting *vetting, int64_t began_ns)
{
    for (size_t i = 0; i < vetting->sources.count; i++)
        if (vetting->ids[i].exists && vetting->ids[i].ctime_ns > began_ns - RACY_NS)
            return true;
    return false;
}

static int vet(const struct al_location *at, struct al_run_limits *budget,
               struct al_vetting **ret_vetting, struct al_error *err)
{
    struct al_vetting *vetting = al_calloc(1, sizeof(*vetting));
    struct timespec now;
    int r;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    vetting->git_dir = al_strdup(at->git_dir);
    r = al_vetting_read_config(at, budget, vetting, err);
    if (r < 0) {
        free_vetting(vetting);
        return r;
    }
    identify_sources(vetting);
    vetting->is_lasting = vetting->sources.count < AL_VETTING_SOURCES_MAX &&
                          !is_racy(vetting, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
    *ret_vetting = vetting;
    return 0;
}

/* With the lock held.  The remembered vetting of a repository, moved to the front. */
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
    if (!vetting || is_current(vetting, at))
        return vetting;
    al_vetting_unref(git, vetting);
    return NULL;
}

int al_vetting_get(const struct al_location *at, struct al_run_limits *budget,
                   const struct al_vetting **ret_vetting, bool *ret_new, struct al_error *err)
{
    struct al_vetting *vetting = get_current(at);
    int r;

    *ret_new = !vetting;
    if (!vetting) {
        r = vet(at, budget, &vetting, err);
        if (r < 0)
            return r;
        vetting->refs = 1;
    }
    *ret_vetting = vetting;
    return 0;
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
