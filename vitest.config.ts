import './test/inMemory.ts';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

// Some 215 processes load the same packages; with the cache they are compiled only once.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/compiled');

/** Tests that play many cases or take long: run by `make test-long`, so that `make test` stays short. */
const long = [
  'test/long/**/*.test.ts',
  'test/model/**/*.test.ts',
  'test/console/browser*.test.ts',
  'test/sandbox/{codeSandbox,containerWorkspace}.test.ts',
];

/**
 * The slowest test files, slowest first, so that none is left over at the end; vitest itself orders files that it has not run yet by size.
 */
const longest = [
  'roles/matrix',
  'roles/hostile',
  'e2e/commands',
  'sql',
  'faults/storm',
  'docs',
  'e2e/cli',
  'e2e/modelFailures',
  'e2e/crash',
  'model/model',
  'long/package',
  'long/connections',
  'long/codeChaos',
  'long/replay',
  'long/failover',
  'long/move',
  'console/browserReading',
  'long/restore',
  'long/collectors',
  'long/context',
  'long/thousandSteps',
  'long/upgrade',
  'console/browserTimeline',
  'long/standby',
  'sandbox/codeSandbox',
  'long/everyFunction',
  'long/everyAbility',
  'long/rolling',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const n = longest.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return n === -1 ? longest.length : n;
    };
    // oxlint-disable-next-line unicorn/no-array-sort -- the sequencer's, not an array's
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b));
  }
}

/** What CI leaves out of this run (test/reach.ts). The option --exclude has no effect on a project with its own list of exclusions. */
const leftOut = (process.env['LEFT_OUT'] ?? '').split(' ').filter(Boolean);

/** Tests that break a separate server or a disk: run by `make faults`. */
const faults = ['test/faults/long/**/*.test.ts'];

const project = (name: string, include: string[], others: string[] = []) => ({
  extends: true as const,
  test: { name, include, exclude: [...configDefaults.exclude, ...leftOut, ...others] },
});
export const projects = [project('test', ['test/**/*.test.ts'], [...long, ...faults]), project('long', long), project('faults', faults)];

export default defineConfig({
  test: {
    globalSetup: ['test/globalSetup.ts'],
    setupFiles: ['test/fileCost.ts'],
    // Workers in tests serve the directories that tests create, even when run by root.
    env: { WORK_LEDGER_WORKSPACE_ROOTS: `${tmpdir()}:${import.meta.dirname}`, WORK_LEDGER_COMMANDS_AS: 'root' },
    // These timeouts only stop tests that hang, and are the only ones: no result depends on how long something takes on a busy machine.
    testTimeout: 900_000,
    hookTimeout: 900_000,
    // For two cores: files spend half of their time waiting, for leases to end, and for processes and containers to start.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    projects,
  },
});
