#!/usr/bin/env bash
# Fetches Codex's program from the npm registry into DIR and prints its path; WORK_LEDGER_CODEX then names it for
# test/long/resumeIn.test.ts. It is OpenAI's own, for tests only, so no dependency.
set -euo pipefail
case "$(uname -s)-$(uname -m)" in
  Linux-x86_64) platform=linux-x64 ;;
  Linux-aarch64) platform=linux-arm64 ;;
  *) echo "no Codex for $(uname -sm)" >&2; exit 1 ;;
esac
npm install --prefix "$1" --no-save --no-audit --no-fund --ignore-scripts "@openai/codex@0.171.0-$platform" >&2
echo "$1"/node_modules/@openai/codex/vendor/*/bin/codex
