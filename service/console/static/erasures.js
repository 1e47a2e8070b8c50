// Erasures: what was asked for, and the form that asks: what it would come to is shown first.
import { html, useState } from './lib.js';
import { ask, useAnswer } from './api.js';
import { address, Busy, Facts, Loaded, n, number, Pager, plural, Problem, Table, time, Title, useCursor, words } from './ui.js';

export function Erasures() {
  const pages = useCursor('erasures');
  const page = useAnswer(address('/erasures', { limit: 50, cursor: pages.cursor }), 'erasures');
  return html`
    <${Title} note="What is asked for here is removed from every place, the models that learnt from it are trained anew, and a signed receipt says so.">Erasures<//>
    <${Form} />
    <section class="card" aria-labelledby="requests"><h2 id="requests">Requests</h2>
    <${Loaded} of=${page}>${answer => html`
      <${Table} caption="Requests for erasure" head=${['request', 'state', 'scope', n('targets'), 'received', 'last change', 'deadline']}
        rows=${answer.items.map(s => [html`<a href=${`#/erasure/${requestKey(s)}`}>${s.request_id || 'name withheld'}</a>`,
    words(s.summary) + (s.overdue ? ', overdue' : ''), s.scope, number(s.counts.nodes), time(s.received_at), time(s.updated_at),
    s.deadline ? time(s.deadline) : 'none'])} empty="Nobody has asked for an erasure." />
      <${Pager} of=${pages} after=${answer.next_cursor} />`}<//></section>`;
}

// requestKey names a request in an address: its digest, for several requests may have one name.
const requestKey = s => encodeURIComponent(s.request_digest || s.request_id);

// ids are separated by line breaks, semicolons and, where none belongs to what is asked for, commas. What stands in double
// quotes is one id, whatever it holds.
export function ids(text, separators = '\n;,') {
  const out = [];
  for (const [, quoted, plain] of String(text ?? '').matchAll(new RegExp(`"([^"\n]*)"|([^${separators}]+)`, 'g'))) {
    const id = (quoted ?? plain).trim();
    if (id) out.push(id);
  }
  return out;
}

const kinds = [
  ['nodes', 'Transactions', 'One id a line, or separated by commas or semicolons. Put an id that holds one in double quotes.'],
  ['subjects', 'Customers', 'As above: everything that carries the id is erased.'],
  ['edges', 'Payments', 'As above, each as PAYER>PAID.'],
  ['features', 'Features', 'One a line or separated by semicolons: ID for all features of a transaction, ID>0,7 for some.'],
];

// asked is what the form says, as the API takes it.
function asked(form) {
  const data = new FormData(form);
  const out = {};
  for (const [name] of kinds) {
    const list = ids(data.get(name), name === 'features' ? '\n;' : undefined);
    if (list.length) out[name] = list;
  }
  return {
    targets: out, scope: data.get('scope'), request_id: data.get('request_id').trim(), reason: data.get('reason').trim(),
    deadline: data.get('deadline'),
  };
}

