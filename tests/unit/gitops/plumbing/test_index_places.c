// SPDX-License-Identifier: Apache-2.0
/* gitops/plumbing/index_places.h: what is near some paths is never left out. */
#include "gitops/plumbing/index_places.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/gitops/tree.h"

#define RUN 3 /* entries of a place */

/** An index that is open, and what it is known by. */
struct index {
    int fd;
    struct al_file_id id;
    struct al_oid end;
};

static void index_clear(struct index *index)
{
    al_close(index->fd);
}

static struct index open_index(struct world *w)
{
    struct index index = { .fd = openat(w->repo->fd, ".git/index", O_RDONLY | O_CLOEXEC) };
    struct stat st;

    assert_true(index.fd >= 0);
    assert_int_equal(fstat(index.fd, &st), 0);
    assert_int_equal(pread(index.fd, index.end.bytes, 20, st.st_size - 20), 20);
    index.id = al_file_id_from(&st);
    return index;
}

/* Places of RUN entries each. */
static struct al_index_places find_places(const struct index *index)
{
    struct al_index_places places = AL_INDEX_PLACES_INIT;
    al_auto(al_str_clear) struct al_str name = AL_STR_INIT;
    const size_t size = (size_t)lseek(index->fd, 0, SEEK_END);
    al_auto(al_freep) unsigned char *data = al_malloc(size);
    size_t at = AL_INDEX_HEADER_BYTES;
    uint32_t count;

    assert_int_equal(pread(index->fd, data, size, 0), size);
    assert_true(al_index_parse_header(data, &places.version, &count));
    places.items = al_calloc(count / RUN + 1, sizeof(*places.items));
    for (uint32_t nread = 1; nread <= count; nread++) {
        struct al_index_place *place = &places.items[places.count];
        struct al_index_entry entry;
        size_t len;

        assert_true(
            al_index_parse_entry(data + at, size - at, places.version, 20, &name, &entry, &len));
        if (!place->nentries++)
            place->offset = at;
        at += len;
        place->bytes = (uint32_t)(at - place->offset);
        if (nread % RUN && nread < count)
            continue;
        place->end = (uint32_t)places.ends.len;
        al_str_add(&places.ends, entry.name, strlen(entry.name) + 1);
        places.count++;
    }
    return places;
}

static void remember(const struct index *index)
{
    struct al_index_places places = find_places(index);

    al_index_places_remember(&index->id, &index->end, false, &places);
    assert_int_equal(places.count, 0);
}

/* A line for each entry. */
static bool take(void *payload, const struct al_index_entry *entry)
{
    al_strv_addf(payload, "%s %o %u %02x%02x %u %u", entry->name, entry->mode, entry->stage,
                 entry->oid[0], entry->oid[19], entry->mtime_ns, entry->intent_to_add);
    return true;
}

static struct al_strv read_near(const struct index *index, const char *first, const char *second)
{
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    struct al_strv found = AL_STRV_INIT;

    al_strv_adds(&paths, first, second, NULL);
    assert_int_equal(al_index_read_near(index->fd, 20, &paths, take, &found), AL_INDEX_WHOLE);
    return found;
}

/* At the path, below it, or a directory of it. */
static bool is_near(const char *line, const char *path)
{
    size_t len = strcspn(line, " "), path_len = strlen(path);
    size_t same = len < path_len ? len : path_len;

    return !strncmp(line, path, same) &&
           (len == path_len || (len > path_len ? line : path)[same] == '/');
}

/* Everything near is given, in order and as it is. */
static void assert_all_near(const struct index *index, const struct al_strv *all, const char *first,
                            const char *second)
{
    al_auto(al_strv_clear) struct al_strv found = read_near(index, first, second);
    size_t at = 0;

    for (size_t i = 0; i < all->count; i++) {
        bool is_here = at < found.count && !strcmp(found.items[at], all->items[i]);

        at += is_here;
        if (is_near(all->items[i], first) || (second && is_near(all->items[i], second)))
            assert_true(is_here);
    }
    assert_int_equal(at, found.count);
    assert_true(found.count <= (second ? 24 : 15)); /* and not everything */
}

static void make_entries(struct world *w)
{
    static const char *const names[] = { "a",     "a-b",   "a.c",   "a0",   "b/a", "b/b/c",
                                         "b/b/d", "b/b-c", "b0",    "c/x",  "c/y", "c/z/1",
                                         "c/z/2", "c-d/1", "z\xff", "zz/1", "zz/2" };

    for (size_t i = 0; i < COUNT(names); i++)
        tmpdir_write(w->repo, names[i], "one\n");
    for (int i = 0; i < 40; i++) {
        al_auto(al_freep) char *name = al_asprintf("many/%02d", i);

        tmpdir_write(w->repo, name, "two\n");
    }
    git_ok(w->repo, "add", "-A", NULL);
}

