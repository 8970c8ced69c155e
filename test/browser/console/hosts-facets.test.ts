// What the list of hosts in the console has besides rows: completion, facets, and a host beside the list.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, expectAccessible, listed } from "../../support/console.ts";
import { makeHost, makeLabel, makeTeam } from "../../support/make.ts";

const chromium = findChromium();

describe.skipIf(chromium === null)("the hosts of the console, with completion and facets,", () => {
  let browser: ConsoleBrowser;

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!);
    const { app: t } = browser;
    const team = await makeTeam(t, "Engineering");
    const seen = t.clock.iso();
    const mac = await makeHost(t, { hostname: "ada-mac", platform: "darwin", team_id: team.id }, { seen });
    for (let i = 0; i < 59; i++) await makeHost(t, { hostname: `h-${String(i).padStart(2, "0")}`, platform: "ubuntu" });
    await makeLabel(t, "Loaned", [mac.id]);
  }, 600_000);
  afterEach(() => browser.finish());
  afterAll(() => browser?.close());

  it("complete the selector at the cursor with what the server knows", async () => {
    const page = await browser.open("/hosts");
    await listed(page, "60 hosts");
    await page.keyboard.press("f");
    await page.keyboard.type("label = Loa");
    await page.getByRole("listbox", { name: "Completions" }).getByRole("option", { name: "Loaned" }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByText("1 host match").waitFor();
    await expectAccessible(page, "completions");
    await page.keyboard.press("Enter");
    await listed(page, "1 host");
    expect(new URL(page.url()).searchParams.get("where")).toBe("label = Loaned");
  });

  it("request only the fields of the columns that are shown", async () => {
    const page = await browser.open("/hosts");
    const [request] = await Promise.all([
      page.waitForRequest((sent) => sent.url().includes("/hosts?") && sent.url().includes("query=ada")),
      page.getByRole("searchbox", { name: "Search" }).fill("ada"),
    ]);
    const fields = new URL(request.url()).searchParams.get("fields")!.split(",");
    expect(fields).toContain("labels");
    expect(fields).not.toContain("uuid");
    await listed(page, "1 host");
    await page.getByRole("cell", { name: "Loaned" }).waitFor();
  });

  it("are counted by facets, each value of which narrows the list", async () => {
    const page = await browser.open("/hosts");
    await listed(page, "60 hosts");
    await page.getByRole("button", { name: "Facets" }).click();
    const facets = page.getByRole("region", { name: "Facets" });
    const platform = facets.getByRole("region", { name: "Platform" });
    await platform.getByRole("button", { name: /macOS\s*1/ }).click();
    await listed(page, "1 host");
    expect(new URL(page.url()).searchParams.get("where")).toBe("platform = darwin");
    await expectAccessible(page, "facets");
    await platform.getByRole("button", { name: /Ubuntu\s*59/ }).click();
    await listed(page, "59 hosts");
    expect(new URL(page.url()).searchParams.get("where")).toBe("platform = ubuntu");
    await facets
      .getByRole("region", { name: "Vulnerabilities" })
      .getByRole("button", { name: /none\s*59/ })
      .click();
    await page.waitForURL((url) => url.searchParams.get("where") === "platform = ubuntu and not cve ~ CVE");
    await listed(page, "59 hosts");
    await platform.getByRole("button", { name: /Ubuntu/, pressed: true }).click();
    await listed(page, "60 hosts");
    await facets
      .getByRole("region", { name: "Label" })
      .getByRole("button", { name: /Loaned/ })
      .click();
    await listed(page, "1 host");
    await page.getByRole("button", { name: "Remove Label: Loaned" }).click();
    await listed(page, "60 hosts");
  });

  it("show the details of a host beside the list, and of the next", async () => {
    const page = await browser.open("/hosts");
    await listed(page, "60 hosts");
    await page.keyboard.press("j");
    await page.keyboard.press("o");
    const details = page.getByRole("region", { name: "Details" });
    await details.getByRole("link", { name: "ada-mac" }).waitFor();
    await details.getByText("Loaned").waitFor();
    expect(new URL(page.url()).searchParams.get("panel")).toBe("1");
    await expectAccessible(page, "details");
    await page.keyboard.press("]");
    await details.getByRole("link", { name: "h-00" }).waitFor();
    await page.keyboard.press("[");
    await details.getByRole("link", { name: "ada-mac" }).waitFor();
    await page.reload();
    await details.getByRole("link", { name: "ada-mac" }).waitFor();
    await page.keyboard.press("Escape");
    await details.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Details of h-01" }).click();
    await details.getByRole("link", { name: "h-01" }).waitFor();
    await details.getByRole("button", { name: "Close" }).click();
    await details.waitFor({ state: "detached" });
  });
});
