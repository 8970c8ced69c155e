// Agents whose results depend only on their number and the query, so that any two runs produce the same figures.
import type { BenchServer } from "../../../bench/support/serve.ts";
import { agentCall, enrollBody } from "../../e2e/support/agents.ts";
import { insist } from "../support/check.ts";
import { CALLER } from "../support/round-robin.ts";

export type Queries = Readonly<Record<string, string>>;
const ROW = [{ "1": "1" }];
const POLLS_MAX = 30;

/** Whether the host's result has a row. */
export const hasRows = (host: number, text: string): boolean => {
  let hash = Math.imul(host + 1, 2_654_435_761);
  for (const char of text) hash = Math.imul(hash ^ char.charCodeAt(0), 16_777_619);
  return ((hash >>> 13) & 1) === 1;
};

export const nameOf = (host: number): string => `several-${host}`;

export class SoakAgent {
  readonly number: number;
  readonly #server: BenchServer;
  #key = "";

  constructor(server: BenchServer, number: number) {
    this.#server = server;
    this.number = number;
  }

  async enroll(): Promise<this> {
    const body = await this.call("enroll", enrollBody(nameOf(this.number)));
    insist(typeof body.node_key === "string", () => `not enrolled: ${JSON.stringify(body)}`);
    this.#key = body.node_key;
    return this;
  }

  /** The reply; fails unless it is a success. */
  async call(endpoint: string, given: Readonly<Record<string, unknown>> = {}): Promise<Record<string, unknown>> {
    const sent = endpoint === "enroll" ? given : { node_key: this.#key, ...given };
    const { status, body } = await agentCall(this.#server, endpoint, sent, { [CALLER]: nameOf(this.number) });
    insist(status === 200 && !("error" in body), () => `${endpoint} was refused: ${status} ${JSON.stringify(body)}`);
    return body;
  }

  async read(): Promise<Queries> {
    return (await this.call("distributed/read")).queries as Queries;
  }

  async answer(queries: Queries): Promise<void> {
    const names = Object.keys(queries);
    if (names.length === 0) return;
    await this.call("distributed/write", {
      queries: Object.fromEntries(names.map((name) => [name, this.#rowsOf(name, queries[name]!)])),
      statuses: Object.fromEntries(names.map((name) => [name, 0])),
    });
  }

  #rowsOf(name: string, text: string): object[] {
    const own = nameOf(this.number);
    if (name === "svc_detail_query_system_info")
      return [{ hostname: own, uuid: `uuid-${own}`, hardware_serial: `serial-${own}` }];
    return /^svc_(policy|label|distributed)_query_/.test(name) && hasRows(this.number, text) ? ROW : [];
  }

  /**
   * Polls until no query is due, fetches its configuration, and logs a result of each query that is scheduled in it.
   */
  async checkIn(round: number): Promise<void> {
    for (let polls = 0; ; polls++) {
      const queries = await this.read();
      if (Object.keys(queries).length === 0) break;
      insist(polls < POLLS_MAX, () => `a host is asked again and again: ${Object.keys(queries).slice(0, 5)}`);
      await this.answer(queries);
    }
    const { packs } = await this.call("config");
    const scheduled = (packs as { Global?: { queries?: object } } | undefined)?.Global?.queries ?? {};
    const data = Object.keys(scheduled).map((query) => ({
      name: `pack/Global/${query}`,
      action: "snapshot",
      unixTime: round + 1,
      snapshot: [{ host: String(this.number), round: String(round) }],
    }));
    if (data.length > 0) await this.call("log", { log_type: "result", data });
  }
}
