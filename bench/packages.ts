// A large package on both stores: uploaded as a form and in pieces, then downloaded by 20 hosts at once to install it.
// The growth of the server's memory, and the speed as a share of that of `cp` to the same disk in the same run.
// `npm run bench -- packages [MiB] [lowdb|postgres] [form|pieces]`
import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { Agent as HttpAgent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { softwareInstallsApi } from "../src/api/delivery/software-installs.ts";
import { packagesApi } from "../src/api/software/packages.ts";
import { uploadSource } from "../src/cli/files/upload.ts";
import { ApiClient } from "../src/client/client.ts";
import { throughUrl } from "../test/edge/agent/agents.ts";
import { debAround } from "../test/support/damaged-packages.ts";
import { startPostgres } from "../test/support/postgres-server.ts";
import { type AgentCall, agentCalls, enrollManaged, type ManagedHost, mustCall } from "./support/managed-agents.ts";
import { watchMemory } from "./support/memory.ts";
import { type BenchServer, signIn, startServe, tokenOf } from "./support/serve.ts";

const MiB = 1024 * 1024;
const HOSTS = 20;
const ways = ["form", "pieces"] as const;
type Way = (typeof ways)[number];

export async function run(args: readonly string[]): Promise<void> {
  const size = Number(args.find((arg) => /^\d+$/.test(arg)) ?? 2_048) * MiB;
  const isWanted = (name: string, all: readonly string[]) => !args.some((arg) => all.includes(arg) && arg !== name);
  for (const engine of ["lowdb", "postgres"] as const) {
    if (!isWanted(engine, ["lowdb", "postgres"])) continue;
    const dir = mkdtempSync(join(tmpdir(), "svc-bench-"));
    const postgres = engine === "postgres" ? await startPostgres() : null;
    try {
      const server = await startServe({
        dataDir: dir,
        args: ["--dev-license"],
        env: postgres ? { SVC_DATABASE_URL: postgres.url() } : {},
      });
      const parties = await prepare(server, dir);
      for (const way of ways)
        if (isWanted(way, ways))
          console.log(`${engine.padEnd(9)} ${await measure(server, parties, { dir, size, way })}`);
      parties.close();
      await server.stop();
    } finally {
      await postgres?.destroy();
      rmSync(dir, { recursive: true, force: true });
    }
  }
}

interface Parties {
  readonly client: ApiClient;
  readonly call: AgentCall;
  readonly hosts: readonly ManagedHost[];
  close(): void;
}

async function prepare(server: BenchServer, dir: string): Promise<Parties> {
  const { send, close } = throughUrl(server.url, HOSTS);
  const call = agentCalls(send);
  const hosts = await enrollManaged(call, await signIn(server), HOSTS);
  const client = new ApiClient({ serverUrl: server.url, token: await tokenOf(server), timeout: 600_000 });
  const parties = { client, call, hosts, close };
  // Small packages first, so that the code that the server loads for them does not count as growth.
  for (const way of ways) await transfer(server, parties, await written(dir, "small", 32 * MiB), way);
  await pause(2_000);
  return parties;
}

async function measure(
  server: BenchServer,
  parties: Parties,
  { dir, size, way }: { readonly dir: string; readonly size: number; readonly way: Way },
): Promise<string> {
  const file = await written(dir, way, size);
  const copies = [await copySeconds(file.path)];
  const watch = watchMemory(server);
  const { up, down, grown, cpu } = await transfer(server, parties, file, way, () => watch.peak());
  const after = watch.stop();
  copies.push(await copySeconds(file.path));
  rmSync(file.path);
  const copy = copies.reduce((sum, seconds) => sum + seconds, 0) / copies.length;
  const mb = (bytes: number) => (bytes / 1e6).toFixed(0);
  const rate = (seconds: number, bytes = size) =>
    `${mb(bytes / seconds)} MB/s (${(bytes / size / (seconds / copy)).toFixed(2)} of cp)`;
  return (
    `${mb(size)} MB ${way === "form" ? "as a form" : "in pieces"}: up at ${rate(up)}, ${(cpu.up / (size / 1e9)).toFixed(2)} s of ` +
    `server CPU a GB, memory at most ${mb(grown)} MB more (RSS ${mb(watch.before)} MB before); down to ${HOSTS} hosts at ` +
    `${rate(down, HOSTS * size)} in all, ${(cpu.down / ((HOSTS * size) / 1e9)).toFixed(2)} s of CPU a GB, at most ${mb(after)} MB ` +
    `more, digests equal; cp and sync at ${copies.map((seconds) => mb(size / seconds)).join(" and ")} MB/s`
  );
}

interface PackageOnDisk {
  readonly path: string;
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
}

/** A Debian package whose payload are random blocks that differ from each other. */
async function written(dir: string, name: string, payload: number): Promise<PackageOnDisk> {
  const path = join(dir, `${name}-${payload}.deb`);
  const { head, tail } = debAround(`bench-${name}-${payload}`, payload);
  const file = await open(path, "w");
  const hash = createHash("sha256");
  let size = 0;
  const write = async (bytes: Buffer) => {
    hash.update(bytes);
    await file.write(bytes);
    size += bytes.length;
  };
  await write(head);
  const block = randomBytes(MiB);
  for (let at = 0; at < payload; at += MiB) {
    block.writeUInt32BE(at / MiB);
    await write(block);
  }
  await write(tail);
  await file.sync();
  await file.close();
  return { path, name, size, sha256: hash.digest("hex") };
}

const runFile = promisify(execFile);

/** Seconds of `cp` and `sync` of the copy, because the server syncs a file before it acknowledges it. */
async function copySeconds(path: string): Promise<number> {
  const copy = `${path}.copy`;
  const from = performance.now();
  await runFile("cp", ["--reflink=never", path, copy]);
  await runFile("sync", [copy]);
  const seconds = (performance.now() - from) / 1000;
  rmSync(copy);
  return seconds;
}

/** Uploads the package, installs it on all hosts up to the download, and removes it. Times are in seconds. */
async function transfer(
  server: BenchServer,
  { client, call, hosts }: Parties,
  file: PackageOnDisk,
  way: Way,
  peak: () => number = () => 0,
) {
  const source = await uploadSource({ inBytes: async function* () {} }, file.path, "FILE");
  const cpu = { start: server.usage().cpu, up: 0, down: 0 };
  const from = performance.now();
  // The client sends files in pieces if it can read them again.
  const { software_package } = await client.call(packagesApi.upload, {
    body: { software: { ...source, canRepeat: way === "pieces" } },
  });
  const up = (performance.now() - from) / 1000;
  cpu.up = server.usage().cpu - cpu.start;
  if (software_package.hash_sha256 !== file.sha256) throw new Error("the server has another digest");
  const grown = peak();
  const { title_id } = software_package;
  const begun: { readonly host: ManagedHost; readonly uuid: string; readonly installerId: number }[] = [];
  for (const host of hosts) {
    await client.call(softwareInstallsApi.install, { params: { id: host.id, software_title_id: title_id } });
    const { notifications } = await mustCall(call, "/config", { agent_node_key: host.key });
    const [uuid] = notifications.pending_software_installer_ids as string[];
    const body = { agent_node_key: host.key, install_uuid: uuid };
    const { installer_id } = await mustCall(call, "/software_install/details", body);
    begun.push({ host, uuid: uuid!, installerId: installer_id });
  }
  const downFrom = performance.now();
  const cpuFrom = server.usage().cpu;
  const sizes = await Promise.all(
    begun.map(({ host, installerId }, i) => download(server, host, installerId, i === 0)),
  );
  const down = (performance.now() - downFrom) / 1000;
  cpu.down = server.usage().cpu - cpuFrom;
  if (sizes.some(({ size }) => size !== file.size)) throw new Error("a download is incomplete");
  if (sizes[0]!.sha256 !== file.sha256) throw new Error("a download differs");
  for (const { host, uuid } of begun)
    await mustCall(call, "/software_install/result", {
      agent_node_key: host.key,
      install_uuid: uuid,
      install_script_exit_code: 0,
      install_script_output: "",
    });
  await client.call(packagesApi.delete, { params: { id: title_id }, query: { team_id: 0 } });
  return { up, down, grown, cpu };
}

/** Digests cost this process as much as the server needs to send: one host computes it. */
function download(
  { url }: BenchServer,
  { key }: ManagedHost,
  installer_id: number,
  isDigested: boolean,
): Promise<{ size: number; sha256: string | null }> {
  const agent = new HttpAgent({ keepAlive: false });
  const hash = isDigested ? createHash("sha256") : null;
  const body = JSON.stringify({ agent_node_key: key, installer_id });
  return new Promise((resolve, reject) => {
    const sent = request(
      new URL("/api/v1/svc/agent/software_install/package?alt=media", url),
      { method: "POST", agent, headers: { "content-type": "application/json", "content-length": body.length } },
      (reply) => {
        if (reply.statusCode !== 200) reject(new Error(`a download was answered with ${reply.statusCode}`));
        let size = 0;
        reply.on("data", (chunk: Buffer) => {
          size += chunk.length;
          hash?.update(chunk);
        });
        reply.on("error", reject);
        reply.on("end", () => resolve({ size, sha256: hash?.digest("hex") ?? null }));
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}
