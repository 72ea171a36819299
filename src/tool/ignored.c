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

void al_ignored_note(const struct al_ignored *ignored, struct al_str *out)
{
    if (!ignored->names.count)
        return;
    if (out->len)
        al_str_addc(out, '\n');
    al_str_adds(out, "airlock: ignored: ");
    for (size_t i = 0; i < ignored->names.count; i++)
        al_str_addf(out, "%s%s", i ? ", " : "", ignored->names.items[i]);
    al_str_addf(out, ", since %s", ignored->since);
}
