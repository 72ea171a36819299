// SPDX-License-Identifier: Apache-2.0
#include "verbs/sequencer/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/utf8.h"
#include "git/command.h"
#include "git/git_lock.h"
#include "git/layer.h"
#include "git/location.h"
#include "git/plumbing/filters.h"
#include "git/run.h"
#include "guard/gitdir.h"
#include "guard/nofollow.h"
#include "guard/path.h"
#include "guard/root.h"
#include "history/rescue.h"
#include "verbs/sequencer/conflict_hunks.h"

/* A larger side is refused. */
#define RESOLVE_MAX_BYTES (64u << 20)

/* --- Resolve plan --- */

/*
 * The checks before a conflict is resolved, and what they found.
 *
 * resolve.c makes a plan for the check, for the preview and for the resolution itself.
 */

/* A checked resolution. */
struct resolve_plan {
    const struct al_conflict *conflict;
    const char *content;        /* of the options; NULL: none is given */
    const struct al_side *side; /* the chosen side; NULL: the given content, or the disk */
    size_t nested_size;    /* length of the markers in that side whose conflicts it resolves too */
    bool keeps_disk;       /* the file is not written */
    bool keeps_conflict;   /* the index is not written */
    bool marks_executable; /* set the executable bit in the index */
};

/* Those of a call.  Set up with RESOLVE_PLANS_INIT. */
struct resolve_plans {
    struct al_conflicts conflicts;
    struct resolve_plan *items;
    size_t count;
};

#define RESOLVE_PLANS_INIT ((struct resolve_plans){ .conflicts = AL_CONFLICTS_INIT })

static void resolve_plans_clear(struct resolve_plans *plans)
{
    al_conflicts_clear(&plans->conflicts);
    free(plans->items);
}

/* Set the error "'<path>' <why>" with AL_CODE_OPERATION_FAILED.  Returns AL_ERR_EXECUTION. */
static int resolve_refuse(const char *path, const char *why, struct al_error *err)
{
    al_auto(al_freep) char *word = al_text_sanitize_line(path);

    return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_OPERATION_FAILED, "'%s' %s", word, why);
}

/* The directory must be inside the roots. The last component may be a link to anywhere: it is
 * replaced, never followed. */
static int check_inside(const struct al_repo *repo, const char *given, struct al_error *err)
{
    const char *slash = strrchr(given, '/');
    al_auto(al_freep) char *parent = al_strndup(given, slash ? (size_t)(slash - given) + 1 : 0);
    al_auto(al_freep) char *word = al_text_sanitize_line(given);
    al_auto(al_path_clear) struct al_path path = AL_PATH_INIT;

    if (al_path_has_dot_git(given))
        return al_path_refuse_dot_git(given, err);
    if (!strcmp(slash ? slash + 1 : given, "..") ||
        al_path_resolve(repo->at.git->roots, repo->at.top, *parent ? parent : ".", &path, NULL) < 0)
        return al_error_set(err, AL_ERR_SANDBOX, "Path outside sandbox: %s", word);
    return 0;
}

/* The path relative to the top, as git has it; borrowed from `given`. */
static const char *resolve_top_path(const struct al_repo *repo, const char *given)
{
    size_t len = strlen(repo->at.top);

    if (!strncmp(given, repo->at.top, len) && given[len] == '/')
        given += len + 1;
    while (al_starts_with(given, "./"))
        given += 2;
    return given;
}

static int check_content(const struct al_repo *repo, const struct al_conflict_file *file,
                         const char *content, struct al_error *err)
{
    bool has_markers;
    int r = al_git_has_markers(repo, file, content, &has_markers, err);

    if (r < 0 || !has_markers)
        return r;
    r = al_error_set_code(err, AL_ERR_BAD_ARGS, AL_CODE_CONFLICT,
                          "content still has conflict markers");
    return al_error_remedy(al_error_reason(r, err, "conflict"), err,
                           "Give the whole file as it is to be, without the lines that begin with "
                           "<<<<<<<, ||||||| or >>>>>>>.");
}

