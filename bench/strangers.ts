// What strangers may cost: the processor time of the built server for each endpoint that can be called without signing
// in, with the worst body that fits its limit. First for single requests from different addresses, then for a flood from
// one address. `npm run bench -- strangers [PART OF A PATH]`
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { allEndpoints, protocols } from "../src/api/all.ts";
import type { AnyEndpoint } from "../src/api/endpoint.ts";
import { servedPaths } from "../src/api/paths.ts";
import { prefixes } from "../src/server/platform/agent-protocol/wire.ts";
import { type BenchServer, startServe } from "./support/serve.ts";

const SINGLE_REQUESTS = 20;
const FLOOD_MS = 2_000;
const FLOOD_CONCURRENT = 8;

interface Attack {
  readonly method: string;
  readonly path: string;
  readonly bodies: readonly Body[];
}

interface Body {
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
  readonly isGzip?: true;
}

const repeated = (part: string, size: number, [start, end]: readonly [string, string]): string =>
  start + part.repeat(Math.max(0, Math.floor((size - start.length - end.length) / part.length))) + end;

const around = ["<a>", "</a>"] as const;
const parts = { instructions: "<?x y?>", references: "&#65;", comments: "<!---->", elements: "<b/>" };

function xmlBodies(limit: number, type: string): Body[] {
  const plain = Object.entries(parts).map(([name, part]) => ({
    name,
    type,
    bytes: Buffer.from(repeated(part, limit, around)),
  }));
  const bomb = gzipSync(repeated(parts.instructions, 2 * 1024 * 1024, around));
  return [...plain, { name: "2 MiB of instructions as gzip", type, bytes: bomb, isGzip: true }];
}

/** Nested definite lengths in ASN.1, of many small elements. */
const der = (limit: number): Buffer => {
  const content = Buffer.alloc(limit - 8, Buffer.from([0x30, 0x00]));
  const head = Buffer.from([0x30, 0x83, 0, 0, 0]);
  head.writeUIntBE(content.length, 2, 3);
  return Buffer.concat([head, content]);
};

function bodiesOf({ takes, strangerLimit: limit, hasBody, path }: AnyEndpoint): Body[] {
  if (!hasBody) return [{ name: "none", type: "", bytes: Buffer.alloc(0) }];
  if (takes.kind === "json") {
    const json = "application/json";
    const lists = Buffer.from(repeated("[],", limit, ['{"x":[', "0]}"]));
    const large = gzipSync(repeated("[],", 5 * 1024 * 1024, ['{"x":[', "0]}"]));
    return [
      { name: "lists", type: json, bytes: lists },
      { name: "5 MiB of lists as gzip", type: json, bytes: large, isGzip: true },
    ];
  }
  if (takes.kind === "form")
    return xmlBodies(Math.floor(limit / 2), "").map(({ name, bytes }) => ({
      name,
      type: "application/x-www-form-urlencoded",
      bytes: Buffer.from(`SAMLResponse=${bytes.toString("base64url")}&SAMLRequest=${bytes.toString("base64url")}`),
    }));
  const type = "application/octet-stream";
  const asn = { name: "elements of ASN.1", type, bytes: der(limit) };
  return /scep|enroll|ota/.test(path) && !path.includes("windows") ? [asn] : [...xmlBodies(limit, type), asn];
}

function attacks(): Attack[] {
  const open = [
    ...allEndpoints.map(({ endpoint }) => endpoint),
    ...Object.values(protocols).flatMap((all) => Object.values(all)),
  ].filter(({ access }) => access === "none");
  const ofTable = open.map((endpoint) => ({
    method: endpoint.method as string,
    path: `${servedPaths(endpoint)[0]!.replace(/:\w+/g, "1")}${endpoint.path.includes("scep") ? "?operation=PKIOperation" : ""}`,
    bodies: bodiesOf(endpoint),
  }));
  const type = "application/json";
  const ofAgents = ["enroll", "config", "log", "distributed/read", "distributed/write"].map((name) => ({
    method: "POST",
    path: `${prefixes[0]}${name}`,
    bodies: [
      { name: "lists", type, bytes: Buffer.from(repeated("[],", 60 * 1024, ['{"x":[', "0]}"])) },
      {
        name: "8 MiB as gzip",
        type,
        bytes: gzipSync(repeated("[],", 8_000_000, ['{"x":[', "0]}"])),
        isGzip: true,
      } as const,
    ],
  }));
  return [...ofTable, ...ofAgents];
}

