// Calls of the query engine's protocol. Only the body of a reply decides whether a call worked.
import { judge, nodeKeyOf } from "../../agent-wire/verdict.ts";
import type { Connection } from "../net/connection.ts";
import type { Log } from "../options.ts";
import type { Keys } from "../state/keys.ts";

const PREFIX = "/api/v1/qengine";

class EngineRefused extends Error {}

interface Parts {
  readonly connection: Connection;
  readonly keys: Keys;
  readonly log: Log;
  /** Made for each enrollment, because a machine may be renamed. */
  enrollBody(): Promise<object>;
}

export class EngineCalls {
  readonly #parts: Parts;
  #enrolling: Promise<string> | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Null if the body was empty, which stock agents take for a success. */
  async call(path: string, body: object): Promise<Record<string, unknown> | null> {
    const { connection, keys } = this.#parts;
    for (let isRetry = false; ; isRetry = true) {
      const key = keys.get("node_key") ?? (await this.#enroll());
      const headers = { authorization: `NodeKey ${key}` };
      const { text } = await connection.post(`${PREFIX}/${path}`, { node_key: key, ...body }, headers);
      const verdict = judge(text);
      if (verdict.ok) return verdict.json;
      if (verdict.nodeInvalid) await keys.drop("node_key", key);
      if (!verdict.nodeInvalid || isRetry) throw new EngineRefused(`${path}: ${verdict.reason}`);
    }
  }

  /** The loops of an agent share one enrollment. */
  #enroll(): Promise<string> {
    this.#enrolling ??= this.#enrollOnce().finally(() => {
      this.#enrolling = null;
    });
    return this.#enrolling;
  }

  async #enrollOnce(): Promise<string> {
    const { connection, keys, log, enrollBody } = this.#parts;
    const { text } = await connection.post(`${PREFIX}/enroll`, await enrollBody());
    const key = nodeKeyOf(text);
    if (key === null) {
      const verdict = judge(text);
      throw new EngineRefused(
        `enroll: ${verdict.ok ? "no node key in the reply" : verdict.reason}: ${text.slice(0, 200)}`,
      );
    }
    await keys.set("node_key", key);
    log("info", "enrolled for queries");
    return key;
  }
}
