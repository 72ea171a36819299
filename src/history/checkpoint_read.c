// SPDX-License-Identifier: Apache-2.0
/* Reading checkpoints.  Everything is read from the store and nothing from the repository. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/nul_records.h"
#include "gitops/plumbing/bare.h"
#include "gitops/plumbing/index_scan.h"
#include "gitops/plumbing/snapshot.h"
#include "gitops/run.h"
#include "guard/nofollow.h"
#include "history/files.h"
#include "history/modes.h"
#include "history/refs.h"
#include "history/rescue.h"
#include "history/store.h"
#include "util/fs.h"

void al_saved_files_clear(struct al_saved_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->items[i].path);
    free(files->items);
    *files = (struct al_saved_files){ .items = NULL };
}

void al_saved_state_clear(struct al_saved_state *state)
{
    for (size_t i = 0; i < state->nrefs; i++) {
        free(state->refs[i].name);
        free(state->refs[i].value);
    }
    free(state->refs);
    free(state->head);
    if (state->index.buf)
        al_str_clear(&state->index);
    al_saved_files_clear(&state->files);
    al_strv_clear(&state->moves);
    al_strv_clear(&state->left_out);
    al_strv_clear(&state->writes);
    *state = (struct al_saved_state){ .has_index = false, .index = AL_STR_INIT };
}

/** Files of a checkpoint's tree as git lists them. */
struct listing {
    struct al_saved_files files;
    size_t capacity;
};

static void listing_clear(struct listing *listing)
{
    al_saved_files_clear(&listing->files);
}

/* The octal number that a text begins with.  A mode has at most 22 bits. */
static unsigned parse_mode(const char *text)
{
    unsigned mode = 0;

    for (size_t i = 0; i < 7 && text[i] >= '0' && text[i] <= '7'; i++)
        mode = mode * 8 + (unsigned)(text[i] - '0');
    return mode;
}

/* Add a record "<mode> SP blob SP <oid> TAB <path>". */
static bool add_record(void *payload, char *const *fields)
{
    struct listing *listing = payload;
    const char *tab = strchr(fields[0], '\t'), *oid = strstr(fields[0], " blob ");
    struct al_saved_file *file;

    if (!tab || !oid || tab - oid - 6 >= AL_OID_TEXT)
        return true;
    if (listing->files.count == listing->capacity) {
        listing->capacity = listing->capacity ? 2 * listing->capacity : 64;
        listing->files.items =
            al_reallocarray(listing->files.items, listing->capacity, sizeof(*listing->files.items));
    }
    file = &listing->files.items[listing->files.count++];
    *file = (struct al_saved_file){ .path = al_strdup(tab + 1), .mode = parse_mode(fields[0]) };
    memcpy(file->oid, oid + 6, (size_t)(tab - oid - 6));
    return true;
}

static int list(struct al_store *store, const char *id, const char *const *names, size_t nnames,
                struct listing *listing, struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(1, add_record, listing);
    struct al_oid oid;

    return !al_store_parse_id(store, id, &oid)
               ? al_store_no_checkpoint(err)
               : al_bare_list_tree(&store->bare, id, names, nnames,
                                   (struct al_sink){ al_nul_records_add, &records }, budget, err);
}

/** Texts to read at once.  Each is one blob, or several in a row. */
struct texts {
    const char **oids;
    struct al_str **into;
    size_t count;
};

static void texts_clear(struct texts *texts)
{
    free(texts->oids);
    free(texts->into);
}

/* Request the text at `name`, if there is one. */
static bool add_wanted(struct texts *texts, const struct listing *listing, const char *name,
                       struct al_str *into)
{
    for (size_t i = 0; i < listing->files.count; i++) {
        const struct al_saved_file *file = &listing->files.items[i];

        if (strcmp(file->path, name) != 0)
            continue;
        texts->oids = al_reallocarray(texts->oids, texts->count + 1, sizeof(*texts->oids));
        texts->into = al_reallocarray(texts->into, texts->count + 1, sizeof(*texts->into));
        texts->oids[texts->count] = file->oid;
        texts->into[texts->count++] = into;
        return true;
    }
    return false;
}

