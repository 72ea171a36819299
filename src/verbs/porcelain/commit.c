// SPDX-License-Identifier: Apache-2.0
#include "verbs/porcelain/commit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "git/command.h"
#include "git/diff/diff.h"
#include "git/failure.h"
#include "git/git_lock.h"
#include "git/hunks/hunk_list.h"
#include "git/oid.h"
#include "git/plumbing/batch.h"
#include "git/plumbing/index_scan.h"
#include "git/plumbing/revision.h"
#include "git/refs.h"
#include "git/repo/repo.h"
#include "git/run.h"
#include "git/vet/vet.h"
#include "guard/nofollow.h"
#include "guard/text.h"
#include "verbs/porcelain/resume.h"
#include "verbs/preview/diff_excerpt.h"
#include "verbs/sequencer/merge.h"
#include "verbs/sequencer/operation_state.h"

/* --- Run --- */

#define KEPT_BYTES (64u * 1024u)

static int nothing_to_commit(struct al_error *err)
{
    return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_NO_STAGED_CHANGES, "nothing to commit");
}

int al_git_commit_preview(const struct al_repo *repo, struct al_str *out, struct al_error *err)
{
    static const struct al_diff_options staged = { .cached = true, .unified = -1 };
    al_auto(al_str_clear) struct al_str diff = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv merged = AL_STRV_INIT;
    int r = al_git_diff_excerpt(repo, &staged, &diff, err);

    if (r < 0)
        return r;
    /* A merge that was resolved to our side has nothing staged and still needs a commit. */
    al_operation_heads(repo, "MERGE_HEAD", &merged);
    if (!diff.len && !merged.count)
        return nothing_to_commit(err);
    if (!repo->vetting->has_identity)
        return al_git_no_identity(err);
    r = al_git_operation_excerpt(repo, out, err);
    if (r == 0)
        al_str_add(out, diff.buf, diff.len);
    return r;
}

static void add_options(const struct al_commit_options *options, struct al_strv *argv)
{
    if (options->amend)
        al_strv_add(argv, "--amend");
    if (options->allow_empty)
        al_strv_add(argv, "--allow-empty");
    if (options->author)
        al_strv_addf(argv, "--author=%s", options->author);
    if (options->message)
        al_strv_adds(argv, "-F", "-", NULL);
    else
        al_strv_add(argv, "--no-edit");
}

