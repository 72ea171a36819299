// SPDX-License-Identifier: Apache-2.0
/*
 * Conflict markers that a pull wrote into files of the sandbox.  Such a file is not staged before
 * they are gone.
 *
 * sandboxes/<key>.markers has the paths of these files, each ended by a NUL.  A path begins with
 * '/' if every line `=======` of the file is a marker: one that is left alone is found then, too. A
 * path may be listed although its markers are gone, so the file itself is looked at when it is
 * staged.
 */
#ifndef AL_STAGING_MARKERS_H
#define AL_STAGING_MARKERS_H

#include "staging/stage.h"
#include "util/error.h"
#include "util/str.h"

struct al_staging;

/** Test whether every line `=======` of a text with markers is a marker. */
bool al_markers_have_all_separators(const struct al_str *text);

/** Remember that files get markers; before they do.  The paths are as in the list.  With the
 * store's lock held. */
int al_markers_remember(struct al_staging *staging, const struct al_strv *paths,
                        struct al_error *err);

/** Append the paths of those changes whose files have markers. */
int al_markers_find(struct al_staging *staging, const struct al_changes *changes,
                    struct al_strv *ret_paths, struct al_error *err);

/**
 * Check changes that are to be staged.
 *
 * @return 0; AL_ERR_EXECUTION with the reason "conflict" naming a file that has markers.
 */
int al_markers_check(struct al_staging *staging, const struct al_changes *changes,
                     struct al_error *err);

/** These changes were staged: their files have no markers any more.  A failure only means that they
 * are looked at again.  With the store's lock held. */
void al_markers_forget(struct al_staging *staging, const struct al_changes *changes);

#endif
