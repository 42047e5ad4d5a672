#!/usr/bin/env bash
# The pgTAP files that are played on other versions than the embedded one, too, a line each: those that ask what differs from one version to the next (the catalog, plans,
# rights, the server), and of the others the thirds that are named: 0, 1, 2.
#   test/filesByVersion.sh 0 1 2   all of them
set -euo pipefail
cd "$(dirname "$0")/.."
asks='\b(pg_(?!temp\b)[a-z_]+|information_schema|explain|server_version(_num)?|has_[a-z]+_privilege|grant|revoke|set (local )?(role|session)|search_path|_uuidv7)\b'
mapfile -t asking < <(grep -rlP --include='*.test.sql' "$asks" test/sql | sort)
mapfile -t others < <(grep -rLP --include='*.test.sql' "$asks" test/sql | sort)
printf '%s\n' "${asking[@]}"
for third; do
  for ((n = third; n < ${#others[@]}; n += 3)); do echo "${others[n]}"; done
done
