// SPDX-License-Identifier: Apache-2.0
#include "history/keep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/failure.h"
#include "util/fs.h"

#define TIPS           "tips"
#define HELD           "held"
#define LIST_MAX_BYTES (256u << 20)
#define NEGATIVES_MAX  256u /* more would slow the walk and hardly make the pack smaller */
#define REASON         "airlock: a checkpoint needs this\n"

/** Ids without duplicates, in the order they came. */
struct ids {
    struct al_strv list;
    struct al_oid_set set;
    bool sha256;
};

/** What is known of a repository's commits. */
struct keeper {
    struct al_store *store;
    struct ids now;    /* the references */
    struct ids frail;  /* the stash, a detached HEAD, heads of an operation */
    struct ids before; /* the references of the last checkpoint */
    struct ids known;  /* frail ones that a reference reached then */
    struct ids held;   /* by a pack */
    struct ids wanted;
    struct al_str held_text;
    struct al_run_limits *budget;
    struct al_error *err;
};

static void ids_clear(struct ids *ids)
{
    al_strv_clear(&ids->list);
    al_oid_set_clear(&ids->set);
}

static void keeper_clear(struct keeper *keeper)
{
    ids_clear(&keeper->now);
    ids_clear(&keeper->frail);
    ids_clear(&keeper->before);
    ids_clear(&keeper->known);
    ids_clear(&keeper->held);
    ids_clear(&keeper->wanted);
    al_str_clear(&keeper->held_text);
}

/* Whether the id that a text begins with is among them. */
static bool is_in(const struct ids *ids, const char *text)
{
    struct al_oid oid;

    return al_oid_parse(text, ids->sha256, &oid) && al_oid_set_has(&ids->set, &oid);
}

/* Add the id that a text begins with, if there is one. */
static void add(struct ids *ids, const char *text)
{
    struct al_oid oid;
    char clean[AL_OID_TEXT];

    if (!al_oid_parse(text, ids->sha256, &oid) || al_oid_is_none(&oid) ||
        !al_oid_set_add(&ids->set, &oid))
        return;
    al_oid_text(&oid, ids->sha256, clean);
    al_strv_add(&ids->list, clean);
}

/* Add the id at the beginning of each line, or after its first space if `second`. */
static void add_lines(struct ids *ids, const struct al_gitdir_files *files, const char *path,
                      bool second)
{
    const struct al_gitdir_file *file = al_gitdir_find(files, path);

    for (const char *at = file ? file->bytes.buf : ""; *at;) {
        const char *end = strchrnul(at, '\n');
        const char *word = second ? memchr(at, ' ', (size_t)(end - at)) : at;

        if (word)
            add(ids, word + second);
        at = *end ? end + 1 : end;
    }
}

static void collect(struct keeper *keeper, const struct al_refs *refs,
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

    for (size_t i = 0; refs && i < refs->count; i++)
        add(strcmp(refs->items[i].name, "refs/stash") != 0 ? &keeper->now : &keeper->frail,
            refs->items[i].value);
    for (size_t i = 0; i < AL_COUNT(heads); i++)
        add_lines(&keeper->frail, files, heads[i], false);
    add_lines(&keeper->frail, files, "logs/refs/stash", true);
}

/* Mark a kept pack as still needed.  False: it is not kept any more. */
static bool touch(const struct al_store *store, const char *hash)
{
    al_auto(al_freep) char *name = al_asprintf("pack-%s.keep", hash);

    return utimensat(store->pack_fd, name, NULL, AT_SYMLINK_NOFOLLOW) == 0;
}

