// SPDX-License-Identifier: Apache-2.0
/* Choosing a tool's operation for a call, and the effects of all its operations. */
#include "tool/tool.h"

unsigned al_tool_effects(const struct al_tool *tool)
{
    unsigned effects = 0;

    for (size_t i = 0; i < tool->noperations; i++)
        effects |= tool->operations[i].effects;
    return effects;
}

bool al_operation_asks(const struct al_operation *op, bool saves)
{
    switch (op->asks) {
    case AL_ASKS_ALWAYS:
        return true;
    case AL_ASKS_NEVER:
        return false;
    case AL_ASKS_UNLESS_SAVED:
        return !saves && al_effects_change_repository(op->effects);
    case AL_ASKS_BY_EFFECTS:
        break;
    }
    return al_effects_change_repository(op->effects);
}

bool al_tool_asks(const struct al_tool *tool, bool saves)
{
    for (size_t i = 0; i < tool->noperations; i++)
        if (al_operation_asks(&tool->operations[i], saves))
            return true;
    return false;
}

bool al_operation_destroys(const struct al_operation *op, bool saves)
{
    return (op->asks != AL_ASKS_UNLESS_SAVED || !saves) && al_effects_destructive(op->effects);
}

const struct al_operation *al_tool_select(const struct al_tool *tool, const struct al_call *call,
                                          const void *args)
{
    const struct al_operation *op = tool->operations;

    while (op->applies && !op->applies(call, args))
        op++;
    return op;
}

const struct al_operation *al_tool_tighten(const struct al_tool *tool,
                                           const struct al_operation *op, struct al_call *call,
                                           const void *args)
{
    for (size_t i = 0; i < tool->nstricter; i++)
        if (!strcmp(tool->stricter[i].operation.name, op->name) &&
            tool->stricter[i].holds(call, args))
            return &tool->stricter[i].operation;
    return op;
}
