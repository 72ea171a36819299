// SPDX-License-Identifier: Apache-2.0
/* git/diff/patch_files.c: existing files are replaced where that is allowed; otherwise
 * everything stays as it was. */
#include "git/diff/patch_files.h"
#include "guard/root.h"
#include "tests/unit/git/diff/patch_files_lib.h"

static void refuses_an_existing_file_and_leaves_nothing(void **state)
{
    struct world *w = *state;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    make_changes(w);
    for (size_t i = 0; changed[i]; i++) {
        al_auto(al_freep) char *there = al_asprintf("out/%s", changed[i]);
        al_auto(al_freep) char *message = al_asprintf(
            "output_dir: '%s' exists already; remove it or choose another directory", changed[i]);
        al_auto(al_freep) char *kept = NULL;

        tmpdir_write(w->root, there, "mine\n");
        assert_false(write_out(w, &names));
        assert_string_equal(w->err.message, message);
        assert_int_equal(count_files(w), 1);
        kept = tmpdir_read(w->root, there);
        assert_string_equal(kept, "mine\n");
        assert_int_equal(unlinkat(w->root->fd, there, 0), 0);
    }
    assert_int_equal(names.count, 0);
    assert_true(write_out(w, &names));
}

/* Two files that have the names of patches, and the answer to whether they may be replaced. */
struct old_files {
    struct world *w;
    struct al_strv asked;
    void (*meanwhile)(struct world *w);
    int answer;
};

static int take_answer(void *payload, const struct al_strv *names, struct al_error *err)
{
    struct old_files *old = payload;

    for (size_t i = 0; i < names->count; i++)
        al_strv_add(&old->asked, names->items[i]);
    if (old->meanwhile)
        old->meanwhile(old->w);
    return old->answer ? al_error_set(err, (enum al_status)old->answer, "no") : 0;
}

static bool replaces(struct old_files *old, struct al_strv *names)
{
    const struct al_replacing replacing = { take_answer, old };

    tmpdir_write(old->w->root, "out/binary.patch", "old 1\n");
    tmpdir_write(old->w->root, "out/old-name.patch", "old 2\n");
    return write_over(old->w, &replacing, names);
}

static void assert_text(struct world *w, const char *path, const char *expected)
{
    al_auto(al_freep) char *text = tmpdir_read(w->root, path);

    assert_string_equal(text, expected);
}

static void assert_old_files(struct world *w, size_t count)
{
    assert_text(w, "out/binary.patch", "old 1\n");
    assert_text(w, "out/old-name.patch", "old 2\n");
    assert_int_equal(count_files(w), count);
}

static void replaces_files_that_may_go(void **state)
{
    struct world *w = *state;
    struct old_files old = { .w = w };
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    make_changes(w);
    tmpdir_write(w->root, "out/kept", "kept\n");
    assert_true(replaces(&old, &names));
    assert_names(&old.asked, (const char *[]){ "binary.patch", "old-name.patch", NULL });
    assert_names(&names, changed);
    assert_text(w, "out/kept", "kept\n");
    assert_int_equal(unlinkat(w->root->fd, "out/kept", 0), 0);
    assert_whole(w, &names);
    al_strv_clear(&old.asked);
}

static void keeps_files_that_may_not_go(void **state)
{
    struct world *w = *state;
    struct old_files old = { .w = w, .answer = AL_ERR_EXECUTION };
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    make_changes(w);
    assert_false(replaces(&old, &names));
    assert_string_equal(w->err.message, "no");
    assert_old_files(w, 2);
    al_strv_clear(&old.asked);
}

static void write_more(struct world *w)
{
    tmpdir_write(w->root, "out/old-name.patch", "another user's\n");
}

static void put_another(struct world *w)
{
    tmpdir_write(w->root, "out/another", "old 2\n");
    assert_int_equal(renameat(w->root->fd, "out/another", w->root->fd, "out/old-name.patch"), 0);
}

static void put_link(struct world *w)
{
    assert_int_equal(unlinkat(w->root->fd, "out/old-name.patch", 0), 0);
    tmpdir_symlink(w->root, "../precious", "out/old-name.patch");
}

static void take_away(struct world *w)
{
    assert_int_equal(unlinkat(w->root->fd, "out/old-name.patch", 0), 0);
}

static void put_new(struct world *w)
{
    tmpdir_write(w->root, "out/to-file.patch", "another user's\n");
}

static void put_directory(struct world *w)
{
    tmpdir_write(w->root, "out/to-file.patch/file", "another user's\n");
}

