// SPDX-License-Identifier: Apache-2.0
#include "staging/pull/notes.h"

#include "guard/text.h"

/** The most lines of one kind. */
#define LINES_MAX 50u

/* One kind of lines. */
struct kind {
    struct al_pull_result *result;
    const char *name; /* of many: "conflicts" */
    size_t count;
};

static void add(struct kind *kind, const char *path, const char *before, const char *after)
{
    al_auto(al_freep) char *safe = NULL;

    if (kind->count++ >= LINES_MAX)
        return;
    safe = al_text_sanitize_line(path);
    al_strv_addf(&kind->result->notes, "%s%s: %s", before, safe, after);
}

static void end(struct kind *kind)
{
    if (kind->count > LINES_MAX)
        al_strv_addf(&kind->result->notes, "… and %zu more %s", kind->count - LINES_MAX,
                     kind->name);
}

static bool is_kept_deleted(const struct al_pull_item *item)
{
    return item->theirs.mode && !item->ours.mode && !item->changes && !item->conflict;
}

static void add_items(const struct al_pull_plan *plan, struct al_pull_result *result)
{
    struct kind conflicts = { result, "conflicts", 0 }, skipped = { result, "skipped files", 0 };
    struct kind removed = { result, "files deleted upstream", 0 };
    struct kind kept = { result, "files deleted in the sandbox", 0 };

    for (size_t i = 0; i < plan->count; i++) {
        const struct al_pull_item *item = &plan->items[i];

        if (!item->chosen)
            continue;
        if (item->skipped) {
            add(&skipped, item->path, "skipped ", item->skipped);
            continue;
        }
        if (item->changes && item->result.mode)
            al_strv_add(&result->pulled, item->path);
        if (item->conflict)
            al_strv_add(&result->conflicts, item->path);
        if (item->conflict)
            add(&conflicts, item->path, "conflict in ", item->conflict);
        else if (item->changes && !item->result.mode)
            add(&removed, item->path, "removed ", "deleted upstream");
        else if (is_kept_deleted(item))
            add(&kept, item->path, "",
                "deleted in the sandbox and unchanged upstream, so not "
                "written again");
    }
    end(&conflicts);
    end(&skipped);
    end(&removed);
    end(&kept);
}

void al_pull_report(const struct al_pull_plan *plan, const bool *is_lfs,
                    struct al_pull_result *result)
{
    struct kind lfs = { result, "pointers of git-lfs", 0 };

    add_items(plan, result);
    for (size_t i = 0; i < plan->count; i++) {
        const struct al_pull_item *item = &plan->items[i];

        if (item->chosen && !item->skipped && item->changes && item->which != SIZE_MAX &&
            is_lfs[item->which])
            add(&lfs, item->path, "",
                "a pointer of git-lfs, not the file's content; the user can "
                "copy the content into the sandbox");
    }
    end(&lfs);
}
