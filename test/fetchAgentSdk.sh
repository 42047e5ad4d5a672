#!/usr/bin/env bash
# Fetches the Claude Agent SDK and the program that it drives from the npm registry into DIR and prints DIR; WORK_LEDGER_AGENT_SDK then
# names it for test/long/agentSdk*.test.ts. Anthropic's own, for tests only: 300 MB, so no dependency.
set -euo pipefail
case "$(uname -s)-$(uname -m)" in
  Linux-x86_64) platform=linux-x64 ;;
  Linux-aarch64) platform=linux-arm64 ;;
  *) echo "no Claude Agent SDK for $(uname -sm)" >&2; exit 1 ;;
esac
version=0.3.332
npm install --prefix "$1" --no-save --no-audit --no-fund --ignore-scripts --omit=optional \
  "@anthropic-ai/claude-agent-sdk@$version" "@anthropic-ai/claude-agent-sdk-$platform@$version" zod@4.6.7 >&2
ls "$1/node_modules/@anthropic-ai/claude-agent-sdk/sdk.mjs" "$1/node_modules/@anthropic-ai/claude-agent-sdk-$platform/claude" >&2
echo "$1"
