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

describe("svc conditional-access", () => {
  it("shows the connection, and what the directory knows of a host", async () => {
    const { app } = fleet;
    await app.request("PUT", "/directory_graph_credentials", credentials());
    await app.post("/conditional-access/directory", { directory_tenant_id: TENANT });
    await app.post("/conditional-access/directory/confirm");
    const [host] = await app.store.hosts.list();
    await app.store.directoryDevices.insert({
      host_id: host!.id,
      device_id: OTHER,
      user_principal_name: "ann@example.com",
      updated_at: app.clock.iso(),
      reported: "noncompliant",
      reported_tenant: TENANT,
      last_error: "the directory does not know this device",
    });
    const status = await fleet.run(["conditional-access", "status"]);
    expect([status.exitCode, status.stdout]).toEqual([
      0,
      expect.stringContaining("0 compliant, 1 not, 0 not reported, 1 failing"),
    ]);
    const shown = await fleet.run(["conditional-access", "host", "mac-1.example.com"]);
    expect(shown.stdout).toContain(`${OTHER}: noncompliant (ann@example.com; the directory does not know this device)`);
    const json = await fleet.run(["conditional-access", "host", "mac-1.example.com", "-o", "json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({ enabled: false, directory: { device_id: OTHER, pending: false } });
    const none = await fleet.run(["conditional-access", "host", "win-1.example.com"]);
    expect(none.stdout).toContain("no device of a directory");
  });
});

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
