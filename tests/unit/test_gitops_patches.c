// SPDX-License-Identifier: Apache-2.0
/*
 * gitops/verbs.h, patch files: together they are git's own diff, and all of them are there or none.
 *
 * The source is included, not linked: its sink is fed by hand below.
 */
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "gitops/patches.c"
#include "test_gitops_lib.h"

/* Patches of HEAD~1..HEAD into <root>/out: the names, or NULL and w->err. */
static bool write_over(struct world *w, const struct al_replacing *replacing, struct al_strv *names)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(subdir_closep) struct tmpdir *out = subdir_open(w->root, "out");
    const struct al_diff_options options = { .unified = -1,
                                             .from_ref = "HEAD~1",
                                             .to_ref = "HEAD" };
    struct al_budget budget = long_budget();

    al_error_clear(&w->err);
    return al_git_write_patches(repo, &options, out->fd, replacing, &budget, names, &w->err) == 0;
}

static bool write_out(struct world *w, struct al_strv *names)
{
    return write_over(w, NULL, names);
}

static size_t count_files(struct world *w)
{
    al_auto(al_freep) char *path = tmpdir_path(w->root, "out");
    DIR *dir = opendir(path);
    const struct dirent *entry;
    size_t count = 0;

    assert_non_null(dir);
    while ((entry = readdir(dir)))
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(dir);
    return count;
}

/* What git says for the same two commits, byte for byte. */
static void read_diff(struct world *w, const char *options, struct al_str *ret_diff)
{
    al_auto(al_freep) char *alias =
        al_asprintf("alias.whole=!git diff %s --no-renames HEAD~1 HEAD >../expected", options);

    git_ok(w->repo, "-c", alias, "whole", NULL);
    assert_int_equal(al_fs_read(w->root->fd, "expected", 64u << 20, ret_diff), 0);
}

/* The patch files, one after the other, are that diff. */
static void assert_equals(struct world *w, const struct al_strv *names,
                          const struct al_str *expected)
{
    al_auto(al_str_clear) struct al_str whole = AL_STR_INIT;
    al_auto(subdir_closep) struct tmpdir *out = subdir_open(w->root, "out");

    for (size_t i = 0; i < names->count; i++) {
        al_auto(al_str_clear) struct al_str patch = AL_STR_INIT;

        assert_int_equal(al_fs_read(out->fd, names->items[i], 64u << 20, &patch), 0);
        assert_true(al_starts_with(patch.buf, "diff --git "));
        al_str_add(&whole, patch.buf, patch.len);
    }
    assert_int_equal(whole.len, expected->len);
    assert_memory_equal(whole.buf, expected->buf, whole.len);
    assert_int_equal(count_files(w), names->count);
}

static void assert_whole(struct world *w, const struct al_strv *names)
{
    al_auto(al_str_clear) struct al_str expected = AL_STR_INIT;

    read_diff(w, "", &expected);
    assert_equals(w, names, &expected);
}

static void commit_all(struct world *w, const char *message)
{
    git_ok(w->repo, "add", "-A", NULL);
    git_ok(w->repo, "commit", "-q", "-m", message, NULL);
}

static void assert_names(const struct al_strv *names, const char *const *expected)
{
    for (size_t i = 0; i < names->count; i++) {
        assert_non_null(expected[i]);
        assert_string_equal(names->items[i], expected[i]);
    }
    assert_null(expected[names->count]);
}

static void remove_file(struct world *w, const char *name)
{
    assert_int_equal(unlinkat(w->repo->fd, name, 0), 0);
}

