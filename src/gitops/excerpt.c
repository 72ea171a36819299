// SPDX-License-Identifier: Apache-2.0
#include "gitops/excerpt.h"

#include "guard/text.h"

size_t al_git_excerpt_bytes(const struct al_run_limits *budget, size_t wanted)
{
    return budget->in_full ? AL_GIT_IN_FULL_MAX_BYTES : wanted;
}

void al_git_add_excerpt(const struct al_run_limits *budget, const char *text, size_t len, bool more,
                        struct al_str *out)
{
    if (!budget->in_full) {
        al_text_add_excerpt(out, text, len, more);
        return;
    }
    al_text_sanitize_shown(text, len, out);
    if (more && out->len && out->buf[out->len - 1] != '\n')
        al_str_addc(out, '\n');
    al_text_add_remaining(out, 0, more);
}
