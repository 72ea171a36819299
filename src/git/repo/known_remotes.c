// SPDX-License-Identifier: Apache-2.0
#include "git/repo/known_remotes.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "git/layer.h"
#include "git/repo/remotes.h"
#include "git/vet/vet.h"
#include "guard/root.h"

#define NAMES_MAX   512  /* remotes of one repository; if there are more, all are new */
#define ENTRIES_MAX 8192 /* addresses of one repository */
#define TIPS_MAX    100000

struct repository {
    struct al_file_id id; /* device and inode of the common directory */
    /* "<remote> LF <address>" that are known or accepted: for fetches only, or for pushes too */
    struct al_strv fetched, pushed;
    struct al_strv tips; /* of remote-tracking branches that were seen; sorted */
};

struct al_known_remotes {
    pthread_mutex_t lock; /* guards the members below */
    int64_t began_ns;     /* start of the session, CLOCK_REALTIME, for comparison with file times */
    struct repository *items;
    size_t count;
};

struct al_known_remotes *al_known_remotes_new(void)
{
    struct al_known_remotes *known = al_calloc(1, sizeof(*known));

    (void)pthread_mutex_init(&known->lock, NULL);
    known->began_ns = al_clock_ns();
    return known;
}

void al_known_remotes_free(struct al_known_remotes *known)
{
    if (!known)
        return;
    for (size_t i = 0; i < known->count; i++) {
        al_strv_clear(&known->items[i].fetched);
        al_strv_clear(&known->items[i].pushed);
        al_strv_clear(&known->items[i].tips);
    }
    free(known->items);
    (void)pthread_mutex_destroy(&known->lock);
    free(known);
}

/* Call it without the lock: the file system may not answer. */
static struct al_file_id id_of(const struct al_repo *repo)
{
    return al_file_id_at(AT_FDCWD, repo->at.common_dir);
}

/* The functions up to remember() are called with the lock held. */

static struct repository *find(const struct al_known_remotes *known, const struct al_file_id *id)
{
    for (size_t i = 0; id->exists && i < known->count; i++)
        if (known->items[i].id.dev == id->dev && known->items[i].id.ino == id->ino)
            return &known->items[i];
    return NULL;
}

static void allow_all(struct repository *known_repo, const char *name, const struct al_strv *urls,
                      bool to_push)
{
    struct al_strv *to = to_push ? &known_repo->pushed : &known_repo->fetched;

    for (size_t i = 0; i < urls->count && to->count < ENTRIES_MAX; i++) {
        al_auto(al_freep) char *entry = al_asprintf("%s\n%s", name, urls->items[i]);

        if (!al_strv_contains(to, entry))
            al_strv_take(to, al_take(&entry));
    }
}

static struct repository *add(struct al_known_remotes *known, const struct al_file_id *id)
{
    if (!id->exists || known->count == AL_KNOWN_REPOSITORIES_MAX)
        return NULL;
    known->items = al_reallocarray(known->items, known->count + 1, sizeof(*known->items));
    known->items[known->count] = (struct repository){ .id = *id };
    return &known->items[known->count++];
}

/* Whether a source of the configuration is a file that an agent could write.  HEAD and branches do
 * not count: they change all the time and say nothing about remotes. */
static bool may_be_an_agents(const struct al_repo *repo, const char *path)
{
    const char *name = al_fs_beneath(repo->at.common_dir, path);

    if (name && al_starts_with(name, "refs/"))
        return false;
    name = al_fs_beneath(repo->at.git_dir, path);
    if (name && !strcmp(name, "HEAD"))
        return false;
    return al_roots_find(repo->at.git->roots, path);
}

static bool changed_since(const struct al_repo *repo, int64_t began_ns)
{
    const struct al_vetting *vetting = repo->vetting;

    for (size_t i = 0; i < vetting->sources.count; i++)
        if (vetting->ids[i].exists && vetting->ids[i].ctime_ns > began_ns &&
            may_be_an_agents(repo, vetting->sources.items[i]))
            return true;
    return vetting->sources.count >= AL_VETTING_SOURCES_MAX;
}

