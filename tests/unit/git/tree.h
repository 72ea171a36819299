// SPDX-License-Identifier: Apache-2.0
/* The whole of a repository as one text, to see whether it is what it was: every file with its mode
 * and content, the git directory included but for objects and logs. */
#ifndef TESTS_UNIT_GITOPS_TREE_H
#define TESTS_UNIT_GITOPS_TREE_H

#include <dirent.h>

#include "tests/unit/git/lib.h"

static inline int tree_compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static inline bool tree_leaves_out(const char *path)
{
    return !strcmp(path, ".git/objects") || !strcmp(path, ".git/logs") ||
           !strcmp(path, ".git/hooks");
}

static inline void tree_add(const struct tmpdir *dir, const char *path, struct al_strv *lines)
{
    al_auto(al_freep) char *abs = tmpdir_path(dir, path);
    struct stat st;

    assert_int_equal(lstat(abs, &st), 0);
    if (S_ISDIR(st.st_mode)) {
        DIR *listing = opendir(abs);
        struct dirent *entry;

        assert_non_null(listing);
        while ((entry = readdir(listing))) {
            al_auto(al_freep) char *below =
                *path ? al_fs_join(path, entry->d_name) : al_strdup(entry->d_name);

            if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
                !tree_leaves_out(below))
                tree_add(dir, below, lines);
        }
        (void)closedir(listing);
        if (*path)
            al_strv_addf(lines, "%s/", path);
    } else if (S_ISLNK(st.st_mode)) {
        char target[256] = "";

        assert_true(readlink(abs, target, sizeof(target) - 1) >= 0);
        al_strv_addf(lines, "%s -> %s", path, target);
    } else {
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
        al_auto(al_str_clear) struct al_str hex = AL_STR_INIT;

        assert_int_equal(al_fs_read(AT_FDCWD, abs, 1u << 20, &text), 0);
        for (size_t i = 0; i < text.len; i++)
            al_str_addf(&hex, "%02x", (unsigned char)text.buf[i]);
        al_strv_addf(lines, "%s %03o %s", path, (unsigned)st.st_mode & 0777, hex.buf);
    }
}

/* Caller frees. */
static inline char *tree_text(const struct tmpdir *dir)
{
    al_auto(al_strv_clear) struct al_strv lines = AL_STRV_INIT;
    struct al_str text = AL_STR_INIT;

    tree_add(dir, "", &lines);
    qsort(lines.items, lines.count, sizeof(*lines.items), tree_compare);
    for (size_t i = 0; i < lines.count; i++)
        al_str_addf(&text, "%s\n", lines.items[i]);
    return al_str_detach(&text);
}

/* Two such texts are the same; the first line that is not is shown. */
static inline void assert_same_tree(const char *was, const char *is)
{
    const char *a = was, *b = is;

    if (!strcmp(was, is))
        return;
    while (*a && strcspn(a, "\n") == strcspn(b, "\n") && !strncmp(a, b, strcspn(a, "\n") + 1)) {
        a += strcspn(a, "\n") + 1;
        b += strcspn(b, "\n") + 1;
    }
    print_message("# was: %.*s\n# is:  %.*s\n", (int)strcspn(a, "\n"), a, (int)strcspn(b, "\n"), b);
    fail();
}

#endif
