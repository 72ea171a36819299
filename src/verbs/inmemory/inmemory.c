// SPDX-License-Identifier: Apache-2.0
#include "verbs/inmemory/inmemory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/fs.h"
#include "base/mem.h"
#include "git/failure.h"
#include "git/oid.h"
#include "git/plumbing/batch.h"
#include "git/plumbing/filters.h"
#include "git/plumbing/index_scan.h"
#include "git/plumbing/revision.h"
#include "git/plumbing/snapshot.h"
#include "git/repo/git.h"
#include "git/run.h"
#include "git/vet/vet.h"
#include "verbs/inmemory/private.h"
#include "verbs/preview/verify_objects.h"

/* --- Scratch --- */

/* The directory of new objects, and the children that work with it. */

static int unusable(const struct al_inmemory *memory, int error, struct al_error *err)
{
    return al_error_errno(err, error, "cannot use the private directory '%s'", memory->dir);
}

static int make_dir(const char *path, int *ret_fd)
{
    if (mkdir(path, 0700) < 0)
        return -errno;
    *ret_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    return *ret_fd < 0 ? -errno : 0;
}

int al_inmemory_open(const struct al_repo *repo, struct al_inmemory **ret_memory,
                     struct al_error *err)
{
    struct al_inmemory *memory;
    int r;

    if (repo->at.is_own || repo->at.objects)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "A repository of airlock's own cannot be merged in memory");
    memory = al_calloc(1, sizeof(*memory));
    memory->real = repo;
    memory->objects_fd = memory->top_fd = -1;
    memory->dir = al_git_private_name(repo->at.git, "inmemory");
    memory->objects = al_fs_join(memory->dir, "objects");
    memory->top = al_fs_join(memory->dir, "top");
    memory->view = *repo;
    memory->view.at.objects = memory->objects;
    r = mkdir(memory->dir, 0700) < 0 ? -errno : 0;
    if (r == 0)
        r = make_dir(memory->objects, &memory->objects_fd);
    if (r == 0)
        r = make_dir(memory->top, &memory->top_fd);
    if (r < 0) {
        r = unusable(memory, -r, err);
        al_inmemory_free(memory);
        return r;
    }
    *ret_memory = memory;
    return 0;
}

void al_inmemory_free(struct al_inmemory *memory)
{
    if (!memory)
        return;
    al_close(memory->objects_fd);
    al_close(memory->top_fd);
    al_fs_remove_tree(memory->dir);
    free(memory->dir);
    free(memory->objects);
    free(memory->top);
    free(memory->attributes_of);
    free(memory->author);
    free(memory->committer);
    al_inmemory_forget(memory);
    al_strv_clear(&memory->bounds);
    free(memory);
}

const struct al_repo *al_inmemory_repo(const struct al_inmemory *memory)
{
    return &memory->view;
}

void al_inmemory_add_bound(struct al_inmemory *memory, const char *commit)
{
    const struct al_commit_read *known = al_inmemory_known(memory, commit);

    if (!(known && known->is_made) && !al_strv_contains(&memory->bounds, commit))
        al_strv_add(&memory->bounds, commit);
}

int al_inmemory_git(const struct al_inmemory *memory, struct al_git_command *command,
                    struct al_str *ret_out, int *ret_exit, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    command->class = AL_GIT_SCRATCH;
    command->cwd_fd = memory->top_fd;
    command->work_tree = memory->top;
    r = al_git_run(&memory->view.at, command, &(struct al_git_run){ .sink = al_git_sink(ret_out) },
                   &output, err);
    if (r < 0)
        return r;
    if (ret_exit)
        *ret_exit = output.exit_code;
    return output.exit_code == 0 || (ret_exit && output.exit_code == 1)
               ? 0
               : al_git_failed(&output, err);
}

/* "<2 digits>/<the others>" */
static char *loose_path(const char *oid)
{
    return al_asprintf("%.2s/%s", oid, oid + 2);
}

