// Erasures: what was asked for, and the form that asks: what it would come to is shown first.
import { html, useState } from './lib.js';
import { ask, useAnswer } from './api.js';
import { address, Busy, Facts, Loaded, n, number, Pager, Problem, Table, time, Title, useCursor, words } from './ui.js';

export function Erasures() {
  const pages = useCursor('erasures');
  const page = useAnswer(address('/erasures', { limit: 50, cursor: pages.cursor }), 'erasures');
  return html`
    <${Title} note="What is asked for here is removed from every place, the models that learnt from it are trained anew, and a signed receipt says so.">Erasures<//>
    <${Form} />
    <section class="card" aria-labelledby="requests"><h2 id="requests">Requests</h2>
    <${Loaded} of=${page}>${answer => html`
      <${Table} caption="Requests for erasure" head=${['request', 'state', 'scope', n('targets'), 'received', 'last change']}
        rows=${answer.items.map(s => {
    const key = s.repeats ? `${s.request_id}/${s.request_digest}` : s.request_id;
    return [html`<a href=${`#/erasure/${encodeURIComponent(key)}`}>${s.request_id}</a>`,
      words(s.state) + (s.overdue ? ', overdue' : ''), s.scope, number(s.counts.nodes), time(s.received_at), time(s.updated_at)];
  })} empty="Nobody has asked for an erasure." />
      <${Pager} of=${pages} after=${answer.next_cursor} />`}<//></section>`;
}

const lines = text => String(text ?? '').split('\n').map(line => line.trim()).filter(Boolean);

const kinds = [
  ['nodes', 'Transactions', 'One id a line.'],
  ['subjects', 'Customers', 'One id a line: everything that carries it.'],
  ['edges', 'Payments', 'One a line, as PAYER>PAID.'],
  ['features', 'Features', 'One transaction a line: ID for all of its features, ID>0,7 for some.'],
];

// asked is what the form says, as the API takes it.
function asked(form) {
  const data = new FormData(form);
  const out = {};
  for (const [name] of kinds) {
    const list = lines(data.get(name));
    if (list.length) out[name] = list;
  }
  return { targets: out, scope: data.get('scope'), request_id: data.get('request_id').trim(), reason: data.get('reason').trim() };
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
    const { targets, scope, request_id, reason } = plan.request;
    const body = { ...targets, scope };
    if (request_id) body.request_id = request_id;
    if (reason) body.reason = reason;
    try {
      const { request_id: name } = await ask('/erasures', { method: 'POST', body });
      location.hash = `#/erasure/${encodeURIComponent(name)}`;
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
      </div>
      <${Problem} error=${problem} />
      <button class=${plan ? '' : 'main'}>See what it would come to</button>
    </form>
    ${plan && html`<${Plan} of=${plan.answer} submit=${submit} />`}
  </section>`;
}

function Plan({ of: plan, submit }) {
  const scope = plan.scopes[0];
  return html`<div class="plan" role="status"><h3>What it would come to</h3>
    ${plan.held < plan.targets && html`<p>lethe holds ${number(plan.held)} of the ${number(plan.targets)} targets. The others are kept from
      ever being taken.</p>`}
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
    <${Busy} run=${submit} cls="main">Ask for this erasure<//>`}
  </div>`;
}
