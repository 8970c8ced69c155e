// Carves and a host's activities on the command line.
import { createHash, randomBytes } from "node:crypto";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Send } from "../../src/client/transport.ts";
import { sendInto } from "../support/cli.ts";
import { type Fleet, startFleet } from "../support/fleet.ts";
import { makeCarve, makeOperation } from "../support/make.ts";

const KiB = 1024;

async function withArchive(size = 300 * KiB) {
  const fleet = await startFleet();
  const content = randomBytes(size);
  const carve = await makeCarve(fleet.app, 1, content, { blockSize: 64 * KiB });
  return { fleet, content, id: String(carve.id), carve, path: join(fleet.files, "x.tar") };
}

/** Records the requested ranges; truncates the first replies after a number of bytes. */
function lossy(fleet: Fleet, cuts: number[] = []) {
  const ranges: string[] = [];
  const into = sendInto(fleet.app);
  const send: Send = async (url, init) => {
    const reply = await into(url, init);
    if (!url.includes("/download")) return reply;
    ranges.push(init.headers.range ?? "");
    if (!/-$/.test(init.headers.range ?? "") || cuts.length === 0) return reply;
    const cut = cuts.shift()!;
    async function* part() {
      let left = cut;
      for await (const bytes of reply.body!) {
        if (left <= 0) break;
        yield bytes.subarray(0, left);
        left -= bytes.length;
      }
      throw Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" });
    }
    return { status: reply.status, headers: reply.headers, text: () => reply.text(), body: part() };
  };
  return { ranges, send };
}

describe("svc carves list and get", () => {
  it("show carves, with all fields as JSON", async () => {
    const { fleet, id, carve } = await withArchive();
    const table = await fleet.run(["carves", "list"]);
    expect(table.exitCode).toBe(0);
    expect(table.stdout).toContain(carve.name);
    const { stdout } = await fleet.run(["carves", "list", "-o", "json", "--host-id", "1"]);
    expect(JSON.parse(stdout)).toContainEqual(
      expect.objectContaining({ id: Number(id), session_id: carve.session_id }),
    );
    const one = await fleet.run(["carves", "get", id]);
    expect(one.stdout).toMatch(/complete/);
    expect(JSON.parse((await fleet.run(["carves", "get", id, "--json"])).stdout)).toMatchObject({
      carve_size: 300 * KiB,
    });
    expect((await fleet.run(["carves", "get", "999"])).exitCode).toBe(3);
    await makeCarve(fleet.app, 1, Buffer.from("01234567"), { stored: 1 });
    await makeCarve(fleet.app, 1, Buffer.from("01234567"), { stored: 1, error: "it broke" });
    expect((await fleet.run(["carves", "get", String(Number(id) + 1)])).stdout).toContain("50 %");
    expect((await fleet.run(["carves", "get", String(Number(id) + 2)])).stdout).toContain("failed: it broke");
  });
});

describe("svc carves block", () => {
  it("writes the bytes of one block to a file or to stdout, and reports missing blocks", async () => {
    const { fleet, content, id, path } = await withArchive(100 * KiB);
    const told = await fleet.run(["carves", "block", id, "1", "-o", path]);
    expect(told.exitCode).toBe(0);
    expect(await readFile(path)).toEqual(content.subarray(64 * KiB));
    const { stdout } = await fleet.run(["carves", "block", id, "0"]);
    expect(Buffer.from(stdout, "latin1")).toEqual(content.subarray(0, 64 * KiB));
    const missing = await fleet.run(["carves", "block", id, "7"]);
    expect(missing.exitCode).toBe(3);
    expect(missing.stderr).toContain("block 7 not yet available");
  });
});