/* One commit with every kind of change git knows, from one with every kind of file. */
static void make_changes(struct world *w)
{
    tmpdir_write(w->repo, "deleted", "gone\n");
    tmpdir_write(w->repo, "mode", "x\n");
    tmpdir_write(w->repo, "old-name", "many\nlines\nthat\nmove\n");
    tmpdir_write(w->repo, "to-link", "a file\n");
    tmpdir_symlink(w->repo, "a.txt", "to-file");
    tmpdir_write_bytes(w->repo, "binary", "\0\1\2", 3);
    tmpdir_write(w->repo, "headers", "before\n");
    tmpdir_write(w->repo, "no-newline", "x");
    commit_all(w, "before");
    remove_file(w, "deleted");
    assert_int_equal(fchmodat(w->repo->fd, "mode", 0755, 0), 0);
    assert_int_equal(renameat(w->repo->fd, "old-name", w->repo->fd, "renamed"), 0);
    remove_file(w, "to-link");
    tmpdir_symlink(w->repo, "a.txt", "to-link");
    remove_file(w, "to-file");
    tmpdir_write(w->repo, "to-file", "diff --git a/x b/x\n");
    tmpdir_write_bytes(w->repo, "binary", "\0\3diff --git \n", 15);
    tmpdir_write(w->repo, "headers", "diff --git a b\n before\n+diff --git a b\n\ndiff --git ");
    tmpdir_write(w->repo, "no-newline", "diff --git ");
    tmpdir_write(w->repo, "added/deep", "new\n");
    tmpdir_write(w->repo, "empty", "");
    commit_all(w, "after");
}

static const char *const changed[] = {
    "added__deep.patch", "binary.patch",  "deleted.patch",    "empty.patch",
    "headers.patch",     "mode.patch",    "no-newline.patch", "old-name.patch",
    "renamed.patch",     "to-file.patch", "to-link.patch",    NULL,
};

static void writes_every_kind_of_change(void **state)
{
    struct world *w = *state;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    make_changes(w);
    assert_true(write_out(w, &names));
    assert_names(&names, changed);
    assert_whole(w, &names);
}

static void writes_nothing_for_no_change(void **state)
{
    struct world *w = *state;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    git_ok(w->repo, "commit", "-q", "--allow-empty", "-m", "nothing", NULL);
    assert_true(write_out(w, &names));
    assert_int_equal(names.count, 0);
    assert_int_equal(count_files(w), 0);
}

static void tells_colliding_names_apart(void **state)
{
    struct world *w = *state;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    tmpdir_write(w->repo, "a/b", "1\n");
    tmpdir_write(w->repo, "a__b", "2\n");
    tmpdir_write(w->repo, "a__b-2", "3\n");
    tmpdir_write(w->repo, "c\nd", "4\n");
    tmpdir_write(w->repo, "c\td", "5\n");
    tmpdir_write(w->repo, "e\xff", "6\n");
    tmpdir_write(w->repo, "\xc3\xa9 f", "7\n");
    commit_all(w, "all");
    assert_true(write_out(w, &names));
    assert_names(&names,
                 (const char *[]){ "a__b.patch", "a__b-2.patch", "a__b-2-2.patch", "c_d.patch",
                                   "c_d-2.patch", "e_.patch", "\xc3\xa9 f.patch", NULL });
    assert_whole(w, &names);
}

/* Whether a change of one file with a name of so many bytes can be written. */
static bool writes_name_of(struct world *w, size_t len)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    al_auto(al_freep) char *name = al_malloc(len + 1);
    al_auto(al_freep) char *out = tmpdir_path(w->root, "out");
    bool written;

    memset(name, 'n', len);
    name[len] = '\0';
    git_fixture_commit(w->repo, name, "x\n", "long");
    written = write_out(w, &names);
    assert_int_equal(count_files(w), written);
    al_fs_remove_tree(out);
    return written;
}

static void refuses_a_name_that_is_too_long(void **state)
{
    struct world *w = *state;

    assert_true(writes_name_of(w, 255 - strlen(".patch") - 1));
    assert_true(writes_name_of(w, 255 - strlen(".patch")));
    assert_false(writes_name_of(w, 255 - strlen(".patch") + 1));
    assert_non_null(strstr(w->err.message, "too long"));
}

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

