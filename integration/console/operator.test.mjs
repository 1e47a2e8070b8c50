import assert from 'node:assert/strict';
import test from 'node:test';
import { accessible, given, go, shot, visit } from './browser.mjs';

test('an operator finds out why a record was refused, and replays it', async t => {
  const { page, leave } = await visit(t, 'admin');
  await go(page, 'Dead letters');
  const table = page.getByRole('table', { name: /Dead letters/ });
  await table.waitFor();
  await accessible(page, 'dead letters');
  await shot(page, 'letters');
  await page.getByLabel('Reason').selectOption('timestep_jump');
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await page.waitForURL(/reason=timestep_jump/);
  const link = table.getByRole('link');
  await table.getByText('can be sent again').waitFor();
  // The table of before may be the one that says so, and is about to go.
  for (let tries = 0; await link.count() !== 1 && tries < 100; tries++) await page.waitForTimeout(100);
  assert.equal(await link.count(), 1);
  await link.click();
  await page.getByText('If the stream has caught up since, send it again.').waitFor();
  const shown = await page.locator('main').textContent();
  assert.ok(shown.includes('"type": "transaction"') && !shown.includes(given.early), 'the form is shown, and not the content');
  await accessible(page, 'a dead letter');
  await page.getByRole('button', { name: 'Send it again' }).click();
  await page.getByText('It is gone: the record was taken').waitFor();
  await go(page, 'Dead letters');
  await page.getByLabel('Reason').selectOption('timestep_jump');
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await page.getByText('No record was refused.').waitFor();
  await leave();
});
