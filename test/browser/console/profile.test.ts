// The user's own account, and the first steps on a new server, in the console.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { ADMIN } from "../../support/app.ts";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, expectAccessible, rowsOf, type SignIn } from "../../support/console.ts";
import { makeHost } from "../../support/make.ts";

const chromium = findChromium();
const HOSTILE = "<img src=x onerror=alert(1)>";
const PASSWORD = "long-enough-password-1";
const FRESH = "another-Sailing-43";

describe.skipIf(chromium === null)("my account in the console", () => {
  let browser: ConsoleBrowser;
  const observer: SignIn = { email: "olga@example.com", password: PASSWORD };
  const hostile: SignIn = { email: "hostile@example.com", password: PASSWORD };

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!);
    for (const { email, name } of [
      { email: observer.email, name: "Olga" },
      { email: hostile.email, name: HOSTILE },
    ]) {
      const user = { email, name, password: PASSWORD, admin_forced_password_reset: false, global_role: "observer" };
      expect((await browser.app.post("/users/admin", user)).status).toBe(200);
    }
  }, 600_000);
  afterEach(() => browser.finish());
  afterAll(() => browser?.close());

  const userOf = (email: string) =>
    browser.app.store.users.first({ where: { op: "eq", column: "email", value: email } });

  it("shows who I am, and changes my name with the one in the banner", async () => {
    const page = await browser.open("/profile", { as: hostile });
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("My account");
    const account = page.getByRole("region", { name: "Account" });
    await account.getByText("Observer").waitFor();
    await page.getByRole("link", { name: `My account: ${HOSTILE}` }).waitFor();
    await account.getByRole("textbox", { name: "Name" }).fill("");
    await account.getByRole("button", { name: "Save" }).click();
    await account.getByRole("alert").first().waitFor();
    await account.getByRole("textbox", { name: "Name" }).fill("Harmless");
    await account.getByRole("textbox", { name: "Position" }).fill(HOSTILE);
    await account.getByRole("button", { name: "Save" }).click();
    await page.getByRole("link", { name: "My account: Harmless" }).waitFor();
    expect(await userOf(hostile.email)).toMatchObject({ name: "Harmless", position: HOSTILE });
    await expectAccessible(page, "profile");
  });

  it("creates an API token that works, shows it once, and ends it", async () => {
    const page = await browser.open("/profile", { as: observer });
    await page.getByRole("button", { name: "Create token" }).click();
    const dialog = page.getByRole("dialog", { name: "Create token" });
    await dialog.getByRole("textbox", { name: "Name" }).fill(HOSTILE);
    await dialog.getByRole("button", { name: "Create token" }).click();
    const created = page.getByRole("dialog", { name: `Token ${HOSTILE}` });
    const token = await created.locator("pre").textContent();
    const me = () => browser.app.as(token).get("/me");
    expect((await me()).status).toBe(200);
    await page.keyboard.press("Escape");
    await expect.poll(async () => (await rowsOf(page, "Tokens")).map(([name]) => name)).toEqual([HOSTILE]);
    expect(await page.content()).not.toContain(token);
    await page.getByRole("button", { name: `End ${HOSTILE}` }).click();
    await page.getByText("There are no API tokens.").waitFor();
    expect((await me()).status).toBe(401);
  });

  it("ends my other sessions, and not this one", async () => {
    const other = await browser.open("/hosts", { as: observer });
    const page = await browser.open("/profile", { as: observer });
    const sessions = page.getByRole("table", { name: "Sessions" });
    await sessions.getByText("this one").waitFor();
    const before = (await rowsOf(page, "Sessions")).length;
    expect(await sessions.getByRole("button").count()).toBe(before - 1);
    while ((await sessions.getByRole("button").count()) > 0) {
      const count = await sessions.getByRole("button").count();
      await sessions.getByRole("button").first().click();
      await expect.poll(() => sessions.getByRole("button").count()).toBe(count - 1);
    }
    await other.goto(`${browser.url}/hosts`);
    expect(new URL(other.url()).pathname).toBe("/login");
  });

  it("changes my email only with the password, and not to one that is taken", async () => {
    const page = await browser.open("/profile", { as: hostile });
    const card = page.getByRole("region", { name: "Change email" });
    const change = async (email: string, password: string) => {
      await card.getByRole("textbox", { name: "New email" }).fill(email);
      await card.getByLabel("Your password").fill(password);
      await card.getByRole("button", { name: "Change email" }).click();
    };
    await change("new-me@example.com", "wrong-Pass-word-1");
    await card.getByText("is not your current password").waitFor();
    await change(ADMIN.email, PASSWORD);
    await card
      .getByRole("alert")
      .getByText(/exists/)
      .waitFor();
    await change("new-me@example.com", PASSWORD);
    await page.getByText("Your email address is changed.").waitFor();
    expect(await userOf("new-me@example.com")).not.toBeNull();
  });

  it("changes my password only with the current one", async () => {
    const page = await browser.open("/profile", { as: observer });
    const card = page.getByRole("region", { name: "Change password" });
    const change = async (old: string, fresh: string, again = fresh) => {
      await card.getByLabel("Current password").fill(old);
      await card.getByLabel("New password", { exact: true }).fill(fresh);
      await card.getByLabel("New password again").fill(again);
      await card.getByRole("button", { name: "Change password" }).click();
    };
    await change(PASSWORD, FRESH, "x");
    await card.getByText("the passwords must match").waitFor();
    await change(PASSWORD, "x");
    await card.getByText(/at least 12 characters/).waitFor();
    await change("wrong", FRESH);
    await card.getByText(/does not match/).waitFor();
    await change(PASSWORD, FRESH);
    await page.getByText("Your password is changed.").waitFor();
    expect(await card.getByLabel("Current password").inputValue()).toBe("");
    await browser.open("/profile", { as: { ...observer, password: FRESH } });
  });

  it("has theme and shortcuts of letters, and lets only admins change how they sign in", async () => {
    const page = await browser.open("/profile");
    await page.getByRole("combobox", { name: "Theme" }).selectOption("Dark");
    expect(await page.locator("html").getAttribute("data-theme")).toBe("dark");
    await page.getByRole("checkbox", { name: "Shortcuts of single letters" }).uncheck();
    await page.getByRole("heading", { level: 1 }).click();
    await page.keyboard.press("?");
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.reload();
    expect(await page.getByRole("checkbox", { name: "Shortcuts of single letters" }).isChecked()).toBe(false);
    expect(await page.getByRole("combobox", { name: "Theme" }).inputValue()).toBe("dark");
    const mfa = page.getByRole("region", { name: "Multi-factor authentication" });
    await mfa.getByRole("checkbox").check();
    await mfa.getByLabel("Your password").fill(ADMIN.password);
    await mfa.getByRole("button").click();
    await mfa.getByRole("alert").first().waitFor();
    const other = await browser.open("/profile", { as: { email: "new-me@example.com", password: PASSWORD } });
    await other.getByText("An admin can change this.").waitFor();
  });
});