/* Whether an object is among the new ones. */
static bool has(const struct al_inmemory *memory, const char *oid)
{
    al_auto(al_freep) char *path = loose_path(oid);
    struct stat st;

    return fstatat(memory->objects_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* The file is no part of the repository, so it may be seen while it is written. */
static int write_loose(const struct al_inmemory *memory, const char *path, const void *data,
                       size_t len)
{
    const char dir[] = { path[0], path[1], '\0' };
    al_auto(al_closep) int fd = -1;

    if (mkdirat(memory->objects_fd, dir, 0700) < 0 && errno != EEXIST)
        return -errno;
    fd = openat(memory->objects_fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                0600);
    return fd < 0 ? -errno : al_write_all(fd, data, len);
}

int al_inmemory_write(struct al_inmemory *memory, enum al_object_type type, const char *data,
                      size_t len, char ret_oid[AL_OID_TEXT], struct al_error *err)
{
    const bool sha256 = memory->real->vetting->is_sha256;
    al_auto(al_str_clear) struct al_str whole = AL_STR_INIT;
    al_auto(al_freep) unsigned char *packed = NULL;
    al_auto(al_freep) char *path = NULL;
    struct al_oid oid;
    uLongf room;
    int r;

    al_oid_of(sha256, type, data, len, &oid);
    al_oid_text(&oid, sha256, ret_oid);
    if (has(memory, ret_oid))
        return 0;
    al_str_addf(&whole, "%s %zu", al_object_types[type], len);
    al_str_addc(&whole, '\0');
    al_str_add(&whole, data, len);
    room = compressBound(whole.len);
    packed = al_malloc(room);
    if (compress2(packed, &room, (const Bytef *)whole.buf, whole.len, Z_BEST_SPEED) != Z_OK)
        return al_error_set(err, AL_ERR_EXECUTION, "zlib cannot compress an object");
    path = loose_path(ret_oid);
    r = write_loose(memory, path, packed, room);
    return r < 0 ? unusable(memory, -r, err) : 0;
}

/* A commit that stands for a tree.  The message keeps the sides apart if their trees are the same.
 */
static int stand_in(struct al_inmemory *memory, const char *tree, const char *parent,
                    const char *message, char ret_oid[AL_OID_TEXT], struct al_error *err)
{
    static const char who[] = "airlock <airlock@localhost> 0 +0000";
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    al_str_addf(&text, "tree %s\n", tree);
    if (parent)
        al_str_addf(&text, "parent %s\n", parent);
    al_str_addf(&text, "author %s\ncommitter %s\n\n%s\n", who, who, message);
    return al_inmemory_write(memory, AL_OBJECT_COMMIT, text.buf, text.len, ret_oid, err);
}

/* --- Attributes --- */

/*
 * The attributes of a merge.
 *
 * git reads them from the files of its working tree, which in a merge is that of our side.  Here
 * that is a directory with nothing but the .gitattributes files of our side's tree.
 */

#define NAME ".gitattributes"

/* Start again with an empty working tree. */
static int empty_top(struct al_inmemory *memory, struct al_error *err)
{
    int r;

    al_close(al_take_fd(&memory->top_fd));
    al_fs_remove_tree(memory->top);
    r = make_dir(memory->top, &memory->top_fd);
    return r < 0 ? unusable(memory, -r, err) : 0;
}

/* Check out the .gitattributes files of a tree.  git takes it for a mistake if there is none, and
 * writes no index then. */
static int check_out(const struct al_inmemory *memory, const char *tree, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_freep) char *index = al_fs_join(memory->dir, "attributes");
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
    int exit_code = -1, r;

    command.index = index;
    al_strv_adds(&command.argv, "git", "checkout", "-q", "--no-recurse-submodules", tree, "--",
                 ":(top,glob)**/" NAME, NULL);
    r = al_inmemory_git(memory, &command, &out, &exit_code, err);
    if (unlink(index) == 0 && r == 0 && exit_code == 1)
        r = al_error_set(err, AL_ERR_EXECUTION, "git cannot copy the " NAME " files of the tree");
    return r;
}

/* "<commit>", or with -m "<commit> (from <parent>)", and the files of each. */
int al_inmemory_change_attributes(struct al_inmemory *memory, const struct al_strv *commits,
                                  const char *tree, bool *ret_change, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str input = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str names = AL_STR_INIT;
    char first[AL_OID_TEXT];
    int r = stand_in(memory, tree, NULL, "attributes", first, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < commits->count; i++)
        al_str_addf(&input, "%s\n", commits->items[i]);
    al_str_addf(&input, "%s\n", first);
    al_git_command_feed(&command, &input);
    al_strv_adds(&command.argv, "git", "diff-tree", "--stdin", "--root", "-m", "-r", "-z",
                 "--name-only", "--no-renames", "--", ":(top,glob)**/" NAME, NULL);
    r = al_inmemory_git(memory, &command, &names, NULL, err);
    *ret_change = r < 0 || (names.len && !al_starts_with(names.buf, first));
    if (r == 0 && !names.len && !memory->attributes_of)
        al_inmemory_without_attributes(memory);
    return r;
}

void al_inmemory_without_attributes(struct al_inmemory *memory)
{
    memory->keeps_attributes = true;
    memory->attributes_of = al_strdup("");
}

int al_inmemory_set_attributes(struct al_inmemory *memory, const char *tree, struct al_error *err)
{
    int r;

    if (memory->attributes_of && (memory->keeps_attributes || !strcmp(memory->attributes_of, tree)))
        return 0;
    free(al_take(&memory->attributes_of));
    r = empty_top(memory, err);
    if (r == 0)
        r = check_out(memory, tree, err);
    if (r == 0)
        memory->attributes_of = al_strdup(tree);
    return r;
}

/* --- Index tree --- */

/* The tree of what is staged.  git notes the trees of an index in the index itself, so it works on
 * a copy. */
int al_inmemory_index_tree(struct al_inmemory *memory, const char *index, char **ret_tree,
                           struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_scratch_index_removep) char *copy = NULL;
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
    int r = index ? 0 : al_scratch_index_make(memory->real, NULL, &copy, err);

    if (r < 0)
        return r;
    command.index = index ? index : copy;
    al_strv_adds(&command.argv, "git", "write-tree", "--missing-ok", NULL);
    r = al_inmemory_git(memory, &command, &out, NULL, err);
    if (r == 0)
        *ret_tree = al_strndup(out.buf, strcspn(out.buf, "\n"));
    return r;
}

