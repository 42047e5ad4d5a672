#!/usr/bin/env bash
# Fetches Anthropic's clients for Bedrock, Vertex AI and Foundry from the npm registry into DIR and prints DIR; WORK_LEDGER_CLOUD_SDKS then
# names it for test/long/cloudSdks.test.ts. For tests only: 114 MB, so no dependency.
set -euo pipefail
npm install --prefix "$1" --no-save --no-audit --no-fund --ignore-scripts \
  @anthropic-ai/bedrock-sdk@1.1.3 @anthropic-ai/vertex-sdk@1.1.3 @anthropic-ai/foundry-sdk@1.1.1 >&2
ls -d "$1"/node_modules/@anthropic-ai/{bedrock,vertex,foundry}-sdk >&2
echo "$1"