describe("svc carves download", () => {
  it("writes an empty file if the content is empty", async () => {
    const { fleet, id, path } = await withArchive();
    const into = sendInto(fleet.app);
    // No carve is empty, but other downloads may be.
    const send: Send = async (url, init) => {
      if (!url.includes("/download")) return into(url, init);
      if (init.headers.range !== undefined) return new Response("{}", { status: 416 });
      const digest = createHash("sha256").digest("base64");
      return new Response(null, {
        headers: { "content-length": "0", etag: '"e"', "repr-digest": `sha-256=:${digest}:` },
      });
    };
    for (const _ of [1, 2]) {
      const { exitCode, stderr } = await fleet.run(["carves", "download", id, "-o", path], { send });
      expect([exitCode, stderr]).toEqual([0, expect.stringContaining(`0 B in ${path}`)]);
      expect((await stat(path)).size).toBe(0);
    }
    await writeFile(path, "other");
    expect((await fleet.run(["carves", "download", id, "-o", path], { send })).exitCode).toBe(5);
  });

  it("writes the archive to a file that only its owner can read", async () => {
    const { fleet, content, id, path } = await withArchive();
    const { exitCode, stdout, stderr } = await fleet.run(["carves", "download", id, "-o", path]);
    expect(stderr).toContain("307.2 KB in");
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "" });
    expect((await readFile(path)).equals(content)).toBe(true);
    expect((await stat(path)).mode & 0o077).toBe(0);
  });

  it("continues a file that is a part of the archive, after checking that it is", async () => {
    const { fleet, content, id, path } = await withArchive();
    await writeFile(path, content.subarray(0, 200_000));
    const { ranges, send } = lossy(fleet);
    const first = await fleet.run(["carves", "download", id, "--out", path], { send });
    expect(first.stderr).toContain("continuing after 200.0 KB of 307.2 KB");
    expect((await readFile(path)).equals(content)).toBe(true);
    const compared = [`bytes=0-${64 * KiB - 1}`, `bytes=${200_000 - 64 * KiB}-199999`];
    expect(ranges).toEqual(["bytes=0-0", ...compared, "bytes=200000-"]);

    const again = await fleet.run(["carves", "download", id, "-o", path]);
    expect(again).toMatchObject({ exitCode: 0, stdout: "" });
    expect(again.stderr).toContain("is already complete");

    // Another archive may end with the same padding.
    const elsewhere = Buffer.concat([randomBytes(100 * KiB), content.subarray(100 * KiB)]);
    const others = [randomBytes(1000), randomBytes(300 * KiB), Buffer.concat([content, Buffer.from("x")]), elsewhere];
    for (const other of others) {
      await writeFile(path, other);
      const refused = await fleet.run(["carves", "download", id, "-o", path]);
      expect(refused.exitCode).toBe(5);
      expect(refused.stderr).toContain("--force");
      expect((await readFile(path)).equals(other)).toBe(true);
      expect((await fleet.run(["carves", "download", id, "-o", path, "--force"])).exitCode).toBe(0);
      expect((await readFile(path)).equals(content)).toBe(true);
    }
  });

  it("resumes after lost connections", async () => {
    const { fleet, content, id, path } = await withArchive();
    const { ranges, send } = lossy(fleet, [100_000, 0, 50_000]);
    const { exitCode, stderr, waits } = await fleet.run(["carves", "download", id, "-o", path], { send });
    expect(exitCode, stderr).toBe(0);
    expect((await readFile(path)).equals(content)).toBe(true);
    expect(ranges).toEqual(["bytes=0-0", "bytes=0-", "bytes=100000-", "bytes=100000-", "bytes=150000-"]);
    expect(waits).toHaveLength(3);
    expect(stderr).toContain("the connection was lost after 100000 of 307200 bytes");
  });

  it("gives up when no data arrives any more, and keeps what it has received", async () => {
    const { fleet, content, id, path } = await withArchive();
    const { send } = lossy(fleet, [100_000, 0, 0, 0, 0, 0, 0]);
    expect((await fleet.run(["carves", "download", id, "-o", path], { send })).exitCode).not.toBe(0);
    expect((await readFile(path)).equals(content.subarray(0, 100_000))).toBe(true);
    expect((await fleet.run(["carves", "download", id, "-o", path])).exitCode).toBe(0);
    expect((await readFile(path)).equals(content)).toBe(true);
  });

  it("writes only bytes to stdout for -", async () => {
    const { fleet, content, id } = await withArchive();
    const { send } = lossy(fleet, [100_000]);
    const { stdout, exitCode } = await fleet.run(["carves", "download", id, "-o", "-"], { send });
    expect(exitCode).toBe(0);
    expect(Buffer.from(stdout, "latin1").equals(content)).toBe(true);
    // An archive of text files is valid UTF-8.
    const archive = await makeCarve(fleet.app, 1, Buffer.from("a\u0000\u0000b"));
    for (const one of [id, String(archive.id)]) {
      const onTerminal = await fleet.run(["carves", "download", one, "-o", "-"], { tty: true });
      expect([onTerminal.stdout, onTerminal.exitCode]).toEqual(["", 2]);
      expect(onTerminal.stderr).toContain("this is binary, which a terminal cannot show");
    }
  });

  it("checks the digest that the server names, of what the file contained before too", async () => {
    const { fleet, content, id, path } = await withArchive();
    const into = sendInto(fleet.app);
    const naming =
      (bytes: Buffer): Send =>
      async (url, init) => {
        const reply = await into(url, init);
        const digest = `sha-256=:${createHash("sha256").update(bytes).digest("base64")}:`;
        const headers = { get: (name: string) => (name === "repr-digest" ? digest : reply.headers.get(name)) };
        return { status: reply.status, headers, body: reply.body, text: () => reply.text() };
      };
    const run = (bytes: Buffer, out: string) =>
      fleet.run(["carves", "download", id, "-o", out], { send: naming(bytes) });
    await writeFile(path, content.subarray(0, 200_000));
    expect(await run(content, path)).toMatchObject({ exitCode: 0 });
    for (const out of [path, `${path}.new`, "-"]) {
      const { exitCode, stderr } = await run(randomBytes(10), out);
      expect([exitCode, stderr.includes("the archive has the SHA-256 digest")], out).toEqual([1, true]);
    }
  });

  it("shows a progress bar only on a terminal", async () => {
    const { fleet, id, path } = await withArchive();
    const { stderr } = await fleet.run(["carves", "download", id, "-o", path, "--force"], { tty: { stderr: true } });
    expect(stderr).toMatch(/\[[#-]{24}\] \d+ %/);
    expect((await fleet.run(["carves", "download", id, "-o", path, "--force"])).stderr).not.toContain("[");
  });

  it("reports why the server refuses", async () => {
    const { fleet, path } = await withArchive();
    const part = await makeCarve(fleet.app, 1, Buffer.from("01234567"), { stored: 1 });
    const refused = await fleet.run(["carves", "download", String(part.id), "-o", path]);
    expect(refused.exitCode).toBe(5);
    expect(refused.stderr).toContain("the carve is not complete: 1 of 2 blocks have arrived");
    await expect(stat(path)).rejects.toThrow();
    expect((await fleet.run(["carves", "download", "999", "-o", path])).exitCode).toBe(3);
    expect((await fleet.run(["carves", "download", "x", "-o", path])).exitCode).toBe(1);
  });
});

describe("svc carves start", () => {
  const guid = "c917163d-1111-4222-8333-944455556666";
  const row = { carve_guid: guid, request_id: "r-1", path: "/etc/hosts", status: "SCHEDULED", carve: "1" };

  /** Replies to the live query as a host would; other requests go to the server. */
  function answering(fleet: Fleet, reply: Record<string, unknown>) {
    const queries: string[] = [];
    const into = sendInto(fleet.app);
    const send: Send = (url, init) => {
      if (!url.endsWith("/hosts/1/query")) return into(url, init);
      const { query } = JSON.parse(String(init.body)) as { query: string };
      queries.push(query);
      return new Response(JSON.stringify({ host_id: 1, query, status: "online", error: null, rows: [], ...reply }));
    };
    return { queries, send };
  }

  it("runs a live query for each path, quoted, with the agent's wildcards", async () => {
    const fleet = await startFleet();
    const { queries, send } = answering(fleet, { rows: [row] });
    const argv = [
      "carves",
      "start",
      "mac-1.example.com",
      "/etc/hosts",
      "/var/log/**",
      "/tmp/*.txt",
      "C:\\it's%",
      "x' OR '1'='1",
    ];
    const { exitCode, stdout, stderr } = await fleet.run(argv, { send });
    expect(exitCode, stderr).toBe(0);
    expect(stdout).toContain(guid);
    const sql = (path: string) => `SELECT * FROM carves WHERE path LIKE '${path}' AND carve = 1`;
    expect(queries).toEqual(["/etc/hosts", "/var/log/%%", "/tmp/%.txt", "C:\\it''s%", "x'' OR ''1''=''1"].map(sql));
  });

  it("sends no query in a dry run", async () => {
    const fleet = await startFleet();
    const { queries, send } = answering(fleet, {});
    const { stdout, exitCode } = await fleet.run(["carves", "start", "1", "/etc/hosts", "--dry-run"], { send });
    expect(exitCode).toBe(0);
    expect(stdout).toContain("/etc/hosts");
    expect(queries).toEqual([]);
  });

  it.each([
    [{ status: "offline", rows: null }, 1, "is offline"],
    [{ error: "no such table: carves", rows: null }, 1, "no such table: carves"],
    [{ error: "timeout waiting for results", rows: null }, 1, "timeout"],
    [{ rows: [] }, 3, "disable_carver"],
    [{ rows: [{ carve_guid: "" }] }, 3, "disable_carver"],
  ])("reports the problem if the host replies %j", async (reply, code, text) => {
    const fleet = await startFleet();
    const { send } = answering(fleet, reply);
    const { exitCode, stderr } = await fleet.run(["carves", "start", "1", "/x"], { send });
    expect(exitCode).toBe(code);
    expect(stderr).toContain(text);
  });

  it("exits with 2 without a path", async () => {
    const fleet = await startFleet();
    expect((await fleet.run(["carves", "start", "1"])).exitCode).toBe(2);
    expect((await fleet.run(["carves", "start", "1", ""])).exitCode).toBe(2);
  });

  it("waits until the carve is complete", async () => {
    const fleet = await startFleet();
    const { send } = answering(fleet, { rows: [row] });
    let polls = 0;
    const counting: Send = async (url, init) => {
      if (url.includes("/carves?")) {
        polls++;
        const set = { carve_id: guid, blockSize: 4 };
        if (polls === 2) await makeCarve(fleet.app, 1, Buffer.from("01234567"), { ...set, stored: 1 });
        if (polls === 3)
          await fleet.app.store.carves.update({
            where: { op: "eq", column: "carve_id", value: guid },
            set: { max_block: 1 },
          });
      }
      return send(url, init);
    };
    const { exitCode, stdout, waits } = await fleet.run(["carves", "start", "1", "/x", "--wait", "-o", "json"], {
      send: counting,
    });
    expect(exitCode).toBe(0);
    expect(waits).toHaveLength(2);
    expect(JSON.parse(stdout)).toMatchObject([
      { carve_id: guid, path: "/x", state: "complete", carve: { max_block: 1 } },
    ]);
  });

  it("exits with 7 at the time limit, and with 1 if the carve failed", async () => {
    const fleet = await startFleet();
    const { send } = answering(fleet, { rows: [row] });
    const argv = ["carves", "start", "1", "/x", "--wait", "--timeout", "5s"];
    const pending = await fleet.run(argv, { send });
    expect(pending.exitCode).toBe(7);
    expect(pending.waits.reduce((sum, ms) => sum + ms, 0)).toBe(5000);
    await makeCarve(fleet.app, 1, Buffer.from("01234567"), { carve_id: guid, stored: 1, error: "it broke" });
    const failed = await fleet.run(argv, { send });
    expect(failed.exitCode).toBe(1);
    expect(failed.stdout).toContain("failed: it broke");
  });
});

describe("svc hosts activities, upcoming and cancel", () => {
  const uuid = "0b1c2d3e-4f50-4162-8374-95a6b7c8d9e0";
  const withScript = async () => {
    const fleet = await startFleet();
    await makeOperation(fleet.app, 1, { uuid, kind: "lock" });
    return fleet;
  };

  it("list upcoming activities, cancel one after confirmation, and list past ones", async () => {
    const fleet = await withScript();
    const upcoming = await fleet.run(["hosts", "upcoming", "mac-1.example.com"]);
    expect(upcoming.stdout).toContain(uuid);
    const dry = await fleet.run(["hosts", "cancel", "1", uuid, "--dry-run"]);
    expect(dry).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("would cancel lock") });
    expect((await fleet.run(["hosts", "cancel", "1", uuid])).exitCode).toBe(2);
    const no = await fleet.run(["hosts", "cancel", "1", uuid], { tty: true, answers: [false] });
    expect(no.exitCode).toBe(2);
    expect(JSON.parse((await fleet.run(["hosts", "upcoming", "1", "-o", "json"])).stdout)).toHaveLength(1);
    expect((await fleet.run(["hosts", "cancel", "1", uuid, "--yes"])).exitCode).toBe(0);
    expect((await fleet.run(["hosts", "cancel", "1", uuid, "--yes"])).exitCode).toBe(3);
    const done = await fleet.run(["hosts", "activities", "1", "-o", "json"]);
    expect(JSON.parse(done.stdout)).toMatchObject([{ type: "canceled_run_script" }]);
    expect((await fleet.run(["hosts", "activities", "1"])).stdout).toContain("Ada Admin");
    expect((await fleet.run(["hosts", "activities", "nope"])).exitCode).toBe(3);
  });
});
