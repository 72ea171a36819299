#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs @program@ @version@ below ~/.local, or below /usr/local for root; --uninstall takes it away.
# AIRLOCK_BASE_URL: where the files of the release are.
set -eu
{ # a script that comes only in part does nothing
name=@name@
tarball=@tarball@
base=${AIRLOCK_BASE_URL:-@release@}
signer='@signer@'
prefix=$HOME/.local
[ "$(id -u)" != 0 ] || prefix=/usr/local
list=$prefix/share/$name/installed
fail() {
    echo "install.sh: $1" >&2
    exit 1
}
have() { command -v "$1" >/dev/null; }

# Removes what the list $1 has and the list $2 has not.  A name of a directory ends with a slash.
remove() {
    LC_ALL=C sort -r "$1" | while IFS= read -r file; do
        case $file in
        */) grep -qxF -- "$file" "$2" || rmdir -- "$prefix/$file" 2>/dev/null || true ;;
        *) grep -qxF -- "$file" "$2" || rm -f -- "$prefix/$file" ;;
        esac
    done
}

case ${1:-} in
'') ;;
--uninstall)
    [ -f "$list" ] || fail "nothing of $name is installed below $prefix"
    remove "$list" /dev/null
    [ ! -f "$list" ] || fail "cannot remove what is below $prefix"
    echo "Removed $name from $prefix. Its checkpoints and settings are still there."
    exit ;;
*) fail "usage: install.sh [--uninstall]" ;;
esac

[ "$(uname -s) $(uname -m)" = 'Linux x86_64' ] ||
    fail "there is no program for $(uname -s) on $(uname -m), only for Linux on x86_64"
if ! have xz || { ! have curl && ! have wget; }; then fail 'xz, and curl or wget, must be there (Debian: apt-get install xz-utils curl)'; fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

get() {
    if have curl; then curl -fsSL -o "$scratch/$1" "$base/$1"; else wget -qO "$scratch/$1" "$base/$1"; fi ||
        fail "cannot get $base/$1"
}
get SHA256SUMS
if [ -n "$signer" ] && ! have ssh-keygen; then
    echo 'There is no ssh-keygen here: the signature is not checked, only the sum.'
elif [ -n "$signer" ]; then
    get SHA256SUMS.sig
    echo "$name $signer" >"$scratch/signers"
    ssh-keygen -Y verify -n $name -I $name -f "$scratch/signers" -s "$scratch/SHA256SUMS.sig" \
        <"$scratch/SHA256SUMS" >/dev/null 2>&1 || fail 'the signature of SHA256SUMS is wrong; nothing was installed'
fi
get "$tarball"
(cd "$scratch" && grep " $tarball\$" SHA256SUMS | sha256sum -c >/dev/null 2>&1) ||
    fail "$tarball is not what SHA256SUMS says; nothing was installed"
mkdir "$scratch/files" && tar -xJf "$scratch/$tarball" -C "$scratch/files" --strip-components=1
cd "$scratch/files" && mkdir -p "share/$name"
{ find . ! -type d | cut -c 3- && echo "share/$name/installed"; } >"$scratch/put"
find . -type d | cut -c 3- | while IFS= read -r dir; do [ -d "$prefix/$dir" ] || echo "$dir/"; done >>"$scratch/put"
[ ! -f "$list" ] || grep '/$' "$list" >>"$scratch/put" || true
{ mkdir -p "$prefix/share/$name" && cp "$scratch/put" "$list.new"; } 2>/dev/null || fail "cannot write below $prefix"
[ ! -f "$list" ] || remove "$list" "$scratch/put"
mv "$list.new" "$list"
while IFS= read -r file; do
    case $file in */ | "share/$name/installed") continue ;; esac
    { mkdir -p "$prefix/$(dirname "$file")" && rm -f "$prefix/$file" && cp -P "$file" "$prefix/$file"; } ||
        fail "cannot write $prefix/$file; --uninstall takes away the rest"
done <"$scratch/put"
echo "Installed $("$prefix/bin/@program@" --version | head -n 1) below $prefix."
have git || echo 'It needs git 2.38 or newer, which is not installed yet (Debian: apt-get install git).'
case :$PATH: in *:"$prefix/bin":*) ;; *) echo "Add it to your PATH:   export PATH=\"$prefix/bin:\$PATH\"" ;; esac
echo 'Connect your agent:    cd your/project && @program@ install claude-code'
}
