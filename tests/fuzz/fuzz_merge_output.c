// SPDX-License-Identifier: Apache-2.0
/* gitops/inmemory/inmemory.h: what is taken for the output of git merge-tree has paths that
 * come once and in order, and sides that are whole. */
#include <stdlib.h>

#include "gitops/inmemory/inmemory.h"
#include "tests/fuzz/fuzz.h"

static void require_side(const struct al_merge_side *side, size_t digits)
{
    const size_t mode = strlen(side->mode);

    fuzz_require(mode == 0 || mode == 6);
    fuzz_require(strlen(side->oid) == (mode ? digits : 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = { (const char *)data, size };
    const bool sha256 = fuzz_byte(&input) & 1;
    al_auto(al_freep) char *text = fuzz_bytes(&input);
    struct al_merged merged;

    if (!al_merge_output_parse(text, input.len, sha256, &merged))
        return 0;
    fuzz_require(strlen(merged.tree) == (sha256 ? 64 : 40));
    for (size_t i = 0; i < merged.count; i++) {
        const struct al_merge_conflict *conflict = &merged.conflicts[i];

        fuzz_require(!i || strcmp(merged.conflicts[i - 1].path, conflict->path) < 0);
        for (size_t side = 0; side < AL_SIDES; side++)
            require_side(&conflict->sides[side], sha256 ? 64 : 40);
    }
    al_merged_clear(&merged);
    return 0;
}