/* Files in the place of two patches, and what is said when they are to be replaced. */
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
    tmpdir_write(w->root, "out/old-name.patch", "somebody else's\n");
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
    tmpdir_write(w->root, "out/to-file.patch", "somebody else's\n");
}

static void put_directory(struct world *w)
{
    tmpdir_write(w->root, "out/to-file.patch/file", "somebody else's\n");
}

/* What somebody does while the patches are written: their file stays, and the others as well. */
static void keeps_all_when_one_changes(void **state)
{
    static const struct {
        void (*meanwhile)(struct world *w);
        const char *name, *text;
        size_t left;
    } cases[] = {
        { write_more, "out/old-name.patch", "somebody else's\n", 2 },
        { put_another, "out/old-name.patch", "old 2\n", 2 },
        { put_link, "precious", "precious\n", 2 },
        { take_away, NULL, NULL, 1 },
        { put_new, "out/to-file.patch", "somebody else's\n", 3 },
        { put_directory, "out/to-file.patch/file", "somebody else's\n", 3 },
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

/* Whoever says yes to everything is not asked about what is no file. */
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
    const struct writing next = begin_writing(-1);

    make_changes(w);
    for (unsigned ahead = 1; ahead <= 2; ahead++) {
        struct writing other = { .serial = next.serial + ahead };
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

static void leaves_nothing_when_git_fails(void **state)
{
    struct world *w = *state;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    al_auto(al_freep) char *blob = NULL, *object = NULL;

    make_changes(w);
    blob = git_output(w->repo, "rev-parse", "HEAD:no-newline", NULL);
    object = al_asprintf(".git/objects/%.2s/%.38s", blob, blob + 2);
    assert_int_equal(unlinkat(w->repo->fd, object, 0), 0);
    assert_false(write_out(w, &names)); /* after several patches were written */
    assert_int_equal(w->err.status, AL_ERR_EXECUTION);
    assert_int_equal(count_files(w), 0);
}

/* As on a full disk: no file may become larger than this. */
static int write_with_limit(struct world *w, rlim_t max_bytes)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    struct rlimit limit;

    (void)signal(SIGXFSZ, SIG_IGN);
    if (getrlimit(RLIMIT_FSIZE, &limit) < 0)
        return 100;
    limit.rlim_cur = max_bytes;
    if (setrlimit(RLIMIT_FSIZE, &limit) < 0)
        return 101;
    return write_out(w, &names) ? 0 : -w->err.status;
}

static void leaves_nothing_when_the_disk_is_full(void **state)
{
    struct world *w = *state;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int status;
    pid_t pid;

    tmpdir_write(w->repo, "aa", "small\n");
    for (int i = 0; i < 20000; i++)
        al_str_addf(&text, "line %d\n", i);
    tmpdir_write(w->repo, "large", text.buf);
    commit_all(w, "large");
    pid = fork();
    if (pid == 0)
        _exit(write_with_limit(w, 20000));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), -AL_ERR_EXECUTION);
    assert_int_equal(count_files(w), 0);
}

/* Small patches without end: their headers fall on every place of git's writes and our reads. */
static void finds_the_headers_in_much_output(void **state)
{
    struct world *w = *state;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    for (int i = 0; i < 1500; i++) {
        al_auto(al_freep) char *name = al_asprintf("many/%d", i);
        al_auto(al_freep) char *text = al_asprintf("%.*s\n", i % 41, changed[i % 5]);

        tmpdir_write(w->repo, name, text);
    }
    commit_all(w, "many");
    assert_true(write_out(w, &names));
    assert_int_equal(names.count, 1500);
    assert_whole(w, &names);
}

