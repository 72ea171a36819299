// SPDX-License-Identifier: Apache-2.0
#include "tool/ignored.h"

void al_ignored_clear(struct al_ignored *ignored)
{
    al_strv_clear(&ignored->names);
    *ignored = AL_IGNORED_INIT;
}

void al_ignored_add(struct al_ignored *ignored, bool given, const char *name)
{
    if (given)
        al_strv_add(&ignored->names, name);
}
