#!/usr/bin/env bash
# Submits the night's task once, however often it is started, waits for its end, and says how it went: for cron.
#   15 3 * * *  cd /srv/shop && nightly.sh 'Look through the logs of the last day for errors that are new'
set -euo pipefail
task=${1:?what is to be done?}
night=$(date +%F)

# The same key is the same item: a second start, on another host too, only waits for it.
id=$(work-ledger submit "$task" --idempotency-key "nightly:$night" --budget tokens=500000)

work-ledger logs "$id" --follow >&2 || true
state=$(work-ledger show "$id" --json | jq -r .state)
work-ledger show "$id" --json | jq -r '"\(.state): \(.outcome_data.summary // .state_reason)"'
[ "$state" = completed ]