static int check_disk(const struct al_conflict_file *file, struct al_error *err)
{
    al_auto(al_freep) char *word = al_text_sanitize_line(file->conflict->path);

    if (!file->has_markers)
        return 0;
    (void)al_error_set_code(err, AL_ERR_BAD_ARGS, AL_CODE_CONFLICT,
                            "'%s' still has conflict markers on disk", word);
    return al_error_about(al_error_reason(AL_ERR_BAD_ARGS, err, "conflict"), err,
                          AL_SUBJECT_MARKERS, NULL);
}

int al_git_check_no_markers(const struct al_repo *repo, const struct al_conflict *conflict,
                            struct al_error *err)
{
    al_auto(al_conflict_file_clear) struct al_conflict_file file = AL_CONFLICT_FILE_INIT;
    int r = al_git_conflict_files(repo, conflict, 1, &file, err);

    return r < 0 ? r : check_disk(&file, err);
}

static int check_how(const struct al_repo *repo, const struct al_resolve_options *options,
                     struct resolve_plan *plan, struct al_error *err)
{
    al_auto(al_conflict_file_clear) struct al_conflict_file file = AL_CONFLICT_FILE_INIT;
    const bool takes_side = options->how == AL_RESOLVE_OURS || options->how == AL_RESOLVE_THEIRS;
    int r = al_git_conflict_files(repo, plan->conflict, 1, &file, err);

    plan->nested_size = file.nested_size;
    plan->keeps_disk = options->how == AL_RESOLVE_DISK;
    plan->keeps_conflict = options->how == AL_RESOLVE_PARTLY;
    if (takes_side)
        plan->side =
            &plan->conflict
                 ->sides[options->how == AL_RESOLVE_OURS ? AL_STAGE_OURS : AL_STAGE_THEIRS];
    if (r < 0 || takes_side)
        return r;
    if (plan->keeps_disk)
        return check_disk(&file, err);
    if (al_conflict_has_links(plan->conflict))
        return resolve_refuse(
            plan->conflict->path,
            "is a symbolic link or a submodule on one side; choose ours or theirs", err);
    return plan->keeps_conflict ? 0 : check_content(repo, &file, options->content, err);
}

/* Fail unless every parent of the path is a directory, or missing. */
static int check_parents(const struct al_repo *repo, const char *path, struct al_error *err)
{
    al_auto(al_closep) int top = -1;
    al_auto(al_closep) int parent = -1;
    const char *name;
    int r = al_location_open_top(&repo->at, &top, err);

    if (r < 0)
        return r;
    parent = al_nofollow_open_parent(top, path, false, &name);
    if (parent >= 0 || parent == -ENOENT)
        return 0;
    return resolve_refuse(path, "lies behind a symbolic link or something that is no directory",
                          err);
}

/* Check one resolution, and set every member of its plan except `marks_executable`. */
static int plan_one(const struct al_repo *repo, const struct al_resolve_options *options,
                    const struct al_conflicts *conflicts, struct resolve_plan *plan,
                    struct al_error *err)
{
    int r = check_inside(repo, options->path, err);

    if (r < 0)
        return r;
    plan->content = options->content;
    plan->conflict = al_conflicts_find(conflicts, resolve_top_path(repo, options->path));
    if (!plan->conflict) {
        r = al_error_reason(resolve_refuse(options->path, "is not in conflict", err), err,
                            "not_found");
        return al_error_remedy(r, err, "See git_conflict_info for the files that are.");
    }
    r = check_how(repo, options, plan, err);
    return r < 0 ? r : check_parents(repo, plan->conflict->path, err);
}

/* @return as al_git_resolve_check(). */
static int plan_resolve(const struct al_repo *repo, const struct al_resolve_options *options,
                        size_t count, struct resolve_plans *plans, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    int r = al_git_conflicts(repo, &plans->conflicts, err);

    plans->items = al_calloc(count, sizeof(*plans->items));
    plans->count = count;
    for (size_t i = 0; r == 0 && i < count; i++) {
        r = plan_one(repo, &options[i], &plans->conflicts, &plans->items[i], err);
        if (r == 0)
            al_strv_add(&paths, plans->items[i].conflict->path);
    }
    return r < 0 ? r : al_git_check_filters(repo, &paths, NULL, err);
}

