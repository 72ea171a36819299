// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/linked.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint/store.h"
#include "gitops/plumbing/stash_owners.h"
#include "gitops/refs.h"
#include "gitops/worktree/find.h"
#include "gitops/worktree/place.h"
#include "gitops/worktree/record.h"
#include "guard/nofollow.h"
#include "util/fs.h"

/** The last checkpoint of a worktree that a checkpoint of another one names. */
#define REF_LAST       "refs/linked/last"

#define DEPTH_MAX      8
#define LOCK_MAX_BYTES 65536u

static void item_clear(struct al_linked_item *item)
{
    al_str_clear(&item->text);
    al_pending_checkpoint_free(item->pending);
    al_store_close(item->store);
    al_worktree_beside_clear(&item->beside);
    free(item->branch);
    al_strv_clear(&item->own_refs);
}

bool al_linked_is_own_ref(const char *name)
{
    return al_starts_with(name, "refs/worktree/") || al_starts_with(name, "refs/bisect/") ||
           al_starts_with(name, "refs/rewritten/");
}

void al_linked_clear(struct al_linked *linked)
{
    for (size_t i = 0; i < linked->count; i++)
        item_clear(&linked->items[i]);
    free(linked->items);
    al_strv_clear(&linked->left_out);
    *linked = (struct al_linked){ .items = NULL };
}

/* --- The administrative directory --- */

/* Lock files of git are not part of it, nor are the repositories of submodules.  The index is in
 * the checkpoint of the worktree, and whether it is locked is a thing of its own. */
static bool is_wanted(const char *path, bool with_index)
{
    return !al_ends_with(path, ".lock") && strcmp(path, "modules") != 0 &&
           strcmp(path, "locked") != 0 &&
           (with_index || (strcmp(path, "index") != 0 && !al_starts_with(path, "sharedindex.")));
}

static int add_file(struct al_str *text, int fd, const char *path, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str bytes = AL_STR_INIT;
    struct stat st;
    int r = fstat(fd, &st) < 0 ? -1 : al_fs_read_fd(fd, AL_GITDIR_FILE_BYTES, &bytes);

    if (r < 0)
        return al_error_set(err, AL_ERR_EXECUTION, "cannot read '%s' of a worktree", path);
    al_str_addf(text, "file %o %zu %s\n", (unsigned)st.st_mode & 07777, bytes.len, path);
    al_str_add(text, bytes.buf, bytes.len);
    al_str_addc(text, '\n');
    return text->len > AL_GITDIR_ALL_BYTES
               ? al_error_set(err, AL_ERR_EXECUTION,
                              "a worktree's administrative files are larger "
                              "than %u bytes",
                              AL_GITDIR_ALL_BYTES)
               : 0;
}

static int list_names(int dir_fd, const char *path, struct al_strv *ret_names)
{
    al_auto(al_closedirp) DIR *dir =
        al_fs_list(al_nofollow_open(dir_fd, path, O_RDONLY | O_DIRECTORY));
    const struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            !strchr(entry->d_name, '\n'))
            al_strv_add(ret_names, entry->d_name);
    al_strv_sort(ret_names);
    return dir ? 0 : -1;
}

