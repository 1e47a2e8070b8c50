// Alerts: the transactions most likely to be illicit, and the precision and recall of such a list.
import { html, useState } from './lib.js';
import { ask, useAnswer } from './api.js';
import { address, Class, Facts, Loaded, n, Pager, percent, plural, Probability, Problem, Table, Title, useCursor, useNarrow } from './ui.js';

const size = 50;

export function Alerts({ query }) {
  const given = name => query.get(name) ?? '';
  const all = given('class') === 'all';
  const list = all ? '/predictions' : '/alerts';
  const filters = { timestep: given('timestep'), min_probability: given('from'), max_probability: given('to') };
  const key = JSON.stringify([list, filters]);
  const pages = useCursor(key);
  const page = useAnswer(address(list, { ...filters, limit: size, cursor: pages.cursor }), 'predictions alerts');
  const nothing = page.value?.items.length === 0 && pages.page === 1;
  const scored = useAnswer(nothing ? '/predictions?limit=1' : null, 'predictions');
  const title = html`<${Title} note=${`${all ? 'All scored transactions' : 'Transactions that reach the alert threshold'}, highest probability first.`}>Alerts<//>`;
  if (scored.value?.items.length === 0) return html`${title}<${FirstSteps} />`;
  return html`
    <div class="headline">${title}<${Find} /></div>
    <${Filters} given=${given} />
    <div class="beside"><div>
    <${Loaded} of=${nothing ? scored : page}>${answer => (nothing ? html`<${NoMatch} filtered=${query.size > 0} />` : html`
      <${Table} caption=${`${all ? 'Alerts and other scored transactions' : 'Alerts'}, highest probability first`}
        head=${[n('rank'), 'transaction', n('probability'), 'class', n('timestep'), 'score']}
        rows=${answer.items.map((p, i) => [
    (pages.page - 1) * size + i + 1,
    html`<a href=${`#/transaction/${p.ref}`}>${p.transaction}</a>`,
    html`<${Probability} of=${p.probability} />`, html`<${Class} of=${p.class} />`,
    html`<a href=${`#/timestep/${p.timestep}`}>${p.timestep}</a>`,
    p.final ? (p.late ? 'final, late' : 'final') : 'provisional',
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
      <option value="all" selected=${given('class') === 'all'}>all scored</option></select></label>
    <button>Show</button>
    <a href="#/alerts">Clear</a>
  </form></details>`;
}

// Quality previews precision and recall for a threshold or a number of alerts per timestep.
function Quality({ timestep }) {
  const [by, setBy] = useState('served');
  const [value, setValue] = useState('');
  const least = { served: '', threshold: '.5', budget: '20' }[by];
  const asked = { timestep, [by]: by === 'served' ? '' : value || least };
  const answer = useAnswer(address('/quality', asked), 'timesteps');
  return html`<section class="card" aria-labelledby="quality">
    <h2 id="quality">Expected precision and recall${timestep && `, timestep ${timestep}`}</h2>
    <div class="filters">
      <label>Alert rule <select value=${by} onChange=${event => { setBy(event.target.value); setValue(''); }}>
        <option value="served">current threshold</option>
        <option value="threshold">another threshold</option>
        <option value="budget">alerts per timestep</option></select></label>
      ${by !== 'served' && html`<label>${by === 'threshold' ? 'Threshold' : 'How many'}
        <input type="number" min=${by === 'threshold' ? 0 : 1} max=${by === 'threshold' ? 1 : 100000}
          step=${by === 'threshold' ? 'any' : 1} value=${value || least} onChange=${event => setValue(event.target.value)} /></label>`}
    </div>
    <${Loaded} of=${answer}>${q => (q.labelled === 0
    ? html`<p class="note">No scored transaction has a label yet. Labels are needed to measure precision and recall.</p>`
    : html`<div role="status"><${Facts} of=${[
      ['Precision', html`<b class="big">${percent(q.precision)}</b>`], ['Recall', html`<b class="big">${percent(q.recall)}</b>`]]} />
      <p class="note">Precision: share of the ${plural(q.taken, 'alert')} that were illicit. Recall: share of the ${plural(q.illicit, 'illicit transaction')} that were alerts.
        Measured on ${plural(q.labelled, 'labelled transaction')}.</p></div>`)}<//>
  </section>`;
}

// Find opens the transaction with an id. The id is sent in a body, because addresses are logged.
function Find() {
  const [problem, setProblem] = useState(null);
  const submit = async event => {
    event.preventDefault();
    setProblem(null);
    try {
      const id = new FormData(event.target).get('id').trim();
      const { transactions } = await ask('/transactions/lookup', { method: 'POST', body: { ids: [id] } });
      if (transactions.length) location.hash = `#/transaction/${transactions[0].ref}`;
      else setProblem({ message: 'No transaction with this id.' });
    } catch (failed) { setProblem(failed); }
  };
  return html`<form class="filters" onSubmit=${submit} role="search" aria-label="Find a transaction">
    <label>Find by id <input name="id" required autocomplete="off" spellcheck=${false} /></label><button>Find</button>
    <${Problem} error=${problem} />
  </form>`;
}
