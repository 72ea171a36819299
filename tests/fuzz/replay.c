// SPDX-License-Identifier: Apache-2.0
/*
 * Feeds a target every file of its corpus:  replay_NAME DIRECTORY
 *
 * Inputs that a fuzzer found stay in the corpus, so every build and compiler tests them.  Each file
 * is named before it is fed: after a crash the last name is the culprit.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fs.h"
#include "tests/fuzz/fuzz.h"

#define FILE_MAX_BYTES (1u << 20)

static int is_input(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static bool feed(const char *directory, const char *name)
{
    al_auto(al_freep) char *path = al_fs_join(directory, name);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    printf("# %s\n", name);
    (void)fflush(stdout);
    if (al_fs_read(AT_FDCWD, path, FILE_MAX_BYTES, &text) < 0)
        return false;
    (void)LLVMFuzzerTestOneInput((const uint8_t *)text.buf, text.len);
    return true;
}

int main(int argc, char **argv)
{
    struct dirent **entries;
    int count, failed = 0;

    if (argc != 2)
        return 2;
    printf("1..1\n");
    count = scandir(argv[1], &entries, is_input, alphasort);
    for (int i = 0; i < count; i++) {
        if (!feed(argv[1], entries[i]->d_name)) {
            printf("# cannot read %s\n", entries[i]->d_name);
            failed++;
        }
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    printf("%s 1 - every input of the corpus is taken (%d inputs)\n",
           count > 0 && !failed ? "ok" : "not ok", count);
    return count > 0 && !failed ? 0 : 1;
}
