// SPDX-License-Identifier: Apache-2.0
/* history/checkpoint.h: a checkpoint has every change since the one before, and the comparison
 * lists it. */
#include "tests/unit/history/checkpoint_lib.h"

static void sees_every_change(void **state)
{
    struct saver *s = *state;
    char text[] = "same size 0\n";

    for (char c = '0'; c <= '9'; c++) { /* faster than file times tick */
        text[10] = c;
        tmpdir_write(s->w->repo, "a.txt", text);
        take(s, NULL);
        assert_content(s, "worktree/a.txt", text);
    }
}

static void sees_a_change_that_hides_its_time(void **state)
{
    struct saver *s = *state;
    struct timespec past[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };

    tmpdir_write(s->w->repo, "a.txt", "AAAA\n");
    assert_int_equal(utimensat(s->w->repo->fd, "a.txt", past, 0), 0);
    take(s, NULL);
    wait_for_a_second();
    tmpdir_write(s->w->repo, "a.txt", "BBBB\n");
    assert_int_equal(utimensat(s->w->repo->fd, "a.txt", past, 0), 0);
    take(s, NULL);
    assert_content(s, "worktree/a.txt", "BBBB\n");
}

static void sees_changes_among_many_files(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *files = NULL;

    for (int i = 0; i < 1200; i++) {
        al_auto(al_freep) char *name = al_asprintf("many%d/%d", i % 5, i);

        tmpdir_write(s->w->repo, name, "same\n");
    }
    take(s, NULL);
    tmpdir_write(s->w->repo, "many1/1", "diff\n");
    assert_int_equal(unlinkat(s->w->repo->fd, "many2/2", 0), 0);
    assert_int_equal(renameat(s->w->repo->fd, "many3", s->w->root->fd, "moved"), 0);
    tmpdir_symlink(s->w->repo, "../moved", "many3");
    tmpdir_write(s->w->repo, "many4/new", "new\n");
    take(s, NULL);
    files = files_of(s);
    assert_content(s, "worktree/many1/1", "diff\n");
    assert_content(s, "worktree/many4/new", "new\n");
    assert_null(strstr(files, " many2/2\n"));
    assert_non_null(strstr(files, "120000 many3\n"));
    assert_null(strstr(files, " many3/"));
    assert_non_null(strstr(files, " many0/1195\n"));
}

static void shares_the_tree_when_nothing_changed(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *first = NULL;
    al_auto(al_freep) char *second = NULL;
    al_auto(al_freep) char *parent = NULL;
    char before[AL_OID_TEXT], found[AL_OID_TEXT], name[AL_OID_TEXT + 16];

    take(s, NULL);
    memcpy(before, s->id, sizeof(before));
    (void)snprintf(name, sizeof(name), "%s^{tree}", s->id);
    first = store_git(s, "rev-parse", name);
    assert_int_equal(al_checkpoint_find_after(s->store, before, found, NULL), AL_ERR_NOT_FOUND);
    take(s, before);
    (void)snprintf(name, sizeof(name), "%s^{tree}", s->id);
    second = store_git(s, "rev-parse", name);
    assert_string_equal(first, second);
    assert_string_not_equal(before, s->id);
    (void)snprintf(name, sizeof(name), "%s^", s->id);
    parent = store_git(s, "rev-parse", name);
    parent[strcspn(parent, "\n")] = '\0';
    assert_string_equal(parent, before);
    assert_int_equal(al_checkpoint_find_after(s->store, before, found, NULL), 0);
    assert_string_equal(found, s->id);
    assert_true(al_checkpoint_exists(s->store, before));
    assert_false(al_checkpoint_exists(s->store, "0123456789012345678901234567890123456789"));
    assert_false(al_checkpoint_exists(s->store, "../../HEAD"));
}

/* The part and name of each difference, one a line. */
static char *changes_between(struct saver *s, const char *from, const char *to)
{
    static const char *const parts[] = { "worktree", "index", "head", "ref", "stash", "state" };
    struct al_differences changes = { .items = NULL };
    struct al_str text = AL_STR_INIT;

    assert_int_equal(al_checkpoint_changes_of(s->store, from, to, &changes, &s->w->err), 0);
    for (size_t i = 0; i < changes.count; i++)
        al_str_addf(&text, "%s %s%s%s\n", parts[changes.items[i].part], changes.items[i].name,
                    changes.items[i].from ? "" : " +", changes.items[i].to ? "" : " -");
    al_differences_clear(&changes);
    return al_str_detach(&text);
}

