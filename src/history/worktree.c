// SPDX-License-Identifier: Apache-2.0
#include "history/worktree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/location.h"
#include "gitops/nul_records.h"
#include "gitops/plumbing/rollback_plumbing.h"
#include "gitops/plumbing/stash_owners.h"
#include "gitops/refs.h"
#include "gitops/run.h"
#include "gitops/worktree/beside.h"
#include "gitops/worktree/list.h"
#include "gitops/worktree/record.h"
#include "gitops/worktree/remove.h"
#include "guard/nofollow.h"
#include "history/aside.h"
#include "util/fs.h"

#define WHY           "worktree"
#define KEPT          "kept"
#define DEPTH_MAX     128
#define REPOS_MAX     256 /* that are remembered as tidy */
#define OUTPUT_MAX    (64u << 10)
#define STATUS_FIELDS 10 /* at most, before the path of a record */

char *al_worktree_identity(const struct al_worktree_found *found)
{
    return found->git_dir ? al_stash_owner_id(found->git_dir) : NULL;
}

static bool is_over(int r)
{
    return r == AL_ERR_TIMEOUT || r == AL_ERR_CANCELLED;
}

/* --- The work in it --- */

struct work {
    struct sha256_ctx sum;
    int top_fd;
    bool skips; /* the next record is the old name of a rename */
};

static void add_bytes(struct work *work, const void *data, size_t len)
{
    sha256_update(&work->sum, len, data);
}

/* git writes indexes and locks when it only looks. */
static bool is_noise(const char *name)
{
    return !strcmp(name, ".") || !strcmp(name, "..") || !strcmp(name, "index") ||
           al_ends_with(name, ".lock");
}

/* The stat of a file, or of all files in a directory. */
static void add_tree(struct work *work, int dir_fd, const char *name, int depth)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    al_auto(al_closedirp) DIR *dir = NULL;
    const struct dirent *entry;
    struct stat st;
    int64_t facts[4];

    add_bytes(work, name, strlen(name) + 1);
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    facts[0] = st.st_mode;
    facts[1] = S_ISDIR(st.st_mode) ? 0 : st.st_size;
    facts[2] = S_ISDIR(st.st_mode) ? 0 : st.st_mtim.tv_sec;
    facts[3] = S_ISDIR(st.st_mode) ? 0 : st.st_mtim.tv_nsec;
    add_bytes(work, facts, sizeof(facts));
    if (!S_ISDIR(st.st_mode) || depth > DEPTH_MAX)
        return;
    dir = al_fs_list(al_nofollow_open(dir_fd, name, O_RDONLY | O_DIRECTORY));
    while (dir && (entry = readdir(dir)))
        if (!is_noise(entry->d_name))
            al_strv_add(&names, entry->d_name);
    al_strv_sort(&names);
    for (size_t i = 0; i < names.count; i++)
        add_tree(work, dirfd(dir), names.items[i], depth + 1);
}

/* The path follows a number of fields that the kind of the record tells. */
static const char *path_of(const char *line)
{
    size_t fields = line[0] == '1' ? 8 : line[0] == '2' ? 9 : line[0] == 'u' ? STATUS_FIELDS : 1;

    for (; fields && *line; line++)
        fields -= *line == ' ';
    return line;
}

static bool take_status(void *payload, char *const *fields)
{
    struct work *work = payload;
    const char *line = fields[0];

    if (*line == '#' && !al_starts_with(line, "# branch.oid") &&
        !al_starts_with(line, "# branch.head"))
        return true;
    add_bytes(work, line, strlen(line) + 1);
    if (!work->skips && *line != '#')
        add_tree(work, work->top_fd, path_of(line), 0);
    work->skips = !work->skips && *line == '2';
    return true;
}

static bool take_gitlink(void *payload, char *const *fields)
{
    struct work *work = payload;
    const char *tab = strchr(fields[0], '\t');

    if (tab && al_starts_with(fields[0], "160000 "))
        add_tree(work, work->top_fd, tab + 1, 0);
    return true;
}