static int add_dir(struct al_str *text, int admin_fd, const char *path, bool with_index, int depth,
                   struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    int r = 0;

    if (list_names(admin_fd, path, &names) < 0 || depth > DEPTH_MAX)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "the administrative directory of a worktree cannot be read");
    for (size_t i = 0; i < names.count && r == 0; i++) {
        al_auto(al_freep) char *name =
            *path ? al_fs_join(path, names.items[i]) : al_strdup(names.items[i]);
        al_auto(al_closep) int fd = -1;
        struct stat st;

        if (!is_wanted(name, with_index) || fstatat(admin_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        if (S_ISDIR(st.st_mode))
            r = add_dir(text, admin_fd, name, with_index, depth + 1, err);
        if (!S_ISREG(st.st_mode))
            continue;
        fd = al_nofollow_open(admin_fd, name, O_RDONLY);
        if (fd >= 0)
            r = add_file(text, fd, name, err);
    }
    return r;
}

static int add_admin(struct al_str *text, const struct al_worktree_found *found, bool with_index,
                     struct al_error *err)
{
    al_auto(al_closep) int fd = open(found->git_dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    return fd < 0 ? al_error_set(err, AL_ERR_EXECUTION,
                                 "the administrative directory of a worktree cannot be read")
                  : add_dir(text, fd, "", with_index, 0, err);
}

static int add_dot_git(struct al_str *text, const struct al_worktree_found *found,
                       struct al_error *err)
{
    al_auto(al_freep) char *path = al_fs_join(found->top, ".git");
    al_auto(al_closep) int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    return fd < 0 ? al_error_set(err, AL_ERR_EXECUTION, "cannot read '.git' of a worktree")
                  : add_file(text, fd, AL_LINKED_DOT_GIT, err);
}

/* --- The checkpoint of a worktree --- */

/* References, the stash and configuration are shared, and say nothing about one worktree. */
static bool is_own(const struct al_difference *change)
{
    return change->part != AL_PART_REF && change->part != AL_PART_STASH &&
           !(change->part == AL_PART_STATE && al_gitdir_is_common(change->name));
}

static int is_last(struct al_linked_item *item, bool exactly, struct al_run_limits *budget,
                   char ret_last[AL_OID_TEXT], bool *ret_is, struct al_error *err)
{
    struct al_differences changes = { .items = NULL };
    struct al_oid oid;
    int r;

    *ret_is = false;
    if (al_store_read_ref(item->store, REF_LAST, &oid, NULL) < 0)
        return 0;
    al_oid_text(&oid, item->store->sha256, ret_last);
    if (!al_checkpoint_exists(item->store, ret_last))
        return 0;
    r = al_checkpoint_compare(item->store, ret_last, item->id, budget, &changes, err);
    *ret_is = r == 0 && !(exactly && changes.index_was_written);
    for (size_t i = 0; i < changes.count; i++)
        *ret_is &= !is_own(&changes.items[i]);
    al_differences_clear(&changes);
    return r;
}

/* Note the files that the checkpoint does not have, and the references that are the worktree's. */
static int note_state(struct al_linked_item *item, const char *name, struct al_run_limits *budget,
                      struct al_strv *left_out, struct al_error *err)
{
    struct al_saved_state state = { .index = AL_STR_INIT };
    int r = al_checkpoint_state(item->store, item->id, budget, &state, err);

    for (size_t i = 0; i < state.left_out.count; i++)
        al_strv_addf(left_out, "%s/%s", name, state.left_out.items[i]);
    for (size_t i = 0; i < state.nrefs; i++)
        if (al_linked_is_own_ref(state.refs[i].name))
            al_strv_add(&item->own_refs, state.refs[i].name);
    al_saved_state_clear(&state);
    return r;
}

/* Take a checkpoint of the worktree, in quarantine, or find that the last one is still true. */
static int take(struct al_store *store, const struct al_checkpoint_reason *reason, const char *name,
                const struct al_worktree_found *found, struct al_run_limits *budget,
                struct al_linked_item *item, struct al_strv *left_out, struct al_error *err)
{
    const struct al_checkpoint_reason own = { .tool = reason->tool,
                                              .operation = reason->operation };
    al_auto(al_strv_clear) struct al_strv heads = AL_STRV_INIT;
    char last[AL_OID_TEXT];
    bool is_known = false;
    int r = al_worktree_open_beside(store->repo, found->top, NULL, budget, &item->beside, err);

    if (r == 0)
        r = al_store_open(store->settings, item->beside.repo, true, budget, &item->store, err);
    if (r == 0)
        r = al_checkpoint_create_pending(item->store, &own, budget, &item->pending, item->id, err);
    if (r == 0)
        r = note_state(item, name, budget, left_out, err);
    if (r == 0)
        r = is_last(item, reason->exactly, budget, last, &is_known, err);
    if (r < 0)
        return r;
    al_ref_follow_head(&item->beside.repo->at, &heads);
    if (heads.count)
        item->branch = al_strdup(heads.items[0]);
    al_str_addf(&item->text, "checkpoint %s\n", is_known ? last : item->id);
    if (is_known) {
        al_pending_checkpoint_free(item->pending);
        item->pending = NULL;
    }
    return 0;
}

/* The record counts for the directory that it was made for. */
static char *recorded_identity(const struct al_repo *repo, const char *name,
                               const struct al_worktree_found *found)
{
    al_auto(al_worktree_record_clear) struct al_worktree_record record = AL_WORKTREE_RECORD_INIT;
    al_auto(al_closep) int fd = open(found->top, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    al_auto(al_freep) char *tree = fd < 0 ? NULL : al_worktree_tree_id(fd);

    if (!tree || al_worktree_record_read(repo->at.git, repo->at.common_dir, name, &record) < 0 ||
        !record.tree || strcmp(record.tree, tree) != 0)
        return NULL;
    return record.born ? al_take(&record.born) : al_take(&record.tree);
}

char *al_linked_identity(const struct al_repo *repo, const char *name,
                         const struct al_worktree_found *found)
{
    char *id = found->id ? recorded_identity(repo, name, found) : NULL;

    return id || !found->id ? id : al_stash_owner_id(found->git_dir);
}

static int add_lock(struct al_store *store, const char *name, const struct al_worktree_found *found,
                    struct al_str *text, struct al_error *err)
{
    al_auto(al_freep) char *id = al_linked_identity(store->repo, name, found);
    al_auto(al_str_clear) struct al_str bytes = AL_STR_INIT;
    al_auto(al_closep) int fd = -1;

    if (!found->locked) {
        al_str_adds(text, "unlocked\n");
        return 0;
    }
    fd = open(found->git_dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (al_fs_read(fd, "locked", LOCK_MAX_BYTES, &bytes) < 0)
        return al_error_set(err, AL_ERR_EXECUTION, "cannot read the lock of a worktree");
    al_str_addf(text, "locked%s%s\n", id ? " " : "", id ? id : "");
    al_str_add(text, bytes.buf, bytes.len);
    return 0;
}

bool al_linked_parse_lock(const struct al_str *text, struct al_linked_lock *ret_lock)
{
    const char *end = text->len ? strchr(text->buf, '\n') : NULL;
    const size_t word = strlen("locked");

    if (!end || !al_starts_with(text->buf, "locked"))
        return false;
    *ret_lock = (struct al_linked_lock){ .bytes = end + 1,
                                         .len = text->len - (size_t)(end + 1 - text->buf) };
    if (text->buf[word] == ' ')
        ret_lock->of = al_strndup(text->buf + word + 1, (size_t)(end - text->buf) - word - 1);
    return true;
}

/* Its maker, who is then known after a rollback, too. */
static void add_record(struct al_store *store, const char *name,
                       const struct al_worktree_found *found, struct al_str *text)
{
    al_auto(al_freep) char *id = recorded_identity(store->repo, name, found);
    const struct al_location *at = &store->repo->at;
    al_auto(al_worktree_record_clear) struct al_worktree_record record = AL_WORKTREE_RECORD_INIT;

    if (al_worktree_record_read(at->git, at->common_dir, name, &record) < 0)
        return;
    al_str_addf(text, "from %s\n", record.from);
    if (record.agent)
        al_str_addf(text, "agent %s\n", record.agent);
    if (id)
        al_str_addf(text, "born %s\n", id);
}

/* `path`: as in struct al_checkpoint_reason. */
static int read_item(struct al_store *store, const struct al_checkpoint_reason *reason,
                     const char *path, struct al_run_limits *budget, struct al_linked_item *item,
                     struct al_strv *left_out, struct al_error *err)
{
    const char *name = strchr(path, '/') + 1;
    al_auto(al_worktree_place_clear) struct al_worktree_place place = AL_WORKTREE_PLACE_INIT;
    al_auto(al_worktree_found_clear) struct al_worktree_found found = AL_WORKTREE_FOUND_INIT;
    al_auto(al_freep) char *owner = NULL;
    int r = al_worktree_place_find(store->repo, false, &place, err);

    if (r == 0)
        r = al_worktree_find(store->repo, &place, name, &found, err);
    if (r < 0)
        return r;
    if (al_starts_with(path, AL_LINKED_LOCK_PREFIX))
        return add_lock(store, name, &found, &item->text, err);
    if (!found.id) {
        al_str_adds(&item->text, "absent\n");
        return 0;
    }
    al_str_adds(&item->text, "worktree\n");
    add_record(store, name, &found, &item->text);
    owner = al_stash_owner_id(found.git_dir);
    if (owner)
        al_str_addf(&item->text, "owner %s\n", owner);
    al_str_addf(&item->text, "top %s\nid %s\n", found.top, found.id);
    if (found.is_whole)
        r = take(store, reason, name, &found, budget, item, left_out, err);
    else
        al_str_adds(&item->text, "checkpoint -\n");
    if (r == 0 && found.is_whole)
        r = add_dot_git(&item->text, &found, err);
    if (r == 0)
        r = add_admin(&item->text, &found, !found.is_whole, err);
    return r < 0 || !found.is_whole
               ? r
               : al_linked_add_submodules(&item->text,
                                          &(struct al_worktree_half){ .repo = store->repo,
                                                                      .top = found.top,
                                                                      .git_dir = found.git_dir },
                                          budget, err);
}

int al_linked_read(struct al_store *store, const struct al_checkpoint_reason *reason,
                   struct al_run_limits *budget, struct al_linked *ret_linked, struct al_error *err)
{
    size_t count = reason->linked ? reason->linked->count : 0;
    int r = 0;

    *ret_linked = (struct al_linked){ .items = al_calloc(count + 1, sizeof(*ret_linked->items)) };
    for (; ret_linked->count < count && r == 0; ret_linked->count++) {
        struct al_linked_item *item = &ret_linked->items[ret_linked->count];

        *item = (struct al_linked_item){ .text = AL_STR_INIT, .beside = AL_WORKTREE_BESIDE_INIT };
        r = read_item(store, reason, reason->linked->items[ret_linked->count], budget, item,
                      &ret_linked->left_out, err);
    }
    if (r < 0)
        al_linked_clear(ret_linked);
    return r;
}

int al_linked_accept(struct al_linked *linked, struct al_run_limits *budget, struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < linked->count && r == 0; i++) {
        struct al_linked_item *item = &linked->items[i];
        al_auto(al_strv_clear) struct al_strv dropping = AL_STRV_INIT;
        struct al_oid oid;

        if (!item->pending)
            continue;
        if (item->branch)
            al_strv_add(&dropping, item->branch);
        for (size_t k = 0; k < item->own_refs.count; k++)
            al_strv_add(&dropping, item->own_refs.items[k]);
        r = al_checkpoint_accept(item->pending, &dropping, budget, err);
        if (r == 0 && al_store_parse_id(item->store, item->id, &oid))
            r = al_store_write_ref(item->store, REF_LAST, &oid, true, err);
    }
    return r;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct al_gitdir_file *)a)->path,
                  ((const struct al_gitdir_file *)b)->path);
}

