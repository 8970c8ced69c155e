import { usage } from "../../errors.ts";
import { readSecret, secretFlags } from "../../files/input.ts";
import type { Io } from "../../io.ts";

export const inviteTokenFlags = secretFlags("token", "the link or its token");

/**
 * The token, alone or inside a mailed link. The argument is for pasted links; --token-file and --token-stdin keep the
 * token off the command line.
 */
export async function inviteToken(io: Io, argument: string | undefined, flags: Readonly<Record<string, unknown>>) {
  const text = ((await readSecret(io, flags, "token", "SVC_INVITE_TOKEN")) ?? argument ?? "").trim();
  const token = text.split("/").at(-1) ?? "";
  if (token === "") throw usage("no invite is given", "Give its link or token, --token-file or --token-stdin.");
  return token;
}