static void remember(struct al_known_remotes *known, const struct al_repo *repo,
                     const struct al_file_id *id)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    struct repository *known_repo = find(known, id) ? NULL : add(known, id);

    if (!known_repo || changed_since(repo, known->began_ns))
        return;
    al_remote_names(repo, &names);
    for (size_t i = 0; names.count <= NAMES_MAX && i < names.count; i++) {
        al_auto(al_strv_clear) struct al_strv urls = AL_STRV_INIT;
        al_auto(al_strv_clear) struct al_strv push_urls = AL_STRV_INIT;

        (void)al_remote_addresses(repo, names.items[i], &urls, &push_urls);
        allow_all(known_repo, names.items[i], &urls, true);
        allow_all(known_repo, names.items[i], &push_urls, true);
    }
}

void al_known_remotes_note(const struct al_repo *repo)
{
    struct al_known_remotes *known = repo->at.git->known_remotes;
    const struct al_file_id id = id_of(repo);

    (void)pthread_mutex_lock(&known->lock);
    remember(known, repo, &id);
    (void)pthread_mutex_unlock(&known->lock);
}

/* Take the lock; NULL: it is not known. */
static struct repository *lock(const struct al_repo *repo)
{
    const struct al_file_id id = id_of(repo);

    (void)pthread_mutex_lock(&repo->at.git->known_remotes->lock);
    return find(repo->at.git->known_remotes, &id);
}

static void unlock(const struct al_repo *repo)
{
    (void)pthread_mutex_unlock(&repo->at.git->known_remotes->lock);
}

bool al_remote_address_is_new(const struct al_repo *repo, const char *name, const char *address,
                              enum al_direction direction)
{
    al_auto(al_freep) char *entry = al_asprintf("%s\n%s", name, address);
    const struct repository *known_repo = lock(repo);
    const bool is_known =
        known_repo && (al_strv_contains(&known_repo->pushed, entry) ||
                       (direction == AL_FETCHES && al_strv_contains(&known_repo->fetched, entry)));

    unlock(repo);
    return !is_known;
}

void al_remote_accept(const struct al_repo *repo, const struct al_remote *remote,
                      enum al_direction direction)
{
    const bool to_push = direction == AL_PUSHES;
    struct repository *known_repo = lock(repo);

    if (known_repo)
        allow_all(known_repo, remote->name, to_push ? &remote->push_urls : &remote->urls, to_push);
    unlock(repo);
}

static void forget(struct al_strv *entries, const char *name)
{
    al_auto(al_freep) char *beginning = al_asprintf("%s\n", name);
    struct al_strv kept = AL_STRV_INIT;

    for (size_t i = 0; i < entries->count; i++)
        if (!al_starts_with(entries->items[i], beginning))
            al_strv_add(&kept, entries->items[i]);
    al_strv_clear(entries);
    *entries = kept;
}

void al_remote_forget(const struct al_repo *repo, const char *name)
{
    struct repository *known_repo = lock(repo);

    if (known_repo) {
        forget(&known_repo->fetched, name);
        forget(&known_repo->pushed, name);
    }
    unlock(repo);
}

void al_remote_tips_note(const struct al_repo *repo, struct al_strv *tips)
{
    struct repository *known_repo = lock(repo);
    const size_t before = known_repo ? known_repo->tips.count : 0;

    for (size_t i = 0; known_repo && i < tips->count; i++) {
        struct al_strv old = { .items = known_repo->tips.items, .count = before };

        if (known_repo->tips.count < TIPS_MAX && !al_strv_contains_sorted(&old, tips->items[i]))
            al_strv_add(&known_repo->tips, tips->items[i]);
    }
    if (known_repo && known_repo->tips.count > before)
        al_strv_sort(&known_repo->tips);
    unlock(repo);
}

void al_remote_tips_add(const struct al_repo *repo, struct al_strv *out)
{
    const struct repository *known_repo = lock(repo);

    for (size_t i = 0; known_repo && i < known_repo->tips.count; i++)
        al_strv_add(out, known_repo->tips.items[i]);
    unlock(repo);
}