/* Feeds the stream in two pieces; the names and how many patches began. */
static void feed_split(struct world *w, const struct al_str *stream, size_t split,
                       const struct al_str *expected)
{
    al_auto(subdir_closep) struct tmpdir *out = subdir_open(w->root, "out");
    al_auto(al_freep) char *path = tmpdir_path(w->root, "out");
    const struct al_git_output output = { .exit_code = 0 };
    struct writing writing = begin_writing(out->fd);
    al_auto(al_splitter_clear) struct al_splitter splitter =
        AL_SPLITTER_INIT(begin_patch, write_piece, &writing);

    assert_true(al_splitter_add(&splitter, stream->buf, split));
    assert_true(al_splitter_add(&splitter, stream->buf + split, stream->len - split));
    assert_int_equal(finish(&writing, &splitter, &output, NULL, NULL), 0);
    al_closep(&writing.fd);
    free(writing.old);
    assert_names(&splitter.names, changed);
    assert_equals(w, &splitter.names, expected);
    al_fs_remove_tree(path);
}

static void reads_the_same_patches_at_every_split_point(void **state)
{
    struct world *w = *state;
    al_auto(al_str_clear) struct al_str stream = AL_STR_INIT, expected = AL_STR_INIT;

    make_changes(w);
    read_diff(w, "--raw -p -z", &stream);
    read_diff(w, "", &expected);
    for (size_t split = 0; split <= stream.len; split++)
        feed_split(w, &stream, split, &expected);
}

/* How a made-up stream ends: what finish() says, with nothing left behind unless it is 0. */
static int end_of(struct world *w, const char *stream, size_t len)
{
    al_auto(subdir_closep) struct tmpdir *out = subdir_open(w->root, "out");
    const struct al_git_output output = { .exit_code = 0 };
    struct writing writing = begin_writing(out->fd);
    al_auto(al_splitter_clear) struct al_splitter splitter =
        AL_SPLITTER_INIT(begin_patch, write_piece, &writing);
    int r;

    (void)al_splitter_add(&splitter, stream, len);
    r = finish(&writing, &splitter, &output, NULL, NULL);
    al_closep(&writing.fd);
    free(writing.old);
    writing.old = NULL;
    if (r < 0) {
        remove_temporaries(&writing);
        assert_int_equal(count_files(w), 0);
    }
    return r;
}

#define RECORD ":100644 100644 1 2 M\0a\0"

static void refuses_more_or_fewer_patches_than_were_listed(void **state)
{
    struct world *w = *state;
    static const char fewer[] = RECORD ":100644 100644 1 2 M\0b\0\0diff --git a/a b/a\n";
    static const char none[] = RECORD "\0";
    static const char more[] = RECORD "\0diff --git a/a b/a\n+1\ndiff --git a/b b/b\n+2\n";
    static const char right[] = RECORD "\0diff --git a/a b/a\n+1\n+diff --git a/b b/b\n";

    assert_int_equal(end_of(w, fewer, sizeof(fewer) - 1), AL_ERR_EXECUTION);
    assert_int_equal(end_of(w, none, sizeof(none) - 1), AL_ERR_EXECUTION);
    assert_int_equal(end_of(w, more, sizeof(more) - 1), AL_ERR_EXECUTION);
    assert_int_equal(end_of(w, right, sizeof(right) - 1), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(writes_every_kind_of_change),
        WORLD_TEST(writes_nothing_for_no_change),
        WORLD_TEST(tells_colliding_names_apart),
        WORLD_TEST(refuses_a_name_that_is_too_long),
        WORLD_TEST(refuses_an_existing_file_and_leaves_nothing),
        WORLD_TEST(replaces_files_that_may_go),
        WORLD_TEST(keeps_files_that_may_not_go),
        WORLD_TEST(keeps_all_when_one_changes),
        WORLD_TEST(refuses_what_is_no_file),
        WORLD_TEST(leaves_a_file_that_has_a_temporary_name_alone),
        WORLD_TEST(leaves_nothing_when_git_fails),
        WORLD_TEST(leaves_nothing_when_the_disk_is_full),
        WORLD_TEST(finds_the_headers_in_much_output),
        WORLD_TEST(reads_the_same_patches_at_every_split_point),
        WORLD_TEST(refuses_more_or_fewer_patches_than_were_listed),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/patches", tests, NULL, NULL);
}