static int add_bytes(void *payload, size_t which, const char *data, size_t len, bool last,
                     struct al_error *err)
{
    struct texts *texts = payload;

    (void)last;
    (void)err;
    al_str_add(texts->into[which], data, len);
    return 0;
}

static int read_texts(struct al_store *store, struct texts *texts, struct al_run_limits *budget,
                      struct al_error *err)
{
    return al_checkpoint_read(store, texts->oids, texts->count, add_bytes, texts, budget, err);
}

static int malformed(struct al_error *err)
{
    return al_error_set(err, AL_ERR_EXECUTION, "the checkpoint is not in a form airlock reads");
}

/** The lines about a checkpoint. */
struct about {
    char entries[AL_OID_TEXT]; /* "": it is computed from the index */
    unsigned without;          /* enum al_checkpoint_parts */
    int64_t index_mtime_ns;
};

/* Parse the line of the parts that a checkpoint does not have. */
static unsigned parse_without(const char *line)
{
    unsigned without = 0;

    without |= strstr(line, " worktree") ? AL_PARTS_WORKTREE : 0;
    without |= strstr(line, " index") ? AL_PARTS_INDEX : 0;
    without |= strstr(line, " refs") ? AL_PARTS_REFS : 0;
    return without;
}

static bool parse_about(const char *text, struct about *ret_about)
{
    const char *entries = strstr(text, "\nentries "), *without = strstr(text, "\nwithout");
    const char *time = strstr(text, "\nindex-time ");

    *ret_about->entries = '\0';
    ret_about->index_mtime_ns = time ? strtoll(time + strlen("\nindex-time "), NULL, 10) : 0;
    ret_about->without = without ? parse_without(without) : 0;
    return al_starts_with(text, "version 1\n") && without &&
           (!entries || sscanf(entries, "\nentries %64[0-9a-f]\n", ret_about->entries) == 1);
}

/* Take the files below a directory out of the listing, with paths relative to it. */
static void take_subtree(struct listing *listing, const char *prefix,
                         struct al_saved_files *ret_files)
{
    size_t len = strlen(prefix), kept = 0;
    struct al_saved_files *all = &listing->files;

    *ret_files = (struct al_saved_files){ .items = al_calloc(all->count + 1, sizeof(*all->items)) };
    for (size_t i = 0; i < all->count; i++) {
        struct al_saved_file *file = &all->items[i];

        if (!al_starts_with(file->path, prefix)) {
            all->items[kept++] = *file;
            continue;
        }
        memmove(file->path, file->path + len, strlen(file->path + len) + 1);
        ret_files->items[ret_files->count++] = *file;
    }
    all->count = kept;
}

static int files_in(struct al_store *store, const char *id, const char *dir,
                    struct al_run_limits *budget, struct al_saved_files *ret_files,
                    struct al_error *err)
{
    al_auto(al_freep) char *prefix = al_asprintf(AL_DIR_WORKTREE "%s%s", dir, *dir ? "/" : "");
    const char *const names[] = { prefix };
    al_auto(listing_clear) struct listing listing = { .files = { .items = NULL } };
    int r = list(store, id, names, 1, &listing, budget, err);

    if (r == 0)
        take_subtree(&listing, prefix, ret_files);
    return r;
}

/** The texts of a checkpoint before they are parsed. */
struct raw {
    struct al_str about, head, refs, left_out, writes, modes;
    bool head_is_link;
};

static void raw_clear(struct raw *raw)
{
    al_str_clear(&raw->about);
    al_str_clear(&raw->head);
    al_str_clear(&raw->refs);
    al_str_clear(&raw->left_out);
    al_str_clear(&raw->writes);
    al_str_clear(&raw->modes);
}

