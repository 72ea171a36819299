// SPDX-License-Identifier: Apache-2.0
/* history/checkpoint.h: a checkpoint has everything, byte for byte, and changes nothing else. */
#include <sys/socket.h>
#include <sys/un.h>

#include "git/command.h"
#include "guard/root.h"
#include "history/checkpoint.h"
#include "tests/unit/history/checkpoint_lib.h"

static void assert_files(struct saver *s, const char *expected)
{
    al_auto(al_freep) char *files = files_of(s);

    assert_string_equal(files, expected);
}

static void assert_store_is_sound(struct saver *s)
{
    al_auto(al_freep) char *said =
        store_git(s, "fsck", "--full", "--strict", "--no-dangling", "--no-progress");

    assert_string_equal(said, "");
}

static void takes_every_kind_of_file(void **state)
{
    struct saver *s = *state;

    tmpdir_write(s->w->repo, "new.txt", "new\n");
    tmpdir_write(s->w->repo, "dir/sub/deep.txt", "deep\n");
    tmpdir_write(s->w->repo, "dir-file", "beside\n");
    tmpdir_write(s->w->repo, "empty", "");
    tmpdir_write(s->w->repo, "not\xffutf8\n", "odd\n");
    tmpdir_symlink(s->w->repo, "/etc/passwd", "link");
    tmpdir_write(s->w->repo, "run.sh", "#!/bin/sh\n");
    tmpdir_write(s->w->repo, "secret", "hush\n");
    assert_int_equal(fchmodat(s->w->repo->fd, "run.sh", 0755, 0), 0);
    assert_int_equal(fchmodat(s->w->repo->fd, "secret", 0600, 0), 0);
    take(s, NULL);
    assert_files(s, "100644 a.txt\n100644 dir-file\n100644 dir/sub/deep.txt\n100644 empty\n"
                    "120000 link\n100644 new.txt\n100644 not\xffutf8\n\n100755 run.sh\n"
                    "100600 secret\n");
    assert_content(s, "worktree/link", "/etc/passwd");
    assert_content(s, "worktree/dir/sub/deep.txt", "deep\n");
    assert_store_is_sound(s);
}

static void leaves_out_what_is_ignored_unless_it_is_named(void **state)
{
    struct saver *s = *state;

    tmpdir_write(s->w->repo, ".gitignore", "*.o\nbuild/\n.env\n");
    tmpdir_write(s->w->repo, "x.o", "object\n");
    tmpdir_write(s->w->repo, ".env", "KEY=1\n");
    tmpdir_write(s->w->repo, "build/out.env", "out\n");
    tmpdir_write(s->w->repo, "build/deep/a.bin", "bin\n");
    take(s, NULL);
    assert_files(s, "100644 .gitignore\n100644 a.txt\n");
    al_strv_adds(&s->include_ignored, ".env", "build/*", NULL);
    take(s, NULL);
    assert_files(s, "100644 .env\n100644 .gitignore\n100644 a.txt\n100644 build/deep/a.bin\n"
                    "100644 build/out.env\n");
}

