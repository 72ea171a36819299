// SPDX-License-Identifier: Apache-2.0
#include "verbs/preview/diff_excerpt.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "git/command.h"
#include "git/diff/diff.h"
#include "git/plumbing/batch.h"
#include "git/plumbing/diff_raw.h"
#include "git/plumbing/revision.h"
#include "git/refs.h"
#include "git/repo/git.h"
#include "git/run.h"
#include "guard/text.h"
#include "verbs/preview/verify_objects.h"

/* --- Diff excerpt --- */

/* --- Excerpt reader --- */

/* More than an excerpt shows, so that a binary file at the front does not crowd out the rest. */
#define KEPT_MAX_BYTES (256u * 1024u)
/* Reading, and with it the count of lines, ends here. */
#define READ_MAX_BYTES AL_GIT_IN_FULL_MAX_BYTES
/* The number in its section of the first line of content: the hunk's header comes before. */
#define FIRST_LINE 2

void al_excerpt_reader_clear(struct al_excerpt_reader *reader)
{
    al_diff_raw_clear(&reader->changes);
    al_str_clear(&reader->patch);
    al_hunks_clear(&reader->patch_lines);
    *reader = AL_EXCERPT_READER_INIT;
}

static struct al_change *current(struct al_excerpt_reader *reader)
{
    struct al_diff_raw *changes = &reader->changes;

    return reader->has_section && reader->change < changes->count ? &changes->items[reader->change]
                                                                  : NULL;
}

/*
 * Whether both sides are binary, or the only side there is.  Binary means a NUL byte, as for git: a
 * comment of control characters must not hide a script.  A text that becomes binary is shown, and a
 * new file that begins with "#!": a shell runs these in spite of a NUL byte.
 */
static bool is_binary(const struct al_excerpt_reader *reader, const struct al_change *change)
{
    if (change->status == 'A')
        return reader->new_side.nul && !reader->new_side.script;
    if (change->status == 'D')
        return reader->old_side.nul;
    return reader->new_side.nul && reader->old_side.nul;
}

static void end_section(struct al_excerpt_reader *reader)
{
    static const char words[] = "(binary content, not shown)\n";
    struct al_change *change = current(reader);

    if (!change)
        return;
    if (is_binary(reader, change)) {
        change->binary = true;
        reader->lines -= reader->section_lines;
        if (reader->hunks_at < reader->patch.len) {
            al_str_truncate(&reader->patch, reader->hunks_at);
            al_str_adds(&reader->patch, words);
            reader->lines++;
            reader->is_full = false;
        }
    }
    change->patch_end = reader->is_full || change->binary ? SIZE_MAX : reader->patch.len;
}

/* Begin the next section. A type change has two sections: the removed file, then the added one. */
static void begin_section(struct al_excerpt_reader *reader)
{
    struct al_change *change = current(reader);

    end_section(reader);
    if (reader->has_section && !(change && change->status == 'T' && reader->sections == 1)) {
        reader->change++;
        reader->sections = 0;
    }
    reader->has_section = true;
    reader->sections++;
    reader->old_side = reader->new_side = (struct al_excerpt_side){ .nul = false };
    reader->section_lines = 0;
    reader->hunks_at = SIZE_MAX;
}

/* Count a line of content, which has ' ', '+' or '-' in front, or a remark about the one before. */
static void count_line(struct al_excerpt_reader *reader, const struct al_patch_line *line,
                       struct al_change *change)
{
    const char first = line->len ? *line->text : ' ', before = reader->first;
    const bool has_nul = memchr(line->text, '\0', line->len);
    const bool has_cr = line->ended && line->len && line->text[line->len - 1] == '\r';

    reader->first = first;
    reader->old_side.nul |= has_nul && first != '+';
    reader->new_side.nul |= has_nul && first != '-';
    reader->new_side.script |=
        reader->section_lines == FIRST_LINE && al_hunks_begins(line->text, line->len, "+#!");
    change->added += first == '+';
    change->deleted += first == '-';
    change->crlf_added += has_cr && first == '+';
    change->crlf_deleted += has_cr && first == '-';
    if (first == '\\') { /* "\ No newline at end of file" */
        change->open_added |= before == '+';
        change->open_deleted |= before == '-';
    }
}

