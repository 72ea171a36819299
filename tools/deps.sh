#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# deps.sh build|test|fuzz: install the packages for building the program (configuring looks for cmocka
# as well), for its tests besides, or for fuzzing besides.  Each row: a Debian package, and a test for
# what it provides, which may come from any source.  When nothing is missing this needs no time and no
# privileges.
set -eu

# The tests start servers on loopback; most users do not have those in their PATH.
PATH=$PATH:/usr/sbin:/sbin

building='
build-essential       command:make
build-essential       command:gcc
build-essential       command:g++
meson                 command:meson
ninja-build           command:ninja
pkg-config            command:pkg-config
python3               command:python3
git                   command:git
libjansson-dev        library:jansson
nettle-dev            library:nettle
zlib1g-dev            library:zlib
libtomlplusplus-dev   library:tomlplusplus
libyaml-dev           library:yaml-0.1
libmicrohttpd-dev     library:libmicrohttpd
libncurses-dev        library:ncursesw
libcmocka-dev         library:cmocka
'
testing='
clang                 command:clang
clang-format          command:clang-format
clang-tidy            command:clang-tidy
openssh-client        command:ssh-agent
openssh-server        command:sshd
lighttpd              command:lighttpd
util-linux            command:unshare
mount                 command:mount
openssl               command:openssl
curl                  command:curl
firejail              command:firejail
chromium              command:chromium
'
fuzzing='
libclang-rt-dev       links:-fsanitize=fuzzer
'
case ${1:-} in
build) rows=$building ;;
test) rows=$building$testing ;;
fuzz) rows=$building$testing$fuzzing ;;
*)
    echo 'usage: deps.sh build|test|fuzz' >&2
    exit 2
    ;;
esac

present() {
    case $1 in
    command:*) command -v "${1#command:}" >/dev/null 2>&1 ;;
    library:*) pkg-config --exists "${1#library:}" 2>/dev/null ;;
    links:*)
        echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' |
            clang "${1#links:}" -x c - -o /dev/null 2>/dev/null
        ;;
    esac
}

missing=$(echo "$rows" | while read -r package probe; do
    [ -z "$package" ] || present "$probe" || echo "$package"
done | sort -u | tr '\n' ' ')
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
    echo "Please install the equivalent of these Debian packages: $missing" >&2
    exit 1
fi
as_root=
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null 2>&1 || {
        echo "Run as root: apt-get install $missing" >&2
        exit 1
    }
    as_root='sudo env'
fi
echo "Installing: $missing"
$as_root apt-get update -qq
# $missing is unquoted because it is a list of words.  RUNLEVEL=1: no installed service is started.
$as_root env RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
