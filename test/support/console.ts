// The console in a real browser: pages of the built console on an app in this process, watched for everything that a
// browser complains about.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, BrowserContext, BrowserContextOptions, CDPSession, Download, Page } from "playwright-core";
import { expect } from "vitest";
import { ADMIN, startApp, type TestApp } from "./app.ts";
import { launch, type ServedApp, serve } from "./browser.ts";

const axeScript = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export interface SignIn {
  readonly email: string;
  readonly password: string;
}

export class ConsoleBrowser {
  readonly app: TestApp;
  /** Further servers of the app's database, which then take the requests of browsers in turn. */
  readonly others: TestApp[];
  readonly url: string;
  readonly #served: ServedApp;
  readonly #browser: Browser;
  readonly #contexts: BrowserContext[] = [];
  /** What browsers reported: blocked styles and scripts, failed loads, errors of scripts. */
  #complaints: string[] = [];

  private constructor(app: TestApp, others: TestApp[], served: ServedApp, browser: Browser) {
    this.app = app;
    this.others = others;
    this.#served = served;
    this.url = served.url;
    this.#browser = browser;
  }

  /** An app with a socket and a browser. `shared` as in `startApp`: one for all tests of a file. */
  static async start(chromium: string, options: Parameters<typeof startApp>[0] = {}): Promise<ConsoleBrowser> {
    const app = await startApp({ shared: true, ...options });
    const others: TestApp[] = [];
    let next = 0;
    const inTurn = () => [app, ...others][next++ % (others.length + 1)]!;
    const served = await serve({ raw: (path, init) => inTurn().raw(path, init) });
    expect((await app.patch("/config", { server_settings: { server_url: served.url } })).status).toBe(200);
    return new ConsoleBrowser(app, others, served, await launch(chromium));
  }

  async close(): Promise<void> {
    await this.#browser.close();
    await this.#served.close();
    await this.app.close();
  }

  /** After each test: closes its pages, and fails if browsers complained. */
  async finish(): Promise<void> {
    for (const context of this.#contexts.splice(0)) await context.close();
    expect(this.#complaints.splice(0)).toEqual([]);
  }

  /** Forgets complaints that a test expects. */
  forgive(pattern: RegExp): void {
    this.#complaints = this.#complaints.filter((text) => !pattern.test(text));
  }

  /** A page of a signed-in user, whose first request was for that path. */
  async open(path: string, options: BrowserContextOptions & { readonly as?: SignIn } = {}): Promise<Page> {
    const { as = ADMIN, ...rest } = options;
    const context = await this.#browser.newContext({ viewport: { width: 1280, height: 900 }, ...rest });
    this.#contexts.push(context);
    const page = await context.newPage();
    page.on("console", (message) => {
      // Replies with errors are no problem of the page that shows them.
      if (message.type() === "error" && !/status of \d\d\d/.test(message.text())) this.#complaints.push(message.text());
    });
    page.on("pageerror", (error) => this.#complaints.push(String(error)));
    await page.goto(`${this.url}/login?next=${encodeURIComponent(path)}`);
    await page.getByLabel("Email").fill(as.email);
    await page.getByLabel("Password").fill(as.password);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL(this.url + path);
    return page;
  }
}

/** Has `busyMs` report processor time, which stays the same on a busy machine, and no clock time. */
export async function timeMainThread(session: CDPSession): Promise<void> {
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
}

/** The processor time that tasks of a page's main thread took, in milliseconds. */
export async function busyMs(session: CDPSession): Promise<number> {
  const { metrics } = await session.send("Performance.getMetrics");
  return metrics.find(({ name }) => name === "TaskDuration")!.value * 1000;
}

/** Waits until the list of the page has been read: its status says how many rows there are. */
export async function listed(page: Page, status: string | RegExp): Promise<void> {
  await expect.poll(() => page.getByRole("main").getByRole("status").first().textContent()).toMatch(status);
}

/** The text of the cells of each row of a table, by its name; selecting checkboxes are left out. */
export async function rowsOf(page: Page, table: string): Promise<string[][]> {
  const rows = await page.getByRole("table", { name: table, exact: true }).locator("tbody tr").all();
  return Promise.all(
    rows.map(async (row) => (await row.locator("th, td:not(.select)").allTextContents()).map((text) => text.trim())),
  );
}

/** The text of a file that the browser has saved. */
export async function textOf(download: Download): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

/** What axe finds on the page as it is: rule, and the elements. */
export async function axeFaults(page: Page): Promise<string[]> {
  await page.evaluate(axeScript);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run: (options: object) => Promise<AxeResult> } };
    const { violations } = await axe.run({ resultTypes: ["violations"] });
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
  });
}

interface AxeResult {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
}

/** Checks the page for accessibility, light and dark, at the width of a desk and of a phone; and that nothing is cut off. */
export async function expectAccessible(page: Page, what: string): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const)
    for (const width of [1280, 360]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      const place = `${what}, ${colorScheme}, ${width}`;
      expect(await axeFaults(page), place).toEqual([]);
      const sideways = await page.evaluate(() => {
        const { scrollWidth, clientWidth } = (
          globalThis as unknown as { document: { documentElement: HTMLElementSize } }
        ).document.documentElement;
        return scrollWidth - clientWidth;
      });
      expect(sideways, `${place}: pixels that are cut off`).toBeLessThanOrEqual(0);
    }
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.emulateMedia({ colorScheme: "light" });
}

interface HTMLElementSize {
  readonly scrollWidth: number;
  readonly clientWidth: number;
}
