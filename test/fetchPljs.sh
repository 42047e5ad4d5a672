#!/usr/bin/env bash
# PL/JS for PostgreSQL 18 from Debian's unstable suite, unpacked into a directory and not installed: test/fetchPljs.sh DIRECTORY
set -euo pipefail
directory=$(mkdir -p "$1" && cd "$1" && pwd)
mirror=${DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' | grep -v security | head -1)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
chmod -R a+rX "$work"
echo "deb $mirror sid main" >"$work/sources.list"
apt=(apt-get -o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=/dev/null -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache" -o APT::Sandbox::User=root)
"${apt[@]}" update -qq
(cd "$work" && "${apt[@]}" download -qq postgresql-18-pljs)
dpkg-deb -x "$work"/postgresql-18-pljs_*.deb "$directory"