/* git writes the message into COMMIT_EDITMSG, through a link that is planted there as well. */
static void remove_link(const struct al_repo *repo)
{
    al_auto(al_closep) int git_dir = -1;
    struct stat st;

    if (al_location_open_git_dir(&repo->at, &git_dir, NULL) == 0 &&
        fstatat(git_dir, "COMMIT_EDITMSG", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
        (void)unlinkat(git_dir, "COMMIT_EDITMSG", 0);
}

static int run(const struct al_repo *repo, const struct al_commit_options *options,
               size_t max_bytes, struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    int r;

    command.class = AL_GIT_WRITE;
    command.starts_children = al_git_has_autostash(repo);
    command.index = options->index;
    command.input = options->message;
    command.input_len = options->message ? strlen(options->message) : 0;
    /* The log tells what was made.  A copy of an index that is split would get a part here. */
    al_strv_adds(&command.argv, "git", "-c", "core.logAllRefUpdates=always", "-c",
                 "core.splitIndex=false", "commit", "--no-verify", "--no-gpg-sign", NULL);
    add_options(options, &command.argv);
    remove_link(repo);
    r = al_git_run(&repo->at, &command,
                   &(struct al_git_run){ .max_bytes = max_bytes, .locks = AL_LOCK_INDEX },
                   ret_output, err);
    if (r < 0)
        return r;
    /* git prints the reason on standard output with nothing to commit. It exits with the same code
     * on errors, but prints those on standard error. */
    if (ret_output->exit_code == 1 && ret_output->out.out.len)
        return nothing_to_commit(err);
    if (ret_output->exit_code != 0 && !repo->vetting->has_identity)
        return al_git_no_identity(err);
    return ret_output->exit_code != 0 ? al_git_failed(ret_output, err) : 0;
}

/* --- Expected commit --- */

/*
 * Another process can replace the index in the milliseconds between airlock's last check and git
 * reading it.  So the commit is compared with the expected one.
 */

static bool hash(void *payload, const char *data, size_t len)
{
    al_hash_add(payload, data, len);
    return true;
}

/* Digest of the differing files with their ids and modes. `to` NULL: compare with the index, the
 * repository's own if `index` is NULL. */
static int digest_changes(const struct al_repo *repo, const char *from, const char *to,
                          const char *index, char ret_hex[AL_OID_TEXT], struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    struct al_hash sum;
    int r;

    command.index = index;
    al_hash_init(&sum, true);
    al_strv_adds(&command.argv, "git", "diff", "--raw", "-z", "--no-abbrev", "--no-renames",
                 "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", NULL);
    if (!to)
        al_strv_add(&command.argv, "--cached");
    al_strv_add(&command.argv, *from ? from : al_git_empty_tree(repo));
    if (to)
        al_strv_add(&command.argv, to);
    al_strv_add(&command.argv, "--");
    r = al_git_read(&repo->at, &command, (struct al_sink){ hash, &sum }, err);
    al_hash_text(&sum, ret_hex);
    return r;
}

int al_git_expect_commit(const struct al_repo *repo, const char *index, char **expected,
                         bool *ret_same, struct al_error *err)
{
    al_auto(al_freep) char *head = al_ref_head(&repo->at);
    al_auto(al_strv_clear) struct al_strv merged = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str now = AL_STR_INIT;
    char changes[AL_OID_TEXT];
    int r = digest_changes(repo, head, NULL, index, changes, err);

    if (r < 0)
        return r;
    al_str_addf(&now, "%s %s", changes, head);
    al_operation_heads(repo, "MERGE_HEAD", &merged);
    for (size_t i = 0; i < merged.count; i++)
        al_str_addf(&now, " %s", merged.items[i]);
    if (ret_same)
        *ret_same = *expected && !strcmp(*expected, now.buf);
    free(*expected);
    *expected = al_str_detach(&now);
    return 0;
}

int al_git_check_expected(const struct al_repo *repo, const char *index, const char *expected,
                          struct al_error *err)
{
    al_auto(al_freep) char *now = NULL;
    int r = al_git_expect_commit(repo, index, &now, NULL, err);

    if (r < 0 || !strcmp(now, expected))
        return r;
    return al_error_remedy(
        al_error_set(err, AL_ERR_EXECUTION,
                     "The commit differs from what was shown, since another program changed a file "
                     "or the index meanwhile; nothing was committed"),
        err, "git_commit again shows the change as it is now.");
}

/* Compare HEAD's commit, which was just made, with the expected one.  git leaves out a parent that
 * another one contains. */
static int check_commit(const struct al_repo *repo, const char *expected, const char *from,
                        struct al_error *err)
{
    al_auto(al_freep) char *commit = al_ref_head(&repo->at);
    al_auto(al_strv_clear) struct al_strv parents = AL_STRV_INIT;
    char changes[AL_OID_TEXT];
    bool is_expected;
    int r = digest_changes(repo, from, commit, NULL, changes, err);

    if (r == 0)
        r = al_git_read_parents(repo, commit, &parents, err);
    if (r < 0)
        return r;
    is_expected = al_starts_with(expected, changes);
    for (size_t i = 0; i < parents.count; i++)
        is_expected &= strstr(expected + strlen(changes), parents.items[i]) != NULL;
    return is_expected ? 0
                       : al_error_set(err, AL_ERR_EXECUTION,
                                      "The commit differs from what was shown, since another "
                                      "process changed the index meanwhile");
}

/* --- Moved HEAD --- */

/*
 * git takes for the parent whatever HEAD is at when it starts, while the index that it commits was
 * chosen before: a commit that somebody made in between would be reverted.  The lock of the index
 * keeps every git from that but update-ref, so the log of HEAD is asked what git built on; and HEAD
 * goes back by compare-and-swap.  No git starts before the index is in its place, if all is well.
 *
 * Source: git-commit(1), git-update-ref(1), git-reflog(1).
 */

#define LOG_BYTES  ((size_t)1 << 20)
#define LOGGED_MAX "--max-count=16"

/* A move of HEAD.  The strings are owned; NULL: the log does not have it. */
struct moved {
    char *from, *to;
};

static void moved_clear(struct moved *moved)
{
    free(moved->from);
    free(moved->to);
}

/* The end of the log where it is in a file: "<old> <new> <who> <when> TAB <reason>".  No command
 * prints the old ids. */
static void read_log(const struct al_repo *repo, struct al_str *ret_lines)
{
    al_auto(al_closep) int git_dir = -1, fd = -1;
    al_auto(al_freep) char *end = al_malloc(LOG_BYTES);
    ssize_t n = -1;
    struct stat st;

    if (al_location_open_git_dir(&repo->at, &git_dir, NULL) == 0)
        fd = al_nofollow_open(git_dir, "logs/HEAD", O_RDONLY);
    if (fd >= 0 && fstat(fd, &st) == 0)
        n = pread(fd, end, LOG_BYTES,
                  st.st_size > (off_t)LOG_BYTES ? st.st_size - (off_t)LOG_BYTES : 0);
    al_str_add(ret_lines, end, n > 0 ? (size_t)n : 0);
}

/* The same lines where git has it: each move begins where the one before ended. */
static int ask_log(const struct al_repo *repo, struct al_str *ret_lines, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv ids = AL_STRV_INIT;
    int r;

    al_strv_adds(&command.argv, "git", "log", "--walk-reflogs", LOGGED_MAX, "--no-show-signature",
                 "--no-patch", "--format=%H", "HEAD", "--", NULL);
    r = al_git_read(&repo->at, &command, al_git_sink(&text), err);
    al_strv_split(&ids, text.buf, "\n");
    al_strv_add(&ids, "0");
    for (size_t i = ids.count - 1; i-- > 0;)
        al_str_addf(ret_lines, "%s %s\n", ids.items[i + 1], ids.items[i]);
    return r;
}

/* Find the commit that git made by what it has printed: "[main 1a2b3c4] subject", or "[main
 * (root-commit) 1a2b3c4] subject". */
static int find_moved(const struct al_repo *repo, const struct al_git_output *output,
                      struct moved *moved, struct al_error *err)
{
    const char *id = strchr(output->out.out.buf, ' '), *end = id ? strstr(id, "] ") : NULL;
    al_auto(al_str_clear) struct al_str lines = AL_STR_INIT;
    int r = 0;

    for (id = end; id && id[-1] != ' ';) /* in front of it stands the branch, or "detached HEAD" */
        id--;
    if (al_ref_is_stored(&repo->at, "HEAD"))
        r = ask_log(repo, &lines, err);
    else
        read_log(repo, &lines);
    for (const char *line = lines.buf; id && *line; line += strcspn(line, "\n"), line += !!*line) {
        const size_t len = strcspn(line, " \n");
        const char *to = line + len + 1;

        if (line[len] != ' ' || strncmp(to, id, (size_t)(end - id)) != 0)
            continue;
        moved_clear(moved);
        moved->from = al_strndup(line, len);
        moved->to = al_strndup(to, strcspn(to, " \n"));
    }
    return r;
}

/* Fail if git built on another commit than `head`, "" for none. */
static int check_moved(const struct al_repo *repo, const char *head,
                       const struct al_git_output *output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(moved_clear) struct moved moved = { .from = NULL };
    int r = find_moved(repo, output, &moved, err);

    if (r < 0 || !moved.to || !strcmp(moved.from, head) ||
        (!*head && strspn(moved.from, "0") == strlen(moved.from)))
        return r;
    al_strv_adds(&command.argv, "git", "update-ref", "-m", "commit: taken back", "HEAD", moved.from,
                 moved.to, NULL);
    r = al_git_write(&repo->at, &command, 0, err);
    if (r < 0)
        return r;
    return al_error_remedy(
        al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_CONFLICT,
                          "The branch moved while the commit was made; nothing was committed"),
        err, "git_log shows the branch as it is now.");
}

/* --- Commit --- */

/* A copy of the index, which nobody can change, is compared and committed.  git applies what was
 * set aside to the index itself with `--autostash`, so what it made is looked at afterwards: the
 * call puts back what is another commit. */
int al_git_commit(struct al_repo *repo, const struct al_commit_options *options, size_t max_bytes,
                  struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_freep) char *now = al_ref_head(&repo->at);
    al_auto(al_scratch_index_removep) char *copy = NULL;
    const char *head = options->head ? options->head : now;
    const bool applies = al_git_has_autostash(repo);
    struct al_commit_options own = *options;
    int r = 0;

    if (options->expected && !options->index && !applies)
        r = al_scratch_index_make(repo, NULL, &copy, err);
    if (copy)
        own.index = copy;
    if (r == 0 && options->expected)
        r = al_git_check_expected(repo, own.index, options->expected, err);
    if (r == 0)
        r = run(repo, &own, max_bytes, ret_output, err);
    if (r == 0)
        r = check_moved(repo, head, ret_output, err);
    if (r == 0 && options->expected && applies)
        r = check_commit(repo, options->expected, head, err);
    return r;
}

