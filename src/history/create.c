// SPDX-License-Identifier: Apache-2.0
/*
 * Taking a checkpoint.
 *
 * git lists and records what changed; one git-fast-import(1) writes the checkpoint from that.  The
 * order makes a kill at any point harmless: first the objects, then what the repository is about to
 * lose, then the reference that names the checkpoint.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/secret.h"
#include "git/plumbing/diff_raw.h"
#include "git/plumbing/gitdir.h"
#include "git/plumbing/snapshot.h"
#include "git/refs.h"
#include "guard/text.h"
#include "history/checkpoint.h"
#include "history/files.h"
#include "history/keep.h"
#include "history/store.h"
#include "history/worktree.h"

#define ATTEMPTS_MAX     3
#define WARNED_MAX       20
#define INDEX_MAX_BYTES  (512u << 20)
#define STAGED_MAX_BYTES (256u << 20)
#define STAGED           "staged"
#define PIECES           "pieces"
#define PIECE_MIN_BYTES  4096u
#define NONCE_BYTES      8u

/** A checkpoint that is being taken, or that was taken and may still be refused. */
struct al_pending_checkpoint {
    struct al_store *store;
    struct al_checkpoint_reason reason;
    struct al_error *err;
    int top_fd, git_fd, common_fd;
    struct al_files files;
    bool has_index;
    struct al_str index;
    size_t *cuts; /* where its pieces end, but for the last one */
    size_t ncuts;
    struct al_str pieces; /* a line with the id of each */
    int64_t index_mtime_ns;
    char entries[AL_OID_TEXT]; /* digest, if git makes it; else "" */
    struct al_strv staged;     /* blobs of the index that HEAD does not have; not after */
    struct al_str ref_lines;   /* as git lists the references */
    struct al_differences refs;
    struct al_gitdir_files gitdir;
    bool is_certain;            /* it is accepted as soon as it is taken */
    struct al_keeping *keeping; /* NULL: nothing can be lost */
    struct al_str stream;
    char reference[64]; /* its reference while it is new; "": there is none */
    char id[AL_OID_TEXT], tree[AL_OID_TEXT];
};

static bool has(const struct al_pending_checkpoint *taken, enum al_checkpoint_parts part)
{
    return !(taken->reason.without & part);
}

/* Forget what one attempt has read. */
static void reset(struct al_pending_checkpoint *taken)
{
    al_keep_free(al_take(&taken->keeping));
    al_files_clear(&taken->files);
    taken->files = AL_FILES_INIT;
    al_str_clear(&taken->index);
    free(al_take(&taken->cuts));
    taken->ncuts = 0;
    al_str_clear(&taken->pieces);
    al_strv_clear(&taken->staged);
    al_str_clear(&taken->ref_lines);
    al_differences_clear(&taken->refs);
    al_gitdir_files_clear(&taken->gitdir);
    al_str_clear(&taken->stream);
    taken->has_index = false;
    taken->entries[0] = '\0';
    taken->id[0] = taken->tree[0] = '\0';
}

void al_pending_checkpoint_free(struct al_pending_checkpoint *taken)
{
    if (!taken)
        return;
    if (taken->reference[0])
        (void)unlinkat(taken->store->bare.dir_fd, taken->reference, 0);
    reset(taken);
    al_close(taken->top_fd);
    al_close(taken->git_fd);
    al_close(taken->common_fd);
    free(taken);
}

/* --- The index --- */

/* Copy blobs that only the index of the repository keeps, but for those that were copied before:
 * their sorted ids are the lines of STAGED. */
