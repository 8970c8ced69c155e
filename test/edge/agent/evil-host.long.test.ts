// One host that reports something new each time: what it adds to the store is bounded, and other hosts are served.
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { tokenHash } from "../../../src/server/platform/core/random.ts";
import { eq } from "../../../src/server/platform/store/query.ts";
import { softwareCounts } from "../../../src/server/software/software/counts.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { bothEngines } from "../../support/engines.ts";
import { enroll, makeSecret, throughApp } from "./agents.ts";

async function bytesOf(t: TestApp): Promise<number> {
  if (t.databaseUrl !== null) {
    const client = new pg.Client(t.databaseUrl);
    await client.connect();
    const { rows } = await client.query("SELECT pg_database_size(current_database()) AS size");
    await client.end();
    return Number(rows[0].size);
  }
  const dir = join(t.services.settings.data_dir, "db");
  let sum = 0;
  for (const name of await readdir(dir)) sum += (await stat(join(dir, name))).size;
  return sum;
}

const filler = (round: number, i: number, length = 120) => `${round}-${i}-`.padEnd(length, "x");
const some = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

/** A report in which everything is new. */
const evilReport = (key: string, round: number) => ({
  node_key: key,
  queries: {
    svc_detail_query_os_version: [
      { name: `OS ${filler(round, 0)}`, version: `${round}.0`, platform: "darwin", platform_like: "darwin" },
    ],
    svc_detail_query_system_info: [{ hostname: `evil-${round}`, uuid: "UUID-EVIL", hardware_serial: "EVIL" }],
    svc_detail_query_software_apps: some(1_000, (i) => ({
      name: `app ${filler(round, i)}`,
      bundle_short_version: `${round}.${i}`,
      bundle_identifier: `com.${filler(round, i)}`,
      path: `/Applications/${filler(round, i, 300)}.app`,
    })),
    svc_detail_query_users: some(200, (i) => ({
      uid: String(i),
      username: `user ${filler(round, i)}`,
      shell: "/bin/sh",
    })),
    svc_detail_query_munki: [
      { version: "6", errors: some(200, (i) => `e${filler(round, i, 60)}`).join(";"), warnings: "" },
    ],
    svc_detail_query_mdm_darwin: [
      { enrolled: "true", installed_from_dep: "false", server_url: `https://mdm-${filler(round, 0)}.example` },
    ],
    svc_detail_query_chrome_profiles: some(100, (i) => ({ email: `${filler(round, i, 60)}@example.com` })),
    svc_detail_query_certificates_darwin: some(50, (i) => ({
      sha1: `${round}${i}`.padStart(40, "0"),
      scope: "system",
      subject: `/CN=${filler(round, i)}`,
    })),
  },
  statuses: {},
});

describe.each(bothEngines)("a host that reports something new each time on %s", (engine) => {
  it("adds at most what its limits allow, and harms no other host", { timeout: 600_000 }, async () => {
    const t = await startApp({ engine });
    const send = throughApp(t);
    await makeSecret(t);
    const evil = await enroll(send, { host_identifier: "evil" });
    const { id } = (await t.store.hosts.first({}))!;
    const token = { id, token_hash: tokenHash("evil-token"), updated_at: t.clock.iso() };
    await t.store.deviceTokens.upsert([token], { on: ["id"] });
    const good = await enroll(send, { host_identifier: "good" });
    const goodReport = (version: string) => ({
      node_key: good,
      queries: {
        svc_detail_query_os_version: [{ name: "Ubuntu", version: "22.04.4 LTS", platform: "ubuntu" }],
        svc_detail_query_software_deb: [{ name: "bash", version }],
      },
      statuses: {},
    });
    const { flush } = t.services.running.of(softwareCounts);
    await send("/api/v1/qengine/distributed/write", goodReport("5.1"));
    await flush();
    const before = await bytesOf(t);
    let refetched = 0;
    const ROUNDS = 240;
    for (let round = 0; round < ROUNDS; round++) {
      const refetch = await t.as(null).post("/device/evil-token/refetch");
      if (refetch.status === 200) refetched++;
      else expect(refetch.status).toBe(429);
      // A busy server refuses results with 503, and agents send them again.
      const report = evilReport(evil, round);
      await expect.poll(async () => (await send("/api/v1/qengine/distributed/write", report)).status).toBe(200);
      if (round % 20 === 0) await flush();
      // 240 rounds are ten minutes.
      t.clock.advance(2_500);
    }
    expect(refetched).toBeLessThan(20);
    expect((await bytesOf(t)) - before).toBeLessThan(20 * 1024 * 1024);

    await send("/api/v1/qengine/distributed/write", goodReport("5.2"));
    await flush();
    const { software } = (await (await t.get("/software/versions?query=bash")).json()) as { software: unknown };
    expect(software).toMatchObject([{ name: "bash", version: "5.2", hosts_count: 1 }]);
    // What the evil host no longer has is deleted with the counts, not hours later.
    const [row] = await t.store.hostSoftware.list({ where: eq("id", id) });
    expect(await t.store.software.count()).toBe((row?.software_ids.length ?? 0) + 1);
    expect(await t.store.softwareTitles.count()).toBe(new Set(row?.title_ids).size + 1);

    const metrics = await t.services.metrics.registry.metrics();
    expect(metrics).toMatch(/svc_host_limits_total\{limit="unasked_inventory"\} [1-9]/);
  });
});
