// SPDX-License-Identifier: Apache-2.0
/* verbs/sequencer/conflict.c: the sides of every kind of conflict. */
#include "git/command.h"
#include "git/repo/repo.h"
#include "tests/unit/git/lib.h"
#include "verbs/sequencer/conflict.h"

/* A change that main and feature each make before one is merged into the other. */
typedef void (*change_fn)(struct world *w, bool theirs);

static void commit_all(struct world *w)
{
    git_ok(w->repo, "add", "-A", NULL);
    git_ok(w->repo, "commit", "-q", "-m", "change", NULL);
}

static void collide(struct world *w, change_fn change)
{
    git_ok(w->repo, "checkout", "-q", "-b", "feature", NULL);
    change(w, true);
    commit_all(w);
    git_ok(w->repo, "checkout", "-q", "main", NULL);
    change(w, false);
    commit_all(w);
    assert_int_equal(git_status_of(w->repo, "merge", "-q", "feature", NULL), 1);
}

/* The conflicts, with the repository they are in. */
struct seen {
    struct al_repo *repo;
    struct al_conflicts conflicts;
};

static void seen_clear(struct seen *seen)
{
    al_conflicts_clear(&seen->conflicts);
    al_repo_free(seen->repo);
}

static struct seen see(struct world *w)
{
    struct seen seen = { .repo = must_open(w, "repo") };

    assert_int_equal(al_git_conflicts(seen.repo, &seen.conflicts, &w->err), 0);
    return seen;
}

static void edit(struct world *w, bool theirs)
{
    tmpdir_write(w->repo, "a.txt", theirs ? "theirs\n" : "ours\n");
}

static void sees_both_sides_whole(void **state)
{
    collide(*state, edit);
    al_auto(seen_clear) struct seen seen = see(*state);

    assert_int_equal(seen.conflicts.count, 1);
    assert_string_equal(seen.conflicts.items[0].path, "a.txt");
    assert_int_equal(seen.conflicts.items[0].sides[AL_STAGE_OURS].mode, 0100644);
    assert_non_null(seen.conflicts.items[0].sides[AL_STAGE_BASE].oid);
    assert_non_null(al_conflicts_find(&seen.conflicts, "a.txt"));
    assert_null(al_conflicts_find(&seen.conflicts, "a.tx"));
}

static void add_one(struct world *w, bool theirs)
{
    tmpdir_write(w->repo, "n\xc3\xa9w file", theirs ? "theirs\n" : "ours\n");
}

static void sees_files_both_added(void **state)
{
    collide(*state, add_one);
    al_auto(seen_clear) struct seen seen = see(*state);

    assert_string_equal(seen.conflicts.items[0].path, "n\xc3\xa9w file");
    assert_null(seen.conflicts.items[0].sides[AL_STAGE_BASE].oid);
}

static void rename_it(struct world *w, bool theirs)
{
    git_ok(w->repo, "mv", "a.txt", theirs ? "theirs.txt" : "ours.txt", NULL);
}

static void sees_all_names_of_two_renames(void **state)
{
    collide(*state, rename_it);
    al_auto(seen_clear) struct seen seen = see(*state);

    assert_int_equal(seen.conflicts.count, 3);
    assert_string_equal(seen.conflicts.items[0].path, "a.txt");
    assert_string_equal(seen.conflicts.items[1].path, "ours.txt");
    assert_string_equal(seen.conflicts.items[2].path, "theirs.txt");
}

static void make_link(struct world *w, bool theirs)
{
    tmpdir_symlink(w->repo, theirs ? "to-theirs" : "to-ours", "link");
}

static void a_link_is_its_target(void **state)
{
    collide(*state, make_link);
    al_auto(seen_clear) struct seen seen = see(*state);

    assert_string_equal(seen.conflicts.items[0].path, "link");
    assert_int_equal(seen.conflicts.items[0].sides[AL_STAGE_OURS].mode, 0120000);
}

static void set_submodule(struct world *w, bool theirs)
{
    static const char *const commits[] = { "1111111111111111111111111111111111111111",
                                           "2222222222222222222222222222222222222222" };
    al_auto(al_freep) char *info = al_asprintf("160000,%s,sub", commits[theirs]);

    git_ok(w->repo, "update-index", "--add", "--cacheinfo", info, NULL);
    tmpdir_mkdir(w->repo, "sub");
}

static void a_submodule_has_no_content(void **state)
{
    struct world *w = *state;

    git_ok(w->repo, "checkout", "-q", "-b", "feature", NULL);
    set_submodule(w, true);
    git_ok(w->repo, "commit", "-q", "-m", "theirs", NULL);
    git_ok(w->repo, "checkout", "-q", "main", NULL);
    set_submodule(w, false);
    git_ok(w->repo, "commit", "-q", "-m", "ours", NULL);
    assert_int_equal(git_status_of(w->repo, "merge", "-q", "feature", NULL), 1);
    al_auto(seen_clear) struct seen seen = see(w);
    assert_string_equal(seen.conflicts.items[0].path, "sub");
    assert_int_equal(seen.conflicts.items[0].sides[AL_STAGE_THEIRS].mode, 0160000);
}

static void change_mode(struct world *w, bool theirs)
{
    tmpdir_write(w->repo, "new.sh", "same\n");
    git_ok(w->repo, "add", "new.sh", NULL);
    if (theirs)
        git_ok(w->repo, "update-index", "--chmod=+x", "new.sh", NULL);
}

static void sees_a_conflict_of_modes(void **state)
{
    struct world *w = *state;

    git_ok(w->repo, "config", "core.fileMode", "false", NULL);
    collide(w, change_mode);
    al_auto(seen_clear) struct seen seen = see(w);
    assert_string_equal(seen.conflicts.items[0].path, "new.sh");
    assert_int_equal(seen.conflicts.items[0].sides[AL_STAGE_THEIRS].mode, 0100755);
}

static void refuses_while_there_are_conflicts(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");

    assert_int_equal(al_git_check_no_conflicts(repo, &w->err), 0);
    collide(w, edit);
    assert_int_equal(al_git_check_no_conflicts(repo, &w->err), AL_ERR_EXECUTION);
    assert_int_equal(w->err.code, AL_CODE_CONFLICT);
    assert_string_equal(w->err.message,
                        "There are unresolved conflicts in a.txt; resolve them first");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(sees_both_sides_whole),
        WORLD_TEST(sees_files_both_added),
        WORLD_TEST(sees_all_names_of_two_renames),
        WORLD_TEST(a_link_is_its_target),
        WORLD_TEST(a_submodule_has_no_content),
        WORLD_TEST(sees_a_conflict_of_modes),
        WORLD_TEST(refuses_while_there_are_conflicts),
    };

    gitops_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
