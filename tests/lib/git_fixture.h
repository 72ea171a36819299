// SPDX-License-Identifier: Apache-2.0
/*
 * Real git in a scratch repository, with a fixed clock and a fixed identity, and without the
 * configuration of the user who runs the tests.
 */
#ifndef TESTS_LIB_GIT_FIXTURE_H
#define TESTS_LIB_GIT_FIXTURE_H

#include "tests/lib/tmpdir.h"

/* Set HOME, GIT_* and the clock for this process and its children.  Call this first. */
void git_fixture_environment(struct tmpdir *home);

/* Run `git <args…>` in dir (NULL-terminated); the test fails when git does. */
void git_ok(const struct tmpdir *dir, ...) __attribute__((sentinel));

/* Run `git <args…>` and give its standard output.  Caller frees. */
char *git_output(const struct tmpdir *dir, ...) __attribute__((sentinel));

/* Run `git <args…>` and give its exit code. */
int git_status_of(const struct tmpdir *dir, ...) __attribute__((sentinel));

/* `git init` with branch main; a commit of one file. */
void git_fixture_init(struct tmpdir *dir);
void git_fixture_commit(struct tmpdir *dir, const char *name, const char *text,
                        const char *message);

#endif
