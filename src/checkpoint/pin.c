// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/pin.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/deadline.h"
#include "gitops/plumbing/bare.h"
#include "util/fs.h"

#define TIPS_NAME      "tips"
#define KEPT_NAME      "kept"
#define LIST_MAX_BYTES (256u << 20)
#define NEGATIVES_MAX  256u /* more would slow the walk and hardly make the pack smaller */
#define DIGEST_BYTES   67u  /* of the line with the digest */
#define KEEP_REASON    "airlock: a checkpoint needs this\n"

/** A list of object ids without duplicates. */
struct oids {
    struct al_strv list;
    struct al_oid_set set;
};

/** The commits from which everything else is reached. */
struct tips {
    bool sha256;
    struct oids references; /* commits that these reach are not lost */
    struct oids fragile;    /* a stash, a detached HEAD, heads of an operation */
    struct al_str text;     /* the digest and the references' ids, for the next checkpoint */
};

static void oids_clear(struct oids *oids)
{
    al_strv_clear(&oids->list);
    al_oid_set_clear(&oids->set);
}

static void tips_clear(struct tips *tips)
{
    oids_clear(&tips->references);
    oids_clear(&tips->fragile);
    al_str_clear(&tips->text);
}

static bool has(const struct oids *oids, const char *text, bool sha256)
{
    struct al_oid oid;

    return al_oid_parse(text, sha256, &oid) && al_oid_set_has(&oids->set, &oid);
}

/* Add the id that a text begins with, if there is one. */
static void add(struct oids *oids, const char *text, bool sha256)
{
    struct al_oid oid;
    char clean[AL_OID_TEXT];

    if (!al_oid_parse(text, sha256, &oid) || al_oid_is_none(&oid) ||
        !al_oid_set_add(&oids->set, &oid))
        return;
    al_oid_text(&oid, sha256, clean);
    al_strv_add(&oids->list, clean);
}

/* Add the id at the beginning of each line, or after its first space if `second`. */
static void add_lines(struct tips *tips, const struct al_gitdir_files *files, const char *path,
                      bool second)
{
    const struct al_gitdir_file *file = al_gitdir_find(files, path);
    const char *at = file ? file->bytes.buf : "";

    while (*at) {
        const char *end = strchrnul(at, '\n'), *word = at;

        if (second)
            word = memchr(at, ' ', (size_t)(end - at));
        if (word)
            add(&tips->fragile, second ? word + 1 : word, tips->sha256);
        at = *end ? end + 1 : end;
    }
}

/* The first line of the file `tips`: a digest of the references and of the fragile tips. */
static void add_digest(struct tips *tips)
{
    struct al_hash hash;
    struct al_oid digest;
    char text[AL_OID_TEXT];

    al_hash_init(&hash, true);
    for (size_t i = 0; i < tips->references.list.count; i++)
        al_hash_add(&hash, tips->references.list.items[i],
                    strlen(tips->references.list.items[i]) + 1);
    al_hash_add(&hash, "", 1);
    for (size_t i = 0; i < tips->fragile.list.count; i++)
        al_hash_add(&hash, tips->fragile.list.items[i], strlen(tips->fragile.list.items[i]) + 1);
    al_hash_end(&hash, &digest);
    al_oid_text(&digest, true, text);
    al_str_addf(&tips->text, "# %s\n", text);
}

static void collect(struct tips *tips, const struct al_refs *refs,
                    const struct al_gitdir_files *files)
{
    static const char *const heads[] = { "HEAD",
                                         "ORIG_HEAD",
                                         "MERGE_HEAD",
                                         "CHERRY_PICK_HEAD",
                                         "REVERT_HEAD",
                                         "REBASE_HEAD",
                                         "rebase-merge/orig-head",
                                         "rebase-merge/onto",
                                         "rebase-apply/orig-head",
                                         "MERGE_AUTOSTASH",
                                         "rebase-merge/autostash" };

    for (size_t i = 0; i < refs->count; i++) {
        bool stash = !strcmp(refs->items[i].name, "refs/stash");

        add(stash ? &tips->fragile : &tips->references, refs->items[i].value, tips->sha256);
    }
    for (size_t i = 0; i < AL_COUNT(heads); i++)
        add_lines(tips, files, heads[i], false);
    add_lines(tips, files, "logs/refs/stash", true);
    add_digest(tips);
    for (size_t i = 0; i < tips->references.list.count; i++)
        al_str_addf(&tips->text, "%s\n", tips->references.list.items[i]);
}

