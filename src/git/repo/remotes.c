// SPDX-License-Identifier: Apache-2.0
#include "git/repo/remotes.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/clock.h"
#include "git/layer.h"
#include "git/vet/vet.h"
#include "guard/arg.h"
#include "guard/root.h"
#include "guard/text.h"
#include "guard/url.h"

/* The variable of a key "<section>.<name>.<variable>"; NULL when the key is another one. */
static const char *variable_of(const char *key, const char *section, const char *name)
{
    size_t len = strlen(section), name_len = strlen(name);

    if (strncmp(key, section, len) != 0 || strncmp(key + len, name, name_len) != 0 ||
        key[len + name_len] != '.' || strchr(key + len + name_len + 1, '.'))
        return NULL;
    return key + len + name_len + 1;
}

void al_remote_clear(struct al_remote *remote)
{
    free(remote->name);
    al_strv_clear(&remote->urls);
    al_strv_clear(&remote->push_urls);
    al_strv_clear(&remote->refspecs);
    *remote = AL_REMOTE_INIT;
}

int al_remote_error(struct al_error *err, const char *remedy, const char *fmt, ...)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    va_list args;

    va_start(args, fmt);
    al_str_addv(&text, fmt, args);
    va_end(args);
    return al_error_remedy(
        al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_REMOTE_ERROR, "%s", text.buf), err,
        remedy);
}

char *al_remote_rewritten(const struct al_vetting *vetting, const char *url, const char *variable,
                          const char *otherwise)
{
    const struct al_strv *rules = &vetting->rewrites; /* base, variable, prefix, base, ... */
    const char *base = NULL, *beginning = "";

    for (size_t i = 0; i + 2 < rules->count; i += 3) {
        const char *candidate = rules->items[i + 2];

        if (!strcmp(rules->items[i + 1], variable) && al_starts_with(url, candidate) &&
            (!base || strlen(candidate) > strlen(beginning))) {
            base = rules->items[i];
            beginning = candidate;
        }
    }
    return base ? al_asprintf("%s%s", base, url + strlen(beginning)) : al_strdup(otherwise);
}

bool al_remote_addresses(const struct al_repo *repo, const char *name, struct al_strv *ret_urls,
                         struct al_strv *ret_push_urls)
{
    const struct al_vetting *vetting = repo->vetting;
    const struct al_strv *values = &vetting->remotes;
    al_auto(al_strv_clear) struct al_strv plain = AL_STRV_INIT;

    for (size_t i = 0; i + 1 < values->count; i += 2) {
        const char *variable = variable_of(values->items[i], "remote.", name);

        if (variable && !strcmp(variable, "url"))
            al_strv_add(&plain, values->items[i + 1]);
        else if (variable && !strcmp(variable, "pushurl"))
            al_strv_take(ret_push_urls, al_remote_rewritten(vetting, values->items[i + 1],
                                                            "insteadof", values->items[i + 1]));
    }
    for (size_t i = 0; i < plain.count; i++)
        al_strv_take(ret_urls,
                     al_remote_rewritten(vetting, plain.items[i], "insteadof", plain.items[i]));
    for (size_t i = 0, own = ret_push_urls->count; !own && i < plain.count; i++)
        al_strv_take(ret_push_urls, al_remote_rewritten(vetting, plain.items[i], "pushinsteadof",
                                                        ret_urls->items[i]));
    if (!ret_urls->count) /* git then fetches from the push address */
        al_strv_add_all(ret_urls, ret_push_urls);
    return ret_urls->count > 0;
}

/* The last value of a key; NULL: it is not set. */
static const char *value_of(const struct al_repo *repo, const char *key)
{
    const struct al_strv *values = &repo->vetting->remotes;
    const char *found = NULL;

    for (size_t i = 0; i + 1 < values->count; i += 2)
        if (!strcmp(values->items[i], key))
            found = values->items[i + 1];
    return found;
}

