// Offers agents the version that this server hands out, signed with a key that they know from their enrollment.
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { type AgentUpdate, isNewer, updateStatement, versionInFile } from "../../../agent-wire/update.ts";
import { CachedValue } from "../../platform/core/concurrency/cached.ts";
import type { Context } from "../../platform/core/context.ts";
import { type PartServices, part } from "../../platform/core/running.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { handedOutAgent } from "./service.ts";

const LOCK = "agent-signing-key";
/** The agent's version is in its first lines. */
const START_BYTES = 500;

const ownKey = part("key of agent updates", (services) => new CachedValue(() => load(services)));
const signed = part("signed agent", () => ({ last: null as AgentUpdate | null }));

const readKey = (text: string): KeyObject =>
  createPrivateKey({ key: Buffer.from(text, "base64"), format: "der", type: "pkcs8" });

async function load({ store, clock }: PartServices): Promise<KeyObject> {
  const stored = async (from: ServerTx) => {
    const row = await from.agentSigningKeys.first({});
    return row ? readKey(row.key) : null;
  };
  const existing = await stored(store);
  if (existing) return existing;
  const { privateKey } = generateKeyPairSync("ed25519");
  // If servers create a key at the same time, all use the first.
  return store.tx(
    async (tx) => {
      const first = await stored(tx);
      if (first) return first;
      const key = privateKey.export({ type: "pkcs8", format: "der" }).toString("base64");
      await tx.agentSigningKeys.insert({ created_at: clock.iso(), key });
      return privateKey;
    },
    { lock: LOCK },
  );
}

/** The version of an agent of svc; undefined: the caller is another program. */
const versionOf = ({ headers }: Pick<Context, "headers">): string | undefined =>
  /^svc-agent\/(\S{1,80})$/.exec(headers?.get("user-agent") ?? "")?.[1];

/** What agents of svc check updates with: DER (SPKI) in base64. Other agents have no use for it. */
export async function updateKeyFor(ctx: Pick<Context, "running" | "headers">): Promise<string | undefined> {
  if (versionOf(ctx) === undefined) return undefined;
  const key = createPublicKey(await ctx.running.of(ownKey).get());
  return key.export({ type: "spki", format: "der" }).toString("base64");
}

/** Null: the agent is not one of this server's, or is as new, or updates are off. */
export async function updateFor(
  ctx: Pick<Context, "running" | "settings" | "headers">,
): Promise<AgentUpdate | undefined> {
  const version = versionOf(ctx);
  if (version === undefined || !ctx.settings.agent_updates) return undefined;
  const update = await currentAgent(ctx);
  return update !== null && isNewer(update.version, version) ? update : undefined;
}

async function currentAgent({ running }: Pick<Context, "running">): Promise<AgentUpdate | null> {
  const agent = await handedOutAgent({ running });
  const version = agent && versionInFile(agent.bytes.subarray(0, START_BYTES).toString("latin1"));
  if (agent === null || version === null) return null;
  const cached = running.of(signed);
  if (cached.last?.sha256 === agent.sha256) return cached.last;
  const statement = { version, sha256: agent.sha256, size: agent.bytes.length };
  const signature = sign(null, updateStatement(statement), await running.of(ownKey).get()).toString("base64");
  cached.last = { ...statement, signature };
  return cached.last;
}