/* --- Merge output --- */

void al_merged_clear(struct al_merged *merged)
{
    free(merged->tree);
    al_conflicts_clear(&merged->files);
    *merged = AL_MERGED_INIT;
}

const char *al_merge_conflict_kind(const struct al_conflict *conflict)
{
    const struct al_side *base = &conflict->sides[AL_STAGE_BASE],
                         *ours = &conflict->sides[AL_STAGE_OURS],
                         *theirs = &conflict->sides[AL_STAGE_THEIRS];

    if (!ours->oid || !theirs->oid)
        return !ours->oid && !theirs->oid ? "rename/rename"
               : base->oid                ? "modify/delete"
                                          : "renamed, or in the place of a directory";
    if (al_side_is_submodule(ours) || al_side_is_submodule(theirs))
        return "submodule";
    return (ours->mode ^ theirs->mode) & S_IFMT ? "distinct types" : "contents";
}

bool al_merge_output_parse(const char *data, size_t len, bool sha256, struct al_merged *ret_merged)
{
    al_auto(al_conflicts_clear) struct al_conflicts conflicts = AL_CONFLICTS_INIT;
    struct al_oid oid;
    bool good = len && !data[len - 1] && al_oid_parse(data, sha256, &oid) &&
                !data[2 * al_oid_bytes(sha256)];

    for (const char *field = good ? data + strlen(data) + 1 : NULL; good && field < data + len;
         field += strlen(field) + 1)
        good = al_conflicts_add(&conflicts, field) || conflicts.more;
    if (!good)
        return false;
    *ret_merged = (struct al_merged){ .tree = al_strdup(data), .files = conflicts };
    conflicts = AL_CONFLICTS_INIT;
    return true;
}

/* --- Merge --- */

/*
 * Merging two commits, or two trees with a base.
 *
 * git merge-tree takes commits and finds their base by itself; an option for another base came only
 * with 2.40.  So a given base becomes a commit without parents, and both sides become commits with
 * that parent.  They stay among the new objects and are never brought to the repository.
 */

static int merge_tree(const struct al_inmemory *memory, const char *ours, const char *theirs,
                      struct al_merged *ret_merged, struct al_error *err)
{
    struct al_merged merged = AL_MERGED_INIT;
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
    int exit_code = -1, r;

