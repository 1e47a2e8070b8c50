// One request for erasure, as it goes on.
import { html, useState } from './lib.js';
import { ask, useAnswer } from './api.js';
import { Busy, Facts, Loaded, number, plural, Problem, seconds, Table, time, Title, words } from './ui.js';

const steps = [
  ['received', 'Received'],
  ['accepted', 'Accepted: it is valid, and nobody keeps it back'],
  ['suppressed', 'Suppressed: nothing about the targets is told any more'],
  ['rewriting', 'Rewriting: what held them is written anew without them'],
  ['retraining', 'Retraining: models that learnt from them are trained anew'],
  ['swapped', 'Swapped: the models that are served never saw them'],
  ['erased', 'Erased: every place that held them was written anew and searched'],
  ['verified', 'Verified: everything was searched, nothing was found, and the receipt is signed'],
];
const reasons = {
  request_id_conflict: 'another request has this name', request_id_names_target: 'its name holds an id that is to be erased',
  scope_not_exact: 'this deployment cannot erase exactly at this scope', restored_from_backup: 'a backup was put back',
};

// sentence says where a request stands. The server's summary is the same on every surface.
function sentence(s) {
  if (s.result === 'nothing_held') return 'Nothing held: no record of any target was found, so nothing was erased. Check whether the ids are right.';
  if (s.state === 'rejected') return `It was rejected: ${reasons[s.failure] ? `${reasons[s.failure]} (${s.failure})` : s.failure}.`;
  if (s.state === 'held') return `It ${s.waits_for?.holds || !s.waits_for ? 'is ' : ''}${s.summary}.`;
  if (s.state === 'cancelled') return 'It was taken back.';
  if (s.state === 'failed') return `It failed, and is retried: ${words(s.failure)}.`;
  return `It is ${s.summary}.`;
}
const early = ['received', 'accepted', 'suppressed', 'held'];

const place = state => steps.findIndex(([name]) => name === (state === 'verifying' ? 'erased' : state));

export function Request({ rest, query }) {
  const key = rest[0];
  const answer = useAnswer(`/erasures/${encodeURIComponent(key)}`, 'erasures');
  if (answer.error?.status === 404) {
    const submitted = query?.has('submitted');
    return html`<p><a href="#/erasures">Erasures</a></p><${Title}>${submitted ? 'Request submitted' : 'No such request'}<//>
      <p role="status">${submitted ? 'It is shown here as soon as lethe has read it.' : html`No request has the name or digest <code>${key}</code>.`}</p>
      ${submitted && html`<${Waiting} again=${answer.again} />`}`;
  }
  return html`<p><a href="#/erasures">Erasures</a></p><${Loaded} of=${answer}>${s => html`
    <${Title}>Request ${s.request_id || 'without a name'}<//>
    <${Progress} of=${s} />
    ${s.state === 'verified' && html`<p><a class="button main" href=${`#/receipt/${encodeURIComponent(s.request_digest || s.request_id)}`}>Read and verify the receipt</a></p>`}
    ${s.waits_for?.signatures && html`<p>Another person of the role compliance signs it with
      <code>lethe erase approve ${s.request_id} --sign KEY</code>.</p>`}
    ${s.same_name?.length > 0 && html`<p>Other requests have the same name: ${s.same_name.map(digest => html`<a href=${`#/erasure/${digest}`}>${digest.slice(0, 12)}</a> `)}</p>`}
    ${early.includes(s.state) && html`<${Cancel} of=${s} />`}
    <section class="card" aria-labelledby="what"><h2 id="what">What it comes to</h2>
      <${Facts} of=${[
    s.request_digest && ['Digest of the request', html`<code>${s.request_digest}</code>`],
    s.signed_by?.length > 0 && ['Signed by', html`<code>${s.signed_by.join(', ')}</code>`],
    s.counts.several_subjects > 0 && ['Of other customers too', number(s.counts.several_subjects)],
    ['Scope', s.scope], ['Received', time(s.received_at)], s.deadline && ['Wanted by', `${time(s.deadline)}${s.overdue ? ', overdue' : ''}`],
    ['Targets', number(s.counts.nodes)], ['Timesteps', number(s.counts.timesteps)], ['Slices written anew', number(s.counts.slices)],
    ['Shards', number(s.counts.shards)], ['Payments', number(s.counts.payments)], ['Labels', number(s.counts.labels)],
    ['Records in topics', number(s.counts.source_records)], ['Predictions withdrawn', number(s.counts.predictions)],
    s.groups_refitted?.length && ['Trained anew', s.groups_refitted.map(g => `${g.model}: ${g.refitted.length} of ${g.groups}`).join(', ')],
    s.attempts > 1 && ['Attempts', number(s.attempts)], s.batch_size > 1 && ['Carried out together', number(s.batch_size)],
  ]} />
      ${s.outcomes?.length > 0 && html`<details><summary>${plural(s.outcomes.length, 'target')}, by keyed hash</summary>
        <${Table} caption="Targets and what became of them" head=${['target', 'kind', 'outcome']}
          rows=${s.outcomes.map(o => [html`<code>${o.target.slice(0, 16)}</code>`, words(o.kind || 'transaction'), words(o.outcome || 'under way')])} /></details>`}
    </section>`}<//>`;
}

function Progress({ of: s }) {
  const at = place(s.state === 'failed' ? s.failed_in : s.state);
  const took = s.elapsed_ms ?? {};
  return html`
    <p class="state" role="status">${sentence(s)}</p>
    ${s.state !== 'rejected' && s.state !== 'cancelled' && s.result !== 'nothing_held' && html`<ol class="steps">${steps.map(([name, text], i) => {
    const done = i < at || s.state === 'verified';
    return html`<li class=${done ? 'done' : i === at ? 'now' : ''} aria-current=${i === at && !done ? 'step' : undefined}>
        ${text}${took[name] != null && html` <span class="note">after ${seconds(took[name])}</span>`}<span class="hidden">${done ? ', done' : ''}</span></li>`;
  })}</ol>`}`;
}

// Waiting asks again: a request that was just published is in no status yet.
function Waiting({ again }) {
  return html`<${Busy} run=${async () => again()}>Look again<//>`;
}

function Cancel({ of: s }) {
  const [problem, setProblem] = useState(null);
  const run = async () => {
    setProblem(null);
    try { await ask(`/erasures/${encodeURIComponent(s.request_digest || s.request_id)}/cancel`, { method: 'POST' }); } catch (failed) { setProblem(failed); }
  };
  return html`<p><${Busy} run=${run}>Take the request back<//></p><${Problem} error=${problem} />`;
}
