// SPDX-License-Identifier: Apache-2.0
/* Every registered tool of every toolset keeps the rules of the tables (self_check.c). */
#include "call/private.h"
#include "tools/toolsets.h"

#include "tests/lib/assert.h"
#include "tests/tables/self_check.h"

/** Limit of a toolset's tools/list: every client reads it before its first call. */
#define LIST_MAX_BYTES 16384

static const struct al_tool_defaults defaults = { .timeout_ms = 30000, .max_bytes = 200000 };

static struct al_toolset_registry all;

static void every_tool_is_sound(void **state)
{
    size_t faults = 0;

    (void)state;
    for (size_t i = 0; i < all.count; i++) {
        for (size_t j = 0; all.items[i].tools[j]; j++) {
            const struct al_tool *tool = all.items[i].tools[j];
            al_auto(al_freep) char *fault = al_tool_self_check(tool);

            if (fault) {
                print_message("# %s, tool '%s': %s\n", all.items[i].name, tool->name, fault);
                faults++;
            }
        }
    }
    assert_int_equal(faults, 0);
}

static void every_toolset_has_a_name_of_its_own(void **state)
{
    (void)state;
    assert_true(all.count > 0);
    for (size_t i = 0; i < all.count; i++) {
        assert_true(strlen(all.items[i].name) > 0);
        assert_true(strlen(all.items[i].about) > 0);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(all.items[j].name, all.items[i].name);
    }
}

static void no_toolset_names_a_tool_twice(void **state)
{
    (void)state;
    for (size_t i = 0; i < all.count; i++) {
        const struct al_tool *const *tools = all.items[i].tools;

        assert_non_null(tools[0]);
        for (size_t j = 0; tools[j]; j++) {
            for (size_t k = 0; k < j; k++)
                assert_string_not_equal(tools[k]->name, tools[j]->name);
        }
    }
}

/* Empty arguments decode, or the error names the first required parameter: defaults never fail. */
static void every_default_passes_its_own_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < all.count; i++) {
        for (size_t j = 0; all.items[i].tools[j]; j++) {
            const struct al_tool *tool = all.items[i].tools[j];
            const struct al_session session = { .defaults = defaults };
            const struct al_call call = { .session = &session, .tool = tool };
            al_auto(al_freep) void *args = al_malloc(tool->args_size);
            struct al_error err = AL_ERROR_INIT;

            /* A tool's own checks may require one of several parameters; that error is fine. */
            if (al_tool_decode(tool, NULL, &defaults, args, &err) == 0)
                assert_non_null(al_tool_select(tool, &call, args));
            else
                assert_int_equal(err.status, AL_ERR_BAD_ARGS);
            al_tool_args_clear(tool, args);
            al_error_clear(&err);
        }
    }
}

static bool is_row(const struct al_tool *tool, const char *name)
{
    for (size_t i = 0; i < tool->nparams; i++)
        if (!strcmp(tool->params[i].name, name))
            return true;
    return false;
}

static void all_words_are(const struct al_tool *tool, const char *words,
                          bool (*are)(const struct al_tool *tool, const char *name))
{
    al_auto(al_freep) char *copy = al_strdup(words ? words : "");
    char *save = NULL;

    for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
        assert_true(are(tool, w));
}

/* A summary is written with empty arguments, which looks every name up; the other rows that name
 * rows and choices name such that there are. */
static void every_name_in_a_row_is_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < all.count; i++) {
        for (size_t j = 0; all.items[i].tools[j]; j++) {
            const struct al_tool *tool = all.items[i].tools[j];
            al_auto(al_freep) void *args = al_calloc(1, tool->args_size);
            al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

            if (tool->summary)
                al_tool_write_summary(tool, args, &out);
            for (size_t k = 0; k < tool->nparams; k++) {
                all_words_are(tool, tool->params[k].actions, al_tool_has_action);
                all_words_are(tool, tool->params[k].unless, is_row);
            }
        }
    }
}

static bool some_form_asks(const struct al_tool *tool, bool saves)
{
    bool asks = al_tool_asks(tool, saves);

    return asks || tool->nstricter;
}