    al_strv_add(&command.argv, "git");
    if (memory->real->vetting->filters.count) /* a filter would have to run */
        al_strv_adds(&command.argv, "-c", "merge.renormalize=false", NULL);
    al_strv_adds(&command.argv, "merge-tree", "--write-tree", "-z", "--no-messages", ours, theirs,
                 NULL);
    r = al_inmemory_git(memory, &command, &out, &exit_code, err);
    if (r == 0 &&
        !al_merge_output_parse(out.buf, out.len, memory->real->vetting->is_sha256, &merged))
        r = al_error_set(err, AL_ERR_EXECUTION, "git merge-tree did not say what was asked");
    if (r < 0)
        return r;
    merged.conflicted = exit_code == 1;
    *ret_merged = merged;
    return 0;
}

int al_inmemory_tree(const struct al_inmemory *memory, const char *oid, char **ret_tree,
                     struct al_error *err)
{
    const struct al_commit_read *known = oid ? al_inmemory_known(memory, oid) : NULL;
    char *tree = NULL;
    int r;

    if (!oid || known) {
        *ret_tree = al_strdup(known ? known->tree : al_git_empty_tree(memory->real));
        return 0;
    }
    r = al_git_find_object(&memory->view, oid, "tree", &tree, err);
    if (r < 0)
        return r;
    if (tree) {
        *ret_tree = tree;
        return 0;
    }
    return al_error_remedy(
        al_error_set(err, AL_ERR_EXECUTION, "%s is neither a commit nor a tree", oid), err,
        "The clone may lack it; a user can fetch the rest of the history with 'git "
        "fetch --unshallow'.");
}

/* Refuse a path that either side changed and that goes through a merge driver, by the attributes of
 * either side. */
static int check_drivers(const struct al_inmemory *memory, const char *base, const char *ours,
                         const char *theirs, struct al_error *err)
{
    const char *const sides[] = { ours, theirs };
    int r = 0;

    if (!memory->real->vetting->merge_drivers.count)
        return 0;
    for (size_t i = 0; r == 0 && i < AL_COUNT(sides); i++) {
        al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;

        r = al_git_list_changed(&memory->view, base, sides[i], &paths, err);
        for (size_t j = 0; r == 0 && j < AL_COUNT(sides); j++)
            r = al_git_check_merge_drivers(&memory->view, &paths, sides[j], err);
    }
    return r;
}

int al_inmemory_merge(struct al_inmemory *memory, const char *ours, const char *theirs,
                      struct al_merged *ret_merged, struct al_error *err)
{
    al_auto(al_freep) char *base = NULL;
    int r = al_inmemory_set_attributes(memory, ours, err);

    /* Any of several bases does: a path that differs between the sides differs from it on one. */
    if (r == 0 && memory->real->vetting->merge_drivers.count)
        r = al_git_merge_base(&memory->view, ours, theirs, &base, err);
    if (r == 0 && base)
        r = check_drivers(memory, base, ours, theirs, err);
    al_inmemory_add_bound(memory, ours);
    al_inmemory_add_bound(memory, theirs);
    return r < 0 ? r : merge_tree(memory, ours, theirs, ret_merged, err);
}

int al_inmemory_merge_trees(struct al_inmemory *memory, const char *const trees[AL_STAGES],
                            struct al_merged *ret_merged, struct al_error *err)
{
    char base[AL_OID_TEXT], ours[AL_OID_TEXT], theirs[AL_OID_TEXT];
    int r = al_inmemory_set_attributes(memory, trees[AL_STAGE_OURS], err);

    if (r == 0)
        r = check_drivers(memory, trees[AL_STAGE_BASE], trees[AL_STAGE_OURS],
                          trees[AL_STAGE_THEIRS], err);
    if (r == 0)
        r = stand_in(memory, trees[AL_STAGE_BASE], NULL, "base", base, err);
    if (r == 0)
        r = stand_in(memory, trees[AL_STAGE_OURS], base, "ours", ours, err);
    if (r == 0)
        r = stand_in(memory, trees[AL_STAGE_THEIRS], base, "theirs", theirs, err);
    return r < 0 ? r : merge_tree(memory, ours, theirs, ret_merged, err);
}

/* --- Accept --- */