/* Three sides of a conflict, which may be in two places. */
static void make_conflict(struct world *w)
{
    al_auto(al_freep) char *oid = git_output(w->repo, "rev-parse", ":a", NULL);
    al_auto(al_freep) char *lines = NULL;

    oid[strcspn(oid, "\n")] = '\0';
    lines =
        al_asprintf("100644 %s 1\tc/conflict\n100644 %s 2\tc/conflict\n100644 %s 3\tc/conflict\n",
                    oid, oid, oid);
    tmpdir_write(w->repo, "lines", lines);
    git_ok(w->repo, "-c", "alias.k=!git update-index --index-info <lines", "k", NULL);
}

static void assert_index(struct world *w)
{
    static const char *const paths[] = { "a",          "a-b",        "b",       "b/b",  "b/b/c",
                                         "b/b/c/more", "c/conflict", "c/z",     "c",    "many/17",
                                         "z",          "zz",         "nothing", "\x01", "\xff" };
    al_auto(al_strv_clear) struct al_strv all = AL_STRV_INIT;
    al_auto(index_clear) struct index index = open_index(w);

    assert_int_equal(al_index_read(index.fd, 20, take, &all), AL_INDEX_WHOLE);
    remember(&index);
    for (size_t i = 0; i < COUNT(paths); i++) {
        assert_all_near(&index, &all, paths[i], NULL);
        assert_all_near(&index, &all, paths[i], "many/39");
    }
}

static void gives_what_is_near(void **state)
{
    struct world *w = *state;

    make_entries(w);
    assert_index(w);
    make_conflict(w);
    assert_index(w);
    git_ok(w->repo, "update-index", "--index-version", "4", NULL);
    assert_index(w);
    git_ok(w->repo, "add", "-N", "lines", NULL);
    assert_index(w);
    git_ok(w->repo, "update-index", "--index-version", "3", NULL);
    assert_index(w);
}

/* Places of another index do not count, and all is read. */
static void reads_another_index_whole(void **state)
{
    struct world *w = *state;
    al_auto(al_strv_clear) struct al_strv all = AL_STRV_INIT;

    make_entries(w);
    al_auto(index_clear) struct index index = open_index(w);
    assert_int_equal(al_index_read(index.fd, 20, take, &all), AL_INDEX_WHOLE);
    for (int field = 0; field < 7; field++) {
        struct index other = index;
        al_auto(al_strv_clear) struct al_strv found = AL_STRV_INIT;

        other.id.dev ^= field == 0;
        other.id.ino ^= field == 1;
        other.id.size ^= field == 2;
        other.id.mtime_ns ^= field == 3;
        other.id.ctime_ns ^= field == 4;
        other.end.bytes[19] ^= field == 5;
        other.end = field == 6 ? (struct al_oid){ .bytes = { 0 } } : other.end;
        remember(&index); /* the last one counts */
        remember(&other);
        if (field < 2)
            continue;
        found = read_near(&index, "a", NULL);
        assert_int_equal(found.count, all.count);
    }
}

/* More paths than AL_INDEX_NEAR_MAX are all found as well. */
static void reads_all_for_many_paths(void **state)
{
    struct world *w = *state;
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT, all = AL_STRV_INIT;

    make_entries(w);
    al_auto(index_clear) struct index index = open_index(w);
    remember(&index);
    assert_int_equal(al_index_read(index.fd, 20, take, &all), AL_INDEX_WHOLE);
    for (size_t i = 1; i <= AL_INDEX_NEAR_MAX + 1; i++) {
        al_auto(al_strv_clear) struct al_strv found = AL_STRV_INIT;

        al_strv_add(&paths, "a");
        assert_int_equal(al_index_read_near(index.fd, 20, &paths, take, &found), AL_INDEX_WHOLE);
        if (i <= AL_INDEX_NEAR_MAX)
            assert_true(found.count < 15);
        else
            assert_int_equal(found.count, all.count);
    }
}

/* Places that do not fit are noticed. */
static void does_not_believe_wrong_places(void **state)
{
    struct world *w = *state;

    make_entries(w);
    al_auto(index_clear) struct index index = open_index(w);
    for (int wrong = 0; wrong < 5; wrong++) {
        al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT, found = AL_STRV_INIT;
        struct al_index_places places = find_places(&index);

        places.items[0].offset += wrong == 0 ? 4 : 0;
        places.items[0].bytes += wrong == 1 ? 8 : 0;
        places.items[0].bytes -= wrong == 2 ? 8 : 0;
        places.items[0].nentries += wrong == 3;
        places.items[0].bytes = wrong == 4 ? UINT32_MAX : places.items[0].bytes;
        al_index_places_remember(&index.id, &index.end, false, &places);
        al_strv_add(&paths, "a");
        assert_int_equal(al_index_read_near(index.fd, 20, &paths, take, &found),
                         AL_INDEX_NOT_UNDERSTOOD);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(gives_what_is_near),
        WORLD_TEST(reads_another_index_whole),
        WORLD_TEST(reads_all_for_many_paths),
        WORLD_TEST(does_not_believe_wrong_places),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/plumbing/index_places", tests, NULL, NULL);
}
