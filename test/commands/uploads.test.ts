// Uploads on the command line.
import { createHash, randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Upload } from "../../src/api/platform/uploads.ts";
import type { Send } from "../../src/client/transport.ts";
import { sendInto } from "../support/cli.ts";
import { startFleet } from "../support/fleet.ts";

const MiB = 1024 * 1024;

async function scene(size: number) {
  const fleet = await startFleet();
  const content = randomBytes(size);
  const path = join(fleet.files, "editor.pkg");
  await writeFile(path, content);
  const uploads = async () => ((await (await fleet.app.get("/uploads")).json()) as { uploads: Upload[] }).uploads;
  return { ...fleet, path, uploads, sha256: createHash("sha256").update(content).digest("hex") };
}

it("svc uploads create uploads a file, and only once", async () => {
  const { run, path, uploads, sha256 } = await scene(3 * MiB);
  const { exitCode, stderr } = await run(["uploads", "create", path], { tty: { stderr: true } });
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining("editor.pkg is upload:1, until 2026-")]);
  expect(stderr).toContain("reading editor.pkg ...");
  expect(await uploads()).toMatchObject([{ id: 1, name: "editor.pkg", received: 3 * MiB, sha256 }]);
  const again = await run(["uploads", "create", path, "-o", "json"]);
  expect(JSON.parse(again.stdout)).toMatchObject({ id: 1, received: 3 * MiB });
});

it("the same command continues an upload that was interrupted, and waits for a server that is away", async () => {
  const { app, run, path, uploads } = await scene(33 * MiB);
  const into = sendInto(app);
  const offsets: string[] = [];
  let isAway = false;
  const send: Send = async (url, init) => {
    if (init.method !== "PATCH") return into(url, init);
    offsets.push(init.headers["Upload-Offset"]!);
    isAway = offsets.length === 2;
    return isAway ? new Response("{}", { status: 403 }) : into(url, init);
  };
  expect((await run(["uploads", "create", path], { send })).exitCode).toBe(4);
  expect(await uploads()).toMatchObject([{ received: 32.5 * MiB }]);

  let left = 2;
  const unsteady: Send = (url, init) =>
    init.method === "PATCH" && left-- > 0 ? new Response("{}", { status: 503 }) : send(url, init);
  const { exitCode, stderr } = await run(["uploads", "create", path], { send: unsteady });
  expect(exitCode).toBe(0);
  expect(stderr).toMatch(/the server replied with status 503 after 34078720 of 34603008 bytes; retrying in [\d.]+ s/);
  expect(offsets.map(Number)).toEqual([0, 32.5 * MiB, 32.5 * MiB]);
  expect(await uploads()).toMatchObject([{ received: 33 * MiB }]);
});

it("svc uploads list, get and delete show and remove them; a dry run changes nothing", async () => {
  const { run, path, uploads } = await scene(100);
  const tried = await run(["uploads", "create", path, "--dry-run"]);
  expect([tried.exitCode, tried.stdout]).toEqual([0, "would upload editor.pkg (100 B)\n"]);
  expect(await uploads()).toEqual([]);
  await run(["uploads", "create", path]);
  const [, row] = (await run(["uploads", "list"])).stdout.split("\n");
  const [{ id } = { id: 0 }] = await uploads();
  expect(row).toMatch(/^\d+ +editor\.pkg +100 B +\[#{10}\] 100 % +2026-/);
  expect((await run(["uploads", "get", String(id)])).stdout).toMatch(/sha-256 +[0-9a-f]{64}/i);
  expect((await run(["uploads", "delete", String(id), "--dry-run"])).stdout).toBe(
    `would delete upload ${id} (editor.pkg)\n`,
  );
  expect((await run(["uploads", "delete", String(id), "--yes"])).exitCode).toBe(0);
  expect(await uploads()).toEqual([]);
  expect((await run(["uploads", "get", String(id)])).exitCode).toBe(3);
  const piped = await run(["uploads", "create", "-"]);
  expect([piped.exitCode, piped.stderr]).toEqual([1, expect.stringContaining("cannot come from stdin")]);
});
