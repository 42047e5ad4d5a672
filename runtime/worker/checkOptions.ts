// Checks the options of a worker, which a program without types may give as anything.

import { isObject } from '../../plv8/isObject.ts';
import { UsageError } from '../ledger/errors.ts';
import { checkText, kindOf } from '../ledger/given.ts';
import { LONGEST_SECONDS, MOST_AT_ONCE } from './limits.ts';

/**
 * Throws UsageError if no worker works with these. Leases of 0 seconds would end as they begin, timers treat a value that is not a number as
 * 1 ms, each item would fail with a model that cannot be called, and without a host `http` would listen on every address.
 */
export function checkOptions(options: Record<string, unknown>): void {
  const { model, host, project, http, docker, log } = options;
  if (!hasMethod(model, 'call'))
    throw new UsageError('the model must be a client from createModelClient() or modelFromAiSdk(), or have a call() like theirs');
  checkNumber('concurrency', options['concurrency'], 1, MOST_AT_ONCE, Number.isInteger);
  checkNumber('leaseSeconds', options['leaseSeconds'], 1, LONGEST_SECONDS, Number.isFinite);
  checkNumber('graceSeconds', options['graceSeconds'], 0, LONGEST_SECONDS, Number.isFinite);
  for (const [name, text] of Object.entries({ host, project })) if (isGiven(text)) checkText(name, text);
  for (const name of ['workspaceRoots', 'ownDirectories']) checkDirectories(name, options[name]);
  if (isGiven(http) && !isAddress(http))
    throw new UsageError('http must have a host and a port from 0 to 65535: { host: "127.0.0.1", port: 9464 }');
  if (isGiven(docker) && !hasMethod(docker, 'ping')) throw new UsageError('docker must be an object of dockerode, or null');
  if (log !== undefined && !hasMethod(log, 'warn')) throw new UsageError('log must be a logger of pino, or have its methods');
}

function checkNumber(name: string, given: unknown, least: number, most: number, isRight: (n: unknown) => boolean): void {
  const number = given as number;
  if (given !== undefined && !(isRight(given) && number >= least && number <= most))
    throw new UsageError(`${name} is a number from ${least} to ${most}, not ${String(number)}`);
}

function checkDirectories(name: string, list: unknown): void {
  if (list === undefined) return;
  if (!Array.isArray(list)) throw new UsageError(`${name} must be a list of directories, not ${kindOf(list)}`);
  for (const directory of list) checkText(`a directory of ${name}`, directory);
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;
const hasMethod = (value: unknown, name: string): boolean =>
  isGiven(value) && typeof (value as Record<string, unknown>)[name] === 'function';
const isAddress = (value: unknown): boolean =>
  isObject(value) && typeof value['host'] === 'string' && value['host'] !== '' && isPort(value['port']);
const isPort = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 65_535;