/* --- Commit part --- */

void al_commit_indexes_clear(struct al_commit_indexes *indexes)
{
    al_scratch_index_removep(&indexes->commit);
    al_scratch_index_removep(&indexes->after);
    *indexes = (struct al_commit_indexes){ .commit = NULL };
}

static int add(struct al_repo *repo, const struct al_add_options *options, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };

    return al_git_add(repo, options, KEPT_BYTES, &output, err);
}

int al_git_list_staged(const struct al_repo *repo, const char *index, const struct al_strv *paths,
                       struct al_strv *ret_names, struct al_error *err)
{
    const struct al_diff_options options = { .cached = true, .unified = -1, .paths = paths };
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    int r;

    command.index = index;
    al_strv_adds(&command.argv, "git", "diff", "--name-only", "--no-renames", "--no-relative", "-z",
                 NULL);
    r = al_git_diff_add_args(repo, &options, &command.argv, err);
    return r < 0 ? r : al_git_list_paths(repo, &command, ret_names, err);
}

/* Unstage these paths in an index. */
static int unstage(struct al_repo *repo, const char *index, const struct al_strv *paths,
                   struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;

    if (!paths->count)
        return 0;
    for (size_t i = 0; i < paths->count; i++) {
        al_str_addf(&list, ":(top,literal)%s", paths->items[i]);
        al_str_add(&list, "", 1);
    }
    command.index = index;
    al_git_command_feed(&command, &list);
    al_strv_adds(&command.argv, "git", "reset", "-q", "--pathspec-from-file=-",
                 "--pathspec-file-nul", NULL);
    return al_git_write(&repo->at, &command, 0, err);
}

