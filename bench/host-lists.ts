// First pages of hosts with every kind of filter and order, counts, the summary and a single host: 10,000 hosts on
// the embedded store, 100,000 on Postgres. `npm run bench -- host-lists [lowdb|postgres] [hosts]`
import { pino } from "pino";
import { hostOrderKeys } from "../src/api/inventory/host-filters.ts";
import { startServer } from "../src/server/main.ts";
import { type FilledStore, fillHosts } from "./support/many-hosts.ts";
import { type Admin, adminOf, type EngineName, makePlace } from "./support/place.ts";

const ROUNDS = 25;
/** Limit for a first page of hosts in milliseconds (95th percentile). */
const GATE_MS = 50;

interface Figure {
  readonly what: string;
  readonly p50: number;
  readonly p95: number;
}

export async function run(args: readonly string[]): Promise<void> {
  const only = args.find((arg) => arg === "lowdb" || arg === "postgres");
  const hosts = Number(args.find((arg) => /^\d+$/.test(arg)) ?? 0);
  if (only !== "postgres") await measure("lowdb", hosts || 10_000, 300);
  if (only !== "lowdb") await measure("postgres", hosts || 100_000, 100);
}

async function measure(engine: EngineName, hosts: number, softwareEach: number): Promise<void> {
  const place = await makePlace(engine);
  const server = await startServer(place.settings, pino({ level: "silent" }));
  let admin: Admin | undefined;
  try {
    const started = Date.now();
    const filled = await fillHosts(server.services, hosts, softwareEach);
    console.log(`${engine}: ${hosts} hosts with ${softwareEach} software each, made in ${Date.now() - started} ms`);
    await place.analyze();
    admin = await adminOf(server, { connections: 8 });
    const { get, request } = admin;
    const figures: Figure[] = [];
    for (const [what, path] of casesOf(filled)) figures.push(await time(what, () => get(path)));
    print(engine, figures);
    figures.push(...(await together(get, filled)));
    await report(request);
  } finally {
    await admin?.close();
    await server.stop();
    await place.remove();
  }
}

function casesOf(filled: FilledStore): [string, string][] {
  const page = "/hosts?page=0&per_page=50";
  const filters = {
    none: "",
    online: "status=online",
    offline: "status=offline",
    new: "status=new",
    missing: "status=missing",
    team: `team_id=${filled.teamId}`,
    "no team": "team_id=0",
    label: `label_id=${filled.labelId}`,
    "rare label": `label_id=${filled.rareLabelId}`,
    "search, many": "query=host",
    "search, one": `query=${filled.serial}`,
    "search, address": "query=10.1.2.3",
    "search, email": "query=user7@example.com",
    "search, none": "query=zzzzzz",
    "os version": `os_version_id=${filled.osVersionId}`,
    "os name, version": `os_name=Ubuntu&os_version=22.04`,
    "software, common": `software_version_id=${filled.commonVersionId}`,
    "software, rare": `software_version_id=${filled.rareVersionId}`,
    title: `software_title_id=${filled.commonTitleId}`,
    "low disk": "low_disk_space=20",
    "policy, any answer": `policy_id=${filled.policyId}`,
    "policy passing": `policy_id=${filled.policyId}&policy_response=passing`,
    "policy failing": `policy_id=${filled.policyId}&policy_response=failing`,
    "policy failing, rare": `policy_id=${filled.rarePolicyId}&policy_response=failing`,
    "software status": `software_title_id=${filled.commonTitleId}&software_status=failed&team_id=${filled.teamId}`,
    vulnerability: "vulnerability=CVE-2026-0001",
    "vulnerability, rare": "vulnerability=CVE-2026-0002",
    "vulnerability of the system": "vulnerability=CVE-2026-0003",
    "mdm id": `mdm_id=${filled.solutionId}`,
    "mdm name": "mdm_name=Rival",
    "mdm enrolled": "mdm_enrollment_status=enrolled",
    "mdm pending": "mdm_enrollment_status=pending",
    "mdm unenrolled": "mdm_enrollment_status=unenrolled",
    connected: "connected_to_svc=true",
    "not connected": "connected_to_svc=false",
    "macos settings": `macos_settings=verified&team_id=${filled.teamId}`,
    "macos settings, no team": "macos_settings=pending",
    "os settings verified": "os_settings=verified",
    "os settings failed": "os_settings=failed",
    "macos disk encryption": "macos_settings_disk_encryption=action_required",
    "os disk encryption": "os_settings_disk_encryption=verified",
    profile: "profile_uuid=profile-1&profile_status=failed",
    "bootstrap package": "bootstrap_package=failed",
    "munki issue": `munki_issue_id=${filled.munkiIssueId}`,
    "where: own columns": where("platform = darwin and memory >= 16GB and seen < 7d"),
    "where: labels": where('label in ("half of them", "label 3") and not label = "label 4"'),
    "where: software": where('software.name ~ "program 77" and not software(name = "Program 1" and version = 2)'),
    "where: policies": where('policy.failing = "policy 1" and issues > 1'),
    "where: model contains": where("hardware_model ~ latitude and os.name = Ubuntu"),
    "where: all together": where(
      'platform = darwin and label in ("half of them") and not label in ("label 1") and seen < 7d and software.name ~ "program 7"',
    ),
    "online in team, searched": `status=online&team_id=${filled.teamId}&query=host`,
  };
  const lists = Object.entries(filters).flatMap(([name, filter]): [string, string][] => [
    [`list: ${name}`, `${page}&${filter}`],
    [`list: ${name}; newest seen first`, `${page}&${filter}&order_key=seen_time&order_direction=desc`],
    [`list: ${name}; by display_name`, `${page}&${filter}&order_key=display_name`],
    [`list: ${name}; by memory desc`, `${page}&${filter}&order_key=memory&order_direction=desc`],
  ]);
  const orders = hostOrderKeys.map((key): [string, string] => [`order: ${key}`, `${page}&order_key=${key}`]);
  const counts = Object.entries(filters).map(([name, filter]): [string, string] => [
    `count: ${name}`,
    `/hosts/count?${filter}`,
  ]);
  return [
    ...lists,
    ...orders,
    [
      "list: with software, users and labels",
      `${page}&populate_software=true&populate_users=true&populate_labels=true`,
    ],
    ["list: 100th page", "/hosts?page=100&per_page=50"],
    ...counts,
    ["list: by cursor", "/hosts?per_page=50&cursor="],
    ["list: with the number of all", `${page}&with_count=true`],
    ["summary", "/host_summary"],
    ["summary of a team", `/host_summary?team_id=${filled.teamId}&low_disk_space=20`],
    ["one host", `/hosts/${filled.hostId}`],
    ["one host by serial", `/hosts/identifier/${filled.serial}`],
    ["software of a host", `/hosts/${filled.hostId}/software?page=0&per_page=50`],
  ];
}

