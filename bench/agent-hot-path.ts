// The cost of an idle host's requests, compared with a bare node:http server that parses the same JSON and replies
// {}. The two are measured in alternating rounds of one run: requests per second, and the server's CPU time per
// request.
import { fileURLToPath } from "node:url";
import { type Ready, STORED_QUERY } from "./support/hot-path-ready.ts";
import { compare, Side } from "./support/side.ts";

const HOSTS = 10_000;
const script = fileURLToPath(new URL("./support/hot-path-server.ts", import.meta.url));

const requestOf = (path: string, body: string): Buffer =>
  Buffer.from(
    `POST /api/v1/qengine/${path} HTTP/1.1\r\nHost: localhost:8412\r\nUser-Agent: osquery/5.23.0\r\nContent-Type: application/json\r\nAccept: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );

const line = JSON.stringify({
  name: "pack/Global/usb_devices",
  hostIdentifier: "0A1B2C3D-0000-1111-2222-333344445555",
  calendarTime: "Sun Mar  1 12:00:00 2026 UTC",
  unixTime: 1_772_366_400,
  epoch: 0,
  counter: 12,
  numerics: false,
  decorations: { host_uuid: "0A1B2C3D-0000-1111-2222-333344445555", hostname: "host.example.com" },
  columns: { model: "Keyboard", vendor: "Example", serial: "x".repeat(60), usb_address: "3", usb_port: "2" },
  action: "added",
});

/** A snapshot of a scheduled query. */
const snapshotOf = (name: string): string =>
  JSON.stringify({
    name: `pack/Global/${name}`,
    hostIdentifier: "0A1B2C3D-0000-1111-2222-333344445555",
    calendarTime: "Sun Mar  1 12:00:00 2026 UTC",
    unixTime: 1_772_366_400,
    epoch: 0,
    counter: 0,
    numerics: false,
    decorations: { host_uuid: "0A1B2C3D-0000-1111-2222-333344445555", hostname: "host.example.com" },
    snapshot: Array.from({ length: 5 }, (_, i) => ({ model: "Keyboard", vendor: "Example", usb_port: String(i) })),
    action: "snapshot",
  });

const logOf = (node_key: string, data: string): string =>
  `{"node_key":${JSON.stringify(node_key)},"log_type":"result","data":[${data}]}`;

interface Kind {
  readonly path: string;
  readonly body: (key: string) => string;
}
const snapshot = snapshotOf("another_query");
const stored = snapshotOf(STORED_QUERY);
const kinds: Readonly<Record<string, Kind>> = {
  "distributed/read": { path: "distributed/read", body: (node_key) => JSON.stringify({ node_key }) },
  config: { path: "config", body: (node_key) => JSON.stringify({ node_key }) },
  log: { path: "log", body: (node_key) => logOf(node_key, line) },
  // The difference between these two is what it costs to store a report before the acknowledgement.
  snapshot: { path: "log", body: (node_key) => logOf(node_key, snapshot) },
  "stored snapshot": { path: "log", body: (node_key) => logOf(node_key, stored) },
};

export async function run(args: readonly string[]): Promise<void> {
  const served = await Side.start<Ready>(script, ["agents", String(HOSTS)]);
  const bare = await Side.start<Ready>(script, ["bare"]);
  try {
    for (const [name, { path, body }] of Object.entries(kinds)) {
      if (args.length > 0 && !args.includes(name)) continue;
      const requests = served.ready.keys.map((key) => requestOf(path, body(key)));
      await compare(name, { served, bare }, requests);
    }
  } finally {
    served.stop();
    bare.stop();
  }
}