/* Attributes, settings and filters, of the repository, the user, and a nested repository. */
static void takes_raw_bytes_whatever_attributes_say(void **state)
{
    static const char odd[] = "one\r\n$Id: of another$\r\ntwo\n";
    static const char utf16[] = "\xff\xfe"
                                "a\0\n\0";
    static const char *const settings[][2] = { { "filter.canary.clean", "touch ../fired; cat" },
                                               { "filter.canary.smudge", "touch ../fired; cat" },
                                               { "filter.canary.required", "true" },
                                               { "filter.long.process", "touch ../fired; false" },
                                               { "core.autocrlf", "input" },
                                               { "core.safecrlf", "true" },
                                               { "core.fileMode", "false" },
                                               { "core.symlinks", "false" },
                                               { "core.fsmonitor", "touch ../fired; false" } };
    struct saver *s = *state;
    al_auto(subdir_closep) struct tmpdir *nested = subdir_open(s->w->repo, "nested");
    al_auto(al_freep) char *files = NULL, *wide = NULL, *deep = NULL;

    git_fixture_init(nested);
    git_fixture_commit(nested, "inner.txt", odd, "inner");
    for (size_t i = 0; i < COUNT(settings); i++) {
        git_ok(s->w->repo, "config", settings[i][0], settings[i][1], NULL);
        git_ok(s->w->repo, "config", "--global", settings[i][0], settings[i][1], NULL);
        git_ok(nested, "config", settings[i][0], settings[i][1], NULL);
    }
    tmpdir_write(s->w->repo, ".gitattributes",
                 "* text eol=crlf filter=canary ident\n*.16 working-tree-encoding=UTF-16LE-BOM\n"
                 "*.long filter=long\n");
    tmpdir_write(s->w->repo, ".git/info/attributes", "* filter=canary text\n");
    tmpdir_write(nested, ".gitattributes", "* filter=canary text ident\n");
    tmpdir_write(s->w->repo, "a.txt", odd);
    tmpdir_write(s->w->repo, "b.long", odd);
    tmpdir_write_bytes(s->w->repo, "c.16", utf16, sizeof(utf16) - 1);
    tmpdir_write_bytes(s->w->repo, "broken.16",
                       "\xff\xfe"
                       "a",
                       3);
    tmpdir_write(s->w->repo, "run", odd);
    assert_int_equal(fchmodat(s->w->repo->fd, "run", 0755, 0), 0);
    tmpdir_symlink(s->w->repo, "a.txt", "link");
    tmpdir_write(nested, "inner.txt", odd);
    saver_reopen(s, "repo");
    take(s, NULL);
    assert_content(s, "worktree/a.txt", odd);
    assert_content(s, "worktree/b.long", odd);
    assert_content(s, "worktree/nested/inner.txt", odd);
    wide = al_asprintf("%s:worktree/c.16", s->id);
    deep = store_git(s, "cat-file", "blob", wide);
    assert_memory_equal(deep, utf16, sizeof(utf16));
    files = files_of(s);
    assert_non_null(strstr(files, "100644 broken.16\n"));
    assert_non_null(strstr(files, "100755 run\n"));
    assert_non_null(strstr(files, "120000 link\n"));
    assert_int_equal(faccessat(s->w->root->fd, "fired", F_OK, 0), -1);
    assert_int_equal(faccessat(s->w->repo->fd, "fired", F_OK, 0), -1);
    (void)git_status_of(s->w->repo, "add", "-A", NULL);
    assert_int_equal(faccessat(s->w->root->fd, "fired", F_OK, 0), 0); /* plain git runs it */
}

static void skips_what_is_no_file(void **state)
{
    struct saver *s = *state;
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    al_auto(al_closep) int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    al_auto(al_freep) char *path = tmpdir_path(s->w->repo, "a.txt");
    const struct al_saved *saved;

    assert_int_equal(mkfifoat(s->w->repo->fd, "fifo", 0644), 0);
    assert_int_equal(unlinkat(s->w->repo->fd, "a.txt", 0), 0);
    assert_int_equal(mkfifo(path, 0644), 0); /* in place of a tracked file */
    assert_true(strlen(s->w->repo->path) + 6 < sizeof(address.sun_path));
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/sock", s->w->repo->path);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    tmpdir_write(s->w->repo, "file", "x\n");
    take(s, NULL);
    assert_files(s, "100644 file\n");
    saved = load(s, s->id);
    assert_int_equal(saved->left_out.count, 1);
    assert_string_equal(saved->left_out.items[0], "a.txt");
}

static void walks_nested_repositories_as_files(void **state)
{
    struct saver *s = *state;
    al_auto(subdir_closep) struct tmpdir *nested = subdir_open(s->w->repo, "nested");
    al_auto(al_freep) char *files = NULL;

    git_fixture_init(nested);
    git_fixture_commit(nested, "inner.txt", "inner\n", "inner");
    tmpdir_write(nested, "untracked.txt", "u\n");
    tmpdir_write(nested, ".gitignore", "*.o\n");
    tmpdir_write(nested, "x.o", "ignored\n");
    take(s, NULL);
    files = files_of(s);
    assert_non_null(strstr(files, "100644 nested/inner.txt\n100644 nested/untracked.txt\n"));
    assert_non_null(strstr(files, "100644 nested/.git/HEAD\n"));
    assert_null(strstr(files, "160000"));
    assert_null(strstr(files, "x.o"));
    assert_store_is_sound(s);
}

static void takes_a_submodules_files(void **state)
{
    struct saver *s = *state;

    git_ok(s->w->outside, "init", "-q", "lib", NULL);
    git_ok(s->w->outside, "-C", "lib", "commit", "-q", "--allow-empty", "-m", "lib", NULL);
    git_ok(s->w->repo, "-c", "protocol.file.allow=always", "submodule", "add", "-q",
           "../../outside/lib", "sub", NULL);
    tmpdir_write(s->w->repo, "sub/file.c", "c\n");
    saver_reopen(s, "repo");
    take(s, NULL);
    assert_content(s, "worktree/sub/file.c", "c\n");
}