static void keep(struct al_excerpt_reader *reader, const char *data, size_t len)
{
    const size_t most = reader->in_full ? READ_MAX_BYTES : KEPT_MAX_BYTES;
    size_t room;

    if (reader->is_full)
        return;
    /* The remark that replaces binary content may be longer than that content was. */
    room = reader->patch.len < most ? most - reader->patch.len : 0;
    reader->is_full = len > room;
    al_str_add(&reader->patch, data, len < room ? len : room);
}

static void take_line(void *payload, const struct al_patch_line *line)
{
    struct al_excerpt_reader *reader = payload;
    struct al_change *change;

    if (line->begins_file)
        begin_section(reader);
    if (line->head && reader->hunks_at == SIZE_MAX)
        reader->hunks_at = reader->patch.len;
    change = current(reader);
    reader->lines++;
    reader->section_lines += line->head || line->in_hunk;
    if (line->in_hunk && change)
        count_line(reader, line, change);
    keep(reader, line->text, line->len);
    if (line->ended)
        keep(reader, "\n", 1);
}

bool al_excerpt_reader_add(void *payload, const char *data, size_t len)
{
    struct al_excerpt_reader *reader = payload;
    size_t listed;

    reader->bytes += len;
    reader->changes.all = reader->in_full; /* READ_MAX_BYTES limits them */
    listed = al_diff_raw_add_list(&reader->changes, data, len);
    reader->patch_lines.take = take_line;
    reader->patch_lines.payload = reader;
    al_hunks_add(&reader->patch_lines, data + listed, len - listed);
    reader->more = reader->bytes > READ_MAX_BYTES;
    return !reader->more && !reader->changes.broken;
}

void al_excerpt_reader_end(struct al_excerpt_reader *reader)
{
    struct al_diff_raw *changes = &reader->changes;

    al_hunks_end(&reader->patch_lines);
    end_section(reader);
    if (reader->more || (reader->has_section ? reader->change + 1 : 0) == changes->total)
        return;
    /* The patch does not match the list of files, so its line counts belong to none of them. */
    for (size_t i = 0; i < changes->count; i++)
        changes->items[i].patch_end = SIZE_MAX;
}

/* --- Excerpt write --- */

/* Write the excerpt of a diff: the list of files, then as much of the patch as fits. */

#define LISTED_MAX     200
#define LIST_MAX_BYTES ((size_t)16 * 1024)
#define TYPE_MASK      0170000u

static const struct status_name {
    char status;
    const char *word;
} status_names[] = {
    { 'D', "deleted" }, { 'T', "another type" }, { 'U', "in conflict" }, { 'A', "added" },
    { 'R', "renamed" }, { 'C', "copied" },       { 'M', "modified" },
};

static const char *name_of(char status)
{
    for (size_t i = 0; i < AL_COUNT(status_names); i++)
        if (status_names[i].status == status)
            return status_names[i].word;
    return "changed";
}

static bool has_new_mode(const struct al_change *change)
{
    return change->old_mode && change->new_mode && change->old_mode != change->new_mode;
}

/* Sort rank: what is lost or changes its type comes first. */
static int rank_of(const struct al_change *change)
{
    if (change->status == 'D')
        return 0;
    if (has_new_mode(change))
        return 1;
    if (change->status == 'U')
        return 2;
    return change->status == 'A' ? 3 : 4;
}

static int compare(const void *a, const void *b)
{
    const struct al_change *const *one = a, *const *two = b;
    int ranks = rank_of(*one) - rank_of(*two);

    if (ranks)
        return ranks;
    return *one < *two ? -1 : *one > *two; /* otherwise keep git's order */
}

const char *al_excerpt_remark(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

    if (!strcmp(name, ".gitattributes"))
        return "says how git treats files";
    if (!strcmp(name, ".gitmodules"))
        return "says where submodules come from";
    return al_path_runs_in_ci(path) ? "runs in CI" : NULL;
}

