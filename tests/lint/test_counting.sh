#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tools/run-tests.py counts cases as the last line of `make test` says.
. "$(dirname "$0")/lib.sh"

says() { # TITLE, EXPECTED, an expression of Python, what it knows as `text`
    got=$(python3 -B -c "
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location('run_tests', '$top/tools/run-tests.py')
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
text = sys.argv[1]
print($3)" "$4" | tail -n 1)
    if [ "$got" = "$2" ]; then
        verdict ok "$1"
    else
        verdict 'not ok' "$1"
        echo "# got '$got'"
    fi
}

counts() { # TITLE, EXPECTED, a line of testlog.json
    says "$1" "$2" 'module.count_program(json.loads(text))' "$3"
}

counts 'each TAP line is a case' '2 passed, 0 failed' \
    '{"result": "OK", "stdout": "1..2\nok 1 - a\nok 2 - b\n"}'
counts 'a failing case is one failure' '1 passed, 1 failed' \
    '{"result": "FAIL", "stdout": "1..2\nok 1 - a\nnot ok 2 - b\n# why\n"}'
counts 'a skipped case is neither' '1 passed, 0 failed, 1 skipped' \
    '{"result": "OK", "stdout": "ok 1 - a\nok 2 # SKIP no Landlock\n"}'
counts 'a program that died is a failure' '1 passed, 1 failed' \
    '{"result": "ERROR", "stdout": "1..3\nok 1 - a\n"}'
counts 'a program out of time is a failure' '0 passed, 1 failed' \
    '{"result": "TIMEOUT", "stdout": ""}'
counts 'a program without cases is one' '1 passed, 0 failed' \
    '{"result": "OK", "stdout": "hello\n"}'
counts 'a program that was skipped is one' '0 passed, 0 failed, 1 skipped' \
    '{"result": "SKIP"}'
says 'what is skipped is named' "['tests: # SKIP a', 'tests: b # SKIP no Landlock']" \
    'list(module.skipped(json.loads(text)))' \
    '{"name": "tests", "stdout": "ok 1 # SKIP a\nok 2 - b # SKIP no Landlock\nok 3 - c\n"}'
says 'no report of a sanitizer is no case' '0 passed, 0 failed' 'module.count_reports(text)' "$sample"
echo 'data race' | put TSAN.1
echo 'data race' | put TSAN.2
says 'each report of a sanitizer is a failure' '0 passed, 2 failed' \
    'module.count_reports(text)' "$sample"
finish
