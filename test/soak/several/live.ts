// A live query: started on one server, read from another, and answered on any.
import type { BenchServer, Caller } from "../../../bench/support/serve.ts";
import { insist, until } from "../support/check.ts";
import type { SoakAgent } from "./agents.ts";
import { inAll } from "./figures.ts";

const LIVE = "svc_distributed_query_";
const ENDED_MS = 60_000;

interface LiveQuery {
  readonly id: number;
  readonly status: string;
  readonly ended_by: string | null;
  readonly counts: Readonly<Record<string, number>>;
}

interface Answer {
  readonly host: { readonly hostname: string };
  readonly rows: readonly unknown[];
}

export async function askLive(server: BenchServer, call: Caller, agents: readonly SoakAgent[]): Promise<unknown> {
  const { hosts } = await call<{ hosts: { id: number }[] }>("GET", "/hosts?per_page=10000");
  const body = { query: "SELECT 'live';", selected: { hosts: hosts.map(({ id }) => id) } };
  const { live_query } = await call<{ live_query: LiveQuery }>("POST", "/queries/live", body);
  const path = `/queries/live/${live_query.id}`;
  const answers = readStream(server, call, path);
  await Promise.all(
    agents.map((agent) =>
      until("a host is asked live", ENDED_MS, async () => {
        const queries = await agent.read();
        await agent.answer(queries);
        return Object.keys(queries).some((name) => name.startsWith(LIVE));
      }),
    ),
  );
  const state = async () => (await call<{ live_query: LiveQuery }>("GET", path)).live_query;
  await until("the live query ends", ENDED_MS, async () =>
    (await inAll(state)).every(({ status }) => status === "complete"),
  );
  const { counts, ended_by } = await state();
  insist(counts.answered === agents.length, () => `not all hosts answered: ${JSON.stringify(counts)}`);
  return { counts, ended_by, answers: await answers };
}

/** All results, read from the event stream until its end. */
async function readStream(server: BenchServer, call: Caller, path: string): Promise<string[]> {
  const { token } = await call<{ token: string }>("POST", "/login", {
    email: server.email,
    password: server.password,
  });
  const headers = { authorization: `Bearer ${token}` };
  const reply = await server.send(`/api/v1/svc${path}/stream`, { headers, signal: AbortSignal.timeout(2 * ENDED_MS) });
  insist(reply.ok, `the stream was refused: ${reply.status}`);
  const events = (await reply.text()).split("\n\n").map((text) => ({
    event: /^event: (.*)$/m.exec(text)?.[1],
    data: /^data: (.*)$/m.exec(text)?.[1],
  }));
  return events
    .filter(({ event }) => event === "result")
    .map(({ data }) => JSON.parse(data ?? "null") as Answer)
    .map(({ host, rows }) => `${host.hostname} ${JSON.stringify(rows)}`)
    .sort();
}
