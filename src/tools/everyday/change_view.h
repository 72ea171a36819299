// SPDX-License-Identifier: Apache-2.0
/* Changed files and their patch, as git_diff and git_show answer them. */
#ifndef AL_TOOLS_EVERYDAY_CHANGE_VIEW_H
#define AL_TOOLS_EVERYDAY_CHANGE_VIEW_H

#include "base/error.h"
#include "call/answer.h"
#include "git/hunks/hunk_list.h"
#include "git/reading/change_reader.h"
#include "git/repo/repo.h"
#include <stdbool.h>
#include <stdint.h>

/** Numbers of lines, counted from 1. */
struct al_lines {
    uint64_t first, last; /**< `last` is UINT64_MAX for an open end */
    bool is_numbered;     /**< for the caller: the lines are shown with their numbers */
};

/** The files of a change; set up with the first three members. */
struct al_change_view {
    struct al_pages *pages;
    const struct al_repo *repo;
    bool lists_all; /**< every file has its line, however many; else long lists are collapsed */

    /* Private. */
    const struct al_diff_raw *files; /* of the reader */
    struct al_str header;            /* of the file, shown together with its first hunk */
    char *at;                        /* the path of the file that is shown; NULL: none was begun */
    size_t begun;                    /* files of the list up to that one */
    bool in_submodule;               /* of the file that is shown */
    bool names_all;                  /* this page begins with the line of every file */
};

void al_change_view_clear(struct al_change_view *view);

/** The functions of a reader, with the view as their payload. */
bool al_change_view_files(void *payload, const struct al_diff_raw *files);
extern const struct al_patch_taker al_change_view_taker;

/** Pass on the last file.  After al_change_reader_end(). */
void al_change_view_end(struct al_change_view *view);

/** Append "src/a.c +12 -3", "x.png binary". */
void al_change_view_add_file(const struct al_repo *repo, const struct al_change *file,
                             struct al_str *out);

/** Append what is not shown: "4 of 23 files not shown: src/a.c +120 -3, …"; without the names
 * where the page has them already. */
void al_change_view_left(const struct al_change_view *view, struct al_str *out);

/** Append the files of a list, each with its hunks and their ids; false: the page is full.
 *
 * @param ret_shown  Hunks; added to. */
bool al_change_view_hunks(const struct al_repo *repo, const struct al_hunk_list *list,
                          size_t context, struct al_pages *pages, size_t *ret_shown);

/** Read "4,6", "4" or "4,".
 *
 * @param text  NULL: all lines.
 * @return 0; AL_ERR_BAD_ARGS.
 */
int al_lines_read(const char *text, struct al_lines *ret_lines, struct al_error *err);

#endif
