// Erasures: what was asked for, and the form that asks: what it would come to is shown first.
import { html, useState } from './lib.js';
import { ask, useAnswer } from './api.js';
import { address, Busy, Command, Export, Facts, Loaded, n, number, Pager, plural, Problem, shell, Table, time, Title, useCursor, words } from './ui.js';
import { Holds } from './holds.js';

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
    s.summary + (s.overdue ? ', overdue' : ''), s.scope, number(s.counts.nodes), time(s.received_at), time(s.updated_at),
    s.deadline ? time(s.deadline) : 'none'])} empty="Nobody has asked for an erasure." />
      <${Pager} of=${pages} after=${answer.next_cursor} />
      ${(answer.items.length > 0 || pages.page > 1) && html`<${Export} name="erasures" read=${everyRequest} rows=${requestRows} />`}`}<//></section>
    <${Holds} />`;
}

// everyRequest reads all pages of the list.
async function everyRequest() {
  const out = [];
  let cursor = null;
  do {
    const page = await ask(address('/erasures', { limit: 500, cursor }));
    out.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor);
  return out;
}

const requestRows = list => [
  ['request', 'digest', 'state', 'summary', 'result', 'scope', 'targets', 'received', 'last change', 'deadline', 'overdue', 'waits for holds', 'signatures', 'signatures needed'],
  ...list.map(s => [s.request_id, s.request_digest, s.state, s.summary, s.result, s.scope, s.counts.nodes, s.received_at, s.updated_at, s.deadline,
    s.overdue ? 'yes' : 'no', s.waits_for?.holds?.map(h => `${h.hold_id} until ${h.until ?? 'it is lifted'}`).join('; '),
    s.waits_for?.signatures?.given, s.waits_for?.signatures?.needed]),
];

// requestKey names a request in an address: its digest, for several requests may have one name.
const requestKey = s => encodeURIComponent(s.request_digest || s.request_id);

// ids are separated by line breaks, semicolons and, where none belongs to what is asked for, commas. One in double quotes may
// hold these, and "" in it is one double quote.
export function ids(text, separators = '\n;,') {
  const one = new RegExp(`[^\\S\n]*(?:"((?:[^"\n]|"")*)"[^\\S\n]*(?=[${separators}]|$)|([^${separators}]*))`, 'g');
  return [...String(text ?? '').matchAll(one)].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain.trim()).filter(Boolean);
}

// quoted is an id as ids and the flags of lethe erase take it.
export const quoted = id => (/[;,\n"]/.test(id) ? `"${id.replaceAll('"', '""')}"` : id);

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
    deadline: data.get('deadline') ? `${data.get('deadline')}T23:59:59Z` : '', until: data.get('until').trim(),
  };
}

const flags = { nodes: '--node', subjects: '--subject', edges: '--edge', features: '--feature' };