/* --- Resolve --- */

#define EXECUTABLE 0111u

int al_git_resolve_check(const struct al_repo *repo, const struct al_resolve_options *options,
                         size_t count, struct al_error *err)
{
    al_auto(resolve_plans_clear) struct resolve_plans plans = RESOLVE_PLANS_INIT;

    return plan_resolve(repo, options, count, &plans, err);
}

/* Resolve conflicts that git wrote into the side itself. */
static void take_nested(const struct resolve_plan *plan, struct al_str *content)
{
    const enum al_stage stage = (enum al_stage)(plan->side - plan->conflict->sides);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (!plan->nested_size)
        return;
    al_conflict_take_side((struct al_bytes){ content->buf, content->len }, plan->nested_size, stage,
                          &text);
    al_str_reset(content);
    al_str_add(content, text.buf, text.len);
}

/* Read the side as git would write it into the working tree, with line endings as configured. */
static int read_side(const struct al_repo *repo, const struct resolve_plan *plan,
                     struct al_buffer *content, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    int r;

    al_strv_adds(&command.argv, "git", "-C", repo->at.top, "cat-file", NULL);
    if (al_side_is_link(plan->side)) {
        al_strv_adds(&command.argv, "blob", plan->side->oid, NULL);
    } else {
        al_strv_add(&command.argv, "--filters");
        al_strv_addf(&command.argv, "--path=%s", plan->conflict->path);
        al_strv_add(&command.argv, plan->side->oid);
    }
    r = al_git_read(&repo->at, &command, al_buffer_sink(content), err);
    if (r == 0 && content->total > content->max_bytes)
        r = resolve_refuse(plan->conflict->path, "is too large; do this one with git itself", err);
    if (r == 0)
        take_nested(plan, &content->text);
    return r;
}

static int preview_side(const struct al_repo *repo, const struct resolve_plan *plan,
                        struct al_str *out, struct al_error *err)
{
    al_auto(al_buffer_clear) struct al_buffer content = AL_BUFFER_INIT(RESOLVE_MAX_BYTES);
    int r = read_side(repo, plan, &content, err);

    if (r == 0 && (memchr(content.text.buf, '\0', content.text.len) ||
                   !al_utf8_valid(content.text.buf, content.text.len)))
        al_str_addf(out, "The file becomes %zu bytes that are no text.\n", content.text.len);
    else if (r == 0) {
        al_str_adds(out, al_side_is_link(plan->side) ? "It becomes a symbolic link to:\n"
                                                     : "The file becomes:\n");
        al_text_add_indented(out, content.text.buf, repo->at.budget->in_full);
    }
    return r;
}

void al_git_resolve_affected_files(const struct al_repo *repo,
                                   const struct al_resolve_options *options, struct al_strv *out)
{
    al_strv_take(out, al_fs_join(repo->at.top, resolve_top_path(repo, options->path)));
}

static int preview_one(const struct al_repo *repo, const struct resolve_plan *plan,
                       struct al_str *out, struct al_error *err)
{
    if (plan->keeps_disk) {
        al_str_adds(out, "The file is taken as it is on disk.\n");
    } else if (!plan->side) {
        al_str_adds(out, "The file becomes:\n");
        al_text_add_indented(out, plan->content, repo->at.budget->in_full);
    } else if (!plan->side->oid) {
        al_str_adds(out, "The file is removed: this side has none.\n");
    } else if (al_side_is_submodule(plan->side)) {
        al_str_addf(out, "The submodule becomes commit %s.\n", plan->side->oid);
    } else {
        return preview_side(repo, plan, out, err);
    }
    return 0;
}

int al_git_resolve_preview(const struct al_repo *repo, const struct al_resolve_options *options,
                           size_t count, struct al_str *out, struct al_error *err)
{
    al_auto(resolve_plans_clear) struct resolve_plans plans = RESOLVE_PLANS_INIT;
    int r = plan_resolve(repo, options, count, &plans, err);

    for (size_t i = 0; r == 0 && i < count; i++) {
        al_auto(al_freep) char *name = al_text_sanitize_line(plans.items[i].conflict->path);

        if (count > 1)
            al_str_addf(out, "%s\n", name);
        r = preview_one(repo, &plans.items[i], out, err);
    }
    return r;
}

