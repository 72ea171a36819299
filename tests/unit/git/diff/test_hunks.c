// SPDX-License-Identifier: Apache-2.0
/* git/diff/diff.c: hunks begin and end where the patch says, whatever the content is and
 * however the input is split. */
#include "git/diff/diff.h"

#include "base/str.h"
#include "tests/lib/assert.h"

/** What the parser passed on: the patch again, and a line for each hunk. */
struct seen {
    struct al_str patch, hunks;
    size_t body_len; /* bytes of the current hunk */
    bool open, ended;
};

static void close_hunk(struct seen *seen)
{
    if (seen->open)
        al_str_addf(&seen->hunks, " %zu\n", seen->body_len);
    seen->open = false;
    seen->body_len = 0;
}

static void take_line(void *payload, const struct al_patch_line *line)
{
    struct seen *seen = payload;
    const struct al_hunk *head = line->head;

    assert_true(seen->ended); /* only the last line has no newline */
    seen->ended = line->ended;
    al_str_add(&seen->patch, line->text, line->len);
    al_str_adds(&seen->patch, line->ended ? "\n" : "");
    if (line->in_hunk) {
        assert_true(seen->open && !head);
        seen->body_len += line->len + line->ended;
        return;
    }
    close_hunk(seen);
    seen->open = head != NULL;
    if (head)
        al_str_addf(&seen->hunks, "%s %d,%d %d,%d [%.*s]", head->file, (int)head->old_start,
                    (int)head->old_lines, (int)head->new_start, (int)head->new_lines,
                    (int)head->header_len, head->header);
}

/* Parse a patch that arrives in `count` parts. */
static void reads_parts(const struct al_str *parts, size_t count, size_t files, struct seen *seen)
{
    al_auto(al_hunks_clear) struct al_hunks hunks = AL_HUNKS_INIT(take_line, seen);

    *seen = (struct seen){ .patch = AL_STR_INIT, .hunks = AL_STR_INIT, .ended = true };
    for (size_t i = 0; i < count; i++) {
        /* memory of its own, so that reading one byte too many is detected */
        al_auto(al_freep) char *part = al_calloc(parts[i].len + !parts[i].len, 1);

        memcpy(part, parts[i].buf, parts[i].len);
        al_hunks_add(&hunks, part, parts[i].len);
    }
    al_hunks_end(&hunks);
    close_hunk(seen);
    assert_int_equal(hunks.files, files);
}

static void clear_seen(struct seen *seen)
{
    al_str_clear(&seen->patch);
    al_str_clear(&seen->hunks);
}

/* The number of files, then one line for each hunk: file, ranges, header, bytes of its lines. The
 * result must not depend on where the input is split. */
static void reads(const char *patch, size_t files, const char *wanted)
{
    size_t len = strlen(patch);

    for (size_t at = 0; at <= len; at++) {
        for (size_t piece = 1; piece <= 3; piece += 2) {
            size_t middle = at + piece < len ? at + piece : len;
            const struct al_str parts[] = {
                { .buf = (char *)patch, .len = at },
                { .buf = (char *)patch + at, .len = middle - at },
                { .buf = (char *)patch + middle, .len = len - middle },
            };
            al_auto(clear_seen) struct seen seen;

            reads_parts(parts, COUNT(parts), files, &seen);
            assert_string_equal(seen.hunks.buf, wanted);
            assert_string_equal(seen.patch.buf, patch);
        }
    }
}

#define FILE_A "diff --git a/a b/a\nindex 1..2 100644\n--- a/a\n+++ b/a\n"

static void plain_hunks(void **state)
{
    (void)state;
    reads("", 0, "");
    reads(FILE_A "@@ -1,2 +1,2 @@ int main(void)\n x\n-y\n+z\n", 1,
          "a 1,2 1,2 [int main(void)] 9\n");
    reads(FILE_A "@@ -1 +1 @@\n-y\n+z\n@@ -9,0 +9 @@\n+w\n", 1, "a 1,1 1,1 [] 6\na 9,0 9,1 [] 3\n");
    reads(FILE_A "@@ -1 +1 @@\n-y\n+z", 1, "a 1,1 1,1 [] 5\n");
    reads(FILE_A
          "@@ -1 +1 @@\n-y\n\\ No newline at end of file\n+z\n\\ No newline at end of file\n",
          1, "a 1,1 1,1 [] 62\n");
    reads(FILE_A "@@ -1,3 +1,3 @@\n x\n\n-y\n+z\n", 1, "a 1,3 1,3 [] 10\n");
    reads("diff --git a/a b/a\nold mode 100644\nnew mode 100755\n"
          "diff --git a/b b/b\nBinary files a/b and b/b differ\n* Unmerged path c\n",
          3, "");
}

