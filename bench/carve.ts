// A carve of 1 GB in blocks of 2 MB, through the built server on both stores: the growth of its memory during upload
// and download of the archive, and whether the bytes are equal.
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TarContent } from "../src/simulator/agent/carve-content.ts";
import { agentCall, enroll, withSecret } from "../test/e2e/support/agents.ts";
import { startPostgres } from "../test/support/postgres-server.ts";
import { watchMemory } from "./support/memory.ts";
import { type BenchServer, startServe } from "./support/serve.ts";

const BLOCK = 2_000_000;

export async function run(args: readonly string[]): Promise<void> {
  const size = Number(args[0] ?? 1_000_000_000);
  for (const engine of ["lowdb", "postgres"] as const) {
    const dir = mkdtempSync(join(tmpdir(), "svc-bench-"));
    const postgres = engine === "postgres" ? await startPostgres() : null;
    try {
      const server = await startServe({ dataDir: dir, env: postgres ? { SVC_DATABASE_URL: postgres.url() } : {} });
      console.log(`${engine.padEnd(9)} ${await measure(server, size)}`);
      await server.stop();
    } finally {
      await postgres?.stop();
      rmSync(dir, { recursive: true, force: true });
    }
  }
}

async function measure(server: BenchServer, size: number): Promise<string> {
  const token = await withSecret(server).then(() => tokenOf(server));
  const content = new TarContent(1, "osquery_carve/var/log/large", size);
  // A small carve first, so that the code that the server loads for its first carve does not count as growth.
  await upload(server, new TarContent(2, "osquery_carve/small", 3 * BLOCK), "small");
  await download(server, 1, token);
  await new Promise((done) => setTimeout(done, 2_000));

  const watch = watchMemory(server);
  const started = performance.now();
  await upload(server, content, "large");
  const up = (performance.now() - started) / 1000;
  const grown = watch.peak();
  const from = performance.now();
  const digest = await download(server, 2, token);
  const down = (performance.now() - from) / 1000;
  const after = watch.stop();
  if (digest !== content.sha256()) throw new Error("the download differs from what was sent");
  const mb = (bytes: number) => (bytes / 1e6).toFixed(0);
  const speed = (seconds: number) => `${(content.size / 1e6 / seconds).toFixed(0)} MB/s`;
  return (
    `${mb(content.size)} MB in blocks of ${mb(BLOCK)} MB: up at ${speed(up)}, memory at most ${mb(grown)} MB more (RSS ${mb(watch.before)} MB before); ` +
    `down at ${speed(down)}, at most ${mb(after)} MB more; bytes equal`
  );
}

async function upload(server: BenchServer, content: TarContent, name: string): Promise<void> {
  const node_key = await enroll(server, `host-${name}`);
  const { body } = await agentCall(server, "carve/begin", {
    block_count: Math.ceil(content.size / BLOCK),
    block_size: BLOCK,
    carve_size: content.size,
    carve_id: name,
    request_id: name,
    node_key,
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let id = 0; id * BLOCK < content.size; id++) {
    const data = content.read(id * BLOCK, BLOCK).toString("base64");
    const block = `{"block_id":${id},"session_id":"${body.session_id}","request_id":"${name}","data":"${data}"}`;
    const told = await post(agent, `${server.url}/api/v1/qengine/carve/block`, block);
    if (told !== '{"success":true}') throw new Error(`block ${id} was refused: ${told}`);
  }
  agent.destroy();
}

const post = (agent: Agent, url: string, body: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": body.length };
    const req = request(url, { method: "POST", agent, headers }, (res) => {
      let text = "";
      res.on("data", (chunk: Buffer) => {
        text += chunk;
      });
      res.on("end", () => resolve(text));
    });
    req.on("error", reject);
    req.end(body);
  });

async function download(server: BenchServer, id: number, token: string): Promise<string> {
  const reply = await server.send(`/api/v1/svc/carves/${id}/download`, {
    headers: { authorization: `Bearer ${token}` },
  });
  if (!reply.ok) throw new Error(`the download was refused: ${reply.status} ${await reply.text()}`);
  const hash = createHash("sha256");
  for await (const chunk of reply.body!) hash.update(chunk as Uint8Array);
  return hash.digest("hex");
}

async function tokenOf(server: BenchServer): Promise<string> {
  const reply = await server.send("/api/v1/svc/login", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email: server.email, password: server.password }),
  });
  return ((await reply.json()) as { token: string }).token;
}
