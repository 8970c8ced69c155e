// Receives carved files from agents: one begin request, then blocks (docs/protocols/agent.md, Carves).
import { createHash } from "node:crypto";
import { type AgentReply, failure, OK } from "../../platform/agent-protocol/wire.ts";
import { isoAt } from "../../platform/core/clock.ts";
import type { Services } from "../../platform/core/context.ts";
import { sameText } from "../../platform/core/random.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { type BlobDigest, NoRoom } from "../../platform/store/blobs/blobs.ts";
import { and, eq, gt, isNull } from "../../platform/store/query.ts";
import { readBlock } from "./block-body.ts";
import {
  alive,
  blockKey,
  type CarveRow,
  isComplete,
  isExpired,
  judgeBlock,
  type Plan,
  planOf,
  RETENTION,
  STALLED_AFTER,
  unexpected,
  wholeNumber,
} from "./rules.ts";

type Deps = Pick<Services, "store" | "blobs" | "clock" | "random" | "settings" | "log">;

/** Attempts to record a block while concurrent ones change the row. */
const MAX_ATTEMPTS = 5;
/** Format of session ids; anything else is rejected without reading the store. */
const SESSION = /^[0-9a-f-]{36}$/;
const DISK_FULL = "the disk of the server is almost full";
const unknownSession = failure(404, "session_id was not found");

interface Block {
  readonly sessionId: string;
  readonly requestId: string;
  readonly nodeKey: string | null;
  readonly blockId: number;
  readonly data: Uint8Array | null;
}

export class CarveIntake {
  readonly #deps: Deps;
  readonly #hostOf: (nodeKey: string) => Promise<number | null>;
  /** The last task of each session. After a timeout an agent may resend a block while it is still being stored. */
  readonly #turns = new Map<string, Promise<unknown>>();

  /** `hostOf` returns the host id of a node key, or null. */
  constructor(deps: Deps, hostOf: (nodeKey: string) => Promise<number | null>) {
    this.#deps = deps;
    this.#hostOf = hostOf;
  }

  async begin(hostId: number, body: Readonly<Record<string, unknown>>): Promise<AgentReply> {
    const { store, clock, random, settings } = this.#deps;
    const plan = planOf(body, settings);
    if (typeof plan === "string") return failure(400, plan);
    if (!(await this.#hasRoom(plan.carve_size))) return failure(507, `${DISK_FULL}: the carve cannot be stored`);
    return store.tx(
      async (tx) => {
        const open = await this.#openCarves(tx, hostId);
        // After a broken connection the agent repeats the request.
        const same = open.find((carve) => carve.last_block === null && isSamePlan(carve, plan));
        if (same) return begun(same.session_id);
        if (open.length >= settings.carve_max_open) return failure(429, "too many open carves", 60);
        const [host] = await tx.hosts.pick(["hostname"], { where: eq("id", hostId) });
        if (!host) return failure(404, "the host was deleted");
        const now = clock.iso();
        const carve = await tx.carves.insert({
          ...plan,
          created_at: now,
          updated_at: now,
          host_id: hostId,
          name: `${host.hostname}-${now.slice(0, 19)}Z-${plan.request_id}`,
          session_id: random.uuid(),
        });
        return begun(carve.session_id);
      },
      { lock: `carves of ${hostId}` },
    );
  }

  async #hasRoom(bytes: number): Promise<boolean> {
    try {
      await this.#deps.blobs.checkRoom(bytes);
      return true;
    } catch (error) {
      if (error instanceof NoRoom) return false;
      throw error;
    }
  }

  async #openCarves(tx: ServerTx, hostId: number): Promise<CarveRow[]> {
    const now = this.#deps.clock.now();
    const rows = await tx.carves.list({
      where: and(eq("host_id", hostId), isNull("error"), alive(now), gt("updated_at", isoAt(now - STALLED_AFTER))),
    });
    // Failed and stalled carves do not count towards the limit of open ones.
    return rows.filter((carve) => !isComplete(carve));
  }

