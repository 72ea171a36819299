// SPDX-License-Identifier: Apache-2.0
#include "history/keep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "git/failure.h"
#include "git/plumbing/snapshot.h"
#include "guard/nofollow.h"

#define SEEN           "seen"
#define LIST_MAX_BYTES (256u << 20)
#define IS_REFERENCE   " ref"
#define IS_REACHED     " -"
#define NEGATIVES_MAX  256u /* more would slow the walk and hardly make the pack smaller */
#define REASON         "airlock: a checkpoint needs this\n"

/** Ids without duplicates, in the order they came. */
struct ids {
    struct al_strv list;
    struct al_oid_set set;
};

struct al_keeping {
    struct al_store *store;
    struct al_location bare; /* its, which borrows what is held */
    char *held;
    struct ids now;    /* the references */
    struct ids frail;  /* the stash, a detached HEAD, heads of an operation */
    struct ids before; /* the references of the last checkpoint */
    struct ids known;  /* frail ones that a reference reached then */
    struct ids packed; /* by a pack */
    struct ids wanted;
    struct al_beside packing; /* of those that are wanted */
    struct al_str lines;      /* of SEEN, for what is held */
    struct al_str seen;       /* SEEN as it was */
    struct al_error *err;
};

static void ids_clear(struct ids *ids)
{
    al_strv_clear(&ids->list);
    al_oid_set_clear(&ids->set);
}

void al_keep_free(struct al_keeping *keeping)
{
    if (!keeping)
        return;
    al_beside_clear(&keeping->packing);
    ids_clear(&keeping->now);
    ids_clear(&keeping->frail);
    ids_clear(&keeping->before);
    ids_clear(&keeping->known);
    ids_clear(&keeping->packed);
    ids_clear(&keeping->wanted);
    al_str_clear(&keeping->lines);
    al_str_clear(&keeping->seen);
    free(keeping->held);
    free(keeping);
}

/* Whether the id that a text begins with is among them. */
static bool is_in(const struct al_keeping *keeping, const struct ids *ids, const char *text)
{
    struct al_oid oid;

    return al_oid_parse(text, keeping->store->sha256, &oid) && al_oid_set_has(&ids->set, &oid);
}

/* Add the id that a text begins with, if there is one. */
static void add(const struct al_keeping *keeping, struct ids *ids, const char *text)
{
    struct al_oid oid;
    char clean[AL_OID_TEXT];

    if (!al_oid_parse(text, keeping->store->sha256, &oid) || al_oid_is_none(&oid) ||
        !al_oid_set_add(&ids->set, &oid))
        return;
    al_oid_text(&oid, keeping->store->sha256, clean);
    al_strv_add(&ids->list, clean);
}

static const struct al_gitdir_file *find(const struct al_gitdir_files *files, const char *path)
{
    for (size_t i = 0; i < files->count; i++)
        if (!strcmp(files->items[i].path, path))
            return &files->items[i];
    return NULL;
}

/* Add the id at the beginning of each line, or after its first space if `second`. */
static void add_lines(const struct al_keeping *keeping, struct ids *ids,
                      const struct al_gitdir_files *files, const char *path, bool second)
{
    const struct al_gitdir_file *file = find(files, path);

    for (const char *at = file ? file->bytes.buf : ""; *at;) {
        const char *end = strchrnul(at, '\n');
        const char *word = second ? memchr(at, ' ', (size_t)(end - at)) : at;

        if (word)
            add(keeping, ids, word + second);
        at = *end ? end + 1 : end;
    }
}

static void collect(struct al_keeping *keeping, const struct al_differences *refs,
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
                                         "AIRLOCK_AUTOSTASH",
                                         "rebase-merge/autostash" };

    for (size_t i = 0; refs && i < refs->count; i++)
        add(keeping,
            strcmp(refs->items[i].name, "refs/stash") != 0 ? &keeping->now : &keeping->frail,
            refs->items[i].to);
    for (size_t i = 0; i < AL_COUNT(heads); i++)
        add_lines(keeping, &keeping->frail, files, heads[i], false);
    add_lines(keeping, &keeping->frail, files, "logs/refs/stash", true);
}

