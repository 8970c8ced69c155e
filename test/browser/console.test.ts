// The web pages in a real browser.
import { mkdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { tokenHash } from "../../src/server/platform/core/random.ts";
import { ADMIN, startApp, type TestApp } from "../support/app.ts";
import { findChromium, launch, type ServedApp, serve } from "../support/browser.ts";
import { makeHost, makeInventory, makePolicy, makeResults, makeSoftware, makeTeam } from "../support/make.ts";
import { accessibilityFaults, contrastFaults, isDark, sideways } from "./page-checks.js";

const chromium = findChromium();

/** Optional folder in which a picture of each page is saved. */
const pictures = process.env.SVC_TEST_PICTURES;
const DEVICE = "0d1e2f30-1111-4222-8333-444455556666";

const signedOutPages = {
  login: "/login",
  wrong: "/login?status=error",
  forgot: "/login/forgot",
  "forgot-sent": "/login/mfa-sent",
  mfa: "/login/mfa/x",
  reset: "/login/reset/x",
  "invite-used": "/login/invites/x",
  device: `/device/${DEVICE}`,
  transparency: "/transparency",
};
const EMAIL_PAGE = "/email/change/x";
const signedInPages = {
  email: EMAIL_PAGE,
  cli: `/cli-login?port=54321&challenge=${"c".repeat(43)}&state=${"s".repeat(32)}`,
};

describe.skipIf(chromium === null)("the web pages in a browser", () => {
  let t: TestApp;
  let served: ServedApp;
  let browser: Browser;
  const contexts: BrowserContext[] = [];
  /** Problems that browsers report: blocked styles, scripts and images, failed loads, thrown errors. */
  let complaints: string[] = [];

  beforeAll(async () => {
    t = await startApp({ shared: true });
    served = await serve(t);
    const url = await t.patch("/config", { server_settings: { server_url: served.url } });
    expect(url.status).toBe(200);
    await seed(t);
    browser = await launch(chromium!);
  }, 600_000);
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
    expect(complaints.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await served?.close();
    await t?.close();
  });

  async function open(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext(options);
    contexts.push(context);
    const page = await context.newPage();
    page.on("console", (message) => {
      // An error page is not a problem: its status is checked where it matters.
      if (message.type() === "error" && !/status of 4\d\d/.test(message.text())) complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("requestfailed", (request) => {
      const reason = request.failure()?.errorText;
      // The page was left before its styles had arrived.
      if (reason !== "net::ERR_ABORTED") complaints.push(`${request.url()}: ${reason}`);
    });
    return page;
  }

  async function signIn(page: Page, path = "/"): Promise<void> {
    await page.goto(served.url + path);
    await page.getByLabel("Email").fill(ADMIN.email);
    await page.getByLabel("Password").fill(ADMIN.password);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL(served.url + path);
  }

  async function visit(
    page: Page,
    pages: Record<string, string>,
    look: (name: string) => Promise<void>,
  ): Promise<void> {
    for (const [name, path] of Object.entries(pages)) {
      await page.goto(served.url + path);
      await look(name);
    }
  }

  it("allow signing in without scripts", async () => {
    const page = await open({ javaScriptEnabled: false });
    await signIn(page, EMAIL_PAGE);
    await page.getByRole("heading", { name: "Confirm your new email address" }).waitFor();
  });

  it("can be used with a screen reader, read in light colours, and seen completely on a small phone", async () => {
    const page = await open({ colorScheme: "light" });
    const check = async (name: string) => {
      await page.setViewportSize({ width: 1100, height: 800 });
      expect(await page.evaluate(accessibilityFaults), name).toEqual([]);
      expect(await page.evaluate(contrastFaults), name).toEqual([]);
      await shoot(page, `${name}-light-1100`);
      await page.setViewportSize({ width: 320, height: 800 });
      expect(await page.evaluate(sideways), name).toEqual([]);
      await shoot(page, `${name}-light-320`);
    };
    await visit(page, signedOutPages, check);
    await signIn(page);
    await visit(page, signedInPages, check);
  });

  it("can be read in dark colours", async () => {
    const page = await open({ colorScheme: "dark", viewport: { width: 1100, height: 800 } });
    const check = async (name: string) => {
      expect(await page.evaluate(contrastFaults), name).toEqual([]);
      await shoot(page, `${name}-dark-1100`);
    };
    await visit(page, signedOutPages, check);
    expect(await page.evaluate(isDark)).toBe(true);
    await signIn(page);
    await visit(page, signedInPages, check);
  });

  it("are checked by functions that detect faults", async () => {
    const page = await open({ viewport: { width: 320, height: 800 } });
    await page.setContent(`<body style="background:#fff;color:#888"><h3>Late</h3><img src="data:,"><input id="a"><input id="a">
      <button></button><a href="/"><button>in a link</button></a><p style="width:600px">wide</p><table><tr><th>of what</th></tr></table></body>`);
    const faults = (await page.evaluate(accessibilityFaults)).join("\n");
    for (const fault of [
      "no language",
      "title",
      "main landmarks",
      "skips a level",
      "no text: <img",
      "no name: <input",
      "no name: <button",
      "id twice: a",
      "nested",
      "header of what",
      "no caption",
      "no skip link",
    ])
      expect(faults).toContain(fault);
    expect((await page.evaluate(contrastFaults)).join()).toContain("3.54: P wide");
    expect((await page.evaluate(sideways)).join()).toContain("wide");
  });

  it("report a wrong password beside the form, and keep the email address", async () => {
    const page = await open();
    await page.goto(`${served.url}/login`);
    await page.getByLabel("Email").fill(ADMIN.email);
    await page.getByLabel("Password").fill("wrong-Pass-word-1");
    await page.getByRole("button", { name: "Sign in" }).click();
    expect(await page.getByRole("alert").textContent()).toContain("wrong");
    expect(await page.getByLabel("Email").inputValue()).toBe(ADMIN.email);
    expect(await page.getByLabel("Password").inputValue()).toBe("");
  });

  it("cannot be used, framed or read by pages of other sites", async () => {
    const page = await open();
    await signIn(page);
    const evil = createServer((_, res) => {
      res.setHeader("content-type", "text/html");
      res.end(
        `<form method="post" action="${served.url}/logout"><button>Sign off</button></form><iframe src="${served.url}${EMAIL_PAGE}"></iframe>`,
      );
    });
    await new Promise<void>((resolve) => evil.listen(0, "127.0.0.1", resolve));
    try {
      // A site other than 127.0.0.1, on the same machine.
      const site = `http://localhost:${(evil.address() as AddressInfo).port}/`;
      await page.goto(site);
      await page.getByRole("button", { name: "Sign off" }).click();
      // The form was sent without the session's cookie, or refused: whatever page the browser shows, nothing was done.
      await page.waitForURL(`${served.url}/**`);
      await page.goto(site);
      const inside = page.frames().find((frame) => frame !== page.mainFrame())!;
      expect(await inside.content()).not.toContain("Confirm your new email address");
      await page.goto(`${served.url}/hosts`);
      await page.getByRole("button", { name: "Sign out" }).waitFor();
      // The browser reports that it did not show the frame.
      complaints = complaints.filter((text) => !/frame|ERR_BLOCKED_BY_RESPONSE/i.test(text));
    } finally {
      evil.close();
      evil.closeAllConnections();
    }
  });
});

async function shoot(page: Page, name: string): Promise<void> {
  if (!pictures) return;
  mkdirSync(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
}

async function seed(t: TestApp): Promise<void> {
  const now = t.clock.iso();
  const before = (milliseconds: number) => new Date(t.clock.now() - milliseconds).toISOString();
  const team = await makeTeam(t, "Engineering");
  const mac = await makeHost(
    t,
    {
      hostname: "ada-mac.example.com",
      platform: "darwin",
      os_version: "macOS 15.2",
      team_id: team.id,
      uuid: "8D4A3C1E-5B6F-4A7D-9E8C-0F1A2B3C4D5E",
      hardware_vendor: "Apple Inc.",
      hardware_model: "Mac15,6",
      hardware_serial: "C02XY1234567",
      cpu_brand: "Apple M3 Pro",
      memory: 18 * 2 ** 30,
      primary_ip: "192.0.2.7",
      gigs_total_disk_space: 494,
      gigs_disk_space_available: 120,
      percent_disk_space_available: 24,
    },
    { seen: now },
  );
  for (let i = 0; i < 9; i++)
    await makeHost(
      t,
      { hostname: `build-${i}.example.com`, platform: "ubuntu", os_version: "Ubuntu 24.04.1 LTS" },
      { seen: i < 6 ? now : before(3_600_000) },
    );
  for (let i = 0; i < 4; i++)
    await makeHost(
      t,
      { hostname: `desk-${i}.example.com`, platform: "windows", os_version: "Microsoft Windows 11 Enterprise 24H2" },
      { seen: i < 2 ? now : before(40 * 86_400_000) },
    );
  const disk = await makePolicy(t, {
    name: "Disk encryption is on",
    description: "The disk must be encrypted.",
    resolution: "Turn on FileVault in System Settings.",
    critical: true,
  });
  const firewall = await makePolicy(t, { name: "Firewall is on" });
  const screen = await makePolicy(t, { name: "Screen locks after five minutes" });
  await makeResults(t, mac.id, { passing: [firewall], failing: [disk] });
  expect(screen.id).toBeGreaterThan(0);
  const software = [];
  for (const name of ["Firefox", "Slack", "com.example.an-application-with-a-rather-long-identifier-in-its-name"])
    software.push(await makeSoftware(t, name, "1.2.3"));
  await makeInventory(t, mac.id, software);
  await t.store.deviceTokens.insert({ id: mac.id, token_hash: tokenHash(DEVICE), updated_at: now });
  for (const [type, details] of [
    ["svc_enrolled", { host_serial: "C02XY1234567" }],
    ["locked_host", { view_pin: false }],
  ] as const)
    await t.store.activities.insert({
      created_at: now,
      actor_id: 1,
      actor_full_name: ADMIN.name,
      actor_email: ADMIN.email,
      type,
      details: { host_id: mac.id, host_display_name: mac.display_name, ...details },
      host_id: mac.id,
    });
}
