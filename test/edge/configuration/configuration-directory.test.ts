// Credentials for the directory in POST /spec/state and /spec/apply.
import { beforeEach, describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../../support/app.ts";
import { applied, change, find, refused, secret, stateOf, textsOf } from "../../support/configuration.ts";
import { CLIENT, type DirectoryStandIn, SECRET, startDirectory, TENANT } from "../../support/directory.ts";
import { bothEngines } from "../../support/engines.ts";
import { makeUser } from "../../support/make.ts";

const KIND = "directory_credentials";
const NAME = "directory";
const OTHER = "99999999-0000-4000-8000-000000000000";
const KEPT = { $secret: "" };
const value = (more: object = {}) => ({
  tenant_id: TENANT,
  client_id: CLIENT,
  client_secret: secret("the secret"),
  ...more,
});

describe.each(bothEngines)("credentials for the directory in an apply on %s", (engine) => {
  let t: TestApp;
  let directory: DirectoryStandIn;
  beforeEach(async () => {
    directory = await startDirectory();
    directory.secret = "the secret";
    t = await startApp({ engine, settings: directory.settings });
  });
  const secrets = textsOf("the secret", SECRET);
  const apply = (action: "create" | "update" | "delete", given?: object) =>
    applied(t, {
      changes: [change(action, KIND, NAME, given as never)],
      ...(given ? { secrets } : {}),
      skip_checks: false,
    });
  const stored = async () =>
    (await t.store.directoryCredentials.list()).map((row) => [row.tenant_id, row.client_id, row.client_secret]);

  it("are checked with the directory, set, changed with the secret that is there, and deleted", async () => {
    expect(await apply("create", value())).toEqual({ create: 1, update: 0, delete: 0 });
    expect(await stored()).toEqual([[TENANT, CLIENT, "the secret"]]);
    const asked = directory.requests.length;
    expect(asked).toBeGreaterThan(0);
    const shown = find(await stateOf(t), { kind: KIND, owner: null, name: NAME });
    expect(shown?.value).toEqual({ tenant_id: TENANT, client_id: CLIENT, client_secret: KEPT });
    expect(await apply("update", value({ client_secret: KEPT })), "nothing differs").toMatchObject({ update: 0 });
    expect(directory.requests.length).toBe(asked);
    directory.secret = SECRET;
    expect(await apply("update", value({ client_secret: secret(SECRET) }))).toMatchObject({ update: 1 });
    expect(await stored()).toEqual([[TENANT, CLIENT, SECRET]]);
    expect(await apply("delete")).toEqual({ create: 0, update: 0, delete: 1 });
    expect(await stored()).toEqual([]);
    const types = (await t.store.activities.list()).map(({ type }) => type);
    for (const what of ["added", "edited", "deleted"])
      expect(types.filter((type) => type === `${what}_directory_graph_credentials`)).toHaveLength(1);
  });

  it("are refused if the directory does not accept them, and the old secret goes to no other tenant", async () => {
    await apply("create", value());
    const cases: [object, string][] = [
      [value({ client_secret: secret(SECRET) }), "client_secret"],
      [value({ tenant_id: OTHER, client_secret: KEPT }), "client_secret"],
      [value({ tenant_id: "no GUID" }), "tenant_id"],
      [value({ client_secret: "in clear" }), "client_secret"],
      [value({ more: 1 }), "more"],
    ];
    for (const [given, field] of cases) {
      const changes = [change("update", KIND, NAME, given as never)];
      const [error] = await refused(t, 422, { changes, secrets, skip_checks: false });
      expect(error!.name, JSON.stringify(given)).toContain(field);
    }
    const changes = [change("create", KIND, "second", value() as never)];
    await refused(t, 422, { changes, secrets });
    expect(await stored()).toEqual([[TENANT, CLIENT, "the secret"]]);
  });

  it("belong to premium, and to roles that may change them", async () => {
    await apply("create", value());
    const observer = await makeUser(t, "observer");
    const reply = await observer.post("/spec/apply", { changes: [change("delete", KIND, NAME)] });
    expect(reply.status).toBe(403);
    const free = await startApp({ engine, tier: "free" });
    expect((await stateOf(free)).things.filter(({ kind }) => kind === KIND)).toEqual([]);
    const refusal = await free.post("/spec/apply", {
      changes: [change("create", KIND, NAME, value() as never)],
      secrets,
    });
    expect([402, 422]).toContain(refusal.status);
    expect(await stored()).toHaveLength(1);
  });
});
