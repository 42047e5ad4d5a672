import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/globalSetup.ts'],
    // Fuses against hanging, the only ones: how long anything takes on a busy machine decides nothing.
    testTimeout: 1_800_000,
    hookTimeout: 1_800_000,
    // Two cores: more files at once only wait for each other.
    maxWorkers: 2,
  },
});
