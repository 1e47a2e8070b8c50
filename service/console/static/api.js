// The API, asked under the session's cookie. What changes something repeats the session's proof,
// which only a page of this site can have read.
import { useEffect, useState } from './lib.js';

const base = '/api/v1';
let proof = '';

// Refused is an answer that is none: its text is for people.
export class Refused extends Error {
  constructor(status, detail) {
    super(detail || `The server answered with status ${status}.`);
    this.status = status;
  }
}

async function read(response) {
  const json = (response.headers.get('Content-Type') || '').includes('json');
  const answer = json ? await response.json() : null;
  if (!response.ok) throw new Refused(response.status, answer?.detail);
  return answer;
}

async function send(address, { method = 'GET', body, signal } = {}) {
  const headers = method === 'GET' ? {} : { 'X-Lethe-Session': proof };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  let response;
  try {
    response = await fetch(address, { method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch (failed) {
    if (failed.name === 'AbortError') throw failed;
    throw new Refused(0, 'The server does not answer.');
  }
  return read(response);
}

// ask asks the API. A session that has ended leads back to the login.
export async function ask(path, options) {
  try {
    return await send(base + path, options);
  } catch (failed) {
    if (failed.status === 401) dispatchEvent(new Event('lethe-login'));
    throw failed;
  }
}

async function session(options) {
  const answer = await send('/session', options);
  proof = answer.proof;
  return answer;
}

export const whoAmI = () => session();
export const logIn = token => session({ method: 'POST', body: { token } });
export const logOut = () => session({ method: 'DELETE' });

// health reads /readyz: a line for each part of the process.
export async function health() {
  const response = await fetch('/readyz').catch(() => null);
  if (!response) return { ready: false, parts: [] };
  const lines = (await response.text()).trim().split('\n');
  const parts = lines.slice(0, -1).map(line => {
    const [, name, verdict] = line.match(/^([^:]+): (.*)$/) || [null, line, ''];
    return { name, ok: verdict === 'ok', why: verdict.replace(/^not ok: /, '') };
  });
  return { ready: response.ok, parts };
}

const listeners = new Set();
let source = null;
let counters = {};

function listen() {
  if (source || document.hidden) return;
  source = new EventSource(`${base}/events`);
  source.addEventListener('changes', event => {
    const now = JSON.parse(event.data);
    const changed = Object.keys(now).filter(kind => now[kind] !== counters[kind]);
    counters = now;
    for (const listener of listeners) listener(changed);
  });
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED) source = null;
  };
}

export function forgetEvents() {
  source?.close();
  source = null;
  counters = {};
}

// onChange calls fn with the kinds of things that have changed, until it is told to stop.
export function onChange(fn) {
  listeners.add(fn);
  listen();
  return () => listeners.delete(fn);
}

document.addEventListener('visibilitychange', () => {
  if (document.hidden) forgetEvents();
  else if (listeners.size) listen();
});

// useAnswer is what the API says at a path, asked again when something of one of the kinds changes.
export function useAnswer(path, kinds = '') {
  const [answer, setAnswer] = useState({ path: null });
  const [again, setAgain] = useState(0);
  useEffect(() => {
    if (!path) return undefined;
    const stop = new AbortController();
    ask(path, { signal: stop.signal }).then(
      value => setAnswer({ path, value }),
      error => error.name === 'AbortError' || setAnswer({ path, error }),
    );
    return () => stop.abort();
  }, [path, again]);
  useEffect(() => {
    const wanted = kinds.split(' ').filter(Boolean);
    if (!wanted.length) return undefined;
    let waiting = null;
    const stop = onChange(changed => {
      if (waiting || !changed.some(kind => wanted.includes(kind))) return;
      waiting = setTimeout(() => { waiting = null; setAgain(n => n + 1); }, 300);
    });
    return () => { stop(); clearTimeout(waiting); };
  }, [kinds]);
  const current = answer.path === path ? answer : {};
  return { value: current.value, error: current.error, again: () => setAgain(n => n + 1) };
}
