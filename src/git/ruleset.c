// SPDX-License-Identifier: Apache-2.0
#include "git/ruleset.h"

#include <stdlib.h>

#include "git/command.h"
#include "git/layer.h"
#include "guard/env.h"
#include "guard/root.h"

static void add_system(struct al_confine_rules *rules, const struct al_git *git)
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
    al_confine_add(rules, git->program, AL_RIGHT_EXECUTE | AL_RIGHT_READ, true);
    al_confine_add(rules, git->core, AL_RIGHT_EXECUTE | AL_RIGHT_READ, true);
    al_confine_add(rules, git->interp, AL_RIGHT_EXECUTE | AL_RIGHT_READ, false);
    al_confine_add_all(rules, readable, AL_COUNT(readable), AL_RIGHT_READ);
    al_confine_add(rules, "/dev/null", AL_RIGHT_READ | AL_RIGHT_WRITE_FILE, false);
}

/* Files that the resolver reads. */
static void add_resolver(struct al_confine_rules *rules)
{
    static const char *const readable[] = {
        "/etc/resolv.conf", "/etc/hosts",    "/etc/nsswitch.conf",
        "/etc/host.conf",   "/etc/gai.conf", "/etc/services",
    };

    al_confine_add_all(rules, readable, AL_COUNT(readable), AL_RIGHT_READ);
}

/* git-remote-https is a link to git-remote-http, or a copy.  Certificates, but no private keys. */
static void add_http(struct al_confine_rules *rules, const struct al_git *git)
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

    al_confine_add(rules, git->http_helper, AL_RIGHT_EXECUTE | AL_RIGHT_READ, true);
    al_confine_add_all(rules, readable, AL_COUNT(readable), AL_RIGHT_READ);
    for (size_t i = 0; i < AL_COUNT(named); i++)
        al_confine_add(rules, al_env_get(&git->env_network, named[i]), AL_RIGHT_READ, true);
    al_confine_add(rules, git->self, AL_RIGHT_EXECUTE | AL_RIGHT_READ, true);
}

/* ssh looks up the user's name and home, hence passwd and group. */
static void add_ssh(struct al_confine_rules *rules, const struct al_git *git)
{
    al_confine_add(rules, git->ssh, AL_RIGHT_EXECUTE | AL_RIGHT_READ, true);
    al_confine_add(rules, git->self, AL_RIGHT_EXECUTE | AL_RIGHT_READ, true);
    al_confine_add(rules, "/etc/ssh", AL_RIGHT_READ, true);
    al_confine_add(rules, "/etc/passwd", AL_RIGHT_READ, true);
    al_confine_add(rules, "/etc/group", AL_RIGHT_READ, true);
    al_confine_add(rules, git->ssh_dir, AL_RIGHT_READ, true);
}

/* By descriptor: a root inside another root could be replaced by a link to anywhere. */
static void add_roots(struct al_confine_rules *rules, const struct al_roots *agent_roots,
                      unsigned rights)
{
    for (const struct al_roots *roots = al_roots_parts(agent_roots); roots; roots = roots->also)
        for (size_t i = 0; i < roots->count; i++)
            if (!al_root_is_released(&roots->items[i]))
                al_confine_add_fd(rules, roots->items[i].path, roots->items[i].fd, rights);
}

/* What a class may use besides the repository. */
static void add_class(struct al_confine_rules *rules, const struct al_git *git,
                      enum al_git_class class)
{
    add_system(rules, git);
    if (class == AL_GIT_CONFIG)
        al_confine_add(rules, "/", AL_RIGHT_READ, false);
    al_confine_add(rules, git->private_dir, AL_RIGHT_READ, false);
    if (al_git_class_connects(class))
        add_resolver(rules);
    if (class == AL_GIT_HTTP)
        add_http(rules, git);
    if (class == AL_GIT_SSH)
        add_ssh(rules, git);
}

int al_git_ruleset(const struct al_location *at, const struct al_git_command *command,
                   int *ret_ruleset_fd, struct al_error *err)
{
    const enum al_git_class class = command->class;
    const struct al_location *lender = command->borrows || command->cwd_fd ? at->lender : NULL;
    const struct al_git *git = at->git;
    const bool writes = al_git_class_writes(class);
    const unsigned rights = AL_RIGHT_READ | (writes ? AL_RIGHT_WRITE : 0);
    al_auto(al_freep) char *tmp = al_fs_join(git->private_dir, "tmp");
    al_auto(al_confine_rules_clear) struct al_confine_rules rules = { .count = 0 };

    *ret_ruleset_fd = 0;
    if (al_confine_abi() == 0)
        return 0; /* al_git_new() refuses when confinement is required */
    add_class(&rules, git, class);
    if (at->is_own && class != AL_GIT_CONFIG) {
        al_confine_add_fd(&rules, at->dir, at->dir_fd, rights);
        if (lender && lender->is_own)
            al_confine_add_fd(&rules, lender->dir, lender->dir_fd, AL_RIGHT_READ);
        else if (lender)
            add_roots(&rules, git->roots, AL_RIGHT_READ);
    } else {
        if (writes)
            al_confine_add(&rules, tmp, AL_RIGHT_READ | AL_RIGHT_WRITE, false);
        add_roots(&rules, git->roots, class == AL_GIT_SCRATCH ? AL_RIGHT_READ : rights);
    }
    return al_ruleset_new(rules.items, rules.count, al_git_class_connects(class), ret_ruleset_fd,
                          err);
}