function Form() {
  const [plan, setPlan] = useState(null);
  const [problem, setProblem] = useState(null);
  const look = async event => {
    event.preventDefault();
    setProblem(null);
    setPlan(null);
    const request = asked(event.target);
    if (!Object.keys(request.targets).length) return setProblem({ message: 'Say what is to be erased: at least one id.' });
    try {
      const answer = await ask('/erasures/plan', { method: 'POST', body: { ...request.targets, scopes: [request.scope] } });
      setPlan({ request, answer });
    } catch (failed) { setProblem(failed); }
    return undefined;
  };
  const submit = async () => {
    const { targets, scope, request_id, reason, deadline } = plan.request;
    const body = { ...targets, scope };
    if (request_id) body.request_id = request_id;
    if (reason) body.reason = reason;
    if (deadline) body.deadline = `${deadline}T23:59:59Z`;
    try {
      const submitted = await ask('/erasures', { method: 'POST', body });
      location.hash = `#/erasure/${requestKey(submitted)}?submitted=1`;
    } catch (failed) { setProblem(failed); }
  };
  return html`<section class="card" aria-labelledby="new"><h2 id="new">Ask for an erasure</h2>
    <form onSubmit=${look} onInput=${() => setPlan(null)}>
      <div class="columns">${kinds.map(([name, title, help]) => html`<div>
        <label for=${name}>${title}</label><textarea id=${name} name=${name} rows="3" spellcheck=${false} aria-describedby=${`${name}-help`}></textarea>
        <p class="note" id=${`${name}-help`}>${help}</p></div>`)}</div>
      <fieldset><legend>How far it reaches</legend>
        <label class="choice"><input type="radio" name="scope" value="stubs" checked /> <span><b>stubs</b>: its own shard, and what other shards had of it as a neighbour (usual)</span></label>
        <label class="choice"><input type="radio" name="scope" value="shard" /> <span><b>shard</b>: its own shard alone; others keep what they had of it as a neighbour</span></label>
        <label class="choice"><input type="radio" name="scope" value="partition" /> <span><b>partition</b>: also the part that it had in who is in which shard; dearest</span></label>
      </fieldset>
      <div class="columns">
        <div><label for="request_id">Name of the request (optional)</label><input id="request_id" name="request_id" autocomplete="off" aria-describedby="name-help" />
          <p class="note" id="name-help">It is kept for ever: no id and no name of a person.</p></div>
        <div><label for="reason">Reason (optional)</label><input id="reason" name="reason" autocomplete="off" aria-describedby="reason-help" />
          <p class="note" id="reason-help">Kept as a keyed hash alone.</p></div>
        <div><label for="deadline">Deadline (optional)</label><input id="deadline" name="deadline" type="date" aria-describedby="deadline-help" />
          <p class="note" id="deadline-help">The end of that day, UTC. Requests with the earliest deadline go first.</p></div>
      </div>
      <${Problem} error=${problem} />
      <button class=${plan ? '' : 'main'}>See what it would come to</button>
    </form>
    ${plan && html`<${Plan} of=${plan.answer} submit=${submit} />`}
  </section>`;
}

function Plan({ of: plan, submit }) {
  const scope = plan.scopes[0];
  const [confirmed, setConfirmed] = useState(false);
  const unknown = Object.values(plan.unknown ?? {}).flat();
  const spelled = Object.values(plan.other_spellings ?? {}).flat();
  return html`<div class="plan" role="status"><h3>What it would come to</h3>
    ${unknown.length > 0 && html`<div class="problem"><p>lethe holds nothing of these. Check whether they are misspelt:</p>
      <ul>${unknown.map(id => html`<li><code>${id}</code></li>`)}</ul>${spelled.length > 0 && html`<p>Another spelling is held of: ${spelled.map(id => html`<code>${id}</code> `)}</p>`}<p>If you go on, they are suppressed for ever: records that come for
        them later are dropped.</p>
      <label class="choice"><input type="checkbox" checked=${confirmed} onChange=${event => setConfirmed(event.target.checked)} />
        <span>These ids are right</span></label></div>`}
    ${plan.holds?.map(h => html`<p class="problem">The request will wait for the hold ${h.hold_id}, ${h.until ? `until ${time(h.until)}` : 'until it is lifted'}.</p>`)}
    ${plan.several_subjects > 0 && html`<p>${plural(plan.several_subjects, 'transaction')} of other customers too will be erased whole.
      ${plan.several_subjects_ids?.length > 0 && html` They are: ${plan.several_subjects_ids.join(', ')}.`}</p>`}
    ${scope.rejected
    ? html`<p class="problem">It would be refused: ${words(scope.rejected)}.</p>`
    : html`<${Facts} of=${[
      ['Targets', number(plan.targets)], ['Held by lethe', number(plan.held)], plan.carried && ['Carried by customers', number(plan.carried)],
      ['Timesteps', number(scope.timesteps?.length)], ['Shards', number(scope.shards?.length)], ['Slices written anew', number(scope.slices)],
      ['Payments', number(scope.payments)], ['Labels', number(scope.labels)],
      ['Models trained anew', scope.models.map(m => `${m.model}: ${m.refitted.length} of ${m.groups}`).join(', ') || 'none'],
      ['Training takes about', `${scope.estimated_seconds.toFixed(1)} s`],
      ['Training all anew would take', `${scope.everything.estimated_seconds.toFixed(1)} s`],
    ]} />
    ${scope.may_remain?.length > 0 && html`<h4>What may remain</h4><ul>${scope.may_remain.map(text => html`<li>${text}</li>`)}</ul>`}
    <p>An erasure cannot be undone once it is rewriting.</p>
    <${Busy} run=${submit} cls="main" disabled=${unknown.length > 0 && !confirmed}>Ask for this erasure<//>`}
  </div>`;
}