void al_linked_add_state(const struct al_linked *linked, const struct al_strv *names,
                         struct al_gitdir_files *files)
{
    files->items =
        al_reallocarray(files->items, files->count + linked->count + 1, sizeof(*files->items));
    for (size_t i = 0; i < linked->count; i++) {
        struct al_gitdir_file *file = &files->items[files->count++];

        *file = (struct al_gitdir_file){ .path = al_strdup(names->items[i]),
                                         .mode = S_IFREG | 0644,
                                         .bytes = AL_STR_INIT };
        al_str_add(&file->bytes, linked->items[i].text.buf, linked->items[i].text.len);
    }
    qsort(files->items, files->count, sizeof(*files->items), by_path);
}

/* --- Reading --- */

void al_linked_saved_clear(struct al_linked_saved *saved)
{
    free(saved->top);
    free(saved->id);
    free(saved->from);
    free(saved->agent);
    free(saved->born);
    free(saved->owner);
    al_gitdir_files_clear(&saved->files);
    *saved = AL_LINKED_SAVED_INIT;
}

/* The rest of the line at `*at` that begins with `word`; NULL: another line.  Moves on. */
static char *take_value(const char **at, const char *word)
{
    const char *begin = *at + strlen(word), *end = strchr(*at, '\n');

    if (!al_starts_with(*at, word) || !end)
        return NULL;
    *at = end + 1;
    return al_strndup(begin, (size_t)(end - begin));
}