static void remove_head(struct al_saved_files *files, bool *ret_was_link)
{
    size_t kept = 0;

    for (size_t i = 0; i < files->count; i++) {
        if (strcmp(files->items[i].path, "HEAD") != 0) {
            files->items[kept++] = files->items[i];
            continue;
        }
        *ret_was_link = (files->items[i].mode & S_IFMT) == S_IFLNK;
        free(files->items[i].path);
    }
    files->count = kept;
}

/* Add words that end with a NUL each. */
static void add_words(const struct al_str *text, struct al_strv *words)
{
    for (size_t at = 0; at < text->len; at += strlen(text->buf + at) + 1)
        al_strv_add(words, text->buf + at);
}

/* Parse the line of what the execution can move. */
static void parse_moves(const char *about, struct al_saved_state *state)
{
    const char *line = strstr(about, "\nmoves");
    al_auto(al_freep) char *words = NULL;
    char *save = NULL;

    state->moves_all = !line;
    if (!line)
        return;
    line += strlen("\nmoves");
    words = al_strndup(line, strcspn(line, "\n"));
    for (char *word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save))
        al_strv_add(&state->moves, word);
}

/* Parse the line of the commit that HEAD led to, of a checkpoint without references. */
static void parse_commit(const char *about, char ret_commit[AL_OID_TEXT])
{
    const char *line = strstr(about, "\ncommit ");

    if (!line || sscanf(line, "\ncommit %64[0-9a-z]\n", ret_commit) != 1)
        ret_commit[0] = '\0';
}

/* --- The digest of an index's entries --- */

#define LINE_BYTES (AL_OID_TEXT + 16)

/** The SHA-256 of a line for each entry, as `git ls-files -v -s` has it, with a NUL after the path.
 * Equal entries have equal digests, whatever else the index has. */
struct digest {
    struct al_hash hash;
    bool sha256;
};

/* The letter that `git ls-files -v` has for an entry. */
static char tag_of(const struct al_index_entry *entry)
{
    char tag = entry->stage           ? 'M'
               : entry->skip_worktree ? 'S'
               : entry->intent_to_add ? 'N' /* which git does not tell */
                                      : 'H';

    return entry->assume_unchanged ? (char)(tag - 'A' + 'a') : tag;
}

/* Write "<tag> SP <mode> SP <oid> SP <stage> TAB", as git does.  printf(3) would take a third of
 * the time that reading an index takes. */
static size_t print_entry(const struct al_index_entry *entry, bool sha256, char line[LINE_BYTES])
{
    struct al_oid oid = { .bytes = { 0 } };
    char *at = line;

    memcpy(oid.bytes, entry->oid, al_oid_bytes(sha256));
    *at++ = tag_of(entry);
    *at++ = ' ';
    for (int shift = 15; shift >= 0; shift -= 3)
        *at++ = (char)('0' + (entry->mode >> shift & 7));
    *at++ = ' ';
    al_oid_text(&oid, sha256, at);
    at += 2 * al_oid_bytes(sha256);
    *at++ = ' ';
    *at++ = (char)('0' + entry->stage);
    *at++ = '\t';
    return (size_t)(at - line);
}

static bool digest_entry(void *payload, const struct al_index_entry *entry)
{
    struct digest *digest = payload;
    char line[LINE_BYTES];

    al_hash_add(&digest->hash, line, print_entry(entry, digest->sha256, line));
    al_hash_add(&digest->hash, entry->name, strlen(entry->name) + 1);
    return true;
}

/* False if only git can read the index. */
static bool digest_entries(const void *index, size_t len, bool sha256, struct al_oid *ret_digest)
{
    struct digest digest = { .sha256 = sha256 };
    bool whole = true;

    al_hash_init(&digest.hash, true);
    if (len)
        whole = al_index_read_bytes(index, len, al_oid_bytes(sha256), digest_entry, &digest) ==
                AL_INDEX_WHOLE;
    al_hash_end(&digest.hash, ret_digest);
    return whole;
}