static int copy_staged(struct al_pending_checkpoint *taken, char *known)
{
    const struct al_location *bare = &taken->store->bare;
    al_auto(al_str_clear) struct al_str lines = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv last = AL_STRV_INIT, there = AL_STRV_INIT;
    al_auto(al_freep) char *hash = NULL;
    int r = 0;

    al_strv_split(&last, known, "\n");
    for (size_t i = 0; i < taken->staged.count; i++)
        if (!last.count || !al_strv_contains_sorted(&last, taken->staged.items[i]))
            al_str_addf(&lines, "%s\n", taken->staged.items[i]);
    if (lines.len)
        r = al_bare_pack(bare, &lines, false, &hash, taken->err);
    if (r == AL_ERR_EXECUTION) { /* one is gone: it was lost before */
        al_error_clear(taken->err);
        al_str_reset(&lines);
        r = al_git_find_objects(bare, &taken->staged, true, &there, NULL, taken->err);
        for (size_t i = 0; i < there.count; i++)
            al_str_addf(&lines, "%s\n", there.items[i]);
        if (r == 0 && lines.len)
            r = al_bare_pack(bare, &lines, false, &hash, taken->err);
        al_strv_clear(&taken->staged);
        al_strv_add_all(&taken->staged, &there);
    }
    return r;
}

static int find_staged(struct al_pending_checkpoint *taken)
{
    al_auto(al_str_clear) struct al_str known = AL_STR_INIT, text = AL_STR_INIT;
    int r = al_git_staged_objects(taken->store->repo, &taken->staged, taken->err);

    (void)al_fs_read(taken->store->dir_fd, STAGED, STAGED_MAX_BYTES, &known);
    if (r == 0)
        r = copy_staged(taken, known.buf);
    al_strv_sort(&taken->staged);
    for (size_t i = 0; i < taken->staged.count; i++)
        al_str_addf(&text, "%s\n", taken->staged.items[i]);
    if (r == 0 && (text.len || known.len))
        (void)al_fs_write_atomic(taken->store->dir_fd, STAGED, text.buf, text.len, 0600, true);
    return r;
}

/* The next piece of the index begins behind one entry in 256, whichever comes before it: where an
 * entry is added or changed, the other pieces stay the same. */
static void cut(struct al_pending_checkpoint *taken, const struct al_index_entry *entry, size_t at)
{
    const size_t last = taken->ncuts ? taken->cuts[taken->ncuts - 1] : 0;

    if (entry->oid.bytes[0] || at - last < PIECE_MIN_BYTES)
        return;
    taken->cuts = al_grow(taken->cuts, taken->ncuts, sizeof(*taken->cuts));
    taken->cuts[taken->ncuts++] = at;
}

/* Cut the index into pieces.  git tells all entries if airlock does not read it as a whole: some
 * are in another file, or stand for directories, or are unknown. */
static int read_entries(struct al_pending_checkpoint *taken)
{
    struct al_index_entry entry;
    struct al_index_scan scan;

    al_index_begin_bytes(&scan, taken->index.buf, taken->index.len,
                         al_oid_bytes(taken->store->sha256));
    while (al_index_next(&scan, &entry))
        cut(taken, &entry, scan.at);
    if (al_index_end(&scan) == AL_INDEX_WHOLE) {
        al_index_digest(&taken->index, taken->store->sha256, taken->entries);
        return 0;
    }
    return al_snapshot_index_digest(taken->store->repo, taken->top_fd, taken->store->sha256,
                                    taken->entries, taken->err);
}

