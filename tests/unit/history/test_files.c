// SPDX-License-Identifier: Apache-2.0
/* history/files.h: which path a file has in a checkpoint, what counts as a file, and that each
 * checkpoint has what the working tree has, whatever the last one recorded. */
#include "history/files.h"

#include <sys/wait.h>

#include "git/plumbing/snapshot.h"
#include "tests/unit/history/checkpoint_lib.h"

static void assert_files(struct saver *s, const char *expected)
{
    al_auto(al_freep) char *files = files_of(s);

    assert_string_equal(files, expected);
}

static bool has_file(struct saver *s, const char *path)
{
    al_auto(al_freep) char *files = files_of(s);
    al_auto(al_freep) char *line = al_asprintf(" %s\n", path);

    return strstr(files, line) != NULL;
}

/* The files that the last checkpoint names as left out, a line each.  Caller frees. */
static char *left_out_of(struct saver *s)
{
    const struct al_saved *saved;
    struct al_str text = AL_STR_INIT;

    saved = load(s, s->id);
    for (size_t i = 0; i < saved->left_out.count; i++)
        al_str_addf(&text, "%s\n", saved->left_out.items[i]);
    return al_str_detach(&text);
}

static void assert_left_out(struct saver *s, const char *expected)
{
    al_auto(al_freep) char *names = left_out_of(s);

    assert_string_equal(names, expected);
}

static void assert_sound(struct saver *s)
{
    al_auto(al_freep) char *said =
        store_git(s, "fsck", "--full", "--strict", "--no-dangling", "--no-progress");

    assert_string_equal(said, "");
}

/* --- Names --- */

static void gives_every_path_a_place(void **state)
{
    static const char *const rows[][2] = {
        { "a", "worktree/a" },
        { "dir/a b", "worktree/dir/a b" },
        { "100%", "worktree/100%" },
        { "%2F", "worktree/%2F" },
        { "quote\"back\\slash\nline\ttab", "worktree/quote\"back\\slash\nline\ttab" },
        { "\xff\x80/\xc3\xa4", "worktree/\xff\x80/\xc3\xa4" },
        { ".gitignore", "worktree/.gitignore" },
        { "a/.gitignore", "worktree/a/.gitignore" },
        { "a/.gitx/.gity", "worktree/a/.gitx/.gity" },
        { "nested/.git/HEAD", "dotgit/nested/HEAD" },
        { "nested/.git/refs/heads/a", "dotgit/nested/refs/heads/a" },
        { "a/b/.git/config", "dotgit/a%2Fb/config" },
        { "a%2Fb/.git/config", "dotgit/a%252Fb/config" },
        { "%/%25/.git/x", "dotgit/%25%2F%2525/x" },
        { "a/.gitx/n/.git/x%2F", "dotgit/a%2F.gitx%2Fn/x%2F" },
        { "\xff\"\n\\/.git/x", "dotgit/\xff\"\n\\/x" },
        { "sub/.git", "dotfile/sub" },
        { "deep/s%ub/.git", "dotfile/deep%2Fs%25ub" },
        { "end%/.git", "dotfile/end%25" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(al_freep) char *saved = al_files_saved_path(rows[i][0]);
        al_auto(al_freep) char *path = al_files_path(rows[i][1]);

        assert_string_equal(saved, rows[i][1]);
        assert_string_equal(path, rows[i][0]);
    }
}

static void knows_what_is_no_file_of_the_working_tree(void **state)
{
    static const char *const names[] = { "about", "index", "refs", "state/HEAD", "worktree", "" };

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++)
        assert_null(al_files_path(names[i]));
}