const where = (text: string): string => `where=${encodeURIComponent(text)}`;

async function time(what: string, work: () => Promise<unknown>): Promise<Figure> {
  for (let i = 0; i < 3; i++) await work();
  const took: number[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    const from = performance.now();
    await work();
    took.push(performance.now() - from);
  }
  return { what, ...percentiles(took) };
}

function percentiles(took: number[]): { p50: number; p95: number } {
  took.sort((a, b) => a - b);
  const at = (share: number) => took[Math.min(took.length - 1, Math.floor(took.length * share))]!;
  return { p50: at(0.5), p95: at(0.95) };
}

/** Eight concurrent clients; each requests everything in turn. */
async function together(get: (path: string) => Promise<string>, filled: FilledStore): Promise<Figure[]> {
  const paths = {
    "8 clients: list": "/hosts?page=0&per_page=50&order_key=display_name",
    "8 clients: search": `/hosts?page=0&per_page=50&query=${filled.serial}`,
    "8 clients: count": "/hosts/count?status=online",
    "8 clients: summary": "/host_summary",
    "8 clients: one host": `/hosts/${filled.hostId}`,
  };
  const took = new Map<string, number[]>(Object.keys(paths).map((what) => [what, []]));
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let i = 0; i < 20; i++)
        for (const [what, path] of Object.entries(paths)) {
          const from = performance.now();
          await get(path);
          took.get(what)!.push(performance.now() - from);
        }
    }),
  );
  const figures = [...took].map(([what, times]) => ({ what, ...percentiles(times) }));
  print("8 clients", figures);
  return figures;
}

/** The whole report: time to the first bytes, duration, and the additional memory of the server. */
async function report(request: Admin["request"]): Promise<void> {
  for (const query of ["", "&order_key=hostname"]) {
    global.gc?.();
    const before = process.memoryUsage().rss;
    let peak = before;
    const from = performance.now();
    const res = await request(`/hosts/report?format=csv${query}`);
    let first = 0;
    let bytes = 0;
    for await (const chunk of res.body!) {
      first ||= performance.now() - from;
      bytes += (chunk as Uint8Array).length;
      peak = Math.max(peak, process.memoryUsage().rss);
    }
    const mib = (size: number) => `${(size / 2 ** 20).toFixed(0)} MiB`;
    console.log(
      `report${query}: first byte ${first.toFixed(0)} ms, ${mib(bytes)} in ${((performance.now() - from) / 1000).toFixed(1)} s, resident memory ${mib(before)} + ${mib(peak - before)} at most`,
    );
  }
}

function print(title: string, figures: readonly Figure[]): void {
  console.log(`\n${title.padEnd(58)} ${"p50 ms".padStart(8)} ${"p95 ms".padStart(8)}`);
  for (const { what, p50, p95 } of figures)
    console.log(`${what.padEnd(58)} ${p50.toFixed(1).padStart(8)} ${p95.toFixed(1).padStart(8)}`);
  const lists = figures.filter(({ what }) => what.startsWith("list") || what.startsWith("order"));
  if (lists.length === 0) return;
  const worst = lists.reduce((a, b) => (b.p95 > a.p95 ? b : a));
  const within = (limit: number) => lists.filter(({ p95 }) => p95 <= limit).length;
  console.log(
    `first pages: ${within(10)} of ${lists.length} within 10 ms, ${within(GATE_MS)} within ${GATE_MS} ms (p95); worst: ${worst.what}, ${worst.p95.toFixed(1)} ms`,
  );
}