/** The hunks that are chosen of each side. */
struct chosen {
    struct al_hunk_choice stage, keep; /* unstaged ones to stage, staged ones to commit */
};

static void clear_chosen(struct chosen *chosen)
{
    al_hunk_choice_clear(&chosen->stage);
    al_hunk_choice_clear(&chosen->keep);
}

/* Choose each id on the side that has it. */
static int choose_hunks(const struct al_commit_part *part, struct chosen *chosen,
                        struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv staged = AL_STRV_INIT, unstaged = AL_STRV_INIT;
    int r;

    for (size_t i = 0; i < part->hunks->count; i++) {
        const char *id = part->hunks->items[i];

        al_strv_add(al_hunk_find(&part->sides->staged, id) ? &staged : &unstaged, id);
    }
    r = al_hunks_choose(&part->sides->unstaged, &unstaged, &chosen->stage, err);
    return r < 0 ? r : al_hunks_choose(&part->sides->staged, &staged, &chosen->keep, err);
}

/* The same staged hunk in a later list: HEAD, which both lists begin at, has it at this place. */
static const struct al_hunk_item *find_again(const struct al_hunk_list *later,
                                             const struct al_hunk_list *list,
                                             const struct al_hunk_item *item)
{
    for (size_t i = 0; i < later->count; i++)
        if (later->items[i].content == item->content &&
            later->items[i].old_start == item->old_start &&
            !strcmp(later->files[later->items[i].file].path, list->files[item->file].path))
            return &later->items[i];
    return NULL;
}

