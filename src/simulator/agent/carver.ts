// The carver of one agent. A query with `carve = 1` is answered immediately; the upload starts at the next whole
// minute.
import { randomUUID } from "node:crypto";
import { versionCompare } from "../../agent-wire/version-compare.ts";
import type { Machine } from "../inventory/machine.ts";
import { hashText, mix } from "../random.ts";
import type { SqlAnswer } from "../sql/answer.ts";
import type { Channel } from "../wire/transport.ts";
import type { Caller } from "./caller.ts";
import { TarContent } from "./carve-content.ts";
import type { World } from "./world.ts";

const CARVES = /\bfrom\s+carves\b/i;
const ORDERED = /\bcarve\s*=\s*'?1'?/i;
const PATH = /\bpath\s*(?:=|like)\s*'((?:[^']|'')*)'/i;
const DEFAULT_BYTES = 64 * 1024;
/** From this version on a call is tried three times. */
const RETRIES_SINCE = "5.22.0";

type Flags = Readonly<Record<string, string>>;

export class Carver {
  /** Uploads that are waiting or running. */
  readonly running = new Set<Promise<void>>();
  readonly #world: World;
  readonly #machine: Machine;
  readonly #caller: Caller;
  readonly #channel: Channel;

  constructor(world: World, machine: Machine, caller: Caller, channel: Channel) {
    this.#world = world;
    this.#machine = machine;
    this.#caller = caller;
    this.#channel = channel;
  }

  /** The rows for a query that starts a carve. Null for any other query. */
  answer(sql: string, flags: Flags): SqlAnswer | null {
    if (!CARVES.test(sql) || !ORDERED.test(sql)) return null;
    const path = PATH.exec(sql)?.[1]?.replaceAll("''", "'");
    if (path === undefined || flags.disable_carver === "true") return { status: 0, message: "", rows: [] };
    const carve = { guid: randomUUID(), request: randomUUID(), path };
    const upload = this.#upload(carve, flags).finally(() => this.running.delete(upload));
    this.running.add(upload);
    const row = {
      time: String(this.#world.unixTime()),
      sha256: "",
      size: "",
      path,
      status: "SCHEDULED",
      carve_guid: carve.guid,
      request_id: carve.request,
      carve: "1",
    };
    return { status: 0, message: "", rows: [row] };
  }

  async #upload(carve: { guid: string; request: string; path: string }, flags: Flags): Promise<void> {
    const world = this.#world;
    const caller = this.#caller;
    const channel = this.#channel;
    const minute = world.interval(60);
    await world.sleep(minute - (world.wallClock() % minute));
    if (world.stopping) return;
    const options = world.settings.carves ?? {};
    const blockSize = options.blockSize ?? (Number(flags.carver_block_size) || 2_000_000);
    const seed = mix(this.#machine.seed, hashText(carve.path));
    // A path pattern is treated as a single file. A name that ends with a slash is a folder.
    const path = carve.path.replace(/%|[A-Za-z]:/g, "").replace(/[/\\]$/, "$&file");
    const file = `osquery_carve_${carve.guid}${path}`;
    const content = new TarContent(seed, file, options.bytes ?? DEFAULT_BYTES);
    const blocks = Math.ceil(content.size / blockSize);
    const attempts = versionCompare(this.#machine.agentVersion, RETRIES_SINCE) >= 0 ? 3 : 1;

    const declared = content.size + (options.fault === "size" ? 1 : 0);
    const begun = await caller.carve("carve_begin", channel, attempts, (key) =>
      JSON.stringify({
        block_count: Math.ceil(declared / blockSize),
        block_size: blockSize,
        carve_size: declared,
        carve_id: carve.guid,
        request_id: carve.request,
        node_key: key,
      }),
    );
    const session = begun?.session_id;
    if (typeof session !== "string" || session === "") return;
    for (let turn = 0; turn < blocks && !world.stopping; turn++) {
      if (options.fault === "abort" && turn >= blocks / 2) return;
      const id = options.fault === "order" && (turn ^ 1) < blocks ? turn ^ 1 : turn;
      const data = content.read(id * blockSize, blockSize).toString("base64");
      const body = `{"block_id":${id},"session_id":${JSON.stringify(session)},"request_id":"${carve.request}","data":"${data}"}`;
      for (let send = options.fault === "repeat" ? 2 : 1; send > 0; send--)
        if ((await caller.carve("carve_block", channel, attempts, () => body)) === null) return;
    }
  }
}
