// A transaction: its score, the reasons, its neighbourhood, its history, and an analyst's verdict.
import { html, useState } from './lib.js';
import { ask, useAnswer } from './api.js';
import { Busy, Class, Facts, Loaded, plural, probability, Problem, short, Title } from './ui.js';
import { Neighbourhood } from './graph.js';
import { Reasons } from './reasons.js';

export function Transaction({ rest, may }) {
  const answer = useAnswer(`/transactions/${rest[0]}`, 'predictions alerts timesteps');
  if (answer.error?.status === 404) {
    return html`<${Title}>Transaction not found<//><p>lethe never received this transaction, or an erasure has removed it from view.</p>
      <p><a href="#/alerts">Back to Alerts</a></p>`;
  }
  return html`<${Loaded} of=${answer}>${t => html`
    <p><a href="#/alerts">Alerts</a></p>
    <${Title}>Transaction ${t.id}<//>
    <${Score} of=${t} />
    ${may.includes('judge') && html`<${Verdict} of=${t} />`}
    <div class="columns">
      <section class="card" aria-labelledby="why"><h2 id="why">Reasons</h2><${Reasons} transaction=${t} /></section>
      <section class="card" aria-labelledby="around"><h2 id="around">Neighbourhood</h2><${Neighbourhood} transaction=${t} /></section>
    </div>
    <section class="card" aria-labelledby="history"><h2 id="history">History</h2><${History} of=${t} /></section>`}<//>`;
}

function Score({ of: t }) {
  const p = t.prediction;
  return html`<${Facts} of=${[
    ['Illicit probability', p ? html`<b class="big">${probability(p.probability)}</b>` : 'not scored'],
    p && ['Class', html`<${Class} of=${p.class} />`],
    p && ['Alert threshold', probability(p.threshold)],
    ['Label', html`<${Class} of=${t.label} />`],
    ['Timestep', html`<a href=${`#/timestep/${t.timestep}`}>${t.timestep}</a>`],
    ['Payments', t.payments ?? 'known once its timestep closes'],
  ]} />`;
}

// Verdict publishes the analyst's verdict as a label, from which the models learn.
function Verdict({ of: t }) {
  const [sent, setSent] = useState(null);
  const [problem, setProblem] = useState(null);
  const say = label => async () => {
    setProblem(null);
    try { setSent((await ask(`/transactions/${t.ref}/label`, { method: 'POST', body: { label } })).label); } catch (failed) { setProblem(failed); }
  };
  return html`<section class="card" aria-labelledby="verdict">
    <h2 id="verdict">Verdict</h2>
    <div class="actions">
      <${Busy} run=${say('illicit')} cls="main" disabled=${t.label === 'illicit'}>Confirm: illicit<//>
      <${Busy} run=${say('licit')} disabled=${t.label === 'licit'}>Dismiss: licit<//>
      <p class="note">Your verdict is published as a label on labels.v1, and models learn from it. The latest verdict counts.</p>
    </div>
    <${Problem} error=${problem} />
    <p role="status">${sent && (t.label === sent ? `The label is ${sent}.` : `Verdict published: ${sent}. The label changes here once lethe has processed it.`)}</p>
  </section>`;
}

function History({ of: t }) {
  const p = t.prediction;
  return html`<ol class="history">
    <li>Belongs to timestep ${t.timestep}, ${t.payments == null ? 'which is open: more payments may arrive.' : `with ${plural(t.payments, 'payment')}.`}</li>
    ${p && html`<li>${p.final ? (p.late ? 'Arrived after its timestep was scored, and was scored then' : 'Scored when its timestep closed') : 'Scored on arrival; scored again when its timestep closes'}:
      ${' '}probability ${probability(p.probability)}. Models <code>${short(p.ensemble_version)}</code>
      ${p.trained_through < 0 ? ' had not been trained yet.' : html` were trained through <a href=${`#/timestep/${p.trained_through}`}>timestep ${p.trained_through}</a>, without this transaction’s label.`}</li>`}
    ${t.explained && html`<li>Alert with published reasons.</li>`}
    <li>${t.label === 'unknown' ? 'No label yet.' : `Labelled ${t.label}.`}</li>
  </ol>`;
}
