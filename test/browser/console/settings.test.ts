// Users, teams, tokens and the other settings in the console.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { ADMIN } from "../../support/app.ts";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, expectAccessible, listed, rowsOf, type SignIn } from "../../support/console.ts";
import { makeTeam } from "../../support/make.ts";

const chromium = findChromium();
const HOSTILE = "<img src=x onerror=alert(1)>";
const PASSWORD = "long-enough-password-1";

describe.skipIf(chromium === null)("the settings of the console", () => {
  let browser: ConsoleBrowser;
  const observer: SignIn = { email: "olga@example.com", password: PASSWORD };
  const teamAdmin: SignIn = { email: "tom@example.com", password: PASSWORD };

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!);
    const { app: t } = browser;
    const team = await makeTeam(t, "Engineering");
    await makeTeam(t, HOSTILE);
    const create = async (user: object) =>
      expect(
        (await t.post("/users/admin", { password: PASSWORD, admin_forced_password_reset: false, ...user })).status,
      ).toBe(200);
    await create({ name: "Olga Observer", email: observer.email, global_role: "observer" });
    await create({ name: "Tom", email: teamAdmin.email, teams: [{ id: team.id, role: "admin" }] });
    await create({ name: HOSTILE, email: "hostile@example.com", teams: [{ id: team.id, role: "observer" }] });
  }, 600_000);
  afterEach(() => browser.finish());
  afterAll(() => browser?.close());

  const userOf = (email: string) =>
    browser.app.store.users.first({ where: { op: "eq", column: "email", value: email } });

  it("list users with their roles, and open the first section without one in the path", async () => {
    const page = await browser.open("/settings/users?query=o");
    await listed(page, /users$/);
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Users");
    await page.getByRole("navigation", { name: "Sections" }).getByRole("link", { name: "Users" }).waitFor();
    await page.getByRole("searchbox", { name: "Search" }).fill("hostile@");
    await listed(page, "1 user");
    const [row] = await rowsOf(page, "Users");
    expect(row!.slice(0, 4)).toEqual([HOSTILE, "hostile@example.com", "Observer of Engineering", "Password"]);
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Settings" }).click();
    await page.waitForURL("**/settings");
    await page.getByRole("navigation", { name: "Sections" }).waitFor();
    await page.goto(`${browser.url}/settings/nothing`);
    await page.getByRole("heading", { name: "This section does not exist" }).waitFor();
  });

  it("invite a user with roles on teams, show the link, and withdraw the invite", async () => {
    const page = await browser.open("/settings/users");
    await page.getByRole("button", { name: "Invite user" }).click();
    const dialog = page.getByRole("dialog", { name: "Invite user" });
    await dialog.getByRole("button", { name: "Invite user" }).click();
    await dialog.getByRole("alert").first().waitFor();
    await dialog.getByRole("textbox", { name: "Name" }).fill(HOSTILE);
    await dialog.getByRole("textbox", { name: "Email" }).fill("new@example.com");
    await dialog.getByRole("combobox", { name: "Role" }).selectOption("Roles on teams");
    await dialog.getByRole("combobox", { name: "Engineering" }).selectOption("Maintainer");
    await expectAccessible(page, "invite");
    await dialog.getByRole("button", { name: "Invite user" }).click();
    const link = page.getByRole("dialog", { name: "Link for new@example.com" });
    expect(await link.locator("pre").textContent()).toContain(`${browser.url}/login/invites/`);
    await page.keyboard.press("Escape");
    await expect.poll(() => rowsOf(page, "Invites")).toHaveLength(1);
    expect((await rowsOf(page, "Invites"))[0]!.slice(0, 3)).toEqual([
      HOSTILE,
      "new@example.com",
      "Maintainer of Engineering",
    ]);
    await expectAccessible(page, "users");
    await page.getByRole("button", { name: `Withdraw the invite of ${HOSTILE}` }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Withdraw" }).click();
    await page.getByRole("table", { name: "Invites" }).waitFor({ state: "detached" });
    expect(await browser.app.store.invites.list()).toEqual([]);
  });

  it("change a user's name and role, require a new password, and delete a user after typing its name", async () => {
    const page = await browser.open("/settings/users");
    await page.getByRole("button", { name: `Edit: ${HOSTILE}` }).click();
    const dialog = page.getByRole("dialog", { name: `Edit ${HOSTILE}` });
    await dialog.getByRole("textbox", { name: "Email" }).fill(ADMIN.email);
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByRole("alert").first().waitFor();
    await dialog.getByRole("textbox", { name: "Email" }).fill("hostile@example.com");
    await dialog.getByRole("textbox", { name: "Name" }).fill("Harmless");
    await dialog.getByRole("combobox", { name: "Role", exact: true }).selectOption("Technician");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await userOf("hostile@example.com")).toMatchObject({ name: "Harmless", global_role: "technician" });

    await page.getByRole("button", { name: "Require new password: Harmless" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Require" }).click();
    await page
      .getByRole("row", { name: /Harmless/ })
      .getByText("new password required")
      .waitFor();
    expect(await userOf("hostile@example.com")).toMatchObject({ force_password_reset: true });

    await page.getByRole("button", { name: "Delete: Harmless" }).click();
    const confirm = page.getByRole("alertdialog", { name: "Delete Harmless" });
    expect(await confirm.getByRole("button", { name: "Delete" }).isDisabled()).toBe(true);
    await expectAccessible(page, "delete user");
    await confirm.getByRole("textbox", { name: "Type Harmless to confirm" }).fill("Harmless");
    await confirm.getByRole("button", { name: "Delete" }).click();
    await confirm.waitFor({ state: "detached" });
    expect(await userOf("hostile@example.com")).toBeNull();
    expect(await page.getByRole("button", { name: `Delete: ${ADMIN.name}` }).count()).toBe(0);
  });

  it("let the admin of a team see only its users, and observers no users at all", async () => {
    const page = await browser.open("/settings/users", { as: teamAdmin });
    await listed(page, /users?$/);
    expect((await rowsOf(page, "Users")).map(([name]) => name)).not.toContain("Olga Observer");
    expect(await page.getByRole("button", { name: "Invite user" }).count()).toBe(0);
    const denied = await browser.open("/settings/users", { as: observer });
    await denied.getByText("users:list").waitFor();
    expect(await denied.getByRole("table").count()).toBe(0);
    expect(await denied.getByRole("link", { name: "Users" }).count()).toBe(0);
  });

  it("list teams with their hosts, create and rename one, and delete it after typing its name", async () => {
    const page = await browser.open("/settings/teams");
    await listed(page, "2 teams");
    expect((await rowsOf(page, "Teams")).map(([name]) => name)).toContain(HOSTILE);
    await page.getByRole("button", { name: "Create team" }).click();
    const dialog = page.getByRole("dialog", { name: "Create team" });
    await dialog.getByRole("textbox", { name: "Name" }).fill("Engineering");
    await dialog.getByRole("button", { name: "Create team" }).click();
    await dialog.getByRole("alert").first().waitFor();
    await dialog.getByRole("textbox", { name: "Name" }).fill("Sales");
    await expectAccessible(page, "create team");
    await dialog.getByRole("button", { name: "Create team" }).click();
    await listed(page, "3 teams");
    await page.getByRole("button", { name: "Team: All teams" }).click();
    await page.getByRole("option", { name: "Sales" }).click();
    await page.waitForURL(/team_id=/);

    await page.getByRole("button", { name: "Edit: Sales" }).click();
    await page.getByRole("dialog").getByRole("textbox", { name: "Name" }).fill("Field sales");
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Team: Field sales" }).waitFor();
    await page.getByRole("button", { name: "Delete: Field sales" }).click();
    const confirm = page.getByRole("alertdialog", { name: "Delete Field sales" });
    await confirm.getByRole("textbox", { name: "Type Field sales to confirm" }).fill("Field sales");
    await confirm.getByRole("button", { name: "Delete" }).click();
    await listed(page, "2 teams");
    await page.getByRole("button", { name: "Team: All teams" }).waitFor();
    expect((await browser.app.store.teams.list()).map(({ name }) => name).sort()).toEqual([HOSTILE, "Engineering"]);
    await expectAccessible(page, "teams");
  });

  it("add and remove enroll secrets of a team and of hosts without a team", async () => {
    const page = await browser.open("/settings/teams");
    const secrets = async (teamId: number | null) =>
      (await browser.app.store.enrollSecrets.list()).filter(({ team_id }) => team_id === teamId);
    await page.getByRole("button", { name: "Enroll secrets: Engineering" }).click();
    const dialog = page.getByRole("dialog", { name: "Enroll secrets of Engineering" });
    await dialog.getByRole("button", { name: "Add secret" }).click();
    await expect.poll(() => rowsOf(page, "Enroll secrets")).toHaveLength(1);
    expect(await secrets(1)).toMatchObject([{ secret: (await rowsOf(page, "Enroll secrets"))[0]![0] }]);
    await expectAccessible(page, "secrets");
    await dialog.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Remove" }).click();
    await dialog.getByText("no host can enroll").waitFor();
    expect(await secrets(1)).toEqual([]);

    await page.goto(`${browser.url}/settings/enroll-secrets`);
    await page.getByRole("button", { name: "Show secrets" }).click();
    const before = (await secrets(null)).length;
    await page.getByRole("button", { name: "Add secret" }).click();
    await expect.poll(() => rowsOf(page, "Enroll secrets")).toHaveLength(before + 1);
    expect(await secrets(null)).toHaveLength(before + 1);
  });

  it("create a token that is shown once and works, and delete it", async () => {
    const page = await browser.open("/settings/tokens", { permissions: ["clipboard-read", "clipboard-write"] });
    await page.getByText("Programs use the API with a token").waitFor();
    await page.getByRole("button", { name: "Create token" }).click();
    const dialog = page.getByRole("dialog", { name: "Create token" });
    await dialog.getByRole("textbox", { name: "Name" }).fill(HOSTILE);
    await dialog.getByRole("textbox", { name: "Only these endpoints" }).fill("GET /nothing");
    await dialog.getByRole("button", { name: "Create token" }).click();
    await dialog.getByRole("alert").first().waitFor();
    await dialog.getByRole("textbox", { name: "Only these endpoints" }).fill("GET /me\n");
    await expectAccessible(page, "create token");
    await dialog.getByRole("button", { name: "Create token" }).click();
    const shown = page.getByRole("dialog", { name: `Token ${HOSTILE}` });
    await shown.getByRole("button", { name: "Copy: Token" }).click();
    const token = await shown.locator("pre").textContent();
    const call = (path: string) =>
      fetch(`${browser.url}/api/v1/svc${path}`, { headers: { authorization: `Bearer ${token}` } });
    expect((await call("/me")).status).toBe(200);
    expect((await call("/hosts")).status).toBe(403);
    await page.keyboard.press("Escape");
    await listed(page, "1 token");
    expect((await rowsOf(page, "Tokens"))[0]!.slice(0, 2)).toEqual([HOSTILE, "GET /me"]);
    expect(await page.content()).not.toContain(token);
    await expectAccessible(page, "tokens");
    await page.getByRole("button", { name: `Delete: ${HOSTILE}` }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("Programs use the API with a token").waitFor();
    expect((await call("/me")).status).toBe(401);
  });

  it("show observers teams without buttons, and no enroll secrets", async () => {
    const page = await browser.open("/settings/teams", { as: observer });
    await listed(page, "2 teams");
    const main = page.getByRole("main");
    for (const name of ["Create team", /^Edit/, /^Delete/, /^Enroll secrets/])
      expect(await main.getByRole("button", { name }).count()).toBe(0);
    await page.goto(`${browser.url}/settings/enroll-secrets`);
    await page.getByText("enroll_secrets:read").waitFor();
    await page.goto(`${browser.url}/settings`);
    await page.getByRole("heading", { level: 1, name: "Teams" }).waitFor();
  });
});
