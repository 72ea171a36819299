// SPDX-License-Identifier: Apache-2.0
#include "toolsets/files/files.h"

#include <stdlib.h>

#include "guard/text.h"
#include "sandbox/sandbox.h"
#include "tool/call.h"

int al_files_authorize(struct al_call *call, const char *given, struct al_error *err)
{
    al_auto(al_freep) char *path = NULL;
    int r = al_sandbox_path(given, &path, err);

    if (r == 0 && al_ends_with(given, "/")) {
        al_auto(al_freep) char *safe = al_text_sanitize_line(given);

        return al_error_set(err, AL_ERR_BAD_ARGS, "'%s' names a directory; name a file", safe);
    }
    if (r == 0)
        al_call_set_tool_data(call, al_take(&path), free);
    return r;
}