static const char *branch_value(const struct al_repo *repo, const char *branch,
                                const char *variable)
{
    al_auto(al_freep) char *key = al_asprintf("branch.%s.%s", branch, variable);

    return value_of(repo, key);
}

char *al_remote_push_default(const struct al_repo *repo, const char *branch)
{
    const char *own = branch_value(repo, branch, "pushremote");

    return al_strdup(own ? own : value_of(repo, "remote.pushdefault"));
}

void al_remote_names(const struct al_repo *repo, struct al_strv *ret_names)
{
    const struct al_strv *values = &repo->vetting->remotes;

    for (size_t i = 0; i + 1 < values->count; i += 2) {
        const char *key = values->items[i];
        const char *first = key + strlen("remote."), *last = strrchr(key, '.');
        al_auto(al_freep) char *name = NULL;

        if (!al_starts_with(key, "remote.") || last < first ||
            (strcmp(last, ".url") != 0 && strcmp(last, ".pushurl") != 0))
            continue;
        name = al_strndup(first, (size_t)(last - first));
        if (!al_strv_contains(ret_names, name))
            al_strv_add(ret_names, name);
    }
}

/* The destination of a refspec; NULL: none. */
static const char *target_of(const char *refspec)
{
    const char *colon = strchr(refspec, ':');

    return colon && colon[1] ? colon + 1 : NULL;
}

/* A fetch may write only remote-tracking branches and tags, no reference of the user's own. */
static int check_refspec(const char *refspec, struct al_error *err)
{
    const char *target = target_of(refspec);
    al_auto(al_freep) char *shown = NULL;

    if (!target || al_starts_with(target, "refs/remotes/") || al_starts_with(target, "refs/tags/"))
        return 0;
    shown = al_text_sanitize_line(refspec);
    return al_remote_error(err,
                           "The user can fetch with git itself, or let remote.<name>.fetch write "
                           "below refs/remotes/.",
                           "The refspec '%s' of the remote writes to '%s'", shown,
                           strchr(shown, ':') + 1);
}

/* Refuse settings of the repository that no override can neutralise. */
static int check_configuration(const struct al_vetting *vetting, struct al_error *err)
{
    al_auto(al_freep) char *key = NULL;

    if (vetting->remotes.count / 2 > AL_REMOTE_VALUES_MAX)
        return al_remote_error(err, "Remove what is not needed from its config file.",
                               "The repository configures more than %d values for remotes and "
                               "branches",
                               AL_REMOTE_VALUES_MAX);
    if (!vetting->refused_key)
        return 0;
    key = al_url_shown(vetting->refused_key);
    return al_remote_error(err,
                           "The user can move it to their own ~/.gitconfig, or remove it with git "
                           "config --unset-all.",
                           "The repository's configuration sets '%s', which could lead elsewhere "
                           "than its remotes say",
                           key);
}

static int take_value(struct al_remote *remote, const char *variable, const char *value,
                      struct al_error *err)
{
    if (!strcmp(variable, "fetch")) {
        al_strv_add(&remote->refspecs, value);
        return check_refspec(value, err);
    }
    if (!strcmp(variable, "tagopt"))
        remote->tag_option = !strcmp(value, "--tags")      ? "--tags"
                             : !strcmp(value, "--no-tags") ? "--no-tags"
                                                           : NULL;
    if (!strcmp(variable, "vcs"))
        return al_remote_error(err, "The user can use it with git itself.",
                               "The remote is reached through a helper, which airlock does not "
                               "start");
    return 0;
}

int al_remote_find(const struct al_repo *repo, const char *name, struct al_remote *remote,
                   struct al_error *err)
{
    const struct al_strv *values = &repo->vetting->remotes;
    al_auto(al_freep) char *shown = al_text_sanitize_line(name);
    int r = check_configuration(repo->vetting, err);

