// Configuration as code on the server: reading all of it, applying thousands of new objects, and detecting that
// nothing has changed; with the longest time that each blocks the event loop. `npm run bench -- configuration [teams]
// [objects each] [lowdb|postgres]`
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConfigurationState } from "../src/api/edge/configuration.ts";
import { build } from "../test/soak/support/bed.ts";
import { manyObjects, manyTeams } from "../test/support/many-things.ts";
import { startPostgres } from "../test/support/postgres-server.ts";
import { type BenchServer, metricsOf, signIn, startServe } from "./support/serve.ts";

export async function run(args: readonly string[]): Promise<void> {
  const [teams, each] = [Number(args[0] ?? 200), Number(args[1] ?? 100)];
  const engines = (["lowdb", "postgres"] as const).filter((engine) => !args[2] || args[2] === engine);
  await build();
  for (const engine of engines) await measure(engine, teams, each);
}

async function measure(engine: "lowdb" | "postgres", teams: number, each: number): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const database = engine === "postgres" ? await startPostgres() : null;
  let server: BenchServer | undefined;
  try {
    server = await startServe({
      dataDir: dir,
      args: ["--dev-license"],
      env: database ? { SVC_DATABASE_URL: database.url() } : {},
    });
    const call = await signIn(server);
    const served = server;
    const timed = async <T>(what: string, path: string, body: unknown): Promise<T> => {
      await metricsOf(served);
      const started = performance.now();
      const reply = await call<T>("POST", path, body);
      const seconds = (performance.now() - started) / 1000;
      const stall = (await metricsOf(served))("svc_event_loop_stall_max_seconds") * 1000;
      const rss = served.usage().rss / 1024 / 1024;
      console.log(
        `${engine.padEnd(9)} ${what.padEnd(34)} ${seconds.toFixed(2)} s, longest stall ${stall.toFixed(0)} ms, rss ${rss.toFixed(0)} MB`,
      );
      return reply;
    };
    await timed(`apply of ${teams} new teams`, "/spec/apply", { changes: manyTeams(teams) });
    const objects = manyObjects(teams, each);
    await timed(`apply of ${objects.length} new objects`, "/spec/apply", { changes: objects });
    const state = () => timed<ConfigurationState>(`state of ${teams} x ${each}`, "/spec/state", {});
    await state();
    const { things } = await state();
    const pins = things.map(({ kind, owner, name, revision }) => ({ kind, owner, name, revision }));
    await timed(`apply of nothing, ${pins.length} pins`, "/spec/apply", { changes: [], pins });
    const same = manyObjects(teams, each, { action: "update" });
    await timed("apply of what is so already", "/spec/apply", { changes: same });
    const others = manyObjects(teams, each, { action: "update", form: 1 });
    await timed(`apply of ${others.length} changes, dry`, "/spec/apply", { changes: others, dry_run: true });
    await timed(`apply of ${others.length} changes`, "/spec/apply", { changes: others, pins });
    const gone = others.map(({ value: _value, ...change }) => ({ ...change, action: "delete" }));
    await timed(`apply of ${gone.length} deletions`, "/spec/apply", { changes: gone });
  } finally {
    await server?.stop();
    await database?.destroy();
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}
