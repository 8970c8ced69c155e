// The steps that are run with one server or several: the figures of each step are recorded, and its effects are waited
// for.
import { type BenchServer, type Caller, signIn } from "../../../bench/support/serve.ts";
import { SECRET } from "../../e2e/support/agents.ts";
import { insist, pause } from "../support/check.ts";
import { actOnHosts } from "./actions.ts";
import { hasRows, SoakAgent } from "./agents.ts";
import { carveFiles, countThings, type Figures, inAll, policiesOf, reportOf } from "./figures.ts";
import { runJobs } from "./jobs.ts";
import { askLive } from "./live.ts";
import { endSessions, meetLimits } from "./sessions.ts";

const SETTLED_MS = 60_000;

export async function scenario(
  server: BenchServer,
  { hosts, rounds }: { readonly hosts: number; readonly rounds: number },
): Promise<Figures> {
  const figures: Figures = {};
  // One session: signed in on one server, used on all of them.
  const call = await signIn(server);
  await call("POST", "/spec/enroll_secret", { spec: { secrets: [{ secret: SECRET }] } });
  const agents = await Promise.all(Array.from({ length: hosts }, (_, i) => new SoakAgent(server, i).enroll()));
  const things = new Things(call);
  await things.make();
  for (let round = 0; round < rounds; round++) {
    // The queries change between the moment when hosts receive them and the moment when they send results.
    const outdated = await Promise.all(agents.map((agent) => agent.read()));
    const made = await things.change(round);
    const { passing_host_count, failing_host_count, unanswered_host_count } = made;
    figures[`new policy ${round}`] = [passing_host_count, failing_host_count, unanswered_host_count];
    await Promise.all(agents.map((agent, i) => agent.answer(outdated[i]!)));
    await settle(agents, things, round);
  }
  figures.live = await askLive(server, call, agents);
  figures.carves = await carveFiles(call, agents.slice(0, 5));
  figures.actions = await actOnHosts(server, call, agents.slice(0, 6));
  figures.sessions = await endSessions(server, call);
  figures.limits = await meetLimits(server);
  figures.jobs = await runJobs(call);
  return { ...figures, ...(await countThings(call, things.queries)) };
}

/** Hosts check in repeatedly until everything matches their results. */
async function settle(agents: readonly SoakAgent[], things: Things, round: number): Promise<void> {
  const end = Date.now() + SETTLED_MS;
  for (;;) {
    await Promise.all(agents.map((agent) => agent.checkIn(round)));
    const wrong = await things.wrong(agents.length, round);
    if (wrong.length === 0) return;
    insist(Date.now() < end, () => `round ${round}: ${wrong.join("; ")}`);
    await pause(50);
  }
}

/** Policies, a label and scheduled queries, which change from round to round. */
class Things {
  readonly queries: number[] = [];
  readonly #call: Caller;
  readonly #policies: number[] = [];
  #label = "";

  constructor(call: Caller) {
    this.#call = call;
  }

  async make(): Promise<void> {
    for (let i = 0; i < 3; i++)
      await this.#addPolicy({ name: `policy ${i}`, query: `SELECT ${i};`, ...(i === 2 ? { platform: "linux" } : {}) });
    await this.#applyLabel("SELECT 'label';");
    await this.#addQuery("scheduled");
  }

  /** Returns the new policy as another server shows it. */
  async change(round: number) {
    await this.#call("PATCH", `/policies/${this.#policies[round % 3]}`, { query: `SELECT 'changed ${round}';` });
    const id = await this.#addPolicy({ name: `new ${round}`, query: `SELECT 'new ${round}';` });
    await this.#applyLabel(`SELECT 'label ${round}';`);
    await this.#call("PATCH", `/queries/${this.queries[0]}`, { query: `SELECT 'scheduled ${round}';` });
    await this.#addQuery(`scheduled ${round}`);
    // Labels are due once an hour: hosts that have answered evaluate them again after a refetch.
    const { hosts } = await this.#call<{ hosts: { id: number }[] }>("GET", "/hosts?per_page=10000");
    for (const host of hosts) await this.#call("POST", `/hosts/${host.id}/refetch`);
    return (await policiesOf(this.#call)).find((one) => one.id === id)!;
  }

  async #addPolicy(body: object): Promise<number> {
    const { policy } = await this.#call<{ policy: { id: number } }>("POST", "/policies", body);
    this.#policies.push(policy.id);
    return policy.id;
  }

  async #addQuery(name: string): Promise<void> {
    const body = { name, query: `SELECT '${name}';`, interval: 60 };
    this.queries.push((await this.#call<{ query: { id: number } }>("POST", "/queries", body)).query.id);
  }

  async #applyLabel(query: string): Promise<void> {
    await this.#call("POST", "/spec/labels", { specs: [{ name: "some", query }] });
    this.#label = query;
  }

  /** Differences between the results of all hosts and the state on any server. */
  async wrong(hosts: number, round: number): Promise<string[]> {
    const members = (query: string) =>
      Array.from({ length: hosts }, (_, i) => hasRows(i, query)).filter((isMember) => isMember).length;
    const wrong: string[] = [];
    const compare = (what: string, found: readonly unknown[], wanted: readonly unknown[]) => {
      if (JSON.stringify(found) !== JSON.stringify(wanted)) wrong.push(`${what} is ${found}, and should be ${wanted}`);
    };
    for (const policies of await inAll(() => policiesOf(this.#call)))
      for (const { id, query, ...counts } of policies) {
        const found = [counts.passing_host_count, counts.failing_host_count, counts.unanswered_host_count];
        compare(`policy ${id}`, found, [members(query), hosts - members(query), 0]);
      }
    for (const { labels } of await inAll(() =>
      this.#call<{ labels: { name: string; count: number }[] }>("GET", "/labels"),
    ))
      compare("label", [labels.find(({ name }) => name === "some")?.count], [members(this.#label)]);
    for (const id of this.queries) {
      const rows = (await reportOf(this.#call, id)).filter(({ columns }) => columns.round === String(round));
      compare(`report ${id}`, [rows.length], [hosts]);
    }
    return wrong;
  }
}
