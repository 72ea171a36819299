// SPDX-License-Identifier: Apache-2.0
/* Reading checkpoints.  Everything is read from the store and nothing from the repository. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "git/plumbing/bare.h"
#include "git/plumbing/index_scan.h"
#include "git/plumbing/snapshot.h"
#include "git/refs.h"
#include "git/run.h"
#include "guard/nofollow.h"
#include "history/files.h"
#include "history/modes.h"
#include "history/rescue.h"
#include "history/store.h"

/* --- Names of files --- */

char *al_files_path(const char *saved)
{
    const bool dotgit = al_starts_with(saved, AL_DIR_DOTGIT);
    struct al_str path = AL_STR_INIT;
    const char *name;

    if (al_starts_with(saved, AL_DIR_WORKTREE))
        return al_strdup(saved + strlen(AL_DIR_WORKTREE));
    if (!dotgit && !al_starts_with(saved, AL_DIR_DOTFILE))
        return NULL;
    name = saved + (dotgit ? strlen(AL_DIR_DOTGIT) : strlen(AL_DIR_DOTFILE));
    for (; *name && *name != '/'; name++) {
        const bool escaped = al_starts_with(name, "%25") || al_starts_with(name, "%2F");

        al_str_addc(&path, !escaped ? *name : name[2] == '5' ? '%' : '/');
        name += escaped ? 2 : 0;
    }
    al_str_addf(&path, "/.git%s", name);
    return al_str_detach(&path);
}

char *al_files_saved_path(const char *path)
{
    const char *dot = strstr(path, "/.git");
    struct al_str saved = AL_STR_INIT;

    while (dot && dot[5] && dot[5] != '/')
        dot = strstr(dot + 1, "/.git");
    if (!dot)
        return al_asprintf(AL_DIR_WORKTREE "%s", path);
    al_str_adds(&saved, dot[5] ? AL_DIR_DOTGIT : AL_DIR_DOTFILE);
    for (; path < dot; path++)
        if (*path == '%' || *path == '/')
            al_str_adds(&saved, *path == '%' ? "%25" : "%2F");
        else
            al_str_addc(&saved, *path);
    al_str_adds(&saved, dot + 5);
    return al_str_detach(&saved);
}

/* --- Reading --- */

/* The store keeps the checkpoints that were read last; a rollback of one execution looks at four.
 */
#define LOADED_MAX 4u

static void saved_free(struct al_saved *saved)
{
    al_strv_clear(&saved->writes);
    al_strv_clear(&saved->moves);
    al_strv_clear(&saved->left_out);
    al_strv_clear(&saved->staged);
    al_strv_clear(&saved->pieces);
    al_str_clear(&saved->index);
    al_str_clear(&saved->modes);
    al_differences_clear(&saved->values);
    free(saved);
}

/** The texts of a checkpoint. */
enum text {
    TEXT_ABOUT,
    TEXT_HEAD,
    TEXT_LEFT_OUT,
    TEXT_MODES,
    TEXT_REFS,
    TEXT_WRITES,
    TEXT_WRITTEN,
};

static const char *const text_names[] = { "about", "state/HEAD", "left-out", "modes",
                                          "refs",  "writes",     "written" };

const char *const al_saved_files[] = { AL_DIR_WORKTREE, AL_DIR_DOTGIT, AL_DIR_DOTFILE, NULL };

static const char *const other_parts[] = { "about",   "index/", "left-out", "modes",   "refs",
                                           "staged/", "state/", "writes",   "written", NULL };

/** A checkpoint while it is read. */
struct loading {
    struct al_saved *saved;
    struct al_strv oids;                    /* of the texts */
    enum text wanted[AL_COUNT(text_names)]; /* which each is of */
    bool has[AL_COUNT(text_names)];
    struct al_str texts[AL_COUNT(text_names)];
    bool head_is_link;
};

static void loading_clear(struct loading *loading)
{
    for (size_t i = 0; i < AL_COUNT(text_names); i++)
        al_str_clear(&loading->texts[i]);
    al_strv_clear(&loading->oids);
    if (loading->saved)
        saved_free(loading->saved);
}

static enum al_part part_of(const char *path)
{
    if (al_starts_with(path, "linked")) /* each of the prefixes */
        return AL_PART_LINKED;
    return !strcmp(path, "logs/refs/stash") ? AL_PART_STASH : AL_PART_STATE;
}

