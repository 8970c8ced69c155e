// Hosts are locked and unlocked by scripts, while each request of their managed agents goes to another server.
import type { BenchServer, Caller } from "../../../bench/support/serve.ts";
import { SECRET } from "../../e2e/support/agents.ts";
import { insist, until } from "../support/check.ts";
import { CALLER } from "../support/round-robin.ts";
import { nameOf, type SoakAgent } from "./agents.ts";
import { inAll } from "./figures.ts";

const ASKED_MS = 60_000;

class ManagedAgent {
  readonly #server: BenchServer;
  readonly #name: string;
  #key = "";

  constructor(server: BenchServer, name: string) {
    this.#server = server;
    this.#name = name;
  }

  async enroll(): Promise<this> {
    const identity = { hardware_uuid: `uuid-${this.#name}`, hardware_serial: `serial-${this.#name}` };
    // The identifier of the machine's other agent, because both belong to one host.
    const names = { hostname: this.#name, qengine_identifier: this.#name, platform: "ubuntu" };
    const body = { enroll_secret: SECRET, ...identity, ...names };
    this.#key = String((await this.#call("enroll", body)).agent_node_key);
    return this;
  }

  async #call(path: string, given: object): Promise<Record<string, unknown>> {
    const reply = await this.#server.send(`/api/v1/svc/agent/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", [CALLER]: `managed ${this.#name}` },
      body: JSON.stringify({ agent_node_key: this.#key, ...given }),
    });
    const text = await reply.text();
    insist(reply.ok, () => `${path} was refused: ${reply.status} ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  }

  async #pending(): Promise<string[]> {
    const { notifications } = (await this.#call("config", {})) as {
      notifications: { pending_script_execution_ids?: string[] };
    };
    return notifications.pending_script_execution_ids ?? [];
  }

  /**
   * Fetches the pending script and reports its result; after that, no server offers it any more. Returns its length.
   */
  async runScript(exit_code: number): Promise<number> {
    let waiting: string[] = [];
    await until("a script waits for the host", ASKED_MS, async () => {
      waiting = await this.#pending();
      return waiting.length === 1;
    });
    const [execution_id] = waiting;
    const { script_contents } = await this.#call("scripts/request", { execution_id });
    await this.#call("scripts/result", { execution_id, output: "done", runtime: 1, exit_code, timeout: 300 });
    await until("the script is done", ASKED_MS, async () =>
      (await inAll(() => this.#pending())).every((ids) => ids.length === 0),
    );
    return String(script_contents).length;
  }
}

/** Locks all hosts; the scripts of some fail. Then unlocks half of the locked ones. */
export async function actOnHosts(server: BenchServer, call: Caller, agents: readonly SoakAgent[]): Promise<unknown> {
  return Promise.all(
    agents.map(async ({ number }) => {
      const name = nameOf(number);
      const managed = await new ManagedAgent(server, name).enroll();
      const { host } = await call<{ host: { id: number } }>("GET", `/hosts/identifier/uuid-${name}`);
      await call("POST", `/hosts/${host.id}/lock`);
      const lengths = [await managed.runScript(number % 3 === 0 ? 1 : 0)];
      if (number % 3 === 1) {
        await call("POST", `/hosts/${host.id}/unlock`);
        lengths.push(await managed.runScript(0));
      }
      const states = await inAll(async () => {
        const { mdm } = (await call<{ host: { mdm: Record<string, unknown> } }>("GET", `/hosts/${host.id}`)).host;
        return [mdm.device_status, mdm.pending_action, mdm.action_failure ?? null];
      });
      const done = await call<{ activities: { type: string }[] }>("GET", `/hosts/${host.id}/activities`);
      return { name, lengths, states, done: done.activities.map(({ type }) => type).sort() };
    }),
  );
}