static int read_index(struct al_pending_checkpoint *taken)
{
    al_auto(al_closep) int fd =
        openat(taken->git_fd, "index", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    struct stat st;
    int r;

    if (fd < 0 && errno == ENOENT)
        return 0;
    r = fd < 0 ? -errno : al_fs_read_fd(fd, INDEX_MAX_BYTES, &taken->index);
    if (r < 0 || fstat(fd, &st) < 0)
        return al_error_errno(taken->err, -r, "cannot read the index");
    taken->has_index = true;
    taken->index_mtime_ns = al_file_id_from(&st).mtime_ns;
    r = read_entries(taken);
    /* The next checkpoint before an operation copies what this one has staged. */
    return r < 0 || taken->reason.before || taken->reason.keeps_staged ? r : find_staged(taken);
}

/* --- References --- */

/* The value of a reference; NULL: there is none, or it is broken.  Caller frees. */
static char *read_ref(const struct al_store *store, const char *name)
{
    al_auto(al_freep) char *loose = al_ref_read_loose(&store->repo->at, name);
    al_auto(al_freep) char *packed = loose ? NULL : al_ref_oid(&store->repo->at, name);

    return al_ref_value(loose ? loose : packed, store->sha256);
}

/* After an execution: the references of the checkpoint before it, and those that it can move as
 * they are now.  False: they are not all known by name. */
static bool read_moved(struct al_pending_checkpoint *taken)
{
    const struct al_strv *moves = taken->reason.moves;
    const struct al_store *store = taken->store;
    bool known = taken->reason.before && moves && !strcmp(taken->reason.before, store->before) &&
                 faccessat(taken->common_fd, "reftable", F_OK, 0) < 0 &&
                 al_refs_parse(store->refs.buf, store->refs.len, &taken->refs);

    for (size_t i = 0; known && i < moves->count; i++) {
        const char *name = moves->items[i];
        struct al_difference *ref = al_change_find(&taken->refs, AL_PART_REF, name);
        char *value;

        if (!al_starts_with(name, "refs/"))
            continue;
        known = !al_ends_with(name, "/") && !(ref && al_starts_with(ref->to, "ref: ")) &&
                (al_starts_with(name, "refs/heads/") || al_starts_with(name, "refs/tags/") ||
                 !strcmp(name, "refs/stash")); /* others are the worktree's own */
        value = known ? read_ref(store, name) : NULL;
        if (ref)
            al_change_drop(&taken->refs, ref);
        if (value)
            al_differences_add(&taken->refs, AL_PART_REF, name)->to = value;
        al_differences_sort(&taken->refs);
    }
    for (size_t i = 0; known && i < taken->refs.count; i++)
        al_str_addf(&taken->ref_lines, "%s %s\n", taken->refs.items[i].to,
                    taken->refs.items[i].name);
    return known;
}

static int read_refs(struct al_pending_checkpoint *taken)
{
    int r;

    if (read_moved(taken))
        return 0;
    al_differences_clear(&taken->refs);
    r = al_snapshot_references(taken->store->repo, &taken->ref_lines, taken->err);
    if (r < 0 || al_refs_parse(taken->ref_lines.buf, taken->ref_lines.len, &taken->refs))
        return r;
    return al_error_set(taken->err, AL_ERR_EXECUTION, "git listed references in an unknown form");
}

/* --- The commit --- */

/* Words that end with a NUL each. */
static void add_words(struct al_str *stream, const char *path, const struct al_strv *words)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    for (size_t i = 0; i < words->count; i++)
        al_str_add(&text, words->items[i], strlen(words->items[i]) + 1);
    al_import_content(stream, S_IFREG, "", path, &text);
}

/* The lines about the checkpoint. */
static void add_about(struct al_pending_checkpoint *taken)
{
    const unsigned without = taken->reason.without;
    const struct al_strv *moves = taken->reason.moves;
    al_auto(al_str_clear) struct al_str about = AL_STR_INIT;
    al_auto(al_freep) char *is = al_store_repository(taken->store);

    al_str_addf(&about, "version 3\nrepository %s\n", is ? is : "");
    if (taken->has_index)
        al_str_addf(&about, "index-time %" PRId64 "\n", taken->index_mtime_ns);
    if (taken->entries[0])
        al_str_addf(&about, "entries %s\n", taken->entries);
    /* The index holds changes of HEAD's commit.  A checkpoint with references tells that commit
     * anyway.  Only a rollback to the checkpoint asks. */
    if (!taken->reason.before && has(taken, AL_PARTS_INDEX) && !has(taken, AL_PARTS_REFS)) {
        al_auto(al_freep) char *commit = al_ref_head(&taken->store->repo->at);

        al_str_addf(&about, "commit %s\n", *commit ? commit : AL_COMMIT_NONE);
    }
    if (moves)
        al_str_adds(&about, "moves");
    for (size_t i = 0; moves && i < moves->count; i++)
        if (*moves->items[i] && !strpbrk(moves->items[i], " \n"))
            al_str_addf(&about, " %s", moves->items[i]);
    if (moves)
        al_str_addc(&about, '\n');
    al_str_addf(&about, "without%s%s%s\n", without & AL_PARTS_WORKTREE ? " worktree" : "",
                without & AL_PARTS_INDEX ? " index" : "", without & AL_PARTS_REFS ? " refs" : "");
    al_import_content(&taken->stream, S_IFREG, "", "about", &about);
}

