// One request for erasure, as it goes on.
import { html, useState } from './lib.js';
import { ask, useAnswer } from './api.js';
import { Busy, Command, Facts, Loaded, number, plural, Problem, seconds, shell, Table, time, Title, words } from './ui.js';

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
  request_id_conflict: 'Another request has this name.', request_id_names_target: 'Its name holds an id that is to be erased.',
  scope_not_exact: 'This deployment cannot erase exactly at this scope.', restored_from_backup: 'A backup was put back.',
};

// state is the server's summary, which is the same on every surface: the page says no more of where a request stands.
const state = s => `${s.summary[0].toUpperCase()}${s.summary.slice(1)}.`;

// hint says what to do about it.
function hint(s) {
  if (s.result === 'nothing_held') return 'No record of any target was found, so nothing was erased. Check whether the ids are right.';
  return s.state === 'rejected' && reasons[s.failure];
}
const early = ['received', 'accepted', 'suppressed', 'held'];

const place = state => steps.findIndex(([name]) => name === state);

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
    ${s.waits_for?.signatures && html`<${Sign} of=${s} />`}
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
    s.counts.of_others > 0 && ['Records of others, published again without the target', number(s.counts.of_others)],
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
    <p class="state" role="status">${state(s)}</p>
    ${hint(s) && html`<p>${hint(s)}</p>`}
    ${s.state !== 'rejected' && s.state !== 'cancelled' && s.result !== 'nothing_held' && html`<ol class="steps">${steps.map(([name, text], i) => {
    const done = i < at || s.state === 'verified';
    return html`<li class=${done ? 'done' : i === at ? 'now' : ''} aria-current=${i === at && !done ? 'step' : undefined}>
        ${text}${took[name] != null && html` <span class="note">after ${seconds(took[name])}</span>`}<span class="hidden">${done ? ', done' : ''}</span></li>`;
  })}</ol>`}`;
}

// Sign says whose signature is missing, and how to give it: keys stay with people, and no browser signs.
const Sign = ({ of: s }) => html`<section class="card" aria-labelledby="sign"><h2 id="sign">It waits for a signature</h2>
  <p>${s.signers ? html`Signed by ${s.signers.signed.join(', ') || 'nobody'}. One more person must sign: ${s.signers.may_sign.join(' or ') || 'nobody else may'}.`
    : 'One more person of the role compliance must sign.'} Who signs runs:</p>
  <${Command}>${shell('lethe', 'erase', 'approve', s.request_digest, '--sign', 'KEY')}<//></section>`;

// Waiting asks again: a request that was just published is in no status yet.
function Waiting({ again }) {
  return html`<${Busy} run=${async () => again()}>Look again<//>`;
}

function Cancel({ of: s }) {
  const signers = useAnswer('/status').value?.request_signers ?? 0;
  const [problem, setProblem] = useState(null);
  if (signers > 0) return html`<p>To take it back, a person of the role compliance runs:</p><${Command}>${shell('lethe', 'erase', 'cancel', s.request_digest, '--sign', 'KEY')}<//>`;
  const run = async () => {
    setProblem(null);
    try { await ask(`/erasures/${encodeURIComponent(s.request_digest || s.request_id)}/cancel`, { method: 'POST' }); } catch (failed) { setProblem(failed); }
  };
  return html`<p><${Busy} run=${run}>Take the request back<//></p><${Problem} error=${problem} />`;
}