static int parse_state(struct al_store *store, struct raw *raw, struct al_saved_state *state,
                       struct al_error *err)
{
    al_auto(al_freep) char *linked =
        raw->head_is_link ? al_asprintf("ref: %s", raw->head.buf) : NULL;
    struct al_refs refs = { .items = NULL };
    struct about about;
    struct al_oid entries;

    if (!parse_about(raw->about.buf, &about) || !al_refs_parse(raw->refs.buf, raw->refs.len, &refs))
        return malformed(err);
    if (*about.entries
            ? !al_oid_parse(about.entries, true, &entries)
            : !digest_entries(state->index.buf, state->index.len, store->sha256, &entries))
        return malformed(err);
    al_oid_text(&entries, true, state->entries);
    state->without = about.without;
    state->index_mtime_ns = about.index_mtime_ns;
    state->refs = refs.items;
    state->nrefs = refs.count;
    state->head = al_ref_value(linked ? linked : raw->head.buf, store->sha256);
    parse_moves(raw->about.buf, state);
    parse_commit(raw->about.buf, state->commit);
    add_words(&raw->left_out, &state->left_out);
    add_words(&raw->writes, &state->writes);
    al_strv_sort(&state->writes);
    return state->head ? 0 : malformed(err);
}

/* Read the texts of a checkpoint. */
static int read_raw(struct al_store *store, struct listing *listing, struct raw *raw,
                    struct al_saved_state *state, struct al_run_limits *budget,
                    struct al_error *err)
{
    al_auto(texts_clear) struct texts texts = { .oids = NULL };

    (void)add_wanted(&texts, listing, "about", &raw->about);
    (void)add_wanted(&texts, listing, "state/HEAD", &raw->head);
    (void)add_wanted(&texts, listing, "refs", &raw->refs);
    (void)add_wanted(&texts, listing, "left-out", &raw->left_out);
    (void)add_wanted(&texts, listing, "modes", &raw->modes);
    state->writes_all = !add_wanted(&texts, listing, "writes", &raw->writes);
    if (state->writes_all)
        (void)add_wanted(&texts, listing, "written", &raw->writes);
    state->has_index = add_wanted(&texts, listing, "index", &state->index);
    return read_texts(store, &texts, budget, err);
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct al_saved_file *)a)->path, ((const struct al_saved_file *)b)->path);
}

/* Take the files of the working tree out of the listing, those of nested repositories included. */
static void take_worktree(struct listing *listing, struct al_saved_files *ret_files)
{
    struct al_saved_files *all = &listing->files;

    *ret_files = (struct al_saved_files){ .items = al_calloc(all->count + 1, sizeof(*all->items)) };
    for (size_t i = 0; i < all->count; i++) {
        char *path = al_files_path(all->items[i].path);

        if (!path)
            continue;
        ret_files->items[ret_files->count] = all->items[i];
        ret_files->items[ret_files->count++].path = path;
    }
    qsort(ret_files->items, ret_files->count, sizeof(*ret_files->items), by_path);
}

static int read_checkpoint(struct al_store *store, const char *id, struct al_run_limits *budget,
                           struct al_saved_state *ret_state, struct al_saved_files *ret_files,
                           struct al_error *err)
{
    static const char *const names[] = { "about",  "index",    "left-out", "refs",
                                         "state",  "worktree", "dotgit",   "dotfile",
                                         "writes", "written",  "modes" };
    al_auto(listing_clear) struct listing listing = { .files = { .items = NULL } };
    al_auto(raw_clear) struct raw raw = { AL_STR_INIT, AL_STR_INIT, AL_STR_INIT, AL_STR_INIT,
                                          AL_STR_INIT, AL_STR_INIT, false };
    al_auto(al_saved_state_clear) struct al_saved_state state = { .index = AL_STR_INIT };
    int r = list(store, id, names, AL_COUNT(names), &listing, budget, err);

