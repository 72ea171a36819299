// SPDX-License-Identifier: Apache-2.0
#include "upstream/result.h"

#include "upstream/limits.h"
#include "upstream/schema.h"
#include "wire/jsonrpc.h"

static bool have_types(const json_t *array)
{
    for (size_t i = 0; i < json_array_size(array); i++)
        if (!al_json_get_string(json_array_get(array, i), "type"))
            return false;
    return json_is_array(array);
}

const char *al_upstream_result_problem(const struct al_upstream_tool *tool, json_t *result)
{
    const json_t *structured = json_object_get(result, "structuredContent");

    if (!json_is_object(result) || !have_types(json_object_get(result, "content")))
        return "answered with something that is no result of a tool";
    if (al_rpc_is_deeper(result, AL_UPSTREAM_RESULT_MAX_DEPTH))
        return "answered with a result that is nested too deeply";
    if (json_is_true(json_object_get(result, "isError")) || !tool->output_schema)
        return NULL;
    if (!json_is_object(structured))
        return "answered without the structuredContent that its outputSchema demands";
    return al_upstream_schema_misfit(tool->output_schema, structured)
               ? "answered with a structuredContent that does not fit its outputSchema"
               : NULL;
}