/* Whether the file becomes executable: as the chosen side is, else as the side that changed the
 * mode. Our side decides if both changed it. */
static bool is_executable(const struct resolve_plan *plan)
{
    const struct al_side *sides = plan->conflict->sides;
    const struct al_side *base = &sides[AL_STAGE_BASE], *ours = &sides[AL_STAGE_OURS];
    const struct al_side *like = plan->side ? plan->side : ours;

    if (!plan->side && sides[AL_STAGE_THEIRS].oid &&
        (!ours->oid || (base->oid && base->mode == ours->mode)))
        like = &sides[AL_STAGE_THEIRS];
    return like->mode & EXECUTABLE;
}

/* Permissions of the new content: those of the existing file, else what git would give. */
static mode_t mode_for(int dir_fd, const char *name, const struct resolve_plan *plan)
{
    struct stat st;

    if (!plan->side && fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
        return st.st_mode & 0777;
    return is_executable(plan) ? 0777 : 0666;
}

/* Write a file or a link under a temporary name in the same directory, and rename it. */
static int write_beside(const struct al_watch *watch, int parent, const char *name,
                        const struct resolve_plan *plan, const char *top, const char *content,
                        size_t len)
{
    const bool is_link = plan->side && al_side_is_link(plan->side);
    al_auto(al_freep) char *path = al_fs_join(top, plan->conflict->path);
    al_auto(al_freep) char *temporary = al_fs_temp_name();
    int r = is_link ? (symlinkat(content, parent, temporary) < 0 ? -errno : 0)
                    : al_fs_write_atomic(parent, temporary, content, len,
                                         mode_for(parent, name, plan), false);

    if (r == 0)
        r = al_rescue_rename(watch, parent, temporary, name, path);
    if (r < 0)
        (void)unlinkat(parent, temporary, 0);
    return r;
}

static int write_file(const struct al_repo *repo, int top, const struct resolve_plan *plan,
                      const char *content, size_t len, struct al_error *err)
{
    const char *path = plan->conflict->path, *name;
    al_auto(al_closep) int parent = al_nofollow_open_parent(top, path, true, &name);
    al_auto(al_freep) char *word = al_text_sanitize_line(path);
    int r = parent;

    if (r >= 0 && !plan->side && al_gitdir_contains(parent, name))
        return al_gitdir_refuse(path, err);
    if (r >= 0)
        r = write_beside(repo->at.budget->watch, parent, name, plan, repo->at.top, content, len);
    return r < 0 ? al_error_errno(err, -r, "cannot write '%s'", word) : 0;
}

static int remove_file(const struct al_repo *repo, int top, const char *path, struct al_error *err)
{
    const char *name;
    al_auto(al_closep) int parent = al_nofollow_open_parent(top, path, false, &name);
    al_auto(al_freep) char *word = al_text_sanitize_line(path);
    al_auto(al_freep) char *whole = al_fs_join(repo->at.top, path);
    int r = parent;

    if (r >= 0)
        r = al_rescue_unlink(repo->at.budget->watch, parent, name, whole);
    if (r >= 0)
        al_nofollow_remove_parents(top, path);
    return r < 0 && r != -ENOENT ? al_error_errno(err, -r, "cannot remove '%s'", word) : 0;
}

static int write_to_worktree(const struct al_repo *repo, const struct resolve_plan *plan,
                             struct al_error *err)
{
    al_auto(al_buffer_clear) struct al_buffer content = AL_BUFFER_INIT(RESOLVE_MAX_BYTES);
    al_auto(al_closep) int top = -1;
    int r = al_location_open_top(&repo->at, &top, err);

    if (r < 0)
        return r;
    if (plan->keeps_disk)
        return 0;
    if (!plan->side)
        return write_file(repo, top, plan, plan->content, strlen(plan->content), err);
    if (!plan->side->oid)
        return remove_file(repo, top, plan->conflict->path, err);
    if (al_side_is_submodule(plan->side))
        return 0; /* its files belong to another repository */
    r = read_side(repo, plan, &content, err);
    if (r == 0)
        r = write_file(repo, top, plan, content.text.buf, content.text.len, err);
    return r;
}

/* git loses the executable bit, with core.fileMode off, when it drops the stages of a conflict. */
static int check_file_mode(const struct al_repo *repo, struct resolve_plan *plan,
                           struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_buffer_clear) struct al_buffer answer = AL_BUFFER_INIT(64);
    int r;

    if ((plan->side && !plan->nested_size) || plan->keeps_disk || !is_executable(plan))
        return 0;
    al_strv_adds(&command.argv, "git", "config", "--type=bool", "--default=true", "--get",
                 "core.fileMode", NULL);
    r = al_git_read(&repo->at, &command, al_buffer_sink(&answer), err);
    plan->marks_executable = answer.text.buf[0] == 'f';
    return r;
}

