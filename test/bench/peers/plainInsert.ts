// No engine at all: a prepared INSERT of the step's text.

import pg from 'pg';

import { plainText } from '../harness/text.ts';
import { STEP_BYTES } from './contender.ts';
import type { Peer } from './contender.ts';

export const plainInsert: Peer = {
  name: 'plain INSERT',
  content: 'empty',
  async prepare(url) {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(
      'create table steps (id bigint generated always as identity primary key, n integer not null, content text not null, created_at timestamptz not null default now())',
    );
    await client.end();
    return null;
  },
  async open(url) {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    return {
      async work(steps) {
        for (let n = 1; n <= steps; n++)
          await client.query({ name: 'step', text: 'insert into steps (n, content) values ($1, $2)', values: [n, plainText(STEP_BYTES)] });
      },
      close: () => client.end(),
    };
  },
};
