// SPDX-License-Identifier: Apache-2.0
/* Reads the pages of tools/list into a list that never changes (upstream/upstream.h). */
#ifndef AL_UPSTREAM_TOOLS_H
#define AL_UPSTREAM_TOOLS_H

#include "upstream/upstream.h"
#include "util/json.h"
#include <stddef.h>

/** A list that is being read.  Set up with AL_UPSTREAM_LIST_INIT. */
struct al_upstream_list {
    struct al_upstream_tool *items;
    size_t count, room;
    size_t nleft_out;
    char *left_out; /**< why the first tool was left out, one line; NULL: none was */
};

#define AL_UPSTREAM_LIST_INIT ((struct al_upstream_list){ .items = NULL })

void al_upstream_list_clear(struct al_upstream_list *list);

/** Add the tools of one page, and leave out those that cannot be offered.  The texts inside the
 * page's schemas are made safe.  False: the result is no page of tools. */
bool al_upstream_list_add(struct al_upstream_list *list, json_t *result);

/** The finished list, with one reference.  `list` keeps what was left out. */
const struct al_upstream_tools *al_upstream_list_finish(struct al_upstream_list *list);

/** Test whether two lists offer the same; both may be NULL. */
bool al_upstream_tools_equal(const struct al_upstream_tools *a, const struct al_upstream_tools *b);

/** Test whether two definitions are the same. */
bool al_upstream_tool_equal(const struct al_upstream_tool *a, const struct al_upstream_tool *b);

/** A text as one safe line of at most `max_bytes`, cut with "..."; NULL for NULL and for blank
 * text. Caller frees. */
char *al_upstream_line(const char *text, size_t max_bytes);

/** A text of several lines, safe and cut; NULL for NULL and for empty text.  Caller frees. */
char *al_upstream_text(const char *text, size_t max_bytes);

/** Make the titles and descriptions anywhere inside `value` safe, and cut them. */
void al_upstream_clean(json_t *value);

#endif
