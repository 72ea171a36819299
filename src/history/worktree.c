// SPDX-License-Identifier: Apache-2.0
#include "history/worktree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/lock.h"
#include "git/location.h"
#include "git/oid.h"
#include "git/plumbing/snapshot.h"
#include "git/plumbing/stash_owners.h"
#include "git/refs.h"
#include "guard/nofollow.h"
#include "guard/text.h"
#include "history/aside.h"
#include "verbs/worktree/add.h"
#include "verbs/worktree/find.h"
#include "verbs/worktree/list.h"

#define KEPT "kept"
#define NONE "-"

char *al_worktree_identity(const struct al_worktree_found *found)
{
    return found->git_dir ? al_stash_owner_id(found->git_dir) : NULL;
}

/* --- In a checkpoint of another one --- */

struct adding {
    const struct al_repo *repo;
    const struct al_strv *known;
    struct al_strv *linked;
};

/* One that was moved is known by its administrative directory, and another one in its place by its
 * top: where the file system has no times of birth, an inode may come again. */
static bool add_new(void *payload, const char *id, int git_dir_fd, const char *top)
{
    const struct adding *adding = payload;
    const char *here = adding->repo->at.top, *was = NULL;
    al_auto(al_freep) char *is = al_fs_dir_id(git_dir_fd);

    (void)id;
    if (!adding->known && is)
        al_strv_adds(adding->linked, is, top ? top : "", NULL);
    if (!adding->known || !is || !top || *top != '/' || !al_path_is_plain(top + 1) ||
        al_strv_contains(adding->known, top))
        return true;
    for (size_t i = 0; i < adding->known->count; i += 2)
        if (!strcmp(adding->known->items[i], is))
            was = adding->known->items[i + 1];
    if (!was && !al_worktree_is_recorded(adding->repo, top))
        al_strv_addf(adding->linked, AL_LINKED_PREFIX "%s", top + 1);
    else if (was && !al_fs_beneath(here, was) != !al_fs_beneath(here, top))
        al_strv_addf(adding->linked, AL_LINKED_MOVED_PREFIX "%s",
                     (al_fs_beneath(here, was) ? was : top) + 1);
    return true;
}

int al_linked_add(const struct al_repo *repo, const struct al_strv *known, struct al_strv *linked,
                  struct al_error *err)
{
    return al_git_each_linked(&repo->at, add_new, &(struct adding){ repo, known, linked }, err);
}

int al_linked_find(const struct al_repo *repo, const char *top, struct al_worktree_place *ret_place,
                   struct al_worktree_found *ret_found, struct al_error *err)
{
    const char *name = strrchr(top, '/') + 1;
    al_auto(al_closep) int root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

    al_worktree_place_clear(ret_place);
    ret_place->dir = al_strndup(top, (size_t)(name - top) - 1);
    ret_place->fd = al_nofollow_open(root_fd, *ret_place->dir ? ret_place->dir + 1 : ".",
                                     O_RDONLY | O_DIRECTORY);
    return al_worktree_find(repo, ret_place, name, ret_found, err);
}

static int read_linked(const struct al_repo *repo, const char *path, struct al_str *text,
                       struct al_error *err)
{
    const bool is_lock = al_starts_with(path, AL_LINKED_LOCK_PREFIX);
    al_auto(al_worktree_place_clear) struct al_worktree_place place = AL_WORKTREE_PLACE_INIT;
    al_auto(al_worktree_found_clear) struct al_worktree_found found = AL_WORKTREE_FOUND_INIT;
    al_auto(al_freep) char *is = NULL;
    int r = al_starts_with(path, AL_LINKED_MOVED_PREFIX)
                ? 0
                : al_linked_find(repo, strchr(path, '/'), &place, &found, err);

    is = r == 0 && (!is_lock || found.locked) ? al_worktree_identity(&found) : NULL;
    al_str_addf(text, "%s\n", is ? is : NONE);
    if (is && is_lock)
        al_str_adds(text, found.locked);
    return !is || is_lock ? r : al_worktree_digest(repo, &found, text, err);
}