bool al_excerpt_changes_line_ends(const struct al_change *change)
{
    const bool crlf_new = change->crlf_added > 0, crlf_old = change->crlf_deleted > 0;
    const bool lf_new = change->added > change->crlf_added + change->open_added;
    const bool lf_old = change->deleted > change->crlf_deleted + change->open_deleted;

    if (change->status != 'M' || change->binary || !(crlf_new || lf_new) || !(crlf_old || lf_old))
        return false;
    return crlf_new != crlf_old || lf_new != lf_old;
}

/* Append one line of the list. The name comes last, so that no part of it can pose as a number. */
static void add_file(const struct al_change *change, struct al_str *out)
{
    al_auto(al_freep) char *path = al_text_sanitize_shown_line(change->path);
    al_auto(al_freep) char *old =
        change->old_path ? al_text_sanitize_shown_line(change->old_path) : NULL;
    const char *remark = al_excerpt_remark(change->path);

    al_str_adds(out, "  ");
    if (change->binary)
        al_str_adds(out, "binary");
    else
        al_str_addf(out, "+%" PRIu64 " -%" PRIu64, change->added, change->deleted);
    al_str_addf(out, "  %s", name_of(change->status));
    if (has_new_mode(change))
        al_str_addf(out, ", mode %06o to %06o", change->old_mode, change->new_mode);
    if (change->status == 'A' && (change->new_mode & TYPE_MASK) == 0120000)
        al_str_adds(out, ", a link");
    if (change->status == 'A' && (change->new_mode & TYPE_MASK) == 0100000 &&
        change->new_mode & 0111)
        al_str_adds(out, ", executable");
    if (al_excerpt_changes_line_ends(change))
        al_str_adds(out, ", line ends change");
    if (remark)
        al_str_addf(out, ", %s", remark);
    al_str_addf(out, ": %s%s%s\n", old ? old : "", old ? " => " : "", path);
}

static void add_list(const struct al_diff_raw *changes, bool in_full, struct al_str *out)
{
    const struct al_change **sorted = al_reallocarray(NULL, changes->count, sizeof(*sorted));
    const size_t start = out->len;
    size_t listed = 0;

    for (size_t i = 0; i < changes->count; i++)
        sorted[i] = &changes->items[i];
    qsort(sorted, changes->count, sizeof(*sorted), compare);
    while (listed < changes->count &&
           (in_full || (listed < LISTED_MAX && out->len - start < LIST_MAX_BYTES)))
        add_file(sorted[listed++], out);
    free(sorted);
    if (listed < changes->total)
        al_str_addf(out, "  … and %zu more file%s\n", changes->total - listed,
                    changes->total - listed == 1 ? "" : "s");
}

/* Offset of the end of line number `lines`. */
static size_t end_of(const struct al_str *patch, size_t lines)
{
    size_t at = 0;

    while (lines-- && at < patch->len) {
        const char *eol = memchr(patch->buf + at, '\n', patch->len - at);

        at = eol ? (size_t)(eol - patch->buf) + 1 : patch->len;
    }
    return at;
}

static void add_heading(const struct al_diff_raw *changes, size_t end, bool more,
                        struct al_str *out)
{
    size_t hidden = changes->total - changes->count;
    uint64_t added = 0, deleted = 0;

    for (size_t i = 0; i < changes->count; i++) {
        const struct al_change *change = &changes->items[i];

        hidden += change->patch_end == 0 || change->patch_end > end;
        added += change->added;
        deleted += change->deleted;
    }
    al_str_addf(out, "%zu file%s, %s+%" PRIu64 " -%" PRIu64, changes->total,
                changes->total == 1 ? "" : "s",
                more || changes->count < changes->total ? "at least " : "", added, deleted);
    if (hidden)
        al_str_addf(out, ", of which %zu %s not shown in full", hidden, hidden == 1 ? "is" : "are");
    al_str_adds(out, ":\n");
}

