import { existsSync } from 'node:fs';
import { chromium, type Browser, type Page } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Path of an installed Chromium, which is not a package of npm. */
export const chromiumPath = [process.env['CHROMIUM_PATH'] ?? '', ...PLACES].find(
  (path) => path !== '' && existsSync(path),
);

/** Quiet, and without a sandbox of its own, which a container does not allow. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // A name of another site that resolves to this machine.
  '--host-resolver-rules=MAP rebound.example 127.0.0.1',
];

/** A headless browser with a new profile, which `close` removes. */
export async function openBrowser(): Promise<Browser> {
  return await chromium.launch({ executablePath: chromiumPath ?? '', headless: true, args: ARGUMENTS });
}

/** A page, and everything that went wrong in it. */
export async function openPage(browser: Browser, url: string): Promise<{ page: Page; troubles: string[] }> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const troubles: string[] = [];
  page.on('pageerror', ({ message }) => troubles.push(message));
  page.on('console', (message) => {
    // Answers that refuse are shown by the page, and noted by the browser too.
    if (message.type() === 'error' && !message.text().includes('Failed to load resource'))
      troubles.push(message.text());
  });
  await page.goto(url);
  await page.getByText('No payment yet').or(page.locator('#payment-rows tr').first()).waitFor();
  return { page, troubles };
}

/** What has the focus, by its role and name as a screen reader says them. */
export async function focused(page: Page): Promise<string> {
  return await page.evaluate(() => {
    const { document } = globalThis as unknown as { document: FocusedDocument };
    const at = document.activeElement;
    if (at === null || at === document.body) return 'nothing';
    const label = at.labels?.[0]?.textContent ?? at.getAttribute('aria-label') ?? at.textContent ?? '';
    return `${at.tagName.toLowerCase()} ${label.replace(/\s+/g, ' ').trim()}`;
  });
}

interface FocusedElement {
  tagName: string;
  textContent: string | null;
  labels?: ArrayLike<{ textContent: string | null }>;
  getAttribute(name: string): string | null;
}
interface FocusedDocument {
  activeElement: FocusedElement | null;
  body: FocusedElement;
}

const MOST_TABS = 200;

/** Presses Tab until what has the focus fits. Throws with every stop on the way if nothing does. */
export async function tabTo(page: Page, wanted: RegExp): Promise<void> {
  const stops: string[] = [];
  while (stops.length < MOST_TABS) {
    await page.keyboard.press('Tab');
    const stop = await focused(page);
    stops.push(stop);
    if (wanted.test(stop)) return;
  }
  throw new Error(`Tab never reaches ${String(wanted)}: ${stops.join(' > ')}`);
}

/**
 * Texts whose contrast with what is behind them is below that of WCAG AA (4.5, or 3 for large texts), with their ratio.
 */
export async function poorContrasts(page: Page): Promise<string[]> {
  return await page.evaluate(POOR_CONTRASTS);
}

/** Runs in the page. */
const POOR_CONTRASTS = `(() => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number);
  const luminance = (color) => {
    const [r, g, b] = channels(color).slice(0, 3).map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (channels(color)[3] !== 0) return color;
    }
    return 'rgb(255, 255, 255)';
  };
  const poor = [];
  for (const element of document.querySelectorAll('body *')) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== '');
    if (!hasText || !element.checkVisibility() || element.closest('.hidden, noscript') !== null) continue;
    const style = getComputedStyle(element);
    const [light, dark] = [luminance(style.color), luminance(behind(element))].sort((x, y) => y - x);
    const ratio = (light + 0.05) / (dark + 0.05);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (isLarge ? 3 : 4.5)) poor.push(ratio.toFixed(2) + ' ' + element.textContent.trim().slice(0, 60));
  }
  return poor;
})()`;
