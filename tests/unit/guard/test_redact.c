// SPDX-License-Identifier: Apache-2.0
/* guard/redact.h: secrets go, and everything else is unchanged. */
#include "guard/redact.h"

#include "tests/lib/assert.h"

/* As many digits and letters as GitHub uses; not a real token. */
#define LETTERS_36 "0123456789abcdefghijABCDEFGHIJ012345"

static void assert_redacts(const char *text, const char *wanted)
{
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

    al_redact_text(text, strlen(text), &out);
    assert_string_equal(out.buf, wanted);
    assert_int_equal(out.len, strlen(wanted));
}

static void removes_secrets_from_text(void **state)
{
    static const char *const cases[][2] = {
        /* user info in URLs */
        { "https://user:pass@example.org/x.git", "https://[redacted]@example.org/x.git" },
        { "https://abc@example.org", "https://[redacted]@example.org" },
        { "ssh://u:p@h/p and ssh://git@h/p", "ssh://[redacted]@h/p and ssh://git@h/p" },
        { "https://:p@h/", "https://[redacted]@h/" },
        { "a https://u:p@ss@h/ b", "a https://[redacted]@h/ b" },
        { "x_https://u:p@h", "x_https://[redacted]@h" },
        { "ssh://git:pw@[::1]:22/r", "ssh://[redacted]@[::1]:22/r" },
        { "https://u:p@h/?a=https://v:q@i", "https://[redacted]@h/?a=https://[redacted]@i" },
        { "url = \"https://u:p@h\"", "url = \"https://[redacted]@h\"" },
        /* GitHub tokens */
        { "ghp_" LETTERS_36, "[redacted]" },
        { "gho_" LETTERS_36 "\n", "[redacted]\n" },
        { "(ghu_" LETTERS_36 ").", "([redacted])." },
        { "x=ghs_" LETTERS_36 "; y", "x=[redacted]; y" },
        { "ghr_" LETTERS_36 LETTERS_36, "[redacted]" },
        { "github_pat_" LETTERS_36 "_" LETTERS_36, "[redacted]" },
        { "ghs_1234_abcdefghijklmnop.abc-def.ghi.", "[redacted]." },
        /* bearer tokens and other credentials */
        { "Bearer abcdef123456", "Bearer [redacted]" },
        { "bearer   abcdefghijklmnopqrst", "bearer   [redacted]" },
        { "Authorization: Bearer xyz", "Authorization: [redacted]" },
        { "authorization: basic dXNlcjpwYXNz", "authorization: [redacted]" },
        { "\"Authorization\": \"token abc\"", "\"Authorization\": \"[redacted]\"" },
        { "-c http.extraHeader='AUTHORIZATION: x'",
          "-c http.extraHeader='AUTHORIZATION: [redacted]'" },
        { "Authorization: ghp_" LETTERS_36 " next", "Authorization: [redacted]" },
        { "Authorization: a1b2c3 (key)", "Authorization: [redacted] (key)" },
        { "authorization=Key a1b2c3", "authorization=[redacted]" },
        { "Authorization: AWS4-HMAC-SHA256 Credential=AKID/20130524/us-east-1/s3/aws4_request, "
          "SignedHeaders=host;range;x-amz-date, Signature=fe5f80f7 next",
          "Authorization: [redacted] next" },
        { "-H 'Authorization: AWS4-HMAC-SHA256 Credential=A/b,SignedHeaders=host,Signature=f0'",
          "-H 'Authorization: [redacted]'" },
        { "Authorization: Digest username=\"M \\\"x\", uri=\"/a, b\", response=6629fae4\nHost: h",
          "Authorization: [redacted]\nHost: h" },
        { "{\"authorization\": \"AWS4-HMAC-SHA256 Credential=A/b, Signature=f0\", \"n\": 1}",
          "{\"authorization\": \"[redacted]\", \"n\": 1}" },
        { "Authorization: Digest response=\"cut off\nnext=line",
          "Authorization: [redacted]\nnext=line" },
        { "Authorization: S a-b=c, d-e=f", "Authorization: [redacted]" },
        { "Authorization: S k=v, not a parameter", "Authorization: [redacted], not a parameter" },
        { "Authorization: Custom-Scheme a.b+c/d==, and more",
          "Authorization: [redacted], and more" },
        /* assignments to names on the denylist */
        { "API_KEY=abc make", "API_KEY=[redacted] make" },
        { "export MY_TOKEN='a b' X=1", "export MY_TOKEN='[redacted]' X=1" },
        { "AWS_REGION=\"eu\"", "AWS_REGION=\"[redacted]\"" },
        { "db_password=x;", "db_password=[redacted];" },
        { "a\nOPENAI_ORG=o\nb", "a\nOPENAI_ORG=[redacted]\nb" },
        { "https://h/?access_token=abc&b=c", "https://h/?access_token=[redacted]&b=c" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_redacts(cases[i][0], cases[i][1]);
}

static void leaves_ordinary_text_byte_for_byte(void **state)
{
    static const char *const cases[] = {
        "",
        "https://example.org/a@b",
        "https://example.org/?mail=a@b.org",
        "git@github.com:owner/name.git",
        "Author: A <a@example.org>",
        "http://",
        "a :// b@c",
        "ghp_short",
        "ghp_0123456789abcdef012", /* one letter too few */
        ("aghp_" LETTERS_36),      /* inside another word */
        "the bearer of bad news",
        "bearer tokens, as RFC 6750 has them",
        "Bearer abc1234",             /* one letter too few, digit or not */
        "bearer abcdefghijklmnopqrs", /* one letter too few, without a digit */
        "bearer",
        "Bearer ",
        "authorization is required",
        "Authorization:",
        "KEYBOARD=1 TOKENS=2 MONKEY=3",
        "API_KEY is not set",
        "API_KEY=",
        "API_KEY=\"\"",
        "API_KEY == x ",
        "_=1",
        "caf\xc3\xa9 \xe2\x80\xa6 \xf0\x9f\x8c\xb2",
        "a.b.c=d\te\r\n\x1b[0m",
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
        "0123456789abcdef0123456789abcdef01234567",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_redacts(cases[i], cases[i]);
}

/* A token begins at a word boundary, so it is found after every byte that is not part of a word. */
static void knows_where_a_word_begins(void **state)
{
    (void)state;
    for (int byte = 1; byte < 256; byte++) {
        const bool inside = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
                            (byte >= 'A' && byte <= 'Z') || byte == '_';
        al_auto(al_freep) char *text = al_asprintf("%cghp_" LETTERS_36, byte);
        al_auto(al_freep) char *wanted = al_asprintf("%c[redacted]", byte);

        assert_redacts(text, inside ? text : wanted);
    }
}

/* A secret may begin anywhere, and end with the text.  In memory of its own size, so that reading
 * on is noticed. */
static void finds_a_secret_at_every_place_of_a_text(void **state)
{
    static const char *const cases[][2] = {
        { "ghp_" LETTERS_36, "[redacted]" },
        { "GITHUB_PAT_" LETTERS_36, "[redacted]" },
        { "Bearer abcdef123456", "Bearer [redacted]" },
        { "Authorization: x", "Authorization: [redacted]" },
        { "A_KEY=v", "A_KEY=[redacted]" },
        { "://u@h", "://[redacted]@h" },
    };
    static const char *const before[] = { " ", "\n", "=", ":", "/", "-", "\x1d", "\xc3\xa9" };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (int len = 1; len < 40; len++) {
            const char *border = before[(size_t)len % COUNT(before)];
            al_auto(al_freep) char *text = al_asprintf("%0*d%s%s", len, 0, border, cases[i][0]);
            al_auto(al_freep) char *wanted = al_asprintf("%0*d%s%s", len, 0, border, cases[i][1]);
            al_auto(al_freep) char *exact = al_malloc(strlen(text));
            al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

            memcpy(exact, text, strlen(text));
            al_redact_text(exact, strlen(text), &out);
            assert_string_equal(out.buf, wanted);
        }
    }
}

/* Part of a longer word, or half of a prefix, is no secret at any offset. */
static void leaves_what_looks_like_one_at_every_place_of_a_text(void **state)
{
    static const char *const cases[] = {
        ("xghp_" LETTERS_36),
        "_bearer abcdef123456",
        "0Authorization: x",
        "A_KEYS=v",
        ":/u@h",
        "//u@h",
        "g",
        "a",
        "b",
        ":",
        "=",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (int len = 1; len < 40; len++) {
            al_auto(al_freep) char *text = al_asprintf("%*s%s", len, "", cases[i]);

            assert_redacts(text, text);
        }
    }
}

static void keeps_nuls_in_their_place(void **state)
{
    static const char text[] = "a\0ghp_" LETTERS_36 "\0API_KEY=\0x";
    static const char wanted[] = "a\0[redacted]\0API_KEY=\0x";
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

    (void)state;
    al_redact_text(text, sizeof(text) - 1, &out);
    assert_int_equal(out.len, sizeof(wanted) - 1);
    assert_memory_equal(out.buf, wanted, sizeof(wanted));
}

/* A scan that starts again at each word would take forever on these texts. */
static void is_quick_on_text_made_to_slow_it_down(void **state)
{
    static const char *const pieces[] = { "a.",
                                          "be",
                                          "a=",
                                          "=",
                                          "a:",
                                          "://",
                                          "x://",
                                          "ghp_-",
                                          "bearer ",
                                          "A_KEY",
                                          "authorization\"",
                                          "API_KEY==",
                                          "a://b@",
                                          "bearer a-",
                                          "authorization: Digest a=\"",
                                          "authorization:a=b, " };

    (void)state;
    for (size_t i = 0; i < COUNT(pieces); i++) {
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
        al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

        while (text.len < 1u << 20)
            al_str_adds(&text, pieces[i]);
        al_redact_text(text.buf, text.len, &out);
        assert_true(out.len > 0);
    }
}

static void assert_redacts_json(const char *text, const char *wanted)
{
    al_auto(al_json_decrefp) json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
    al_auto(al_json_decrefp) json_t *clean = NULL;
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str before = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str after = AL_STR_INIT;

    assert_non_null(value);
    al_json_dump(value, true, &before);
    clean = al_redact_json(value, NULL);
    al_json_dump(clean, true, &out);
    al_json_dump(value, true, &after);
    assert_string_equal(out.buf, wanted);
    assert_string_equal(before.buf, after.buf); /* the caller's value is unchanged */
}

static void removes_secrets_from_json(void **state)
{
    (void)state;
    assert_redacts_json("{\"API_KEY\":\"abc\",\"n\":1}", "{\"API_KEY\":\"[redacted]\",\"n\":1}");
    assert_redacts_json("{\"env\":{\"github_token\":\"x\"}}",
                        "{\"env\":{\"github_token\":\"[redacted]\"}}");
    assert_redacts_json("{\"db_secret\":{\"a\":[1,2]},\"b\":2}",
                        "{\"db_secret\":\"[redacted]\",\"b\":2}");
    assert_redacts_json("{\"my_password\":1234}", "{\"my_password\":\"[redacted]\"}");
    assert_redacts_json("[\"a\",[\"https://u:p@h\"]]", "[\"a\",[\"https://[redacted]@h\"]]");
    assert_redacts_json("\"Bearer 0123456789\"", "\"Bearer [redacted]\"");
    assert_redacts_json("{\"ghp_" LETTERS_36 "\":1}", "{\"[redacted]\":1}");
}

static void leaves_ordinary_json_as_it_is(void **state)
{
    static const char *const cases[] = {
        "{}",
        "[]",
        "null",
        "true",
        "-3",
        "0.5",
        "\"\"",
        "{\"working_dir\":\".\",\"paths\":[\"a\",\"b\"],\"cached\":true,\"n\":null,\"z\":{}}",
        "{\"key\":\"a\",\"token\":\"b\",\"keys\":\"c\"}",
        "{\"b\":1,\"a\":2}",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_redacts_json(cases[i], cases[i]);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(removes_secrets_from_text),
        cmocka_unit_test(leaves_ordinary_text_byte_for_byte),
        cmocka_unit_test(knows_where_a_word_begins),
        cmocka_unit_test(finds_a_secret_at_every_place_of_a_text),
        cmocka_unit_test(leaves_what_looks_like_one_at_every_place_of_a_text),
        cmocka_unit_test(keeps_nuls_in_their_place),
        cmocka_unit_test(is_quick_on_text_made_to_slow_it_down),
        cmocka_unit_test(removes_secrets_from_json),
        cmocka_unit_test(leaves_ordinary_json_as_it_is),
    };

    return cmocka_run_group_tests_name("guard/redact", tests, NULL, NULL);
}