static bool take_file(const char **at, const char *end, struct al_gitdir_files *files)
{
    al_auto(al_freep) char *line = take_value(at, "file ");
    unsigned mode;
    size_t size;
    int n = 0;
    struct al_gitdir_file *file;

    if (!line || sscanf(line, "%o %zu %n", &mode, &size, &n) != 2 || !n ||
        size >= (size_t)(end - *at) || (*at)[size] != '\n')
        return false;
    files->items = al_reallocarray(files->items, files->count + 1, sizeof(*files->items));
    file = &files->items[files->count++];
    *file =
        (struct al_gitdir_file){ .path = al_strdup(line + n), .mode = mode, .bytes = AL_STR_INIT };
    al_str_add(&file->bytes, *at, size);
    *at += size + 1;
    return true;
}

bool al_linked_parse(const struct al_str *text, struct al_linked_saved *ret_saved)
{
    al_auto(al_linked_saved_clear) struct al_linked_saved saved = AL_LINKED_SAVED_INIT;
    const char *at = text->buf, *end = text->buf + text->len;
    al_auto(al_freep) char *first = take_value(&at, "worktree");
    al_auto(al_freep) char *id = NULL;

    *ret_saved = AL_LINKED_SAVED_INIT;
    if (!first)
        return !strcmp(text->buf, "absent\n");
    saved.exists = true;
    saved.from = take_value(&at, "from ");
    saved.agent = take_value(&at, "agent ");
    saved.born = take_value(&at, "born ");
    saved.owner = take_value(&at, "owner ");
    saved.top = take_value(&at, "top ");
    saved.id = take_value(&at, "id ");
    id = take_value(&at, "checkpoint ");
    if (!saved.top || !saved.id || !id || strlen(id) >= AL_OID_TEXT)
        return false;
    if (strcmp(id, "-") != 0)
        memcpy(saved.checkpoint, id, strlen(id) + 1);
    while (at < end)
        if (!take_file(&at, end, &saved.files))
            return false;
    *ret_saved = saved;
    saved = AL_LINKED_SAVED_INIT;
    return true;
}
