// SPDX-License-Identifier: Apache-2.0
#include "history/linked.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/worktree/find.h"
#include "gitops/worktree/place.h"
#include "history/store.h"
#include "history/worktree.h"
#include "util/fs.h"

#define LOCK_MAX_BYTES 65536u

void al_linked_clear(struct al_linked *linked)
{
    for (size_t i = 0; i < linked->count; i++)
        al_str_clear(&linked->texts[i]);
    free(linked->texts);
    *linked = (struct al_linked){ .texts = NULL };
}

static int read_lock(const struct al_worktree_found *found, const char *is, struct al_str *text,
                     struct al_error *err)
{
    al_auto(al_str_clear) struct al_str bytes = AL_STR_INIT;
    al_auto(al_closep) int fd = -1;

    if (!found->locked || !is) {
        al_str_adds(text, "unlocked\n");
        return 0;
    }
    fd = open(found->git_dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (al_fs_read(fd, "locked", LOCK_MAX_BYTES, &bytes) < 0)
        return al_error_set(err, AL_ERR_EXECUTION, "cannot read the lock of a worktree");
    al_str_addf(text, "locked %s\n", is);
    al_str_add(text, bytes.buf, bytes.len);
    return 0;
}

static int read_worktree(const struct al_repo *repo, const struct al_worktree_found *found,
                         const char *is, struct al_run_limits *budget, struct al_str *text,
                         struct al_error *err)
{
    char work[65];
    int r = is ? al_worktree_work(repo, found, budget, work, err) : 0;

    if (r < 0)
        return r;
    if (is)
        al_str_addf(text, "worktree\nis %s\nid %s\nwork %s\ntop %s\n", is, found->id, work,
                    found->top);
    else
        al_str_adds(text, "absent\n");
    return 0;
}

/* `path`: as in struct al_checkpoint_reason. */
static int read_one(const struct al_repo *repo, const char *path, struct al_run_limits *budget,
                    struct al_str *text, struct al_error *err)
{
    al_auto(al_worktree_place_clear) struct al_worktree_place place = AL_WORKTREE_PLACE_INIT;
    al_auto(al_worktree_found_clear) struct al_worktree_found found = AL_WORKTREE_FOUND_INIT;
    al_auto(al_freep) char *is = NULL;
    int r = al_worktree_place_find(repo, false, &place, err);

    if (r == 0)
        r = al_worktree_find(repo, &place, strchr(path, '/') + 1, &found, err);
    if (r < 0)
        return r;
    is = al_worktree_identity(&found);
    return al_starts_with(path, AL_LINKED_LOCK_PREFIX)
               ? read_lock(&found, is, text, err)
               : read_worktree(repo, &found, is, budget, text, err);
}

int al_linked_read(struct al_store *store, const struct al_checkpoint_reason *reason,
                   struct al_run_limits *budget, struct al_linked *ret_linked, struct al_error *err)
{
    const size_t count = reason->linked ? reason->linked->count : 0;
    int r = 0;

    *ret_linked = (struct al_linked){ .texts = al_calloc(count + 1, sizeof(struct al_str)) };
    for (size_t i = 0; i < count && r == 0; i++) {
        ret_linked->texts[ret_linked->count++] = AL_STR_INIT;
        r = read_one(store->repo, reason->linked->items[i], budget, &ret_linked->texts[i], err);
    }
    if (r < 0)
        al_linked_clear(ret_linked);
    return r;
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
        al_str_add(&file->bytes, linked->texts[i].buf, linked->texts[i].len);
    }
}

/* --- Reading a checkpoint --- */

void al_linked_saved_clear(struct al_linked_saved *saved)
{
    free(saved->is);
    free(saved->id);
    free(saved->top);
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

bool al_linked_parse(const struct al_str *text, struct al_linked_saved *ret_saved)
{
    al_auto(al_linked_saved_clear) struct al_linked_saved saved = AL_LINKED_SAVED_INIT;
    const char *at = text->buf;
    al_auto(al_freep) char *first = take_value(&at, "worktree");
    al_auto(al_freep) char *work = NULL;

    *ret_saved = AL_LINKED_SAVED_INIT;
    if (!first)
        return !strcmp(text->buf, "absent\n");
    saved.exists = true;
    saved.is = take_value(&at, "is ");
    saved.id = take_value(&at, "id ");
    work = take_value(&at, "work ");
    if (al_starts_with(at, "top ") && al_ends_with(at, "\n")) /* it may have a line end in it */
        saved.top = al_strndup(at + strlen("top "), strlen(at) - strlen("top \n"));
    if (!saved.is || !saved.id || !work || !saved.top)
        return false;
    *ret_saved = saved;
    saved = AL_LINKED_SAVED_INIT;
    return true;
}

bool al_linked_parse_lock(const struct al_str *text, struct al_linked_lock *ret_lock)
{
    static const char word[] = "locked ";
    const char *end = text->len ? strchr(text->buf, '\n') : NULL;

    if (!end || !al_starts_with(text->buf, word))
        return false;
    *ret_lock = (struct al_linked_lock){
        .of = al_strndup(text->buf + strlen(word), (size_t)(end - text->buf) - strlen(word)),
        .bytes = end + 1,
        .len = text->len - (size_t)(end + 1 - text->buf),
    };
    return true;
}