/* The way that the index gets a resolution. */
enum index_entry { ENTRY_NONE, ENTRY_OBJECT, ENTRY_FILE, ENTRY_EXECUTABLE };

/* A side is entered as the same object; given content is added from the file. */
static enum index_entry entry_of(const struct resolve_plan *plan)
{
    if (plan->keeps_conflict)
        return ENTRY_NONE;
    if (plan->side && !(plan->nested_size && plan->side->oid))
        return ENTRY_OBJECT;
    return plan->marks_executable ? ENTRY_EXECUTABLE : ENTRY_FILE;
}

/* git wants an id for a path that it removes, too, and looks at none of it. */
static const char *any_oid(const struct al_conflict *conflict)
{
    size_t stage = 0;

    while (!conflict->sides[stage].oid)
        stage++;
    return conflict->sides[stage].oid;
}

/* Update the index with all resolutions of one kind. */
static int write_to_index(struct al_repo *repo, const struct resolve_plans *plans,
                          enum index_entry entry, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str input = AL_STR_INIT;

    al_strv_adds(&command.argv, "git", "-C", repo->at.top, "update-index", "-z", NULL);
    if (entry == ENTRY_OBJECT)
        al_strv_add(&command.argv, "--index-info");
    else /* a file that is not there is removed */
        al_strv_adds(&command.argv, "--remove", "--add",
                     entry == ENTRY_EXECUTABLE ? "--chmod=+x" : "--stdin",
                     entry == ENTRY_EXECUTABLE ? "--stdin" : NULL, NULL);
    for (size_t i = 0; i < plans->count; i++) {
        const struct resolve_plan *plan = &plans->items[i];

        if (entry_of(plan) != entry)
            continue;
        if (entry == ENTRY_OBJECT && plan->side->oid)
            al_str_addf(&input, "%o %s 0\t", plan->side->mode, plan->side->oid);
        else if (entry == ENTRY_OBJECT)
            al_str_addf(&input, "0 %s\t", any_oid(plan->conflict)); /* it is removed */
        al_str_add(&input, plan->conflict->path, strlen(plan->conflict->path) + 1);
    }
    al_git_command_feed(&command, &input);
    return input.len ? al_git_write(&repo->at, &command, AL_LOCK_INDEX, err) : 0;
}

int al_git_resolve(struct al_repo *repo, const struct al_resolve_options *options, size_t count,
                   struct al_error *err)
{
    al_auto(resolve_plans_clear) struct resolve_plans plans = RESOLVE_PLANS_INIT;
    int r = plan_resolve(repo, options, count, &plans, err);

    for (size_t i = 0; r == 0 && i < count; i++)
        r = check_file_mode(repo, &plans.items[i], err);
    for (size_t i = 0; r == 0 && i < count; i++)
        r = write_to_worktree(repo, &plans.items[i], err);
    for (int entry = ENTRY_OBJECT; r == 0 && entry <= ENTRY_EXECUTABLE; entry++)
        r = write_to_index(repo, &plans, (enum index_entry)entry, err);
    return r;
}
