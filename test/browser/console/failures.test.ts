// The console while the API is slow, fails, or is gone.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, listed } from "../../support/console.ts";
import { makeHost, makePolicy } from "../../support/make.ts";

const chromium = findChromium();
const API = "**/api/v1/svc/**";

describe.skipIf(chromium === null)("the console", () => {
  let browser: ConsoleBrowser;

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!);
    await makeHost(browser.app, { hostname: "ada-mac", platform: "darwin" });
    await makePolicy(browser.app, { name: "Disk" });
  }, 600_000);
  afterEach(() => browser.finish());
  afterAll(() => browser?.close());

  it("says that it loads while the server is slow, and shows the rows when they arrive", async () => {
    const page = await browser.open("/profile");
    let release: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(API, async (route) => {
      await held;
      await route.continue();
    });
    await page.goto(`${browser.url}/hosts`);
    await page.getByRole("status").getByText("Loading hosts").waitFor();
    release();
    await listed(page, "1 host");
  });

  it("says in the server's words why a list cannot be read, with the reference, and reads it again", async () => {
    const page = await browser.open("/hosts");
    await listed(page, "1 host");
    await page.route(API, (route) =>
      route.fulfill({
        status: 503,
        contentType: "application/json",
        body: JSON.stringify({
          message: "Busy",
          errors: [{ name: "base", reason: "the server is busy" }],
          uuid: "abc-1",
        }),
      }),
    );
    await page.goto(`${browser.url}/policies`);
    const alert = page.getByRole("alert").filter({ hasText: "The server is busy." });
    await alert.waitFor();
    expect(await alert.textContent()).toContain("Reference: abc-1");
    await page.unroute(API);
    await alert.getByRole("button", { name: "Retry" }).click();
    await listed(page, "1 policy");
    browser.forgive(/503/);
  });

  it("keeps what was read while the server is gone, says so, and sends a change once the user tries again", async () => {
    const page = await browser.open("/policies");
    await listed(page, "1 policy");
    await page.getByRole("button", { name: "Create policy" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("Made later");
    await page.locator(".cm-content").click();
    await page.keyboard.type("SELECT 1 ");
    await page.route(API, (route) => route.abort("connectionrefused"));
    const dialog = page.getByRole("dialog", { name: "Create policy" });
    await dialog.getByRole("button", { name: "Create policy" }).click();
    await dialog.getByRole("alert").getByText("The server does not respond.").waitFor();
    expect(await dialog.getByRole("textbox", { name: "Name" }).inputValue()).toBe("Made later");
    await page.getByRole("table", { name: "Policies", includeHidden: true }).waitFor({ state: "attached" });
    await page.unroute(API);
    await dialog.getByRole("button", { name: "Create policy" }).click();
    await listed(page, "2 policies");
    expect(await browser.app.store.policies.count({ op: "eq", column: "name", value: "Made later" })).toBe(1);
    browser.forgive(/ERR_CONNECTION_REFUSED/);
  });

  it("opens a script that was replaced by an upgrade by loading the page again", async () => {
    const page = await browser.open("/hosts");
    await listed(page, "1 host");
    let failed = 0;
    await page.route("**/assets/console/policies-page-*.js", async (route) => {
      if (failed++ === 0) await route.fulfill({ status: 404 });
      else await route.continue();
    });
    await page.getByRole("link", { name: "Policies", exact: true }).click();
    await listed(page, /polic/);
    expect(failed).toBeGreaterThan(1);
    browser.forgive(/./);
  });
});
