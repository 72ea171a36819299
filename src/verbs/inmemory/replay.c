// SPDX-License-Identifier: Apache-2.0
/* Replaying commits, each by a merge of trees whose base is the commit's parent. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "git/failure.h"
#include "git/plumbing/revision.h"
#include "git/vet/vet.h"
#include "verbs/inmemory/private.h"

/* --- Commit --- */

/*
 * Reading commits and writing them.  Those that were read or written are known until the end.
 *
 * Source: git-log(1) "PRETTY FORMATS", git-commit(1) "DISCUSSION" (encodings), git-var(1).
 */

void al_inmemory_forget(struct al_inmemory *memory)
{
    for (size_t i = 0; i < memory->ncommits; i++) {
        struct al_commit_read *commit = memory->commits[i];

        free(commit->oid);
        free(commit->tree);
        free(commit->author);
        free(commit->message);
        al_strv_clear(&commit->parents);
        free(commit);
    }
    free(memory->commits);
}

const struct al_commit_read *al_inmemory_known(const struct al_inmemory *memory, const char *oid)
{
    for (size_t i = memory->ncommits; i > 0; i--)
        if (!strcmp(memory->commits[i - 1]->oid, oid))
            return memory->commits[i - 1];
    return NULL;
}

static struct al_commit_read *add_known(struct al_inmemory *memory, const char *oid,
                                        const char *tree, const char *author, const char *message)
{
    struct al_commit_read *commit = al_calloc(1, sizeof(*commit));

    *commit = (struct al_commit_read){ .oid = al_strdup(oid),
                                       .tree = al_strdup(tree),
                                       .author = al_strdup(author),
                                       .message = al_strdup(message) };
    memory->commits =
        al_reallocarray(memory->commits, memory->ncommits + 1, sizeof(struct al_commit_read *));
    memory->commits[memory->ncommits++] = commit;
    return commit;
}

/* The ids of the commit, of its tree and of its parents; the author, and the message. */
static bool take_commit(void *payload, char *const *fields)
{
    if (!al_inmemory_known(payload, fields[0]))
        al_strv_split(&add_known(payload, fields[0], fields[1], fields[3], fields[4])->parents,
                      fields[2], " ");
    return true;
}

int al_inmemory_read(struct al_inmemory *memory, const struct al_strv *oids, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    int r;

    for (size_t i = 0; i < oids->count; i++)
        if (!al_inmemory_known(memory, oids->items[i]))
            al_str_addf(&words, "%s\n", oids->items[i]);
    al_git_command_feed(&command, &words);
    /* The parents of a commit where a shallow clone ends are its parents all the same. */
    al_strv_adds(&command.argv, "git", "--shallow-file", "", "-c", AL_NO_COMMIT_GRAPH, "log",
                 "--no-walk=unsorted", "--ignore-missing", "--stdin", "-z", "--encoding=UTF-8",
                 "--date=raw", "--no-show-signature", "--no-notes", "--no-decorate", "--no-color",
                 "--no-patch", "--format=%H%x00%T%x00%P%x00%an <%ae>% ad%x00%B", NULL);
    r = words.len ? al_git_read_records(&memory->view.at, &command, 5, take_commit, memory, err)
                  : 0;
    for (size_t i = 0; r == 0 && i < oids->count; i++)
        if (!strchr(oids->items[i], '^') && !al_inmemory_known(memory, oids->items[i]))
            r = al_error_set(err, AL_ERR_EXECUTION, "%s is not a commit of this repository",
                             oids->items[i]);
    return r;
}

