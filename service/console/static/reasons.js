// The reasons for a score, in words.
import { html } from './lib.js';
import { useAnswer } from './api.js';
import { decimal, n, Table } from './ui.js';

const feature = r => (r.name ? `feature “${r.name}”` : `feature number ${r.feature}`);
const texts = {
  F: r => feature(r),
  FN: r => `${feature(r)}, mean of neighbours`,
  FI: r => `${feature(r)}, mean of payers`,
  FO: r => `${feature(r)}, mean of payees`,
  N: () => 'number of neighbours',
  NI: () => 'number of payers',
  NO: () => 'number of payees',
  S: () => 'structure of the payments around it',
  P: r => ({ in: 'payment from ', out: 'payment to ', both: 'payments from and to ' }[r.direction] ?? 'payment with ') + r.transaction,
};

// ranked puts the reasons of all models together, by how much each moved the combined score.
export function ranked(record) {
  return record.components.flatMap(c => c.reasons.map(r => ({
    text: (texts[r.code] ?? (() => r.code))(r), model: c.model, moved: r.contribution * (c.weight ?? 1),
  }))).sort((a, b) => Math.abs(b.moved) - Math.abs(a.moved));
}

// Bar shows how far and which way: to the right is towards illicit.
function Bar({ share }) {
  const width = 48 * Math.min(1, Math.abs(share));
  return html`<svg class=${share > 0 ? 'bar up' : 'bar down'} viewBox="0 0 100 10" aria-hidden="true">
    <line x1="50" x2="50" y1="0" y2="10" /><rect x=${share > 0 ? 50 : 50 - width} y="2" height="6" width=${width} /></svg>`;
}

export function Reasons({ transaction }) {
  const answer = useAnswer(transaction.explained ? `/transactions/${transaction.ref}/reasons` : null, 'alerts');
  if (!transaction.explained) {
    return html`<p class="note">Only alerts have reasons, and in a timestep with more than 100 alerts only the most probable ones.
      Reasons appear shortly after the score becomes final.</p>`;
  }
  if (answer.error) return html`<p class="problem" role="alert">${answer.error.message}</p>`;
  if (!answer.value) return html`<p class="note" role="status">Loading …</p>`;
  const all = ranked(answer.value);
  const most = Math.max(...all.map(r => Math.abs(r.moved)), 1e-9);
  return html`
    <${Table} caption="Main reasons" head=${['reason', n('effect'), '', 'model']}
      rows=${all.slice(0, 12).map(r => [r.text, `${r.moved > 0 ? '+' : '−'}${decimal(Math.abs(r.moved), 2)}`,
    html`<${Bar} share=${r.moved / most} />`, html`<span class="whole">${r.model}</span>`])}
      empty="No single reason stands out: the score adds up from many small effects." />
    <p class="note">A positive effect moves the score towards illicit, a negative one towards licit.</p>
    ${answer.value.again && html`<p class="note">Recomputed, because an erasure affected the previous reasons.</p>`}`;
}
