// What scripts add to pages that work without them: changed parts are updated in place, agents' text streams in, forms are sent without
// leaving the page, keys work. The browser loads these modules unbundled.

import './approvals.js';
import './copy.js';
import './forms.js';
import './keys.js';
import { connect } from './live.js';
import { $, $$, decorate, fetched } from './page.js';
import './plots.js';
import './run.js';
import { applyTheme } from './theme.js';
import './times.js';

applyTheme();
document.documentElement.dataset.script = 'yes';
decorate(document);
connect();
for (const later of $$('[data-later]')) void bring(later).catch(() => {});

/** Fetches a part that takes seconds once the page is displayed. */
async function bring(later) {
  const { pathname } = location;
  const made = await fetched([later.dataset.part], { pathname, search: new URL($('a', later).href).search });
  const brought = $(`[data-part="${later.dataset.part}"]`, made);
  if (!brought) return;
  later.replaceWith(document.adoptNode(brought));
  decorate(brought);
}