/* Whether a pack is kept still.  One that is needed is marked. */
static bool is_kept(const struct al_store *store, const char *hash, bool needed)
{
    al_auto(al_freep) char *name = al_asprintf("pack-%s.keep", hash);

    return (needed ? utimensat(store->pack_fd, name, NULL, AT_SYMLINK_NOFOLLOW)
                   : faccessat(store->pack_fd, name, F_OK, 0)) == 0;
}

static void read_seen(struct al_keeping *keeping)
{
    const struct al_store *store = keeping->store;
    al_auto(al_freep) char *text = NULL;
    char *save = NULL;

    (void)al_fs_read(store->dir_fd, SEEN, LIST_MAX_BYTES, &keeping->seen);
    text = al_strdup(keeping->seen.buf);
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        const char *what = strchr(line, ' ');

        if (!what)
            continue;
        if (!strcmp(what, IS_REFERENCE)) {
            add(keeping, &keeping->before, line);
        } else if (!strcmp(what, IS_REACHED)) {
            add(keeping, &keeping->known, line);
        } else if (is_kept(store, what + 1, is_in(keeping, &keeping->frail, line))) {
            add(keeping, &keeping->packed, line);
            al_str_addf(&keeping->lines, "%s\n", line);
        }
    }
}

static void choose(struct al_keeping *keeping, const struct al_differences *refs,
                   const struct al_strv *dropping)
{
    const struct al_strv *before = &keeping->before.list, *frail = &keeping->frail.list;

    for (size_t i = 0; i < before->count; i++)
        if (!refs)
            add(keeping, &keeping->now, before->items[i]);
        else if (!is_in(keeping, &keeping->now, before->items[i]) &&
                 !is_in(keeping, &keeping->packed, before->items[i]))
            add(keeping, &keeping->wanted, before->items[i]);
    for (size_t i = 0; i < frail->count; i++)
        if (!is_in(keeping, &keeping->now, frail->items[i]) &&
            !is_in(keeping, &keeping->packed, frail->items[i]) &&
            !is_in(keeping, &keeping->known, frail->items[i]))
            add(keeping, &keeping->wanted, frail->items[i]);
    for (size_t i = 0; refs && dropping && i < refs->count; i++)
        if (al_strv_contains(dropping, refs->items[i].name) &&
            !is_in(keeping, &keeping->packed, refs->items[i].to))
            add(keeping, &keeping->wanted, refs->items[i].to);
}

/* The references that stay. */
static void list_staying(const struct al_keeping *keeping, struct al_strv *ret_staying)
{
    const struct al_strv *now = &keeping->now.list;

    for (size_t i = 0; i < now->count && ret_staying->count < NEGATIVES_MAX; i++)
        if (!is_in(keeping, &keeping->wanted, now->items[i]))
            al_strv_add(ret_staying, now->items[i]);
}

/* Begin to pack commits.
 *
 * @param shallow  The history ends at this commit; NULL: it does not. */
static int begin_pack(struct al_keeping *keeping, const struct al_strv *wanted,
                      const struct al_strv *staying, const char *shallow)
{
    al_auto(al_str_clear) struct al_str lines = AL_STR_INIT;

    if (shallow)
        al_str_addf(&lines, "--shallow %s\n", shallow);
    for (size_t i = 0; i < wanted->count; i++)
        al_str_addf(&lines, "%s\n", wanted->items[i]);
    for (size_t i = 0; i < staying->count; i++)
        al_str_addf(&lines, "^%s\n", staying->items[i]);
    return al_snapshot_pack_begin(&keeping->bare, &lines, &keeping->packing, keeping->err);
}