/* "Name <mail> <seconds> <zone>".  Caller frees. */
static int find_identity(const struct al_inmemory *memory, const char *variable,
                         char **ret_identity, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
    int r;

    if (!memory->real->vetting->has_identity)
        return al_git_no_identity(err);
    al_strv_adds(&command.argv, "git", "var", variable, NULL);
    r = al_inmemory_git(memory, &command, &out, NULL, err);
    if (r == 0)
        *ret_identity = al_strndup(out.buf, strcspn(out.buf, "\n"));
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
                       char **ret_oid, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str utf8 = AL_STR_INIT;
    const char *author = commit->author;
    struct al_commit_read *made;
    char oid[AL_OID_TEXT];
    int r = 0;

    if (!memory->committer)
        r = find_identity(memory, "GIT_COMMITTER_IDENT", &memory->committer, err);
    if (r == 0 && !author && !memory->author)
        r = find_identity(memory, "GIT_AUTHOR_IDENT", &memory->author, err);
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
    made = add_known(memory, oid, commit->tree, author, strstr(utf8.buf, "\n\n") + 2);
    made->is_made = true;
    al_strv_add_all(&made->parents, commit->parents);
    *ret_oid = al_strdup(oid);
    return 0;
}

int al_inmemory_nothing(struct al_inmemory *memory, char **ret_oid, struct al_error *err)
{
    char tree[AL_OID_TEXT];
    const struct al_new_commit commit = { .tree = tree, .message = "" };
    int r = al_inmemory_write(memory, AL_OBJECT_TREE, "", 0, tree, err);

    return r < 0 ? r : al_inmemory_commit(memory, &commit, ret_oid, err);
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

char *al_message_subject(const char *message)
{
    struct al_str out = AL_STR_INIT;

    while (*message == '\n')
        message++;
    for (const char *at = message; *at && !(at[0] == '\n' && (at[1] == '\n' || !at[1])); at++)
        al_str_addc(&out, *at == '\n' ? ' ' : *at);
    al_str_trim_end(&out);
    return al_str_detach(&out);
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

/* The state while commits are replayed. */
struct replaying {
    struct al_inmemory *memory;
    const struct al_replay *replay;
    struct al_replayed *replayed;
    const struct al_commit_read *tip; /* the last commit */
    char *joined; /* the message of `tip` with those of melded commits that were dropped; owned,
                     NULL: there are none */
    bool at_root; /* `tip` stands for no commit at all: the next one has no parents */
};

bool al_replay_melds(const struct al_replay_step *step)
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

/* The message that a squash adds to, and a fixup keeps. */
static const char *message_so_far(const struct replaying *with)
{
    return with->joined ? with->joined : with->tip->message;
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
    al_auto(al_strv_clear) struct al_strv parents = AL_STRV_INIT;
    al_auto(al_freep) char *oid = NULL;
    struct al_new_commit made = { .tree = tree, .parents = &parents, .message = message };
    int r;

    if (step->kind != AL_REPLAY_REVERT)
        made.author = al_replay_melds(step) ? with->tip->author : commit->author;
    if (al_replay_melds(step))
        made.parents = &with->tip->parents;
    else if (!with->at_root)
        al_strv_add(&parents, with->tip->oid);
    if (!*message && step->kind == AL_REPLAY_REWORD)
        return al_error_set(err, AL_ERR_EXECUTION, "The message for commit %s is empty",
                            commit->oid);
    r = al_inmemory_commit(with->memory, &made, &oid, err);
    if (r < 0)
        return r;
    with->tip = al_inmemory_known(with->memory, oid);
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
        commits->items[i] = al_strdup(with->tip->oid);
    }
    al_strv_add(commits, with->tip->oid);
}

/* Whether nothing is left of a step whose result is `tree`.  git drops what is melded too, but a
 * message that the user gave is used; and a commit that never changed anything is kept. */
static int find_dropped(const struct replaying *with, const struct al_replay_step *step,
                        const struct al_commit_read *commit, const char *parent, const char *tree,
                        bool *ret_dropped, struct al_error *err)
{
    al_auto(al_freep) char *before = NULL;
    int r;

    *ret_dropped = false;
    if (strcmp(tree, with->tip->tree) != 0 || (al_replay_melds(step) && step->message))
        return 0;
    r = al_inmemory_tree(with->memory, parent, &before, err);
    *ret_dropped = r == 0 && strcmp(before, commit->tree) != 0;
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
    const char *replaced = al_replay_melds(step) ? with->tip->oid : NULL;
    bool dropped;
    int r = find_dropped(with, step, commit, parent, tree, &dropped, err);

    if (r == 0 && dropped)
        drop_step(with, step, commit);
    if (r < 0 || dropped)
        return r;
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
    const char *trees[AL_STAGES];
    int r = al_inmemory_tree(with->memory, parent, &before, err);

    if (r < 0)
        return r;
    trees[AL_STAGE_BASE] = backwards ? commit->tree : before;
    trees[AL_STAGE_OURS] = with->tip->tree;
    trees[AL_STAGE_THEIRS] = backwards ? before : commit->tree;
    return al_inmemory_merge_trees(with->memory, trees, merged, err);
}

/* Whether a commit is in its place already: it builds on the last one. */
static bool is_in_place(const struct replaying *with, const struct al_commit_read *commit)
{
    const struct al_strv *parents = &commit->parents;

    if (with->at_root)
        return !parents->count;
    return parents->count == 1 && !strcmp(parents->items[0], with->tip->oid);
}

static int replay_step(struct replaying *with, const struct al_replay_step *step,
                       const struct al_commit_read *commit, struct al_error *err)
{
    al_auto(al_merged_clear) struct al_merged merged = AL_MERGED_INIT;
    const char *parent;
    int r;

    if (!al_replay_melds(step))
        free(al_take(&with->joined));
    if (with->replay->fast_forwards && step->kind == AL_REPLAY_PICK && is_in_place(with, commit)) {
        with->tip = commit;
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
    if (replay->nsteps && al_replay_melds(&replay->steps[0]))
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
    return al_error_remedy(
        al_error_set(err, AL_ERR_EXECUTION,
                     "%.8s cannot be the first commit: it changes what is not there before it",
                     with->replay->steps[replayed->commits.count].commit),
        err, "Begin with a commit that changes only files of its own.");
}

/* All results have the attributes of the commit that they begin at if no step changes any. */
static int find_attributes(struct replaying *with, struct al_error *err)
{
    struct al_inmemory *memory = with->memory;
    al_auto(al_strv_clear) struct al_strv steps = AL_STRV_INIT;
    bool change = true;
    int r = 0;

    for (size_t i = 0; i < with->replay->nsteps; i++)
        al_strv_add(&steps, with->replay->steps[i].commit);
    if (steps.count > 1)
        r = al_inmemory_change_attributes(memory, &steps, with->tip->tree, &change, err);
    if (r == 0 && !change)
        r = al_inmemory_set_attributes(memory, with->tip->tree, err);
    memory->keeps_attributes = r == 0 && !change;
    return r;
}

int al_inmemory_replay(struct al_inmemory *memory, const struct al_replay *replay,
                       struct al_replayed *ret_replayed, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv oids = AL_STRV_INIT;
    struct replaying with = {
        .memory = memory, .replay = replay, .replayed = ret_replayed, .at_root = replay->is_root
    };
    int r = check_steps(replay, err);

    al_strv_add(&oids, replay->onto);
    for (size_t i = 0; i < replay->nsteps; i++)
        al_strv_add(&oids, replay->steps[i].commit);
    /* The parents of the others are mostly among them. */
    if (replay->nsteps)
        al_strv_addf(&oids, "%s^%u", replay->steps[0].commit,
                     replay->steps[0].mainline ? replay->steps[0].mainline : 1);
    if (r == 0)
        r = al_inmemory_read(memory, &oids, err);
    if (r < 0)
        return r;
    with.tip = al_inmemory_known(memory, replay->onto);
    r = find_attributes(&with, err);
    for (size_t i = 0; replay->is_root && i < replay->nsteps; i++)
        al_inmemory_add_bound(memory, replay->steps[i].commit);
    for (size_t i = 0; r == 0 && !ret_replayed->stopped && i < replay->nsteps; i++) {
        r = replay_step(&with, &replay->steps[i],
                        al_inmemory_known(memory, replay->steps[i].commit), err);
        if (r == 0 && !ret_replayed->stopped)
            al_strv_add(&ret_replayed->tips, with.tip->oid);
    }
    memory->keeps_attributes = false;
    if (r == 0 && with.at_root)
        r = refuse_root(&with, err);
    ret_replayed->tip = al_strdup(with.tip->oid);
    free(with.joined);
    return r;
}
