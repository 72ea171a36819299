#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tools/run-tests.py counts cases the way the last line of `make test` promises.
. "$(dirname "$0")/lib.sh"

counts() { # TITLE, EXPECTED, a line of testlog.json
    got=$(python3 -B -c "
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location('run_tests', '$top/tools/run-tests.py')
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
print(module.count_program(json.loads(sys.argv[1])))" "$3")
    if [ "$got" = "$2" ]; then
        verdict ok "$1"
    else
        verdict 'not ok' "$1"
        echo "# got '$got'"
    fi
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
finish