static int read_work(struct work *work, const struct al_repo *repo, const char *const *words,
                     bool (*take)(void *payload, char *const *fields), struct al_run_limits *budget,
                     struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(1, take, work);

    for (; *words; words++)
        al_strv_add(&command.argv, *words);
    command.lists_untracked = take == take_status;
    return al_git_read_records(&repo->at, &command, &records, budget, err);
}

/* No program runs in a submodule: what is there counts by its stat. */
static int add_work(struct work *work, const struct al_repo *repo, struct al_run_limits *budget,
                    struct al_error *err)
{
    static const char *const status[] = { "git",
                                          "status",
                                          "--porcelain=v2",
                                          "-z",
                                          "--branch",
                                          "--untracked-files=all",
                                          "--ignore-submodules=all",
                                          NULL };
    static const char *const list[] = { "git", "ls-files", "--stage", "-z", NULL };
    static const char *const own[] = { "MERGE_HEAD",   "CHERRY_PICK_HEAD", "REVERT_HEAD",
                                       "rebase-merge", "rebase-apply",     "refs",
                                       "modules" };
    al_auto(al_closep) int git_fd = -1;
    struct stat st;
    int r = al_location_open_git_dir(&repo->at, &git_fd, err);

    if (r == 0)
        r = al_location_open_top(&repo->at, &work->top_fd, err);
    if (r == 0)
        r = read_work(work, repo, status, take_status, budget, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < AL_COUNT(own); i++)
        add_tree(work, git_fd, own[i], 0);
    return fstatat(git_fd, "modules", &st, AT_SYMLINK_NOFOLLOW) < 0
               ? 0
               : read_work(work, repo, list, take_gitlink, budget, err);
}

int al_worktree_work(const struct al_repo *repo, const struct al_worktree_found *found,
                     struct al_run_limits *budget, char ret_hex[65], struct al_error *err)
{
    al_auto(al_worktree_beside_clear) struct al_worktree_beside beside = AL_WORKTREE_BESIDE_INIT;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    struct work work = { .top_fd = -1 };
    uint8_t digest[SHA256_DIGEST_SIZE];
    int r = found->is_whole ? al_worktree_open_beside(repo, found->top, NULL, budget, &beside, &why)
                            : AL_ERR_NOT_FOUND;

    sha256_init(&work.sum);
    if (r == 0)
        r = add_work(&work, beside.repo, budget, &why);
    al_close(work.top_fd);
    (void)snprintf(ret_hex, 65, "-");
    if (is_over(r))
        return al_error_set(err, (enum al_status)r, "%s", why.message);
    sha256_digest(&work.sum, sizeof(digest), digest);
    for (size_t i = 0; r == 0 && i < sizeof(digest); i++)
        (void)snprintf(ret_hex + 2 * i, 3, "%02x", digest[i]);
    return 0;
}

/* --- What only it reached --- */

static int run(const struct al_repo *repo, struct al_git_command *command, const struct al_str *in,
               struct al_run_limits *budget, struct al_str *ret_out, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    const struct al_git_run options = { .max_bytes = OUTPUT_MAX,
                                        .sink = al_git_sink(ret_out),
                                        .checked = true };

    if (in) {
        command->input = in->buf;
        command->input_len = in->len;
    }
    return al_git_run(&repo->at, command, &options, budget, &output, err);
}

static int read_words(const struct al_repo *repo, const char *const *words, const struct al_str *in,
                      struct al_run_limits *budget, struct al_str *ret_out, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;

    for (; *words; words++)
        al_strv_add(&command.argv, *words);
    return run(repo, &command, in, budget, ret_out, err);
}

/* "<id> <name>": the references of the worktree are wanted, and so is the branch, which others may
 * delete.  What other references reach stays in the repository. */
static void add_ref(const char *line, const char *branch, struct al_str *revisions)
{
    static const char *const own[] = { "refs/worktree/", "refs/bisect/", "refs/rewritten/" };
    const char *name = strchr(line, ' ');
    bool wanted = false;

    for (size_t i = 0; name && i < AL_COUNT(own); i++)
        wanted |= al_starts_with(name + 1, own[i]);
    if (name && (wanted || !branch || strcmp(name + 1, branch) != 0))
        al_str_addf(revisions, "%s%.*s\n", wanted ? "" : "^", (int)(name - line), line);
}

