#!/usr/bin/env bash
# The first hour of a newcomer, typed in a terminal: a clone; the npm package in an empty project, with npm 12 and 11; psql alone
# on Debian's PostgreSQL 15 with the extension's files. Each part has an empty home of mode 0700 below DIRECTORY; the package comes
# from the clone of the first. It prints what a person sees, fails where a line is missing, and leaves nothing running. As an
# ordinary user:
#   test/newcomer/walk.sh DIRECTORY [clone | npm12 | npm11 | psql]...
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
directory=$(realpath "$1"); shift
clone=$directory/clone/work-ledger
[ "$(id -u)" != 0 ] || { echo 'as an ordinary user: a newcomer is not root'; exit 1; }

# What a newcomer's machine has in the environment, and nothing of ours.
newcomer() { # home, PATH, script, arguments...
  local home=$1 path=$2; shift 2
  mkdir -m 700 "$home" && (cd "$home" && env -i HOME="$home" USER="$(id -un)" PATH="$path" LANG=C.UTF-8 NODE_EXTRA_CA_CERTS="${NODE_EXTRA_CA_CERTS:-}" npm_config_cache="$directory/npm" npm_config_update_notifier=false bash "$@")
}

# npm pack in the clone; once, for both npms.
pack() { (cd "$clone" && make build && mv "$(npm pack --silent)" "$directory/package.tgz") >"$directory/pack.log" 2>&1 || { cat "$directory/pack.log"; return 1; }; }

# The packed program, and a model for it.
package() { # npm's major version
  local tools=$directory/tools$1 node=$clone/node_modules/node/bin/node address model code=0
  mkdir -p "$tools" && ln -sf "$node" "$tools/node"
  PATH="$tools:$PATH" npm_config_cache=$directory/npm npm install --silent --prefix "$tools" "npm@$1" || return 1
  address=$(mktemp)
  "$node" "$clone/test/newcomer/model.ts" "$here/replies.json" >"$address" & model=$!
  until [ -s "$address" ]; do kill -0 $model || return 1; sleep 0.1; done
  newcomer "$directory/npm$1" "$tools/node_modules/.bin:$tools:$PATH" "$here/package.sh" "$directory/package.tgz" "$(cat "$address")" || code=1
  kill $model && wait $model 2>/dev/null
  rm "$address"
  return $code
}

walk() { # part
  case $1 in
    clone) newcomer "$directory/clone" "$PATH" "$here/clone.sh" "$root" ;;
    npm*) package "${1#npm}" ;;
    psql) newcomer "$directory/psql" "$PATH" "$here/psql.sh" "$root" ;;
  esac
}

[ $# -gt 0 ] || set -- clone npm12 npm11 psql
failed=0
began=()
for part; do
  case $part in npm*) [ -s "$directory/package.tgz" ] || pack || exit 1 ;; esac
  walk "$part" >"$directory/$part.out" 2>&1 & began+=($!)
  [ "$part" != clone ] || wait $! || failed=1 # the others need what it cloned
done
for pid in "${began[@]}"; do wait "$pid" || failed=1; done
for part; do
  printf '\n=== %s ===\n' "$part"
  cat "$directory/$part.out"
done
exit $failed
