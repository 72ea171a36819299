// SPDX-License-Identifier: Apache-2.0
/* Replaying commits, each by a merge of trees whose base is the commit's parent. */
#include <errno.h>
#include <iconv.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/utf8.h"
#include "git/failure.h"
#include "git/plumbing/cat_file.h"
#include "git/plumbing/revision.h"
#include "git/repo/repo.h"
#include "git/vet/vet.h"
#include "verbs/inmemory/private.h"

/* --- Commit --- */

/*
 * Reading commits and writing them.
 *
 * Source: git-commit(1) "DISCUSSION" (encodings), git-var(1), git-cat-file(1) "BATCH OUTPUT".
 */

#define IDENT_BYTES 8192u

static void commit_clear(struct al_commit_read *commit)
{
    free(commit->oid);
    free(commit->tree);
    free(commit->author);
    free(commit->message);
    al_strv_clear(&commit->parents);
}

void al_commits_read_clear(struct al_commits_read *commits)
{
    for (size_t i = 0; i < commits->count; i++)
        commit_clear(&commits->items[i]);
    free(commits->items);
    *commits = (struct al_commits_read){ .items = NULL };
}

/* The text in UTF-8; false: iconv(3) does not know the encoding, or the text is not in it. */
static bool encode(const char *from, const char *text, struct al_str *out)
{
    iconv_t cd = iconv_open("UTF-8", strcasecmp(from, "latin-1") ? from : "ISO-8859-1");
    char *in = (char *)(uintptr_t)text; /* iconv(3) does not write there */
    size_t left = strlen(text);
    bool good = cd != (iconv_t)-1;

    while (good && left) {
        char piece[4096], *to = piece;
        size_t room = sizeof(piece);

        errno = 0;
        if (iconv(cd, &in, &left, &to, &room) == (size_t)-1 && errno != E2BIG)
            good = false;
        al_str_add(out, piece, sizeof(piece) - room);
    }
    if (cd != (iconv_t)-1)
        (void)iconv_close(cd);
    return good;
}

/* The rest of a header line with this name; NULL: the line has another one.  Caller frees. */
static char *header_value(const char *line, const char *name)
{
    const size_t len = strlen(name);

    if (strncmp(line, name, len) != 0 || line[len] != ' ')
        return NULL;
    return al_strndup(line + len + 1, strcspn(line + len + 1, "\n"));
}

static void take_header(struct al_commit_read *commit, const char *line)
{
    char *parent;

    if (!commit->tree)
        commit->tree = header_value(line, "tree");
    if (!commit->author)
        commit->author = header_value(line, "author");
    parent = header_value(line, "parent");
    if (parent)
        al_strv_take(&commit->parents, parent);
}

