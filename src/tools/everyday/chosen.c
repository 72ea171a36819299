// SPDX-License-Identifier: Apache-2.0
#include "tools/private.h"

#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "git/oid.h"
#include "guard/nofollow.h"
#include "verbs/preview/affected_files.h"

#define NAMED_MAX 20

void al_chosen_clear(struct al_chosen *chosen)
{
    al_hunk_choice_clear(&chosen->choice);
    al_hunk_sides_clear(&chosen->sides);
}

/* --- New files --- */

/* More or larger files are named by their paths. */
#define NEW_FILES_MAX 1000u
#define NEW_FILE_MAX  5000000
/* Of the names in an error. */
#define NEW_NAMES_BYTES 600u

void al_untracked_clear(struct al_untracked *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->items[i].path);
    free(files->items);
    *files = (struct al_untracked){ .items = NULL };
}

/* Hash the content; false: it has no id. */
static bool hash_file(int fd, struct al_untracked_file *file, struct al_hash *hash)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (al_fs_read_fd(fd, NEW_FILE_MAX, &text) < 0)
        return false;
    al_hash_add(hash, text.buf, text.len);
    file->is_binary = memchr(text.buf, '\0', text.len) != NULL;
    for (size_t i = 0; i < text.len; i++)
        file->lines += text.buf[i] == '\n' || i + 1 == text.len;
    return true;
}

static bool hash_content(int top, struct al_untracked_file *file, struct al_hash *hash)
{
    const char *name;
    al_auto(al_closep) int parent = al_nofollow_open_parent(top, file->path, false, &name);
    al_auto(al_closep) int fd = -1;
    char target[4096];
    struct stat st;

    if (parent < 0 || fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    al_hash_add(hash, S_ISLNK(st.st_mode) ? "l" : st.st_mode & S_IXUSR ? "x" : "f", 1);
    if (S_ISLNK(st.st_mode)) {
        const ssize_t n = readlinkat(parent, name, target, sizeof(target));

        if (n > 0)
            al_hash_add(hash, target, (size_t)n);
        return n > 0;
    }
    if (!S_ISREG(st.st_mode) || st.st_size > NEW_FILE_MAX)
        return false;
    fd = al_nofollow_open(parent, name, O_RDONLY | O_NONBLOCK);
    return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && hash_file(fd, file, hash);
}

/* Give a file its id; false: it has none. */
static bool name_file(int top, struct al_untracked_file *file)
{
    char text[AL_OID_TEXT];
    struct al_hash hash;
    bool is_read;

    al_hash_init(&hash, true);
    al_hash_add(&hash, file->path, strlen(file->path) + 1);
    al_hash_add(&hash, "N", sizeof("N"));
    is_read = hash_content(top, file, &hash);
    al_hash_text(&hash, text);
    snprintf(file->id, sizeof(file->id), "%.*s", AL_HUNK_ID_DIGITS, text);
    return is_read;
}

static bool is_wanted(const struct al_untracked_file *file, const struct al_strv *ids)
{
    for (size_t i = 0; ids && i < ids->count; i++)
        if (!strcasecmp(ids->items[i], file->id))
            return true;
    return !ids;
}

/* Name a file, and keep it if it is wanted; `max`: so many are enough. */
static void take_new(int top, const char *name, const struct al_strv *ids, size_t max,
                     struct al_untracked *files)
{
    struct al_untracked_file file = { .path = name ? al_strdup(name) : NULL };

    if (name && files->count < max && name_file(top, &file) && is_wanted(&file, ids)) {
        files->items[files->count++] = file;
        return;
    }
    files->nameless++;
    free(file.path);
}

int al_untracked_read(struct al_call *call, const struct al_strv *paths, const struct al_strv *ids,
                      struct al_untracked *ret_files, struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);
    const size_t max = ids ? ids->count : NEW_FILES_MAX;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    al_auto(al_closep) int top = -1;
    struct al_deadline deadline;
    int r = al_git_untracked_files(repo, paths, &names, err);

    if (r == 0 && names.count)
        r = al_location_open_top(&repo->at, &top, err);
    if (r < 0)
        return r;
    ret_files->items = al_calloc(max, sizeof(*ret_files->items));
    deadline = al_deadline_begin(al_call_budget(call));
    for (size_t i = 0; r == 0 && i < names.count; i++) {
        take_new(top, al_location_worktree_name(&repo->at, names.items[i]), ids, max, ret_files);
        r = al_deadline_step(&deadline, err);
    }
    al_deadline_sync(&deadline);
    return r;
}

