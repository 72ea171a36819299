// SPDX-License-Identifier: Apache-2.0
/* verbs/inmemory/inmemory.h: what is taken for the output of git merge-tree has paths that
 * come once, and sides that are whole. */
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"
#include "verbs/inmemory/inmemory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = { (const char *)data, size };
    const bool sha256 = fuzz_byte(&input) & 1;
    al_auto(al_freep) char *text = fuzz_bytes(&input);
    struct al_merged merged;

    if (!al_merge_output_parse(text, input.len, sha256, &merged))
        return 0;
    fuzz_require(strlen(merged.tree) == (sha256 ? 64 : 40));
    for (size_t i = 0; i < merged.files.count; i++) {
        const struct al_conflict *conflict = &merged.files.items[i];

        fuzz_require(!i || strcmp(merged.files.items[i - 1].path, conflict->path) != 0);
        for (size_t k = 0; k < AL_STAGES; k++) {
            const size_t len = conflict->sides[k].oid ? strlen(conflict->sides[k].oid) : 40;

            fuzz_require(len == 40 || len == 64);
        }
    }
    al_merged_clear(&merged);
    return 0;
}
