// SPDX-License-Identifier: Apache-2.0
/* gitops/inmemory/merge_worktree.c, merge_worktree_output.c: merging with an older git gives what
 * merge-tree gives, on random histories too, with the same conflicts. */
#include <stdlib.h>

#include "gitops/layer.h"
#include "tests/unit/gitops/inmemory/memory_lib.h"
#include "tests/unit/gitops/inmemory/older_git.h"
#include "tests/unit/gitops/tree.h"

#define HISTORIES 24u
#define FILES_MAX 24u
#define LINES     9u

/* Names that files get: short ones and odd ones, some of which lie in the way of others. */
static const char *const names[] = {
    "a",
    "a/inner",
    "b",
    "dir/c",
    "dir/d",
    "dir/e",
    "dir/sub/f",
    "dir2",
    "dir2/c",
    "moved/c",
    "new",
    "tab\tname",
    "two\nlines",
    "b~HEAD",
    "dir/g",
    "moved/d",
    " renamed to x in HEAD",
    "a~HEAD",
    "moved/sub/f",
    "dir/c, dir/d",
};

/* One side of a history. */
struct side {
    struct file {
        unsigned name;
        enum { PLAIN, PROGRAM, LINK, BINARY } type;
        unsigned lines[LINES];
    } files[FILES_MAX];
    unsigned count;
};

static unsigned seed;

static unsigned below(unsigned n)
{
    seed = seed * 1103515245u + 12345u;
    return (seed >> 16) % n;
}

static bool in_the_way(const char *one, const char *other)
{
    return !strcmp(one, other) || (al_starts_with(other, one) && other[strlen(one)] == '/') ||
           (al_starts_with(one, other) && one[strlen(other)] == '/');
}

static bool is_free(const struct side *side, unsigned name)
{
    for (unsigned i = 0; i < side->count; i++)
        if (in_the_way(names[side->files[i].name], names[name]))
            return false;
    return true;
}

static void add_one(struct side *side, unsigned kind)
{
    const unsigned name = below(COUNT(names));
    struct file *file = &side->files[side->count];

    if (side->count == FILES_MAX || !is_free(side, name))
        return;
    *file = (struct file){ .name = name, .type = below(8) ? PLAIN : 1 + below(3) };
    for (unsigned i = 0; i < LINES; i++)
        file->lines[i] = i + 100 * (kind ? kind : name);
    side->count++;
}

static void move_one(struct side *side, unsigned file)
{
    const unsigned from = side->files[file].name, to = below(COUNT(names));

    side->files[file].name = 2; /* it is in its own way */
    if (is_free(side, to) || in_the_way(names[from], names[to]))
        side->files[file].name = to;
    else
        side->files[file].name = from;
}

/* The files of dir/ go to moved/, as far as there are such names. */
static void move_directory(struct side *side)
{
    static const unsigned moves[][2] = { { 3, 9 }, { 4, 15 }, { 6, 18 } };

    for (unsigned i = 0; i < side->count; i++)
        for (unsigned j = 0; j < COUNT(moves); j++)
            if (side->files[i].name == moves[j][0] && is_free(side, moves[j][1]))
                side->files[i].name = moves[j][1];
}

static void change(struct side *side)
{
    const unsigned what = below(12), file = side->count ? below(side->count) : 0;

    if (!side->count || what < 2)
        add_one(side, 1 + below(3));
    else if (what < 7)
        side->files[file].lines[below(LINES)] += 1000 * (1 + below(3));
    else if (what == 7)
        side->files[file] = side->files[--side->count];
    else if (what == 8)
        side->files[file].type = below(4);
    else if (what == 9)
        move_directory(side);
    else
        move_one(side, file);
}

/* Two moves within one side may have come together; the first file stays. */
static bool is_first(const struct side *side, unsigned file)
{
    for (unsigned i = 0; i < file; i++)
        if (in_the_way(names[side->files[i].name], names[side->files[file].name]))
            return false;
    return true;
}

static void write_path(FILE *to, const char *path)
{
    (void)fputc('"', to);
    for (; *path; path++)
        (void)(*path == '\n'   ? fputs("\\n", to)
               : *path == '\t' ? fputs("\\t", to)
                               : fputc(*path, to));
    (void)fputs("\"\n", to);
}

static void write_commit(FILE *to, const struct side *side, const char *branch, const char *parents)
{
    static const char *const modes[] = { "100644", "100755", "120000", "100644" };

    (void)fprintf(to, "commit refs/heads/%s\ncommitter a <a@b> 1 +0000\ndata 1\nx\n%sdeleteall\n",
                  branch, parents);
    for (unsigned i = 0; i < side->count; i++) {
        const struct file *file = &side->files[i];
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

        if (!is_first(side, i))
            continue;
        for (unsigned line = 0; line < LINES; line++)
            al_str_addf(&text, "line %u%c", file->lines[line], file->type == LINK ? '.' : '\n');
        if (file->type == BINARY)
            al_str_addc(&text, '\0');
        (void)fprintf(to, "M %s inline ", modes[file->type]);
        write_path(to, names[file->name]);
        (void)fprintf(to, "data %zu\n", text.len);
        (void)fwrite(text.buf, 1, text.len, to);
        (void)fputc('\n', to);
    }
}

