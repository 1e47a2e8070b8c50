// Timesteps: how good the predictions turned out, how far probabilities can be believed, how scores
// drift, and how the graph was cut into shards.
import { html } from './lib.js';
import { useAnswer } from './api.js';
import { address, decimal, Facts, Loaded, n, number, Pager, percent, probability, Probability, Table, Title, useCursor } from './ui.js';
import { Curves } from './charts.js';
import { Models } from './models.js';
import { Shards } from './shards.js';

const state = step => (step.settled ? 'settled' : step.graph ? 'closed' : 'open');

export function Timesteps() {
  const pages = useCursor('timesteps');
  const page = useAnswer(address('/timesteps', { limit: 60, cursor: pages.cursor }), 'timesteps');
  return html`
    <${Title} note="Every timestep is scored by models that learnt from the timesteps before it, and measured once its labels are in.">Timesteps and model<//>
    <${Loaded} of=${page}>${answer => html`
      <${Charts} steps=${answer.items.filter(step => step.quality).reverse()} />
      <${Drift} steps=${answer.items.filter(step => step.score_drift != null).reverse()} />
      <section class="card" aria-labelledby="list"><h2 id="list">Timesteps</h2>
      <${Table} caption="Timesteps, the newest first"
        head=${[n('timestep'), 'state', n('transactions'), n('payments'), n('alerts'), n('labels'), n('illicit'), n('AUC'),
    n('average precision'), n('F1'), n('calibration error'), n('drift')]}
        rows=${answer.items.map(step => [
    html`<a href=${`#/timestep/${step.timestep}`}>${step.timestep}</a>`, state(step), number(step.graph?.nodes ?? step.predictions),
    number(step.graph?.payments), number(step.alerts), number(step.quality?.labelled), number(step.quality?.illicit),
    decimal(step.quality?.auc), decimal(step.quality?.average_precision), decimal(step.quality?.illicit_f1),
    decimal(step.quality?.expected_calibration_error), decimal(step.score_drift)])}
        empty="No transaction has come yet. The page Health says what to do next." />
      <${Pager} of=${pages} after=${answer.next_cursor} /></section>
      <${Models} />`}<//>`;
}

function Charts({ steps }) {
  if (steps.length < 2) return html`<p class="note">Curves are drawn when two timesteps have their labels.</p>`;
  const times = steps.map(step => step.timestep);
  const values = name => steps.map(step => step.quality[name]);
  return html`<div class="columns">
    <${Curves} title="How good predictions were (1 is best)" times=${times} series=${[
    { name: 'AUC', values: values('auc'), color: '--accent' },
    { name: 'average precision', values: values('average_precision'), color: '--good', dash: [6, 4] },
    { name: 'F1 of illicit', values: values('illicit_f1'), color: '--warn', dash: [2, 3] }]} />
    <${Curves} title="How far probabilities were off (0 is best)" times=${times} series=${[
    { name: 'calibration error', values: values('expected_calibration_error'), color: '--bad' }]} />
  </div>`;
}

// Drift beyond this is to be looked into, by custom.
const drifted = .25;

function Drift({ steps }) {
  if (steps.length < 2) return null;
  const values = steps.map(step => step.score_drift);
  return html`<${Curves} title="How far scores differ from those of the timesteps before (0 is no drift)"
    top=${1.1 * Math.max(drifted, ...values)} times=${steps.map(step => step.timestep)} series=${[
    { name: 'drift of scores (PSI)', values, color: '--accent' },
    { name: 'look into it from here', values: values.map(() => drifted), color: '--bad', dash: [6, 4] }]} />`;
}

export function Timestep({ rest }) {
  const answer = useAnswer(`/timesteps/${rest[0]}`, 'timesteps');
  return html`<p><a href="#/timesteps">Timesteps and model</a></p>
    <${Loaded} of=${answer}>${step => html`
      <${Title}>Timestep ${step.timestep}<//>
      <${Facts} of=${[
    ['State', state(step)], ['Transactions', number(step.graph?.nodes)], ['Payments', number(step.graph?.payments)],
    ['Predictions', number(step.predictions)], ['Came late', number(step.late)],
    ['Alerts', html`<a href=${`#/alerts?timestep=${step.timestep}`}>${number(step.alerts)}</a>`],
    ['Drift of scores', decimal(step.score_drift)], ['Revision', step.graph?.revision], ['Timestep before', step.graph && step.graph.previous >= 0 ? step.graph.previous : 'none'],
  ]} />
      <section class="card" aria-labelledby="quality"><h2 id="quality">How good predictions were</h2>
        ${step.quality ? html`<${Quality} of=${step.quality} />` : html`<p class="note">Its labels are not in yet.</p>`}</section>
      <${Scores} of=${step.scores} drift=${step.score_drift} />
      <${Shards} timestep=${step.timestep} settled=${step.settled} />`}<//>`;
}

const Quality = ({ of: q }) => html`
  <${Facts} of=${[
    ['Labels', number(q.labelled)], ['Illicit', number(q.illicit)], ['AUC', decimal(q.auc)],
    ['Average precision', decimal(q.average_precision)], ['Precision', percent(q.precision)], ['Recall', percent(q.recall)],
    ['F1 of illicit', decimal(q.illicit_f1)], ['Best F1 in hindsight', q.best_f1 == null ? '–' : `${decimal(q.best_f1)} from ${probability(q.best_threshold)}`],
    ['Called illicit from', probability(q.threshold)], ['Calibration error', decimal(q.expected_calibration_error)],
  ]} />
  <${Table} caption="Calibration: what was said and what came"
    head=${['probability', n('transactions'), n('mean probability'), n('share that was illicit'), '']}
    rows=${q.bins.map(bin => [`${decimal(bin.from, 1)} to ${decimal(bin.to, 1)}`, number(bin.count), html`<${Probability} of=${bin.mean_probability} />`,
    html`<${Probability} of=${bin.illicit_share} />`, html`<${Both} said=${bin.mean_probability} came=${bin.illicit_share} />`])} />
  <p class="note">Where the mean probability is 0.300, the share that was illicit should be about 0.300.</p>`;

const Both = ({ said, came }) => html`<svg class="both" viewBox="0 0 100 12" aria-hidden="true">
  <rect class="said" width=${100 * said} y="1" height="4" /><rect class="came" width=${100 * came} y="7" height="4" /></svg>`;

// Scores shows how final predictions are spread over the probabilities.
function Scores({ of: counts, drift }) {
  const all = counts.reduce((sum, count) => sum + count, 0);
  const share = count => (all ? count / all : 0);
  return html`<section class="card" aria-labelledby="scores"><h2 id="scores">Scores</h2>
    ${all === 0 ? html`<p class="note">No prediction is final yet.</p>` : html`
    <p>${drift == null ? 'There is no timestep before to compare them with.' : drift > drifted
    ? `They differ much from those of the timesteps before (drift ${decimal(drift)}): look for what has changed in the stream.`
    : `They are spread much as those of the timesteps before (drift ${decimal(drift)}).`}</p>
    <${Table} caption="How many predictions have which probability" head=${['probability', n('predictions'), n('share'), '']}
      rows=${counts.map((count, i) => [`${decimal(i / counts.length, 2)} to ${decimal((i + 1) / counts.length, 2)}`, number(count),
    percent(share(count)), html`<svg class="both" viewBox="0 0 100 12" aria-hidden="true"><rect class="said" width=${100 * share(count)} y="3" height="6" /></svg>`])
    .filter((_, i) => counts[i] > 0)} />`}</section>`;
}
