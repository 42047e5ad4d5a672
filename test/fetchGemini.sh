#!/usr/bin/env bash
# Fetches Gemini CLI from the npm registry into DIR and prints its path; WORK_LEDGER_GEMINI then names it for test/long/harnesses.test.ts. It
# is Google's own, for tests only, so no dependency.
set -euo pipefail
npm install --prefix "$1" --no-save --no-audit --no-fund --ignore-scripts "@google/gemini-cli@0.61.0" >&2
echo "$1/node_modules/.bin/gemini"
