// The two servers that agent-hot-path compares, each in its own process: `bare` is plain node:http that parses the
// same JSON and replies {}; `agents` is the agents' handler on an embedded store with enrolled, idle hosts.
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { agentHandler } from "../../src/server/edge/agent/http/node-handler.ts";
import { extensions } from "../../src/server/extensions.ts";
import { startFeatures } from "../../src/server/features.ts";
import { systemClock } from "../../src/server/platform/core/clock.ts";
import { serviceContext } from "../../src/server/platform/core/context.ts";
import { createMetrics } from "../../src/server/platform/core/logging/metrics.ts";
import { systemRandom, tokenHash } from "../../src/server/platform/core/random.ts";
import { withRunning } from "../../src/server/platform/core/running.ts";
import { Settings } from "../../src/server/platform/core/settings/settings.ts";
import { fileBlobs } from "../../src/server/platform/store/blobs/files.ts";
import { createCipher } from "../../src/server/platform/store/cipher.ts";
import { openLowdb } from "../../src/server/platform/store/lowdb/open.ts";
import { everything } from "../../src/server/platform/store/query.ts";
import { createConfigReader, setConfig } from "../../src/server/settings/app-config/service.ts";
import { tables } from "../../src/server/tables.ts";
import { loadSqlSyntax } from "../../src/sql/syntax.ts";
import { type Ready, STORED_QUERY } from "./hot-path-ready.ts";

const bare: RequestListener = (req, res) => {
  const chunks: Buffer[] = [];
  req.on("data", (chunk: Buffer) => chunks.push(chunk));
  req.on("end", () => {
    const parsed: unknown = JSON.parse((chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString());
    if (typeof parsed !== "object") res.statusCode = 400;
    res.setHeader("content-type", "application/json");
    res.setHeader("content-length", 2);
    res.end("{}");
  });
};

async function agents(hosts: number): Promise<{ handler: RequestListener; keys: string[] }> {
  const dir = mkdtempSync(join(tmpdir(), "svc-bench-"));
  process.on("exit", () => rmSync(dir, { recursive: true, force: true }));
  const log = pino({ level: "warn" });
  const store = await openLowdb({ tables, dir: join(dir, "db"), cipher: createCipher(Buffer.alloc(32, 7)), log });
  const services = withRunning({
    settings: Settings.parse({ data_dir: dir }),
    store,
    blobs: fileBlobs(join(dir, "blobs")),
    clock: systemClock,
    random: systemRandom,
    log,
    metrics: createMetrics(),
    license: { tier: "free", expiration: "2100-01-01T00:00:00Z" },
    config: await createConfigReader(store),
    setupToken: "",
    extensions,
    dryRun: null,
  });
  // Agent options contain SQL, which is checked.
  await loadSqlSyntax();
  await setConfig(serviceContext(services), { agent_options: agentOptions });
  const { agent } = await startFeatures(services);
  const secret = "benchmark-enroll-secret";
  await store.enrollSecrets.insert({
    created_at: systemClock.iso(),
    secret,
    secret_hash: tokenHash(secret),
  });
  const enroll = async (i: number): Promise<string> => {
    const body = Buffer.from(
      JSON.stringify({
        enroll_secret: secret,
        host_identifier: `host-${i}`,
        platform_type: "9",
        host_details: {
          os_version: { name: "Ubuntu", version: "22.04", platform: "ubuntu" },
          system_info: { hostname: `host-${i}`, uuid: `uuid-${i}` },
        },
      }),
    );
    const reply = await agent.replyTo("enroll", { body, authorization: undefined, address: "127.0.0.1" });
    return (JSON.parse(reply.body) as { node_key: string }).node_key;
  };
  const keys: string[] = [];
  while (keys.length < hosts)
    keys.push(...(await Promise.all(Array.from({ length: 500 }, (_, i) => enroll(keys.length + i)))));
  const now = systemClock.iso();
  const done = { refetch_requested: false, detail_updated_at: now, label_updated_at: now, policy_updated_at: now };
  await store.queries.insert({
    created_at: now,
    updated_at: now,
    team_id: null,
    name: STORED_QUERY,
    query: "SELECT model, vendor, usb_port FROM usb_devices;",
    interval: 3600,
    shard: null,
    author_id: null,
    stats: null,
  });
  await store.notify("svc_queries", "*");
  await store.hosts.update({ where: everything, set: done });
  await store.notify("svc_hosts", "*");
  // The first configuration of each host stores its intervals.
  for (let at = 0; at < keys.length; at += 500)
    await Promise.all(
      keys.slice(at, at + 500).map(async (node_key) => {
        const body = Buffer.from(JSON.stringify({ node_key }));
        return agent.replyTo("config", { body, authorization: undefined, address: "127.0.0.1" });
      }),
    );
  const handle = agentHandler(agent, services);
  return { handler: (req, res) => void handle(req, res), keys };
}

/** About 3 KB of configuration, the size on a real server. */
const agentOptions = {
  config: {
    options: { distributed_interval: 10, logger_tls_period: 10, pack_delimiter: "/" },
    decorators: { load: ["SELECT uuid AS host_uuid FROM system_info;", "SELECT hostname FROM system_info;"] },
    schedule: Object.fromEntries(
      Array.from({ length: 20 }, (_, i) => [
        `scheduled_${i}`,
        {
          query: "SELECT name, version, source FROM programs WHERE name LIKE '%example%' ORDER BY name;",
          interval: 3600,
        },
      ]),
    ),
  },
};

const [kind, hosts] = process.argv.slice(2);
const { handler, keys } = kind === "bare" ? { handler: bare, keys: [] } : await agents(Number(hosts));
const server = createServer({ keepAliveTimeout: 120_000 }, handler);
server.listen(0, "127.0.0.1", () => {
  process.send?.({ port: (server.address() as AddressInfo).port, keys } satisfies Ready);
});
process.on("message", () => process.send?.(process.cpuUsage()));
process.on("disconnect", () => process.exit(0));
