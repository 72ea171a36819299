// SPDX-License-Identifier: Apache-2.0
/* Lines of the journal as a table. */
#ifndef AL_CLI_TABLE_H
#define AL_CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"
#include "base/str.h"

/** The columns from left to right. */
enum al_column {
    AL_COLUMN_TIME,
    AL_COLUMN_PID, /* only for running calls, which have no number, no outcome and no duration */
    AL_COLUMN_SEQ,
    AL_COLUMN_TOOL,
    AL_COLUMN_OPERATION,
    AL_COLUMN_DECISION,
    AL_COLUMN_OUTCOME,
    AL_COLUMN_MS,
    AL_COLUMN_AGENT,      /* only where there are several; of running calls, where there is one */
    AL_COLUMN_REPOSITORY, /* the same; of running calls always */
    AL_COLUMN_SUMMARY,
    AL_COLUMN_COUNT,
};

/**
 * A table that is written in parts.
 *
 * Rows are collected until al_table_flush(), so that the columns fit their content.  A column never
 * gets narrower, since the rows above are already written.
 */
struct al_table {
    size_t width; /**< columns of the terminal; 0: not a terminal, so no limit and no heading */
    bool colours;
    bool running; /**< the rows are running calls and have a member "pid" */
    bool with_agents, has_heading;
    char *agent;      /* of the first row; "-": none */
    char *repository; /* of the first row that has one */
    char *common_dir; /* a directory above all of several, ending in '/', which is omitted from
                         their paths; NULL: there are not several */
    size_t widths[AL_COLUMN_COUNT];
    struct al_strv cells; /* AL_COLUMN_COUNT cells for each row */
};

#define AL_TABLE_INIT(columns, coloured)                                                           \
    ((struct al_table){ .width = (columns), .colours = (coloured), .cells = AL_STRV_INIT })

void al_table_clear(struct al_table *table);

/** Add a line of the journal.  Its text is sanitized. */
void al_table_add(struct al_table *table, const json_t *line);

/** Append the collected rows to `out`. */
void al_table_flush(struct al_table *table, struct al_str *out);

/** The bytes of a text that fit into so many columns of a terminal, and the columns that they take.
 * East Asian wide characters and emoji take two. */
size_t al_columns_cut(const char *text, size_t len, size_t room, size_t *ret_columns);

/** The columns of the terminal on standard output; 0: it is not a terminal. */
size_t al_table_terminal_width(void);

#endif
