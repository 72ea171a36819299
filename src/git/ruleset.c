// SPDX-License-Identifier: Apache-2.0
#include "git/ruleset.h"

#include <stdlib.h>

#include "base/clock.h"
#include "git/command.h"
#include "git/layer.h"
#include "guard/env.h"
#include "guard/root.h"

#define RULES_MAX 256

/*
 * The time for which a ruleset is used without a check of its paths.  A ruleset is bound to the
 * inodes that were opened for it: a stale one, for example after a package upgrade, allows nothing
 * new and refuses the new files.  The check is therefore not part of the confinement.  A check
 * for each child costs 2 % of a short call, and building the ruleset for each 4 %.
 */
#define RECHECK_MS 200

struct rules {
    struct al_confine_rule items[RULES_MAX];
    size_t count;
};

static void add(struct rules *rules, const char *path, unsigned rights, bool optional)
{
    if (path && rules->count < RULES_MAX)
        rules->items[rules->count++] =
            (struct al_confine_rule){ .path = path, .rights = rights, .optional = optional };
}

static void add_system(struct rules *rules, const struct al_git *git)
{
    /* Not /etc/passwd: a link in .git could bring a file that is readable here into an answer.
     * With user.useConfigOnly git does not ask for the user's name. */
    static const char *const readable[] = {
        "/usr/lib",
        "/lib",
        "/lib64",
        "/usr/lib64",
        "/usr/share/git-core",
        "/usr/share/locale",
        "/usr/share/zoneinfo",
        "/etc/ld.so.cache",
        "/etc/localtime",
        "/dev/urandom",
    };

    /* If a program is gone, execve fails and names it. */
    add(rules, git->program, AL_RIGHT_EXECUTE | AL_RIGHT_READ, true);
    add(rules, git->core, AL_RIGHT_EXECUTE | AL_RIGHT_READ, true);
    add(rules, git->interp, AL_RIGHT_EXECUTE | AL_RIGHT_READ, false);
    for (size_t i = 0; i < AL_COUNT(readable); i++)
        add(rules, readable[i], AL_RIGHT_READ, true);
    add(rules, "/dev/null", AL_RIGHT_READ | AL_RIGHT_WRITE_FILE, false);
}

/* Files that the resolver reads. */
static void add_resolver(struct rules *rules)
{
    static const char *const readable[] = {
        "/etc/resolv.conf", "/etc/hosts",    "/etc/nsswitch.conf",
        "/etc/host.conf",   "/etc/gai.conf", "/etc/services",
    };

    for (size_t i = 0; i < AL_COUNT(readable); i++)
        add(rules, readable[i], AL_RIGHT_READ, true);
}

/* git-remote-https is a link to git-remote-http, or a copy.  Certificates, but no private keys. */
static void add_http(struct rules *rules, const struct al_git *git)
{
    static const char *const readable[] = {
        "/etc/ssl/certs",
        "/etc/ssl/openssl.cnf",
        "/etc/gnutls",
        "/etc/pki/tls/certs",
        "/etc/pki/ca-trust/extracted",
        "/usr/share/ca-certificates",
        "/usr/local/share/ca-certificates",
    };
    static const char *const named[] = { "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO",
                                         "GIT_SSL_CAPATH" };

    add(rules, git->http_helper, AL_RIGHT_EXECUTE | AL_RIGHT_READ, true);
    for (size_t i = 0; i < AL_COUNT(readable); i++)
        add(rules, readable[i], AL_RIGHT_READ, true);
    for (size_t i = 0; i < AL_COUNT(named); i++)
        add(rules, al_env_get(&git->env_network, named[i]), AL_RIGHT_READ, true);
    add(rules, git->self, AL_RIGHT_EXECUTE | AL_RIGHT_READ, true);
}

/* ssh looks up the user's name and home, hence passwd and group. */
static void add_ssh(struct rules *rules, const struct al_git *git)
{
    add(rules, git->ssh, AL_RIGHT_EXECUTE | AL_RIGHT_READ, true);
    add(rules, git->self, AL_RIGHT_EXECUTE | AL_RIGHT_READ, true);
    add(rules, "/etc/ssh", AL_RIGHT_READ, true);
    add(rules, "/etc/passwd", AL_RIGHT_READ, true);
    add(rules, "/etc/group", AL_RIGHT_READ, true);
    add(rules, git->ssh_dir, AL_RIGHT_READ, true);
}

/* By descriptor: a root inside another root could be replaced by a link to anywhere. */
static int add_roots(struct rules *rules, const struct al_roots *agent_roots, unsigned rights,
                     struct al_error *err)
{
    const struct al_roots *roots = al_roots_parts(agent_roots);

    if (roots->count > RULES_MAX - rules->count)
        return al_error_set(err, AL_ERR_SANDBOX, "Too many roots for one confinement: %zu",
                            roots->count);
    for (size_t i = 0; i < roots->count; i++) {
        const struct al_root *root = &roots->items[i];

        if (!al_root_is_released(root))
            rules->items[rules->count++] = (struct al_confine_rule){
                .path = root->path, .rights = rights, .by_fd = true, .fd = root->fd
            };
    }
    return 0;
}

static void add_open(struct rules *rules, const char *what, int fd, unsigned rights)
{
    rules->items[rules->count++] =
        (struct al_confine_rule){ .path = what, .rights = rights, .by_fd = true, .fd = fd };
}

int al_git_bare_ruleset(struct al_git *git, int dir_fd, const struct al_location *lender,
                        struct al_ruleset **ret_ruleset, struct al_error *err)
{
    struct rules rules = { .count = 0 };
    int r = 0;

