// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/pin.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint/ancestors.h"
#include "checkpoint/pin_new.h"
#include "checkpoint/tips.h"
#include "gitops/deadline.h"
#include "gitops/location.h"
#include "gitops/plumbing/bare.h"
#include "util/fs.h"

#define TIPS_NAME      "tips"
#define KEPT_NAME      "kept"
#define LIST_MAX_BYTES (256u << 20)
#define NEGATIVES_MAX  256u /* more would slow the walk and hardly make the pack smaller */
#define DIGEST_BYTES   67u  /* of the line with the digest */
#define KEEP_REASON    "airlock: a checkpoint needs this\n"

/* Whether the last checkpoint that looked at references found the same. */
static bool is_unchanged(const struct al_store *store, const struct al_tips *tips)
{
    al_auto(al_closep) int fd = openat(store->dir_fd, TIPS_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    char line[DIGEST_BYTES];

    return fd >= 0 && read(fd, line, sizeof(line)) == (ssize_t)sizeof(line) &&
           !memcmp(line, tips->text.buf, sizeof(line));
}

/* Add the references of the last checkpoint that are gone.  A line "^<oid>" is a fragile tip that
 * its references reached. */
static void add_lost(struct al_store *store, const struct al_tips *tips, struct al_tip_list *before,
                     struct al_tip_list *reached, struct al_tip_list *wanted)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    char *save = NULL;

    if (al_fs_read(store->dir_fd, TIPS_NAME, LIST_MAX_BYTES, &text) < 0)
        return;
    for (char *line = strtok_r(text.buf, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        if (*line == '^') {
            al_tip_list_add(reached, line + 1, tips->sha256);
            continue;
        }
        al_tip_list_add(before, line, tips->sha256);
        if (!al_tip_list_has(&tips->references, line, tips->sha256))
            al_tip_list_add(wanted, line, tips->sha256);
    }
}

/* Mark a kept pack as still needed.  The time of its .keep file says when a checkpoint needed it
 * last. */
static bool touch(const struct al_store *store, const char *hash)
{
    al_auto(al_freep) char *name = al_asprintf("pack-%s.keep", hash);

    return utimensat(store->pack_fd, name, NULL, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Add the fragile tips that no kept pack has.  Lines are "<oid> SP <hash of the pack>". */
static void add_fragile(struct al_store *store, const struct al_tips *tips,
                        struct al_tip_list *wanted)
{
    al_auto(al_tip_list_clear) struct al_tip_list kept = { .list = AL_STRV_INIT };
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    char *save = NULL;

    (void)al_fs_read(store->dir_fd, KEPT_NAME, LIST_MAX_BYTES, &text);
    for (char *line = strtok_r(text.buf, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char *space = strchr(line, ' ');

        if (space && al_tip_list_has(&tips->fragile, line, tips->sha256) && touch(store, space + 1))
            al_tip_list_add(&kept, line, tips->sha256);
    }
    for (size_t i = 0; i < tips->fragile.list.count; i++) {
        const char *oid = tips->fragile.list.items[i];

        if (!al_tip_list_has(&kept, oid, tips->sha256) &&
            !al_tip_list_has(&tips->references, oid, tips->sha256))
            al_tip_list_add(wanted, oid, tips->sha256);
    }
}

static void add_dropping(const struct al_refs *refs, const struct al_strv *dropping, bool sha256,
                         struct al_tip_list *wanted)
{
    for (size_t i = 0; dropping && i < refs->count; i++)
        if (al_strv_contains(dropping, refs->items[i].name))
            al_tip_list_add(wanted, refs->items[i].value, sha256);
}

/* Find those wanted that references reach, new ones first: they are not lost. */
static void find_reached(struct al_store *store, const struct al_tips *tips,
                         const struct al_tip_list *before, const struct al_tip_list *wanted,
                         struct al_oid_set *ret_found)
{
    al_auto(al_strv_clear) struct al_strv from = AL_STRV_INIT;
    al_auto(al_closep) int common_fd = -1;
    const struct al_strv *all = &tips->references.list;

    for (int old = 0; old < 2; old++)
        for (size_t i = 0; i < all->count && from.count < AL_ANCESTORS_MAX; i++)
            if (al_tip_list_has(before, all->items[i], tips->sha256) == (old == 1) &&
                !al_tip_list_has(wanted, all->items[i], tips->sha256))
                al_strv_add(&from, all->items[i]);
    if (al_location_open_common_dir(&store->repo->at, &common_fd, NULL) == 0)
        al_ancestors_find(common_fd, tips->sha256, &from, &wanted->set, ret_found);
}

/* Whether references reach everything that those of the last checkpoint reached. */
static bool reaches_all(const struct al_tips *tips, const struct al_tip_list *before,
                        const struct al_oid_set *found)
{
    struct al_oid oid;

    for (size_t i = 0; i < before->list.count; i++)
        if (!al_tip_list_has(&tips->references, before->list.items[i], tips->sha256) &&
            (!al_oid_parse(before->list.items[i], tips->sha256, &oid) ||
             !al_oid_set_has(found, &oid)))
            return false;
    return before->list.count > 0;
}

/* Give up those wanted that references reach, as far as that is known without git.  `reached` were
 * when the last checkpoint was taken. */
static void drop_reached(struct al_store *store, struct al_tips *tips,
                         const struct al_tip_list *before, const struct al_tip_list *reached,
                         struct al_tip_list *wanted)
{
    al_auto(al_oid_set_clear) struct al_oid_set found = { .count = 0 };
    struct al_tip_list left = { .list = AL_STRV_INIT };
    bool all;

    if (!wanted->list.count)
        return;
    find_reached(store, tips, before, wanted, &found);
    all = reaches_all(tips, before, &found);
    for (size_t i = 0; i < wanted->list.count; i++) {
        const char *text = wanted->list.items[i];
        bool fragile = al_tip_list_has(&tips->fragile, text, tips->sha256);
        struct al_oid oid;

        if (al_oid_parse(text, tips->sha256, &oid) && !al_oid_set_has(&found, &oid) &&
            !(all && fragile && al_tip_list_has(reached, text, tips->sha256)))
            al_tip_list_add(&left, text, tips->sha256);
        else if (fragile)
            al_tip_list_add(&tips->reached, text, tips->sha256);
    }
    al_tip_list_clear(wanted);
    *wanted = left;
}

/* Add the references that stay, new ones first: a reference that was moved is where the commits
 * went. */
static void add_staying(const struct al_tips *tips, const struct al_tip_list *before,
                        const struct al_tip_list *wanted, struct al_tip_list *staying)
{
    const struct al_strv *all = &tips->references.list;

    for (int old = 0; old < 2; old++)
        for (size_t i = 0; i < all->count && staying->list.count < NEGATIVES_MAX; i++)
            if (al_tip_list_has(before, all->items[i], tips->sha256) == (old == 1) &&
                !al_tip_list_has(wanted, all->items[i], tips->sha256))
                al_tip_list_add(staying, all->items[i], tips->sha256);
}

/* Write the lines that pack-objects reads; none if no wanted object exists any more. */
static int name_revisions(struct al_store *store, const struct al_tip_list *wanted,
                          const struct al_tip_list *staying, struct al_deadline *deadline,
                          struct al_str *ret_lines, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str existing = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv all = AL_STRV_INIT;
    bool any = false;
    char *save = NULL;
    int r;

    for (size_t i = 0; i < wanted->list.count; i++)
        al_strv_add(&all, wanted->list.items[i]);
    for (size_t i = 0; i < staying->list.count; i++)
        al_strv_add(&all, staying->list.items[i]);
    al_deadline_sync(deadline);
    r = al_bare_existing(&store->bare, &all, false, &existing, deadline->budget, err);
    if (r < 0)
        return r;
    for (char *line = strtok_r(existing.buf, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        bool positive = al_tip_list_has(wanted, line, store->sha256);

        al_str_addf(ret_lines, "%s%s\n", positive ? "" : "^", line);
        any |= positive;
    }
    if (!any)
        al_str_reset(ret_lines);
    return 0;
}

/* Record which pack has the fragile tips.  Lines about packs that are gone are dropped. */
static int record_kept(struct al_store *store, const struct al_tips *tips,
                       const struct al_tip_list *wanted, const char *hash, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str old = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_freep) char *keep = al_asprintf("pack-%s.keep", hash);
    char *save = NULL;
    int r = al_fs_write_durable(store->pack_fd, keep, KEEP_REASON, strlen(KEEP_REASON), 0600);

    if (r < 0)
        return al_error_errno(err, -r, "cannot write to the checkpoint store");
    (void)al_fs_read(store->dir_fd, KEPT_NAME, LIST_MAX_BYTES, &old);
    for (char *line = strtok_r(old.buf, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        const char *space = strchr(line, ' ');
        al_auto(al_freep) char *name = al_asprintf("pack-%s.keep", space ? space + 1 : "");

        if (space && faccessat(store->pack_fd, name, F_OK, 0) == 0)
            al_str_addf(&text, "%s\n", line);
    }
    for (size_t i = 0; i < wanted->list.count; i++)
        if (al_tip_list_has(&tips->fragile, wanted->list.items[i], tips->sha256))
            al_str_addf(&text, "%s %s\n", wanted->list.items[i], hash);
    r = al_fs_write_atomic(store->dir_fd, KEPT_NAME, text.buf, text.len, 0600, true);
    return r < 0 ? al_error_errno(err, -r, "cannot write to the checkpoint store") : 0;
}

/* Pack with git what the wanted commits lead to and the staying ones do not. */
static int pack_with_git(struct al_store *store, const struct al_tips *tips,
                         const struct al_tip_list *before, const struct al_tip_list *wanted,
                         struct al_deadline *deadline, char **ret_hash, struct al_error *err)
{
    al_auto(al_tip_list_clear) struct al_tip_list staying = { .list = AL_STRV_INIT };
    al_auto(al_str_clear) struct al_str lines = AL_STR_INIT;
    int r;

    add_staying(tips, before, wanted, &staying);
    r = name_revisions(store, wanted, &staying, deadline, &lines, err);
    if (r < 0 || !lines.len)
        return r;
    al_deadline_sync(deadline);
    return al_bare_pack(&store->bare, &lines, true, deadline->budget, ret_hash, err);
}

static int pack(struct al_store *store, struct al_tips *tips, const struct al_tip_list *before,
                const struct al_tip_list *wanted, struct al_deadline *deadline,
                struct al_error *err)
{
    al_auto(al_freep) char *hash = NULL;
    int r;

    if (!wanted->list.count)
        return 0;
    r = al_pin_pack_new(store, wanted, &tips->references, &hash, err);
    if (r == 0 && !hash)
        r = pack_with_git(store, tips, before, wanted, deadline, &hash, err);
    al_store_look_again(store);
    if (r == 0 && hash && *hash)
        return record_kept(store, tips, wanted, hash, err);
    for (size_t i = 0; r == 0 && hash && i < wanted->list.count; i++)
        if (al_tip_list_has(&tips->fragile, wanted->list.items[i], tips->sha256))
            al_tip_list_add(&tips->reached, wanted->list.items[i], tips->sha256);
    return r;
}

int al_pin_lost(struct al_store *store, const struct al_refs *refs,
                const struct al_gitdir_files *files, const struct al_strv *dropping,
                struct al_deadline *deadline, struct al_error *err)
{
    al_auto(al_tips_clear) struct al_tips tips = { .sha256 = store->sha256, .text = AL_STR_INIT };
    al_auto(al_tip_list_clear) struct al_tip_list wanted = { .list = AL_STRV_INIT };
    al_auto(al_tip_list_clear) struct al_tip_list before = { .list = AL_STRV_INIT };
    al_auto(al_tip_list_clear) struct al_tip_list reached = { .list = AL_STRV_INIT };
    bool unchanged;
    int r;

    al_tips_collect(&tips, refs, files);
    unchanged = is_unchanged(store, &tips);
    if (!unchanged) {
        add_lost(store, &tips, &before, &reached, &wanted);
        add_fragile(store, &tips, &wanted);
    } else if (tips.fragile.list.count) {
        al_auto(al_tip_list_clear) struct al_tip_list known = { .list = AL_STRV_INIT };

        add_fragile(store, &tips, &known); /* only to mark their packs as still needed */
    }
    add_dropping(refs, dropping, store->sha256, &wanted);
    drop_reached(store, &tips, &before, &reached, &wanted);
    r = pack(store, &tips, &before, &wanted, deadline, err);
    if (r < 0 || unchanged)
        return r;
    for (size_t i = 0; i < tips.reached.list.count; i++)
        al_str_addf(&tips.text, "^%s\n", tips.reached.list.items[i]);
    r = al_fs_write_atomic(store->dir_fd, TIPS_NAME, tips.text.buf, tips.text.len, 0600, true);
    return r < 0 ? al_error_errno(err, -r, "cannot write to the checkpoint store") : 0;
}

void al_pin_release(struct al_store *store, int64_t oldest_s)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(store->pack_fd);
    struct dirent *entry;
    struct stat st;

    if (!dir)
        return;
    while ((entry = readdir(dir)))
        if (al_ends_with(entry->d_name, ".keep") &&
            fstatat(store->pack_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            st.st_mtim.tv_sec < oldest_s - 1)
            (void)unlinkat(store->pack_fd, entry->d_name, 0);
}