int al_linked_read(const struct al_repo *repo, const struct al_strv *names,
                   struct al_gitdir_files *files, struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; names && i < names->count && r == 0; i++) {
        struct al_gitdir_file *file;

        files->items = al_reallocarray(files->items, files->count + 1, sizeof(*files->items));
        file = &files->items[files->count++];
        *file = (struct al_gitdir_file){ al_strdup(names->items[i]), S_IFREG | 0644, AL_STR_INIT };
        r = read_linked(repo, file->path, &file->bytes, err);
    }
    return r;
}

bool al_linked_is_none(const char *oid, bool sha256)
{
    al_auto(al_freep) char *none = al_git_blob_id(sha256, NONE "\n", strlen(NONE "\n"));

    return !oid || !strcmp(oid, none);
}

char *al_linked_is(const struct al_str *text)
{
    return !text->len || *text->buf == '-' ? NULL : al_strndup(text->buf, strcspn(text->buf, "\n"));
}

/* --- What only it reached --- */

static int bring_objects(const struct al_repo *repo, const struct al_aside_entry *entry,
                         struct al_error *err)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(entry->fd);
    const struct dirent *file;
    int r = 0;

    while (dir && r == 0 && (file = readdir(dir)))
        if (al_starts_with(file->d_name, KEPT "-") && al_ends_with(file->d_name, ".pack"))
            r = al_git_store_pack(repo, entry->fd, file->d_name, err);
    return r;
}

/* --- Its note --- */

/* The value of a line; NULL: there is none.  Caller frees. */
static char *value_of(const char *text, const char *key)
{
    for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL)
        if (al_starts_with(line, key))
            return al_strndup(line + strlen(key), strcspn(line, "\n") - strlen(key));
    return NULL;
}

/* @param ret_branch  The full name; NULL: none.  Caller frees. */
static int write_note(const struct al_repo *repo, const struct al_worktree_found *found,
                      struct al_str *text, char **ret_branch, struct al_error *err)
{
    al_auto(al_worktrees_clear) struct al_worktrees all = AL_WORKTREES_INIT;
    al_auto(al_freep) char *is = al_worktree_identity(found);
    int r = al_worktree_list(repo, &all, err);

    *ret_branch = NULL;
    al_str_addf(text, "is %s\n", is ? is : "");
    for (size_t i = 0; r == 0 && i < all.count; i++) {
        const struct al_worktree_entry *one = &all.items[i];

        if (strcmp(one->path, found->top) != 0 || !one->branch)
            continue;
        *ret_branch = al_asprintf("refs/heads/%s", one->branch);
        al_str_addf(text, "branch %s\n", *ret_branch);
        if (one->head)
            al_str_addf(text, "at %s\n", one->head);
    }
    return r;
}

/* --- There --- */

static int move_both(struct al_aside_entry *entry, int common_fd,
                     const struct al_worktree_place *place, const struct al_worktree_found *found,
                     const char *name, struct al_error *err)
{
    al_auto(al_closep) int fd = al_nofollow_open(common_fd, "worktrees", O_RDONLY | O_DIRECTORY);
    int r = fd < 0 ? al_error_errno(err, -fd, "cannot open the worktrees of the repository") : 0;

    if (r == 0 && found->has_top)
        r = al_aside_move(entry, place->fd, name, found->top, err);
    if (r == 0)
        r = al_aside_move(entry, fd, found->id, found->git_dir, err);
    return r < 0 ? r : al_aside_end(entry, err);
}

int al_worktree_put_aside(const struct al_repo *repo, const struct al_worktree_place *place,
                          const struct al_worktree_found *found, const char *name, bool keeps,
                          struct al_error *err)
{
    al_auto(al_aside_entry_clear) struct al_aside_entry entry = AL_ASIDE_ENTRY_INIT;
    al_auto(al_str_clear) struct al_str note = AL_STR_INIT;
    al_auto(al_freep) char *branch = NULL;
    al_auto(al_freep) char *is = al_worktree_identity(found);
    al_auto(al_freep) char *record = al_asprintf("%s@%s", name, is ? is : "");
    al_auto(al_closep) int common_fd = -1;
    int r = al_location_open_common_dir(&repo->at, &common_fd, err);

