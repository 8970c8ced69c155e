// Saved views of lists in the console.
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { makeUser, PASSWORD } from "../../support/accounts.ts";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, expectAccessible, listed, rowsOf } from "../../support/console.ts";
import { makeHost, makeTeam } from "../../support/make.ts";

const chromium = findChromium();
const EVIL = `<img src=x onerror=alert(1)>"'</script>`;

describe.skipIf(chromium === null)("saved views in the console", () => {
  let browser: ConsoleBrowser;
  let teamId = 0;

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!);
    const { app: t } = browser;
    const team = await makeTeam(t, "Engineering");
    teamId = team.id;
    await makeHost(t, { hostname: "ada-mac", platform: "darwin", team_id: team.id });
    await makeHost(t, { hostname: "bea-pc", platform: "windows" });
  }, 600_000);
  beforeEach(() => browser.app.clock.advance(120_000));
  afterEach(() => browser.finish());
  afterAll(() => browser?.close());

  const openViews = async (page: Page) => {
    await page.getByRole("button", { name: "Views", exact: true }).click();
    return page.getByRole("dialog", { name: "Views" });
  };
  const viewNamed = async (name: string) => (await browser.app.store.views.list()).find((view) => view.name === name);
  const noticed = (page: Page, text: string) =>
    page.getByRole("region", { name: "Notices" }).getByText(text, { exact: true }).waitFor();

  it("store filters, order and columns, and open with all of them in the URL", async () => {
    const page = await browser.open("/hosts?query=ada&order_key=hostname&order_direction=desc");
    await listed(page, "1 host");
    await page.getByRole("button", { name: "Columns" }).click();
    await page.getByRole("checkbox", { name: "UUID" }).check();
    await page.keyboard.press("Escape");
    const dialog = await openViews(page);
    await dialog.getByText(/No view of this list is saved yet/).waitFor();
    await dialog.getByRole("textbox", { name: "Name" }).fill(EVIL);
    await dialog.getByRole("button", { name: "Save view" }).click();
    await noticed(page, `The view ${EVIL} is saved.`);
    expect(await viewNamed(EVIL)).toMatchObject({
      page: "hosts",
      query: { query: "ada", order_key: "hostname", order_direction: "desc" },
      columns: expect.arrayContaining(["uuid"]),
      shared: "me",
    });
    await expectAccessible(page, "views");
    await page.goto(`${browser.url}/hosts`);
    await listed(page, "2 hosts");
    await openViews(page);
    await dialog.getByRole("link", { name: EVIL }).click();
    await dialog.waitFor({ state: "detached" });
    await listed(page, "1 host");
    await page.getByRole("columnheader", { name: "UUID" }).waitFor();
    const search = new URL(page.url()).searchParams;
    expect(Object.fromEntries(search)).toMatchObject({ query: "ada", order_key: "hostname", order_direction: "desc" });
    expect(search.get("columns")).toContain("uuid");
    await page.reload();
    await listed(page, "1 host");
  });

  it("are renamed, updated, deleted, and brought back", async () => {
    const page = await browser.open("/hosts?query=bea");
    await listed(page, "1 host");
    const dialog = await openViews(page);
    await dialog.getByRole("textbox", { name: "Name" }).fill("Mine");
    await dialog.getByRole("button", { name: "Save view" }).click();
    await noticed(page, "The view Mine is saved.");
    await dialog.getByRole("button", { name: "Edit Mine" }).click();
    await dialog.getByRole("region", { name: "Edit Mine" }).getByRole("textbox", { name: "Name" }).fill("Windows");
    await dialog.getByRole("button", { name: "Save", exact: true }).click();
    await noticed(page, "The view Windows is saved.");
    expect((await viewNamed("Windows"))!.query).toEqual({ query: "bea" });
    await page.keyboard.press("Escape");

    await page.getByRole("searchbox", { name: "Search" }).fill("ada");
    await page.waitForURL("**/hosts?query=ada");
    await openViews(page);
    await dialog.getByRole("button", { name: "Update Windows" }).click();
    await noticed(page, "Windows is what the list shows now.");
    expect((await viewNamed("Windows"))!.query).toEqual({ query: "ada" });
    await dialog.getByRole("button", { name: "Delete Windows" }).click();
    await noticed(page, "Windows is deleted.");
    expect(await viewNamed("Windows")).toBeUndefined();
    await page.keyboard.press("Escape");
    await page
      .getByRole("region", { name: "Notices" })
      .locator(".notice", { hasText: "Windows is deleted." })
      .getByRole("button", { name: "Undo", exact: true })
      .click();
    await noticed(page, "Windows is there again.");
    expect((await viewNamed("Windows"))!.query).toEqual({ query: "ada" });
  });

  it("are pinned to the navigation, also in another browser, and lead to the view as it is then", async () => {
    const { app: t } = browser;
    expect((await t.post("/views", { name: "Macs", page: "hosts", query: { query: "ada" } })).status).toBe(200);
    const page = await browser.open("/hosts");
    const dialog = await openViews(page);
    await dialog.getByRole("button", { name: "Pin Macs" }).click();
    await page.keyboard.press("Escape");
    const pin = page.getByRole("list", { name: "Pinned" }).getByRole("link", { name: "Macs" });
    await pin.waitFor();
    await expect.poll(async () => (await t.store.users.get(1))!.settings?.console?.pinned?.length).toBe(1);
    const { id } = (await viewNamed("Macs"))!;
    await t.patch(`/views/${id}`, { query: { query: "bea" } });
    const other = await browser.open("/software");
    await other.getByRole("list", { name: "Pinned" }).getByRole("link", { name: "Macs" }).click();
    await listed(other, "1 host");
    expect((await rowsOf(other, "Hosts"))[0]![0]).toBe("bea-pc");
    expect(new URL(other.url()).searchParams.get("query")).toBe("bea");
    await expectAccessible(other, "pinned views");
    await t.request("DELETE", `/views/${id}`);
    await other.reload();
    await listed(other, "1 host");
    expect(await other.getByRole("link", { name: "Macs" }).count()).toBe(0);
    await other.goto(`${browser.url}/hosts?view=${id}`);
    await listed(other, "2 hosts");
    await other
      .getByRole("region", { name: "Notices" })
      .getByText(/was not found/)
      .waitFor();
  });

  it("are shared with a team by its maintainers, and only opened by its observers", async () => {
    const { app: t } = browser;
    const maintainer = await makeUser(t, { [teamId]: "maintainer" }, { api_only: false });
    const observer = await makeUser(t, { [teamId]: "observer" }, { api_only: false });
    const page = await browser.open("/hosts?query=ada", { as: { email: maintainer.user.email, password: PASSWORD } });
    await listed(page, "1 host");
    const dialog = await openViews(page);
    const options = dialog.getByRole("combobox", { name: "Shared with" }).getByRole("option");
    expect(await options.allTextContents()).toEqual(["Nobody: only for me", "Team Engineering"]);
    await dialog.getByRole("textbox", { name: "Name" }).fill("Ours");
    await dialog.getByRole("combobox", { name: "Shared with" }).selectOption("Team Engineering");
    await dialog.getByRole("button", { name: "Save view" }).click();
    await noticed(page, "The view Ours is saved.");

    const looking = await browser.open("/hosts", { as: { email: observer.user.email, password: PASSWORD } });
    const shown = await openViews(looking);
    await shown.getByRole("link", { name: "Ours" }).waitFor();
    expect(await shown.getByRole("button", { name: /^(Update|Edit|Delete) Ours/ }).count()).toBe(0);
    expect(await shown.getByRole("combobox", { name: "Shared with" }).count()).toBe(0);

    await dialog.getByRole("button", { name: "Delete Ours" }).click();
    const deleting = page.getByRole("alertdialog", { name: "Delete Ours" });
    await deleting.getByText(/cannot be undone/).waitFor();
    await deleting.getByRole("button", { name: "Delete" }).click();
    await noticed(page, "Ours is deleted.");
    expect(await page.getByRole("button", { name: "Undo" }).count()).toBe(0);
  });

  it("show the server's reason, and keep the name", async () => {
    const { app: t } = browser;
    await t.post("/views", { name: "Taken", page: "policies" });
    const page = await browser.open("/policies");
    const dialog = await openViews(page);
    await dialog.getByRole("textbox", { name: "Name" }).fill("Taken");
    await dialog.getByRole("button", { name: "Save view" }).click();
    await dialog.getByText(/a view of policies with the name "Taken" exists/i).waitFor();
    expect(await dialog.getByRole("textbox", { name: "Name" }).inputValue()).toBe("Taken");
    await page.keyboard.press("Escape");
    await dialog.getByText("Closing discards what you have typed.").waitFor();
  });
});
