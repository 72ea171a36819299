// SPDX-License-Identifier: Apache-2.0
/*
 * Shared by the fuzz targets: splitting an input into parts, and reporting a broken promise.
 *
 * A target is one file with one LLVMFuzzerTestOneInput().  libFuzzer drives it in a fuzz build
 * (-Dfuzz=true); in every other build replay.c feeds it the files of its corpus.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Name the promise that was broken and abort. */
#define fuzz_require(promise) ((promise) ? (void)0 : fuzz_broken(#promise, __FILE__, __LINE__))
_Noreturn void fuzz_broken(const char *promise, const char *file, int line);

/* An input, consumed from the front. */
struct fuzz_input {
    const char *data;
    size_t len;
};

/* The next byte; 0 when none is left. */
uint8_t fuzz_byte(struct fuzz_input *input);

/* The rest, in a buffer of exactly its size, so that a sanitizer sees a read beyond its end. Caller
 * frees. */
char *fuzz_bytes(const struct fuzz_input *input);

/* The rest up to a NUL, as a string of its own.  Caller frees. */
char *fuzz_string(const struct fuzz_input *input);

/* How many of `left` bytes (at least 1) to feed next.  `state` starts as a byte of the input, so
 * the input decides every split. */
size_t fuzz_piece(uint32_t *state, size_t left);

/* Require text that is safe to show: UTF-8; no control characters except tab, LF and CR before LF;
 * nothing invisible; nothing that reorders the line. */
bool fuzz_is_safe(const char *text, size_t len);

/* Require the same, on one line. */
bool fuzz_is_safe_line(const char *text);

#endif
