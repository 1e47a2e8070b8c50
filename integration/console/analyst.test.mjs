import assert from 'node:assert/strict';
import test from 'node:test';
import { accessible, given, go, heading, shot, visit } from './browser.mjs';

test('an analyst finds the riskiest transaction, sees why, and confirms it', async t => {
  const { page, leave } = await visit(t, 'analyst');
  await go(page, 'Alerts');
  const table = page.getByRole('table', { name: /Alerts/ });
  await table.waitFor();
  const rows = await table.locator('tbody tr').evaluateAll(list => list.map(row => ({
    link: row.querySelector('a').getAttribute('href'), id: row.querySelector('a').textContent,
    probability: Number(row.cells[2].textContent), class: row.cells[3].textContent,
  })));
  assert.ok(rows.length > 0);
  assert.deepEqual(rows.map(r => r.probability), rows.map(r => r.probability).sort((a, b) => b - a), 'the riskiest first');
  assert.ok(rows.every(r => r.class.includes('illicit')));
  await page.getByText(/^Precision: share of the \d+ alerts/).waitFor();
  await accessible(page, 'alerts');
  await shot(page, 'alerts');

  // Another number of alerts has another precision.
  const measured = page.getByRole('region', { name: 'Expected precision and recall' }).getByRole('status');
  const current = await measured.textContent();
  await page.getByLabel('Alert rule').selectOption('budget');
  await page.getByLabel('How many').fill('3');
  await page.getByLabel('How many').blur();
  await measured.filter({ hasNotText: current }).waitFor();

  // The riskiest of which nobody has said yet what it was.
  let found = null;
  for (const row of rows) {
    await page.evaluate(link => { location.hash = link; }, row.link);
    await heading(page, `Transaction ${row.id}`);
    if (await page.locator('.facts .mark.unknown').count()) { found = row; break; }
  }
  assert.ok(found, 'no alert is without a label');
  await page.getByRole('table', { name: 'Main reasons' }).waitFor();
  await page.getByRole('group', { name: /around this one/ }).waitFor();
  await accessible(page, 'transaction');
  await shot(page, 'transaction', { fullPage: true });

  await page.getByRole('button', { name: 'Confirm: illicit' }).click();
  await page.getByText(/The label is illicit|Verdict published: illicit/).waitFor();
  await page.getByText('The label is illicit.').waitFor();
  assert.ok(await page.getByRole('button', { name: 'Confirm: illicit' }).isDisabled());
  await leave();
});

test('an analyst finds a transaction by its id, which stands in no address', async t => {
  const { page, leave } = await visit(t, 'analyst');
  await go(page, 'Alerts');
  const asked = [];
  page.on('request', request => asked.push(request.url()));
  await page.getByLabel('Find by id').fill(given.hostile);
  await page.getByRole('search').getByRole('button', { name: 'Find' }).click();
  await heading(page, `Transaction ${given.hostile}`);
  await page.getByRole('table', { name: /around this one/ }).or(page.getByRole('group', { name: /around this one/ })).first().waitFor();
  const names = [given.hostile, encodeURIComponent(given.hostile), encodeURI(given.hostile)];
  assert.deepEqual(asked.filter(url => names.some(name => url.includes(name))), []);
  await leave();
});
