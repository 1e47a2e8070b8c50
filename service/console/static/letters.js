// Dead letters: records that could not be taken, without their content, and why.
import { html, useState } from './lib.js';
import { ask, useAnswer } from './api.js';
import { address, Busy, Facts, Loaded, n, number, Pager, Problem, Table, time, Title, useCursor, words } from './ui.js';
import { meaning, reasons } from './refusals.js';

const topics = ['transactions.v1', 'labels.v1', 'erasures.v1'];
const link = letter => `#/letter/${letter.place.split('/').map(encodeURIComponent).join('/')}`;
// mends says that the record itself may be right, and was not at the time.
const mends = letter => letter.disposition === 'replayable';
const fate = letter => (letter.replayed_at ? 'sent again' : letter.waits ? 'waits for what it names' : letter.not_replayable ? 'stays' : mends(letter) ? 'can be sent again' : 'has to be sent right');

export function Letters({ query, may }) {
  const filters = { reason: query.get('reason') ?? '', topic: query.get('topic') ?? '' };
  const pages = useCursor(JSON.stringify(filters));
  const page = useAnswer(address('/dead-letters', { ...filters, limit: 50, cursor: pages.cursor }), 'dead_letters');
  const submit = event => {
    event.preventDefault();
    location.hash = address('#/letters', Object.fromEntries(new FormData(event.target)));
  };
  return html`
    <${Title} note="Records that lethe could not take. Each says why, and what to do; of their content only the form is shown.">Dead letters<//>
    <form class="filters" onSubmit=${submit} aria-label="Filters">
      <label>Reason <select name="reason"><option value="">any</option>
        ${reasons.map(r => html`<option value=${r} selected=${r === filters.reason}>${words(r)}</option>`)}</select></label>
      <label>Topic <select name="topic"><option value="">any</option>
        ${topics.map(t => html`<option value=${t} selected=${t === filters.topic}>${t}</option>`)}</select></label>
      <button>Show</button> <a href="#/letters">Clear</a>
    </form>
    <${Loaded} of=${page}>${answer => html`
      ${may.includes('operate') && html`<${ReplayAll} of=${answer.items} />`}
      <${Table} caption="Dead letters, by place" head=${['record', 'why', 'detail', 'written', 'what becomes of it']}
        rows=${answer.items.map(l => [html`<a href=${link(l)}>${l.place}</a>`, words(l.reason), l.detail, time(l.written_at), fate(l)])}
        empty="No record was refused." />
      <${Pager} of=${pages} after=${answer.next_cursor} />`}<//>`;
}

async function replay(places) {
  const answer = await ask('/dead-letters/replay', { method: 'POST', body: { places } });
  return answer.refused.length ? `${answer.sent} sent, ${answer.refused.length} not: ${answer.refused[0].why}.` : `${answer.sent} sent.`;
}

// useReplay sends letters again, and says how many were.
function useReplay() {
  const [said, setSaid] = useState('');
  const [problem, setProblem] = useState(null);
  const run = places => async () => {
    setProblem(null);
    try { setSaid(await replay(places)); } catch (failed) { setProblem(failed); }
  };
  return { run, said: html`<${Problem} error=${problem} /><p role="status">${said}</p>` };
}

function ReplayAll({ of: items }) {
  const { run, said } = useReplay();
  const open = items.filter(l => mends(l) && !l.replayed_at && !l.waits && !l.not_replayable);
  return html`<p class="actions">${open.length > 0 && html`<${Busy} run=${run(open.map(l => l.place))}>Send the ${number(open.length)} of this page again<//>`}</p>${said}`;
}

export function Letter({ rest, may }) {
  const answer = useAnswer(`/dead-letters/${rest.map(encodeURIComponent).join('/')}`, 'dead_letters');
  const { run, said } = useReplay();
  return html`<p><a href="#/letters">Dead letters</a></p>
    ${answer.error?.status === 404
    ? html`<${Title}>Dead letter ${rest.join('/')}<//><p role="status">It is gone: the record was taken, or what it named was erased.</p>`
    : html`<${Loaded} of=${answer}>${l => html`
      <${Title}>Dead letter ${l.place}<//>
      <section class="card" aria-labelledby="why"><h2 id="why">Why it was refused</h2>
        <p><b>${words(l.reason)}</b>: ${l.detail}.</p>
        <p>${meaning(l.reason)}</p>
        <${Facts} of=${[['Topic', l.topic], ['Partition', l.partition], ['Offset', number(l.offset)], ['Written', time(l.written_at)],
    ['Bytes', number(l.value_bytes)], ['Refused by', `lethe ${l.version}`], ['What becomes of it', fate(l)],
    l.replayed_at && ['Sent again', time(l.replayed_at)]]} /></section>
      <section class="card" aria-labelledby="form"><h2 id="form">The record, without its content</h2><pre tabindex="0">${l.form}</pre></section>
      ${l.not_replayable ? html`<p>${l.not_replayable[0].toUpperCase() + l.not_replayable.slice(1)}.</p>` : may.includes('operate')
    && html`<p><${Busy} run=${run([l.place])} cls=${mends(l) && 'main'}>Send it again<//></p>`}`}<//>`}
    ${said}`;
}
