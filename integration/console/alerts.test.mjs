import assert from 'node:assert/strict';
import test from 'node:test';
import { accessible, desktop, heading, phone, visit } from './browser.mjs';

const list = page => page.getByRole('table', { name: /Alerts/ }).locator('tbody tr');

for (const [look, options, wanted] of [['desktop', desktop, 10], ['phone', phone, 4]]) {
  test(`the list is visible without scrolling: ${look}`, async t => {
    const { page, leave } = await visit(t, 'analyst', options);
    await heading(page, 'Alerts');
    await list(page).first().waitFor();
    await page.locator('section [role=status]').waitFor(); // precision and recall have loaded as well
    const ends = await list(page).evaluateAll(rows => rows.map(row => Math.ceil(row.getBoundingClientRect().bottom)));
    const { height } = options.viewport;
    assert.equal(await page.evaluate(() => innerHeight), height);
    assert.ok(ends[0] <= height, `the first row ends at ${ends[0]} px of ${height} px`);
    const visible = ends.filter(end => end <= height).length;
    assert.ok(visible >= wanted, `${visible} rows are visible, want ${wanted}`);
    t.diagnostic(`${look}: the first row ends at ${ends[0]} px of ${height} px, ${visible} rows are visible`);
    await leave();
  });
}

test('filters are folded on a phone, and fold again once they are used', async t => {
  const { page, leave } = await visit(t, 'analyst', phone);
  await list(page).first().waitFor();
  const timestep = page.getByRole('spinbutton', { name: 'Timestep', exact: true });
  assert.equal(await timestep.isVisible(), false);
  await page.getByText('Filters', { exact: true }).click();
  await accessible(page, 'filters on a phone');
  await timestep.fill('3');
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await page.getByText('Filters (1 set)').waitFor();
  await timestep.waitFor({ state: 'hidden' });
  await list(page).first().waitFor();
  const timesteps = await list(page).evaluateAll(rows => rows.map(row => row.cells[4].textContent));
  assert.ok(timesteps.length > 0 && timesteps.every(text => text === '3'), timesteps.join());
  await page.setViewportSize(desktop.viewport);
  await timestep.waitFor();
  await leave();
});
