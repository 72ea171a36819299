// SPDX-License-Identifier: Apache-2.0
/* verbs/sequencer/conflict.c: every kind of conflict is reported exactly, and within the limit. */
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

/* The conflicts and their views, with the repository they borrow from. */
struct seen {
    struct al_repo *repo;
    struct al_conflicts conflicts;
    struct al_conflict_views views;
};

static void seen_clear(struct seen *seen)
{
    al_conflict_views_clear(&seen->views);
    al_conflicts_clear(&seen->conflicts);
    al_repo_free(seen->repo);
}

static struct seen see(struct world *w, size_t max_bytes)
{
    struct seen seen = { .repo = must_open(w, "repo") };
    struct al_run_limits budget = long_budget();

    assert_int_equal(al_git_conflicts(seen.repo, &budget, &seen.conflicts, &w->err), 0);
    assert_int_equal(
        al_git_conflict_views(seen.repo, &seen.conflicts, max_bytes, &budget, &seen.views, &w->err),
        0);
    return seen;
}

static void assert_view(const struct al_conflict_view *view, const char *path, const char *ours,
                        const char *theirs, const char *markers)
{
    assert_string_equal(view->conflict->path, path);
    assert_int_equal(!view->ours, !ours);
    assert_int_equal(!view->theirs, !theirs);
    if (ours)
        assert_string_equal(view->ours, ours);
    if (theirs)
        assert_string_equal(view->theirs, theirs);
    assert_string_equal(view->markers, markers);
}

#define MARKERS "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> feature"

static void edit(struct world *w, bool theirs)
{
    tmpdir_write(w->repo, "a.txt", theirs ? "theirs\n" : "ours\n");
}

static void sees_nothing_where_nothing_is(void **state)
{
    al_auto(seen_clear) struct seen seen = see(*state, 1000);

    assert_int_equal(seen.views.count, 0);
    assert_false(seen.views.truncated);
}

static void sees_both_sides_whole(void **state)
{
    collide(*state, edit);
    al_auto(seen_clear) struct seen seen = see(*state, 1000);

    assert_int_equal(seen.views.count, 1);
    assert_false(seen.views.truncated);
    assert_view(&seen.views.items[0], "a.txt", "ours\n", "theirs\n", MARKERS);
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
    al_auto(seen_clear) struct seen seen = see(*state, 1000);

    assert_view(&seen.views.items[0], "n\xc3\xa9w file", "ours\n", "theirs\n", MARKERS);
    assert_null(seen.conflicts.items[0].sides[AL_STAGE_BASE].oid);
}

static void they_delete(struct world *w, bool theirs)
{
    if (theirs)
        git_ok(w->repo, "rm", "-q", "a.txt", NULL);
    else
        edit(w, false);
}

static void we_delete(struct world *w, bool theirs)
{
    if (theirs)
        edit(w, true);
    else
        git_ok(w->repo, "rm", "-q", "a.txt", NULL);
}

static void a_deleted_side_is_absent(void **state)
{
    struct world *w = *state;

    collide(w, they_delete);
    al_auto(seen_clear) struct seen they = see(w, 1000);
    assert_view(&they.views.items[0], "a.txt", "ours\n", NULL, "");
    git_ok(w->repo, "reset", "-q", "--hard", "HEAD~1", NULL);
    git_ok(w->repo, "branch", "-q", "-D", "feature", NULL);
    collide(w, we_delete);
    al_auto(seen_clear) struct seen we = see(w, 1000);
    assert_view(&we.views.items[0], "a.txt", NULL, "theirs\n", "");
}

static void rename_it(struct world *w, bool theirs)
{
    git_ok(w->repo, "mv", "a.txt", theirs ? "theirs.txt" : "ours.txt", NULL);
}

static void sees_all_names_of_two_renames(void **state)
{
    collide(*state, rename_it);
    al_auto(seen_clear) struct seen seen = see(*state, 1000);

    assert_int_equal(seen.views.count, 3);
    assert_view(&seen.views.items[0], "a.txt", NULL, NULL, "");
    assert_view(&seen.views.items[1], "ours.txt", "one\n", NULL, "");
    assert_view(&seen.views.items[2], "theirs.txt", NULL, "one\n", "");
}

static void make_binary(struct world *w, bool theirs)
{
    tmpdir_write_bytes(w->repo, "a.txt", theirs ? "\0t" : "\0o", 2);
    tmpdir_write_bytes(w->repo, "half.txt", theirs ? "\xff\n" : "ours\n", theirs ? 2 : 5);
}

static void binary_sides_are_absent_together(void **state)
{
    collide(*state, make_binary);
    al_auto(seen_clear) struct seen seen = see(*state, 1000);

    assert_int_equal(seen.views.count, 2);
    assert_view(&seen.views.items[0], "a.txt", NULL, NULL, "");
    assert_view(&seen.views.items[1], "half.txt", NULL, NULL, "");
    assert_false(seen.views.truncated);
}

static void make_link(struct world *w, bool theirs)
{
    tmpdir_symlink(w->repo, theirs ? "to-theirs" : "to-ours", "link");
}

