// SPDX-License-Identifier: Apache-2.0

#include <fcntl.h>
#include <stdlib.h>

#include "base/fs.h"
#include "guard/env.h"
#include "guard/nofollow.h"
#include "guard/program.h"
#include "guard/root.h"
#include "serve/upstream/private.h"

#define DATA_MAX_BYTES (4ull << 30) /* the heap of node and of Python's larger servers */
#define FILE_MAX_BYTES (1ull << 30)
#define FILES_MAX      1024u

/* A variable of airlock's environment; NULL: not set. */
static const char *own_variable(const struct al_upstream_settings *settings, const char *name)
{
    const size_t len = strlen(name);

    for (char *const *entry = settings->environ_; entry && *entry; entry++)
        if (!strncmp(*entry, name, len) && (*entry)[len] == '=')
            return *entry + len + 1;
    return NULL;
}

/* Add a variable, unless the user has set it. */
static void add_variable(struct al_strv *env, const char *name, const char *value)
{
    if (value && !al_env_get(env, name))
        al_env_add(env, name, value);
}

static bool is_in_root(const struct al_upstream_settings *settings, const char *dir)
{
    al_auto(al_closep) int fd = open(dir, O_PATH | O_CLOEXEC);
    al_auto(al_freep) char *path = fd >= 0 ? al_fs_fd_path(fd) : NULL;

    return path && al_roots_find(settings->roots, path);
}

/* airlock's PATH without the directories where an agent can put programs. */
static char *safe_path(const struct al_upstream_settings *settings)
{
    struct al_str path = AL_STR_INIT;

    for (const char *at = settings->path_list; at && *at;) {
        const char *end = strchrnul(at, ':');
        al_auto(al_freep) char *dir = al_strndup(at, (size_t)(end - at));

        if (*dir == '/' && !is_in_root(settings, dir))
            al_str_addf(&path, "%s%s", path.len ? ":" : "", dir);
        at = *end ? end + 1 : end;
    }
    if (!path.len)
        al_str_adds(&path, "/usr/bin:/bin");
    return al_str_detach(&path);
}

/* The complete environment: a few variables of airlock's own, and the user's. */
static void make_env(const struct al_upstream_settings *settings, struct al_strv *ret_env)
{
    static const char *const passed[] = { "LANG", "LANGUAGE", "LC_ALL",  "LC_CTYPE",
                                          "TZ",   "USER",     "LOGNAME", "SHELL" };
    al_auto(al_freep) char *home = al_fs_join(settings->scratch_dir, "home");
    al_auto(al_freep) char *tmp = al_fs_join(settings->scratch_dir, "tmp");
    al_auto(al_freep) char *path = safe_path(settings);
    struct al_strv env = AL_STRV_INIT;

    al_strv_add_all(&env, settings->env);
    for (size_t i = 0; i < AL_COUNT(passed); i++)
        add_variable(&env, passed[i], own_variable(settings, passed[i]));
    add_variable(&env, "PATH", path);
    add_variable(&env, "TERM", "dumb");
    add_variable(&env, "TMPDIR", tmp);
    add_variable(&env, "HOME", settings->confine ? home : own_variable(settings, "HOME"));
    if (settings->confine)
        add_variable(&env, "GIT_CONFIG_NOSYSTEM",
                     "1"); /* git gives up at a file that it may not read */
    if (settings->network || !settings->confine)
        al_env_add_network(&env, settings->environ_);
    *ret_env = env;
}

/* The rules of one start, and the paths and descriptors that were made for them. */
struct rules {
    const struct al_roots *roots; /* with what belongs to them */
    struct al_confine_rules list;
    struct al_strv paths;
    int *fds;
    size_t nfds;
};

static void rules_clear(struct rules *rules)
{
    al_confine_rules_clear(&rules->list);
    al_strv_clear(&rules->paths);
    for (size_t i = 0; i < rules->nfds; i++)
        al_close(rules->fds[i]);
    free(rules->fds);
}

/* The end of a path, through no link that lies in a root unless that leads into a root: an agent,
 * and the server itself, can make a link there to anywhere.  NULL: it leads out, or nowhere. */
static char *trace_safely(const struct al_roots *roots, const char *path)
{
    al_auto(al_strv_clear) struct al_strv links = AL_STRV_INIT;
    al_auto(al_freep) char *real = NULL;

    if (al_beneath_trace(path, &real, &links) < 0)
        return NULL;
    for (size_t i = 0; i < links.count && !al_roots_find(roots, real); i++)
        if (al_roots_find(roots, links.items[i]))
            return NULL;
    return al_take(&real);
}

/* Add a rule for a path that may lie in a root.  By descriptor, because what was traced may be
 * another file by the time that the rule is made. */
