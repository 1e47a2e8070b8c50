// Alerts: what is most likely illicit, the likeliest first, and how good such a list turned out.
import { html, useState } from './lib.js';
import { ask, useAnswer } from './api.js';
import { address, Class, Loaded, n, number, Pager, percent, Probability, Problem, Table, Title, useCursor, useNarrow } from './ui.js';

const size = 50;

export function Alerts({ query }) {
  const given = name => query.get(name) ?? '';
  const list = given('class') === 'all' ? '/predictions' : '/alerts';
  const filters = { timestep: given('timestep'), min_probability: given('from'), max_probability: given('to') };
  const key = JSON.stringify([list, filters]);
  const pages = useCursor(key);
  const page = useAnswer(address(list, { ...filters, limit: size, cursor: pages.cursor }), 'predictions alerts');
  const nothing = page.value?.items.length === 0 && pages.page === 1;
  const scored = useAnswer(nothing ? '/predictions?limit=1' : null, 'predictions');
  const title = html`<${Title} note="Transactions that are probably illicit, the most probable first. Open one to see why, and to say what it was.">Alerts<//>`;
  if (scored.value?.items.length === 0) return html`${title}<${FirstSteps} />`;
  return html`
    <div class="headline">${title}<${Find} /></div>
    <${Filters} given=${given} />
    <div class="beside"><div>
    <${Loaded} of=${nothing ? scored : page}>${answer => (nothing ? html`<${NoMatch} filtered=${query.size > 0} />` : html`
      <${Table} caption="Alerts, the most probable first"
        head=${[n('rank'), 'transaction', n('probability'), 'class', n('timestep'), 'score']}
        rows=${answer.items.map((p, i) => [
    (pages.page - 1) * size + i + 1,
    html`<a href=${`#/transaction/${p.ref}`}>${p.transaction}</a>`,
    html`<${Probability} of=${p.probability} />`, html`<${Class} of=${p.class} />`,
    html`<a href=${`#/timestep/${p.timestep}`}>${p.timestep}</a>`,
    p.final ? (p.late ? 'final, came late' : 'final') : 'provisional',
  ])} />
      <${Pager} of=${pages} after=${answer.next_cursor} />`)}<//></div>
    <${Quality} timestep=${given('timestep')} /></div>`;
}

// FirstSteps is what a new lethe shows instead of a list.
const FirstSteps = () => html`<section class="card" aria-labelledby="first"><h2 id="first">No transaction has been scored yet</h2>
  <p>Alerts appear here as soon as lethe has scored transactions. It first needs a timestep with transactions and labels to learn from.</p>
  <p><a class="button main" href="#/health">Follow the first steps on Health</a></p></section>`;

const NoMatch = ({ filtered }) => html`<p class="empty" role="status">${filtered
  ? html`No transaction matches these filters. <a href="#/alerts">Clear filters</a>`
  : html`No alerts: no scored transaction reaches the threshold. <a href="#/alerts?class=all">Show all scored transactions</a>`}</p>`;

// Filters are in the address, so that a list can be bookmarked and sent. On a phone they are folded: the list comes first.
function Filters({ given }) {
  const narrow = useNarrow();
  const submit = event => {
    event.preventDefault();
    const form = new FormData(event.target);
    if (narrow) event.target.parentElement.open = false;
    location.hash = address('#/alerts', Object.fromEntries(form));
  };
  const set = ['timestep', 'from', 'to', 'class'].filter(given).length;
  return html`<details class="fold" open=${!narrow}><summary>Filters${set > 0 && ` (${set} set)`}</summary>
  <form class="filters" onSubmit=${submit} aria-label="Filters">
    <label>Timestep <input name="timestep" type="number" min="0" value=${given('timestep')} /></label>
    <label>Probability from <input name="from" type="number" min="0" max="1" step="any" value=${given('from')} /></label>
    <label>to <input name="to" type="number" min="0" max="1" step="any" value=${given('to')} /></label>
    <label>Class <select name="class">
      <option value="" selected=${!given('class')}>illicit</option>
      <option value="all" selected=${given('class') === 'all'}>all that are scored</option></select></label>
    <button>Show</button>
    <a href="#/alerts">Clear</a>
  </form></details>`;
}

// Quality answers what a threshold, or a number of alerts per timestep, would have come to.
function Quality({ timestep }) {
  const [by, setBy] = useState('served');
  const [value, setValue] = useState('');
  const least = { served: '', threshold: '.5', budget: '20' }[by];
  const asked = { timestep, [by]: by === 'served' ? '' : value || least };
  const answer = useAnswer(address('/quality', asked), 'timesteps');
  return html`<section class="card" aria-labelledby="quality">
    <h2 id="quality">How good such a list is${timestep && `, in timestep ${timestep}`}</h2>
    <div class="filters">
      <label>An alert is <select value=${by} onChange=${event => { setBy(event.target.value); setValue(''); }}>
        <option value="served">what is called illicit now</option>
        <option value="threshold">what has at least a probability</option>
        <option value="budget">the most probable of each timestep</option></select></label>
      ${by !== 'served' && html`<label>${by === 'threshold' ? 'Probability' : 'How many a timestep'}
        <input type="number" min=${by === 'threshold' ? 0 : 1} max=${by === 'threshold' ? 1 : 100000}
          step=${by === 'threshold' ? 'any' : 1} value=${value || least} onChange=${event => setValue(event.target.value)} /></label>`}
    </div>
    <${Loaded} of=${answer}>${q => (q.labelled === 0
    ? html`<p class="note">No scored transaction has its label yet, so nobody can say.</p>`
    : html`<p role="status">${number(q.taken)} alerts among ${number(q.labelled)} transactions whose labels are known:
        <b> ${percent(q.precision)} of them were illicit</b> (precision), and they are <b>${percent(q.recall)} of the
        ${' '}${number(q.illicit)} illicit ones</b> (recall).</p>`)}<//>
  </section>`;
}

// Find leads from an id to its transaction. The id goes in a body: addresses end up in logs.
function Find() {
  const [problem, setProblem] = useState(null);
  const submit = async event => {
    event.preventDefault();
    setProblem(null);
    try {
      const id = new FormData(event.target).get('id').trim();
      const { transactions } = await ask('/transactions/lookup', { method: 'POST', body: { ids: [id] } });
      if (transactions.length) location.hash = `#/transaction/${transactions[0].ref}`;
      else setProblem({ message: 'Nothing is known of a transaction with this id.' });
    } catch (failed) { setProblem(failed); }
  };
  return html`<form class="filters" onSubmit=${submit} role="search" aria-label="Find a transaction">
    <label>Find by id <input name="id" required autocomplete="off" spellcheck=${false} /></label><button>Find</button>
    <${Problem} error=${problem} />
  </form>`;
}
