// Loopback names and addresses: only programs on this machine can reach what listens there.

import { isIPv6 } from 'node:net';

const loopback = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/;

/** Whether a Host header is a loopback name or address. */
export const isOwnHost = (header: string): boolean => loopback.test(header);

/** Whether a host is a loopback name or address, so that only programs on this machine can reach a server there. */
export const isOwnAddress = (host = '127.0.0.1'): boolean => loopback.test(isIPv6(host) ? `[${host}]` : host);
