// Postgres frozen (processes stopped, connections open) with callers and agents: clear refusals within seconds.
//   npm run test:soak -- postgres-freeze --cycles 20
import type { SoakArgs } from "./main.ts";
import { probeAway } from "./postgres-restart.ts";
import { Bed, build } from "./support/bed.ts";
import { insist, numberOf, pause, until } from "./support/check.ts";
import { Door, enrollBody } from "./support/door.ts";
import { SECRET } from "./support/writers.ts";

/** The time limit for a reply, whatever the database does. */
const ANSWER_MS = 5_000;
const HEALTHY_MS = 10_000;

/** `patience` multiplies the times that are allowed, for machines that are busy with other work. */
export async function postgresFreezes({
  cycles,
  patience = 1,
}: {
  cycles: number;
  patience?: number;
}): Promise<string> {
  const bed = await Bed.make({ engine: "postgres" });
  try {
    const server = await bed.start();
    const door = await Door.open(server);
    const call = door.caller();
    await call("POST", "/spec/enroll_secret", { spec: { secrets: [{ secret: SECRET }] } });
    const enrolled = await door.agent("enroll", enrollBody("known", SECRET));
    const nodeKey = enrolled?.json.node_key;
    insist(typeof nodeKey === "string", "the agent could not enroll");
    let slowest = 0;
    let recovery = 0;
    for (let cycle = 1; cycle <= cycles; cycle++) {
      const team = `before-${cycle}`;
      await call("POST", "/teams", { name: team });
      bed.postgres!.pause();
      try {
        const frozen = performance.now();
        await Promise.all([probeAway(door), probeKnown(door, nodeKey)]);
        slowest = Math.max(slowest, performance.now() - frozen);
        // No request is waiting by now: callers are refused immediately.
        const again = performance.now();
        await probeAway(door);
        insist(
          performance.now() - again < 2_000 * patience,
          "a database that is known to be silent is still waited for",
        );
        const text = await door.text("/metrics");
        insist(/^svc_store_stat\{name="unreachable",engine="postgres"\} 1$/m.test(text), "the metrics do not show it");
      } finally {
        bed.postgres!.resume();
      }
      const back = async () => (await door.health()) === 200;
      recovery = Math.max(recovery, await until("healthy again", HEALTHY_MS * patience, back));
      await call("POST", "/teams", { name: `after-${cycle}` });
      const read = await door.agent("distributed/read", { node_key: nodeKey });
      insist(read?.status === 200 && !("error" in read.json), () => `the agent is refused: ${JSON.stringify(read)}`);
      const { teams } = await call<{ teams: { name: string }[] }>("GET", "/teams?per_page=1000");
      insist(teams.filter(({ name }) => name === team).length === 1, "a change that was acknowledged is lost");
      insist(bed.alive === server, "another server runs");
      await pause(200);
    }
    insist(slowest < ANSWER_MS * patience, `the slowest answer took ${Math.round(slowest)} ms`);
    await bed.stop();
    await bed.dbCheck();
    return `${cycles} times frozen: answers after at most ${Math.round(slowest)} ms, healthy at most ${recovery} ms after it, 0 lost`;
  } finally {
    await bed.dispose();
  }
}

/** An agent that this server knows: it gets a reply from memory or a clear refusal, and never has to enroll again. */
async function probeKnown(door: Door, node_key: string): Promise<void> {
  const answers = await Promise.all([
    door.agent("config", { node_key }),
    door.agent("distributed/read", { node_key }),
    door.agent("log", { node_key, log_type: "status", data: [] }),
    door.agent("distributed/write", {
      node_key,
      queries: { svc_detail_query_system_info: [{ hostname: "known", uuid: "uuid-known" }] },
      statuses: { svc_detail_query_system_info: 0 },
    }),
  ]);
  for (const answer of answers)
    insist(
      (answer?.status === 200 || answer?.status === 503) && !("node_invalid" in answer.json),
      () => `a known agent got ${JSON.stringify(answer)}`,
    );
}

export async function run(args: SoakArgs): Promise<string> {
  await build();
  return postgresFreezes({ cycles: numberOf(args, "cycles", 20) });
}
