import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { CLIENT, credentials, type DirectoryStandIn, SECRET, startDirectory, TENANT } from "../support/directory.ts";
import { type Fleet, startFleet } from "../support/fleet.ts";

const OTHER = "99999999-0000-4000-8000-000000000000";

let fleet: Fleet;
let directory: DirectoryStandIn;
beforeEach(async () => {
  directory = await startDirectory();
  fleet = await startFleet({ settings: directory.settings });
});
const stored = async () =>
  (await fleet.app.store.directoryCredentials.list()).map(({ tenant_id, client_id, client_secret }) => [
    tenant_id,
    client_id,
    client_secret,
  ]);
const set = ["directory", "set", "--tenant-id", TENANT, "--client-id", CLIENT];

describe("svc directory", () => {
  it("sets, shows and deletes the credentials, and never prints the secret", async () => {
    const empty = await fleet.run(["directory", "get"]);
    expect([empty.exitCode, empty.stderr]).toEqual([0, expect.stringContaining("svc directory set")]);
    const added = await fleet.run([...set, "--client-secret-stdin"], { stdin: `${SECRET}\n` });
    expect([added.exitCode, added.stderr]).toEqual([0, expect.stringContaining(TENANT)]);
    expect(await stored()).toEqual([[TENANT, CLIENT, SECRET]]);
    // The secret is kept.
    expect((await fleet.run(set)).exitCode).toBe(0);
    const shown = await fleet.run(["directory", "get", "-o", "json"]);
    expect(JSON.parse(shown.stdout)).toMatchObject([{ tenant_id: TENANT, client_secret: "********" }]);
    for (const { stdout, stderr } of [added, shown]) expect(stdout + stderr).not.toContain(SECRET);
    expect((await fleet.run(["directory", "delete"])).exitCode).toBe(2);
    expect((await fleet.run(["directory", "delete", "--yes"])).exitCode).toBe(0);
    expect(await stored()).toEqual([]);
  });

  it("asks for the secret of another app, and passes on why the directory refuses it", async () => {
    await fleet.app.request("PUT", "/directory_graph_credentials", credentials());
    const without = await fleet.run(["directory", "set", "--client-id", OTHER]);
    expect([without.exitCode, without.stderr]).toEqual([2, expect.stringContaining("--client-secret-stdin")]);
    const refused = await fleet.run(["directory", "set", "--client-id", OTHER, "--client-secret-stdin"], {
      stdin: SECRET,
    });
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining("AADSTS700016")]);
    expect(await stored()).toEqual([[TENANT, CLIENT, SECRET]]);
  });

  it("takes the API's body from a file, with one entry", async () => {
    const file = join(fleet.files, "directory.json");
    await writeFile(file, JSON.stringify(credentials()));
    expect((await fleet.run(["directory", "set", "--input", file])).exitCode).toBe(0);
    expect(await stored()).toEqual([[TENANT, CLIENT, SECRET]]);
    await writeFile(file, JSON.stringify({ directory_graph_credentials: [] }));
    const none = await fleet.run(["directory", "set", "--input", file]);
    expect([none.exitCode, none.stderr]).toEqual([2, expect.stringContaining("svc directory delete")]);
    expect(await stored()).toHaveLength(1);
  });

  it("checks the credentials in a dry run, and saves nothing", async () => {
    const dry = [...set, "--client-secret-stdin", "--dry-run"];
    const good = await fleet.run(dry, { stdin: SECRET });
    expect([good.exitCode, good.stdout]).toEqual([0, expect.stringContaining("would ")]);
    expect(good.stdout + good.stderr).not.toContain(SECRET);
    expect((await fleet.run(dry, { stdin: "wrong" })).exitCode).toBe(1);
    expect(await stored()).toEqual([]);
  });
});
