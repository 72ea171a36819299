// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/pin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "checkpoint/ancestors.h"
#include "checkpoint/kept.h"
#include "checkpoint/pin_git.h"
#include "checkpoint/pin_new.h"
#include "checkpoint/recent.h"
#include "checkpoint/recent_file.h"
#include "checkpoint/tips.h"
#include "gitops/deadline.h"
#include "gitops/location.h"
#include "util/fs.h"

#define TIPS_NAME      "tips"
#define LIST_MAX_BYTES (256u << 20)
#define NEGATIVES_MAX  256u /* more would slow the walk and hardly make the pack smaller */
#define DIGEST_BYTES   67u  /* of the line with the digest */

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

/* Add the fragile tips that no kept pack has. */
static void add_fragile(struct al_store *store, const struct al_tips *tips,
                        struct al_tip_list *wanted)
{
    al_auto(al_tip_list_clear) struct al_tip_list kept = { .list = AL_STRV_INIT };

    al_kept_find(store, &tips->fragile, &kept);
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

/* Pack with git what the wanted commits lead to and the staying ones do not. */
static int pack_with_git(struct al_store *store, const struct al_tips *tips,
                         const struct al_tip_list *before, const struct al_tip_list *wanted,
                         struct al_deadline *deadline, char **ret_hash, struct al_error *err)
{
    al_auto(al_tip_list_clear) struct al_tip_list staying = { .list = AL_STRV_INIT };

    add_staying(tips, before, wanted, &staying);
    return al_pin_pack_with_git(store, wanted, &staying, deadline, ret_hash, err);
}

/* Keep a pack that was made without git.  In `recent2` it goes to the disk with the next checkpoint
 * before an operation.  Until then the repository has what fragile tips lead to, as git wrote it,
 * and after another boot they are looked at once more.  A lost reference is seen only once. */
static int keep_image(struct al_store *store, const struct al_pack_image *image,
                      const struct al_strv *fragile, bool all_fragile, struct al_error *err)
{
    al_auto(al_freep) char *name = al_recent_kept_name(fragile);
    static const struct al_oid none;

    return al_recent_is_open(store) ? al_recent_add(store, name, &none, image, !all_fragile, err)
                                    : al_kept_write(store, image, fragile, err);
}

static int pack(struct al_store *store, struct al_tips *tips, const struct al_tip_list *before,
                const struct al_tip_list *wanted, struct al_deadline *deadline,
                struct al_error *err)
{
    al_auto(al_pack_image_clear) struct al_pack_image image = AL_PACK_IMAGE_INIT;
    al_auto(al_strv_clear) struct al_strv fragile = AL_STRV_INIT;
    al_auto(al_freep) char *hash = NULL;
    int r;

    if (!wanted->list.count)
        return 0;
    for (size_t i = 0; i < wanted->list.count; i++)
        if (al_tip_list_has(&tips->fragile, wanted->list.items[i], tips->sha256))
            al_strv_add(&fragile, wanted->list.items[i]);
    r = al_pin_pack_new(store, wanted, &tips->references, &image, err);
    if (r == 0 && image.pack.len)
        r = keep_image(store, &image, &fragile, fragile.count == wanted->list.count, err);
    if (r < 0 || image.pack.len)
        return r;
    r = pack_with_git(store, tips, before, wanted, deadline, &hash, err);
    al_store_look_again(store);
    if (r == 0 && hash && *hash)
        return al_kept_add(store, hash, &fragile, err);
    for (size_t i = 0; r == 0 && hash && i < fragile.count; i++)
        al_tip_list_add(&tips->reached, fragile.items[i], tips->sha256);
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

/* The first line is the digest. */
int al_pin_distrust(struct al_store *store, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r = al_fs_read(store->dir_fd, TIPS_NAME, LIST_MAX_BYTES, &text);
    const char *end = r == 0 ? memchr(text.buf, '\n', text.len) : NULL;

    if (!end || *text.buf != '#')
        return r < 0 && r != -ENOENT ? al_error_errno(err, -r, "cannot read the checkpoint store")
                                     : 0;
    end++;
    r = al_fs_write_durable(store->dir_fd, TIPS_NAME, end, text.len - (size_t)(end - text.buf),
                            0600);
    return r < 0 ? al_error_errno(err, -r, "cannot write to the checkpoint store") : 0;
}
