// Every column that an agent may report, with a text that is longer than any of them may be.
import { describe, expect, it } from "vitest";
import { certificatesLimit } from "../../../../src/server/certificates/certificates/inventory.ts";
import { carveBlocks, carveNames } from "../../../../src/server/checks/carves/rules.ts";
import { emailsLimit } from "../../../../src/server/hosts/hosts/emails.ts";
import { identifierLimit } from "../../../../src/server/hosts/hosts/identifier.ts";
import { usersLimit } from "../../../../src/server/hosts/hosts/inventory/users.ts";
import { DETAIL_PREFIX, storedText } from "../../../../src/server/platform/agent-protocol/rows.ts";
import { softwarePath } from "../../../../src/server/software/software/reported-rows/read.ts";
import { startApp, type TestApp } from "../../../support/app.ts";
import { rulesEngines } from "../../../support/engines.ts";
import { enroll, enrollment, makeSecret, throughApp } from "../agents.ts";
import { detailQueries } from "./fixture.ts";

const LONG = "x".repeat(6_000);
/** Columns that are read and that are not named in the query, as with `SELECT *`. */
const MORE = ["name", "version", "platform", "hardware_serial", "sha1", "subject", "username", "path", "email"];

const rowFor = (sql: string): Record<string, string> =>
  Object.fromEntries([...new Set([...(sql.match(/[a-z_]{2,}/g) ?? []), ...MORE])].map((column) => [column, LONG]));

/** Longer ones, by the column that stores them. */
async function longTexts(t: TestApp, most: number): Promise<string[]> {
  const found = new Map<string, number>();
  const look = (place: string, value: unknown): void => {
    if (typeof value === "string" && value.length > most)
      found.set(place, Math.max(value.length, found.get(place) ?? 0));
    else if (typeof value === "object" && value !== null)
      for (const [key, one] of Object.entries(value)) look(Array.isArray(value) ? place : `${place}.${key}`, one);
  };
  for (const table of Object.keys(t.store.tables) as (keyof typeof t.store.tables)[])
    for (const row of await (t.store[table] as { list(): Promise<object[]> }).list()) look(table, row);
  return [...found].map(([place, length]) => `${place}: ${length}`);
}

describe.each(rulesEngines)("what an agent reports on %s", (engine) => {
  it.each(["darwin", "windows", "ubuntu"])("is stored up to the declared sizes by a host of %s", async (platform) => {
    const t = await startApp({ engine });
    await makeSecret(t);
    const before = await longTexts(t, 1000);
    const send = throughApp(t);
    const { host_details } = enrollment();
    const node_key = await enroll(send, {
      host_identifier: platform,
      host_details: { ...host_details, os_version: { ...host_details.os_version, platform } },
    });
    const queries = Object.fromEntries(
      [...detailQueries.byName].map(([name, { sql }]) => [`${DETAIL_PREFIX}${name}`, [rowFor(sql)]]),
    );
    const reply = await send("/api/v1/qengine/distributed/write", { node_key, queries, statuses: {} });
    expect(reply.status).toBe(200);
    expect(await longTexts(t, 1000)).toEqual([...before, `software.usual_path: ${softwarePath.max}`]);
    // The rows were read.
    expect((await longTexts(t, storedText.max - 1)).length).toBeGreaterThan(10);
    expect(await t.store.software.count()).toBeGreaterThan(0);
  });
});

describe("a query agent", () => {
  it("enrolls with an identifier, and carves files with names, up to their sizes", async () => {
    const t = await startApp();
    await makeSecret(t);
    const send = throughApp(t);
    const enrolls = async (size: number) =>
      (await send("/api/v1/qengine/enroll", { ...enrollment(), host_identifier: "x".repeat(size) })).json;
    expect((await enrolls(identifierLimit.max + 1)).node_key).toBeUndefined();
    const { node_key } = await enrolls(identifierLimit.max);
    const carve = { block_count: 1, block_size: 4, carve_size: 4, carve_id: "c", request_id: "r", node_key };
    for (const name of ["carve_id", "request_id"]) {
      const begins = (size: number) => send("/api/v1/qengine/carve/begin", { ...carve, [name]: "x".repeat(size) });
      expect((await begins(carveNames.max + 1)).json).toEqual({ error: `${name} is longer than 255 characters` });
      expect((await begins(carveNames.max)).json).toMatchObject({ success: true });
    }
    const blocks = { ...carve, block_count: carveBlocks.max + 1, block_size: 1, carve_size: carveBlocks.max + 1 };
    expect((await send("/api/v1/qengine/carve/begin", blocks)).json).toEqual({ error: "block_count exceeds max" });
  });

  it("reports lists up to their sizes", async () => {
    const t = await startApp();
    await makeSecret(t);
    const send = throughApp(t);
    const node_key = await enroll(send, { host_identifier: "lists" });
    const rows = <R>(most: { readonly max: number }, row: (i: number) => R): R[] =>
      Array.from({ length: most.max + 1 }, (_, i) => row(i));
    const queries = {
      svc_detail_query_users: rows(usersLimit, (i) => ({ uid: String(i), username: `user-${i}`, shell: "/bin/sh" })),
      svc_detail_query_certificates_darwin: rows(certificatesLimit, (i) => ({
        sha1: String(i).padStart(40, "0"),
        scope: "system",
        subject: `/CN=${i}`,
      })),
      svc_detail_query_chrome_profiles: rows(emailsLimit, (i) => ({ email: `user-${i}@example.com` })),
    };
    expect((await send("/api/v1/qengine/distributed/write", { node_key, queries, statuses: {} })).status).toBe(200);
    const { host } = (await (await t.get("/hosts/1")).json()) as { host: { users: unknown[] } };
    expect(host.users).toHaveLength(usersLimit.max);
    expect(await t.store.hostEmails.count()).toBe(emailsLimit.max);
  });
});
