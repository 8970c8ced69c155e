// Carves for operators: lists, blocks, and the download as one file.
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Role } from "../../src/api/access.ts";
import type { Carve } from "../../src/api/checks/carves.ts";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import { makeCarve, makeHost, makeTeam, makeUser } from "../support/make.ts";

const json = async <T>(response: Response) => (await response.json()) as T;

describe.each(rulesEngines)("carves on %s", (engine) => {
  let t: TestApp;
  let hostId: number;

  beforeAll(async () => {
    t = await startApp({ engine, shared: true });
  });
  afterAll(() => t.close());
  beforeEach(async () => {
    hostId = (await makeHost(t)).id;
  });

  const make = (content: Buffer, more: Parameters<typeof makeCarve>[3] = {}) => makeCarve(t, hostId, content, more);
  async function* oneOf(bytes: Uint8Array) {
    yield bytes;
  }
  const list = async (query = "") => (await json<{ carves: Carve[] }>(await t.get(`/carves${query}`))).carves;
  const show = async (id: number) => (await json<{ carve: Carve }>(await t.get(`/carves/${id}`))).carve;
  const blobsOf = async (id: number) => {
    const keys: string[] = [];
    for await (const key of t.services.blobs.list(`carves/${id}/`)) keys.push(key);
    return keys;
  };
  const firstError = async (response: Response) =>
    (await json<{ errors: { name: string; reason: string }[] }>(response)).errors[0]!;
  const reason = async (response: Response) => (await firstError(response)).reason;

  it("shows a carve with exactly the fields of part A, and `error` only if it failed", async () => {
    const { id } = await make(Buffer.from("0123456789"));
    const carve = await show(id);
    expect(Object.keys(carve).sort()).toEqual(
      "block_count block_size carve_id carve_size created_at expired host_id id max_block name request_id session_id".split(
        " ",
      ),
    );
    expect(carve).toMatchObject({
      block_count: 3,
      block_size: 4,
      carve_size: 10,
      max_block: 2,
      expired: false,
      host_id: hostId,
    });
    const failed = await make(Buffer.from("01234567"), { stored: 1, error: "it broke" });
    expect((await show(failed.id)).error).toBe("it broke");
    expect(await list()).toContainEqual(carve);
  });

  it("lists live carves, and with `expired` expired ones too", async () => {
    const live = await make(Buffer.from("0123"));
    const over = await make(Buffer.from("0123"), { expired: true });
    const ids = async (query: string) => (await list(query)).map(({ id }) => id);
    expect(await ids("")).toContain(live.id);
    expect(await ids("")).not.toContain(over.id);
    expect(await ids("?expired=false")).not.toContain(over.id);
    for (const yes of ["true", "1"])
      expect(await ids(`?expired=${yes}`)).toEqual(expect.arrayContaining([live.id, over.id]));
    expect((await list("?expired=true")).find(({ id }) => id === over.id)?.expired).toBe(true);
  });

  it("orders by any field of the carve, pages, and lists after a value", async () => {
    const a = await make(Buffer.from("0123"), { name: "b" });
    const b = await make(Buffer.from("01234567"), { name: "a", stored: 1 });
    const mine = `host_id=${hostId}`;
    const ids = async (query: string) => (await list(`?${mine}&${query}`)).map(({ id }) => id);
    for (const key of "id created_at host_id name block_count block_size carve_size carve_id request_id session_id expired max_block error".split(
      " ",
    ))
      expect((await ids(`order_key=${key}`)).sort()).toEqual([a.id, b.id]);
    expect(await ids("order_key=name")).toEqual([b.id, a.id]);
    expect(await ids("order_key=carve_size&order_direction=desc")).toEqual([b.id, a.id]);
    expect(await ids(`order_key=id&after=${a.id}`)).toEqual([b.id]);
    expect(await ids("order_key=name&after=a")).toEqual([a.id]);
    expect(await ids("page=1&per_page=1")).toEqual([b.id]);
    expect(await ids(`carve_id=${b.carve_id}`)).toEqual([b.id]);
    for (const bad of [
      "order_key=password",
      "order_key=last_block_hash",
      "order_key=id&after=x",
      "page=-1",
      "per_page=0",
      "expired=maybe",
      "host_id=x",
    ]) {
      const response = await t.get(`/carves?${bad}`);
      expect(response.status, bad).toBe(400);
      const [named] = bad.split("&").at(-1)!.split("=");
      expect((await firstError(response)).name).toBe(named);
    }
  });

  it("returns a block as base64, and errors with the protocol's texts", async () => {
    const content = Buffer.from([0, 255, 254, 10, 200, 1]);
    const { id } = await make(content, { stored: 1 });
    expect(await (await t.get(`/carves/${id}/block/0`)).json()).toEqual({
      data: content.subarray(0, 4).toString("base64"),
    });
    const early = await t.get(`/carves/${id}/block/1`);
    expect(early.status).toBe(404);
    expect(await reason(early)).toBe("block 1 not yet available");
    const over = await make(Buffer.from("0123"), { expired: true });
    const expired = await t.get(`/carves/${over.id}/block/0`);
    expect(expired.status).toBe(400);
    expect(await reason(expired)).toBe("cannot get block for expired carve");
    for (const bad of ["-1", "x", "1.5", "99999999999999999999", "%00"])
      expect((await t.get(`/carves/${id}/block/${bad}`)).status, bad).toBe(400);
    expect((await t.get(`/carves/${id}/block/999999999999999`)).status).toBe(404);
    expect((await t.get("/carves/999999/block/0")).status).toBe(404);
    expect(await reason(await t.get("/carves/999999"))).toBe("carve 999999 was not found in the datastore");
    expect((await t.get("/carves/0")).status).toBe(400);
  });

  it("is for global admins only", async () => {
    const { id } = await make(Buffer.from("0123"));
    const team = await makeTeam(t);
    const users: [string, number][] = [["admin", 200]];
    for (const role of ["maintainer", "observer", "observer_plus", "gitops", "technician"]) users.push([role, 403]);
    for (const [role, status] of users) {
      const user = await makeUser(t, role as Role);
      for (const path of ["/carves", `/carves/${id}`, `/carves/${id}/block/0`, `/carves/${id}/download`])
        expect((await user.get(path)).status, `${role} ${path}`).toBe(status);
    }
    const member = await makeUser(t, { teams: [{ id: team.id, role: "admin" }] });
    for (const path of ["/carves", `/carves/${id}`, `/carves/${id}/block/0`, `/carves/${id}/download`]) {
      expect((await member.get(path)).status).toBe(403);
      expect((await t.as(null).get(path)).status).toBe(401);
    }
  });

  it("can be started by admins and maintainers only, whoever else may run live queries", async () => {
    const team = await makeTeam(t);
    const other = await makeTeam(t);
    const host = (await makeHost(t, { team_id: team.id }, { seen: t.clock.iso() })).id;
    const foreign = (await makeHost(t, { team_id: other.id }, { seen: t.clock.iso() })).id;
    const orders = [
      "SELECT * FROM carves WHERE path LIKE '/etc/%' AND carve = 1",
      "select * from\n\"CARVES\" where carve=1 and path='/x'",
      "SELECT carve ('/etc/hosts')",
      "WITH c(a,b,c,d,e,f,g,h) AS (SELECT * FROM carves) SELECT * FROM c WHERE h = 1",
    ];
    const run = async (role: Role, onTeam: boolean, query: string, hosts = [host]) => {
      const user = await makeUser(t, onTeam ? { teams: [{ id: team.id, role }] } : role);
      return (await user.post("/queries/live", { query, selected: { hosts } })).status;
    };
    for (const onTeam of [false, true])
      for (const query of orders) {
        expect(await run("admin", onTeam, query)).toBe(200);
        expect(await run("maintainer", onTeam, query)).toBe(200);
        expect(await run("technician", onTeam, query)).toBe(403);
        expect(await run("observer_plus", onTeam, query)).toBe(403);
      }
    expect(await run("technician", false, "SELECT * FROM carvings")).toBe(200);
    expect(await run("maintainer", false, orders[0]!, [host, foreign])).toBe(200);
    const technician = await makeUser(t, { teams: [{ id: team.id, role: "technician" }] });
    expect((await technician.post(`/hosts/${host}/query`, { query: orders[0] })).status).toBe(403);
    expect(await t.store.campaigns.count({ op: "eq", column: "user_id", value: technician.id })).toBe(0);
  });

  it("downloads the complete archive", async () => {
    const content = randomBytes(700_001);
    const { id } = await make(content, {
      blockSize: 300_000,
      name: "mac-1.example.com-2026-03-01T12:00:00Z-../x\r\ny",
    });
    const response = await t.get(`/carves/${id}/download`);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/octet-stream");
    expect(response.headers.get("content-length")).toBe("700001");
    expect(response.headers.get("accept-ranges")).toBe("bytes");
    expect(response.headers.get("content-disposition")).toBe(
      'attachment; filename="mac-1.example.com-2026-03-01T12_00_00Z-.._x_y.tar"',
    );
    expect(Buffer.from(await response.arrayBuffer()).equals(content)).toBe(true);
    const zstd = await make(Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0]));
    expect((await t.get(`/carves/${zstd.id}/download`)).headers.get("content-disposition")).toMatch(/\.tar\.zst"$/);
  });

  it("returns any single range of it", async () => {
    const content = Buffer.from("0123456789");
    const { id } = await make(content);
    const get = (headers: Record<string, string>) => t.get(`/carves/${id}/download`, headers);
    for (const [range, start, end] of [
      ["bytes=0-", 0, 9],
      ["bytes=0-0", 0, 0],
      ["bytes=3-4", 3, 4],
      ["bytes=4-7", 4, 7],
      ["bytes=2-8", 2, 8],
      ["bytes=8-1000", 8, 9],
      ["bytes=9-", 9, 9],
      ["bytes=-1", 9, 9],
      ["bytes=-500", 0, 9],
      ["Bytes = 1-2", 1, 2],
    ] as const) {
      const response = await get({ range });
      expect(response.status, range).toBe(206);
      expect(response.headers.get("content-range")).toBe(`bytes ${start}-${end}/10`);
      expect(response.headers.get("content-length")).toBe(String(end - start + 1));
      expect(await response.text()).toBe("0123456789".slice(start, end + 1));
    }
    for (const range of ["bytes=10-", "bytes=10-12", "bytes=99999999999999999999999-", "bytes=-0"]) {
      const response = await get({ range });
      expect(response.status, range).toBe(416);
      expect(response.headers.get("content-range")).toBe("bytes */10");
      expect(await response.json()).toMatchObject({ errors: [{ name: "range", reason: "the content has 10 bytes" }] });
    }
    for (const range of ["bytes=5-2", "bytes=0-1,3-4", "lines=1-2", "bytes=", "bytes=a-b", "bytes=-", "x"]) {
      const response = await get({ range });
      expect(response.status, range).toBe(200);
      expect(await response.text()).toBe("0123456789");
    }
    const etag = (await get({})).headers.get("etag")!;
    expect(etag).toMatch(/^"[\w-]+"$/);
    expect((await get({ range: "bytes=3-", "if-range": etag })).status).toBe(206);
    expect((await get({ range: "bytes=3-", "if-range": '"other"' })).status).toBe(200);
    expect((await get({ range: "bytes=3-", "if-range": `W/${etag}` })).status).toBe(200);
    const other = await make(content);
    expect((await t.get(`/carves/${other.id}/download`)).headers.get("etag")).not.toBe(etag);
  });

  it("refuses to download an archive that is incomplete, failed, expired or damaged", async () => {
    const part = await make(Buffer.from("0123456789"), { stored: 2 });
    const early = await t.get(`/carves/${part.id}/download`);
    expect(early.status).toBe(409);
    expect(await reason(early)).toBe("the carve is not complete: 2 of 3 blocks have arrived");
    expect((await t.get(`/carves/${(await make(Buffer.from("0123"), { stored: 0 })).id}/download`)).status).toBe(409);
    const failed = await t.get(`/carves/${(await make(Buffer.from("0123"), { error: "it broke" })).id}/download`);
    expect(failed.status).toBe(409);
    expect(await reason(failed)).toBe("the carve failed: it broke");
    const expired = await t.get(`/carves/${(await make(Buffer.from("0123"), { expired: true })).id}/download`);
    expect(expired.status).toBe(400);
    expect(await reason(expired)).toBe("cannot download an expired carve");
    expect((await t.get("/carves/999999/download")).status).toBe(404);
    const cut = await make(Buffer.from("0123456789"));
    await t.services.blobs.put(`carves/${cut.id}/2`, oneOf(Buffer.from("8")), { maxBytes: 4 });
    expect((await t.get(`/carves/${cut.id}/download`)).status).toBe(500);
    expect((await t.get(`/carves/${cut.id}/block/2`)).status).toBe(500);
    expect((await t.get(`/carves/${cut.id}/download`, { range: "bytes=0-3" })).status).toBe(206);
  });

  it("reports a block whose file is on another server, with advice", async () => {
    const { id } = await make(Buffer.from("0123456789"));
    for await (const key of t.services.blobs.list(`carves/${id}/`)) await t.services.blobs.delete(key);
    for (const path of [`/carves/${id}/download`, `/carves/${id}/block/1`]) {
      const response = await t.get(path);
      expect(response.status).toBe(503);
      expect(await reason(response)).toMatch(/this server does not have the file.*must share the folder blobs/);
    }
  });

  it("aborts a download with a missing part", async () => {
    const { id } = await make(Buffer.from("0123456789"));
    await t.services.blobs.delete(`carves/${id}/1`);
    const response = await t.get(`/carves/${id}/download`);
    await expect(response.arrayBuffer()).rejects.toThrow();
  });

  it("expires carves 24 hours after their first data, and those without any 24 hours after they started", async () => {
    const full = await make(Buffer.from("0123456789"));
    const empty = await make(Buffer.from("0123456789"), { stored: 0 });
    t.clock.advance(3_600_000);
    const later = await make(Buffer.from("0123456789"));
    t.clock.advance(23 * 3_600_000 - 1);
    await runJob(t.services, "carve_expiry");
    expect(await blobsOf(full.id)).toHaveLength(3);
    t.clock.advance(1);
    // Even before the job has processed it.
    expect((await show(full.id)).expired).toBe(true);
    expect((await list(`?host_id=${hostId}`)).map(({ id }) => id)).toEqual([later.id]);
    expect((await t.get(`/carves/${full.id}/block/0`)).status).toBe(400);
    await runJob(t.services, "carve_expiry");
    expect(await blobsOf(full.id)).toEqual([]);
    expect(await blobsOf(later.id)).toHaveLength(3);
    expect(await t.store.carves.getMany([full.id, empty.id, later.id])).toMatchObject([
      { expired: true },
      { expired: true },
      { expired: false },
    ]);
    expect(await list("?expired=true")).toEqual(
      expect.arrayContaining([expect.objectContaining({ id: full.id, expired: true })]),
    );
  });

  it("deletes blocks whose carve was deleted with its host, or that arrived while it expired", async () => {
    const gone = await make(Buffer.from("0123456789"));
    const over = await make(Buffer.from("0123456789"), { expired: true });
    const host = (await makeHost(t)).id;
    const kept = await make(Buffer.from("0123456789"), { host_id: host });
    expect((await t.delete(`/hosts/${hostId}`)).status).toBe(200);
    expect((await t.get(`/carves/${gone.id}`)).status).toBe(404);
    await runJob(t.services, "carve_blocks");
    expect(await blobsOf(gone.id)).toEqual([]);
    expect(await blobsOf(over.id)).toEqual([]);
    expect(await blobsOf(kept.id)).toHaveLength(3);
  });
});
