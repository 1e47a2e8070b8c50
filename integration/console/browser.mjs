// What the journeys share: Chromium at a lethe that runs, as somebody with a token.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

export const given = JSON.parse(process.env.CONSOLE_GIVEN);
const need = createRequire(`${process.env.CONSOLE_MODULES}/`);
const { chromium } = need('playwright-core');
const axe = readFileSync(need.resolve('axe-core/axe.min.js'), 'utf8');

// patience is how long a condition may take on a machine that does much else.
const patience = 60_000;

export const desktop = { viewport: { width: 1280, height: 860 } };
export const phone = { viewport: { width: 375, height: 740 }, isMobile: true, hasTouch: true, deviceScaleFactor: 1 };
export const dark = { ...desktop, colorScheme: 'dark' };

// visit opens the console, of the lethe at options.url if there is one, and logs in with the token of a role; t is the test's
// context. A request to another server, a script error or a violation of the content policy fails the test when the visit ends.
export async function visit(t, role, { url = given.url, ...options } = desktop) {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] });
  t.after(() => browser.close()); // also where the test fails
  const context = await browser.newContext(options);
  context.setDefaultTimeout(patience);
  const page = await context.newPage();
  const wrong = [];
  page.on('pageerror', error => wrong.push(`error: ${error.message}`));
  page.on('console', message => {
    // Chromium tells refusals of the server as errors as well.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) wrong.push(message.text());
  });
  page.on('request', request => {
    const to = request.url();
    if (!to.startsWith(url) && !to.startsWith('blob:') && !to.startsWith('http://evil.example')) wrong.push(`it asks ${to}`);
  });
  await page.goto(url);
  if (role) {
    await page.getByLabel('Your token').fill(given.tokens[role]);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
  }
  return {
    page,
    context,
    // leave ends the visit.
    async leave() {
      await browser.close();
      assert.deepEqual(wrong, []);
    },
  };
}

export async function open(page, where, title) {
  await page.goto(`${given.url}/${where}`);
  await heading(page, title);
}

export const heading = (page, title) => page.getByRole('heading', { level: 1, name: title }).waitFor();

// accessible fails if axe finds something serious.
export async function accessible(page, where) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  const serious = found.violations.filter(v => v.impact === 'serious' || v.impact === 'critical')
    .map(v => `${where}: ${v.id}: ${v.help}: ${v.nodes.map(n => n.target.join(' ')).slice(0, 4).join('; ')}`);
  assert.deepEqual(serious, []);
}

// shot takes a picture for the documents, if pictures are wanted.
export async function shot(page, name, options = {}) {
  if (!process.env.CONSOLE_IMAGES) return;
  await page.screenshot({ path: path.join(process.env.CONSOLE_IMAGES, `console-${name}.png`), animations: 'disabled', ...options });
}

// go follows a link of the menu.
export async function go(page, name) {
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click();
  await heading(page, name);
}