/* The index is large where there are many files, and changes in few places. */
static void add_index(struct al_pending_checkpoint *taken)
{
    const struct al_store *store = taken->store;
    al_auto(al_str_clear) struct al_str last = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv known = AL_STRV_INIT;
    size_t begin = 0;

    (void)al_fs_read(store->dir_fd, PIECES, INDEX_MAX_BYTES, &last);
    al_strv_split(&known, last.buf, "\n");
    al_strv_sort(&known);
    for (size_t i = 0; taken->has_index && i <= taken->ncuts; i++) {
        const size_t end = i < taken->ncuts ? taken->cuts[i] : taken->index.len;
        al_auto(al_str_clear) struct al_str piece = AL_STR_INIT;
        al_auto(al_freep) char *name = al_asprintf("%08zu", i);
        struct al_oid oid;
        char text[AL_OID_TEXT];

        al_str_add(&piece, taken->index.buf + begin, end - begin);
        al_oid_of(store->sha256, AL_OBJECT_BLOB, piece.buf, piece.len, &oid);
        al_oid_text(&oid, store->sha256, text);
        if (al_strv_contains_sorted(&known, text))
            al_import_object(&taken->stream, S_IFREG, text, "index/", name);
        else
            al_import_content(&taken->stream, S_IFREG, "index/", name, &piece);
        al_str_addf(&taken->pieces, "%s\n", text);
        begin = end;
    }
}

static void add_lists(struct al_pending_checkpoint *taken)
{
    al_auto(al_str_clear) struct al_str modes = AL_STR_INIT;

    if (has(taken, AL_PARTS_REFS))
        al_import_content(&taken->stream, S_IFREG, "", "refs", &taken->ref_lines);
    if (has(taken, AL_PARTS_WORKTREE)) {
        al_modes_dump(&taken->files.modes, &modes);
        al_import_content(&taken->stream, S_IFREG, "", "modes", &modes);
    }
    if (taken->files.left_out.count)
        add_words(&taken->stream, "left-out", &taken->files.left_out);
    if (taken->reason.writes)
        add_words(&taken->stream, taken->reason.before ? "written" : "writes",
                  taken->reason.writes);
    add_index(taken);
    for (size_t i = 0; i < taken->staged.count; i++)
        al_str_addf(&taken->stream, "M 100644 %s staged/%.2s/%s\n", taken->staged.items[i],
                    taken->staged.items[i], taken->staged.items[i] + 2);
    for (size_t i = 0; i < taken->gitdir.count; i++)
        al_import_content(&taken->stream, taken->gitdir.items[i].mode, "state/",
                          taken->gitdir.items[i].path, &taken->gitdir.items[i].bytes);
}

static void begin_commit(struct al_pending_checkpoint *taken)
{
    const struct al_checkpoint_reason *reason = &taken->reason;
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;
    const int64_t now_ns = al_clock_ns();
    char nonce[2 * NONCE_BYTES + 1];

    al_random_hex(NONCE_BYTES, nonce);
    (void)snprintf(taken->reference, sizeof(taken->reference), AL_REF_NEW "%s", nonce);
    al_str_addf(&message, "%s %s %s\n\n%" PRId64 " %s\n", reason->before ? "after" : "before",
                reason->tool, reason->operation, now_ns, nonce);
    al_str_addf(&taken->stream,
                "commit %s\nmark :1\ncommitter airlock <airlock@localhost> %" PRId64
                " +0000\ndata %zu\n%s\n",
                taken->reference, now_ns / 1000000000, message.len, message.buf);
    if (reason->before)
        al_str_addf(&taken->stream, "from %s\ndeleteall\n", reason->before);
}

/* Parse "040000 tree <id>" TAB "worktree" LF or "missing worktree" LF, if the files are there, and
 * "<commit>" LF. */
static bool parse_output(struct al_pending_checkpoint *taken, const char *text)
{
    const bool has_files = has(taken, AL_PARTS_WORKTREE);
    const char *tree = strstr(text, " tree "), *end = strchr(text, '\n');

    if (has_files && tree)
        (void)al_store_take_id(taken->store, tree + strlen(" tree "), taken->tree);
    return end && al_store_take_id(taken->store, has_files ? end + 1 : text, taken->id);
}

