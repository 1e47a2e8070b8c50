import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { accessible, given, go, heading, open, shot, visit } from './browser.mjs';

const request = 'gdpr-17-customer';

// exported presses a button that saves a file, and returns its text.
async function exported(page, button) {
  const [file] = await Promise.all([page.waitForEvent('download'), button.click()]);
  return readFileSync(await file.path(), 'utf8');
}

// V28
test('a plan shows other customers, deadline and last timestep, and is exported', async t => {
  const { page, leave } = await visit(t, 'compliance');
  await go(page, 'Erasures');
  await page.getByLabel('Customers', { exact: true }).fill(given.customer);
  await page.getByLabel('Customers: last timestep (optional)').fill('7');
  await page.getByLabel('Deadline (optional)').fill('2099-12-24');
  await page.getByRole('button', { name: 'See what it would come to' }).click();
  const plan = page.locator('.plan');
  await plan.getByText('1 transaction belongs to other customers too').waitFor();
  assert.deepEqual(await plan.locator('.problem li').allTextContents(), [given.shared]);
  await plan.getByText('24/12/2099, 23:59:59 UTC').waitFor();
  assert.match(await plan.textContent(), /Customers up to timestep\s*7/);
  const csv = await exported(page, plan.getByRole('button', { name: 'Export as CSV' }));
  for (const row of [`target,subjects,${given.customer}`, 'request,last timestep,7', 'request,deadline,2099-12-24T23:59:59Z',
    `other customers,transaction,${given.shared}`]) assert.ok(csv.includes(`${row}\r\n`), `${row} is not in ${csv}`);
  const json = JSON.parse(await exported(page, plan.getByRole('button', { name: 'Export as JSON' })));
  assert.deepEqual(json.plan.several_subjects_ids, [given.shared]);
  await accessible(page, 'a plan with other customers');
  await leave();
});

// V29
test('a hold is set, named by a plan, and lifted', async t => {
  const { page, leave } = await visit(t, 'compliance');
  await go(page, 'Erasures');
  await page.getByText('Set a hold').click();
  await page.getByLabel('Transactions to keep').fill(given.shared);
  await page.getByLabel('Reason for the hold').fill('court');
  await page.getByLabel('Name of the hold (optional)').fill('case-7');
  await page.getByLabel('Hold until (optional)').fill('2099-12-24');
  await page.getByRole('button', { name: 'Set the hold' }).click();
  await page.getByText('The hold case-7 is in force.').waitFor();
  const row = page.getByRole('row', { name: /case-7/ });
  await row.getByText('in force').waitFor();
  await accessible(page, 'holds');
  await page.getByLabel('Customers', { exact: true }).fill(given.customer);
  await page.getByRole('button', { name: 'See what it would come to' }).click();
  await page.getByText('The request will wait for the hold case-7, until 24/12/2099').waitFor();
  await row.getByRole('button', { name: 'Lift case-7' }).click();
  await row.getByText(/^lifted/).first().waitFor();
  assert.equal(await row.getByRole('button').count(), 0);
  await leave();
});

test('a compliance officer plans, submits and follows an erasure of a customer, and verifies its receipt', async t => {
  const { page, leave } = await visit(t, 'compliance');
  await go(page, 'Erasures');
  await page.getByRole('button', { name: 'See what it would come to' }).click();
  await page.getByText('Say what is to be erased').waitFor();
  await page.getByLabel('Customers', { exact: true }).fill(given.customer);
  await page.getByLabel('Name of the request (optional)').fill(request);
  await page.getByLabel('Reason (optional)').fill('GDPR Art. 17');
  await page.getByRole('button', { name: 'See what it would come to' }).click();
  await page.getByRole('heading', { name: 'What it would come to' }).waitFor();
  await accessible(page, 'a plan');
  await shot(page, 'plan', { fullPage: true });
  await page.getByRole('button', { name: 'Ask for this erasure' }).click();
  await heading(page, `Request ${request}`);
  await page.getByText('Verified.', { exact: true }).waitFor({ timeout: 120_000 });
  await accessible(page, 'a request');
  await shot(page, 'erasure');

  await page.getByRole('link', { name: 'Read and verify the receipt' }).click();
  await heading(page, `Receipt of erasure ${request}`);
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByText('Valid.', { exact: false }).first().waitFor();
  assert.match(await page.locator('.verdict').textContent(), /^Valid\. Checked in this browser/);
  assert.equal(await page.locator('.findings li').count(), 6);
  assert.equal(await page.locator('.findings .bad').count(), 0);
  assert.equal(await page.locator('.key').textContent(), given.key);
  await accessible(page, 'a receipt');
  await shot(page, 'receipt', { fullPage: true });

  // The key that was handed over is compared with the one that the server names.
  await page.getByText('Compare it with the key').click();
  const handed = page.getByLabel('Its fingerprint, or the file with the public key');
  await handed.fill(given.key);
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.getByText('It is this key.').waitFor();
  await handed.fill('A'.repeat(43));
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.getByText('It is another key.').waitFor();
  await handed.fill(given.pem);
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.getByText('checked under the key that you gave').waitFor();
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.locator('.verdict.good').waitFor();
  await leave();
});

