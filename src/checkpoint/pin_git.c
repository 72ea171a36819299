// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/pin_git.h"

#include <stdlib.h>
#include <string.h>

#include "gitops/failure.h"
#include "gitops/plumbing/bare.h"

/** The commits that exist, and what is asked about them. */
struct walk {
    const struct al_bare *bare;
    struct al_strv wanted;  /* ids */
    struct al_str staying;  /* lines "^<id>" */
    struct al_str boundary; /* lines "--shallow <id>": the history ends there */
    struct al_deadline *deadline;
    struct al_error *err;
};

static void walk_clear(struct walk *walk)
{
    al_strv_clear(&walk->wanted);
    al_str_clear(&walk->staying);
    al_str_clear(&walk->boundary);
}

/* Leave out what does not exist any more. */
static int find_existing(struct walk *walk, const struct al_tip_list *wanted,
                         const struct al_tip_list *staying, bool sha256)
{
    al_auto(al_str_clear) struct al_str existing = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv all = AL_STRV_INIT;
    char *save = NULL;
    int r;

    for (size_t i = 0; i < wanted->list.count; i++)
        al_strv_add(&all, wanted->list.items[i]);
    for (size_t i = 0; i < staying->list.count; i++)
        al_strv_add(&all, staying->list.items[i]);
    al_deadline_sync(walk->deadline);
    r = al_bare_existing(walk->bare, &all, false, &existing, walk->deadline->budget, walk->err);
    if (r < 0)
        return r;
    for (char *line = strtok_r(existing.buf, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        if (al_tip_list_has(wanted, line, sha256))
            al_strv_add(&walk->wanted, line);
        else
            al_str_addf(&walk->staying, "^%s\n", line);
    }
    return 0;
}

static void add_wanted(const struct walk *walk, size_t from, size_t to, struct al_str *lines)
{
    for (size_t i = from; i < to; i++)
        al_str_addf(lines, "%s\n", walk->wanted.items[i]);
    al_str_add(lines, walk->staying.buf, walk->staying.len);
}

/* Find those of the wanted commits whose history cannot be walked.  The list is halved until the
 * part that fails is one commit, since there may be many, and few of them are broken. */
static int find_broken(struct walk *walk, size_t from, size_t to)
{
    al_auto(al_str_clear) struct al_str lines = AL_STR_INIT;
    size_t middle = from + (to - from) / 2;
    int r;

    add_wanted(walk, from, to, &lines);
    al_deadline_sync(walk->deadline);
    r = al_bare_walk(walk->bare, &lines, walk->deadline->budget, walk->err);
    if (!al_git_exited_with_error(r, walk->deadline->budget))
        return r;
    if (to - from > 1) {
        r = find_broken(walk, from, middle);
        return r < 0 ? r : find_broken(walk, middle, to);
    }
    al_str_addf(&walk->boundary, "--shallow %s\n", walk->wanted.items[from]);
    return 0;
}

static int pack(struct walk *walk, char **ret_hash)
{
    al_auto(al_str_clear) struct al_str lines = AL_STR_INIT;

    al_str_add(&lines, walk->boundary.buf, walk->boundary.len);
    add_wanted(walk, 0, walk->wanted.count, &lines);
    al_deadline_sync(walk->deadline);
    return al_bare_pack(walk->bare, &lines, true, walk->deadline->budget, ret_hash, walk->err);
}

int al_pin_pack_with_git(struct al_store *store, const struct al_tip_list *wanted,
                         const struct al_tip_list *staying, struct al_deadline *deadline,
                         char **ret_hash, struct al_error *err)
{
    al_auto(walk_clear) struct walk walk = { .wanted = AL_STRV_INIT,
                                             .staying = AL_STR_INIT,
                                             .boundary = AL_STR_INIT,
                                             .deadline = deadline,
                                             .err = err };
    int r = al_store_git(store, &walk.bare, err); /* with the commits that are kept in `recent2` */

    if (r == 0)
        r = find_existing(&walk, wanted, staying, store->sha256);
    if (r < 0 || !walk.wanted.count)
        return r;
    r = pack(&walk, ret_hash);
    if (!al_git_exited_with_error(r, deadline->budget))
        return r;
    r = find_broken(&walk, 0, walk.wanted.count);
    if (r < 0)
        return r;
    al_error_clear(err);
    return pack(&walk, ret_hash);
}
