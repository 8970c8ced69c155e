// The page of labels in the console.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { makeUser, PASSWORD } from "../../support/accounts.ts";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, expectAccessible, listed, rowsOf } from "../../support/console.ts";
import { makeHost, makeLabel } from "../../support/make.ts";

const chromium = findChromium();
const EVIL = `<img src=x onerror=alert(1)>"'</script>`;

describe.skipIf(chromium === null)("labels in the console", () => {
  let browser: ConsoleBrowser;

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!);
    const { app: t } = browser;
    const host = await makeHost(t, { hostname: "ada-mac", platform: "darwin" });
    await makeHost(t, { hostname: "bea-mac", platform: "darwin" });
    await makeLabel(t, EVIL, [host.id]);
  }, 600_000);
  afterEach(() => browser.finish());
  afterAll(() => browser?.close());

  const labelNamed = async (name: string) =>
    (await browser.app.store.labels.list()).find((label) => label.name === name);

  it("are listed with their hosts; built-in ones cannot be changed", async () => {
    const page = await browser.open("/labels");
    await listed(page, /\d+ labels/);
    const rows = await rowsOf(page, "Labels");
    expect(rows.find(([name]) => name === EVIL)).toMatchObject({ 1: "query", 2: "1" });
    expect(rows.find(([name]) => name === "All Hosts")![1]).toContain("built-in");
    expect(await page.getByRole("button", { name: "Edit All Hosts" }).count()).toBe(0);
    await expectAccessible(page, "labels");
    await page.getByRole("link", { name: `Hosts with ${EVIL}: 1` }).click();
    await listed(page, "1 host");
  });

  it("are created by selector and of named hosts, edited and deleted", async () => {
    const page = await browser.open("/labels");
    await page.getByRole("button", { name: "Create label" }).click();
    const dialog = page.getByRole("dialog", { name: "Create label" });
    await dialog.getByRole("textbox", { name: "Name" }).fill("Macs");
    await dialog
      .getByRole("combobox", { name: "Kind" })
      .selectOption({ label: "Selector: hosts that match it, always" });
    await dialog.getByRole("textbox", { name: "Selector of the hosts" }).fill("platfor = darwin");
    await expectAccessible(page, "create label");
    await dialog.getByRole("button", { name: "Create label" }).click();
    await dialog
      .getByRole("alert")
      .getByText(/platfor/)
      .waitFor();
    const preview = dialog.getByRole("status", { name: "Preview" });
    await preview.getByText("The hosts are counted when this is complete.").waitFor();
    await dialog.getByRole("textbox", { name: "Selector of the hosts" }).fill("platform = darwin");
    await preview.getByText("2 hosts would have this label now: ada-mac, bea-mac.").waitFor();
    await dialog.getByRole("button", { name: "Create label" }).click();
    await page.getByRole("region", { name: "Notices" }).getByText("Macs is created.").waitFor();
    expect(await labelNamed("Macs")).toMatchObject({ label_membership_type: "host_vitals" });

    await page.getByRole("button", { name: "Create label" }).click();
    await dialog.getByRole("textbox", { name: "Name" }).fill("Loaned");
    await dialog.getByRole("combobox", { name: "Kind" }).selectOption("manual");
    await dialog.getByRole("textbox", { name: "Hosts" }).fill("ada-mac\n");
    await dialog.getByRole("button", { name: "Create label" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Edit Loaned" }).click();
    const editing = page.getByRole("dialog", { name: "Edit Loaned" });
    expect(await editing.getByRole("textbox", { name: "Hosts" }).inputValue()).toBe("ada-mac");
    await editing.getByRole("textbox", { name: "Hosts" }).fill("bea-mac\nnobody");
    await editing
      .getByRole("status", { name: "Preview" })
      .getByText("1 host gained: bea-mac. 1 host lost: ada-mac. 1 name unknown: nobody.")
      .waitFor();
    await editing.getByRole("textbox", { name: "Hosts" }).fill("ada-mac\nbea-mac");
    await editing.getByRole("textbox", { name: "Description" }).fill(EVIL);
    await expectAccessible(page, "edit label");
    await editing.getByRole("button", { name: "Save" }).click();
    await editing.waitFor({ state: "detached" });
    const loaned = (await labelNamed("Loaned"))!;
    expect(loaned.description).toBe(EVIL);
    expect((await browser.app.store.labelMembers.list()).filter(({ label_id }) => label_id === loaned.id)).toHaveLength(
      2,
    );

    await page.getByRole("button", { name: "Delete Loaned" }).click();
    const deleting = page.getByRole("alertdialog", { name: "Delete Loaned" });
    await deleting.getByText("2 hosts have this label").waitFor();
    await deleting.getByRole("button", { name: "Delete" }).click();
    await deleting.waitFor({ state: "detached" });
    expect(await labelNamed("Loaned")).toBeUndefined();
  });

  it("say that only agents know which hosts a query selects", async () => {
    const page = await browser.open("/labels");
    await page.getByRole("button", { name: "Create label" }).click();
    const dialog = page.getByRole("dialog", { name: "Create label" });
    await dialog.getByRole("textbox", { name: "SQL" }).fill("SELECT 1");
    await dialog.getByRole("status", { name: "Preview" }).getByText("2 hosts will be asked.").waitFor();
  });

  it("show where they are used, and are not deleted while a policy needs them", async () => {
    const { app: t } = browser;
    const used = await makeLabel(t, "Used");
    const policy = { name: EVIL, query: "SELECT 1", labels_include_any: ["Used"] };
    const created = await t.post("/global/policies", policy);
    expect(created.status).toBe(200);
    const { policy: made } = (await created.json()) as { policy: { id: number } };
    await t.post("/labels", { name: "Of the used", criteria: { where: "label = Used" } });
    browser.app.clock.advance(120_000);
    const page = await browser.open("/labels");
    await page.getByRole("button", { name: "Uses of Used" }).click();
    const uses = page.getByRole("dialog", { name: "Uses of Used" });
    await uses.getByRole("table", { name: "Uses" }).waitFor();
    expect(await rowsOf(page, "Uses")).toEqual([
      [EVIL, "policy", "all teams", "keeps the label from being deleted"],
      ["Of the used", "label", "all teams", "finds no hosts by this label any more"],
    ]);
    await expectAccessible(page, "uses of a label");
    await page.keyboard.press("Escape");
    await uses.waitFor({ state: "detached" });

    await page.getByRole("button", { name: "Delete Used" }).click();
    const deleting = page.getByRole("alertdialog", { name: "Delete Used" });
    await deleting.getByText("Remove the label from what keeps it first.").waitFor();
    expect(await deleting.getByRole("button", { name: "Delete" }).isDisabled()).toBe(true);
    await expectAccessible(page, "a label that cannot be deleted");
    await deleting.getByRole("link", { name: EVIL }).click();
    await page.waitForURL(`${browser.url}/policies/${made.id}`);
    expect((await t.post("/global/policies/delete", { ids: [made.id] })).status).toBe(200);

    await page.goto(`${browser.url}/labels`);
    await page.getByRole("button", { name: "Delete Used" }).click();
    await deleting.getByRole("table", { name: "Uses" }).getByText("finds no hosts by this label any more").waitFor();
    await deleting.getByRole("button", { name: "Delete" }).click();
    await deleting.waitFor({ state: "detached" });
    expect(await t.store.labels.get(used.id)).toBeNull();
  });

  it("are only looked at by observers", async () => {
    const { user } = await makeUser(browser.app, "observer", { api_only: false });
    const page = await browser.open("/labels", { as: { email: user.email, password: PASSWORD } });
    await listed(page, /\d+ labels/);
    expect(await page.getByRole("button", { name: /^(Create|Edit|Delete)/ }).count()).toBe(0);
    await page.getByRole("button", { name: "Uses of All Hosts" }).click();
    await page.getByRole("dialog", { name: "Uses of All Hosts" }).getByText("Nothing uses this label.").waitFor();
  });
});