// V34
test('an unknown request is no such request', async t => {
  const { page, leave } = await visit(t, 'compliance');
  await open(page, '#/erasure/does-not-exist', 'No such request');
  await page.getByText('No request has the name or digest').waitFor();
  assert.equal(await page.getByText('published').count(), 0);
  await leave();
});

// V26
test('ids that are not held are named and confirmed, and end as nothing held', async t => {
  const { page, leave } = await visit(t, 'compliance');
  await go(page, 'Erasures');
  await page.getByLabel('Transactions', { exact: true }).fill('never-seen-1, never-seen-2;never-seen-3');
  await page.getByLabel('Name of the request (optional)').fill('misspelt');
  await page.getByRole('button', { name: 'See what it would come to' }).click();
  await page.getByText('lethe holds nothing of these').waitFor();
  assert.deepEqual(await page.locator('.plan .problem li').allTextContents(), ['never-seen-1', 'never-seen-2', 'never-seen-3']);
  const submit = page.getByRole('button', { name: 'Ask for this erasure' });
  assert.equal(await submit.isDisabled(), true);
  await page.getByLabel('These ids are right').check();
  await submit.click();
  await page.getByText('Nothing held.').waitFor({ timeout: 120_000 });
  assert.equal(await page.getByText('Verified.', { exact: true }).count(), 0);
  await go(page, 'Erasures');
  assert.match(await page.getByRole('row', { name: /misspelt/ }).textContent(), /nothing held/);
  await leave();
});

// V28
test('the list of requests is exported', async t => {
  const { page, leave } = await visit(t, 'compliance');
  await go(page, 'Erasures');
  const list = page.locator('section[aria-labelledby="requests"]');
  const csv = await exported(page, list.getByRole('button', { name: 'Export as CSV' }));
  assert.match(csv, /^request,digest,state,summary,/);
  assert.match(csv, new RegExp(`\r\n${request},[0-9a-f]{64},verified,verified,erased,stubs,`));
  assert.match(csv, /\r\nmisspelt,[0-9a-f]{64},verified,nothing held,nothing_held,/);
  const json = JSON.parse(await exported(page, list.getByRole('button', { name: 'Export as JSON' })));
  assert.ok(json.some(s => s.request_id === request && s.summary === 'verified'));
  await leave();
});

// V25
test('a name that is taken is refused', async t => {
  const { page, leave } = await visit(t, 'compliance');
  await go(page, 'Erasures');
  await page.getByLabel('Transactions', { exact: true }).fill('never-seen-4');
  await page.getByLabel('Name of the request (optional)').fill(request);
  await page.getByRole('button', { name: 'See what it would come to' }).click();
  await page.getByLabel('These ids are right').check();
  await page.getByRole('button', { name: 'Ask for this erasure' }).click();
  await page.getByText('another request has the name').waitFor();
  await leave();
});

// forge has the server answer with a receipt of which something was changed.
async function forge(page, change) {
  await page.route('**/receipt', async route => {
    const response = await route.fetch();
    const document = await response.json();
    await route.fulfill({ response, json: change(document) });
  });
  await open(page, `#/receipt/${request}`, `Receipt of erasure ${request}`);
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.locator('.verdict.bad').waitFor();
  const bad = await page.locator('.findings .bad').allTextContents();
  await page.unroute('**/receipt');
  await page.goto(`${given.url}/#/health`);
  return bad;
}

const encode = value => Buffer.from(JSON.stringify(value)).toString('base64url');
const decode = text => JSON.parse(Buffer.from(text, 'base64url'));

test('a receipt that was changed is not valid', async t => {
  const { page, leave } = await visit(t, 'compliance');
  const softer = await forge(page, d => ({ ...d, payload: encode({ ...decode(d.payload), scope: 'shard' }) }));
  assert.ok(softer.some(text => text.includes('signed by the key above')), softer.join());
  assert.ok(softer.some(text => text.includes('leaf of the proof is of this receipt')), softer.join());
  const moved = await forge(page, d => ({ ...d, log: d.log.replace(/^index \d+$/m, 'index 0') }));
  assert.ok(moved.some(text => text.includes('leaf is in the log')), moved.join());
  const swollen = await forge(page, d => ({ ...d, log: d.log.replace(/\n\n(.*)\n(\d+)\n/, (_, origin, size) => `\n\n${origin}\n${Number(size) + 1}\n`) }));
  assert.ok(swollen.some(text => text.includes('checkpoint is signed')), swollen.join());
  await leave();
});

// W141: the command that is shown for signatures named other transactions where an id has a comma.
test('an id with a comma or a quote is one id, in the form and in the command', async t => {
  const { page, leave } = await visit(t, 'compliance');
  const found = await page.evaluate(async texts => {
    const { ids, quoted } = await import('/console/erasures.js');
    return texts.map(text => [ids(text), ids(text).map(quoted)]);
  }, ['a, b;c', '"a,b"', '"""a"""', 'say"x', '"open']);
  assert.deepEqual(found, [
    [['a', 'b', 'c'], ['a', 'b', 'c']], [['a,b'], ['"a,b"']], [['"a"'], ['"""a"""']], [['say"x'], ['"say""x"']], [['"open'], ['"""open"']],
  ]);
  await leave();
});
