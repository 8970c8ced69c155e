// Activities, the verification of their chain, and jobs, on the command line.

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { Activity } from "../../src/api/platform/activities.ts";
import { sealAll } from "../../src/server/platform/outbox/activities.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { type Fleet, startFleet } from "../support/fleet.ts";

let fleet: Fleet;
beforeEach(async () => {
  fleet = await startFleet();
});
const run = (...argv: string[]) => fleet.run(argv);
const lines = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

describe("activities", () => {
  it("are listed by type and actor", async () => {
    const { stdout, exitCode } = await run(
      "activities",
      "list",
      "--activity-type",
      "created_team,created_user",
      "-o",
      "json",
    );
    expect(exitCode).toBe(0);
    const found = JSON.parse(stdout) as Activity[];
    expect(new Set(found.map(({ type }) => type))).toEqual(new Set(["created_team", "created_user"]));
    const none = await run("activities", "list", "--actor-id", "999", "-o", "json");
    expect(JSON.parse(none.stdout)).toEqual([]);
  });

  it("are exported to stdout, or to a file that is complete or not written at all", async () => {
    const { stdout } = await run("activities", "export", "--activity-type", "created_team");
    expect(lines(stdout)).toHaveLength(2);
    const file = join(fleet.files, "activities.csv");
    const done = await run("activities", "export", "--format", "csv", "-o", file);
    expect(done.exitCode, done.stderr).toBe(0);
    expect(done.stderr).toContain("bytes in");
    const text = await readFile(file, "utf8");
    expect(text.split("\r\n")[0]).toMatch(/^id,created_at,type,/);
    const broken = await fleet.run(["activities", "export", "-o", join(fleet.files, "half.ndjson")], {
      send: async () =>
        new Response(
          new ReadableStream({
            start(controller) {
              controller.enqueue(Buffer.from('{"id":1}\n'));
            },
            pull() {
              throw new Error("terminated");
            },
          }),
        ),
    });
    expect(broken.exitCode).toBe(1);
    expect((await readdir(fleet.files)).filter((name) => name.startsWith("half"))).toEqual([]);
    expect((await run("activities", "export", "--format", "xml")).exitCode).toBe(2);
  });

  it("are followed from the latest ones on, each once", async () => {
    await sealAll(fleet.app.services);
    const once = await run("activities", "follow", "--once", "--last", "3");
    expect(once.exitCode, once.stderr).toBe(0);
    expect(lines(once.stdout)).toHaveLength(3);
    const table = await run("activities", "follow", "--once", "--last", "2", "-o", "table");
    expect(table.stdout.split("\n")[0]).toMatch(/^ID\s+CREATED_AT\s+WHO\s+TYPE\s+DETAILS$/);
    const all = await run("activities", "follow", "--once", "--last", "1000", "-o", "json");
    expect(JSON.parse(all.stdout)).toHaveLength(await fleet.app.store.activities.count());
    expect((await run("activities", "follow", "-o", "yaml")).exitCode).toBe(2);
  });

  it("continue where they were after a lost connection, and end when the user may no longer read them", async () => {
    const asked: (string | null)[] = [];
    const event = (id: number) =>
      `id: ${id}\nevent: activity\ndata: ${JSON.stringify({ id, created_at: "2026-03-01T12:00:00.000Z", type: `t${id}`, svc_initiated: true, details: null })}\n\n`;
    const parts: (string | Error | number)[] = [
      `${event(1)}${event(2)}`,
      new Error("fetch failed"),
      503,
      event(3),
      'id: 9\nevent: gap\ndata: {"from":4,"to":9}\n\n',
      403,
    ];
    const { stdout, stderr, exitCode } = await fleet.run(["activities", "follow"], {
      send: async (_url, init) => {
        asked.push(new Headers(init.headers as Record<string, string>).get("last-event-id"));
        const part = parts.shift() ?? 403;
        if (part instanceof Error) throw Object.assign(part, { code: "ECONNREFUSED" });
        return typeof part === "number"
          ? new Response(JSON.stringify({ message: "no", errors: [] }), { status: part })
          : new Response(part);
      },
    });
    expect(lines(stdout).map(({ type }) => type)).toEqual(["t1", "t2", "t3"]);
    expect(asked).toEqual([null, "2", "2", "2", "3", "9"]);
    expect(stderr).toContain("the connection was lost");
    expect(stderr).toContain("6 activities expired before they were read");
    expect(exitCode).toBe(4);
  });
});

describe("audit verify", () => {
  it("exits with 0 if the chain is valid, and with 1 and the first problem otherwise", async () => {
    await sealAll(fleet.app.services);
    const good = await run("audit", "verify", "-o", "json");
    expect(good.exitCode, good.stderr).toBe(0);
    const { end, entries, checked, ...rest } = JSON.parse(good.stdout);
    expect(rest).toMatchObject({ ok: true, problem: null });
    expect(checked).toBe(entries);
    expect((await run("audit", "verify", "--known", end)).exitCode).toBe(0);
    const other = await run("audit", "verify", "--known", `1:${"0".repeat(64)}`);
    expect(other.exitCode).toBe(1);
    expect(other.stderr).toContain("rewritten");

    const row = (await fleet.app.store.activities.first({ where: eq("chain_position", 2) }))!;
    await fleet.app.store.activities.update({ where: eq("id", row.id), set: { actor_email: "nobody@example.com" } });
    const bad = await run("audit", "verify", "-o", "json");
    expect(bad.exitCode).toBe(1);
    expect(JSON.parse(bad.stdout)).toMatchObject({ ok: false, problem: { kind: "edited", position: 2, id: row.id } });
    expect(bad.stderr).toContain("is not valid: edited at position 2");
  });
});

describe("jobs", () => {
  it("are listed, run and waited for", async () => {
    const list = await run("jobs", "list", "-o", "json");
    expect(JSON.parse(list.stdout)).toContainEqual(expect.objectContaining({ name: "counts", running: false }));
    const dry = await run("jobs", "run", "counts", "--dry-run");
    expect(dry.stdout).toContain("would run 1 job");
    const done = await run("jobs", "run", "counts", "--wait", "-o", "json");
    expect(done.exitCode, done.stderr).toBe(0);
    expect(JSON.parse(done.stdout)).toMatchObject([{ name: "counts", error: null, running: false }]);
    const unknown = await run("jobs", "run", "count");
    expect(unknown.exitCode).toBe(3);
    expect(unknown.stderr).toContain("Did you mean counts?");
    await fleet.app.store.jobRuns.update({ where: eq("name", "counts"), set: { finished_at: null, error: null } });
    expect((await run("jobs", "run", "counts")).exitCode).toBe(5);
  });
});