/*
 * Bringing new objects to the repository.
 *
 * They are packed, and git unpacks or indexes the pack in the repository.  git does not write an
 * object that the repository has already, whatever its content is, so what arrived is read there
 * and compared with the ids.
 *
 * Source: git-pack-objects(1), git-unpack-objects(1), git-index-pack(1).
 */

/* So many objects stay a pack; git's own limit (transfer.unpackLimit). */
#define UNPACK_LIMIT 100

/* The ids of the new objects that are needed, one a line. */
struct needed {
    struct al_str ids;
    size_t count;
};

static void needed_clear(struct needed *needed)
{
    al_str_clear(&needed->ids);
}

/* List the new objects that are needed, while git packs them: the repository has the others. */
static int make_pack(const struct al_inmemory *memory, const char *commit, struct needed *needed,
                     char **ret_path, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command list = AL_GIT_COMMAND_INIT;
    al_auto(al_git_command_clear) struct al_git_command pack = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT, lines = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str hash = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv ids = AL_STRV_INIT;
    int r;

    al_str_addf(&words, "%s\n", commit);
    for (size_t i = 0; i < memory->bounds.count; i++)
        al_str_addf(&words, "^%s\n", memory->bounds.items[i]);
    al_git_command_feed(&list, &words);
    al_strv_adds(&list.argv, "git", "-c", AL_NO_COMMIT_GRAPH, "rev-list", "--objects",
                 "--no-object-names", "--missing=allow-any", "--stdin", NULL);
    al_git_command_feed(&pack, &words);
    pack.class = AL_GIT_SCRATCH;
    al_strv_adds(&pack.argv, "git", "-c", AL_NO_COMMIT_GRAPH, "-c", "pack.packSizeLimit=0",
                 "pack-objects", "-q", "--revs", "--local", "--missing=allow-any", "--non-empty",
                 NULL);
    al_strv_addf(&pack.argv, "%s/pack", memory->dir);
    r = al_git_read_both(&memory->view.at, &pack, al_git_sink(&hash), &list, al_git_sink(&lines),
                         err);
    al_str_trim_end(&hash);
    if (hash.len) /* else the repository has got all of them meanwhile */
        *ret_path = al_asprintf("%s/pack-%s.pack", memory->dir, hash.buf);
    al_strv_split(&ids, lines.buf, "\n");
    for (size_t i = 0; i < ids.count; i++)
        if (has(memory, ids.items[i])) {
            al_str_addf(&needed->ids, "%s\n", ids.items[i]);
            needed->count++;
        }
    return r;
}

static int unpack(const struct al_inmemory *memory, const char *path, size_t count,
                  struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0)
        return al_error_errno(err, errno, "cannot read the pack of new objects");
    command.in_fd = fd;
    if (count < UNPACK_LIMIT)
        al_strv_adds(&command.argv, "git", "unpack-objects", "-q", NULL);
    else
        al_strv_adds(&command.argv, "git", "index-pack", "--stdin", NULL);
    return al_git_write(&memory->real->at, &command, 0, err);
}

/* In the repository itself. */
static int verify(const struct al_inmemory *memory, const struct needed *needed,
                  struct al_error *err)
{
    al_auto(al_stable_read_clear) struct al_stable_read found = AL_STABLE_READ_INIT;
    struct al_stable_read *outer = memory->view.at.budget->stable_read;
    bool complete = true;
    int r;

    memory->view.at.budget->stable_read = &found;
    r = al_git_verify_objects(&memory->real->at, &needed->ids, &complete, err);
    memory->view.at.budget->stable_read = outer;
    if (r == 0 && complete && found.oids.count < needed->count)
        r = al_error_set(err, AL_ERR_EXECUTION,
                         "Not all new objects arrived in the repository, and no reference was "
                         "moved");
    return r;
}

int al_inmemory_accept(struct al_inmemory *memory, const char *commit, struct al_error *err)
{
    al_auto(needed_clear) struct needed needed = { .ids = AL_STR_INIT };
    al_auto(al_freep) char *path = NULL;
    int r = make_pack(memory, commit, &needed, &path, err);

    if (r < 0 || !needed.count)
        return r;
    r = path ? unpack(memory, path, needed.count, err) : 0;
    return r < 0 ? r : verify(memory, &needed, err);
}
