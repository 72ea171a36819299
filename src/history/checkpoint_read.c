// SPDX-License-Identifier: Apache-2.0
/* Reading checkpoints.  Everything is read from the store and nothing from the repository. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "gitops/nul_records.h"
#include "gitops/plumbing/bare.h"
#include "history/entries_digest.h"
#include "history/files.h"
#include "history/memo.h"
#include "history/modes.h"
#include "history/refs.h"
#include "history/store.h"

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

int al_checkpoint_files_in(struct al_store *store, const char *id, const char *dir,
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
            : !al_entries_digest(state->index.buf, state->index.len, store->sha256, &entries))
        return malformed(err);
    al_entries_add_names_only(state->index.buf, state->index.len, store->sha256, &entries);
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

int al_read_checkpoint(struct al_store *store, const char *id, struct al_run_limits *budget,
                       struct al_saved_state *ret_state, struct al_saved_files *ret_files,
                       struct al_error *err)
{
    static const char *const names[] = { "about",    "index",  "left-out", "refs",   "state",
                                         "worktree", "dotgit", "dotfile",  "writes", "modes" };
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