static int not_apart(const struct al_hunk_item *item, struct al_error *err)
{
    return al_error_set(err, AL_ERR_EXECUTION,
                        "staged hunk %s, which is not chosen, is in the same lines as a hunk that "
                        "is chosen: choose it too, or unstage it with git_restore first",
                        item->id);
}

/* Stage the paths. */
static int stage_paths(struct al_repo *repo, const struct al_commit_part *part, const char *index,
                       struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv there = AL_STRV_INIT, none = AL_STRV_INIT;
    const struct al_strv *paths = part->paths;
    const struct al_add_options options = {
        .mode = AL_ADD_PATHS, .paths = &there, .index = index, .passed_over = part->passed_over
    };

    /* git does not add what is gone from the index as well: that is staged already. */
    for (size_t i = 0; i < paths->count; i++) {
        const struct al_strv path = { .items = &paths->items[i], .count = 1 };

        if (al_git_add_check(repo, &path, false, &none, NULL) == 0)
            al_strv_add(&there, paths->items[i]);
    }
    return there.count ? add(repo, &options, err) : 0;
}

/* The file has a chosen hunk, of either side. */
static bool has_chosen(const struct chosen *chosen, const char *path)
{
    al_auto(al_strv_clear) struct al_strv files = AL_STRV_INIT;

    al_hunk_choice_paths(&chosen->stage, &files);
    al_hunk_choice_paths(&chosen->keep, &files);
    return al_strv_contains(&files, path);
}

/* Whether a staged hunk is not chosen, of a file that has a chosen one. */
static bool is_left(const struct chosen *chosen, const struct al_strv *whole, size_t i)
{
    const struct al_hunk_list *staged = chosen->keep.list;
    const char *path = staged->files[staged->items[i].file].path;

    return !chosen->keep.chosen[i] && !al_strv_contains_sorted(whole, path) &&
           has_chosen(chosen, path);
}

/* Take those hunks out of the commit.
 *
 * @param whole  Files that are committed as they are. */
static int leave_hunks(struct al_repo *repo, const struct chosen *chosen,
                       const struct al_strv *whole, const char *index, struct al_error *err)
{
    const struct al_hunk_list *staged = chosen->keep.list;
    const struct al_hunk_query query = { .side = AL_HUNKS_STAGED, .binary = true, .index = index };
    al_auto(al_hunk_list_clear) struct al_hunk_list later = AL_HUNK_LIST_INIT;
    al_auto(al_hunk_choice_clear) struct al_hunk_choice others = { .list = &later };
    bool any = false;
    int r;

    for (size_t i = 0; i < staged->count && !any; i++)
        any = is_left(chosen, whole, i);
    if (!any)
        return 0;
    r = al_git_read_hunks(repo, &query, &later, err);
    if (r < 0)
        return r;
    others.chosen = al_calloc(later.count, sizeof(bool));
    for (size_t i = 0; i < staged->count; i++) {
        const struct al_hunk_item *item = &staged->items[i], *again;

        if (!is_left(chosen, whole, i))
            continue;
        again = find_again(&later, staged, item);
        if (!again)
            return not_apart(item, err);
        others.chosen[again - later.items] = true;
        others.count++;
    }
    return others.count ? al_git_apply_hunks(repo, &others, AL_HUNKS_UNSTAGE, index, err) : 0;
}

