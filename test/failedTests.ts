// What failed by a JSON report of vitest, a few lines each: for the end of .ci/run.
//
//   node test/failedTests.ts build/vitest.json
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

interface Report {
  testResults: {
    name: string;
    status: string;
    message?: string;
    assertionResults: { fullName: string; status: string; failureMessages?: string[] }[];
  }[];
}

const report = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as Report;
for (const file of report.testResults) {
  const failed = file.assertionResults.filter((one) => one.status === 'failed');
  for (const one of failed) say(file.name, one.fullName, one.failureMessages?.join('\n') ?? '');
  if (file.status === 'failed' && failed.length === 0) say(file.name, 'the file itself', file.message ?? '');
}

function say(file: string, test: string, message: string): void {
  const lines = message
    .split('\n')
    .slice(0, 12)
    .map((line) => `    ${line.slice(0, 240)}`);
  console.log(`FAILED: ${relative(process.cwd(), file)} > ${test}\n${lines.join('\n')}`);
}