/* Add a record "<mode> SP blob SP <oid> TAB <path>". */
static bool add_record(void *payload, char *const *fields)
{
    struct loading *loading = payload;
    char *tab = strchr(fields[0], '\t'), *oid = strstr(fields[0], " blob ");
    const unsigned mode = (unsigned)strtoull(fields[0], NULL, 8);
    al_auto(al_freep) char *file = NULL;
    struct al_difference *value;

    if (!tab || !oid || tab - oid - 6 >= AL_OID_TEXT)
        return true;
    *tab = '\0';
    for (size_t i = 0; i < AL_COUNT(text_names); i++) {
        if (strcmp(tab + 1, text_names[i]) != 0)
            continue;
        loading->wanted[loading->oids.count] = (enum text)i;
        al_strv_add(&loading->oids, oid + 6);
        loading->has[i] = true;
        loading->head_is_link |= i == TEXT_HEAD && S_ISLNK(mode);
        return true;
    }
    file = al_files_path(tab + 1);
    if (al_starts_with(tab + 1, "index/"))
        al_strv_add(&loading->saved->pieces, oid + 6);
    if (al_starts_with(tab + 1, "staged/"))
        al_strv_add(&loading->saved->staged, oid + 6);
    if (file)
        value = al_differences_add(&loading->saved->values, AL_PART_WORKTREE, file);
    else if (al_starts_with(tab + 1, "state/"))
        value = al_differences_add(&loading->saved->values, part_of(tab + 7), tab + 7);
    else
        return true;
    value->to = al_strdup(oid + 6);
    value->to_mode = mode;
    return true;
}

static int list(struct al_store *store, const char *id, const char *const *paths,
                struct loading *loading, struct al_error *err)
{
    return al_store_is_id(store, id)
               ? al_bare_list_tree(&store->bare, id, paths, add_record, loading, err)
               : al_store_no_checkpoint(err);
}

static int add_bytes(void *payload, size_t which, const char *data, size_t len, bool last,
                     struct al_error *err)
{
    struct loading *loading = payload;

    (void)last;
    (void)err;
    al_str_add(&loading->texts[loading->wanted[which]], data, len);
    return 0;
}

/* --- Parsing --- */

/* Parse the lines about a checkpoint, "<key> SP <word>..." each.  False: they are not in a form
 * airlock reads. */
static bool parse_about(char *text, struct al_saved *saved)
{
    const char *without = strstr(text, "\nwithout"); /* the last line */
    char *lines = NULL, *words = NULL;

    if (!without || !al_starts_with(text, "version 3\n"))
        return false;
    saved->without = (strstr(without, " worktree") ? AL_PARTS_WORKTREE : 0) |
                     (strstr(without, " index") ? AL_PARTS_INDEX : 0) |
                     (strstr(without, " refs") ? AL_PARTS_REFS : 0);
    saved->moves_all = !strstr(text, "\nmoves");
    for (char *line = strtok_r(text, "\n", &lines); line; line = strtok_r(NULL, "\n", &lines)) {
        const char *key = strtok_r(line, " ", &words), *word;

        while (key && (word = strtok_r(NULL, " ", &words)))
            if (!strcmp(key, "moves"))
                al_strv_add(&saved->moves, word);
            else if (!strcmp(key, "index-time"))
                saved->index_mtime_ns = strtoll(word, NULL, 10);
            else if (!strcmp(key, "entries"))
                (void)snprintf(saved->entries, sizeof(saved->entries), "%s", word);
            else if (!strcmp(key, "repository"))
                (void)snprintf(saved->repository, sizeof(saved->repository), "%s", word);
            else if (!strcmp(key, "commit"))
                (void)snprintf(saved->commit, sizeof(saved->commit), "%s", word);
    }
    return true;
}

/* Sort words that end with a NUL each. */
static void parse_words(const struct al_str *text, struct al_strv *words)
{
    for (size_t at = 0; at < text->len; at += strlen(text->buf + at) + 1)
        al_strv_add(words, text->buf + at);
    al_strv_sort(words);
}

static bool add_head(struct loading *loading, bool sha256)
{
    const char *text = loading->texts[TEXT_HEAD].buf;
    al_auto(al_freep) char *linked = loading->head_is_link ? al_asprintf("ref: %s", text) : NULL;
    char *head = al_ref_value(linked ? linked : text, sha256);

    al_differences_add(&loading->saved->values, AL_PART_HEAD, "HEAD")->to = head;
    return head != NULL;
}

static int parse(struct loading *loading, bool sha256, struct al_error *err)
{
    struct al_saved *saved = loading->saved;
    const struct al_str *refs = &loading->texts[TEXT_REFS];

    if (!parse_about(loading->texts[TEXT_ABOUT].buf, saved) || !add_head(loading, sha256) ||
        !al_refs_parse(refs->buf, refs->len, &saved->values))
        return al_error_set(err, AL_ERR_EXECUTION, "the checkpoint is not in a form airlock reads");
    if (!saved->entries[0]) /* no index: the entries of an empty one */
        al_index_digest(&saved->index, sha256, saved->entries);
    al_differences_add(&saved->values, AL_PART_INDEX, "index")->to = al_strdup(saved->entries);
    saved->writes_all = !loading->has[TEXT_WRITES];
    parse_words(&loading->texts[saved->writes_all ? TEXT_WRITTEN : TEXT_WRITES], &saved->writes);
    parse_words(&loading->texts[TEXT_LEFT_OUT], &saved->left_out);
    al_differences_sort(&saved->values);
    saved->modes = loading->texts[TEXT_MODES];
    loading->texts[TEXT_MODES] = AL_STR_INIT;
    return 0;
}

