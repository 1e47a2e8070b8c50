import assert from 'node:assert/strict';
import test from 'node:test';
import { accessible, given, heading, open, visit } from './browser.mjs';

// outline waits until an element of this name has the focus, and returns its outline as the browser computes it.
async function outline(page, name) {
  await page.waitForFunction(wanted => document.activeElement.localName === wanted, name);
  return page.evaluate(() => {
    const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
    return outlineStyle === 'none' ? 'none' : `${outlineWidth} ${outlineStyle}`;
  });
}

// press repeats a key, Tab or Shift+Tab, until the element has the focus.
async function press(page, key, locator) {
  for (let presses = 0; presses < 30; presses++) {
    await page.keyboard.press(key);
    if (await locator.evaluate(element => element === document.activeElement)) return;
  }
  assert.fail(`${key} never reached the element`);
}

test('headings and main show no focus outline, controls do', async t => {
  const { page, leave } = await visit(t, 'admin');
  await open(page, '#/alerts', 'Alerts');
  await page.reload();
  await heading(page, 'Alerts');
  assert.equal(await outline(page, 'h1'), 'none', 'after load');
  await page.emulateMedia({ media: 'print' });
  assert.equal(await outline(page, 'h1'), 'none', 'in print');
  await page.emulateMedia({ media: 'screen' });

  const menu = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Health' });
  await press(page, 'Shift+Tab', menu);
  assert.equal(await outline(page, 'a'), '3px solid');
  await page.keyboard.press('Enter');
  await heading(page, 'Health');
  assert.equal(await outline(page, 'h1'), 'none', 'after a link followed by keyboard');

  const region = page.getByRole('region', { name: 'Parts of the process' });
  await region.waitFor();
  await press(page, 'Tab', region);
  assert.equal(await outline(page, 'div'), '3px solid', 'a table that scrolls');

  await page.getByRole('link', { name: 'Skip to content' }).focus();
  await page.keyboard.press('Enter');
  assert.equal(await outline(page, 'main'), 'none', 'after the skip link');
  await leave();
});

test('the console opens on Alerts', async t => {
  const { page, leave } = await visit(t, 'viewer');
  await heading(page, 'Alerts');
  for (const hash of ['#/health', '#/no-such-page', '#/health', '#', '#/health', '#/constructor']) {
    await page.evaluate(to => { location.hash = to; }, hash);
    await heading(page, hash === '#/health' ? 'Health' : 'Alerts');
  }
  await open(page, '#/health', 'Health');
  await page.getByRole('link', { name: 'lethe', exact: true }).click();
  await heading(page, 'Alerts');
  assert.equal(await page.getByRole('navigation', { name: 'Main' }).locator('[aria-current]').textContent(), 'Alerts');
  await leave();
});

test('a new lethe leads from Alerts to the first steps', async t => {
  const { page, leave } = await visit(t, null, { url: given.fresh });
  await heading(page, 'Alerts');
  await page.getByRole('heading', { name: 'No transaction has been scored yet' }).waitFor();
  assert.equal(await page.getByRole('form', { name: 'Filters' }).count(), 0, 'there is nothing to filter');
  await accessible(page, 'alerts of a new lethe');
  await page.getByRole('link', { name: /first steps/ }).click();
  await heading(page, 'Health');
  await page.getByRole('heading', { name: 'First steps' }).waitFor();
  await leave();
});

test('a list without a match says how to widen it', async t => {
  const { page, leave } = await visit(t, 'viewer');
  await open(page, '#/alerts?timestep=999', 'Alerts');
  await page.getByText('No transaction matches these filters.').waitFor();
  await page.getByRole('link', { name: 'Clear filters' }).click();
  await page.getByRole('table', { name: /Alerts/ }).waitFor();
  await leave();
});
