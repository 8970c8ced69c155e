// The agents of a simulated Windows host: the managed one has the key with which the device enrolls, the query engine
// reads the device's settings (table mdm_bridge).
import { discover, readWork } from "../../agent-wire/work.ts";
import { readCommands } from "../../syncml/read.ts";
import { writeCommands } from "../../syncml/write.ts";
import { Results } from "../agent/distributed.ts";
import { enrollBody } from "../agent/enroll-body.ts";
import { Machine } from "../inventory/machine.ts";
import { platformMix } from "../inventory/platforms.ts";
import { discoveryAnswer } from "../inventory/registry.ts";
import { MachineView } from "../inventory/view.ts";
import { answerSql, type SqlAnswer } from "../sql/answer.ts";
import { PATHS } from "../stats.ts";
import type { Web } from "../web.ts";
import { type Nodes, perform } from "./nodes.ts";

export const machineOf = (seed: number, index: number, softwarePerHost: number): Machine =>
  new Machine({ seed, platforms: platformMix(["windows"]), softwarePerHost, quirks: false, managed: 1 }, index);

interface Server {
  readonly web: Web;
  readonly url: string;
  readonly enrollSecret: string;
}

/** What the registry of a managed device has of its enrollment. */
export interface EnrolledDevice {
  readonly discoveryUrl: string;
  readonly providerId: string;
}

export class WindowsAgents {
  readonly machine: Machine;
  readonly #server: Server;
  readonly #startedAt = Math.floor(Date.now() / 1000);
  #key = "";
  #nodeKey = "";

  constructor(server: Server, machine: Machine) {
    this.#server = server;
    this.machine = machine;
  }

  /** Returns the key of the managed agent. Throws if the server refuses one of the agents. */
  async enroll(): Promise<string> {
    const { machine } = this;
    const server = this.#server;
    const managed = await this.#call(PATHS.managed_enroll, {
      enroll_secret: server.enrollSecret,
      hardware_uuid: machine.uuid,
      hardware_serial: machine.serial,
      hostname: machine.hostname,
      computer_name: machine.computerName,
      platform: "windows",
      qengine_identifier: machine.uuid,
    });
    this.#key = textIn(managed, "agent_node_key");
    const body = enrollBody(server.enrollSecret, machine.uuid, this.#view());
    this.#nodeKey = textIn(await this.#call(PATHS.enroll, JSON.parse(body)), "node_key");
    return this.#key;
  }

  /** Answers the queries that are due. `enrolled`: the device's enrollment; null: there is none. */
  async report(nodes: Nodes, enrolled: EnrolledDevice | null): Promise<void> {
    const work = readWork(await this.#call(PATHS.distributed_read, { node_key: this.#nodeKey }));
    const view = this.#view();
    const answer = (sql: string) => bridgeAnswer(sql, nodes) ?? enrollmentAnswer(sql, enrolled) ?? answerSql(sql, view);
    const answerDiscovery = (sql: string) =>
      sql.includes("'mdm_bridge'") ? rowsAnswer([{ "1": "1" }]) : discoveryAnswer(sql, this.machine, answer);
    const results = new Results();
    results.run(discover(work, this.machine.agentVersion, answerDiscovery), answer, false);
    if (results.size > 0)
      await this.#call(
        PATHS.distributed_write,
        JSON.parse(results.body(this.#nodeKey, this.machine.agentVersion, false)),
      );
  }

  #view(): MachineView {
    return new MachineView(this.machine, {
      unixTime: Math.floor(Date.now() / 1000),
      bootedAt: this.#startedAt - 3600,
      agentStartedAt: this.#startedAt,
      changes: 0,
      flags: {},
      schedule: () => [],
    });
  }

  async #call(path: string, body: unknown): Promise<Record<string, unknown>> {
    const reply = await this.#server.web.call({
      method: "POST",
      url: `${this.#server.url}${path}`,
      headers: { "content-type": "application/json" },
      body: Buffer.from(JSON.stringify(body)),
    });
    const text = reply.body.toString("utf8");
    if (reply.status !== 200) throw new Error(`status ${reply.status}: ${text.slice(0, 160)}`);
    const value = JSON.parse(text) as Record<string, unknown>;
    if (value.node_invalid === true) throw new Error("the server does not know the agent's key");
    return value;
  }
}

function textIn(reply: Record<string, unknown>, name: string): string {
  const value = reply[name];
  if (typeof value !== "string") throw new Error(`the reply has no ${name}`);
  return value;
}

const rowsAnswer = (rows: Record<string, string>[]): SqlAnswer => ({ status: 0, message: "", rows });

/** The answer to a query of the registry's device management enrollments; null: it is another query. */
function enrollmentAnswer(sql: string, enrolled: EnrolledDevice | null): SqlAnswer | null {
  if (!/\bFROM registry\b/i.test(sql) || !sql.includes("\\Microsoft\\Enrollments\\")) return null;
  const key = "HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Enrollments\\5A9C1C0B-3E2C-4F55-8A0D-0C5E6B1B7A11";
  if (enrolled === null) return rowsAnswer([]);
  const { discoveryUrl, providerId } = enrolled;
  const values = { UPN: "", DiscoveryServiceFullURL: discoveryUrl, ProviderID: providerId, EnrollmentState: "1" };
  return rowsAnswer(Object.entries(values).map(([name, data]) => ({ key, name, data })));
}

const INPUT = /mdm_command_input = '((?:[^']|'')*)'/i;

/** The answer to a query of the table mdm_bridge; null: it is another query. */
function bridgeAnswer(sql: string, nodes: Nodes): SqlAnswer | null {
  if (!/\bFROM mdm_bridge\b/i.test(sql)) return null;
  const input = (INPUT.exec(sql)?.[1] ?? "").replaceAll("''", "'");
  const commands = readCommands(input.replace(/^<SyncBody>|<\/SyncBody>$/g, ""));
  const replies = commands.flatMap((command) => perform(command, nodes).replies);
  const output = writeCommands(replies.map((command, i) => ({ ...command, cmdId: String(i + 1), msgRef: "0" })));
  // Agents return it with a declaration of an encoding that it does not have.
  return rowsAnswer([
    {
      raw_mdm_command_output: `<?xml version="1.0" encoding="utf-16"?><SyncML><SyncBody>${output}</SyncBody></SyncML>`,
    },
  ]);
}