static int read_checkpoint(struct al_store *store, const char *id, struct al_saved **ret_saved,
                           struct al_error *err)
{
    al_auto(loading_clear) struct loading loading = {
        .saved = al_calloc(1, sizeof(*loading.saved)),
    };
    int r;

    loading.saved->index = loading.saved->modes = AL_STR_INIT;
    for (size_t i = 0; i < AL_COUNT(text_names); i++)
        loading.texts[i] = AL_STR_INIT;
    r = list(store, id, other_parts, &loading, err);
    if (r == 0)
        r = al_bare_read(&store->bare, (const char *const *)loading.oids.items, loading.oids.count,
                         add_bytes, &loading, err);
    if (r == 0)
        r = parse(&loading, store->sha256, err);
    if (r == 0) {
        (void)snprintf(loading.saved->id, AL_OID_TEXT, "%s", id);
        *ret_saved = al_take(&loading.saved);
    }
    return r;
}

void al_checkpoints_unload(struct al_store *store, size_t most)
{
    size_t count = 0;

    for (struct al_saved **at = &store->loaded, *saved; (saved = *at);) {
        if (most && (saved->is_kept || count++ < most)) {
            at = &saved->next;
            continue;
        }
        *at = saved->next;
        saved_free(saved);
    }
}

int al_checkpoint_load(struct al_store *store, const char *id, bool keep,
                       const struct al_saved **ret_saved, struct al_error *err)
{
    struct al_saved **at = &store->loaded, *saved;
    int r = 0;

    while (*at && strcmp((*at)->id, id) != 0)
        at = &(*at)->next;
    saved = *at;
    if (saved)
        *at = saved->next;
    else
        r = read_checkpoint(store, id, &saved, err);
    if (r < 0)
        return r;
    saved->is_kept |= keep;
    saved->next = store->loaded;
    store->loaded = saved;
    al_checkpoints_unload(store, LOADED_MAX);
    *ret_saved = saved;
    return 0;
}

int al_checkpoint_load_files(struct al_store *store, const char *id, bool keep,
                             const struct al_saved **ret_saved, struct al_error *err)
{
    struct loading loading = { .saved = NULL };
    struct al_differences *values;
    size_t others;
    int r = al_checkpoint_load(store, id, keep, ret_saved, err);

    if (r < 0 || (*ret_saved)->has_files)
        return r;
    loading.saved = store->loaded; /* it is the first one now */
    values = &loading.saved->values;
    others = values->count;
    r = list(store, id, al_saved_files, &loading, err);
    while (r < 0 && values->count > others)
        al_change_drop(values, &values->items[values->count - 1]);
    al_differences_sort(values);
    al_modes_apply(&loading.saved->modes, values);
    loading.saved->has_files = r == 0;
    return r;
}

static int add_piece(void *payload, size_t which, const char *data, size_t len, bool last,
                     struct al_error *err)
{
    (void)which;
    (void)last;
    (void)err;
    al_str_add(payload, data, len);
    return 0;
}

int al_store_read_blobs(struct al_store *store, const char *const *oids, size_t count,
                        struct al_str *ret_text, struct al_error *err)
{
    return al_bare_read(&store->bare, oids, count, add_piece, ret_text, err);
}

int al_checkpoint_load_index(struct al_store *store, const char *id, bool keep,
                             const struct al_saved **ret_saved, struct al_error *err)
{
    int r = al_checkpoint_load(store, id, keep, ret_saved, err);
    const struct al_strv *pieces = r == 0 ? &(*ret_saved)->pieces : NULL;

    if (r < 0 || !pieces->count || (*ret_saved)->index.len)
        return r;
    r = al_store_read_blobs(store, (const char *const *)pieces->items, pieces->count,
                            &store->loaded->index, err); /* it is the first one now */
    if (r < 0)
        al_str_reset(&store->loaded->index);
    return r;
}

/* --- Files that a checkpoint has --- */

int al_checkpoint_contains(struct al_store *store, const char *id, int dir_fd, const char *dir,
                           const struct al_strv *names, const char **ret_missing,
                           struct al_error *err)
{
    const struct al_saved *saved;
    int r = al_checkpoint_load_files(store, id, false, &saved, err);

