// SPDX-License-Identifier: Apache-2.0
/* A scratch directory, removed after the test.  A failure ends the test. */
#ifndef TESTS_LIB_TMPDIR_H
#define TESTS_LIB_TMPDIR_H

#include <stddef.h>

struct tmpdir {
    char *path; /* canonical */
    int fd;
};

struct tmpdir *tmpdir_new(void);
void tmpdir_free(struct tmpdir *dir);

/* All names are relative to the directory; missing parent directories are created. */
void tmpdir_mkdir(struct tmpdir *dir, const char *name);
void tmpdir_write(struct tmpdir *dir, const char *name, const char *text);
void tmpdir_write_bytes(struct tmpdir *dir, const char *name, const void *data, size_t len);
void tmpdir_symlink(struct tmpdir *dir, const char *target, const char *name);

/* The absolute path of a name; the content of a file (NULL when missing).  Caller frees. */
char *tmpdir_path(const struct tmpdir *dir, const char *name);
char *tmpdir_read(const struct tmpdir *dir, const char *name);

#endif