static void write_in_full(struct al_excerpt_reader *reader, struct al_str *out)
{
    add_heading(&reader->changes, reader->patch.len, reader->more, out);
    add_list(&reader->changes, true, out);
    al_text_sanitize_shown(reader->patch.buf, reader->patch.len, out);
    if (out->buf[out->len - 1] != '\n')
        al_str_addc(out, '\n');
    al_text_add_remaining(out, 0, reader->more);
}

bool al_excerpt_write_patch(const struct al_excerpt_reader *reader, struct al_str *out)
{
    const struct al_str *patch = &reader->patch;
    uint64_t left = 0;

    if (reader->in_full) {
        al_text_sanitize_shown(patch->buf, patch->len, out);
        if (out->len && out->buf[out->len - 1] != '\n')
            al_str_addc(out, '\n');
    } else if (patch->len) {
        left = reader->lines - al_text_add_head(out, patch->buf, patch->len);
    }
    al_text_add_remaining(out, left, reader->more);
    return left || reader->more;
}

/*
 * Append the excerpt to `out`: the number of files and lines, and how many of the files are not
 * shown in full; up to 200 files, those that lose most first; as much of the patch as fits; and how
 * much is left out.  Appends nothing when nothing changed.
 */
static void excerpt_write(struct al_excerpt_reader *reader, struct al_str *out)
{
    al_auto(al_str_clear) struct al_str head = AL_STR_INIT;
    size_t lines;

    if (!reader->changes.total)
        return;
    if (reader->in_full) {
        write_in_full(reader, out);
        return;
    }
    lines = al_text_add_head(&head, reader->patch.buf, reader->patch.len);
    add_heading(&reader->changes, end_of(&reader->patch, lines), reader->more, out);
    add_list(&reader->changes, false, out);
    al_str_add(out, head.buf, head.len);
    al_text_add_remaining(out, reader->lines - lines, reader->more);
}

/* --- Diff excerpt --- */

/*
 * Add the arguments of a diff that a user decides by.  Content is compared as text and with git's
 * default context, whatever attributes, diff drivers or the configuration say.  A conflicted file
 * is compared with our side, since git prints no patch next to a raw list for a comparison with all
 * sides.
 */
static void add_words(const struct al_diff_options *options, struct al_strv *argv)
{
    al_strv_adds(argv, "git", "diff", "--raw", "-z", "--no-abbrev", "--patch", "--text",
                 "--find-renames", "--no-relative", "--submodule=short", "--no-color",
                 "--diff-algorithm=default", "--inter-hunk-context=0", NULL);
    if (options->unified < 0)
        al_strv_add(argv, "-U3");
    if (!options->cached && !options->from_ref)
        al_strv_add(argv, "--ours");
    al_git_diff_add_options(options, argv);
}

/*
 * An empty directory used as the working tree of a diff between objects.  git may read the file
 * instead of the object where a file matches its index entry; and whoever writes the index decides
 * what its entries look like.
 */
struct empty_worktree {
    char *path;
    int fd;
};

static void empty_worktree_clear(struct empty_worktree *empty_worktree)
{
    if (empty_worktree->fd >= 0)
        (void)close(empty_worktree->fd);
    if (empty_worktree->path)
        al_fs_remove_tree(empty_worktree->path);
    free(empty_worktree->path);
}

static int use_empty_worktree(const struct al_repo *repo, struct empty_worktree *empty_worktree,
                              struct al_git_command *command, struct al_error *err)
{
    const char *below = al_fs_beneath(repo->at.top, repo->at.dir);
    al_auto(al_freep) char *dir = NULL;

    empty_worktree->path = al_git_private_name(repo->at.git, "nowhere");
    dir =
        below && *below ? al_fs_join(empty_worktree->path, below) : al_strdup(empty_worktree->path);
    if (al_fs_mkdirs(dir, 0700) == 0) /* git takes paths relative to the working directory */
        empty_worktree->fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (empty_worktree->fd < 0)
        return al_error_set(err, AL_ERR_EXECUTION, "Cannot make a directory in airlock's state: %s",
                            strerror(errno));
    command->work_tree = empty_worktree->path;
    command->cwd_fd = empty_worktree->fd;
    return 0;
}