static void never_follows_a_directory_that_became_a_link(void **state)
{
    struct saver *s = *state;

    git_fixture_commit(s->w->repo, "dir/file.txt", "inside\n", "dir");
    take(s, NULL);
    assert_content(s, "worktree/dir/file.txt", "inside\n");
    tmpdir_write(s->w->outside, "file.txt", "outside\n");
    git_ok(s->w->repo, "rm", "-q", "-r", "--cached", "a.txt", NULL);
    assert_int_equal(renameat(s->w->repo->fd, "dir", s->w->root->fd, "moved"), 0);
    tmpdir_symlink(s->w->repo, "../moved", "dir"); /* the same file is behind the link */
    take(s, NULL);
    assert_files(s, "100644 a.txt\n120000 dir\n");
}

static void refuses_names_that_are_no_paths_of_the_tree(void **state)
{
    static const char *const names[] = { "../outside/x", ".git/config", ".GIT/config",
                                         "/etc/passwd",  "a//b",        "./a.txt",
                                         "sub/../a.txt" };
    struct saver *s = *state;
    al_auto(al_freep) char *oid = git_output(s->w->repo, "rev-parse", "HEAD:a.txt", NULL);

    tmpdir_write(s->w->outside, "x", "outside\n");
    oid[strcspn(oid, "\n")] = '\0';
    for (size_t i = 0; i < COUNT(names); i++) {
        /* git refuses to write such an index, so a name of the same length is replaced in the file.
         */
        al_auto(al_freep) char *stand_in =
            al_asprintf("zz%.*s", (int)strlen(names[i]) - 2, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        al_auto(al_freep) char *info = al_asprintf("100644,%s,%s", oid, stand_in);
        al_auto(al_str_clear) struct al_str index = AL_STR_INIT;
        al_auto(al_freep) char *files = NULL;
        char *at;

        git_ok(s->w->repo, "read-tree", "HEAD", NULL);
        git_ok(s->w->repo, "update-index", "--add", "--cacheinfo", info, NULL);
        assert_int_equal(al_fs_read(s->w->repo->fd, ".git/index", 1u << 20, &index), 0);
        at = memmem(index.buf, index.len, stand_in, strlen(stand_in));
        assert_non_null(at);
        memcpy(at, names[i], strlen(names[i]));
        memset(index.buf + index.len - 20, 0, 20); /* git does not verify a checksum of zeros */
        tmpdir_write_bytes(s->w->repo, ".git/index", index.buf, index.len);
        if (try_take(s, NULL, NULL) < 0)
            continue; /* git may refuse to read the index; then nothing is followed either */
        files = files_of(s);
        assert_string_equal(files, "100644 a.txt\n");
    }
}

static void changes_nothing_in_the_repository(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *before = NULL;
    al_auto(al_freep) char *after = NULL;

    tmpdir_write(s->w->repo, "new.txt", "new\n");
    tmpdir_write(s->w->repo, "a.txt", "changed\n");
    git_ok(s->w->repo, "add", "new.txt", NULL);
    git_ok(s->w->repo, "stash", "push", "-q", NULL);
    before = git_output(s->w->repo, "-c", "core.fsync=none", "ls-files", "--debug", NULL);
    take(s, NULL);
    take(s, NULL);
    after = git_output(s->w->repo, "-c", "core.fsync=none", "ls-files", "--debug", NULL);
    assert_string_equal(before, after);
    assert_int_equal(git_status_of(s->w->repo, "cat-file", "-e", s->id, NULL), 1);
}

static void needs_no_lock(void **state)
{
    struct saver *s = *state;

    tmpdir_write(s->w->repo, ".git/index.lock", "another process's\n");
    tmpdir_write(s->w->repo, ".git/HEAD.lock", "");
    take(s, NULL);
    assert_files(s, "100644 a.txt\n");
}

static void keeps_the_index_and_what_only_it_has(void **state)
{
    struct saver *s = *state;
    const struct al_saved *saved;
    al_auto(al_str_clear) struct al_str index = AL_STR_INIT;
    al_auto(al_freep) char *oid = NULL;
    al_auto(al_freep) char *content = NULL;

    tmpdir_write(s->w->repo, "a.txt", "staged\n");
    git_ok(s->w->repo, "add", "a.txt", NULL);
    oid = git_output(s->w->repo, "rev-parse", ":a.txt", NULL);
    oid[strcspn(oid, "\n")] = '\0';
    tmpdir_write(s->w->repo, "a.txt", "then changed\n");
    take(s, NULL);
    saved = load(s, s->id);
    assert_int_equal(al_fs_read(s->w->repo->fd, ".git/index", 1u << 20, &index), 0);
    assert_true(saved->pieces.count);
    assert_int_equal(saved->index.len, index.len);
    assert_memory_equal(saved->index.buf, index.buf, index.len);
    git_ok(s->w->repo, "reset", "-q", "--hard", NULL);
    git_ok(s->w->repo, "gc", "-q", "--prune=now", NULL);
    assert_int_not_equal(git_status_of(s->w->repo, "cat-file", "-e", oid, NULL), 0);
    content = store_git(s, "cat-file", "blob", oid);
    assert_string_equal(content, "staged\n");
}

static void keeps_a_conflict(void **state)
{
    struct saver *s = *state;
    const struct al_saved *saved;

    git_ok(s->w->repo, "switch", "-q", "-c", "other", NULL);
    git_fixture_commit(s->w->repo, "a.txt", "theirs\n", "theirs");
    git_ok(s->w->repo, "switch", "-q", "main", NULL);
    git_fixture_commit(s->w->repo, "a.txt", "ours\n", "ours");
    assert_int_equal(git_status_of(s->w->repo, "merge", "-q", "other", NULL), 1);
    take(s, NULL);
    saved = load(s, s->id);
    assert_string_equal(value_of(saved, AL_PART_HEAD, "HEAD"), "ref: refs/heads/main");
    assert_int_equal(count_of(saved, AL_PART_REF), 2);
    assert_non_null(value_of(saved, AL_PART_REF, "refs/heads/main"));
    assert_non_null(value_of(saved, AL_PART_STATE, "MERGE_HEAD"));
    assert_store_is_sound(s);
}

static void works_without_a_commit_and_with_sha256(void **state)
{
    struct saver *s = *state;
    al_auto(subdir_closep) struct tmpdir *fresh = subdir_open(s->w->root, "fresh");

    git_ok(fresh, "init", "-q", "--object-format=sha256", NULL);
    tmpdir_write(fresh, "first.txt", "first\n");
    saver_reopen(s, "fresh");
    take(s, NULL);
    assert_int_equal(strlen(s->id), 64);
    assert_files(s, "100644 first.txt\n");
    git_ok(fresh, "add", "first.txt", NULL);
    tmpdir_write(fresh, "first.txt", "second\n");
    git_ok(fresh, "stash", "list", NULL);
    take(s, NULL);
    assert_content(s, "worktree/first.txt", "second\n");
    assert_store_is_sound(s);
}

static void works_in_a_linked_working_tree(void **state)
{
    struct saver *s = *state;
    const struct al_saved *saved;

    git_ok(s->w->repo, "worktree", "add", "-q", "-b", "side", "../linked", NULL);
    tmpdir_write(s->w->root, "linked/new.txt", "new\n");
    saver_reopen(s, "linked");
    take(s, NULL);
    assert_files(s, "100644 a.txt\n100644 new.txt\n");
    saved = load(s, s->id);
    assert_string_equal(value_of(saved, AL_PART_HEAD, "HEAD"), "ref: refs/heads/side");
    assert_int_equal(count_of(saved, AL_PART_REF), 2);
}

static void leaves_out_large_files_at_the_limit(void **state)
{
    struct saver *s = *state;
    const struct al_saved *saved;
    al_auto(al_freep) char *bytes = al_calloc(1, 301 * 1024);

    s->settings.max_file_bytes = 300 * 1024; /* larger than the read buffer */
    tmpdir_write_bytes(s->w->repo, "less", bytes, 300 * 1024 - 1);
    tmpdir_write_bytes(s->w->repo, "just", bytes, 300 * 1024);
    tmpdir_write_bytes(s->w->repo, "more", bytes, 300 * 1024 + 1);
    take(s, NULL);
    assert_files(s, "100644 a.txt\n100644 just\n100644 less\n");
    saved = load(s, s->id);
    assert_int_equal(saved->left_out.count, 1);
    assert_string_equal(saved->left_out.items[0], "more");
    assert_store_is_sound(s);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SAVER_TEST(takes_every_kind_of_file),
        SAVER_TEST(leaves_out_what_is_ignored_unless_it_is_named),
        SAVER_TEST(takes_raw_bytes_whatever_attributes_say),
        SAVER_TEST(skips_what_is_no_file),
        SAVER_TEST(walks_nested_repositories_as_files),
        SAVER_TEST(takes_a_submodules_files),
        SAVER_TEST(never_follows_a_directory_that_became_a_link),
        SAVER_TEST(refuses_names_that_are_no_paths_of_the_tree),
        SAVER_TEST(changes_nothing_in_the_repository),
        SAVER_TEST(needs_no_lock),
        SAVER_TEST(keeps_the_index_and_what_only_it_has),
        SAVER_TEST(keeps_a_conflict),
        SAVER_TEST(works_without_a_commit_and_with_sha256),
        SAVER_TEST(works_in_a_linked_working_tree),
        SAVER_TEST(leaves_out_large_files_at_the_limit),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("checkpoint/checkpoint", tests, NULL, NULL);
}