static int write_commit(struct al_pending_checkpoint *taken)
{
    al_auto(al_str_clear) struct al_str output = AL_STR_INIT;
    int r;

    begin_commit(taken);
    al_str_add(&taken->stream, taken->files.stream.buf, taken->files.stream.len);
    add_about(taken);
    add_lists(taken);
    al_str_adds(&taken->stream, "\nget-mark :1\n");
    r = al_snapshot_commit(&taken->store->bare, &taken->store->import, &taken->stream,
                           taken->reference, &output, taken->err);
    if (taken->reason.before)
        al_closep(&taken->store->import.in_fd);
    if (r == 0 && !parse_output(taken, output.buf))
        r = al_error_set(taken->err, AL_ERR_EXECUTION, "git answered in an unknown form");
    return r;
}

/* --- What is lost --- */

/* Whether the execution can only have moved references forward, or what `dropping` says. */
static bool loses_nothing(const struct al_pending_checkpoint *taken)
{
    const struct al_checkpoint_reason *reason = &taken->reason;
    bool named = reason->before && reason->moves && !reason->rewrites;

    for (size_t i = 0; named && i < reason->moves->count; i++)
        named = !al_ends_with(reason->moves->items[i], "/");
    return named;
}

static int begin_keeping(struct al_pending_checkpoint *taken, const struct al_strv *dropping)
{
    const struct al_checkpoint_reason *reason = &taken->reason;
    const bool has_refs = has(taken, AL_PARTS_REFS);

    /* A detached HEAD is left behind. */
    if (!has_refs && (reason->before || !reason->moves || !al_moves_concern(reason->moves, "HEAD")))
        return 0;
    return al_keep_begin(taken->store, has_refs ? &taken->refs : NULL, &taken->gitdir, dropping,
                         loses_nothing(taken), &taken->keeping, taken->err);
}

/* --- All of it --- */

static int take_once(struct al_pending_checkpoint *taken)
{
    struct al_deadline deadline = al_deadline_begin(taken->store->repo->at.budget);
    int r = al_gitdir_read(&taken->store->repo->at, taken->git_fd, taken->common_fd, &deadline,
                           &taken->gitdir, taken->err);

    al_deadline_sync(&deadline);
    if (r == 0)
        r = al_snapshot_commit(&taken->store->bare, &taken->store->import, &taken->stream, NULL,
                               &taken->stream, taken->err);
    al_strv_add_all(&taken->files.left_out, &taken->gitdir.left_out);
    if (r == 0)
        r = al_linked_read(taken->store->repo, taken->reason.linked, &taken->gitdir, taken->err);
    if (r == 0 && has(taken, AL_PARTS_REFS))
        r = read_refs(taken);
    if (r == 0 && taken->is_certain) /* git packs while the files are looked at */
        r = begin_keeping(taken, taken->reason.dropping);
    if (r == 0 && has(taken, AL_PARTS_INDEX))
        r = read_index(taken);
    if (r == 0 && has(taken, AL_PARTS_WORKTREE))
        r = al_files_record(taken->store, taken->top_fd, &taken->reason, &taken->files, taken->err);
    return r < 0 ? r : write_commit(taken);
}

/* A file that is saved while git reads it makes git fail.  A store that has lost an object, or
 * whose index is broken, reads everything anew; not where git waits for a fifo. */
static int take(struct al_pending_checkpoint *taken)
{
    const struct al_store *store = taken->store;
    bool forgot = false;
    int r = AL_ERR_AGAIN;

    for (int attempt = 0; attempt < ATTEMPTS_MAX && r == AL_ERR_AGAIN; attempt++) {
        if (attempt && taken->err)
            al_error_clear(taken->err);
        reset(taken);
        r = take_once(taken);
        if (forgot || store->is_blocked ||
            (r != AL_ERR_EXECUTION && (r != AL_ERR_AGAIN || attempt < ATTEMPTS_MAX - 2)))
            continue;
        al_files_forget(store);
        (void)unlinkat(store->dir_fd, PIECES, 0);
        (void)unlinkat(store->dir_fd, STAGED, 0);
        forgot = true;
        r = AL_ERR_AGAIN;
    }
    return r;
}

