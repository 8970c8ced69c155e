// The connection with the directory, against a stand-in.
import { describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../support/app.ts";
import { CLIENT, credentials, graphError, startDirectory, TENANT } from "../support/directory.ts";
import { bothEngines } from "../support/engines.ts";
import { makeUser } from "../support/make.ts";

const PATH = "/conditional-access/directory";
const connect = (t: TestApp, directory_tenant_id = TENANT) => t.post(PATH, { directory_tenant_id });
const state = async (t: TestApp) =>
  ((await (await t.get("/config")).json()) as { conditional_access: Record<string, unknown> }).conditional_access;
const types = async (t: TestApp) =>
  (await t.store.activities.list({ order: [{ column: "id", direction: "asc" }] })).map(({ type }) => type);

describe.each(bothEngines)("the connection with the directory on %s", (engine) => {
  it("is begun, confirmed when consent was given, and removed", async () => {
    const directory = await startDirectory();
    const t = await startApp({ engine, settings: directory.settings });
    expect((await t.post(`${PATH}/confirm`)).status, "before it is begun").toBe(400);
    expect((await connect(t)).status, "without credentials").toBe(422);
    await t.request("PUT", "/directory_graph_credentials", credentials());
    expect((await connect(t, "no GUID")).status).toBe(422);
    expect((await connect(t, "99999999-0000-4000-8000-000000000000")).status, "of another directory").toBe(422);

    const url = new URL(((await (await connect(t)).json()) as Record<string, string>).directory_authentication_url!);
    expect(`${url.origin}${url.pathname}`).toBe(`${directory.settings.directory_login_url}/${TENANT}/adminconsent`);
    expect(url.searchParams.get("client_id")).toBe(CLIENT);
    expect(await state(t)).toMatchObject({ directory_tenant_id: TENANT, directory_connection_configured: false });
    expect(await types(t)).toContain("added_conditional_access_integration_directory");

    const confirm = async () => {
      const reply = await t.post(`${PATH}/confirm`);
      return [reply.status, await reply.json()];
    };
    const { secret } = directory;
    directory.secret = "another";
    expect(await confirm()).toEqual([200, { configuration_completed: false }]);
    directory.secret = secret;
    directory.fault = () => graphError(500, "broken");
    expect((await confirm())[0]).toBe(502);
    directory.fault = () => null;
    expect(await confirm()).toEqual([200, { configuration_completed: true }]);
    expect(await state(t)).toMatchObject({ directory_connection_configured: true });

    await t.patch("/config", { integrations: { conditional_access_enabled: true } });
    const refused = await t.delete(PATH);
    expect(refused.status).toBe(422);
    expect(await refused.text()).toContain("integrations.conditional_access_enabled");
    await t.patch("/config", { integrations: { conditional_access_enabled: false } });
    const removed = await t.delete(PATH);
    expect([removed.status, await removed.json()]).toEqual([200, {}]);
    expect(await state(t)).toMatchObject({ directory_tenant_id: "", directory_connection_configured: false });
    expect(await types(t)).toContain("deleted_conditional_access_integration_directory");
  });

  it("is for global admins, and not confirmed for another directory", async () => {
    const directory = await startDirectory();
    const t = await startApp({ engine, settings: directory.settings });
    await t.request("PUT", "/directory_graph_credentials", credentials());
    await connect(t);
    await t.post(`${PATH}/confirm`);
    for (const role of ["maintainer", "gitops", "observer"] as const) {
      const user = await makeUser(t, role);
      const replies = [
        await user.post(PATH, { directory_tenant_id: TENANT }),
        await user.post(`${PATH}/confirm`),
        await user.delete(PATH),
      ];
      expect(
        replies.map(({ status }) => status),
        role,
      ).toEqual([403, 403, 403]);
    }
    await t.patch("/config", { conditional_access: { directory_tenant_id: "99999999-0000-4000-8000-000000000000" } });
    expect(await state(t)).toMatchObject({ directory_connection_configured: false });
    expect((await t.post(`${PATH}/confirm`)).status).toBe(422);
  });
});
