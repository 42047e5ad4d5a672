import { configDefaults, defineConfig } from 'vitest/config';

/** What plays many cases, or for long: behind `make test-long`, so that `make test` stays short. */
const long = ['test/long/**/*.test.ts', 'test/model/**/*.test.ts'];

export default defineConfig({
  test: {
    globalSetup: ['test/globalSetup.ts'],
    // Fuses against hanging, the only ones: how long anything takes on a busy machine decides nothing.
    testTimeout: 1_800_000,
    hookTimeout: 1_800_000,
    // Two cores: more files at once only wait for each other.
    maxWorkers: 2,
    projects: [
      { extends: true, test: { name: 'test', include: ['test/**/*.test.ts'], exclude: [...configDefaults.exclude, ...long] } },
      { extends: true, test: { name: 'long', include: long } },
    ],
  },
});