/* The commits that HEAD, its log and the states of operations name, as far as they are there. */
static int add_heads(const struct al_repo *repo, struct al_run_limits *budget,
                     struct al_str *revisions, struct al_error *err)
{
    static const char *const log[] = { "git", "rev-list", "--walk-reflogs", "HEAD", "--", NULL };
    static const char *const check[] = { "git", "cat-file", "--batch-check=%(objectname)", NULL };
    al_auto(al_str_clear) struct al_str names = AL_STR_INIT, found = AL_STR_INIT;
    char *save = NULL;
    int r = read_words(repo, log, NULL, budget, &names, NULL); /* HEAD may be unborn */

    if (is_over(r))
        return al_error_set(err, (enum al_status)r, "Timed out or cancelled");
    al_str_adds(&names, "HEAD\nORIG_HEAD\nMERGE_HEAD\nCHERRY_PICK_HEAD\nREVERT_HEAD\n"
                        "REBASE_HEAD\nAUTO_MERGE\nBISECT_HEAD\n");
    r = read_words(repo, check, &names, budget, &found, err);
    for (char *line = strtok_r(found.buf, "\n", &save); r == 0 && line;
         line = strtok_r(NULL, "\n", &save))
        if (al_is_oid(line, strlen(line)))
            al_str_addf(revisions, "%s\n", line);
    return r;
}

static int add_refs(const struct al_repo *repo, const char *branch, struct al_run_limits *budget,
                    struct al_str *revisions, struct al_error *err)
{
    static const char *const list[] = { "git", "for-each-ref", "--format=%(objectname) %(refname)",
                                        NULL };
    al_auto(al_str_clear) struct al_str refs = AL_STR_INIT;
    char *save = NULL;
    int r = read_words(repo, list, NULL, budget, &refs, err);

    for (char *line = strtok_r(refs.buf, "\n", &save); r == 0 && line;
         line = strtok_r(NULL, "\n", &save))
        add_ref(line, branch, revisions);
    return r;
}

/* A worktree whose objects cannot be packed goes all the same: they are in the repository. */
static int keep_objects(const struct al_repo *repo, const struct al_worktree_found *found,
                        const char *branch, const struct al_aside_entry *entry,
                        struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_worktree_beside_clear) struct al_worktree_beside beside = AL_WORKTREE_BESIDE_INIT;
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_str_clear) struct al_str revisions = AL_STR_INIT;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    int r = al_worktree_open_beside(repo, found->top, NULL, budget, &beside, &why);

    if (r == 0)
        r = add_heads(beside.repo, budget, &revisions, &why);
    if (r == 0)
        r = add_refs(beside.repo, branch, budget, &revisions, &why);
    command.class = AL_GIT_WRITE;
    al_strv_adds(&command.argv, "git", "pack-objects", "-q", "--revs", "--indexed-objects",
                 "--missing=allow-promisor", "--non-empty", NULL);
    al_strv_addf(&command.argv, "%s/airlock/aside/%lu/" KEPT, repo->at.common_dir, entry->seq);
    if (r == 0)
        r = run(beside.repo, &command, &revisions, budget, NULL, &why);
    return is_over(r) ? al_error_set(err, (enum al_status)r, "%s", why.message) : 0;
}

static int put_in_kept(const struct al_repo *repo, int dir_fd, const char *name,
                       struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_closep) int fd = al_nofollow_open(dir_fd, name, O_RDONLY);

    if (fd < 0)
        return al_error_errno(err, -fd, "cannot read the objects of a worktree");
    command.class = AL_GIT_WRITE;
    command.in_fd = fd;
    al_strv_adds(&command.argv, "git", "unpack-objects", "-q", NULL);
    return run(repo, &command, NULL, budget, NULL, err);
}

