// A transaction: its score, why, who is around it, what became of it, and what an analyst says it was.
import { html, useState } from './lib.js';
import { ask, useAnswer } from './api.js';
import { Busy, Class, Facts, Loaded, probability, Problem, short, Title } from './ui.js';
import { Neighbourhood } from './graph.js';
import { Reasons } from './reasons.js';

export function Transaction({ rest, may }) {
  const answer = useAnswer(`/transactions/${rest[0]}`, 'predictions alerts timesteps');
  if (answer.error?.status === 404) {
    return html`<${Title}>Nothing is known<//><p>Nothing is known of this transaction: it never came, or is not to be told of any more.</p>
      <p><a href="#/alerts">Back to the alerts</a></p>`;
  }
  return html`<${Loaded} of=${answer}>${t => html`
    <p><a href="#/alerts">Alerts</a></p>
    <${Title}>Transaction ${t.id}<//>
    <${Score} of=${t} />
    ${may.includes('judge') && html`<${Verdict} of=${t} />`}
    <div class="columns">
      <section class="card" aria-labelledby="why"><h2 id="why">Why</h2><${Reasons} transaction=${t} /></section>
      <section class="card" aria-labelledby="around"><h2 id="around">Who paid whom around it</h2><${Neighbourhood} transaction=${t} /></section>
    </div>
    <section class="card" aria-labelledby="history"><h2 id="history">What became of it</h2><${History} of=${t} /></section>`}<//>`;
}

function Score({ of: t }) {
  const p = t.prediction;
  return html`<${Facts} of=${[
    ['Probability that it is illicit', p ? html`<b class="big">${probability(p.probability)}</b>` : 'not scored'],
    p && ['Class', html`<${Class} of=${p.class} />`],
    p && ['Called illicit from', probability(p.threshold)],
    ['Label', html`<${Class} of=${t.label} />`],
    ['Timestep', html`<a href=${`#/timestep/${t.timestep}`}>${t.timestep}</a>`],
    ['Payments', t.payments ?? 'known when its timestep has closed'],
  ]} />`;
}

// Verdict publishes what the analyst says as a label, from which the models learn.
function Verdict({ of: t }) {
  const [sent, setSent] = useState(null);
  const [problem, setProblem] = useState(null);
  const say = label => async () => {
    setProblem(null);
    try { setSent((await ask(`/transactions/${t.ref}/label`, { method: 'POST', body: { label } })).label); } catch (failed) { setProblem(failed); }
  };
  return html`<section class="card" aria-labelledby="verdict">
    <h2 id="verdict">What was it?</h2>
    <p class="note">Your answer is published as its label on labels.v1, and the models learn from it. The last answer counts.</p>
    <p class="actions">
      <${Busy} run=${say('illicit')} cls="main" disabled=${t.label === 'illicit'}>Confirm: it is illicit<//>
      <${Busy} run=${say('licit')} disabled=${t.label === 'licit'}>Dismiss: it is licit<//>
    </p>
    <${Problem} error=${problem} />
    <p role="status">${sent && (t.label === sent ? `The label is ${sent}.` : `The label ${sent} is published. It is shown here once its timestep has taken it.`)}</p>
  </section>`;
}

function History({ of: t }) {
  const p = t.prediction;
  return html`<ol class="history">
    <li>It belongs to timestep ${t.timestep}${t.payments == null ? ', which is open: more may arrive.' : `, whose graph has ${t.payments} payments of it.`}</li>
    ${p && html`<li>${p.final ? (p.late ? 'It came when its timestep had been scored already, and was scored then' : 'It was scored when its timestep closed') : 'It was scored as it arrived, and will be again when its timestep closes'}:
      ${' '}${probability(p.probability)}, by the models <code>${short(p.ensemble_version)}</code>, which had learnt
      ${p.trained_through < 0 ? ' nothing yet' : html` from everything up to <a href=${`#/timestep/${p.trained_through}`}>timestep ${p.trained_through}</a>`} and not from its own label.</li>`}
    ${t.explained && html`<li>It is an alert, and its reasons were published.</li>`}
    <li>${t.label === 'unknown' ? 'Nobody has said yet what it was.' : `Its label came in: ${t.label}.`}</li>
  </ol>`;
}
