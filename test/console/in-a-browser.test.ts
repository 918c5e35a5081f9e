import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SandboxControl } from '../../sandbox/control.js';
import { listenLocally } from '../../tools/stack/ports.js';
import { readRunFile } from '../../tools/stack/run-file.js';
import { until } from '../support/until.js';
import { root, stackEnvironment, startScript, type Running } from '../tools/support.js';
import { chromiumPath, focused, openBrowser, openPage, poorContrasts, tabTo } from './browser.js';

/** Writes the pictures of the README into this folder, if it is set. */
const PICTURES = process.env['HOLDFAST_PICTURES'];

if (chromiumPath === undefined) {
  process.stderr.write(
    'The console is NOT tested in a browser, skipped: there is no Chromium here. Install it (apt-get install chromium), ' +
      'or name one in CHROMIUM_PATH.\n',
  );
}

let stack: Running;
let sandbox: SandboxControl;
let sandboxUrl: string;
let url: string;
let browser: Browser;
let page: Page;
let troubles: string[];

async function start(): Promise<void> {
  const stateDir = mkdtempSync(join(tmpdir(), 'holdfast-console-'));
  const over: (() => unknown)[] = [() => rmSync(stateDir, { recursive: true, force: true })];
  ended = async () => {
    for (const end of over.toReversed()) await end();
  };
  const args = [join(root, 'tools', 'start.mjs'), '--no-demo'];
  stack = startScript(args, stackEnvironment(stateDir), (end) => over.push(end));
  await stack.line('ready');
  const file = readRunFile(stateDir);
  url = file?.console?.url ?? '';
  sandboxUrl = file?.sandbox?.url ?? '';
  sandbox = new SandboxControl(sandboxUrl);
  browser = await openBrowser();
  over.push(() => browser.close());
  ({ page, troubles } = await openPage(browser, url));
}
let ended: () => Promise<void> = async () => undefined;

const said = (): Promise<string> => page.locator('#checkout-said').innerText();
/** What the checkout says once it says this. */
const untilSaid = (text: string | RegExp): Promise<void> =>
  page.locator('#checkout-said').getByText(text).first().waitFor();
const reference = (): Promise<string> => page.locator('#reference').inputValue();

/** Fills the form in by mouse, presses the button and returns the reference. */
async function pay(choices: { amount?: string; fault?: string; card?: string; flow?: string } = {}): Promise<string> {
  const { amount = '60.00', flow = 'Charge', card = '4111111111111111', fault = '' } = choices;
  await page.getByLabel(flow, { exact: true }).check();
  await page.getByLabel('Amount', { exact: true }).fill(amount);
  await page.getByLabel('Mock card').selectOption(card);
  await page.getByLabel('Let something go wrong').selectOption(fault);
  const name = await reference();
  await page.getByRole('button', { name: 'Pay', exact: true }).click();
  await page.locator('#checkout-said').getByText(name).waitFor();
  return name;
}

async function moneyOf(name: string): Promise<string[]> {
  return (await sandbox.ledger(name)).map(({ kind, status, amount, currency }) =>
    [kind, status, amount, currency].join(' '),
  );
}

async function picture(name: string): Promise<void> {
  if (PICTURES === undefined) return;
  await page.setViewportSize({ width: 1280, height: 960 });
  await page.evaluate('scrollTo(0, 0)');
  await page.screenshot({ path: join(PICTURES, `${name}.png`) });
}

const withBrowser = chromiumPath === undefined ? describe.skip : describe;

