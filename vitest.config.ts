import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/globalSetup.ts'],
    testTimeout: 90_000,
    hookTimeout: 90_000,
    // Two cores: more files at once only wait for each other.
    maxWorkers: 2,
  },
});