/* Say what could not be given back. */
static void warn_of_left_out(const struct al_strv *left_out)
{
    for (size_t i = 0; i < left_out->count && i < WARNED_MAX; i++) {
        al_auto(al_freep) char *safe = al_text_sanitize_line(left_out->items[i]);

        al_log_warn("the checkpoint leaves out '%s': it is larger than journal.max_file_bytes, "
                    "unreadable, no file, or changes all the time",
                    safe);
    }
    if (left_out->count > WARNED_MAX)
        al_log_warn("the checkpoint leaves out %zu more", left_out->count - WARNED_MAX);
}

static int result(int r, struct al_error *err)
{
    al_auto(al_freep) char *why = NULL;

    if (r == 0 || r == AL_ERR_TIMEOUT || r == AL_ERR_CANCELLED)
        return r;
    why = err ? al_take(&err->message) : NULL;
    return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_SNAPSHOT_DISABLED,
                             "No checkpoint can be taken: %s", why ? why : "");
}

static int create(struct al_store *store, const struct al_checkpoint_reason *reason,
                  bool is_certain, struct al_pending_checkpoint **ret_pending,
                  char ret_id[AL_OID_TEXT], struct al_error *err)
{
    struct al_pending_checkpoint *taken = al_calloc(1, sizeof(*taken));
    /* A rollback cannot bring back a HEAD that is broken. */
    int r = al_git_check_damage(store->repo, &AL_STRV_INIT, false, false, err);

    taken->store = store;
    taken->reason = *reason;
    taken->is_certain = is_certain;
    taken->err = err;
    taken->top_fd = taken->git_fd = taken->common_fd = -1;
    taken->index = taken->stream = taken->ref_lines = taken->pieces = AL_STR_INIT;
    taken->files = AL_FILES_INIT;
    if (r == 0)
        r = al_location_open_all(&store->repo->at, &taken->top_fd, &taken->git_fd,
                                 &taken->common_fd, err);
    if (r == 0)
        r = take(taken);
    if (r == 0 && reason->overwriting && reason->ret_missing) {
        al_strv_clear(reason->ret_missing);
        r = al_find_missing(store, taken->id, taken->top_fd, reason->overwriting,
                            reason->ret_missing, err);
    }
    if (r == 0 && !reason->before)
        warn_of_left_out(&taken->files.left_out);
    if (r < 0) {
        al_pending_checkpoint_free(taken);
        (void)al_store_gc(store, NULL); /* half a pack may be what fills the disk */
        return result(r, err);
    }
    memcpy(ret_id, taken->id, sizeof(taken->id));
    *ret_pending = taken;
    return 0;
}

int al_checkpoint_create_pending(struct al_store *store, const struct al_checkpoint_reason *reason,
                                 struct al_pending_checkpoint **ret_pending,
                                 char ret_id[AL_OID_TEXT], struct al_error *err)
{
    return create(store, reason, false, ret_pending, ret_id, err);
}

int al_checkpoint_accept(struct al_pending_checkpoint *taken, const struct al_strv *dropping,
                         struct al_error *err)
{
    const char *before = taken->reason.before;
    int r = 0;

    taken->err = err;
    if (!taken->is_certain)
        r = begin_keeping(taken, dropping);
    if (r == 0 && taken->keeping)
        r = al_keep_end(taken->keeping, err);
    if (r == 0)
        r = al_store_name(taken->store, taken->reference, before ? AL_REF_AFTER : AL_REF_BEFORE,
                          before ? before : taken->id, err);
    if (r < 0)
        return result(r, err);
    if (!before && !taken->reason.moves)
        al_keep_hold(taken->store, taken->common_fd);
    taken->reference[0] = '\0';
    if (taken->has_index)
        (void)al_fs_write_atomic(taken->store->dir_fd, PIECES, taken->pieces.buf, taken->pieces.len,
                                 0600, true);
    if (!before) { /* what the checkpoint after an execution begins with */
        al_str_clear(&taken->store->refs);
        taken->store->refs = taken->ref_lines;
        taken->ref_lines = AL_STR_INIT;
        memcpy(taken->store->before, taken->id, sizeof(taken->id));
    }
    /* Another one may come after the same execution: it goes on from the one before, too. */
    if (has(taken, AL_PARTS_WORKTREE) && !(before && taken->files.is_inline))
        r = al_files_accept(taken->store, &taken->files, taken->tree, err);
    return result(r, err);
}

