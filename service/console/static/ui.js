// Small parts that pages share.
import { html, useEffect, useRef, useState } from './lib.js';

// fraction formats a number from 0 to 1. Only 0 and 1 themselves read as such: what is closer to them than the digits can show
// gets one digit more, and where that is not enough, a bound.
function fraction(x, digits, scale = 1) {
  if (x == null) return '–';
  const text = more => (scale * x).toFixed(digits + more);
  const certain = shown => Number(shown) === 0 || Number(shown) === scale;
  if (x <= 0 || x >= 1 || !certain(text(0))) return text(0);
  if (!certain(text(1))) return text(1);
  const least = 10 ** -(digits + 1);
  return x < .5 ? `< ${least.toFixed(digits + 1)}` : `> ${(scale - least).toFixed(digits + 1)}`;
}

export const probability = x => fraction(x, 3);
export const percent = x => (x == null ? '–' : `${fraction(x, 1, 100)} %`);
export const number = x => (x == null ? '–' : x.toLocaleString('en'));
export const decimal = (x, digits = 3) => (x == null ? '–' : x.toFixed(digits));
export const words = text => String(text ?? '').replaceAll('_', ' ');
export const short = hash => (hash ? hash.slice(0, 12) : 'none');
export const time = text => (text ? new Date(text).toLocaleString('en-GB', { timeZone: 'UTC' }) + ' UTC' : '–');
export const seconds = ms => (ms == null ? '–' : `${(ms / 1000).toFixed(ms < 10000 ? 2 : 0)} s`);
export const plural = (n, one, more = one + 's') => `${number(n)} ${n === 1 ? one : more}`;

// Title is the page's heading, which has the focus when the page is opened: a screen reader says it.
export function Title({ children, note }) {
  const heading = useRef(null);
  const text = [children].flat().join('');
  useEffect(() => {
    document.title = `${text} – lethe`;
    heading.current.focus({ preventScroll: true });
  }, [text]);
  return html`<div class="title"><h1 tabindex="-1" ref=${heading}>${children}</h1>${note && html`<p class="note">${note}</p>`}</div>`;
}

export const Problem = ({ error }) => error && html`<p class="problem" role="alert">${error.message}</p>`;

// Loaded shows what was asked for, that it is on its way, or why it did not come.
export function Loaded({ of: { value, error }, children }) {
  if (error) return html`<${Problem} error=${error} />`;
  if (value === undefined) return html`<p class="note" role="status">Loading …</p>`;
  return children(value);
}

export const Facts = ({ of }) => html`<dl class="facts">
  ${of.filter(Boolean).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value ?? '–'}</dd></div>`)}
</dl>`;

// Table has a caption for screen readers and may be scrolled sideways where a phone is too narrow.
export const Table = ({ caption, head, rows, empty }) => (rows.length === 0
  ? html`<p class="empty">${empty || 'Nothing here.'}</p>`
  : html`<div class="scroll" tabindex="0" role="region" aria-label=${caption}>
      <table><caption class="hidden">${caption}</caption>
        <thead><tr>${head.map(name => html`<th scope="col" class=${name.number && 'n'}>${name.title ?? name}</th>`)}</tr></thead>
        <tbody>${rows.map(cells => html`<tr>${cells.map((cell, i) => html`<td class=${head[i].number && 'n'}>${cell}</td>`)}</tr>`)}</tbody>
      </table></div>`);

// Probability is a probability in a column of a table, where decimal points stand below each other.
export const Probability = ({ of }) => html`<span class=${probability(of).length === 5 && 'short'}>${probability(of)}</span>`;

export const n = title => ({ title, number: true });

// Pages follow each other by cursors; those before are kept to go back to.
export function useCursor(key) {
  const [state, set] = useState({ key, past: [] });
  const past = state.key === key ? state.past : [];
  return {
    cursor: past.at(-1) ?? null,
    page: past.length + 1,
    next: at => set({ key, past: [...past, at] }),
    back: () => set({ key, past: past.slice(0, -1) }),
  };
}

export const Pager = ({ of: { page, next, back }, after }) => (page > 1 || after) && html`
  <nav class="pager" aria-label="Pages of the list">
    <button type="button" disabled=${page === 1} onClick=${back}>Previous page</button>
    <span>page ${page}</span>
    <button type="button" disabled=${!after} onClick=${() => next(after)}>Next page</button>
  </nav>`;

const narrow = matchMedia('(max-width: 40rem)');

// useNarrow reports whether the window is as narrow as a phone, as the style sheet has it.
export function useNarrow() {
  const [is, set] = useState(narrow.matches);
  useEffect(() => {
    const changed = () => set(narrow.matches);
    narrow.addEventListener('change', changed);
    return () => narrow.removeEventListener('change', changed);
  }, []);
  return is;
}

// address makes a query of what is given.
export function address(path, given) {
  const query = new URLSearchParams(Object.entries(given).filter(([, value]) => value !== '' && value != null));
  return query.size ? `${path}?${query}` : path;
}

// Busy is a button that does something, says that it does, and cannot be pressed twice meanwhile.
export function Busy({ children, run, kind = 'button', disabled, cls }) {
  const [busy, set] = useState(false);
  const there = useRef(true);
  useEffect(() => () => { there.current = false; }, []);
  const press = async () => {
    set(true);
    try { await run(); } finally { if (there.current) set(false); }
  };
  return html`<button type=${kind} class=${cls} disabled=${busy || disabled} aria-busy=${busy} onClick=${press}>${children}</button>`;
}

export const Mark = ({ kind, children }) => html`<span class=${`mark ${kind}`}>${children}</span>`;
export const Class = ({ of }) => html`<${Mark} kind=${of}>${of === 'illicit' ? '▲ illicit' : of === 'licit' ? '● licit' : '○ unknown'}<//>`;

// csv writes rows as RFC 4180 has them. A cell that a spreadsheet would take for a formula begins with an apostrophe.
export const csv = rows => rows.map(cells => cells.map(cell => {
  const text = String(cell ?? '').replace(/^[=+\-@\t\r]/, "'$&");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}).join(',') + '\r\n').join('');

// save has the browser keep a text as a file.
function save(name, type, text) {
  const href = URL.createObjectURL(new Blob([text], { type }));
  const link = Object.assign(document.createElement('a'), { href, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

// Export offers something as a file. read returns it as JSON, and rows its rows for CSV, the titles first.
export function Export({ name, read, rows }) {
  const [problem, setProblem] = useState(null);
  const as = (type, text) => async () => {
    setProblem(null);
    try { save(`${name}.${type}`, type === 'csv' ? 'text/csv' : 'application/json', text(await read())); } catch (failed) { setProblem(failed); }
  };
  return html`<p class="export"><${Busy} run=${as('csv', found => csv(rows(found)))}>Export as CSV<//>
    <${Busy} run=${as('json', found => JSON.stringify(found, null, 1) + '\n')}>Export as JSON<//></p><${Problem} error=${problem} />`;
}

// shell writes a command line for people to run. What may hold anything is quoted.
export const shell = (...words) => words.map(word => (/^[\w./:=@%+,-]+$/.test(word) ? word : `'${String(word).replaceAll("'", "'\\''")}'`)).join(' ');

// Command shows a command line.
export const Command = ({ children }) => html`<pre class="command" tabindex="0">${children}</pre>`;