    if (r == 0)
        r = read_raw(store, &listing, &raw, &state, budget, err);
    if (r < 0)
        return r;
    take_subtree(&listing, "state/", &state.files);
    remove_head(&state.files, &raw.head_is_link);
    r = parse_state(store, &raw, &state, err);
    if (r < 0)
        return r;
    take_worktree(&listing, ret_files);
    al_modes_apply(&raw.modes, ret_files);
    *ret_state = state;
    state = (struct al_saved_state){ .index = AL_STR_INIT };
    return 0;
}

int al_checkpoint_read(struct al_store *store, const char *const *oids, size_t noids,
                       al_blob_fn take, void *payload, struct al_run_limits *budget,
                       struct al_error *err)
{
    return al_bare_read(&store->bare, oids, noids, take, payload, budget, err);
}

/* --- What was read while a store is open --- */

/* A rollback of one execution looks at five checkpoints. */
#define REMEMBERED_MAX 6u

/* A checkpoint with a larger index or a longer list of files is read again. */
#define INDEX_MAX_BYTES (16u << 20)
#define FILES_MAX       150000u

/** What is remembered of one checkpoint. */
struct remembered {
    char id[AL_OID_TEXT]; /* "": nothing */
    struct al_saved_state state;
    struct al_saved_files files;
};

struct al_memo {
    struct remembered items[REMEMBERED_MAX];
    size_t next; /* the one to be forgotten next */
};

static void forget(struct remembered *item)
{
    if (item->id[0])
        al_saved_state_clear(&item->state);
    al_saved_files_clear(&item->files);
    *item = (struct remembered){ .id = "" };
}

void al_memo_free(struct al_memo *memo)
{
    for (size_t i = 0; memo && i < REMEMBERED_MAX; i++)
        forget(&memo->items[i]);
    free(memo);
}

/* What is remembered of a checkpoint; NULL: nothing. */
static const struct remembered *find_remembered(const struct al_store *store, const char *id)
{
    for (size_t i = 0; store->memo && *id && i < REMEMBERED_MAX; i++)
        if (!strcmp(store->memo->items[i].id, id))
            return &store->memo->items[i];
    return NULL;
}

static void copy_words(const struct al_strv *from, struct al_strv *to)
{
    for (size_t i = 0; i < from->count; i++)
        al_strv_add(to, from->items[i]);
}

static void copy_files(const struct al_saved_files *from, struct al_saved_files *to)
{
    *to = (struct al_saved_files){ .count = from->count };
    to->items = from->count ? al_calloc(from->count, sizeof(*to->items)) : NULL;
    for (size_t i = 0; i < from->count; i++) {
        to->items[i] = from->items[i];
        to->items[i].path = al_strdup(from->items[i].path);
    }
}

static void copy_state(const struct al_saved_state *from, struct al_saved_state *to)
{
    *to = *from;
    to->writes = to->moves = to->left_out = (struct al_strv){ .items = NULL };
    copy_words(&from->writes, &to->writes);
    copy_words(&from->moves, &to->moves);
    copy_words(&from->left_out, &to->left_out);
    to->index = AL_STR_INIT;
    al_str_add(&to->index, from->index.buf, from->index.len);
    to->head = al_strdup(from->head);
    to->refs = from->nrefs ? al_calloc(from->nrefs, sizeof(*to->refs)) : NULL;
    for (size_t i = 0; i < from->nrefs; i++)
        to->refs[i] = (struct al_saved_ref){ .name = al_strdup(from->refs[i].name),
                                             .value = al_strdup(from->refs[i].value) };
    copy_files(&from->files, &to->files);
}

