// The text of ten real pages, as it reads: each stands beside its page, to be judged by whoever changes how it is made.

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { textOfHtml } from '../../../runtime/tools/pageText.ts';

const pages = fileURLToPath(new URL('../../fixtures/pages/', import.meta.url));
const names = readdirSync(pages).filter((name) => name.endsWith('.html'));

test('there are ten', () => expect(names).toHaveLength(10));

test.each(names)('%s reads well', async (name) => {
  const text = textOfHtml(readFileSync(pages + name, 'utf8'));
  await expect(`${text}\n`).toMatchFileSnapshot(`${pages}${name.replace('.html', '.txt')}`);
  // Whatever the page: nothing of its markup, no holes.
  expect(text).not.toMatch(/<\/?(div|span|p|a|li|td|script|style)\b[^>]*>|&(amp|lt|gt|nbsp|#\d+);|\n{4}|[ \t]$/m);
});

test('tags, scripts and comments never become words', () => {
  expect(
    textOfHtml('<!-- x --><style>p{}</style><ul><li>one</li><li>&lt;two&gt; &#x41;&#66;</li></ul><a href="https://e.org/a">link</a>'),
  ).toBe('- one\n- <two> AB\n\nlink (https://e.org/a)');
});

test('lists, tables, code, images and links stand as they do on the page', () => {
  expect(textOfHtml('<ol><li>a<ul><li>b</ul><li><p>c</ol><table><tr><th>k<th>v<tr><td>1<td>2</table>')).toBe(
    '1. a\n  - b\n2. c\n\nk | v\n1 | 2',
  );
  expect(
    textOfHtml(
      '<p>So:<pre>\n  if x:\n    <a href="y">y</a>\n</pre>and <img alt="a cat"> <a href="#x">here</a>, <a href="/z"></a><a href=/w?a=1&amp;b=2>w</a>',
    ),
  ).toBe('So:\n\n  if x:\n    y\n\nand [image: a cat] here, w (/w?a=1&b=2)');
});

test('what the page is about comes before what is around it', () => {
  expect(
    textOfHtml(
      '<title>T</title><nav><a href="/a">A</a></nav><div>Sign in</div><main><h1>M</h1>words<nav>top</nav></main><footer>F</footer>',
    ),
  ).toBe('# T\n\n# M\n\nwords\n\n[around it]\nSign in\nF\n\n[navigation]\nA (/a)\n\ntop');
  expect(textOfHtml('<svg><path d="x"><p>shown all the same<button>no<h2>shown, too')).toBe('shown all the same\n\n## shown, too');
});