// commandOf is the command line that asks for the same, with a signature.
function commandOf({ targets, scope, request_id, reason, deadline, until }) {
  const named = Object.entries(targets).flatMap(([kind, list]) => list.map(id => `${flags[kind]}=${kind === 'features' ? id : quoted(id)}`));
  const more = Object.entries({ until, 'request-id': request_id, reason, deadline }).filter(([, value]) => value).map(([flag, value]) => `--${flag}=${value}`);
  return shell('lethe', 'erase', 'submit', ...named, `--scope=${scope}`, ...more, '--sign', 'KEY');
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
    if (request.until && !request.targets.subjects) return setProblem({ message: 'A last timestep is for customers: name one, or leave it empty.' });
    try {
      const body = { ...request.targets, scopes: [request.scope] };
      if (request.until) body.until = Number(request.until);
      const answer = await ask('/erasures/plan', { method: 'POST', body });
      setPlan({ request, answer });
    } catch (failed) { setProblem(failed); }
    return undefined;
  };
  const submit = async () => {
    const { targets, scope, request_id, reason, deadline, until } = plan.request;
    const body = { ...targets, scope };
    if (request_id) body.request_id = request_id;
    if (reason) body.reason = reason;
    if (deadline) body.deadline = deadline;
    if (until) body.until = Number(until);
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
        <div><label for="until">Customers: last timestep (optional)</label><input id="until" name="until" inputmode="numeric" pattern="[0-9]+" autocomplete="off" aria-describedby="until-help" />
          <p class="note" id="until-help">What carries the customer later stays. Without it: the newest timestep when the request is accepted.</p></div>
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
    ${plan && html`<${Plan} of=${plan.answer} request=${plan.request} submit=${submit} />`}
  </section>`;
}

// planRows are the request and what it would come to.
const planRows = ({ request, plan }) => {
  const scope = plan.scopes[0];
  const list = (what, of) => Object.entries(of ?? {}).flatMap(([kind, ids]) => ids.map(id => [what, kind, id]));
  return [
    ['what', 'kind', 'value'], ...list('target', request.targets), ...list('not held', plan.unknown),
    ['request', 'scope', request.scope], request.until && ['request', 'last timestep', request.until], request.deadline && ['request', 'deadline', request.deadline],
    ...(plan.holds ?? []).map(h => ['hold', h.hold_id, h.until ?? 'until it is lifted']),
    ['other customers', 'transactions that go too', plan.several_subjects ?? 0],
    ...(plan.several_subjects_ids ?? []).map(id => ['other customers', 'transaction', id]),
    ['figure', 'targets', plan.targets], ['figure', 'held', plan.held], ['figure', 'carried by customers', plan.carried ?? 0],
    ...(scope.rejected ? [['rejected', 'reason', scope.rejected]] : [
      ['figure', 'timesteps', scope.timesteps?.length], ['figure', 'shards', scope.shards?.length], ['figure', 'slices', scope.slices],
      ['figure', 'payments', scope.payments], ['figure', 'labels', scope.labels], ...scope.models.map(m => ['models trained anew', m.model, `${m.refitted.length} of ${m.groups}`]),
      ['figure', 'seconds until swapped', scope.estimated_seconds], ...(scope.may_remain ?? []).map(text => ['may remain', '', text]),
    ]),
  ].filter(Boolean);
};

function Plan({ of: plan, request, submit }) {
  const scope = plan.scopes[0];
  const signers = useAnswer('/status').value?.request_signers ?? 0;
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
    ${plan.several_subjects > 0 && html`<div class="problem"><p>${plan.several_subjects === 1 ? '1 transaction belongs' : `${number(plan.several_subjects)} transactions belong`} to other customers too, and will be erased whole${plan.several_subjects_ids?.length ? ':' : '.'}</p>
      ${plan.several_subjects_ids?.length > 0 && html`<ul>${plan.several_subjects_ids.map(id => html`<li><code>${id}</code></li>`)}</ul>`}</div>`}
    ${scope.rejected
    ? html`<p class="problem">It would be refused: ${words(scope.rejected)}.</p>`
    : html`<${Facts} of=${[
      ['Targets', number(plan.targets)], ['Held by lethe', number(plan.held)], request.deadline && ['Wanted by', time(request.deadline)],
      request.targets.subjects && ['Customers up to timestep', request.until || 'the newest'], plan.carried && ['Carried by customers', number(plan.carried)],
      ['Timesteps', number(scope.timesteps?.length)], ['Shards', number(scope.shards?.length)], ['Slices written anew', number(scope.slices)],
      ['Payments', number(scope.payments)], ['Labels', number(scope.labels)],
      ['Models trained anew', scope.models.map(m => `${m.model}: ${m.refitted.length} of ${m.groups}`).join(', ') || 'none'],
      ['Training takes about', `${scope.estimated_seconds.toFixed(1)} s`],
      ['Training all anew would take', `${scope.everything.estimated_seconds.toFixed(1)} s`],
    ]} />
    ${scope.may_remain?.length > 0 && html`<h4>What may remain</h4><ul>${scope.may_remain.map(text => html`<li>${text}</li>`)}</ul>`}
    <p>An erasure cannot be undone once it is rewriting.</p>
    ${signers > 0 ? html`<p>${signers === 1 ? 'A person' : `${signers} people`} of the role compliance must sign requests here. Submit it with:</p><${Command}>${commandOf(request)}<//>`
    : html`<${Busy} run=${submit} cls="main" disabled=${unknown.length > 0 && !confirmed}>Ask for this erasure<//>`}`}
    <${Export} name="erasure-plan" read=${async () => ({ request, plan })} rows=${planRows} />
  </div>`;
}
