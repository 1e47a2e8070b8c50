import assert from 'node:assert/strict';
import test from 'node:test';
import { given, heading, open, visit } from './browser.mjs';

test('scripts in ids and names are text', async t => {
  const { page, leave } = await visit(t, 'analyst');
  await open(page, '#/alerts', 'Alerts');
  await page.getByLabel('Find by id').fill(given.hostile);
  await page.getByRole('search').getByRole('button', { name: 'Find' }).click();
  await heading(page, `Transaction ${given.hostile}`);
  await page.getByRole('group', { name: /around this one/ }).waitFor();
  await page.getByText('Show as a table').click();
  await page.getByRole('table', { name: /around this one/ }).getByRole('link', { name: given.hostile, exact: true }).waitFor();
  // Names of features stand in the reasons of alerts.
  await open(page, '#/alerts', 'Alerts');
  await page.getByRole('table', { name: /Alerts/ }).waitFor();
  const links = await page.getByRole('table', { name: /Alerts/ }).locator('tbody a[href^="#/transaction"]').evaluateAll(
    list => list.map(a => a.getAttribute('href')));
  assert.ok(links.length > 0);
  let seen = false;
  for (const link of links.slice(0, 30)) {
    await page.evaluate(to => { location.hash = to; }, link);
    await heading(page, 'Transaction');
    const table = page.getByRole('table', { name: 'Main reasons' });
    await table.or(page.getByText('Only alerts have reasons')).first().waitFor();
    if (await table.count() && (await table.textContent()).includes('<script>')) { seen = true; break; }
  }
  assert.ok(seen, 'no reason names a feature');
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.locator('main img, main script').count(), 0);
  await leave();
});

test('no script reads the session, and no other site uses it', async t => {
  const { page, context, leave } = await visit(t, 'admin');
  assert.equal(await page.evaluate(() => document.cookie), '');
  assert.equal(await page.evaluate(() => localStorage.length + sessionStorage.length), 0);
  const [cookie] = await context.cookies();
  assert.deepEqual([cookie.httpOnly, cookie.sameSite], [true, 'Strict']);
  const asked = await page.evaluate(async () => {
    const send = headers => fetch('/api/v1/dead-letters/replay', { method: 'POST', headers, body: '{"places":["labels.v1/0/9"]}' });
    const without = await send({ 'Content-Type': 'application/json' });
    const wrong = await send({ 'Content-Type': 'application/json', 'X-Lethe-Session': 'guess' });
    return [without.status, wrong.status];
  });
  assert.deepEqual(asked, [403, 403], 'without the proof');

  // A page of another site with a form that sends itself.
  await page.route('http://evil.example/**', route => route.fulfill({
    contentType: 'text/html',
    body: `<form method="post" enctype="text/plain" action="${given.url}/api/v1/dead-letters/replay"><input name='{"places":["' value='"]}'></form>
      <script>document.forms[0].submit()</script>`,
  }));
  const answer = page.waitForResponse(response => response.url().includes('/replay') && response.request().method() === 'POST');
  await page.goto('http://evil.example/').catch(() => {});
  assert.ok([401, 403].includes((await answer).status()));
  await leave();
});

test('a role sees what it may, and no more', async t => {
  const { page, leave } = await visit(t, 'viewer');
  const menu = await page.getByRole('navigation', { name: 'Main' }).getByRole('link').allTextContents();
  assert.deepEqual(menu, ['Alerts', 'Timesteps and model', 'Health']);
  for (const where of ['#/erasures', '#/letters', '#/receipt/anything']) {
    await open(page, where, 'No access');
  }
  const statuses = await page.evaluate(async () => {
    const { proof } = await (await fetch('/session')).json();
    const status = async (path, body) => (await fetch(`/api/v1${path}`, body && {
      method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Lethe-Session': proof }, body,
    })).status;
    return [await status('/erasures'), await status('/dead-letters'), await status('/erasures', '{"nodes":["a"]}'),
      await status(`/transactions/${'0'.repeat(64)}/label`, '{"label":"licit"}'), await status('/alerts')];
  });
  assert.deepEqual(statuses, [403, 403, 403, 403, 200]);
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByLabel('Your token').waitFor();
  assert.equal(await page.evaluate(async () => (await fetch('/api/v1/alerts')).status), 401);
  await leave();
});

test('a token that is not known lets nobody in', async t => {
  const { page, leave } = await visit(t, null);
  await page.getByLabel('Your token').fill('lethe_guess');
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByText('the token is not known').waitFor();
  await leave();
});
