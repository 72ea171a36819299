// SPDX-License-Identifier: Apache-2.0
/* Lines of the journal as a table for people. */
#ifndef AL_CLI_TABLE_H
#define AL_CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "util/json.h"
#include "util/str.h"

/** From left to right. */
enum al_column {
    AL_COLUMN_TIME,
    AL_COLUMN_PID, /* only of calls that run, which have no number, no outcome and no end */
    AL_COLUMN_SEQ,
    AL_COLUMN_TOOL,
    AL_COLUMN_OPERATION,
    AL_COLUMN_DECISION,
    AL_COLUMN_OUTCOME,
    AL_COLUMN_MS,
    AL_COLUMN_REPOSITORY, /* only where there are several */
    AL_COLUMN_SUMMARY,
    AL_COLUMN_COUNT,
};

/** Rows wait here until al_table_flush(), so that columns are as wide as what is in them.  A column
 * never gets narrower, since the rows above stand already. */
struct al_table {
    size_t width; /**< of the terminal, in columns; 0: no terminal, no limit and no heading */
    bool colours;
    bool running; /**< calls that run, with a member "pid" */
    bool has_heading;
    char *common_dir; /**< a directory that all repositories are below, with its '/'; they are named
                      from there.  NULL: no column for them.  Owned. */
    size_t widths[AL_COLUMN_COUNT];
    struct al_strv cells; /* AL_COLUMN_COUNT a row */
};

#define AL_TABLE_INIT(columns, coloured)                                                           \
    ((struct al_table){ .width = (columns), .colours = (coloured), .cells = AL_STRV_INIT })

void al_table_clear(struct al_table *table);

/** Add a line of the journal; text in it is made safe. */
void al_table_add(struct al_table *table, const json_t *line);

/** How many rows wait. */
size_t al_table_pending(const struct al_table *table);

/** Append the rows that wait. */
void al_table_flush(struct al_table *table, struct al_str *out);

/** Columns of the terminal that standard output is; 0 when it is none. */
size_t al_table_terminal_width(void);

/** Columns a text takes on a terminal: East Asian wide characters and emoji take two. */
size_t al_table_columns(const char *text);

#endif
