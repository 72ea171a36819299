// SPDX-License-Identifier: Apache-2.0
/* Hunks that a call names by their ids. */
#ifndef AL_TOOLS_EVERYDAY_CHOSEN_H
#define AL_TOOLS_EVERYDAY_CHOSEN_H

#include "call/call.h"
#include <stdint.h>

#include "git/hunks/hunk_list.h"

#define AL_CHOSEN_IDS_MAX 1000

/** The row of the ids.  `T` is the tool's args struct. */
#define AL_CHOSEN_ROW(T)                                                                           \
    AL_STRINGS(T, hunks, "Ids that git_diff shows with hunks.", .max = AL_CHOSEN_IDS_MAX,          \
               .max_bytes = AL_HUNK_ID_TEXT, .flags = AL_PARAM_EVERY_PATH)

/** Chosen hunks and the lists that they are of.  Set up with AL_CHOSEN_INIT; not to be moved. */
struct al_chosen {
    struct al_hunk_sides sides;
    struct al_hunk_choice choice;
};

#define AL_CHOSEN_INIT ((struct al_chosen){ .sides = AL_HUNK_SIDES_INIT })

void al_chosen_clear(struct al_chosen *chosen);

/**
 * Read the hunks, and choose those of a side with the ids.
 *
 * @param ret_new  Gets the untracked files with such an id, as absolute paths; NULL: they cannot be
 *                 chosen.
 * @return 0; AL_ERR_BAD_ARGS when one is not there, or is on the other side, which the remedy says.
 */
int al_chosen_read(struct al_call *call, enum al_hunk_side side, const struct al_strv *ids,
                   struct al_strv *ret_new, struct al_chosen *ret_chosen, struct al_error *err);

/** An untracked file, which is chosen as a hunk is, and as a whole. */
struct al_untracked_file {
    char id[AL_HUNK_ID_TEXT]; /**< a hash of its path, its mode and its content */
    char *path;               /**< relative to the top */
    uint64_t lines;
    bool is_binary;
};

/** The untracked files that have an id. */
struct al_untracked {
    struct al_untracked_file *items;
    size_t count;
    size_t nameless; /**< others: too many, larger than 5 MB, or no files */
};

void al_untracked_clear(struct al_untracked *files);

/**
 * Read the untracked files that are not ignored, at most 1,000.  One git child.
 *
 * @param paths  NULL: all.
 * @param ids    Only those with such an id, which may be any of all there are; NULL: the first
 * ones.
 */
int al_untracked_read(struct al_call *call, const struct al_strv *paths, const struct al_strv *ids,
                      struct al_untracked *ret_files, struct al_error *err);

/** What a call names: hunks of tracked files, and whole files, those with the ids of untracked ones
 * among them.  Zero-initialised there is nothing. */
struct al_named {
    struct al_strv hunks, paths;
};

void al_named_clear(struct al_named *named);

/** Sort what the arguments name.  An id that no untracked file has is taken for that of a hunk.
 *
 * @param sides  The hunks, if they were read: what has the id of one needs no look at the untracked
 *               files.  NULL: they were not. */
int al_named_sort(struct al_call *call, const struct al_hunk_sides *sides,
                  const struct al_strv *hunks, const struct al_strv *paths,
                  struct al_named *ret_named, struct al_error *err);

/** Append the files of the chosen hunks as absolute paths. */
void al_chosen_files(const struct al_call *call, const struct al_chosen *chosen,
                     struct al_strv *out);

/** Append "2 hunks of a.c (+3 -1), 1 hunk of b.c (+1)". */
void al_chosen_describe(const struct al_call *call, const struct al_chosen *chosen,
                        struct al_str *out);

/** For a preview: append the hunks with these ids, of either side.  An id that is not there is left
 * out, and reported later. */
int al_chosen_show(struct al_call *call, const struct al_strv *ids, struct al_str *out,
                   struct al_error *err);

/** Append a list of files, "a.c, b.c": at most 20 names, then "and 1,204 more".
 *
 * @param files  Absolute paths, or relative to the top. */
void al_chosen_add_names(const struct al_call *call, const struct al_strv *files,
                         struct al_str *out);

#endif