/* bash_command is bounded by its whitelist, a staged commit is in no repository, `run` is a user's
 * own command, and about what `hook` is told of the client asks itself. */
static bool may_lose_unasked(const struct al_tool *tool)
{
    return !strcmp(tool->name, "bash_command") || !strcmp(tool->name, "git_discard") ||
           !strcmp(tool->name, "run") || !strcmp(tool->name, "hook");
}

/* What a client is told by the annotations is what the user is asked about. */
static bool agrees(const struct al_tool *tool, bool saves)
{
    al_auto(al_json_decrefp) json_t *hints = al_tool_annotations(tool, saves);

    if (json_is_true(json_object_get(hints, "readOnlyHint")))
        return !some_form_asks(tool, saves);
    /* A hint that is absent has MCP's default: true. */
    return json_is_false(json_object_get(hints, "destructiveHint")) ||
           some_form_asks(tool, saves) || may_lose_unasked(tool);
}

static void annotations_and_questions_agree(void **state)
{
    (void)state;
    for (size_t i = 0; i < all.count; i++) {
        for (size_t j = 0; all.items[i].tools[j]; j++) {
            assert_true(agrees(all.items[i].tools[j], true));
            assert_true(agrees(all.items[i].tools[j], false));
        }
    }
}

static void every_condition_is_said(void **state)
{
    (void)state;
    for (size_t i = 0; i < all.count; i++) {
        for (size_t j = 0; all.items[i].tools[j]; j++) {
            const struct al_tool *tool = all.items[i].tools[j];

            for (size_t k = 0; k < tool->nstricter; k++)
                assert_true(al_starts_with(tool->stricter[k].condition, "for "));
        }
    }
}

static json_t *listed(const struct al_tool *tool)
{
    json_t *entry = al_json_object();

    al_json_set(entry, "name", al_json_string(tool->name));
    if (!tool->is_everyday)
        al_json_set(entry, "title", al_json_string(tool->title));
    al_json_set(entry, "description", al_json_string(tool->about));
    al_json_set(entry, "inputSchema", al_tool_schema(tool, &defaults));
    if (tool->output_schema)
        al_json_set(entry, "outputSchema", al_tool_output_schema(tool));
    al_json_set(entry, "annotations", al_tool_annotations(tool, true));
    return entry;
}

static void check_list(const char *const *standard, size_t count)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    al_auto(al_json_decrefp) json_t *list = al_json_array();
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    struct al_registry registry = AL_REGISTRY_INIT;

    for (size_t i = 0; i < count; i++) {
        if (al_toolset_find(&all, standard[i]))
            al_strv_add(&names, standard[i]);
    }
    assert_int_equal(al_registry_fill(&registry, &all, &names, NULL), 0);
    assert_true(registry.count > 0);
    for (size_t i = 0; i < registry.count; i++)
        al_json_append(list, listed(registry.items[i].tool));
    al_json_dump(list, false, &text);
    print_message("# %zu tools, %zu bytes\n", registry.count, text.len);
    assert_true(text.len < LIST_MAX_BYTES);
    al_registry_clear(&registry);
}

static void the_default_list_is_short(void **state)
{
    static const char *const standard[] = { "everyday" };

    (void)state;
    check_list(standard, COUNT(standard));
}

static void the_list_of_git_and_workflow_is_short(void **state)
{
    static const char *const pair[] = { "git", "workflow" };

    (void)state;
    check_list(pair, COUNT(pair));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tool_is_sound),
        cmocka_unit_test(every_toolset_has_a_name_of_its_own),
        cmocka_unit_test(no_toolset_names_a_tool_twice),
        cmocka_unit_test(every_default_passes_its_own_rules),
        cmocka_unit_test(annotations_and_questions_agree),
        cmocka_unit_test(every_condition_is_said),
        cmocka_unit_test(every_name_in_a_row_is_one),
        cmocka_unit_test(the_default_list_is_short),
        cmocka_unit_test(the_list_of_git_and_workflow_is_short),
    };

    all = *al_toolsets();
    return cmocka_run_group_tests_name("tables/tools", tests, NULL, NULL);
}
