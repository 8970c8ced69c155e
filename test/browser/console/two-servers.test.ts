// The console behind a load balancer: two servers of one database answer its requests in turn.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { routes } from "../../../src/console/routes.ts";
import { makeUser, PASSWORD } from "../../support/accounts.ts";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, listed, rowsOf } from "../../support/console.ts";
import { makeHost } from "../../support/make.ts";
import { withSecondServer } from "../../support/second-server.ts";

const chromium = findChromium();

describe.skipIf(chromium === null)("the console on two servers", () => {
  let browser: ConsoleBrowser;

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!, { engine: "postgres" });
    await makeHost(browser.app, { hostname: "ada-mac", platform: "darwin" });
  }, 600_000);
  afterEach(() => browser.finish());
  afterAll(() => browser?.close());

  async function withBoth(work: () => Promise<void>): Promise<void> {
    await withSecondServer(browser.app, async (there) => {
      browser.others.push(there);
      try {
        await work();
      } finally {
        browser.others.pop();
      }
    });
  }

  it("shows every page, and what was changed through one server in the next reply of the other", async () => {
    await withBoth(async () => {
      const page = await browser.open("/labels");
      const refused: string[] = [];
      page.on("response", (reply) => {
        // Forms are tried as a field is left.
        const isTrial = reply.request().headers()["dry-run"] !== undefined;
        // Without device management there are no profiles.
        const isOff = new URL(reply.url()).pathname.endsWith("/mdm/profiles") && reply.status() === 400;
        if (reply.status() >= 400 && !isTrial && !isOff) refused.push(`${reply.status()} ${reply.url()}`);
      });
      for (const name of ["First", "Second", "Third"]) {
        await page.getByRole("button", { name: "Create label" }).click();
        const dialog = page.getByRole("dialog", { name: "Create label" });
        await dialog.getByRole("textbox", { name: "Name" }).fill(name);
        await dialog
          .getByRole("combobox", { name: "Kind" })
          .selectOption({ label: "Selector: hosts that match it, always" });
        await dialog.getByRole("textbox", { name: "Selector of the hosts" }).fill("platform = darwin");
        await dialog.getByRole("button", { name: "Create label" }).click();
        await dialog.waitFor({ state: "detached" });
        await expect.poll(async () => (await rowsOf(page, "Labels")).map(([first]) => first)).toContain(name);
      }
      for (const path of Object.values(routes).filter((route) => !route.includes(":"))) {
        await page.goto(browser.url + path);
        await page.getByRole("heading", { level: 1 }).first().waitFor();
        await page.waitForLoadState("networkidle");
      }
      expect(refused).toEqual([]);
    });
  });

  it("ends a session on both at once, and keeps what is being typed", async () => {
    const { user } = await makeUser(browser.app, "admin", { api_only: false });
    await withBoth(async () => {
      const page = await browser.open("/labels", { as: { email: user.email, password: PASSWORD } });
      await listed(page, /labels/);
      await page.getByRole("button", { name: "Create label" }).click();
      const dialog = page.getByRole("dialog", { name: "Create label" });
      await dialog.getByRole("textbox", { name: "Name" }).fill("Not lost");
      await dialog
        .getByRole("combobox", { name: "Kind" })
        .selectOption({ label: "Selector: hosts that match it, always" });
      await dialog.getByRole("textbox", { name: "Selector of the hosts" }).fill("platform = darwin");
      expect((await browser.app.delete(`/users/${user.id}/sessions`)).status).toBe(200);
      await dialog.getByRole("button", { name: "Create label" }).click();
      await page.getByRole("dialog", { name: "Sign in again" }).waitFor();
      expect((await browser.app.store.labels.list()).some(({ name }) => name === "Not lost")).toBe(false);
      expect(await dialog.getByRole("textbox", { name: "Name" }).inputValue()).toBe("Not lost");
    });
  });
});
