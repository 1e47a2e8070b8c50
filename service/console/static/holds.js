// Holds: what keeps records from being erased, until when, and the forms that set and lift it.
import { html, useState } from './lib.js';
import { ask, useAnswer } from './api.js';
import { Busy, Command, Loaded, n, number, Problem, shell, Table, time, words } from './ui.js';
import { ids } from './erasures.js';

export function Holds() {
  const holds = useAnswer('/holds', 'erasures');
  const signers = useAnswer('/status').value?.request_signers ?? 0;
  const [problem, setProblem] = useState(null);
  const change = async (path, body) => {
    setProblem(null);
    try {
      const hold = await ask(path, { method: 'POST', body });
      holds.again();
      return hold;
    } catch (failed) { setProblem(failed); return null; }
  };
  const lift = h => (h.state !== 'in_force' ? '' : signers > 0 ? html`<code>${shell('lethe', 'hold', 'lift', h.hold_id, '--sign', 'KEY')}</code>`
    : html`<${Busy} run=${() => change(`/holds/${encodeURIComponent(h.hold_id)}/lift`)}>Lift ${h.hold_id}<//>`);
  return html`<section class="card" aria-labelledby="holds"><h2 id="holds">Holds</h2>
    <p class="note">A request that names what is held waits as a whole. Nothing of it is suppressed meanwhile.</p>
    <${Loaded} of=${holds}>${answer => html`<${Table} caption="Holds" head=${['hold', 'state', n('transactions'), n('customers'), 'set', 'until', '']}
      rows=${answer.items.map(h => [h.hold_id, words(h.state) + (h.too_late ? `, too late for ${h.too_late}` : ''), number(h.transactions), number(h.subjects), time(h.set_at),
    h.lifted_at ? `lifted ${time(h.lifted_at)}` : h.until ? time(h.until) : 'it is lifted', lift(h)])} empty="Nothing is held." />`}<//>
    <${Problem} error=${problem} />
    ${signers > 0 ? html`<p>A person of the role compliance must sign holds here. Set one with:</p><${Command}>lethe hold set --node ID --reason TEXT --until TIME --sign KEY<//>`
    : html`<details><summary>Set a hold</summary><${Form} set=${body => change('/holds', body)} /></details>`}
  </section>`;
}

function Form({ set }) {
  const [done, setDone] = useState(null);
  const submit = async event => {
    event.preventDefault();
    const form = event.target;
    const data = new FormData(form);
    const body = { reason: data.get('hold_reason').trim() };
    for (const [name, list] of [['nodes', ids(data.get('hold_nodes'))], ['subjects', ids(data.get('hold_subjects'))]]) if (list.length) body[name] = list;
    if (data.get('hold_id').trim()) body.hold_id = data.get('hold_id').trim();
    if (data.get('hold_until')) body.until = `${data.get('hold_until')}T23:59:59Z`;
    setDone(null);
    const hold = await set(body);
    setDone(hold);
    if (hold) form.reset();
  };
  return html`<form onSubmit=${submit}><div class="columns">
    <div><label for="hold_nodes">Transactions to keep</label><textarea id="hold_nodes" name="hold_nodes" rows="2" spellcheck=${false}></textarea></div>
    <div><label for="hold_subjects">Customers to keep</label><textarea id="hold_subjects" name="hold_subjects" rows="2" spellcheck=${false}></textarea></div>
    <div><label for="hold_reason">Reason for the hold</label><input id="hold_reason" name="hold_reason" required autocomplete="off" /><p class="note">Kept as a keyed hash alone.</p></div>
    <div><label for="hold_id">Name of the hold (optional)</label><input id="hold_id" name="hold_id" autocomplete="off" /><p class="note">It is kept for ever: no id and no name of a person.</p></div>
    <div><label for="hold_until">Hold until (optional)</label><input id="hold_until" name="hold_until" type="date" /><p class="note">The end of that day, UTC. Without it: until it is lifted.</p></div>
    </div><button>Set the hold</button>
    ${done && html`<p role="status" class=${done.too_late ? 'problem' : 'note'}>The hold ${done.hold_id} is in force${done.too_late ? `, but too late for ${done.too_late} of what it names: they were erased, or are being erased` : ''}.</p>`}
  </form>`;
}