/* Remember a checkpoint that was just read. */
static void remember(struct al_store *store, const char *id, const struct al_saved_state *state,
                     const struct al_saved_files *files)
{
    struct remembered *item;

    if (state->index.len > INDEX_MAX_BYTES || files->count > FILES_MAX)
        return;
    if (!store->memo)
        store->memo = al_calloc(1, sizeof(*store->memo));
    item = &store->memo->items[store->memo->next];
    store->memo->next = (store->memo->next + 1) % REMEMBERED_MAX;
    forget(item);
    memcpy(item->id, id, strnlen(id, sizeof(item->id) - 1));
    copy_state(state, &item->state);
    copy_files(files, &item->files);
}

int al_checkpoint_state(struct al_store *store, const char *id, struct al_run_limits *budget,
                        struct al_saved_state *ret_state, struct al_error *err)
{
    al_auto(al_saved_files_clear) struct al_saved_files files = { .items = NULL };
    const struct remembered *item = find_remembered(store, id);
    int r = 0;

    if (item) {
        copy_state(&item->state, ret_state);
        return 0;
    }
    r = read_checkpoint(store, id, budget, ret_state, &files, err);
    if (r == 0)
        remember(store, id, ret_state, &files);
    return r;
}

int al_checkpoint_worktree(struct al_store *store, const char *id, struct al_run_limits *budget,
                           struct al_saved_files *ret_files, struct al_error *err)
{
    al_auto(al_saved_state_clear) struct al_saved_state state = { .index = AL_STR_INIT };
    const struct remembered *item = find_remembered(store, id);
    int r = 0;

    if (item) {
        copy_files(&item->files, ret_files);
        return 0;
    }
    r = read_checkpoint(store, id, budget, &state, ret_files, err);
    if (r == 0)
        remember(store, id, &state, ret_files);
    return r;
}

/* --- The checkpoints of a store --- */

void al_checkpoint_list_clear(struct al_checkpoint_list *list)
{
    free(list->items);
    *list = (struct al_checkpoint_list){ .items = NULL };
}

/* Add a line "<oid> SP <name> SP <nanoseconds> SP <nonce>". */
static void add_checkpoint(const struct al_store *store, const char *line,
                           struct al_checkpoint_list *list)
{
    size_t digits = 2 * al_oid_bytes(store->sha256);
    const char *name = strchr(line, ' '), *time = name ? strchr(name + 1, ' ') : NULL;
    struct al_checkpoint checkpoint = { .taken_ns = time ? strtoll(time + 1, NULL, 10) : 0 };

    if (!time || (size_t)(name - line) != digits)
        return;
    memcpy(checkpoint.id, line, digits);
    name++;
    if (al_starts_with(name, AL_REF_AFTER) &&
        (size_t)(time - name) == strlen(AL_REF_AFTER) + digits)
        memcpy(checkpoint.before, name + strlen(AL_REF_AFTER), digits);
    else if (!al_starts_with(name, AL_REF_BEFORE))
        return;
    list->items = al_reallocarray(list->items, list->count + 1, sizeof(*list->items));
    list->items[list->count++] = checkpoint;
}

/* Order by time.  Checkpoints with the same time are ordered by execution, before and after. */
static int by_time(const void *a, const void *b)
{
    const struct al_checkpoint *one = a, *two = b;
    const char *first = one->before[0] ? one->before : one->id;
    const char *second = two->before[0] ? two->before : two->id;
    int order;

    if (one->taken_ns != two->taken_ns)
        return one->taken_ns < two->taken_ns ? -1 : 1;
    order = strcmp(first, second);
    return order ? order : (one->before[0] != '\0') - (two->before[0] != '\0');
}