/* Rewrite absolute pathspecs below the real working tree to name the empty one. */
static void move_pathspecs(const struct al_repo *repo, const struct empty_worktree *empty_worktree,
                           size_t from, struct al_strv *argv)
{
    static const char literal[] = ":(literal)";

    for (size_t i = from; empty_worktree->path && i < argv->count; i++) {
        const char *word = argv->items[i];
        const char *magic = al_starts_with(word, literal) ? literal : "";
        const char *below =
            word[strlen(magic)] == '/' ? al_fs_beneath(repo->at.top, word + strlen(magic)) : NULL;
        char *moved = below ? al_asprintf("%s%s/%s", magic, empty_worktree->path, below) : NULL;

        if (moved) {
            free(argv->items[i]);
            argv->items[i] = moved;
        }
    }
}

/* Run the diff for as many paths as one command line takes, from *at on. */
static int add_diff(const struct al_repo *repo, const struct al_diff_options *options,
                    const struct al_str *words, size_t *at, struct al_excerpt_reader *reader,
                    struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(empty_worktree_clear) struct empty_worktree empty_worktree = { .fd = -1 };
    bool reads_files = !options->cached && !options->to_ref;
    size_t from;
    int r = 0;

    if (!reads_files)
        r = use_empty_worktree(repo, &empty_worktree, &command, err);
    if (r < 0)
        return r;
    command.index = options->index;
    add_words(options, &command.argv);
    from = command.argv.count;
    (void)al_batch_add(&command.argv, words, at);
    move_pathspecs(repo, &empty_worktree, from, &command.argv);
    reader->changes.in_patch = false;
    r = al_git_read(&repo->at, &command, (struct al_sink){ al_excerpt_reader_add, reader }, err);
    if (r == 0 && reader->changes.broken)
        r = al_error_set(err, AL_ERR_EXECUTION, "git diff did not list what changed");
    return r;
}

/* Verify the objects that were shown: the content of both sides, and the trees that list the
 * files. */
static int verify_shown(const struct al_repo *repo, const struct al_diff_options *options,
                        const struct al_diff_raw *changes, bool *ret_complete, struct al_error *err)
{
    const char *const trees[] = { options->from_ref, options->to_ref };
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    al_auto(al_freep) char *head = NULL;
    int r = 0;

    *ret_complete = changes->count == changes->total;
    al_diff_raw_add_objects(changes, &words);
    if (options->cached && !options->from_ref)
        head = al_ref_head(&repo->at);
    if (head && *head)
        r = al_git_verify_tree(repo, head, ret_complete, err);
    for (size_t i = 0; r == 0 && i < AL_COUNT(trees); i++)
        if (trees[i])
            r = al_git_verify_tree(repo, trees[i], ret_complete, err);
    return r == 0 ? al_git_verify_objects(&repo->at, &words, ret_complete, err) : r;
}

int al_git_diff_excerpt(const struct al_repo *repo, const struct al_diff_options *options,
                        struct al_str *out, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    al_auto(al_excerpt_reader_clear) struct al_excerpt_reader reader = AL_EXCERPT_READER_INIT;
    size_t at = 0;
    bool all = true;
    int r = al_repo_pathspecs(repo, options->paths, &words, err);

    reader.in_full = repo->at.budget->in_full;
    do {
        if (r == 0)
            r = add_diff(repo, options, &words, &at, &reader, err);
    } while (r == 0 && at < words.len && !reader.more);
    if (r < 0)
        return r;
    al_excerpt_reader_end(&reader);
    r = verify_shown(repo, options, &reader.changes, &all, err);
    if (r < 0)
        return r;
    excerpt_write(&reader, out);
    if (!all)
        al_str_adds(out, "This is more than airlock checks: a forged object of the repository may "
                         "be shown as another.\n");
    return 0;
}

/* --- Commits --- */