/* Whether the last checkpoint that looked at references found the same. */
static bool is_unchanged(const struct al_store *store, const struct tips *tips)
{
    al_auto(al_closep) int fd = openat(store->dir_fd, TIPS_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    char line[DIGEST_BYTES];

    return fd >= 0 && read(fd, line, sizeof(line)) == (ssize_t)sizeof(line) &&
           !memcmp(line, tips->text.buf, sizeof(line));
}

/* Add the references of the last checkpoint that are gone. */
static void add_lost(struct al_store *store, const struct tips *tips, struct oids *before,
                     struct oids *wanted)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    char *save = NULL;

    if (al_fs_read(store->dir_fd, TIPS_NAME, LIST_MAX_BYTES, &text) < 0)
        return;
    for (char *line = strtok_r(text.buf, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        add(before, line, tips->sha256);
        if (!has(&tips->references, line, tips->sha256))
            add(wanted, line, tips->sha256);
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
static void add_fragile(struct al_store *store, const struct tips *tips, struct oids *wanted)
{
    al_auto(oids_clear) struct oids kept = { .list = AL_STRV_INIT };
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    char *save = NULL;

    (void)al_fs_read(store->dir_fd, KEPT_NAME, LIST_MAX_BYTES, &text);
    for (char *line = strtok_r(text.buf, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char *space = strchr(line, ' ');

        if (space && has(&tips->fragile, line, tips->sha256) && touch(store, space + 1))
            add(&kept, line, tips->sha256);
    }
    for (size_t i = 0; i < tips->fragile.list.count; i++) {
        const char *oid = tips->fragile.list.items[i];

        if (!has(&kept, oid, tips->sha256) && !has(&tips->references, oid, tips->sha256))
            add(wanted, oid, tips->sha256);
    }
}

static void add_dropping(const struct al_refs *refs, const struct al_strv *dropping, bool sha256,
                         struct oids *wanted)
{
    for (size_t i = 0; dropping && i < refs->count; i++)
        if (al_strv_contains(dropping, refs->items[i].name))
            add(wanted, refs->items[i].value, sha256);
}

/* Add the references that stay, new ones first: a reference that was moved is where the commits
 * went. */
static void add_staying(const struct tips *tips, const struct oids *before,
                        const struct oids *wanted, struct oids *staying)
{
    const struct al_strv *all = &tips->references.list;

    for (int old = 0; old < 2; old++)
        for (size_t i = 0; i < all->count && staying->list.count < NEGATIVES_MAX; i++)
            if (has(before, all->items[i], tips->sha256) == (old == 1) &&
                !has(wanted, all->items[i], tips->sha256))
                add(staying, all->items[i], tips->sha256);
}

/* Write the lines that pack-objects reads; none if no wanted object exists any more. */
static int name_revisions(struct al_store *store, const struct oids *wanted,
                          const struct oids *staying, struct al_deadline *deadline,
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
        bool positive = has(wanted, line, store->sha256);

        al_str_addf(ret_lines, "%s%s\n", positive ? "" : "^", line);
        any |= positive;
    }
    if (!any)
        al_str_reset(ret_lines);
    return 0;
}

/* Record which pack has the fragile tips.  Lines about packs that are gone are dropped. */
static int record_kept(struct al_store *store, const struct tips *tips, const struct oids *wanted,
                       const char *hash, struct al_error *err)
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
        if (has(&tips->fragile, wanted->list.items[i], tips->sha256))
            al_str_addf(&text, "%s %s\n", wanted->list.items[i], hash);
    r = al_fs_write_atomic(store->dir_fd, KEPT_NAME, text.buf, text.len, 0600, true);
    return r < 0 ? al_error_errno(err, -r, "cannot write to the checkpoint store") : 0;
}

static int pack(struct al_store *store, const struct tips *tips, const struct oids *before,
                const struct oids *wanted, struct al_deadline *deadline, struct al_error *err)
{
    al_auto(oids_clear) struct oids staying = { .list = AL_STRV_INIT };
    al_auto(al_str_clear) struct al_str lines = AL_STR_INIT;
    al_auto(al_freep) char *hash = NULL;
    int r;

    if (!wanted->list.count)
        return 0;
    add_staying(tips, before, wanted, &staying);
    r = name_revisions(store, wanted, &staying, deadline, &lines, err);
    if (r < 0 || !lines.len)
        return r;
    al_deadline_sync(deadline);
    r = al_bare_pack(&store->bare, &lines, true, deadline->budget, &hash, err);
    return r < 0 || !*hash ? r : record_kept(store, tips, wanted, hash, err);
}

int al_pin_lost(struct al_store *store, const struct al_refs *refs,
                const struct al_gitdir_files *files, const struct al_strv *dropping,
                struct al_deadline *deadline, struct al_error *err)
{
    al_auto(tips_clear) struct tips tips = { .sha256 = store->sha256, .text = AL_STR_INIT };
    al_auto(oids_clear) struct oids wanted = { .list = AL_STRV_INIT };
    al_auto(oids_clear) struct oids before = { .list = AL_STRV_INIT };
    bool unchanged;
    int r;

    collect(&tips, refs, files);
    unchanged = is_unchanged(store, &tips);
    if (!unchanged) {
        add_lost(store, &tips, &before, &wanted);
        add_fragile(store, &tips, &wanted);
    } else if (tips.fragile.list.count) {
        al_auto(oids_clear) struct oids known = { .list = AL_STRV_INIT };

        add_fragile(store, &tips, &known); /* only to mark their packs as still needed */
    }
    add_dropping(refs, dropping, store->sha256, &wanted);
    r = pack(store, &tips, &before, &wanted, deadline, err);
    if (r < 0 || unchanged)
        return r;
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
