// Scripts, batches and variables on the page Controls.
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { makeUser, PASSWORD } from "../../support/accounts.ts";
import { findChromium } from "../../support/browser.ts";
import { ConsoleBrowser, expectAccessible, listed, rowsOf, type SignIn } from "../../support/console.ts";
import { enter, tabTo } from "../../support/keyboard.ts";
import { makePolicy, makeTeam } from "../../support/make.ts";
import { type ManagedAgent, makeManaged } from "../../support/managed.ts";

const chromium = findChromium();
const EVIL = `<img src=x onerror=alert(1)>"'</script>`;

describe.skipIf(chromium === null)("scripts in the console", () => {
  let browser: ConsoleBrowser;
  let agent: ManagedAgent;
  let team: { readonly id: number };
  let observer: SignIn;
  let technician: SignIn;

  beforeAll(async () => {
    browser = await ConsoleBrowser.start(chromium!);
    const { app: t } = browser;
    agent = await makeManaged(t, { hostname: "ada-linux", computer_name: "ada-linux" });
    team = await makeTeam(t, "Engineering");
    const signIn = async (role: "observer" | "technician") => {
      const { user } = await makeUser(t, role, { api_only: false });
      return { email: user.email, password: PASSWORD };
    };
    observer = await signIn("observer");
    technician = await signIn("technician");
  }, 600_000);
  beforeEach(() => browser.app.clock.advance(120_000));
  afterEach(() => browser.finish());
  afterAll(() => browser?.close());

  async function addScript(name: string, text: string, teamId?: number): Promise<number> {
    const body = new FormData();
    if (teamId !== undefined) body.set("team_id", String(teamId));
    body.set("script", new File([text], name));
    const reply = await browser.app.post("/scripts", body);
    expect(reply.status).toBe(200);
    return ((await reply.json()) as { script_id: number }).script_id;
  }
  const textOf = async (id: number) => (await browser.app.get(`/scripts/${id}?alt=media`)).text();
  const notice = (page: Page, text: string) =>
    page.getByRole("region", { name: "Notices" }).getByText(text, { exact: false }).first().waitFor();

  it("a script is typed, changed after its differences are shown, and deleted", async () => {
    const page = await browser.open("/controls?tab=scripts");
    await listed(page, "0 scripts");
    await page.getByRole("button", { name: "Add script" }).click();
    const dialog = page.getByRole("dialog", { name: "Add script" });
    await dialog.getByRole("textbox", { name: "Name" }).fill("clean.txt");
    await dialog.getByRole("textbox", { name: "Script" }).fill("echo one\necho two\n");
    await dialog.getByRole("button", { name: "Add script" }).click();
    await dialog.getByText(/has to be named/).waitFor();
    await expectAccessible(page, "the dialog of a script, with an error");
    await dialog.getByRole("textbox", { name: "Name" }).fill("clean.sh");
    await dialog.getByRole("button", { name: "Add script" }).click();
    await listed(page, "1 script");
    await expectAccessible(page, "the list of scripts");
    const [script] = await browser.app.store.scripts.list();
    expect(await textOf(script!.id)).toBe("echo one\necho two\n");

    await page.getByRole("button", { name: "Edit clean.sh" }).click();
    const editing = page.getByRole("dialog", { name: "Edit clean.sh" });
    await editing.getByRole("textbox", { name: "Script" }).fill(`echo one\n${EVIL}\n`);
    await editing.getByRole("button", { name: "Save" }).click();
    const review = page.getByRole("alertdialog", { name: "Save clean.sh" });
    await review.getByText("1 line removed, 1 line added.").waitFor();
    expect(await review.locator("del").allTextContents()).toEqual(["- echo two"]);
    expect(await review.locator("ins").allTextContents()).toEqual([`+ ${EVIL}`]);
    expect(await textOf(script!.id), "nothing is saved yet").toBe("echo one\necho two\n");
    await expectAccessible(page, "the differences of a script");
    await review.getByRole("button", { name: "Save" }).click();
    await review.waitFor({ state: "detached" });
    expect(await textOf(script!.id)).toBe(`echo one\n${EVIL}\n`);

    await page.getByRole("button", { name: "Details of clean.sh" }).click();
    await page.getByRole("region", { name: "Details" }).getByText(EVIL).waitFor();
    expect(await page.getByRole("main").locator("img").count()).toBe(0);
    await expectAccessible(page, "a script beside the list");
    await page.getByRole("region", { name: "Details" }).getByRole("button", { name: "Close" }).click();

    const policy = await makePolicy(browser.app, { name: "Clean", scope: "no_team", script_id: script!.id });
    await page.getByRole("button", { name: "Delete clean.sh" }).click();
    const deleting = page.getByRole("alertdialog", { name: "Delete clean.sh" });
    await deleting.getByRole("list", { name: "Uses" }).getByRole("link", { name: "Clean" }).waitFor();
    await deleting.getByRole("button", { name: "Delete" }).click();
    await deleting
      .getByRole("alert")
      .getByText(/the policy "Clean" runs the script/i)
      .waitFor();
    await browser.app.store.policies.update({
      where: { op: "eq", column: "id", value: policy.id },
      set: { script_id: null },
    });
    await deleting.getByRole("button", { name: "Delete" }).click();
    await listed(page, "0 scripts");
  });

  it("a script is read from a file, for the team that is chosen, and downloaded", async () => {
    const page = await browser.open("/controls?tab=scripts");
    await page.getByRole("combobox", { name: "Scripts of" }).selectOption("Engineering");
    await listed(page, "0 scripts");
    await page.getByRole("button", { name: "Add script" }).click();
    const dialog = page.getByRole("dialog", { name: "Add script" });
    const file = { mimeType: "text/plain", buffer: Buffer.from("Write-Output 1\r\n") };
    await dialog.getByLabel("File").setInputFiles({ name: "tool.ps1", ...file });
    await expect.poll(() => dialog.getByRole("textbox", { name: "Name" }).inputValue()).toBe("tool.ps1");
    await dialog.getByRole("button", { name: "Add script" }).click();
    await listed(page, "1 script");
    expect((await rowsOf(page, "Scripts"))[0]!.slice(0, 2)).toEqual(["tool.ps1", "Windows"]);
    expect(await browser.app.store.scripts.list()).toMatchObject([{ name: "tool.ps1", team_id: team.id }]);
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download tool.ps1" }).click();
    expect((await download).suggestedFilename()).toContain("tool.ps1");
  });

  it("a script runs on one host with the keyboard alone, and its output arrives", async () => {
    await addScript("hello.sh", "echo hello");
    const page = await browser.open("/controls?tab=scripts&team_id=0", { as: technician });
    await listed(page, "1 script");
    expect(await page.getByRole("button", { name: /^(Add|Edit|Delete)/ }).count()).toBe(0);
    await enter(page, page.getByRole("button", { name: "Run hello.sh" }));
    const dialog = page.getByRole("dialog", { name: "Run hello.sh" });
    await tabTo(page, dialog.getByRole("combobox", { name: "Host" }));
    await page.keyboard.type("ada");
    await dialog.getByRole("option", { name: /ada-linux/ }).waitFor();
    await expectAccessible(page, "the dialog that runs a script");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await dialog.getByText("Host: ada-linux").waitFor();
    await enter(page, dialog.getByRole("button", { name: "Run" }));
    const output = page.getByRole("dialog", { name: "Output of hello.sh" });
    await output.getByText("waiting for the host").waitFor();
    expect(await agent.runScript(3, EVIL)).toBe("echo hello");
    await output.getByText(EVIL).waitFor({ timeout: 20_000 });
    await output.getByText("3", { exact: true }).waitFor();
    expect(await output.locator("img").count()).toBe(0);
    await expectAccessible(page, "the output of a script");
  });

  it("a script runs on the hosts that a selector matches; the batch has their outputs", async () => {
    await addScript("many.sh", "echo many");
    const page = await browser.open("/controls?tab=scripts&team_id=0");
    await page.getByRole("button", { name: "Run many.sh" }).click();
    const dialog = page.getByRole("dialog", { name: "Run many.sh" });
    await dialog.getByRole("radio", { name: "All hosts that a selector matches" }).check();
    await dialog.getByRole("button", { name: "Continue" }).click();
    await dialog.getByText("Type a selector that matches the hosts").waitFor();
    await dialog.getByRole("combobox", { name: "Selector" }).fill('hostname = "ada-linux" ');
    await dialog.getByText("1 host selected").waitFor();
    await expectAccessible(page, "the dialog that runs a script on many hosts");
    await dialog.getByRole("button", { name: "Continue" }).click();
    const confirming = page.getByRole("alertdialog", { name: "Run many.sh on ada-linux" });
    await confirming.getByRole("list", { name: "Hosts" }).getByText("ada-linux").waitFor();
    await confirming.getByRole("button", { name: "Run" }).click();
    await page.getByRole("heading", { name: "many.sh" }).waitFor();
    await page.getByRole("tab", { name: "Pending (1)" }).waitFor();
    await expectAccessible(page, "a batch");
    expect(await agent.runScript(0, EVIL)).toBe("echo many");
    await page.getByRole("tab", { name: "Ran (1)" }).click({ timeout: 20_000 });
    await expect.poll(async () => (await rowsOf(page, "Hosts").catch(() => []))[0]?.[1]).toBe(EVIL);
    await page.getByRole("button", { name: "Show the output of ada-linux" }).click();
    await page.getByRole("dialog", { name: "Output of ada-linux" }).getByText(EVIL).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "All batches" }).click();
    await listed(page, "1 batch");
    expect((await rowsOf(page, "Batches"))[0]!.slice(0, 4)).toEqual(["many.sh", "finished", "1", "1"]);
    await expectAccessible(page, "the list of batches");
  });

  it("a batch that starts later is cancelled by those who may", async () => {
    const script_id = await addScript("later.sh", "echo later");
    const { id } = await agent.host();
    const body = { script_id, host_ids: [id], not_before: "2099-01-01T00:00:00Z" };
    expect((await browser.app.post("/scripts/run/batch", body)).status).toBe(202);
    const looking = await browser.open("/controls?tab=batches&team_id=0", { as: observer });
    await looking.getByRole("link", { name: "later.sh" }).click();
    await looking.getByRole("tab", { name: "Pending (1)" }).waitFor();
    expect(await looking.getByRole("button", { name: "Cancel batch" }).count()).toBe(0);
    const page = await browser.open("/controls?tab=batches&team_id=0");
    await page.getByRole("link", { name: "later.sh" }).click();
    await page.getByRole("button", { name: "Cancel batch" }).click();
    const dialog = page.getByRole("alertdialog", { name: "Cancel batch of later.sh" });
    await dialog.getByText("1 host has not answered.").waitFor();
    await dialog.getByRole("button", { name: "Cancel batch" }).click();
    await page.getByRole("tab", { name: "Cancelled (1)" }).waitFor();
    await page.getByRole("button", { name: "Cancel batch" }).waitFor({ state: "detached" });
  });

  it("observers find scripts with their text, and change none", async () => {
    const page = await browser.open("/controls", { as: observer });
    await page.getByRole("tab", { name: "Scripts" }).click();
    await listed(page, /scripts/);
    expect(await page.getByRole("button", { name: /^(Add|Edit|Delete|Run)/ }).count()).toBe(0);
    await page.getByRole("button", { name: "Details of hello.sh" }).click();
    await page.getByRole("region", { name: "Details" }).getByText("echo hello").waitFor();
  });

  it("variables are created, given another value and deleted; their value is never shown", async () => {
    const page = await browser.open("/controls?tab=variables");
    await listed(page, "0 variables");
    await page.getByRole("button", { name: "Create variable" }).click();
    const dialog = page.getByRole("dialog", { name: "Create variable" });
    await dialog.getByRole("textbox", { name: "Name" }).fill("SVC_SECRET_KEY");
    await dialog.getByRole("textbox", { name: "Value" }).fill("first-value");
    await dialog.getByRole("button", { name: "Create variable" }).click();
    await dialog.getByText(/without the prefix/).waitFor();
    await dialog.getByRole("textbox", { name: "Name" }).fill("KEY");
    await dialog.getByRole("checkbox", { name: "All teams may use it" }).uncheck();
    await dialog.getByRole("checkbox", { name: "No team" }).check();
    await expectAccessible(page, "the dialog of a variable");
    await dialog.getByRole("button", { name: "Create variable" }).click();
    await listed(page, "1 variable");
    const variable = async () => (await browser.app.store.customVariables.list())[0]!;
    expect(await variable()).toMatchObject({ name: "KEY", value: "first-value", team_ids: [0] });
    await expectAccessible(page, "the list of variables");

    await page.getByRole("button", { name: "Edit KEY" }).click();
    const editing = page.getByRole("dialog", { name: "Edit KEY" });
    expect(await editing.getByRole("textbox", { name: "New value" }).inputValue()).toBe("");
    await editing.getByRole("checkbox", { name: "profiles" }).uncheck();
    await editing.getByRole("button", { name: "Save" }).click();
    await editing.waitFor({ state: "detached" });
    expect(await variable()).toMatchObject({ value: "first-value", uses: ["scripts", "software", "host_names"] });
    await page.getByRole("button", { name: "Edit KEY" }).click();
    await editing.getByRole("textbox", { name: "New value" }).fill("second-value");
    await editing.getByRole("button", { name: "Save" }).click();
    await editing.waitFor({ state: "detached" });
    expect(await variable()).toMatchObject({ value: "second-value" });
    expect(await page.content()).not.toMatch(/first-value|second-value/);

    await addScript("secret.sh", "echo $SVC_SECRET_KEY");
    await page.getByRole("button", { name: "Delete KEY" }).click();
    const deleting = page.getByRole("alertdialog", { name: "Delete KEY" });
    await deleting.getByRole("button", { name: "Delete" }).click();
    await deleting
      .getByRole("alert")
      .getByText(/secret\.sh/)
      .waitFor();
    const script = (await browser.app.store.scripts.list()).find(({ name }) => name === "secret.sh")!;
    expect((await browser.app.request("DELETE", `/scripts/${script.id}`)).status).toBe(204);
    await deleting.getByRole("button", { name: "Delete" }).click();
    await listed(page, "0 variables");
    await notice(page, "KEY is deleted.");
  });
});
