// First pages of 50 rows of every list of the console, facets, and checks of selectors, with 100,000 hosts.
// `npm run bench -- first-pages [lowdb|postgres] [hosts]`
import { pino } from "pino";
import { startServer } from "../src/server/main.ts";
import type { Services } from "../src/server/platform/core/context.ts";
import { recountSoftware } from "../src/server/software/software/counts.ts";
import { recountVulnerabilities } from "../src/server/software/software/vulnerabilities/recount.ts";
import { type FilledStore, fillHosts } from "./support/many-hosts.ts";
import { type Admin, adminOf, type EngineName, makePlace } from "./support/place.ts";

const ROUNDS = 40;
const SOFTWARE_EACH = 50;
/** Limit for the 95th percentile, and the goal, in milliseconds. */
const LIMIT_MS = 150;
const GOAL_MS = 30;

export async function run(args: readonly string[]): Promise<void> {
  const only = args.find((arg) => arg === "lowdb" || arg === "postgres");
  const hosts = Number(args.find((arg) => /^\d+$/.test(arg)) ?? 100_000);
  for (const engine of ["lowdb", "postgres"] as const)
    if (only === undefined || only === engine) await measure(engine, hosts);
}

async function measure(engine: EngineName, hosts: number): Promise<void> {
  const place = await makePlace(engine);
  const server = await startServer(place.settings, pino({ level: "silent" }));
  let admin: Admin | undefined;
  try {
    const started = Date.now();
    const filled = await fillHosts(server.services, hosts, SOFTWARE_EACH);
    await fillOthers(server.services, hosts);
    const never = AbortSignal.timeout(3_600_000);
    await recountSoftware(server.services, never);
    await recountVulnerabilities(server.services, never);
    await place.analyze();
    console.log(`${engine}: ${hosts} hosts with ${SOFTWARE_EACH} software each, made in ${Date.now() - started} ms`);
    admin = await adminOf(server, { connections: 4 });
    await report(admin, filled);
  } finally {
    await admin?.close();
    await server.stop();
    await place.remove();
  }
}

/** Activities, a thousand users and five hundred queries. */
async function fillOthers({ store, clock }: Services, activities: number): Promise<void> {
  const now = clock.iso();
  const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);
  await store.users.insertMany(
    numbers(1000).map((n) => ({
      created_at: now,
      updated_at: now,
      name: `Person ${n}`,
      email: `person.${n}@example.com`,
      global_role: "observer" as const,
    })),
  );
  await store.queries.insertMany(
    numbers(500).map((n) => ({ created_at: now, updated_at: now, name: `Query ${n}`, query: "SELECT 1" })),
  );
  for (let at = 0; at < activities; at += 2000)
    await store.activities.insertMany(
      numbers(2000).map((n) => ({
        created_at: new Date(clock.now() - (activities - at - n) * 1000).toISOString(),
        type: "user_logged_in",
        svc_initiated: false,
        actor_id: 1,
        actor_full_name: `Person ${n}`,
        actor_email: `person.${n}@example.com`,
        details: { public_ip: "198.51.100.7" },
      })),
    );
}

const where = (text: string): string => `where=${encodeURIComponent(text)}`;

function pathsOf({ teamId, labelId, policyId }: FilledStore): Readonly<Record<string, string>> {
  const page = "page=0&per_page=50";
  const fields = "fields=display_name,status,platform,os_version,team_name,seen_time,issues,labels";
  return {
    hosts: `/hosts?${page}`,
    "hosts, eight fields": `/hosts?${page}&${fields}`,
    "hosts, by name": `/hosts?${page}&${fields}&order_key=display_name`,
    "hosts, last seen first": `/hosts?${page}&${fields}&order_key=seen_time&order_direction=desc`,
    "hosts, with their number": `/hosts?${page}&${fields}&with_count=true`,
    "hosts, online": `/hosts?${page}&${fields}&status=online`,
    "hosts, of a team": `/hosts?${page}&${fields}&team_id=${teamId}&order_key=display_name`,
    "hosts, of a label": `/hosts?${page}&${fields}&label_id=${labelId}`,
    "hosts, searched": `/hosts?${page}&${fields}&query=host-77`,
    "hosts, failing a policy": `/hosts?${page}&${fields}&policy_id=${policyId}&policy_response=failing`,
    "hosts, not answering a policy": `/hosts?${page}&${fields}&policy_id=${policyId}&policy_response=none`,
    "hosts, by a selector": `/hosts?${page}&${fields}&${where("platform = darwin and seen < 7d")}`,
    "software titles": `/software/titles?${page}`,
    "software titles, of a team": `/software/titles?${page}&team_id=${teamId}`,
    "software versions": `/software/versions?${page}`,
    vulnerabilities: `/vulnerabilities?${page}`,
    policies: `/global/policies?${page}`,
    "policies of a team": `/teams/${teamId}/policies?${page}&merge_inherited=true`,
    queries: `/queries?${page}`,
    activities: `/activities?${page}`,
    labels: `/labels?${page}`,
    "labels, by name only": "/labels/summary",
    users: `/users?${page}`,
    "facets: platform, status": "/hosts/facets?by=platform,status",
    "facets: platform, status, team, label": "/hosts/facets?by=platform,status,team,label",
    "facets: those, of online Macs": `/hosts/facets?by=platform,status,team,label&status=online&${where("platform = darwin")}`,
    "facets: MDM, encryption, settings":
      "/hosts/facets?by=mdm_enrollment_status,os_settings_disk_encryption,os_settings",
    "facets: failing policies, issues": "/hosts/facets?by=failing_policy,has_issues,has_critical_vulnerabilities",
    "facets: vulnerable": "/hosts/facets?by=vulnerable",
  };
}

const checks = ["", "platform = ", "platform = darwin and seen < 7d and team = ", "software.name ~ prog"];

async function report(admin: Admin, filled: FilledStore): Promise<void> {
  const late: string[] = [];
  const time = async (what: string, work: () => Promise<unknown>) => {
    for (let i = 0; i < 3; i++) await work();
    const took: number[] = [];
    for (let i = 0; i < ROUNDS; i++) {
      const from = performance.now();
      await work();
      took.push(performance.now() - from);
    }
    took.sort((a, b) => a - b);
    const p50 = took[Math.floor(ROUNDS / 2)]!;
    const p95 = took[Math.floor(ROUNDS * 0.95)]!;
    if (p95 > GOAL_MS) late.push(`${what}: ${p95.toFixed(0)} ms${p95 > LIMIT_MS ? ", above the limit" : ""}`);
    console.log(`${what.padEnd(60)} ${p50.toFixed(1).padStart(8)} ${p95.toFixed(1).padStart(8)}`);
  };
  console.log(`${"".padEnd(60)} ${"p50 ms".padStart(8)} ${"p95 ms".padStart(8)}`);
  for (const [what, path] of Object.entries(pathsOf(filled))) await time(what, () => admin.get(path));
  for (const text of checks)
    await time(`selector: ${text}`, async () => {
      const init = { method: "POST", body: JSON.stringify({ where: text }) };
      const reply = await admin.request("/selectors/check", init);
      if (reply.status !== 200) throw new Error(`${text}: ${reply.status}`);
      await reply.text();
    });
  console.log(`later than ${GOAL_MS} ms (p95; limit ${LIMIT_MS} ms): ${late.join("; ") || "none"}`);
}