let addresses = 0;
const nextAddress = (): string => `10.${(++addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`;

async function send(server: BenchServer, { method, path }: Attack, body: Body, from: string): Promise<number> {
  const hasBody = body.bytes.length > 0;
  const reply = await fetch(`${server.url}${path}`, {
    method,
    redirect: "manual",
    headers: {
      "x-forwarded-for": from,
      ...(body.type === "" ? {} : { "content-type": body.type }),
      ...(body.isGzip ? { "content-encoding": "gzip" } : {}),
    },
    ...(hasBody ? { body: new Uint8Array(body.bytes) } : {}),
  }).catch(() => null);
  await reply?.arrayBuffer().catch(() => null);
  return reply?.status ?? 0;
}

/** Milliseconds of CPU for one request that is not refused for its cost. */
async function single(server: BenchServer, attack: Attack, body: Body): Promise<{ cost: number; status: number }> {
  let status = 0;
  let used = 0;
  for (let i = 0; i < SINGLE_REQUESTS; i++) {
    const before = server.usage().cpu;
    status = await send(server, attack, body, nextAddress());
    used += server.usage().cpu - before;
    if (status === 429) {
      i--;
      await pause(250);
    }
  }
  return { cost: (used * 1000) / SINGLE_REQUESTS, status };
}

async function flood(server: BenchServer, attack: Attack, body: Body) {
  const from = nextAddress();
  const until = performance.now() + FLOOD_MS;
  const before = server.usage().cpu;
  const statuses = new Map<number, number>();
  const sender = async () => {
    while (performance.now() < until) {
      const status = await send(server, attack, body, from);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: FLOOD_CONCURRENT }, sender));
  const seconds = FLOOD_MS / 1000;
  const all = [...statuses.values()].reduce((sum, count) => sum + count, 0);
  const refused = statuses.get(429) ?? 0;
  return { cpu: ((server.usage().cpu - before) * 1000) / seconds, requests: all / seconds, refused: refused / seconds };
}

export async function run([part = ""]: readonly string[]): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const server = await startServe({ dataDir: dir, args: ["--trusted-proxies", "127.0.0.1", "--dev-license"] });
  try {
    console.log("| endpoint | worst body | status | CPU per request | flood of one address | served | CPU |");
    console.log("|---|---|---|---|---|---|---|");
    const before = server.usage().cpu;
    await pause(FLOOD_MS);
    const idle = ((server.usage().cpu - before) * 1_000_000) / FLOOD_MS;
    console.log(`| no requests | | | | | | ${idle.toFixed(0)} ms/s |`);
    for (const attack of attacks().filter(({ path }) => path.includes(part))) {
      let worst = { name: "", cost: -1, status: 0, body: attack.bodies[0]! };
      for (const body of attack.bodies) {
        const { cost, status } = await single(server, attack, body);
        if (cost > worst.cost) worst = { name: body.name, cost, status, body };
      }
      const { cpu, requests, refused } = await flood(server, attack, worst.body);
      const cells = [
        `${attack.method} ${attack.path}`,
        worst.name,
        worst.status,
        `${worst.cost.toFixed(1)} ms`,
        `${requests.toFixed(0)}/s`,
        `${(requests - refused).toFixed(0)}/s`,
        `${cpu.toFixed(0)} ms/s`,
      ];
      console.log(`| ${cells.join(" | ")} |`);
    }
  } finally {
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}
