// Charts in the console: on the dashboard and on the page of a host, with the keyboard and as a table.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { runJob } from "../../../src/server/edge/jobs/start.ts";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, expectAccessible, rowsOf } from "../../support/console.ts";
import { makeHost, makeInventory, makeSoftware, makeVulnerabilities } from "../../support/make.ts";

const chromium = findChromium();

describe.skipIf(chromium === null)("charts in the console", () => {
  let browser: ConsoleBrowser;
  let hostId: number;

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!);
    const { app: t } = browser;
    const version = await makeSoftware(t, "Firefox", "1.0");
    await makeVulnerabilities(t, { software: version.id, cves: ["CVE-2026-0001"], known: { cvss_score: 9.8 } });
    for (let i = 0; i < 3; i++) {
      const host = await makeHost(t, { hostname: `host-${i}` }, { seen: t.clock.iso() });
      await makeInventory(t, host.id, i === 0 ? [version] : []);
      hostId = host.id;
    }
    await runJob(t.services, "history_samples");
  }, 600_000);
  afterEach(() => browser.finish());
  afterAll(() => browser?.close());

  it("show the online and the vulnerable hosts on the dashboard, for 7 or 30 days", async () => {
    const page = await browser.open("/");
    await page.getByRole("img", { name: "Online hosts in 7 days: now 3, highest 3, lowest 0" }).waitFor();
    await page.getByRole("img", { name: "Hosts with critical vulnerabilities in 7 days: now 1," }).waitFor();
    await page.getByRole("combobox", { name: "Online hosts: time" }).selectOption("30 days");
    await page.getByRole("img", { name: "Online hosts in 30 days: now 3" }).waitFor();
    expect(new URL(page.url()).searchParams.get("online_days")).toBe("30");

    // Each point by keyboard.
    const slider = page.getByRole("slider", { name: "Point of the chart Online hosts" });
    expect(await slider.getAttribute("aria-valuetext")).toContain(": 3 hosts");
    await slider.focus();
    await page.keyboard.press("ArrowLeft");
    expect(await slider.getAttribute("aria-valuetext")).toContain(": 0 hosts");

    await page
      .getByRole("region", { name: "Online hosts", exact: true })
      .getByRole("button", { name: "Show as table" })
      .click();
    await page.getByRole("table", { name: "Online hosts", exact: true }).waitFor();
    const rows = await rowsOf(page, "Online hosts");
    expect(rows).toHaveLength(30);
    await expectAccessible(page, "dashboard with charts");
  }, 120_000);

  it("show when a host was online", async () => {
    const page = await browser.open(`/hosts/${hostId}`);
    await page.getByRole("img", { name: "Online in 30 days: now 1, highest 1, lowest 0" }).waitFor();
    await page.getByRole("slider", { name: "Point of the chart Online" }).focus();
    await page.keyboard.press("Home");
    await page.getByText(": not online").waitFor();
    await expectAccessible(page, "host with a chart");
  }, 120_000);
});