/* What the repository has already is left as it is. */
static int bring_objects(const struct al_repo *repo, const struct al_aside_entry *entry,
                         struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(entry->fd);
    const struct dirent *file;
    int r = 0;

    while (dir && r == 0 && (file = readdir(dir)))
        if (al_starts_with(file->d_name, KEPT "-") && al_ends_with(file->d_name, ".pack"))
            r = put_in_kept(repo, entry->fd, file->d_name, budget, err);
    return r;
}

/* --- Its note --- */

struct note {
    char *is, *branch, *branch_oid, *from, *agent;
};

static void note_clear(struct note *note)
{
    free(note->is);
    free(note->branch);
    free(note->branch_oid);
    free(note->from);
    free(note->agent);
}

/* The value of a line; NULL: there is none. */
static char *value_of(const char *text, const char *key)
{
    for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL)
        if (al_starts_with(line, key))
            return al_strndup(line + strlen(key), strcspn(line, "\n") - strlen(key));
    return NULL;
}

static struct note parse_note(const char *text)
{
    struct note note = {
        .is = value_of(text, "is "),
        .branch = value_of(text, "branch "),
        .from = value_of(text, "from "),
        .agent = value_of(text, "agent "),
    };
    char *space = note.branch ? strrchr(note.branch, ' ') : NULL;

    if (space) {
        note.branch_oid = al_strdup(space + 1);
        *space = '\0';
    }
    return note;
}

static void add_line(struct al_str *text, const char *key, const char *value)
{
    if (value && !strchr(value, '\n'))
        al_str_addf(text, "%s %s\n", key, value);
}

/* The record counts for the directory that it was made for. */
static void add_record(const struct al_repo *repo, const struct al_worktree_found *found,
                       const char *name, struct al_str *text)
{
    al_auto(al_worktree_record_clear) struct al_worktree_record record = AL_WORKTREE_RECORD_INIT;
    al_auto(al_closep) int fd = open(found->top, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    al_auto(al_freep) char *tree = fd < 0 ? NULL : al_worktree_tree_id(fd);

    if (!tree || al_worktree_record_read(repo->at.git, repo->at.common_dir, name, &record) < 0 ||
        !record.tree || strcmp(record.tree, tree) != 0)
        return;
    add_line(text, "from", record.from);
    add_line(text, "agent", record.agent);
}

/* @param ret_branch  The full name; NULL: none.  Caller frees. */
static int write_note(const struct al_repo *repo, const struct al_worktree_found *found,
                      const char *name, struct al_run_limits *budget, struct al_str *text,
                      char **ret_branch, struct al_error *err)
{
    al_auto(al_worktrees_clear) struct al_worktrees all = AL_WORKTREES_INIT;
    al_auto(al_freep) char *is = al_worktree_identity(found);
    int r = al_worktree_list(repo, budget, &all, err);

    *ret_branch = NULL;
    add_line(text, "is", is);
    for (size_t i = 0; r == 0 && i < all.count; i++) {
        const struct al_worktree_entry *one = &all.items[i];

        if (strcmp(one->path, found->top) != 0 || !one->branch)
            continue;
        *ret_branch = al_asprintf("refs/heads/%s", one->branch);
        if (one->head)
            al_str_addf(text, "branch %s %s\n", *ret_branch, one->head);
    }
    add_record(repo, found, name, text);
    return r;
}

/* --- There --- */

static int move_admin(struct al_aside_entry *entry, int common_fd,
                      const struct al_worktree_found *found, struct al_error *err)
{
    al_auto(al_closep) int fd = al_nofollow_open(common_fd, "worktrees", O_RDONLY | O_DIRECTORY);

    return fd < 0 ? al_error_errno(err, -fd, "cannot open the worktrees of the repository")
                  : al_aside_move(entry, fd, found->id, found->git_dir, err);
}

static int move_both(struct al_aside_entry *entry, int common_fd,
                     const struct al_worktree_place *place, const struct al_worktree_found *found,
                     const char *name, struct al_error *err)
{
    int r = found->has_top ? al_aside_move(entry, place->fd, name, found->top, err) : 0;

    if (r == 0)
        r = move_admin(entry, common_fd, found, err);
    return r < 0 ? r : al_aside_end(entry, err);
}

int al_worktree_put_aside(const struct al_repo *repo, const struct al_worktree_place *place,
                          const struct al_worktree_found *found, const char *name, bool keeps,
                          struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_aside_entry_clear) struct al_aside_entry entry = AL_ASIDE_ENTRY_INIT;
    al_auto(al_str_clear) struct al_str note = AL_STR_INIT;
    al_auto(al_freep) char *branch = NULL;
    al_auto(al_closep) int common_fd = -1;
    int r = al_location_open_common_dir(&repo->at, &common_fd, err);

    if (r == 0)
        r = write_note(repo, found, name, budget, &note, &branch, err);
    if (r == 0)
        r = al_aside_begin(common_fd,
                           &(struct al_aside_about){ .why = WHY,
                                                     .name = name,
                                                     .note = note.buf,
                                                     .beside_fd = place->fd,
                                                     .is_one = true },
                           &entry, err);
    if (r < 0)
        return r;
    if (keeps && found->is_whole)
        r = keep_objects(repo, found, branch, &entry, budget, err);
    if (r == 0)
        r = move_both(&entry, common_fd, place, found, name, err);
    if (r < 0) {
        (void)al_aside_return(&entry, NULL);
        return r;
    }
    (void)unlinkat(common_fd, "worktrees", AT_REMOVEDIR); /* git does so with the last one */
    al_worktree_forget(repo, name);
    if (!keeps)
        al_aside_remove(&entry);
    return 0;
}