static const struct al_untracked_file *find_new(const struct al_untracked *files, const char *id)
{
    for (size_t i = 0; i < files->count; i++)
        if (!strcasecmp(files->items[i].id, id))
            return &files->items[i];
    return NULL;
}

void al_named_clear(struct al_named *named)
{
    al_strv_clear(&named->hunks);
    al_strv_clear(&named->paths);
}

int al_named_sort(struct al_call *call, const struct al_hunk_sides *sides,
                  const struct al_strv *hunks, const struct al_strv *paths,
                  struct al_named *ret_named, struct al_error *err)
{
    al_auto(al_untracked_clear) struct al_untracked files = { .items = NULL };
    bool known = true;
    int r = 0;

    for (size_t i = 0; i < hunks->count && known; i++)
        known = sides && (al_hunk_find(&sides->unstaged, hunks->items[i]) ||
                          al_hunk_find(&sides->staged, hunks->items[i]));
    if (!known)
        r = al_untracked_read(call, NULL, hunks, &files, err);

    if (r == 0)
        al_strv_add_all(&ret_named->paths, paths);
    for (size_t i = 0; r == 0 && i < hunks->count; i++) {
        const struct al_untracked_file *file = find_new(&files, hunks->items[i]);

        if (file)
            al_strv_take(&ret_named->paths, al_fs_join(al_call_repo(call)->at.top, file->path));
        else
            al_strv_add(&ret_named->hunks, hunks->items[i]);
    }
    return r;
}

void al_everyday_complete_error(struct al_call *call, struct al_error *err)
{
    al_auto(al_untracked_clear) struct al_untracked files = { .items = NULL };
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;

    if (err->subject != AL_SUBJECT_HUNK || al_untracked_read(call, NULL, NULL, &files, NULL) < 0 ||
        !files.count)
        return;
    for (size_t i = 0; i < files.count; i++) {
        al_auto(al_freep) char *shown = al_place(al_call_repo(call), files.items[i].path);

        al_strv_addf(&names, "%s: %s", shown, files.items[i].id);
    }
    al_str_addf(&message, "%s; new files: ", err->message);
    al_answer_add_items(&names, NEW_NAMES_BYTES, &message);
    free(err->message);
    err->message = al_str_detach(&message);
}

/* --- Chosen hunks --- */

/* Say so if the missing hunk is on the other side, or no hunk of a tracked file. */
static void find_elsewhere(struct al_call *call, enum al_hunk_side side, const struct al_strv *ids,
                           const struct al_hunk_sides *sides, struct al_error *err)
{
    const bool staged = side == AL_HUNKS_STAGED;
    const struct al_hunk_list *list = staged ? &sides->staged : &sides->unstaged;
    const struct al_hunk_list *other = staged ? &sides->unstaged : &sides->staged;
    al_auto(al_untracked_clear) struct al_untracked files = { .items = NULL };

    if (!err)
        return;
    (void)al_untracked_read(call, NULL, ids, &files, NULL);
    for (size_t i = 0; i < ids->count; i++)
        if (find_new(&files, ids->items[i]))
            (void)al_failure_bad_args(err, "The user can delete the file.",
                                      "hunk %s is a new file that is not tracked", ids->items[i]);
        else if (!al_hunk_find(list, ids->items[i]) && al_hunk_find(other, ids->items[i]))
            err->remedy = staged ? "This hunk is not staged: without staged, the call is about it."
                                 : "This hunk is staged: git_restore with staged takes it back.";
}

int al_chosen_read(struct al_call *call, enum al_hunk_side side, const struct al_strv *ids,
                   struct al_strv *ret_new, struct al_chosen *ret_chosen, struct al_error *err)
{
    const struct al_strv none = AL_STRV_INIT;
    struct al_hunk_sides *sides = &ret_chosen->sides;
    al_auto(al_named_clear) struct al_named named = { .hunks = AL_STRV_INIT };
    int r = al_git_read_both_hunks(al_call_repo(call), sides, err);

