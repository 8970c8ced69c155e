// What the server does while its disk is almost full: files are refused, and everything else goes on. Once with numbers
// of a disk, and once on a real one.
import { existsSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { fileBlobs } from "../../src/server/platform/store/blobs/files.ts";
import { enroll, makeSecret, throughApp } from "../edge/agent/agents.ts";
import { login } from "../support/accounts.ts";
import { ADMIN, startApp, type TestApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import { makeTeam } from "../support/make.ts";
import { mayMount, type SmallDisk, smallDisk } from "../support/small-disk.ts";

const MiB = 1024 * 1024;
const PREFIX = "/api/v1/qengine/carve";

function packageForm(name: string, bytes: number, team?: number): FormData {
  const body = new FormData();
  if (team !== undefined) body.set("team_id", String(team));
  body.set("software", new File([`#!/bin/sh\n# ${name} ${"x".repeat(bytes)}\n`], `${name}.sh`));
  return body;
}

async function carver(t: TestApp) {
  await makeSecret(t);
  const send = throughApp(t);
  const node_key = await enroll(send, { host_identifier: "carver" });
  const begin = (size: number, id: string) =>
    send(`${PREFIX}/begin`, {
      block_count: Math.ceil(size / MiB),
      block_size: MiB,
      carve_size: size,
      carve_id: id,
      request_id: id,
      node_key,
    });
  const block = (session_id: string, request_id: string, block_id: number, size = MiB) =>
    send(`${PREFIX}/block`, { session_id, request_id, block_id, data: Buffer.alloc(size, 7).toString("base64") });
  return { begin, block };
}

describe.each(rulesEngines)("a disk that is almost full, on %s", (engine) => {
  let folder: string;
  const disk = { free: 0, total: 96 * MiB };
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "svc-full-disk-"));
    disk.free = disk.total;
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  const start = (settings = {}) =>
    startApp({ engine, settings, blobs: fileBlobs(join(folder, "blobs"), async () => ({ ...disk })) });

  it("takes no carve that does not fit, which the agent is told in the form of its protocol", async () => {
    const t = await start();
    const { begin } = await carver(t);
    const refused = await begin(90 * MiB, "large");
    expect([refused.status, refused.json]).toEqual([
      507,
      { error: "the disk of the server is almost full: the carve cannot be stored" },
    ]);
    expect(await t.store.carves.count()).toBe(0);
    expect((await begin(8 * MiB, "small")).json).toMatchObject({ success: true });
  });

  it("ends a carve that it has no room for: the agent gives up, and the carve has the reason", async () => {
    const t = await start();
    const { begin, block } = await carver(t);
    const { session_id } = (await begin(2 * MiB, "c")).json;
    expect((await block(session_id, "c", 0)).json).toEqual({ success: true });
    disk.free = 9 * MiB;
    const refused = await block(session_id, "c", 1);
    // Agents take any JSON for success.
    expect([refused.status, refused.json]).toEqual([507, undefined]);
    expect(refused.text).toContain("the disk of the server is almost full");
    const { carves } = (await (await t.get("/carves")).json()) as { carves: { error?: string }[] };
    expect(carves).toMatchObject([{ error: "the disk of the server is almost full: block 1 was not stored" }]);
    disk.free = 96 * MiB;
    expect((await block(session_id, "c", 1)).status).toBe(400);
    expect(existsSync(join(folder, "blobs", "carves", "1", "1"))).toBe(false);
  });

  it("takes no package", async () => {
    const t = await start();
    disk.free = 9 * MiB;
    const refused = await t.post("/software/package", packageForm("tool", 10));
    expect([refused.status, JSON.stringify(await refused.json())]).toEqual([
      507,
      expect.stringContaining("the disk of the server is almost full"),
    ]);
    expect(await t.store.softwareInstallers.count()).toBe(0);
    expect(await t.store.files.count()).toBe(0);
  });

  it("is not reached by packages: teams have a quota, and all together", async () => {
    const t = await start({ package_max_per_team: 2_000, package_max_total: 3_000 });
    const [one, two] = [await makeTeam(t), await makeTeam(t)];
    const upload = async (name: string, bytes: number, team?: number) => {
      const reply = await t.post("/software/package", packageForm(name, bytes, team));
      const { errors } = (await reply.json()) as { errors?: { reason: string }[] };
      return [reply.status, errors?.[0]?.reason ?? ""] as const;
    };
    expect((await upload("first", 1_500, one.id))[0]).toBe(200);
    const ofTeam = await upload("second", 1_500, one.id);
    expect(ofTeam).toEqual([413, expect.stringContaining(`the packages of the team ${one.name} would have`)]);
    expect(ofTeam[1]).toContain("--package-max-per-team");
    const ofAll = await upload("third", 1_600, two.id);
    expect(ofAll).toEqual([413, expect.stringContaining("the packages of all teams would have")]);
    expect((await upload("fourth", 1_000, two.id))[0]).toBe(200);
    expect((await upload("fifth", 100, two.id))[0]).toBe(200);
    // A larger file in place of a smaller one counts too, and is refused as a whole.
    const [row] = await t.store.softwareInstallers.list({ limit: 1 });
    const larger = new FormData();
    larger.set("team_id", String(one.id));
    larger.set("software", new File([`#!/bin/sh\n# ${"y".repeat(2_500)}\n`], "first.sh"));
    expect((await t.patch(`/software/titles/${row!.title_id}/package`, larger)).status).toBe(413);
    expect(await t.store.softwareInstallers.get(row!.id)).toEqual(row);
  });
});

describe.skipIf(!mayMount()).each(rulesEngines)("a real disk of 64 MiB on %s", (engine) => {
  let disk: SmallDisk;
  beforeEach(() => {
    disk = smallDisk(64);
    vi.stubEnv("TMPDIR", disk.folder);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    disk.remove();
  });

  it("refuses files from 90 % on, and people still sign in and change things", { timeout: 60_000 }, async () => {
    // The store is on the same disk.
    const t = await startApp({ engine });
    const { begin, block } = await carver(t);
    const { session_id } = (await begin(16 * MiB, "c")).json;
    writeFileSync(join(disk.folder, "filler"), Buffer.alloc(48 * MiB));
    const statuses: number[] = [];
    for (let id = 0; id < 16 && statuses.at(-1) !== 507; id++) statuses.push((await block(session_id, "c", id)).status);
    expect(statuses.at(-1)).toBe(507);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(5);
    expect((await t.post("/software/package", packageForm("tool", 1.2 * MiB))).status).toBe(507);
    const upload = await t.post("/uploads", { name: "large", size: 10 * MiB });
    expect(upload.status).toBe(507);
    await login(t, ADMIN.email, ADMIN.password);
    expect((await t.post("/teams", { name: "still works" })).status).toBe(200);

    await rm(join(disk.folder, "filler"), { force: true });
    await expect.poll(async () => (await t.post("/software/package", packageForm("tool", 10))).status).toBe(200);
  });
});