static void a_link_is_its_target(void **state)
{
    collide(*state, make_link);
    al_auto(seen_clear) struct seen seen = see(*state, 1000);

    assert_view(&seen.views.items[0], "link", "to-ours", "to-theirs", "");
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
    al_auto(seen_clear) struct seen seen = see(w, 1000);
    assert_view(&seen.views.items[0], "sub", NULL, NULL, "");
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
    al_auto(seen_clear) struct seen seen = see(w, 1000);
    assert_view(&seen.views.items[0], "new.sh", "same\n", "same\n", "");
    assert_int_equal(seen.conflicts.items[0].sides[AL_STAGE_THEIRS].mode, 0100755);
}

static void sees_the_conflict_of_a_rebase(void **state)
{
    struct world *w = *state;

    git_ok(w->repo, "checkout", "-q", "-b", "feature", NULL);
    git_fixture_commit(w->repo, "a.txt", "theirs\n", "theirs");
    git_ok(w->repo, "checkout", "-q", "main", NULL);
    git_fixture_commit(w->repo, "a.txt", "ours\n", "ours");
    assert_int_equal(git_status_of(w->repo, "rebase", "-q", "feature", NULL), 1);
    al_auto(seen_clear) struct seen seen = see(w, 1000);
    /* as in git, "ours" is the commit that is rebased onto */
    assert_int_equal(seen.views.count, 1);
    assert_string_equal(seen.views.items[0].ours, "theirs\n");
    assert_string_equal(seen.views.items[0].theirs, "ours\n");
}

static void markers_are_as_long_as_the_attribute_says(void **state)
{
    struct world *w = *state;

    tmpdir_write(w->repo, ".git/info/attributes", "*.txt conflict-marker-size=3\n");
    collide(w, edit);
    al_auto(seen_clear) struct seen seen = see(w, 1000);
    assert_string_equal(seen.views.items[0].markers, "<<< HEAD\nours\n===\ntheirs\n>>> feature");
}

static void markers_come_from_no_link(void **state)
{
    struct world *w = *state;

    collide(w, edit);
    tmpdir_write(w->outside, "secret", MARKERS);
    {
        al_auto(al_freep) char *path = tmpdir_path(w->repo, "a.txt");
        al_auto(al_freep) char *secret = tmpdir_path(w->outside, "secret");

        assert_int_equal(unlink(path), 0);
        tmpdir_symlink(w->repo, secret, "a.txt");
    }
    al_auto(seen_clear) struct seen seen = see(w, 1000);
    assert_view(&seen.views.items[0], "a.txt", "ours\n", "theirs\n", "");
}

static void what_does_not_fit_is_absent(void **state)
{
    const size_t path = strlen("a.txt"), markers = strlen(MARKERS),
                 sides = strlen("ours\ntheirs\n");
    const struct {
        size_t max_bytes;
        bool path, markers, sides;
    } cases[] = {
        { path - 1, false, false, false },
        { path, true, false, false },
        { path + markers - 1, true, false, true },
        { path + markers, true, true, false },
        { path + markers + sides - 1, true, true, false },
        { path + markers + sides, true, true, true },
        { path + markers + sides + 1, true, true, true },
    };
    struct world *w = *state;

    collide(w, edit);
    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(seen_clear) struct seen seen = see(w, cases[i].max_bytes);

        assert_int_equal(seen.views.count, cases[i].path);
        assert_int_equal(seen.views.truncated, !cases[i].markers || !cases[i].sides);
        if (cases[i].path)
            assert_view(&seen.views.items[0], "a.txt", cases[i].sides ? "ours\n" : NULL,
                        cases[i].sides ? "theirs\n" : NULL, cases[i].markers ? MARKERS : "");
    }
}

static void refuses_while_there_are_conflicts(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    struct al_run_limits budget = long_budget();

    assert_int_equal(al_git_check_no_conflicts(repo, &budget, &w->err), 0);
    collide(w, edit);
    assert_int_equal(al_git_check_no_conflicts(repo, &budget, &w->err), AL_ERR_EXECUTION);
    assert_int_equal(w->err.code, AL_CODE_CONFLICT);
    assert_string_equal(w->err.message,
                        "There are unresolved conflicts in a.txt; resolve them first");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(sees_nothing_where_nothing_is),
        WORLD_TEST(sees_both_sides_whole),
        WORLD_TEST(sees_files_both_added),
        WORLD_TEST(a_deleted_side_is_absent),
        WORLD_TEST(sees_all_names_of_two_renames),
        WORLD_TEST(binary_sides_are_absent_together),
        WORLD_TEST(a_link_is_its_target),
        WORLD_TEST(a_submodule_has_no_content),
        WORLD_TEST(sees_a_conflict_of_modes),
        WORLD_TEST(sees_the_conflict_of_a_rebase),
        WORLD_TEST(markers_are_as_long_as_the_attribute_says),
        WORLD_TEST(markers_come_from_no_link),
        WORLD_TEST(what_does_not_fit_is_absent),
        WORLD_TEST(refuses_while_there_are_conflicts),
    };

    gitops_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