    if (r == 0 && ret_new)
        r = al_named_sort(call, sides, ids, &none, &named, err);
    if (r < 0)
        return r;
    if (ret_new)
        al_strv_add_all(ret_new, &named.paths);
    r = al_hunks_choose(side == AL_HUNKS_STAGED ? &sides->staged : &sides->unstaged,
                        ret_new ? &named.hunks : ids, &ret_chosen->choice, err);
    if (r < 0)
        find_elsewhere(call, side, ids, sides, err);
    return r;
}

void al_chosen_files(const struct al_call *call, const struct al_chosen *chosen,
                     struct al_strv *out)
{
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;

    al_hunk_choice_paths(&chosen->choice, &paths);
    for (size_t i = 0; i < paths.count; i++)
        al_strv_take(out, al_fs_join(al_call_repo(call)->at.top, paths.items[i]));
}

static void describe_file(const struct al_call *call, const struct al_chosen *chosen, size_t file,
                          struct al_str *out)
{
    const struct al_hunk_list *list = chosen->choice.list;
    const struct al_hunk_file *of = &list->files[file];
    int64_t added = 0, removed = 0;
    size_t count = 0;

    for (size_t i = of->first; i < of->first + of->count; i++) {
        if (!chosen->choice.chosen[i])
            continue;
        count++;
        added += list->items[i].new_lines;
        removed += list->items[i].old_lines;
    }
    if (!count)
        return;
    al_str_addf(out, "%s%s of ", out->len ? ", " : "", al_counted(count, "hunk", "hunks").text);
    al_place_add(al_call_repo(call), of->path, out);
    if (added || removed)
        al_str_addf(out, " (+%" PRId64 " -%" PRId64 ")", added, removed);
}

int al_chosen_apply(struct al_call *call, const struct al_chosen *chosen, enum al_hunk_apply how,
                    const char *done, struct al_str *text, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str hunks = AL_STR_INIT;
    int r = al_git_apply_hunks(al_call_repo(call), &chosen->choice, how, NULL, err);

    for (size_t i = 0; r == 0 && i < chosen->choice.list->nfiles; i++)
        describe_file(call, chosen, i, &hunks);
    if (r == 0)
        al_str_addf(text, "%s %s\n", done, hunks.buf);
    return r;
}

static void show_side(const struct al_hunk_list *list, const struct al_strv *ids,
                      struct al_str *out)
{
    al_auto(al_str_clear) struct al_str shown = AL_STR_INIT;

    for (size_t i = 0; i < ids->count; i++) {
        const struct al_hunk_item *item = al_hunk_find(list, ids->items[i]);

        if (!item)
            continue;
        al_str_addf(&shown, "%s\n", list->files[item->file].path);
        al_hunk_show(list, item, AL_HUNKS_CONTEXT, &shown);
    }
    al_text_sanitize(shown.buf, shown.len, out);
}

int al_chosen_show(struct al_call *call, const struct al_strv *ids, struct al_str *out,
                   struct al_error *err)
{
    al_auto(al_hunk_sides_clear) struct al_hunk_sides sides = AL_HUNK_SIDES_INIT;
    int r = al_git_read_both_hunks(al_call_repo(call), &sides, err);

    show_side(&sides.staged, ids, out);
    show_side(&sides.unstaged, ids, out);
    return r;
}

void al_chosen_add_names(const struct al_call *call, const struct al_strv *files,
                         struct al_str *out)
{
    const struct al_repo *repo = al_call_repo(call);

    for (size_t i = 0; i < files->count && i < NAMED_MAX; i++) {
        const char *name = files->items[i];

        al_str_adds(out, i ? ", " : "");
        al_place_add(repo, *name == '/' ? al_location_worktree_name(&repo->at, name) : name, out);
    }
    if (files->count > NAMED_MAX)
        al_str_addf(out, " and %s more", al_counted(files->count - NAMED_MAX, NULL, NULL).text);
}
