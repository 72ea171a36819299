// SPDX-License-Identifier: Apache-2.0
#include "toolsets/everyday/untracked_lost.h"

#include <inttypes.h>
#include <sys/stat.h>

#include "answer/answer.h"
#include "gitops/preview/affected_files.h"
#include "guard/text.h"
#include "util/fs.h"

#define SHOWN_MAX 50u

/* "  name (1,204 bytes)" */
static void add_file(const struct al_repo *repo, const char *path, struct al_str *out)
{
    const char *below = al_fs_beneath(repo->at.top, path);
    al_auto(al_freep) char *name = al_text_sanitize_line(below ? below : path);
    struct stat st;

    al_str_addf(out, "  %s", name);
    if (lstat(path, &st) == 0 && S_ISREG(st.st_mode)) {
        al_str_adds(out, " (");
        al_answer_add_counted((uint64_t)st.st_size, "byte", "bytes", out);
        al_str_addc(out, ')');
    } else if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        al_str_adds(out, "/ and everything in it");
    }
    al_str_addc(out, '\n');
}

int al_show_untracked_lost(struct al_call *call, const char *commit, const struct al_strv *paths,
                           struct al_str *out, struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_strv_clear) struct al_strv files = AL_STRV_INIT;
    int r = al_git_untracked_overwritten(repo, commit, paths, al_call_budget(call), &files, err);

    if (r < 0 || !files.count)
        return r;
    al_str_adds(out, "Untracked, and written over:\n");
    for (size_t i = 0; i < files.count && i < SHOWN_MAX; i++)
        add_file(repo, files.items[i], out);
    if (files.count > SHOWN_MAX)
        al_str_addf(out, "  and %zu more\n", files.count - SHOWN_MAX);
    return 0;
}