/* List the files that were staged before, and maybe those that are staged now. */
static int list_others(struct al_repo *repo, const struct al_commit_part *part, const char *index,
                       struct al_strv *out, struct al_error *err)
{
    const struct al_hunk_list *staged = part->hunks ? &part->sides->staged : NULL;

    if (!staged || staged->truncated)
        return al_git_list_staged(repo, index, NULL, out, err);
    for (size_t i = 0; i < staged->nfiles; i++)
        al_strv_add(out, staged->files[i].path);
    return 0;
}

/* Staged files that are not named are not committed. */
static int leave_others(struct al_repo *repo, const struct al_commit_part *part,
                        const struct chosen *chosen, const char *index, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv staged = AL_STRV_INIT, whole = AL_STRV_INIT,
                                          others = AL_STRV_INIT;
    int r = list_others(repo, part, index, &staged, err);

    if (r == 0 && part->paths)
        r = al_git_list_staged(repo, index, part->paths, &whole, err);
    al_strv_sort(&whole);
    for (size_t i = 0; i < staged.count; i++)
        if (!al_strv_contains_sorted(&whole, staged.items[i]) &&
            !has_chosen(chosen, staged.items[i]))
            al_strv_add(&others, staged.items[i]);
    if (r == 0 && part->hunks)
        r = leave_hunks(repo, chosen, &whole, index, err);
    return r < 0 ? r : unstage(repo, index, &others, err);
}

static int choose_named(struct al_repo *repo, const struct al_commit_part *part,
                        struct al_commit_indexes *indexes, struct al_error *err)
{
    const struct al_hunk_list none = AL_HUNK_LIST_INIT;
    al_auto(clear_chosen) struct chosen chosen = { { .list = &none }, { .list = &none } };
    int r = part->hunks ? choose_hunks(part, &chosen, err) : 0;

    if (r == 0)
        r = al_git_apply_hunks(repo, &chosen.stage, AL_HUNKS_STAGE, indexes->after, err);
    if (r == 0 && part->paths)
        r = stage_paths(repo, part, indexes->after, err);
    if (r == 0)
        r = al_scratch_index_make(repo, indexes->after, &indexes->commit, err);
    if (r == 0)
        r = leave_others(repo, part, &chosen, indexes->commit, err);
    return r;
}

static int choose_all(struct al_repo *repo, const struct al_strv *without,
                      struct al_commit_indexes *indexes, struct al_error *err)
{
    const struct al_add_options options = { .mode = AL_ADD_ALL,
                                            .without = without,
                                            .index = indexes->after };
    int r = add(repo, &options, err);

    return r < 0 ? r : al_scratch_index_make(repo, indexes->after, &indexes->commit, err);
}

int al_git_choose_commit(struct al_repo *repo, const struct al_commit_part *part,
                         struct al_commit_indexes *ret_indexes, struct al_error *err)
{
    int r = al_scratch_index_make(repo, NULL, &ret_indexes->after, err);

    if (r == 0 && (part->paths || part->hunks))
        r = choose_named(repo, part, ret_indexes, err);
    else if (r == 0 && part->without)
        r = choose_all(repo, part->without, ret_indexes, err);
    else if (r == 0)
        r = al_scratch_index_make(repo, ret_indexes->after, &ret_indexes->commit, err);
    if (r < 0)
        al_commit_indexes_clear(ret_indexes);
    return r;
}

/* --- Add --- */

