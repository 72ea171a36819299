// SPDX-License-Identifier: Apache-2.0
/* What an installation changes in one file, and doing it. */
#ifndef AL_CLI_INSTALL_PLAN_H
#define AL_CLI_INSTALL_PLAN_H

#include <stdbool.h>

#include "cli/install/clients.h"
#include "cli/install/settings_file.h"
#include "cli/install/settings_text.h"
#include "util/error.h"
#include "util/str.h"

struct al_install_record {
    bool exists;
    bool made_file;               /**< the file was made by the installation */
    unsigned dirs;                /**< directories that were made for it */
    struct al_strv before, after; /**< as in struct al_settings_text */
    char *path;                   /**< of the record itself */
};

#define AL_INSTALL_RECORD_INIT                                                                     \
    ((struct al_install_record){ .before = AL_STRV_INIT, .after = AL_STRV_INIT })

/** What is wanted of a file. */
struct al_install_wish {
    const struct al_client *client;
    const char *path;                       /**< the file, absolute */
    const char *state_dir;                  /**< where records are */
    const json_t *entry;                    /**< airlock's entry; NULL: the file has rules */
    const struct al_strv *denied, *allowed; /**< rules of the client; NULL with an entry */
    bool removes;
};

/** The change of a file. */
struct al_install_plan {
    struct al_settings_file file;
    struct al_settings_text settings; /**< the text that it gets, and the changes to get there */
    struct al_install_record record;
    bool removes, removes_file, changes;
};

#define AL_INSTALL_PLAN_INIT                                                                       \
    ((struct al_install_plan){ .file = AL_SETTINGS_FILE_INIT,                                      \
                               .settings = AL_SETTINGS_TEXT_INIT,                                  \
                               .record = AL_INSTALL_RECORD_INIT })

void al_install_plan_clear(struct al_install_plan *plan);

/** Read the file, and make the change in memory.  0; or AL_ERR_EXECUTION, naming the file. */
int al_install_plan_make(const struct al_install_wish *wish, struct al_install_plan *ret,
                         struct al_error *err);

/** Append the change as a diff; nothing if there is none.  Safe text. */
void al_install_plan_show(const struct al_install_plan *plan, struct al_str *out);

/** Write the file.  0 or AL_ERR_EXECUTION; then it is as it was. */
int al_install_plan_write(struct al_install_plan *plan, struct al_error *err);

#endif