  /**
   * `authorization`: the header of newer agents; without it, session and request id identify the carve. Modifies
   * `body`.
   */
  async block(body: Buffer, authorization: string | undefined): Promise<AgentReply> {
    const request = readBlock(body);
    if (request === null) return failure(400, "the body is not a JSON object");
    const { sessionId, requestId, data } = request;
    if (!SESSION.test(sessionId)) return unknownSession;
    const nodeKey = authorization?.startsWith("NodeKey ") ? authorization.slice(8).trim() : null;
    const blockId = wholeNumber(request.blockId);
    return this.#inTurn(sessionId, () => this.#storeBlock({ sessionId, requestId, nodeKey, blockId, data }));
  }

  async #inTurn<T>(session: string, work: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(session) ?? Promise.resolve();
    const mine = before.then(work, work);
    this.#turns.set(session, mine);
    try {
      return await mine;
    } finally {
      if (this.#turns.get(session) === mine) this.#turns.delete(session);
    }
  }

  async #storeBlock(block: Block, attempt = 1): Promise<AgentReply> {
    const { store, clock } = this.#deps;
    const carve = await store.carves.first({ where: eq("session_id", block.sessionId) });
    if (!carve) return unknownSession;
    if (block.nodeKey !== null && (await this.#hostOf(block.nodeKey)) !== carve.host_id) return unknownSession;
    // Without the right request id the carve must not be affected either.
    if (!sameText(block.requestId, carve.request_id)) return failure(400, "request_id does not match");
    if (isExpired(carve, clock.now())) return failure(400, "the carve has expired");
    if (carve.error !== null) return failure(400, carve.error);
    const { blockId, data } = block;
    const verdict = judgeBlock(carve, blockId, data?.length ?? null);
    if (verdict.kind === "wrong") return this.#fail(carve, verdict.text);
    if (verdict.kind === "repeated")
      return (await this.#isStored(carve, blockId, data!)) ? received : this.#fail(carve, unexpected(carve, blockId));

    const digest = await this.#putBlock(carve, blockId, data!);
    if (digest === null) return this.#fail(carve, `${DISK_FULL}: block ${blockId} was not stored`, 507);
    const now = clock.now();
    const moved = await store.carves.update({
      where: and(eq("id", carve.id), eq("revision", carve.revision), eq("expired", false), isNull("error")),
      set: {
        max_block: blockId,
        last_block: blockId,
        last_block_hash: digest.sha256,
        updated_at: isoAt(now),
        expires_at: carve.expires_at ?? isoAt(now + RETENTION),
      },
    });
    if (moved > 0) return received;
    // Another server stored a block meanwhile, or the carve ended.
    return attempt < MAX_ATTEMPTS ? this.#storeBlock(block, attempt + 1) : failure(503, "try again");
  }

  /** Null: there is no room. */
  async #putBlock(carve: CarveRow, blockId: number, data: Uint8Array): Promise<BlobDigest | null> {
    try {
      return await this.#deps.blobs.put(blockKey(carve.id, blockId), once(data), { maxBytes: carve.block_size });
    } catch (error) {
      if (error instanceof NoRoom) return null;
      throw error;
    }
  }

  /** Whether the stored block has the same bytes. */
  async #isStored(carve: CarveRow, blockId: number, data: Uint8Array): Promise<boolean> {
    if (blockId === carve.last_block) return sha256(data) === carve.last_block_hash;
    const hash = createHash("sha256");
    for await (const bytes of await this.#deps.blobs.get(blockKey(carve.id, blockId))) hash.update(bytes as Uint8Array);
    return hash.digest("hex") === sha256(data);
  }

  async #fail(carve: CarveRow, error: string, status = 400): Promise<AgentReply> {
    const { store, log } = this.#deps;
    await store.carves.update({ where: and(eq("id", carve.id), isNull("error")), set: { error } });
    log.warn({ carve: carve.id, host_id: carve.host_id, reason: error }, "a carve failed");
    return failure(status, error);
  }
}

const begun = (session: string): AgentReply => ({
  ...OK,
  body: JSON.stringify({ session_id: session, success: true }),
});
const received: AgentReply = { ...OK, body: '{"success":true}' };

const isSamePlan = (carve: CarveRow, plan: Plan): boolean =>
  carve.carve_id === plan.carve_id &&
  carve.request_id === plan.request_id &&
  carve.block_count === plan.block_count &&
  carve.block_size === plan.block_size &&
  carve.carve_size === plan.carve_size;

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
