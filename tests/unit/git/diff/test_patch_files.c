// SPDX-License-Identifier: Apache-2.0
/* git/diff/patch_files.c: all patches together are git's own diff, and either all of them are
 * written or none. */
#include "git/command.h"
#include "git/diff/patch_files.h"
#include "git/run.h"
#include "tests/unit/git/diff/patch_files_lib.h"

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

/* Whether a change of one file with a name of this length can be written. */
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

/* Like a full disk: no file can become larger than this. */
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

/* Many small patches, so that their headers fall on every position of git's writes and the
 * reads. */
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

/* Feed the stream in two pieces. Returns the names and how many patches began. */
static void feed_split(struct world *w, const struct al_str *stream, size_t split,
                       const struct al_str *expected)
{
    al_auto(subdir_closep) struct tmpdir *out = subdir_open(w->root, "out");
    al_auto(al_freep) char *path = tmpdir_path(w->root, "out");
    const struct al_git_output output = { .exit_code = 0 };
    struct patch_writer writer = patch_writer_init(out->fd);
    al_auto(al_patch_split_clear) struct al_patch_split splitter =
        AL_PATCH_SPLIT_INIT(begin_patch, write_piece, &writer);

    assert_true(al_patch_split_add(&splitter, stream->buf, split));
    assert_true(al_patch_split_add(&splitter, stream->buf + split, stream->len - split));
    assert_int_equal(finish(&writer, &splitter, &output, NULL, NULL), 0);
    al_closep(&writer.fd);
    free(writer.old);
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

/* Feed a made-up stream and return the status of finish(). Unless it is 0, nothing may be left
 * behind. */
static int end_of(struct world *w, const char *stream, size_t len)
{
    al_auto(subdir_closep) struct tmpdir *out = subdir_open(w->root, "out");
    const struct al_git_output output = { .exit_code = 0 };
    struct patch_writer writer = patch_writer_init(out->fd);
    al_auto(al_patch_split_clear) struct al_patch_split splitter =
        AL_PATCH_SPLIT_INIT(begin_patch, write_piece, &writer);
    int r;

    (void)al_patch_split_add(&splitter, stream, len);
    r = finish(&writer, &splitter, &output, NULL, NULL);
    al_closep(&writer.fd);
    free(writer.old);
    writer.old = NULL;
    if (r < 0) {
        remove_temporaries(&writer);
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
        WORLD_TEST(leaves_nothing_when_git_fails),
        WORLD_TEST(leaves_nothing_when_the_disk_is_full),
        WORLD_TEST(finds_the_headers_in_much_output),
        WORLD_TEST(reads_the_same_patches_at_every_split_point),
        WORLD_TEST(refuses_more_or_fewer_patches_than_were_listed),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/patches", tests, NULL, NULL);
}
