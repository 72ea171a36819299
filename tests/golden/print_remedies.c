// SPDX-License-Identifier: Apache-2.0
/* Prints the remedy of every kind of failure in every toolset; golden.py compares. */
#include <stdio.h>

#include "call/call.h"
#include "tools/toolsets.h"

static const char *const subjects[AL_SUBJECT_COUNT] = {
    [AL_SUBJECT_NONE] = "-",
    [AL_SUBJECT_REVISION] = "no such revision",
    [AL_SUBJECT_BRANCH] = "no such branch",
    [AL_SUBJECT_THEIR_BRANCH] = "no such branch of the remote",
    [AL_SUBJECT_TAG] = "no such tag",
    [AL_SUBJECT_REMOTE] = "no such remote",
    [AL_SUBJECT_TRACKED_PATH] = "no such tracked path",
    [AL_SUBJECT_PATH] = "no such path",
    [AL_SUBJECT_DIRECTORY] = "no such directory",
    [AL_SUBJECT_HUNK] = "no such hunk",
    [AL_SUBJECT_LINES] = "no such lines",
    [AL_SUBJECT_UNBORN] = "no commit yet",
    [AL_SUBJECT_NOT_MERGED] = "the branch is not merged",
    [AL_SUBJECT_HELD] = "the branch is checked out",
    [AL_SUBJECT_UNTRACKED] = "untracked files in the way",
    [AL_SUBJECT_IGNORED] = "ignored files",
    [AL_SUBJECT_UNMERGED] = "the file is in conflict",
    [AL_SUBJECT_MARKERS] = "conflict markers in a file",
    [AL_SUBJECT_IN_PROGRESS] = "an operation is in progress",
    [AL_SUBJECT_LEFT_TO_GIT] = "left to git itself",
    [AL_SUBJECT_EMPTIED] = "a commit that changes nothing",
    [AL_SUBJECT_FILTER] = "a filter that is not run",
    [AL_SUBJECT_IDENTITY] = "no identity",
    [AL_SUBJECT_BARE] = "no working tree",
    [AL_SUBJECT_OUTSIDE] = "a path outside of the repository",
    [AL_SUBJECT_EXPRESSION] = "a regular expression",
    [AL_SUBJECT_REQUIRED] = "a required argument is missing",
};

static void print_one(const struct al_session *session, enum al_words words, const char *about,
                      struct al_error error)
{
    const char *remedy = al_remedy(session, words, &error);

    (void)printf("  %-34s%s\n", about, remedy ? remedy : "-");
}

/* By subject, then by the code of an error without one. */
static void print_toolset(const struct al_toolset *toolset, const struct al_registry *registry)
{
    const struct al_session session = { .registry = registry };
    const enum al_words words = toolset->tools[0]->words;

    (void)printf("%s\n", toolset->name);
    for (int i = AL_SUBJECT_NONE + 1; i < AL_SUBJECT_COUNT; i++)
        print_one(&session, words, subjects[i], (struct al_error){ .subject = (enum al_subject)i });
    for (int code = AL_CODE_NOT_INITIALIZED; code <= AL_CODE_STASH_EMPTY; code++)
        if (al_code_name((enum al_code)code))
            print_one(&session, words, al_code_name((enum al_code)code),
                      (struct al_error){ .code = (enum al_code)code });
    print_one(&session, words, al_status_kind(AL_ERR_SANDBOX),
              (struct al_error){ .status = AL_ERR_SANDBOX });
}

int main(void)
{
    const struct al_toolset_registry *all = al_toolsets();

    for (size_t i = 0; i < all->count; i++) {
        al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
        al_auto(al_registry_clear) struct al_registry registry = AL_REGISTRY_INIT;

        if (all->items[i].is_for_commands)
            continue;
        al_strv_add(&names, all->items[i].name);
        if (al_registry_fill(&registry, all, &names, NULL) < 0)
            return 1;
        print_toolset(&all->items[i], &registry);
    }
    return 0;
}
