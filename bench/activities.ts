// A million activities: the time until a first start has added them to the chain, lists with search and filters, the
// export, and the verification of the whole chain. `npm run bench -- activities [lowdb|postgres] [count]`
import { execFile } from "node:child_process";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { promisify } from "node:util";
import { pino } from "pino";
import type { Verification } from "../src/api/platform/activities.ts";
import { startServer } from "../src/server/main.ts";
import { openStore } from "../src/server/open-data.ts";
import type { ServerStore } from "../src/server/platform/core/tables.ts";
import { isNull } from "../src/server/platform/store/query.ts";
import { median, quantile } from "./support/figures.ts";
import { adminOf, type EngineName, makePlace, onEngines } from "./support/place.ts";

const ROUNDS = 25;
/** Limit for a page of the feed in milliseconds (95th percentile). */
const GATE_MS = 100;
/** Limit for the additional memory of an export. */
const GATE_MIB = 50;
const PEOPLE = 500;
const BATCH_SIZE = 5000;
const VERIFY_BATCH_SIZE = 50_000;

/** Most are sign-ins and enrollments; some types are rare. */
const kinds: readonly (readonly [type: string, share: number])[] = [
  ["user_logged_in", 0.4],
  ["svc_enrolled", 0.3],
  ["live_query", 0.15],
  ["edited_policy", 0.1],
  ["transferred_hosts", 0.049],
  ["deleted_team", 0.001],
];

export const run = (args: readonly string[]): Promise<void> =>
  onEngines(args, { postgres: 1_000_000, lowdb: 100_000 }, measure);

async function measure(engine: EngineName, count: number): Promise<void> {
  const place = await makePlace(engine);
  const { settings } = place;
  const log = pino({ level: "silent" });
  try {
    const filling = performance.now();
    const store = await openStore(settings, log);
    await fill(store, count);
    await store.close();
    await place.analyze();
    console.log(`\n${engine}: ${count} activities written in ${seconds(filling)} s, none of them in the chain`);

    const stalls = monitorEventLoopDelay({ resolution: 5 });
    const starting = performance.now();
    const server = await startServer(settings, log);
    stalls.enable();
    const used = process.cpuUsage();
    try {
      while ((await server.services.store.activities.count(isNull("chain_position"))) > 0)
        await new Promise((resolve) => setTimeout(resolve, 250));
      const took = (performance.now() - starting) / 1000;
      const { user, system } = process.cpuUsage(used);
      console.log(
        `sealed in ${took.toFixed(1)} s after the start: ${Math.round(count / took)}/s, server CPU ${((user + system) / count).toFixed(0)} µs an entry; longest stall ${(stalls.max / 1e6).toFixed(0)} ms`,
      );
      await place.analyze();
      const admin = await adminOf(server, { connections: 4 });
      try {
        await lists(admin.get);
        for (const format of ["ndjson", "csv"]) await exported(new URL(server.url), admin.token, format);
        await verified(admin.get, stalls);
      } finally {
        await admin.close();
      }
    } finally {
      stalls.disable();
      await server.stop();
    }
  } finally {
    await place.remove();
  }
}

function typeAt(place: number): string {
  let upTo = 0;
  for (const [type, share] of kinds) {
    upTo += share;
    if (place < upTo) return type;
  }
  return "user_logged_in";
}

/**
 * The teams of an entry: 1 has half of them and 2 a hundredth, evenly; 3 and 5 have a thousandth and a hundredth, all of
 * them the oldest; 4 has a few anywhere.
 */
function teamsAt(place: number, dice: number): number[] {
  if (place < 0.011) return [place < 0.001 ? 3 : 5];
  if (dice < 0.00003) return [4];
  return dice < 0.01 ? [2] : dice < 0.5 ? [1] : [];
}

async function fill(store: ServerStore, count: number): Promise<void> {
  const start = Date.now() - count * 1000;
  let dice = 7;
  const random = () => {
    dice = (dice * 48_271) % 2_147_483_647;
    return dice / 2_147_483_647;
  };
  for (let at = 0; at < count; at += BATCH_SIZE)
    await store.activities.insertMany(
      Array.from({ length: Math.min(BATCH_SIZE, count - at) }, (_, i) => {
        const n = at + i;
        const type = typeAt(random());
        const isEnrollment = type === "svc_enrolled";
        // A skewed distribution: person 0 is the actor of half of them, the last person of a handful.
        const person = Math.floor(PEOPLE * random() ** 6);
        return {
          created_at: new Date(start + n * 1000).toISOString(),
          type,
          svc_initiated: isEnrollment,
          actor_id: isEnrollment ? null : person + 1,
          actor_full_name: isEnrollment
            ? "svc"
            : `Person Number${person} of ${person % 7 === 0 ? "Operations" : "Support"}`,
          actor_email: isEnrollment ? null : `person.${person}@example.com`,
          actor_gravatar: isEnrollment ? null : "",
          actor_api_only: isEnrollment ? null : person % 10 === 0,
          actor_address: `198.51.100.${person % 250}`,
          host_id: isEnrollment ? n : null,
          team_ids: teamsAt(n / count, random()),
          details_text: "",
          details: isEnrollment
            ? { host_id: n, host_serial: `S${n}`, host_display_name: `host-${n}.example.com` }
            : { public_ip: `198.51.100.${person % 250}` },
        };
      }),
    );
}

