// The models: what is served after each timestep, and what changed between two.
import { html, useState } from './lib.js';
import { useAnswer } from './api.js';
import { address, Loaded, n, number, seconds, short, Table, time, words } from './ui.js';

export function Models() {
  const answer = useAnswer('/ensembles?limit=50', 'timesteps log');
  return html`<section class="card" aria-labelledby="models"><h2 id="models">Models</h2>
    <${Loaded} of=${answer}>${page => html`
      <${Table} caption="Ensembles, the newest first" head=${[n('learnt through timestep'), n('models'), n('trained then'), n('of these trained anew since'), 'learnt at', n('after the last slice')]}
        rows=${page.items.map(e => [e.through, number(e.models), number(e.trained), number(e.replaced), time(e.learnt),
    seconds(e.learnt_after_seconds == null ? null : 1000 * e.learnt_after_seconds)])}
        empty="No model has been trained yet." />
      ${page.items.length > 0 && html`<${Groups} />`}
      ${page.items.length > 1 && html`<${Changes} through=${page.items.map(e => e.through)} />`}`}<//></section>`;
}

function Groups() {
  const answer = useAnswer('/groups', 'log');
  const whole = list => (list.length === 0 ? '–' : list.length === 1 ? list[0] : `${list[0]} to ${list.at(-1)}`);
  return html`<${Loaded} of=${answer}>${found => html`<details><summary>Every group</summary>
    <${Table} caption="The newest model of every group" head=${['model', n('group'), n('shards'), n('learnt through timestep'), 'checkpoint', 'trained anew']}
      rows=${found.items.map(g => [words(g.model) || 'not in the configuration any more', g.group, whole(g.shards), g.timestep,
    html`<code>${short(g.digest)}</code>`, g.replaced ? 'yes' : ''])} />
    <p class="note">A model learns from the slices of its shards alone: an erasure trains anew those whose shards it reaches.</p></details>`}<//>`;
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