int al_checkpoint_list(struct al_store *store, struct al_run_limits *budget,
                       struct al_checkpoint_list *ret_list, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    char *save = NULL;
    int r = al_bare_refs(&store->bare, al_git_sink(&text), budget, err);

    if (r < 0)
        return r;
    *ret_list = (struct al_checkpoint_list){ .items = NULL };
    for (char *line = strtok_r(text.buf, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        add_checkpoint(store, line, ret_list);
    if (ret_list->count)
        qsort(ret_list->items, ret_list->count, sizeof(*ret_list->items), by_time);
    return 0;
}

/* --- Files that a checkpoint has --- */

static int by_name(const void *name, const void *file)
{
    return strcmp(name, ((const struct al_saved_file *)file)->path);
}

/* A file that somebody has open for writing may become another one. */
static bool is_saved_as_is(const struct al_saved_file *file, int dir_fd, const char *name,
                           bool sha256)
{
    struct al_look look;
    char text[AL_OID_TEXT];

    al_look_at(dir_fd, name, sha256, &look);
    al_oid_text(&look.oid, sha256, text);
    return S_ISREG(look.mode) && !look.is_open && !strcmp(text, file->oid);
}

int al_checkpoint_contains(struct al_store *store, const char *id, int dir_fd, const char *dir,
                           const struct al_strv *names, struct al_run_limits *budget,
                           const char **ret_missing, struct al_error *err)
{
    al_auto(al_saved_files_clear) struct al_saved_files files = { .items = NULL };
    const char *missing = NULL;
    struct al_deadline deadline;
    int r = files_in(store, id, dir, budget, &files, err);

    if (r < 0)
        return r;
    deadline = al_deadline_begin(budget);
    for (size_t i = 0; r == 0 && !missing && i < names->count; i++) {
        const char *name = names->items[i];
        const struct al_saved_file *file =
            files.count ? bsearch(name, files.items, files.count, sizeof(*file), by_name) : NULL;

        if (!file || !S_ISREG(file->mode) || !is_saved_as_is(file, dir_fd, name, store->sha256))
            missing = name;
        r = al_deadline_check(&deadline, err);
    }
    al_deadline_sync(&deadline);
    if (r == 0)
        *ret_missing = missing;
    return r;
}

/** Blobs that are looked for in the store's index over the working tree. */
struct blobs {
    struct al_oid_set asked, found;
    size_t oid_bytes;
};

static void blobs_clear(struct blobs *blobs)
{
    al_oid_set_clear(&blobs->asked);
    al_oid_set_clear(&blobs->found);
}

static bool find_blob(void *payload, const struct al_index_entry *entry)
{
    struct blobs *blobs = payload;
    struct al_oid oid = { .bytes = { 0 } };

    memcpy(oid.bytes, entry->oid, blobs->oid_bytes);
    if (al_oid_set_has(&blobs->asked, &oid))
        (void)al_oid_set_add(&blobs->found, &oid);
    return blobs->found.count < blobs->asked.count;
}

int al_store_has_blobs(struct al_store *store, const struct al_oid *oids, size_t count,
                       struct al_run_limits *budget, bool *ret_has, struct al_error *err)
{
    al_auto(blobs_clear) struct blobs blobs = { .oid_bytes = al_oid_bytes(store->sha256) };
    al_auto(al_strv_clear) struct al_strv asked = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str lines = AL_STR_INIT;
    struct al_oid oid;
    char text[AL_OID_TEXT];
    int r = 0;

    for (size_t i = 0; i < count; i++)
        if (!al_oid_is_none(&oids[i]) && al_oid_set_add(&blobs.asked, &oids[i])) {
            al_oid_text(&oids[i], store->sha256, text);
            al_strv_add(&asked, text);
        }
    /* Nearly all of them are as the checkpoint has recorded them. */
    if (store->has_listed)
        al_files_read_index(store, find_blob, &blobs);
    if (blobs.found.count < blobs.asked.count)
        r = al_bare_existing(&store->bare, &asked, true, &lines, budget, err);
    for (const char *at = lines.buf; r == 0 && *at; at = strchr(at, '\n') + 1)
        if (al_oid_parse(at, store->sha256, &oid))
            (void)al_oid_set_add(&blobs.found, &oid);
    for (size_t i = 0; i < count; i++)
        ret_has[i] = r == 0 && al_oid_set_has(&blobs.found, &oids[i]);
    return r;
}

/* The answer names this many files; a longer list helps no user. */
#define MISSING_MAX 100u

/** The state of one search. */
struct search {
    int top_fd;
    struct al_strv dirs;  /* directories still to be searched */
    struct al_strv files; /* those that are there */
    struct al_deadline deadline;
    struct al_error *err;
};

static void search_clear(struct search *search)
{
    al_strv_clear(&search->dirs);
    al_strv_clear(&search->files);
}

/* A file must be in the checkpoint, and so must every file of a directory. */
static void add_present(struct search *search, const char *path, mode_t mode)
{
    if (S_ISDIR(mode)) {
        al_strv_add(&search->dirs, path);
    } else if (S_ISREG(mode) || S_ISLNK(mode)) {
        al_strv_add(&search->files, path);
    }
}

static int add_present_dir(struct search *search, const char *path)
{
    al_auto(al_closep) int fd = al_nofollow_open(search->top_fd, path, O_RDONLY | O_DIRECTORY);
    al_auto(al_closedirp) DIR *dir = fd >= 0 ? al_fs_list_at(fd) : NULL;
    struct dirent *entry;
    int r = 0;

    while (dir && r == 0 && (entry = readdir(dir))) {
        struct stat st;

        r = al_deadline_step(&search->deadline, search->err);
        if (r == 0 && strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
            al_auto(al_freep) char *below = al_fs_join(path, entry->d_name);

            add_present(search, below, st.st_mode);
        }
    }
    return r;
}

/* If a leading part of a path is no directory, that part is what the operation would overwrite. */
static void add_present_path(struct search *search, const char *path)
{
    al_auto(al_freep) char *part = al_strdup(path);
    struct stat st;

    for (char *slash = strchr(part, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (fstatat(search->top_fd, part, &st, AT_SYMLINK_NOFOLLOW) < 0)
            return;
        if (!S_ISDIR(st.st_mode)) {
            add_present(search, part, st.st_mode);
            return;
        }
        *slash = '/';
    }
    if (fstatat(search->top_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0)
        add_present(search, path, st.st_mode);
}

int al_find_missing(struct al_store *store, const char *id, int top_fd, const struct al_strv *paths,
                    struct al_run_limits *budget, struct al_strv *ret_missing, struct al_error *err)
{
    al_auto(search_clear) struct search search = { .top_fd = top_fd,
                                                   .deadline = al_deadline_begin(budget),
                                                   .err = err };
    al_auto(al_strv_clear) struct al_strv new = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv missing = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str names = AL_STR_INIT;
    int r = 0;

    for (size_t i = 0; r == 0 && i < paths->count; i++) {
        add_present_path(&search, paths->items[i]);
        r = al_deadline_step(&search.deadline, err);
    }
    for (size_t i = 0; r == 0 && i < search.dirs.count; i++)
        r = add_present_dir(&search, search.dirs.items[i]);
    al_deadline_sync(&search.deadline);
    if (r < 0)
        return r;
    /* The checkpoint was taken from that index just now.  Nested repositories are not in it. */
    al_files_find_new(store, &search.files, &new);
    for (size_t i = 0; i < new.count; i++) {
        al_auto(al_freep) char *saved = al_files_saved_path(new.items[i]);

        al_str_addf(&names, "%s:%s", id, saved);
        al_str_addc(&names, '\0');
    }
    r = al_snapshot_find_missing(&store->bare, &names, budget, &missing, err);
    for (size_t i = 0; r == 0 && i < missing.count && ret_missing->count < MISSING_MAX; i++)
        al_strv_take(ret_missing, al_files_path(strchr(missing.items[i], ':') + 1));
    return r;
}