static void quotes_what_ends_a_name(void **state)
{
    static const char *const rows[][3] = {
        { "worktree/", "a b", "\"worktree/a b\"" },
        { "", "\"\\", "\"\\\"\\\\\"" },
        { "d\n", "e\nf\n", "\"d\\ne\\nf\\n\"" },
        { "", "%\t\xff\x01", "\"%\t\xff\x01\"" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

        al_import_quote(&text, rows[i][0], rows[i][1]);
        assert_string_equal(text.buf, rows[i][2]);
    }
}

static const char *const odd_names[] = { "100%",       "%2F",       "quote\"back\\slash",
                                         "two\nlines", "tab\there", "\xff\x80",
                                         " blank ",    "-dash",     ":colon",
                                         "\x01\x7f",   "CON",       "git~1",
                                         "trailing.",  "a\\..\\b",  "* ?[x]",
                                         "#hash",      "!not",      "\xc3\xa4",
                                         "D a.txt",    "commit x" };

static void records_every_name(void **state)
{
    struct saver *s = *state;

    for (size_t i = 0; i < COUNT(odd_names); i++) {
        al_auto(al_freep) char *below = al_asprintf("dir/%s/%s", odd_names[i], odd_names[i]);

        tmpdir_write(s->w->repo, odd_names[i], odd_names[i]);
        tmpdir_write(s->w->repo, below, "below\n");
    }
    for (int round = 0; round < 2; round++) {
        take(s, NULL);
        for (size_t i = 0; i < COUNT(odd_names); i++) {
            al_auto(al_freep) char *place = al_asprintf("worktree/%s", odd_names[i]);
            al_auto(al_freep) char *below = al_asprintf("dir/%s/%s", odd_names[i], odd_names[i]);

            assert_content(s, place, round ? "changed\n" : odd_names[i]);
            assert_true(has_file(s, below));
            tmpdir_write(s->w->repo, odd_names[i], "changed\n");
        }
    }
    assert_left_out(s, "");
    for (size_t i = 0; i < COUNT(odd_names); i++)
        assert_int_equal(unlinkat(s->w->repo->fd, odd_names[i], 0), 0);
    take(s, NULL);
    for (size_t i = 0; i < COUNT(odd_names); i++)
        assert_false(has_file(s, odd_names[i]));
}

static void records_nested_repositories_of_every_name(void **state)
{
    struct saver *s = *state;

    for (size_t i = 0; i < COUNT(odd_names); i++) {
        al_auto(subdir_closep) struct tmpdir *nested = subdir_open(s->w->repo, odd_names[i]);

        git_ok(nested, "init", "-q", "-b", "main", NULL);
        tmpdir_write(nested, "inner", odd_names[i]);
    }
    take(s, NULL);
    for (size_t i = 0; i < COUNT(odd_names); i++) {
        al_auto(al_freep) char *place = al_asprintf("worktree/%s/inner", odd_names[i]);
        al_auto(al_freep) char *head = al_asprintf("%s/.git/HEAD", odd_names[i]);
        al_auto(al_freep) char *saved = al_files_saved_path(head);

        assert_content(s, place, odd_names[i]);
        assert_content(s, saved, "ref: refs/heads/main\n");
        assert_true(has_file(s, head));
    }
}

/* --- al_git_find_objects() --- */

static void finds_names_that_a_checkpoint_lacks(void **state)
{
    static const struct {
        const char *path;
        bool there;
    } rows[] = {
        { "worktree/a.txt", true },
        { "worktree/gone", false },
        { "worktree/two\nlines", true },
        { "worktree/two\nline", false },
        { "worktree/dir/sub/x", true },
        { "worktree/dir/sub", true },
        { "worktree/dir/sub/x/y", false },
        { "worktree/a.txt missing", true },
        { "worktree/no missing", false },
        { "worktree/link", true },
        { "worktree/link/sub/x", false },
        { "worktree/\xff", true },
        { "worktree/\xfe", false },
        { "about", true },
        { "worktree/a.txt missing\nblob\n", false },
        { "worktree/blob\n", true },
        { "worktree/ :(glob)*", false },
        { "", true },
    };
    struct saver *s = *state;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv missing = AL_STRV_INIT;
    size_t next = 0;

    tmpdir_write(s->w->repo, "two\nlines", "x");
    tmpdir_write(s->w->repo, "dir/sub/x", "x");
    tmpdir_write(s->w->repo, "a.txt missing", "x");
    tmpdir_write(s->w->repo, "\xff", "x");
    tmpdir_write(s->w->repo, "blob\n", "x");
    tmpdir_symlink(s->w->repo, "dir", "link");
    take(s, NULL);
    assert_int_equal(al_git_find_objects(&s->store->bare, &names, false, NULL, &missing, NULL), 0);
    assert_int_equal(missing.count, 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        al_strv_addf(&names, "%s:%s", s->id, rows[i].path);
    }
    assert_int_equal(
        al_git_find_objects(&s->store->bare, &names, false, NULL, &missing, &s->w->err), 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (rows[i].there)
            continue;
        assert_true(next < missing.count);
        assert_string_equal(strchr(missing.items[next++], ':') + 1, rows[i].path);
    }
    assert_int_equal(next, missing.count);
}

/* --- What is recorded --- */

/* git would refuse the name, and a checkpoint cannot give it back. */
static void leaves_out_and_names_a_git_directory_in_capitals(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *names = NULL;

    tmpdir_write(s->w->repo, ".GIT/config", "[core]\n");
    tmpdir_write(s->w->repo, "dir/.Git/hooks/x", "x\n");
    tmpdir_write(s->w->repo, "file/.GIT", "x\n");
    tmpdir_write(s->w->repo, "new", "new\n");
    for (int round = 0; round < 2; round++) {
        take(s, NULL);
        assert_files(s, "100644 a.txt\n100644 new\n");
        al_freep(&names);
        names = left_out_of(s);
        assert_non_null(strstr(names, ".GIT/config\n"));
        assert_non_null(strstr(names, "dir/.Git/hooks/x\n"));
        assert_non_null(strstr(names, "file/.GIT\n"));
    }
    assert_sound(s);
}

static void records_a_tracked_file_that_is_ignored(void **state)
{
    struct saver *s = *state;

    tmpdir_write(s->w->repo, ".gitignore", "*.o\nbuild/\n");
    tmpdir_write(s->w->repo, "x.o", "1\n");
    tmpdir_write(s->w->repo, "y.o", "never tracked\n");
    tmpdir_write(s->w->repo, "build/z", "1\n");
    git_ok(s->w->repo, "add", "-f", "x.o", "build/z", NULL);
    git_ok(s->w->repo, "commit", "-q", "-m", "tracked", NULL);
    take(s, NULL);
    assert_files(s, "100644 .gitignore\n100644 a.txt\n100644 build/z\n100644 x.o\n");
    tmpdir_write(s->w->repo, "x.o", "2\n");
    tmpdir_write(s->w->repo, "build/z", "2\n");
    take(s, NULL);
    assert_content(s, "worktree/x.o", "2\n");
    assert_content(s, "worktree/build/z", "2\n");
    /* One that comes to be tracked later. */
    git_ok(s->w->repo, "add", "-f", "y.o", NULL);
    take(s, NULL);
    assert_content(s, "worktree/y.o", "never tracked\n");
    assert_int_equal(unlinkat(s->w->repo->fd, "x.o", 0), 0);
    take(s, NULL);
    assert_files(s, "100644 .gitignore\n100644 a.txt\n100644 build/z\n100644 y.o\n");
    tmpdir_write(s->w->repo, "x.o", "3\n"); /* it is tracked still */
    take(s, NULL);
    assert_content(s, "worktree/x.o", "3\n");
}

/* The rules themselves change. */
static void follows_the_ignore_rules(void **state)
{
    struct saver *s = *state;

    tmpdir_write(s->w->repo, "x.o", "1\n");
    tmpdir_write(s->w->repo, "y.p", "1\n");
    tmpdir_write(s->w->repo, ".git/info/exclude", "*.o\n");
    take(s, NULL);
    assert_files(s, "100644 a.txt\n100644 y.p\n");
    tmpdir_write(s->w->repo, ".git/info/exclude", "*.p\n");
    take(s, NULL);
    assert_true(has_file(s, "x.o"));
    assert_content(s, "worktree/x.o", "1\n");
    git_ok(s->w->repo, "config", "core.excludesFile", "~/ignored", NULL);
    tmpdir_write(s->w->home, "ignored", "*.q\n");
    tmpdir_write(s->w->repo, "z.q", "1\n");
    saver_reopen(s, "repo");
    take(s, NULL);
    assert_true(has_file(s, "x.o"));
}

/* --- What becomes of a path --- */

static void remove_tree(struct saver *s, const char *path)
{
    al_auto(al_freep) char *place = tmpdir_path(s->w->repo, path);

    al_fs_remove_tree(place);
}

static void sees_files_that_become_directories(void **state)
{
    struct saver *s = *state;
    char first[AL_OID_TEXT];

    tmpdir_write(s->w->repo, "dir/a", "a\n");
    tmpdir_write(s->w->repo, "dir/sub/b", "b\n");
    tmpdir_write(s->w->repo, "file", "f\n");
    tmpdir_write(s->w->repo, "real/x", "x\n");
    take(s, NULL);
    memcpy(first, s->id, sizeof(first));
    remove_tree(s, "dir");
    tmpdir_write(s->w->repo, "dir", "now a file\n");
    assert_int_equal(unlinkat(s->w->repo->fd, "file", 0), 0);
    tmpdir_write(s->w->repo, "file/below/deep", "deep\n");
    take(s, NULL);
    assert_files(s, "100644 a.txt\n100644 dir\n100644 file/below/deep\n100644 real/x\n");
    assert_content(s, "worktree/dir", "now a file\n");
    assert_int_equal(unlinkat(s->w->repo->fd, "dir", 0), 0);
    tmpdir_symlink(s->w->repo, "real", "dir"); /* dir/x is behind it */
    remove_tree(s, "file");
    tmpdir_symlink(s->w->repo, "nowhere", "file");
    take(s, NULL);
    assert_files(s, "100644 a.txt\n120000 dir\n120000 file\n100644 real/x\n");
    assert_int_equal(unlinkat(s->w->repo->fd, "dir", 0), 0);
    assert_int_equal(unlinkat(s->w->repo->fd, "file", 0), 0);
    tmpdir_write(s->w->repo, "dir/a", "a\n");
    tmpdir_write(s->w->repo, "dir/sub/b", "b\n");
    tmpdir_write(s->w->repo, "file", "f\n");
    take(s, NULL);
    assert_files(s, "100644 a.txt\n100644 dir/a\n100644 dir/sub/b\n100644 file\n100644 real/x\n");
    memcpy(s->id, first, sizeof(first));
    assert_files(s, "100644 a.txt\n100644 dir/a\n100644 dir/sub/b\n100644 file\n100644 real/x\n");
    assert_sound(s);
}

/* A link replaces a directory whose files are tracked; the same files are behind it. */
static void sees_a_link_in_place_of_a_directory(void **state)
{
    struct saver *s = *state;

    git_fixture_commit(s->w->repo, "dir/sub/x", "x\n", "dir");
    tmpdir_write(s->w->outside, "sub/x", "outside\n");
    take(s, NULL);
    remove_tree(s, "dir");
    tmpdir_symlink(s->w->repo, "../../outside", "dir");
    take(s, NULL);
    assert_files(s, "100644 a.txt\n120000 dir\n");
    assert_content(s, "worktree/dir", "../../outside");
}

static void leaves_out_what_cannot_be_read(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *bytes = al_calloc(1, 2u << 20);

    tmpdir_write(s->w->repo, "grows", "small\n");
    take(s, NULL);
    tmpdir_write_bytes(s->w->repo, "grows", bytes, 2u << 20); /* over the limit now */
    take(s, NULL);
    assert_files(s, "100644 a.txt\n");
    assert_left_out(s, "grows\n");
    take(s, NULL);
    assert_left_out(s, "grows\n");
    tmpdir_write(s->w->repo, "grows", "small\n");
    take(s, NULL);
    assert_content(s, "worktree/grows", "small\n");
    assert_left_out(s, "");
    if (geteuid() == 0)
        return; /* root reads everything */
    tmpdir_write(s->w->repo, "secret", "s\n");
    assert_int_equal(fchmodat(s->w->repo->fd, "secret", 0, 0), 0);
    take(s, NULL);
    assert_left_out(s, "secret\n");
    assert_false(has_file(s, "secret"));
}

/* --- Nested repositories --- */

static void make_nested(struct saver *s, const char *path)
{
    al_auto(subdir_closep) struct tmpdir *nested = NULL;

    tmpdir_mkdir(s->w->repo, path);
    nested = subdir_open(s->w->repo, path);
    git_fixture_init(nested);
    git_fixture_commit(nested, "inner.txt", "inner\n", "inner");
}

static void follows_a_nested_repository(void **state)
{
    struct saver *s = *state;

    make_nested(s, "nested");
    take(s, NULL);
    assert_content(s, "worktree/nested/inner.txt", "inner\n");
    assert_true(has_file(s, "nested/.git/refs/heads/main"));
    tmpdir_write(s->w->repo, "nested/inner.txt", "changed\n");
    tmpdir_write(s->w->repo, "nested/.git/refs/heads/other", "x\n");
    take(s, NULL);
    assert_content(s, "worktree/nested/inner.txt", "changed\n");
    assert_content(s, "dotgit/nested/refs/heads/other", "x\n");
    /* It becomes a directory of files, … */
    remove_tree(s, "nested/.git");
    take(s, NULL);
    assert_files(s, "100644 a.txt\n100644 nested/inner.txt\n");
    /* … a repository again, … */
    remove_tree(s, "nested");
    take(s, NULL);
    make_nested(s, "nested");
    take(s, NULL);
    assert_true(has_file(s, "nested/.git/HEAD"));
    assert_content(s, "worktree/nested/inner.txt", "inner\n");
    /* … and is gone. */
    remove_tree(s, "nested");
    take(s, NULL);
    assert_files(s, "100644 a.txt\n");
    tmpdir_write(s->w->repo, "nested", "a file\n");
    take(s, NULL);
    assert_files(s, "100644 a.txt\n100644 nested\n");
    assert_sound(s);
}

/* A directory of recorded files becomes a repository. */
static void sees_a_directory_become_a_repository(void **state)
{
    struct saver *s = *state;
    al_auto(subdir_closep) struct tmpdir *dir = NULL;

    git_fixture_commit(s->w->repo, "dir/tracked", "t\n", "tracked");
    tmpdir_write(s->w->repo, "dir/new", "n\n");
    tmpdir_write(s->w->repo, "plain/x", "x\n");
    take(s, NULL);
    dir = subdir_open(s->w->repo, "dir");
    git_ok(dir, "init", "-q", "-b", "main", NULL);
    git_ok(s->w->repo, "init", "-q", "-b", "main", "plain", NULL);
    tmpdir_write(s->w->repo, "dir/later", "l\n");
    tmpdir_write(s->w->repo, "plain/later", "l\n");
    for (int round = 0; round < 2; round++) {
        take(s, NULL);
        assert_content(s, "worktree/dir/tracked", "t\n");
        assert_content(s, "worktree/dir/new", "n\n");
        assert_content(s, "worktree/dir/later", "l\n");
        assert_content(s, "worktree/plain/x", "x\n");
        assert_content(s, "worktree/plain/later", "l\n");
    }
    assert_int_equal(unlinkat(s->w->repo->fd, "plain/x", 0), 0);
    tmpdir_write(s->w->repo, "dir/new", "changed\n");
    take(s, NULL);
    assert_false(has_file(s, "plain/x"));
    assert_content(s, "worktree/dir/new", "changed\n");
    assert_sound(s);
}

static void records_repositories_in_repositories(void **state)
{
    struct saver *s = *state;

    make_nested(s, "one");
    make_nested(s, "one/two");
    make_nested(s, "one/two/th%ree");
    tmpdir_write(s->w->repo, "one/file/.git", "gitdir: ../../elsewhere\n");
    tmpdir_write(s->w->repo, "one/file/x", "x\n");
    tmpdir_write(s->w->repo, "module/.git", "gitdir: ../.git/modules/module\n");
    git_ok(s->w->repo, "init", "-q", "-b", "main", "empty", NULL);
    tmpdir_mkdir(s->w->repo, "bare/objects");
    tmpdir_write(s->w->repo, "bare/HEAD", "ref: refs/heads/main\n");
    take(s, NULL);
    assert_content(s, "worktree/one/two/th%ree/inner.txt", "inner\n");
    assert_content(s, "dotgit/one%2Ftwo%2Fth%25ree/HEAD", "ref: refs/heads/main\n");
    assert_true(has_file(s, "one/two/.git/HEAD"));
    assert_true(has_file(s, "empty/.git/HEAD"));
    assert_true(has_file(s, "bare/HEAD"));
    assert_true(has_file(s, "one/file/x"));
    assert_sound(s);
}

/* --- The store --- */

/* Two processes record the same changes at the same time. */
static void records_in_two_processes(void **state)
{
    enum { PROCESSES = 3, ROUNDS = 4 };
    struct saver *s = *state;
    pid_t pids[PROCESSES];

    for (int i = 0; i < 200; i++) {
        al_auto(al_freep) char *name = al_asprintf("many/%d", i);

        tmpdir_write(s->w->repo, name, name);
    }
    for (int i = 0; i < PROCESSES; i++) {
        pids[i] = fork();
        assert_true(pids[i] >= 0);
        if (pids[i] == 0) {
            int failed = 0;

            for (int round = 0; round < ROUNDS; round++) {
                al_auto(al_freep) char *name = al_asprintf("of%d/%d", i, round);
                al_auto(al_freep) char *place = al_asprintf("worktree/%s", name);
                al_auto(al_freep) char *object = NULL;

                tmpdir_write(s->w->repo, name, "mine\n");
                failed |= try_take(s, NULL, NULL) < 0;
                object = al_asprintf("%s:%s", s->id, place);
                failed |= git_status_of(&(struct tmpdir){ .path = s->store->path,
                                                          .fd = s->store->bare.dir_fd },
                                        "rev-parse", "-q", "--verify", object, NULL) != 0;
            }
            if (failed)
                print_message("# %s\n", s->w->err.message);
            _exit(failed);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = -1;

        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
    take(s, NULL);
    for (int i = 0; i < PROCESSES * ROUNDS; i++) {
        al_auto(al_freep) char *name = al_asprintf("of%d/%d", i / ROUNDS, i % ROUNDS);

        assert_true(has_file(s, name));
    }
    assert_sound(s);
}

static void records_many_files(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *files = NULL;
    size_t lines = 0;

    for (int i = 0; i < 3000; i++) {
        al_auto(al_freep) char *name = al_asprintf("d%d/e%d/%d", i % 10, i % 30, i);

        tmpdir_write(s->w->repo, name, i % 2 ? name : "the same\n");
        if (i == 1500)
            git_ok(s->w->repo, "add", "-A", NULL);
    }
    git_ok(s->w->repo, "commit", "-q", "-m", "half of them", NULL);
    take(s, NULL);
    files = files_of(s);
    for (const char *at = files; *at; at++)
        lines += *at == '\n';
    assert_int_equal(lines, 3001);
    assert_content(s, "worktree/d9/e29/2999", "d9/e29/2999");
    take(s, NULL);
    assert_content(s, "worktree/d9/e29/2999", "d9/e29/2999");
}

static void change_index(struct saver *s, int how)
{
    al_auto(al_str_clear) struct al_str index = AL_STR_INIT;
    al_auto(al_freep) char *path = al_fs_join(s->store->path, "files.index");

    assert_int_equal(al_fs_read(s->store->bare.dir_fd, "files.index", 1u << 20, &index), 0);
    if (how == 0)
        assert_int_equal(truncate(path, 0), 0);
    else if (how == 1)
        assert_int_equal(truncate(path, (off_t)index.len / 2), 0);
    else if (how == 2)
        assert_int_equal(unlink(path), 0);
    else if (how == 3)
        assert_int_equal(truncate(path, 4), 0);
    if (how < 4)
        return;
    for (size_t i = 12; i < index.len; i += 7)
        index.buf[i] = (char)~index.buf[i];
    assert_int_equal(
        al_fs_write_atomic(s->store->bare.dir_fd, "files.index", index.buf, index.len, 0600, true),
        0);
}

static void lives_with_a_broken_index_of_its_own(void **state)
{
    struct saver *s = *state;

    tmpdir_write(s->w->repo, "dir/b", "b\n");
    tmpdir_write(s->w->repo, "gone", "g\n");
    take(s, NULL);
    for (int how = 0; how < 5; how++) {
        al_auto(al_freep) char *text = al_asprintf("%d\n", how);

        change_index(s, how);
        tmpdir_write(s->w->repo, "a.txt", text);
        (void)unlinkat(s->w->repo->fd, "gone", 0);
        take(s, NULL);
        assert_files(s, "100644 a.txt\n100644 dir/b\n");
        assert_content(s, "worktree/a.txt", text);
        assert_content(s, "worktree/dir/b", "b\n");
    }
    assert_sound(s);
}

static void lives_with_a_broken_index_of_a_nested_repository(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *names = NULL;
    char *save = NULL;

    make_nested(s, "nested");
    take(s, NULL);
    names = store_git(s, "-c", "alias.k=!ls", "k");
    for (char *name = strtok_r(names, "\n", &save); name; name = strtok_r(NULL, "\n", &save)) {
        al_auto(al_freep) char *path = al_fs_join(s->store->path, name);

        if (al_starts_with(name, "nested-"))
            assert_int_equal(truncate(path, 20), 0);
    }
    tmpdir_write(s->w->repo, "nested/inner.txt", "changed\n");
    take(s, NULL);
    assert_content(s, "worktree/nested/inner.txt", "changed\n");
    assert_true(has_file(s, "nested/.git/HEAD"));
}

/* Remove every pack that has no .keep, or only those with a blob. */
static void remove_objects(struct saver *s)
{
    al_auto(al_freep) char *names = store_git(s, "-c", "alias.k=!ls objects/pack", "k");
    char *save = NULL;

    for (char *name = strtok_r(names, "\n", &save); name; name = strtok_r(NULL, "\n", &save))
        assert_int_equal(unlinkat(s->store->pack_fd, name, 0), 0);
}

/* The store has lost its objects: the next checkpoint has all of them again. */
static void lives_with_lost_objects(void **state)
{
    struct saver *s = *state;

    make_nested(s, "nested");
    tmpdir_write(s->w->repo, "dir/b", "b\n");
    tmpdir_write(s->w->repo, "staged", "only staged\n");
    git_ok(s->w->repo, "add", "staged", NULL);
    tmpdir_write(s->w->repo, "staged", "and changed\n");
    take(s, NULL);
    for (int changed = 0; changed < 2; changed++) {
        al_auto(al_freep) char *objects = NULL;

        remove_objects(s);
        if (changed)
            tmpdir_write(s->w->repo, "new", "new\n");
        take(s, NULL);
        assert_content(s, "worktree/dir/b", "b\n");
        assert_content(s, "worktree/nested/inner.txt", "inner\n");
        if (changed)
            assert_content(s, "worktree/new", "new\n");
        objects = store_git(s, "rev-list", "--objects", "--missing=print", s->id);
        assert_null(strstr(objects, "\n?"));
    }
}

/* The first checkpoint borrows the files that HEAD has, and the repository loses that commit. */
static void keeps_the_commit_that_it_began_with(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *commit = NULL;

    take_without(s, NULL, AL_PARTS_WORKTREE);
    git_fixture_commit(s->w->repo, "b.txt", "first try\n", "try");
    commit = git_output(s->w->repo, "rev-parse", "HEAD", NULL);
    take_without(s, NULL, AL_PARTS_REFS);
    tmpdir_write(s->w->repo, "b.txt", "second try\n");
    git_ok(s->w->repo, "commit", "-q", "-a", "--amend", "-m", "again", NULL);
    {
        char first[AL_OID_TEXT];

        memcpy(first, s->id, sizeof(first));
        take(s, NULL);
        git_ok(s->w->repo, "reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all",
               NULL);
        git_ok(s->w->repo, "gc", "-q", "--prune=now", NULL);
        assert_content(s, "worktree/b.txt", "second try\n");
        memcpy(s->id, first, sizeof(first));
        assert_content(s, "worktree/b.txt", "first try\n");
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_every_path_a_place),
        cmocka_unit_test(knows_what_is_no_file_of_the_working_tree),
        cmocka_unit_test(quotes_what_ends_a_name),
        SAVER_TEST(records_every_name),
        SAVER_TEST(records_nested_repositories_of_every_name),
        SAVER_TEST(finds_names_that_a_checkpoint_lacks),
        SAVER_TEST(leaves_out_and_names_a_git_directory_in_capitals),
        SAVER_TEST(records_a_tracked_file_that_is_ignored),
        SAVER_TEST(follows_the_ignore_rules),
        SAVER_TEST(sees_files_that_become_directories),
        SAVER_TEST(sees_a_link_in_place_of_a_directory),
        SAVER_TEST(leaves_out_what_cannot_be_read),
        SAVER_TEST(follows_a_nested_repository),
        SAVER_TEST(sees_a_directory_become_a_repository),
        SAVER_TEST(records_repositories_in_repositories),
        SAVER_TEST(records_in_two_processes),
        SAVER_TEST(records_many_files),
        SAVER_TEST(lives_with_a_broken_index_of_its_own),
        SAVER_TEST(lives_with_a_broken_index_of_a_nested_repository),
        SAVER_TEST(lives_with_lost_objects),
        SAVER_TEST(keeps_the_commit_that_it_began_with),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("checkpoint/files", tests, NULL, NULL);
}