/* Branches ours and theirs; in some histories they have merged each other before, both ways. */
static void make_history(struct world *w)
{
    al_auto(al_freep) char *path = tmpdir_path(w->home, "stream");
    al_auto(al_freep) char *feed =
        al_asprintf("alias.feed=!git fast-import --quiet --force <%s", path);
    FILE *to = fopen(path, "w");
    struct side base = { .count = 0 }, ours, theirs;

    assert_non_null(to);
    for (unsigned i = 0; i < 12; i++)
        add_one(&base, 0);
    ours = theirs = base;
    write_commit(to, &base, "base", "");
    for (unsigned i = 0; i < 4; i++) {
        change(&ours);
        change(&theirs);
    }
    write_commit(to, &ours, "ours", "from refs/heads/base\n");
    write_commit(to, &theirs, "theirs", "from refs/heads/base\n");
    if (!below(4)) {
        write_commit(to, &theirs, "other", "from refs/heads/theirs\nmerge refs/heads/ours\n");
        change(&ours);
        change(&theirs);
        write_commit(to, &ours, "ours", "from refs/heads/ours^0\nmerge refs/heads/theirs\n");
        write_commit(to, &theirs, "theirs", "from refs/heads/other\n");
    }
    (void)fputs("done\n", to);
    assert_int_equal(fclose(to), 0);
    git_ok(w->repo, "-c", feed, "feed", NULL);
}

static char *outcome_of(const struct al_merged *merged)
{
    struct al_str text = AL_STR_INIT;

    al_str_addf(&text, "%s\n", merged->conflicted ? "conflicts" : merged->tree);
    /* merge-tree may tell of a conflict that nothing is left of. */
    for (size_t i = 0; i < merged->count && merged->conflicted; i++) {
        const struct al_merge_conflict *conflict = &merged->conflicts[i];

        al_str_addf(&text, "%s: %s", conflict->path, conflict->kind);
        /* These have markers already, and with them the names of the sides. */
        for (size_t side = 0; side < AL_SIDES && !strstr(conflict->kind, "collision"); side++)
            al_str_addf(&text, " %s %s", conflict->sides[side].mode, conflict->sides[side].oid);
        al_str_addc(&text, '\n');
    }
    return al_str_detach(&text);
}

static char *merged_text(struct world *w, struct al_inmemory *memory, const char *ours,
                         const char *theirs)
{
    al_auto(al_merged_clear) struct al_merged merged = AL_MERGED_INIT;
    struct al_run_limits budget = long_budget();

    al_error_clear(&w->err);
    assert_worked(w, al_inmemory_merge(memory, ours, theirs, &budget, &merged, &w->err));
    return outcome_of(&merged);
}

/* Returns whether there were conflicts. */
static bool assert_same(struct world *w, struct al_inmemory *memory, struct al_inmemory *older,
                        const char *ours, const char *theirs)
{
    al_auto(al_freep) char *expected = NULL, *text = NULL;

    git_is_older = false;
    expected = merged_text(w, memory, ours, theirs);
    git_is_older = true;
    text = merged_text(w, older, ours, theirs);
    git_is_older = false;
    assert_string_equal(text, expected);
    return al_starts_with(expected, "conflicts");
}

static void random_histories_merge_alike(void **state)
{
    struct world *w = *state;
    const char *more = getenv("AIRLOCK_TEST_HISTORIES");
    const unsigned count = more ? (unsigned)strtoul(more, NULL, 10) : HISTORIES;
    unsigned conflicts = 0;

    for (unsigned i = 0; i < count; i++) {
        al_auto(repo_freep) struct al_repo *repo = NULL;
        al_auto(memory_freep) struct al_inmemory *memory = NULL, *older = NULL;
        al_auto(al_freep) char *ours = NULL, *theirs = NULL;

        seed = i;
        make_history(w);
        print_message("# history %u\n", i);
        ours = id_of(w, "ours");
        theirs = id_of(w, "theirs");
        repo = must_open(w, "repo");
        memory = must_open_memory(w, repo);
        older = must_open_memory(w, repo);
        conflicts += assert_same(w, memory, older, ours, theirs);
        conflicts += assert_same(w, memory, older, theirs, ours);
    }
    assert_in_range(conflicts, count / 2, 2 * count - count / 4);
}

/* A program that leaves its name; it stands where git would start one. */
static void set_program(struct world *w, const char *key, const char *canary)
{
    al_auto(al_freep) char *program = al_asprintf("echo %s >>%s; cat", key, canary);

    git_ok(w->repo, "config", key, program, NULL);
}

