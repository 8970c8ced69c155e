// Writers that record what the server acknowledged, through crashes of the server and its store, and then check that it
// exists.
import type { Caller } from "../../../bench/support/serve.ts";
import { insist, pause } from "./check.ts";
import { type Answer, type Door, enrollBody, everyRow } from "./door.ts";

export const SECRET = "acknowledged-enroll-secret";

export interface WriterOptions {
  /** Whether a reply may be missing, because the server is killed. */
  readonly mayVanish: boolean;
  /** Milliseconds between two writes of one writer. */
  readonly everyMs?: number;
  readonly reporters?: number;
}

interface Register {
  readonly name: string;
  nodeKey: string | null;
  /** The highest acknowledged value, and the highest that was sent. */
  acknowledged: number;
  sent: number;
}

/** A scheduled query that simulated agents do not run, so that its report only contains what is logged here. */
const COUNTED = { name: "counted", query: "SELECT 1;", interval: 60, platform: "chrome" };

export interface StoredCounts {
  teams: number;
  users: number;
  hosts: number;
  reports: number;
  /** Query results. */
  results: number;
  secrets: number;
  refused: number;
}

/** Every name is used once and sent until it is acknowledged, as a careful client would do. */
export class Writers {
  readonly #door: Door;
  readonly #options: WriterOptions;
  readonly #teams = new Map<string, number>();
  readonly #users = new Map<string, number>();
  readonly #hosts = new Map<string, string>();
  /** Sent, but neither acknowledged nor refused permanently: it may exist or not. */
  readonly #open = new Set<string>();
  readonly #registers: Register[];
  /** What each of them logged as the result of a scheduled query. */
  readonly #logged: Register[];
  readonly #secret: Register = { name: "secret", nodeKey: null, acknowledged: 0, sent: 0 };
  readonly #odd: string[] = [];
  #refused = 0;
  #isOver = false;
  #running: Promise<unknown> = Promise.resolve();