/* --- And back --- */

/* Whether the two halves were where those of a worktree are: a record can have come with the
 * repository. */
static bool is_of_worktree(const struct al_aside_entry *entry, const struct al_repo *repo,
                           const struct al_worktree_place *place, const char *name)
{
    al_auto(al_freep) char *top = al_fs_join(place->dir, name);
    al_auto(al_freep) char *admins = al_fs_join(repo->at.common_dir, "worktrees");
    const size_t tops = entry->count && !strcmp(entry->items[0].path, top);
    const char *id =
        entry->count == tops + 1 ? al_fs_beneath(admins, entry->items[tops].path) : NULL;

    return entry->why && !strcmp(entry->why, WHY) && entry->name && !strcmp(entry->name, name) &&
           entry->note && id && *id && !strchr(id, '/') && entry->is_whole &&
           al_aside_has(entry, 0) && al_aside_has(entry, tops);
}

/* The newest entry: it may have gone and come back before. */
static int load(const struct al_repo *repo, const struct al_worktree_place *place, const char *name,
                const char *id, struct al_aside_entry *ret_entry)
{
    al_auto(al_closep) int common_fd = -1;
    size_t count = 0;
    al_auto(al_freep) unsigned long *seqs =
        al_location_open_common_dir(&repo->at, &common_fd, NULL) < 0
            ? NULL
            : al_aside_list(common_fd, &count);

    for (size_t i = count; i > 0; i--) {
        al_auto(al_aside_entry_clear) struct al_aside_entry entry = AL_ASIDE_ENTRY_INIT;
        al_auto(al_freep) char *is = NULL;

        if (al_aside_load(common_fd, seqs[i - 1], &entry) < 0 ||
            !is_of_worktree(&entry, repo, place, name))
            continue;
        is = value_of(entry.note, "is ");
        if (!is || strcmp(is, id) != 0)
            continue;
        *ret_entry = entry;
        entry = AL_ASIDE_ENTRY_INIT;
        return 0;
    }
    return AL_ERR_NOT_FOUND;
}

int al_worktree_find_aside(const struct al_repo *repo, const struct al_worktree_place *place,
                           const char *name, const char *id, char **ret_branch)
{
    al_auto(al_aside_entry_clear) struct al_aside_entry entry = AL_ASIDE_ENTRY_INIT;
    al_auto(note_clear) struct note note = { .is = NULL };

    *ret_branch = NULL;
    if (load(repo, place, name, id, &entry) < 0)
        return AL_ERR_NOT_FOUND;
    note = parse_note(entry.note);
    *ret_branch = al_take(&note.branch);
    return 0;
}

