// Software and vulnerabilities in the console.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { vulnerabilityCounts } from "../../../src/server/software/software/vulnerabilities/counts.ts";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, expectAccessible, listed, rowsOf } from "../../support/console.ts";
import { makeHost, makeInventory, makeSoftware, makeVulnerabilities } from "../../support/make.ts";

const chromium = findChromium();
const EVIL = `<img src=x onerror=alert(1)>"'</script>`;

describe.skipIf(chromium === null)("software in the console", () => {
  let browser: ConsoleBrowser;

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!);
    const { app: t } = browser;
    const host = await makeHost(t, { hostname: "ada-mac", platform: "darwin" });
    const software = await makeSoftware(t, EVIL, "1.2.3");
    await makeInventory(t, host.id, [software]);
    await makeVulnerabilities(t, { software: software.id, cves: ["CVE-2026-0001"], known: { cvss_score: 9.8 } });
    await t.services.running.of(vulnerabilityCounts).flush();
  }, 600_000);
  afterEach(() => browser.finish());
  afterAll(() => browser?.close());

  it("is listed by title, version, operating system and vulnerability, each with its hosts", async () => {
    const page = await browser.open("/software");
    await listed(page, "1 title");
    expect((await rowsOf(page, "Software"))[0]![0]).toBe(EVIL);
    expect(await page.getByText("Vulnerability data was never imported").count()).toBe(0);
    await expectAccessible(page, "titles");
    await page.getByRole("tab", { name: "Versions" }).click();
    await listed(page, "1 version");
    expect((await rowsOf(page, "Versions"))[0]!.slice(0, 2)).toEqual([EVIL, "1.2.3"]);
    await page.getByRole("tab", { name: "Operating systems" }).click();
    await listed(page, /version/);
    await page.getByRole("tab", { name: "Vulnerabilities" }).click();
    await listed(page, /vulnerabilit/);
    await expectAccessible(page, "vulnerabilities");
    expect(new URL(page.url()).searchParams.get("tab")).toBe("vulnerabilities");
    expect(await page.getByRole("main").locator("img").count()).toBe(0);
  });

  it("says that nothing is known about vulnerabilities until data were imported", async () => {
    const { store } = browser.app;
    const [row] = await store.vulnerabilities.list();
    await store.vulnerabilities.delete({ op: "eq", column: "id", value: row!.id });
    try {
      const page = await browser.open("/software");
      await page.getByText("Vulnerability data was never imported").waitFor();
    } finally {
      await store.vulnerabilities.insert(row!);
    }
  });

  it("has a page for a title and for a vulnerability", async () => {
    const page = await browser.open("/software");
    await page.getByRole("link", { name: EVIL }).click();
    await page.getByRole("heading", { level: 1, name: EVIL }).waitFor();
    await page.getByRole("table", { name: "Versions" }).getByRole("link", { name: "CVE-2026-0001" }).click();
    await page.getByRole("heading", { level: 1, name: "CVE-2026-0001" }).waitFor();
    await page.getByRole("table", { name: "Affected software" }).getByRole("link", { name: EVIL }).waitFor();
    await expectAccessible(page, "a vulnerability");
    await page.goBack();
    await expectAccessible(page, "a title");
  });
});
