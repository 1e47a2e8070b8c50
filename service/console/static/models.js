// The models: what is served after each timestep, and what changed between two.
import { html, useState } from './lib.js';
import { useAnswer } from './api.js';
import { address, Loaded, n, number, short, Table } from './ui.js';

export function Models() {
  const answer = useAnswer('/ensembles?limit=50', 'timesteps log');
  return html`<section class="card" aria-labelledby="models"><h2 id="models">Models</h2>
    <${Loaded} of=${answer}>${page => html`
      <${Table} caption="Ensembles, the newest first" head=${[n('learnt through timestep'), n('models'), n('trained then'), n('of these trained anew since')]}
        rows=${page.items.map(e => [e.through, number(e.models), number(e.trained), number(e.replaced)])}
        empty="No model has been trained yet." />
      ${page.items.length > 1 && html`<${Changes} through=${page.items.map(e => e.through)} />`}`}<//></section>`;
}

function Changes({ through }) {
  const [from, setFrom] = useState(through[1]);
  const [to, setTo] = useState(through[0]);
  const answer = useAnswer(address('/ensembles/changes', { from, to }), 'log');
  const choice = (value, set, label) => html`<label>${label} <select value=${value} onChange=${event => set(Number(event.target.value))}>
    ${through.map(t => html`<option value=${t} selected=${t === value}>timestep ${t}</option>`)}</select></label>`;
  return html`<h3>What changed between two</h3>
    <div class="filters">${choice(from, setFrom, 'From')} ${choice(to, setTo, 'to')}</div>
    <${Loaded} of=${answer}>${found => html`
      <p role="status">${found.changed.length === 0 ? 'Nothing.' : `${found.changed.length} models are others, ${found.unchanged} the same.`}</p>
      ${found.changed.length > 0 && html`<details><summary>Which</summary>
      <${Table} caption="Models that are others" head=${[n('component'), n('group'), 'before', 'after', n('trained at timestep')]}
        rows=${found.changed.map(m => [m.component, m.group, html`<code>${short(m.before)}</code>`, html`<code>${short(m.after)}</code>`, m.timestep])} /></details>`}`}<//>`;
}