/* Keep the pack, or note that nothing is in it. */
static int end_pack(struct al_keeping *keeping, const struct al_strv *wanted)
{
    al_auto(al_freep) char *hash = NULL, *name = NULL;
    int r = al_snapshot_pack_end(&keeping->bare, &keeping->packing, &hash, keeping->err);

    al_beside_clear(&keeping->packing);
    if (r < 0)
        return r;
    for (size_t i = 0; i < wanted->count; i++)
        if (*hash)
            al_str_addf(&keeping->lines, "%s %s\n", wanted->items[i], hash);
        else if (is_in(keeping, &keeping->frail, wanted->items[i]))
            add(keeping, &keeping->known, wanted->items[i]);
    if (!*hash)
        return 0;
    /* Its name is on the disk with that of the pack: al_store_name(). */
    name = al_asprintf("pack-%s.keep", hash);
    r = al_fs_write_atomic(keeping->store->pack_fd, name, REASON, strlen(REASON), 0600, true);
    return r < 0 ? al_store_unusable(keeping->store, -r, keeping->err) : 0;
}

static int pack(struct al_keeping *keeping, const struct al_strv *wanted,
                const struct al_strv *staying, const char *shallow)
{
    int r = begin_pack(keeping, wanted, staying, shallow);

    return r < 0 ? r : end_pack(keeping, wanted);
}

/* Whether git failed, which it does where an object is missing.  Its error is forgotten. */
static bool has_failed(const struct al_keeping *keeping, int *r)
{
    if (!al_git_exited_with_error(*r, keeping->store->repo->at.budget))
        return false;
    al_error_clear(keeping->err);
    *r = 0;
    return true;
}

/* Keep the pack, or one of what exists of them: a file like ORIG_HEAD may name a commit that the
 * repository has removed. */
static int keep_wanted(struct al_keeping *keeping)
{
    al_auto(al_strv_clear) struct al_strv asked = AL_STRV_INIT, existing = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv wanted = AL_STRV_INIT, staying = AL_STRV_INIT;
    int r = end_pack(keeping, &keeping->wanted.list);

    if (!has_failed(keeping, &r))
        return r;
    list_staying(keeping, &asked);
    al_strv_add_all(&asked, &keeping->wanted.list);
    r = al_git_find_objects(&keeping->bare, &asked, false, &existing, NULL, keeping->err);
    for (size_t i = 0; i < existing.count; i++)
        al_strv_add(is_in(keeping, &keeping->wanted, existing.items[i]) ? &wanted : &staying,
                    existing.items[i]);
    if (r == 0 && wanted.count)
        r = pack(keeping, &wanted, &staying, NULL);
    if (!has_failed(keeping, &r))
        return r;
    /* Each alone, and one of which an ancestor does not exist without its parents. */
    for (size_t i = 0; r == 0 && i < wanted.count; i++) {
        const struct al_strv one = { .items = &wanted.items[i], .count = 1 };

        r = pack(keeping, &one, &staying, NULL);
        if (has_failed(keeping, &r))
            r = pack(keeping, &one, &staying, one.items[0]);
        (void)has_failed(keeping, &r); /* its files do not exist */
    }
    return r;
}

static int write_seen(struct al_keeping *keeping, const struct al_strv *refs)
{
    struct al_str *text = &keeping->lines;
    int r;

    for (size_t i = 0; i < refs->count; i++)
        al_str_addf(text, "%s" IS_REFERENCE "\n", refs->items[i]);
    for (size_t i = 0; i < keeping->known.list.count; i++)
        if (is_in(keeping, &keeping->frail, keeping->known.list.items[i]))
            al_str_addf(text, "%s" IS_REACHED "\n", keeping->known.list.items[i]);
    if (text->len == keeping->seen.len && !memcmp(text->buf, keeping->seen.buf, text->len))
        return 0;
    r = al_fs_write_atomic(keeping->store->dir_fd, SEEN, text->buf, text->len, 0600, true);
    return r < 0 ? al_store_unusable(keeping->store, -r, keeping->err) : 0;
}

