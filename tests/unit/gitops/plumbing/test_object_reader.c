// SPDX-License-Identifier: Apache-2.0
/* gitops/plumbing/object_reader.h, tree_diff.h: trees and commits that no git writes are left to
 * git. */
#include "gitops/plumbing/object_reader.h"

#include <fcntl.h>
#include <stdlib.h>
#include <zlib.h>

#include "gitops/plumbing/tree_diff.h"
#include "tests/lib/assert.h"
#include "tests/lib/tmpdir.h"
#include "util/mem.h"

#define OID "12345678901234567890"

/* Write a loose object. */
static struct al_oid store(struct tmpdir *dir, enum al_object_type type, const char *data,
                           size_t len)
{
    static const char *const names[] = { "", "commit", "tree", "blob" };
    al_auto(al_str_clear) struct al_str whole = AL_STR_INIT;
    al_auto(al_freep) unsigned char *bytes = NULL;
    al_auto(al_freep) char *path = NULL;
    uLongf room;
    char text[AL_OID_TEXT];
    struct al_oid oid;

    al_oid_of(false, type, data, len, &oid);
    al_oid_text(&oid, false, text);
    al_str_addf(&whole, "%s %zu", names[type], len);
    al_str_addc(&whole, '\0');
    al_str_add(&whole, data, len);
    room = compressBound((uLong)whole.len);
    bytes = al_malloc(room);
    assert_int_equal(compress(bytes, &room, (const unsigned char *)whole.buf, (uLong)whole.len),
                     Z_OK);
    path = al_asprintf("objects/%.2s/%s", text, text + 2);
    tmpdir_write_bytes(dir, path, bytes, room);
    return oid;
}

static struct al_object_reader reader_of(struct tmpdir *dir)
{
    struct al_object_reader reader = AL_OBJECT_READER_INIT;

    reader.common_fd = fcntl(dir->fd, F_DUPFD_CLOEXEC, 0);
    assert_true(reader.common_fd >= 0);
    return reader;
}

static bool count(void *payload, const struct al_tree_change *change)
{
    size_t *counter = payload;

    assert_true(*change->path && change->new_mode);
    ++*counter;
    return true;
}

/* How many entries a tree has; -1: it is left to git. */
static int entries_of(const char *data, size_t len)
{
    struct tmpdir *dir = tmpdir_new();
    struct al_oid oid = store(dir, AL_OBJECT_TREE, data, len);
    al_auto(al_object_reader_clear) struct al_object_reader reader = reader_of(dir);
    size_t counter = 0;
    bool told = al_tree_diff(&reader, NULL, &oid, count, &counter);

    tmpdir_free(dir);
    return told ? (int)counter : -1;
}

