#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# release.sh VERSION: check that VERSION can be released, make and try its packages, and say what a
# maintainer does next.  Nothing is published here.
set -eu
cd "$(dirname "$0")/.."
version=${1:-}
facts=packaging/facts.json

fail() {
    echo "release: $1" >&2
    exit 1
}

echo "$version" | grep -Eqx '[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?' || fail 'usage: make release VERSION=1.2.3'
[ -z "$(git status --porcelain)" ] || fail 'the work tree has changes; commit them first'
! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || fail "the tag v$version is there already"
grep -Eqx "## \[$version\] - [0-9]{4}-[0-9]{2}-[0-9]{2}" CHANGELOG.md ||
    fail "CHANGELOG.md has no line '## [$version] - $(date +%F)'"

if [ "$(packaging/facts.py version)" != "$version" ]; then
    sed -i "s/^  \"version\": \".*\",\$/  \"version\": \"$version\",/" "$facts"
    [ "$(packaging/facts.py version)" = "$version" ] || fail "cannot change the version in $facts"
    git commit -q -m "release: $version" "$facts"
fi
make dist
make test-dist

name=$(packaging/facts.py name)
cat <<EOT

dist/ has $name $version, made and tried.  Nothing is published yet.  What a maintainer does next:
  git tag -s v$version -m v$version && git push origin HEAD v$version
  upload every file of dist/ to the release v$version of $(packaging/facts.py homepage)
  npm publish dist/$name-linux-x64-$version.tgz && npm publish dist/$name-$version.tgz
  (cd dist && mcp-publisher login github && mcp-publisher publish)
EOT
[ -f dist/SHA256SUMS.sig ] || echo "SHA256SUMS is not signed: make release VERSION=$version SIGN_KEY=FILE signs it."