/* What another process does while the patches are written. Its file stays, and so do the others. */
static void keeps_all_when_one_changes(void **state)
{
    static const struct {
        void (*meanwhile)(struct world *w);
        const char *name, *text;
        size_t left;
    } cases[] = {
        { write_more, "out/old-name.patch", "another user's\n", 2 },
        { put_another, "out/old-name.patch", "old 2\n", 2 },
        { put_link, "precious", "precious\n", 2 },
        { take_away, NULL, NULL, 1 },
        { put_new, "out/to-file.patch", "another user's\n", 3 },
        { put_directory, "out/to-file.patch/file", "another user's\n", 3 },
    };
    struct world *w = *state;

    make_changes(w);
    tmpdir_write(w->root, "precious", "precious\n");
    for (size_t i = 0; i < AL_COUNT(cases); i++) {
        struct old_files old = { .w = w, .meanwhile = cases[i].meanwhile };
        al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
        al_auto(al_freep) char *out = tmpdir_path(w->root, "out");

        assert_false(replaces(&old, &names));
        assert_true(
            al_ends_with(w->err.message, "' changed while the patches were written; try again"));
        assert_text(w, "out/binary.patch", "old 1\n");
        if (cases[i].name)
            assert_text(w, cases[i].name, cases[i].text);
        assert_int_equal(count_files(w), cases[i].left);
        al_strv_clear(&old.asked);
        al_fs_remove_tree(out);
    }
}

static void put_fifo(struct world *w)
{
    assert_int_equal(mkfifoat(w->root->fd, "out/mode.patch", 0600), 0);
}

static void put_empty_directory(struct world *w)
{
    assert_int_equal(mkdirat(w->root->fd, "out/mode.patch", 0700), 0);
}

static void put_dangling_link(struct world *w)
{
    tmpdir_symlink(w->root, "nowhere", "out/mode.patch");
}

/* Entries that are not regular files are refused without asking. */
static void refuses_what_is_no_file(void **state)
{
    static void (*const cases[])(struct world * w) = { put_fifo, put_empty_directory,
                                                       put_dangling_link };
    struct world *w = *state;

    make_changes(w);
    for (size_t i = 0; i < AL_COUNT(cases); i++) {
        struct old_files old = { .w = w };
        al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
        al_auto(al_freep) char *out = tmpdir_path(w->root, "out");
        struct stat before, after;

        tmpdir_write(w->root, "out/binary.patch", "");
        cases[i](w);
        assert_int_equal(fstatat(w->root->fd, "out/mode.patch", &before, AT_SYMLINK_NOFOLLOW), 0);
        assert_false(replaces(&old, &names));
        assert_string_equal(w->err.message, "output_dir: 'mode.patch' exists and is no file; "
                                            "remove it or choose another directory");
        assert_int_equal(old.asked.count, 0);
        assert_int_equal(fstatat(w->root->fd, "out/mode.patch", &after, AT_SYMLINK_NOFOLLOW), 0);
        assert_int_equal(before.st_ino, after.st_ino);
        assert_old_files(w, 3);
        al_fs_remove_tree(out);
    }
}

static void leaves_a_file_that_has_a_temporary_name_alone(void **state)
{
    struct world *w = *state;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    const struct patch_writer next = patch_writer_init(-1);

    make_changes(w);
    for (unsigned ahead = 1; ahead <= 2; ahead++) {
        struct patch_writer other = { .serial = next.serial + ahead };
        al_auto(al_freep) char *taken = temporary(&other, ahead); /* the second, the third */
        al_auto(al_freep) char *there = al_asprintf("out/%s", taken);
        al_auto(al_freep) char *kept = NULL;

        tmpdir_write(w->root, there, "mine\n");
        assert_false(write_out(w, &names));
        assert_int_equal(count_files(w), 1);
        kept = tmpdir_read(w->root, there);
        assert_string_equal(kept, "mine\n");
        assert_int_equal(unlinkat(w->root->fd, there, 0), 0);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(refuses_an_existing_file_and_leaves_nothing),
        WORLD_TEST(replaces_files_that_may_go),
        WORLD_TEST(keeps_files_that_may_not_go),
        WORLD_TEST(keeps_all_when_one_changes),
        WORLD_TEST(refuses_what_is_no_file),
        WORLD_TEST(leaves_a_file_that_has_a_temporary_name_alone),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/patches_places", tests, NULL, NULL);
}
