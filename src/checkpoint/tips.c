// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/tips.h"

#include <string.h>

void al_tip_list_clear(struct al_tip_list *list)
{
    al_strv_clear(&list->list);
    al_oid_set_clear(&list->set);
}

void al_tips_clear(struct al_tips *tips)
{
    al_tip_list_clear(&tips->references);
    al_tip_list_clear(&tips->fragile);
    al_tip_list_clear(&tips->reached);
    al_str_clear(&tips->text);
}

bool al_tip_list_has(const struct al_tip_list *list, const char *text, bool sha256)
{
    struct al_oid oid;

    return al_oid_parse(text, sha256, &oid) && al_oid_set_has(&list->set, &oid);
}

void al_tip_list_add(struct al_tip_list *list, const char *text, bool sha256)
{
    struct al_oid oid;
    char clean[AL_OID_TEXT];

    if (!al_oid_parse(text, sha256, &oid) || al_oid_is_none(&oid) ||
        !al_oid_set_add(&list->set, &oid))
        return;
    al_oid_text(&oid, sha256, clean);
    al_strv_add(&list->list, clean);
}

/* Add the id at the beginning of each line, or after its first space if `second`. */
static void add_lines(struct al_tips *tips, const struct al_gitdir_files *files, const char *path,
                      bool second)
{
    const struct al_gitdir_file *file = al_gitdir_find(files, path);
    const char *at = file ? file->bytes.buf : "";

    while (*at) {
        const char *end = strchrnul(at, '\n'), *word = at;

        if (second)
            word = memchr(at, ' ', (size_t)(end - at));
        if (word)
            al_tip_list_add(&tips->fragile, second ? word + 1 : word, tips->sha256);
        at = *end ? end + 1 : end;
    }
}

/* The first line of the file `tips`: a digest of the references and of the fragile tips. */
static void add_digest(struct al_tips *tips)
{
    struct al_hash hash;
    struct al_oid digest;
    char text[AL_OID_TEXT];

    al_hash_init(&hash, true);
    for (size_t i = 0; i < tips->references.list.count; i++)
        al_hash_add(&hash, tips->references.list.items[i],
                    strlen(tips->references.list.items[i]) + 1);
    al_hash_add(&hash, "", 1);
    for (size_t i = 0; i < tips->fragile.list.count; i++)
        al_hash_add(&hash, tips->fragile.list.items[i], strlen(tips->fragile.list.items[i]) + 1);
    al_hash_end(&hash, &digest);
    al_oid_text(&digest, true, text);
    al_str_addf(&tips->text, "# %s\n", text);
}

void al_tips_collect(struct al_tips *tips, const struct al_refs *refs,
                     const struct al_gitdir_files *files)
{
    static const char *const heads[] = { "HEAD",
                                         "ORIG_HEAD",
                                         "MERGE_HEAD",
                                         "CHERRY_PICK_HEAD",
                                         "REVERT_HEAD",
                                         "REBASE_HEAD",
                                         "rebase-merge/orig-head",
                                         "rebase-merge/onto",
                                         "rebase-apply/orig-head",
                                         "MERGE_AUTOSTASH",
                                         "rebase-merge/autostash" };

    for (size_t i = 0; i < refs->count; i++) {
        bool stash = !strcmp(refs->items[i].name, "refs/stash");

        al_tip_list_add(stash ? &tips->fragile : &tips->references, refs->items[i].value,
                        tips->sha256);
    }
    for (size_t i = 0; i < AL_COUNT(heads); i++)
        add_lines(tips, files, heads[i], false);
    add_lines(tips, files, "logs/refs/stash", true);
    add_digest(tips);
    for (size_t i = 0; i < tips->references.list.count; i++)
        al_str_addf(&tips->text, "%s\n", tips->references.list.items[i]);
}