static void tells_what_differs(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *all = NULL;
    al_auto(al_freep) char *none = NULL;
    char from[AL_OID_TEXT], same[AL_OID_TEXT];

    tmpdir_write(s->w->repo, "gone.txt", "gone\n");
    take(s, NULL);
    memcpy(from, s->id, sizeof(from));
    /* Packing references and refreshing the index are no changes. */
    git_ok(s->w->repo, "pack-refs", "--all", NULL);
    tmpdir_write(s->w->repo, "a.txt", "one\n");
    git_ok(s->w->repo, "update-index", "--really-refresh", NULL);
    take(s, NULL);
    memcpy(same, s->id, sizeof(same));
    none = changes_between(s, from, same);
    assert_string_equal(none, "");
    assert_int_equal(unlinkat(s->w->repo->fd, "gone.txt", 0), 0);
    wait_for_a_second();
    assert_int_equal(fchmodat(s->w->repo->fd, "a.txt", 0600, 0), 0);
    tmpdir_write(s->w->repo, "new.txt", "new\n");
    git_ok(s->w->repo, "add", "new.txt", NULL);
    git_ok(s->w->repo, "switch", "-q", "-c", "side", NULL);
    take(s, NULL);
    all = changes_between(s, same, s->id);
    assert_string_equal(all, "worktree a.txt\nworktree gone.txt -\nworktree new.txt +\n"
                             "index index\nhead HEAD\nref refs/heads/side +\n");
}

/* "<octal> <octal> <path>" LF for each file that differs.  Caller frees. */
static char *modes_between(struct saver *s, const char *from, const char *to)
{
    al_auto(al_differences_clear) struct al_differences changes = { .items = NULL };
    struct al_str text = AL_STR_INIT;

    assert_int_equal(al_checkpoint_changes_of(s->store, from, to, &changes, &s->w->err), 0);
    for (size_t i = 0; i < changes.count; i++)
        if (changes.items[i].part == AL_PART_WORKTREE)
            al_str_addf(&text, "%o %o %s\n", changes.items[i].from_mode, changes.items[i].to_mode,
                        changes.items[i].name);
    return al_str_detach(&text);
}

/* Permissions that are the same in both, and of which git's trees have no more than the x. */
static void tells_the_permissions_of_what_differs(void **state)
{
    static const char *const names[] = { "dir/a", "dir-b", "dir.c", "dir0", "o" };
    struct saver *s = *state;
    al_auto(al_freep) char *said = NULL;
    al_auto(al_freep) char *changed = NULL;
    char from[AL_OID_TEXT], middle[AL_OID_TEXT];

    for (size_t i = 0; i < COUNT(names); i++) {
        tmpdir_write(s->w->repo, names[i], "same\n");
        assert_int_equal(fchmodat(s->w->repo->fd, names[i], i % 2 ? 0640 : 0750, 0), 0);
    }
    take(s, NULL);
    memcpy(from, s->id, sizeof(from));
    for (size_t i = 0; i < COUNT(names); i += 2)
        tmpdir_write(s->w->repo, names[i], "changed\n");
    tmpdir_symlink(s->w->repo, "a.txt", "link");
    tmpdir_write(s->w->repo, "new.txt", "new\n");
    assert_int_equal(unlinkat(s->w->repo->fd, "a.txt", 0), 0);
    take(s, NULL);
    memcpy(middle, s->id, sizeof(middle));
    said = modes_between(s, from, middle);
    assert_string_equal(said, "100644 0 a.txt\n100750 100750 dir.c\n100750 100750 dir/a\n"
                              "0 120000 link\n0 100644 new.txt\n100750 100750 o\n");
    wait_for_a_second();
    assert_int_equal(fchmodat(s->w->repo->fd, "dir0", 0600, 0), 0); /* nothing else differs */
    take(s, NULL);
    changed = modes_between(s, middle, s->id);
    assert_string_equal(changed, "100640 100600 dir0\n");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SAVER_TEST(sees_every_change),
        SAVER_TEST(sees_a_change_that_hides_its_time),
        SAVER_TEST(sees_changes_among_many_files),
        SAVER_TEST(shares_the_tree_when_nothing_changed),
        SAVER_TEST(tells_what_differs),
        SAVER_TEST(tells_the_permissions_of_what_differs),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("checkpoint/changes", tests, NULL, NULL);
}
