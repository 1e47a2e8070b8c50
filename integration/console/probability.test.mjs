import assert from 'node:assert/strict';
import test from 'node:test';
import { open, visit } from './browser.mjs';

// format has the console's own functions write numbers, in a page.
const format = (page, name, values) => page.evaluate(async ([which, list]) => {
  const ui = await import('/console/ui.js');
  return list.map(value => ui[which](value));
}, [name, values]);

test('a probability reads as certain only where it is', async t => {
  const { page, leave } = await visit(t, null);
  const want = [
    [1, '1.000'], [0.99999998, '> 0.9999'], [0.99995001, '> 0.9999'], [0.99994, '0.9999'], [0.99958, '0.9996'], [0.9995, '0.9995'],
    [0.99949, '0.999'], [0.5, '0.500'], [0.24549, '0.245'], [0.0006, '0.001'], [0.00049, '0.0005'], [0.0004, '0.0004'],
    [0.0001, '0.0001'], [0.00000003, '< 0.0001'], [5e-324, '< 0.0001'], [0, '0.000'], [null, '–'],
  ];
  assert.deepEqual(await format(page, 'probability', want.map(([value]) => value)), want.map(([, text]) => text));
  const shares = [
    [1, '100.0 %'], [0.9999999, '> 99.99 %'], [0.99958, '99.96 %'], [0.9994, '99.9 %'], [0.143, '14.3 %'], [0.0004, '0.04 %'],
    [0.00000003, '< 0.01 %'], [0, '0.0 %'], [null, '–'],
  ];
  assert.deepEqual(await format(page, 'percent', shares.map(([value]) => value)), shares.map(([, text]) => text));
  await leave();
});

test('a higher probability never reads as a lower one', async t => {
  const { page, leave } = await visit(t, null);
  const values = [];
  for (let i = 0; i <= 20_000; i++) values.push(i / 20_000, (i / 20_000) ** 6, 1 - (i / 20_000) ** 6);
  values.sort((a, b) => a - b);
  const texts = await format(page, 'probability', values);
  // A bound lies between the last number and certainty.
  const number = text => ({ '< 0.0001': 0.00001, '> 0.9999': 0.99999 }[text] ?? Number(text));
  texts.forEach((text, i) => {
    assert.ok(i === 0 || number(text) >= number(texts[i - 1]), `${values[i]} reads ${text}, after ${texts[i - 1]}`);
    assert.equal(['0.000', '1.000'].includes(text), [0, 1].includes(values[i]), `${values[i]} reads ${text}`);
  });
  await leave();
});

// certain are probabilities close to 1 as a list may have them, and how they read.
const certain = [[0.99999998, '> 0.9999'], [0.99958, '0.9996'], [0.9994, '0.999'], [0.99, '0.990']];

test('the list, a transaction and its history show close calls as such', async t => {
  const { page, leave } = await visit(t, 'viewer');
  await page.route(/\/api\/v1\/(alerts|transactions\/[0-9a-f]+)(\?|$)/, async route => {
    const response = await route.fetch();
    const answer = await response.json();
    answer.items?.forEach((item, i) => { item.probability = certain[Math.min(i, certain.length - 1)][0]; });
    if (answer.prediction) Object.assign(answer.prediction, { probability: certain[0][0], threshold: certain[1][0] });
    await route.fulfill({ response, json: answer });
  });
  await open(page, '#/alerts', 'Alerts');
  await page.reload();
  const rows = page.getByRole('table', { name: /Alerts/ }).locator('tbody tr');
  await rows.first().waitFor();
  const shown = await rows.evaluateAll(list => list.map(row => row.cells[2].textContent));
  assert.deepEqual(shown.slice(0, certain.length), certain.map(([, text]) => text));
  await rows.first().getByRole('link').first().click();
  await page.locator('.history').waitFor();
  const facts = await page.locator('.facts').first().textContent();
  assert.ok(facts.includes('> 0.9999') && facts.includes('0.9996'), facts);
  assert.match(await page.locator('.history').textContent(), /> 0\.9999/);
  assert.doesNotMatch(await page.locator('main').textContent(), /1\.000/);
  await leave();
});
