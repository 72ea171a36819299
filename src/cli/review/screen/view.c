// SPDX-License-Identifier: Apache-2.0
#include "cli/review/screen/view.h"

#include <stdlib.h>

#include "util/clock.h"

struct al_screen_look al_screen_view_look(const struct al_screen_view *view)
{
    const struct al_screen_chosen *chosen = &view->chosen;

    return (struct al_screen_look){
        .kind = chosen->kind,
        .waits = chosen->waits && !chosen->sent,
        .offers_always = chosen->offers_always,
        .settled = al_clock_ms() >= chosen->settles_ms,
        .can_roll_back = chosen->can_roll_back,
        .too_small = view->layout.too_small,
        .previewed = view->previewed,
    };
}

void al_screen_view_clear(struct al_screen_view *view)
{
    al_screen_state_clear(&view->state);
    al_screen_list_clear(&view->list);
    al_page_clear(&view->page);
    free(view->notice);
    *view = AL_SCREEN_VIEW_INIT;
}
