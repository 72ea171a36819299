// SPDX-License-Identifier: Apache-2.0
/* Submodules in the file of a linked worktree: what is needed to make them again. */
#include <stdlib.h>
#include <string.h>

#include "checkpoint/linked.h"

int al_linked_add_submodules(struct al_str *text, const struct al_worktree_half *half,
                             struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_worktree_submodules_clear) struct al_worktree_submodules list =
        AL_WORKTREE_SUBMODULES_INIT;
    int r = al_worktree_read_submodules(half, budget, &list, err);

    for (size_t i = 0; i < list.count && r == 0; i++) {
        const struct al_worktree_submodule *one = &list.items[i];
        al_auto(al_freep) char *bytes =
            al_asprintf("dir %s\nhead %s\n%s", one->dir, one->head, one->refs);

        al_str_addf(text, "file %o %zu " AL_LINKED_SUBMODULE "%s\n%s\n", 0644u, strlen(bytes),
                    one->path, bytes);
    }
    return r == 0 && text->len > AL_GITDIR_ALL_BYTES
               ? al_error_set(err, AL_ERR_EXECUTION,
                              "the references of a worktree's submodules are larger than %u bytes",
                              AL_GITDIR_ALL_BYTES)
               : r;
}

/* The rest of the line at `*at` that begins with `word`; NULL: another line.  Moves on. */
static char *take_value(const char **at, const char *word)
{
    const char *begin = *at + strlen(word), *end = strchr(*at, '\n');

    if (!al_starts_with(*at, word) || !end)
        return NULL;
    *at = end + 1;
    return al_strndup(begin, (size_t)(end - begin));
}

bool al_linked_parse_submodule(const struct al_gitdir_file *file,
                               struct al_worktree_submodule *ret_submodule)
{
    const char *at = file->bytes.buf;

    *ret_submodule = (struct al_worktree_submodule){ .path = NULL };
    if (!al_starts_with(file->path, AL_LINKED_SUBMODULE))
        return false;
    ret_submodule->path = al_strdup(file->path + strlen(AL_LINKED_SUBMODULE));
    ret_submodule->dir = take_value(&at, "dir ");
    ret_submodule->head = ret_submodule->dir ? take_value(&at, "head ") : NULL;
    ret_submodule->refs = al_strdup(at);
    return ret_submodule->head;
}
