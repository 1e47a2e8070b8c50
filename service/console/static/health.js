// Health: whether everything runs, what there is, and for newcomers what to do next.
import { html, useEffect, useState } from './lib.js';
import { health, onChange, useAnswer } from './api.js';
import { Facts, Loaded, number, plural, short, Table, time, Title, words } from './ui.js';

export function Health({ may }) {
  const status = useAnswer('/status', 'predictions alerts timesteps erasures dead_letters');
  useEffect(() => {
    const again = setInterval(status.again, 10000);
    return () => clearInterval(again);
  }, []);
  return html`
    <${Title}>Health<//>
    <${Loaded} of=${status}>${s => html`<${Next} status=${s} may=${may} />`}<//>
    ${status.value?.waiting.length > 0 && html`<${Waits} of=${status.value.waiting} />`}
    <${Parts} waits=${!status.value || status.value.waiting.length > 0} />
    <${Loaded} of=${status}>${s => html`<section class="card" aria-labelledby="state"><h2 id="state">This process</h2><${Facts} of=${[
    ['Plays', s.roles.join(', ')], ['Version', s.version], ['Records not yet read', s.lag_records < 0 ? 'the brokers do not say' : number(s.lag_records)],
    ['Timesteps', `${s.timesteps.open} open, ${s.timesteps.closed} closed, ${s.timesteps.settled} settled`],
    ['Records rejected since it started', number(s.rejected_records)],
    ['Transactions', number(s.transactions)], ['Predictions', number(s.predictions)],
    ['Alerts that wait for their reasons', number(s.reasons_pending)],
    ['Models that are served', html`<code>${short(s.ensemble_hash)}</code>`],
    ['Learnt through timestep', s.trained_through < 0 ? 'none yet' : s.trained_through],
    may.includes('erase') && ['Erasures', Object.entries(s.erasures).filter(([, count]) => count).map(([state, count]) => `${count} ${words(state)}`).join(', ') || 'none'],
    ['Deployment', html`<code>${s.deployment}</code>`]]} /></section>`}<//>`;
}

// Waits lists what is waited for, and whose move it is.
const Waits = ({ of }) => html`<section class="card" aria-labelledby="waits"><h2 id="waits">Waiting</h2>
  <${Table} caption="What is waited for" head=${['what', 'since', 'whose move', 'what to do']}
    rows=${of.map(w => [w.says, time(w.since), w.move, w.do])} /></section>`;

// Parts shows /readyz, and looks again whenever something changes and when the page is come back to.
function Parts({ waits }) {
  const [found, set] = useState(null);
  useEffect(() => {
    let there = true;
    const look = () => health().then(answer => there && set(answer));
    look();
    const stop = onChange(look);
    const again = setInterval(look, 10000);
    return () => { there = false; stop(); clearInterval(again); };
  }, []);
  if (!found) return html`<p class="note" role="status">Loading …</p>`;
  return html`<section class="card" aria-labelledby="ready"><h2 id="ready">${!found.ready ? 'Something does not run' : waits ? 'All parts run' : 'Everything runs'}</h2>
    ${found.parts.length === 0 ? html`<p class="problem">The server does not answer.</p>`
    : html`<${Table} caption="Parts of the process" head=${['part', 'state', 'why']}
      rows=${found.parts.map(p => [p.name, html`<span class=${p.ok ? 'good' : 'bad'}>${p.ok ? '✓ runs' : '✗ does not run'}</span>`, p.ok ? '' : p.why])} />`}</section>`;
}

const done = text => html`<li class="done"><span aria-hidden="true">✓ </span>${text}<span class="hidden">, done</span></li>`;

// Next says what to do next, as far as can be seen from here.
function Next({ status: s, may }) {
  const scored = s.predictions > 0;
  return html`<section class="card" aria-labelledby="next"><h2 id="next">${scored ? 'What to do next' : 'First steps'}</h2>
    <ol class="next">
      ${s.transactions + s.predictions > 0 ? done(`Transactions arrive: ${plural(Math.max(s.transactions, s.predictions), 'one has come', 'have come')}.`)
    : html`<li>Send transactions to <code>transactions.v1</code>. To try it with a made-up stream:
          <pre tabindex="0">lethe generate --out stream${'\n'}lethe replay --dataset stream</pre></li>`}
      ${scored ? done(html`They are scored. <a href="#/alerts">Look at the alerts</a>, the most probable first.`)
    : html`<li>Wait for the first timestep to close and its labels to come: models learn from it, and score what follows.</li>`}
      ${s.timesteps.settled > 1 ? done(html`Predictions are measured. <a href="#/timesteps">See how good they were</a>.`)
    : html`<li>Send labels to <code>labels.v1</code> as they become known, or say on an alert what it was: models learn from
          them, and <a href="#/timesteps">predictions are measured</a>.</li>`}
      ${may.includes('investigate') && html`<li>Look whether records were refused: <a href="#/letters">dead letters</a>.</li>`}
      ${may.includes('erase') && html`<li>When somebody asks to be forgotten: <a href="#/erasures">ask for an erasure</a>, and verify its receipt.</li>`}
    </ol></section>`;
}
