// TestTruth_EverySurface of cmd/lethe plays this: every row of docs/truth.md, as the console shows it.
import assert from 'node:assert/strict';
import test from 'node:test';
import { given, open, visit } from './browser.mjs';

test('the console shows the summary of every request, and no more', async t => {
  const { page, leave } = await visit(t, null);
  await open(page, '#/erasures', 'Erasures');
  for (const { digest, name, summary } of given.rows) {
    const row = page.getByRole('row').filter({ has: page.locator(`a[href="#/erasure/${digest}"]`) });
    await row.waitFor();
    assert.deepEqual((await row.getByRole('cell').allTextContents()).slice(0, 2), [name, summary]);
  }
  for (const { row, digest, name, summary } of given.rows) {
    await open(page, `#/erasure/${digest}`, `Request ${name}`);
    const state = `${summary[0].toUpperCase()}${summary.slice(1)}.`;
    assert.equal(await page.locator('.state').textContent(), state, row);
    const done = row === 'verified' || row === 'erased before' || row === 'partly held';
    assert.equal(await page.getByRole('link', { name: 'Read and verify the receipt' }).count(), done || row === 'nothing held' ? 1 : 0, row);
    const last = page.locator('.steps li').last();
    assert.equal(await last.count() > 0 && (await last.getAttribute('class')) === 'done', done, `${row}: the last step is done`);
    assert.equal(await page.getByText('erase approve').count(), row === 'waits for a signature' ? 1 : 0, row);
  }
  const waits = given.rows.find(({ row }) => row === 'waits for a signature');
  await open(page, `#/erasure/${waits.digest}`, `Request ${waits.name}`);
  await page.getByText('Signed by anna. One more person must sign: bert.').waitFor();
  await page.getByText(`lethe erase approve ${waits.digest} --sign KEY`).waitFor();
  await leave();
});

test('who asks for no request is told that there is none', async t => {
  const { page, leave } = await visit(t, null);
  await open(page, '#/erasure/nobody', 'No such request');
  await leave();
});

test('where people sign requests the console shows the command, and no button', async t => {
  const { page, leave } = await visit(t, null);
  await open(page, '#/erasures', 'Erasures');
  await page.getByText('lethe hold set --node ID').waitFor();
  assert.equal(await page.getByText('Set a hold').count(), 0);
  await leave();
});
