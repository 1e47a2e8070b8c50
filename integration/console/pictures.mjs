// Takes the README's pictures of a running lethe that asks for no token: a transaction with its reasons and its neighbourhood
// on a desktop, the list of alerts on a phone, each light and dark.
//
//   LETHE_URL=http://127.0.0.1:8080 make readme-pictures
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const { LETHE_URL: url, CONSOLE_MODULES: modules, CHROMIUM: executablePath } = process.env;
const [folder] = process.argv.slice(2);
assert.ok(url && folder, 'usage: LETHE_URL=http://… make readme-pictures');
const { chromium } = createRequire(`${modules}/`)('playwright-core');

// A README loads its pictures with every visit.
const mostBytes = 200_000;

const desktop = { viewport: { width: 1280, height: 840 }, deviceScaleFactor: 1 };
const phone = { viewport: { width: 375, height: 580 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };

async function ask(what) {
  const response = await fetch(`${url}/api/v1${what}`);
  assert.ok(response.ok, `${what} answers with status ${response.status}`);
  return response.json();
}

// example is an alert that waits for a verdict, with enough payments around it to see and few enough to read.
async function example() {
  const { items } = await ask('/alerts?limit=200');
  for (const { ref } of items) {
    const { explained, label, payments } = await ask(`/transactions/${ref}`);
    if (explained && label === 'unknown' && payments >= 4 && payments <= 8) return ref;
  }
  return assert.fail('no alert has reasons, no label and four to eight payments');
}

async function list(page) {
  await page.goto(`${url}/#/alerts`);
  await page.getByRole('table', { name: /Alerts/ }).waitFor();
}

const transaction = ref => async page => {
  await page.goto(`${url}/#/transaction/${ref}`);
  await page.getByRole('table', { name: 'Main reasons' }).waitFor();
  await page.getByRole('group', { name: /around this one/ }).waitFor();
};

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
try {
  const pictures = [['readme', desktop, transaction(await example())], ['readme-phone', phone, list]];
  for (const [name, look, show] of pictures) {
    for (const colorScheme of ['light', 'dark']) {
      const context = await browser.newContext({ ...look, colorScheme });
      const page = await context.newPage();
      await show(page);
      const file = path.join(folder, `${name}-${colorScheme}.png`);
      await page.screenshot({ path: file, animations: 'disabled' });
      await context.close();
      const { size } = statSync(file);
      assert.ok(size <= mostBytes, `${file} has ${size} bytes, more than ${mostBytes}`);
      console.log(`${file}: ${size} bytes`);
    }
  }
} finally {
  await browser.close();
}