static void names(void **state)
{
    static const struct {
        const char *header, *name;
    } facts[] = {
        { "a/x b/x", "x" },
        { "a/old b/new\nrename from old\nrename to new", "new" },
        { "a/gone b/gone\n--- a/gone\n+++ /dev/null", "gone" },
        { "a/a b b/a b\n--- a/a b\t\n+++ b/a b\t", "a b" },
        { "\"a/q\\\"\" \"b/q\\\"\"", "q\"" },
        { "\"a/\\303\\244\" \"b/\\303\\244\"", "\xc3\xa4" },
        { "\"a/\\a\\b\\t\\n\\v\\f\\r\\\\\" x", "\a\b\t\n\v\f\r\\" },
        { "\"a/\\9\\12\\\"\" x", "\\9\\12\"" },
        { "\"a/open", "open" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(facts); i++) {
        al_auto(al_freep) char *patch =
            al_asprintf("diff --git %s\n@@ -1 +1 @@\n-1\n+2\n", facts[i].header);
        al_auto(al_freep) char *wanted = al_asprintf("%s 1,1 1,1 [] 6\n", facts[i].name);

        reads(patch, 1, wanted);
    }
}

static void content_is_no_header(void **state)
{
    (void)state;
    reads(FILE_A "@@ -1,3 +1,3 @@\n--- a/x\n-diff --git a/x b/x\n-@@ -1 +1 @@\n"
                 "+++ b/y\n+@@ -5 +5 @@\n+* Unmerged path\n",
          1, "a 1,3 1,3 [] 79\n");
}

static void combined_hunks(void **state)
{
    (void)state;
    reads("diff --cc a\nindex 1,2..3\n--- a/a\n+++ b/a\n@@@ -1,2 -3,4 +5,6 @@@ head\n"
          "++<<<<<<< ours\n +x\n++=======\n+ y\n++>>>>>>> theirs\ndiff --git a/b b/b\n",
          2, "a 1,2 5,6 [head] 50\n");
    reads("diff --combined a\n--- a/a\n+++ b/a\n@@@@ -1 -1 -1 +1 @@@@\n+++x\n", 1,
          "a 1,1 1,1 [] 5\n");
}

static void what_is_no_hunk(void **state)
{
    static const char *const lines[] = {
        "@@",
        "@@ @@",
        "@@ -1 @@",
        "@@ +1 @@",
        "@@ -1 +1",
        "@@ -1 +1 @",
        "@@ -1 +1 @-@",
        "@@ -1, +1 @@",
        "@@ -,1 +1 @@",
        "@@ -a +1 @@",
        "@ -1 +1 @",
        "@@@ -1 +1 @@@",
        "@@ -1 -1 +1 @@",
        "@@ -1 +1@@",
        "@@ -2147483648 +1 @@",
        "@@ -1 +1,99999999999999999999 @@",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(lines); i++) {
        al_auto(al_freep) char *patch = al_asprintf(FILE_A "%s\n-1\n+2\n", lines[i]);

        reads(patch, 1, "");
    }
    reads("@@ -1 +1 @@\n-1\n+2\n", 0, ""); /* belongs to no file */
}

static void counts_that_lie(void **state)
{
    (void)state;
    reads(FILE_A "@@ -1,2147483647 +1,2147483647 @@\n-1\n+2\n" FILE_A, 2,
          "a 1,2147483647 1,2147483647 [] 6\n");
    reads(FILE_A "@@ -1,0 +1,0 @@\n-1\n+2\n@@ -4 +4 @@\n-1\n+2\n", 1,
          "a 1,0 1,0 [] 0\na 4,1 4,1 [] 6\n");
}

static void reads_bytes_one_by_one(void **state)
{
    static const char patch[] = FILE_A "@@ -1,2 +1,2 @@ f\n x\n-y\n+z\n@@ -9 +9 @@\n-v\n+w";
    struct al_str parts[sizeof(patch) - 1];
    al_auto(clear_seen) struct seen seen;

    (void)state;
    for (size_t i = 0; i < COUNT(parts); i++)
        parts[i] = (struct al_str){ .buf = (char *)patch + i, .len = 1 };
    reads_parts(parts, COUNT(parts), 1, &seen);
    assert_string_equal(seen.patch.buf, patch);
    assert_string_equal(seen.hunks.buf, "a 1,2 1,2 [f] 9\na 9,1 9,1 [] 5\n");
}

/* Put a patch together again. */
static void add_line(void *payload, const struct al_patch_line *line)
{
    struct al_str *out = payload;

    assert_true(line->len <= (2u << 20));
    assert_true(!line->continues || (!line->head && !line->begins_file));
    al_str_add(out, line->text, line->len);
    if (line->ended)
        al_str_addc(out, '\n');
}

static void a_long_line_comes_in_parts(void **state)
{
    static const size_t pieces[] = { 1000, 65536, 100000, 1u << 20 };
    al_auto(al_str_clear) struct al_str patch = AL_STR_INIT;

    (void)state;
    al_str_adds(&patch, "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-a\n+");
    for (int i = 0; i < 20000; i++)
        al_str_adds(&patch, "diff --git a/y b/y ");
    al_str_adds(&patch, "\n+b\ndiff --git a/z b/z\nold mode 100644\nnew mode 100755\n");
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
        al_auto(al_hunks_clear) struct al_hunks hunks = AL_HUNKS_INIT(add_line, &out);

        hunks.in_parts = true;
        for (size_t at = 0; at < patch.len; at += pieces[i])
            al_hunks_add(&hunks, patch.buf + at,
                         patch.len - at < pieces[i] ? patch.len - at : pieces[i]);
        al_hunks_end(&hunks);
        assert_string_equal(out.buf, patch.buf);
        assert_int_equal(hunks.files, 2);
        assert_string_equal(hunks.file.path, "z");
        assert_int_equal(hunks.file.mode, 0100755);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_hunks),
        cmocka_unit_test(names),
        cmocka_unit_test(content_is_no_header),
        cmocka_unit_test(combined_hunks),
        cmocka_unit_test(what_is_no_hunk),
        cmocka_unit_test(counts_that_lie),
        cmocka_unit_test(reads_bytes_one_by_one),
        cmocka_unit_test(a_long_line_comes_in_parts),
    };

    return cmocka_run_group_tests_name("gitops/hunks", tests, NULL, NULL);
}
