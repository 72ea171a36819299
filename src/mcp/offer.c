// SPDX-License-Identifier: Apache-2.0
#include "mcp/offer.h"

#include <stdlib.h>

#include "mcp/instructions.h"
#include "mcp/tools_list.h"
#include "tool/call.h"
#include "tool/mounts.h"

int al_offer_init(struct al_offer *offer, const struct al_session *session, bool is_private,
                  struct al_error *err)
{
    *offer = (struct al_offer){ .session = session, .is_private = is_private };
    if (al_request_states_init(&offer->request_states, err) < 0)
        return AL_ERR_EXECUTION;
    offer->tools = session->mounts ? NULL : al_tools_list_text(session, NULL);
    offer->instructions = al_instructions_text(session);
    return 0;
}

void al_offer_clear(struct al_offer *offer)
{
    al_mounted_list_unref(offer->session->mounts, offer->list);
    al_request_states_clear(&offer->request_states);
    free(offer->text);
    free(offer->tools);
    free(offer->instructions);
}