withBrowser('the console in Chromium', () => {
  beforeAll(start, 240_000);
  afterAll(() => ended());

  test('charges by mouse: the card becomes a token in the browser, and the payment is shown with its money', async () => {
    const sent: string[] = [];
    page.on('request', (request) => sent.push(`${new URL(request.url()).origin} ${request.postData() ?? ''}`));
    const name = await pay();
    await untilSaid('Succeeded: 60.00 EUR taken');
    expect(await moneyOf(name)).toEqual(['charge Succeed 6000 EUR']);
    const withNumber = sent.filter((text) => text.includes('4111111111111111'));
    expect(withNumber.filter((text) => text.startsWith(url))).toEqual([]);
    expect(withNumber).toHaveLength(1);
    await page.getByRole('row', { name }).getByText('60.00 EUR taken').waitFor();
    expect(await reference()).not.toBe(name);
  });

  test('shows a decline, with its reason and what to do', async () => {
    const name = await pay({ fault: 'declined' });
    await untilSaid('Declined: insufficient funds. Nothing was taken');
    expect(await said()).toContain('The same card may be tried again under a new reference');
    expect(await moneyOf(name)).toEqual(['charge Failed 6000 EUR']);
    await page.getByRole('row', { name }).getByText('no money moved').waitFor();
  });

  test('follows a pending payment to its end, and a second press meanwhile is the same payment', async () => {
    const name = await pay({ card: '4000000000000077' });
    await untilSaid('Pending at the provider');
    await page.getByRole('button', { name: 'Pay', exact: true }).click();
    await untilSaid(`${name}: 60.00 EUR taken`);
    expect(await moneyOf(name)).toEqual(['charge Succeed 6000 EUR']);
  });

  test('plants a fault by a click and removes it', async () => {
    await page.getByRole('button', { name: 'The service answers 503, 3 times' }).click();
    await page.getByText('Planted: The service answers 503').waitFor();
    expect(await sandbox.faults()).toContainEqual(expect.objectContaining({ action: 'status', status: 503 }));
    await page.getByRole('button', { name: /^Remove: The service answers 503/ }).click();
    await page.getByText('Removed: The service answers 503').waitFor();
    await expect.poll(() => focused(page)).toMatch(/^(h2 Faults|button Remove)/);
    expect(await sandbox.faults()).not.toContainEqual(expect.objectContaining({ action: 'status' }));
  });

  test('sends a delivery again, which changes nothing', async () => {
    const name = await pay();
    await untilSaid('Succeeded');
    await page
      .getByRole('button', { name: `Send charge.create of ${name} again` })
      .first()
      .click();
    await page.locator('#deliveries-said').getByText(`charge.create of ${name} is sent again`).waitFor();
    const attempts = async () =>
      (await sandbox.deliveries({ reconciliationId: name, eventType: 'payment.charge.create' })).map(
        ({ attempts: count, last_status: status }) => [count, status],
      );
    expect(await until(attempts, ([first]) => first?.[0] === 2)).toEqual([[2, 200]]);
    expect(await moneyOf(name)).toEqual(['charge Succeed 6000 EUR']);
  });

  test('holds, captures a part and refunds it by keyboard alone, and the focus is never lost', async () => {
    await page.reload();
    await page.locator('#payment-rows tr').first().waitFor();
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('a Skip to the checkout');
    await page.keyboard.press('Enter');
    await tabTo(page, /^input Charge$/);
    await page.keyboard.press('ArrowDown');
    expect(await focused(page)).toBe('input Hold, capture later');
    await tabTo(page, /^input Amount/);
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('120.00');
    await tabTo(page, /^input Reference/);
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('order-1002');
    await tabTo(page, /^button Pay$/);
    await page.keyboard.press('Enter');
    await untilSaid('120.00 EUR held');
    expect(await focused(page)).toBe('button Pay');
    await tabTo(page, /^button Show the payment$/);
    await page.keyboard.press('Space');
    await page.getByRole('heading', { name: 'order-1002' }).waitFor();
    await expect.poll(() => focused(page)).toBe('h2 order-1002');
    await tabTo(page, /^input EUR to capture$/);
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('80.00');
    await page.keyboard.press('Enter');
    await page.getByText('Capture of 80.00 EUR: succeeded').waitFor();
    // The form of the capture has gone, with the focus in it.
    await expect.poll(() => focused(page)).toBe('h2 order-1002');
    await page.getByLabel('EUR to refund').waitFor();
    await tabTo(page, /^input EUR to refund$/);
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('45.00');
    await page.keyboard.press('Enter');
    await page.getByText('Refund of 45.00 EUR: succeeded').waitFor();
    await page.locator('#payment-said').getByText('80.00 EUR taken, 45.00 EUR refunded').waitFor();
    const entries = await sandbox.ledgerOf({ latest: 1 });
    expect(entries.map(({ kind, amount, status }) => [kind, amount, status])).toEqual([
      ['authorization', 12_000, 'Succeed'],
      ['capture', 8_000, 'Succeed'],
      ['refund', 4_500, 'Succeed'],
    ]);
    await page.locator('#checkout-said').getByText('80.00 EUR taken').waitFor();
    await picture('console-payment');
    await tabTo(page, /^button Close/);
    await page.keyboard.press('Enter');
    expect(await focused(page)).toBe('button order-1002');
  });

  test('takes the money once though the reply is lost, and though the same request is sent again', async () => {
    const name = await pay({ fault: 'replyLost' });
    await untilSaid('sent 2 times under one key');
    await page.getByRole('button', { name: 'Send the same request again' }).click();
    await untilSaid('Succeeded: 60.00 EUR taken');
    expect(await focused(page)).toBe('button Send the same request again');
    expect(await moneyOf(name)).toEqual(['charge Succeed 6000 EUR']);
    await page.getByText(`${name}*: used up`).waitFor();
    await picture('console-checkout');
  });

  test('signs up for a subscription, whose first month is billed, and cancels it', async () => {
    const name = await pay({ flow: 'Monthly subscription' });
    await page
      .getByRole('row', { name: `${name}.1.1` })
      .getByText('taken')
      .waitFor();
    await page.getByRole('button', { name, exact: true }).click();
    await page.getByRole('button', { name: 'Cancel the subscription' }).click();
    await page.locator('#payment-command-said').getByText('Cancelled').waitFor();
    expect(await moneyOf(`${name}.1.1`)).toHaveLength(1);
  });

  test('moves the clock only once its danger is said to be understood', async () => {
    const ahead = async () => (await sandbox.health()).clock_offset_ms;
    await page.getByRole('button', { name: 'Move the clock' }).click();
    expect(await ahead()).toBe(0);
    await page.getByRole('checkbox', { name: 'I know that' }).check();
    await page.getByRole('button', { name: 'Move the clock' }).click();
    await page.getByText('clock is now 1 hour ahead').waitFor();
    expect(await ahead()).toBe(3_600_000);
  });

  test('tells a fault of the form by its field, and nothing is paid', async () => {
    const name = await pay({ amount: '1,5x' });
    await untilSaid('amount: "1,5x" is not a decimal number');
    expect(await moneyOf(name)).toEqual([]);
  });

  test('has a name for every control, texts that can be read in light and dark, and no error', async () => {
    const unnamed = await page.evaluate(`[...document.querySelectorAll('input, select, button, a[href]')]
      .filter((each) => each.checkVisibility())
      .filter((each) => !((each.labels?.length ?? 0) > 0 || each.getAttribute('aria-label') || each.textContent.trim()))
      .map((each) => each.outerHTML)`);
    expect(unnamed).toEqual([]);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await poorContrasts(page)).toEqual([]);
    }
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 360, height: 740 });
    // Nothing is wider than a phone.
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    await page.setViewportSize({ width: 1280, height: 900 });
    expect(troubles).toEqual([]);
  });

  test('does nothing for a page of another site, whatever that sends', async () => {
    const other = createServer((_request, response) => void response.setHeader('content-type', 'text/html').end('<p>'));
    const before = await sandbox.health();
    const tab = await browser.newPage();
    try {
      const port = new URL(url).port;
      await tab.goto(await listenLocally(other));
      const answers = await tab.evaluate(
        async ([consoleUrl, control]) => {
          const send = async (to: string, init: RequestInit): Promise<string> =>
            await fetch(to, init).then(
              ({ type }) => type,
              () => 'refused',
            );
          const headers = { 'content-type': 'application/json' };
          const body = JSON.stringify({ hours: 24, understood: true, advance_ms: 1, kind: 'replyLost' });
          return [
            await send(`${consoleUrl}/api/clock`, { method: 'POST', headers, body }),
            await send(`${consoleUrl}/api/clock`, { method: 'POST', body, mode: 'no-cors' }),
            await send(`${consoleUrl}/api/faults`, { method: 'POST', headers, body }),
            await send(`${consoleUrl}/api/overview`, {}),
            await send(`${control}/sandbox/clock`, { method: 'POST', body, mode: 'no-cors' }),
            await send(`${control}/sandbox/reset`, { method: 'POST', mode: 'no-cors' }),
          ];
        },
        [url, sandboxUrl] as const,
      );
      expect(answers).toEqual(['refused', 'refused', 'refused', 'refused', 'opaque', 'opaque']);
      const rebound = await tab.goto(`http://rebound.example:${port}/`);
      expect(rebound?.status()).toBe(403);
      const control = await tab.goto(`http://rebound.example:${new URL(sandboxUrl).port}/sandbox/health`);
      expect(control?.status()).toBe(403);
    } finally {
      await tab.close();
      other.close();
    }
    const after = await sandbox.health();
    expect({ ...after, now: '' }).toEqual({ ...before, now: '' });
  });
});
