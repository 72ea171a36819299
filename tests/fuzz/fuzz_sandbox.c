// SPDX-License-Identifier: Apache-2.0
/* staging/sandbox/sandbox.h: an accepted path leads nowhere but below the sandbox, and the sandbox
 * takes what the path check takes.  Up to the first newline the input is a path; the rest is a
 * pattern.
 */
#include <limits.h>
#include <stdlib.h>

#include "guard/gitdir.h"
#include "staging/sandbox/sandbox.h"
#include "tests/fuzz/fuzz.h"

static void require_components(const char *path)
{
    for (const char *at = path; *at;) {
        size_t len = strcspn(at, "/");

        fuzz_require(len > 0 && len <= NAME_MAX);
        fuzz_require(!(len == 1 && at[0] == '.') && !(len == 2 && !strncmp(at, "..", 2)));
        at += len;
        fuzz_require(!*at || at[1]);
        at += *at == '/';
    }
    fuzz_require(!al_path_has_dot_git(path));
    for (const char *at = path; *at; at++)
        fuzz_require((unsigned char)*at >= 0x20 && *at != 0x7f);
}

/* A file of this path can be written, found by its own name as a pattern, read and removed. */
static void require_file(const char *path)
{
    const struct al_sandbox_options options = { .max_bytes = 1u << 16 };
    struct al_sandbox *sandbox;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;

    fuzz_require(al_sandbox_new(&options, &sandbox, NULL) == 0);
    fuzz_require(al_sandbox_write(sandbox, path, "x", 1, NULL) == 0);
    fuzz_require(al_sandbox_read(sandbox, path, 0, 9, &text, NULL, NULL) == 0 && text.len == 1);
    fuzz_require(al_sandbox_list(sandbox, "", NULL, &paths, NULL) == 0 && paths.count == 1);
    fuzz_require(!strcmp(paths.items[0], path));
    fuzz_require(al_sandbox_remove(sandbox, path, NULL, NULL) == 0);
    fuzz_require(al_sandbox_remove(sandbox, path, NULL, NULL) == AL_ERR_NOT_FOUND);
    al_sandbox_free(sandbox);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = { (const char *)data, size };
    al_auto(al_freep) char *text = fuzz_string(&input);
    char *pattern = strchr(text, '\n');
    al_auto(al_freep) char *path = NULL;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    if (pattern)
        *pattern++ = '\0';
    if (al_sandbox_path(text, &path, &err) == 0) {
        require_components(path);
        if (*path)
            require_file(path);
        fuzz_require(!*path || al_sandbox_match("**", path));
        if (pattern)
            (void)al_sandbox_match(pattern, path);
    } else {
        fuzz_require(err.status == AL_ERR_BAD_ARGS || err.status == AL_ERR_SANDBOX);
        fuzz_require(fuzz_is_safe_line(err.message));
    }
    return 0;
}
