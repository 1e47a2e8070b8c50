// The shards of a timestep: how evenly, how fairly and with how few cut payments it was dealt, and
// what each shard holds.
import { html } from './lib.js';
import { useAnswer } from './api.js';
import { decimal, Facts, Loaded, n, number, percent, short, Table } from './ui.js';

export function Shards({ timestep, settled }) {
  const answer = useAnswer(settled ? `/timesteps/${timestep}/shards` : null, 'timesteps');
  return html`<section class="card" aria-labelledby="shards"><h2 id="shards">Shards</h2>
    ${settled ? html`<${Loaded} of=${answer}>${found => html`<${Dealt} of=${found} />`}<//>`
    : html`<p class="note">A timestep is dealt to shards when its labels are in.</p>`}</section>`;
}

const Dealt = ({ of }) => html`
  <${Facts} of=${[
    ['Balance (0 is best)', decimal(of.balance)], ['Fairness (0 is best)', decimal(of.fairness)],
    ['Payments between shards', percent(of.cut)], ['Shards', number(of.shards.length)],
  ]} />
  <p class="note">Balance says how even the shards are in size, fairness how alike in classes. A payment between shards is cut:
    each side keeps what it needs of the other.</p>
  <details><summary>Every shard</summary>
  <${Table} caption="Shards" head=${[n('shard'), n('transactions'), n('illicit'), n('licit'), n('payments within'), n('stubs'), n('revision'), 'slice']}
    rows=${of.shards.map(s => [s.shard, number(s.nodes), number(s.illicit), number(s.licit), number(s.payments), number(s.stubs), s.revision,
    html`<code>${short(s.digest)}</code>`])} /></details>`;
