// SPDX-License-Identifier: Apache-2.0
#include "toolsets/staging/staging.h"

#include "staging/settings.h"
#include "tool/call.h"
#include "util/clock.h"

/* The settings of the toolset in a worker file. */

int al_toolset_staging_configure(const struct al_toolset_context *context, struct al_error *err)
{
    struct al_staging_settings *settings = al_calloc(1, sizeof(*settings));
    char stamp[16];
    int r;

    al_clock_stamp(stamp);
    r = al_staging_settings_read(context->config, context->worker, stamp, settings, err);
    if (r < 0) {
        al_staging_settings_free(settings);
        return r;
    }
    al_staging_settings_free(context->session->staging_settings);
    context->session->staging_settings = settings;
    context->session->defaults.has_target = settings->has_target;
    return 0;
}