async function lists(get: (path: string) => Promise<string>): Promise<void> {
  const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
  const filters = {
    none: "",
    "search, many": "query=person",
    "search, one in two": "query=number0",
    "search, few": "query=number499",
    "search, email": "query=person.250@example.com",
    "search, two letters": "query=op",
    "search, nobody": "query=zzzzzz",
    "type, common": "activity_type=user_logged_in",
    "type, rare": "activity_type=deleted_team",
    "type, none": "activity_type=created_pack",
    "types, three": "activity_type=deleted_team,transferred_hosts,edited_policy",
    "one actor, many": "actor_id=1",
    "one actor, few": "actor_id=499",
    "one host": "host_id=77777",
    "team, half of all": "team_id=1",
    "team, one in a hundred": "team_id=2",
    "team, few, all old": "team_id=3",
    "team, one in a hundred, all old": "team_id=5",
    "team, few, any time": "team_id=4",
    "team, none": "team_id=6",
    "team and type": "team_id=2&activity_type=user_logged_in",
    "team with few, rare type": "team_id=3&activity_type=deleted_team",
    "team with many, rare type": "team_id=1&activity_type=deleted_team",
    "time, a day": `start_created_at=${day(3)}&end_created_at=${day(2)}`,
    "search and common type": "query=operations&activity_type=user_logged_in",
    "search and rare type": "query=operations&activity_type=deleted_team",
    "search of few and rare type": "query=number499&activity_type=deleted_team",
    "search of few, common type": "query=number499&activity_type=user_logged_in",
    "search of many, absent type": "query=person&activity_type=created_pack",
    "search, type, time": `query=operations&activity_type=live_query&start_created_at=${day(4)}&end_created_at=${day(1)}`,
    "search of few, time": `query=number450&start_created_at=${day(5)}&end_created_at=${day(4)}`,
    "absent type, time": `activity_type=created_pack&start_created_at=${day(5)}`,
  };
  const orders = {
    "newest first": "&order_key=created_at&order_direction=desc",
    "the order by default": "",
    "newest id first": "&order_key=id&order_direction=desc",
  };
  console.log(`${"list of 50".padEnd(58)} ${"p50 ms".padStart(8)} ${"p95 ms".padStart(8)}`);
  // A baseline that shows other load on the machine.
  print("no list: the version", await timed(() => get("/version")));
  const worst = { time: 0, id: 0 };
  for (const [filter, query] of Object.entries(filters))
    for (const [order, by] of Object.entries(orders)) {
      const took = await timed(() => get(`/activities?page=0&per_page=50${by}&${query}`));
      const kind = order === "newest id first" ? "id" : "time";
      worst[kind] = Math.max(worst[kind], quantile(took, 0.95));
      print(`${filter}; ${order}`, took);
    }
  print("tenth page, newest first", await timed(() => get(`/activities?page=9&per_page=50${orders["newest first"]}`)));
  print("follow what is there, last 50", await timed(() => get("/activities/stream?once=true&last=50")));
  console.log(
    `worst p95 of lists in the order of time: ${worst.time.toFixed(1)} ms, at most ${GATE_MS}; of ids: ${worst.id.toFixed(1)} ms`,
  );
}

async function timed(work: () => Promise<unknown>): Promise<number[]> {
  for (let i = 0; i < 3; i++) await work();
  const took: number[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    const from = performance.now();
    await work();
    took.push(performance.now() - from);
  }
  return took;
}

const print = (what: string, took: readonly number[]) =>
  console.log(
    `${what.padEnd(58)} ${median(took).toFixed(1).padStart(8)} ${quantile(took, 0.95).toFixed(1).padStart(8)}`,
  );

/**
 * The reader is another process, so that only the server's memory is measured: resident memory and used heap.
 * Resident memory includes garbage that V8 has not collected yet; with `NODE_OPTIONS=--expose-gc` garbage is
 * collected before each measurement of the heap.
 */
async function exported(url: URL, token: string, format: string): Promise<void> {
  const held = () => {
    global.gc?.();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const from = performance.now();
  const heldBefore = held();
  const before = process.memoryUsage().rss;
  let peak = before;
  let most = heldBefore;
  const looks = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
    most = Math.max(most, held());
  }, 500);
  const script = `const res = await fetch(${JSON.stringify(new URL(`/api/v1/svc/activities/export?format=${format}`, url))}, {headers: {authorization: "Bearer " + process.env.TOKEN}});
    let bytes = 0; for await (const chunk of res.body) bytes += chunk.length; console.log(bytes);`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], {
    env: { ...process.env, TOKEN: token },
  });
  clearInterval(looks);
  const mib = (size: number) => `${(size / 2 ** 20).toFixed(0)} MiB`;
  console.log(
    `export as ${format}: ${mib(Number(stdout))} in ${seconds(from)} s, memory held ${mib(heldBefore)} + ${mib(most - heldBefore)}, at most ${GATE_MIB} MiB more; resident ${mib(before)} + ${mib(peak - before)}`,
  );
}

async function verified(
  get: (path: string) => Promise<string>,
  stalls: ReturnType<typeof monitorEventLoopDelay>,
): Promise<void> {
  stalls.reset();
  const from = performance.now();
  let checked = 0;
  for (let next: number | null = 0; next !== null; ) {
    const query: string = next === 0 ? "" : `&from=${next}`;
    const chain: Verification = JSON.parse(await get(`/audit/verify?limit=${VERIFY_BATCH_SIZE}${query}`));
    if (!chain.ok) throw new Error(chain.problem?.detail);
    checked += chain.checked;
    next = chain.next;
  }
  console.log(
    `audit verify: ${checked} entries in ${seconds(from)} s, longest stall ${(stalls.max / 1e6).toFixed(0)} ms`,
  );
}

const seconds = (from: number): string => ((performance.now() - from) / 1000).toFixed(1);
