// More results than the page of a live query keeps: its memory, what is in the document, and how it scrolls.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { placeOf } from "../../../src/server/inventory/live-queries/tables.ts";
import { findChromium } from "../../support/browser.ts";
import { busyMs, ConsoleBrowser, listed, timeMainThread } from "../../support/console.ts";
import { makeHost } from "../../support/make.ts";

const chromium = findChromium();
const HOSTS = 105;
const ROWS = 1_000;
const FRAMES = 120;
const MEBIBYTE = 1024 * 1024;

describe.skipIf(chromium === null)("a live query with 105,000 rows", () => {
  let browser: ConsoleBrowser;

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!);
    const { store, clock } = browser.app;
    const now = clock.iso();
    const [user] = await store.users.list();
    const campaign = await store.campaigns.insert({
      created_at: now,
      updated_at: now,
      user_id: user!.id,
      query: "SELECT * FROM processes",
      status: 2,
      targets: { hosts: [], labels: [], teams: [], where: "id > 0" },
      targets_count: HOSTS,
      online_count: HOSTS,
      answered_count: HOSTS,
      with_rows_count: HOSTS,
      last_seq: HOSTS,
      expires_at: now,
      reader_until: now,
      finished_at: now,
      ended_by: "answered",
    });
    for (let at = 1; at <= HOSTS; at++) {
      const host = await makeHost(browser.app, { hostname: `host-${at}` });
      const rows = Array.from({ length: ROWS }, (_, row) => ({
        pid: String(row + 100),
        name: `process-${row % 300}`,
        path: `/usr/lib/a/long/path/of/host-${at}/process-${row}`,
        cmdline: `/usr/bin/process --host ${at} --number ${row} --with an=argument`,
        state: row % 7 === 0 ? "R" : "S",
        parent: String(row % 100),
      }));
      await store.campaignHosts.insert({
        campaign_id: campaign.id,
        host_id: host.id,
        state: "answered",
        reached: true,
        place: placeOf(campaign.id, at),
        row_count: ROWS,
        bytes: JSON.stringify(rows).length,
        rows,
        ended_at: now,
      });
    }
  }, 600_000);
  afterEach(() => browser.finish());
  afterAll(() => browser?.close());

  it("keeps 100,000 of them within 300 MB, draws those on screen, and exports all", async () => {
    const page = await browser.open("/queries/live/1");
    await listed(page, "105,000 rows from 105 hosts");
    const session = await page.context().newCDPSession(page);
    await session.send("HeapProfiler.collectGarbage");
    const { usedSize } = (await session.send("Runtime.getHeapUsage")) as { usedSize: number };
    const table = page.getByRole("table", { name: "Results" });
    expect(await table.getAttribute("aria-rowcount")).toBe("100001");
    expect(await table.locator("tbody tr").count()).toBeLessThan(100);
    expect(usedSize / MEBIBYTE).toBeLessThan(300);
    // Processor time of the main thread stays the same on a busy machine; the time between frames does not.
    await timeMainThread(session);
    const before = await busyMs(session);
    await page.evaluate(SCROLL);
    const perFrame = ((await busyMs(session)) - before) / FRAMES;
    console.log(`${perFrame.toFixed(1)} ms of the main thread for each frame of scrolling`);
    expect(perFrame, "milliseconds of the main thread for each frame").toBeLessThan(1_000 / 30);
    await page.evaluate('document.querySelector(".results").scrollTop = 1e9');
    await expect.poll(() => table.locator("tbody tr[aria-rowindex='100001']").count()).toBe(1);

    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export all 105,000 rows" }).click();
    let lines = 0;
    for await (const chunk of await (await download).createReadStream())
      for (const byte of chunk as Buffer) if (byte === 10) lines++;
    expect(lines).toBe(105_001);
  });
});

/** Scrolls by 600 pixels a frame. */
const SCROLL = `new Promise((resolve) => {
  const box = document.querySelector(".results");
  let frames = 0;
  const step = () => {
    box.scrollTop += 600;
    if (++frames < ${FRAMES}) requestAnimationFrame(step);
    else resolve();
  };
  requestAnimationFrame(step);
})`;
