// Uploads have a size that users and teams may have together, and leave room on the disk; global admins see all.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fileBlobs } from "../../../src/server/platform/store/blobs/files.ts";
import { type Caller, startApp, type TestApp } from "../../support/app.ts";
import { rulesEngines } from "../../support/engines.ts";
import { makeTeam, makeUser } from "../../support/make.ts";

const MiB = 1024 * 1024;

async function begin(caller: Caller, name: string, size: number) {
  const reply = await caller.post("/uploads", { name, size });
  return {
    status: reply.status,
    json: (await reply.json()) as { upload: { id: number }; errors: { reason: string }[] },
  };
}

const send = (t: TestApp, id: number, bytes: number) =>
  t.raw(`/api/v1/svc/uploads/${id}`, {
    method: "PATCH",
    headers: {
      authorization: `Bearer ${t.token}`,
      "content-type": "application/offset+octet-stream",
      "upload-offset": "0",
    },
    body: new Uint8Array(bytes),
  });

describe.each(rulesEngines)("limits of uploads on %s", (engine) => {
  let folder: string;
  const disk = { free: 96 * MiB, total: 96 * MiB };
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "svc-upload-limits-"));
    disk.free = disk.total;
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  const start = (settings = {}): Promise<TestApp> =>
    startApp({ engine, settings, blobs: fileBlobs(join(folder, "blobs"), async () => ({ ...disk })) });

  it("refuse what does not fit into the quota of the user or of the team", async () => {
    const t = await start({ upload_max_per_user: 10 * MiB, upload_max_per_team: 15 * MiB });
    const team = await makeTeam(t);
    const other = await makeTeam(t);
    const roles = (id: number) => ({ teams: [{ id, role: "gitops" as const }] });
    const [first, second, outside] = [
      await makeUser(t, roles(team.id)),
      await makeUser(t, roles(team.id)),
      await makeUser(t, roles(other.id)),
    ];
    expect((await begin(first, "a", 8 * MiB)).status).toBe(201);
    const ofUser = await begin(first, "b", 3 * MiB);
    expect(ofUser.status).toBe(413);
    expect(ofUser.json.errors[0]!.reason).toContain("you have uploads of 8.0 MiB, and may have 10.0 MiB");
    const ofTeam = await begin(second, "c", 8 * MiB);
    expect(ofTeam.status).toBe(413);
    expect(ofTeam.json.errors[0]!.reason).toContain("the users of your team");
    expect((await begin(second, "d", 7 * MiB)).status).toBe(201);
    expect((await begin(outside, "e", 10 * MiB)).status).toBe(201);
    // What has expired no longer counts.
    t.clock.advance(25 * 3_600_000);
    expect((await begin(first, "f", 10 * MiB)).status).toBe(201);
  });

  it("leave a tenth of the disk, and say so", async () => {
    const t = await start();
    const tooLarge = await begin(t, "large", 90 * MiB);
    expect(tooLarge.status).toBe(507);
    expect(tooLarge.json.errors[0]!.reason).toMatch(/96 MiB are free, and 10 MiB stay free/);
    const { id } = (await begin(t, "small", 5)).json.upload;
    disk.free = 9 * MiB;
    const refused = await send(t, id, 5);
    expect(refused.status).toBe(507);
    disk.free = 50 * MiB;
    expect((await send(t, id, 5)).status).toBe(204);
  });

  it("keep at most 1 GiB of a large disk free", async () => {
    const t = await start();
    Object.assign(disk, { free: 2 * 1024 * MiB, total: 1024 * 1024 * MiB });
    expect((await begin(t, "fits", 900 * MiB)).status).toBe(201);
    Object.assign(disk, { free: 96 * MiB, total: 96 * MiB });
  });

  it("global admins see and delete the uploads of all users, which is recorded; others do not", async () => {
    const t = await start();
    const team = await makeTeam(t);
    const user = await makeUser(t, { teams: [{ id: team.id, role: "gitops" }] });
    const maintainer = await makeUser(t, "maintainer");
    const { id } = (await begin(user, "theirs", 5)).json.upload;
    const listed = async (caller: Caller, path: string) => {
      const reply = await caller.get(path);
      return { status: reply.status, json: (await reply.json()) as { uploads: unknown[] } };
    };
    expect((await listed(t, "/uploads")).json.uploads).toEqual([]);
    expect((await listed(t, "/uploads?all_users=true")).json.uploads).toMatchObject([{ id, name: "theirs", size: 5 }]);
    for (const caller of [user, maintainer]) expect((await listed(caller, "/uploads?all_users=true")).status).toBe(403);
    expect((await maintainer.delete(`/uploads/${id}`)).status).toBe(404);
    expect((await t.delete(`/uploads/${id}`)).status).toBe(200);
    expect(await t.store.uploads.count()).toBe(0);
    const [last] = await t.store.activities.list({ order: [{ column: "id", direction: "desc" }], limit: 1 });
    expect(last).toMatchObject({ type: "deleted_upload", details: { upload_id: id, upload_name: "theirs" } });
  });
});
