// A receipt as a page to read and to print, and its check in the browser.
import { html, useEffect, useState } from './lib.js';
import { ask, useAnswer } from './api.js';
import { Busy, Facts, Loaded, n, number, Problem, seconds, short, Table, time, Title, words } from './ui.js';
import { check, leafIndex, statement, thumbprint } from './verify.js';

export function Receipt({ rest }) {
  const document = useAnswer(`/erasures/${encodeURIComponent(rest[0])}/receipt`, 'erasures');
  return html`<p class="screen"><a href=${`#/erasure/${encodeURIComponent(rest[0])}`}>The request</a></p>
    ${document.error?.status === 404 && html`<p role="status">${document.error.message === 'there is no such request' ? 'No such request.' : 'There is no receipt: one is signed when everything was searched.'}</p>`}
    ${document.error?.status !== 404 && html`<${Loaded} of=${document}>${signed => html`<${Page} signed=${signed} of=${statement(signed)} />`}<//>`}`;
}

function outcomes(list) {
  const counts = {};
  for (const o of list ?? []) counts[words(o.outcome)] = (counts[words(o.outcome)] ?? 0) + 1;
  return Object.entries(counts).map(([name, count]) => `${count} ${name}`).join(', ');
}

// finding is the first line of a receipt. It follows from the outcomes, as the other renderings have it.
function finding(r) {
  const missing = (r.outcomes ?? []).filter(o => o.outcome === 'nothing_held').length;
  const erased = (r.outcomes ?? []).some(o => o.outcome === 'erased');
  if (!r.outcomes?.length) return '';
  if (missing === r.outcomes.length) return 'Nothing was held of any target: nothing was erased.';
  if (missing > 0) return `Nothing was held of ${missing} of ${r.outcomes.length} targets. The others were erased.`;
  return erased ? 'Every target was erased.' : 'Every target had been erased by another request.';
}

function Page({ signed, of: r }) {
  const took = r.elapsed_ms ?? {};
  const save = () => {
    const link = Object.assign(window.document.createElement('a'), {
      href: URL.createObjectURL(new Blob([JSON.stringify(signed)], { type: 'application/json' })), download: `${r.request_id}.json`,
    });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  return html`<article class="receipt">
    <${Title}>Receipt of erasure ${r.request_id}<//>
    <p class="state">${finding(r)}</p>
    <p class="actions screen"><button type="button" onClick=${() => print()}>Print</button>
      <button type="button" onClick=${save}>Save the signed file</button></p>
    <${Check} signed=${signed} />
    <section><h2>What was done</h2><${Facts} of=${[
    ['Everything searched', `on ${time(r.verified_at)}`], r.signed_by?.length > 0 && ['Request signed by', html`<code>${r.signed_by.join(', ')}</code>`], ['Requested', time(r.requested_at)], ['Targets', outcomes(r.outcomes)],
    ['Scope', r.scope], ['Replaced', `${number(r.slices_replaced.length)} slices of ${number(r.shards_retrained.length)} shards in ${number(r.timesteps.length)} timesteps`],
    r.groups_refitted && ['Trained anew', r.groups_refitted.map(g => `${g.model}: ${g.refitted.length} of ${g.groups} groups`).join(', ') || 'nothing'],
    ['Models', html`<code>${short(r.ensemble_before)}</code> became <code>${short(r.ensemble_after)}</code>`],
  ]} /></section>
    <section><h2>How long it took</h2><${Table} caption="Times since the request" head=${['until', 'it held that', n('after')]} rows=${[
    ['suppressed', 'nothing about the targets left any more', seconds(took.suppressed)],
    ['swapped', 'the models that are served never saw them', seconds(took.swapped)],
    ['erased', 'every place that held them was written anew and searched', seconds(took.erased)],
    ['verified', 'everything was searched, and nothing was found', seconds(took.verified)]]} /></section>
    <section><h2>What was found where, and what remains</h2><${Table} caption="Artefacts"
      head=${['artefact', 'where', 'action', n('found'), n('remaining')]}
      rows=${r.artefacts.map(a => [words(a.artefact), a.location, words(a.action), number(a.found), number(a.remaining)])} />
      <p>Searched at the end: ${number(r.scan.files)} files and ${number(r.scan.records)} records, ${number(r.scan.hits)} hits.</p></section>
    <section><h2>What may remain</h2><ul>${r.may_remain.map(text => html`<li>${text}</li>`)}</ul></section>
    <section><h2>Whose it is</h2><${Facts} of=${[
    ['Deployment', html`<code>${r.deployment}</code>`], ['Digest of the request', html`<code>${r.request_digest}</code>`],
    ['Made by', `lethe ${r.software_version}, kernels ${r.kernel_set}`]]} />
      <p class="note">This page is a rendering. What counts is the signed file: <code>lethe receipt verify FILE --public-key KEY</code>${' '}
        checks it without a network.</p></section>
  </article>`;
}

// Check checks the receipt under the keys that the server names, unless others were handed over.
function Check({ signed }) {
  const [keys, setKeys] = useState(null);
  const [problem, setProblem] = useState(null);
  const [found, setFound] = useState(null);
  useEffect(() => { ask('/log/keys').then(answer => setKeys(answer.keys), setProblem); }, []);
  const run = async () => {
    setProblem(null);
    setFound(null);
    try {
      if (!crypto.subtle) throw new Error('This browser checks signatures on pages over TLS or on this machine alone.');
      const newest = await ask(`/log/leaves/${leafIndex(signed)}/proof`).catch(() => null);
      setFound({ ...await check(signed, keys, newest), at: new Date().toISOString() });
    } catch (failed) { setProblem(failed); }
  };
  return html`<section class="card check" aria-labelledby="check"><h2 id="check">Is it true?</h2>
    <p>The deployment's key: ${keys ? html`<code class="key">${keys[0].key_id}</code>` : '…'}</p>
    <${Given} keys=${keys} set=${list => { setKeys(list); setFound(null); }} />
    <p class="screen"><${Busy} run=${run} cls="main" disabled=${!keys}>Verify<//></p>
    <${Problem} error=${problem} />
    <div role="status">${found && html`
      <p class=${`verdict ${found.valid ? 'good' : 'bad'}`}>${found.valid ? 'Valid.' : 'Not valid. Nothing on this page counts.'} Checked in this browser on ${time(found.at)}.</p>
      <ul class="findings">${found.findings.map(f => html`<li class=${f.ok ? 'good' : 'bad'}>${f.ok ? '✓' : '✗'} ${f.what}${f.why && `: ${f.why}`}${!f.ok && !f.why && ': that does not hold'}.</li>`)}</ul>
      ${found.valid && html`<p class="note">Leaf ${found.index} of the ${found.size} of the log's checkpoint.</p>`}`}</div>
  </section>`;
}

// Given takes the key's name as it was handed over: a server that forged receipts would also name its own key.
function Given({ keys, set }) {
  const [said, setSaid] = useState(null);
  const compare = async event => {
    event.preventDefault();
    const given = new FormData(event.target).get('key').replace(/-----[^-]+-----/g, '').replace(/\s/g, '');
    if (given.length <= 43) return setSaid(keys?.some(k => k.key_id === given) ? 'It is this key.' : 'It is another key. Do not believe this page.');
    // A PEM file of an Ed25519 key ends with its 32 bytes.
    const raw = atob(given).slice(-32);
    const key = btoa(raw).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
    set([{ key_id: await thumbprint(key), public_key: key }]);
    return setSaid('The receipt is checked under the key that you gave.');
  };
  return html`<details class="screen"><summary>Compare it with the key that was handed over to you</summary>
    <form onSubmit=${compare}><label for="key">Its fingerprint, or the file with the public key</label>
      <textarea id="key" name="key" rows="3" required spellcheck=${false}></textarea><button>Compare</button>
      <p role="status">${said}</p></form></details>`;
}