static void add_traced(struct rules *rules, const char *path, unsigned rights)
{
    al_auto(al_freep) char *real = trace_safely(rules->roots, path);
    al_auto(al_closep) int fd = real ? open(real, O_PATH | O_CLOEXEC) : -1;
    al_auto(al_freep) char *opened = fd >= 0 ? al_fs_fd_path(fd) : NULL;

    if (!opened || strcmp(opened, real) != 0)
        return;
    al_strv_add(&rules->paths, path);
    al_confine_add_fd(&rules->list, rules->paths.items[rules->paths.count - 1], fd, rights);
    rules->fds = al_reallocarray(rules->fds, rules->nfds + 1, sizeof(*rules->fds));
    rules->fds[rules->nfds++] = al_take_fd(&fd);
}

static void add_list(struct rules *rules, const struct al_strv *paths, unsigned rights)
{
    for (size_t i = 0; paths && i < paths->count; i++)
        add_traced(rules, paths->items[i], rights);
}

/* Add a rule for a path that is made here. */
static void add_joined(struct rules *rules, const char *dir, const char *name, unsigned rights)
{
    al_auto(al_freep) char *path = al_fs_join(dir, name);

    add_traced(rules, path, rights);
}

/* Programs and libraries, and no file with data about the user. */
static void add_system(struct rules *rules)
{
    static const char *const programs[] = { "/usr", "/bin", "/sbin", "/lib", "/lib64" };
    static const char *const readable[] = {
        "/etc/ld.so.cache",     "/etc/localtime",
        "/etc/ssl/openssl.cnf", "/etc/pki/tls/openssl.cnf",
        "/etc/crypto-policies", "/dev/urandom",
        "/dev/random",          "/dev/zero",
    };

    al_confine_add_all(&rules->list, programs, AL_COUNT(programs),
                       AL_RIGHT_READ | AL_RIGHT_EXECUTE_BENEATH);
    al_confine_add_all(&rules->list, readable, AL_COUNT(readable), AL_RIGHT_READ);
    al_confine_add(&rules->list, "/dev/null", AL_RIGHT_READ | AL_RIGHT_WRITE_FILE, true);
}

/* The files that a program needs to look up names and to check certificates. */
static void add_network(struct rules *rules)
{
    static const char *const readable[] = {
        "/etc/resolv.conf",     "/etc/hosts",         "/etc/nsswitch.conf",
        "/etc/host.conf",       "/etc/gai.conf",      "/etc/services",
        "/etc/ssl/certs",       "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted",
        "/run/systemd/resolve",
    };

    al_confine_add_all(&rules->list, readable, AL_COUNT(readable), AL_RIGHT_READ);
}

static char *parent_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash > path ? al_strndup(path, (size_t)(slash - path)) : al_strdup("/");
}

/*
 * A program, and what lies beside it as installations have it: PREFIX/bin with PREFIX/lib, and
 * node_modules/.bin with node_modules.  A program elsewhere gets itself only, since its directory
 * may be the user's home.
 */
static void add_program(struct rules *rules, const char *program)
{
    const unsigned rights = AL_RIGHT_READ | AL_RIGHT_EXECUTE_BENEATH;
    al_auto(al_freep) char *dir = parent_of(program);
    al_auto(al_freep) char *prefix = parent_of(dir);

    add_joined(rules, dir, program, rights);
    if (al_ends_with(dir, "/node_modules/.bin")) {
        add_joined(rules, "/", prefix, rights);
    } else if (al_ends_with(dir, "/bin")) {
        add_joined(rules, "/", dir, rights);
        add_joined(rules, prefix, "lib", rights);
        add_joined(rules, prefix, "lib64", rights);
        add_joined(rules, prefix, "libexec", rights);
        add_joined(rules, prefix, "pyvenv.cfg", AL_RIGHT_READ);
    }
}

/* By descriptor: a root inside another root could be replaced by a link to anywhere. */
static void add_roots(struct rules *rules, const struct al_roots *roots)
{
    for (; roots; roots = roots->also)
        for (size_t i = 0; i < roots->count; i++)
            if (!al_root_is_released(&roots->items[i]))
                al_confine_add_fd(&rules->list, roots->items[i].path, roots->items[i].fd,
                                  AL_RIGHT_READ | AL_RIGHT_WRITE);
}

