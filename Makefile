# There is no set-up step: node_modules includes Node 24, and any Node from 20 on can start it.

SHELL := /bin/bash
.DEFAULT_GOAL := help
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)

help: ## show this
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

node_modules: package-lock.json
	npm ci --no-fund --no-audit --loglevel=error
	@touch node_modules

demo: node_modules ## watch an agent fix a failing test; SCENE=team: four of them, SCENE=code: in a sandbox, SCENE=context: what it is shown
	@node runtime/main.ts demo $(if $(SCENE),--scene $(SCENE)) $(if $(KEEP),--keep)

# In CI, both projects in one run, except the tests that CI leaves out.
test: node_modules ## run the tests (embedded PostgreSQL 18)
	LEFT_OUT='$(LEFT_OUT)' vitest run --project test $(if $(CI),--project long --reporter=default --reporter=json --outputFile.json=build/vitest.json)

test-long: node_modules ## run the tests that play many cases, or take long
	vitest run --project long

test-sql: node_modules ## run the pgTAP files whose path contains T
	T='$(T)' vitest run test/sql.test.ts

faults: node_modules ## 1,000 killed workers and 40 broken databases, then a promoted standby and a full disk: nothing lost, doubled or stuck; SEED repeats one
	KILLS='$(KILLS)' FAULTS='$(FAULTS)' $(if $(SEED),SEED='$(SEED)') node test/faults/play.ts
	vitest run --project faults

replay: node_modules ## drive a recorded run of another agent through the loop: FILE; CLOSE=5: with a step after every five calls
	node test/replay.ts '$(FILE)' $(CLOSE)

soak: node_modules ## 10,000 iterations in one worker: memory, descriptors, jobs and connections do not grow
	node test/faults/soak.ts

mutants: node_modules ## remove each guard and see that its test fails; T: only those whose name contains it
	node test/mutants/run.ts $(if $(T),'$(T)')

check: lint verify test ## all that a commit must pass

lint: node_modules ## types, lint rules, style
	tsc -p tsconfig.json
	tsc -p examples
	oxlint --type-aware --deny-warnings
	oxfmt --check .

format: node_modules ## write TypeScript, and what browsers load, in one style of 140 columns
	oxfmt .

verify: node_modules ## check that everything generated or frozen is up to date
	node sql/build.ts --verify
	node test/schema.ts --verify
	node test/bench/harness/report.ts --verify
	node test/mutants/run.ts --verify

schema: node_modules ## write the catalog into test/schema.sql, tables, states and the references into docs/, to be looked at and committed
	node test/schema.ts

matrix: node_modules ## write who may do what to whose work into test/roles/matrix.txt, to be read and committed
	MATRIX=write vitest run test/roles/matrix.test.ts

freeze: node_modules ## keep the present version as released; its sources then get another number
	node sql/build.ts --freeze

release: node_modules ## VERSION=x.y.z: check, freeze, build, ask, then tag and publish; REHEARSE=1: all but that
	node release.ts '$(VERSION)' $(if $(REHEARSE),--rehearse)

next: node_modules ## VERSION=x.y.z: begin the version after a release
	node release.ts '$(VERSION)' --next

build: extension ## the extension into build/, the npm package into dist/
	rm -rf dist
	tsc -p tsconfig.build.json
	mkdir -p dist/sql && cp -R sql/schema sql/upgrades sql/api sql/abilities.json sql/extension.sql sql/work_ledger.control dist/sql/
	node sql/build.ts --found > dist/sql/found.json
	cp -R sandbox/python sandbox/seccomp.json sandbox/Dockerfile sandbox/*.sh dist/sandbox/
	cp -R runtime/console/assets dist/runtime/console/
	node plv8/build.ts > dist/plv8/functions.sql
	cp -R build/work_ledger-* dist/extension

extension: node_modules
	node sql/build.ts

dist: extension ## the extension alone, to be installed without npm: build/work_ledger-VERSION.zip, as PGXN requires it
	cd build && rm -f work_ledger-*.zip && zip -qr $$(basename work_ledger-*).zip work_ledger-*

install: extension ## install the extension into the PostgreSQL of pg_config (PGXS)
	@sql/installable.sh '$(or $(PG_CONFIG),pg_config)' '$(DESTDIR)'
	$(MAKE) -C sql install BUILT=../build/share/extension

installcheck: node_modules ## run the pgTAP files, or FILES, on the installed extension, by psql
	test/installcheck.sh $(FILES)

sandbox-image: ## build the image that agents' code runs in, from Debian packages (root, debootstrap, dockerd)
	sandbox/buildImage.sh

db: node_modules ## start the embedded database with a ledger in it, print its address
	@node runtime/main.ts up

psql: node_modules ## psql on the ledger's database
	@command -v psql >/dev/null || { echo 'psql is not on PATH; on Debian: apt-get install postgresql-client'; exit 1; }
	@psql "$${DATABASE_URL:-$$(node runtime/main.ts up 2>/dev/null)}"

clean: ## remove what was built
	rm -rf build dist

.PHONY: help demo test test-long test-sql faults replay soak mutants check lint format verify schema matrix freeze release next build extension dist install installcheck sandbox-image db psql clean