    if (r == 0)
        r = write_note(repo, found, &note, &branch, err);
    if (r == 0)
        r = al_aside_begin(common_fd, note.buf, place->fd, &entry, err);
    if (r < 0)
        return r;
    if (keeps && found->is_whole)
        r = al_worktree_pack(repo, found->top, branch, entry.fd, KEPT, err);
    if (r == 0)
        r = move_both(&entry, common_fd, place, found, name, err);
    if (r < 0) {
        (void)al_aside_return(&entry, NULL);
        return r;
    }
    (void)unlinkat(common_fd, "worktrees", AT_REMOVEDIR); /* git does so with the last one */
    if (keeps && al_worktree_is_recorded(repo, found->top))
        al_worktree_record_move(repo, name, record);
    else if (al_worktree_is_recorded(repo, found->top))
        al_worktree_forget(repo, name);
    if (!keeps)
        al_aside_remove(&entry);
    return 0;
}

/* --- And back --- */

/* Whether it is the worktree, and the two halves were where those of one are: a record can have
 * come with the repository. */
static bool is_of_worktree(const struct al_aside_entry *entry, const struct al_repo *repo,
                           const struct al_worktree_place *place, const char *name, const char *id)
{
    al_auto(al_freep) char *top = al_fs_join(place->dir, name);
    al_auto(al_freep) char *admins = al_fs_join(repo->at.common_dir, "worktrees");
    al_auto(al_freep) char *is = value_of(entry->note, "is ");
    const struct al_strv *items = &entry->items;
    const size_t tops = items->count && !strcmp(items->items[0], top);
    const char *admin = items->count == tops + 1 ? al_fs_beneath(admins, items->items[tops]) : NULL;
    char at[32];

    return is && !strcmp(is, id) && admin && *admin && !strchr(admin, '/') && entry->is_whole &&
           al_aside_folder_of(entry, 0, at) >= 0 && al_aside_folder_of(entry, tops, at) >= 0;
}

/* The newest entry: it may have gone and come back before. */
static int load(const struct al_repo *repo, const struct al_worktree_place *place, const char *name,
                const char *id, struct al_aside_entry *ret_entry)
{
    al_auto(al_closep) int common_fd = -1;
    unsigned long seq = ULONG_MAX;

    *ret_entry = AL_ASIDE_ENTRY_INIT;
    if (al_location_open_common_dir(&repo->at, &common_fd, NULL) < 0)
        return AL_ERR_NOT_FOUND;
    while (al_aside_next(common_fd, &seq, ret_entry))
        if (!ret_entry->is_gone && is_of_worktree(ret_entry, repo, place, name, id))
            return 0;
    return AL_ERR_NOT_FOUND;
}

int al_worktree_check_return(const struct al_repo *repo, const struct al_worktree_place *place,
                             const struct al_worktree_found *found, const char *name,
                             const char *id, struct al_error *err)
{
    al_auto(al_aside_entry_clear) struct al_aside_entry entry = AL_ASIDE_ENTRY_INIT;
    al_auto(al_freep) char *branch = NULL, *top = al_text_sanitize_line(found->top);
    al_auto(al_error_clear) struct al_error held = AL_ERROR_INIT;
    const char *admin;

    if (found->has_top && !found->id)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "something else is at '%s', where the worktree was; move it away", top);
    if (load(repo, place, name, id, &entry) < 0)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "the worktree '%s' cannot come back: what was moved aside of it is "
                            "gone for good",
                            name);
    /* Git may have made another one under the name that this one had below worktrees/. */
    admin = entry.items.items[entry.items.count - 1];
    if (!found->id && faccessat(AT_FDCWD, admin, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "the worktree '%s' cannot come back: another one has its place '%s' in "
                            "the repository; remove that with 'git worktree remove' first",
                            name, strrchr(admin, '/') + 1);
    branch = value_of(entry.note, "branch ");
    if (branch && al_worktree_check_free(repo, branch + strlen("refs/heads/"), false, &held) < 0)
        return al_error_set(err, held.status, "the worktree '%s' cannot come back: its branch %s",
                            name, held.message);
    return 0;
}