static int build_ruleset(const struct al_upstream_settings *settings, const char *program,
                         const char *resolved, int *ret_ruleset_fd, struct al_error *err)
{
    al_auto(rules_clear) struct rules rules = { .roots = al_roots_parts(settings->roots),
                                                .paths = AL_STRV_INIT };
    al_auto(al_freep) char *real = trace_safely(rules.roots, program);

    if (al_confine_abi() == 0)
        return al_error_set(err, AL_ERR_SANDBOX,
                            "cannot be confined: this kernel has no Landlock; 'confine = false' "
                            "runs it all the same");
    add_system(&rules);
    add_program(&rules, program);
    if (real && !strcmp(real, resolved))
        add_program(&rules, resolved);
    add_roots(&rules, rules.roots);
    al_confine_add(&rules.list, settings->scratch_dir, AL_RIGHT_READ | AL_RIGHT_WRITE, true);
    if (settings->network)
        add_network(&rules);
    add_list(&rules, settings->read, AL_RIGHT_READ);
    add_list(&rules, settings->write, AL_RIGHT_READ | AL_RIGHT_WRITE);
    add_list(&rules, settings->exec, AL_RIGHT_READ | AL_RIGHT_EXECUTE_BENEATH);
    return al_ruleset_new(rules.list.items, rules.list.count, settings->network, ret_ruleset_fd,
                          err);
}

/* The program in a list of directories, as it is named there, and where its links lead. */
static char *find_in(const char *name, const char *path_list, char **ret_resolved)
{
    for (const char *at = path_list; at && *at;) {
        const char *end = strchrnul(at, ':');
        al_auto(al_freep) char *dir = al_strndup(at, (size_t)(end - at));

        *ret_resolved = al_program_find(name, dir, NULL);
        if (*ret_resolved)
            return al_fs_join(dir, name);
        at = *end ? end + 1 : end;
    }
    return NULL;
}

static int find_program(const struct al_upstream_settings *settings, char **ret_program,
                        char **ret_resolved, struct al_error *err)
{
    const char *name = settings->command->items[0];
    const char *slash = strrchr(name, '/');
    al_auto(al_freep) char *dir = parent_of(name);
    al_auto(al_freep) char *path = safe_path(settings);

    if (slash && *name != '/')
        return al_error_set(err, AL_ERR_EXECUTION, "'%s' is neither a name nor an absolute path",
                            name);
    *ret_program =
        slash ? find_in(slash + 1, dir, ret_resolved) : find_in(name, path, ret_resolved);
    if (*ret_program && !settings->confine && al_roots_find(settings->roots, *ret_resolved))
        return al_error_set(err, AL_ERR_EXECUTION,
                            "'%s' lies in a root, where an agent can replace it; it runs only with "
                            "'confine = true'",
                            slash ? slash + 1 : name);
    if (*ret_program)
        return 0;
    return al_error_reason(al_error_set(err, AL_ERR_EXECUTION, "there is no program '%s'", name),
                           err, "not_found");
}

static int make_scratch(const struct al_upstream_settings *settings, struct al_error *err)
{
    static const char *const names[] = { "home", "tmp" };

    for (size_t i = 0; i < AL_COUNT(names); i++) {
        al_auto(al_freep) char *path = al_fs_join(settings->scratch_dir, names[i]);
        int r = al_fs_mkdirs(path, 0700);

        if (r < 0)
            return al_error_errno(err, -r, "cannot make '%s'", path);
    }
    return 0;
}

void al_upstream_profile_clear(struct al_upstream_profile *profile)
{
    free(profile->program);
    al_strv_clear(&profile->env);
    al_ruleset_free(profile->ruleset_fd);
    *profile = AL_UPSTREAM_PROFILE_INIT;
}

int al_upstream_profile_make(const struct al_upstream_settings *settings,
                             struct al_upstream_profile *ret_profile, struct al_error *err)
{
    al_auto(al_upstream_profile_clear) struct al_upstream_profile profile =
        AL_UPSTREAM_PROFILE_INIT;
    al_auto(al_freep) char *resolved = NULL;
    int r = find_program(settings, &profile.program, &resolved, err);

    if (r == 0)
        r = make_scratch(settings, err);
    if (r == 0 && settings->confine)
        r = build_ruleset(settings, profile.program, resolved, &profile.ruleset_fd, err);
    if (r < 0)
        return r;
    make_env(settings, &profile.env);
    profile.sandbox = (struct al_confinement){
        .ruleset_fd = profile.ruleset_fd,
        .reads_own_proc = true, /* node cannot tell its memory without it */
        .no_sockets = settings->confine && !settings->network,
        .network = settings->confine && settings->network,
        .stream_pairs = settings->confine,
        .limits = { .data_bytes = DATA_MAX_BYTES,
                    .fsize_bytes = FILE_MAX_BYTES,
                    .nofile = FILES_MAX },
    };
    *ret_profile = profile;
    profile = AL_UPSTREAM_PROFILE_INIT;
    return 0;
}
