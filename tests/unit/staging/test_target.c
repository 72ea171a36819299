// SPDX-License-Identifier: Apache-2.0
/* staging/target.c: what each type of target needs, and what it is called. */
#include "staging/target.h"

#include "base/str.h"
#include "tests/lib/assert.h"

static void says(struct al_target target, const char *message)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    assert_int_equal(al_target_check(&target, "source", &err), message ? AL_ERR_BAD_ARGS : 0);
    if (message)
        assert_string_equal(err.message, message);
}

#define TEXT(text) ((char *)(text))

static void each_type_has_its_members(void **state)
{
    (void)state;
    says((struct al_target){ .type = AL_TARGET_LOCAL, .path = TEXT(".") }, NULL);
    says((struct al_target){ .type = AL_TARGET_LOCAL, .path = TEXT("a"), .branch = TEXT("b/c") },
         NULL);
    says((struct al_target){ .type = AL_TARGET_LOCAL }, "source.path is required for type 'local'");
    says((struct al_target){ .type = AL_TARGET_LOCAL, .path = TEXT("") },
         "source.path is required for type 'local'");
    says((struct al_target){ .type = AL_TARGET_LOCAL, .path = TEXT("."), .repo = TEXT("u/n") },
         "source.repo does not go with type 'local'");
    says((struct al_target){ .type = AL_TARGET_LOCAL_BARE, .path = TEXT("b.git") }, NULL);
    says((struct al_target){ .type = AL_TARGET_LOCAL_BARE },
         "source.path is required for type 'local-bare'");
    says((struct al_target){ .type = AL_TARGET_GITHUB, .repo = TEXT("user/name") }, NULL);
    says((struct al_target){ .type = AL_TARGET_GITHUB },
         "source.repo is required for type 'github'");
    says((struct al_target){ .type = AL_TARGET_GITHUB, .path = TEXT("."), .repo = TEXT("u/n") },
         "source.path does not go with type 'github'");
}

static void a_branch_is_the_name_of_one(void **state)
{
    static const char *const bad[] = { "", "-x", "a..b", "a b", "@{-1}", "x.lock", "a~1", "/a" };

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        const struct al_target target = { .path = TEXT("."), .branch = TEXT(bad[i]) };
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

        assert_int_equal(al_target_check(&target, "target", &err), AL_ERR_BAD_ARGS);
        assert_non_null(strstr(err.message, "target.branch"));
    }
}

static void a_branch_has_no_prefix(void **state)
{
    (void)state;
    says((struct al_target){ .path = TEXT("."), .branch = TEXT("refs/heads/a/b") },
         "source.branch is a name without refs/heads/; give 'a/b'");
    says((struct al_target){ .path = TEXT("."), .branch = TEXT("refs/heads") }, NULL);
    says((struct al_target){ .path = TEXT("."), .branch = TEXT("heads/main") }, NULL);
    says((struct al_target){ .path = TEXT("."), .branch = TEXT("a/refs/heads/b") }, NULL);
}

static void a_target_is_shown_safely(void **state)
{
    const struct al_target local = { .path = TEXT("a\033[2Jb\n") };
    const struct al_target github = { .type = AL_TARGET_GITHUB, .repo = TEXT("user/name") };
    al_auto(al_freep) char *one = al_target_shown(&local);
    al_auto(al_freep) char *two = al_target_shown(&github);
    al_auto(al_freep) char *key = al_target_key(&github, NULL);

    (void)state;
    assert_string_equal(one, "local:a<U+001B>[2Jb<U+000A>");
    assert_string_equal(two, "github:user/name");
    assert_string_equal(key, "github:user/name");
    assert_string_equal(al_target_type_name(AL_TARGET_LOCAL_BARE), "local-bare");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_type_has_its_members),
        cmocka_unit_test(a_branch_is_the_name_of_one),
        cmocka_unit_test(a_branch_has_no_prefix),
        cmocka_unit_test(a_target_is_shown_safely),
    };

    return cmocka_run_group_tests_name("staging/target", tests, NULL, NULL);
}