static int make_branch(const struct al_repo *repo, const char *note, struct al_error *err)
{
    al_auto(al_freep) char *branch = value_of(note, "branch ");
    al_auto(al_freep) char *at = value_of(note, "at ");

    return !branch || !at || !al_starts_with(branch, "refs/heads/") ||
                   al_ref_exists(&repo->at, branch)
               ? 0
               : al_git_move_refs(repo, &(struct al_ref_move){ branch, NULL, at }, 1, err);
}

int al_worktree_bring_back(const struct al_repo *repo, const struct al_worktree_place *place,
                           const char *name, const char *id, struct al_error *err)
{
    al_auto(al_worktree_place_clear) struct al_worktree_place made = AL_WORKTREE_PLACE_INIT;
    al_auto(al_aside_entry_clear) struct al_aside_entry entry = AL_ASIDE_ENTRY_INIT;
    al_auto(al_freep) char *record = al_asprintf("%s@%s", name, id);
    al_auto(al_closep) int common_fd = -1;
    int r = al_location_open_common_dir(&repo->at, &common_fd, err);

    if (r == 0 && place->fd < 0) /* the directory of worktrees is gone as well */
        r = al_worktree_place_find(repo, true, &made, err);
    if (r == 0 && load(repo, place, name, id, &entry) < 0)
        r = al_error_set(err, AL_ERR_NOT_FOUND, "the worktree '%s' is gone for good", name);
    if (r == 0)
        r = bring_objects(repo, &entry, err);
    if (r == 0)
        r = make_branch(repo, entry.note, err);
    if (r == 0 && mkdirat(common_fd, "worktrees", 0777) < 0 && errno != EEXIST)
        r = al_error_errno(err, errno, "cannot make worktrees/ in the repository");
    if (r < 0)
        return r;
    r = al_aside_return(&entry, err);
    if (r == 0)
        al_worktree_record_move(repo, record, name);
    return r;
}

/* --- Clearing up --- */

void al_linked_tidy(const struct al_repo *repo, const struct al_strv *linked)
{
    al_auto(al_strv_clear) struct al_strv below = AL_STRV_INIT;
    al_auto(al_closep) int fd = -1;

    if (!linked->count || al_location_open_common_dir(&repo->at, &fd, NULL) < 0)
        return;
    al_strv_add(&below, repo->at.common_dir);
    for (size_t i = 0; i < linked->count; i++)
        al_strv_add(&below, strchr(linked->items[i], '/'));
    al_aside_tidy(fd, &below, NULL);
}

/* Whether it is another repository than the last time. */
static bool is_new(int fd)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct stat last;
    struct stat before, st;

    if (fstat(fd, &st) < 0)
        return true;
    al_hold(&lock);
    before = last;
    last = st;
    return before.st_dev != st.st_dev || before.st_ino != st.st_ino;
}

void al_worktree_tidy(const struct al_repo *repo, bool again, struct al_strv *ret_kept)
{
    al_auto(al_worktree_place_clear) struct al_worktree_place place = AL_WORKTREE_PLACE_INIT;
    al_auto(al_strv_clear) struct al_strv below = AL_STRV_INIT;
    al_auto(al_closep) int fd = -1;

    if (!repo->at.root || /* airlock's own, for a target elsewhere */
        al_location_open_common_dir(&repo->at, &fd, NULL) < 0 || (!is_new(fd) && !again))
        return;
    al_strv_adds(&below, repo->at.common_dir, repo->at.top, repo->at.root->path, NULL);
    if (al_worktree_place_find(repo, false, &place, NULL) == 0)
        al_strv_adds(&below, place.main, place.dir, NULL);
    al_aside_tidy(fd, &below, ret_kept);
}
