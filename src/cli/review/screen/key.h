// SPDX-License-Identifier: Apache-2.0
/* A key, as the terminal gives it. */
#ifndef AL_CLI_REVIEW_SCREEN_KEY_H
#define AL_CLI_REVIEW_SCREEN_KEY_H

#include <stdbool.h>
#include <stdint.h>

enum al_key_code {
    AL_KEY_CHAR, /**< `c` is the character */
    AL_KEY_UP,
    AL_KEY_DOWN,
    AL_KEY_PAGE_UP,
    AL_KEY_PAGE_DOWN,
    AL_KEY_HOME,
    AL_KEY_END,
    AL_KEY_TAB,
    AL_KEY_ENTER,
    AL_KEY_ESCAPE,
    AL_KEY_BACKSPACE,
    AL_KEY_PASTE_BEGIN, /**< what comes up to AL_KEY_PASTE_END is pasted, not typed */
    AL_KEY_PASTE_END,
    AL_KEY_OTHER,
};

struct al_screen_key {
    enum al_key_code code;
    uint32_t c;
    bool alone; /**< no other key came together with it, and it was typed after the last change of
                     what is shown */
};

#endif
