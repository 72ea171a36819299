// SPDX-License-Identifier: Apache-2.0
/* A delta of a pack: how content is made of other content.  Source: gitformat-pack(5). */
#ifndef AL_GITOPS_PLUMBING_DELTA_H
#define AL_GITOPS_PLUMBING_DELTA_H

#include <stdbool.h>
#include <stddef.h>

/** The bytes of a delta, decompressed. */
struct al_delta {
    unsigned char *data;
    size_t len;
};

/**
 * Make the content that a delta describes.
 *
 * @param max_bytes     Content with more bytes is not made.
 * @param[out] ret_made  A NUL follows.  The caller frees it.
 * @return false when the delta is not one of this base.
 */
bool al_delta_apply(const struct al_delta *delta, const unsigned char *base, size_t base_len,
                    size_t max_bytes, unsigned char **ret_made, size_t *ret_len);

#endif
