#!/usr/bin/env bash
# Fetches Claude Code's program from the npm registry into DIR and prints its path; WORK_LEDGER_CLAUDE then names it for
# test/long/claudeCode.test.ts. It is Anthropic's own, for tests only: 200 MB, so no dependency.
set -euo pipefail
case "$(uname -s)-$(uname -m)" in
  Linux-x86_64) platform=linux-x64 ;;
  Linux-aarch64) platform=linux-arm64 ;;
  *) echo "no Claude Code for $(uname -sm)" >&2; exit 1 ;;
esac
npm install --prefix "$1" --no-save --no-audit --no-fund --ignore-scripts "@anthropic-ai/claude-code-$platform@2.1.197" >&2
echo "$1/node_modules/@anthropic-ai/claude-code-$platform/claude"
