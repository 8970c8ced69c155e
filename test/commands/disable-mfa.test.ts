import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { expect, it } from "vitest";
import { openDataPlace } from "../../src/server/data-places.ts";
import { runCli } from "../support/cli.ts";
import { bothEngines } from "../support/engines.ts";
import { freshDatabase } from "../support/postgres.ts";

const log = pino({ level: "silent" });

it.each(bothEngines)("lets a user without mail sign in, with the data in %s", async (engine) => {
  const dataDir = await mkdtemp(join(tmpdir(), "svc-mfa-"));
  const database = engine === "postgres" ? await freshDatabase() : null;
  const place = database ? database.url : dataDir;
  const open = (more: object = {}) => openDataPlace({ place, dataDir, env: {}, log, ...more });
  const run = (args: string[]) =>
    runCli([
      ...["db", "disable-mfa", ...args],
      ...(database ? ["--database-url", database.url] : []),
      ...["--data-dir", dataDir],
    ]);
  try {
    const { store } = await open({ create: true, migrate: true });
    const at = "2026-03-01T12:00:00.000Z";
    const person = { created_at: at, updated_at: at, name: "Mia", global_role: "admin" as const };
    await store.users.insert({ ...person, email: "mia@example.com", mfa_enabled: true });
    await store.users.insert({ ...person, email: "ada@example.com" });
    await store.close();

    expect((await run(["nobody@example.com", "--yes"])).exitCode).toBe(3);
    expect(await run(["ada@example.com", "--yes"])).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining("nothing to do"),
    });
    expect(await run(["mia@example.com"])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("--yes") });
    expect(await run(["mia@example.com", "--dry-run"])).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("would turn multi-factor authentication off"),
    });
    const done = await run(["Mia@example.com", "--yes", "-o", "json"]);
    expect(done.exitCode, done.stderr).toBe(0);
    expect(JSON.parse(done.stdout)).toEqual({ email: "Mia@example.com", disabled: true });

    const after = await open();
    const [mia] = await after.store.users.list({ order: [{ column: "id", direction: "asc" }] });
    expect(mia).toMatchObject({ email: "mia@example.com", mfa_enabled: false });
    expect(await after.store.activities.list()).toEqual([
      expect.objectContaining({
        type: "edited_user",
        svc_initiated: true,
        details: expect.objectContaining({ user_email: "mia@example.com", changed: ["mfa_enabled"] }),
      }),
    ]);
    await after.store.close();
  } finally {
    await rm(dataDir, { recursive: true, force: true });
    await database?.drop();
  }
});