    *ret_ruleset = NULL;
    if (al_confine_abi() == 0)
        return 0;
    add_system(&rules, git);
    add_open(&rules, "the store", dir_fd, AL_RIGHT_READ | AL_RIGHT_WRITE);
    if (lender) /* the user's ignore rules are there */
        add(&rules, git->private_dir, AL_RIGHT_READ, false);
    if (lender && lender->is_own)
        add_open(&rules, lender->dir, lender->dir_fd, AL_RIGHT_READ);
    else if (lender)
        r = add_roots(&rules, git->roots, AL_RIGHT_READ, err);
    return r < 0 ? r : al_ruleset_new(rules.items, rules.count, false, ret_ruleset, err);
}

/* What a class may use besides the repository. */
static void add_class(struct rules *rules, const struct al_git *git, enum al_git_class class)
{
    add_system(rules, git);
    if (class == AL_GIT_CONFIG)
        add(rules, "/", AL_RIGHT_READ, false);
    add(rules, git->private_dir, AL_RIGHT_READ, false);
    if (al_git_class_connects(class))
        add_resolver(rules);
    if (class == AL_GIT_HTTP)
        add_http(rules, git);
    if (class == AL_GIT_SSH)
        add_ssh(rules, git);
}

static int build(struct al_git *git, enum al_git_class class, struct al_ruleset **ret_ruleset,
                 struct al_error *err)
{
    const bool writes = al_git_class_writes(class);
    const unsigned on_roots =
        AL_RIGHT_READ | (writes && class != AL_GIT_SCRATCH ? AL_RIGHT_WRITE : 0);
    al_auto(al_freep) char *tmp = al_fs_join(git->private_dir, "tmp");
    struct rules rules = { .count = 0 };
    int r;

    add_class(&rules, git, class);
    if (writes)
        add(&rules, tmp, AL_RIGHT_READ | AL_RIGHT_WRITE, false);
    r = add_roots(&rules, git->roots, on_roots, err);
    return r < 0 ? r
                 : al_ruleset_new(rules.items, rules.count, al_git_class_connects(class),
                                  ret_ruleset, err);
}

int al_git_own_ruleset(const struct al_location *at, enum al_git_class class,
                       struct al_ruleset **ret_ruleset, struct al_error *err)
{
    unsigned rights = AL_RIGHT_READ | (al_git_class_writes(class) ? AL_RIGHT_WRITE : 0);
    struct rules rules = { .count = 0 };

    *ret_ruleset = NULL;
    if (al_confine_abi() == 0)
        return 0;
    add_class(&rules, at->git, class);
    add_open(&rules, at->dir, at->dir_fd, rights);
    return al_ruleset_new(rules.items, rules.count, al_git_class_connects(class), ret_ruleset, err);
}

/* With the lock held.  A call may still use a ruleset that another call found stale, hence the
 * count. */
static void drop(struct al_held_ruleset *held)
{
    if (!held || --held->refs > 0)
        return;
    al_ruleset_free(held->ruleset);
    free(held);
}

/* Build a ruleset without the lock: a path on a dead file server then stops only this call. */
static int make(struct al_git *git, enum al_git_class class, struct al_held_ruleset **ret_held,
                struct al_error *err)
{
    struct al_held_ruleset fresh = { .checked_at_ms = al_clock_ms(), .refs = 1 };
    int r = build(git, class, &fresh.ruleset, err);

    if (r < 0)
        return r;
    *ret_held = al_calloc(1, sizeof(**ret_held));
    **ret_held = fresh;
    return 0;
}

/* A current ruleset, with a reference for the caller; NULL when one has to be built. */
static struct al_held_ruleset *get_current(struct al_git *git, enum al_git_class class, bool now)
{
    const int64_t now_ms = al_clock_ms();
    struct al_held_ruleset *held;
    bool check = now;

    (void)pthread_mutex_lock(&git->lock);
    held = git->rulesets[class];
    if (held) {
        held->refs++;
        check |= now_ms - held->checked_at_ms >= RECHECK_MS;
    }
    (void)pthread_mutex_unlock(&git->lock);
    if (!held || !check)
        return held;
    if (!al_ruleset_is_current(held->ruleset)) {
        al_git_ruleset_put(git, held);
        return NULL;
    }
    (void)pthread_mutex_lock(&git->lock);
    if (held->checked_at_ms < now_ms)
        held->checked_at_ms = now_ms;
    (void)pthread_mutex_unlock(&git->lock);
    return held;
}

int al_git_ruleset(struct al_git *git, enum al_git_class class, bool now,
                   struct al_held_ruleset **ret_held, struct al_error *err)
{
    struct al_held_ruleset *held;
    int r;

    *ret_held = NULL;
    if (al_confine_abi() == 0)
        return 0; /* al_git_new() refuses when confinement is required */
    held = get_current(git, class, now);
    if (held) {
        *ret_held = held;
        return 0;
    }
    r = make(git, class, &held, err);
    if (r < 0)
        return r;
    (void)pthread_mutex_lock(&git->lock);
    drop(git->rulesets[class]); /* if two calls build one at the same time, the last one stays */
    git->rulesets[class] = held;
    held->refs++;
    *ret_held = held;
    (void)pthread_mutex_unlock(&git->lock);
    return 0;
}

void al_git_forget_rulesets(struct al_git *git)
{
    (void)pthread_mutex_lock(&git->lock);
    for (int i = 0; i < AL_GIT_CLASSES; i++)
        drop(al_take(&git->rulesets[i]));
    (void)pthread_mutex_unlock(&git->lock);
}

void al_git_ruleset_put(struct al_git *git, struct al_held_ruleset *held)
{
    (void)pthread_mutex_lock(&git->lock);
    drop(held);
    (void)pthread_mutex_unlock(&git->lock);
}
