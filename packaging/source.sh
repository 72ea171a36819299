#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# source.sh PACKAGE VERSION DIRECTORY: fetch a Debian source package, as this machine's own apt is set
# up and with its signatures checked, and unpack it into DIRECTORY.  It is kept in the user's cache.
# Nothing of the system is changed.
set -eu
package=$1 version=$2 directory=$3
cache=${XDG_CACHE_HOME:-$HOME/.cache}/git-airlock/source
mkdir -p "$cache"
dsc=$cache/${package}_${version#*:}.dsc
if [ ! -f "$dsc" ]; then
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    mkdir -p "$scratch/lists/partial" "$scratch/parts"
    for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
        [ ! -f "$list" ] || sed -e 's/^deb[[:space:]]/deb-src /' -e 's/^Types:.*/Types: deb-src/' "$list" \
            >"$scratch/parts/${list##*/}"
    done
    [ ! -f "$scratch/parts/sources.list" ] || mv "$scratch/parts/sources.list" "$scratch/parts/main.list"
    set -- -qq -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$scratch/parts" \
        -o Dir::State::lists="$scratch/lists" -o Dir::Cache="$scratch" -o APT::Sandbox::User=root
    apt-get "$@" update
    (cd "$scratch" && apt-get "$@" source --download-only "$package=$version")
    find "$scratch" -maxdepth 1 -name "${package}_*" ! -name '*.dsc' -exec mv {} "$cache" \;
    mv "$scratch/${dsc##*/}" "$dsc" # last: it says that the rest is there
fi
rm -rf "$directory"
dpkg-source --require-strong-checksums -x "$dsc" "$directory" >/dev/null 2>&1
