// SPDX-License-Identifier: Apache-2.0
#include "proc/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

/* Of ABI 7; installed headers are often older than the kernel. */
#define FS_REFER     (UINT64_C(1) << 13) /* ABI 2 */
#define FS_TRUNCATE  (UINT64_C(1) << 14) /* ABI 3 */
#define FS_IOCTL_DEV (UINT64_C(1) << 15) /* ABI 5 */
#define FS_ABI_1     ((UINT64_C(1) << 13) - 1)
#define NET_BIND     (UINT64_C(1) << 0) /* ABI 4 */
#define NET_CONNECT  (UINT64_C(1) << 1) /* ABI 4 */
#define SCOPE_ALL    UINT64_C(3)        /* ABI 6: abstract sockets, signals */

/* The rights that a rule for a non-directory may have. */
#define FS_OF_FILES                                                                                \
    (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE |   \
     FS_TRUNCATE | FS_IOCTL_DEV)

struct ruleset_attr {
    uint64_t handled_access_fs;
    uint64_t handled_access_net;
    uint64_t scoped;
};

int al_confine_abi(void)
{
    static atomic_int remembered = -1;
    int abi = atomic_load(&remembered);

    if (abi >= 0)
        return abi;
    abi = (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (abi < 0)
        abi = 0;
    atomic_store(&remembered, abi);
    return abi;
}

/* Everything that this ABI can restrict; a kernel refuses bits that it does not know. */
static struct ruleset_attr handled_at(int abi)
{
    struct ruleset_attr attr = { .handled_access_fs = FS_ABI_1 };

    if (abi >= 2)
        attr.handled_access_fs |= FS_REFER;
    if (abi >= 3)
        attr.handled_access_fs |= FS_TRUNCATE;
    if (abi >= 4)
        attr.handled_access_net = NET_BIND | NET_CONNECT;
    if (abi >= 5)
        attr.handled_access_fs |= FS_IOCTL_DEV;
    if (abi >= 6)
        attr.scoped = SCOPE_ALL;
    return attr;
}

int al_confine_scope(void)
{
    const struct ruleset_attr attr = { .scoped = SCOPE_ALL };
    al_auto(al_closep) int fd = -1;

    if (al_confine_abi() < 6)
        return 0;
    fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
    return fd < 0 ? -1 : (int)syscall(SYS_landlock_restrict_self, fd, 0);
}

static uint64_t access_for(unsigned rights, mode_t mode)
{
    uint64_t allowed = 0;

    if (rights & (AL_RIGHT_EXECUTE | AL_RIGHT_EXECUTE_BENEATH))
        allowed |=
            LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE; /* execve reads the file */
    if (rights & AL_RIGHT_READ)
        allowed |= LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
    if (rights & AL_RIGHT_WRITE)
        allowed |= LANDLOCK_ACCESS_FS_WRITE_FILE | FS_TRUNCATE | LANDLOCK_ACCESS_FS_MAKE_REG |
                   LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_SYM |
                   LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | FS_REFER;
    if (rights & AL_RIGHT_WRITE_FILE)
        allowed |= LANDLOCK_ACCESS_FS_WRITE_FILE | FS_TRUNCATE;
    if ((rights & AL_RIGHT_WRITE_FILE) && S_ISCHR(mode))
        allowed |= FS_IOCTL_DEV;
    return S_ISDIR(mode) ? allowed : allowed & FS_OF_FILES;
}

static int add_rule(int ruleset_fd, const struct al_confine_rule *rule, int fd, mode_t mode,
                    struct al_error *err)
{
    const uint64_t handled = handled_at(al_confine_abi()).handled_access_fs;
    const struct landlock_path_beneath_attr attr = {
        .allowed_access = access_for(rule->rights, mode) & handled,
        .parent_fd = fd,
    };

    if (S_ISDIR(mode) && (rule->rights & (AL_RIGHT_EXECUTE | AL_RIGHT_WRITE_FILE)))
        return al_error_set(err, AL_ERR_EXECUTION,
                            "'%s' is a directory, and its rule is for a file", rule->path);
    if (!attr.allowed_access)
        return 0;
    if (syscall(SYS_landlock_add_rule, ruleset_fd, LANDLOCK_RULE_PATH_BENEATH, &attr, 0) < 0)
        return al_error_errno(err, errno, "cannot add a Landlock rule for '%s'", rule->path);
    return 0;
}

/* Open the path of a rule, unless it comes open, and add the rule. */
static int open_and_add(int ruleset_fd, const struct al_confine_rule *rule, struct al_error *err)
{
    al_auto(al_closep) int opened = rule->by_fd ? -1 : open(rule->path, O_PATH | O_CLOEXEC);
    const int fd = rule->by_fd ? rule->fd : opened;
    struct stat st;

    if (!rule->by_fd && fd < 0 && rule->optional && (errno == ENOENT || errno == ENOTDIR))
        return 0;
    if (fd < 0 || fstat(fd, &st) < 0)
        return al_error_errno(err, errno, "cannot open '%s'", rule->path);
    return add_rule(ruleset_fd, rule, fd, st.st_mode, err);
}

void al_confine_rules_clear(struct al_confine_rules *rules)
{
    free(al_take(&rules->items));
    rules->count = 0;
}

static void append(struct al_confine_rules *rules, struct al_confine_rule rule)
{
    rules->items = al_grow(rules->items, rules->count, sizeof(*rules->items));
    rules->items[rules->count++] = rule;
}

void al_confine_add(struct al_confine_rules *rules, const char *path, unsigned rights,
                    bool optional)
{
    if (path)
        append(rules,
               (struct al_confine_rule){ .path = path, .rights = rights, .optional = optional });
}

void al_confine_add_fd(struct al_confine_rules *rules, const char *what, int fd, unsigned rights)
{
    append(rules,
           (struct al_confine_rule){ .path = what, .rights = rights, .by_fd = true, .fd = fd });
}

void al_confine_add_all(struct al_confine_rules *rules, const char *const *paths, size_t count,
                        unsigned rights)
{
    for (size_t i = 0; i < count; i++)
        al_confine_add(rules, paths[i], rights, true);
}

int al_ruleset_new(const struct al_confine_rule *rules, size_t nrules, bool connects,
                   int *ret_ruleset_fd, struct al_error *err)
{
    const int abi = al_confine_abi();
    struct ruleset_attr attr = handled_at(abi);
    al_auto(al_closep) int fd = -1;
    int r;

    if (abi == 0)
        return al_error_set(err, AL_ERR_SANDBOX, "this kernel has no Landlock");
    if (connects) /* what is not handled is allowed */
        attr.handled_access_net &= ~NET_CONNECT;
    /* An older kernel accepts a longer struct if the members it does not know are zero. */
    fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
    if (fd <= 0) /* 0 stands for no ruleset, and is the number of a closed standard input */
        return al_error_errno(err, fd ? errno : EBADF, "cannot create a Landlock ruleset");
    for (size_t i = 0; i < nrules; i++) {
        r = open_and_add(fd, &rules[i], err);
        if (r < 0)
            return r;
    }
    *ret_ruleset_fd = al_take_fd(&fd);
    return 0;
}

void al_ruleset_free(int ruleset_fd)
{
    if (ruleset_fd)
        al_close(ruleset_fd);
}
