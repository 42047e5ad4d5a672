#!/usr/bin/env node
// What `work-ledger` starts. In words that an old Node understands, so that it can say what it lacks.

var version = process.versions.node;
if (Number(version.split('.')[0]) >= 24) void import('../dist/runtime/start.js');
else {
  process.stderr.write('work-ledger needs Node 24, this is ' + version + '\n');
  process.exitCode = 1;
}
