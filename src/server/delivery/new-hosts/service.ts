// The agent as one file, and the scripts that install it. A script names the SHA-256 of the agent that it installs.
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { Download } from "../../../api/bodies.ts";
import type { Context } from "../../platform/core/context.ts";
import { notThere } from "../../platform/core/errors.ts";
import { part } from "../../platform/core/running.ts";
import { type AgentFile, readAgentFile, versionOf } from "./files.ts";
import { privateCertificate } from "./private-certificate.ts";

const names: Record<AgentFile, { readonly file: string; readonly type: string }> = {
  agent: { file: "agent.mjs", type: "text/javascript; charset=utf-8" },
  shell: { file: "enroll.sh", type: "text/plain; charset=utf-8" },
  powershell: { file: "enroll.ps1", type: "text/plain; charset=utf-8" },
};
const SHA256 = "@AGENT_SHA256@";
/** Empty if systems trust the server. */
const AUTHORITY = "@AUTHORITY@";

interface CachedFile {
  readonly version: string;
  readonly bytes: Buffer;
  readonly sha256: string;
}
type Deps = Pick<Context, "running">;

/** Read again only after a change: anybody may ask for them. */
const readFiles = part("files for new hosts", () => new Map<AgentFile, CachedFile>());

const sha256Of = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

async function load({ running }: Deps, name: AgentFile): Promise<CachedFile | null> {
  const files = running.of(readFiles);
  const before = files.get(name);
  if (before !== undefined && before.version === (await versionOf(name))) return before;
  const read = await readAgentFile(name);
  if (read === null) return null;
  const file = { ...read, sha256: sha256Of(read.bytes) };
  files.set(name, file);
  return file;
}

/** Null: this server has no file of the agent. */
export const handedOutAgent = (ctx: Deps): Promise<Pick<CachedFile, "bytes" | "sha256"> | null> => load(ctx, "agent");

/** Null: this server has no file of the agent. */
export const agentSha256 = async (ctx: Deps): Promise<string | null> => (await load(ctx, "agent"))?.sha256 ?? null;

export async function agentFile(
  ctx: Pick<Context, "running" | "settings" | "log">,
  name: AgentFile,
): Promise<Download> {
  const template = await load(ctx, name);
  const agent = await agentSha256(ctx);
  if (template === null || agent === null)
    throw notThere("the file of the agent is not there, because this server was not built: run `npm run build`");
  const bytes = name === "agent" ? template.bytes : await scriptOf(ctx, template.bytes, agent);
  const { file, type } = names[name];
  return {
    size: bytes.length,
    sha256: name === "agent" ? template.sha256 : sha256Of(bytes),
    name: file,
    type,
    open: async ({ start, end }) => Readable.from([bytes.subarray(start, end + 1)]),
  };
}

async function scriptOf(ctx: Pick<Context, "settings" | "log">, template: Buffer, sha256: string): Promise<Buffer> {
  const trusted = await privateCertificate(ctx);
  const text = template.toString("utf8").replace(SHA256, sha256);
  return Buffer.from(text.replace(AUTHORITY, trusted?.authority.trim() ?? ""));
}