static int make_branch(const struct al_repo *repo, const struct note *note,
                       struct al_run_limits *budget, struct al_error *err)
{
    const struct al_ref_move move = { note->branch, NULL, note->branch_oid };

    return !note->branch_oid || !al_starts_with(note->branch, "refs/heads/") ||
                   al_ref_exists(&repo->at, note->branch)
               ? 0
               : al_git_move_refs(repo, &move, 1, budget, err);
}

static int write_record(const struct al_repo *repo, const struct al_worktree_place *place,
                        const char *name, const struct note *note, struct al_error *err)
{
    al_auto(al_closep) int fd = al_nofollow_open(place->fd, name, O_PATH | O_DIRECTORY);
    al_auto(al_freep) char *tree = fd < 0 ? NULL : al_worktree_tree_id(fd);
    al_auto(al_freep) char *top = al_fs_join(place->dir, name);
    const struct al_worktree_record record = {
        .path = top, .from = note->from, .agent = note->agent, .tree = tree
    };

    return note->from && tree ? al_worktree_record_write(repo, name, &record, err) : 0;
}

int al_worktree_bring_back(const struct al_repo *repo, const char *name, const char *id,
                           struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_worktree_place_clear) struct al_worktree_place place = AL_WORKTREE_PLACE_INIT;
    al_auto(al_aside_entry_clear) struct al_aside_entry entry = AL_ASIDE_ENTRY_INIT;
    al_auto(note_clear) struct note note = { .is = NULL };
    al_auto(al_closep) int common_fd = -1;
    int r = al_location_open_common_dir(&repo->at, &common_fd, err);

    if (r == 0)
        r = al_worktree_place_find(repo, true, &place, err);
    if (r == 0 && load(repo, &place, name, id, &entry) < 0)
        r = al_error_set(err, AL_ERR_NOT_FOUND, "the worktree '%s' is gone for good", name);
    if (r < 0)
        return r;
    note = parse_note(entry.note);
    r = bring_objects(repo, &entry, budget, err);
    if (r == 0)
        r = make_branch(repo, &note, budget, err);
    if (r == 0 && mkdirat(common_fd, "worktrees", 0777) < 0 && errno != EEXIST)
        r = al_error_errno(err, errno, "cannot make worktrees/ in the repository");
    if (r == 0)
        r = al_aside_return(&entry, err);
    return r < 0 ? r : write_record(repo, &place, name, &note, err);
}

/* --- Clearing up --- */

static bool is_first_time(int fd)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct {
        dev_t dev;
        ino_t ino;
    } known[REPOS_MAX];
    static size_t count;
    struct stat st;
    bool first = true;

    if (fstat(fd, &st) < 0)
        return true;
    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count && i < REPOS_MAX && first; i++)
        first = known[i].dev != st.st_dev || known[i].ino != st.st_ino;
    if (first) {
        known[count % REPOS_MAX].dev = st.st_dev;
        known[count++ % REPOS_MAX].ino = st.st_ino;
    }
    (void)pthread_mutex_unlock(&lock);
    return first;
}

/* A repository of which nothing is aside, as most, costs one question. */
static bool has_any(int common_fd)
{
    size_t count;

    free(al_aside_list(common_fd, &count));
    return count;
}

void al_worktree_tidy(const struct al_repo *repo, bool again, struct al_strv *ret_kept)
{
    al_auto(al_worktree_place_clear) struct al_worktree_place place = AL_WORKTREE_PLACE_INIT;
    al_auto(al_strv_clear) struct al_strv below = AL_STRV_INIT;
    al_auto(al_closep) int fd = -1;

    if (al_location_open_common_dir(&repo->at, &fd, NULL) < 0 || (!is_first_time(fd) && !again) ||
        !has_any(fd))
        return;
    al_strv_adds(&below, repo->at.common_dir, repo->at.top, NULL);
    if (al_worktree_place_find(repo, false, &place, NULL) == 0)
        al_strv_adds(&below, place.main, place.dir, NULL);
    al_aside_tidy(fd, &below, ret_kept);
}