/* Nothing changed: one checkpoint is both. */
static int name_before_after(struct al_store *store, const char *before, char ret_id[AL_OID_TEXT],
                             struct al_error *err)
{
    al_auto(al_freep) char *name = al_asprintf(AL_REF_AFTER "%s", before);
    al_auto(al_freep) char *line = al_asprintf("%s\n", before);
    const int r = al_fs_write_atomic(store->bare.dir_fd, name, line, strlen(line), 0600, true);

    (void)snprintf(ret_id, AL_OID_TEXT, "%s", before);
    return r < 0 ? al_store_unusable(store, -r, err) : 0;
}

int al_checkpoint_create(struct al_store *store, const struct al_checkpoint_reason *reason,
                         char ret_id[AL_OID_TEXT], struct al_error *err)
{
    struct al_pending_checkpoint *taken;
    int r = create(store, reason, true, &taken, ret_id, err);

    if (r < 0)
        return r;
    if (reason->ret_changes)
        r = al_checkpoint_changes_of(store, reason->before, ret_id, reason->ret_changes, err);
    if (r == 0 && reason->ret_changes && !reason->ret_changes->count)
        r = name_before_after(store, reason->before, ret_id, err);
    else if (r == 0)
        r = al_checkpoint_accept(taken, reason->dropping, err);
    al_pending_checkpoint_free(taken);
    return r;
}

/* --- What is written beside it --- */

/* Write more objects, of which the stream marks one as :1. */
static int import(struct al_pending_checkpoint *taken, struct al_str *stream,
                  char ret_oid[AL_OID_TEXT], struct al_error *err)
{
    const struct al_store *store = taken->store;
    al_auto(al_str_clear) struct al_str output = AL_STR_INIT;
    int r;

    al_str_adds(stream, "\nget-mark :1\ndone\n");
    r = al_snapshot_import(&store->bare, stream, &output, err);
    return r == 0 && !al_store_take_id(store, output.buf, ret_oid)
               ? al_error_set(err, AL_ERR_EXECUTION, "git answered in an unknown form")
               : r;
}

int al_pending_checkpoint_changed(struct al_pending_checkpoint *taken,
                                  const struct al_differences *changes, char ret_id[AL_OID_TEXT],
                                  struct al_error *err)
{
    al_auto(al_freep) char *reference = al_asprintf("%s-to", taken->reference);
    al_auto(al_str_clear) struct al_str stream = AL_STR_INIT;
    int r;

    al_str_addf(&stream,
                "commit %s\nmark :1\ncommitter airlock <airlock@localhost> 0 +0000\n"
                "data 0\nfrom %s\n",
                reference, taken->id);
    for (size_t i = 0; i < changes->count; i++) {
        const struct al_difference *change = &changes->items[i];
        al_auto(al_freep) char *saved = al_files_saved_path(change->name);

        if (change->part == AL_PART_WORKTREE)
            al_import_object(&stream, change->to ? change->to_mode : 0, change->to, "", saved);
    }
    r = import(taken, &stream, ret_id, err);
    (void)unlinkat(taken->store->bare.dir_fd, reference, 0);
    return r;
}

int al_pending_checkpoint_blob(struct al_pending_checkpoint *taken, const struct al_str *content,
                               char ret_oid[AL_OID_TEXT], struct al_error *err)
{
    al_auto(al_str_clear) struct al_str stream = AL_STR_INIT;

    al_str_addf(&stream, "blob\nmark :1\ndata %zu\n", content->len);
    al_str_add(&stream, content->buf, content->len);
    return import(taken, &stream, ret_oid, err);
}