    if (r < 0)
        return r;
    *ret_missing = NULL;
    for (size_t i = 0; !*ret_missing && i < names->count; i++) {
        const char *name = names->items[i];
        al_auto(al_freep) char *path = *dir ? al_fs_join(dir, name) : al_strdup(name);
        const struct al_difference *file = al_change_find(&saved->values, AL_PART_WORKTREE, path);
        struct al_look look;

        al_look_at(dir_fd, name, store->sha256, &look);
        /* A file that somebody has open for writing may become another one. */
        if (!file || !S_ISREG(file->to_mode) || !S_ISREG(look.mode) || look.is_open ||
            !al_look_has(&look, store->sha256, file->to))
            *ret_missing = name;
    }
    return 0;
}

static bool add_blob(void *payload, const struct al_index_entry *entry)
{
    (void)al_oid_set_add(payload, &entry->oid);
    return true;
}

int al_store_has_blobs(struct al_store *store, const struct al_oid *oids, size_t count,
                       bool *ret_has, struct al_error *err)
{
    al_auto(al_oid_set_clear) struct al_oid_set found = { .slots = NULL };
    al_auto(al_strv_clear) struct al_strv asked = AL_STRV_INIT, there = AL_STRV_INIT;
    struct al_oid oid;
    char text[AL_OID_TEXT];
    int r = 0;

    /* Nearly all of them are as the checkpoint has recorded them in the store's index. */
    if (store->has_listed)
        al_files_read_index(store, add_blob, &found);
    for (size_t i = 0; i < count; i++)
        if (al_oid_set_has(&store->blobs, &oids[i])) {
            (void)al_oid_set_add(&found, &oids[i]);
        } else if (!al_oid_is_none(&oids[i]) && !al_oid_set_has(&found, &oids[i])) {
            al_oid_text(&oids[i], store->sha256, text);
            al_strv_add(&asked, text);
        }
    if (asked.count)
        r = al_git_find_objects(&store->bare, &asked, true, &there, NULL, err);
    for (size_t i = 0; i < there.count; i++)
        if (al_oid_parse(there.items[i], store->sha256, &oid))
            (void)al_oid_set_add(&found, &oid);
    for (size_t i = 0; i < count; i++)
        ret_has[i] = r == 0 && al_oid_set_has(&found, &oids[i]);
    return r;
}

/* The answer names this many files; a longer list helps no user. */
#define MISSING_MAX 100u

/* A file must be in the checkpoint, and so must every file of a directory. */
static int find_present(int top_fd, struct al_strv *paths, struct al_run_limits *budget,
                        struct al_strv *ret_files, struct al_error *err)
{
    struct al_deadline deadline = al_deadline_begin(budget);
    int r = 0;

    for (size_t i = 0; r == 0 && i < paths->count; i++) {
        struct stat st;

        r = al_deadline_step(&deadline, err);
        if (fstatat(top_fd, paths->items[i], &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        if (S_ISDIR(st.st_mode)) {
            al_auto(al_closedirp) DIR *dir =
                al_fs_list(al_nofollow_open(top_fd, paths->items[i], O_RDONLY | O_DIRECTORY));

            for (const struct dirent *entry; dir && (entry = readdir(dir));)
                if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                    al_strv_take(paths, al_fs_join(paths->items[i], entry->d_name));
        } else if (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode))
            al_strv_add(ret_files, paths->items[i]);
    }
    al_deadline_sync(&deadline);
    return r;
}

int al_find_missing(struct al_store *store, const char *id, int top_fd, const struct al_strv *paths,
                    struct al_strv *ret_missing, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv asked = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv files = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv new = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv missing = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    int r;

    for (size_t i = 0; i < paths->count; i++) { /* what is in its place would be overwritten */
        char *place = al_nofollow_blocked(top_fd, paths->items[i]);

        al_strv_take(&asked, place ? place : al_strdup(paths->items[i]));
    }
    r = find_present(top_fd, &asked, store->repo->at.budget, &files, err);
    if (r < 0)
        return r;
    /* The checkpoint was taken from that index just now.  Nested repositories are not in it. */
    al_files_find_new(store, &files, &new);
    for (size_t i = 0; i < new.count; i++) {
        al_auto(al_freep) char *saved = al_files_saved_path(new.items[i]);

        al_strv_addf(&names, "%s:%s", id, saved);
    }
    r = al_git_find_objects(&store->bare, &names, false, NULL, &missing, err);
    for (size_t i = 0; r == 0 && i < missing.count && ret_missing->count < MISSING_MAX; i++)
        al_strv_take(ret_missing, al_files_path(strchr(missing.items[i], ':') + 1));
    return r;
}