/* Append pathspecs for everything, or what is in the list, except `without`. */
static void add_exclusions(const struct al_add_options *options, struct al_str *list)
{
    static const char everywhere[] = ":/";

    if (!options->without || !options->without->count)
        return;
    if (!list->len)
        al_str_add(list, everywhere, sizeof(everywhere));
    for (size_t i = 0; i < options->without->count; i++) {
        al_str_addf(list, ":(top,exclude,literal)%s", options->without->items[i]);
        al_str_add(list, "", 1);
    }
}

int al_git_add(struct al_repo *repo, const struct al_add_options *options, size_t max_bytes,
               struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;
    struct al_git_run run = { .max_bytes = max_bytes, .locks = AL_LOCK_INDEX };
    int r;

    run.checked = !options->passed_over;
    command.class = AL_GIT_WRITE;
    command.starts_children = al_repo_index_facts(&repo->at).gitlinks;
    command.index = options->index;
    al_strv_adds(&command.argv, "git", "add", NULL);
    if (options->mode == AL_ADD_ALL) {
        al_strv_add(&command.argv, "-A");
    } else if (options->mode == AL_ADD_UPDATE) {
        al_strv_add(&command.argv, "-u");
    }
    if (options->mode == AL_ADD_PATHS || options->limited) {
        r = al_repo_pathspecs(repo, options->paths, &list, err);
        if (r < 0)
            return r;
    }
    add_exclusions(options, &list);
    if (list.len) {
        al_strv_adds(&command.argv, "--pathspec-from-file=-", "--pathspec-file-nul", NULL);
        al_git_command_feed(&command, &list);
    }
    r = al_git_run(&repo->at, &command, &run, ret_output, err);
    if (r < 0 || run.checked || al_git_wrote_all_files(ret_output))
        return r;
    *options->passed_over = ret_output->exit_code == 1;
    return *options->passed_over ? 0 : al_git_failed(ret_output, err);
}

/* Whether one of the files is `path`, or is below it. */
static bool has_below(const struct al_strv *files, const char *path)
{
    const size_t len = strlen(path);
    bool found = false;

    for (size_t i = 0; i < files->count && !found; i++)
        found = al_starts_with(files->items[i], path) &&
                (!files->items[i][len] || files->items[i][len] == '/');
    return found;
}

static int check_path(const struct al_repo *repo, const char *given, bool or_head,
                      const struct al_strv *affected, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_freep) char *path = NULL, *head = al_ref_head(&repo->at);
    al_auto(al_freep) char *safe = al_text_sanitize_line(given);
    struct stat st;
    int r = al_repo_file(repo, "paths", given, &path, err);

    /* A pattern may match what only git can list. */
    if (r < 0 || fstatat(repo->at.dir_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 || path[0] == ':' ||
        strpbrk(path, "*?[\\") || has_below(affected, path))
        return r;
    /* Only an entry that git does not want in the working tree is left. */
    al_strv_adds(&command.argv, "git", "ls-files", "-z", NULL);
    if (or_head && *head)
        al_strv_add(&command.argv, "--with-tree=HEAD");
    al_strv_add(&command.argv, "--");
    al_strv_addf(&command.argv, ":(literal)%s", path);
    r = al_git_run(&repo->at, &command, &(struct al_git_run){ .max_bytes = 1 }, &output, err);
    if (r < 0 || !al_git_read_well(&output) || output.out.out.len)
        return r;
    return al_git_would_fail(err, "fatal: pathspec '%s' did not match any files", safe);
}

int al_git_add_check(const struct al_repo *repo, const struct al_strv *paths, bool or_head,
                     const struct al_strv *affected, struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < paths->count && r == 0; i++)
        r = check_path(repo, paths->items[i], or_head, affected, err);
    return r;
}

int al_git_count_staged(const struct al_repo *repo, uint64_t *ret_count, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    int r;

    al_strv_adds(&command.argv, "git", "diff", "--cached", "--name-only", "-z", "--no-ext-diff",
                 "--no-textconv", "--ignore-submodules=dirty", "--", NULL);
    r = al_git_list_paths(repo, &command, &names, err);
    if (r == 0)
        *ret_count = names.count;
    return r;
}