    remote->name = al_strdup(name);
    if (r < 0)
        return r;
    if (!al_remote_addresses(repo, remote->name, &remote->urls, &remote->push_urls))
        return al_error_about(
            al_remote_error(err, "See git_remote with action list; action add makes one.",
                            "There is no remote '%s'", shown),
            err, AL_SUBJECT_REMOTE, shown);
    if (remote->urls.count > AL_REMOTE_URLS_MAX || remote->push_urls.count > AL_REMOTE_URLS_MAX)
        return al_remote_error(err, "Remove what is not needed with git remote set-url --delete.",
                               "The remote '%s' has more than %d addresses", shown,
                               AL_REMOTE_URLS_MAX);
    for (size_t i = 0; r == 0 && i + 1 < values->count; i += 2) {
        const char *variable = variable_of(values->items[i], "remote.", remote->name);

        if (variable)
            r = take_value(remote, variable, values->items[i + 1], err);
    }
    return r;
}

/* The destination of a reference by the refspec "[+]<from>:<to>", each side with at most one '*';
 * NULL when the refspec does not match. */
static char *mapped(const char *refspec, const char *ref)
{
    const char *from = refspec + (*refspec == '+'), *to = target_of(refspec);
    const char *star, *to_star;
    size_t from_len, head, tail, ref_len = strlen(ref);

    if (!to)
        return NULL;
    from_len = (size_t)(to - 1 - from);
    star = memchr(from, '*', from_len);
    to_star = strchr(to, '*');
    if (!star || !to_star)
        return !star && ref_len == from_len && !strncmp(from, ref, from_len) ? al_strdup(to) : NULL;
    head = (size_t)(star - from);
    tail = from_len - head - 1;
    if (ref_len < head + tail || strncmp(from, ref, head) != 0 ||
        strncmp(star + 1, ref + ref_len - tail, tail) != 0)
        return NULL;
    return al_asprintf("%.*s%.*s%s", (int)(to_star - to), to, (int)(ref_len - head - tail),
                       ref + head, to_star + 1);
}

char *al_remote_tracking(const struct al_remote *remote, const char *branch)
{
    al_auto(al_freep) char *ref = al_asprintf("refs/heads/%s", branch);

    for (size_t i = 0; i < remote->refspecs.count; i++) {
        char *tracking = mapped(remote->refspecs.items[i], ref);

        if (tracking)
            return tracking;
    }
    return NULL;
}

char *al_remote_upstream(const struct al_repo *repo, const struct al_remote *remote,
                         const char *branch)
{
    static const char heads[] = "refs/heads/";
    const char *of = branch_value(repo, branch, "remote");
    const char *merge = branch_value(repo, branch, "merge");

    if (!of || !merge || strcmp(of, remote->name) != 0 || !al_starts_with(merge, heads) ||
        al_arg_check_branch("branch", merge + strlen(heads), NULL) < 0)
        return NULL;
    return al_strdup(merge + strlen(heads));
}

bool al_remote_follows(const struct al_repo *repo, const char *branch)
{
    return branch_value(repo, branch, "merge");
}

char *al_remote_default(const struct al_repo *repo, const char *branch)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    const char *of = branch ? branch_value(repo, branch, "remote") : NULL;

    al_remote_names(repo, &names);
    if (of && branch_value(repo, branch, "merge") && al_strv_contains(&names, of))
        return al_strdup(of);
    return al_strdup(names.count == 1 ? names.items[0] : AL_DEFAULT_REMOTE);
}

/* --- Known remotes --- */

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
    /* without the lock: the file system may not answer */
    const struct al_file_id id = al_file_id_at(AT_FDCWD, repo->at.common_dir);

    (void)pthread_mutex_lock(&known->lock);
    remember(known, repo, &id);
    (void)pthread_mutex_unlock(&known->lock);
}

/* Take the lock; NULL: it is not known. */
static struct repository *lock(const struct al_repo *repo)
{
    const struct al_file_id id = al_file_id_at(AT_FDCWD, repo->at.common_dir);

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