/* The headers, an empty line, the message. */
static bool parse_text(const char *text, struct al_commit_read *commit)
{
    const char *line = text;

    while (*line && *line != '\n') {
        take_header(commit, line);
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    commit->message = al_strdup(*line ? line + 1 : line);
    return commit->tree && commit->author;
}

static char *find_encoding(const char *text)
{
    for (const char *line = text; *line && *line != '\n'; line += *line == '\n') {
        char *value = header_value(line, "encoding");

        if (value)
            return value;
        line += strcspn(line, "\n");
    }
    return NULL;
}

/* git encodes a whole commit at once, and takes it as it is where that fails. */
static bool parse_commit(const char *text, struct al_commit_read *commit)
{
    al_auto(al_freep) char *encoding = find_encoding(text);
    al_auto(al_str_clear) struct al_str encoded = AL_STR_INIT;
    const bool is_utf8 =
        !encoding || !strcasecmp(encoding, "UTF-8") || !strcasecmp(encoding, "UTF8");

    if (!is_utf8 && encode(encoding, text, &encoded))
        return parse_text(encoded.buf, commit);
    return parse_text(text, commit);
}

/* While commits are read. */
struct reading {
    const struct al_strv *words;
    bool sha256;
    struct al_commits_read commits;
    struct al_str text; /* of the last one */
    size_t at;
    int status;
    struct al_error *err;
};

static void reading_clear(struct reading *reading)
{
    al_commits_read_clear(&reading->commits);
    al_str_clear(&reading->text);
}

/* A word with '^' is a parent, which there need not be. */
static bool begin_commit(void *payload, const char *oid, const char *type, uint64_t size)
{
    struct reading *reading = payload;
    const char *word =
        reading->at < reading->words->count ? reading->words->items[reading->at++] : "";

    (void)size;
    if (!type && strchr(word, '^'))
        return true;
    if (!type || strcmp(type, "commit") != 0 || (!strchr(word, '^') && strcmp(oid, word) != 0))
        reading->status = al_error_set(reading->err, AL_ERR_EXECUTION,
                                       "%s is not a commit of this repository", oid);
    else
        reading->commits.items[reading->commits.count++].oid = al_strdup(oid);
    al_str_reset(&reading->text);
    return reading->status == 0;
}

static int take_commit(struct reading *reading)
{
    struct al_commit_read *commit = &reading->commits.items[reading->commits.count - 1];
    char text[AL_OID_TEXT];
    struct al_oid id;

    al_oid_of(reading->sha256, AL_OBJECT_COMMIT, reading->text.buf, reading->text.len, &id);
    al_oid_text(&id, reading->sha256, text);
    if (strcmp(text, commit->oid) != 0)
        return al_error_set(reading->err, AL_ERR_EXECUTION,
                            "Commit %s has other content than its id says; the user can look with "
                            "git fsck",
                            commit->oid);
    if (!parse_commit(reading->text.buf, commit))
        return al_error_set(reading->err, AL_ERR_EXECUTION, "Commit %s cannot be read",
                            commit->oid);
    return 0;
}

static bool add_commit(void *payload, const char *data, size_t len, bool last)
{
    struct reading *reading = payload;

    al_str_add(&reading->text, data, len);
    if (last)
        reading->status = take_commit(reading);
    return reading->status == 0;
}

int al_inmemory_read(const struct al_inmemory *memory, const struct al_strv *oids,
                     struct al_run_limits *budget, struct al_commits_read *ret_commits,
                     struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    al_auto(reading_clear) struct reading reading = {
        .words = oids, .sha256 = memory->real->vetting->is_sha256, .text = AL_STR_INIT, .err = err
    };
    al_auto(al_cat_file_clear) struct al_cat_file reader =
        AL_CAT_FILE_INIT(begin_commit, add_commit, &reading);
    struct al_buffer out = { .max_bytes = 0 };
    int r;

    for (size_t i = 0; i < oids->count; i++)
        al_str_addf(&words, "%s\n", oids->items[i]);
    command.input = words.buf;
    command.input_len = words.len;
    al_strv_adds(&command.argv, "git", "cat-file", "--batch", "--buffer", NULL);
    r = words.len ? al_inmemory_git(memory, &command, budget, &out, NULL, err) : 0;
    reading.commits.items = al_calloc(oids->count, sizeof(*reading.commits.items));
    if (r == 0 && out.len)
        (void)al_cat_file_add(&reader, out.data, out.len);
    al_buffer_clear(&out);
    if (r == 0)
        r = reading.status;
    if (r == 0 && (!al_cat_file_is_whole(&reader) || reading.at < oids->count))
        r = al_error_set(err, AL_ERR_EXECUTION, "git cat-file did not say what was asked");
    if (r < 0)
        return r;
    *ret_commits = reading.commits;
    reading.commits = (struct al_commits_read){ .items = NULL };
    return 0;
}

/* "Name <mail> <seconds> <zone>".  Caller frees. */
static int find_identity(const struct al_inmemory *memory, const char *variable,
                         struct al_run_limits *budget, char **ret_identity, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    struct al_buffer out = { .max_bytes = IDENT_BYTES };
    int r;

    if (!memory->real->vetting->has_identity)
        return al_git_no_identity(err);
    al_strv_adds(&command.argv, "git", "var", variable, NULL);
    r = al_inmemory_git(memory, &command, budget, &out, NULL, err);
    if (r == 0)
        *ret_identity =
            al_strndup(out.data ? out.data : "", out.data ? strcspn(out.data, "\n") : 0);
    al_buffer_clear(&out);
    return r;
}

static bool is_character(uint32_t c)
{
    return (c & 0x1ffffe) != 0xfffe && (c < 0xfdd0 || c > 0xfdef);
}

/* git takes bytes of a commit that are not UTF-8 for Latin-1. */
static void add_as_utf8(const char *text, size_t len, struct al_str *out)
{
    for (size_t at = 0; at < len;) {
        const unsigned char byte = (unsigned char)text[at];
        uint32_t c = 0;
        const int n = al_utf8_next(text + at, len - at, &c);

        if (n > 0 && is_character(c)) {
            al_str_add(out, text + at, (size_t)n);
            at += (size_t)n;
            continue;
        }
        al_str_addc(out, (char)(0xc0 + (byte >> 6)));
        al_str_addc(out, (char)(0x80 + (byte & 0x3f)));
        at++;
    }
}

static void add_parents(struct al_inmemory *memory, const struct al_strv *parents,
                        struct al_str *out)
{
    for (size_t i = 0; parents && i < parents->count; i++) {
        al_str_addf(out, "parent %s\n", parents->items[i]);
        al_inmemory_add_bound(memory, parents->items[i]);
    }
}

int al_inmemory_commit(struct al_inmemory *memory, const struct al_new_commit *commit,
                       struct al_run_limits *budget, char **ret_oid, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str utf8 = AL_STR_INIT;
    const char *author = commit->author;
    char oid[AL_OID_TEXT];
    int r = al_git_check_signature(memory->real, err);

    if (r == 0 && !memory->committer)
        r = find_identity(memory, "GIT_COMMITTER_IDENT", budget, &memory->committer, err);
    if (r == 0 && !author && !memory->author)
        r = find_identity(memory, "GIT_AUTHOR_IDENT", budget, &memory->author, err);
    if (r < 0)
        return r;
    author = author ? author : memory->author;
    al_str_addf(&text, "tree %s\n", commit->tree);
    add_parents(memory, commit->parents, &text);
    al_str_addf(&text, "author %s", author);
    if (al_ends_with(author, ">"))
        al_str_adds(&text, strrchr(memory->committer, '>') + 1);
    al_str_addf(&text, "\ncommitter %s\n\n%s", memory->committer, commit->message);
    add_as_utf8(text.buf, text.len, &utf8);
    r = al_inmemory_write(memory, AL_OBJECT_COMMIT, utf8.buf, utf8.len, oid, err);
    if (r < 0)
        return r;
    al_strv_add(&memory->made, oid);
    *ret_oid = al_strdup(oid);
    return 0;
}

int al_inmemory_nothing(struct al_inmemory *memory, struct al_run_limits *budget, char **ret_oid,
                        struct al_error *err)
{
    char tree[AL_OID_TEXT];
    const struct al_new_commit commit = { .tree = tree, .message = "" };
    int r = al_inmemory_write(memory, AL_OBJECT_TREE, "", 0, tree, err);

    return r < 0 ? r : al_inmemory_commit(memory, &commit, budget, ret_oid, err);
}

/* --- Replay message --- */

/* The messages of replayed commits.  Source: git-stripspace(1), git-rebase(1), git-revert(1). */

static size_t without_space(const char *line, size_t len)
{
    while (len && strchr(" \t\r\v\f", line[len - 1]))
        len--;
    return len;
}

void al_message_strip_space(const char *message, struct al_str *out)
{
    bool empty_before = false, any = false;

    for (const char *line = message; *line;) {
        const size_t all = strcspn(line, "\n");
        const size_t len = without_space(line, all);

        if (len) {
            if (any && empty_before)
                al_str_addc(out, '\n');
            al_str_add(out, line, len);
            al_str_addc(out, '\n');
            any = true;
        }
        empty_before = !len;
        line += all + (line[all] == '\n');
    }
}

/* The message without empty lines at its beginning, as git-cherry-pick(1) takes it over.  Borrowed
 * from `message`. */
static const char *without_empty_lines(const char *message)
{
    for (;;) {
        const size_t all = strcspn(message, "\n");

        if (!*message || without_space(message, all))
            return message;
        message += all + (message[all] == '\n');
    }
}

/* A message without a subject that only says where the commit belongs. */
static const char *without_mark(const char *message)
{
    if (!al_starts_with(message, "squash!") && !al_starts_with(message, "fixup!") &&
        !al_starts_with(message, "amend!"))
        return message;
    message += strcspn(message, "\n");
    return message;
}

void al_message_squash(const char *first, const char *second, struct al_str *out)
{
    al_auto(al_str_clear) struct al_str both = AL_STR_INIT;

    al_str_addf(&both, "%s\n\n%s", first, without_mark(second));
    al_message_strip_space(both.buf, out);
}

/* The message of a commit that takes another one back, as git-revert(1) has it.  `mainline`: the
 * parent that a merge is compared with; NULL: it is no merge. */
static void message_revert(const struct al_commit_read *commit, const char *mainline,
                           struct al_str *out)
{
    const char *subject = without_empty_lines(commit->message);

    al_str_addf(out, "Revert \"%.*s\"\n\nThis reverts commit %s", (int)strcspn(subject, "\n"),
                subject, commit->oid);
    if (mainline)
        al_str_addf(out, ", reversing\nchanges made to %s", mainline);
    al_str_adds(out, ".\n");
}

/* --- Replay --- */

void al_replayed_clear(struct al_replayed *replayed)
{
    free(replayed->tip);
    al_strv_clear(&replayed->commits);
    al_strv_clear(&replayed->tips);
    al_merged_clear(&replayed->conflict);
    *replayed = AL_REPLAYED_INIT;
}

/* While commits are replayed. */
struct replaying {
    struct al_inmemory *memory;
    const struct al_replay *replay;
    const struct al_commits_read *commits; /* `onto`, and that of each step */
    struct al_replayed *replayed;
    struct al_run_limits *budget;
    struct al_commit_read tip; /* the last commit; owned */
    char *joined; /* the message of `tip` with those of melded commits that were dropped; owned,
                     NULL: there are none */
    bool at_root; /* `tip` stands for no commit at all: the next one has no parents */
};

static void copy_commit(const struct al_commit_read *from, struct al_commit_read *to)
{
    commit_clear(to);
    *to = (struct al_commit_read){ .oid = al_strdup(from->oid),
                                   .tree = al_strdup(from->tree),
                                   .author = al_strdup(from->author),
                                   .message = al_strdup(from->message) };
    for (size_t i = 0; i < from->parents.count; i++)
        al_strv_add(&to->parents, from->parents.items[i]);
}

static bool melds(const struct al_replay_step *step)
{
    return step->kind == AL_REPLAY_SQUASH || step->kind == AL_REPLAY_FIXUP;
}

/* The parent that the step's change is against; NULL: none, it is against nothing. */
static int find_parent(const struct al_replay_step *step, const struct al_commit_read *commit,
                       const char **ret_parent, struct al_error *err)
{
    const size_t count = commit->parents.count;

    *ret_parent = NULL;
    if (step->mainline) {
        if (count < 2 || step->mainline > count)
            return al_error_set(err, AL_ERR_EXECUTION, "Commit %s has no parent %u to compare with",
                                commit->oid, step->mainline);
        *ret_parent = commit->parents.items[step->mainline - 1];
    } else if (count > 1) {
        return al_error_set(err, AL_ERR_EXECUTION,
                            "Commit %s is a merge, and no parent to compare with was given",
                            commit->oid);
    } else if (count) {
        *ret_parent = commit->parents.items[0];
    }
    return 0;
}

/* What a squash adds to, and a fixup keeps. */
static const char *message_so_far(const struct replaying *with)
{
    return with->joined ? with->joined : with->tip.message;
}

static void build_message(const struct replaying *with, const struct al_replay_step *step,
                          const struct al_commit_read *commit, const char *parent,
                          struct al_str *out)
{
    if (step->message && step->kind != AL_REPLAY_PICK && step->kind != AL_REPLAY_FIXUP)
        al_message_strip_space(step->message, out);
    else if (step->kind == AL_REPLAY_SQUASH)
        al_message_squash(message_so_far(with), commit->message, out);
    else if (step->kind == AL_REPLAY_FIXUP)
        al_str_adds(out, message_so_far(with));
    else if (step->kind == AL_REPLAY_REVERT)
        message_revert(commit, step->mainline ? parent : NULL, out);
    else
        al_str_adds(out, without_empty_lines(commit->message));
}

/* A squash replaces the last commit, with its parents and its author. */
static int write_commit(struct replaying *with, const struct al_replay_step *step,
                        const struct al_commit_read *commit, const char *tree, const char *message,
                        struct al_error *err)
{
    al_auto(commit_clear) struct al_commit_read made = { .tree = al_strdup(tree),
                                                         .message = al_strdup(message) };
    const char *author = step->kind == AL_REPLAY_REVERT ? NULL : commit->author;
    int r;

    if (melds(step)) {
        author = with->tip.author;
        for (size_t i = 0; i < with->tip.parents.count; i++)
            al_strv_add(&made.parents, with->tip.parents.items[i]);
    } else if (!with->at_root) {
        al_strv_add(&made.parents, with->tip.oid);
    }
    if (!*message && step->kind == AL_REPLAY_REWORD)
        return al_error_set(err, AL_ERR_EXECUTION, "The message for commit %s is empty",
                            commit->oid);
    r = al_inmemory_commit(
        with->memory,
        &(struct al_new_commit){
            .tree = tree, .parents = &made.parents, .author = author, .message = message },
        with->budget, &made.oid, err);
    if (r < 0)
        return r;
    made.author = al_strdup(author ? author : with->memory->author);
    copy_commit(&made, &with->tip);
    with->at_root = false;
    free(al_take(&with->joined));
    return 0;
}

/* Earlier steps whose commit was replaced by a squash have the new one. */
static void note_commit(struct replaying *with, const char *replaced)
{
    struct al_strv *commits = &with->replayed->commits;

    for (size_t i = 0; replaced && i < commits->count; i++) {
        if (strcmp(commits->items[i], replaced) != 0)
            continue;
        free(commits->items[i]);
        commits->items[i] = al_strdup(with->tip.oid);
    }
    al_strv_add(commits, with->tip.oid);
}

/* The tree of a parent, which mostly is the commit of another step; NULL: of nothing.  Caller
 * frees. */
static int find_tree(const struct replaying *with, const char *parent, char **ret_tree,
                     struct al_error *err)
{
    const struct al_commits_read *commits = with->commits;

    if (!parent) {
        *ret_tree = al_strdup(al_git_empty_tree(with->memory->real));
        return 0;
    }
    for (size_t i = 0; i < commits->count; i++) {
        if (strcmp(commits->items[i].oid, parent) != 0)
            continue;
        *ret_tree = al_strdup(commits->items[i].tree);
        return 0;
    }
    return al_inmemory_tree(with->memory, parent, with->budget, ret_tree, err);
}

enum fate { FATE_KEPT, FATE_DROPPED, FATE_STOPPED };

/* What becomes of a step whose result is `tree`. */
static int find_fate(const struct replaying *with, const struct al_replay_step *step,
                     const struct al_commit_read *commit, const char *parent, const char *tree,
                     enum fate *ret_fate, struct al_error *err)
{
    static const enum fate fates[] = { [AL_EMPTY_STOPS] = FATE_STOPPED,
                                       [AL_EMPTY_DROPPED] = FATE_DROPPED,
                                       [AL_EMPTY_KEPT] = FATE_KEPT };
    const enum al_replay_empty when_empty = with->replay->when_empty;
    al_auto(al_freep) char *before = NULL;
    int r;

    *ret_fate = FATE_KEPT;
    if (strcmp(tree, with->tip.tree) != 0)
        return 0;
    /* git drops what is melded too, but a message that the user gave is used. */
    if (melds(step) && (step->message || when_empty != AL_EMPTY_DROPPED))
        return 0;
    *ret_fate = fates[when_empty];
    if (when_empty != AL_EMPTY_DROPPED)
        return 0;
    r = find_tree(with, parent, &before, err);
    if (r == 0 && !strcmp(before, commit->tree)) /* it never changed anything */
        *ret_fate = FATE_KEPT;
    return r;
}

/* Leave out a step that changes nothing any more.  The message of a squash stays for what is melded
 * after it, as git has it. */
static void drop_step(struct replaying *with, const struct al_replay_step *step,
                      const struct al_commit_read *commit)
{
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;

    al_strv_add(&with->replayed->commits, "");
    if (step->kind != AL_REPLAY_SQUASH)
        return;
    al_message_squash(message_so_far(with), commit->message, &message);
    free(with->joined);
    with->joined = al_str_detach(&message);
}

static int take_result(struct replaying *with, const struct al_replay_step *step,
                       const struct al_commit_read *commit, const char *parent, const char *tree,
                       struct al_error *err)
{
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;
    al_auto(al_freep) char *replaced = melds(step) ? al_strdup(with->tip.oid) : NULL;
    enum fate fate = FATE_KEPT;
    int r = find_fate(with, step, commit, parent, tree, &fate, err);

    if (r < 0)
        return r;
    with->replayed->stopped = with->replayed->stopped_empty = fate == FATE_STOPPED;
    if (fate == FATE_DROPPED)
        drop_step(with, step, commit);
    if (fate != FATE_KEPT)
        return 0;
    build_message(with, step, commit, parent, &message);
    r = write_commit(with, step, commit, tree, message.buf, err);
    if (r == 0)
        note_commit(with, replaced);
    return r;
}

static int merge_step(struct replaying *with, const struct al_replay_step *step,
                      const struct al_commit_read *commit, const char *parent,
                      struct al_merged *merged, struct al_error *err)
{
    const bool backwards = step->kind == AL_REPLAY_REVERT;
    al_auto(al_freep) char *before = NULL;
    const char *trees[AL_SIDES];
    int r = find_tree(with, parent, &before, err);

    if (r < 0)
        return r;
    trees[AL_SIDE_BASE] = backwards ? commit->tree : before;
    trees[AL_SIDE_OURS] = with->tip.tree;
    trees[AL_SIDE_THEIRS] = backwards ? before : commit->tree;
    return al_inmemory_merge_trees(with->memory, trees, with->budget, merged, err);
}

/* Whether a commit is in its place already: it builds on the last one. */
static bool is_in_place(const struct replaying *with, const struct al_commit_read *commit)
{
    const struct al_strv *parents = &commit->parents;

    if (with->at_root)
        return !parents->count;
    return parents->count == 1 && !strcmp(parents->items[0], with->tip.oid);
}

static int replay_step(struct replaying *with, const struct al_replay_step *step,
                       const struct al_commit_read *commit, struct al_error *err)
{
    al_auto(al_merged_clear) struct al_merged merged = AL_MERGED_INIT;
    const char *parent;
    int r;

    if (!melds(step))
        free(al_take(&with->joined));
    if (with->replay->fast_forwards && step->kind == AL_REPLAY_PICK && is_in_place(with, commit)) {
        copy_commit(commit, &with->tip);
        with->at_root = false;
        al_strv_add(&with->replayed->commits, commit->oid);
        return 0;
    }
    r = find_parent(step, commit, &parent, err);
    if (r == 0)
        r = merge_step(with, step, commit, parent, &merged, err);
    if (r < 0)
        return r;
    if (!merged.conflicted)
        return take_result(with, step, commit, parent, merged.tree, err);
    with->replayed->stopped = true;
    with->replayed->conflict = merged;
    merged = AL_MERGED_INIT;
    return 0;
}

static int check_steps(const struct al_replay *replay, struct al_error *err)
{
    if (replay->nsteps && melds(&replay->steps[0]))
        return al_error_set(err, AL_ERR_EXECUTION,
                            "The first commit cannot be joined with one before it");
    for (size_t i = 0; i < replay->nsteps; i++)
        if (replay->steps[i].kind == AL_REPLAY_REWORD && !replay->steps[i].message)
            return al_error_set(err, AL_ERR_EXECUTION, "Commit %s has no new message",
                                replay->steps[i].commit);
    return 0;
}

/* git would leave its empty commit below, without a name. */
static int refuse_root(const struct replaying *with, struct al_error *err)
{
    const struct al_replayed *replayed = with->replayed;

    if (!replayed->stopped)
        return al_error_set(err, AL_ERR_EXECUTION, "Nothing would be left of the history");
    (void)al_error_set(err, AL_ERR_EXECUTION,
                       "%.8s cannot be the first commit: it changes what is not there before it",
                       with->replay->steps[replayed->commits.count].commit);
    if (err)
        err->remedy = "Begin with a commit that changes only files of its own.";
    return AL_ERR_EXECUTION;
}

/* Where no step changes an attributes file, all results have those of the commit that they begin
 * at.
 */
static int find_attributes(struct replaying *with, struct al_error *err)
{
    struct al_inmemory *memory = with->memory;
    al_auto(al_strv_clear) struct al_strv steps = AL_STRV_INIT;
    bool change = true;
    int r = 0;

    for (size_t i = 0; i < with->replay->nsteps; i++)
        al_strv_add(&steps, with->replay->steps[i].commit);
    if (steps.count > 1)
        r = al_inmemory_change_attributes(memory, &steps, with->tip.tree, with->budget, &change,
                                          err);
    if (r == 0 && !change)
        r = al_inmemory_set_attributes(memory, with->tip.tree, with->budget, err);
    memory->keeps_attributes = r == 0 && !change;
    return r;
}

int al_inmemory_replay(struct al_inmemory *memory, const struct al_replay *replay,
                       struct al_run_limits *budget, struct al_replayed *ret_replayed,
                       struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv oids = AL_STRV_INIT;
    al_auto(al_commits_read_clear) struct al_commits_read commits = { .items = NULL };
    al_auto(al_replayed_clear) struct al_replayed replayed = AL_REPLAYED_INIT;
    struct replaying with = { .memory = memory,
                              .replay = replay,
                              .commits = &commits,
                              .replayed = &replayed,
                              .budget = budget,
                              .at_root = replay->is_root };
    int r = check_steps(replay, err);

    al_strv_add(&oids, replay->onto);
    for (size_t i = 0; i < replay->nsteps; i++)
        al_strv_add(&oids, replay->steps[i].commit);
    /* The parents of the others are mostly among them. */
    if (replay->nsteps)
        al_strv_addf(&oids, "%s^%u", replay->steps[0].commit,
                     replay->steps[0].mainline ? replay->steps[0].mainline : 1);
    if (r == 0)
        r = al_inmemory_read(memory, &oids, budget, &commits, err);
    if (r < 0)
        return r;
    copy_commit(&commits.items[0], &with.tip);
    r = find_attributes(&with, err);
    for (size_t i = 0; replay->is_root && i < replay->nsteps; i++)
        al_inmemory_add_bound(memory, replay->steps[i].commit);
    for (size_t i = 0; r == 0 && !replayed.stopped && i < replay->nsteps; i++) {
        r = replay_step(&with, &replay->steps[i], &commits.items[i + 1], err);
        if (r == 0 && !replayed.stopped)
            al_strv_add(&replayed.tips, with.tip.oid);
    }
    memory->keeps_attributes = false;
    if (r == 0 && with.at_root)
        r = refuse_root(&with, err);
    replayed.tip = al_strdup(with.tip.oid);
    commit_clear(&with.tip);
    free(with.joined);
    if (r < 0)
        return r;
    *ret_replayed = replayed;
    replayed = AL_REPLAYED_INIT;
    return 0;
}
