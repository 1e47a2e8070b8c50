// What moved a score, in words.
import { html } from './lib.js';
import { useAnswer } from './api.js';
import { decimal, n, Table } from './ui.js';

const feature = r => (r.name ? `“${r.name}”` : `number ${r.feature}`);
const texts = {
  F: r => `its feature ${feature(r)}`,
  FN: r => `feature ${feature(r)}, the mean over its neighbours`,
  FI: r => `feature ${feature(r)}, the mean over those who paid it`,
  FO: r => `feature ${feature(r)}, the mean over those whom it paid`,
  N: () => 'how many neighbours it has',
  NI: () => 'how many paid it',
  NO: () => 'how many it paid',
  S: () => 'the shape of the payments around it',
  P: r => ({ in: 'a payment from ', out: 'a payment to ', both: 'payments from and to ' }[r.direction] ?? 'a payment with ') + r.transaction,
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
    return html`<p class="note">There are reasons for alerts alone, and of a timestep with more than a hundred for the most
      probable ones. They follow a moment after the score is final.</p>`;
  }
  if (answer.error) return html`<p class="problem" role="alert">${answer.error.message}</p>`;
  if (!answer.value) return html`<p class="note" role="status">Loading …</p>`;
  const all = ranked(answer.value);
  const most = Math.max(...all.map(r => Math.abs(r.moved)), 1e-9);
  return html`
    <${Table} caption="What moved the score most" head=${['what', n('moved the score'), '', 'seen by']}
      rows=${all.slice(0, 12).map(r => [r.text, `${r.moved > 0 ? '+' : '−'}${decimal(Math.abs(r.moved), 2)}`,
    html`<${Bar} share=${r.moved / most} />`, r.model])}
      empty="No single part moved the score: it comes from many small ones." />
    <p class="note">What is above 0 moved it towards illicit, what is below towards licit.</p>
    ${answer.value.again && html`<p class="note">These reasons were made anew, since an erasure had a part in those before.</p>`}`;
}