static void set_hook(struct world *w, const char *name, const char *canary)
{
    al_auto(al_freep) char *text = al_asprintf("#!/bin/sh\necho %s >>%s\n", name, canary);
    al_auto(al_freep) char *path = al_asprintf(".git/hooks/%s", name);
    al_auto(al_freep) char *file = tmpdir_path(w->repo, path);

    tmpdir_write(w->repo, path, text);
    assert_int_equal(chmod(file, 0755), 0);
}

static void assert_ran(const char *canary, const char *name)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    assert_int_equal(al_fs_read(AT_FDCWD, canary, 1u << 20, &text), 0);
    assert_non_null(strstr(text.buf, name));
}

/* Filters, hooks, and what git remembers of conflicts.  Plain git runs them. */
static void nothing_runs(void **state)
{
    struct world *w = *state;
    al_auto(al_merged_clear) struct al_merged merged = AL_MERGED_INIT;
    al_auto(repo_freep) struct al_repo *repo = NULL;
    al_auto(memory_freep) struct al_inmemory *older = NULL;
    al_auto(al_freep) char *canary = tmpdir_path(w->outside, "canary");
    al_auto(al_freep) char *ours = NULL, *theirs = NULL, *tree = NULL, *after = NULL;
    struct al_run_limits budget = long_budget();

    git_fixture_commit(w->repo, ".gitattributes", "* filter=mine diff=mine\n", "attributes");
    branch_with(w, "ours", "main", "a.txt", "ours\n");
    git_fixture_commit(w->repo, ".gitattributes", "* filter=mine diff=mine\nz text\n", "more");
    branch_with(w, "theirs", "main", "a.txt", "theirs\n");
    set_program(w, "filter.mine.smudge", canary);
    set_program(w, "filter.mine.clean", canary);
    git_ok(w->repo, "config", "filter.mine.required", "true", NULL);
    git_ok(w->repo, "config", "merge.renormalize", "true", NULL);
    git_ok(w->repo, "config", "rerere.enabled", "true", NULL);
    set_program(w, "core.fsmonitor", canary);
    set_hook(w, "post-checkout", canary);
    set_hook(w, "post-index-change", canary);
    git_ok(w->repo, "checkout", "-q", "--detach", "theirs~", NULL);
    assert_int_equal(git_status_of(w->repo, "merge", "-q", "ours", NULL), 0);
    git_ok(w->repo, "checkout", "-q", "--detach", "theirs", NULL);
    assert_ran(canary, "smudge");
    assert_ran(canary, "post-checkout");
    assert_ran(canary, "post-index-change");
    assert_ran(canary, "fsmonitor");
    ours = id_of(w, "ours");
    theirs = id_of(w, "theirs");
    assert_int_equal(unlink(canary), 0);
    tree = tree_text(w->repo);
    repo = must_open(w, "repo");
    older = must_open_memory(w, repo);
    assert_worked(w, al_inmemory_merge(older, ours, theirs, &budget, &merged, &w->err));
    assert_true(merged.conflicted);
    assert_int_equal(merged.count, 1);
    after = tree_text(w->repo);
    assert_same_tree(tree, after);
    assert_int_equal(access(canary, F_OK), -1);
}

/* After a conflict the next merge begins anew, and after a clean one it goes on. */
static void merges_one_after_the_other(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = NULL;
    al_auto(memory_freep) struct al_inmemory *memory = NULL, *older = NULL;
    al_auto(al_freep) char *one = NULL, *two = NULL, *three = NULL, *first = NULL;

    git_fixture_commit(w->repo, "dir/.gitattributes", "list merge=union\n", "union");
    git_fixture_commit(w->repo, "dir/list", "a\n", "list");
    branch_with(w, "one", "main", "dir/list", "a\none\n");
    git_fixture_commit(w->repo, "a.txt", "changed by one\n", "one");
    branch_with(w, "two", "main", "dir/list", "a\ntwo\n");
    git_fixture_commit(w->repo, "dir/.gitattributes", "list merge=binary\n", "two");
    branch_with(w, "three", "main", "a.txt", "three\n");
    git_ok(w->repo, "rm", "-q", "dir/.gitattributes", NULL);
    git_ok(w->repo, "commit", "-qm", "three", NULL);
    repo = must_open(w, "repo");
    memory = must_open_memory(w, repo);
    older = must_open_memory(w, repo);
    one = id_of(w, "one");
    two = id_of(w, "two");
    three = id_of(w, "three");
    first = id_of(w, "main");
    for (int i = 0; i < 2; i++) {
        assert_false(assert_same(w, memory, older, one, two)); /* union */
        assert_true(assert_same(w, memory, older, two, one));  /* binary */
        assert_true(assert_same(w, memory, older, three, one));
        assert_true(assert_same(w, memory, older, three, two));
        assert_false(assert_same(w, memory, older, one, first)); /* nothing to merge */
        assert_false(assert_same(w, memory, older, first, one));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(random_histories_merge_alike),
        WORLD_TEST(merges_one_after_the_other),
        OLDER_WORLD_TEST(nothing_runs),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/inmemory/merge_worktree", tests, NULL, NULL);
}
