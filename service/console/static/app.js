// The frame of all pages: the login, the menu, and the current page.
import { html, render, useEffect, useState } from './lib.js';
import { forgetEvents, logOut, whoAmI } from './api.js';
import { Problem } from './ui.js';
import { Login } from './login.js';
import { Alerts } from './alerts.js';
import { Transaction } from './transaction.js';
import { Timestep, Timesteps } from './timesteps.js';
import { Erasures } from './erasures.js';
import { Request } from './request.js';
import { Receipt } from './receipt.js';
import { Letter, Letters } from './letters.js';
import { Health } from './health.js';

// pages are by the first part of what follows # in the address, with the right that each needs.
const pages = {
  alerts: { name: 'Alerts', may: 'read', show: Alerts },
  transaction: { may: 'read', show: Transaction, under: 'alerts' },
  timesteps: { name: 'Timesteps and model', may: 'read', show: Timesteps },
  timestep: { may: 'read', show: Timestep, under: 'timesteps' },
  erasures: { name: 'Erasures', may: 'erase', show: Erasures },
  erasure: { may: 'erase', show: Request, under: 'erasures' },
  receipt: { may: 'erase', show: Receipt, under: 'erasures' },
  letters: { name: 'Dead letters', may: 'investigate', show: Letters },
  letter: { may: 'investigate', show: Letter, under: 'letters' },
  health: { name: 'Health', may: 'read', show: Health },
};

function whereAmI() {
  const [path, query] = location.hash.replace(/^#\/?/, '').split('?');
  const [page, ...rest] = path.split('/');
  let parts = [];
  try { parts = rest.map(decodeURIComponent); } catch { /* An address that somebody has cut: the page finds nothing there. */ }
  return { page: Object.hasOwn(pages, page) ? page : 'alerts', rest: parts, query: new URLSearchParams(query) };
}

function useWhere() {
  const [where, set] = useState(whereAmI);
  useEffect(() => {
    const moved = () => { set(whereAmI()); scrollTo(0, 0); };
    addEventListener('hashchange', moved);
    set(whereAmI()); // the address may have changed since the first rendering
    return () => removeEventListener('hashchange', moved);
  }, []);
  return where;
}

function Frame({ who, leave }) {
  const where = useWhere();
  const page = pages[where.page];
  const under = page.under ?? where.page;
  const allowed = who.may.includes(page.may);
  return html`
    <a class="skip" href="#content" onClick=${event => { event.preventDefault(); document.getElementById('content').focus(); }}>Skip to content</a>
    <header>
      <a class="name" href="#/alerts">lethe</a>
      <nav aria-label="Main">
        ${Object.entries(pages).filter(([, p]) => p.name && who.may.includes(p.may)).map(([path, p]) => html`
          <a href=${`#/${path}`} aria-current=${path === under ? 'page' : undefined}>${p.name}</a>`)}
      </nav>
      ${who.name && html`<div class="who"><span>${who.name}</span> <button type="button" onClick=${leave}>Log out</button></div>`}
    </header>
    <main id="content" tabindex="-1">
      ${allowed
    ? html`<${page.show} key=${where.page + where.rest.join('/')} rest=${where.rest} query=${where.query} may=${who.may} />`
    : html`<h1>No access</h1><p>Your role does not include this page. An administrator can give you a token with another role.</p>`}
    </main>`;
}

function App() {
  const [who, setWho] = useState(null);
  const [error, setError] = useState(null);
  const look = () => whoAmI().then(answer => { setWho(answer); setError(null); }, setError);
  useEffect(() => {
    look();
    const ended = () => { forgetEvents(); setWho(known => ({ ...known, login: true })); };
    addEventListener('lethe-login', ended);
    return () => removeEventListener('lethe-login', ended);
  }, []);
  if (error) return html`<main class="plain"><h1>lethe</h1><${Problem} error=${error} /><button type="button" onClick=${look}>Try again</button></main>`;
  if (!who) return html`<main class="plain"><p role="status">Loading …</p></main>`;
  if (who.login) return html`<${Login} done=${setWho} />`;
  const leave = async () => { forgetEvents(); setWho(await logOut().catch(() => ({ login: true, may: [] }))); };
  return html`<${Frame} who=${who} leave=${leave} />`;
}

render(html`<${App} />`, document.getElementById('app'));