  constructor(door: Door, options: WriterOptions) {
    this.#door = door;
    this.#options = options;
    this.#registers = Array.from({ length: options.reporters ?? 4 }, (_, i) => ({
      name: `reporter-${i}`,
      nodeKey: null,
      acknowledged: 0,
      sent: 0,
    }));
    this.#logged = this.#registers.map(({ name }) => ({ name, nodeKey: null, acknowledged: 0, sent: 0 }));
  }

  start(): void {
    this.#running = Promise.all([
      this.#creating(
        "teams",
        this.#teams,
        (name) => ["/teams", { name }],
        (json) => idOf(json.team),
      ),
      this.#creating(
        "users",
        this.#users,
        (name) => ["/users/admin", userBody(name)],
        (json) => idOf(json.user),
        4,
      ),
      this.#enrolling(0),
      this.#enrolling(1),
      ...this.#registers.map((register) => this.#reporting(register)),
      this.#logging(),
      this.#settingSecrets(),
    ]);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  /** The number of writes acknowledged so far. */
  get acknowledged(): number {
    const reports = this.#registers.reduce((sum, { acknowledged }) => sum + acknowledged, 0);
    const results = this.#logged.reduce((sum, { acknowledged }) => sum + acknowledged, 0);
    return this.#teams.size + this.#users.size + this.#hosts.size + reports + results + this.#secret.acknowledged;
  }

  /** The number of acknowledged reports or query results so far, whichever is lower: these take longest to begin. */
  get progress(): number {
    const of = (registers: readonly Register[]) => registers.reduce((sum, { acknowledged }) => sum + acknowledged, 0);
    return Math.min(of(this.#registers), of(this.#logged));
  }

  async #creating(
    kind: string,
    into: Map<string, number>,
    request: (name: string) => [path: string, body: unknown],
    read: (json: Record<string, unknown>) => number | null,
    slower = 1,
  ): Promise<void> {
    for (let n = 0; !this.#isOver; n++) {
      const name = `${kind}-${n}`;
      const [path, body] = request(name);
      for (let tries = 1; ; tries++) {
        this.#open.add(name);
        const answer = await this.#door.call("POST", path, body);
        const id = answer?.status === 200 ? read(answer.json) : null;
        if (id !== null) {
          into.set(name, id);
          this.#open.delete(name);
          break;
        }
        // The name is taken, because an earlier try succeeded although its reply was lost.
        if (answer?.status === 409 && tries > 1) break;
        this.#failed(kind, answer);
        if (this.#isOver) return;
        await pause(50);
      }
      await pause(slower * (this.#options.everyMs ?? 10));
    }
  }

  async #enrolling(by: number): Promise<void> {
    for (let n = 0; !this.#isOver; n++) {
      const name = `enrolled-${by}-${n}`;
      const key = await this.#enrolled(name);
      if (key === null) return;
      this.#hosts.set(name, key);
      await pause(2 * (this.#options.everyMs ?? 10));
    }
  }

  /** The node key, after as many tries as necessary; null if the test has ended. */
  async #enrolled(name: string): Promise<string | null> {
    for (;;) {
      this.#open.add(name);
      const answer = await this.#door.agent("enroll", enrollBody(name, SECRET));
      if (typeof answer?.json.node_key === "string") {
        this.#open.delete(name);
        return answer.json.node_key;
      }
      this.#failed("enroll", answer);
      if (this.#isOver) return null;
      await pause(50);
    }
  }

  async #reporting(register: Register): Promise<void> {
    register.nodeKey ??= await this.#enrolled(register.name);
    const id = await this.#hostId(register.name);
    while (!this.#isOver && register.nodeKey !== null && id !== null) {
      // Only a limited amount of inventory that nobody requested is stored per hour.
      const requested = await this.#door.call("POST", `/hosts/${id}/refetch`);
      if (requested?.status !== 200) {
        this.#failed("refetch", requested);
        await pause(50);
        continue;
      }
      const value = ++register.sent;
      const answer = await this.#door.agent("distributed/write", reportBody(register.nodeKey, register.name, value));
      if (answer?.status === 200 && !("error" in answer.json)) register.acknowledged = value;
      else {
        this.#failed("distributed/write", answer);
        // A newer value must not overtake one that is still being processed.
        await pause(50);
      }
      await pause(this.#options.everyMs ?? 10);
    }
  }

  /** Null if the test has ended. */
  async #hostId(name: string): Promise<number | null> {
    while (!this.#isOver) {
      const answer = await this.#door.call("GET", `/hosts/identifier/uuid-${name}`);
      if (answer?.status === 200) return idOf(answer.json.host);
      // An agent's identity is stored shortly after its enrollment.
      if (answer?.status !== 404) this.#failed("identifier", answer);
      await pause(50);
    }
    return null;
  }

  async #logging(): Promise<void> {
    while (!this.#isOver) {
      const answer = await this.#door.call("POST", "/queries", COUNTED);
      if (answer?.status === 200 || answer?.status === 409) break;
      this.#failed("queries", answer);
      await pause(50);
    }
    await Promise.all(
      this.#logged.map(async (register, i) => {
        while (!this.#isOver) {
          const key = this.#registers[i]!.nodeKey;
          if (key !== null) await this.#logOne(register, key);
          await pause(this.#options.everyMs ?? 10);
        }
      }),
    );
  }

  async #logOne(register: Register, key: string): Promise<void> {
    const value = ++register.sent;
    const answer = await this.#door.agent("log", resultBody(key, register.name, value));
    if (answer?.status === 200 && !("error" in answer.json)) register.acknowledged = value;
    else {
      this.#failed("log", answer);
      await pause(50);
    }
  }

  async #settingSecrets(): Promise<void> {
    const secret = this.#secret;
    while (!this.#isOver) {
      const value = ++secret.sent;
      const secrets = [{ secret: SECRET }, { secret: `counted-secret-${value}` }];
      const answer = await this.#door.call("POST", "/spec/enroll_secret", { spec: { secrets } });
      if (answer?.status === 200) secret.acknowledged = value;
      else {
        this.#failed("enroll secret", answer);
        await pause(50);
      }
      await pause(2 * (this.#options.everyMs ?? 10));
    }
  }

  /** A write may only fail with a clear 503 or, if the server is killed, without a reply. */
  #failed(what: string, answer: Answer | null): void {
    this.#refused++;
    if (answer === null) {
      if (!this.#options.mayVanish) this.#odd.push(`${what}: no answer`);
      return;
    }
    const agents = what === "enroll" || what === "distributed/write" || what === "log";
    const isClear = agents
      ? "error" in answer.json && !("node_invalid" in answer.json)
      : typeof answer.json.message === "string" && Array.isArray(answer.json.errors);
    if (answer.status !== 503 || !isClear) this.#odd.push(`${what}: ${answer.status} ${JSON.stringify(answer.json)}`);
  }

  /** Fails unless all acknowledged data exists, exactly once. `others`: hosts that do not belong to the writers. */
  async verify(call: Caller, others: number): Promise<StoredCounts> {
    insist(this.#odd.length === 0, () => `${this.#odd.length} wrong answers: ${this.#odd.slice(0, 5).join("; ")}`);
    await this.#verifyNamed(call, "teams", this.#teams, "created_team", "team_name", (row) => String(row.name));
    await this.#verifyNamed(call, "users", this.#users, "created_user", "user_name", (row) => String(row.name));
    await this.#verifyHosts(call, others);
    const { spec } = await call<{ spec: { secrets: { secret: string }[] } }>("GET", "/spec/enroll_secret");
    const counted = spec.secrets.flatMap(({ secret }) => /^counted-secret-(\d+)$/.exec(secret)?.[1] ?? []);
    insist(counted.length === 1, `${counted.length} enroll secrets instead of one: half a change was kept`);
    this.#verifyRegister(this.#secret, Number(counted[0]));
    await this.#verifyResults(call);
    return {
      teams: this.#teams.size,
      users: this.#users.size,
      hosts: this.#hosts.size,
      reports: this.#registers.reduce((sum, { acknowledged }) => sum + acknowledged, 0),
      results: this.#logged.reduce((sum, { acknowledged }) => sum + acknowledged, 0),
      secrets: this.#secret.acknowledged,
      refused: this.#refused,
    };
  }

  async #verifyNamed(
    call: Caller,
    kind: "teams" | "users",
    acknowledged: ReadonlyMap<string, number>,
    activity: string,
    detail: string,
    nameOf: (row: Record<string, unknown>) => string,
  ): Promise<void> {
    const rows = (await everyRow(call, `/${kind}`, kind)).filter((row) => nameOf(row).startsWith(`${kind}-`));
    const found = new Map(rows.map((row) => [nameOf(row), Number(row.id)]));
    insist(found.size === rows.length, `${rows.length - found.size} ${kind} are there twice`);
    const lost = [...acknowledged].filter(([name, id]) => found.get(name) !== id);
    insist(lost.length === 0, () => `${lost.length} of ${acknowledged.size} ${kind} were lost: ${lost.slice(0, 5)}`);
    const told = (await everyRow(call, `/activities?activity_type=${activity}`, "activities"))
      .map((row) => String((row.details as Record<string, unknown>)[detail]))
      .filter((name) => name.startsWith(`${kind}-`));
    // Written in one transaction with the change that it records: neither exists without the other.
    insist(
      new Set(told).size === told.length,
      `${told.length - new Set(told).size} activities ${activity} are there twice`,
    );
    const untold = [...found.keys()].filter((name) => !told.includes(name));
    insist(untold.length === 0 && told.length === found.size, `${activity}: ${told.length} told of ${found.size}`);
  }

  async #verifyHosts(call: Caller, others: number): Promise<void> {
    const rows = await everyRow(call, "/hosts", "hosts");
    const found = new Map(rows.map((row) => [String(row.uuid), row]));
    insist(found.size === rows.length, `${rows.length - found.size} hosts are there twice`);
    const names = [...this.#hosts.keys(), ...this.#registers.flatMap(({ name, nodeKey }) => (nodeKey ? [name] : []))];
    const lost = names.filter((name) => !found.has(`uuid-${name}`));
    insist(lost.length === 0, () => `${lost.length} of ${names.length} enrolled hosts were lost: ${lost.slice(0, 5)}`);
    const mine = rows.filter((row) => String(row.uuid).startsWith("uuid-")).length;
    const most = names.length + [...this.#open].filter((name) => /^(enrolled|reporter)-/.test(name)).length;
    insist(mine <= most, `${mine} hosts of the writers, who enrolled ${most}`);
    insist(rows.length - mine === others, `${rows.length - mine} simulated hosts instead of ${others}`);
    for (const [name, node_key] of this.#hosts) {
      const answer = await this.#door.agent("config", { node_key });
      insist(answer?.status === 200 && !("error" in answer.json), `the key of ${name} does not work`);
    }
    for (const register of this.#registers) {
      if (register.nodeKey === null) continue;
      const row = found.get(`uuid-${register.name}`)!;
      const value = /-(\d+)$/.exec(String(row.hostname).slice(register.name.length))?.[1];
      this.#verifyRegister(register, Number(value ?? 0));
    }
  }

  async #verifyResults(call: Caller): Promise<void> {
    const { queries } = await call<{ queries: { id: number; name: string }[] }>("GET", "/queries");
    const counted = queries.find(({ name }) => name === COUNTED.name);
    if (!counted) return;
    const { results } = await call<{ results: { host_name: string; columns: { value: string } }[] }>(
      "GET",
      `/queries/${counted.id}/report`,
    );
    for (const register of this.#logged) {
      const own = results.filter(({ host_name }) => host_name.startsWith(register.name));
      insist(own.length <= 1, `the report has ${own.length} rows of ${register.name}, who logged one`);
      this.#verifyRegister(register, Number(own[0]?.columns.value ?? 0));
    }
  }

  #verifyRegister({ name, acknowledged, sent }: Register, value: number): void {
    insist(value >= acknowledged, `${name} is at ${value}, and ${acknowledged} was acknowledged`);
    insist(value <= sent, `${name} is at ${value}, and only ${sent} was sent`);
  }
}

const idOf = (row: unknown): number | null => {
  const id = (row as { id?: unknown } | undefined)?.id;
  return typeof id === "number" ? id : null;
};

const userBody = (name: string) => ({
  name,
  email: `${name}@example.com`,
  password: "correct-horse-battery-2",
  global_role: "observer",
});

const resultBody = (node_key: string, name: string, value: number) => ({
  node_key,
  log_type: "result",
  data: [
    {
      name: `pack/Global/${COUNTED.name}`,
      hostIdentifier: name,
      unixTime: value,
      action: "snapshot",
      snapshot: [{ value: String(value) }],
    },
  ],
});

const reportBody = (node_key: string, name: string, value: number) => ({
  node_key,
  queries: {
    svc_detail_query_system_info: [
      {
        hostname: `${name}-${value}`,
        uuid: `uuid-${name}`,
        hardware_serial: `serial-${name}`,
        physical_memory: "1024",
      },
    ],
  },
  statuses: { svc_detail_query_system_info: 0 },
  messages: {},
});
