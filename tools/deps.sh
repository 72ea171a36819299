#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# deps.sh build|check|test|fuzz|dist: install the packages for building the program, for its tests
# besides, for what only some tests need too, for fuzzing, or for making and trying its packages.  Each row: a Debian package, and a test
# for what it provides, which may come from any source.  When nothing is missing this needs no time and
# no privileges.  What building can do without, and what only some tests need, is named and left out
# where it cannot be had.
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
'
optional='
libyaml-dev           library:yaml-0.1
libmicrohttpd-dev     library:libmicrohttpd
libncurses-dev        library:ncursesw
'
testing='
libcmocka-dev         library:cmocka
'
trying='
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
bubblewrap            command:bwrap
chromium              command:chromium
'
fuzzing='
clang                 command:clang
libclang-rt-dev       links:-fsanitize=fuzzer
'
packaging='
dpkg-dev              command:dpkg-buildpackage
debhelper             command:dh
xz-utils              command:xz
binutils              command:strip
'
checking='
lintian               command:lintian
apt-utils             command:apt-ftparchive
debootstrap           command:debootstrap
fakeroot              command:fakeroot
openssh-client        command:ssh-keygen
util-linux            command:unshare
curl                  command:curl
wget                  command:wget
npm                   command:npm
'
may=$optional
case ${1:-} in
build) must=$building ;;
check) must=$building$testing ;;
test) must=$building$testing may=$optional$trying ;;
fuzz) must=$building$testing$fuzzing ;;
dist) must=$building$packaging$optional may=$checking ;;
*)
    echo 'usage: deps.sh build|check|test|fuzz|dist' >&2
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

# The packages of the rows $1 that are missing.
missing() {
    echo "$1" | while read -r package probe; do
        [ -z "$package" ] || present "$probe" || echo "$package"
    done | sort -u | tr '\n' ' '
}

needed=$(missing "$must")
wanted=$(missing "$may")
[ -n "$needed$wanted" ] || exit 0

# Say why nothing can be installed; that matters only if something is needed.
give_up() {
    echo "$1: $needed$wanted" >&2
    [ -z "$needed" ]
    exit
}
command -v apt-get >/dev/null 2>&1 || give_up 'Please install the equivalent of these Debian packages'
as_root=
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null 2>&1 || give_up 'Run as root: apt-get install'
    as_root='sudo env'
fi
install() {
    # The words are a list.  RUNLEVEL=1: no installed service is started.
    # shellcheck disable=SC2086
    $as_root env RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends $1
}
echo "Installing: $needed$wanted"
$as_root apt-get update -qq || true
# Together, which is fast; else what is needed, and of the rest what can be had.
install "$needed$wanted" && exit
[ -z "$needed" ] || install "$needed"
for package in $wanted; do
    install "$package" || echo "cannot be had: $package; what needs it is left out"
done