describe.skipIf(chromium === null)("the first steps in the console", () => {
  let browser: ConsoleBrowser;

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!);
  }, 600_000);
  afterEach(() => browser.finish());
  afterAll(() => browser?.close());

  it("are done when the server has a name, a host and a second user", async () => {
    const { app: t } = browser;
    await t.patch("/config", { org_info: { org_name: "" } });
    const page = await browser.open("/welcome");
    const steps = page
      .getByRole("main")
      .getByRole("listitem")
      .filter({ has: page.getByRole("heading") });
    await expect.poll(() => steps.getByText("to do").count()).toBe(3);
    await expectAccessible(page, "welcome");
    await page.getByRole("textbox", { name: "Organization" }).fill(HOSTILE);
    await page.getByRole("textbox", { name: "Address of this server" }).fill("nonsense");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("alert").first().waitFor();
    expect(await page.getByRole("textbox", { name: "Address of this server" }).getAttribute("aria-invalid")).toBe(
      "true",
    );
    await page.getByRole("textbox", { name: "Address of this server" }).fill(browser.url);
    await page.getByRole("button", { name: "Save" }).click();
    await expect.poll(() => steps.getByText("to do").count()).toBe(2);
    await page.getByRole("banner").getByText(HOSTILE).waitFor();
    await makeHost(t, { hostname: "ada-mac", platform: "darwin" });
    await page.getByRole("button", { name: "Invite user" }).click();
    const dialog = page.getByRole("dialog", { name: "Invite user" });
    await dialog.getByRole("textbox", { name: "Name" }).fill("Olga");
    await dialog.getByRole("textbox", { name: "Email" }).fill("olga@example.com");
    await dialog.getByRole("button", { name: "Invite user" }).click();
    await page.getByRole("dialog", { name: /Link for/ }).waitFor();
    await page.keyboard.press("Escape");
    await page.reload();
    await expect.poll(() => steps.getByText("done", { exact: true }).count()).toBe(3);
    await page.getByRole("link", { name: "Continue to the dashboard" }).click();
    await page.getByRole("heading", { name: "Dashboard" }).waitFor();
    expect(await page.getByRole("link", { name: "Welcome" }).count()).toBe(0);
  });

  it("leave out for an observer what it may not do", async () => {
    const user = { email: "oz@example.com", name: "Oz", password: PASSWORD, admin_forced_password_reset: false };
    expect((await browser.app.post("/users/admin", { ...user, global_role: "observer" })).status).toBe(200);
    const page = await browser.open("/welcome", { as: user });
    await page.getByRole("heading", { name: "Add the first host" }).waitFor();
    expect(await page.getByRole("button", { name: "Save" }).count()).toBe(0);
    expect(await page.getByRole("button", { name: "Invite user" }).count()).toBe(0);
    expect(await page.getByRole("link", { name: "Add hosts" }).count()).toBe(0);
  });
});