static void read_lists(struct keeper *keeper)
{
    al_auto(al_str_clear) struct al_str tips = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str held = AL_STR_INIT;
    const struct al_store *store = keeper->store;
    char *save = NULL;

    (void)al_fs_read(store->dir_fd, TIPS, LIST_MAX_BYTES, &tips);
    for (char *line = strtok_r(tips.buf, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        add(*line == '+' ? &keeper->known : &keeper->before, line + (*line == '+'));
    (void)al_fs_read(store->dir_fd, HELD, LIST_MAX_BYTES, &held);
    for (char *line = strtok_r(held.buf, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        const char *hash = strchr(line, ' ');
        const bool needed = hash && is_in(&keeper->frail, line);
        al_auto(al_freep) char *name = al_asprintf("pack-%s.keep", hash ? hash + 1 : "");

        if (!hash ||
            (needed ? !touch(store, hash + 1) : faccessat(store->pack_fd, name, F_OK, 0) < 0))
            continue;
        add(&keeper->held, line);
        al_str_addf(&keeper->held_text, "%s\n", line);
    }
}

static void choose(struct keeper *keeper, const struct al_refs *refs,
                   const struct al_strv *dropping)
{
    const struct al_strv *before = &keeper->before.list, *frail = &keeper->frail.list;

    for (size_t i = 0; i < before->count; i++)
        if (!refs)
            add(&keeper->now, before->items[i]);
        else if (!is_in(&keeper->now, before->items[i]) && !is_in(&keeper->held, before->items[i]))
            add(&keeper->wanted, before->items[i]);
    for (size_t i = 0; i < frail->count; i++)
        if (!is_in(&keeper->now, frail->items[i]) && !is_in(&keeper->held, frail->items[i]) &&
            !is_in(&keeper->known, frail->items[i]))
            add(&keeper->wanted, frail->items[i]);
    for (size_t i = 0; refs && dropping && i < refs->count; i++)
        if (al_strv_contains(dropping, refs->items[i].name) &&
            !is_in(&keeper->held, refs->items[i].value))
            add(&keeper->wanted, refs->items[i].value);
}

/* The references that stay: new ones first, since a reference that was moved is where the commits
 * went. */
static void list_staying(const struct keeper *keeper, struct al_strv *ret_staying)
{
    const struct al_strv *now = &keeper->now.list;

    for (int old = 0; old < 2; old++)
        for (size_t i = 0; i < now->count && ret_staying->count < NEGATIVES_MAX; i++)
            if (is_in(&keeper->before, now->items[i]) == (old == 1) &&
                !is_in(&keeper->wanted, now->items[i]))
                al_strv_add(ret_staying, now->items[i]);
}

/* Drop the ids that do not exist from both lists. */
static int drop_missing(struct keeper *keeper, struct al_strv *wanted, struct al_strv *staying)
{
    al_auto(al_str_clear) struct al_str existing = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv all = AL_STRV_INIT;
    char *save = NULL;
    int r;

    for (size_t i = 0; i < wanted->count; i++)
        al_strv_add(&all, wanted->items[i]);
    for (size_t i = 0; i < staying->count; i++)
        al_strv_add(&all, staying->items[i]);
    r = al_bare_existing(&keeper->store->bare, &all, false, &existing, keeper->budget, keeper->err);
    al_strv_clear(wanted);
    al_strv_clear(staying);
    for (char *line = strtok_r(existing.buf, "\n", &save); r == 0 && line;
         line = strtok_r(NULL, "\n", &save))
        al_strv_add(is_in(&keeper->wanted, line) ? wanted : staying, line);
    return r;
}

static void add_staying(const struct al_strv *staying, struct al_str *lines)
{
    for (size_t i = 0; i < staying->count; i++)
        al_str_addf(lines, "^%s\n", staying->items[i]);
}

/* Find those whose history cannot be walked, and end it there: "--shallow <id>".  The list is
 * halved until the part that fails is one commit, since there may be many, and few are broken. */
static int find_broken(struct keeper *keeper, char *const *wanted, size_t count,
                       const struct al_strv *staying, struct al_str *ret_shallow)
{
    al_auto(al_str_clear) struct al_str lines = AL_STR_INIT;
    int r;

    for (size_t i = 0; i < count; i++)
        al_str_addf(&lines, "%s\n", wanted[i]);
    add_staying(staying, &lines);
    r = al_bare_walk(&keeper->store->bare, &lines, keeper->budget, keeper->err);
    if (!al_git_exited_with_error(r, keeper->budget))
        return r;
    if (count == 1) {
        al_str_addf(ret_shallow, "--shallow %s\n", wanted[0]);
        return 0;
    }
    r = find_broken(keeper, wanted, count / 2, staying, ret_shallow);
    return r < 0 ? r
                 : find_broken(keeper, wanted + count / 2, count - count / 2, staying, ret_shallow);
}

static int pack_lines(struct keeper *keeper, const struct al_strv *wanted,
                      const struct al_strv *staying, const struct al_str *shallow, char **ret_hash)
{
    al_auto(al_str_clear) struct al_str lines = AL_STR_INIT;

    al_str_add(&lines, shallow->buf, shallow->len);
    for (size_t i = 0; i < wanted->count; i++)
        al_str_addf(&lines, "%s\n", wanted->items[i]);
    add_staying(staying, &lines);
    return al_bare_pack(&keeper->store->bare, &lines, true, keeper->budget, ret_hash, keeper->err);
}

static int pack(struct keeper *keeper, char **ret_hash)
{
    al_auto(al_strv_clear) struct al_strv wanted = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv staying = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str shallow = AL_STR_INIT;
    int r;

    list_staying(keeper, &staying);
    r = pack_lines(keeper, &keeper->wanted.list, &staying, &shallow, ret_hash);
    if (!al_git_exited_with_error(r, keeper->budget))
        return r;
    for (size_t i = 0; i < keeper->wanted.list.count; i++)
        al_strv_add(&wanted, keeper->wanted.list.items[i]);
    r = drop_missing(keeper, &wanted, &staying);
    if (r == 0 && wanted.count)
        r = find_broken(keeper, wanted.items, wanted.count, &staying, &shallow);
    if (r < 0)
        return r;
    al_error_clear(keeper->err);
    return wanted.count ? pack_lines(keeper, &wanted, &staying, &shallow, ret_hash) : 0;
}

static int write_list(struct keeper *keeper, const char *name, const struct al_str *text)
{
    int r = al_fs_write_atomic(keeper->store->dir_fd, name, text->buf, text->len, 0600, true);

    return r < 0 ? al_store_unusable(keeper->store, -r, keeper->err) : 0;
}

/* Pack them, or note that nothing would be in the pack. */
static int keep_wanted(struct keeper *keeper)
{
    const struct al_strv *wanted = &keeper->wanted.list;
    al_auto(al_freep) char *hash = NULL;
    al_auto(al_freep) char *name = NULL;
    int r = pack(keeper, &hash);

    if (r < 0)
        return r;
    if (!hash || !*hash) {
        for (size_t i = 0; i < wanted->count; i++)
            if (is_in(&keeper->frail, wanted->items[i]))
                add(&keeper->known, wanted->items[i]);
        return 0;
    }
    name = al_asprintf("pack-%s.keep", hash);
    r = al_fs_write_durable(keeper->store->pack_fd, name, REASON, strlen(REASON), 0600);
    if (r < 0)
        return al_store_unusable(keeper->store, -r, keeper->err);
    for (size_t i = 0; i < wanted->count; i++)
        al_str_addf(&keeper->held_text, "%s %s\n", wanted->items[i], hash);
    return write_list(keeper, HELD, &keeper->held_text);
}

static int write_tips(struct keeper *keeper)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    for (size_t i = 0; i < keeper->now.list.count; i++)
        al_str_addf(&text, "%s\n", keeper->now.list.items[i]);
    for (size_t i = 0; i < keeper->known.list.count; i++)
        if (is_in(&keeper->frail, keeper->known.list.items[i]))
            al_str_addf(&text, "+%s\n", keeper->known.list.items[i]);
    return write_list(keeper, TIPS, &text);
}

static bool is_same(const struct ids *a, const struct ids *b)
{
    bool same = a->list.count == b->list.count;

    for (size_t i = 0; same && i < a->list.count; i++)
        same = is_in(b, a->list.items[i]);
    return same;
}

int al_keep_lost(struct al_store *store, const struct al_refs *refs,
                 const struct al_gitdir_files *files, const struct al_strv *dropping,
                 bool nothing_lost, struct al_run_limits *budget, struct al_error *err)
{
    const struct ids none = { .sha256 = store->sha256 };
    al_auto(keeper_clear) struct keeper keeper = { .store = store,
                                                   .now = none,
                                                   .frail = none,
                                                   .before = none,
                                                   .known = none,
                                                   .held = none,
                                                   .wanted = none,
                                                   .held_text = AL_STR_INIT,
                                                   .budget = budget,
                                                   .err = err };
    size_t known;
    int r = 0;

    collect(&keeper, refs, files);
    read_lists(&keeper);
    known = keeper.known.list.count;
    if (!nothing_lost)
        choose(&keeper, refs, dropping);
    if (keeper.wanted.list.count)
        r = keep_wanted(&keeper);
    return r == 0 && (known != keeper.known.list.count || !is_same(&keeper.now, &keeper.before))
               ? write_tips(&keeper)
               : r;
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