#define COMMITS_MAX_BYTES (64u * 1024u)

static int list(const struct al_repo *repo, const struct al_commits_shown *shown,
                struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    command.show_controls = true;
    al_strv_adds(&command.argv, "git", "-c", AL_NO_COMMIT_GRAPH, "log", "--no-decorate",
                 "--no-show-signature", "--no-color", "--encoding=UTF-8", "--abbrev=8", NULL);
    al_strv_addf(&command.argv, "--format=%s", shown->format);
    for (const char *const *word = shown->words; *word; word++)
        al_strv_add(&command.argv, *word);
    al_strv_add(&command.argv, "--");
    return al_git_run_checked(&repo->at, &command,
                              al_git_excerpt_bytes(repo->at.budget, COMMITS_MAX_BYTES), ret_output,
                              err);
}

int al_git_commits_list(const struct al_repo *repo, const struct al_commits_shown *shown,
                        struct al_str *out, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r = list(repo, shown, &output, err);

    if (r == 0)
        al_str_add(out, output.out.out.buf, output.out.out.len);
    return r;
}

/* Verify the whole history on both sides of the list: a forged ancestor of the excluded side could
 * exclude a commit that it does not have.  These commits are not shown, so a new object beside them
 * need not make the preview start over. */
static int verify_histories(const struct al_repo *repo, const char *const *words,
                            bool *ret_complete, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv tips = AL_STRV_INIT;
    struct al_stable_read *shown = al_take(&repo->at.budget->stable_read);
    int r;

    for (; *words; words++)
        if (strcmp(*words, "--not") != 0)
            al_strv_add(&tips, **words == '^' ? *words + 1 : *words);
    r = al_git_verify_commits(repo, (const char *const *)tips.items, ret_complete, err);
    repo->at.budget->stable_read = shown;
    return r;
}

/* Commits whose diffs are shown at most. */
#define DIFFS_MAX 100

/* Append the diff of each commit of a list; of a merge that to its first parent. */
static int add_diffs(const struct al_repo *repo, const char *list, struct al_str *out,
                     struct al_error *err)
{
    int r = 0;

    for (int i = 0; r == 0 && *list && i < DIFFS_MAX; i++) {
        const size_t len = strcspn(list, "\n");
        al_auto(al_freep) char *commit = al_strndup(list, strcspn(list, " "));
        al_auto(al_freep) char *parent = al_asprintf("%s^", commit);
        al_auto(al_freep) char *found = NULL;
        struct al_diff_options diff = { .unified = -1, .to_ref = commit };

        al_str_addf(out, "\ncommit %.*s\n", (int)len, list);
        r = al_git_find_object(repo, parent, "commit", &found, err);
        diff.from_ref = found ? found : al_git_empty_tree(repo);
        if (r == 0)
            r = al_git_diff_excerpt(repo, &diff, out, err);
        list += len + (list[len] == '\n');
    }
    return r;
}

int al_git_commits_excerpt(const struct al_repo *repo, const struct al_commits_shown *shown,
                           struct al_str *out, bool *ret_any, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_freep) char *shallow = al_shallow_commits(&repo->at);
    bool all = true;
    int r = al_git_verify_commits(repo, shown->words, &all, err);

    if (r == 0)
        r = verify_histories(repo, shown->words, &all, err);
    if (r == 0)
        r = list(repo, shown, &output, err);
    if (r < 0)
        return r;
    if (!all)
        al_str_adds(out, "There are too many commits to verify all of them.\n");
    *ret_any = output.out.out.len > 0 || !all;
    if (!output.out.out.len)
        return 0;
    al_str_addf(out, "%s\n", shown->title);
    al_git_add_excerpt(repo->at.budget, output.out.out.buf, output.out.out.len, output.stopped,
                       out);
    if (shallow)
        al_str_adds(out, "The repository is shallow (.git/shallow): commits beyond its boundary "
                         "are not listed.\n");
    return shown->with_diffs && repo->at.budget->in_full
               ? add_diffs(repo, output.out.out.buf, out, err)
               : 0;
}
