#!/usr/bin/env bash
# The npm package in an empty project, with Node 24 and the npm on PATH. TARBALL: as npm pack made it; MODEL: the address of a model.
. "$(dirname "${BASH_SOURCE[0]}")/terminal.sh"
tarball=$1 model=$2

type 'mkdir project'
type 'cd project'
type 'npm init -y >/dev/null'
type "npm install $tarball"
misses 'npm (ERR|error)' deprecated
type 'npx work-ledger --version'
sees '[0-9]+\.[0-9]+\.[0-9]+'
type 'export PATH=$PWD/node_modules/.bin:$PATH'
type 'work-ledger init'
sees 'wrote engineer\.toml' 'wrote engineer\.md' 'wrote work-ledger\.toml' "  work-ledger submit 'Find out what this project does'"
type "work-ledger submit 'Find out what this project does'"
id=$(printed)
[ -n "$id" ] || fail 'no id was printed'
type 'export ANTHROPIC_API_KEY=KEY'
export ANTHROPIC_BASE_URL=$model
begin 'work-ledger work'
type "work-ledger logs last --follow"
sees '[0-9:]+  \[1\] finding: A package with one script: test\.' '  state      completed' '  outcome    Its tests are run by npm test\.'
type 'work-ledger list'
sees 'ID +AGE +STATE +FACULTY +WORK' "$id +[0-9]+[smh] +completed +engineer +Find out what this project does"
type "work-ledger show ${id: -6}"
sees '  calls      3: read_file, ledger_append, work_complete'
finish
sees ".* $id item begun .*" ".* $id item completed"
type 'work-ledger down'
sees 'stopped the embedded database \(.*\)'
