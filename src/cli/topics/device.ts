// Shared by the commands for a host's own page, which authenticate with the page's token instead of a sign-in.
import { ApiCallError } from "../../client/errors.ts";
import { denied, usage } from "../errors.ts";
import { readSecret, secretFlags } from "../files/input.ts";
import { args } from "../flags.ts";
import type { Io } from "../io.ts";

export const deviceArgs = { token: args.optional("token of the host's page; prefer --token-stdin") };
export const deviceFlags = secretFlags("token", "the token");

type Flags = Readonly<Record<string, unknown>>;

export async function deviceTokenOf(io: Io, argument: string | undefined, flags: Flags): Promise<string> {
  const token = (await readSecret(io, flags, "token"))?.trim();
  if (token !== undefined && argument !== undefined)
    throw usage("give the token only once: as an argument, or with --token-stdin or --token-file");
  const text = token ?? argument;
  if (text === undefined || text === "")
    throw usage("missing TOKEN", "Give it as an argument, or with --token-stdin or --token-file.");
  return text;
}

/** For status 401 the usual hint to sign in would be wrong: the host's agent creates this token. */
export const deviceErrorOf = <E extends Error>(error: E) =>
  error instanceof ApiCallError && error.status === 401 && !error.isSsoRequired
    ? denied("the token does not belong to a host, or has expired", "The host's agent creates a new token every hour.")
    : error;