int al_keep_begin(struct al_store *store, const struct al_differences *refs,
                  const struct al_gitdir_files *files, const struct al_strv *dropping,
                  bool nothing_lost, struct al_keeping **ret_keeping, struct al_error *err)
{
    struct al_keeping *keeping = *ret_keeping = al_calloc(1, sizeof(*keeping));
    al_auto(al_strv_clear) struct al_strv staying = AL_STRV_INIT;

    *keeping = (struct al_keeping){ .store = store,
                                    .bare = store->bare,
                                    .packing = AL_BESIDE_INIT,
                                    .lines = AL_STR_INIT,
                                    .seen = AL_STR_INIT,
                                    .err = err };
    keeping->bare.held = keeping->held = al_fs_join(store->path, AL_BARE_HELD);
    collect(keeping, refs, files);
    read_seen(keeping);
    /* Uncommitted changes may have been put aside. */
    if (!nothing_lost || find(files, "AIRLOCK_AUTOSTASH"))
        choose(keeping, refs, dropping);
    list_staying(keeping, &staying);
    return keeping->wanted.list.count ? begin_pack(keeping, &keeping->wanted.list, &staying, NULL)
                                      : 0;
}

int al_keep_end(struct al_keeping *keeping, struct al_error *err)
{
    int r = 0, written;

    keeping->err = err;
    if (keeping->wanted.list.count)
        r = keep_wanted(keeping);
    /* Commits that are packed by now are not packed again. */
    written = write_seen(keeping, r < 0 ? &keeping->before.list : &keeping->now.list);
    return r < 0 ? r : written;
}

/* Give each file of a directory of objects a second name in the store, and each of those in its
 * own directories if `deep`: those that an earlier program's run left there, too. */
static void hold(int from_fd, const char *name, int to_fd, const char *new_name, bool deep)
{
    al_auto(al_closep) int from = al_nofollow_open(from_fd, name, O_RDONLY | O_DIRECTORY);
    al_auto(al_closep) int to = -1;
    al_auto(al_closedirp) DIR *dir = from < 0 ? NULL : al_fs_list_at(from);
    struct dirent *entry;

    if (dir && (mkdirat(to_fd, new_name, 0777) == 0 || errno == EEXIST))
        to = al_nofollow_open(to_fd, new_name, O_RDONLY | O_DIRECTORY);
    while (to >= 0 && (entry = readdir(dir)))
        if (entry->d_type != DT_LNK && linkat(from, entry->d_name, to, entry->d_name, 0) < 0 &&
            deep && entry->d_name[0] != '.' && strcmp(entry->d_name, "info") != 0)
            hold(from, entry->d_name, to, entry->d_name, false);
}

void al_keep_hold(struct al_store *store, int common_fd)
{
    struct stat ours, theirs;

    store->holds = fstat(store->bare.dir_fd, &ours) == 0 && fstat(common_fd, &theirs) == 0 &&
                   ours.st_dev == theirs.st_dev;
    if (!store->holds)
        return;
    if (al_store_expiry_is_due(store)) /* what is not there any more goes */
        al_fs_remove_tree_at(store->bare.dir_fd, AL_BARE_HELD);
    hold(common_fd, "objects", store->bare.dir_fd, AL_BARE_HELD, true);
}

void al_keep_give_back(const struct al_store *store)
{
    al_auto(al_closep) int common_fd = -1;

    if (al_location_open_common_dir(&store->repo->at, &common_fd, NULL) == 0)
        hold(store->bare.dir_fd, AL_BARE_HELD, common_fd, "objects", true);
}

int al_keep_return(struct al_store *store, const struct al_repo *repo, const struct al_str *lines,
                   struct al_error *err)
{
    al_auto(al_freep) char *hash = NULL;
    al_auto(al_freep) char *name = NULL;
    int r = al_bare_pack(&store->bare, lines, true, &hash, err);

    name = al_asprintf("pack-%s.pack", hash ? hash : "");
    return r < 0 || !*hash ? r : al_git_store_pack(repo, store->pack_fd, name, err);
}

void al_keep_release(struct al_store *store, int64_t oldest_s)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(store->pack_fd);
    struct dirent *entry;
    struct stat st;

    while (dir && (entry = readdir(dir)))
        if (al_ends_with(entry->d_name, ".keep") &&
            fstatat(store->pack_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            st.st_mtim.tv_sec < oldest_s - 1)
            (void)unlinkat(store->pack_fd, entry->d_name, 0);
}
