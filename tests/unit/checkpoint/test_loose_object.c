// SPDX-License-Identifier: Apache-2.0
/* checkpoint/loose_object.h: blobs that git has not packed, read without git. */
#include "checkpoint/loose_object.h"

#include "tests/unit/checkpoint/lib.h"

#define LIMIT (4u << 20) /* the module's own */

/** A repository with one object, and a store to copy it to. */
struct copying {
    struct saver *s;
    struct tmpdir *git_dir;
    struct al_objects objects;
    char *text, *path; /* the id, and the file of the object */
    struct al_oid oid;
};

/* Write a blob, and begin to copy it. */
static struct copying begin(struct saver *s, const char *data, size_t len)
{
    struct copying c = { .s = s };

    tmpdir_write_bytes(s->w->repo, "blob", data, len);
    c.text = git_output(s->w->repo, "hash-object", "-w", "--no-filters", "blob", NULL);
    c.text[strcspn(c.text, "\n")] = '\0';
    c.path = al_asprintf("objects/%.2s/%s", c.text, c.text + 2);
    assert_true(al_oid_parse(c.text, s->store->sha256, &c.oid));
    c.git_dir = subdir_open(s->w->repo, ".git");
    al_objects_init(&c.objects, s->store->pack_fd, -1, s->store->sha256);
    return c;
}

static int copy(struct copying *c, uint64_t max_bytes)
{
    return al_loose_object_copy(c->git_dir->fd, &c->oid, max_bytes, &c->objects, &c->s->w->err);
}

static void copying_clear(struct copying *c)
{
    al_objects_clear(&c->objects);
    subdir_close(c->git_dir);
    free(c->text);
    free(c->path);
}

static void copies_a_blob(void **state)
{
    static const struct {
        const char *data;
        size_t len;
    } rows[] = { { "", 0 }, { "x", 1 }, { "a\0b\n", 4 }, { "blob 3\0abc", 10 } };

    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(copying_clear) struct copying c = begin(*state, rows[i].data, rows[i].len);
        al_auto(al_freep) char *content = NULL;

        assert_int_equal(copy(&c, LIMIT), 1);
        assert_true(al_objects_has(&c.objects, &c.oid));
        assert_int_equal(al_objects_finish(&c.objects, &c.s->w->err), 0);
        content = store_git(c.s, "cat-file", "-s", c.text);
        assert_int_equal(strtoul(content, NULL, 10), rows[i].len);
    }
}

static void copies_up_to_a_limit(void **state)
{
    al_auto(copying_clear) struct copying c = begin(*state, "0123456789", 10);

    assert_int_equal(copy(&c, 9), 0);
    assert_false(al_objects_has(&c.objects, &c.oid));
    assert_int_equal(copy(&c, 10), 1);
}

static void copies_up_to_its_own_limit(void **state)
{
    al_auto(al_freep) char *data = al_calloc(1, LIMIT + 1);

    for (size_t len = LIMIT - 1; len <= LIMIT + 1; len++) {
        al_auto(copying_clear) struct copying c = begin(*state, data, len);

        assert_int_equal(copy(&c, UINT64_MAX), len <= LIMIT);
    }
}

static void copies_no_other_object(void **state)
{
    struct saver *s = *state;
    al_auto(copying_clear) struct copying c = begin(s, "x", 1);
    al_auto(al_freep) char *tree = git_output(s->w->repo, "rev-parse", "HEAD^{tree}", NULL);

    tree[strcspn(tree, "\n")] = '\0';
    assert_true(al_oid_parse(tree, s->store->sha256, &c.oid));
    assert_int_equal(copy(&c, LIMIT), 0);
    memset(c.oid.bytes, 0x11, al_oid_bytes(s->store->sha256)); /* which is not there */
    assert_int_equal(copy(&c, LIMIT), 0);
}

/* Anybody may have written the file. */
static void copies_no_forged_file(void **state)
{
    static const char *const files[] = {
        "",       "x", "\x78\x9c", "\x78\x9c\x4b\xca\xc9\x4f\x52", /* cut short */
        "blob 1",
    };
    struct saver *s = *state;
    al_auto(copying_clear) struct copying c = begin(s, "true", 4);
    al_auto(al_freep) char *other = NULL;
    al_auto(al_freep) char *target = NULL;

    for (size_t i = 0; i < COUNT(files); i++) {
        assert_int_equal(unlinkat(c.git_dir->fd, c.path, 0), 0);
        tmpdir_write(c.git_dir, c.path, files[i]);
        assert_int_equal(copy(&c, LIMIT), 0);
    }
    tmpdir_write(s->w->repo, "other", "forged");
    other = git_output(s->w->repo, "hash-object", "-w", "other", NULL);
    other[strcspn(other, "\n")] = '\0';
    target = al_asprintf("objects/%.2s/%s", other, other + 2);
    assert_int_equal(unlinkat(c.git_dir->fd, c.path, 0), 0);
    assert_int_equal(linkat(c.git_dir->fd, target, c.git_dir->fd, c.path, 0), 0);
    assert_int_equal(copy(&c, LIMIT), 0);
    assert_false(al_objects_has(&c.objects, &c.oid));
}

/* No link is followed, and nothing waits. */
static void opens_only_files(void **state)
{
    struct saver *s = *state;
    al_auto(copying_clear) struct copying c = begin(s, "x", 1);
    al_auto(al_freep) char *moved = al_asprintf("%s.moved", c.path);
    al_auto(al_freep) char *name = al_asprintf("%s.moved", c.text + 2);

    assert_int_equal(renameat(c.git_dir->fd, c.path, c.git_dir->fd, moved), 0);
    assert_int_equal(symlinkat(name, c.git_dir->fd, c.path), 0);
    assert_int_equal(copy(&c, LIMIT), 0);
    assert_int_equal(unlinkat(c.git_dir->fd, c.path, 0), 0);
    assert_int_equal(mkfifoat(c.git_dir->fd, c.path, 0600), 0);
    assert_int_equal(copy(&c, LIMIT), 0);
    assert_int_equal(unlinkat(c.git_dir->fd, c.path, 0), 0);
    assert_int_equal(renameat(c.git_dir->fd, moved, c.git_dir->fd, c.path), 0);
    assert_int_equal(copy(&c, LIMIT), 1); /* the control */
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SAVER_TEST(copies_a_blob),
        SAVER_TEST(copies_up_to_a_limit),
        SAVER_TEST(copies_up_to_its_own_limit),
        SAVER_TEST(copies_no_other_object),
        SAVER_TEST(copies_no_forged_file),
        SAVER_TEST(opens_only_files),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("checkpoint/loose_object", tests, NULL, NULL);
}
