// The page of a user, the creation of users, and what roles may do, in the console.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, expectAccessible, listed, rowsOf, type SignIn } from "../../support/console.ts";

const chromium = findChromium();
const HOSTILE = "<img src=x onerror=alert(1)>";
const PASSWORD = "long-enough-password-1";

describe.skipIf(chromium === null)("users of the console", () => {
  let browser: ConsoleBrowser;
  const observer: SignIn = { email: "olga@example.com", password: PASSWORD };

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!);
    const user = { ...observer, name: HOSTILE, admin_forced_password_reset: false, global_role: "observer" };
    expect((await browser.app.post("/users/admin", user)).status).toBe(200);
  }, 600_000);
  afterEach(() => browser.finish());
  afterAll(() => browser?.close());

  const userOf = (email: string) =>
    browser.app.store.users.first({ where: { op: "eq", column: "email", value: email } });

  it("have a page with their sessions, which an admin ends, and are deleted there", async () => {
    const theirs = await browser.open("/hosts", { as: observer });
    const page = await browser.open("/settings/users");
    await page.getByRole("table", { name: "Users" }).getByRole("link", { name: HOSTILE }).click();
    await page.getByRole("heading", { level: 1, name: HOSTILE }).waitFor();
    await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link", { name: "Users" }).waitFor();
    await expect.poll(() => rowsOf(page, "Sessions")).toHaveLength(1);
    await expectAccessible(page, "user");
    await page.getByRole("button", { name: "End all sessions" }).click();
    const question = page.getByRole("alertdialog", { name: `End all sessions of ${HOSTILE}` });
    await question.getByRole("button", { name: "End" }).click();
    await page.getByText("There are no sessions.").waitFor();
    await theirs.goto(`${browser.url}/hosts`);
    expect(new URL(theirs.url()).pathname).toBe("/login");

    await page.getByRole("button", { name: "Delete" }).click();
    const dialog = page.getByRole("alertdialog", { name: `Delete ${HOSTILE}` });
    await dialog.getByRole("textbox").fill(HOSTILE);
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page.waitForURL("**/settings/users");
    expect(await userOf(observer.email)).toBeNull();
    await page.goto(`${browser.url}/settings/users/nobody`);
    await page.getByRole("heading", { name: "This page does not exist" }).waitFor();
  });

  it("are created for people, and for programs with a token that is shown once", async () => {
    const page = await browser.open("/settings/users");
    await page.getByRole("button", { name: "Create user" }).click();
    const dialog = page.getByRole("dialog", { name: "Create user" });
    await dialog.getByRole("textbox", { name: "Name" }).fill("Grace");
    await dialog.getByRole("textbox", { name: "Email" }).fill("grace@example.com");
    await dialog.getByLabel("Password", { exact: true }).fill("x");
    await dialog.getByRole("button", { name: "Create user" }).click();
    await dialog.getByText(/at least 12 characters/).waitFor();
    await dialog.getByLabel("Password", { exact: true }).fill(PASSWORD);
    await expectAccessible(page, "create user");
    await dialog.getByRole("button", { name: "Create user" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await userOf("grace@example.com")).toMatchObject({ global_role: "observer", force_password_reset: true });

    await page.getByRole("button", { name: "Create user" }).click();
    await dialog.getByRole("combobox", { name: "Kind" }).selectOption("A program with an API token");
    await dialog.getByRole("textbox", { name: "Name" }).fill("Nightly");
    await dialog.getByRole("textbox", { name: "Email" }).fill("nightly@example.com");
    await dialog.getByRole("combobox", { name: "Role" }).selectOption("GitOps");
    await dialog.getByRole("button", { name: "Create user" }).click();
    const token = await page.getByRole("dialog", { name: "Token of Nightly" }).locator("pre").textContent();
    expect((await browser.app.as(token).get("/me")).status).toBe(200);
  });

  it("see what each role may do, whatever their own role is", async () => {
    const user = { email: "oz@example.com", name: "Oz", password: PASSWORD, admin_forced_password_reset: false };
    expect((await browser.app.post("/users/admin", { ...user, global_role: "observer" })).status).toBe(200);
    const page = await browser.open("/settings/roles", { as: user });
    await page.getByText("You are: Observer.").waitFor();
    await page.getByRole("searchbox", { name: "Search" }).fill("hosts: lock");
    await listed(page, "1 action");
    const headers = await page.getByRole("columnheader").allTextContents();
    const [row] = await rowsOf(page, "Roles");
    expect(row![headers.indexOf("Admin")]).toBe("yes");
    expect(row![headers.indexOf("Observer")]).toBe("");
    await expectAccessible(page, "roles");
    await page.goto(`${browser.url}/settings/users/1`);
    await page.getByText("users:list").waitFor();
  });
});
