// The list of hosts in the console.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { ADMIN } from "../../support/app.ts";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, expectAccessible, listed, rowsOf, textOf } from "../../support/console.ts";
import { makeHost, makeLabel, makeTeam } from "../../support/make.ts";

const chromium = findChromium();

describe.skipIf(chromium === null)("the hosts of the console", () => {
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

  it("are listed with search, filters, order and pages, all of which are in the URL", async () => {
    const page = await browser.open("/hosts");
    await listed(page, "60 hosts");
    expect(await page.title()).toMatch(/^Hosts - /);
    expect(await rowsOf(page, "Hosts")).toHaveLength(50);
    await page.getByRole("button", { name: "Next page" }).click();
    await page.waitForURL("**/hosts?page=1");
    await expect.poll(async () => (await rowsOf(page, "Hosts")).length).toBe(10);

    await page.getByRole("searchbox", { name: "Search" }).fill("ada");
    await listed(page, "1 host");
    expect(new URL(page.url()).search).toBe("?query=ada");
    await page.getByRole("button", { name: "Add filter" }).click();
    await page.getByRole("option", { name: "Status" }).click();
    await page.getByRole("option", { name: "offline", exact: true }).click();
    await listed(page, "No hosts match");
    await page.getByRole("button", { name: "Remove Status: offline" }).click();
    await listed(page, "1 host");
    await page.reload();
    await listed(page, "1 host");
    await page.goBack();
    await listed(page, "No hosts match");
    await page.getByRole("button", { name: "Clear filters" }).click();
    await listed(page, "60 hosts");

    await page.getByRole("columnheader", { name: "Name" }).getByRole("button").click();
    await expect.poll(async () => (await rowsOf(page, "Hosts"))[0]![0]).toBe("h-58");
    expect(await page.getByRole("columnheader", { name: "Name" }).getAttribute("aria-sort")).toBe("descending");
  });

  it("keep the team from page to page, and the selector reports what is wrong with it", async () => {
    const page = await browser.open("/hosts");
    await page.getByRole("button", { name: "Team: All teams" }).click();
    await page.getByRole("option", { name: "Engineering" }).click();
    await listed(page, "1 host");
    expect(new URL(page.url()).searchParams.get("team_id")).toBe("1");
    await page.getByRole("combobox", { name: "Selector" }).fill("platform =");
    await page.keyboard.press("Enter");
    await page
      .getByRole("alert")
      .getByText(/At the end/)
      .waitFor();
    expect(new URL(page.url()).searchParams.has("where")).toBe(false);
    await page.getByRole("combobox", { name: "Selector" }).fill("nonsense = 1 and online = true");
    await page.keyboard.press("Enter");
    await page
      .getByRole("alert")
      .getByText(/At character 1: there is no field "nonsense"/)
      .waitFor();
    await page.getByRole("combobox", { name: "Selector" }).fill('platform = "darwin"');
    await page.getByText("1 host match").waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL("**/hosts?*where=*");
    await listed(page, "1 host");
    expect(await page.getByRole("list", { name: "Active filters" }).textContent()).toContain("darwin");
  });

  it("can be searched, filtered and selected with the keyboard alone", async () => {
    const page = await browser.open("/hosts");
    await listed(page, "60 hosts");
    await page.keyboard.press("g");
    await page.keyboard.press("h");
    await page.getByRole("button", { name: "Team: All teams" }).focus();
    for (const key of ["j", "j", "x"]) await page.keyboard.press(key);
    expect(await page.getByRole("region", { name: "Selection" }).textContent()).toContain("1 selected");
    for (const key of ["j", "j", "X"]) await page.keyboard.press(key);
    expect(await page.getByRole("region", { name: "Selection" }).textContent()).toContain("3 selected");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search" }).fill("hos");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Search" }).waitFor({ state: "detached" });
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search" }).fill("ada-m");
    await page.getByRole("option", { name: /^ada-mac/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "ada-mac" }).waitFor();
  });

  it("show as command, columns and CSV what the list shows", async () => {
    const page = await browser.open("/hosts?query=ada&order_key=hostname&order_direction=desc");
    await listed(page, "1 host");
    await page.getByRole("button", { name: "As command" }).click();
    expect(await page.getByRole("region", { name: "Command line" }).locator("pre").textContent()).toBe(
      "svc hosts list --query ada --order-key hostname --order-direction desc",
    );
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Columns" }).click();
    await page.getByRole("checkbox", { name: "UUID" }).check();
    await page.keyboard.press("Escape");
    await page.getByRole("columnheader", { name: "UUID" }).waitFor();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export CSV" }).click();
    const lines = (await textOf(await download)).trim().split("\n");
    expect(lines).toHaveLength(2);
    expect(lines[1]).toContain("ada-mac");
  });

  it("ask to sign in again when the session is over, and lose nothing", async () => {
    const page = await browser.open("/hosts");
    await listed(page, "60 hosts");
    await page.getByRole("combobox", { name: "Selector" }).fill("platform = darwin");
    const { store } = browser.app;
    const sessions = await store.sessions.list();
    await store.sessions.delete({ op: "in", column: "id", values: sessions.slice(-1).map(({ id }) => id) });
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Sign in again" });
    await dialog.waitFor();
    const [other] = await Promise.all([
      page.context().waitForEvent("page"),
      dialog.getByRole("link", { name: "Sign in" }).click(),
    ]);
    await other.getByLabel("Email").fill(ADMIN.email);
    await other.getByLabel("Password").fill(ADMIN.password);
    await other.getByRole("button", { name: "Sign in" }).click();
    await other.waitForURL(`${browser.url}/`);
    await other.close();
    await page.bringToFront();
    if (await dialog.isVisible())
      await dialog
        .getByRole("button", { name: "Continue" })
        .click()
        .catch(() => undefined);
    await dialog.waitFor({ state: "detached" });
    await listed(page, "1 host");
  });

  it("can be used with a screen reader, in both schemes, at both widths, with every dialog and menu open", async () => {
    const page = await browser.open("/hosts?query=h-0");
    await listed(page, "10 hosts");
    await expectAccessible(page, "hosts");
    for (const [button, role] of [
      ["Columns", "dialog"],
      ["As command", "dialog"],
      ["Add filter", "dialog"],
      ["Search", "dialog"],
      ["Keyboard shortcuts", "dialog"],
      ["Team: All teams", "dialog"],
      ["Theme", "menu"],
    ] as const) {
      await page.getByRole("button", { name: button, exact: true }).click();
      await page.getByRole(role).first().waitFor();
      await expectAccessible(page, button);
      await page.keyboard.press("Escape");
      await page.getByRole(role).waitFor({ state: "detached" });
    }
  });
});