static void a_tree_is_one_that_git_writes(void **state)
{
#define ROW(bytes, expected)                                                                       \
    {                                                                                              \
        bytes, sizeof(bytes) - 1, expected                                                         \
    }
    static const struct {
        const char *bytes;
        size_t len;
        int expected;
    } rows[] = {
        ROW("", 0),
        ROW("100644 a\0" OID, 1),
        ROW("100755 a\0" OID, 1),
        ROW("100664 a\0" OID, 1), /* as git of 2005 did */
        ROW("120000 a\0" OID, 1),
        ROW("160000 a\0" OID, 1),
        ROW("100644 a\0" OID "100644 b\0" OID, 2),
        ROW("100644 .gitx\0" OID "100644 ...\0" OID, -1), /* unsorted */
        ROW("100644 ...\0" OID "100644 .gitx\0" OID, 2),
        ROW("100644 b\0" OID "100644 a\0" OID, -1),
        ROW("100644 a\0" OID "100644 a\0" OID, -1), /* twice */
        ROW("100644 a\0" OID "100644 a-\0" OID "40000 a\0" OID, -1),
        ROW("40000 a\0" OID, -1),                   /* which is not there */
        ROW("40000 a\0" OID "100644 a-\0" OID, -1), /* a directory sorts as "a/" */
        ROW("100644 \0" OID, -1),                   /* names */
        ROW("100644 a/b\0" OID, -1),
        ROW("100644 /\0" OID, -1),
        ROW("100644 .\0" OID, -1),
        ROW("100644 ..\0" OID, -1),
        ROW("100644 .git\0" OID, -1),
        ROW("100644 .GIT\0" OID, -1),
        ROW("120000 .git\0" OID, -1),
        ROW(" a\0" OID, -1), /* modes */
        ROW("0 a\0" OID, -1),
        ROW("644 a\0" OID, -1),
        ROW("10644 a\0" OID, -1),
        ROW("60644 a\0" OID, -1),
        ROW("140000 a\0" OID, -1),
        ROW("170000 a\0" OID, -1),
        ROW("177777 a\0" OID, -1),
        ROW("120777 a\0" OID, -1),
        ROW("160001 a\0" OID, -1),
        ROW("1100644 a\0" OID, -1),
        ROW("77777777777777777777777100644 a\0" OID, -1),
        ROW("100648 a\0" OID, -1),
        ROW("x00644 a\0" OID, -1),
        ROW("-100644 a\0" OID, -1),
        ROW("100644", -1), /* ends */
        ROW("100644 ", -1),
        ROW("100644 a", -1),
        ROW("100644 a\0", -1),
        ROW("100644 a\0"
            "1234567890123456789",
            -1),
        ROW("100644 a\0" OID "1", -1),
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        if (entries_of(rows[i].bytes, rows[i].len) != rows[i].expected)
            fail_msg("row %zu: %d", i, entries_of(rows[i].bytes, rows[i].len));
}

/* Names of trees in git's order: a directory sorts as if a slash followed. */
static void directories_sort_as_in_git(void **state)
{
    struct tmpdir *dir = tmpdir_new();
    struct al_oid below = store(dir, AL_OBJECT_TREE, "100644 f\0" OID, 29);
    al_auto(al_object_reader_clear) struct al_object_reader reader = reader_of(dir);
    al_auto(al_str_clear) struct al_str tree = AL_STR_INIT;
    size_t counter = 0;
    struct al_oid top;

    (void)state;
    al_str_add(&tree, "100644 a-\0" OID, 30);
    al_str_add(&tree, "40000 a\0", 8);
    al_str_add(&tree, (const char *)below.bytes, 20);
    al_str_add(&tree, "100644 a0\0" OID, 30);
    top = store(dir, AL_OBJECT_TREE, tree.buf, tree.len);
    assert_true(al_tree_diff(&reader, NULL, &top, count, &counter));
    assert_int_equal(counter, 3);
    tmpdir_free(dir);
}

#define HEX   "1234567890123456789012345678901234567890"
#define OTHER "abcdefabcdefabcdefabcdefabcdefabcdefabcd"

static void a_commit_begins_as_git_writes_it(void **state)
{
    static const struct {
        const char *text;
        int parents; /* -1: it is none */
    } rows[] = {
        { "tree " HEX "\nauthor x\n\nparent " OTHER "\n", 0 },
        { "tree " HEX "\n", 0 },
        { "tree " HEX "\nparent " OTHER "\n", 1 },
        { "tree " HEX "\nparent " OTHER "\nparent " HEX "\n\nx\n", 2 },
        { "tree " HEX, -1 },
        { "tree " HEX " \n", -1 },
        { "tree " HEX "x\nparent " OTHER "\n", -1 },
        { "tree " HEX "0\n", -1 },
        { "tree  " HEX "\n", -1 },
        { "parent " HEX "\n", -1 },
        { "", -1 },
        { "tree ", -1 },
        { "tree 1234\n", -1 },
        { "tree " HEX "\nparent \n", -1 },
        { "tree " HEX "\nparent 1234\n", -1 },
        { "tree " HEX "\nparent " OTHER, -1 },
        { "tree " HEX "\nparent " OTHER " \n", -1 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct tmpdir *dir = tmpdir_new();
        struct al_oid tree, oid = store(dir, AL_OBJECT_COMMIT, rows[i].text, strlen(rows[i].text));
        al_auto(al_object_reader_clear) struct al_object_reader reader = reader_of(dir);
        al_auto(al_strv_clear) struct al_strv parents = AL_STRV_INIT;
        char text[AL_OID_TEXT];
        bool got;

        al_oid_text(&oid, false, text);
        got = al_object_reader_commit(&reader, text, &tree, &parents);
        if (got != (rows[i].parents >= 0) || (got && (int)parents.count != rows[i].parents))
            fail_msg("row %zu", i);
        tmpdir_free(dir);
    }
}

/* The right objects in the files of others, and what is no object at all. */
static void an_object_is_under_its_id(void **state)
{
    struct tmpdir *dir = tmpdir_new();
    struct al_oid one = store(dir, AL_OBJECT_BLOB, "one\n", 4);
    struct al_oid two = store(dir, AL_OBJECT_BLOB, "two\n", 4);
    al_auto(al_object_reader_clear) struct al_object_reader reader = reader_of(dir);
    al_auto(al_loose_object_clear) struct al_loose_object object = { .data = NULL };
    char a[AL_OID_TEXT], b[AL_OID_TEXT];
    al_auto(al_freep) char *from = NULL;
    al_auto(al_freep) char *to = NULL;

    (void)state;
    al_oid_text(&one, false, a);
    al_oid_text(&two, false, b);
    from = al_asprintf("objects/%.2s/%s", a, a + 2);
    to = al_asprintf("objects/%.2s/%s", b, b + 2);
    assert_false(al_object_reader_get(&reader, &one, AL_OBJECT_TREE, &object));
    assert_true(al_object_reader_get(&reader, &one, AL_OBJECT_BLOB, &object));
    assert_int_equal(renameat(dir->fd, from, dir->fd, to), 0);
    al_loose_object_clear(&object);
    assert_false(al_object_reader_get(&reader, &two, AL_OBJECT_BLOB, &object));
    tmpdir_write(dir, to, "");
    assert_false(al_object_reader_get(&reader, &two, AL_OBJECT_BLOB, &object));
    tmpdir_write(dir, to, "blob 4");
    assert_false(al_object_reader_get(&reader, &two, AL_OBJECT_BLOB, &object));
    tmpdir_free(dir);
}

/* A location may have new objects beside those of the repository. */
static void new_objects_are_read_as_well(void **state)
{
    struct tmpdir *dir = tmpdir_new();
    struct tmpdir *more = tmpdir_new();
    struct al_oid one = store(dir, AL_OBJECT_BLOB, "one\n", 4);
    struct al_oid two = store(more, AL_OBJECT_BLOB, "two\n", 4);
    al_auto(al_object_reader_clear) struct al_object_reader reader = reader_of(dir);
    al_auto(al_loose_object_clear) struct al_loose_object first = { .data = NULL };
    al_auto(al_loose_object_clear) struct al_loose_object second = { .data = NULL };

    (void)state;
    assert_false(al_object_reader_get(&reader, &two, AL_OBJECT_BLOB, &second));
    reader.new_fd = fcntl(more->fd, F_DUPFD_CLOEXEC, 0);
    assert_true(al_object_reader_get(&reader, &two, AL_OBJECT_BLOB, &second));
    assert_true(al_object_reader_get(&reader, &one, AL_OBJECT_BLOB, &first));
    assert_string_equal(first.data, "one\n");
    assert_string_equal(second.data, "two\n");
    assert_false(al_object_reader_get(&reader, &two, AL_OBJECT_TREE, &second));
    tmpdir_free(dir);
    tmpdir_free(more);
}

static void so_many_objects_are_read(void **state)
{
    struct tmpdir *dir = tmpdir_new();
    struct al_oid one = store(dir, AL_OBJECT_BLOB, "one\n", 4);
    al_auto(al_object_reader_clear) struct al_object_reader reader = reader_of(dir);

    (void)state;
    for (unsigned i = 0; i <= AL_READER_OBJECTS_MAX; i++) {
        al_auto(al_loose_object_clear) struct al_loose_object object = { .data = NULL };

        assert_int_equal(al_object_reader_get(&reader, &one, AL_OBJECT_BLOB, &object),
                         i < AL_READER_OBJECTS_MAX);
    }
    tmpdir_free(dir);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_is_one_that_git_writes),
        cmocka_unit_test(directories_sort_as_in_git),
        cmocka_unit_test(a_commit_begins_as_git_writes_it),
        cmocka_unit_test(an_object_is_under_its_id),
        cmocka_unit_test(new_objects_are_read_as_well),
        cmocka_unit_test(so_many_objects_are_read),
    };

    return cmocka_run_group_tests_name("gitops/plumbing/object_reader", tests, NULL, NULL);
}
