// This machine's own names: what listens there, only its own programs reach.

import { isIPv6 } from 'node:net';

const loopback = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/;

/** Whether a Host header names this machine to itself. */
export const isOwnHost = (header: string): boolean => loopback.test(header);

/** Only this machine's own programs reach a server that listens there, or is known by that name. */
export const isOwnAddress = (host = '127.0.0.1'): boolean => loopback.test(isIPv6(host) ? `[${host}]` : host);
